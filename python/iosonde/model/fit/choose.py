"""Choice of a model: all are judged on the same folds, and the simplest of those as good as the best is taken.

A line that predicts speeds below 0 is passed over if another is as good. The rule of one standard error: Breiman et al.
1984, §3.4.3; Hastie, Tibshirani & Friedman 2009, §7.10. The chosen model's own error is biased low, as it was chosen
for it. Nested folds therefore choose anew without the test rows (Varma & Simon, BMC Bioinformatics 7, 2006).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.core.arrays import Indices
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.transforms import is_logarithm
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import t_critical

from ..families import complete_options, get_max_settings, import_family, loglog, warn_about_few_rows
from .calibration import Calibration, calibrate
from .errors_of import RepeatNoise, compute_grouped_standard_error, estimate_grouped_mean, estimate_repeat_noise
from .features import Examples
from .fitted import Model, train_model
from .folds import Fold, Groups, build_k_folds, leave_inner_levels_out, split_once
from .validate import Candidate, Judged, build_refused_candidate, use_custom_classes_of_candidates, validate_candidate
from .work import FitProgress, Tell

AUTO = tuple(Candidate(name) for name in ("mean", "linear", "loglinear", "loglog")) + (
    Candidate("tree", {"depth": 3}),
    Candidate("tree"),
    Candidate("neighbours"),
    Candidate("gaussian"),
    Candidate("boosting"),
    Candidate("forest"),
)
GAUSSIAN_MOST = 100  # settings; its time grows with their cube
FLEXIBLE = ("gaussian", "boosting", "forest")
FLEXIBLE_LEAST = 5  # settings: with one left out, fewer than four points, through which a line or a tree goes as well
MANY = 20_000  # rows from which one split is as good as folds
CHOICE_MOST = 2000  # rows used for the choice
OUTER, INNER = 4, 3
FOLDS = 10


@dataclass(frozen=True)
class Choice:
    """The tried models and the chosen one.

    ``nested`` is the unbiased error of the whole procedure, None without a choice. ``noise`` is the floor.
    ``passed_over`` are numbers of simpler ones, as good, that predict below 0. ``gain``: how much less the model errs
    than the mean of everything, on the same unseen rows. ``between_levels``: its error at inner levels of a number that
    it has not seen, None without a number of three repeated levels."""

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
    between_levels: Estimate | None = None

    def to_json(self) -> dict[str, Any]:
        """The stable form."""
        return {
            **self.tried[self.chosen].to_json(),
            "tried": [{k: v for k, v in attempt.to_json().items() if k != "folds"} for attempt in self.tried],
            "mean_model": self.baseline.to_json()["mae"],
            "gain_over_mean": self.gain.to_json() if self.gain else None,
            "noise": self.noise.to_json() if self.noise else None,
            "between_levels": self.between_levels.value if self.between_levels else None,
            "nested": self.nested.to_json() if self.nested else None,
            "n": self.model.rows,
            "n_settings": self.model.settings,
            "n_groups": self.groups.n,
            "rows_with_twin": self.groups.twins,
            "passed_over": [self.tried[place].candidate.name for place in self.passed_over],
            "seed": self.model.seed,
            "warnings": list(self.model.warnings),
        }


def build_standard_folds(together: Groups, n_folds: int | None, seed: int) -> list[Fold]:
    """Return ``n_folds`` folds; by default 10 (fewer if there are fewer groups), and one split for many rows."""
    return (
        [split_once(together, 0.75, seed)]
        if n_folds is None and together.of.size > MANY
        else build_k_folds(together, min(FOLDS, together.n) if n_folds is None else n_folds, seed)
    )


def _calibrate(examples: Examples, judged: Judged, groups: Groups) -> Calibration:
    return calibrate(examples.y[judged.rows], judged.predicted, groups.independent[judged.rows])


def _collect_errors(
    judged: Judged, apart: Judged | None, baseline: Judged, noise: RepeatNoise | None
) -> dict[str, Any]:
    return {
        **{k: v for k, v in judged.to_json().items() if k not in ("folds", "options", "family", "refused")},
        "between_levels": None if apart is None else apart.mae.value,
        "mean_model": baseline.mae.value,
        "noise": noise.mae if noise else None,
    }


def _refuse_settings(candidate: Candidate, settings: int, limit: int, level: float) -> Judged:
    reason = Message(
        "too-many-settings",
        "{settings:,} settings are too many: its limit is {limit:,}",
        settings=settings,
        limit=limit,
    )
    return build_refused_candidate(candidate, reason, level)


def choose_model(
    examples: Examples,
    candidates: Sequence[Candidate],
    together: Groups,
    n_folds: int | None,
    level: float,
    seed: int,
    tell: Tell | None = None,
) -> Choice:
    """Choose among candidates (from the simplest), and fit the choice to all rows. ``tell`` receives the progress.
    Raises DataError if none can be fitted."""
    if together.n < 2:
        raise DataError(
            "too-few-settings",
            "all rows are of one setting, or duplicates: nothing can be learned from them",
            "measure other settings",
        )
    examples = use_custom_classes_of_candidates(examples, candidates)
    folds = build_standard_folds(together, n_folds, seed)
    part, group = examples, together
    if len(candidates) > 1 and len(examples) > CHOICE_MOST:
        rows = np.sort(_sample_groups(together.of, CHOICE_MOST, seed))
        part, group = examples.take(rows), together.take(rows)
    part_folds = folds if part is examples else build_k_folds(group, INNER, seed)
    settings = int(np.unique(examples.cells).size)
    inner_folds = leave_inner_levels_out(part)
    n_final = sum(fold.train.size for fold in inner_folds) + len(examples)
    work = _plan_fits(candidates, part_folds, folds, n_final, tell)
    tried = [
        _refuse_settings(candidate, settings, most, level)
        if part is not examples and (most := get_max_settings(candidate.family)) and settings > most
        else _judge_candidates(part, [candidate], group, part_folds, level, seed, work)[0]
        for candidate in candidates
    ]
    chosen, *passed = find_simplest_good_candidates(tried, part, group)
    able = [attempt.candidate for attempt in tried if not attempt.refused]
    nested = _estimate_nested_error(part, able, group, level, seed, work) if len(candidates) > 1 else None
    winner, judged = tried[chosen].candidate, tried[chosen]
    if part is not examples:
        judged = validate_candidate(examples, winner, folds, together, level, seed, work)
    baseline = validate_candidate(examples, Candidate("mean"), folds, together, level, seed)
    if judged.refused:
        raise DataError(
            "fit-failed", "{family}: {reason}", "choose another family", family=winner.name, reason=judged.refused
        )
    tried[chosen] = judged
    noise = estimate_repeat_noise(examples)
    apart = validate_candidate(part, winner, inner_folds, group, level, seed, work) if inner_folds else None
    apart = None if apart is None or apart.refused else apart
    model = replace(
        train_model(examples, winner.family, complete_options(winner.family, winner.options), seed, level),
        calibration=_calibrate(examples, judged, together),
        between=_calibrate(part, apart, group) if apart else None,
        errors=_collect_errors(judged, apart, baseline, noise),
        warnings=(*examples.warnings, *warn_about_few_rows(winner.family, len(examples))),
    )
    return Choice(
        tuple(tried),
        chosen,
        baseline,
        nested,
        noise,
        model,
        together,
        len(part),
        tuple(passed),
        _estimate_gain(judged, baseline, examples, together, level),
        None if apart is None else apart.mae,
    )


def _estimate_gain(judged: Judged, mean: Judged, examples: Examples, together: Groups, level: float) -> Estimate | None:
    """Estimate how much less a model errs than the mean of everything; None if they were judged on different rows."""
    if not np.array_equal(judged.rows, mean.rows):
        return None
    observed, group = examples.y[judged.rows], together.independent[judged.rows]
    less = np.abs(mean.predicted - observed) - np.abs(judged.predicted - observed)
    n, value = int(np.unique(group).size), float(less.mean())
    if n < 2:
        return Estimate(value, None, None, level, n)
    half = t_critical(level, n - 1) * compute_grouped_standard_error(less, group)
    return Estimate(value, value - half, value + half, level, n)


def _plan_fits(
    candidates: Sequence[Candidate], part: Sequence[Fold], folds: Sequence[Fold], rows: int, tell: Tell | None
) -> FitProgress:
    """Plan the work: all candidates on the folds of the part, the choice again in nested folds, the chosen one
    on the last ``rows``: without inner levels, and all."""
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
    examples: Examples,
    candidates: Sequence[Candidate],
    group: Groups,
    folds: Sequence[Fold],
    level: float,
    seed: int,
    work: FitProgress,
) -> list[Judged]:
    return [validate_candidate(examples, candidate, folds, group, level, seed, work) for candidate in candidates]


def find_simplest_good_candidates(tried: Sequence[Judged], examples: Examples, group: Groups) -> list[int]:
    """Return the first candidate within one standard error of the smallest error, then those passed over.

    A candidate is passed over if it predicts below 0 though the response is never negative, unless all do. Raises
    DataError if all were refused."""
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
    limit = min(errors) + compute_grouped_standard_error(
        np.abs(best.predicted - examples.y[best.rows]), group.independent[best.rows]
    )
    within = [i for i, value in enumerate(values) if value is not None and value <= limit]
    possible = [i for i in within if examples.y.min() < 0 or not (tried[i].predicted < 0).any()]
    chosen = (possible or within)[0]
    return [chosen, *(i for i in within if i < chosen)]


def _estimate_nested_error(
    examples: Examples, candidates: Sequence[Candidate], group: Groups, level: float, seed: int, work: FitProgress
) -> Estimate | None:
    """Estimate the error of the whole procedure: every outer fold chooses again by inner folds. None if there are too
    few groups."""
    if group.n < 2 * max(OUTER, INNER):
        return None
    rows, predictions = [], []
    for fold in build_k_folds(group, OUTER, seed + 1):
        inside, own = examples.take(fold.train), group.take(fold.train)
        tried = _judge_candidates(inside, candidates, own, build_k_folds(own, INNER, seed + 2), level, seed, work)
        winner = tried[find_simplest_good_candidates(tried, inside, own)[0]].candidate
        module = import_family(winner.family)
        form = module.fit(inside, complete_options(winner.family, winner.options), seed)
        work.fitted(winner.family, fold.train.size)
        rows.append(fold.test)
        predictions.append(module.predict(form, examples.x[fold.test]))
    at = np.concatenate(rows)
    return estimate_grouped_mean(np.abs(np.concatenate(predictions) - examples.y[at]), group.independent[at], level)


def _sample_groups(group: Indices, most: int, seed: int) -> Indices:
    """Draw whole groups at random, about ``most`` rows in all; with fewer than 20 groups, random rows of each."""
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


def list_auto_candidates(n_settings: int, terms: str = "") -> list[Candidate]:
    """The candidates of ``--family auto``, from the simplest."""
    chosen = [
        c
        for c in AUTO
        if (c.family not in FLEXIBLE or n_settings >= FLEXIBLE_LEAST)
        and (c.family != "gaussian" or n_settings <= GAUSSIAN_MOST)
    ]
    return [
        Candidate(c.family, {"terms": terms}) if terms and "terms" in import_family(c.family).OPTIONS else c
        for c in chosen
    ]


def can_be_power_law(examples: Examples) -> bool:
    """Return whether ``loglog`` says more than ``loglinear``: a positive response, and a positive number of three
    levels or more."""
    is_positive = bool(examples.y.min() > 0) and not is_logarithm(examples.response)
    return is_positive and any(
        loglog.has_exponent(feature) and len(feature.levels) > 2 for feature in examples.features
    )
