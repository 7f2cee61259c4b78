"""Phases that go together over systems: rank correlations of all pairs, of the whole and per node.

Everything grows with the number of nodes, so rates of the whole correlate in any case. Rates per node share a divisor,
which also makes them correlate (Pearson, Proc. Royal Society 60, 1897, 489-498). A correlation remains if it is a
discovery per node and among systems of equally many nodes (partial), with the same sign."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.column_units import is_rate
from iosonde.core.derived_numbers import list_sources
from iosonde.core.headlines import SPEEDS, find_kind
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.verdict import Direction, UncheckedClaim, Verdict, VerdictState
from iosonde.stats.assumptions import doubtful, fails, holds, judge, not_applicable
from iosonde.stats.estimate.clusters import average_by_group
from iosonde.stats.estimate.multiple import adjust_by_yekutieli, compute_harmonic_sum, find_discovery_p_limit
from iosonde.stats.estimate.rank_correlation import RankCorrelation, estimate_rank_correlation
from iosonde.stats.overview.systems import Systems

Array = npt.NDArray[np.float64]
Kind = tuple[tuple[str, str], npt.NDArray[np.intp]]  # (operation, metric), its rows


class PairState(StrEnum):
    """What holds for a pair of phases."""

    REMAINS = "remains"  # also per node and among systems of equal size; or as a whole, if no size is known
    BY_SIZE = "by size"  # as a whole only
    NONE = "not significant"  # not a discovery
    NOT_TESTED = "not tested"  # too few systems, or equal values


@dataclass(frozen=True)
class PairLink:
    """A rank correlation: ``q`` is its p-value adjusted for all tests. ``carrier`` names the system without which ρ is
    weakest, then ``rho_without``; ``is_carried``: without this one system it is no discovery."""

    rho: Estimate
    p: float | None
    q: float | None
    carrier: str
    rho_without: float | None
    is_discovery: bool
    is_carried: bool

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        carrier = {"system": self.carrier, "rho": self.rho_without, "decides": self.is_carried}
        return {"rho": self.rho.to_json(), "p": self.p, "q": self.q, "without": carrier if self.carrier else None}


@dataclass(frozen=True)
class PhasePair:
    """Two phases: ``total`` rates, rates ``per_unit`` (node), and whole rates at ``equal_size`` (partial); the last two
    are None if no size is known."""

    names: tuple[str, str]
    total: PairLink
    per_unit: PairLink | None
    equal_size: PairLink | None

    @property
    def links(self) -> tuple[PairLink, ...]:
        """Return the correlations that were estimated."""
        return tuple(link for link in (self.total, self.per_unit, self.equal_size) if link is not None)

    @property
    def deciding(self) -> PairLink:
        """Return the weaker correlation of those that decide whether a dependence remains."""
        return min(self.links[-2:] if self.per_unit else self.links, key=lambda link: abs(link.rho.value or 0.0))

    @property
    def state(self) -> PairState:
        """Return what holds for the pair."""
        if any(link.p is None for link in self.links):
            return PairState.NOT_TESTED
        signs = {(link.rho.value or 0.0) > 0 for link in self.links[-2:]}
        if all(link.is_discovery for link in self.links[-2:]) and (self.per_unit is None or len(signs) == 1):
            return PairState.REMAINS
        return PairState.BY_SIZE if self.total.is_discovery else PairState.NONE

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "phases": list(self.names),
            "state": str(self.state),
            "whole": self.total.to_json(),
            "per_unit": None if self.per_unit is None else self.per_unit.to_json(),
            "equal_size": None if self.equal_size is None else self.equal_size.to_json(),
        }


@dataclass(frozen=True)
class Dependence:
    """All ``pairs`` of ``phases``; ``tests`` of them were corrected together. ``per``: ``node``, or ''."""

    phases: tuple[str, ...]
    pairs: tuple[PhasePair, ...]
    per: str
    level: float
    tests: int

    def list_pairs(self, state: PairState) -> list[PhasePair]:
        """Return the pairs in a state, the strongest first: by what remains, else as a whole."""
        pairs = [pair for pair in self.pairs if pair.state is state]
        links = {pair.names: pair.deciding if state is PairState.REMAINS else pair.total for pair in pairs}
        return sorted(pairs, key=lambda pair: -abs(links[pair.names].rho.value or 0.0))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "phases": list(self.phases),
            "per": self.per or None,
            "false_discovery_rate": 1 - self.level,
            "tests": self.tests,
            "pairs": [pair.to_json() for pair in self.pairs],
        }

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return one verdict per pair: whether its phases go together beyond their size."""
        return tuple(self._judge(pair) for pair in self.pairs)

    def _judge(self, pair: PhasePair) -> Verdict:
        link, state = pair.deciding, _STATES[pair.state]
        rising = (link.rho.value or 0.0) > 0
        direction = (Direction.UP if rising else Direction.DOWN) if state is VerdictState.DIFFERENT else None
        claim = UncheckedClaim(
            "dependence", " ".join(pair.names), pair.names, state, direction, "", link.rho, link.q, self.tests
        )
        why = Message("deciding-system", "a single system decides it")
        carried = any(each.is_carried for each in pair.links[-2:])
        leverage = [fails("leverage", VerdictState.INCONCLUSIVE, why)] if carried else holds("leverage")
        size = holds("varies-besides") if self.per else [doubtful("varies-besides")]
        return judge(claim, (*leverage, *size, *holds("subsamples", "few-trials"), *not_applicable("missing-values")))


