"""Classification of operations by time alone: each is assigned to the nearest path through the system.

The model is t(size) = m + p(size) + n(size) + c(size) + d(size) of Kunkel, "Analysis of Input/Output Phenomena using
Statistics and Machine Learning" (2017). Each condition that the path study created and verified has a line (data
discarded, cached, not cached; written first, again). Unlike there, times are compared by their ratio, so that 1 B and
16 MiB count alike. An operation that fits no condition is *mixed* between two (partly cached; or waiting), or *slower*
than all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from . import lines as path_lines
from .lines import Array, PathLine
from .names import AGAIN, CACHED, DISCARD, FIRST, READ, UNCACHED, WRITE, pattern_name

Codes = npt.NDArray[np.int8]
# In addition to the conditions.
MIXED, SLOWER = "mixed", "slower"
PAGE = 4096
# The next access is unpredictable: uncached data must come from the device.
UNPREDICTABLE = ("rnd", "rnd8", "stride8")
# Limit of the distance from a condition, in units of its spread.
PURE = 3.0
# Copies between repeated or sequential places, and copies with a random place on either side: they differ by the CPU's
# caches (p of the model: L1–L1 … memory–memory). Each variant needs _LEAST_SIZES sizes.
NEAR, FAR = "near", "far"
_ORDERED = ("off0", "seq", "reverse")
_VARIANT_SIZES = 4
# Per cell: more do not improve a line.
_OPERATIONS = 20_000

_ORDER = {READ: (DISCARD, CACHED, UNCACHED), WRITE: (DISCARD, AGAIN, FIRST, UNCACHED)}


@dataclass(frozen=True)
class PathCell:
    """A trial of the study. ``seconds`` are those of each operation; ``untouched``: no earlier operation of the cell
    touched nearby data; ``verified``: the state was checked and as intended."""

    direction: str
    state: str
    memory: str
    place: str
    access_size: int
    seconds: Array = field(repr=False)
    untouched: npt.NDArray[np.bool_] = field(repr=False)
    verified: bool = True

    @property
    def name(self) -> str:
        """The name as in the talk: ``C-seq-rnd R``."""
        return pattern_name(vars(self))

    @property
    def reach(self) -> str:
        """NEAR or FAR; discarded data has no place in a file."""
        return NEAR if self.memory in _ORDERED and (self.place in _ORDERED or self.state == DISCARD) else FAR

    @cached_property
    def reference(self) -> Array | None:
        """The times of operations whose condition is known, else None."""
        if not self.verified:
            return None
        seconds = self.seconds
        if self.state == UNCACHED:
            if self.place not in UNPREDICTABLE or (self.direction == WRITE and self.access_size >= PAGE):
                return None  # whole pages are written without reading the device
            seconds = seconds[self.untouched]
        return seconds[:_OPERATIONS] if seconds.size else None


@dataclass(frozen=True)
class Assigned:
    """Assignment of operations: ``codes`` index ``names`` (the conditions, then MIXED and SLOWER); ``nearest`` index
    the conditions alone."""

    names: tuple[str, ...]
    codes: Codes
    nearest: Codes

    def shares(self) -> dict[str, float]:
        """Return name → its share of the operations."""
        counts = np.bincount(self.codes, minlength=len(self.names)) / max(self.codes.size, 1)
        return dict(zip(self.names, counts.tolist(), strict=True))


@dataclass(frozen=True)
class PathModels:
    """The lines of one direction, ordered from the inherently fastest condition to the slowest."""

    direction: str
    lines: tuple[PathLine, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The possible assignments of an operation."""
        return (*(line.name for line in self.lines), MIXED, SLOWER)

    def assign(self, sizes: Array, seconds: Array) -> Assigned:
        """Assign every operation (bytes, s) to its condition. The distance is |ln t − ln t(size)|."""
        times = np.array([line.seconds(sizes) for line in self.lines])
        logs = np.log(np.maximum(seconds, 1e-9))
        away = np.where(np.isnan(times), np.inf, np.abs(logs - np.log(times)))
        nearest = away.argmin(axis=0).astype(np.int8)
        spread = np.array([line.spread for line in self.lines])
        pure = away.min(axis=0) <= PURE * spread[nearest]
        slower = ~pure & (seconds > np.nanmax(times, axis=0))
        between = ~pure & ~slower & (seconds > np.nanmin(times, axis=0))
        codes = np.where(slower, len(self.lines) + 1, np.where(between, len(self.lines), nearest))
        return Assigned(self.names, codes.astype(np.int8), nearest)

    def line(self, condition: str, reach: str) -> PathLine | None:
        """Return the line of a condition, NEAR or FAR if each has its own."""
        line_by_name = {line.name: line for line in self.lines}
        return line_by_name.get(_format_variant(condition, reach)) or line_by_name.get(condition)


