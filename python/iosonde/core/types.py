"""The six nouns and the two values (Model and its protocol live with the models).

*Factor* may matter; an *Observation* is one row; a *Run* is one execution at one setting; an *Experiment*
is a question with its design; a *Finding* is one claim for a human. A *Metric* says what a number is,
an *Estimate* how far it can be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .message import Message

if TYPE_CHECKING:
    import numpy as np

FactorValue = str | int | float | bool | None


def count_of(level: FactorValue) -> int:
    """A level of a factor that counts something, as nodes."""
    assert level is not None
    return int(level)


def level_text(level: FactorValue) -> str:
    """A level as it stands in a command: ``true`` and ``false`` in small letters, nothing for None."""
    if isinstance(level, bool):
        return str(level).lower()
    return "" if level is None else str(level)


class Role(StrEnum):
    """Why a factor has the value it has."""

    SET = "set"  # by us, on purpose
    BLOCKED = "blocked"  # held together, to take its effect out
    OBSERVED = "observed"  # only seen


class Better(StrEnum):
    """Which way a metric is better."""

    HIGHER = "higher"
    LOWER = "lower"


class Severity(StrEnum):
    """How much a finding should worry its reader."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Factor:
    """A named thing that may matter: unit, the levels that were (or will be) tried, and its role."""

    name: str
    unit: str = ""
    levels: tuple[FactorValue, ...] = ()
    role: Role = Role.SET


@dataclass(frozen=True)
class Metric:
    """What a number is: name, base unit, and which way is better."""

    name: str
    unit: str
    better: Better = Better.HIGHER


@dataclass(frozen=True)
class Estimate:
    """A number that can be trusted between ``low`` and ``high`` at confidence ``level``.

    ``value``, ``low`` and ``high`` are in the metric's base unit; ``low`` and ``high`` are None where the data
    cannot tell, and ``warnings`` then says why and what would cure it. ``n`` counts trials, never ranks.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    warnings: tuple[str, ...] = ()

    @property
    def within_run(self) -> bool:
        """Whether its interval is of iterations inside one trial, as one trial alone has none."""
        return self.n == 1 and self.low is not None

    def within(self, low: float | None = None, high: float | None = None) -> Estimate:
        """The estimate with its interval cut to what can be: a rate is not below 0, a share not above 1.

        That takes nothing from its coverage. An end that was cut is warned about; none is cut past the value itself.
        """
        if self.low is None or self.high is None:
            return self
        value = (self.low + self.high) / 2 if self.value is None else self.value
        ends, warnings = [self.low, self.high], list(self.warnings)
        if low is not None and self.low < low:
            ends[0] = min(low, value)
            warnings.append(Message("cut-interval", "the interval reaches below {limit:g} and is cut there", limit=low))
        if high is not None and self.high > high:
            ends[1] = max(high, value)
            warnings.append(
                Message("cut-interval", "the interval reaches above {limit:g} and is cut there", limit=high)
            )
        return replace(self, low=ends[0], high=ends[1], warnings=tuple(warnings))

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form: value, low, high, level, n, warnings."""
        return {"value": self.value, "low": self.low, "high": self.high, "level": self.level, "n": self.n,
                "warnings": list(self.warnings)}  # fmt: skip

    def flat(self, name: str) -> dict[str, float | None]:
        """The form in tables: ``name``, ``name_low``, ``name_high``."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}


@dataclass(frozen=True)
class Finding:
    """One claim for a human. ``code`` has a page (``iosonde explain CODE``)."""

    code: str
    severity: Severity
    sentence: str
    evidence: dict[str, Any] = field(default_factory=dict)
    action: str = ""

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {"code": self.code, "severity": str(self.severity), "sentence": self.sentence,
                "evidence": self.evidence, "action": self.action}  # fmt: skip

    def flat(self) -> dict[str, str]:
        """The form in tables, without its evidence."""
        return {"code": self.code, "severity": str(self.severity), "sentence": self.sentence, "action": self.action}


@dataclass(frozen=True)
class Observation:
    """One row of results: a metric of an operation over the whole run, or of one rank.

    ``rank`` is None for the whole; ``count`` is the number of operations behind the value (None: unknown);
    ``includes`` names what is inside the clock besides the operation itself, as ``open,fsync,close``.
    """

    operation: str
    metric: str
    value: float
    unit: str
    rank: int | None = None
    repetition: int = 0
    count: int | None = None
    includes: str = ""


@dataclass
class Run:
    """One execution at one setting: one trial. Immutable once stored.

    ``factors`` are the values of the cell, the repetition number among them. ``facts`` are what the machine
    was like. ``operations`` is a NumPy structured array of dtype ``schema.OPERATION`` or None where nothing was
    recorded. ``raw`` maps file names to the foreign tool's own output, or to a file that holds it where it is large.
    ``missing`` says, in words, what an incomplete run lacks. ``seed`` makes the same trial again. ``headlines`` has, of
    operations that another tool measured, the kinds of metric to look at first (``core.headlines``).
    """

    id: str
    experiment: str
    source: str
    started_at: str  # ISO 8601, UTC
    seconds: float
    factors: dict[str, FactorValue]
    observations: list[Observation]
    facts: dict[str, Any] = field(default_factory=dict)
    operations: np.ndarray | None = None
    phases: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    raw: dict[str, bytes | Path] = field(default_factory=dict)
    seed: int | None = None
    headlines: dict[str, list[str]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every rank did everything that was asked."""
        return not self.missing


@dataclass(frozen=True)
class Trial:
    """One planned execution: the factor values of its cell, its place in the order, its own seed."""

    index: int
    factors: dict[str, FactorValue]
    repetition: int
    block: int
    seed: int

    @property
    def nodes(self) -> int:
        """On how many nodes it runs."""
        return count_of(self.factors["nodes"])

    @property
    def ranks_per_node(self) -> int:
        """How many ranks it has on each of them."""
        return count_of(self.factors["ranks_per_node"])


@dataclass
class Experiment:
    """A question: factors, workload settings, design with its seed; the Runs that answer it carry its id."""

    id: str
    name: str
    factors: list[Factor]
    settings: dict[str, Any]
    trials: list[Trial]
    seed: int
    created_at: str
