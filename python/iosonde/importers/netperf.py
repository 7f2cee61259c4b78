"""netperf 2.x: the tables of the classic tests (_STREAM, _RR, _MAERTS …) and the keyword form of omni tests.

    Recv   Send    Send
    Socket Socket  Message  Elapsed
    Size   Size    Size     Time     Throughput
    bytes  bytes   bytes    secs.    10^6bits/sec

    131072  16384  16384    2.00     10762.70

becomes ``tcp_stream bandwidth`` in bytes/s and ``time``; a request/response test ``tcp_rr rate`` in transactions/s
(operations/s). The unit is the one in the header (``10^6bits/sec``: 1000; ``MBytes /s``: 1024). The second row of
UDP_STREAM is the received data: ``udp_stream_receive``. Several tests in one file are several runs.
"""

import re

from iosonde.core.message import Message

from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import BINARY, parse_number
from .text import Text

NAME = "netperf"
HEADLINE = ("bandwidth", "rate")

_TEST = re.compile(r"\s*+(?:MIGRATED )?([A-Za-z0-9/|_-][A-Za-z0-9/|_ -]{0,99}?) TEST from \S")
_BITS = re.compile(r"10\^(\d+)bits/s(?:ec)?\b")
_BYTES = re.compile(r"([KMGT])Bytes\s*/s(?:ec)?\b")
# Names of columns in netperf's omni tests, in their table or in -o's CSV.
_TITLES = {
    "throughput": "THROUGHPUT",
    "throughput units": "THROUGHPUT_UNITS",
    "elapsed time (sec)": "ELAPSED_TIME",
    "minimum latency microseconds": "MIN_LATENCY",
    "mean latency microseconds": "MEAN_LATENCY",
    "maximum latency microseconds": "MAX_LATENCY",
    "stddev latency microseconds": "STDDEV_LATENCY",
}
_PERCENTILE = re.compile(r"(\d+)(?:st|nd|rd|th) percentile latency microseconds$")
_OMNI = re.compile(r"(?:\S+ +)*?([\d.]+) +([\d.]+) +(10\^\d+bits/s|[KMGT]Bytes/s|Trans/s)$")
_KEY = re.compile(r"([A-Z][A-Z0-9_]*)=(.*)$")
_LATENCIES = {"MIN_LATENCY": "min", "MEAN_LATENCY": "mean", "MAX_LATENCY": "max", "STDDEV_LATENCY": "sd"}
_ERRORS = ("are you sure there is a netserver", "could not establish", "error ", "error:", "netperf:", "recv_response")


