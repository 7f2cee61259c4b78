"""Errors of models as text: the table that fit and validate share, and what it means in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.core.words import shown

from .layout import WIDTH, estimate_parts, table, wrapped

if TYPE_CHECKING:
    from iosonde.core.types import Estimate
    from iosonde.model.fit.errors_of import RepeatNoise
    from iosonde.model.fit.folds import Groups
    from iosonde.model.fit.validate import Judged

_SMALL, _LARGE = 1e-3, 1e7


def errors_table(judged: Sequence[Judged], chosen: int | None = None) -> Iterator[str]:
    """A line for each model; ``*`` marks the one that was taken."""
    several = any(len(one.folds) > 1 for one in judged)
    rows = []
    for place, one in enumerate(judged):
        mark = "* " if place == chosen else ""
        name = mark + one.candidate.short
        if one.errors is None:
            rows.append([name, "~"] + [""] * (5 if several else 4))
            continue
        value, interval = _error(one.mae)
        ends = one.extremes("mae")
        folds = [f"{shown(ends[0])}–{shown(ends[1])}" if ends else "~"] if several else []
        rows.append([name, value, interval, *folds, _percent(one.errors.relative), shown(one.errors.class_error),
                     "~" if one.errors.r2 is None else f"{one.errors.r2:.3f}"])  # fmt: skip
    headers = ["model", "error", "interval", *(["of folds"] if several else []), "relative", "classes", "R²"]
    yield from table(headers, rows, "l" + "r" * (len(headers) - 1), WIDTH).splitlines()


def _error(mae: Estimate) -> tuple[str, str]:
    """(value, interval), with exponents where decimals would fill the line."""
    if mae.value and mae.low is not None and not _SMALL <= mae.value < _LARGE:
        return shown(mae.value), f"{shown(mae.low)}–{shown(mae.high)}"
    return estimate_parts(mae)


def _percent(share: float | None) -> str:
    return "~" if share is None else f"{shown(100 * share)} %"


def remarks(judged: Sequence[Judged], noise: RepeatNoise | None) -> Iterator[str]:
    """What could not be fitted, what R² below 0 means, and the floor."""
    for one in judged:
        if one.refused:
            yield from wrapped(f"~ {one.candidate.short} is left out: {one.refused}", "  ")
    if any(one.errors and (one.errors.r2 or 0) < 0 for one in judged if one.candidate.family != "mean"):
        yield from wrapped("~ R² below 0: worse than the mean of the very rows that were to be predicted", "  ")
    yield from wrapped(noise_line(noise), "  ")


def noise_line(noise: RepeatNoise | None) -> str:
    """The floor in words."""
    if noise is None:
        return "~ no setting was repeated: how much of the error is noise cannot be told; repeat some settings"
    return (
        f"noise of repeats, the floor: {shown(noise.mae)} (sd {shown(noise.sd)}, "
        f"{_percent(noise.share)} of the variance; {noise.n} rows)"
    )


def data_line(response: str, names: Sequence[str], n: int, settings: int) -> str:
    """What was learned from."""
    rows = f"{n} rows" if n == settings else f"{n} rows of {settings} settings"
    return f"{response} on {', '.join(names)}; {rows}"


def twins_line(groups: Groups, together: str) -> str:
    """What is kept in one fold; empty where every row is a group."""
    if together == "rows":
        return "~ repeats and copies are spread over the folds: the errors are too small where there are any"
    if groups.twins:
        return f"{groups.twins} rows are copies of another setting's: they are kept in one fold (iosonde check)"
    return ""
