"""fio's JSON documents → Parsed. For the meaning of the rows see fio.py."""

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.vocabulary.defaults import STATES_ALL_OPTIONS

from .fio_bins import list_latencies, merge_percentiles, read_levels
from .fio_jobs import (
    FSYNC,
    LAST_DONE,
    UNKNOWN,
    FioJob,
    assign_settings,
    exceeds_parts,
    find_block_size,
    group_parts,
    has_only_own_options,
    is_closed_loop,
    is_merged,
    is_unflushed,
    join_flags,
    options_to_factors,
    sum_rates,
)
from .fio_logs import list_written
from .fio_text import NOT_STEADY
from .parsed import Parsed, Row, WrittenPart
from .plausibility.totals import CODE as TOTALS
from .reading import (
    Lines,
    build_broken_run,
    date_to_iso,
    get_json_object,
    iter_json_documents,
    list_objects,
    number_from_json,
    parse_number,
)
from .text import Text

DIRECTIONS = ("read", "write", "trim")
_SYNC = "sync"
_OPERATIONS = {**{name: name for name in DIRECTIONS}, _SYNC: FSYNC}
_LATEST_MS = 1e14  # beyond the years that a date can have: damaged
_OPTIONS = "job options"
_KIB = 1024.0
UNMERGED = Message(
    "unmerged-percentiles",
    "percentiles of several threads cannot be combined: each row covers one thread; --output-format=json+ "
    "prints the histograms, group_reporting one for all",
)
_MOST_THREADS = 1024  # of one job
# Share by which fio's total over its servers may differ from their sum.
_CLIENT_TOLERANCE = 0.01
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
    snapshots = {at for at in range(len(read) - 1) if _is_snapshot(read[at].value, read[at + 1].value)}
    for at, document in enumerate(read):
        if at in snapshots:
            continue
        run = _parse_document(document.value, lines, document.begin, document.end)
        if at - 1 in snapshots:
            run.warn(
                lines.at(document.begin),
                Message("snapshots-left-out", "earlier documents are snapshots of the same run: the last one counts"),
            )
        runs.append(run)
    for begin, end in [*ranges, (outside, len(text.content))]:
        _read_outside(text, runs, begin, end)
    return runs


class _Part(NamedTuple):
    """An entry of the document: fio's object, its line, and a function that finds the line of a word in it."""

    entry: dict[str, Any]
    line: int
    find_line: Callable[[str], int]


def _parse_document(value: dict[str, Any], lines: Lines, begin: int, end: int) -> Parsed:
    run = Parsed(version=str(value.get("fio version", "")).removeprefix("fio-")[:60])
    run.started_at = date_to_iso(str(value.get("time", "")))
    shared, clients, entries = get_json_object(value, "global options"), "client_stats" in value, _list_jobs(value)
    run.span = _find_span(value, entries)
    if clients:
        begin = max(begin, lines.locate_needle('"client_stats"', begin, end)[1])
    parts = _locate_parts(entries, lines, begin, end)
    totals = [part for part in parts if clients and part.entry.get("jobname") == "All clients"]
    rest = [part for part in parts if not clients or part.entry.get("jobname") != "All clients"]
    jobs = group_parts(_describe_part(run, part, shared) for part in rest)
    options = [{**shared, **get_json_object(part.entry, _OPTIONS)} for part in rest]
    run.is_closed_loop = all(map(is_closed_loop, options))
    has_options = not clients or all(_OPTIONS in part.entry for part in rest)
    run.is_unflushed = has_options and join_flags(map(is_unflushed, options))
    if not clients and all(map(has_only_own_options, options)) and not run.warnings:
        run.facts[STATES_ALL_OPTIONS] = True
    line = lines.at(begin) if clients else lines.locate_needle('"jobs"', begin, end)[0]
    if not jobs:
        run.factors |= options_to_factors(shared)
        run.lacks(lines.at(begin), Message("no-results", "the document holds no job"))
        return run
    for job in jobs:
        if len(job.parts) > 1 and job.settings.get("ranks", 1) is not None:
            per_server = job.settings.get("ranks") if clients and "group_reporting" in shared else 1
            job.settings["ranks"] = len(job.parts) * (per_server if isinstance(per_server, int) else 1)
        if job.settings.get("block_size", 0) is None:
            job.settings["block_size"] = find_block_size(
                pair for part in job.parts for pair in _list_moved(part.entry).values()
            )
    assign_settings(run, jobs, line)
    for job in jobs:
        _add_job(run, job, clients, line)
    _add_client_totals(run, jobs, totals)
    run.form, run.written = "json", {} if clients else _list_logs(jobs, shared)
    return run


