"""fio's logs of one execution: which file is of which job and thread, and each operation once, with all its times.

fio calls them ``PREFIX_lat.1.log``: a prefix, what the values are, and the number of the thread among all jobs. The
prefix is an option of the job (``write_lat_log``) or the job's name. As a later execution overwrites the logs of an
earlier one, a log belongs to a JSON only if it has as many operations, with the same mean, or averages of its run time.
fio's text has no options, so that a log with averages of its run time belongs to it only if a directory has one output
and logs of one prefix and one thread.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.units import format_rate

from .fio_jobs import FSYNC
from .operation_log import add_summary_rows
from .parsed import PART, Parsed, Row, WrittenPart

KIND = re.compile(r"_(clat_hist|clat|slat|lat|bw|iops)(?:\.(\d{1,9}))?(?:\.\d+)*\.log", re.IGNORECASE)
# What the values of a log are, in the order in which one of them becomes the duration of an operation.
LATENCIES = {"lat": "latency", "clat": "completion latency", "slat": "submission latency"}
_OPTIONS = {
    "write_lat_log": ("lat", "clat", "slat"),
    "write_bw_log": ("bw",),
    "write_iops_log": ("iops",),
    "write_hist_log": ("clat_hist",),
}
_SAME_MEAN, _PRINTED_S = 1e-4, 1e-9  # share, and the last digit of fio's means
_LEAST_SHARE, _LATE_S = 0.5, 1.0  # of the run time in averages: they end at its last full interval
# The form of a log whose lines are averages of intervals.
AVERAGES = "averages"
_SAMPLED = {"bw": "bandwidth", "iops": "rate"}
# The mean of averages without gaps is that of the whole but for the last interval. fio 3.0 averaged wrongly.
_TIMES_APART = 2.0


class LogName(NamedTuple):
    """Parts of a log's name: its prefix, the kind of its values, the number of its thread (0: of all)."""

    prefix: str
    kind: str
    number: int


class Log(NamedTuple):
    """A log: its file, its name, what it holds."""

    file: str
    name: LogName
    parsed: Parsed

    @property
    def base_name(self) -> str:
        """Return the name that fio gave it."""
        return PurePath(self.file).name.removesuffix(".gz")


def read_log_name(file: str) -> LogName | None:
    """Return the parts of the name of a log; None if it is not the name of one."""
    name = PurePath(file).name
    match = KIND.search(name)
    return LogName(name[: match.start()], match[1].lower(), int(match[2] or 0)) if match else None


def list_written(options: Mapping[str, Any], job: str, part: WrittenPart, is_only: bool) -> dict[str, WrittenPart]:
    """Return the names of the logs that a thread may have written. ``is_only``: there is no other thread."""
    written = {}
    for option, kinds in _OPTIONS.items():
        for prefix in {PurePath(str(options.get(option) or job)).name, job}:
            for kind in kinds:
                written[f"{prefix}_{kind}.{part.number}.log"] = part
                if is_only:
                    written[f"{prefix}_{kind}.log"] = part
    return written


def join_logs(parts: Sequence[tuple[str, Parsed]]) -> tuple[list[tuple[str, Parsed]], dict[str, str]]:
    """Join fio's logs to the executions that wrote them, the rest by prefix. Return the (file, Parsed) of a directory,
    and the file whose run each joined log became part of."""
    logs = [
        Log(file, name, parsed)
        for file, parsed in sorted(parts, key=lambda part: part[0])
        if parsed.tool == "fio-log" and (name := read_log_name(file)) and name.kind != "clat_hist"
    ]
    _adopt_logs_of_only_text(parts, logs)
    claims: dict[str, list[int]] = {}
    for index, (_, parsed) in enumerate(parts):
        for log in _select_logs(parsed, logs) if parsed.written else ():
            claims.setdefault(log.file, []).append(index)
    logs_by_run: dict[int, list[Log]] = {}
    by_prefix: dict[str, list[Log]] = {}
    for log in logs:
        claim = claims.get(log.file, ())
        if len(claim) == 1:
            logs_by_run.setdefault(claim[0], []).append(log)
            continue
        by_prefix.setdefault(log.name.prefix, []).append(log)
        if names := sorted(PurePath(file).name for file, parsed in parts if log.base_name in parsed.written):
            log.parsed.warn(
                0,
                Message(
                    "other-execution",
                    "{files} may have written it, and its numbers do not show which: a run of its own",
                    files=", ".join(names)[:200],
                ),
            )
    alone = {several[0].file: several for several in by_prefix.values() if len(several) > 1}
    into = {log.file: file for file, several in alone.items() for log in several[1:]}
    into |= {log.file: parts[index][0] for index, several in logs_by_run.items() for log in several}
    joined: list[tuple[str, Parsed]] = []
    for index, (file, parsed) in enumerate(parts):
        if file in alone:
            joined.append((file, _join_alone(alone[file])))
        elif file not in into:
            cells = _add_logs(parsed, logs_by_run[index]) if index in logs_by_run else [parsed]
            joined += [(file, cell) for cell in cells]
    return joined, into


