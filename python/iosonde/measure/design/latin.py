"""Latin hypercube: n cells that spread over many factors at once, with many levels or a whole range each.

Each factor's range is cut into n strata, and each stratum is used once (M. D. McKay, R. J. Beckman and W. J. Conover, A
comparison of three methods for selecting values of input variables, Technometrics 21 (1979), 239-245). The hypercube
with the smallest L2-star discrepancy out of ``tries`` drawn ones is kept. The discrepancy is the root mean square
difference between the share of points in a box at the origin and its volume (T. T. Warnock 1972;
scipy.stats.qmc.discrepancy).

``points``  how many cells        ``tries``  how many hypercubes are drawn [default: 100]
``ranges``  ``{size: {low: 4KiB, high: 16MiB, scale: log, step: 4096}}``: a factor that may have any value in between;
            ``scale`` is linear (default) or log, values are multiples of ``step`` where it is given
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.types import Factor, FactorValue
from iosonde.core.units import parse_size

from .kinds import cross_with_factors
from .plan import Cell, Plan, is_number, read_integer

KEYS = ("points", "tries", "ranges")
TRIES = 100
# The discrepancy takes points² steps for each try: these limits take seconds.
MOST_POINTS = 2_000
MOST_TRIES = 10_000


@dataclass(frozen=True)
class Range:
    """A factor that may have any value from ``low`` to ``high``."""

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def value(self, u: float) -> float:
        """Return the value at ``u`` of [0, 1)."""
        value = self.low * math.pow(self.high / self.low, u) if self.log else self.low + u * (self.high - self.low)
        if self.step is not None:
            least, most = math.ceil(self.low / self.step), math.floor(self.high / self.step)
            value = min(max(round(value / self.step), least), most) * self.step
        return value


@dataclass(frozen=True)
class Hypercube:
    """``cells``; the L2-star ``discrepancy`` of their points in the unit cube; and how many points were ``merged``
    because their levels equalled those of another point."""

    cells: list[Cell]
    discrepancy: float
    merged: int


def build_hypercube(plan: Plan, design: Mapping[str, Any], seed: int) -> Hypercube:
    """Return the hypercube over ``plan.over``, crossed with the other factors. Raises InputError with the wrong key."""
    points, tries = read_integer(design, "points", 2), read_integer(design, "tries", 1, TRIES)
    for key, value, most in (("points", points, MOST_POINTS), ("tries", tries, MOST_TRIES)):
        if value > most:
            raise InputError(
                "out-of-range",
                "design.{key}: {number} is more than {limit}",
                "take fewer",
                key=key,
                number=value,
                limit=most,
            )
    ranges = _read_ranges(plan, design)
    if not plan.over:
        raise InputError(
            "no-varying-factor", "design.kind: no factor varies", "give a factor several levels or a range"
        )
    cube, discrepancy = find_best_hypercube(points, len(plan.over), tries, seed)
    parts: list[Cell] = []
    for point in cube:
        cell = {f.name: _map_value(f, u, ranges) for f, u in zip(plan.over, point, strict=True)}
        if cell not in parts:
            parts.append(cell)
    return Hypercube(cross_with_factors(parts, plan.crossed, plan.factors), discrepancy, points - len(parts))


@lru_cache(maxsize=16)
def find_best_hypercube(
    points: int, dimensions: int, tries: int, seed: int
) -> tuple[tuple[tuple[float, ...], ...], float]:
    """Return the hypercube of the smallest L2-star discrepancy out of ``tries``, as rows of [0, 1), and that
    discrepancy.

    Python's own generator draws it and gives the same numbers in all versions: a campaign resumed under a newer scipy
    must find its cells again.
    """
    from scipy.stats import qmc

    draw = Random(f"{seed}/latin")
    best: tuple[float, tuple[tuple[float, ...], ...]] | None = None
    for _ in range(tries):
        strata = [draw.sample(range(points), points) for _ in range(dimensions)]
        cube = tuple(tuple((axis[i] + draw.random()) / points for axis in strata) for i in range(points))
        discrepancy = float(qmc.discrepancy(cube, method="L2-star"))
        if best is None or discrepancy < best[0]:
            best = discrepancy, cube
    assert best is not None
    return best[1], best[0]


def _map_value(factor: Factor, u: float, ranges: Mapping[str, Range]) -> FactorValue:
    return ranges[factor.name].value(u) if factor.name in ranges else factor.levels[int(u * len(factor.levels))]


def _read_ranges(plan: Plan, design: Mapping[str, Any]) -> dict[str, Range]:
    specs = design.get("ranges") or {}
    if not isinstance(specs, Mapping):
        raise InputError(
            "invalid-range",
            "design.ranges: {ranges!r} is not a map of ranges",
            "write {{size: {{low: 4KiB, high: 1MiB}}}}",
            ranges=specs,
        )
    over = [factor.name for factor in plan.over]
    for name in specs:
        if name not in over:
            raise InputError(
                "unknown-factor",
                "design.ranges.{factor}: unknown factor",
                "there are: {factors}",
                factor=name,
                factors=", ".join(over),
            )
    return {name: _read_range(spec, f"design.ranges.{name}") for name, spec in specs.items()}


def _read_range(spec: object, where: str) -> Range:
    if not isinstance(spec, Mapping) or not {"low", "high"} <= set(spec) <= {"low", "high", "scale", "step"}:
        raise InputError(
            "invalid-range",
            "{key}: {range_spec!r} is not a range",
            "it has low, high, and may have scale and step",
            key=where,
            range_spec=spec,
        )
    low, high = _read_number(spec["low"], f"{where}.low"), _read_number(spec["high"], f"{where}.high")
    if not low < high:
        raise InputError(
            "empty-range",
            "{key}: low is {low:g}, high is {high:g}",
            "low must be below high",
            key=where,
            low=low,
            high=high,
        )
    scale = spec.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise InputError(
            "unknown-option-value", "{key}.scale: '{scale}' is not a scale", "use linear or log", key=where, scale=scale
        )
    if scale == "log" and low <= 0:
        raise InputError(
            "nonpositive-value",
            "{key}.low: {low:g} has no logarithm",
            "start above 0, or use a linear scale",
            key=where,
            low=low,
        )
    step = None if spec.get("step") is None else _read_number(spec["step"], f"{where}.step")
    if step is not None and (step <= 0 or math.ceil(low / step) > math.floor(high / step)):
        raise InputError(
            "invalid-step",
            "{key}.step: no multiple of {step:g} is in the range",
            "use a smaller step",
            key=where,
            step=step,
        )
    return Range(low, high, scale == "log", step)


def _read_number(value: object, where: str) -> float:
    """Read a number, or a size as ``4KiB``. Whole numbers stay whole, so that multiples of a step are whole, too."""
    if isinstance(value, str):
        try:
            return parse_size(value)
        except InputError as error:
            raise error.prefixed(where) from None
    if not is_number(value) or not math.isfinite(value):
        raise InputError(
            "invalid-number",
            "{key}: {setting!r} is not a number",
            "write it like 4096 or 4KiB",
            key=where,
            setting=value,
        )
    return value
