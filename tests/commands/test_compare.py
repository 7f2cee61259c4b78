"""Comparisons within a store: declared factors make the cells, the first level as declared is the base, iterations of
one run are no trials."""

from __future__ import annotations

import re
from pathlib import Path

import declared_sample
import numpy as np
import pyarrow.csv as pa_csv
import pytest

import compare_sample
import iosonde
from iosonde.commands.compare.answer import WITHIN_RUN, Comparisons, Sides, compare
from iosonde.commands.compare.samples import BASE_IS_FIRST
from iosonde.commands.compare.sides import parse_published_side
from iosonde.commands.compare.text import lines
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.core.types import Experiment, Factor, Observation, Run
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.store import Store
from messages import assert_problem, codes, raises, with_code

pytest.importorskip("iosonde.engine._native")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "s"
    declared_sample.store(path)
    return path


METRIC = "bandwidth_last_done"


def one_sided(made: Comparisons) -> set[tuple[str, str]]:
    """Side → what it alone has."""
    assert set(codes(made.exclusions)) <= {"one-sided", "one-sided-metric"}
    return {(str(one.values["side"]), str(one.values["cells"])) for one in made.exclusions}


def ratios(made: Comparisons) -> list[float]:
    return [one.comparison.ratio.value for one in made.items]


def test_an_operation_of_a_store_at_every_setting_of_its_other_factors(place):
    made = compare(open_data(place, (), "old"), ResponseQuery(("write",)), Sides(group="fs"))
    assert [one.cell for one in made.items] == [
        {"operation": "write", "metric": "bandwidth_last_done", "unit": "bytes/s", "nodes": n} for n in (1, 2, 4)
    ]
    assert ratios(made) == pytest.approx([0.5, 0.5, 0.5]) and {r["n_a"] for r in made.records()} == {4}


def test_the_first_level_as_declared_or_as_given_is_the_base(place):
    source = open_data(place, ["nodes=1"], "old")  # the first run is on afs
    assert compare(source, ResponseQuery(("write",)), Sides(group="fs")).items[0].comparison.a.name == "nfs"
    made = compare(source, ResponseQuery(("write",)), Sides(("afs", "nfs"), "fs"))
    assert made.items[0].comparison.a.name == "afs" and ratios(made) == pytest.approx([2])


def test_experiment_clock_and_computed_responses_choose(place):
    one = Sides(("nfs", "afs"), "fs")
    source = open_data(place, ["nodes=1"], "new")
    summed = compare(source, ResponseQuery(("write",), clock="sum_of_ranks"), one)
    assert summed.items[0].cell["metric"] == "bandwidth_sum_of_ranks"
    assert summed.items[0].comparison.a.side.mean == pytest.approx(1500 * declared_sample.MIB)
    assert len(compare(source, ResponseQuery(), one).items) == 3  # every operation
    logs = compare(source, ResponseQuery(("log2(write)",)), one).items[0]
    assert logs.cell["response"] == "log2(write)"
    assert logs.comparison.a.side.mean - logs.comparison.b.side.mean == pytest.approx(1)
    table = build_table({"v": ["a"] * 3 + ["b"] * 3, "work": [6] * 6, "s": [1, 2, 3, 2, 3, 6]})
    made = compare(open_data(table), ResponseQuery(("work/s",)), Sides(group="v"))
    assert made.items[0].comparison.a.side.mean == pytest.approx(11 / 3)


def test_what_always_changes_with_the_group_is_named_and_makes_no_cells(place):
    source = open_data(place, ["fs=nfs"], "old")
    for group, first in (("nodes", "1"), ("servers", "10")):
        made = compare(source, ResponseQuery(("write",)), Sides(group=group))
        assert len(made.items) == 3 and made.items[0].comparison.a.name == first
        (warning,) = made.warnings
        assert_problem(warning, "confounded", factor="servers", twin="nodes")
        assert any("servers" in line and "nodes" in line for line in lines(made))


def test_iterations_of_one_run_are_compared_and_said_to_be_that(tmp_path):
    declared_sample.imported(tmp_path / "s")
    made = compare(open_data(tmp_path / "s"), ResponseQuery(("write",)), Sides(group="nodes"))
    (one,) = made.items
    assert one.within_run and one.comparison.a.side.n == 4 and one.comparison.n_needed is None
    assert "within-run" in one.verdict(1).doubts
    assert WITHIN_RUN in made.to_dict()["comparisons"][0]["warnings"]
    text = list(lines(made))
    assert " ".join(text).count(WITHIN_RUN.partition(":")[0]) == 1 and max(map(len, text)) < 80


