"""iperf 3: JSON (``-J``, also several documents in one file) and text.

    "sum_sent": {"bits_per_second": 19969336045.96, "bytes": 4992401408, "seconds": 2.000027, "retransmits": 34}

becomes ``tcp_send bandwidth`` in bytes/s (bits by 8), ``bytes``, ``time``, ``retransmits``; ``sum_received`` becomes
``tcp_receive``. Each stream is a rank. A text without the line of their sum, or a client's without that of the
receiver, is not complete. UDP's ``jitter`` and ``lost`` come from the receiver (or ``sum``): the sender's are always 0.
"""

from dataclasses import dataclass, replace
from typing import Any

from iosonde.core.message import Message

from .iperf_lines import READING, build_datagram_rows, build_volume_rows, parse_interval
from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import Lines, build_broken_run, date_to_iso, get_json_object, iter_json_documents, number_from_json
from .text import Text

NAME = "iperf3"
HEADLINE = ("bandwidth",)


# Key, metric, unit, factor.
_OF_SIDE = (
    ("bytes", "bytes", "bytes", 1.0),
    ("seconds", "time", "s", 1.0),
    ("retransmits", "retransmits", "segments", 1.0),
    ("packets", "datagrams", "datagrams", 1.0),
)
_OF_RECEIVER = (("jitter_ms", "jitter", "s", 1e3), ("lost_packets", "lost", "datagrams", 1.0))