def fit(cells: Sequence[PathCell]) -> dict[str, PathModels]:
    """Fit the models by direction, from the cells with a verified state; without models of too few sizes."""
    return {
        direction: PathModels(direction, lines)
        for direction, states in _ORDER.items()
        if (lines := tuple(line for state in states for line in _fit_lines(cells, direction, state)))
    }


def _fit_lines(cells: Sequence[PathCell], direction: str, state: str) -> list[PathLine]:
    mine = [cell for cell in cells if (cell.direction, cell.state) == (direction, state) and cell.reference is not None]
    groups = {reach: [cell for cell in mine if cell.reach == reach] for reach in (NEAR, FAR)}
    enough = all(len({cell.access_size for cell in group}) >= _VARIANT_SIZES for group in groups.values())
    if enough and state != UNCACHED:
        return [_fit_line(_format_variant(state, reach), group) for reach, group in groups.items()]
    if len(mine) < path_lines.LEAST_CELLS or len({cell.access_size for cell in mine}) < 2:
        return []
    return [_fit_line(state, mine)]


def _fit_line(name: str, cells: Sequence[PathCell], replicates: int = path_lines.REPLICATES) -> PathLine:
    sizes = np.array([cell.access_size for cell in cells], float)
    times = [cell.reference for cell in cells if cell.reference is not None]
    part_of_page = cells[0].direction == WRITE and cells[0].state == UNCACHED
    return path_lines.line(name, sizes, times, PAGE - 1 if part_of_page else 0, replicates)


def _format_variant(state: str, reach: str) -> str:
    return f"{state} ({reach})"


def state_of(condition: str) -> str:
    """Return the state of a condition: cached for ``cached (far)``."""
    return condition.partition(" (")[0]


@dataclass(frozen=True)
class PatternRow:
    """A pattern over its sizes.

    ``shares`` of its operations by condition, mixed and slower (each size counts alike). ``seconds``: their total time
    over the sizes with a known best case; ``best_s``: that time with all optimisations working; ``lost``: the lost
    share. ``intended`` are the conditions of the best case."""

    name: str
    direction: str
    sizes: tuple[int, ...]
    n_operations: int
    shares: dict[str, float]
    seconds: float
    best_s: Estimate
    lost: Estimate
    intended: tuple[str, ...]


def rows(cells: Sequence[PathCell], models: Mapping[str, PathModels], level: float) -> list[PatternRow]:
    """Build the table of the talk, in its order: discarded, cached, not cached; reads before writes."""
    by_name: dict[str, list[PathCell]] = {}
    for cell in cells:
        if cell.direction in models:
            by_name.setdefault(cell.name, []).append(cell)
    ordered = sorted(by_name.items(), key=lambda item: (item[1][0].direction, "DCU".index(item[0][0]), item[0]))
    return [_build_row(name, group, models[group[0].direction], level) for name, group in ordered]


def _build_row(name: str, cells: Sequence[PathCell], models: PathModels, level: float) -> PatternRow:
    shares = dict.fromkeys(models.names, 0.0)
    spent, best, intended = 0.0, np.zeros(path_lines.REPLICATES + 1), []
    for cell in cells:
        assigned_shares = models.assign(np.full(cell.seconds.size, float(cell.access_size)), cell.seconds).shares()
        shares = {key: share + assigned_shares[key] / len(cells) for key, share in shares.items()}
        lines = [line for state in meant(cell) if (line := models.line(state, cell.reach)) is not None]
        if lines:
            line = min(lines, key=lambda candidate: float(candidate.replicates(cell.access_size)[0]))
            spent += float(cell.seconds.sum())
            best = best + cell.seconds.size * line.replicates(cell.access_size)
            intended.append(line.name)
    n_intended = len(intended)
    best = np.minimum(best, spent)  # operations faster than the line of their condition lost nothing
    nothing = Estimate(
        None, None, None, level, 0, (Message("missing-condition", "the intended condition was not measured"),)
    )
    return PatternRow(
        name,
        models.direction,
        tuple(sorted({cell.access_size for cell in cells})),
        sum(cell.seconds.size for cell in cells),
        shares,
        spent,
        path_lines.interval(best, level, n_intended) if n_intended else nothing,
        path_lines.interval(1 - best / spent, level, n_intended) if n_intended else nothing,
        tuple(dict.fromkeys(intended)),
    )