def test_iterations_of_several_runs_are_never_pooled(tmp_path):
    declared_sample.imported(tmp_path / "s", runs_each=3)
    (one,) = compare(open_data(tmp_path / "s"), ResponseQuery(("write",)), Sides(group="nodes")).items
    assert not one.within_run and (one.comparison.a.side.n, one.comparison.b.side.n) == (3, 3)
    declared_sample.imported(tmp_path / "one")
    # Within one run each by nodes; of the whole store two runs, against a published side.
    published = parse_published_side({"mean": "1e8", "sd": "1e6", "n": "5"}, "B")
    (one,) = compare(open_data(tmp_path / "one"), ResponseQuery(("write",)), Sides(by=("source",), b=published)).items
    assert not one.within_run and one.comparison.a.side.n == 2


def test_a_published_side_against_every_setting_of_a_store(place):
    published = parse_published_side({"mean": "104857600", "sd": "1e6", "n": "5", "name": "paper"}, "B")
    made = compare(open_data(place, ["fs=nfs"], "old"), ResponseQuery(("write",)), Sides(b=published))
    assert [one.cell["nodes"] for one in made.items] == [1, 2, 4]
    assert ratios(made) == pytest.approx([1, 0.5, 0.25])


@pytest.mark.parametrize(
    ("asked", "sides", "code", "values"),
    [
        (ResponseQuery(("write",)), Sides(levels=("a",)), "missing-option", {"names": "nodes, fs"}),
        (ResponseQuery(("none",)), Sides(group="fs"), "unknown-response", {"response": "none"}),
        (ResponseQuery(("write",)), Sides(group="fss"), "unknown-column", {"column": "fss"}),
        (ResponseQuery(("write",)), Sides(("nfs", "ufs"), "fs"), "unknown-level", {"name": "fs", "level": "ufs"}),
    ],
)
def test_what_cannot_be_is_one_sentence(place, asked, sides, code, values):
    with raises(code, InputError, **values):
        compare(open_data(place, (), "old"), asked, sides)


def test_what_was_measured_is_found_in_a_table_as_by_every_analysis():
    table = build_table(
        {"v": ["a", "a", "b", "b"], "y (s)": [1.25, 1.5, 2.125, 2.75], "z (MB/s)": [4.5, 5.25, 6.75, 7.5]}
    )
    made = compare(open_data(table), ResponseQuery(), Sides(group="v"))
    assert [one.cell["response"] for one in made.items] == ["y (s)", "z (MB/s)"]
    with raises("undetermined-response"):
        compare(open_data(build_table({"v": ["a", "b"], "w": ["c", "d"]})), ResponseQuery(), Sides(group="v"))


def test_conditions_and_pairs_name_the_repetition_that_is_shown(place, tmp_path):
    """``show`` lists the trials' repetition; a tool's own inside a trial is its iteration."""
    few = compare(open_data(place, ["nodes=1", "repetition<2"], "old"), ResponseQuery(("write",)), Sides(group="fs"))
    assert [one.comparison.a.side.n for one in few.items] == [2]
    source = open_data(place, ["nodes=1"], "old")
    paired = compare(source, ResponseQuery(("write",)), Sides(group="fs", pair=("repetition",)))
    assert paired.items[0].comparison.paired and paired.items[0].comparison.a.side.n == 4
    declared_sample.imported(tmp_path / "s")
    inner = open_data(tmp_path / "s", ["iteration>=2"])
    (one,) = compare(inner, ResponseQuery(("write",)), Sides(group="nodes")).items
    assert one.within_run and one.comparison.a.side.n == 2
    with raises("unknown-column", column="repetitions"):
        open_data(place, ["repetitions<2"])


# Two DATA


def two(a, b, **asked) -> Comparisons:
    return compare(open_data(a), ResponseQuery(asked.pop("response", ())), Sides(other=open_data(b), **asked))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    path = tmp_path_factory.mktemp("two")
    compare_sample.main(str(path / "ci_old"), str(path / "ci_new"))
    return path / "ci_old", path / "ci_new"


