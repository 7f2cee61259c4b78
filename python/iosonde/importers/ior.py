"""IOR 2.10 to 4.x: text, JSON and CSV (``-O summaryFormat=…``), and the CSVs of ranks and of single operations.

Made by ``mpirun -np 2 ior -w -r -F -e -t 1m -b 16m -i 3 -o FILE``:

    access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
    write     556.78     556.98     0.000362    16384      1024.00    0.000019   0.057453   0.051673   0.057473   0

becomes, for iteration 0 of ``write``: ``bandwidth_last_done`` (all bytes over the time from the first open to the last
close; an fsync is inside with ``-e``), ``rate_last_done`` (accesses over their own time, without open and close),
``latency_mean``, ``open_time``, ``access_time``, ``close_time``, ``total_time``. The summary gives ``bandwidth_max``,
``_min``, ``_mean``, ``_sd`` over the iterations with all digits (the table shows none from 1000 on), and its own
``OPs`` (bandwidth over transfer size, not the table's IOPS) as ``transfers_max`` and so on. IOR 2 prints the table with
``-vv`` only, and a summary after each test.
"""

import re

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.vocabulary import IOR

from .damage import note_reported_failure
from .ior_settings import COUNTS, SETTINGS, complete_settings, set_factor
from .ior_table import IorSummary, IorTable, check_iterations, count_iterations
from .parsed import CERTAIN, GLUED, LIKELY, Claim, Parsed
from .reading import date_to_iso, set_durations, split_command
from .text import Text

NAME = "ior"
BEGINS = (": MPI Coordinated Test of Parallel I/O",)
HEADLINE = ("bandwidth",)

_BANNER = re.compile(r"\s*IOR-(\S+): MPI Coordinated Test of Parallel I/O")
_SETTING = re.compile(r"\s*([A-Za-z][A-Za-z ()/-]{0,60})[:=]\s?(.*)$")
# IOR 3 prints both, and its older versions the first; it continues after them.
_WARNING = re.compile(r"(?:ior )?WARNING:(.*)$")
# After these the numbers are invalid: data was wrong, or never moved.
_DATA_LOST = re.compile(
    r"(?i)incorrect data on|errors? found|too many retries|EOF prematurely|not retrying|(?:read|write)\(\d.*\) failed"
)
# Lines that a rank prints with -vv and more.
_OF_RANK = "[RANK"
_MOST_LINES_PER_RANK = 2
_RANK_CSV = "access,rank,runtime-with-openclose,"
_OP_CSV = "time,runtime,tp"
_SUMMARY_WORDS = "access,bw(MiB/s),"
_SUMMARY_CSV = re.compile(r"access,bw\(MiB/s\),[^,]")
SUMMARY_OF_IOR_2 = "Operation Max(MiB) Min(MiB) Mean(MiB) StdDev Max(OPs) Min(OPs) Mean(OPs) StdDev Mean(s)"
# After another setting in one line: `constant task offsets = 1` is a value of its own.
_GLUED = re.compile(rf"(?:{'|'.join(SETTINGS)})\s*[:=]\s")


