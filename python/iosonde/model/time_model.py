"""Time of one operation: t(size) = m + p(size) + n(size) + c(size) + d(size, state).

m: switch into the kernel and back. p: copy between user space and page cache. n: network between client and server. c:
copy between page cache and device cache. d: the device, d_seq(size) + d_prep if it has to prepare (seek, flush an erase
block). The parts of an operation's time show where its data was. The four conditions are from Kunkel, "Analysis of
Input/Output Phenomena using Statistics and Machine Learning" (2017). p, n and c depend on where data lies (core,
memory, other socket): each may have variants, and every combination is its own condition.

Limitation: an operation of mixed condition (part of it cached, part not) is assigned to the nearest pure one.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.stats.regression import ols

PARTS = {
    "m": "mode switch",
    "p": "copy between user and kernel space",
    "n": "network",
    "c": "copy between page cache and device cache",
    "d": "device",
}
# Condition → the parts it pays. An operation on data that is thrown away or overwritten in memory pays m only.
CONDITIONS = {"discard": "m", "client_cached": "mp", "server_cached": "mpn", "uncached": "mpncd"}
_BLOCK = 1_000_000
_BEYOND = 2.0  # times the slowest condition
SEQUENTIAL, PREPARED = "sequential", "prepared"
LIMITS = (
    "operations of mixed condition (partly cached, partly read ahead) are assigned to the nearest pure one",
    "conditions with similar times cannot be distinguished by time",
    "nobody else uses the path: queueing is not included",
)


@dataclass(frozen=True)
class TimePart:
    """A part of the time: ``fixed_s`` and, if it moves data, ``bytes_per_s``. ``variant`` is where the data lies."""

    name: str
    fixed_s: float = 0.0
    bytes_per_s: float | None = None
    variant: str = ""

    def seconds(self, size: float) -> float:
        """Return this part's time for ``size`` bytes, in s."""
        return self.fixed_s + (size / self.bytes_per_s if self.bytes_per_s else 0.0)

    @property
    def label(self) -> str:
        """``p`` or ``p (numa)``."""
        return f"{self.name} ({self.variant})" if self.variant else self.name


@dataclass(frozen=True)
class TimeCondition:
    """A name and the parts that an operation pays under it."""

    name: str
    parts: tuple[TimePart, ...]

    def seconds(self, size: float) -> float:
        """t(size)."""
        return sum(part.seconds(size) for part in self.parts)


def build_conditions(parts: Sequence[TimePart], state: str = PREPARED, only: Sequence[str] = ()) -> list[TimeCondition]:
    """Every condition whose parts are all known, for each combination of their variants.

    ``state`` sequential: the device prepares nothing (d_prep = 0). Raises InputError for a part that no complete
    condition pays. ``only``: these conditions, where not all can be: nothing that is read was thrown away.
    """
    unknown = next((name for name in only if name not in CONDITIONS), None)
    if unknown is not None:
        raise InputError(
            "unknown-condition",
            "unknown condition '{condition}'",
            "conditions: {conditions}",
            condition=unknown,
            conditions=", ".join(CONDITIONS),
        )
    by_name: dict[str, list[TimePart]] = {name: [] for name in PARTS}
    for part in parts:
        if part.name not in PARTS:
            raise InputError(
                "unknown-part",
                "the time has no part '{name}'",
                "parts: {parts}",
                name=part.name,
                parts=", ".join(PARTS),
            )
        if part.name == "d" and state == SEQUENTIAL:
            part = TimePart("d", 0.0, part.bytes_per_s, part.variant)
        by_name[part.name].append(part)
    if not by_name["m"]:
        by_name["m"] = [TimePart("m")]
    # A local file system has no network: its uncached operation omits n.
    local = not by_name["n"]
    conditions = [
        condition for name, needs in CONDITIONS.items() for condition in _iter_conditions(name, needs, by_name, local)
    ]
    paid = {part.name for condition in conditions for part in condition.parts}
    idle = next((name for name, variants in by_name.items() if variants and name not in paid), None)
    if idle:
        needs = next(needs for needs in CONDITIONS.values() if idle in needs)
        lacks = [name for name in needs if not by_name[name] and name != "n"]
        raise InputError(
            "incomplete-condition",
            "{part} ({meaning}) is given, but no condition with it is complete",
            "give {missing_parts} too",
            part=idle,
            meaning=PARTS[idle],
            missing_parts=", ".join(lacks),
        )
    selected = [condition for condition in conditions if not only or condition.name.split(" (")[0] in only]
    if not selected:
        raise InputError(
            "incomplete-condition", "none of {conditions} is complete", "give their parts", conditions=", ".join(only)
        )
    return selected


def _iter_conditions(
    name: str, needs: str, by_name: Mapping[str, Sequence[TimePart]], local: bool
) -> Iterator[TimeCondition]:
    if local:
        if name == "server_cached":
            return
        needs = needs.replace("n", "")
    for chosen in itertools.product(*(by_name[need] for need in needs)):
        variants = [part.variant for part in chosen if part.variant]
        yield TimeCondition(f"{name} ({', '.join(variants)})" if variants else name, chosen)