def test_two_stores_are_matched_cell_by_cell_and_the_first_is_the_base(pair):
    made = two(*pair)
    assert [(one.cell["operation"], one.cell["nodes"], one.verdict_word) for one in made.items] == [
        ("write", 1, "slower"),
        ("write", 2, "slower"),
        ("copy", 1, "slower"),
        ("copy", 2, "slower"),
    ]
    assert {one.sides for one in made.items} == {("ci_old", "ci_new")} and made.base == BASE_IS_FIRST
    assert {one.sides for one in two(*reversed(pair)).items} == {("ci_new", "ci_old")}
    assert one_sided(made) == {
        ("ci_old", f"stat {METRIC}"),
        ("ci_new", f"delete {METRIC}"),
        ("ci_old", "nodes=4"),
        ("ci_new", "nodes=8"),
    }
    assert_problem(made.warnings[0], "measured-apart", data_a="ci_old (2026-11-20 10:00 to 10:14)")
    assert_problem(made.warnings[1], "factor-differs", factor="version", levels="1 in ci_old, 2 in ci_new")


def test_a_comparison_says_that_cells_were_read_with_their_units(tmp_path):
    rows = [
        (side, f"{value} MB/s") for side, values in (("a", (98, 99, 97.5)), ("b", (110, 112, 111))) for value in values
    ]
    for side in ("a", "b", ""):
        lines = [f"{name},{value}\n" for name, value in rows if name.startswith(side)]
        (tmp_path / f"t{side}.csv").write_text("fs,bandwidth\n" + "".join(lines))
    both, a, b = (open_data(tmp_path / f"t{side}.csv") for side in ("", "a", "b"))
    for made in (compare(both, ResponseQuery(), Sides(group="fs")), compare(a, ResponseQuery(), Sides(other=b))):
        assert [text for text in made.warnings if "bandwidth" in text]
        assert made.verdicts[0].state == "different"


def test_a_store_is_compared_with_itself_by_two_names(pair):
    made = two(pair[0], pair[0], response=("write",))
    assert len(set(made.items[0].sides)) == 2 and ratios(made) == pytest.approx([1, 1, 1])
    assert any("same 15 runs" in one for one in made.warnings)


def test_all_operations_together_trial_by_trial(pair):
    """Times turned around; by hand: the mean log of the operation in each trial, cells compared by least squares."""
    answer = two(*pair)
    text = " ".join(" ".join(lines(answer)).split())
    assert [mean.operations for mean in answer.overall] == [("write",), ("copy",)]
    for mean, sign in zip(answer.overall, (1, -1), strict=True):
        ratio = mean.comparison
        assert (ratio.cells, ratio.a.side.n, ratio.b.side.n) == (2, 10, 10)
        logs: dict = {}
        for side, path in enumerate(pair):
            for run in map(Store.open(path).run, Store.open(path).run_ids()):
                (value,) = [row.value for row in run.observations if row.operation == mean.operations[0]]
                logs.setdefault(run.factors["nodes"], ([], []))[side].append(sign * np.log(value))
        expected = np.mean([np.mean(logs[n][1]) - np.mean(logs[n][0]) for n in (1, 2)])
        assert ratio.decided.value == pytest.approx(np.exp(expected)) and mean.verdict_word == "slower"
        assert mean.sentence in text
    assert "stat" in " ".join(answer.exclusions)


def test_two_tables_and_a_table_with_a_store(tmp_path, pair):
    for name, more in (("a", 0.0), ("b", 0.1)):
        rows = [(s, s * (1 + more + i / 50), i) for s in (1, 2, 4 if name == "a" else 8) for i in range(5)]
        (tmp_path / f"{name}.csv").write_text("size,write_s,run\n" + "".join(f"{s},{v},{i}\n" for s, v, i in rows))
    made = two(tmp_path / "a.csv", tmp_path / "b.csv", response=("write",))
    assert [one.cell for one in made.items] == [{"size": 1}, {"size": 2}] and made.items[0].verdict_word == "slower"
    assert one_sided(made) == {("a.csv", "size=4"), ("b.csv", "size=8")}
    whole = two(tmp_path / "a.csv", tmp_path / "b.csv", response=("write",), adjust=("size",), by=("run",))
    assert {one.comparison.cells for one in whole.items} == {2}
    with (tmp_path / "new.csv").open("wb") as file:
        pa_csv.write_csv(Store.open(pair[1]).results(), file)
    where = ["operation=write", "metric=bandwidth_last_done"]
    mixed = compare(
        open_data(pair[0], where), ResponseQuery(("value",)), Sides(other=open_data(tmp_path / "new.csv", where))
    )
    assert [one.cell["nodes"] for one in mixed.items] == [1, 2] and mixed.items[0].sides == ("ci_old", "new.csv")
    assert (
        ratios(mixed) == pytest.approx(ratios(two(*pair, response=("write",))))
        and mixed.items[0].verdict_word == "slower"
    )
    values = np.linspace(0.9e8, 1.1e8, 6)
    (tmp_path / "c.csv").write_text("nodes,write bandwidth_last_done (bytes/s)\n" + "".join(f"1,{v}\n" for v in values))
    with raises("no-common-response", DataError):
        two(pair[0], tmp_path / "c.csv")