_STATES = {
    PairState.REMAINS: VerdictState.DIFFERENT,
    PairState.BY_SIZE: VerdictState.INCONCLUSIVE,
    PairState.NONE: VerdictState.INCONCLUSIVE,
    PairState.NOT_TESTED: VerdictState.NOT_TESTED,
}


def estimate_dependence(work: Systems, kinds: Sequence[Kind]) -> Dependence:
    """Correlate all pairs of phases over systems. A system is the geometric mean of its runs that have both phases.
    Numbers that are computed from others, as a score from its phases, are left out."""
    everyone = [(kind[0], find_kind(kind[1])) for kind, _ in kinds]
    others = [*everyone, *((operation, part) for operation, _ in everyone for part in SPEEDS)]
    phases = [entry for entry, number in zip(kinds, everyone, strict=True) if not list_sources(number, others)]
    names = tuple(_name(*kind) for kind, _ in phases)
    table = _SystemTable(work, phases)
    pairs = list(combinations(range(len(phases)), 2))
    several = [(pair, form, *estimated) for pair in pairs for form, estimated in enumerate(table.correlate(*pair))]
    p_values = [correlation.p for *_, correlation, _ in several]
    adjusted = adjust_by_yekutieli(p_values)
    tested = [p for p in p_values if p is not None]
    limit = find_discovery_p_limit(tested, (1 - work.level) / compute_harmonic_sum(len(tested) or 1))
    links = {
        (pair, form): _build_link(correlation, systems, q, limit)
        for (pair, form, correlation, systems), q in zip(several, adjusted, strict=True)
    }
    return Dependence(
        names,
        tuple(
            PhasePair((names[pair[0]], names[pair[1]]), links[pair, 0], links.get((pair, 1)), links.get((pair, 2)))
            for pair in pairs
        ),
        work.per.removesuffix("s"),
        work.level,
        len(tested),
    )


class _SystemTable:
    """Logs of each phase by run (NaN if it has none), and the system and the size of each run."""

    def __init__(self, work: Systems, phases: Sequence[Kind]) -> None:
        runs, first, place = np.unique(work.rows.columns["run"].values.astype(str), True, True)
        units = [str(work.rows.columns["unit"].values[at[0]]) for _, at in phases]
        values = work.rows.numbers("value")
        self._logs = np.full((len(phases), len(runs)), np.nan)
        for row, (_, at) in enumerate(phases):
            good = at[values[at] > 0]
            self._logs[row, place[good]] = np.log(values[good])
        self._systems, self._names = work.of[first], work.names[first]
        self._sizes = np.log(np.where(work.size[first] > 0, work.size[first], np.nan)) if work.per else None
        self._divided = np.array([is_rate(unit) for unit in units])
        self._level = work.level

    def correlate(self, a: int, b: int) -> Iterator[tuple[RankCorrelation, Sequence[str]]]:
        """Yield the correlation of two phases as a whole; if sizes are known also per unit, and at equal size; each
        with the names of its systems."""
        present = np.isfinite(self._logs[a] + self._logs[b] + (0.0 if self._sizes is None else self._sizes))
        systems = self._systems[present]
        names = list(map(str, self._names[present][np.unique(systems, return_index=True)[1]]))
        x, y = (average_by_group(self._logs[row][present], systems) for row in (a, b))
        yield estimate_rank_correlation(x, y, self._level), names
        if self._sizes is not None:
            size = average_by_group(self._sizes[present], systems)
            x_each, y_each = (z - size * self._divided[row] for row, z in ((a, x), (b, y)))
            yield estimate_rank_correlation(x_each, y_each, self._level), names
            yield estimate_rank_correlation(x, y, self._level, size), names


def _name(operation: str, metric: str) -> str:
    return operation + ("" if metric.endswith("_last_done") else f" {metric}")


def _build_link(correlation: RankCorrelation, systems: Sequence[str], q: float | None, limit: float) -> PairLink:
    """Build a link; ``limit`` is the p-value up to which a test is a discovery."""
    rho, p, without = correlation.rho.value, correlation.p, correlation.rho_without
    is_discovery = p is not None and p <= limit
    lost = correlation.p_without is None or correlation.p_without > limit or (rho or 0.0) * (without or 0.0) < 0
    carrier = "" if correlation.carrier is None else systems[correlation.carrier]
    return PairLink(correlation.rho, p, q, carrier, without, is_discovery, is_discovery and bool(carrier) and lost)