def claims(text: Text) -> Claim | None:
    """Recognise the banner, the JSON's keys, a CSV's header, or the table's header."""
    if occurrence := text.find(": MPI Coordinated Test of Parallel I/O", _RANK_CSV):
        return Claim(CERTAIN, occurrence[0], text.lines[occurrence[0] - 1].strip()[:60])
    return (
        Claim.from_match(CERTAIN, text.search(_SUMMARY_CSV, _SUMMARY_WORDS))
        or Claim.from_match(LIKELY, text.find('"bwMiB"', '"bwMeanMIB"', "access    bw(MiB/s)"))
        or (Claim(LIKELY, 1, _OP_CSV) if text.first_line == _OP_CSV else None)
    )


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each test (TestID) of each session."""
    if text.find('"bwMiB"', '"bwMeanMIB"', '"Command line"'):
        from .ior_json import parse_json

        return parse_json(text)
    if occurrence := text.find(_RANK_CSV):
        from .ior_csv import parse_ranks

        return [parse_ranks(text, occurrence[0])]
    if text.search(_SUMMARY_CSV, _SUMMARY_WORDS):
        from .ior_csv import parse_summary

        return parse_summary(text)
    if text.first_line == _OP_CSV:
        from .operation_csv import parse_ior

        return [parse_ior(text)]
    reader = _Reader()
    for at, line in text.numbered():
        reader.feed(at, line)
    reader.end()
    return reader.runs


class _Reader:
    """Reader of session → tests → table; one summary at the end covers all of a session's tests."""

    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._session: list[Parsed] = []
        self._shared = Parsed()
        self._table: IorTable | None = None
        self._summary: IorSummary | None = None
        self._early: list[tuple[int, str]] = []
        self._finished, self._last = False, 0
        self._n_printed = 0  # lines since the last row
        self._ended_at = ""

    def feed(self, at: int, line: str) -> None:
        """Read one line."""
        stripped = line.strip()
        if not stripped:
            return
        if self._session:
            self._last = at
        first = stripped.split(None, 1)[0]
        if first.startswith("IOR-") and (match := _BANNER.match(line)):
            self._begin_session(match.group(1))
        elif first == "access" and "bw(MiB/s)" in stripped:
            self._table = IorTable(self._get_run(at), stripped.split())
            self._n_printed = 0
        elif first == "Operation" and ("Max(MiB)" in stripped or "Max (MiB)" in stripped):
            self._get_run(at)
            # IOR 2 writes its titles in two words; the next lines have fewer titles than columns.
            head = stripped if "Max(MiB)" in stripped else SUMMARY_OF_IOR_2
            self._summary = IorSummary(self._session, head.split())
        elif first in ("write", "read", "remove") and (table := self._summary or self._table):
            table.add(at, _split_cells(stripped))
            self._note_printing(at, first)
        else:
            self._read_other_line(at, first, stripped)

    def end(self) -> None:
        """Finish after the last line."""
        set_durations(self._session, self._ended_at)
        for run in self._session:
            _close_run(run, self._finished, self._last)
        self._session = []

    def _begin_session(self, version: str) -> None:
        self.end()
        self._shared = Parsed(version=version)
        self._table = self._summary = None
        self._finished, self._ended_at = False, ""
        self._get_run(0)

    def _get_run(self, at: int) -> Parsed:
        if not self._session:
            self._add_run()
            for place, line in self._early:
                _read_trouble(self._session[0], place, line)
            self._early = []
        return self._session[-1]

    def _add_run(self) -> None:
        shared = self._shared
        run = Parsed(version=shared.version, started_at=shared.started_at, facts=dict(shared.facts))
        self._session.append(run)
        self.runs.append(run)

    def _read_other_line(self, at: int, first: str, line: str) -> None:
        run = self._session[-1] if self._session else None
        self._n_printed += first == _OF_RANK
        if line.startswith(("Finished", "Run finished")):
            self._finished = bool(self._session)
            self._ended_at = date_to_iso(line.partition(":")[2])
        elif first in ("ERROR:", "ior", "ior:") or line.startswith(("ERROR", "WARNING:", "** error **")):
            if run is not None:
                _read_trouble(run, at, line)
            elif len(self._early) < 5:
                self._early.append((at, line))  # MPI may pass stderr on before the banner
        elif note_reported_failure(run, at, line) or run is None:
            return
        elif line.startswith("stonewalling pairs accessed"):
            run.facts["stonewalling"] = line[:200]
        elif first == "Test" and (match := re.match(r"Test (\d+) started: (.*)", line)):
            self._begin_test(int(match.group(1)[:9]), match.group(2))
        elif line == "Summary:" and self._summary:
            self._next_of_ior_2()
        elif match := _SETTING.match(line):
            self._read_setting(at, match.group(1).strip(), match.group(2).strip())

    def _note_printing(self, at: int, operation: str) -> None:
        """Note that ranks printed more than when they open and close a file, before the row of an operation."""
        n_printed, self._n_printed = self._n_printed, 0
        run = self._session[-1]
        ranks = run.factors.get("ranks")
        if not isinstance(ranks, int) or n_printed <= _MOST_LINES_PER_RANK * ranks:
            return
        run.contradict(
            Contradiction(
                "S145",
                operation,
                (),
                Message(
                    "printed-in-clock",
                    "{ranks} tasks printed {n_lines} lines while the clock of {operation} ran (-vv): its rate includes "
                    "printing",
                    ranks=ranks,
                    n_lines=n_printed,
                    operation=operation,
                ),
                at,
            )
        )

    def _next_of_ior_2(self) -> None:
        """Begin IOR 2's next test of a script, which repeats neither the banner nor the table's header."""
        names, self._summary = self._table and self._table.names, None
        self._add_run()
        self._table = IorTable(self._session[-1], names) if names else None

    def _begin_test(self, number: int, started: str = "") -> None:
        run = self._session[-1]
        if "test_id" in run.factors:
            self._add_run()
            run = self._session[-1]
        run.factors["test_id"] = number
        run.started_at = date_to_iso(started) or run.started_at
        self._table = None

    def _read_setting(self, at: int, key: str, value: str) -> None:
        run = self._session[-1]
        if key in ("Began", "Run began", "StartTime"):
            run.started_at = date_to_iso(value) or run.started_at
            if key != "StartTime":
                self._shared.started_at = run.started_at
        elif key.startswith("Command line"):
            run.facts["command"] = self._shared.facts["command"] = value
        elif key == "Machine":
            run.facts["system"] = self._shared.facts["system"] = value
        elif key == "TestID" and value.isdigit():
            self._begin_test(int(value[:9]))
        else:
            no_count = key in COUNTS and not value.isdigit()
            if no_count or (_GLUED.search(value) and key not in ("Path", "FS", "test filename")):
                run.lacks(at, GLUED)  # and the setting of the second is lost, on which the table's reading may depend
            set_factor(run, key, value)
            if key in ("Path", "FS", "test filename"):
                run.facts[key.lower().replace(" ", "_")] = value[:1000]


