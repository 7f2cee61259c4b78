"""Shares of variance as differences of V(E(Y|G)), plug-in and corrected for noise; their intervals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate
from iosonde.stats.estimate.variance_share import NO_NOISE, SumOfSquares, clamp_share, compute_share_limits


@dataclass(frozen=True)
class Shares:
    """Shares of a variance of one factor. ``s1_corrected`` and ``st_corrected`` exclude the noise's part;
    ``importance`` is S1 over the sum of all S1. ``st`` without a value was refused, with the reason in its warnings."""

    s1: Estimate
    s1_corrected: float | None
    st: Estimate
    st_corrected: float | None
    importance: float

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {
            **self.s1.flat("s1"),
            "s1_corrected": self.s1_corrected,
            **self.st.flat("st"),
            "st_corrected": self.st_corrected,
            "importance": self.importance,
        }


@dataclass(frozen=True)
class VariancePart:
    """A part of the variance. ``share`` excludes what noise adds to it (adjusted R², ω²), ``plain`` includes it; ``f``
    and ``p`` are against the noise, for ``df`` degrees of freedom; None: unknown."""

    share: Estimate
    plain: float
    df: int
    f: float | None
    p: float | None

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {**self.share.flat("share"), "share_plain": self.plain, "df": self.df, "f": self.f, "p": self.p}


Array = npt.NDArray[np.float64]
Groups = frozenset[int]  # factors, by number

BOOTSTRAPS = 499
_BATCH = 2_000_000  # numbers in memory at once


@dataclass(frozen=True)
class Variances:
    """V(Y) and V(E(Y|G)) for groups of factors, each of shape (…): one response, or many resampled ones.

    ``plain`` uses the means as they are, ``corrected`` excludes what noise adds to them on average. ``noise`` is the
    variance of one row at one setting, 0 if unknown.
    """

    total: Array
    total_corrected: Array
    noise: Array
    plain: Mapping[Groups, Array]
    corrected: Mapping[Groups, Array]


@dataclass(frozen=True)
class VarianceShare:
    """(V(upper) - V(lower)) ÷ (V(Y) - V(within)), each an explained variance. ``upper`` None is V(Y) itself, without
    repeats; the corrected and the true share exclude the noise in it."""

    upper: Groups | None
    lower: Groups = frozenset()
    within: Groups = frozenset()

    def plain(self, v: Variances) -> Array:
        """The plug-in share."""
        top = v.total if self.upper is None else v.plain[self.upper]
        return _compute_ratio(top - v.plain[self.lower], v.total - v.plain[self.within])

    def true(self, v: Variances) -> Array:
        """Return the share in a world whose means are exact."""
        top = v.total - v.noise if self.upper is None else v.plain[self.upper]
        return _compute_ratio(top - v.plain[self.lower], v.total - v.plain[self.within])

    def corrected(self, v: Variances) -> Array:
        """Return the share without bias; for a factor without effect it scatters around 0."""
        top = v.total_corrected - v.noise if self.upper is None else v.corrected[self.upper]
        return _compute_ratio(top - v.corrected[self.lower], v.total_corrected - v.corrected[self.within])


def _compute_ratio(top: Array, bottom: Array) -> Array:
    return np.asarray(np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0), float)


@dataclass(frozen=True)
class Resampled:
    """Variances of the data (``observed``), of the resampled world (``truth``), and of many resamples (``drawn``).

    ``drawn`` None: the noise is unknown, so intervals are missing. If settings are fixed and only noise is random,
    ``noise_df`` are its degrees of freedom. ``groups`` is then the number of groups of each set of factors, and ``n``
    the number of rows; else they are empty. ``unseen`` is the share that bins of a factor may hide: it is added on top
    of an interval.
    """

    observed: Variances
    truth: Variances | None
    drawn: Variances | None
    how: str
    noise_df: int = 0
    groups: Mapping[Groups, int] = field(default_factory=dict)
    n: int = 0
    unseen: Mapping[Groups, float] = field(default_factory=dict)

    def compute_deviations(self, share: VarianceShare) -> Array | None:
        """Return corrected estimate minus truth, once for each resampling."""
        return (
            None if self.drawn is None or self.truth is None else share.corrected(self.drawn) - share.true(self.truth)
        )

    def estimate(self, share: VarianceShare, level: float, n: int) -> Estimate:
        """Return the plug-in share with its interval."""
        value, center = float(share.plain(self.observed)), float(share.corrected(self.observed))
        return (
            clamp_share(value, self._compute_limits(share, level), level, n)
            if self.noise_df
            else _compute_interval(
                value, center, self.compute_deviations(share), level, n, self.unseen.get(share.upper or Groups(), 0.0)
            )
        )

    def sum_of_squares(self, share: VarianceShare) -> SumOfSquares:
        """Return the sum of squares of the share's numerator, without the noise if the upper end is V(Y) itself. Needs
        a known ``noise_df``."""
        lower = float(self.observed.plain[share.lower])
        if share.upper is None:
            noise = float(self.observed.noise) * self.noise_df
            return SumOfSquares(
                self.n * (float(self.observed.total) - lower) - noise, self.n - self.noise_df - self.groups[share.lower]
            )
        return SumOfSquares(
            self.n * (float(self.observed.plain[share.upper]) - lower),
            self.groups[share.upper] - self.groups[share.lower],
        )

    def _compute_limits(self, share: VarianceShare, level: float) -> tuple[float, float]:
        """Compute the limits from the sums of squares of the effect, of all other effects, and of the noise."""
        noise = float(self.observed.noise) * self.noise_df
        effect = self.sum_of_squares(share)
        rest = self.n * (float(self.observed.total) - float(self.observed.plain[share.within])) - noise - effect.ss
        rest_df = self.n - self.noise_df - self.groups[share.within] - effect.df
        return compute_share_limits(
            effect, SumOfSquares(rest, rest_df), SumOfSquares(noise, self.noise_df), self.n, level
        )

    def noise(self, level: float, n: int) -> Estimate:
        """Estimate the share of the noise in V(Y)."""
        value, deviations = float(_compute_ratio(self.observed.noise, self.observed.total_corrected)), None
        if self.noise_df:
            signal = SumOfSquares(
                self.n * float(self.observed.total) - self.noise_df * float(self.observed.noise),
                self.n - self.noise_df - 1,
            )
            low, high = compute_share_limits(
                signal,
                SumOfSquares(0.0, 0),
                SumOfSquares(self.noise_df * float(self.observed.noise), self.noise_df),
                self.n,
                level,
            )
            return clamp_share(value, (1 - high, 1 - low), level, n)
        if self.drawn is not None and self.truth is not None:
            deviations = _compute_ratio(self.drawn.noise, self.drawn.total_corrected)
            deviations = deviations - _compute_ratio(self.truth.noise, self.truth.total)
        return _compute_interval(value, value, deviations, level, n)


def _compute_interval(
    value: float, center: float, deviations: Array | None, level: float, n: int, unseen: float = 0.0
) -> Estimate:
    """Return the basic bootstrap interval around ``center`` (Davison & Hinkley 1997, 5.2.1), with ``unseen`` added at
    its top."""
    if deviations is None:
        return Estimate(float(np.clip(value, 0.0, 1.0)), None, None, level, n, (NO_NOISE,))
    tails = np.quantile(deviations, [0.5 + level / 2, 0.5 - level / 2])
    return clamp_share(value, (center - float(tails[0]), center - float(tails[1]) + unseen), level, n)


def split_rounds_to_fit_memory(rounds: int, width: int) -> list[int]:
    """Split ``rounds`` into pieces so that each piece times ``width`` numbers fits in memory."""
    size = max(1, _BATCH // max(1, width))
    return [min(size, rounds - done) for done in range(0, rounds, size)]


def join_variances(parts: list[Variances]) -> Variances:
    """Join the pieces."""
    first = parts[0]
    return Variances(
        np.concatenate([p.total for p in parts]),
        np.concatenate([p.total_corrected for p in parts]),
        np.concatenate([p.noise for p in parts]),
        {key: np.concatenate([p.plain[key] for p in parts]) for key in first.plain},
        {key: np.concatenate([p.corrected[key] for p in parts]) for key in first.corrected},
    )
