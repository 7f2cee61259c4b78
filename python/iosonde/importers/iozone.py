"""IOzone: automatic tables (also ops/s and microseconds), throughput, cluster mode, and the blocks of ``-R``.

Made by ``iozone -a``, ``iozone -t 2 -s 8m -r 64k``, ``iozone -+m hosts -t 8``, ``iozone -Ra``:

        Children see throughput for  2 initial writers 	= 5341180.50 kB/sec
        Parent sees throughput for  2 initial writers 	= 4467159.55 kB/sec

becomes ``write bandwidth_sum_of_ranks`` and ``write bandwidth_last_done`` in bytes/s (a kB is 1024 bytes in every
version). Children: the sum of each process's own rate until the first one is done; parent: all bytes over the time that
the parent waited. A row of a table

              kB  reclen    write  rewrite    read    reread
              64       4  1083249  5735102  8182586  9006179

becomes one run with factors ``file_size`` and ``record_size``, and a result for each column. Quoted blocks (``"Writer
report"``) repeat the table, and are read only if there is none.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.vocabulary import IOZONE

from .iozone_blocks import Unit, add_excel_rows, parse_unit, read_sheet_lines
from .iozone_table import OPERATIONS, IozoneTable, list_requested
from .parsed import CERTAIN, GLUED, LIKELY, Claim, Parsed, Row, WrittenPart
from .reading import date_to_iso, parse_number, parse_size, split_command
from .text import Text

NAME = "iozone"
BEGINS = ("Iozone: Performance Test of File I/O",)
HEADLINE = ("bandwidth", "rate")

_CERTAIN_WORDS = (*BEGINS, "iozone test complete", "Children see throughput for", "Parent sees throughput for")
_LIKELY_WORDS = ("random    random     bkwd", "frewrite", '"Writer report"', '"Throughput report')
_SWITCHES: dict[str, tuple[str, FactorValue]] = {
    "O_DIRECT feature enabled": ("direct", True),
    "SYNC Mode": ("sync", True),
    "O_SYNC": ("sync", True),
    "Network distribution mode enabled": ("mode", "cluster"),
}

_THROUGHPUT = re.compile(
    r"\s*(Children|Parent) sees? throughput for\s+(\d+)\s+(\S.*?)\s*=\s*(\S+)\s*(\S.*?)?\s*$", re.IGNORECASE
)
_PROCESS = re.compile(r"\s*(Min|Max|Avg) (?:throughput per (?:process|thread)|xfer)\s*=\s*(\S+)\s*(\S.*?)?\s*$")
_CHILD = re.compile(r"\s*Child\[(\d+)\] xfer count =\s*(\S+) (\w+), Throughput =\s*(\S+) ([^\s,]+)")
_CPU = re.compile(
    r"\s*CPU utilization: Wall time\s+(\S+)\s+CPU time\s+(\S+)\s+CPU utilization\s+(\S+) %", re.IGNORECASE
)
# The first words of lines with settings: most of the banner names contributors.
_SETTING_WORDS = frozenset(
    (
        "Iozone:",
        "Version",
        "Run",
        "Command",
        "Output",
        "OPS",
        "Microseconds/op",
        "iozone",
        "iozone:",
        "Iozone",
        "Throughput",
        "File",
        "Record",
        "O_DIRECT",
        "SYNC",
        "O_SYNC",
        "Include",
        "Percent",
        "Network",
        "Can",
        "Error",
        "error",
        "ERROR",
        "Error:",
        "Timer",
    )
)
_SIZE_SET = re.compile(r"\s*(File size set to|Record Size)\s+(\d+)\s*(\S+)")


def claims(text: Text) -> Claim | None:
    """Recognise the banner, else a line that only IOzone prints."""
    if b"iozone" in text.raw[:200] and text.raw[:2] == b"\x09\x00":
        return Claim(CERTAIN, 1, "an Excel sheet with iozone's command line")
    return Claim.from_match(CERTAIN, text.find(*_CERTAIN_WORDS)) or Claim.from_match(LIKELY, text.find(*_LIKELY_WORDS))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each execution."""
    if text.raw[:2] == b"\x09\x00":
        return _parse_sheet(read_sheet_lines(text.raw))
    return _parse_lines(text.numbered(), "the output")


