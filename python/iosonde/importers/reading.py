"""Small parsers that several tools share: numbers, units, dates, command lines, JSON inside text."""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.vocabulary.sizes import BINARY as BINARY
from iosonde.core.vocabulary.sizes import parse_size as parse_size

from .parsed import Parsed
from .text import Text

# No tool measures more of anything; larger values are damaged text.
LARGEST = 1e30
DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15, "e": 10**18}
# Units per second: a division rounds right where a product with 1e-9 would not.
PER_SECOND = {
    "ns": 1e9,
    "nsec": 1e9,
    "us": 1e6,
    "usec": 1e6,
    "µs": 1e6,
    "ms": 1e3,
    "msec": 1e3,
    "s": 1.0,
    "sec": 1.0,
    "m": 1 / 60,
    "min": 1 / 60,
    "h": 1 / 3600,
}
_DATES = (
    "%a %b %d %H:%M:%S %Y",
    "%m/%d/%Y %H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%Y-%m-%dT%H:%M:%S",
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}
# Output of ``date``: `Tue Jun 18 08:50:29 AM CST 2024`, `Wed 08 Jan 2020 07:33:21 PM UTC`.
_DATE_OUTPUT = re.compile(
    r"[A-Z][a-z]{2},? (?:([A-Z][a-z]{2}) (\d\d?)|(\d\d?) ([A-Z][a-z]{2}) (\d{4})) (\d\d):(\d\d:\d\d)(?: ([AP]M))?"
    r"(?: [A-Z+-][\w:]{0,9})?(?: (\d{4}))?$"
)
# `[1] local …` and `[host:123] …` begin no list.
_LINE_START = re.compile(r"^(?:\{|\[(?=\s*[{\]]))", re.MULTILINE)
# The first object where none begins a line: a prompt or a quote is before it.
_ANYWHERE = re.compile(r'\{[ \t]*\n\s*"')
# `[root@host ~]#`, a prompt, and `[ ID]` begin no list either.
_BEHIND = re.compile(r"[ \t]*(?:\{|\[(?=\s*[{\[\]\d\"]))")
_BROKEN_DOCUMENTS = 100


def parse_number(text: str) -> float | None:
    """Return the number in ``text``; None if it is none (``-``, ``NA``, ``inf``, a word), is negative or beyond
    LARGEST.

    No measured value is negative: such a number is damaged, or an error code.
    """
    try:
        value = float(text)
    except ValueError:
        return None
    # Comparisons instead of isfinite: this is called for every number of every file.
    return value if 0 <= value < LARGEST and "_" not in text else None


def parse_integer(text: str) -> int | None:
    """Return the integer in ``text``, None if it is none, is negative or needs more than 64 bits."""
    try:
        value = int(text) if len(text) < 30 and "_" not in text else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < 2**63 else None


@lru_cache(maxsize=4096)
def parse_option_size(word: str) -> int | None:
    """Return the bytes of ``9920000m`` as IOR reads it in its command: in steps of 1024; None if it is not a size."""
    match = re.fullmatch(r"(\d{1,18})([kmgtKMGT]?)", word)
    return int(match.group(1)) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[match.group(2).lower()] if match else None


def date_to_iso(text: str) -> str:
    """Convert ``Sat Nov 21 09:26:00 2026`` and other tools' dates to ISO 8601, without zone; '' if not understood."""
    text = " ".join(text.split())
    # The common one by hand: strptime is slow if a log holds many thousand dates, and needs the locale's names.
    parts = text.split(" ")
    if len(parts) == 5 and parts[1] in _MONTHS and parts[2].isdigit() and parts[4].isdigit() and len(parts[3]) == 8:
        return f"{parts[4]}-{_MONTHS[parts[1]]:02d}-{int(parts[2]):02d}T{parts[3]}"
    for form in _DATES:
        try:
            return datetime.strptime(text, form).isoformat()
        except ValueError:
            continue
    return ""


def date_output_to_iso(text: str) -> str:
    """Convert what ``date`` prints, with its zone and with AM or PM, to ISO 8601, without zone; '' if not
    understood."""
    match = _DATE_OUTPUT.match(" ".join(text.split()))
    if match is None:
        return ""
    month, day, other_day, other_month, other_year, hour, rest, half, year = match.groups()
    number, year = _MONTHS.get(month or other_month), year or other_year
    if number is None or not year:
        return ""
    hours = int(hour) % 12 + (12 if half == "PM" else 0) if half else int(hour)
    return f"{year}-{number:02d}-{int(day or other_day):02d}T{hours:02d}:{rest}"


