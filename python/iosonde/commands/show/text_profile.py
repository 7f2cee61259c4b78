"""The text of a profile: a table of columns, then the cells; under 80 columns."""

from collections.abc import Iterator

from iosonde.core.data_profile import ColumnProfile, Profile
from iosonde.core.level_text import format_level
from iosonde.core.words import format_count
from iosonde.layout.text import table, warning_lines, wrapped

from .profile import ShownProfile

_MOST_CELLS = 20
_HEADERS = ("column", "role", "unit", "scale", "levels", "n", "missing", "goes with")


def lines(answer: ShownProfile) -> Iterator[str]:
    """Yield the columns, what is independent, the cells with their trials, and the warnings."""
    profile = answer.profile
    yield from wrapped(f"{answer.name}: {format_count(answer.n_rows, 'row')}, {_describe_unit(profile)}", "  ")
    yield ""
    rows = [_format_column(column) for column in profile.columns]
    present = [place for place in range(len(_HEADERS)) if any(row[place] for row in rows)]
    cells = [[row[place] for place in present] for row in rows]
    align = "".join("lllrrrll"[place] if place != 3 else "l" for place in present)
    yield from table([_HEADERS[place] for place in present], cells, align).splitlines()
    if profile.factors:
        yield ""
        yield from _format_cells(profile)
    if profile.places:
        yield from wrapped(f"files differ in {', '.join(profile.places)}", "  ")
    yield from warning_lines(profile.warnings)


def _describe_unit(profile: Profile) -> str:
    if profile.unit == "row":
        return "each is a trial"
    if profile.unit == "bring-up":
        return f"{format_count(profile.n_trials, 'trial')}, some of one bring-up"
    return format_count(profile.n_trials, "trial")


def _format_column(column: ColumnProfile) -> tuple[str, ...]:
    missing = f"{column.missing:,}" + (f" at {column.missing_at}" if column.missing_at else "")
    goes_with = ", ".join((*column.together, *(f"follows {name}" for name in column.follows)))
    role = f"{column.role}{' (stated)' if column.is_stated else ''}"
    scale = column.scale if column.scale == "log" else ""
    counts = (f"{column.levels:,}", f"{column.n:,}", missing if column.missing else "")
    return (column.name, role, column.unit, scale, *counts, goes_with)


def _format_cells(profile: Profile) -> Iterator[str]:
    """Yield the cells with the number of their trials; only how many there are if they are many."""
    numbers = sorted({n for _, n in profile.cells})
    span = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
    empty = f"; {format_count(profile.n_empty_cells, 'combination')} without" if profile.n_empty_cells > 0 else ""
    yield from wrapped(
        f"{format_count(len(profile.cells), 'cell')} of {', '.join(profile.factors)}, "
        f"{span} {'trial' if numbers == [1] else 'trials'} each{empty}",
        "  ",
    )
    if len(profile.cells) > _MOST_CELLS:
        return
    units = {column.name: column.unit for column in profile.columns}
    rows = [
        [*(format_level(level, units.get(name, "")) for name, level in zip(profile.factors, key, strict=True)), str(n)]
        for key, n in profile.cells
    ]
    yield from table([*profile.factors, "n"], rows, "l" * len(profile.factors) + "r").splitlines()
