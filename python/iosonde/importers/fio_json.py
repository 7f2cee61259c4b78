"""fio's JSON documents → Parsed. For the meaning of the rows see fio.py."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from iosonde.core.message import Message
from iosonde.core.vocabulary import FIO
from iosonde.core.vocabulary.tool import ValueKind

from .fio_bins import list_latencies, merge_percentiles, read_levels
from .fio_text import NOT_STEADY
from .parsed import Parsed, Row
from .reading import (
    Lines,
    build_broken_run,
    date_to_iso,
    get_json_object,
    iter_json_documents,
    list_objects,
    number_from_json,
    parse_size,
)
from .text import Text

DIRECTIONS = ("read", "write", "trim")
_KIB = 1024.0
UNMERGED = Message(
    "unmerged-percentiles",
    "percentiles of several threads cannot be combined: each row covers one thread; --output-format=json+ "
    "prints the histograms, group_reporting one for all",
)
_STATISTICS = (("mean", "mean"), ("min", "min"), ("max", "max"), ("stddev", "sd"))


def parse_json(text: Text) -> list[Parsed]:
    """Return one Parsed for each document that is not a snapshot of the next one's run."""
    lines, read, outside = Lines(text), [], 0
    runs: list[Parsed] = []
    ranges: list[tuple[int, int]] = []
    for document in iter_json_documents(text.content):
        ranges.append((outside, document.begin))
        outside = document.end
        if isinstance(document.value, dict) and "fio version" in document.value:
            read.append(document)
        elif document.value is None and '"fio version"' in text.content[document.begin : document.begin + 4000]:
            runs.append(build_broken_run(text, document))
            outside = document.error_at
    for at, document in enumerate(read):
        run = _parse_document(document.value, lines, document.begin, document.end)
        if at + 1 < len(read) and _is_snapshot(document.value, read[at + 1].value):
            continue
        if at and _is_snapshot(read[at - 1].value, document.value):
            run.warn(
                lines.at(document.begin),
                Message("snapshots-left-out", "earlier documents are snapshots of the same run: the last one counts"),
            )
        runs.append(run)
    for begin, end in [*ranges, (outside, len(text.content))]:
        _read_outside(text, runs, begin, end)
    return runs


def _parse_document(value: dict[str, Any], lines: Lines, begin: int, end: int) -> Parsed:
    run = Parsed(version=str(value.get("fio version", "")).removeprefix("fio-")[:60])
    run.started_at = date_to_iso(str(value.get("time", "")))
    shared, clients, entries = get_json_object(value, "global options"), "client_stats" in value, _list_jobs(value)
    if clients:
        begin = max(begin, lines.locate_needle('"client_stats"', begin, end)[1])
    places = _find_places(entries, lines, begin, end)
    run.factors |= options_to_factors({**shared, **get_json_object(entries[0], "job options")} if entries else shared)
    if not entries:
        run.lacks(lines.at(begin), Message("no-results", "the document holds no job"))
    totals = [entry for entry in entries if entry.get("jobname") == "All clients"] if clients else []
    identities = {(entry.get("jobname"), entry.get("groupid"), str(entry.get("job options"))) for entry in entries}
    same = len(identities) == 1
    for at, (entry, (line, place)) in enumerate(zip(entries, places, strict=True)):
        stop = places[at + 1][1] if at + 1 < len(places) else end
        several = len(entries) > 1 and (same or clients) and entry not in totals
        by_job = len(entries) > 1 and not same and not clients
        find_line = partial(lines.find_line, begin=place, end=stop)
        _add_entry(run, entry, line, find_line, at if several else None, by_job)
    if same and len(entries) > 1 and not clients:
        _add_sums(run, len(entries))
        _add_percentiles(run, entries, lines.locate_needle('"jobs"', begin, end)[0])
    return run


def _find_places(entries: list[dict[str, Any]], lines: Lines, begin: int, end: int) -> list[tuple[int, int]]:
    places, at = [], begin
    for _ in entries:
        line, at = lines.locate_needle('"jobname"', at, end)
        places.append((line, at))
        at += 1
    return places