def meant(cell: PathCell) -> tuple[str, ...]:
    """Return the conditions of an access if every optimisation worked; the fastest counts.

    Predictable reads are read ahead, and writes are buffered. Nothing helps an unpredictable read, or a write of part
    of a page that is not in memory."""
    if cell.state != UNCACHED:
        return (cell.state,)
    if cell.direction == READ:
        return (UNCACHED,) if cell.place in UNPREDICTABLE else (CACHED,)
    return (UNCACHED,) if cell.access_size < PAGE and cell.place in UNPREDICTABLE else (AGAIN, FIRST)


@dataclass(frozen=True)
class Confusion:
    """Operations of known state, classified by lines fitted without their cell.

    ``shares[true][predicted]`` of DISCARD, CACHED (for writes: first or again, which go into the cache) and UNCACHED.
    ``cells``: the number of each."""

    direction: str
    shares: dict[str, dict[str, float]]
    cells: dict[str, int]

    @property
    def right(self) -> float:
        """The share classified correctly, every state counting alike."""
        return float(np.mean([row[state] for state, row in self.shares.items()])) if self.shares else 0.0


def measure_confusion(cells: Sequence[PathCell], models: PathModels) -> Confusion:
    """Measure how well times alone predict the states: each cell is left out once."""
    lines = {line.name: line for line in models.lines}
    kinds = list(dict.fromkeys(map(_get_kind, lines)))
    totals = {kind: dict.fromkeys(kinds, 0.0) for kind in kinds}
    counts = dict.fromkeys(kinds, 0)
    for cell in cells:
        has_line = cell.state in map(state_of, lines)
        if cell.direction != models.direction or not has_line or cell.reference is None:
            continue
        name = cell.state if cell.state in lines else _format_variant(cell.state, cell.reach)
        mine = [
            other
            for other in cells
            if other is not cell
            and (other.direction, other.state) == (cell.direction, cell.state)
            and other.reference is not None
            and (name == cell.state or other.reach == cell.reach)
        ]
        if len(mine) < path_lines.LEAST_CELLS - 1 or len({other.access_size for other in mine}) < 2:
            continue
        without = tuple(_fit_line(name, mine, 1) if line.name == name else line for line in models.lines)
        blind = PathModels(models.direction, without)
        assignment = blind.assign(np.full(cell.reference.size, float(cell.access_size)), cell.reference)
        counts[_get_kind(name)] += 1
        for code, n in zip(*np.unique(assignment.nearest, return_counts=True), strict=True):
            totals[_get_kind(name)][_get_kind(without[code].name)] += float(n) / cell.reference.size
    shares = {
        kind: {label: share / counts[kind] for label, share in row.items()}
        for kind, row in totals.items()
        if counts[kind]
    }
    return Confusion(models.direction, shares, {kind: n for kind, n in counts.items() if n})


def _get_kind(condition: str) -> str:
    state = state_of(condition)
    return state if state in (DISCARD, UNCACHED) else CACHED


@dataclass(frozen=True)
class PathPart:
    """A part of t(size) = m + p + n + c + d, as the difference of two conditions: ``fixed_s`` (s) and ``per_byte``
    (s/byte)."""

    name: str
    fixed_s: Estimate
    per_byte: Estimate


def parts(models: PathModels, level: float) -> list[PathPart]:
    """Estimate the parts from reads: m from discarding, p from what the cache adds, n + c + d from what the device and
    its path add. Times of whole operations cannot separate these three."""
    steps = (("m", DISCARD, ""), ("p", CACHED, DISCARD), ("n + c + d", UNCACHED, CACHED))
    parts = []
    for name, upper, lower in steps:
        upper_line, other = models.line(upper, NEAR), models.line(lower, NEAR) if lower else None
        if upper_line is None or (lower and other is None):
            continue
        fixed, per_byte = (
            (upper_line.fixed_s, upper_line.s_per_byte)
            if other is None
            else (upper_line.fixed_s - other.fixed_s, upper_line.s_per_byte - other.s_per_byte)
        )
        n = upper_line.n if other is None else min(upper_line.n, other.n)
        costs = (path_lines.interval(values, level, n).within(0.0) for values in (fixed, per_byte))
        parts.append(PathPart(name, *costs))
    return parts
