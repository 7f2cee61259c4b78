"""The steps of a comparison by themselves: levels and sides, cells, the geometric mean, caveats."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("iosonde.engine._native")
from iosonde.commands.compare.caveat import (
    Caveat,
    list_checks,
    state_of_interval,
)
from iosonde.commands.compare.cells import format_cells, split_pair_into_cells
from iosonde.commands.compare.common_settings import stack_tables
from iosonde.commands.compare.compared import ComparedCell, Comparisons
from iosonde.commands.compare.confounding import _build_order_caveats, _build_twin_caveat, select_differing_caveats
from iosonde.commands.compare.overall import Overall, compute_overall_ratios
from iosonde.commands.compare.own_caveats import (
    _build_selection_caveat,
    _describe_worst_case,
    _get_equality_margin,
    _is_confirmed_by_missing,
)
from iosonde.commands.compare.parts import (
    ComparedPart,
    average_runs,
    can_hold_fixed,
    find_covariates,
    get_response_labels,
    list_trial_caveats,
)
from iosonde.commands.compare.samples import SidePair, SideTrials, choose_levels, collect_trials, pair_levels
from iosonde.commands.compare.sides import Sides, find_second_data, parse_published_side
from iosonde.commands.compare.two import choose_names
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Table, build_table
from iosonde.core.types import Better, Estimate, Metric
from iosonde.core.verdict import Direction, VerdictState
from iosonde.data.source import open_data
from iosonde.stats.assumptions import doubtful, fails, find_deciding_check, holds, list_doubts
from iosonde.stats.assumptions.drift import DriftInTurn, LevelsInTurn
from iosonde.stats.assumptions.required import REQUIRED
from iosonde.stats.estimate.compare import (
    CANNOT_TELL,
    DIFFERENT,
    EQUAL,
    NEGLIGIBLE,
    build_group,
    compare_groups,
    judge_ratio,
)
from iosonde.stats.estimate.selection import Selection
from messages import raises

INCONCLUSIVE, NOT_SEPARABLE = VerdictState.INCONCLUSIVE, VerdictState.NOT_SEPARABLE
RATE, TIME = Metric("bandwidth_x", "bytes/s", Better.HIGHER), Metric("seconds", "s", Better.LOWER)
NOTHING = Table({})


def estimate(value: float | None, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(value, low, high, 0.95, 5)


EXAMINED = holds(*REQUIRED["difference"])
DOUBT = Caveat("x", doubtful("order"))
UNSURE = Caveat("u", fails("drift", INCONCLUSIVE, "why"))
TWIN = Caveat("t", fails("goes-together", NOT_SEPARABLE, "t", cause="host"))


def outcome(caveat: Caveat) -> tuple[str, VerdictState | None]:
    return ("", None) if caveat.check is None else (caveat.check.assumption, caveat.check.instead)


@pytest.mark.parametrize(
    ("verdict", "caveats", "overriding", "state"),
    [
        (DIFFERENT, (), None, VerdictState.DIFFERENT),
        (DIFFERENT, (DOUBT,), None, VerdictState.DIFFERENT),
        (DIFFERENT, (DOUBT, TWIN), TWIN, NOT_SEPARABLE),
        (DIFFERENT, (TWIN, UNSURE), UNSURE, INCONCLUSIVE),
        (EQUAL, (TWIN,), None, VerdictState.EQUAL),
        (EQUAL, (TWIN, UNSURE), UNSURE, INCONCLUSIVE),
        (NEGLIGIBLE, (TWIN,), None, VerdictState.EQUAL),
        (CANNOT_TELL, (), None, INCONCLUSIVE),
        (CANNOT_TELL, (TWIN,), None, INCONCLUSIVE),
        (CANNOT_TELL, (UNSURE,), UNSURE, INCONCLUSIVE),
    ],
)
def test_which_caveat_overrides_a_claim(
    verdict: str, caveats: tuple[Caveat, ...], overriding: Caveat | None, state: VerdictState
) -> None:
    checks = list_checks((*caveats, *caveats, Caveat("plain")))
    assert checks == tuple(caveat.check for caveat in caveats)
    claimed = state_of_interval(verdict)
    deciding = find_deciding_check(claimed, checks)
    assert deciding == (overriding and overriding.check)
    assert (deciding.instead if deciding else claimed) is state


def side(name: str, values: list[float], cells: list[Any] | None = None, first: int = 0) -> SideTrials:
    keys = tuple(cells or [()] * len(values))
    return SideTrials(name, np.array(values), keys, tuple(range(first, first + len(values))))


def pair(a: SideTrials, b: SideTrials, *adjust: str, metric: Metric = RATE, **cell: Any) -> SidePair:
    return SidePair(ComparedPart(cell, NOTHING, "y", metric, adjust=adjust), a, b)


def test_a_side_by_cell_and_in_part() -> None:
    trials = replace(side("a", [1.0, 2.0, 3.0], [(1,), (2,), (1,)]), bring_ups=((7,), (8,), (9,)))
    assert {cell: values.tolist() for cell, values in trials.by_cell().items()} == {(1,): [1.0, 3.0], (2,): [2.0]}
    some = trials.take([2, 0])
    assert (some.values.tolist(), some.cells, some.trials, some.bring_ups) == (
        [3.0, 1.0],
        ((1,), (1,)),
        (2, 0),
        ((9,), (7,)),
    )
    assert side("a", [1.0, 2.0]).take([1]).bring_ups == ()


def test_trials_without_a_value_are_no_trials() -> None:
    rows = build_table({"run": ["p", "q", "r"], "size": [1, 2, 1], "y": [5.0, math.nan, 7.0]})
    trials = collect_trials(rows, "y", "a", ["size"], [(1,), (2,), (3,)])
    assert (trials.values.tolist(), trials.cells, trials.trials, trials.bring_ups) == (
        [5.0, 7.0],
        ((1,), (1,)),
        ("p", "r"),
        ((1,), (3,)),
    )
    plain = collect_trials(build_table({"y": [5.0, 6.0]}), "y", "a")
    assert (plain.cells, plain.trials, plain.bring_ups) == (((), ()), (), ())


def test_cells_that_both_sides_have_are_compared() -> None:
    a = side("a", [1.0, 2.0, 3.0, 4.0], [(1, "x", 7), (2, "x", 7), (3, "x", 7), (1, "x", 7)])
    b = side("b", [5.0, 6.0, 7.0], [(1, "z", 7), (2, "z", 7), (4, "z", 7)])
    matched = split_pair_into_cells(pair(a, b, "size", "host", "constant"))
    assert matched.names == ("size",) and matched.pair.part.adjust == ("size",)
    assert [(x.tolist(), y.tolist()) for x, y in matched.cells] == [([1.0, 4.0], [5.0]), ([2.0], [6.0])]
    (caveat,) = matched.shared
    assert outcome(caveat) == ("goes-together", NOT_SEPARABLE) and caveat.check and caveat.check.cause == "host"
    values: list[Any] = [message.values for message in matched.exclusions]  # type: ignore[attr-defined]
    assert values == [{"side": "a", "cells": "size=3"}, {"side": "b", "cells": "size=4"}]


def test_what_makes_no_cells() -> None:
    a, b = side("a", [1.0, 2.0], [("p",), ("q",)]), side("b", [3.0, 4.0], [("r",), ("s",)])
    assert split_pair_into_cells(pair(a, b, "file")).shared == ()  # a name of each row
    for one_row in (pair(side("a", [1.0], [("p",)]), side("b", [3.0], [("r",)]), "host"),):
        assert [caveat.check and caveat.check.cause for caveat in split_pair_into_cells(one_row).shared] == ["host"]
    repeated = pair(side("a", [1.0, 2.0], [("p",), ("p",)]), b, "host")
    assert [caveat.check and caveat.check.cause for caveat in split_pair_into_cells(repeated).shared] == ["host"]
    plain = pair(a, b)
    assert split_pair_into_cells(plain).pair is plain and split_pair_into_cells(plain).names == ()
    published = pair(a, replace(b, published=parse_published_side({"mean": "1", "sd": "1", "n": "3"}, "B")), "file")
    assert split_pair_into_cells(published).pair is published
    crossed = pair(side("a", [1.0, 2.0], [(1, 2), (2, 1)]), side("b", [1.0, 2.0], [(1, 1), (2, 2)]), "m", "n")
    with raises("no-common-setting", DataError, side_a="a", side_b="b", names="m and n"):
        split_pair_into_cells(crossed)


def test_cells_are_named_by_what_differs_and_counted() -> None:
    cells = [{"m": m, "size": size, "same": 1, "none": None} for m, size in ((1, 1024), (2, 2048))]
    assert format_cells(cells, {"size": "bytes"}) == "m=1/size=1 KiB, m=2/size=2 KiB"
    assert format_cells(cells[:1], {}) == "m=1/size=1024/same=1"
    many = format_cells([{"name": f"{'long' * 20}{n}", "m": n} for n in range(9)], {})
    assert many.endswith("and 8 more") and len(many) < 120
    assert format_cells([{"m": None}, {"m": 1}], {}) == "(missing), m=1"


def both_operations(a: list[float], b: list[float], **cell: Any) -> list[SidePair]:
    """Writes as given and rewrites four times as fast; a time is inverted."""
    first = 100 * cell.get("nodes", 0)
    sides = side("a", a, first=first), side("b", b, first=first + 10)
    again = [replace(trials, values=0.25 / trials.values) for trials in sides]
    return [pair(*sides, operation="write", **cell), pair(again[0], again[1], metric=TIME, operation="rewrite", **cell)]


def test_the_geometric_mean_is_of_trials_that_have_every_operation() -> None:
    pairs = both_operations([1.0, 2.0, 4.0], [2.0, 4.0, 8.0])
    (mean,) = compute_overall_ratios(pairs, 0.9, 0.02, "fs")
    comparison = mean.comparison
    assert (mean.sides, mean.operations, mean.exclusions, mean.group) == (("a", "b"), ("write", "rewrite"), (), "fs")
    assert (comparison.cells, comparison.a.side.n, comparison.b.side.n) == (1, 3, 3)
    assert comparison.decided.value == pytest.approx(2.0) and comparison.decided.level == 0.9
    assert (comparison.margin, comparison.cells_differ) == (0.02, False)
    short = [pairs[0], replace(pairs[1], a=pairs[1].a.take([0, 1]))]
    (fewer,) = compute_overall_ratios(short, 0.9, 0.02)
    (note,) = fewer.exclusions
    assert (fewer.comparison.a.side.n, fewer.comparison.b.side.n, note.values["trials"]) == (2, 3, "1 trial")  # type: ignore[attr-defined]
    assert fewer.comparison.decided.value == pytest.approx(4 / math.sqrt(2))
    other = pair(*(side(name, [1.0, 1.0]) for name in "ab"), metric=Metric("errors", ""), operation="errors of write")
    (left_out,) = compute_overall_ratios([*pairs, other], 0.9, 0.02)
    assert left_out.exclusions == ("errors of write",) and left_out.operations == ("write", "rewrite")


def test_pairs_without_a_geometric_mean() -> None:
    write, again = both_operations([1.0, 2.0], [2.0, 4.0])
    for pairs in (
        [write],
        [write, replace(again, part=replace(again.part, metric=Metric("errors", "")))],
        [write, replace(again, part=replace(again.part, base=2.0))],
        [write, replace(again, part=replace(again.part, within_run=True))],
        [write, replace(again, a=replace(again.a, trials=()))],
        [write, replace(again, b=replace(again.b, values=np.array([1.0, 0.0])))],
        [write, replace(again, b=again.b.take([0]))],
        [write, replace(again, a=side("a", [1.0, 2.0], first=50))],
        [write, replace(again, part=replace(again.part, cell={**again.part.cell, "operation": "read"}))],
        [],
    ):
        assert compute_overall_ratios(pairs, 0.9, 0.02) == ()


def test_reads_are_never_averaged_with_writes() -> None:
    """A change that writes twice as fast and reads half as fast is not as fast as before."""
    pairs: list[SidePair] = []
    for nodes in (1, 2):
        write, _ = both_operations([1.0, 1.1, 0.9], [2.0, 2.2, 1.8], nodes=nodes)
        part = replace(write.part, cell={**write.part.cell, "operation": "read"})
        pairs += [write, SidePair(part, replace(write.b, name="a"), replace(write.a, name="b"))]
    means = compute_overall_ratios(pairs, 0.9, 0.02)
    assert {mean.operations: mean.comparison.decided.value for mean in means} == {
        ("write",): pytest.approx(2.0),
        ("read",): pytest.approx(0.5),
    }
    assert {mean.comparison.cells for mean in means} == {2}


def test_settings_are_compared_each_on_its_own() -> None:
    pairs = both_operations([1.0, 1.1, 0.9], [2.0, 2.2, 1.8], nodes=1) + both_operations(
        [10.0, 11.0, 9.0], [20.0, 22.0, 18.0], nodes=2
    )
    (mean,) = compute_overall_ratios(pairs, 0.9, 0.02)
    comparison = mean.comparison
    assert (comparison.cells, comparison.a.side.n, comparison.b.side.n, comparison.cells_differ) == (2, 6, 6, False)
    assert comparison.decided.value == pytest.approx(2.0)
    several = [
        replace(each, part=replace(each.part, metric=Metric("rate_x", "1/s", Better.HIGHER))) for each in pairs[:1]
    ]
    (first,) = compute_overall_ratios([*several, *pairs[:2]], 0.9, 0.02)
    assert first.operations == ("write", "rewrite") and first.comparison.a.side.n == 3  # the bandwidth alone


def overall(speed: Estimate, *caveats: Caveat) -> Overall:
    a, b = build_group("1", np.array([1.0, 1.1, 0.9, 1.0])), build_group("2", np.array([1.0, 1.1, 0.9, 1.0, 1.2]))
    comparison = replace(
        compare_groups(a, b, 0.95, 0.05), ratio=speed, cells=2, margin=0.05, verdict=judge_ratio(speed, 0.05)
    )
    return Overall(comparison, ("write", "read"), (), "", "nodes", (*list_checks(caveats), *EXAMINED))


@pytest.mark.parametrize(
    ("mean", "verdict", "word", "state", "direction"),
    [
        (overall(estimate(2.0, 1.5, 3.0)), DIFFERENT, "faster", VerdictState.DIFFERENT, Direction.UP),
        (overall(estimate(0.5, 0.4, 0.6)), DIFFERENT, "slower", VerdictState.DIFFERENT, Direction.DOWN),
        (overall(estimate(1.0, 0.9, 1.1)), CANNOT_TELL, CANNOT_TELL, INCONCLUSIVE, None),
        (overall(estimate(1.0, 0.99, 1.01)), EQUAL, EQUAL, VerdictState.EQUAL, None),
        (overall(estimate(1.02, 1.01, 1.03)), NEGLIGIBLE, "faster by less than the margin", VerdictState.EQUAL, None),
        (overall(estimate(0.98, 0.97, 0.99)), NEGLIGIBLE, "slower by less than the margin", VerdictState.EQUAL, None),
        (overall(estimate(2.0, 1.5, 3.0), UNSURE), DIFFERENT, CANNOT_TELL, INCONCLUSIVE, None),
        (overall(estimate(2.0, 1.5, 3.0), TWIN), DIFFERENT, "faster", NOT_SEPARABLE, Direction.UP),
    ],
)
def test_the_claim_of_a_geometric_mean(
    mean: Overall, verdict: str, word: str, state: VerdictState, direction: Direction | None
) -> None:
    assert (mean.comparison.verdict, mean.verdict_word, mean.judged.state, mean.judged.direction) == (
        verdict,
        word,
        state,
        direction,
    )
    assert mean.sides == mean.judged.subject == ("nodes=1", "nodes=2")
    assert mean.judged.doubts == list_doubts(mean.checks)
    unlike = replace(mean, comparison=replace(mean.comparison, cells_differ=True))
    assert unlike.judged.doubts == (*list_doubts(mean.checks), "cells-differ")
    turned = replace(mean, comparison=replace(unlike.comparison, p_depends=1e-6), checks=holds(*REQUIRED["difference"]))
    assert (turned.judged.state, turned.judged.direction) == (VerdictState.DIFFERENT, None)
    assert "depends on the setting" in turned.verdict_word and "depends on the setting" in turned.sentence
    document = mean.to_json()
    assert (document["said"], document["n_a"], document["n_b"], document["settings"]) == (word, 4, 5, 2)


def test_iterations_of_several_runs_are_averaged_and_of_one_are_not() -> None:
    rows = build_table({"v": list("aaab"), "run": list("ppqr"), "y": [1.0, 3.0, 5.0, 7.0]})
    part = ComparedPart({}, rows, "y", within_run=True)
    averaged = average_runs(part, ["v"])
    assert (averaged.within_run, averaged.rows.numbers("y").tolist()) == (False, [2.0, 5.0, 7.0])
    single = replace(part, rows=rows.take(np.array([0, 1, 3])))
    assert average_runs(single, ["v"]) is single
    trials = replace(part, within_run=False)
    assert average_runs(trials, ["v"]) is trials
    assert rows.numbers("y").tolist() == [1.0, 3.0, 5.0, 7.0]


def test_covariates_are_numbers_that_hardly_repeat_and_are_no_outcome() -> None:
    rows = build_table(
        {
            "v": list("aabb") * 2,
            "size": [1, 2] * 4,
            "load": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
            "half": [0.1, 0.2, 0.3, 0.4] * 2,
            "most": [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5, 0.5],
            "wait": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
            "latency": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
            "file": list("stuvwxyz"),
            "y": [1.0, 2.0, 1.5, 3.0, 1.0, 4.0, 1.0, 2.0],
        }
    )
    rows = replace(rows, columns={**rows.columns, "wait": replace(rows.columns["wait"], unit="s")})
    assert set(find_covariates(rows, ["y"], ["v"])) == {"load", "most"}
    assert find_covariates(rows, ["y", "load"], ["v", "most"]) == ()
    assert [can_hold_fixed(rows, name, "v") for name in ("size", "half", "load", "file", "y")] == [
        True,
        True,
        False,
        True,
        can_hold_fixed(rows, "y", "v"),
    ]
    shared = build_table({"v": list("aaabbb"), "n": [1, 2, 3, 1, 2, 4], "m": [1, 2, 3, 1, 4, 5]})
    assert (can_hold_fixed(shared, "n", "v"), can_hold_fixed(shared, "m", "v")) == (True, False)


def test_labels_and_caveats_of_a_response() -> None:
    def labels(several: bool, measured: str = "", operation: str = "") -> dict[str, Any]:
        metric = SimpleNamespace(name="seconds")
        response: Any = SimpleNamespace(title="t", measured=measured, operation=operation, metric=metric, unit="s")
        return get_response_labels(response, several)

    full = {"operation": "write", "metric": "seconds", "unit": "s"}
    assert (labels(False), labels(True)) == ({}, {"response": "t"})
    assert labels(False, "m") == {"response": "t"}
    assert labels(False, "", "write") == labels(True, "", "write") == full
    assert labels(False, "m", "write") == full | {"response": "t"}

    def caveats(note: str, are_parts: bool) -> list[tuple[str, VerdictState | None]]:
        response: Any = SimpleNamespace(trial_note=note, are_parts=are_parts)
        return list(map(outcome, list_trial_caveats(response)))

    assert (caveats("", True), caveats("x", False)) == ([], [("", None)])
    assert caveats("x", True) == [("subsamples", INCONCLUSIVE)]


@pytest.mark.parametrize(
    ("levels", "a", "expected", "why"),
    [
        ((), None, (1024.0, 65536.0, 1048576.0), "smallest-level"),
        (("65536", "1024"), None, (65536.0, 1024.0), "base-is-first"),
        (("64k", "1m"), None, (65536.0, 1048576.0), "base-is-first"),
        (("64 KiB", "1KiB"), None, (65536.0, 1024.0), "base-is-first"),
        (("1024",), "paper", (1024.0,), "base-is-a"),
    ],
)
def test_levels_are_chosen_as_people_write_them(
    levels: tuple[str, ...], a: str | None, expected: tuple[float, ...], why: str
) -> None:
    table = build_table({"size": [65536, 1024, 1048576], "y": [1.0, 2.0, 3.0]})
    sizes = replace(table.columns["size"], unit="bytes")
    source = open_data(replace(table, columns={**table.columns, "size": sizes}))
    published = None if a is None else parse_published_side({"mean": "1", "sd": "1", "n": "3"}, a)
    chosen = choose_levels(source, "size", Sides(levels, "size", a=published))
    assert (chosen.levels, chosen.why.code) == (expected, why)  # type: ignore[attr-defined]


def test_levels_that_cannot_be_chosen() -> None:
    source = open_data(build_table({"v": ["b", "a", "b"], "y": [1.0, 2.0, 3.0]}))
    chosen = choose_levels(source, "v", Sides(group="v"))
    assert (chosen.levels, chosen.why.code) == (("b", "a"), "first-in-data")  # type: ignore[attr-defined]
    with raises("unknown-level", InputError, level="c", levels="b, a"):
        choose_levels(source, "v", Sides(("a", "c"), "v"))
    with raises("too-few-levels", InputError, name="v"):
        choose_levels(source, "v", Sides(("a",), "v"))


def test_pairs_of_levels_have_the_same_partners_in_the_same_order() -> None:
    rows = build_table({"v": list("aaabbbc"), "n": [1, 2, 3, 3, 1, 4, 1], "y": [1.0, 2.0, 3.0, 30.0, 10.0, 40.0, 5.0]})
    part = ComparedPart({"x": 1}, rows, "y")
    (matched,) = pair_levels(part, ("a", "b"), Sides(group="v", pair=("n",)))
    assert (matched.a.name, matched.a.values.tolist()) == ("a", [1.0, 3.0])
    assert (matched.b.name, matched.b.values.tolist()) == ("b", [10.0, 30.0])
    every = [(each.a.name, each.b.name) for each in pair_levels(part, ("a", "b", "c"), Sides(group="v"))]
    assert every == [("a", "b"), ("a", "c"), ("b", "c")]
    base = [(each.a.name, each.b.name) for each in pair_levels(part, ("b", "a", "c"), Sides(group="v", base_only=True))]
    assert base == [("b", "a"), ("b", "c")]
    assert [(each.a.name, each.b.name) for each in pair_levels(part, ("a", "none", "b"), Sides(group="v"))] == [
        ("a", "b")
    ]
    with raises("no-values", DataError, levels="none", column="y", name="v"):
        list(pair_levels(replace(part, cell={}), ("a", "none"), Sides(group="v")))
    twice = replace(part, rows=build_table({"v": list("aab"), "n": [1, 1, 1], "y": [1.0, 2.0, 3.0]}))
    with raises("ambiguous-pair", DataError, level="a", n_trials=2, key="n=1"):
        list(pair_levels(twice, ("a", "b"), Sides(group="v", pair=("n",))))
    published = parse_published_side({"mean": "1", "sd": "1", "n": "3"}, "B")
    ends = [
        [(each.a.name, each.b.name) for each in pair_levels(part, ("a",), Sides(group="v", **given))]
        for given in ({"a": published}, {"b": published})
    ]
    assert ends == [[("B", "a")], [("a", "B")]]
    with raises("conflicting-options", InputError):
        list(pair_levels(part, ("a",), Sides(group="v", b=published, pair=("n",))))


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        ({"mean": "1", "n": "3", "median": "2"}, "invalid-option-value"),
        ({"mean": "1", "sd": "1"}, "missing-key"),
        ({"sd": "1", "n": "3"}, "missing-key"),
        ({"mean": "x", "sd": "1", "n": "3"}, "not-a-number"),
        ({"mean": "1", "sd": "1", "n": "3.5"}, "not-an-integer"),
    ],
)
def test_a_published_side_that_cannot_be(texts: dict[str, str], code: str) -> None:
    with raises(code, InputError):
        parse_published_side(texts, "A")


def test_a_published_side() -> None:
    group = parse_published_side({"mean": "10", "sd": "2", "n": "4"}, "A")
    assert (group.name, group.side.mean, group.side.n, group.values) == ("A", 10.0, 4, None)
    assert parse_published_side({"mean": "10", "sd": "2", "n": "4", "name": "paper"}, "A").name == "paper"


def test_second_data_is_a_path_that_is_no_column(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("other.csv", "more.csv", "y"):
        (tmp_path / name).write_text("y\n1\n")
    source = open_data(build_table({"v": ["a", "b"], "y": [1.0, 2.0]}))
    assert (
        find_second_data(source, ("other.csv",), None) == find_second_data(source, ("other.csv",), "v") == "other.csv"
    )
    for levels, group in (((), None), (("y",), None), (("a",), None), (("a", "b"), None), (("none.csv",), "v")):
        assert find_second_data(source, levels, group) is None
    assert find_second_data(source, ("other.csv", "more.csv"), "v") is None
    assert find_second_data(source, ("other.csv", "a"), None) is None
    with raises("too-many-sources", InputError, n_sources=3):
        find_second_data(source, ("other.csv", "more.csv"), None)
    for path in ("none.csv", "none.parquet", "a/b"):
        with raises("no-such-file", InputError, path=path):
            find_second_data(source, (path,), None)


def test_names_of_two_data_differ() -> None:
    def names(a: str, b: str) -> tuple[str, str]:
        first: Any = SimpleNamespace(name=a)
        second: Any = SimpleNamespace(name=b)
        return choose_names(first, second)

    assert names("x/old.csv", "y/new.csv") == ("old.csv", "new.csv")
    assert names("x/s", "y/s") == ("x/s", "y/s")
    assert names("x/s", "x/s") == ("x/s (A)", "x/s (B)")


def test_stacked_tables_have_every_column_and_their_origin() -> None:
    a = build_table({"n": [1, 2], "s": ["p", "q"], "m": [1, 2]})
    b = build_table({"n": [3], "t": [5], "m": ["x"]})
    table = stack_tables([a, b], ("A", "B"))
    columns = {
        name: [None if cell != cell else cell for cell in column.values] for name, column in table.columns.items()
    }
    assert columns == {
        "n": [1, 2, 3],
        "s": ["p", "q", None],
        "m": columns["m"],
        "t": [None, None, 5],
        "DATA": ["A", "A", "B"],
    }
    assert list(map(str, columns["m"]))[2] == "x"


def compared(verdict: str = DIFFERENT, ratio: bool = True, value: float = 2.0, **more: Any) -> Any:
    decided = estimate(value, value - 0.5, value + 0.5)
    above = value > (1 if ratio else 0)
    fields = {"verdict": verdict, "ratio": decided if ratio else None, "decided": decided, "above": above}
    return SimpleNamespace(**fields, **{"margin": 0.05, "difference_margin": 3.0, **more})


@pytest.mark.parametrize(
    ("change", "explains", "worth", "comparison", "expected"),
    [
        (None, False, 1.0, compared(), []),
        (0.1, True, 1.0, compared(), [("drift", INCONCLUSIVE)]),
        (0.1, False, 1.0, compared(), [("drift", None)]),
        (-0.06, False, 1.0, compared(EQUAL), [("drift", INCONCLUSIVE)]),
        (-0.05, True, 1.0, compared(EQUAL), [("drift", None)]),
        (None, False, 0.99, compared(), [("dependent", None)]),
        (None, False, 0.01, compared(EQUAL), [("dependent", None)]),
    ],
)
def test_a_drift_overrides_a_claim_that_it_explains(
    change: float | None,
    explains: bool,
    worth: float,
    comparison: Any,
    expected: list[tuple[str, VerdictState | None]],
) -> None:
    drift = None if change is None else DriftInTurn(change, 0.01, explains)
    caveats = list(_build_order_caveats(LevelsInTurn((0, 1), drift, worth), comparison, "v was measured in turn"))
    assert list(map(outcome, caveats)) == expected
    assert drift or all(caveat.check and caveat.check.worth == worth for caveat in caveats)


@pytest.mark.parametrize(("levels", "text"), [((0, 1), "2.000"), ((1, 0), "0.500")])
def test_the_difference_without_the_drift_is_that_of_b_against_a(levels: tuple[int, int], text: str) -> None:
    step = Estimate(math.log(2), math.log(1.9), math.log(2.1), 0.95, 8)
    (caveat,) = _build_order_caveats(LevelsInTurn(levels, DriftInTurn(0.1, 0.01, False, step), 1.0), compared(), "v")
    assert text in caveat.text


@pytest.mark.parametrize(("worth", "overridden"), [(1.0, False), (0.9, False), (0.01, True)])
def test_a_dependence_overrides_a_claim_that_is_not_significant_with_fewer_trials(
    worth: float, overridden: bool
) -> None:
    checks = (doubtful("dependent", "", (), worth), *holds(*REQUIRED["difference"]))
    mean = overall(estimate(2.0, 1.5, 3.0))
    mean = replace(mean, comparison=replace(mean.comparison, p=0.001), checks=checks)
    assert (mean.overriding is not None) is overridden
    assert (mean.judged.state is VerdictState.INCONCLUSIVE) is overridden


def test_a_twin_that_is_no_cause_does_not_override() -> None:
    def twin(name: str, other: str, own: str) -> tuple[VerdictState | None, str]:
        check = _build_twin_caveat(name, other, own).check
        assert check is not None
        return check.instead, check.cause

    assert (twin("fs", "host", "host"), twin("fs", "host", "fs")) == ((NOT_SEPARABLE, "fs"), (NOT_SEPARABLE, "host"))
    assert twin("ranks", "nodes", "nodes") == (None, "") and twin("nodes", "ranks", "nodes") == (None, "")
    assert twin("fs", "experiment", "experiment") == (None, "")


def test_a_twin_counts_between_sides_that_differ_in_it() -> None:
    rows = build_table({"v": list("abc"), "host": ["h", "h", "i"], "y": [1.0, 2.0, 3.0]})
    twin, other = TWIN, Caveat("t", fails("goes-together", NOT_SEPARABLE, "t", cause="none"))

    def kept(a: str, b: str, *caveats: Caveat, group: str | None = "v") -> list[Caveat]:
        sides = SidePair(ComparedPart({}, rows, "y"), side(a, [1.0]), side(b, [1.0]))
        return list(select_differing_caveats(sides, group, caveats))

    assert kept("a", "b", twin, DOUBT) == [DOUBT]
    assert kept("a", "c", twin, DOUBT) == kept("a", "b", twin, DOUBT, group=None) == [twin, DOUBT]
    assert kept("a", "b", other) == [other]
    assert kept("a", "b", UNSURE) == [UNSURE]


@pytest.mark.parametrize(
    ("comparison", "metric", "more_of_b", "expected"),
    [
        (compared(value=2.0), TIME, True, True),
        (compared(value=2.0), TIME, False, False),
        (compared(value=0.9), TIME, False, True),
        (compared(value=2.0), RATE, True, False),
        (compared(value=2.0), RATE, False, True),
        (compared(value=0.9), RATE, True, True),
        (compared(EQUAL), TIME, True, False),
        (compared(value=2.0), Metric("errors", ""), True, False),
    ],
)
def test_missing_values_of_the_worse_side_confirm_it(
    comparison: Any, metric: Metric, more_of_b: bool, expected: bool
) -> None:
    assert _is_confirmed_by_missing(comparison, metric, more_of_b) is expected


def test_the_worst_case_is_of_speeds() -> None:
    sides = side("a", [1.0, 1.1, 1.2, 1.3]), side("b", [2.0, 2.1, 2.2, 2.3])
    assert _describe_worst_case(Metric("errors", ""), sides, (1, 0)) == ""
    time, rate = (_describe_worst_case(metric, sides, (0, 1)) for metric in (TIME, RATE))
    part = "at least"
    assert part in time
    assert "time" in time
    part = "at most"
    assert part in rate
    assert "rate" in rate
    assert _get_equality_margin(compared()) == pytest.approx(math.log(1.05))
    assert _get_equality_margin(compared(ratio=False)) == 3.0


@pytest.mark.parametrize(
    ("comparison", "is_of_b", "is_low", "regression", "instead"),
    [
        (compared(value=1.5), False, True, 0.1, INCONCLUSIVE),  # the logarithms are 0 to 0.69
        (compared(value=2.0), False, True, 0.5, INCONCLUSIVE),
        (compared(value=2.0), False, True, 0.4, None),
        (compared(value=2.0), True, False, -0.5, INCONCLUSIVE),
        (compared(value=2.0), True, False, -0.4, None),
        (compared(CANNOT_TELL, value=2.0), False, True, 0.5, None),
        (compared(EQUAL, value=2.0), False, True, 0.5, INCONCLUSIVE),
        (compared(ratio=False, value=2.0), False, True, 1.5, INCONCLUSIVE),
        (compared(ratio=False, value=2.0), False, True, 1.4, None),
    ],
)
def test_a_selection_overrides_what_regression_to_the_mean_explains(
    comparison: Any, is_of_b: bool, is_low: bool, regression: float, instead: VerdictState | None
) -> None:
    selection = Selection(0.001, is_low, regression)
    values = np.array([0.0, 0.0]), np.array([1.0, 1.0, 1.0])
    caveat: Any = _build_selection_caveat(selection, comparison, "a", values, is_of_b)
    assert outcome(caveat) == ("selected", instead)
    numbers = caveat.text.values
    assert (numbers["pairs"], numbers["n_unpaired"], numbers["side"]) == ("2 pairs", 3, "a")
    assert numbers["direction"] == caveat.check.why.values["direction"] == ("lower" if is_low else "higher")
    means = "0 against 1.00," if comparison.ratio is None else "1.00 against 2.72,"
    assert numbers["difference"].startswith(means)


def compare_sides(b: float = 2.0, **fields: Any) -> ComparedCell:
    """A cell whose B is ``b`` times A."""
    a = np.array([1.0, 1.01, 0.99, 1.0, 1.02])
    comparison = compare_groups(build_group("1", a), build_group("2", b * a[::-1]), 0.95, 0.05)
    return ComparedCell(
        comparison,
        fields.pop("cell", {}),
        "nodes",
        metric=RATE,
        unit="bytes/s",
        response="y",
        checks=EXAMINED,
        **fields,
    )


def qualify(cell: ComparedCell, *caveats: Caveat) -> ComparedCell:
    return replace(cell, checks=(*list_checks(caveats), *cell.checks))


def test_names_of_a_cell_among_others() -> None:
    cell = {"operation": "write", "metric": "bandwidth_x", "unit": "bytes/s", "size": 1024}
    full = compare_sides(cell=cell, units={"size": "bytes"})
    assert full.sides == ("nodes=1", "nodes=2")
    sides = "nodes=2 against nodes=1"
    expected = ["write", "bandwidth_x", "size=1 KiB"]
    assert full.name(False).split(", ") == expected and full.name(True).split(", ") == [*expected, sides]
    assert full.title(False).split(", ")[1:] == expected[2:] and full.title(True).split(", ")[1:] == [
        expected[2],
        sides,
    ]
    bare = compare_sides()
    assert bare.name(False) == bare.name(True) == bare.title(False) == sides
    nameless = replace(full, metric=Metric("", ""))
    assert nameless.title(True) == full.name(True)


def test_the_claim_of_a_cell_follows_its_interval_its_correction_and_its_caveats() -> None:
    plain = compare_sides(cell={"operation": "write", "size": 1})
    claim = plain.verdict(3)
    assert (claim.state, claim.direction, claim.family, claim.claim) == (
        VerdictState.DIFFERENT,
        Direction.UP,
        3,
        "size=1",
    )
    assert (claim.p, claim.response, plain.overriding, claim.doubts) == (plain.comparison.p, "y", None, ())
    assert (
        compare_sides(0.5).verdict(1).direction is Direction.DOWN and plain.by_level == plain.comparison.by_level != ()
    )
    corrected = replace(plain, comparison=replace(plain.comparison, p_holm=0.5, by_chance=True))
    assert (corrected.state, corrected.verdict(1).p) == (INCONCLUSIVE, 0.5)
    twin, unsure = qualify(plain, TWIN), qualify(plain, UNSURE)
    assert (twin.state, twin.overriding, twin.by_level) == (NOT_SEPARABLE, TWIN.check, ())
    assert (unsure.state, unsure.overriding, unsure.verdict_word) == (INCONCLUSIVE, UNSURE.check, "inconclusive")
    assert "host" in twin.verdict_word and twin.verdict_word.startswith(plain.verdict_word)
    assert qualify(corrected, TWIN).overriding is None
    iterations = replace(plain, within_run=True, caveats=(DOUBT,))
    assert iterations.warnings[-2] == "x" and iterations.warnings[-1].code == "within-run"  # type: ignore[attr-defined]
    equal = compare_sides(1.0)
    assert (equal.state, qualify(equal, TWIN).state) == (VerdictState.EQUAL, VerdictState.EQUAL)


def test_comparisons_as_rows_and_json() -> None:
    cells = compare_sides(cell={"size": 1}), compare_sides(0.5, cell={"size": 2})
    answer = Comparisons(cells, "nodes", 0.95, ("w",), "base", ("gone",))
    content = answer.content()
    assert [
        content[name] for name in ("level", "group", "base", "warnings", "left_out", "geometric_means", "fail_if")
    ] == [
        0.95,
        "nodes",
        "base",
        ["w"],
        ["gone"],
        [],
        None,
    ]
    assert [claim.family for claim in answer.verdicts] == [2, 2] and not answer.problem
    row = answer.records()[1]
    numbers = [row[name] for name in ("size", "a", "b", "n_a", "n_b", "mean_a", "mean_b", "ratio", "difference")]
    assert numbers == [
        2,
        "1",
        "2",
        5,
        5,
        pytest.approx(1.004),
        pytest.approx(0.502),
        pytest.approx(0.5),
        pytest.approx(-0.502),
    ]
    assert (row["state"], row["verdict"]) == (str(VerdictState.DIFFERENT), DIFFERENT)