def count_seconds_between(begin: str, end: str) -> float:
    """Return the seconds between two times in ISO 8601; 0 if one is missing or damaged, or they are in the wrong
    order."""
    try:
        return max(0.0, (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds())
    except (TypeError, ValueError):  # with and without a zone; no time
        return 0.0


def set_durations(runs: Sequence[Parsed], ended_at: str) -> None:
    """Set how long the executions of a session took: each ends when the next one begins, the last at ``ended_at``."""
    for run, end in zip(runs, [*(run.started_at for run in runs[1:]), ended_at], strict=False):
        run.seconds = count_seconds_between(run.started_at, end)


def split_command(command: str) -> list[str]:
    """Return the words of a command line; split at blanks if its quotes do not match."""
    return list(_split_command(command))


@lru_cache(maxsize=4096)
def _split_command(command: str) -> tuple[str, ...]:
    # shlex works character by character: only if there is something to unquote, and once.
    if not any(quote in command for quote in "'\"\\"):
        return tuple(command.split())
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return tuple(command.split())


class JsonDocument(NamedTuple):
    """A JSON object in a text: its value (None if broken), its begin and end."""

    value: Any
    begin: int
    end: int
    error_at: int = 0


def iter_json_documents(text: str) -> Iterator[JsonDocument]:
    """Yield every object or list that begins a line at the left edge; the first wherever it is, if none does. A broken
    one has no value; text between is skipped."""
    decoder, at, broken, after_document = json.JSONDecoder(), 0, 0, True
    while (begin := _find_next_begin(text, at, after_document)) >= 0:
        try:
            value, at = decoder.raw_decode(text, begin)
            after_document = True
            yield JsonDocument(value, begin, at)
        except (ValueError, RecursionError) as error:
            broken, at, after_document = broken + 1, begin + 1, False
            yield JsonDocument(None, begin, begin, getattr(error, "pos", begin))
            if broken >= _BROKEN_DOCUMENTS:
                return


def _find_next_begin(text: str, at: int, after_document: bool) -> int:
    """Return the next ``{`` (or list of objects) at the left edge, or right after the previous document; -1 if none.

    Where no line begins with one, the first is wherever it is."""
    match = (_BEHIND.match(text, at) if after_document else None) or _LINE_START.search(text, at)
    if at == 0 and not match and (match := _ANYWHERE.search(text)):
        return match.start()
    return match.end() - 1 if match else -1


def number_from_json(value: Any) -> float | None:
    """Return a number from JSON, by the rules of ``parse_number``: elbencho writes numbers as text; None for True and
    words."""
    kind = type(value)  # of JSON there are no others: this is called for every number of every document
    if kind is float or kind is int:
        return float(value) if 0 <= value < LARGEST else None
    return parse_number(value) if kind is str else None


def list_objects(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects in the list under ``key`` of JSON; none if it is no list."""
    items = document.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def get_json_object(document: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the object under ``key`` of JSON; empty if there is none, or something else."""
    value = document.get(key)
    return value if isinstance(value, dict) else {}


class Lines:
    """Line numbers of positions, mostly requested from front to back: counted on from the last one each time."""

    def __init__(self, text: Text) -> None:
        self._text, self._at, self._line = text.content, 0, 1

    def at(self, position: int) -> int:
        """Return the line of ``position``."""
        if position < self._at:
            self._line -= self._text.count("\n", position, self._at)
        else:
            self._line += self._text.count("\n", self._at, position)
        self._at = position
        return self._line

    def locate_needle(self, needle: str, begin: int, end: int | None = None) -> tuple[int, int]:
        """Return (line, position) of ``needle`` after ``begin``; those of ``begin`` if it is absent."""
        index = self._text.find(needle, begin, len(self._text) if end is None else end)
        place = index if index >= 0 else begin
        return self.at(place), place

    def find_line(self, needle: str, begin: int, end: int) -> int:
        """Return the line of ``needle`` between two places; that of ``begin`` if it is absent."""
        return self.locate_needle(needle, begin, end)[0]


def read_json_runs(text: Text, read: Callable[[Parsed, JsonDocument, Lines], None]) -> list[Parsed]:
    """Return one Parsed for each document; ``read`` fills it from an object. Anything else is left out, with a
    message."""
    lines, runs = Lines(text), list[Parsed]()
    for document in iter_json_documents(text.content):
        run = Parsed()
        runs.append(run)
        if isinstance(document.value, dict):
            read(run, document, lines)
        else:
            run.lacks(
                lines.at(document.begin), Message("damaged-lines", "the JSON is broken or ends early here: left out")
            )
    return runs


def build_broken_run(text: Text, document: JsonDocument) -> Parsed:
    """Return the Parsed of an unreadable document, with the place where it breaks."""
    run = Parsed()
    run.lacks(
        Lines(text).at(document.error_at),
        Message("damaged-lines", "the JSON is broken or ends early here: nothing of it is read"),
    )
    return run


def parse_factor_value(text: str) -> FactorValue:
    """Return ``8`` as a number, ``2024-05-03`` and ``zeus`` as text."""
    text = text.strip()
    for read in (int, float):
        try:
            value = read(text)
        except ValueError:
            continue
        if "_" not in text and -(2**63) <= value < 2**63:
            return value
    return text