@dataclass(frozen=True)
class Diagnosis:
    """An observed time: the nearest condition, the best-case time, and the time ``lost`` against it (s; negative if the
    operation was faster). ``margin``: how much farther the next nearest condition is, 0 for a tie; below 0.25 it needs
    a second look. ``beyond``: more than twice the slowest condition, so that none explains it."""

    size: float
    observed_s: float
    condition: str
    model_s: float
    best_s: float
    lost_s: float
    margin: float
    beyond: bool

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def find_nearest_condition(conditions: Sequence[TimeCondition], size: float, observed_s: float) -> Diagnosis:
    """Return the condition with the least |t − observed|."""
    ordered = sorted(conditions, key=lambda condition: abs(condition.seconds(size) - observed_s))
    near = abs(ordered[0].seconds(size) - observed_s)
    far = abs(ordered[1].seconds(size) - observed_s) if len(ordered) > 1 else float("inf")
    best = compute_least_time(conditions, size)
    return Diagnosis(
        size,
        observed_s,
        ordered[0].name,
        ordered[0].seconds(size),
        best,
        observed_s - best,
        1.0 if not far or far == float("inf") else 1 - near / far,
        observed_s > _BEYOND * max(condition.seconds(size) for condition in conditions),
    )


def compute_least_time(conditions: Sequence[TimeCondition], size: float) -> float:
    """Return the least time that any condition allows: the time with every optimisation at work."""
    return min(condition.seconds(size) for condition in conditions)


@dataclass(frozen=True)
class Mixture:
    """The two conditions whose times enclose an observation, and the share of the operation in the slower one if
    nothing else mattered: t = (1 − share)·t_faster + share·t_slower."""

    faster: str
    slower: str
    share: float


def fit_mixture(conditions: Sequence[TimeCondition], size: float, observed_s: float) -> Mixture | None:
    """Fit the optional mixed model; None if the time lies outside all conditions."""
    for faster, slower in itertools.pairwise(sorted(conditions, key=lambda condition: condition.seconds(size))):
        low, high = faster.seconds(size), slower.seconds(size)
        if low <= observed_s <= high and high > low:
            return Mixture(faster.name, slower.name, (observed_s - low) / (high - low))
    return None


@dataclass(frozen=True)
class Classified:
    """Many operations: condition → share of the operations nearest to it.

    ``lost``: share of their time lost against the best case (below zero if they were faster). ``beyond``: share that
    took more than twice the slowest condition, which none of them explains."""

    shares: dict[str, float]
    lost: float
    beyond: float
    n: int


def classify_by_condition(
    conditions: Sequence[TimeCondition], sizes: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]
) -> Classified:
    """Find the nearest condition of every operation, in blocks of bounded memory."""
    counts, best, beyond = np.zeros(len(conditions), np.int64), 0.0, 0
    for at in range(0, sizes.size, _BLOCK):
        size, observed = sizes[at : at + _BLOCK], seconds[at : at + _BLOCK]
        times = np.array([[sum(p.fixed_s for p in condition.parts)] for condition in conditions]) + np.outer(
            [sum(1 / p.bytes_per_s for p in condition.parts if p.bytes_per_s) for condition in conditions], size
        )
        counts += np.bincount(np.abs(times - observed).argmin(axis=0), minlength=len(conditions))
        best += float(times.min(axis=0).sum())
        beyond += int((observed > _BEYOND * times.max(axis=0)).sum())
    total = float(seconds.sum())
    return Classified(
        {condition.name: float(count) / sizes.size for condition, count in zip(conditions, counts, strict=True)},
        1 - best / total if total else 0.0,
        beyond / sizes.size,
        int(sizes.size),
    )


@dataclass(frozen=True)
class ConditionLine:
    """The fitted line lm(size) = c + b·size of one condition: both with intervals (s, s/byte), R², s_e (s) and rows."""

    name: str
    fixed: ols.Coefficient
    per_byte: ols.Coefficient
    r2: float
    s_e: float
    n: int

    def condition(self) -> TimeCondition:
        """The fitted line as a condition, to diagnose with. A slope that is not above 0 moves nothing."""
        slope = self.per_byte.estimate
        return TimeCondition(self.name, (TimePart("m", self.fixed.estimate, 1 / slope if slope > 0 else None),))

    def to_json(self) -> dict[str, Any]:
        """The stable form: Estimates of both parameters."""
        ends: dict[str, float | None] = {}
        for key, coefficient in (("fixed_s", self.fixed), ("s_per_byte", self.per_byte)):
            ends |= {key: coefficient.estimate, f"{key}_low": coefficient.low, f"{key}_high": coefficient.high}
        return {"condition": self.name, "n": self.n, "r2": self.r2, "s_e": self.s_e, **ends}


def fit_line(
    name: str, sizes: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64], level: float
) -> ConditionLine:
    """Fit the times on the sizes of one condition by least squares. Raises DataError if that is not possible."""
    regression = ols.fit_ols(sizes[:, None], seconds, ["size"], level, robust=True)
    fixed, per_byte = regression.coefficients()
    return ConditionLine(name, fixed, per_byte, regression.r2, regression.s_e, regression.n)
