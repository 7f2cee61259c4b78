"""Input and output of a finder, and the agreement of a rule or of groups with the slow operations."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Finding, Severity

from ..operations import Operations

LEAST = 10  # operations of a class: with fewer nothing is significant
LEAST_KAPPA = 0.3
_ALPHA = 0.001
_SAMPLE = 50_000
_SEED = 1960
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Agreement:
    """Agreement of a rule with the slow operations.

    ``recall`` is the share of the slow ones that it predicts; ``precision``, the share of the predicted ones that are
    slow. ``kappa`` is the agreement beyond chance: 1 is all, 0 is chance (Cohen 1960, Educational and Psychological
    Measurement 20, 37-46). ``p``: the probability of this agreement without any relation, corrected for all rules that
    were tried."""

    recall: float
    precision: float
    kappa: float
    p: float

    @property
    def is_significant(self) -> bool:
        """True if it is significant and large enough to matter."""
        return self.kappa >= LEAST_KAPPA and self.p < _ALPHA

    @property
    def confidence(self) -> str:
        """``high`` from a kappa of 0.8, ``medium`` from 0.5, else ``low``."""
        return "high" if self.kappa >= 0.8 else "medium" if self.kappa >= 0.5 else "low"


def compute_agreement(
    hits: float, n_slow: int, false: float, n_other: int, prevalence: float, tried: int = 1
) -> Agreement:
    """Compute the agreement of a rule that predicts ``hits`` of ``n_slow`` slow operations and ``false`` of ``n_other``
    others.

    Both may be samples of all, of which ``prevalence`` are slow. The rule is the best of ``tried`` ones."""
    if not n_slow or not n_other:
        return Agreement(0.0, 0.0, 0.0, 1.0)
    recall, alarms = hits / n_slow, false / n_other
    positives = prevalence * recall + (1 - prevalence) * alarms
    alike = prevalence * recall + (1 - prevalence) * (1 - alarms)
    chance = prevalence * positives + (1 - prevalence) * (1 - positives)
    kappa = (alike - chance) / (1 - chance) if chance < 1 else 0.0
    pooled = (hits + false) / (n_slow + n_other)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / n_slow + 1 / n_other))
    p = min(1.0, tried * math.erfc(((recall - alarms) / spread if spread else 0.0) / math.sqrt(2)) / 2)
    return Agreement(recall, prevalence * recall / positives if positives else 0.0, kappa, p)


@dataclass(frozen=True)
class Suspect:
    """Common property of the operations of class ``place``. ``cause`` names it in a few words, ``confirm`` an
    experiment that would confirm it; ``evidence`` are its numbers."""

    code: str
    place: int
    cause: str
    sentence: str
    agreement: Agreement
    confirm: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> object:
        """Identity among suspects of its code: a period, a unit, a place. Equal keys in two trials mean the same cause.
        Files are not a key: the same numbers lie on other servers in the next trial."""
        names = ("period_operations", "unit_bytes", "first", "ranks", "hosts", "late")
        return next((self.evidence[name] for name in names if name in self.evidence), None)

    @property
    def finding(self) -> Finding:
        """Convert to a Finding; its action is the experiment that would confirm it."""
        numbers = {
            "recall": self.agreement.recall,
            "precision": self.agreement.precision,
            "kappa": self.agreement.kappa,
            "p": self.agreement.p,
        }
        return Finding(self.code, Severity.INFO, self.sentence, {**self.evidence, **numbers}, self.confirm)


@dataclass(frozen=True)
class Target:
    """The operations of one trial, and the ``slow`` ones to be explained, of class ``place``."""

    operations: Operations
    slow: Mask
    place: int

    @cached_property
    def rows(self) -> Rows:
        """The slow operations."""
        return np.flatnonzero(self.slow)

    @property
    def prevalence(self) -> float:
        """The share of slow operations."""
        return self.rows.size / max(1, len(self.operations))

    @cached_property
    def some_slow(self) -> Rows:
        """All slow operations or a sample, in order."""
        return _sample_rows(self.rows, np.random.default_rng(_SEED))

    @cached_property
    def some_others(self) -> Rows:
        """All other operations or a sample, in order."""
        n, rng = len(self.operations), np.random.default_rng(_SEED + 1)
        if n <= 4 * _SAMPLE:
            return _sample_rows(np.flatnonzero(~self.slow), rng)
        drawn = np.unique(rng.integers(0, n, int(_SAMPLE / max(0.05, 1 - self.prevalence))))
        return drawn[~self.slow[drawn]]

    def judge(self, slow: Mask, others: Mask, tried: int = 1) -> Agreement:
        """Return the agreement of a rule, from its predictions on ``some_slow`` and ``some_others``."""
        return compute_agreement(int(slow.sum()), slow.size, int(others.sum()), others.size, self.prevalence, tried)

    def judge_rows(self, rows: Rows, tried: int = 1) -> Agreement:
        """Return the agreement of a rule that predicts these rows, among all operations."""
        hits = int(self.slow[rows].sum())
        n = len(self.operations)
        return compute_agreement(hits, self.rows.size, rows.size - hits, n - self.rows.size, self.prevalence, tried)


def _sample_rows(rows: Rows, rng: np.random.Generator) -> Rows:
    return rows if rows.size <= _SAMPLE else np.sort(rng.choice(rows, _SAMPLE, replace=False))


def select_groups_with_slow(
    names: Sequence[Any], slow: npt.NDArray[Any], every: npt.NDArray[Any]
) -> tuple[Agreement, list[Any]]:
    """Select the groups with the highest share of slow operations, as many as agree most with "slow", but not all.
    Returns (agreement, groups). Needs at least two groups."""
    order = np.argsort(-slow / np.maximum(every, 1), kind="stable")
    n_slow, n = int(slow.sum()), int(every.sum())
    hits, totals = np.cumsum(slow[order]), np.cumsum(every[order])
    agreements = [
        compute_agreement(int(hit), n_slow, int(many - hit), n - n_slow, n_slow / max(n, 1), len(names))
        for hit, many in zip(hits[:-1], totals[:-1], strict=True)
    ]
    at = max(range(len(agreements)), key=lambda place: agreements[place].kappa)
    return agreements[at], [names[index] for index in order[: at + 1]]
