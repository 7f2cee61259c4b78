"""Runs of A and B → pairs → verdicts on each metric, by anytime-valid intervals."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.absolute_limit import AbsoluteLimit
from iosonde.core.arrays import Array
from iosonde.core.deciding import Name, choose_deciding_name
from iosonde.core.gate import parse_gate
from iosonde.core.gate_conditions import Condition, has_applicable_limit
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric
from iosonde.core.pair_rule import PairRule
from iosonde.core.types import Better, Estimate, Factor, FactorValue, level_text
from iosonde.core.verdict import Direction, UncheckedClaim, VerdictState

from . import sequential
from .compare import CANNOT_TELL, DIFFERENT, judge_ratio
from .logs import exp_estimate
from .summarise import compute_sd, estimate_mean

Row = tuple[str, str, str, float]  # operation, metric, unit, value
Cell = tuple[tuple[str, FactorValue], ...]


@dataclass(frozen=True)
class PairedRun:
    """A complete run of one side: the levels of the other factors, the block that it shares with its partner, and its
    metrics."""

    cell: Cell
    block: int
    side: str
    values: Mapping[Name, float]


@dataclass(frozen=True)
class PairVerdict:
    """Verdict of the pairs of one cell on one metric. ``a`` and ``b`` are the values of both sides, pair by pair.
    ``ratio`` is B ÷ A; its ``level`` is this interval's own share. ``alone`` counts runs without a partner."""

    cell: dict[str, FactorValue]
    name: Name
    primary: bool
    rule: PairRule
    a: Array
    b: Array
    ratio: Estimate
    alone: int = 0

    @property
    def n(self) -> int:
        """Return the number of pairs."""
        return int(self.a.size)

    @property
    def verdict(self) -> str:
        """Return the verdict of the interval against 1 and the margin."""
        return judge_ratio(self.ratio, self.rule.margin)

    @property
    def gated_ratio(self) -> Estimate | None:
        """Return the ratio with the interval that passes a gate: the shown one for the deciding metric, that of a
        single look for others."""
        return self.ratio if self.primary else self.ratio_at(self.rule.level)

    def ratio_at(self, level: float) -> Estimate | None:
        """Return the ratio at another level. The deciding metric has an interval that holds at every look. The others
        are looked at once, at the end: their interval is Student's (docs/method/against.md has its cost)."""
        if self.ratio.value is None or self.n < sequential.LEAST:
            return self.ratio
        return self._estimate_from_logs(np.log(self.b) - np.log(self.a), level)

    def value_at(self, level: float | None) -> Estimate | None:
        """Return the geometric mean of B with an interval of the same kind, by default at the level of the gated
        ratio."""
        if self.n < sequential.LEAST or self.ratio.value is None:
            return None
        passing = self.ratio.level if self.primary else self.rule.level
        return self._estimate_from_logs(np.log(self.b), passing if level is None else level)

    def _estimate_from_logs(self, logs: Array, level: float) -> Estimate:
        return (
            sequential.estimate_sequential_ratio(logs, level, self.rule.most)
            if self.primary
            else exp_estimate(estimate_mean(logs, level))
        )

    @property
    def state(self) -> VerdictState:
        """Return the verdict as the state of a claim."""
        states = {DIFFERENT: VerdictState.DIFFERENT, CANNOT_TELL: VerdictState.INCONCLUSIVE}
        return states.get(self.verdict, VerdictState.EQUAL)

    def claim(self, family: int) -> UncheckedClaim:
        """Return the claim that B differs from A, as one of a ``family``."""
        above = self.ratio.value is not None and self.ratio.value > 1
        return UncheckedClaim(
            "difference",
            " ".join(self.name[:2]),
            (self.rule.a, self.rule.b),
            self.state,
            None if self.state is not VerdictState.DIFFERENT else Direction.UP if above else Direction.DOWN,
            ", ".join(f"{name}={level}" for name, level in self.cell.items()),
            self.ratio,
            None,
            family,
        )

    @property
    def lower_is_better(self) -> bool:
        """Return whether the metric is a time or another cost."""
        return build_metric(self.name[1], self.name[2]).better is Better.LOWER

    @property
    def limits(self) -> tuple[Condition, ...]:
        """Return the rule's conditions that apply to this metric."""
        gate = parse_gate(self.rule.fail_if, False)
        conditions = gate.conditions if gate else ()
        return tuple(each for each in conditions if has_applicable_limit(each, self.name, conditions))

    @property
    def untold(self) -> tuple[Condition, ...]:
        """Return the inconclusive conditions, whose limit lies inside the interval."""
        return tuple(limit for limit in self.limits if self._holds(limit) is None)

    def _holds(self, limit: Condition) -> bool | None:
        if isinstance(limit, AbsoluteLimit):
            return limit.holds(self.value_at(self.ratio.level), self.name[2])
        return limit.holds(self.ratio, build_metric(*self.name[1:]))

    @property
    def is_decided(self) -> bool:
        """Return whether no more pairs are needed: the sealed conditions or, without any, the verdict is conclusive."""
        return not self.untold if self.limits else self.verdict != CANNOT_TELL

    def n_needed(self) -> int | None:
        """Return the number of pairs that is sufficient for a verdict, from the spread and the margin alone. An
        interval with a half-width of half the margin cannot include 1 and extend beyond the margin. With inconclusive
        conditions, it is the number that excludes their limit if the ratio stays the same. Return None if unknown."""
        if self.ratio.low is None or self.n < sequential.LEAST:
            return None
        sd = compute_sd(np.log(self.b) - np.log(self.a))
        distances = [self._measure_distance(limit) for limit in self.untold] or [(math.log1p(self.rule.margin) / 2, sd)]
        if not all(apart for apart, _ in distances):
            return None
        critical = sequential.compute_critical_t(self.rule.most, self.ratio.level, self.rule.most)
        return math.ceil((critical * max(spread / apart for apart, spread in distances)) ** 2)

    def _measure_distance(self, limit: Condition) -> tuple[float, float]:
        """Return the distance between the logarithms of the ratio (or the mean of B) and of a limit, the nearer one if
        there are two, and the standard deviation of such a logarithm."""
        if isinstance(limit, AbsoluteLimit):
            logs, bound = np.log(self.b), limit.convert_bound(self.name[2])
            return (abs(float(logs.mean()) - math.log(bound)) if bound else math.inf), compute_sd(logs)
        ways = limit.ends(self.ratio, build_metric(*self.name[1:]))
        apart = min(abs(math.log(low * high) / 2 - math.log1p(limit.share)) for low, high in ways)
        return apart, compute_sd(np.log(self.b) - np.log(self.a))

    def typical(self) -> tuple[float, float] | None:
        """Return the geometric means of A and B, whose quotient is the ratio; None without them."""
        return (
            None
            if not self.n or min(self.a.min(), self.b.min()) <= 0
            else (float(np.exp(np.mean(np.log(self.a)))), float(np.exp(np.mean(np.log(self.b)))))
        )

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form. It has no p: that of a fixed n would be invalid."""
        operation, metric, unit = self.name
        typical = self.typical() or (None, None)
        return {
            "by": {**self.cell, "operation": operation, "metric": metric, "unit": unit},
            "primary": self.primary,
            "a": {"name": self.rule.a, "n": self.n, "geometric_mean": typical[0]},
            "b": {"name": self.rule.b, "n": self.n, "geometric_mean": typical[1]},
            "paired": True,
            "anytime_valid": True,
            "pairs": self.n,
            "without_partner": self.alone,
            "most_pairs": self.rule.most,
            "n_needed": None if self.is_decided else self.n_needed(),
            "ratio": self.ratio.to_json(),
            "margin": self.rule.margin,
            "verdict": self.verdict,
            "state": str(self.state),
            "overlap": None,
            "t": None,
            "df": None,
            "p": None,
            "warnings": list(self.ratio.warnings),
        }


def list_cell_factors(rule: PairRule, factors: Iterable[Factor]) -> list[str]:
    """Return the factors that define the cells: those that vary, except the one that separates the sides."""
    return [factor.name for factor in factors if len(factor.levels) > 1 and factor.name != rule.factor]


def build_paired_run(
    rule: PairRule, others: Sequence[str], factors: Mapping[str, FactorValue], rows: Iterable[Row]
) -> PairedRun:
    """Build a complete run from its factors and its metrics; a tool's own iterations are averaged."""
    values: dict[Name, list[float]] = {}
    for operation, metric, unit, value in rows:
        values.setdefault((operation, metric, unit), []).append(value)
    return PairedRun(
        tuple((name, factors[name]) for name in others),
        int(factors["block"] or 0),
        level_text(factors[rule.factor]),
        {name: sum(several) / len(several) for name, several in values.items()},
    )


