"""elbencho's result table → Parsed. For the meaning of the rows see elbencho.py."""

import re
from collections.abc import Sequence
from functools import lru_cache

from iosonde.core.message import Message
from iosonde.core.vocabulary import ELBENCHO

from .command_lines import CommandLines
from .parsed import GLUED, Parsed, Row
from .reading import PER_SECOND, date_to_iso, parse_number, split_command
from .text import Text

MIB = 1024.0**2
_HEAD = re.compile(r"\s*OPERATION\s+RESULT TYPE\s+FIRST DONE\s+LAST DONE")
_WORDS = ("Elapsed", "IO ", "Files ", "Dirs ", "Ent", "Objects ", "Buckets ")
_DURATION = re.compile(r"(?:(\d+)h:?)?(?:(\d+)m(?!s):?)?(\d+(?:\.\d+)?)(ms|us|ns|s)?$")
_SPREAD = re.compile(r"(min|avg|max)=([\d.]+)(us|ms|ns|s)")
_PERCENTILE = re.compile(r"(?<![\d.])([\d.]++)%<=([\d.]++)")
_ENDED = ("Terminating due to phase time limit", "Terminating due to", "Interrupted", "interrupt signal", "Stopping")
# Result type → quantity, unit, factor. The operation separates "read" and "write" of a mix.
_QUANTITIES = (
    (re.compile(r"(?:Files|Dirs|Entries|Objects|Buckets)/s$"), "rate", "operations/s", 1.0),
    (re.compile(r"IOPS$"), "access_rate", "operations/s", 1.0),
    (re.compile(r"(?:Throughput )?MiB/s$"), "bandwidth", "bytes/s", MIB),
    (re.compile(r"(?:Total )?MiB$"), "bytes", "bytes", MIB),
    (re.compile(r"(?:Files|Dirs|Entries|Objects|Buckets) total$"), "operations", "operations", 1.0),
    (re.compile(r"CPU util %$"), "cpu_utilization", "", 0.01),
)


def parse_text(text: Text) -> list[Parsed]:
    """Return the phases of one table as one run; a repeated phase, or a new header after results, begins the next."""
    state = _State(CommandLines(text, ELBENCHO.name))
    for at, line in text.numbered():
        state.feed(at, line)
    if not state.runs:
        state.runs.append(Parsed())
        occurrence = text.find("ERROR:")
        line = text.lines[occurrence[0] - 1].strip()[:200] if occurrence else "no result table (a dry run, or cut off)"
        state.runs[0].lacks(
            occurrence[0] if occurrence else text.last_line,
            Message("tool-failed", "elbencho ended without a result: {quote}", quote=line),
        )
    state.finish(text.last_line)
    return state.runs