def _parse_sheet(lines: Sequence[str]) -> list[Parsed]:
    """Return the executions of a sheet, whose first cell is the command."""
    runs = _parse_lines(enumerate(lines, 1), "the sheet")
    for run in runs:
        run.form = "sheet"
        run.facts.setdefault("command", lines[0].strip('" '))
    return runs


def _parse_lines(lines: Iterable[tuple[int, str]], what: str) -> list[Parsed]:
    reader = _Reader(what)
    for at, line in lines:
        reader.feed(at, line)
    reader.end()
    return reader.runs


class _Reader:
    """Reader with the state so far: IOzone prints its settings once, and numbers refer to them."""

    def __init__(self, what: str) -> None:
        self.runs: list[Parsed] = []
        self._what = what
        self._run: Parsed | None = None
        self._begin_run()

    def _begin_run(self) -> None:
        self._unit: Unit | None = None
        self._table: IozoneTable | None = None
        self._operation = ""
        self._includes = set[str]()
        self._done, self._headed, self._last = False, False, 0
        self._quoted: list[tuple[int, str]] = []
        self._requested: tuple[str, ...] = ()

    def _get_run(self, new: bool = False) -> Parsed:
        if self._run is None or new or self._done:
            self.end()
            self._begin_run()
            self._run = Parsed()
            self.runs.append(self._run)
        return self._run

    def feed(self, at: int, line: str) -> None:
        """Read one line."""
        stripped = line.strip()
        if not stripped:
            return
        if self._run is not None:
            self._last = at
        if stripped.startswith('"'):
            if self._run is None:
                self._get_run()
            self._quoted.append((at, stripped))
        elif stripped[0].isdigit():
            if self._table is not None and self._table.fits(stripped):
                self._table_row(at, line, self._table)
        elif self._read_throughput(at, line, first := stripped.split(None, 1)[0]):
            return
        elif first == "CPU":
            self._read_cpu(at, line)
        elif "reclen" in stripped:
            self._read_header(at, line)
        elif first in _SETTING_WORDS or "No space left on device" in line or "not supported" in line:
            self._read_setting(at, stripped)

    # Settings

    def _read_setting(self, at: int, line: str) -> None:
        if line.startswith("Iozone: Performance Test"):
            self._get_run(new=True)
            self._headed = True
        elif line.startswith("Version $Revision:"):
            self._get_run().version = line.removeprefix("Version $Revision:").strip(" $")
        elif line.startswith("Run began:"):
            run = self._get_run(new=bool(self._run and (self._run.started_at or self._run.rows)))
            self._headed = True
            run.started_at = date_to_iso(line.removeprefix("Run began:"))
        elif line.startswith("Command line used:"):
            self._read_command(line.removeprefix("Command line used:").strip())
        elif line.startswith("Output is in"):
            self._set_unit(at, line.removeprefix("Output is in").strip(" ."))
        elif line.startswith("OPS Mode"):
            self._set_unit(at, "ops/sec")
        elif line.startswith("Microseconds/op Mode"):
            self._set_unit(at, "microseconds/op")
        elif line.startswith("iozone test complete") and self._run is not None:
            self._done = True
        elif self._run is not None:
            self._read_switches(at, line)

    def _read_command(self, command: str) -> None:
        run = self._get_run(new=bool(self._run and "command" in self._run.facts))
        self._headed = True
        run.facts["command"] = command
        words = split_command(command)
        self._requested = list_requested(words)
        if "-+m" in words:
            run.factors["mode"] = "cluster"
        run.factors |= IOZONE.read_settings(words)
        run.written = {PurePath(word).name: WrittenPart() for word in words[1:] if word[0] != "-"}
        self._includes |= {word for name, word in (("-c", "close"), ("-e", "fsync")) if name in words}

    def _read_switches(self, at: int, line: str) -> None:
        run = self._run
        assert run is not None
        if match := re.match(r"Throughput test with (\d+) (?:process|thread)", line):
            self._begin_processes(int(match.group(1)[:9]))
        elif match := _SIZE_SET.match(line):
            key = "file_size" if match.group(1).startswith("File") else "record_size"
            run.factors[key] = parse_size(f"{match.group(2)} {match.group(3)[:1]}iB")
        elif switch := next((switch for words, switch in _SWITCHES.items() if line.startswith(words)), None):
            run.factors[switch[0]] = switch[1]
        elif line.startswith(("Include fsync in write timing", "Include close in write timing")):
            self._includes.add(line.split()[1])
        elif line.startswith("Percent read in mix test is"):
            run.factors["percent_read"] = int(parse_number(line.split()[-1]) or 0)
        elif "not supported" in line or line.lower().startswith(("can not", "error", "iozone: ")):
            run.lacks(at, Message("tool-failed", "iozone ended with: {quote}", quote=line[:200]))
        elif "No space left on device" in line:
            run.lacks(at, Message("no-space", "the file system was full"))
        elif line.startswith("Timer resolution is poor"):
            run.warn(at, Message("low-resolution", "iozone reports that its timer is too coarse for small transfers"))

    def _set_unit(self, at: int, words: str) -> None:
        run = self._get_run()
        self._unit = parse_unit(words)
        if self._unit is None:
            run.warn(at, Message("unknown-unit", "unknown unit '{unit}': the table is not read", unit=words[:40]))
        elif self._unit.reading:
            run.warn(at, self._unit.reading)

    # Tables

    def _read_header(self, at: int, line: str) -> None:
        if (table := IozoneTable.from_header(line)) is None:
            return
        self._get_run()
        self._table = table
        if self._unit is None:
            self._set_unit(at, "kBytes/sec")
            self._get_run().warn(
                at, Message("assumed-unit", "the unit of this table is missing: it was read as kBytes/sec")
            )

    def _table_row(self, at: int, line: str, table: IozoneTable) -> None:
        run, unit = self._get_run(), self._unit
        row = table.row(line, self._requested)
        if isinstance(row, str):
            run.warn(at, row)
            return
        if unit is None:
            return
        factors: dict[str, FactorValue] = {"file_size": row.file_size, "record_size": row.record_size}
        if not all(word.isdecimal() and len(word) < 18 and word != "0" for word in row.words):
            for name, word in zip(row.names, row.words, strict=True):
                self._add_row(at, name, unit, word, "last_done", factors=factors)
            return
        # A row of plain numbers, as nearly all are; a file may hold a million.
        metric, inside, factor, base = unit.metric("last_done"), self._join_included(), unit.factor, unit.base
        for name, word in zip(row.names, row.words, strict=True):
            includes = inside if "write" in name else ""
            run.rows.append(Row(name, metric, float(word) * factor, base, at, None, None, None, includes, factors))

    def _join_included(self) -> str:
        return ",".join(sorted(self._includes, key=("fsync", "close").index))

    # Throughput

    def _read_throughput(self, at: int, line: str, first: str) -> bool:
        """Return whether this was a line of a throughput test; ``first`` is its first word."""
        if first in ("Children", "Parent") and (match := _THROUGHPUT.match(line)):
            who, count, label, word, unit = match.groups()
            operation = OPERATIONS.get(label.lower())
            run = self._get_run()
            self._operation = operation or re.sub(r"\W+", "_", label.lower())[:60]
            if operation is None:
                run.warn(
                    at,
                    Message(
                        "unknown-operation",
                        "unknown operation '{operation}': its name was kept",
                        operation=label[:40],
                    ),
                )
            run = self._begin_processes(int(count[:9]))
            self._add_row(
                at,
                self._operation,
                self._line_unit(at, unit),
                word,
                "sum_of_ranks" if who.lower() == "children" else "last_done",
            )
        elif first in ("Min", "Max", "Avg") and self._operation and self._run and (match := _PROCESS.match(line)):
            if line.count("=") > 1:
                self._run.lacks(at, GLUED)
            else:
                self._add_process(at, match)
        elif first[:6] == "Child[" and self._operation and self._run and (match := _CHILD.match(line)):
            rank = int(match.group(1)[:9])
            self._add_row(at, self._operation, self._line_unit(at, match.group(5)), match.group(4), "own", rank=rank)
        else:
            return False
        return True

    def _begin_processes(self, count: int) -> Parsed:
        """Return the run with ``count`` processes: ``-l 1 -u 4`` tests each number, and prints the settings once."""
        before = self._get_run()
        if not before.rows or before.factors.get("ranks", count) == count:
            before.factors["ranks"] = count
            return before
        self._run = Parsed(before.version, [], before.factors | {"ranks": count}, dict(before.facts), before.started_at)
        self._run.warnings = list(before.warnings)
        self.runs.append(self._run)
        return self._run

    def _add_process(self, at: int, match: re.Match[str]) -> None:
        which, word, unit = match.groups()
        name = {"Min": "rank_min", "Max": "rank_max", "Avg": "rank_mean"}[which]
        value = parse_number(word)
        if "xfer" in match.group():
            base, factor = ("bytes", 1024) if (unit or "").lower().startswith("k") else ("operations", 1)
            if value is not None and self._run is not None:
                self._run.rows.append(Row(self._operation, f"{base}_{name}", value * factor, base, at))
            return
        if value == 0 and which == "Min" and self._run is not None:
            self._run.warn(
                at,
                Message("too-short", "a process had moved nothing when the first one was done: the test is too short"),
            )
        self._add_row(at, self._operation, self._line_unit(at, unit), word, name)

    def _line_unit(self, at: int, words: str | None) -> Unit | None:
        unit = parse_unit(words or "")
        if unit is not None and unit.reading:
            self._get_run().warn(at, unit.reading)
        return unit

    def _read_cpu(self, at: int, line: str) -> None:
        match = _CPU.match(line)
        if not (match and self._operation and self._run is not None):
            return
        names = (("wall_time", "s", 1.0), ("cpu_time", "s", 1.0), ("cpu_utilization", "", 0.01))
        for (name, unit, factor), word in zip(names, match.groups(), strict=True):
            if (value := parse_number(word)) is not None:
                self._run.rows.append(Row(self._operation, name, value * factor, unit, at))

    def _add_row(
        self,
        at: int,
        operation: str,
        unit: Unit | None,
        word: str,
        clock: str,
        rank: int | None = None,
        factors: dict[str, FactorValue] | None = None,
    ) -> None:
        run, value = self._get_run(), parse_number(word)
        if value is None or unit is None or value < 0:
            run.warn(
                at,
                Message(
                    "unknown-unit",
                    "'{cell}' of {operation} is not a number with a known unit: left out",
                    cell=word[:40],
                    operation=operation,
                ),
            )
        elif value == 0 and clock in ("sum_of_ranks", "last_done"):
            run.lacks(
                at,
                Message(
                    "no-results",
                    "{operation} moved nothing (0 was printed): it failed, or the file system was full",
                    operation=operation,
                ),
            )
        else:
            includes = self._join_included() if "write" in operation else ""
            run.rows.append(
                Row(
                    operation,
                    unit.metric(clock),
                    value * unit.factor,
                    unit.base,
                    at,
                    rank,
                    None,
                    None,
                    includes,
                    factors,
                )
            )

    # The end of an execution

    def end(self) -> None:
        """Finish the execution after its last line."""
        run = self._run
        if run is None:
            return
        if not run.rows and self._quoted:
            add_excel_rows(run, self._quoted, self._unit)
        elif not self._done and self._headed:
            run.lacks(
                self._last,
                Message("ended-early", "{table} ends here, without 'iozone test complete.'", table=self._what),
            )
        elif not self._done and run.rows:
            run.warn(
                run.rows[0].line,
                Message("excerpt", "an excerpt without the settings and the end of the test"),
            )
        elif self._done and not run.rows and not run.missing:
            run.lacks(self._last, Message("no-results", "the test is complete but has no number"))
