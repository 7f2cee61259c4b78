"""``time`` in its dialects: bash, POSIX (``-p``), GNU (also ``-v``), BSD (also ``-l``), and those of csh and zsh.

    real	0m0.037s                                     bash, ksh
    real 0.04                                            POSIX
    0.00user 0.03system 0:00.05elapsed 70%CPU …          GNU
            0.02 real         0.00 user         0.00 sys  BSD, macOS

becomes ``command real``, ``user`` and ``sys`` in s; each sample is one run. Other output between the lines is ignored.
Samples of different commands, as GNU prints them or as the prompt above shows, differ in the factor ``program``.
A failed command (``terminated abnormally``, ``exited with non-zero status``) makes its sample incomplete.
"""

import re
from collections.abc import Sequence
from itertools import dropwhile

from iosonde.core.message import Message

from .command_lines import CommandLines
from .parsed import LIKELY, WEAK, Claim, Parsed, Row
from .reading import parse_number
from .text import Text

NAME = "time"
HEADLINE = ("real",)

# With -h the times have units, as in mksh, which prints `system`.
_BSD = re.compile(
    r"\s*((?:\d+[hm])*\d+\.\d+)s?\s+real\s+((?:\d+[hm])*\d+\.\d+)s?\s+user"
    r"\s+((?:\d+[hm])*\d+\.\d+)s?\s+sys(?:tem)?\s*$"
)
_GNU = re.compile(r"\s*(\d+\.\d+)user (\d+\.\d+)system (\d+(?::\d+)*(?:\.\d+)?)elapsed")
_ZSH = re.compile(r".*?\s(\d+\.\d+)s user (\d+\.\d+)s system \d+% cpu (\d+(?::\d+)*(?:\.\d+)?) total\s*$")
_CSH = re.compile(r"\s*(\d+\.\d+)u (\d+\.\d+)s (\d+:\d+(?::\d+)*(?:\.\d+)?) \d+(?:\.\d+)?%")
_LINE = re.compile(r"(real|user|sys)\s+(?:(?:(\d+)h ?)?(\d+)m ?(\d+(?:\.\d+)?)s|(\d+(?:\.\d+)?)s?)\s*$")
_VERBOSE = re.compile(
    r"\s*(Command being timed|User time \(seconds\)|System time \(seconds\)|Elapsed \(wall clock\) time[^)]*\)"
    r"|Exit status|Maximum resident set size \(kbytes\)): ?(.*)$"
)
_FAILED = ("terminated abnormally", "Command exited with non-zero status", "Command terminated by signal")


