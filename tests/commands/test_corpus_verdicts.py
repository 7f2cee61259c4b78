"""Which metrics of a corpus are listed, what explains them, and where one's own result lies: by hand."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from iosonde.commands.corpus.answer import Corpus, _group_rows_by_metric, _select_kinds
from iosonde.commands.corpus.verdicts import build_corpus_verdicts
from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.core.verdict import Direction, VerdictState
from iosonde.stats.estimate.clusters import Explained
from iosonde.stats.overview.systems import LEAST, CorpusPhase, Placed
from messages import raises


def share(value: float | None, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(value, low, high, 0.95, 9)


def explained(low: float | None, slope: float | None = None, **more) -> Explained:
    return Explained(share(0.5, low, 0.9), None if slope is None else share(slope), 3, **more)


def build_phase(operation: str = "op", low: float | None = 1, high: float | None = 2, **more) -> CorpusPhase:
    quantiles = {0.1: share(low), 0.5: share(1), 0.9: share(high)}
    usual = {"explained": {}, "standing_out": (), "settings": {}}
    return CorpusPhase(
        operation, "rate_last_done", "op/s", "", (1.0,), ("s",), 4, quantiles, share(1), **{**usual, **more}
    )


def build_corpus(*phases: CorpusPhase, years: tuple[int, int] | None = None) -> Corpus:
    return Corpus("c", 0.95, ("system",), ("nodes",), 9, 4, years, phases)


@pytest.mark.parametrize(
    ("effect", "state", "direction", "doubts"),
    [
        (explained(0.1, 1.5), VerdictState.DIFFERENT, Direction.UP, ("not-corrected", "varies-besides")),
        (explained(0.1, 0.5), VerdictState.DIFFERENT, Direction.DOWN, ("not-corrected", "varies-besides")),
        (explained(0.1, 1.0), VerdictState.DIFFERENT, Direction.DOWN, ("not-corrected", "varies-besides")),
        (explained(0.1), VerdictState.DIFFERENT, None, ("not-corrected", "varies-besides")),
        (explained(0.0, 1.5), VerdictState.INCONCLUSIVE, None, ("not-corrected", "varies-besides")),
        (explained(None, 1.5), VerdictState.NOT_TESTED, None, ("not-corrected", "varies-besides")),
        (
            explained(0.1, 1.5, without=share(0.0)),
            VerdictState.INCONCLUSIVE,
            None,
            ("not-corrected", "leverage", "varies-besides"),
        ),
    ],
)
def test_a_covariate_that_explains_has_the_direction_of_its_slope(effect, state, direction, doubts):
    verdict, other = build_corpus_verdicts([build_phase(explained={"nodes": effect, "year": explained(0.0)})])
    assert (verdict.state, verdict.direction, verdict.doubts) == (state, direction, doubts)
    assert (verdict.question, verdict.response, verdict.subject) == ("effect", "op rate_last_done", ("nodes",))
    assert (verdict.estimate, verdict.p, verdict.family, other.subject) == (effect.share, None, 1, ("year",))
    (alone,) = build_corpus_verdicts([build_phase(explained={"nodes": effect})])
    assert "not-corrected" not in alone.doubts


@pytest.mark.parametrize(
    ("low", "high", "state", "direction"),
    [
        (0.51, 0.9, VerdictState.DIFFERENT, Direction.UP),
        (0.5, 0.9, VerdictState.INCONCLUSIVE, None),
        (0.1, 0.5, VerdictState.INCONCLUSIVE, None),
        (0.1, 0.49, VerdictState.DIFFERENT, Direction.DOWN),
        (None, 0.4, VerdictState.NOT_TESTED, None),
        (0.6, None, VerdictState.NOT_TESTED, None),
    ],
)
def test_ones_own_result_is_above_or_below_half_of_the_systems(low, high, state, direction):
    own = Placed(1.0, share(0.55, low, high))
    (verdict,) = build_corpus_verdicts([build_phase(), build_phase(placed=own)])
    assert (verdict.question, verdict.subject, verdict.estimate) == ("difference", ("corpus", "mine"), own.share)
    assert (verdict.state, verdict.direction) == (state, direction)


def test_the_metrics_of_many_systems_are_listed_without_the_parts_of_others():
    def rows_of(*names: str) -> list:
        return [((name.split()[0], name.split()[1]), np.array([0])) for name in names]

    def select(kinds: list, systems: list[int]) -> list[str]:
        return [" ".join(kind) for kind, _ in _select_kinds(kinds, systems)]

    kinds = rows_of(
        "write bandwidth_last_done",
        "write rate_last_done",
        "write other",
        "stat rate_last_done",
        "stat_tree rate",
        "x y",
    )
    listed = ["write bandwidth_last_done", "write other", "stat rate_last_done"]
    assert select(kinds, [20] * 6) == [*listed, "x y"]
    assert select(kinds, [20, 20, 20, 20, 20, 9]) == listed, "half of 20 systems"
    assert select(kinds, [20, 20, 20, 20, 20, 10]) == [*listed, "x y"]
    assert select(kinds, [1, 1, 1, 1, 1, 1]) == [*listed, "x y"], "no more than there are"
    assert select(kinds, [6, 6, 6, 6, 6, LEAST - 1]) == listed and select(kinds, [6] * 5 + [LEAST])[-1] == "x y"


def test_rows_are_grouped_by_metric_in_the_order_of_the_tool():
    rows = build_table({"operation": ["b", "a", "b", "a"], "metric": ["m", "m", "m", "n"]})

    def group(*operations: str) -> list:
        return [(*kind, at.tolist()) for kind, at in _group_rows_by_metric(rows, operations)]

    assert group() == [("b", "m", [0, 2]), ("a", "m", [1]), ("a", "n", [3])]
    assert group("a") == [("a", "m", [1]), ("a", "n", [3])]
    assert group("a n", "b m") == [("b", "m", [0, 2]), ("a", "n", [3])]
    with raises("unknown-operation", operation="n", operations="b, a"):
        group("b", "n")


def test_the_farthest_system_of_each_covariate_is_named_at_its_farthest_metric():
    def at(leverage: float, **more) -> Explained:
        return explained(0.1, leverage=leverage, without=share(0.2), **more)

    first = build_phase("a", explained={"nodes": at(0.6), "year": at(0.8)})
    second = build_phase("b", explained={"nodes": at(0.7), "year": at(0.8), "cores": explained(0.1, leverage=0.4)})
    effects = build_corpus(first, second).single_system_effects
    assert [(phase.operation, name, e.leverage) for phase, name, e in effects] == [
        ("b", "nodes", 0.7),
        ("a", "year", 0.8),
    ]


def test_the_sentence_names_the_widest_metric_the_strongest_effect_and_ones_own_ends():
    def words(*phases: CorpusPhase, years: tuple[int, int] | None = None) -> list[str]:
        numbers = r"\b(?:wide|narrow|strong|weak|nodes|year|cores|middle|low|high|[\d.–]*\d)\b"
        return re.findall(numbers, build_corpus(*phases, years=years).sentence.replace("the lowest", ""))

    wide, narrow, unknown = build_phase("wide", 1, 8), build_phase("narrow", 2, 4), build_phase("unknown", None, 9)
    assert words(narrow, wide, unknown) == ["wide", "8.00"] and words(narrow) == ["narrow", "2.00"]
    assert words(unknown) == words() == []
    strong = build_phase("strong", None, explained={"nodes": explained(0.3), "year": explained(0.2)})
    weak = build_phase("weak", None, explained={"cores": explained(0.1), "year": explained(0.8, without=share(0.1))})
    assert words(weak, strong) == ["strong", "nodes", "50", "30–90"]
    own = [
        replace(build_phase(name), placed=Placed(1.0, share(value)))
        for name, value in (("middle", 0.5), ("low", 0.1), ("high", 0.9))
    ]
    assert words(*own, years=(2020, 2024)) == ["high", "90", "4", "2020–2024", "low", "10", "4", "2020–2024"]
    assert words(own[0], wide) == ["middle", "50", "4"]
