"""The section of the page on slow operations: the last trial's classes, in a figure and tables."""

from iosonde.page.tables import PageSection, SectionTable

from .answer import OperationCauses
from .figure import figure
from .text import build_class_rows, format_title

_COLUMNS = ("class", "typical", "operations, %", "time, %", "cost", "why")
_NOTE = (
    "The last trial: classes of operations by duration, separated at the valleys of the density of log duration, and "
    "the cost of each. iosonde diagnose uses all trials and states its certainty."
)


def build_section(causes: OperationCauses) -> PageSection:
    """Return the section."""
    groups = [group for group in causes.groups if len(group.classes) > 1]
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
