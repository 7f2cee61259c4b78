"""Effects of a factor's levels: mean response by level or bin, the steps between them, and turning points.

*Ranks hold for the tried levels*: a factor matters little if it was varied little. So the range and the effect of each
practical step are shown with the share.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.arrays import Indices
from iosonde.core.level_text import format_level
from iosonde.core.message import Message
from iosonde.core.table import Cell, tidy_number
from iosonde.core.types import Estimate
from iosonde.core.words import format_level_in_full
from iosonde.stats.estimate.distributions import normal_quantile

from .design import Design
from .variances import Array

_LEAST_LEVELS = 3
_MAX_LISTED = 4  # levels


@dataclass(frozen=True)
class Level:
    """Mean response at a level (``low`` = ``high``), or in a bin from ``low`` to ``high``; n rows. ``adjusted``: with
    the other factors held, None where the mean says the same."""

    low: Cell
    high: Cell
    mean: Estimate
    unit: str = ""
    adjusted: float | None = None

    @property
    def center(self) -> float:
        """The mean with the other factors held."""
        return self.plain if self.adjusted is None else self.adjusted

    @property
    def plain(self) -> float:
        """The mean of the rows, whatever their other factors."""
        return self.mean.value or 0.0

    @property
    def name(self) -> str:
        """``nfs``, ``4 KiB`` or ``4 KiB to 64 KiB``."""
        return _format_range(self.low, self.high, self.unit)

    def format_cell(self, cell: Cell) -> str:
        """Format one of its ends for a table."""
        return format_level(cell, self.unit) if self.unit == "bytes" else format_level_in_full(cell)

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        adjusted = {} if self.adjusted is None else {"mean_adjusted": self.adjusted}
        return {"low": self.low, "high": self.high, "n": self.mean.n, **self.mean.flat("mean"), **adjusted}


@dataclass(frozen=True)
class Effects:
    """The levels in order, and ``turns``: where the response is not monotone in a number, in words; else empty."""

    levels: tuple[Level, ...]
    turns: str

    @property
    def tried(self) -> str:
        """Describe the levels, or their range and number."""
        if len(self.levels) <= _MAX_LISTED and all(level.low == level.high for level in self.levels):
            return ", ".join(level.format_cell(level.low) for level in self.levels)
        if not all(isinstance(level.low, (int, float)) for level in self.levels):
            return f"{len(self.levels)} levels"
        bins = "" if all(level.low == level.high for level in self.levels) else " bins"
        low, high = (
            _shorten_cell(self.levels[0], self.levels[0].low),
            _shorten_cell(self.levels[-1], self.levels[-1].high),
        )
        return f"{low} to {high} ({len(self.levels)}{bins})"

    @property
    def largest_step(self) -> tuple[Level, Level]:
        """The neighbours that differ most."""
        pairs = list(zip(self.levels[:-1], self.levels[1:], strict=True))
        return max(pairs, key=lambda pair: abs(pair[1].center - pair[0].center))

    @property
    def extremes(self) -> tuple[Level, Level]:
        """The levels with the lowest and the highest mean."""
        return min(self.levels, key=_get_center), max(self.levels, key=_get_center)

    @property
    def misleading_mean(self) -> Level | None:
        """The level with the highest plain mean, if another one is highest with the other factors held."""
        highest = max(self.levels, key=lambda level: level.plain)
        return None if highest == self.extremes[1] else highest

    def to_json(self) -> dict[str, Any]:
        """Levels and the change from each to the next."""
        return {
            "levels": [level.to_json() for level in self.levels],
            "steps": [
                {"from": a.name, "to": b.name, "change": b.center - a.center}
                for a, b in zip(self.levels[:-1], self.levels[1:], strict=True)
            ],
            "monotone": not self.turns,
            "turns": self.turns or None,
        }


def _format_cell(cell: Cell, unit: str) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) and unit != "bytes" else format_level(cell, unit)


def _get_center(level: Level) -> float:
    return level.center


def estimate_level_effects(
    design: Design, factor: int, level: float, noise: float | None, adjusted: Array | None = None
) -> Effects:
    """Return level means with intervals. ``noise`` is the variance between repeats if the other factors are balanced;
    None: variation inside a group is all noise (scattered settings). ``adjusted``: means with the others held."""
    codes = design.codes[:, factor]
    feature = design.features[factor]
    means, rows, errors = _compute_means(design, codes, np.ones(design.n_cells, bool), noise)
    z = normal_quantile(0.5 + level / 2)
    levels = []
    for group in range(design.n_groups[factor]):
        ends = _find_ends(design, factor, codes == group)
        half = z * float(errors[group])
        mean = float(means[group])
        low, high = (mean - half, mean + half) if math.isfinite(half) else (None, None)
        center = None if adjusted is None else float(adjusted[group])
        levels.append(Level(*ends, Estimate(mean, low, high, level, int(rows[group])), feature.unit, center))
    turns = _find_turn(levels, means, errors, level) if feature.numeric else ""
    if feature.numeric and not turns:
        turns = _describe_turn_inside(design, factor, levels, level, noise)
    return Effects(tuple(levels), turns)


def _find_ends(design: Design, factor: int, cells: npt.NDArray[np.bool_]) -> tuple[Cell, Cell]:
    """Return the smallest and the largest value of these cells; for a category its level twice."""
    inside, feature = design.x[cells, factor], design.features[factor]
    return (
        (tidy_number(float(inside.min())), tidy_number(float(inside.max())))
        if feature.numeric
        else (feature.levels[int(inside[0])],) * 2
    )


def _format_range(low: Cell, high: Cell, unit: str) -> str:
    return _format_cell(low, unit) if low == high else f"{_format_cell(low, unit)} to {_format_cell(high, unit)}"


def _compute_means(
    design: Design, codes: Indices, cells: npt.NDArray[np.bool_], noise: float | None
) -> tuple[Array, Array, Array]:
    """Return (mean, rows, standard error of the mean) of each group of these cells; the error of a single setting is
    infinite."""
    counts, values = design.counts[cells], design.means[cells]
    rows = np.bincount(codes, counts).astype(np.float64, copy=False)
    means = np.bincount(codes, counts * values) / rows
    if noise is not None:
        return means, rows, np.sqrt(noise / rows)
    spread = np.bincount(codes, (counts * (values - means[codes])) ** 2)
    settings = np.bincount(codes).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(settings > 1, np.sqrt(spread * settings / (settings - 1)) / rows, np.inf)
    return means, rows, errors


def _find_turn(levels: list[Level], means: Array, errors: Array, level: float, tests: int = 1) -> str:
    """Describe where the means rise and fall again (or the reverse), each significant over all pairs."""
    n = len(means)
    if n < _LEAST_LEVELS or not np.isfinite(errors).all():
        return ""
    z = normal_quantile(1 - (1 - level) / (n * (n - 1)) / tests)
    for sign, word in ((1.0, "highest"), (-1.0, "lowest")):
        top = int(np.argmax(sign * means))
        if 0 < top < n - 1:
            lower = sign * (means[top] - means) - z * np.hypot(errors, errors[top])
            if lower[:top].max() > 0 and lower[top + 1 :].max() > 0:
                return Message(word, word + " at {level}", level=levels[top].name)
    # An inner peak or valley that is not the overall extreme.
    for top in range(1, n - 1):
        for sign, word in ((1.0, "rises"), (-1.0, "falls")):
            lower = sign * (means[top] - means) - z * np.hypot(errors, errors[top])
            if lower[:top].max() > 0 and lower[top + 1 :].max() > 0:
                return Message(word, word + " to {level} and turns", level=levels[top].name)
    return ""


def _describe_turn_inside(design: Design, factor: int, levels: list[Level], level: float, noise: float | None) -> str:
    """Describe a turn at one level of another factor only (as: at small fill, large accesses are slower than
    medium)."""
    others = [i for i in range(len(design.features)) if i != factor and design.n_groups[i] <= 50]
    tests = sum(design.n_groups[i] for i in others)
    for other in others:
        for group in range(design.n_groups[other]):
            chosen = design.codes[:, other] == group
            codes = design.codes[chosen, factor]
            if len(np.unique(codes)) < len(levels):
                continue
            means, _, errors = _compute_means(design, codes, chosen, noise)
            turn = _find_turn(levels, means, errors, level, tests)
            if turn:
                return Message(
                    "turns-inside",
                    "{turn}, where {factor} is {levels}",
                    turn=turn,
                    factor=design.features[other].name,
                    levels=_format_range(*_find_ends(design, other, chosen), design.features[other].unit),
                )
    return ""


def _shorten_cell(level: Level, cell: Cell) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) and cell != int(cell) else level.format_cell(cell)