def claims(text: Text) -> Claim | None:
    """Recognise a line of one of the dialects."""
    for pattern, words, score in (
        (_GNU, "elapsed", LIKELY),
        (_BSD, " user", LIKELY),
        (_ZSH, "% cpu ", WEAK),
        (_CSH, "u ", WEAK),
    ):
        if hit := text.search(pattern, words):
            return Claim.from_match(score + 10, hit)
    if claim := Claim.from_match(LIKELY + 10, text.find("Elapsed (wall clock) time")):
        return claim
    has_parts = "user" in text.content and "sys" in text.content
    return Claim.from_match(LIKELY + 10, text.search(_LINE, "\nreal")) if has_parts else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each sample."""
    samples = _Samples()
    for at, line in text.numbered():
        if line:
            samples.feed(at, line)
    samples.end()
    _add_commands(samples.runs, CommandLines(text, NAME))
    return samples.runs


def _add_commands(runs: Sequence[Parsed], commands: CommandLines) -> None:
    """Add to each sample the command that it is of; different commands are different settings, and no trials."""
    for run in runs:
        command = commands.find_above(run.rows[0].line) if run.rows else None
        if command and command.words:
            run.facts.setdefault("command", " ".join(dropwhile(_is_option, command.words))[:4000])
    if len({run.facts["command"] for run in runs if "command" in run.facts}) > 1:
        for run in runs:
            if "command" in run.facts:
                run.factors["program"] = run.facts["command"][:200]


def _is_option(word: str) -> bool:
    return word.startswith("-")


class _Samples:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._open: Parsed | None = None
        self._failed: tuple[int, str] | None = None
        self._command = ""

    def feed(self, at: int, line: str) -> None:
        if any(words in line for words in _FAILED):
            self._failed = (at, line.strip()[:160])
        elif match := _BSD.match(line):
            self._add_sample(at, match.group(1), match.group(2), match.group(3))
        elif (match := _GNU.match(line)) or (match := _ZSH.match(line)) or (match := _CSH.match(line)):
            self._add_sample(at, match.group(3), match.group(1), match.group(2))
        elif match := _LINE.match(line):
            self._add_part(at, match)
        elif line.startswith("\t") and (match := _VERBOSE.match(line)):
            self._add_verbose(at, match.group(1), match.group(2).strip())

    def _begin_sample(self) -> Parsed:
        run = Parsed()
        self.runs.append(run)
        if self._failed:
            run.lacks(self._failed[0], Message("tool-failed", "the command failed: {quote}", quote=self._failed[1]))
            self._failed = None
        return run

    def _add_sample(self, at: int, real: str, user: str, system: str) -> None:
        self.end()
        run = self._begin_sample()
        for metric, word in (("real", real), ("user", user), ("sys", system)):
            self._add_row(run, at, metric, _parse_seconds(word))
        self._close_sample(run, at)

    def _add_part(self, at: int, match: re.Match[str]) -> None:
        metric, hours, minutes, seconds, plain = match.groups()
        if metric == "real":
            self.end()
            self._open = self._begin_sample()
        if self._open is None or any(row.metric == metric for row in self._open.rows):
            return
        value = (
            parse_number(plain)
            if plain
            else (parse_number(seconds) or 0.0) + 60.0 * int(minutes) + 3600.0 * int(hours or 0)
        )
        self._add_row(self._open, at, metric, value)
        if len(self._open.rows) == 3:
            self._close_sample(self._open, at)
            self._open = None

    def _add_verbose(self, at: int, key: str, word: str) -> None:
        if key == "Command being timed":
            self.end()
            self._open = self._begin_sample()
            self._open.facts["command"] = word.strip('"')[:4000]
        elif self._open is None:
            return
        elif key.startswith("User"):
            self._add_row(self._open, at, "user", parse_number(word))
        elif key.startswith("System"):
            self._add_row(self._open, at, "sys", parse_number(word))
        elif key.startswith("Elapsed"):
            self._add_row(self._open, at, "real", _parse_seconds(word.rpartition(" ")[2]))
        elif key.startswith("Maximum") and (value := parse_number(word)) is not None:
            self._open.rows.append(Row("command", "memory_max", value * 1024, "bytes", at, None, len(self.runs) - 1))
        elif key == "Exit status" and word != "0":
            self._open.lacks(at, Message("tool-failed", "the command ended with status {status}", status=word[:20]))

    def _add_row(self, run: Parsed, at: int, metric: str, value: float | None) -> None:
        if value is None:
            run.lacks(at, Message("invalid-number", "{metric} is not a time", metric=metric))
        else:
            run.rows.append(Row("command", metric, value, "s", at, None, len(self.runs) - 1))

    def _close_sample(self, run: Parsed, at: int) -> None:
        if any(row.metric == "real" and row.value == 0 for row in run.rows):
            run.warn(
                at, Message("low-resolution", "0 s: the clock of this time has too few digits for such a short command")
            )

    def end(self) -> None:
        if self._open is not None:
            if lacking := {"real", "user", "sys"} - {row.metric for row in self._open.rows}:
                line = self._open.rows[-1].line if self._open.rows else 0
                self._open.lacks(
                    line,
                    Message(
                        "missing-value", "{metrics} of this sample are missing", metrics=" and ".join(sorted(lacking))
                    ),
                )
            self._close_sample(self._open, 0)
            self._open = None


def _parse_seconds(word: str) -> float | None:
    """Convert ``0:00.05``, ``1:02:03``, ``1m2.5``, ``0.05`` to s."""
    total = 0.0
    for part in re.split("[:hm]", word):
        value = parse_number(part)
        if value is None or value < 0:
            return None
        total = total * 60 + value
    return total