@pytest.mark.parametrize("wrong", [{"group": "nodes"}, {"levels": ("1",)}])
def test_two_data_are_the_sides_themselves(pair, wrong):
    with raises("conflicting-options"):
        two(*pair, **wrong)


def test_experiments_of_a_merged_store_are_matched_although_their_versions_differ(tmp_path, pair):
    """All were left out, for version is another factor that changes with the experiment."""
    from iosonde.store.merge import merge

    merge(Store.create(tmp_path / "m"), [Store.open(path) for path in pair])
    made = compare(open_data(tmp_path / "m"), ResponseQuery(("write",)), Sides(group="experiment"))
    assert [one.cell["nodes"] for one in made.items] == [1, 2] and {one.sides for one in made.items} == {("e20", "e21")}
    assert_problem(with_code(made.warnings, "confounded"), "confounded", factor="version", twin="experiment")
    assert "(e20, then e21)" in with_code(made.warnings, "measured-in-turn") and len(made.exclusions) == 2


# What varies besides


def balanced(seed: int = 1):
    """72 cells, five trials each; beta takes 15 % longer. Sizes and threads move the time a hundred times as much."""
    rng = np.random.default_rng(seed)
    cells = [
        (v, s, t, m)
        for _ in range(5)
        for v in ("beta", "alpha")
        for s in (4, 16, 64)
        for t in (1, 2, 4)
        for m in "abcd"
    ]
    seconds = [s * np.exp(0.3 * t + 0.14 * (v == "beta") + 0.2 * rng.standard_normal()) for v, s, t, _ in cells]
    columns = dict(zip(("variant", "size", "threads", "mode"), map(list, zip(*cells, strict=True)), strict=True))
    return open_data(build_table({**columns, "run": range(len(cells)), "seconds": seconds}))


def test_other_columns_that_vary_are_named_and_adjusted_for():
    """Pooled, 360 trials could not tell, and nothing said why."""
    (one,) = compare(balanced(), ResponseQuery(("seconds",)), Sides(("alpha", "beta"), "variant")).items
    assert one.adjusted == ("size", "threads", "mode") and one.comparison.cells == 36 and one.verdict_word == "slower"
    assert one.comparison.ratio.low < np.exp(0.14) < one.comparison.ratio.high
    assert re.findall(r"\b(36|180|size|threads|mode)\b", one.sentence) == ["36", *one.adjusted, "180", "180"]
    (pooled,) = compare(balanced(), ResponseQuery(("seconds",)), Sides(("alpha", "beta"), "variant", adjust=())).items
    assert pooled.state is VerdictState.INCONCLUSIVE and pooled.adjusted == ()
    by_size = compare(balanced(), ResponseQuery(("seconds",)), Sides(("alpha", "beta"), "variant", ("size",))).items
    assert [one.comparison.cells for one in by_size] == [12, 12, 12]
    logs = compare(balanced(), ResponseQuery(("log(seconds)",)), Sides(("alpha", "beta"), "variant")).items[0]
    assert (
        logs.comparison.difference.value == pytest.approx(np.log(one.comparison.ratio.value))
        and logs.verdict_word == "slower"
    )
    assert logs.comparison.ratio is None