def _split_cells(line: str) -> list[str]:
    words = line.split()
    return words[:-1] if words[-1] in ("EXCEL", "XXCEL") else words  # IOR 2 marks its rows for grep


def _read_trouble(run: Parsed, at: int, line: str) -> None:
    """Read IOR's errors and warnings; some of these invalidate the result."""
    match = _WARNING.match(line)
    if not match:
        run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line[:160]))
        return
    words = match.group(1).strip()
    if _DATA_LOST.search(words):
        run.lacks(at, Message("tool-failed", "IOR says: {quote}", quote=words[:160]))
    elif "partial write" in words or "partial read" in words:
        run.warn(at, Message("short-transfers", "transfers were cut short, and IOR moved the rest by further calls"))
    elif words.startswith("Using actual aggregate bytes"):
        run.warn(
            at,
            Message(
                "stonewalling",
                "fewer bytes moved than requested (stonewalling); the bandwidth counts the bytes that moved",
            ),
        )
    elif not words.lower().startswith(("expected aggregate", "stat()", "maybe caused")):
        run.warn(at, Message("tool-warning", "IOR warns: {quote}", quote=words[:200]))


def _close_run(run: Parsed, finished: bool, last: int) -> None:
    """Check that everything requested is present. IO500 prints IOR's table without summary and end."""
    words = split_command(str(run.facts.get("command", "")))
    complete_settings(run)
    iterations_word = IOR.find_value(words, "iterations") or ""
    n_iterations = run.factors.get("iterations") or (int(iterations_word) if iterations_word.isdigit() else 1)
    requested = {name for name, flag in (("write", "-w"), ("read", "-r")) if flag in words}
    counts = count_iterations(run)
    if run.version.startswith("2.") and not counts:  # without -vv there is only the summary
        for operation in sorted(requested - {row.operation for row in run.rows}):
            run.lacks(last, Message("missing-rows", "{operation}: missing in the summary", operation=operation))
    else:
        check_iterations(run, last, counts, sorted(requested | counts.keys()), int(n_iterations))
    if not counts and not run.rows:
        run.lacks(last, Message("no-results", "no result"))
    elif not finished and run.version.startswith("2."):
        run.lacks(last, Message("ended-early", "the output ends here, without 'Run finished'"))
    elif not finished and not run.missing:
        run.warn(
            last,
            Message(
                "ended-early", "the output ends without 'Finished', as IO500's do: all requested iterations are present"
            ),
        )