def judge_pairs(runs: Iterable[PairedRun], rule: PairRule, others: Sequence[Name] = ()) -> list[PairVerdict]:
    """Return the verdicts on the deciding metric by cell, then on the ``others``, which share alpha among them. Empty
    before the first pair."""
    cells: dict[Cell, dict[int, dict[str, PairedRun]]] = {}
    for run in runs:
        cells.setdefault(run.cell, {}).setdefault(run.block, {})[run.side] = run
    both = {cell: [pair for _, pair in sorted(blocks.items()) if len(pair) == 2] for cell, blocks in cells.items()}
    primary = _choose_primary([pair for pairs in both.values() for pair in pairs[:1]], rule)
    others = [name for name in others if name != primary]
    names = [(primary, 1), *((name, len(others)) for name in others)] if primary else []
    return [
        _judge_cell(
            cell,
            name,
            pairs,
            rule,
            rule.share(metrics),
            name == primary,
            sum(len(pair) == 1 for pair in cells[cell].values()),
        )
        for name, metrics in names
        for cell, pairs in sorted(both.items(), key=lambda item: [_make_level_sort_key(level) for _, level in item[0]])
    ]


def _make_level_sort_key(level: FactorValue) -> tuple[bool, float, str]:
    """Return a sort key: numbers by size, before texts."""
    text = isinstance(level, str) or level is None
    return text, 0.0 if text else float(level or 0), str(level)


