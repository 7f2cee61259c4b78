"""warp, MinIO's benchmark of S3 stores: ``warp analyze --json``, of the old form and of version 2, and the table of
``warp analyze --analyze.out``. Its report for people: warp_text.py.

    "by_op_type": {"GET": {"throughput": {"measure_duration_millis": 5000, "bytes": 104857600, "objects": 100, …}}}

becomes ``get bandwidth`` and ``rate`` (objects/s; operations/s for operations without objects): bytes and objects over
warp's window, without the begin and the end of the run, as its own report calculates (``BytesPS``). The window does not
end with a rank, so it has no clock's name. ``latency_*`` is the whole request, ``first_byte_latency_*`` until its first
byte. Version 2 keeps latencies by client and window: mean, minimum and maximum are over all. Percentiles cannot be
merged, and exist only for a single window. ``total`` of a mix is the operation ``all``. Windows inside a run are not
trials. Any failed operation marks the run. Source: ``pkg/aggregate``.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from iosonde.core.message import Message
from iosonde.core.vocabulary import WARP

from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import (
    JsonDocument,
    Lines,
    get_json_object,
    list_objects,
    number_from_json,
    read_json_runs,
    split_command,
)
from .text import Text
from .warp_text import claim_report, parse_report

NAME = "warp"
HEADLINE = ("bandwidth", "rate", "latency_p99")

_REQUESTS = {
    "dur_avg_millis": "mean",
    "dur_median_millis": "p50",
    "dur_90_millis": "p90",
    "dur_99_millis": "p99",
    "fastest_millis": "min",
    "slowest_millis": "max",
    "std_dev_millis": "sd",
}
_FIRST_BYTE = {
    "average_millis": "mean",
    "p25_millis": "p25",
    "median_millis": "p50",
    "p75_millis": "p75",
    "p90_millis": "p90",
    "p99_millis": "p99",
    "fastest_millis": "min",
    "slowest_millis": "max",
}
_TABLE = "index\top\t"
_SECRET = re.compile(r"(--?(?:access-key|secret-key|sts-web-token|influxdb)[= ])\S+")
# The fraction of a second is left out.
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)?")


def claims(text: Text) -> Claim | None:
    """Recognise the window, by its unique key in warp's JSON, the header of its table, or a heading of its report."""
    if text.find('"by_op_type"', '"operations"', '"mixed_server_stats"', '"total_requests"') and (
        occurrence := text.find('"measure_duration_millis"')
    ):
        return Claim(CERTAIN, *occurrence)
    if text.first_line.startswith(_TABLE) and "\tops_ended" in text.first_line:
        return Claim(CERTAIN, 1, text.first_line[:60])
    return claim_report(text)


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each document, for the table, or for each benchmark of a report."""
    if text.first_line.startswith(_TABLE):
        return [_parse_table(text)]
    if '"throughput"' not in text.content and claim_report(text):
        return parse_report(text)
    return read_json_runs(text, _read_document)


def _read_document(run: Parsed, document: JsonDocument, lines: Lines) -> None:
    reader = _Reader(run, lines, document.begin, document.end)
    if isinstance(document.value.get("by_op_type"), dict) or "total" in document.value:
        reader.version_2(document.value)
    else:
        reader.old(document.value)
    if not run.rows:
        run.lacks(
            lines.at(document.begin),
            Message("ended-early", "no throughput: the run was too short for warp, or ended early"),
        )


class _Reader:
    def __init__(self, run: Parsed, lines: Lines, begin: int, end: int) -> None:
        self._run, self._lines, self._begin, self._end = run, lines, begin, end

    def version_2(self, document: dict[str, Any]) -> None:
        """Read ``v: 2``, of warp 1.0 and later."""
        run, total = self._run, get_json_object(document, "total")
        run.version = str(document.get("warp_version") or "")[:40]
        self._read_command(str(document.get("commandline") or ""))
        if document.get("final") is False:
            run.lacks(self._find_line('"final"'), Message("ended-early", "it is an update of a run that continued"))
        run.started_at = _parse_moment(total.get("start_time"))
        self._read_settings(total)
        kinds = get_json_object(document, "by_op_type")
        for name, kind in kinds.items():
            if isinstance(kind, dict):
                self._add_operation(name.lower()[:40], kind, name)
                self._add_merged(name.lower()[:40], get_json_object(kind, "requests_by_client"), name)
        if len(kinds) != 1 and total:
            self._add_operation("all", total, "total")

    def old(self, document: dict[str, Any]) -> None:
        """Read the form before 1.0: a list of operations."""
        for operation in list_objects(document, "operations"):
            name = str(operation.get("type", "?"))
            if not self._run.started_at:
                self._run.started_at = _parse_moment(operation.get("start_time"))
            self._read_settings(operation)
            if operation.get("skipped"):
                self._run.lacks(
                    self._find_line(f'"type": "{name}"'),
                    Message("ended-early", "warp skipped {name}: too little data", name=name),
                )
            self._add_operation(name.lower()[:40], operation, name)
            self._add_requests(name.lower()[:40], get_json_object(operation, "single_sized_requests"), name)
        if isinstance(document.get("mixed_server_stats"), dict):
            self._add_operation("all", {"throughput": document["mixed_server_stats"]}, "mixed_server_stats")

    def _find_line(self, needle: str) -> int:
        return self._lines.find_line(needle, self._begin, self._end)

    def _read_command(self, command: str) -> None:
        if not command:
            return
        words = split_command(command)
        self._run.facts["command"] = _SECRET.sub(r"\1…", command)[:4000]
        if benchmark := next((word for word in words[1:] if not word.startswith("-")), ""):
            self._run.factors["benchmark"] = benchmark[:40]
        for name, size in WARP.read_settings(words).items():
            self._run.factors[name] = (WARP.find_value(words, name) or "")[:40] if size is None else size

    def _read_settings(self, section: dict[str, Any]) -> None:
        run = self._run
        if (concurrency := number_from_json(section.get("concurrency"))) and "concurrency" not in run.factors:
            run.factors["concurrency"] = int(concurrency)
        for key, factor in (("clients", "nodes"), ("hosts", "servers")):
            value = section.get(key)
            if count := len(value) if isinstance(value, (list, dict)) else number_from_json(value):
                run.factors.setdefault(factor, int(count))

    def _add_operation(self, operation: str, section: dict[str, Any], needle: str) -> None:
        run, window, at = self._run, get_json_object(section, "throughput"), self._find_line(f'"{needle}"')
        millis = number_from_json(window.get("measure_duration_millis"))
        if errors := number_from_json(section.get("total_errors", section.get("errors", window.get("errors")))):
            first = section.get("first_errors")
            why = f": {str(first[0])[:120]}" if isinstance(first, list) and first else ""
            run.lacks(
                at,
                Message(
                    "operations-failed",
                    "{n_errors:.0f} of {operation} failed{reason}",
                    n_errors=errors,
                    operation=operation,
                    reason=why,
                ),
            )
        if not millis:
            run.lacks(
                at, Message("ended-early", "{operation} has no window: warp had too little data", operation=operation)
            )
            return
        run.facts[f"window of {operation}, ms"] = int(millis)
        size, objects, done = (number_from_json(window.get(key)) for key in ("bytes", "objects", "ops"))
        count = None if done is None else int(done)
        if size:
            run.rows.append(Row(operation, "bandwidth", 1000 * size / millis, "bytes/s", at, count=count))
        if speed := objects or done:
            run.rows.append(Row(operation, "rate", 1000 * speed / millis, "operations/s", at, count=count))
        if count:
            run.rows.append(Row(operation, "operations", count, "operations", at))

    def _add_requests(self, operation: str, section: dict[str, Any], needle: str) -> None:
        at, requests = self._find_line(f'"{needle}"'), number_from_json(section.get("requests"))
        if section.get("skipped") or not requests:
            return
        if size := number_from_json(section.get("obj_size")):
            self._run.factors.setdefault("object_size", int(size))
        self._run.rows += _build_latencies(operation, section, at, int(requests))

    def _add_merged(self, operation: str, clients: dict[str, Any], needle: str) -> None:
        """Add latencies of all windows of all clients, as far as they can be merged exactly."""
        windows = [
            requests
            for segments in clients.values()
            if isinstance(segments, list)
            for segment in segments
            if isinstance(segment, dict)
            and (requests := get_json_object(segment, "single_sized_requests"))
            and number_from_json(requests.get("requests"))
        ]
        merged = [number_from_json(window.get("merged_entries")) for window in windows]
        if not windows:
            return
        if len(windows) == 1 and merged[0] in (None, 0, 1):
            self._add_requests(operation, windows[0], needle)
            return
        at, n = (
            self._find_line(f'"{needle}"'),
            int(sum(number_from_json(window.get("requests")) or 0 for window in windows)),
        )
        if any(entries is not None and entries > 1 for entries in merged):
            self._run.warn(
                at,
                Message(
                    "latencies-left-out",
                    "latencies of {operation} are sums of several clients: left out",
                    operation=operation,
                ),
            )
            return
        for prefix, parts in (
            ("latency", windows),
            ("first_byte_latency", [get_json_object(window, "first_byte") for window in windows]),
        ):
            names = _REQUESTS if prefix == "latency" else _FIRST_BYTE
            keys = {statistic: key for key, statistic in names.items()}
            for statistic, value in _merge_statistics(parts, windows, keys):
                self._run.rows.append(Row(operation, f"{prefix}_{statistic}", value / 1000, "s", at, count=n))
        self._run.warn(
            at,
            Message(
                "latencies-left-out",
                "percentiles of {n_windows} windows cannot be merged: left out",
                n_windows=len(windows),
            ),
        )


def _merge_statistics(
    parts: list[dict[str, Any]], windows: list[dict[str, Any]], keys: dict[str, str]
) -> Iterator[tuple[str, float]]:
    """Yield (statistic, ms) over all: the mean weighted by requests, minimum and maximum; none if a window lacks it."""
    for statistic in ("mean", "min", "max"):
        values = [number_from_json(part.get(keys[statistic])) for part in parts]
        if None in values:
            continue
        if statistic == "mean":
            weights = [number_from_json(window.get("requests")) or 0.0 for window in windows]
            summed = sum((value or 0.0) * weight for value, weight in zip(values, weights, strict=True))
            yield statistic, summed / sum(weights)
        else:
            yield statistic, (min if statistic == "min" else max)(value or 0.0 for value in values)


def _build_latencies(operation: str, section: dict[str, Any], at: int, n: int) -> Iterator[Row]:
    for prefix, values, names in (
        ("latency", section, _REQUESTS),
        ("first_byte_latency", get_json_object(section, "first_byte"), _FIRST_BYTE),
    ):
        for key, statistic in names.items():
            if (value := number_from_json(values.get(key))) is not None:
                yield Row(operation, f"{prefix}_{statistic}", value / 1000, "s", at, count=n)


def _parse_moment(value: Any) -> str:
    """Return a time stamp in UTC; without zone if it has none, '' if it is no time stamp."""
    if not (match := _MOMENT.match(str(value or ""))):
        return ""
    second, zone = match.groups()
    if zone in (None, "Z"):
        return f"{second}{zone or ''}"
    try:
        return datetime.fromisoformat(second + zone).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return ""


def _parse_table(text: Text) -> Parsed:
    """Read the windows by operation: their total work over their total time."""
    run, names = Parsed(), text.lines[0].rstrip().split("\t")
    sums: dict[str, list[float]] = {}
    for at, line in enumerate(text.lines[1:], 2):
        cells = line.rstrip("\n").split("\t")
        if not line.strip() or cells[:2] == names[:2]:
            continue
        row = dict(zip(names, cells, strict=False))
        values = [number_from_json(row.get(key)) for key in ("duration_s", "bytes", "objs_per_sec", "errors")]
        if len(cells) != len(names) or None in values or not values[0] or at == text.cut_line:
            run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
            continue
        seconds, size, speed, errors = (value or 0.0 for value in values)
        entry = sums.setdefault(str(row["op"]).lower()[:40], [at, 0.0, 0.0, 0.0])
        entry[1], entry[2], entry[3] = entry[1] + seconds, entry[2] + size, entry[3] + speed * seconds
        if errors:
            run.lacks(at, Message("operations-failed", "{n_errors:.0f} operations failed", n_errors=errors))
    for operation, (first, seconds, size, count) in sums.items():
        run.rows += [Row(operation, "bandwidth", size / seconds, "bytes/s", int(first))] if size else []
        run.rows += [Row(operation, "rate", count / seconds, "operations/s", int(first))] if count else []
        run.facts[f"window of {operation}, ms"] = round(1000 * seconds)
    if not sums:
        run.lacks(text.last_line, Message("no-results", "the table has no rows"))
    return run