def test_a_column_that_goes_with_the_group_is_named_and_cells_of_one_side_are_left_out():
    table = {
        "v": ["a"] * 6 + ["b"] * 6,
        "kernel": ["k1"] * 6 + ["k2"] * 6,
        "size": [1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 4, 4],
        "y": [1.0, 1.1, 2.0, 2.1, 3.0, 3.1, 1.5, 1.6, 3.0, 3.1, 9.0, 9.1],
    }
    made = compare(open_data(build_table(table)), ResponseQuery(("y",)), Sides(("a", "b"), "v"))
    assert made.items[0].adjusted == ("size",) and made.items[0].comparison.cells == 2
    assert_problem(with_code(made.warnings, "confounded"), "confounded", factor="kernel", side_a="a", side_b="b")
    assert one_sided(made) == {("a", "size=3"), ("b", "size=4")}


def test_a_store_by_one_factor_is_adjusted_for_the_others(place):
    (one,) = compare(open_data(place, (), "old"), ResponseQuery(("copy",)), Sides(group="fs", by=("operation",))).items
    assert (
        one.adjusted == ("nodes",) and one.comparison.ratio.value == pytest.approx(2) and one.verdict_word == "slower"
    )
    (same,) = compare(open_data(place, (), "old"), ResponseQuery(("copy",)), Sides(group="fs", adjust=("nodes",))).items
    assert same.adjusted == ("nodes",) and same.comparison.ratio == one.comparison.ratio


def test_conditions_that_leave_nothing_are_said(place):
    """It said that one value of fs cannot be compared with anything."""
    with raises("no-matching-rows", DataError, conditions="fs=ufs", levels="fs=afs, nfs"):
        compare(open_data(place, ["fs=ufs"]), ResponseQuery(), Sides(group="fs"))


def test_a_cell_with_one_trial_is_left_out_and_costs_no_other():
    table = {"v": list("aaabbb") * 2, "size": [1] * 6 + [2] * 6, "y": [1, 1.1, 1.2, 2, 2.1, 2.2] * 2}
    rows = build_table({name: values[:-2] for name, values in table.items()})
    made = compare(open_data(rows), ResponseQuery(("y",)), Sides(group="v", by=("size",)))
    assert [one.cell for one in made.items] == [{"size": 1}] and len(made.exclusions) == 1
    assert_problem(made.exclusions[0], "single-trial", cell="size=2", unit="trial", sides="b")
    (alone,) = compare(open_data(rows, ["size=2"]), ResponseQuery(("y",)), Sides(group="v")).items
    assert (alone.state, alone.comparison.a.side.n, alone.comparison.b.side.n) == (VerdictState.NOT_TESTED, 3, 1)
    assert (
        alone.comparison.ratio.value == pytest.approx(2 / (1 * 1.1 * 1.2) ** (1 / 3))
        and alone.comparison.ratio.low is None
    )


def test_the_geometric_mean_names_sizes_as_the_table_does(tmp_path):
    """`65536 is faster than 4096` stood below rows of 4 KiB and 64 KiB."""
    rng, store = np.random.default_rng(5), Store.create(tmp_path / "s")
    store.save_experiment(Experiment("e", "x", [], {}, [], 0, "2026-11-21T10:00:00Z"))
    for trial in range(8):
        size = (4096, 65536)[trial % 2]
        rows = [
            Observation(name, "bandwidth_last_done", size * rng.normal(1e5, 1e3), "bytes/s")
            for name in ("write", "rewrite")
        ]
        when, factors = f"2026-11-21T10:{trial:02d}:00Z", {"transfer_size": size}
        store.append(Run(f"e-{trial:04d}", "e", "ior", when, 1.0, factors, rows, {}))
    made = compare(open_data(str(tmp_path / "s")), ResponseQuery(), Sides(group="transfer_size"))
    text = "\n".join(lines(made))
    assert "transfer_size=64 KiB" in text and "transfer_size=4 KiB, " in text and "65536" not in text
    assert [made.overall[0].to_json()[side] for side in "ab"] == ["4096", "65536"]


def test_a_column_of_a_table_may_be_called_operation(tmp_path):
    means = {("read", "a"): 101, ("read", "b"): 110, ("write", "a"): 51, ("write", "b"): 60}
    rows = [(*key, mean + step) for key, mean in means.items() for step in (-1, 0, 1)]
    text = "operation,side,speed\n" + "".join(f"{kind},{side},{value}\n" for kind, side, value in rows)
    (tmp_path / "t.csv").write_text(text)
    made = compare(
        open_data(str(tmp_path / "t.csv")), ResponseQuery(("speed",)), Sides(("a", "b"), "side", ("operation",))
    )
    assert ratios(made) == pytest.approx([110 / 101, 60 / 51])
    assert "write" in "\n".join(lines(made))


