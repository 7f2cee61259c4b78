"""One series, from trials by size to everything that is said about its scaling: change of regime, laws, predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.core.types import Estimate
from iosonde.stats.estimate.scaling import efficiencies
from iosonde.stats.estimate.summarise import mean

from . import laws as words
from .intervals import bootstrap_ends, profile_interval
from .laws import LAWS, Law, LawFit, fit, sse
from .points import Points, points_of, resampled
from .regimes import LEAST_SIZES, Change, aicc, changes_in

SCENARIO = 4  # times the largest size: beyond it no interval is claimed
_INDISTINGUISHABLE = 4.0  # of AICc: a law that is behind by more has little support (Burnham and Anderson 2002)
_LEAST_TO_RESAMPLE = 3

Trials = Mapping[float, Sequence[float]]


@dataclass(frozen=True)
class FittedLaw:
    """A law with its parameters. ``why`` says what it lacks where it could not be fitted; ``delta`` is how far its AICc
    is behind the best, None where n does not allow the comparison; ``misfit_p`` is that of the lack of fit."""

    law: Law
    parameters: dict[str, Estimate]
    fit: LawFit | None
    aicc: float | None
    delta: float | None
    misfit_p: float | None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {"law": self.law.name, "formula": self.law.formula, "identifiable": self.fit is not None,
                "why": self.why,
                "parameters": {name: value.to_json() for name, value in self.parameters.items()}, "aicc": self.aicc,
                "delta_aicc": self.delta, "misfit_p": self.misfit_p}  # fmt: skip


@dataclass(frozen=True)
class SizePrediction:
    """The rate of a law at one size. ``kind``: inside, extrapolated or scenario; ``by_law`` is what each law that could
    not be ruled out says, the interval holds those of them all."""

    size: float
    rate: Estimate
    kind: str
    by_law: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {"size": self.size, **self.rate.flat("fit"), "kind": self.kind, "extrapolated": self.kind != "inside",
                "by_law": self.by_law, "warnings": list(self.rate.warnings)}  # fmt: skip


@dataclass(frozen=True)
class Regime:
    """The sizes from ``low`` to ``high`` and the laws fitted to them. ``possible`` are those that the data do not rule
    out, the best first; none where they are too few. ``unit_of_noise``: trials, or sizes where these differ more."""

    low: float
    high: float
    n: int
    laws: tuple[FittedLaw, ...]
    possible: tuple[FittedLaw, ...]
    unit_of_noise: str

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {"low": self.low, "high": self.high, "n": self.n, "unit_of_noise": self.unit_of_noise,
                "laws": [law.to_json() for law in self.laws],
                "possible": [law.law.name for law in self.possible]}  # fmt: skip


@dataclass(frozen=True)
class MeasuredSize:
    """What was measured at one size."""

    size: float
    rate: Estimate
    efficiency: Estimate | None  # against the smallest size; None of that one

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        efficiency = self.efficiency.flat("efficiency") if self.efficiency else {}
        return {"size": self.size, "n": self.rate.n, **self.rate.flat("rate"), "per_one": _per(self.rate, self.size),
                "warnings": list(self.rate.warnings), **efficiency}  # fmt: skip


@dataclass(frozen=True)
class Scaling:
    """Everything about one series."""

    sizes: tuple[MeasuredSize, ...]
    changes: tuple[Change, ...]
    regimes: tuple[Regime, ...]
    predictions: tuple[SizePrediction, ...]
    level: float
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        changes = [dict(vars(change)) for change in self.changes]
        return {"sizes": [size.to_json() for size in self.sizes], "change": changes[0] if changes else None,
                "changes": changes,
                "regimes": [regime.to_json() for regime in self.regimes],
                "predictions": [prediction.to_json() for prediction in self.predictions],
                "warnings": list(self.warnings)}  # fmt: skip


def analyse(trials: Trials, level: float, at: Sequence[float] = (), resamples: int = 0, seed: int = 0) -> Scaling:
    """The scaling of size → rates (positive) of its trials, with predictions ``at`` sizes.

    Intervals are profile likelihood, or for ``resamples`` > 0 the percentile bootstrap where every size has 3 trials.
    """
    points = points_of(trials)
    changes = changes_in(points, level)
    lows, highs = [0.0, *(one.first for one in changes)], [*(one.last for one in changes), math.inf]
    parts = [_part(trials, low, high) for low, high in zip(lows, highs, strict=True)]
    regimes = tuple(_regime(part, level, resamples, seed) for part in parts)
    last = regimes[-1]
    predictions = tuple(_predict(last, parts[-1], size, level) for size in at)
    warnings = list(_warnings(points, trials, resamples))
    return Scaling(_sizes(trials, level), changes, regimes, predictions, level, tuple(warnings))


def _part(trials: Trials, low: float, high: float) -> dict[float, Sequence[float]]:
    return {size: rates for size, rates in trials.items() if low <= size <= high}


def _sizes(trials: Trials, level: float) -> tuple[MeasuredSize, ...]:
    efficiency = efficiencies(trials, level)
    rates = {size: mean(np.asarray(trials[size], dtype=float), level).within(low=0.0) for size in sorted(trials)}
    return tuple(MeasuredSize(size, rate, efficiency.get(size)) for size, rate in rates.items())


def _regime(trials: Trials, level: float, resamples: int, seed: int) -> Regime:
    points = points_of(trials)
    fits = {law.name: fit(law, points) for law in LAWS if len(points) >= law.least_sizes}
    basis = _basis(points, list(fits.values()), level)
    if basis is not points:
        fits = {name: fit(fitted.law, basis) for name, fitted in fits.items()}
    criteria = {name: aicc(sse(fitted, basis), basis.n, fitted.law.n_parameters) for name, fitted in fits.items()}
    known = [value for value in criteria.values() if value is not None]
    least = min(known) if known else None
    made = []
    for law in LAWS:
        fitted = fits.get(law.name)
        if fitted is None:
            why = (
                f"{law.least_sizes} sizes or more are needed, there {'is' if len(points) == 1 else 'are'} {len(points)}"
            )
            made.append(FittedLaw(law, {}, None, None, None, None, why))
            continue
        criterion = criteria[law.name]
        delta = None if criterion is None or least is None else criterion - least
        misfit = points.lack_of_fit_p(sse(fitted, points), law.n_parameters)
        made.append(FittedLaw(law, _parameters(fitted, basis, level), fitted, criterion, delta, misfit))
    if resamples and basis is points and min(map(len, trials.values())) >= _LEAST_TO_RESAMPLE:
        made = _with_bootstrap(made, trials, level, resamples, seed)
    return Regime(float(points.sizes[0]), float(points.sizes[-1]), points.n, tuple(made), _possible(made),
                  "trials" if basis is points else "sizes")  # fmt: skip


def _basis(points: Points, fits: Sequence[LawFit], level: float) -> Points:
    """The trials, or their means where even the best of the laws misses these by more than the trials' noise allows:
    then sizes differ for reasons of their own, and the trials of one are not independent evidence of a law."""
    if not fits:
        return points
    best = max(points.lack_of_fit_p(sse(fitted, points), fitted.law.n_parameters) for fitted in fits)
    return points.of_means() if best < 1 - level else points


def _parameters(fitted: LawFit, points: Points, level: float) -> dict[str, Estimate]:
    names = [words.LAMBDA, *fitted.law.shapes, *([words.CEILING] if fitted.law.bounded else [])]
    found = {name: profile_interval(fitted, points, name, level) for name in names}
    coherency = found.get(words.KAPPA)
    if coherency is not None and coherency.low:
        # A peak is claimed only where pairs are shown to cost something.
        found[words.PEAK] = profile_interval(fitted, points, words.PEAK, level)
    return found


def _possible(made: Sequence[FittedLaw]) -> tuple[FittedLaw, ...]:
    """The laws within 4 of the best AICc, the best first; all that were fitted where n allows no comparison."""
    ranked = sorted((law for law in made if law.delta is not None), key=lambda law: law.delta or 0.0)
    if not ranked:
        return tuple(law for law in made if law.fit is not None)
    return tuple(law for law in ranked if law.delta is not None and law.delta <= _INDISTINGUISHABLE)


def _predict(regime: Regime, trials: Trials, size: float, level: float) -> SizePrediction:
    by_law = {law.law.name: law.fit.rate(size) for law in regime.possible if law.fit}
    kind = (
        "scenario"
        if size > SCENARIO * regime.high
        else "inside"
        if regime.low <= size <= regime.high
        else "extrapolated"
    )
    n = regime.n
    if not regime.possible:
        return SizePrediction(size, Estimate(None, None, None, level, n, ("no law: measure at more sizes",)), kind, {})
    value = next(iter(by_law.values()))
    if kind == "scenario":
        why = f"beyond {SCENARIO} times the largest size measured: a scenario, for which no interval is claimed"
        return SizePrediction(size, Estimate(value, None, None, level, n, (why,)), kind, by_law)
    points = points_of(trials) if regime.unit_of_noise == "trials" else points_of(trials).of_means()
    ends = [profile_interval(law.fit, points, "", level, size) for law in regime.possible if law.fit]
    lows, highs = [end.low for end in ends], [end.high for end in ends]
    low = None if None in lows else min(x for x in lows if x is not None)
    high = None if None in highs else max(x for x in highs if x is not None)
    said = tuple(dict.fromkeys(warning for end in ends for warning in end.warnings))
    return SizePrediction(size, Estimate(value, low, high, level, n, said), kind, by_law)


def _with_bootstrap(
    made: Sequence[FittedLaw], trials: Trials, level: float, resamples: int, seed: int
) -> list[FittedLaw]:
    """The same laws with percentile intervals; a parameter that lies at its edge in more of the samples than the
    interval leaves out keeps its profile interval."""
    rng = np.random.default_rng(seed)
    samples = [resampled(trials, rng) for _ in range(resamples)]
    found = []
    for fitted in made:
        if fitted.fit is None:
            found.append(fitted)
            continue
        fits = [fit(fitted.law, sample) for sample in samples]
        parameters = {}
        for name, estimate in fitted.parameters.items():
            values = np.array([one.parameter(name) for one in fits])
            edge = np.mean(~np.isfinite(values) | (values <= 0)) > (1 - level) / 2
            low, high = (estimate.low, estimate.high) if edge else bootstrap_ends(values, level)
            parameters[name] = replace(estimate, low=low, high=high)
        found.append(replace(fitted, parameters=parameters))
    return found


def _warnings(points: Points, trials: Trials, resamples: int) -> list[str]:
    said = []
    if len(points) < LEAST_SIZES:
        said.append(
            f"with {len(points)} sizes a cliff cannot be told from contention: measure at {LEAST_SIZES} or more"
        )
    if not points.spread_df:
        said.append(
            "one trial a size: the noise is known only from how the sizes miss a law; repeat each, 3 times or more"
        )
    if resamples and min(map(len, trials.values())) < _LEAST_TO_RESAMPLE:
        said.append("fewer than 3 trials at some size: profile intervals instead of the bootstrap")
    return said


def _per(rate: Estimate, size: float) -> float | None:
    return None if rate.value is None else rate.value / size
