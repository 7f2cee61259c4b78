"""The line t(size) = fixed + size·per_byte of one condition, over sizes and times that span many powers of ten.

Times vary by factors, not by amounts, and sizes reach from 1 B to 16 MiB: plain least squares would fit only the
largest. Minimised is Σ ρ(ln t − ln(a + b·size)) over the medians of cells, ρ of Huber, by iteratively reweighted
Gauss-Newton steps in ln a and ln b, so that both stay above 0. (P. J. Huber, Annals of Mathematical Statistics 35
(1964), 73-101.) Intervals are percentiles over a bootstrap of the cells (B. Efron, Annals of Statistics 7 (1979),
1-26).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate

Array = npt.NDArray[np.float64]

REPLICATES = 400
LEAST_CELLS = 3
# Fewer cells than this: the bootstrap's interval is too narrow.
FEW_CELLS = 6
_STEPS = 40
_HUBER = 1.345
# Durations are read from a clock of ns: smaller differences are not resolved.
_LEAST_SPREAD = 0.02
_NORMAL = 1.4826  # of a normal distribution: the standard deviation in units of the median absolute deviation


@dataclass(frozen=True)
class PathLine:
    """The fitted line of one condition. ``fixed_s`` and ``s_per_byte``: the best first, then one of each replicate.

    ``spread`` is the robust standard deviation of ln(time) of single operations around it, ``n`` counts cells;
    ``largest``: largest valid access in bytes (0: any)."""

    name: str
    fixed_s: Array
    s_per_byte: Array
    spread: float
    n: int
    largest: int = 0

    def seconds(self, sizes: Array) -> Array:
        """Return t(size) for every size."""
        seconds = self.fixed_s[0] + self.s_per_byte[0] * sizes
        return np.where(sizes > self.largest, np.nan, seconds) if self.largest else seconds

    def replicates(self, size: float) -> Array:
        """Return t(size) by the best line and by all replicates."""
        return self.fixed_s + self.s_per_byte * size

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about its intervals."""
        few = Message(
            "few-cells",
            "only {n} cells: the interval is too narrow, measure {few_cells} or more",
            n=self.n,
            few_cells=FEW_CELLS,
        )
        return (few,) if self.n < FEW_CELLS else ()

    def fixed(self, level: float) -> Estimate:
        """Estimate the fixed time of every operation, s."""
        return interval(self.fixed_s, level, self.n, self.warnings)

    def per_byte(self, level: float) -> Estimate:
        """Estimate the time of every byte, s."""
        return interval(self.s_per_byte, level, self.n, self.warnings)


def interval(values: Array, level: float, n: int, warnings: tuple[str, ...] = ()) -> Estimate:
    """Return the first value with percentiles of all others as ends; without ends if there are none."""
    if values.size < 2:
        return Estimate(float(values[0]), None, None, level, n, warnings)
    low, high = np.quantile(values[1:], [(1 - level) / 2, (1 + level) / 2])
    return Estimate(
        float(values[0]), min(float(low), float(values[0])), max(float(high), float(values[0])), level, n, warnings
    )


def fit(sizes: Array, seconds: Array, weights: Array) -> tuple[Array, Array]:
    """Fit (fixed in s, s per byte) for every row of ``weights``, the multiplicities of the points.

    ``seconds`` must be above 0. If all points have one size, or size costs nothing, per_byte comes near 0.
    """
    log_times, largest = np.log(seconds), float(sizes.max())
    shortest = seconds.min()
    # Half of the shortest time each: inside, whatever dominates.
    fixed = np.full(weights.shape[0], np.log(shortest / 2))
    per_byte = np.full(weights.shape[0], np.log(max(seconds[sizes == largest].min(), shortest) / 2 / largest))
    for _ in range(_STEPS):
        a, b = np.exp(fixed)[:, None], np.exp(per_byte)[:, None]
        model = a + b * sizes
        residual = log_times - np.log(model)
        share = a / model  # ∂ ln model / ∂ ln a; for ln b it is 1 minus this
        scale = np.maximum(_NORMAL * np.median(np.abs(residual), axis=1, keepdims=True), _LEAST_SPREAD)
        weight = weights / np.maximum(1.0, np.abs(residual) / (_HUBER * scale))
        aa, ab, bb = ((weight * x * y).sum(1) for x, y in ((share, share), (share, 1 - share), (1 - share, 1 - share)))
        ra, rb = ((weight * residual * x).sum(1) for x in (share, 1 - share))
        # Levenberg-Marquardt damping: undetermined values stay where they are.
        aa, bb = aa + 1e-3 * (aa + bb), bb + 1e-3 * (aa + bb)
        determinant = np.maximum(aa * bb - ab * ab, 1e-300)
        fixed += np.clip((bb * ra - ab * rb) / determinant, -2.0, 2.0)
        per_byte += np.clip((aa * rb - ab * ra) / determinant, -2.0, 2.0)
        # Below a thousandth of the shortest time a part is undetectable.
        fixed = np.maximum(fixed, np.log(shortest) - 7)
        per_byte = np.maximum(per_byte, np.log(shortest / largest) - 7)
    return np.exp(fixed), np.exp(per_byte)


def line(name: str, sizes: Array, times: list[Array], largest: int = 0, replicates: int = REPLICATES) -> PathLine:
    """Fit the line through cells: ``times`` has the durations (s) of each, of one size."""
    medians = np.array([float(np.median(cell_times)) for cell_times in times])
    draw = np.random.default_rng(len(times))
    drawn = draw.multinomial(len(times), np.full(len(times), 1 / len(times)), size=replicates).astype(float)
    fixed, per_byte = fit(sizes, medians, np.vstack([np.ones(len(times)), drawn]))
    return PathLine(
        name, fixed, per_byte, _estimate_spread(sizes, times, fixed[0] + per_byte[0] * sizes), len(times), largest
    )


def _estimate_spread(sizes: Array, times: list[Array], model: Array) -> float:
    """Estimate the spread; every cell has equal weight, whatever the number of its operations."""
    each = [
        np.quantile(np.log(cell_times / at), np.linspace(0.005, 0.995, 100))
        for cell_times, at in zip(times, model, strict=True)
    ]
    return max(_NORMAL * float(np.median(np.abs(np.concatenate(each)))), _LEAST_SPREAD)