def claims(text: Text) -> Claim | None:
    """Recognise the JSON's keys, or the text's sender and receiver lines."""
    words = ("iperf 3.", "iperf3: error", '"iperf 3')
    if '"bits_per_second"' in text.content:
        words = ('"sum_sent"', '"test_start"', '"bits_per_second"')
    if occurrence := text.find(*words):
        return Claim(CERTAIN, *occurrence)
    if (occurrence := text.find("Connecting to host ")) and "/sec" in text.content:
        return Claim(LIKELY, *occurrence)
    ends = (
        Claim(LIKELY, at, line.strip()[:60])
        for at, line in enumerate(text.lines[:5000], 1)
        if line.startswith("[") and line.rstrip().endswith(("sender", "receiver")) and parse_interval(line)
    )
    return next(ends, None)


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each document, or for each connection of the text."""
    runs, lines = [], Lines(text)
    for document in iter_json_documents(text.content):
        value = document.value
        if isinstance(value, dict) and ("end" in value or "start" in value or "error" in value):
            runs.append(_parse_document(value, lines, document.begin, document.end))
        elif value is None:
            runs.append(build_broken_run(text, document))
            break
    return runs or _parse_text(text)


def _parse_document(value: dict[str, Any], lines: Lines, begin: int, stop: int) -> Parsed:
    run = Parsed()
    start, end = get_json_object(value, "start"), get_json_object(value, "end")
    test = get_json_object(start, "test_start")
    run.version = str(start.get("version", "")).removeprefix("iperf ")[:60]
    run.started_at = date_to_iso(str(get_json_object(start, "timestamp").get("time", "")))
    run.facts["system"] = str(start.get("system_info", ""))[:300]
    run.factors["protocol"] = protocol = str(test.get("protocol", "TCP")).lower()[:10]
    for key, name in (("num_streams", "ranks"), ("blksize", "transfer_size"), ("reverse", "reverse")):
        if isinstance(setting := test.get(key), int):
            run.factors[name] = setting
    place = lines.locate_needle('"end"', begin, stop)[1]
    for key, side in (("sum_sent", "send"), ("sum_received", "receive")):
        for suffix, reverse in (("", ""), ("_bidir_reverse", "_reverse")):
            line = lines.find_line(f'"{key}{suffix}"', place, stop)
            _add_side(run, line, f"{protocol}_{side}{reverse}", end.get(key + suffix), None, side == "receive")
    line = lines.find_line('"sum"', place, stop)
    if isinstance(end.get("sum"), dict) and protocol == "udp" and not isinstance(end.get("sum_received"), dict):
        _add_side(run, line, "udp_receive", end["sum"], None, True)
    _add_streams(run, lines, place, stop, protocol, end.get("streams"))
    if "error" in value:
        run.lacks(
            lines.find_line('"error"', begin, stop),
            Message("tool-failed", "iperf3 reports: {quote}", quote=str(value["error"])[:160]),
        )
    elif not run.rows:
        run.lacks(lines.at(stop), Message("ended-early", "the document holds no sum: the test did not finish"))
    return run


def _add_side(run: Parsed, line: int, operation: str, sums: Any, rank: int | None, receiver: bool) -> None:
    if not isinstance(sums, dict) or (bits := number_from_json(sums.get("bits_per_second"))) is None:
        return
    run.rows.append(Row(operation, "bandwidth" if rank is None else "bandwidth_own", bits / 8, "bytes/s", line, rank))
    for key, metric, unit, per_base in _OF_SIDE if not receiver else (*_OF_SIDE, *_OF_RECEIVER):
        if (value := number_from_json(sums.get(key))) is not None:
            run.rows.append(Row(operation, metric, value / per_base, unit, line, rank))


def _add_streams(run: Parsed, lines: Lines, place: int, stop: int, protocol: str, streams: Any) -> None:
    streams = streams if isinstance(streams, list) else []
    for rank, stream in enumerate(streams if len(streams) > 1 else []):
        if isinstance(stream, dict):
            line, place = lines.locate_needle('"socket"', place + 1, stop)
            _add_side(run, line, f"{protocol}_send", stream.get("sender"), rank, False)
            _add_side(run, line, f"{protocol}_receive", stream.get("receiver"), rank, True)


@dataclass
class _Connection:
    """A test of a text: its number of ``streams``, whether they go ``both`` ways, and whether a ``client`` prints
    it."""

    run: Parsed
    client: bool = False
    streams: int = 0
    both: bool = False

    def end(self, last: int) -> None:
        """Check after its last line that the output is complete."""
        run = self.run
        operations = sorted({row.operation for row in run.rows})
        if not run.rows:
            run.lacks(
                last, Message("ended-early", "the lines of sender and receiver are missing: the test did not finish")
            )
        elif self.both and self.client and not any(name.endswith("_reverse") for name in operations):
            run.lacks(last, Message("missing-direction", "the lines of the other direction are missing"))
        for operation in operations:
            self._mark_total(operation, last)
            if self.client and operation.replace("_send", "_receive") not in operations:
                run.lacks(
                    last,
                    Message("missing-receiver", "the receiver's line is missing: sent data is not a result yet"),
                )

    def _mark_total(self, operation: str, last: int) -> None:
        """Mark the totals: the only stream of an operation is its total; with several, only their sum is."""
        run = self.run
        ranks = {row.rank for row in run.rows if row.operation == operation}
        several = max(self.streams // 2 if self.both else self.streams, len(ranks))
        if several < 2:
            run.rows = [
                replace(row, rank=None, metric=row.metric.removesuffix("_own")) if row.operation == operation else row
                for row in run.rows
            ]
        elif None not in ranks:
            run.lacks(
                last,
                Message(
                    "missing-sum",
                    "{operation}: {n_streams} streams without the line of their sum",
                    operation=operation,
                    n_streams=several,
                ),
            )


def _parse_text(text: Text) -> list[Parsed]:
    connections: list[_Connection] = []
    version = ""
    for at, line in text.numbered():
        stripped = line.strip()
        interval = parse_interval(stripped) if stripped.startswith("[") else None
        if stripped.startswith("iperf 3"):
            version = stripped.split()[1]
        elif stripped.startswith(("Connecting to host", "Accepted connection from")):
            connections.append(_Connection(Parsed(version=version), stripped.startswith("Connecting")))
        elif stripped.startswith("iperf3: ") or "error - " in stripped:
            connections = connections or [_Connection(Parsed(version=version))]
            connections[-1].run.lacks(at, Message("tool-failed", "iperf3 reports: {quote}", quote=stripped[:160]))
        elif interval is not None:
            side = interval.rest.strip().rpartition(" ")[2]
            if connections:
                connections[-1].both |= bool(interval.role)
            if side in ("sender", "receiver"):
                connections = connections or [_Connection(Parsed(version=version), both=bool(interval.role))]
                _add_line(connections[-1].run, at, interval, "send" if side == "sender" else "receive")
        elif connections and stripped.startswith("[") and " connected " in stripped:
            connections[-1].streams += 1
    for connection in connections:
        connection.end(text.last_line)
    return [connection.run for connection in connections]


def _add_line(run: Parsed, at: int, interval: Any, side: str) -> None:
    run.warn(at, READING)
    back = "_reverse" if interval.role.startswith("RX") else ""  # --bidir
    operation = f"{'udp' if interval.jitter is not None else 'tcp'}_{side}{back}"
    metric = "bandwidth" if interval.stream is None else "bandwidth_own"
    words = interval.rest.split()
    run.rows += build_volume_rows(at, operation, metric, interval, interval.stream)
    if interval.jitter is not None and side == "receive":
        run.rows += build_datagram_rows(at, operation, interval, interval.stream)
    elif side == "send" and len(words) > 1 and words[0].isdigit():
        run.rows.append(Row(operation, "retransmits", int(words[0][:18]), "segments", at, interval.stream))
