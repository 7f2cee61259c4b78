"""Scaling of one series, from trials by size: changes of regime, laws, limits, predictions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.scaling import estimate_efficiencies
from iosonde.stats.estimate.summarise import estimate_mean

from . import laws as words
from .comparison import LINEAR, FittedLaw, LawComparison, Regime, compare_laws
from .forecast import SizePrediction, predict_rate_at_size
from .intervals import bootstrap_ends, estimate_profile_interval
from .laws import LAWS, Law, LawFit, compute_law_sse, fit_law
from .limit import Limit, detect_limit
from .points import Points, build_points, resample_points
from .regimes import LEAST_SIZES, Change, find_regime_changes

_LEAST_TO_RESAMPLE = 3

Trials = Mapping[float, Sequence[float]]


@dataclass(frozen=True)
class MeasuredSize:
    """Measurement at one size."""

    size: float
    rate: Estimate
    efficiency: Estimate | None  # against the smallest size; None for the smallest

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "size": self.size,
            "n": self.rate.n,
            **self.rate.flat("rate"),
            "per_one": None if self.rate.value is None else self.rate.value / self.size,
            "warnings": list(self.rate.warnings),
            **(self.efficiency.flat("efficiency") if self.efficiency else {}),
        }


@dataclass(frozen=True)
class Scaling:
    """Everything about one series."""

    sizes: tuple[MeasuredSize, ...]
    changes: tuple[Change, ...]
    regimes: tuple[Regime, ...]
    limit: Limit
    predictions: tuple[SizePrediction, ...]
    level: float
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        changes = [dict(vars(change)) for change in self.changes]
        return {
            "sizes": [size.to_json() for size in self.sizes],
            "change": changes[0] if changes else None,
            "changes": changes,
            "regimes": [regime.to_json() for regime in self.regimes],
            "predictions": [prediction.to_json() for prediction in self.predictions],
            "warnings": list(self.warnings),
        }


def analyse_scaling(
    trials: Trials, level: float, at: Sequence[float] = (), resamples: int = 0, seed: int = 0
) -> Scaling:
    """Analyse size → rates (positive) of its trials, with predictions ``at`` sizes.

    Intervals are profile likelihood, or with ``resamples`` > 0 the percentile bootstrap if every size has 3 trials.
    """
    points = build_points(trials)
    changes = find_regime_changes(points, level)
    lows, highs = [0.0, *(change.first for change in changes)], [*(change.last for change in changes), math.inf]
    parts = [
        {size: rates for size, rates in trials.items() if low <= size <= high}
        for low, high in zip(lows, highs, strict=True)
    ]
    regimes = [_build_regime(part, level, resamples, seed) for part in parts]
    limit = _detect_limit(regimes[-1], parts[-1], level)
    # The USL alone has a peak. If the sizes vary more than their trials, a single low point proves no fall.
    if limit.fall and limit.fall.is_significant and not regimes[-1].lacks_fit:
        regimes[-1] = replace(regimes[-1], possible=tuple(law for law in regimes[-1].possible if law.law.name == "usl"))
    last = build_points(parts[-1]).to_means() if regimes[-1].lacks_fit else build_points(parts[-1])
    return Scaling(
        _measure_sizes(trials, level),
        changes,
        tuple(regimes),
        limit,
        tuple(predict_rate_at_size(regimes[-1], last, size, level) for size in at),
        level,
        tuple(_list_warnings(points, trials, resamples)),
    )


def _detect_limit(regime: Regime, trials: Trials, level: float) -> Limit:
    names = [law.law.name for law in regime.possible]
    amdahl = next((law for law in regime.laws if law.law.name == "amdahl" and law.fit), None)
    is_best = regime.is_compared and names[0] == LINEAR
    linear = True if is_best else False if names and LINEAR not in names else None
    return detect_limit(trials, level, linear, amdahl.parameters[words.ALPHA].high if amdahl else None)


def _measure_sizes(trials: Trials, level: float) -> tuple[MeasuredSize, ...]:
    efficiency = estimate_efficiencies(trials, level)
    rates = {
        size: estimate_mean(np.asarray(trials[size], dtype=float), level).within(low=0.0) for size in sorted(trials)
    }
    return tuple(MeasuredSize(size, rate, efficiency.get(size)) for size, rate in rates.items())


def _build_regime(trials: Trials, level: float, resamples: int, seed: int) -> Regime:
    points = build_points(trials)
    fits = {law.name: fit_law(law, points) for law in LAWS if len(points) >= law.least_sizes}
    basis = _choose_basis(points, list(fits.values()), level)
    if basis is not points:
        fits = {name: fit_law(fitted.law, basis) for name, fitted in fits.items()}
    comparison = compare_laws(fits, basis, level)
    laws = [_build_fitted_law(law, fits.get(law.name), comparison, (points, basis), level) for law in LAWS]
    if resamples and basis is points and min(map(len, trials.values())) >= _LEAST_TO_RESAMPLE:
        laws = list(_replace_intervals_by_bootstrap(laws, trials, level, resamples, seed))
    by_name = {law.law.name: law for law in laws}
    return Regime(
        float(points.sizes[0]),
        float(points.sizes[-1]),
        points.n,
        tuple(laws),
        tuple(by_name[name] for name in comparison.remaining),
        "trials" if basis is points else "sizes",
    )


def _build_fitted_law(
    law: Law, fitted: LawFit | None, comparison: LawComparison, of: tuple[Points, Points], level: float
) -> FittedLaw:
    """Build one law with its intervals. ``of``: the trials, and the fitted points (these, or their means)."""
    points, basis = of
    if fitted is None:
        reason = Message(
            "too-few-sizes",
            "needs {least} sizes or more, there " + ("is" if len(points) == 1 else "are") + " {n}",
            least=law.least_sizes,
            n=len(points),
        )
        return FittedLaw(law, {}, None, None, None, None, reason)
    return FittedLaw(
        law,
        _estimate_parameters(fitted, basis, level),
        fitted,
        comparison.criteria[law.name],
        comparison.deltas[law.name],
        points.compute_lack_of_fit_p(compute_law_sse(fitted, points), law.n_parameters),
    )


def _choose_basis(points: Points, fits: Sequence[LawFit], level: float) -> Points:
    """Return the trials, or their means if the best law misses these by more than the trials' noise. Sizes then differ
    for other reasons, and trials of one size are not independent evidence."""
    if not fits:
        return points
    best = max(
        points.compute_lack_of_fit_p(compute_law_sse(fitted, points), fitted.law.n_parameters) for fitted in fits
    )
    return points.to_means() if best < 1 - level else points


def _estimate_parameters(fitted: LawFit, points: Points, level: float) -> dict[str, Estimate]:
    names = [words.LAMBDA, *fitted.law.shapes, *([words.CEILING] if fitted.law.bounded else [])]
    parameters = {name: estimate_profile_interval(fitted, points, name, level) for name in names}
    coherency = parameters.get(words.KAPPA)
    if coherency is not None and coherency.low:
        # Claim a peak only if the cost of pairs is significant.
        parameters[words.PEAK] = estimate_profile_interval(fitted, points, words.PEAK, level)
    return parameters


def _replace_intervals_by_bootstrap(
    laws: Sequence[FittedLaw], trials: Trials, level: float, resamples: int, seed: int
) -> Iterator[FittedLaw]:
    """Replace the laws' intervals by percentile ones. A parameter at its edge in too many samples for the level keeps
    its profile interval."""
    rng = np.random.default_rng(seed)
    samples = [resample_points(trials, rng) for _ in range(resamples)]
    for fitted in laws:
        if fitted.fit is None:
            yield fitted
            continue
        fits = [fit_law(fitted.law, sample) for sample in samples]
        parameters = {}
        for name, estimate in fitted.parameters.items():
            values = np.array([law_fit.parameter(name) for law_fit in fits])
            edge = np.mean(~np.isfinite(values) | (values <= 0)) > (1 - level) / 2
            low, high = (estimate.low, estimate.high) if edge else bootstrap_ends(values, level)
            parameters[name] = replace(estimate, low=low, high=high)
        yield replace(fitted, parameters=parameters)


def _list_warnings(points: Points, trials: Trials, resamples: int) -> Iterator[str]:
    if len(points) < LEAST_SIZES:
        yield Message(
            "too-few-sizes",
            "{n_sizes} sizes cannot distinguish a cliff from contention: measure at {least_sizes} or more",
            n_sizes=len(points),
            least_sizes=LEAST_SIZES,
        )
    if not points.spread_df:
        yield Message(
            "single-trial",
            "one trial a size: the noise is estimated from the residuals of a law; repeat each, 3 times or more",
        )
    if resamples and min(map(len, trials.values())) < _LEAST_TO_RESAMPLE:
        yield Message("too-few-trials", "fewer than 3 trials at some size: profile intervals instead of the bootstrap")