def options_to_factors(options: dict[str, Any]) -> dict[str, Any]:
    """Return fio's options as factors: sizes in bytes, whole numbers as such."""
    factors: dict[str, Any] = {}
    for key, value in options.items():
        text, option = str(value)[:200], FIO.by_name.get(key)
        if option is None or not option.setting:
            continue
        if option.kind == ValueKind.SIZE:
            size = parse_size(text)
            factors[option.setting] = text if size is None else size
        else:
            factors[option.setting] = int(text) if text.isascii() and text.isdigit() and len(text) < 18 else text
    return factors


def _add_entry(
    run: Parsed, entry: dict[str, Any], line: int, line_of: Callable[[str], int], rank: int | None, by_job: bool
) -> None:
    name = str(entry.get("jobname", ""))[:200]
    factors = {"job": name, **options_to_factors(get_json_object(entry, "job options"))} if by_job else None
    if not by_job and rank is None and name:
        run.facts["job"] = name
    if error := number_from_json(entry.get("error")):
        run.lacks(
            line,
            Message(
                "tool-failed",
                "job {job} ended with error {status:g}: its numbers are from an incomplete run",
                job=name,
                status=error,
            ),
        )
    if get_json_object(entry, "steadystate").get("attained") == 0:
        run.warn(line_of('"steadystate" : {'), NOT_STEADY)
    sections = {name: get_json_object(entry, name) for name in DIRECTIONS}
    used = {
        name: section
        for name, section in sections.items()
        if number_from_json(section.get("total_ios")) or number_from_json(section.get("io_bytes"))
    }
    for direction, section in used.items():
        _add_direction(run, direction, section, line_of(f'"{direction}" :'), rank, factors)
    if not used:
        run.lacks(line, Message("no-results", "job {job} did no I/O", job=name))


def _add_direction(
    run: Parsed, direction: str, section: dict[str, Any], line: int, rank: int | None, factors: dict[str, Any] | None
) -> None:
    count = number_from_json(section.get("total_ios"))
    operations = None if count is None else int(count)
    clock = "last_done" if rank is None else "own"

    def add_row(metric: str, value: float | None, unit: str) -> None:
        if value is not None and value >= 0:
            run.rows.append(Row(direction, metric, value, unit, line, rank, None, operations, "", factors))

    bandwidth = number_from_json(section.get("bw_bytes"))
    if bandwidth is None and (kib := number_from_json(section.get("bw"))) is not None:
        bandwidth = kib * _KIB
        run.warn(line, Message("assumed-unit", "bw was read as KiB/s (1024 bytes), as fio counts without kb_base=1000"))
    add_row(f"bandwidth_{clock}", bandwidth, "bytes/s")
    add_row(f"rate_{clock}", number_from_json(section.get("iops")), "operations/s")
    runtime = number_from_json(section.get("runtime"))
    add_row("time", None if runtime is None else runtime / 1000, "s")
    add_row("bytes", _read_bytes(run, section, bandwidth, runtime, line), "bytes")
    if runtime is not None and runtime < 1000:
        run.warn(
            line, Message("low-resolution", "the runtime is below 1 s and printed in whole ms: the rates are coarse")
        )
    for name, values, per_second in list_latencies(section):
        _add_latency(add_row, name, values, per_second)


def _read_bytes(
    run: Parsed, section: dict[str, Any], bandwidth: float | None, runtime: float | None, line: int
) -> float | None:
    """Read the bytes; fio 2 wrote KiB under ``io_bytes``, which bandwidth times runtime reveals."""
    n_bytes = number_from_json(section.get("io_bytes"))
    if n_bytes is None or "io_kbytes" in section or not bandwidth or not runtime:
        return n_bytes
    expected = bandwidth * runtime / 1000
    if abs(n_bytes * _KIB - expected) < abs(n_bytes - expected):
        run.warn(
            line,
            Message("assumed-unit", "io_bytes was read as KiB, as fio 2 writes it (bandwidth times runtime agrees)"),
        )
        return n_bytes * _KIB
    return n_bytes


