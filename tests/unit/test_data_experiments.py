"""Several experiments in one store are never one cell unasked: the last one is shown, and a line says so."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from click.testing import CliRunner
from test_data_factors import NOW, trial

import iosonde
from iosonde.cli.group import cli
from iosonde.commands.report.experiment import choose_experiment
from iosonde.core.types import Experiment, Factor, Observation
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import open_data
from iosonde.store import Store
from messages import assert_problem, raises


def stored(path, label=None) -> str:
    """Three experiments of one cell with the values 100, 200 and 300; with a ``label`` that is another in each."""
    store = Store.create(path)
    for place, name in enumerate(("one", "two", "three")):
        factors = [Factor("nodes"), *([Factor(label, "", (name,))] if label else [])]
        store.save_experiment(Experiment(name, "a test", factors, {}, [], 1, NOW))
        for i in range(2):
            more = {label: name} if label else {}
            store.append(trial(10 * place + i, 100.0 * (place + 1) + i, name, **more))
    return str(path)


def means(place: str, *words: str) -> list[float]:
    done = CliRunner().invoke(cli, ["summary", place, "--json", *words])
    return [row["mean"] for row in json.loads(done.stdout)["groups"]]


def test_the_last_is_shown_alone_and_a_line_says_so(tmp_path):
    place = stored(tmp_path / "s")
    assert means(place) == means(place, "--experiment", "last") == [300.5]
    assert means(place, "--experiment", "one") == [100.5]
    assert sorted(means(place, "--experiment", "all")) == [100.5, 200.5, 300.5]
    assert sorted(means(place, "--by", "experiment")) == [100.5, 200.5, 300.5]
    said = "of 3 experiments only the last, three, is used: --experiment ID|all\n"
    for command in ("summary", "check"):
        assert said in CliRunner().invoke(cli, [command, place]).stderr
        assert said not in CliRunner().invoke(cli, [command, place, "--experiment", "last"]).stderr


def test_experiments_that_a_factor_tells_apart_are_shown_together(tmp_path):
    place = stored(tmp_path / "s", "fs")
    assert sorted(means(place)) == [100.5, 200.5, 300.5]
    assert CliRunner().invoke(cli, ["summary", place]).stderr == ""


def test_a_group_of_experiments_is_over_all(tmp_path):
    place = stored(tmp_path / "s")
    done = CliRunner().invoke(cli, ["compare", place, "--group", "experiment", "one", "three"])
    assert "one" in done.output and "three" in done.output and done.exit_code == 0


def test_the_page_takes_the_last_and_says_so(tmp_path):
    store = Store.open(stored(tmp_path / "s"))
    chosen = choose_experiment(store, None)
    assert chosen.experiment == "three" and re.findall("three|3|--experiment", chosen.note) == [
        "3",
        "three",
        "--experiment",
    ]
    assert choose_experiment(store, "last").experiment == "three" and choose_experiment(store, "all").experiment is None
    with raises("unknown-experiment", experiment="four"):
        choose_experiment(store, "four")


def test_python_says_it_as_a_warning(tmp_path):
    place = stored(tmp_path / "s")
    with pytest.warns(iosonde.IosondeWarning, match="of 3 experiments only the last, three"):
        assert iosonde.summary(place).to_frame()["mean"].tolist() == [300.5]
    assert iosonde.summary(place, experiment="all").to_frame()["mean"].sum() == 601.5


# Every analysis, of a store of two experiments whose trials take 0.1 s and 0.3 s


def of_two(path) -> str:
    """A command on 1, 2, 4 and 8 nodes with two modes: three times of 0.1 s + 1 ms a node, then of 0.3 s."""
    store = Store.create(path)
    cells = [(nodes, mode, i) for i in range(3) for nodes in (1, 2, 4, 8) for mode in ("slow", "fast")]
    for name, base in (("one", 0.1), ("two", 0.3)):
        factors = [Factor("nodes", "", (1, 2, 4, 8)), Factor("mode", "", ("slow", "fast"))]
        settings = {"steps": [f"sleep {base}"]}
        store.save_experiment(Experiment(name, f"sleep {base}", factors, settings, [], 1, f"2026-11-22T10:00:0{base}Z"))
        for at, (nodes, mode, i) in enumerate(cells):
            seconds = base + 0.001 * nodes + 1e-4 * i + (0.02 if mode == "slow" else 0)
            rows = [Observation("step", "seconds", seconds, "s")]
            store.append(replace(trial(at, 0, name, nodes=nodes, mode=mode), observations=rows))
    return str(path)


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> str:
    return of_two(tmp_path_factory.mktemp("two") / "s")


SAID = "of 2 experiments only the last, two, is used: --experiment ID|all"
ANALYSES = {
    "summary": [],
    "rank": [],
    "regress": ["--response", "step", "--on", "nodes,mode"],
    "anova": ["--response", "step", "--on", "nodes,mode"],
    "compare": ["--group", "mode"],
    "scale": ["--response", "step", "--of-time"],
    "advise": ["--choose", "mode"],
    "fit": ["--on", "nodes,mode"],
    "validate": ["--on", "nodes,mode"],
}


def told(name: str, place: str, *words: str) -> tuple[dict, str]:
    done = CliRunner().invoke(cli, [name, place, *ANALYSES[name], "--json", *words])
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout), " ".join((done.stdout if name == "compare" else done.stderr).split())


@pytest.mark.parametrize("name", ANALYSES)
def test_an_analysis_takes_the_last_experiment_alone_and_says_so(two, name):
    asked, said = told(name, two)
    alone, nothing = told(name, two, "--experiment", "two")
    assert SAID in said and SAID not in nothing
    asked["warnings"] = [one for one in asked.get("warnings", []) if one != SAID]
    assert asked == alone | {"warnings": alone.get("warnings", [])}
    assert told(name, two, "--experiment", "sleep 0.3")[0] == alone  # by its name
    assert told(name, two, "--where", "experiment=sleep 0.3")[0] == alone


@pytest.mark.parametrize("name", ANALYSES)
def test_all_experiments_are_side_by_side_and_never_one_cell(two, name):
    every, said = told(name, two, "--experiment", "all")
    assert "of 2 experiments" not in said and ("experiment" in json.dumps(every) or name == "validate")
    assert every != told(name, two)[0]


def test_each_experiment_has_cells_a_factor_and_a_share_of_its_own(two):
    def every(name: str) -> dict:
        return told(name, two, "--experiment", "all")[0]

    assert {row["n"] for row in every("summary")["groups"]} == {3}
    first = every("rank")["rankings"][0]["factors"][0]
    assert first["name"] == "experiment" and first["s1"] > 0.9
    assert max(every("anova")["terms"], key=lambda term: term["share"])["name"] == "experiment"
    effect = next(term for term in every("regress")["terms"] if term["name"] == "experiment[sleep 0.3]")
    assert effect["estimate"] == pytest.approx(0.2)
    assert [one["by"]["experiment"] for one in every("compare")["comparisons"][:2]] == ["sleep 0.1", "sleep 0.3"]
    assert [one["by"]["experiment"] for one in every("scale")["series"]] == ["sleep 0.1", "sleep 0.3"] * 2
    assert {size["n"] for one in every("scale")["series"] for size in one["sizes"]} == {3}
    assert every("validate")["n_settings"] == 16
    assert every("advise")["given"] == ["nodes", "experiment"] and every("advise")["instances"] == 8


def test_a_model_judged_by_new_data_is_judged_by_one_experiment(two, tmp_path):
    model = str(tmp_path / "m.json")
    run = CliRunner()
    fitted = run.invoke(cli, ["fit", two, "--experiment", "one", "--family", "linear", "-o", model])
    assert fitted.exit_code == 0, fitted.output
    judged = run.invoke(cli, ["validate", two, "--model", model, "--json"])
    assert json.loads(judged.stdout)["n"] == 24 and SAID in judged.stderr
    assert json.loads(judged.stdout)["mae"] == pytest.approx(0.2, rel=0.01)


def test_a_store_of_two_experiments_against_another_is_its_last_one(two, tmp_path):
    other = of_two(tmp_path / "other")
    made = json.loads(CliRunner().invoke(cli, ["compare", two, other, "--json"]).stdout)
    assert [f"{name}: {SAID}" for name in ("s", "other")] == made["warnings"][:2]
    assert all(
        one["n_a"] == 3 for one in iosonde.compare(two, b=other, experiment="last").to_frame().to_dict("records")
    )
    refused = CliRunner().invoke(cli, ["compare", two, other, "--experiment", "all"])
    assert_problem(refused.exception, "ambiguous-experiment", name="s")


def test_python_narrows_every_analysis(two):
    everything = iosonde.open(two, experiment="all")
    for name, words in (("rank", {}), ("fit", {"families": "linear"}), ("advise", {"choose": "mode"})):
        with pytest.warns(iosonde.IosondeWarning, match="of 2 experiments only the last, two"):
            getattr(iosonde, name)(two, **words)
        assert "experiment" in json.dumps(getattr(iosonde, name)(everything, **words).to_dict())


def test_experiments_with_other_factors_are_not_learned_from_together(tmp_path):
    place = str(tmp_path / "s")
    store = Store.create(tmp_path / "s")
    store.save_experiment(Experiment("new", "new", [Factor("depth", "", (1, 2))], {}, [], 1, "2026-11-23T10:00:00Z"))
    for at in range(4):
        row = Observation("step", "seconds", 0.1 * (1 + at % 2) + 0.001 * at, "s")
        store.append(replace(trial(at, 0, "old", facts={"import": {}}, depth_of=at), observations=[row]))
        store.append(
            replace(trial(at, 0, "new", depth=1 + at % 2), started_at=f"2026-11-23T10:0{at}:00Z", observations=[row])
        )
    done = CliRunner().invoke(cli, ["rank", place, "--json"])
    assert [one["name"] for one in json.loads(done.stdout)["rankings"][0]["factors"]] == ["depth"]
    assert " 2 " in done.stderr and " new," in done.stderr


def test_a_long_name_shows_both_its_ends_and_is_found_whole(tmp_path):
    store = Store.create(tmp_path / "s")
    command = "ior -a POSIX -t ${t} -b 4m -o /mnt/lab/f -w -r"
    for at, name in enumerate((command, f"{command} -e")):
        store.save_experiment(Experiment(f"e{at}", name, [Factor("nodes")], {"steps": []}, [], 1, NOW))
        store.append(trial(0, 100.0 + at, f"e{at}"))
    made = iosonde.summary(str(tmp_path / "s"), experiment="all").to_frame()
    assert made["experiment"].tolist() == ["ior -a POSIX … t/lab/f -w -r", "ior -a POSIX … ab/f -w -r -e"]
    assert means(str(tmp_path / "s"), "--experiment", command) == [100.0]


def test_experiments_of_one_name_are_told_apart_by_their_id(tmp_path):
    store = Store.create(tmp_path / "s")
    for name in ("a1", "b2"):
        store.save_experiment(Experiment(name, "sleep", [Factor("nodes")], {"steps": []}, [], 1, NOW))
        store.append(trial(0, 100.0, name))
    made = iosonde.summary(str(tmp_path / "s"), experiment="all").to_frame()
    assert made["experiment"].tolist() == ["sleep (a1)", "sleep (b2)"]


@pytest.mark.parametrize(("label", "names"), [(None, ["nodes", "experiment"]), ("fs", ["nodes", "fs"])])
def test_factors_that_are_asked_for_keep_experiments_apart(tmp_path, label, names):
    """Of the same cell in three experiments the experiment is a factor, too, unless a named one differs in each."""
    asked = ResponseQuery(on=("nodes", label) if label else ("nodes",))
    for response in build_responses(open_data(stored(tmp_path / "s", label)), asked):
        assert [factor.name for factor in response.factors] == names
