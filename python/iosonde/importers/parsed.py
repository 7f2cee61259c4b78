"""What an importer gives: rows with their line, what was noted, what is missing. Nothing here knows a tool.

An importer is anything with ``NAME``, ``claims(text) -> Claim | None`` and ``parse(text) -> list[Parsed]``.
``claims`` says how sure it is and why; ``parse`` gives one Parsed for each execution that the file tells of. Both
get a :class:`~iosonde.importers.text.Text`, already free of colours, NUL bytes and other people's line ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from iosonde.core.message import Message, prefixed
from iosonde.core.stored import CANNOT_TELL
from iosonde.core.types import FactorValue

from .text import Note, Text

if TYPE_CHECKING:
    import numpy as np

# How sure a claim is: the tool names itself; only this tool prints such a table; the shape alone.
CERTAIN, LIKELY, WEAK = 90, 60, 30


class Claim(NamedTuple):
    """Why a file is this tool's: a score (CERTAIN, LIKELY, WEAK), and the line with the evidence."""

    score: int
    line: int
    evidence: str


@dataclass(slots=True)
class Row:
    """One number of the tool in base units (bytes, s, operations/s, bytes/s), and the line it stands in.

    ``rank`` is None for the whole, ``iteration`` (from 0) None for what spans all of them. ``factors`` are
    settings of this row that differ from its neighbours' (record size, job name). ``includes`` names what is inside the
    clock besides the operation itself.
    """

    operation: str
    metric: str
    value: float
    unit: str
    line: int
    rank: int | None = None
    iteration: int | None = None
    count: int | None = None
    includes: str = ""
    factors: dict[str, FactorValue] | None = None


@dataclass
class Parsed:
    """One execution of the tool. ``missing`` says in words what a result that ended early lacks.

    ``started_at`` is ISO 8601, without zone where the tool prints none, '' if unknown. ``operations`` is an array of
    dtype ``core.schema.OPERATION`` for logs of single operations, ``operation_names`` what its phases are called,
    ``phase_facts`` what else is known of all of them (``hosts`` of ranks, ``comparable`` clocks), ``unplaced`` those
    whose offsets nobody knows.
    ``invalid``: of what is missing, the tool's own words that the execution does not count.
    ``tool`` is the importer's name, ``headline`` the kinds of metric that it shows first; both put in by ``registry``.
    """

    version: str = ""
    rows: list[Row] = field(default_factory=list)
    factors: dict[str, FactorValue] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    started_at: str = ""
    seconds: float = 0.0
    warnings: list[Note] = field(default_factory=list)
    missing: list[Note] = field(default_factory=list)
    invalid: list[Note] = field(default_factory=list)
    operations: np.ndarray | None = None
    operation_names: tuple[str, ...] = ()
    phase_facts: dict[str, Any] = field(default_factory=dict)
    unplaced: tuple[str, ...] = ()
    tool: str = ""
    headline: tuple[str, ...] = ()

    def warn(self, line: int, sentence: str) -> None:
        """Note something that a reader of the numbers should know; the same sentence only once."""
        if len(self.warnings) < MAX_NOTES and all(note.sentence != sentence for note in self.warnings):
            self.warnings.append(Note(line, sentence))

    def cannot_tell(self, sentence: str) -> None:
        """Note what single operations of this trace do not show, for everybody who explains them."""
        self.warn(0, sentence)
        sentences = self.facts.setdefault(CANNOT_TELL, [])
        if sentence not in sentences:
            sentences.append(sentence)

    def lacks(self, line: int, sentence: str) -> None:
        """Note what is missing: this execution is not complete."""
        if len(self.missing) < MAX_NOTES and all(note.sentence != sentence for note in self.missing):
            self.missing.append(Note(line, sentence))

    def mark_invalid(self, line: int, sentence: str) -> None:
        """Note that the tool itself calls this execution invalid: no other account of it can take that back."""
        self.lacks(line, sentence)
        if len(self.invalid) < MAX_NOTES:
            self.invalid.append(Note(line, sentence))

    def adopt_invalid(self, account: str, other: Parsed) -> None:
        """Take over what ``other``, the account of this execution in another file, calls invalid."""
        for note in other.invalid:
            self.mark_invalid(0, prefixed(note.sentence, account))

    def adopt_missing(self, account: str, other: Parsed) -> None:
        """Take over all that the account of this execution in another file lacks."""
        for note in other.missing:
            self.lacks(0, prefixed(note.sentence, account))


# The factor of a file that holds one rank, job or iteration of an execution: these are no trials of each other.
PART = "part"
# A line's end was lost: nothing tells which number is whose.
GLUED = Message("glued-lines", "two lines stand in one: what follows may be of something else")
# A damaged file may have something wrong in every line: the first ones say enough.
MAX_NOTES = 50


class Importer(Protocol):
    """The shape of an importer: a module or an object. It may have ``HEADLINE``, the kinds of metric that the tool's
    users look at first (``core.headlines``), as ``("bandwidth", "latency_p99")``, and ``BEGINS``, words of the line
    with which an execution begins, so that a log of several tools can be parted."""

    NAME: str

    def claims(self, text: Text) -> Claim | None:
        """How surely this file is the tool's output, None if it is not."""

    def parse(self, text: Text) -> list[Parsed]:
        """What the file says. Raises nothing: what cannot be read becomes a warning with its line."""
