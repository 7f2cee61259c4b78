"""The section of the page on slow operations: the last trial's classes, in a figure and tables; of a log of counters
what they point to."""

from iosonde.core.units import format_rate, format_size
from iosonde.explain.counters.over_trials import CounterDiagnosis
from iosonde.page.tables import PageSection, SectionTable

from .answer import OperationCauses
from .figure import figure
from .figure_counters import draw_counters
from .text import build_class_rows, format_title
from .text_counters import FILE_COLUMNS, build_file_rows, format_cost

_COLUMNS = ("class", "typical", "operations, %", "time, %", "cost", "why")
_NOTE = (
    "The last trial: classes of operations by duration, separated at the valleys of the density of log duration, and "
    "the cost of each. iosonde diagnose uses all trials and states its certainty."
)
_NOTE_OF_COUNTERS = (
    "Counters of the last trial of the most costly setting: no operations were recorded. Costs are upper limits, "
    "and overlap. iosonde diagnose states how sure each finding is."
)
_PATTERN_COLUMNS = ("finding", "costs", "what", "what to do")
_RANK_COLUMNS = ("ranks", "time", "bytes")


def build_section(causes: OperationCauses) -> PageSection:
    """Return the section."""
    groups = [group for group in causes.groups if len(group.classes) > 1]
    if not groups:
        return _build_counter_section(causes.counters[0])
    return PageSection(
        "Slow operations",
        "Why operations were slow",
        _NOTE,
        figure(causes),
        "Operations by duration; the classes are in the tables that follow",
        tuple(
            SectionTable(format_title(group), _COLUMNS, tuple(map(tuple, build_class_rows(group))), 4)
            for group in groups
        ),
    )


def _build_counter_section(diagnosis: CounterDiagnosis) -> PageSection:
    tables = (_build_pattern_table(diagnosis), _build_rank_table(diagnosis), _build_file_table(diagnosis))
    return PageSection(
        "Accesses",
        "What the counters of accesses say",
        _NOTE_OF_COUNTERS,
        draw_counters(diagnosis),
        "Accesses by size, and time in reads, writes and metadata calls",
        tuple(table for table in tables if table.rows),
    )


def _build_pattern_table(diagnosis: CounterDiagnosis) -> SectionTable:
    rows = tuple(
        (
            f"{pattern.finding.code} ({pattern.finding.confidence})",
            format_cost(pattern, diagnosis),
            pattern.finding.sentence,
            pattern.finding.action,
        )
        for pattern in diagnosis.patterns
    )
    return SectionTable("Findings", _PATTERN_COLUMNS, rows)


def _build_rank_table(diagnosis: CounterDiagnosis) -> SectionTable:
    own, shared = diagnosis.counters.own, diagnosis.counters.shared
    rows: list[tuple[str, ...]] = []
    if own:
        for title, share in (("slowest", own.slowest), ("fastest", own.fastest)):
            name = f"{title} in files of its own, rank {share.rank}"
            rows.append((name, format_rate(share.seconds, "s"), format_size(share.bytes)))
        rows.append(("mean in files of their own", format_rate(own.mean_s, "s"), format_size(own.mean_bytes)))
    if shared:
        rank = "" if shared.slowest_rank is None else f", rank {shared.slowest_rank}"
        name = f"slowest in shared files{rank}"
        rows.append((name, format_rate(shared.slowest_s, "s"), format_size(shared.slowest_bytes)))
        rows.append(("mean in shared files", format_rate(shared.mean_s, "s"), format_size(shared.mean_bytes)))
    return SectionTable("Time of ranks in I/O calls", _RANK_COLUMNS, tuple(rows), 2)


def _build_file_table(diagnosis: CounterDiagnosis) -> SectionTable:
    rows = tuple(tuple(map(str, row)) for row in build_file_rows(diagnosis))
    return SectionTable("Files that took most time", FILE_COLUMNS, rows, len(FILE_COLUMNS) - 2)
