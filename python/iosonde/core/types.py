"""The six nouns and the two values (Model and its protocol are in ``model``).

A *Factor* may matter; an *Observation* is one row; a *Run* is one execution at one setting; an *Experiment* is a
question with its design; a *Finding* is one claim for a human. A *Metric* is the meaning of a number, an *Estimate* its
value and uncertainty.
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


def level_to_count(level: FactorValue) -> int:
    """Convert a level of a counting factor, such as nodes."""
    assert level is not None
    return int(level)


def level_text(level: FactorValue) -> str:
    """Format a level for a command line: ``true`` and ``false`` in lower case, nothing for None."""
    if isinstance(level, bool):
        return str(level).lower()
    return "" if level is None else str(level)


class Role(StrEnum):
    """The origin of a factor's values."""

    SET = "set"  # by the experiment
    BLOCKED = "blocked"  # held constant within a block, to remove its effect
    OBSERVED = "observed"  # only measured


class Better(StrEnum):
    """The better direction of a metric."""

    HIGHER = "higher"
    LOWER = "lower"
    UNKNOWN = "unknown"  # until the unit or the user says it


class Severity(StrEnum):
    """The importance of a finding."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Factor:
    """A named thing that may matter: unit, tested (or planned) levels, and role."""

    name: str
    unit: str = ""
    levels: tuple[FactorValue, ...] = ()
    role: Role = Role.SET


@dataclass(frozen=True)
class Metric:
    """The meaning of a number: name, base unit, and better direction."""

    name: str
    unit: str
    better: Better = Better.HIGHER


@dataclass(frozen=True)
class Estimate:
    """A number with its interval from ``low`` to ``high`` at confidence ``level``.

    ``value``, ``low`` and ``high`` are in the metric's base unit. ``low`` and ``high`` are None if unknown;
    ``warnings`` then gives the reason and the remedy. ``n`` counts trials, never ranks.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    warnings: tuple[str, ...] = ()

    @property
    def within_run(self) -> bool:
        """Return whether the interval is over iterations inside one trial, as a single trial has none."""
        return self.n == 1 and self.low is not None

    def within(self, low: float | None = None, high: float | None = None) -> Estimate:
        """Return the estimate with its interval cut to possible values: a rate is not below 0, a share not above 1.

        Cutting does not reduce its coverage. A cut end is warned about; no end is cut past the value itself.
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
        """Return the stable JSON form: value, low, high, level, n, warnings."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "n": self.n,
            "warnings": list(self.warnings),
        }

    def flat(self, name: str) -> dict[str, float | None]:
        """Return the columns ``name``, ``name_low``, ``name_high`` of a table."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}


@dataclass(frozen=True)
class Finding:
    """A claim for a human. ``code`` has a page (``iosonde explain CODE``)."""

    code: str
    severity: Severity
    sentence: str
    evidence: dict[str, Any] = field(default_factory=dict)
    action: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "sentence": self.sentence,
            "evidence": self.evidence,
            "action": self.action,
        }

    def flat(self) -> dict[str, str]:
        """Return the columns of a table, without the evidence."""
        return {"code": self.code, "severity": str(self.severity), "sentence": self.sentence, "action": self.action}


@dataclass(frozen=True)
class Observation:
    """A row of results: a metric of an operation over the whole run, or of one rank.

    ``rank`` is None for the whole run. ``count`` is the number of operations behind the value (None: unknown).
    ``includes`` lists the contents of the clock besides the operation itself, such as ``open,fsync,close``.
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
    """An execution at one setting: a trial. Immutable once stored.

    ``factors`` are the values of the cell, including the repetition number. ``facts`` describe the machine.
    ``operations`` is a NumPy structured array of dtype ``schema.OPERATION``, or None without records. ``raw`` maps file
    names to the foreign tool's own output, or to a file with it if it is large. ``missing`` describes the missing parts
    of an incomplete run. ``seed`` reproduces the trial. ``headlines`` has the kinds of metric to read first for
    operations of another tool (``core.headlines``). ``row_settings`` maps the operation of an observation to its
    ``operation`` and ``factors`` if other rows of the run have other settings, as the jobs of fio.
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
    row_settings: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Return whether every rank did all its work."""
        return not self.missing


@dataclass(frozen=True)
class Trial:
    """A planned execution: the factor values of its cell, its place in the order, its own seed."""

    index: int
    factors: dict[str, FactorValue]
    repetition: int
    block: int
    seed: int

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return level_to_count(self.factors["nodes"])

    @property
    def ranks_per_node(self) -> int:
        """Number of ranks on each node."""
        return level_to_count(self.factors["ranks_per_node"])


@dataclass
class Experiment:
    """A question: factors, workload settings, design with its seed. The Runs that answer it carry its id."""

    id: str
    name: str
    factors: list[Factor]
    settings: dict[str, Any]
    trials: list[Trial]
    seed: int
    created_at: str
