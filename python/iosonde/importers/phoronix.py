"""Phoronix Test Suite: ``composite.xml`` and exports of OpenBenchmarking.org.

    <Result><Identifier>pts/fio-2.1.0</Identifier><Description>Type: Random Read - Block Size: 4KB</Description>
    <Scale>IOPS</Scale><Data><Entry><Identifier>nvme</Identifier><Value>1200</Value>
    <RawString>1190:1210</RawString></Entry></Data></Result>

becomes, for the operation ``fio``, ``rate`` of each of its executions (``iteration``), and ``rate_mean``; MB/s are
``bandwidth``, seconds ``time``, latencies ``latency``, any other scale ``result``. Each system is one run; the test
and what its description lists are factors. Phoronix takes numbers out of other tools' outputs: what MB is there, it
does not say. Graphs over time are left out.
"""

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import parse_number
from .text import Text

NAME = "phoronix"
HEADLINE = ("bandwidth", "rate", "latency", "time", "result")

_ROOT = "PhoronixTestSuite"
# Scale in small letters → metric, unit, factor.
_SCALES: dict[str, tuple[str, str, float]] = {
    "iops": ("rate", "operations/s", 1.0),
    "files/s": ("rate", "operations/s", 1.0),
    "ops/s": ("rate", "operations/s", 1.0),
    "op/s": ("rate", "operations/s", 1.0),
    "tps": ("rate", "operations/s", 1.0),
    "requests/s": ("rate", "operations/s", 1.0),
    "seconds": ("time", "s", 1.0),
    "sec": ("time", "s", 1.0),
    "milliseconds": ("latency", "s", 1e-3),
    "ms": ("latency", "s", 1e-3),
    "microseconds": ("latency", "s", 1e-6),
    "us": ("latency", "s", 1e-6),
    "nanoseconds": ("latency", "s", 1e-9),
    "ns": ("latency", "s", 1e-9),
}
_BYTES = re.compile(r"([kmgt]?)(i?)b(?:ytes)?(?:/s(?:ec(?:ond)?)?|ps)$")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_PROFILE = re.compile(r"(?:.*/)?(.+?)(?:-(\d[\w.]*))?$")
_SETTING = re.compile(r"([A-Za-z][\w /]{0,39}): (.+)$")


