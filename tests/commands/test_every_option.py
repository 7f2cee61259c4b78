"""Every option of DATA is honoured by every analysis: the answer is that of a store which holds nothing else."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.core.types import Experiment, Factor, Observation, Run
from iosonde.data.query import MetricChoice
from iosonde.data.source import open_data
from iosonde.store import Store
from messages import assert_problem
from terminal import COMMANDS

NODES, MODES, BLOCKS = (1, 2, 4, 8, 16), ("a", "b"), range(3)
RATES = {"last_done": 1.0, "first_done": 1.7, "sum_of_ranks": 2.1}  # times the bandwidth
# What each analysis is asked about the store, so that it answers at all.
ASKED: dict[str, list[str]] = {
    "summary": [],
    "compare": ["--group", "mode"],
    "regress": ["--response", "write", "--on", "nodes,mode"],
    "anova": ["--response", "write", "--on", "nodes,mode"],
    "corpus": ["--cluster", "nodes", "--on", "mode", "--per", "none"],
    "fit": ["--response", "write", "--family", "linear"],
    "validate": ["--response", "write", "--family", "linear"],
    "bound": ["--net", "1GB/s", "--disk", "1GB/s", "--disks", "4", "--servers", "1"],
    "time-model": ["--response", "write seconds", "--on", "nodes"],
    "scale": ["--response", "write"],
    "advise": ["--response", "write", "--choose", "mode"],
    "rank": ["--response", "write"],
    "report": [],
    "check": [],
    "verify": [],
}


def noise(number: int) -> float:
    return 1 + 0.01 * ((number * 7919) % 13 - 6)


def runs_of(experiment: str, times: float, clocks: dict[str, float]) -> list[Run]:
    """Bandwidths by nodes and mode; ``clocks`` are those that are stored, and what each is times the bandwidth."""
    found = []
    for block in BLOCKS:
        for nodes in NODES:
            for mode in MODES:
                number = len(found)
                value = times * 1e6 * nodes**0.8 * (1.5 if mode == "b" else 1.0) * noise(number)
                rows = [Observation("write", f"bandwidth_{name}", value * by, "bytes/s") for name, by in clocks.items()]
                rows.append(Observation("write", "seconds", 1e7 / value, "s"))
                minute = f"{number // 60:02}:{number % 60:02}"
                at = {"nodes": nodes, "mode": mode, "repetition": block, "block": block}
                found.append(
                    Run(
                        f"{experiment}-{number:04d}",
                        experiment,
                        "test",
                        f"2026-11-22T10:{minute}Z",
                        1.0,
                        at,
                        rows,
                        facts={"target": "/mnt/x", "order": number},
                    )
                )
    return found


def store_of(path: Path, *runs: Run) -> str:
    store = Store.create(path)
    factors = [Factor("nodes", "nodes", NODES), Factor("mode", "", MODES)]
    for experiment in dict.fromkeys(run.experiment for run in runs):
        store.save_experiment(Experiment(experiment, "x", factors, {}, [], 1, "2026-11-22T10:00:00Z"))
    store.append_many(list(runs))
    return str(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> str:
    """Two experiments, two modes, three clocks."""
    path = tmp_path_factory.mktemp("whole") / "s"
    return store_of(path, *runs_of("e1", 1.0, RATES), *runs_of("e2", 10.0, RATES))


def answer(name: str, place: str, *options: str) -> Any:
    usual = ASKED[name][2:] if ASKED[name][:1] == [*options[-2:-1]] else ASKED[name]  # another response instead
    done = CliRunner().invoke(cli, [name, place, *usual, *options, "--json"])
    assert done.exit_code in (0, 1) and done.stdout, f"{done.stderr} {done.exception}"
    return comparable(json.loads(done.stdout))


def comparable(value: Any) -> Any:
    """Without names of places and clocks, and what a page says of its own making."""
    if isinstance(value, dict):
        left_out = ("command", "reproduce", "store", "target", "measured", "facts", "clocks", "clock_rows")
        return {key: comparable(item) for key, item in value.items() if key not in left_out}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if isinstance(value, str):
        # A page and a sentence name the metric of a rate that is not last_done.
        said = value.replace(" first done", "").replace("first_done", "last_done")
        said = said.replace(", bandwidth_last_done", "").replace("using bandwidth_last_done", "using bandwidth")
        said = said.replace("write bandwidth", "write")
        return said.replace("Clock stops at the first rank", "Clock stops at the last rank")
    return value


def takes(name: str, option: str) -> bool:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return any(option in parameter.opts for parameter in command.params)


def test_every_analysis_of_data_has_the_same_options():
    # Two show, one is of operations, one of the order of runs: these have tests of their own.
    others = ("show", "plot", "diagnose", "watch")
    analyses = [name for name in COMMANDS if takes(name, "--where") and name not in others]
    assert sorted(analyses) == sorted(ASKED)
    for name in analyses:
        assert all(takes(name, option) for option in ("--where", "--experiment", "--level", "--json")), name
        assert takes(name, "--clock") != (name == "verify"), name  # which computes the rates of every clock


@pytest.mark.parametrize("name", ASKED)
def test_an_experiment_is_all_that_is_taken(whole, tmp_path, name):
    only = store_of(tmp_path / "s", *runs_of("e1", 1.0, RATES))
    asked = answer(name, whole, "--experiment", "e1")
    assert asked == answer(name, only)
    assert asked != answer(name, whole, "--experiment", "all") or name == "verify"


@pytest.mark.parametrize("name", ASKED)
def test_a_condition_leaves_only_what_fulfils_it(whole, tmp_path, name):
    kept = [run for run in runs_of("e1", 1.0, RATES) if run.factors["nodes"] > 1]
    asked = answer(name, whole, "--experiment", "e1", "--where", "nodes>1")
    assert asked == answer(name, store_of(tmp_path / "s", *kept))
    assert asked != answer(name, whole, "--experiment", "e1") or name == "verify"


@pytest.mark.parametrize("name", [name for name in ASKED if name not in ("verify", "time-model")])
def test_a_clock_is_the_one_that_is_taken(whole, tmp_path, name):
    only = store_of(tmp_path / "s", *runs_of("e1", 1.0, {"last_done": RATES["first_done"]}))
    asked = answer(name, whole, "--experiment", "e1", "--clock", "first_done")
    assert asked == answer(name, only)
    assert asked != answer(name, whole, "--experiment", "e1") or name == "check"


def levels_of(value: Any) -> set[float]:
    if isinstance(value, dict):
        mine = {value["level"]} if isinstance(value.get("level"), float) else set()
        return mine.union(*(levels_of(item) for item in value.values()))
    return set().union(*(levels_of(item) for item in value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("name", [name for name in ASKED if name != "verify"])
def test_a_level_is_that_of_every_interval(whole, name):
    asked = answer(name, whole, "--experiment", "e1", "--level", "0.99")
    # Over a setting at random is a simultaneous interval: Bonferroni over the settings.
    assert levels_of(asked) <= ({0.99, 0.995} if name == "advise" else {0.99})
    if name != "check":
        assert asked != answer(name, whole, "--experiment", "e1")


@pytest.fixture(scope="module")
def without_clocks(tmp_path_factory) -> str:
    """The nodes' clocks could not be compared: only the sum of the ranks' rates is known."""
    path = tmp_path_factory.mktemp("sum") / "s"
    return store_of(path, *runs_of("e1", 1.0, {"sum_of_ranks": 2.1}))


@pytest.mark.parametrize("name", [name for name in ASKED if name not in ("verify", "time-model")])
@pytest.mark.parametrize("form", ["json", "text"])
def test_a_clock_that_is_taken_for_another_is_said(without_clocks, tmp_path, name, form):
    output = ["-o", str(tmp_path / "page.html")] if name == "report" else []
    asked = [name, without_clocks, *ASKED[name], *(["--json"] if form == "json" else output)]
    done = CliRunner().invoke(cli, asked)
    said = (tmp_path / "page.html").read_text() if output and form == "text" else done.stdout
    (warning,) = open_data(without_clocks).trials(MetricChoice()).warnings
    assert warning[1:] in html.unescape(" ".join(said.split())), said


def test_a_ratio_of_logarithms_is_warned_about(whole):
    """It is another one in MiB/s than in bytes/s."""
    asked = answer("advise", whole, "--experiment", "e1", "--response", "log(write bandwidth_last_done)")
    assert any("logarithm" in text for text in asked["warnings"])


def test_logarithms_are_compared_by_their_difference(whole):
    asked = answer("compare", whole, "--experiment", "e1", "--response", "log(write bandwidth_last_done)")
    assert {(one["decides"], one["ratio"]) for one in asked["comparisons"]} == {("difference", None)}


def test_a_logarithm_does_not_scale(whole):
    logarithm = "log2(write bandwidth_last_done)"
    refused = CliRunner().invoke(cli, ["scale", whole, "--response", logarithm])
    assert_problem(refused.exception, "not-a-rate", title=logarithm)


def test_two_columns_of_logarithms_are_compared_by_their_difference(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n100,150\n110,160\n120,155\n")
    done = CliRunner().invoke(cli, ["compare", str(tmp_path / "t.csv"), "log(a)", "log(b)"])
    assert "log(b) - log(a) = +0.345 (" in " ".join(done.stdout.split()), done.stderr


def test_a_page_of_a_store_has_the_cells_that_are_asked_for(whole):
    """S110 recommends --by; the page refused it."""
    made = answer("report", whole, "--experiment", "e1", "--by", "mode")
    assert made["summary"][0]["by"] == ["mode"] and [row["mean"]["n"] for row in made["summary"][0]["rows"]] == [15, 15]


@pytest.mark.parametrize("options", [["--kind", "bars"], ["--on", "nodes", "--response", "write"]])
def test_a_figure_is_of_the_clock(whole, tmp_path, options):
    drawn = []
    for number, clock in enumerate(("last_done", "first_done")):
        path = tmp_path / f"{number}.svg"
        asked = ["plot", whole, "--experiment", "e1", "--where", "operation=write", *options, "--clock", clock]
        done = CliRunner().invoke(cli, [*asked, "-o", str(path)])
        assert done.exit_code == 0, (done.stderr, done.exception)
        drawn.append(path.read_text())
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("response", ["write", "log(write)", "write/nodes", "bandwidth_first_done", "write seconds"])
def test_a_page_takes_every_name_of_a_response(whole, response):
    (one,) = answer("report", whole, "--experiment", "e1", "--response", response)["summary"]
    assert one["by"] == ["nodes", "mode"] and [row["mean"]["n"] for row in one["rows"]] == [3] * 10


@pytest.mark.parametrize("response", ["log(write)", "write/nodes"])
def test_a_page_of_a_table_computes_a_response(tmp_path, response):
    lines = [f"{1 + i % 2},{'ab'[i % 2]},{10.5 + i}" for i in range(8)]
    (tmp_path / "t.csv").write_text("nodes,mode,write\n" + "\n".join(lines) + "\n")
    done = CliRunner().invoke(
        cli, ["report", str(tmp_path / "t.csv"), "--response", response, "--by", "nodes", "--json"]
    )
    assert done.exit_code == 0, (done.stderr, done.exception)
    assert [one["title"] for one in json.loads(done.stdout)["summary"]] == [response]