def _adopt_logs_of_only_text(parts: Sequence[tuple[str, Parsed]], logs: Sequence[Log]) -> None:
    """Give the only output of a directory, a text of one thread, the logs of its time if all logs have one prefix."""
    outputs = [parsed for _, parsed in parts if parsed.tool == "fio"]
    if len(outputs) != 1 or len({(log.name.prefix, log.name.number) for log in logs}) != 1:
        return
    run = outputs[0]
    if run.form == "text" and run.factors.get("ranks") == 1 and not any(row.rank or row.factors for row in run.rows):
        own = [log for log in logs if log.name.kind in _SAMPLED and _covers(log.parsed, run)]
        run.written = {log.base_name: WrittenPart(number=log.name.number) for log in own}


def _covers(log: Parsed, run: Parsed) -> bool:
    """Return whether the averages of a log are of all the time of a run, and of its directions."""
    longest = max((row.value for row in run.rows if row.metric == "time"), default=0.0)
    return (
        log.interval_s > 0
        and abs(log.last_entry_s - longest) <= log.interval_s
        and ({row.operation for row in log.rows} == {row.operation for row in run.rows})
    )


def _select_logs(run: Parsed, logs: Iterable[Log]) -> list[Log]:
    """Return the logs that this run wrote: their names are of it, and their numbers, too."""
    groups: dict[tuple[str, str], list[Log]] = {}
    for log in logs:
        part = run.written.get(log.base_name)
        if part is not None:
            groups.setdefault((repr((part.factors, part.rank)), log.name.kind), []).append(log)
    return [log for several in groups.values() for log in several if _agrees(run, several)]


def _agrees(run: Parsed, logs: Sequence[Log]) -> bool:
    """Return whether these logs (of one kind and of the threads of one row) have the numbers of the run's rows."""
    part, kind = run.written[logs[0].base_name], logs[0].name.kind
    rows = [
        row
        for row in run.rows
        if row.rank == part.rank and (row.factors or None) == (part.factors or None) and row.operation != FSYNC
    ]  # logs hold no fsyncs
    if any(log.parsed.missing for log in logs):
        return False
    if any(log.parsed.form == AVERAGES for log in logs):
        longest = max((row.value for row in rows if row.metric == "time"), default=0.0)
        return _LEAST_SHARE * longest <= max(log.parsed.last_entry_s for log in logs) <= longest + _LATE_S
    counts, sums = Counter[str](), defaultdict[str, float](float)
    for log in logs:
        own = {(row.operation, row.metric): row for row in log.parsed.rows}
        for (operation, metric), row in own.items():
            if metric in ("operations", "samples"):
                counts[operation] += int(row.value)
            elif metric == "latency_mean":
                sums[operation] += row.value * (row.count or 0)
    means = {
        row.operation: row.value for row in rows if row.metric == f"{LATENCIES.get(kind, '').replace(' ', '_')}_mean"
    }
    return counts == {row.operation: row.count for row in rows if row.count} and all(
        abs(sums[operation] / counts[operation] - mean) <= _SAME_MEAN * mean + _PRINTED_S
        for operation, mean in means.items()
    )


def _join_alone(logs: Sequence[Log]) -> Parsed:
    """Return the run of all logs of a prefix whose execution is unknown: each number of a thread is a rank."""
    base = logs[0].parsed
    numbers = sorted({log.name.number for log in logs})
    run = replace(base, rows=[], factors={k: v for k, v in base.factors.items() if k != PART}, operations=None)
    run.facts, run.warnings, run.missing = {}, [], []
    _add_cell(run, [(numbers.index(log.name.number), log) for log in logs], len(numbers))
    return run


def _add_logs(run: Parsed, logs: Sequence[Log]) -> list[Parsed]:
    """Return the run with its logs; if its jobs have different settings, one for each, with the job's operations."""
    settings = {repr(row.factors): row.factors for row in run.rows}
    cells = []
    for key, factors in settings.items():
        numbers = sorted({part.number for part in run.written.values() if repr(part.factors) == key})
        cell = run
        if len(settings) > 1:
            rows = [row for row in run.rows if repr(row.factors) == key]
            cell = replace(run, rows=rows, warnings=list(run.warnings), facts=dict(run.facts))
        parts = [(log, run.written[log.base_name]) for log in logs]
        of_cell = [(numbers.index(part.number), log) for log, part in parts if repr(part.factors) == key]
        if of_cell:
            _add_cell(cell, of_cell, len(numbers), factors)
        cells.append(cell)
    return cells


