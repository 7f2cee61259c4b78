"""Factors come from what is known, never from counting rows: each of these once gave a wrong number."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.answers.learned import Learning
from iosonde.commands.advise.answer import Advising, advise
from iosonde.commands.fit.answer import fit
from iosonde.commands.regress.answer import regress
from iosonde.commands.summary.answer import build_store_overview
from iosonde.commands.validate.answer import validate
from iosonde.core.errors import DataError
from iosonde.core.types import Experiment, Factor, Observation, Role, Run
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses, choose_response
from iosonde.data.source import open_data
from iosonde.store import Store
from messages import assert_problem, codes, raises, with_code
from terminal import command_of

check = command_of("check")
rank = command_of("rank")
summary = command_of("summary")

NOW = "2026-11-22T10:00:00Z"


def stored(path: Path, runs: list[Run], *declared: str, experiment: str = "e") -> str:
    """A store with these runs, of an experiment that declares these factors."""
    store = Store.create(path)
    factors = [Factor(name) for name in declared]
    store.save_experiment(Experiment(experiment, "a test", factors, {}, [], 1, NOW))
    for one in runs:
        store.append(one)
    return str(path)


def trial(number: int, value: float, experiment: str = "e", facts=None, repetitions=1, **factors) -> Run:
    """One run of one metric; ``repetitions`` are the tool's own iterations, each a little faster."""
    rows = [Observation("write", "bandwidth_last_done", value + i, "bytes/s", None, i) for i in range(repetitions)]
    return Run(
        f"{experiment}-{number:04d}",
        experiment,
        "test",
        f"2026-11-22T10:{number:02d}:00Z",
        1.0,
        {"nodes": 1, **factors, "repetition": 0, "block": 0},
        rows,
        facts=facts or {},
    )


def test_a_value_that_is_no_number_is_named_by_its_run_and_metric(tmp_path):
    place = stored(tmp_path / "s", [trial(i, math.nan if i == 3 else 100.0 + i, n=i % 2) for i in range(8)], "n")
    row = f"{place}, run e-0003, write bandwidth_last_done"
    with raises("not-a-number", DataError, row=row, column="value", cell="nan") as refused:
        summary.main([place], standalone_mode=False)
    assert_problem(refused.value.values["cure"], "leave-run-out", run="e-0003")
    summary.main([place, "--where", "run!=e-0003"], standalone_mode=False)


def overview(place: str, **asked):
    return build_store_overview(open_data(place), ResponseQuery(**asked), {})


def test_settings_that_were_each_tried_once_are_four_cells_and_no_repetitions(tmp_path):
    place = stored(tmp_path / "s", [trial(i, 100.0 * (i + 1), n=i / 10 + 0.1) for i in range(4)], "nodes", "n")
    made = overview(place)
    assert made.by == ("n",) and [row.n for row in made.rows] == [1, 1, 1, 1]
    assert all(row.mean.low is None for row in made.rows)
    assert "S101" in [finding.code for finding in made.findings]


