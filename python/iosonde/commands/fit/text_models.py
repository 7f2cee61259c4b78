"""Errors of models as text: the table shared by fit and validate, and its meaning in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.core.units import human_scale
from iosonde.core.words import format_number, percent_interval
from iosonde.layout.text import WIDTH, estimate_parts, estimate_text, table, wrapped

if TYPE_CHECKING:
    from iosonde.core.types import Estimate
    from iosonde.model.fit.errors_of import RepeatNoise
    from iosonde.model.fit.folds import Groups
    from iosonde.model.fit.validate import Judged

_SMALL, _LARGE = 1e-3, 1e7


def scale_of(judged: Sequence[Judged], unit: str) -> tuple[float, str]:
    """Return (divisor, unit) for all errors of a text: that of the first model, which is the mean model in a fit."""
    return human_scale(next((abs(model.mae.value) for model in judged if model.mae.value), 1.0), unit)


def errors_table(judged: Sequence[Judged], scale: tuple[float, str], chosen: int | None = None) -> Iterator[str]:
    """Yield a line per model; ``*`` marks the chosen one."""
    divisor, unit = scale
    several = any(len(model.folds) > 1 for model in judged)
    rows = []
    for place, model in enumerate(judged):
        mark = "* " if place == chosen else ""
        name = mark + model.candidate.short
        if model.errors is None:
            rows.append([name, "~"] + [""] * (5 if several else 4))
            continue
        value, interval = _format_error(model.mae, divisor)
        ends = model.extremes("mae")
        folds = (
            [f"{format_number(ends[0] / divisor)}–{format_number(ends[1] / divisor)}" if ends else "~"]
            if several
            else []
        )
        rows.append(
            [
                name,
                value,
                interval,
                *folds,
                _format_percent(model.errors.relative),
                format_number(model.errors.class_error),
                "~" if model.errors.r2 is None else f"{model.errors.r2:.3f}",
            ]
        )
    headers = [
        "model",
        f"error, {unit}" if unit else "error",
        "interval",
        *(["of folds"] if several else []),
        "relative",
        "classes",
        "R²",
    ]
    yield from table(headers, rows, "l" + "r" * (len(headers) - 1), WIDTH).splitlines()


def titled(what: str, unit: str) -> str:
    """Format ``error, MiB/s``."""
    return f"{what}, {unit}" if unit else what


def _format_error(mae: Estimate, divisor: float) -> tuple[str, str]:
    """Return (value, interval), with exponents if decimals would fill the line."""
    if mae.value and mae.low is not None and mae.high is not None and not _SMALL <= mae.value / divisor < _LARGE:
        return format_number(
            mae.value / divisor
        ), f"{format_number(mae.low / divisor)}–{format_number(mae.high / divisor)}"
    return estimate_parts(mae, divisor)


def _format_percent(share: float | None) -> str:
    return "~" if share is None else f"{format_number(100 * share)} %"


def classes_lines(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield the mean distance of predicted from observed speed class, and the share of exact hits."""
    texts = [
        f"{model.candidate.short} {estimate_text(model.classes.apart, '')}, "
        f"{percent_interval(model.classes.right)} right"
        for model in judged
        if model.classes
    ]
    own = next((model.classes.own for model in judged if model.classes and model.classes.own), None)
    which = f" (of {own} user-defined classes)" if own else ""
    if texts:
        yield from wrapped(f"classes apart{which}, and rows in their own class: {'; '.join(texts)}", "  ")


def remarks(judged: Sequence[Judged], noise: RepeatNoise | None, scale: tuple[float, str]) -> Iterator[str]:
    """Yield models that could not be fitted, the meaning of R² below 0, and the noise floor."""
    for model in judged:
        if model.refused:
            yield from wrapped(f"~ {model.candidate.short} is left out: {model.refused}", "  ")
    if any(model.errors and (model.errors.r2 or 0) < 0 for model in judged if model.candidate.family != "mean"):
        yield from wrapped("~ R² below 0: worse than the mean of the predicted rows", "  ")
    yield from wrapped(noise_line(noise, scale), "  ")


def noise_line(noise: RepeatNoise | None, scale: tuple[float, str]) -> str:
    """Describe the noise floor."""
    divisor, unit = scale
    if noise is None:
        return "~ no setting was repeated: the noise floor is unknown; repeat some settings"
    return (
        f"noise of repetitions, the floor: {format_number(noise.mae / divisor)}{f' {unit}' if unit else ''} "
        f"(sd {format_number(noise.sd / divisor)}, "
        f"{_format_percent(noise.share)} of the variance; {noise.n} rows)"
    )


def data_line(response: str, names: Sequence[str], n: int, settings: int) -> str:
    """Describe the learned data."""
    rows = f"{n} rows" if n == settings else f"{n} rows of {settings} settings"
    return f"{response} on {', '.join(names)}; {rows}"


def twins_line(groups: Groups, together: str) -> str:
    """Describe which rows share a fold; empty if every row is a group."""
    if together == "rows":
        return "~ repetitions and duplicates are spread over the folds: if there are any, the errors are too small"
    if groups.crossed is not None:
        return (
            f"{groups.n_bring_ups} bring-ups: predicted rows share neither setting nor bring-up with those learned from"
        )
    if groups.n_bring_ups:
        return f"{groups.n_bring_ups} bring-ups: settings that share one are in the same fold, {groups.n} groups"
    if groups.twins:
        return f"{groups.twins} rows duplicate another setting's: they are in the same fold (iosonde check)"
    return ""