def claims(text: Text) -> Claim | None:
    """Recognise the line of a test, the errors, or omni's keywords."""
    return (
        Claim.from_match(CERTAIN, text.search(_TEST, " TEST from "))
        or Claim.from_match(CERTAIN, text.find("are you sure there is a netserver", "netserver listening"))
        or Claim.from_match(LIKELY, text.find("THROUGHPUT_UNITS="))
    )


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each test."""
    runs: list[Parsed] = []
    test = _Test()
    for at, line in text.numbered():
        if " TEST from " in line and (match := _TEST.match(line[:1000])):
            test.end(at)
            runs.append(Parsed())
            test = _Test(
                runs[-1], re.sub(r"\W+", "_", match.group(1).strip().lower()).replace("request_response", "rr")
            )
        elif line.strip():
            if test.run is None and (_KEY.match(line.strip()) or any(words in line for words in _ERRORS[:2])):
                runs.append(Parsed())
                test = _Test(runs[-1], "omni")
            test.feed(at, line.strip())
    test.end(text.last_line)
    return runs


class _Test:
    """Reader of one test: its header's words until the row of numbers."""

    def __init__(self, run: Parsed | None = None, operation: str = "") -> None:
        self.run, self._operation, self._head = run, operation, ""
        self._rows, self._keys = 0, dict[str, tuple[int, str]]()
        self._titles: list[str] = []
        if run is not None:
            run.factors["test"] = operation

    def feed(self, at: int, line: str) -> None:
        if self.run is None:
            return
        if match := _KEY.match(line):
            self._keys[match.group(1)] = (at, match.group(2).strip())
        elif "Throughput," in line and (titles := line.split(",")):
            self._titles = [_keyword_from_title(title) for title in titles]
        elif self._titles and line.count(",") == len(self._titles) - 1:
            self._keys |= {key: (at, word) for key, word in zip(self._titles, line.split(","), strict=True) if key}
        elif line[0].isdigit() and (match := _OMNI.match(line)):
            for key, word in zip(("ELAPSED_TIME", "THROUGHPUT", "THROUGHPUT_UNITS"), match.groups(), strict=True):
                self._keys[key] = (at, word)
        elif line[0].isdigit() and all(parse_number(word) is not None for word in line.split()):
            self._add_row(at, [float(word) for word in line.split()])
        elif line.startswith("!!!") and "confidence was not achieved" in line:
            self.run.warn(
                at,
                Message(
                    "confidence-not-reached",
                    "the requested confidence was not reached: the mean is less precise",
                ),
            )
        elif line.startswith("!!!"):
            return
        elif any(words in line.lower() for words in _ERRORS):
            self.run.lacks(at, Message("tool-failed", "netperf reports: {quote}", quote=line[:160]))
        elif not self._rows:
            self._head += f" {line}"

    def _add_row(self, at: int, values: list[float]) -> None:
        self._rows += 1
        run, head, operation = self.run, self._head, self._operation
        assert run is not None
        if "per sec" in head and operation.endswith(("rr", "crr")):
            if self._rows == 1 and len(values) >= 6:
                self._add_value(at, operation, values[4], "rate", values[5], "operations/s", 1.0)
                run.factors |= {"request_size": int(values[2]), "response_size": int(values[3])}
            elif self._rows == 1:
                run.lacks(at, Message("damaged-lines", "the row is cut: left out"))
            return
        if (unit := _parse_unit(head)) is None:
            run.warn(at, Message("unknown-unit", "the header lacks the unit of the throughput: the row is left out"))
            return
        udp = "okay" in head.lower() or "messages" in head.lower()
        places = {1: (2, 5), 2: (1, 3)} if udp else {1: (3, 4)}
        if self._rows not in places:
            return
        time, rate = places[self._rows]
        if len(values) <= rate:
            run.lacks(at, Message("damaged-lines", "the row is cut: left out"))
            return
        suffix = "" if self._rows == 1 else "_receive"
        self._add_value(at, f"{operation}{suffix}", values[time], "bandwidth", values[rate], "bytes/s", unit)
        if self._rows == 1:
            run.factors["message_size"] = int(values[1 if udp else 2])
            self._add_processors(at, operation, values[6 if udp else 5 :])

    def _add_processors(self, at: int, operation: str, values: list[float]) -> None:
        if len(values) >= 4 and "Utilization" in self._head and self.run is not None:
            for name, value in zip(("local", "remote"), values, strict=False):
                if value >= 0:
                    self.run.rows.append(Row(operation, f"cpu_utilization_{name}", value / 100, "", at))

    def _add_value(
        self, at: int, operation: str, seconds: float, metric: str, value: float, unit: str, factor: float
    ) -> None:
        run = self.run
        assert run is not None
        if value <= 0:
            run.lacks(
                at, Message("invalid-number", "{operation}: the result is {value:g}", operation=operation, value=value)
            )
            return
        if metric == "bandwidth":
            run.warn(
                at,
                Message(
                    "assumed-unit",
                    "the header's unit was read as {reading}, and other prefixes alike",
                    reading="10^6bits = 1000000 bits" if "bits" in self._head else "MBytes = 1048576 bytes",
                ),
            )
        run.rows += [Row(operation, metric, value * factor, unit, at), Row(operation, "time", seconds, "s", at)]

    def end(self, last: int) -> None:
        if (run := self.run) is None:
            return
        if self._keys:
            _add_keywords(run, self._operation, self._keys)
        if not run.rows and not run.missing:
            run.lacks(last, Message("no-results", "no row of results"))
        if self._rows == 1 and "okay" in self._head.lower():
            run.lacks(
                last, Message("missing-receiver", "the receiver's line is missing: sent data is not a result yet")
            )


def _parse_unit(head: str) -> float | None:
    """Return the bytes/s of one unit of the header."""
    if match := _BITS.search(head):
        return 10.0 ** int(match.group(1)[:2]) * 0.125
    match = _BYTES.search(head)
    return float(BINARY[match.group(1).lower()]) if match else None


def _keyword_from_title(title: str) -> str:
    """Return omni's keyword of a title, '' if it is not read."""
    title = title.strip().lower()
    match = _PERCENTILE.match(title)
    return f"P{match.group(1)}_LATENCY" if match else _TITLES.get(title, "")


def _add_keywords(run: Parsed, operation: str, keys: dict[str, tuple[int, str]]) -> None:
    at, unit = keys.get("THROUGHPUT_UNITS", (0, ""))
    if "THROUGHPUT" in keys:
        line, word = keys["THROUGHPUT"]
        value = parse_number(word)
        if value is None or value <= 0:
            run.lacks(line, Message("invalid-number", "THROUGHPUT is '{cell}'", cell=word[:40]))
        elif unit.lower().startswith("trans"):
            run.rows.append(Row(operation, "rate", value, "operations/s", line))
        elif factor := _parse_unit(unit):
            run.warn(
                at, Message("assumed-unit", "{unit} was read as {factor:g} bytes/s each", unit=unit, factor=factor)
            )
            run.rows.append(Row(operation, "bandwidth", value * factor, "bytes/s", line))
        else:
            run.warn(line, Message("unknown-unit", "THROUGHPUT_UNITS is missing or unknown: THROUGHPUT is left out"))
    for key, (line, word) in keys.items():
        percentile = re.fullmatch(r"P(\d+)_LATENCY", key)
        name = f"p{percentile.group(1)}" if percentile else _LATENCIES.get(key)
        if name and (value := parse_number(word)) is not None:
            run.warn(line, Message("assumed-unit", "latencies were read as µs, as netperf counts"))
            run.rows.append(Row(operation, f"latency_{name}", value / 1e6, "s", line))
        elif key == "ELAPSED_TIME" and (value := parse_number(word)) is not None:
            run.rows.append(Row(operation, "time", value, "s", line))
