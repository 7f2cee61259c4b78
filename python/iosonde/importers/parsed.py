"""Results of an importer: rows with their line, notes, and what is missing. Nothing here depends on a tool.

An importer is anything with ``NAME``, ``claims(text) -> Claim | None`` and ``parse(text) -> list[Parsed]``. ``claims``
returns how sure it is and why; ``parse`` returns one Parsed for each execution in the file. Both get a
:class:`~iosonde.importers.text.Text`, already without colours, NUL bytes and foreign line ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message, prepend_place
from iosonde.core.stored import CANNOT_TELL
from iosonde.core.types import FactorValue

from .text import Note, Text

if TYPE_CHECKING:
    import numpy as np

    from .samples import Samples

# Certainty of a claim: the tool names itself; only this tool prints such a table; the shape alone.
CERTAIN, LIKELY, WEAK = 90, 60, 30


class Claim(NamedTuple):
    """Evidence that a file is this tool's: a score (CERTAIN, LIKELY, WEAK), and the line with the evidence."""

    score: int
    line: int
    evidence: str

    @classmethod
    def from_match(cls, score: int, hit: tuple[int, str | re.Match[str]] | None) -> Claim | None:
        """Return the claim whose evidence is a word or a match on a line, the match cut to 60 characters; None without
        a hit."""
        if hit is None:
            return None
        return cls(score, hit[0], hit[1] if isinstance(hit[1], str) else hit[1].group().strip()[:60])


@dataclass(slots=True)
class Row:
    """A number of the tool in base units (bytes, s, operations/s, bytes/s), with its line.

    ``rank`` is None for the whole, ``iteration`` (from 0) None for values over all iterations. ``factors`` are settings
    of this row that differ from its neighbours' (record size, job name). ``includes`` names what is inside the clock in
    addition to the operation itself.
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


class WrittenPart(NamedTuple):
    """Part of an execution: the settings that distinguish its rows, its rank, its number among all parts."""

    factors: dict[str, FactorValue] | None = None
    rank: int | None = None
    number: int = 0


@dataclass
class Parsed:
    """An execution of the tool. ``missing`` lists in words what an incomplete result lacks.

    ``started_at`` is ISO 8601, without zone if the tool prints none, '' if unknown. ``operations`` is an array of dtype
    ``core.schema.OPERATION`` for logs of single operations, ``operation_names`` are the names of its phases.
    ``phase_facts`` are further facts of all phases (``hosts`` of ranks, ``comparable`` clocks), ``unplaced`` the phases
    with unknown offsets. ``invalid`` are the entries of ``missing`` in which the tool itself rejects the execution.
    ``contradictions`` are numbers that break a rule (``plausibility``); ``most_threads`` is the number of threads that
    a tool's times show, 0 if they show none. ``is_closed_loop``: all printed settings are known to let no time pass
    between operations; ``is_unflushed``: all printed settings let writes stay in the page cache, None if none are
    printed. ``form`` names the form of the text if the tool has several; ``written`` are names of files that the
    execution wrote in addition, each with the part of it that they describe; ``last_entry_s`` is the time of a log's
    last line after its begin, ``interval_s`` the time between two of its averages if none is missing, else 0.
    ``has_complete_last_line``: the last line has no end, but all decimals that the tool prints, so that it is not cut.
    ``tool`` is the importer's name, ``headline`` the kinds of metric that it shows first; ``registry`` sets both.
    ``samples``: those of a system's counters over time, whose means are the rows. ``span``: start and duration in s
    where ``started_at`` is the time of the print.
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
    contradictions: list[Contradiction] = field(default_factory=list)
    most_threads: int = 0
    is_closed_loop: bool = False
    is_unflushed: bool | None = None
    operations: np.ndarray | None = None
    operation_names: tuple[str, ...] = ()
    phase_facts: dict[str, Any] = field(default_factory=dict)
    unplaced: tuple[str, ...] = ()
    form: str = ""
    written: dict[str, WrittenPart] = field(default_factory=dict)
    last_entry_s: float = 0.0
    interval_s: float = 0.0
    has_complete_last_line: bool = False
    tool: str = ""
    headline: tuple[str, ...] = ()
    samples: Samples | None = None
    span: tuple[str, float] | None = None

    def warn(self, line: int, sentence: str) -> None:
        """Note a warning for readers of the numbers; the same sentence only once."""
        if len(self.warnings) < MAX_NOTES and all(note.sentence != sentence for note in self.warnings):
            self.warnings.append(Note(line, sentence))

    def cannot_tell(self, sentence: str) -> None:
        """Note what the operations of this trace do not show, for all who interpret them."""
        self.warn(0, sentence)
        sentences = self.facts.setdefault(CANNOT_TELL, [])
        if sentence not in sentences:
            sentences.append(sentence)

    def lacks(self, line: int, sentence: str) -> None:
        """Note what is missing: this execution is incomplete."""
        if len(self.missing) < MAX_NOTES and all(note.sentence != sentence for note in self.missing):
            self.missing.append(Note(line, sentence))

    def mark_invalid(self, line: int, sentence: str) -> None:
        """Note that the tool itself calls this execution invalid, which no other file can revoke."""
        self.lacks(line, sentence)
        if len(self.invalid) < MAX_NOTES:
            self.invalid.append(Note(line, sentence))

    def contradict(self, contradiction: Contradiction) -> None:
        """Note a number that breaks a rule, and a warning for readers of the numbers."""
        self.contradictions.append(contradiction)
        self.warn(contradiction.line, contradiction.note or contradiction.sentence)

    def adopt_invalid(self, account: str, other: Parsed) -> None:
        """Take over the invalid marks of ``other``, this execution in another file (``account``)."""
        for note in other.invalid:
            self.mark_invalid(0, prepend_place(note.sentence, account))

    def adopt_missing(self, account: str, other: Parsed) -> None:
        """Take over everything missing in ``other``, this execution in another file (``account``)."""
        for note in other.missing:
            self.lacks(0, prepend_place(note.sentence, account))


# Factor of a file with one rank, job or iteration of an execution: such files are not repeated trials.
PART = "part"
# A line end was lost: the numbers cannot be assigned.
GLUED = Message("glued-lines", "two lines were merged: the rest may belong to something else")
# A damaged file may have an error in every line: the first ones are enough.
MAX_NOTES = 50


class Importer(Protocol):
    """Interface of an importer: a module or an object. Optional ``HEADLINE`` lists the kinds of metric that the tool's
    users read first (``core.headlines``), as ``("bandwidth", "latency_p99")``. Optional ``BEGINS`` are words of the
    line with which an execution begins, so that a log of several tools can be split. Optional ``check(text)`` raises
    SpecError with every mistake in a file that a person writes.
    """

    NAME: str

    def claims(self, text: Text) -> Claim | None:
        """Return how surely this file is the tool's output, None if it is not."""

    def parse(self, text: Text) -> list[Parsed]:
        """Return the executions in the file. Raises nothing: unreadable parts become warnings with their lines."""