def test_one_trial_a_side_has_no_standard_deviation(tmp_path):
    (tmp_path / "t.csv").write_text("fs,size,write (MB/s)\na,1,5\nb,1,6\na,2,7\na,3,8\n")
    made = compare(open_data(str(tmp_path / "t.csv")), ResponseQuery(("write",)), Sides(group="fs"))
    assert [line.split()[-2:] for line in lines(made) if line.startswith(("a ", "b "))] == [["~", "base"], ["~", "~"]]


def test_a_metric_that_only_one_side_has_leaves_nothing_to_compare(tmp_path):
    """A campaign cut short: of reads there are trials with the cache off only."""
    store = Store.create(tmp_path / "s")
    store.save_experiment(Experiment("e", "e", [Factor("cache", levels=("on", "off"))], {}, [], 0, "2026-11-21T10:00"))
    for number, cache in enumerate(["on", "off"] * 2):
        rows = [Observation("write", "network_sent", 5.0, "bytes")]
        rows += [Observation("read", "rate_last_done", 5.0, "operations/s")] if cache == "off" else []
        store.append(Run(f"e-{number}", "e", "x", f"2026-11-21T10:0{number}", 1.0, {"cache": cache}, rows))
    made = compare(open_data(tmp_path / "s"), ResponseQuery(), Sides(group="cache"))
    assert not made.items and "read IOPS" in next(lines(made)) + made.exclusions[0]
    assert_problem(made.exclusions[0], "one-sided-metric", side="cache=off")


def test_iterations_of_one_run_are_no_trials_beside_several_runs(tmp_path):
    several, single = tmp_path / "several", tmp_path / "single"
    declared_sample.imported(several, runs_each=3)
    declared_sample.imported(single)
    assert {item.state for item in two(several, single).items} == {VerdictState.NOT_TESTED}
    (one,) = two(several, several, by=("source",)).items
    assert (one.comparison.a.side.n, one.comparison.b.side.n) == (6, 6)


DD = """$ dd if=/dev/zero of=f oflag=direct bs=1M count=1000
1000+0 records in
1000+0 records out
1048576000 bytes (1.0 GB, 1000 MiB) copied, {seconds} s, 1.0 GB/s
"""


def write_single_runs(place):
    paths = [place / "host.txt", place / "pod.txt"]
    for path, seconds in zip(paths, (2.61817, 25.51025), strict=True):
        path.write_text(DD.format(seconds=seconds))
    return paths


@pytest.mark.parametrize(("strict", "problem"), [(False, False), (True, True)])
def test_two_single_runs_have_a_ratio_that_is_not_tested(tmp_path, strict, problem):
    a, b = write_single_runs(tmp_path)
    result = iosonde.compare(str(a), b=str(b), fail_if="slower>5%", strict=strict)
    (item,) = result.to_dict()["comparisons"]
    assert (item["state"], item["a"]["n"], item["b"]["n"]) == (VerdictState.NOT_TESTED, 1, 1)
    assert item["said"] == item["state"]
    assert item["ratio"]["value"] == pytest.approx(2.61817 / 25.51025) and item["ratio"]["low"] is None
    assert (item["p"], item["n_needed"], item["by_level"]) == (None, None, [])
    assert result.answer.problem is problem
    assert result.answer.verdicts[0].state is VerdictState.NOT_TESTED and result.answer.verdicts[0].remedy


def test_single_rows_of_two_groups_are_not_tested(tmp_path):
    table = build_table({"v": ["a", "b"], "y": [10.0, 12.0]})
    (item,) = compare(open_data(table), ResponseQuery(("y",)), Sides(group="v")).items
    assert item.state is VerdictState.NOT_TESTED and item.comparison.ratio.value == pytest.approx(1.2)


def test_each_setting_of_single_runs_is_not_tested(tmp_path):
    a, b = (str(tmp_path / name) for name in ("a.csv", "b.csv"))
    for path, times in ((a, (3, 4)), (b, (5, 6))):
        Path(path).write_text(f"size,time_s\n1,{times[0]}\n2,{times[1]}\n")
    verdicts = iosonde.compare(a, b=b, by=["size"], response="time_s").answer.verdicts
    assert {verdict.state for verdict in verdicts} == {VerdictState.NOT_TESTED} and all(v.remedy for v in verdicts)