def _choose_primary(pairs: Sequence[Mapping[str, PairedRun]], rule: PairRule) -> Name | None:
    """Choose the deciding metric from those that both sides of the first pair have."""
    if not pairs:
        return None
    first = pairs[0]
    return choose_deciding_name([name for name in first[rule.a].values if name in first[rule.b].values], rule.metric)


def _judge_cell(
    cell: Cell,
    name: Name,
    pairs: Sequence[Mapping[str, PairedRun]],
    rule: PairRule,
    level: float,
    primary: bool,
    alone: int,
) -> PairVerdict:
    values = list(_pair_values(name, pairs, rule))
    a, b = (np.array([pair[side] for pair in values], dtype=float) for side in (0, 1))
    ratio = (
        Estimate(
            None, None, None, level, int(a.size), (Message("nonpositive-value", "values of 0 or below have no ratio"),)
        )
        if a.size and min(a.min(), b.min()) <= 0
        else sequential.estimate_sequential_ratio(np.log(b) - np.log(a), level, rule.most)
    )
    return PairVerdict(dict(cell), name, primary, rule, a, b, ratio, alone)


def _pair_values(name: Name, pairs: Iterable[Mapping[str, PairedRun]], rule: PairRule) -> Iterator[tuple[float, float]]:
    for pair in pairs:
        a, b = pair[rule.a].values, pair[rule.b].values
        if name in a and name in b:
            yield a[name], b[name]