def _add_latency(add: Any, name: str, values: dict[str, Any], per_second: float) -> None:
    for key, statistic in _STATISTICS:
        value = number_from_json(values.get(key))
        add(f"{name}_{statistic}", None if value is None else value / per_second, "s")
    for level, value in read_levels(values).items():
        add(f"{name}_p{level:g}", value / per_second, "s")


def _add_sums(run: Parsed, entries: int) -> None:
    run.factors["ranks"] = entries
    for direction in DIRECTIONS:
        for quantity, unit in (("bandwidth", "bytes/s"), ("rate", "operations/s")):
            parts = [row for row in run.rows if row.operation == direction and row.metric == f"{quantity}_own"]
            if parts:
                total, count = sum(row.value for row in parts), sum(row.count or 0 for row in parts)
                run.rows.append(
                    Row(direction, f"{quantity}_sum_of_ranks", total, unit, parts[0].line, None, None, count)
                )


def _add_percentiles(run: Parsed, entries: list[dict[str, Any]], line: int) -> None:
    """Add percentiles of all threads if each printed its histogram; else those of each thread, with a message."""
    for direction in DIRECTIONS:
        parts = [section for entry in entries if (section := get_json_object(entry, direction)).get("total_ios")]
        latencies_by_part = [
            {name: (values, unit) for name, values, unit in list_latencies(section)} for section in parts
        ]
        for name, (first, per_second) in latencies_by_part[0].items() if latencies_by_part else ():
            several = [by_name[name][0] for by_name in latencies_by_part if name in by_name]
            if not read_levels(first):
                continue
            percentiles = merge_percentiles(several) if len(several) == len(latencies_by_part) else None
            if percentiles is None:
                run.warn(line, UNMERGED)
            count = sum(int(number_from_json(values.get("N")) or 0) for values in several)
            for level, value in (percentiles or {}).items():
                run.rows.append(Row(direction, f"{name}_p{level:g}", value / per_second, "s", line, None, None, count))


def _is_snapshot(earlier: dict[str, Any], later: dict[str, Any]) -> bool:
    """Return whether ``later`` began before ``earlier`` was printed and had done at least as much: the same run."""
    (at, ran, done), (next_at, next_ran, next_done) = _read_progress(earlier), _read_progress(later)
    names = [[str(job.get("jobname")) for job in _list_jobs(document)] for document in (earlier, later)]
    return names[0] == names[1] and 0 < ran < next_ran and next_at - next_ran < at - ran / 2 and next_done >= done


def _read_progress(document: dict[str, Any]) -> tuple[float, float, float]:
    """Return when it was printed, for how long it had run (ms), and how many bytes it had done."""
    parts = [get_json_object(job, name) for job in _list_jobs(document) for name in DIRECTIONS]
    ran = max((number_from_json(section.get("runtime")) or 0 for section in parts), default=0)
    printed = number_from_json(document.get("timestamp_ms")) or 1000 * (
        number_from_json(document.get("timestamp")) or 0
    )
    return printed, ran, sum(number_from_json(section.get("io_bytes")) or 0 for section in parts)


def _list_jobs(document: dict[str, Any]) -> list[dict[str, Any]]:
    return list_objects(document, "client_stats" if "client_stats" in document else "jobs")


_BAD = re.compile(
    r"fio: terminating on signal|fio: pid=\d+, err=|verify failed|verify: bad|fio: .*(?:error|failed)", re.IGNORECASE
)


def _read_outside(text: Text, runs: list[Parsed], begin: int, end: int) -> None:
    """Read fio's text around its JSON: signals and errors belong to the document that follows (or the last)."""
    if not runs or end - begin < 4:
        return
    first = text.line_of(begin)
    for offset, line in enumerate(text.content[begin : min(end, begin + (1 << 20))].split("\n")):
        if _BAD.search(line[:1000]):
            run = next((run for run in runs if run.rows and run.rows[0].line > first + offset), runs[-1])
            run.lacks(first + offset, Message("tool-failed", "fio reports: {quote}", quote=line.strip()[:160]))