class _State:
    def __init__(self, commands: CommandLines) -> None:
        self.runs: list[Parsed] = []
        self._commands = commands
        self._settings = Parsed()
        self._phase, self._in_table, self._pending = "", False, False
        self._errors: list[tuple[int, str]] = []

    def feed(self, at: int, line: str) -> None:
        stripped = line.strip()
        if not stripped:
            return
        if "RESULT TYPE" in stripped and _HEAD.match(line):
            self._begin_run(at)
        elif stripped.startswith("COMMAND LINE:"):
            command = stripped.partition(":")[2].strip()
            _add_command(self._settings, command, split_command(command))
        elif stripped.startswith("ISO DATE:"):
            self._settings = Parsed(started_at=date_to_iso(stripped[9:].strip()[:19]))
        elif stripped == "---":
            self._pending = False
            self._phase = ""
        elif stripped.startswith("---") and self._in_table and self.runs:
            self.runs[-1].lacks(at, GLUED)
            self._in_table = False
        elif ":" not in stripped and any(words in stripped for words in _ENDED):
            (self.runs[-1] if self.runs else self._settings).lacks(
                at, Message("ended-early", "it ended early: {quote}", quote=stripped[:120])
            )
        elif "ERROR:" in stripped:
            self._errors.append((at, stripped))
            if self.runs:
                self.runs[-1].lacks(at, Message("tool-failed", "it failed: {quote}", quote=stripped[:160]))
        elif self._in_table and (parts := _parse_result_line(line)):
            if self.runs and not (parts[0] or self._phase):
                self.runs[-1].lacks(at, GLUED)
            else:
                self._add_result(at, *parts)
        elif self._in_table and not stripped.startswith("==="):
            self._in_table = not (line[:1].isalnum() and self._phase)

    def _begin_run(self, at: int) -> None:
        settings = self._settings
        run = Parsed(settings.version, [], dict(settings.factors), dict(settings.facts), settings.started_at)
        if "command" not in run.facts and (command := self._commands.find_above(at)) and command.words:
            _add_command(run, command.text, command.words)
        run.missing = list(settings.missing)
        self.runs.append(run)
        for at, line in self._errors:
            run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line[:160]))
        self._errors, self._phase, self._in_table = [], "", True

    def _add_result(self, at: int, phase: str, label: str, rest: str) -> None:
        run = self.runs[-1]
        if phase:
            self._phase, self._pending = phase.lower(), True
        if not self._phase:
            run.warn(at, Message("unreadable-lines", "a result without its operation: left out"))
            return
        if label.startswith("Elapsed"):
            self._add_elapsed(run, at, label, rest.split())
        elif rest.startswith("["):
            self._add_latencies(run, at, label, rest)
        else:
            self._add_rates(run, at, label, rest.split())

    def _add_elapsed(self, run: Parsed, at: int, label: str, words: list[str]) -> None:
        for name, word in zip(("first_done", "last_done"), words, strict=False):
            value = parse_seconds(word, in_ms=label.endswith("ms"))
            if value is None:
                run.warn(at, Message("invalid-number", "'{cell}' is not a duration: left out", cell=word[:40]))
            else:
                run.rows.append(Row(self._phase, f"time_{name}", value, "s", at))
        if len(words) != 2:
            run.lacks(at, Message("damaged-lines", "the row is cut"))

    def _add_rates(self, run: Parsed, at: int, label: str, words: list[str]) -> None:
        base, _, which = label.rpartition(" ")
        operation = self._phase
        # "IOPS total" is that of a mix, "Files total" a number of files.
        if which in ("read", "write", "total") and _parse_quantity(label) is None:
            label, operation = base, f"{self._phase}_{which}"
        if (definition := _parse_quantity(label)) is None:
            return
        values = [parse_number(word) for word in words]
        if len(values) != 2 or None in values:
            run.lacks(
                at,
                Message(
                    "damaged-lines",
                    "{label} of {operation} is cut or damaged: left out",
                    label=label,
                    operation=operation,
                ),
            )
            return
        quantity, unit, factor = definition
        for name, value in zip(("first_done", "last_done"), values, strict=True):
            if (value or 0) > 0 or not unit.endswith("/s"):
                run.rows.append(Row(operation, f"{quantity}_{name}", (value or 0) * factor, unit, at))

    def _add_latencies(self, run: Parsed, at: int, label: str, rest: str) -> None:
        kind = "latency" if label.startswith(("Files", "Dirs", "Ent")) else "access_latency"
        operation = self._phase
        for short, name in (("IO rd", "read"), ("IO wr", "write")):
            if label.startswith(short):
                operation = f"{self._phase}_{name}"
        if "hist" in label:
            return
        if not rest.endswith("]"):
            run.lacks(at, Message("damaged-lines", "{label} is cut: left out", label=label))
            return
        for statistic, word, unit in _SPREAD.findall(rest):
            if (value := parse_number(word)) is not None:
                name = f"{kind}_{'mean' if statistic == 'avg' else statistic}"
                run.rows.append(Row(operation, name, value / PER_SECOND[unit], "s", at))
        for level, word in _PERCENTILE.findall(rest) if "%" in label else ():
            if (value := parse_number(word)) is not None:
                run.rows.append(Row(operation, f"{kind}_p{level}", value / 1e6, "s", at))

    def finish(self, last: int) -> None:
        for run in self.runs:
            if not run.rows and not run.missing:
                run.lacks(last, Message("no-results", "the table holds no result"))
        if self._pending and self.runs:
            self.runs[-1].lacks(last, Message("ended-early", "the output ends inside a phase's block"))


def _add_command(run: Parsed, command: str, words: Sequence[str]) -> None:
    """Add a command, and the settings among its words."""
    run.facts["command"] = command
    settings = ELBENCHO.read_settings(words)
    run.factors |= {name: value for name, value in settings.items() if value is not None}
    if (hosts := ELBENCHO.find_value(words, "hosts")) and "[" not in hosts:
        run.factors["nodes"] = len([host for host in re.split(r"[,\s]+", hosts) if host])


def _parse_result_line(line: str) -> tuple[str, str, str] | None:
    """Return (operation or '', result type, values) of a line of the table; None for any other text with a colon."""
    head, colon, rest = line.partition(":")
    words = head.split()
    phase = words.pop(0) if words and not head[0].isspace() else ""
    label = " ".join(words)
    if not colon or not rest[:1].isspace() or not rest.strip() or not label:
        return None
    is_label = label.startswith(_WORDS) or _parse_quantity(_strip_kind(label))
    return (phase, label, rest.strip()) if is_label else None


def _strip_kind(label: str) -> str:
    base, _, which = label.rpartition(" ")
    return base if which in ("read", "write", "total") and base else label


@lru_cache(maxsize=256)
def _parse_quantity(label: str) -> tuple[str, str, float] | None:
    """Return quantity, unit and factor of a result type; None for one that is not read."""
    return next((item[1:] for item in _QUANTITIES if item[0].match(label)), None)


def parse_seconds(word: str, in_ms: bool = False) -> float | None:
    """Return the seconds of ``69ms``, ``3.001s``, ``1m:02.5s``, or a plain number of ms in older versions."""
    if not (match := _DURATION.match(word)):
        return None
    hours, minutes, rest, unit = match.groups()
    is_plain = unit is None and not in_ms and not (hours or minutes)
    if is_plain or len(hours or "") > 9 or len(minutes or "") > 9 or (read := parse_number(rest)) is None:
        return None
    value = read / PER_SECOND[unit or ("ms" if in_ms else "s")]
    return 3600.0 * int(hours or 0) + 60.0 * int(minutes or 0) + value
