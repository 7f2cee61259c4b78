"""A diagnosis of counters as text: what was counted, each finding with its cost, its certainty and what to do."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from iosonde.core.estimate_text import format_estimate
from iosonde.core.types import Estimate, Severity
from iosonde.core.units import format_rate, format_size
from iosonde.core.words import format_count, format_decimals, format_share
from iosonde.explain.counters.over_trials import CounterDiagnosis, PatternOverTrials
from iosonde.layout.text import table, wrapped

_INDENT = "     "
_MOST_FILES = 5
FILE_COLUMNS = ("file", "time, %", "accesses", "small, %", "misal., %", "random, %", "ranks", "OST")


def format_diagnosis(diagnosis: CounterDiagnosis) -> Iterator[str]:
    """The lines of one setting."""
    yield from wrapped(_format_title(diagnosis))
    if diagnosis.buffered_words:
        yield from wrapped(f"by the C library's buffers (STDIO): {diagnosis.buffered_words}", "  ", "  ")
    patterns = [pattern for pattern in diagnosis.patterns if pattern.severity is not Severity.INFO]
    small = [pattern for pattern in diagnosis.patterns if pattern.severity is Severity.INFO]
    for pattern in patterns:
        yield ""
        yield from _format_pattern(pattern, diagnosis)
    if small:
        yield ""
        listed = ", ".join(_format_small_pattern(pattern) for pattern in small)
        yield from wrapped(f"too short to matter: {listed}", "  ")
    yield from _format_files(diagnosis)
    if not diagnosis.patterns:
        yield from wrapped(
            "no pattern in the counters: neither small, misaligned or random accesses, nor unequal ranks or targets, "
            "nor much time in metadata calls or in the C library's buffers",
            "  ",
            "  ",
        )


def _format_title(diagnosis: CounterDiagnosis) -> str:
    counters = diagnosis.counters
    amounts = [
        f"{format_count(int(n), noun)} of {format_size(counters.total(name))} in all"
        for noun, n, name in (
            ("read", counters.total("READS"), "BYTES_READ"),
            ("write", counters.total("WRITES"), "BYTES_WRITTEN"),
        )
        if n
    ]
    ranks = f" of {format_count(counters.ranks, 'rank')}" if counters.ranks else ""
    setting = f", {diagnosis.setting_words}" if diagnosis.setting_words else ""
    counted = ", ".join(amounts) or "no reads or writes counted"
    title = f"counters{ranks}{setting}, {format_count(diagnosis.trials, 'trial')}: {counted}"
    if not counters.io_seconds:
        return title if counters.buffered and not amounts else f"{title}; no times"
    title += f"; {format_rate(counters.io_seconds, 's')} in I/O calls, summed over ranks"
    if counters.ranks and counters.seconds:
        share = counters.io_seconds / (counters.ranks * counters.seconds)
        title += f" ({format_share(share)} of their time)" if share <= 1 else " (of several threads)"
    return title


def _format_pattern(pattern: PatternOverTrials, diagnosis: CounterDiagnosis) -> Iterator[str]:
    finding = pattern.finding
    trials = f" In {pattern.n_matching} of {format_count(diagnosis.trials, 'trial')}." if diagnosis.trials > 1 else ""
    yield from wrapped(f"{finding.code} {finding.confidence}: {finding.sentence}.{trials}", _INDENT)
    yield from wrapped(f"costs {format_cost(pattern, diagnosis)}", _INDENT, _INDENT)
    yield from wrapped(f"how sure: {finding.grounds}", _INDENT, _INDENT)
    yield from wrapped(f"→ {finding.action}", f"{_INDENT}  ", _INDENT)


def _format_files(diagnosis: CounterDiagnosis) -> Iterator[str]:
    """The table of the files that took most time, if there are several files and a finding."""
    if len(diagnosis.files) < 2 or not diagnosis.patterns:
        return
    yield ""
    yield from table(FILE_COLUMNS, build_file_rows(diagnosis), "lrrrrrrl").splitlines()


def build_file_rows(diagnosis: CounterDiagnosis) -> list[list[Any]]:
    """Return a row of ``FILE_COLUMNS`` for each of the files that took most time."""
    files = diagnosis.files[:_MOST_FILES]
    short = [PurePosixPath(file.name).name for file in files]
    names = short if len(set(short)) == len(files) else [file.name for file in files]
    return [
        [
            name,
            _format_percent(file.io_share),
            f"{file.accesses:,.0f}",
            *map(_format_percent, (file.small, file.misaligned, file.random)),
            file.ranks or "",
            _format_targets(file.osts),
        ]
        for name, file in zip(names, files, strict=True)
    ]


def _format_percent(share: float | None) -> str:
    return "" if share is None else format_decimals(100 * share, 1)


def _format_targets(osts: tuple[int, ...]) -> str:
    return str(osts[0]) if len(osts) == 1 else f"{len(osts)} of them" if osts else ""


def format_cost(pattern: PatternOverTrials, diagnosis: CounterDiagnosis) -> str:
    """Format the upper limit of what a pattern can have cost."""
    if pattern.elapsed_s.value is None:
        return "unknown: the log has no times"
    seconds = diagnosis.counters.seconds
    job = f" of the job's {format_rate(seconds, 's')}" if seconds else ""
    limit = f"at most {_format_seconds(pattern.elapsed_s)}{job}"
    if pattern.rank_s.value is None:
        return limit
    return (
        f"{limit}: {_format_seconds(pattern.rank_s)} summed over ranks, {format_share(pattern.io_share.value)} of the "
        "time in I/O calls"
    )


def _format_seconds(seconds: Estimate) -> str:
    return format_rate(seconds.value or 0.0, "s") if seconds.low is None else format_estimate(seconds, "s")


def _format_small_pattern(pattern: PatternOverTrials) -> str:
    finding = pattern.finding
    part = f" ({finding.part})" if finding.part else ""
    return f"{finding.code}{part}, at most {format_rate(pattern.elapsed_s.value or 0.0, 's')}"