def fraction() -> list[Run]:
    """A 2^(4-1) with d = abc, of which only d acts, three times."""
    signs = [(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    return [
        trial(len(signs) * block + i, 200.0 + 50 * a * b * c + 0.1 * (i + block), a=a, b=b, c=c, d=a * b * c)
        for block in range(3)
        for i, (a, b, c) in enumerate(signs)
    ]


def test_a_factor_that_others_determine_stays_a_factor(tmp_path):
    place = stored(tmp_path / "s", fraction(), "nodes", "a", "b", "c", "d")
    assert [factor.name for factor in build_responses(open_data(place), ResponseQuery())[0].factors] == [
        "a",
        "b",
        "c",
        "d",
    ]
    made = json.loads(CliRunner().invoke(rank, [place, "--json"]).stdout)["rankings"][0]
    first = made["factors"][0]
    assert first["name"] == "d" and first["s1"] > 0.9


def test_factors_that_always_change_together_are_one_and_the_other_is_named(tmp_path):
    runs = [trial(i, 100.0 + i, x=i % 2, y=2 * (i % 2)) for i in range(8)]
    (one,) = build_responses(open_data(stored(tmp_path / "s", runs, "x", "y")), ResponseQuery())
    assert [factor.name for factor in one.factors] == ["x"] and dict(one.confounded) == {"y": "x"}


def hypercube(path: Path) -> str:
    """Two factors of which each level was tried once: only ``y`` acts."""
    order = (3, 7, 0, 5, 8, 1, 6, 2, 4)
    runs = [trial(i, 1e8 + 1e6 * y + 1e4 * (i % 3), x=i, y=y) for i, y in enumerate(order)]
    return stored(path, runs, "nodes", "x", "y")


def test_models_of_a_latin_hypercube_are_on_all_that_its_experiment_declares(tmp_path):
    source = open_data(hypercube(tmp_path / "s"))
    assert [factor.name for factor in build_responses(source, ResponseQuery())[0].factors] == ["x"], (
        "as cells the two are one"
    )
    asked = ResponseQuery(("write",))
    made = regress(source, asked).regression
    assert made.fit.names[1:] == ("x", "y") and made.fit.r2 > 0.99
    assert [one.name for one in fit(source, asked, Learning(("linear",))).examples.features] == ["x", "y"]
    assert [one.name for one in validate(source, asked, Learning(("linear",))).examples.features] == ["x", "y"]
    assert "confounded" not in codes(made.warnings)


def test_what_is_advised_for_is_described_by_all_that_is_declared(tmp_path):
    order = (3, 7, 0, 5, 8, 1, 6, 2, 4)
    runs = [
        trial(2 * i + h, 1e8 + 1e6 * y + 1e7 * h + 1e4 * (i % 3), x=i, y=y, h="ab"[h])
        for i, y in enumerate(order)
        for h in (0, 1)
    ]
    made = advise(open_data(stored(tmp_path / "s", runs, "x", "y", "h")), ResponseQuery(("write",)), Advising(("h",)))
    assert [feature.name for feature in made.advice.instances.features] == ["x", "y"]


def several(number: int, *metrics: str) -> Run:
    rows = [Observation("write", metric, 100.0 + number + place, "bytes/s") for place, metric in enumerate(metrics)]
    return replace(trial(number, 0.0, x=number % 2), observations=rows)


def test_an_operation_with_several_metrics_stands_for_its_headline(tmp_path):
    metrics = ("latency_mean", "rate_last_done", "bandwidth_last_done", "bandwidth_first_done")
    source = open_data(stored(tmp_path / "s", [several(i, *metrics) for i in range(8)], "x"))
    one = choose_response(source, ResponseQuery(("write",)))
    assert one.title == "write bandwidth_last_done"
    assert_problem(one.warnings[0], "headline-metric", others="write latency_mean, write rate_last_done")
    assert choose_response(source, ResponseQuery(("write",), clock="first_done")).title == "write bandwidth_first_done"
    assert choose_response(source, ResponseQuery(("write rate_last_done",))).warnings == ()
    assert choose_response(source, ResponseQuery(("log(write)",))).values[0] == pytest.approx(math.log(102.0))


def test_metrics_none_of_which_is_a_headline_are_a_choice(tmp_path):
    source = open_data(stored(tmp_path / "s", [several(i, "latency_mean", "open_time") for i in range(8)], "x"))
    with raises("ambiguous-response", n_responses=2, responses="'write latency_mean', 'write open_time'"):
        choose_response(source, ResponseQuery(("write",)))


def test_value_is_that_of_the_clock(tmp_path):
    metrics = ("bandwidth_last_done", "bandwidth_first_done")
    source = open_data(stored(tmp_path / "s", [several(i, *metrics) for i in range(8)], "x"))
    assert choose_response(source, ResponseQuery(("value",), clock="first_done")).values[0] == 101.0
    assert choose_response(source, ResponseQuery(("value",))).values[0] == 100.0


def place_facts(target: str, kind: str) -> dict:
    return {"target": target, "machine": {"mount": {"type": kind}}}


@pytest.mark.parametrize(
    ("second", "factor"),
    [(("/mnt/b", "xfs"), "target"), (("/mnt/a", "nfs4"), "filesystem"), (("/mnt/b", "nfs4"), "filesystem")],
)
def test_two_file_systems_or_targets_are_two_levels(tmp_path, second, factor):
    facts = [place_facts("/mnt/a", "xfs"), place_facts(*second)]
    runs = [trial(i, 100.0 * (1 + i % 2) + i, facts=facts[i % 2]) for i in range(12)]
    place = stored(tmp_path / "s", runs, "nodes")
    made = overview(place)
    assert made.by == (factor,) and [row.n for row in made.rows] == [6, 6]
    only = open_data(place, [f"{factor}={made.rows[0].by[factor]}"])
    assert len(only.trials().rows) == 6
    text = CliRunner().invoke(summary, [place, "--by", "nodes"]).stdout
    assert factor in text, "what is pooled although it varies is said (S110)"


def test_the_structure_of_the_file_system_is_a_column_to_choose_and_group_by_and_no_factor(tmp_path):
    kinds = ["xfs", "nfs4", "lustre", "fuse.glusterfs"]
    runs = [trial(i, 100.0 + i, facts=place_facts("/mnt/a", kinds[i % 4])) for i in range(12)]
    place = stored(tmp_path / "s", runs, "nodes")
    assert open_data(place).varying_factors.names == ["filesystem"]
    assert len(open_data(place, ["structure=parallel"]).trials().rows) == 6
    done = CliRunner().invoke(summary, [place, "--by", "structure", "--json"])
    assert [(one["by"]["structure"], one["n"]) for one in json.loads(done.stdout)["groups"]] == [
        ("local", 3),
        ("client/server", 3),
        ("parallel", 6),
    ]


def test_a_place_that_is_the_same_in_all_trials_says_so(tmp_path):
    runs = [trial(i, 100.0 + i, facts=place_facts("/mnt/a", "lustre")) for i in range(6)]
    source = open_data(stored(tmp_path / "s", runs, "nodes"))
    for table in (source.table, source.trials().rows):
        with raises("constant-column", DataError, column="structure", value="parallel"):
            table.column("structure")
    nowhere = open_data(stored(tmp_path / "n", [trial(i, 100.0 + i) for i in range(6)], "nodes"))
    with raises("constant-column", DataError, column="filesystem", value=""):
        nowhere.table.column("filesystem")


def test_what_a_lab_was_to_bring_up_stands_for_what_the_nodes_saw(tmp_path):
    kinds = {"glusterfs": "fuse.glusterfs", "nfs": "fuse.nfs", "sshfs": "fuse.sshfs"}
    runs = [
        trial(i, 100.0 + i, facts=place_facts("/mnt/lab", kinds[name]), file_system=name)
        for i, name in enumerate([*kinds] * 2)
    ]
    source = open_data(stored(tmp_path / "s", runs, "file_system"))
    assert source.varying_factors.names == ["file_system"] and not source.varying_factors.confounded
    other = trial(9, 50.0, facts=place_facts("/mnt/lab", "nfs4"), file_system="nfs")
    source = open_data(stored(tmp_path / "t", [*runs, other], "file_system"))
    assert "filesystem" in source.varying_factors.names, "one name, two file systems"


@pytest.mark.parametrize("nodes", [(1, 1), (1, 2)])
def test_trials_of_different_health_never_share_a_cell(tmp_path, nodes):
    """One copy is written in half of the time of two: their mean was that of nothing (cv 41 %)."""
    levels = ["ok"] * 6 + ["n2 down"] * 6
    runs = [trial(i, 100.0 * (1 + i // 6) + i, health=level, nodes=nodes[i % 2]) for i, level in enumerate(levels)]
    source = open_data(stored(tmp_path / "s", runs, "nodes"))
    made = overview(str(tmp_path / "s"))
    assert made.by == (("health",) if nodes == (1, 1) else ("nodes", "health"))
    assert {row.n for row in made.rows} == ({6} if nodes == (1, 1) else {3})
    assert [one.role for one in source.varying_factors.factors if one.name == "health"] == [Role.OBSERVED]
    assert len(open_data(str(tmp_path / "s"), ["health=ok"]).trials().rows) == 6


def test_trials_that_do_not_know_their_health_are_those_of_one_cell_with_healthy_ones(tmp_path):
    runs = [trial(i, 100.0 + i, **({"health": "ok"} if i % 2 else {})) for i in range(6)]
    made = overview(stored(tmp_path / "s", runs, "nodes"))
    assert made.by == () and [row.n for row in made.rows] == [6]
    assert "S110" not in [finding.code for finding in made.findings]


def under(**options) -> dict:
    named = {name.replace("__", ".").replace("_", "-"): level for name, level in options.items()}
    return {"conditions": {"before": None, "after": None, "options": named}}


def test_an_option_of_the_file_system_that_changed_is_a_factor_although_nobody_declared_it(tmp_path):
    facts = [under(performance__write_behind="on", b="1"), under(performance__write_behind="off", b="1")]
    runs = [trial(i, 100.0 * (1 + i % 2) + i, facts=facts[i % 2]) for i in range(12)]
    place = stored(tmp_path / "s", runs, "nodes")
    made = overview(place)
    assert made.by == ("performance.write-behind",) and [row.n for row in made.rows] == [6, 6]
    assert open_data(place).varying_factors.factors[0].role is Role.OBSERVED
    assert len(open_data(place, ["performance.write-behind=off"]).trials().rows) == 6
    assert len(open_data(place, ["performance.write-behind=off"]).runs) == 6
    text = CliRunner().invoke(summary, [place, "--by", "nodes"]).stdout
    assert "S110" in text and "performance.write-behind" in text, "what is pooled although it varies is said"


def test_an_option_that_follows_from_a_factor_tells_nothing_more(tmp_path):
    runs = [trial(i, 100.0 + i, facts=under(cache="on" if i % 2 else "off"), c=i % 2) for i in range(12)]
    assert overview(stored(tmp_path / "s", runs, "c")).by == ("c",)


def test_an_option_that_never_changed_is_no_column(tmp_path):
    runs = [trial(i, 100.0 + i, facts=under(cache="on")) for i in range(4)]
    assert "cache" not in open_data(stored(tmp_path / "s", runs, "nodes")).table.columns


def imported(number: int, iterations: int, value: float = 100.0, **factors) -> Run:
    facts = {"import": {"format": "ior", "file": f"{number}.txt"}}
    return trial(number, value, facts=facts, repetitions=iterations, tool="ior", **factors)


def test_a_tools_own_iterations_are_inside_a_trial(tmp_path):
    place = stored(tmp_path / "s", [imported(i, 3, 100.0 + 10 * i, api="POSIX") for i in range(6)])
    (row,) = overview(place).rows
    assert row.n == 6 and row.mean.value == pytest.approx(100 + 25 + 1)


def test_iterations_of_the_only_run_have_an_interval_that_is_said_to_be_of_one_run(tmp_path):
    place = stored(tmp_path / "s", [imported(i, 3, xfer=2**i) for i in range(3)])
    made = overview(place)
    assert made.by == ("xfer",) and [row.n for row in made.rows] == [1, 1, 1]
    assert made.rows[0].mean.low is not None
    assert " 3 iterations" in made.rows[0].mean.warnings[0]


def test_iterations_of_several_runs_in_one_cell_are_their_means(tmp_path):
    """Each setting was run once, but the cell that is asked for holds three runs: these are its trials."""
    place = stored(tmp_path / "s", [imported(i, 3, 100.0 * (i + 1), xfer=2**i) for i in range(3)])
    (row,) = overview(place, on=("tool",)).rows
    assert row.n == 3 and row.mean.value == pytest.approx(201.0) and codes(row.mean.warnings) == ["cut-interval"]


def test_dates_times_hosts_and_labels_of_a_tool_are_no_factors(tmp_path):
    runs = [imported(i, 1, date=f"1995-05-{i + 1:02d}", time=f"0{i}:00:00", host=f"n{i}", fs="a") for i in range(6)]
    made = overview(stored(tmp_path / "s", runs))
    assert made.by == () and [row.n for row in made.rows] == [6]


def test_what_a_measured_tool_says_of_its_settings_parts_cells_only_where_nothing_set_does(tmp_path):
    told = [trial(i, 100.0 + i, t=f"{2 ** (i % 3)}k", transfer_size=1024 * 2 ** (i % 3)) for i in range(6)]
    assert overview(stored(tmp_path / "a", told, "t")).by == ("t",)
    untold = [trial(i, 100.0 + i, transfer_size=1024 * 2 ** (i % 3)) for i in range(6)]
    assert overview(stored(tmp_path / "b", untold, "nodes")).by == ("transfer_size",)


@pytest.mark.parametrize("name", ["write", "bandwidth_last_done", "write bandwidth_last_done", "value"])
def test_a_stores_metric_has_a_name_wherever_a_response_is_asked_for(tmp_path, name):
    place = stored(tmp_path / "s", [trial(i, 100.0 + i, x=i % 2) for i in range(8)], "x")
    one = choose_response(open_data(place), ResponseQuery((name,)))
    assert one.values.tolist() == [100.0 + i for i in range(8)] and one.unit == "bytes/s"
    assert not one.lower_is_better


@pytest.mark.parametrize(("text", "first", "unit"), [("value/nodes", 50.0, "bytes/s"), ("log2(write)", 6.6438, "")])
def test_a_response_may_be_computed(tmp_path, text, first, unit):
    place = stored(tmp_path / "s", [trial(i, 100.0, x=i % 2) for i in range(2)], "x")
    if "nodes" in text:
        place = stored(tmp_path / "n", [trial(i, 100.0, nodes=2 - i) for i in range(2)], "nodes")
    one = choose_response(open_data(place), ResponseQuery((text,)))
    assert one.values[0] == pytest.approx(first, abs=1e-3) and one.unit == unit


def table(path: Path) -> str:
    """Two settings, a rate, and a second measured column that follows from it."""
    lines = ["nodes,mode,write_MB/s,took_s,rep"]
    for i in range(24):
        rate = 10.0 * (1 + i % 4) + (i % 2) + 0.01 * i
        lines.append(f"{2 ** (i % 4)},{'ab'[i % 2]},{rate},{100 / rate},{i // 4}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("response", ["write_MB/s", "log(write_MB/s)", "write_MB/s/nodes"])
def test_another_measured_column_of_a_table_is_no_factor(tmp_path, response):
    """``took_s`` was a factor of write, with a share of 0.87, and parted every trial from every other."""
    place = table(tmp_path / "t.csv")
    one = choose_response(open_data(place), ResponseQuery((response,)))
    assert one.names == ["nodes", "mode"]
    assert_problem(one.warnings[0], "assumed-factors", factors="nodes, mode")
    assert "took_s" in one.warnings[0].values["excluded"]
    text = CliRunner().invoke(rank, [place, "--response", response]).stdout
    assert text.startswith(f"{response} on nodes, mode; 24 trials of 4 settings")
    assert choose_response(open_data(place), ResponseQuery((response,), ("took_s",))).warnings == ()


@pytest.mark.parametrize("options", [[], ["--noise"]])
@pytest.mark.parametrize("response", ["log(write)", "write/nodes", "bandwidth_first_done", "value"])
def test_check_takes_every_name_of_a_response(tmp_path, response, options):
    metrics = ("bandwidth_last_done", "bandwidth_first_done")
    runs = [replace(several(i, *metrics), factors={"nodes": 1 + i % 2, "repetition": i // 2}) for i in range(16)]
    done = CliRunner().invoke(check, [stored(tmp_path / "s", runs, "nodes"), "--response", response, *options])
    assert done.exit_code in (0, 1) and done.stdout, done.exception


def test_what_varied_unseen_is_looked_for_in_the_trials_of_that_very_metric(tmp_path):
    """With a metric of another clock the rows of other metrics were looked at."""
    metrics = ("latency_mean", "bandwidth_last_done", "bandwidth_first_done")
    runs = [replace(several(i, *metrics), factors={"nodes": 1 + i % 2, "mode": "ab"[i // 8]}) for i in range(16)]
    place = stored(tmp_path / "s", runs, "nodes", "mode")
    by_name, by_clock = (
        [one for one in overview(place, on=("nodes",), **asked).findings if one.code == "S110"]
        for asked in ({"response": ("bandwidth_first_done",)}, {"clock": "bandwidth_first_done"})
    )
    assert by_name == by_clock and "mode (write, nodes=1, write, nodes=2)" in by_name[0].sentence


def test_cells_say_which_factors_they_do_not_show(tmp_path):
    separable = with_code(overview(hypercube(tmp_path / "a")).warnings, "confounded-in-cells")
    assert_problem(separable, "confounded-in-cells", factor="y", twin="x")
    runs = [trial(i, 100.0 + i, x=i % 2, y=2 * (i % 2)) for i in range(8)]
    (inseparable,) = overview(stored(tmp_path / "b", runs, "x", "y")).warnings
    assert_problem(inseparable, "confounded-in-cells", factor="y", twin="x")
    assert "regress" in separable and "regress" not in inseparable


@pytest.mark.parametrize(
    ("text", "lower"),
    [
        ("seconds", True),
        ("log(seconds)", True),
        ("1 / seconds", False),
        ("inverse(seconds)", False),
        ("1e6 * size / seconds", False),
        ("-seconds", False),
        ("size - seconds", False),
        ("seconds ** -1", False),
        ("seconds / size", True),
        ("1 / (size / seconds)", True),
        ("rate_MB/s", False),
        ("1 / rate", True),
    ],
)
def test_what_is_computed_from_a_time_is_better_the_way_it_is(tmp_path, text, lower):
    """Work by time was taken for a cost, and the slowest setting advised."""
    (tmp_path / "t.csv").write_text("size,h,seconds,rate_MB/s\n2,a,1,5\n2,b,2,4\n4,a,1.5,3\n4,b,3,2\n")
    assert choose_response(open_data(tmp_path / "t.csv"), ResponseQuery((text,), ("h",))).lower_is_better is lower
