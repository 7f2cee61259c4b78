"""iperf 2: the client's (or server's) text, and the CSV of ``-y C``.

    [  1] 0.0000-2.0117 sec  3.47 GBytes  14.8 Gbits/sec
    19700101000000,127.0.0.1,47988,127.0.0.1,18780,1,0.0-2.0,6469058620,25786561711

Only the line over the whole time of a stream counts; it becomes ``tcp bandwidth`` (bytes/s: the CSV's bits/s by 8),
``bytes`` and ``time``. Several streams are ranks; their sum is ``bandwidth_sum_of_ranks``: iperf's own [SUM], without
which a client's text has no total. The CSV has none, and its streams are added here. For UDP the server's report
becomes ``udp_receive`` with ``jitter``, ``lost`` and ``datagrams``.
"""

import re

from iosonde.core.message import Message

from .iperf_lines import READING, Interval, build_datagram_rows, build_volume_rows, parse_interval
from .parsed import CERTAIN, LIKELY, WEAK, Claim, Parsed, Row
from .reading import parse_number
from .text import Text

NAME = "iperf2"
HEADLINE = ("bandwidth",)

_CSV = re.compile(
    r"(\d{14}(?:\.\d+)?),([^,]*),(\d+),([^,]*),(\d+),(-?\d+),(\d+\.\d+)-(\d+\.\d+),(\d+),(\d+)((?:,[^,]*)*)$"
)
_CONNECTED = re.compile(r"\[\s*\*?(\d+)\] local \S.* connected with ")
_FLOWS = re.compile(r"\((\d{1,6}) flows?\)")
_HEAD = re.compile(r"(?:Client connecting to|Server listening on) .*?(TCP|UDP) port")


