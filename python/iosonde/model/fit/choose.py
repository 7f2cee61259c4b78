"""Which model: all are judged on the same folds, and of those that are as good as the best the simplest is taken.

A line that predicts speeds below 0 is passed over where another is as good. One standard error: Breiman et al. 1984,
§3.4.3; Hastie, Tibshirani & Friedman 2009, §7.10. The error of a choice is not the error of what was chosen, which was
chosen for its small one: nested folds choose anew without the rows that judge (Varma & Simon, BMC Bioinformatics 7,
2006).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import t_critical

from ..families import checked, family, limit, note
from .calibration import calibrate
from .errors_of import RepeatNoise, grouped_mean, noise_of, standard_error
from .features import Examples
from .fitted import Model, train
from .folds import Fold, Groups, Rows, k_folds, split
from .validate import Candidate, Judged, judge, refused, with_own_classes
from .work import FitProgress, Tell

AUTO = tuple(Candidate(name) for name in ("mean", "linear", "loglinear")) + (
    Candidate("tree", {"depth": 3}), Candidate("tree"), Candidate("neighbours"), Candidate("gaussian"),
    Candidate("boosting"), Candidate("forest"),
)  # fmt: skip
GAUSSIAN_MOST = 100  # settings; its time grows with their cube
MANY = 20_000  # rows from which one split does what folds do
CHOICE_MOST = 2000  # rows that a choice is made on
OUTER, INNER = 4, 3
FOLDS = 10


@dataclass(frozen=True)
class Choice:
    """What was tried and what was taken. ``nested`` is the honest error of choosing like this, None where nothing
    was chosen. ``noise`` is the floor. ``passed_over`` are numbers of simpler ones, as good, that predict below 0.
    ``gain``: by how much less the model errs than the mean of everything, on the same rows not seen."""

    tried: tuple[Judged, ...]
    chosen: int
    baseline: Judged
    nested: Estimate | None
    noise: RepeatNoise | None
    model: Model
    groups: Groups
    n_choice: int
    passed_over: tuple[int, ...] = ()
    gain: Estimate | None = None

    def to_json(self) -> dict[str, Any]:
        """The stable form."""
        judged = self.tried[self.chosen]
        return {
            **judged.to_json(), "tried": [{k: v for k, v in attempt.to_json().items() if k != "folds"}
                                          for attempt in self.tried],
            "mean_model": self.baseline.to_json()["mae"],
            "gain_over_mean": self.gain.to_json() if self.gain else None,
            "noise": self.noise.to_json() if self.noise else None,
            "nested": self.nested.to_json() if self.nested else None, "n": self.model.rows,
            "n_settings": self.model.settings, "n_groups": self.groups.n, "rows_with_twin": self.groups.twins,
            "passed_over": [self.tried[place].candidate.name for place in self.passed_over],
            "seed": self.model.seed, "warnings": list(self.model.warnings),
        }  # fmt: skip


def standard_folds(together: Groups, n_folds: int | None, seed: int) -> list[Fold]:
    """So many folds; by default 10 (fewer where there are fewer groups), and one split of many rows."""
    if n_folds is None and together.of.size > MANY:
        return [split(together, 0.75, seed)]
    return k_folds(together, min(FOLDS, together.n) if n_folds is None else n_folds, seed)


def choose(
    examples: Examples, candidates: Sequence[Candidate], together: Groups, n_folds: int | None, level: float, seed: int,
    tell: Tell | None = None,
) -> Choice:  # fmt: skip
    """The choice among candidates (from the simplest), and the model of all rows; ``tell`` hears how far it is. Raises
    DataError where none can be fitted."""
    if together.n < 2:
        raise DataError(
            "too-few-settings",
            "all rows are of one setting, or copies of each other: nothing can be learned from them",
            "measure other settings",
        )
    examples = with_own_classes(examples, candidates)
    folds = standard_folds(together, n_folds, seed)
    part, group = examples, together
    if len(candidates) > 1 and len(examples) > CHOICE_MOST:
        rows = np.sort(_sample_groups(together.of, CHOICE_MOST, seed))
        part, group = examples.take(rows), together.take(rows)
    part_folds = folds if part is examples else k_folds(group, INNER, seed)
    settings = int(np.unique(examples.cells).size)
    work = _plan_work(candidates, part_folds, folds, len(examples), tell)
    tried = [
        _refuse_settings(candidate, settings, most, level)
        if part is not examples and (most := limit(candidate.family)) and settings > most
        else _judge_candidates(part, [candidate], group, part_folds, level, seed, work)[0]
        for candidate in candidates
    ]
    chosen, *passed = simplest(tried, part, group)
    able = [attempt.candidate for attempt in tried if not attempt.refused]
    nested = _estimate_nested_error(part, able, group, level, seed, work) if len(candidates) > 1 else None
    winner, judged = tried[chosen].candidate, tried[chosen]
    if part is not examples:
        judged = judge(examples, winner, folds, together, level, seed, work)
    baseline = judge(examples, Candidate("mean"), folds, together, level, seed)
    if judged.refused:
        raise DataError(
            "fit-failed", "{family}: {reason}", "choose another family", family=winner.name, reason=judged.refused
        )
    tried[chosen] = judged
    noise = noise_of(examples)
    calibration = calibrate(examples.y[judged.rows], judged.predicted, together.independent[judged.rows])
    errors = {**{k: v for k, v in judged.to_json().items() if k not in ("folds", "options", "family", "refused")},
              "mean_model": baseline.mae.value, "noise": noise.mae if noise else None}  # fmt: skip
    trained = train(examples, winner.family, checked(winner.family, winner.options), seed, level)
    warnings = (*examples.warnings, *note(winner.family, len(examples)))
    model = replace(trained, calibration=calibration, errors=errors, warnings=warnings)
    gain = _estimate_gain(judged, baseline, examples, together, level)
    return Choice(tuple(tried), chosen, baseline, nested, noise, model, together, len(part), tuple(passed), gain)


def _estimate_gain(judged: Judged, mean: Judged, examples: Examples, together: Groups, level: float) -> Estimate | None:
    """How much less a model errs than the mean of everything; None where they were judged by other rows."""
    if not np.array_equal(judged.rows, mean.rows):
        return None
    observed, group = examples.y[judged.rows], together.independent[judged.rows]
    less = np.abs(mean.predicted - observed) - np.abs(judged.predicted - observed)
    n, value = int(np.unique(group).size), float(less.mean())
    if n < 2:
        return Estimate(value, None, None, level, n)
    half = t_critical(level, n - 1) * standard_error(less, group)
    return Estimate(value, value - half, value + half, level, n)


def _plan_work(
    candidates: Sequence[Candidate], part: Sequence[Fold], folds: Sequence[Fold], rows: int, tell: Tell | None
) -> FitProgress:
    """What lies ahead: all on the folds of the part, the choice again in nested folds, the one that is taken on all
    rows."""
    work, names = FitProgress(tell), [candidate.family for candidate in candidates]
    work.plan(names, sum(fold.train.size for fold in part))
    if len(names) > 1:
        inside = (part[0].train.size + part[0].test.size) * (OUTER - 1)
        work.plan(names, inside * (INNER - 1))
        work.plan_largest(names, inside)
    if folds is not part:
        work.plan_largest(names, sum(fold.train.size for fold in folds))
    work.plan_largest(names, rows)
    return work


def _judge_candidates(
    examples: Examples, candidates: Sequence[Candidate], group: Groups, folds: Sequence[Fold], level: float, seed: int,
    work: FitProgress,
) -> list[Judged]:  # fmt: skip
    return [judge(examples, candidate, folds, group, level, seed, work) for candidate in candidates]


def _refuse_settings(candidate: Candidate, settings: int, limit: int, level: float) -> Judged:
    template = "{settings:,} settings are too many for it, {limit:,} at most"
    return refused(candidate, Message("too-many-settings", template, settings=settings, limit=limit), level)


def simplest(tried: Sequence[Judged], examples: Examples, group: Groups) -> list[int]:
    """The first whose error is within one standard error of the smallest and that predicted nothing below 0 where
    nothing was (the first of all of them where each did), and after it those that were passed over for such
    predictions. Raises DataError where all were refused."""
    values = [attempt.mae.value for attempt in tried]
    errors = [value for value in values if value is not None]
    if not errors:
        raise DataError(
            "fit-failed",
            "no model could be fitted: {reason}",
            "use fewer factors, or measure more",
            reason=tried[-1].refused,
        )
    best = tried[values.index(min(errors))]
    off = np.abs(best.predicted - examples.y[best.rows])
    limit = min(errors) + standard_error(off, group.independent[best.rows])
    within = [i for i, value in enumerate(values) if value is not None and value <= limit]
    possible = [i for i in within if examples.y.min() < 0 or not (tried[i].predicted < 0).any()]
    chosen = (possible or within)[0]
    return [chosen, *(i for i in within if i < chosen)]


def _estimate_nested_error(
    examples: Examples, candidates: Sequence[Candidate], group: Groups, level: float, seed: int, work: FitProgress
) -> Estimate | None:
    """The error of the whole procedure: in every outer fold the choice is made again by inner folds. None where
    there are too few groups to do so."""
    if group.n < 2 * max(OUTER, INNER):
        return None
    rows, predictions = [], []
    for fold in k_folds(group, OUTER, seed + 1):
        inside, own = examples.take(fold.train), group.take(fold.train)
        tried = _judge_candidates(inside, candidates, own, k_folds(own, INNER, seed + 2), level, seed, work)
        winner = tried[simplest(tried, inside, own)[0]].candidate
        module = family(winner.family)
        form = module.fit(inside, checked(winner.family, winner.options), seed)
        work.fitted(winner.family, fold.train.size)
        rows.append(fold.test)
        predictions.append(module.predict(form, examples.x[fold.test]))
    at = np.concatenate(rows)
    return grouped_mean(np.abs(np.concatenate(predictions) - examples.y[at]), group.independent[at], level)


def _sample_groups(group: Rows, most: int, seed: int) -> Rows:
    """Whole groups at random, of about so many rows together; of fewer than 20 groups, rows of each at random."""
    numbers, sizes = np.unique(group, return_counts=True)
    order = np.random.default_rng(seed).permutation(numbers.size)
    taken = numbers[order[np.cumsum(sizes[order]) <= most]]
    if taken.size < 2 * FOLDS:
        taken = numbers[order[: 2 * FOLDS]]
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(np.isin(group, taken)))
    if rows.size <= 2 * most:
        return rows
    rows = rows[np.argsort(group[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(group[rows], prepend=-1))
    return np.concatenate([own[: math.ceil(most / taken.size)] for own in np.split(rows, starts[1:])])


def auto(n_settings: int, terms: str = "") -> list[Candidate]:
    """The candidates of ``--family auto``, from the simplest."""
    chosen = [c for c in AUTO if c.family != "gaussian" or n_settings <= GAUSSIAN_MOST]
    return [Candidate(c.family, {"terms": terms}) if terms and "terms" in family(c.family).OPTIONS else c
            for c in chosen]  # fmt: skip