def claims(text: Text) -> Claim | None:
    """Recognise the root of the document, with results in it."""
    if "<Result>" not in text.content or "<Entry>" not in text.content:
        return None
    return Claim.from_match(CERTAIN, text.find(f"<{_ROOT}>"))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each system."""
    reader = _Reader()
    runs = reader.read(text)
    for run in runs:
        if not run.rows and not run.missing:
            run.lacks(0, Message("no-results", "no results"))
    return runs


@dataclass
class _Entry:
    """Numbers of one system for one test."""

    line: int
    system: str = ""
    value: str = ""
    value_line: int = 0
    raw: str = ""
    raw_line: int = 0
    is_complete: bool = False


@dataclass
class _Result:
    """One test with its settings and entries."""

    line: int
    texts: dict[str, str] = field(default_factory=dict)
    entries: list[_Entry] = field(default_factory=list)


class _Reader:
    def __init__(self) -> None:
        self._runs: dict[str, Parsed] = {}
        self._path: list[str] = []
        self._characters: list[str] = []
        self._system: dict[str, str] = {}
        self._systems: dict[str, dict[str, str]] = {}
        self._result: _Result | None = None
        self._client = ""
        self._begin_line = self._offset = 0
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters.append

    def read(self, text: Text) -> list[Parsed]:
        content = text.content
        begin = max(0, content.find(f"<{_ROOT}>"))  # after a document type: no entity is expanded
        self._offset = content.count("\n", 0, begin)
        problem: tuple[int, Message] | None = None
        try:
            self._parser.Parse(content[begin : _find_end(content, begin)].encode(), True)
        except expat.ExpatError as error:
            quote = expat.ErrorString(error.code)
            message = Message("damaged-lines", "the XML is damaged or ends early here ({reason})", reason=quote)
            problem = (error.lineno + self._offset, message)
        if self._result is not None:
            self._add_result(self._result)
        runs = list(self._runs.values())
        if problem:
            runs = runs or [Parsed()]
            for run in runs:
                run.lacks(*problem)
        for name, run in self._runs.items():
            self._describe_system(run, self._systems.get(name, {}))
        return runs or [Parsed()]

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        self._path.append(name)
        self._characters.clear()
        self._begin_line = self._parser.CurrentLineNumber + self._offset
        if self._path[1:] == ["Result"]:
            self._result = _Result(self._begin_line)
        elif self._path[1:] == ["Result", "Data", "Entry"] and self._result is not None:
            self._result.entries.append(_Entry(self._begin_line))

    def _end(self, _name: str) -> None:
        path, words = self._path[1:], "".join(self._characters).strip()
        self._characters.clear()
        self._path.pop()
        if path == ["Generated", "TestClient"]:
            self._client = words
        elif path == ["System"]:
            self._systems[self._system.get("Identifier", "")] = self._system
            self._system = {}
        elif path[:1] == ["System"] and len(path) == 2:
            self._system[path[1]] = words
        elif path == ["Result"] and self._result is not None:
            self._add_result(self._result)
            self._result = None
        elif path[:1] == ["Result"] and self._result is not None:
            self._set_text(self._result, path[1:], words)

    def _set_text(self, result: _Result, path: list[str], words: str) -> None:
        if len(path) == 1:
            result.texts[path[0]] = words
        elif path == ["Data", "Entry"] and result.entries:
            result.entries[-1].is_complete = True
        elif path[:2] == ["Data", "Entry"] and len(path) == 3 and result.entries:
            entry = result.entries[-1]
            if path[2] == "Identifier":
                entry.system = words
            elif path[2] == "Value":
                entry.value, entry.value_line = words, self._begin_line
            elif path[2] == "RawString":
                entry.raw, entry.raw_line = words, self._begin_line

    def _add_result(self, result: _Result) -> None:
        for entry in result.entries:
            if not entry.is_complete:
                continue
            run = self._runs.setdefault(entry.system, Parsed())
            _add_entry(run, result, entry)

    def _describe_system(self, run: Parsed, system: dict[str, str]) -> None:
        if name := system.get("Identifier") or next(key for key, other in self._runs.items() if other is run):
            run.factors["system"] = name[:200]
        run.version = (system.get("TestClientVersion") or self._client.rpartition("v")[2])[:40]
        if stamp := re.fullmatch(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)", system.get("TimeStamp", "")):
            run.started_at = f"{stamp.group(1)}T{stamp.group(2)}"
        for key in ("Hardware", "Software"):
            if system.get(key):
                run.facts[f"system_{key.lower()}"] = system[key][:4000]


def _find_end(content: str, begin: int) -> int:
    end = content.find(f"</{_ROOT}>", begin)
    return len(content) if end < 0 else end + len(f"</{_ROOT}>")


def _add_entry(run: Parsed, result: _Result, entry: _Entry) -> None:
    match = _PROFILE.match(result.texts.get("Identifier") or result.texts.get("Title", ""))
    operation = (match.group(1) if match else "test").lower()[:60]
    metric, unit, factor = _parse_scale(run, result, entry)
    factors = _read_settings(result)
    numbers = [parse_number(word) for word in entry.raw.split(":")] if entry.raw else []
    value = parse_number(entry.value)
    at = entry.value_line or entry.line
    if value is None:
        if "," in entry.value:
            run.warn(at, Message("samples-left-out", "a graph over time of {operation}: left out", operation=operation))
        else:
            message = Message(
                "no-results", "{operation} has no number: '{cell}'", operation=operation, cell=entry.value[:40]
            )
            run.lacks(at, message)
        return
    if None in numbers:
        run.lacks(entry.raw_line, Message("invalid-number", "'{cell}' is not a number", cell=entry.raw[:40]))
        numbers = []
    elif len(numbers) > 1:
        run.rows.append(Row(operation, f"{metric}_mean", value * factor, unit, at, count=len(numbers), factors=factors))
    for iteration, number in enumerate(numbers if len(numbers) > 1 else [value]):
        line = entry.raw_line if len(numbers) > 1 else at
        run.rows.append(Row(operation, metric, (number or 0.0) * factor, unit, line, None, iteration, factors=factors))


def _parse_scale(run: Parsed, result: _Result, entry: _Entry) -> tuple[str, str, float]:
    """Return metric, unit and factor of a scale; an unknown one is kept as it is printed."""
    scale = result.texts.get("Scale", "")
    if definition := _SCALES.get(scale.lower()):
        return definition
    if match := _BYTES.fullmatch(scale.lower()):
        prefix, binary = match.groups()
        if scale.endswith(("b/s", "bps", "bit/s")):
            return "result", "", 1.0
        if prefix and not binary:
            run.warn(
                entry.line,
                Message("assumed-unit", "{unit} was read with factors of 1000; the test may mean 1024", unit=scale),
            )
        return "bandwidth", "bytes/s", float((1024 if binary else 1000) ** _POWERS[prefix])
    return "result", "", 1.0


def _read_settings(result: _Result) -> dict[str, FactorValue]:
    """Return the test with its version, and the settings in its description (``Type: Random Read - Engine: x``)."""
    factors: dict[str, FactorValue] = {"test": (result.texts.get("Identifier") or result.texts.get("Title", ""))[:120]}
    rest: list[str] = []
    for part in result.texts.get("Description", "").split(" - "):
        if match := _SETTING.fullmatch(part.strip()):
            factors[re.sub(r"\W+", "_", match.group(1).strip().lower())] = match.group(2)[:120]
        elif part.strip():
            rest.append(part.strip())
    if rest:
        factors["description"] = " - ".join(rest)[:200]
    scale = result.texts.get("Scale", "")
    if scale and _SCALES.get(scale.lower()) is None and not _BYTES.fullmatch(scale.lower()):
        factors["scale"] = scale[:60]
    return factors