def claims(text: Text) -> Claim | None:
    """Recognise the header of a connection, the CSV's shape, or an interval line."""
    hit = text.search(_HEAD, "Client connecting to", "Server listening on")
    if hit and "iperf 3" not in text.content[:4000]:
        return Claim.from_match(CERTAIN, hit)
    if claim := Claim.from_match(LIKELY, text.search(_CSV, first_lines=50)):
        return claim
    if "iperf3" in text.content or "sender" in text.content:
        return None
    intervals = (at for at, line in enumerate(text.lines[:2000], 1) if line.startswith("[") and parse_interval(line))
    at = next(intervals, 0)
    return Claim(WEAK, at, text.lines[at - 1].strip()[:60]) if at else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each connection (text) or for the CSV."""
    if text.search(_CSV, first_lines=50) and not text.search(_HEAD, "Client connecting to", "Server listening on"):
        return [_parse_csv(text)]
    return _parse_text(text)


class _Session:
    def __init__(self, run: Parsed, protocol: str) -> None:
        self.run, self.protocol, self.report = run, protocol, False
        self.server, self.flows = False, 0
        self.connected: set[int] = set()
        self.totals: dict[tuple[str, int | None], tuple[int, Interval]] = {}

    def add(self, at: int, interval: Interval) -> None:
        operation = f"{self.protocol}_receive" if self.report or interval.jitter is not None else self.protocol
        before = self.totals.get((operation, interval.stream))
        if interval.begin < 0.001 and (before is None or interval.end >= before[1].end):
            self.totals[operation, interval.stream] = (at, interval)

    def end(self, last: int) -> None:
        run = self.run
        streams = {stream for _, stream in self.totals if stream is not None}
        expected = 0 if self.server else max(len(self.connected), self.flows)
        own = {stream for operation, stream in self.totals if operation == self.protocol}
        if max(expected, len(own)) > 1 and None not in own and own and not self.server:
            run.lacks(
                last,
                Message(
                    "missing-sum",
                    "{n_streams} streams without the line of their sum: no total",
                    n_streams=max(expected, len(own)),
                ),
            )
        for (operation, stream), (at, interval) in self.totals.items():
            mine = [key for key in self.totals if key[0] == operation and key[1] is not None]
            several = len(mine) > 1 or expected > 1
            _add_rows(run, at, operation, stream if several else None, interval, several)
        if len(streams) > 1:
            run.factors["ranks"] = len(streams)
        if self.totals:
            run.warn(next(iter(self.totals.values()))[0], READING)
        elif not run.missing:
            run.lacks(last, Message("no-results", "no line over a whole test"))


def _parse_text(text: Text) -> list[Parsed]:
    sessions: list[_Session] = []
    for at, line in text.numbered():
        stripped = line.strip()
        if match := _HEAD.match(stripped):
            sessions.append(_Session(Parsed(), match.group(1).lower()))
            sessions[-1].run.factors["protocol"] = match.group(1).lower()
            sessions[-1].server = stripped.startswith("Server")
            sessions[-1].flows = int(flows.group(1)) if (flows := _FLOWS.search(stripped)) else 0
        elif sessions and (match := _CONNECTED.match(stripped)):
            sessions[-1].connected.add(int(match.group(1)[:9]))
        elif "Server Report" in line and sessions:
            sessions[-1].report = True
        elif stripped.startswith("[") and (interval := parse_interval(stripped)):
            if not sessions:
                sessions.append(_Session(Parsed(), "tcp"))
                sessions[-1].run.warn(at, Message("assumed-protocol", "unknown protocol: read as TCP"))
            sessions[-1].add(at, interval)
        elif "failed" in stripped or "error" in stripped.lower():
            if not sessions:
                sessions.append(_Session(Parsed(), "tcp"))
            sessions[-1].run.lacks(at, Message("tool-failed", "iperf reports: {quote}", quote=stripped[:160]))
        elif stripped.startswith("iperf ver") and sessions:
            sessions[-1].run.version = stripped.split()[2][:60] if len(stripped.split()) > 2 else ""
    for session in sessions:
        session.end(text.last_line)
    return [session.run for session in sessions]


def _add_rows(run: Parsed, at: int, operation: str, stream: int | None, interval: Interval, several: bool) -> None:
    metric = "bandwidth" if not several else "bandwidth_sum_of_ranks" if interval.stream is None else "bandwidth_own"
    rank = stream if several else None
    run.rows += build_volume_rows(at, operation, metric, interval, rank)
    if interval.jitter is not None:
        run.rows += build_datagram_rows(at, operation, interval, rank)


def _parse_csv(text: Text) -> Parsed:
    run = Parsed()
    totals: dict[int, tuple[int, re.Match[str]]] = {}
    for at, line in text.numbered():
        match = _CSV.match(line.strip())
        if match is None:
            if line.strip():
                run.warn(at, Message("unreadable-lines", "not a line of iperf's CSV: left out"))
        elif float(match.group(7)) < 0.001:
            before = totals.get(int(match.group(6)))
            if before is None or float(match.group(8)) >= float(before[1].group(8)):
                totals[int(match.group(6))] = (at, match)
    streams = [identity for identity in totals if identity >= 0]
    for identity, (at, match) in totals.items():
        rank = identity if identity >= 0 and len(streams) > 1 else None
        size, bits, seconds = float(match.group(9)), float(match.group(10)), float(match.group(8))
        udp = parse_number(match.group(11).split(",")[1]) if match.group(11).count(",") >= 3 else None
        metric = "bandwidth_own" if rank is not None else "bandwidth_sum_of_ranks" if identity < 0 else "bandwidth"
        operation = "udp" if udp is not None else "tcp"
        run.rows += [
            Row(operation, metric, bits / 8, "bytes/s", at, rank),
            Row(operation, "bytes", size, "bytes", at, rank),
            Row(operation, "time", seconds, "s", at, rank),
        ]
    if len(streams) > 1:
        run.factors["ranks"] = len(streams)
        if -1 not in totals:
            total = sum(float(totals[stream][1].group(10)) for stream in streams) / 8
            first = totals[streams[0]][0]
            run.rows.append(Row("tcp", "bandwidth_sum_of_ranks", total, "bytes/s", first))
            run.warn(first, Message("sum-computed", "the CSV has no sum: the streams were added here"))
    if not run.rows:
        run.lacks(text.last_line, Message("no-results", "no line over a whole test"))
    return run