def _add_cell(
    run: Parsed, logs: Sequence[tuple[int, Log]], n_threads: int, factors: dict[str, FactorValue] | None = None
) -> None:
    """Add the logs (by rank) of one setting, of ``n_threads``: one operation for each line of the first of lat, clat,
    slat, the percentiles of each, and the samples of bandwidths and rates."""
    import numpy as np

    printed = {(row.operation, row.metric) for row in run.rows if row.rank is None}
    records: dict[str, list[Any]] = {}
    rows: list[Row] = []
    for rank, log in logs:
        _adopt_notes(run, log)
        if log.parsed.operations is None:
            own = [
                replace(row, rank=rank if n_threads > 1 else None) for row in _rename_rows(log.parsed, log.name.kind)
            ]
            _compare_samples(run, log, own, factors)
            rows += own
            continue
        operations = log.parsed.operations.copy()
        operations["rank"] = rank
        records.setdefault(log.name.kind, []).append(operations)
        run.operation_names, run.unplaced = log.parsed.operation_names, log.parsed.unplaced
    kinds = sorted((kind for kind in LATENCIES if kind in records), key=lambda kind: -len(records[kind]))
    if kinds:
        run.operations = np.concatenate(records[kinds[0]])
        run.facts["latency"] = LATENCIES[kinds[0]]
        if len(records[kinds[0]]) < n_threads:
            run.cannot_tell(
                Message(
                    "threads-without-log",
                    "{n_logs} of {n_threads} threads have a log of their operations",
                    n_logs=len(records[kinds[0]]),
                    n_threads=n_threads,
                )
            )
    # The percentiles of the recorded operations are those of the first kind.
    for kind in kinds[bool(run.rows) :]:
        summary, together = Parsed(), np.concatenate(records[kind])
        for phase in np.unique(together["phase"]).tolist():
            seconds = together["duration_ns"][together["phase"] == phase] / 1e9
            add_summary_rows(summary, run.operation_names[phase], seconds, np.zeros(len(seconds), int))
        rows += _rename_rows(summary, kind)
    for row in rows:
        row.line, row.factors = 0, factors
    unique = {(row.operation, row.metric, row.rank): row for row in reversed(rows)}
    run.rows += [row for key, row in reversed(unique.items()) if key[2] is not None or key[:2] not in printed]


def _compare_samples(run: Parsed, log: Log, samples: Sequence[Row], factors: dict[str, FactorValue] | None) -> None:
    """Note that the mean of a log's averages is far from the rate in the output, which counts all of its time."""
    kind = _SAMPLED.get(log.name.kind, "")
    if not kind or not _covers(log.parsed, run):
        return
    names = (f"{kind}_last_done", f"{kind}_own")
    rates = {
        (row.operation, row.rank): row.value
        for row in run.rows
        if row.metric in names and (row.factors or None) == (factors or None)
    }
    for row in samples:
        rate = rates.get((row.operation, row.rank))
        if row.metric != f"{kind}_sample_mean" or not rate or not row.value:
            continue
        if 1 / _TIMES_APART < row.value / rate < _TIMES_APART:
            continue
        printed = {own.metric for own in run.rows if own.operation == row.operation}
        doubtful = {own.metric for own in samples if own.metric.startswith(f"{kind}_sample_")} - printed
        run.contradict(
            Contradiction(
                "S135",
                row.operation,
                tuple(sorted(doubtful)),
                Message(
                    "samples-far-from-rate",
                    "{operation}: the mean of the averages in {file}, {mean}, is {times:.3g} times the {kind} of the "
                    "output, {rate}: the output is believed, as it counts all of the time",
                    operation=row.operation,
                    file=PurePath(log.file).name,
                    mean=format_rate(row.value, row.unit),
                    times=row.value / rate,
                    kind=kind,
                    rate=format_rate(rate, row.unit),
                ),
                factors=factors,
            )
        )


def _rename_rows(parsed: Parsed, kind: str) -> list[Row]:
    """Return copies of the rows of a log, with the kind of its latencies in their names."""
    name = LATENCIES.get(kind, "latency").replace(" ", "_")
    return [
        replace(row, metric=name + row.metric.removeprefix("latency"))
        if row.metric.startswith("latency_")
        else replace(row)
        for row in parsed.rows
    ]


def _adopt_notes(run: Parsed, log: Log) -> None:
    for note in log.parsed.warnings:
        run.warn(0, note.sentence)
    run.facts = log.parsed.facts | run.facts
    run.adopt_missing(PurePath(log.file).name, log.parsed)
    run.version = run.version or log.parsed.version