def _find_span(value: dict[str, Any], entries: Sequence[dict[str, Any]]) -> tuple[str, float] | None:
    """Return start and duration of the execution, None for groups one after another of older versions: fio prints when
    it ended, and newer versions when each job began."""
    ended_ms = number_from_json(value.get("timestamp_ms"))
    begins = [begin for entry in entries if (begin := number_from_json(entry.get("job_start")))]
    if not ended_ms or not entries or (not begins and len({entry.get("groupid") for entry in entries}) > 1):
        return None
    times = (number_from_json(get_json_object(entry, kind).get("runtime")) for entry in entries for kind in DIRECTIONS)
    lasted_ms = ended_ms - min(begins) if begins else max(time or 0.0 for time in times)
    if not 0 < lasted_ms < ended_ms < _LATEST_MS:
        return None
    return datetime.fromtimestamp((ended_ms - lasted_ms) / 1e3, UTC).isoformat(), lasted_ms / 1e3


def _list_logs(jobs: Sequence[FioJob], shared: dict[str, Any]) -> dict[str, WrittenPart]:
    """Return the names of the logs that the threads may have written; fio numbers these among all jobs."""
    parts = [(part, job, rank if job.has_ranks else None) for job in jobs for rank, part in enumerate(job.parts)]
    written: dict[str, WrittenPart] = {}
    number = 0
    for part, job, rank in sorted(parts, key=lambda item: item[0].line):
        options = {**shared, **get_json_object(part.entry, _OPTIONS)}
        n_jobs = int(parse_number(str(options.get("numjobs", 1))) or 1)
        n_threads = max(1, n_jobs // len(job.parts))  # group_reporting is not printed
        for thread in range(number + 1, number + 1 + min(n_threads, _MOST_THREADS)):
            own = WrittenPart(job.factors, rank, thread)
            written |= list_written(options, str(part.entry.get("jobname", "")), own, len(parts) * n_threads == 1)
        number += n_threads
    return written


def _describe_part(run: Parsed, part: _Part, shared: dict[str, Any]) -> tuple[str, int, dict[str, Any], _Part]:
    """Return (name, group, settings, part) of an entry; the settings that are only one of its jobs' are left out. A
    client of fio prints the options of its first job alone: those of the others are unknown."""
    options = {**shared, **get_json_object(part.entry, _OPTIONS)}
    settings, name = options_to_factors(options), str(part.entry.get("jobname", ""))
    moved = _list_moved(part.entry)
    if _OPTIONS not in part.entry and "hostname" in part.entry:
        settings = UNKNOWN | settings
    elif is_merged(options, settings, moved):
        run.warn(
            part.line,
            Message(
                "merged-jobs",
                "group_reporting merged jobs of different settings into {job}: its numbers are those of the group",
                job=name[:60],
            ),
        )
        settings = options_to_factors({key: value for key, value in options.items() if shared.get(key) == value})
        settings = {key: value for key, value in settings.items() if key not in ("rw", "block_size", "ranks")}
    return name, int(number_from_json(part.entry.get("groupid")) or 0), settings, part


def _list_moved(entry: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Return read or write → (bytes, operations), of those with any; none for fio 2, which has them in KiB."""
    sections = {name: get_json_object(entry, name) for name in ("read", "write")}
    return {
        name: (number_from_json(section.get("io_bytes")) or 0.0, number_from_json(section.get("total_ios")) or 0.0)
        for name, section in sections.items()
        if section.get("total_ios") and "bw_bytes" in section
    }


def _add_job(run: Parsed, job: FioJob, clients: bool, line: int) -> None:
    """Add a job: its only part as the whole, else each part as a rank, and the sums of their rates."""
    first = len(run.rows)
    run.most_threads = max(run.most_threads, sum(_count_threads(part.entry) for part in job.parts))
    for rank, part in enumerate(job.parts):
        _add_entry(run, job, part, rank if job.has_ranks else None)
    if job.has_ranks:
        run.rows += sum_rates(run.rows[first:], job.factors)
        _add_percentiles(run, job, line)
    if job.iteration is not None:
        for row in run.rows[first:]:
            row.iteration = job.iteration


def _count_threads(entry: dict[str, Any]) -> int:
    """Return the number of threads that an entry covers, by the sum of their times: group_reporting merges jobs, and
    prints ``numjobs`` of one. 0 for versions that lack the sum."""
    longest = max(number_from_json(get_json_object(entry, name).get("runtime")) or 0.0 for name in DIRECTIONS)
    total = number_from_json(entry.get("job_runtime"))
    return math.ceil(total / longest) if total and longest else 0


def _add_client_totals(run: Parsed, jobs: Sequence[FioJob], totals: Sequence[_Part]) -> None:
    """Add fio's "All clients", instead of sums, if there is one job and the operations are those of its servers: fio
    also adds up jobs that did not run together."""
    if len(jobs) > 1 or not totals or len(jobs[0].parts) < 2:
        return
    for part in totals:
        for direction in DIRECTIONS:
            total = _count_operations(part, direction)
            expected = sum(_count_operations(own, direction) for own in jobs[0].parts)
            if abs(total - expected) > _CLIENT_TOLERANCE * max(total, expected):
                run.warn(
                    part.line,
                    Message(
                        "total-mismatch",
                        "'All clients' has {total:.0f} {direction} operations, its servers {expected:.0f}: it was left "
                        "out, and the servers' rates are summed",
                        total=total,
                        direction=direction,
                        expected=expected,
                    ),
                )
                run.contradictions.append(_describe_excess(part, direction, run.warnings[-1].sentence))
                return
    sums = [row for row in run.rows if row.metric.endswith("_sum_of_ranks")]
    n_rows = len(run.rows)
    jobs[0].clock = LAST_DONE
    for part in totals:
        _add_entry(run, jobs[0], part, None)
    printed = {(row.operation, row.metric) for row in run.rows[n_rows:]}
    merged = [row for row in run.rows[:n_rows] if row.rank is None and (row.operation, row.metric) in printed]
    run.rows = [row for row in run.rows if row not in merged]
    if not exceeds_parts(run.rows[n_rows - len(merged) :], sums):
        run.rows = [row for row in run.rows if not row.metric.endswith("_sum_of_ranks")]


def _describe_excess(part: _Part, direction: str, sentence: str) -> Contradiction:
    """Return the contradiction of a total that was left out: no metric is in doubt any more."""
    return Contradiction(TOTALS, direction, (), sentence, part.line)


def _count_operations(part: _Part, direction: str) -> float:
    return number_from_json(get_json_object(part.entry, direction).get("total_ios")) or 0.0


def _locate_parts(entries: list[dict[str, Any]], lines: Lines, begin: int, end: int) -> list[_Part]:
    places = _find_places(entries, lines, begin, end)
    stops = [place for _, place in places[1:]] + [end] * bool(places)
    return [
        _Part(entry, line, partial(lines.find_line, begin=place, end=stop))
        for entry, (line, place), stop in zip(entries, places, stops, strict=True)
    ]


def _find_places(entries: list[dict[str, Any]], lines: Lines, begin: int, end: int) -> list[tuple[int, int]]:
    places, at = [], begin
    for _ in entries:
        line, at = lines.locate_needle('"jobname"', at, end)
        places.append((line, at))
        at += 1
    return places


def _add_entry(run: Parsed, job: FioJob, part: _Part, rank: int | None) -> None:
    entry, line, name = part.entry, part.line, job.name[:200]
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
        run.warn(part.find_line('"steadystate" : {'), NOT_STEADY)
    sections = {name: get_json_object(entry, name) for name in DIRECTIONS}
    used = {
        name: section
        for name, section in sections.items()
        if number_from_json(section.get("total_ios")) or number_from_json(section.get("io_bytes"))
    }
    for direction, section in used.items():
        _add_direction(run, direction, section, part.find_line(f'"{direction}" :'), rank, job)
    _add_sync(run, get_json_object(entry, _SYNC), part.find_line(f'"{_SYNC}" :'), rank, job)
    if not used:
        run.lacks(line, Message("no-results", "job {job} did no I/O", job=name))


def _add_direction(
    run: Parsed, direction: str, section: dict[str, Any], line: int, rank: int | None, job: FioJob
) -> None:
    count = number_from_json(section.get("total_ios"))
    operations = None if count is None else int(count)
    clock, factors = job.clock if rank is None else "own", job.factors

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


def _add_sync(run: Parsed, section: dict[str, Any], line: int, rank: int | None, job: FioJob) -> None:
    """Add the times of fsync. With group_reporting fio prints 0 operations, and counts them beside their mean."""
    for name, values, per_second in list_latencies(section):
        n_operations = int(number_from_json(values.get("N")) or number_from_json(section.get("total_ios")) or 0)

        def add_row(metric: str, value: float, unit: str, count: int = n_operations) -> None:
            run.rows.append(Row(FSYNC, metric, value, unit, line, rank, None, count or None, "", job.factors))

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
        if (value := number_from_json(values.get(key))) is not None:
            add(f"{name}_{statistic}", value / per_second, "s")
    for level, value in read_levels(values).items():
        add(f"{name}_p{level:g}", value / per_second, "s")


def _add_percentiles(run: Parsed, job: FioJob, line: int) -> None:
    """Add percentiles of all threads if each printed its histogram; else those of each thread, with a message."""
    for direction, operation in _OPERATIONS.items():
        sections = [get_json_object(part.entry, direction) for part in job.parts]
        parts = [section for section in sections if section.get("total_ios")]
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
                metric = f"{name}_p{level:g}"
                run.rows.append(
                    Row(operation, metric, value / per_second, "s", line, None, None, count, "", job.factors)
                )


def _is_snapshot(earlier: dict[str, Any], later: dict[str, Any]) -> bool:
    """Return whether ``later`` began before ``earlier`` was printed and had done at least as much: the same run."""
    names = [[str(job.get("jobname")) for job in _list_jobs(document)] for document in (earlier, later)]
    if names[0] != names[1]:
        return False
    (at, ran, done), (next_at, next_ran, next_done) = _read_progress(earlier), _read_progress(later)
    return 0 < ran < next_ran and next_at - next_ran < at - ran / 2 and next_done >= done


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
# A server cannot open the output file, which is the client's: the client writes it.
_HARMLESS = re.compile(r"fio: output file open error")


def _read_outside(text: Text, runs: list[Parsed], begin: int, end: int) -> None:
    """Read fio's text around its JSON: signals and errors belong to the document that follows (or the last)."""
    if not runs or end - begin < 4:
        return
    first = text.line_of(begin)
    for offset, line in enumerate(text.content[begin : min(end, begin + (1 << 20))].split("\n")):
        if _BAD.search(line[:1000]):
            run = next((run for run in runs if run.rows and run.rows[0].line > first + offset), runs[-1])
            quote = line.strip()[:160]
            if _HARMLESS.search(line[:1000]):
                run.warn(first + offset, Message("tool-warning", "fio warns: {quote}", quote=quote))
            else:
                run.lacks(first + offset, Message("tool-failed", "fio reports: {quote}", quote=quote))
