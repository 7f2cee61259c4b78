"""Models judged on unseen rows, and a stored model judged on new data, as text."""

from collections.abc import Iterator

from iosonde.commands.fit.text import (
    choose_error_scale,
    describe_data,
    describe_shared_folds,
    format_class_errors,
    format_errors_table,
    format_heading,
    format_remarks,
)
from iosonde.core.units import choose_human_scale
from iosonde.core.words import UNKNOWN, format_count, format_number
from iosonde.layout.text import paragraphs, table, warning_lines, wrapped

from .answer import Validation
from .held_out import HoldoutAnswer


def lines(answer: Validation) -> Iterator[str]:
    """The lines of the text."""
    examples, judged, level = answer.examples, answer.judged, answer.level
    names = [feature.name for feature in examples.features]
    yield from wrapped(describe_data(examples.response, names, len(examples), int(examples.cells.max()) + 1))
    yield from wrapped(f"{answer.how}; error: mean |predicted - observed|; {100 * level:g} % intervals")
    twins = describe_shared_folds(answer.groups, answer.learning.together)
    if twins:
        yield from wrapped(twins)
    yield ""
    scale = choose_error_scale(judged, examples.unit)
    yield from format_errors_table(judged, scale)
    yield from format_class_errors(answer.best)
    yield ""
    yield from warning_lines(examples.warnings)
    yield from format_remarks(judged, answer.noise, scale)
    if len(judged) == 1 and len(judged[0].folds) > 1 and judged[0].folds[0].name:
        yield ""
        rows = [
            [fold.name, fold.n_test, format_number(fold.errors.mae / scale[0]), _format_relative(fold.errors.relative)]
            for fold in judged[0].folds
        ]
        yield from table(["left out", "rows", format_heading("error", scale[1]), "relative"], rows, "lrrr").splitlines()
    if answer.curve:
        yield ""
        yield from _format_curve(answer, scale)
    yield ""
    yield from wrapped(answer.sentence)


def format_unseen_error(answer: HoldoutAnswer) -> Iterator[str]:
    """Format the error of a stored model on unseen rows, and the coverage of its intervals."""
    r2, coverage = answer.errors.r2, answer.coverage
    divisor, unit = choose_human_scale(abs(answer.mae.value or 1.0), answer.model.unit)
    error, low, high = (
        UNKNOWN if bound is None else format_number(bound / divisor)
        for bound in (answer.mae.value, answer.mae.low, answer.mae.high)
    )
    yield from wrapped(
        f"{answer.model.name} model of {answer.model.response} on {answer.n} rows: error {error} ({low}–{high})"
        f"{f' {unit}' if unit else ''}, R² {'~' if r2 is None else f'{r2:.3f}'}"
    )
    if coverage.value is not None:
        ends = ""
        if coverage.low is not None and coverage.high is not None:
            ends = f" ({100 * coverage.low:.1f}–{100 * coverage.high:.1f})"
        yield from wrapped(
            f"of {answer.n_intervals} intervals at {100 * answer.level:g} %, of {format_count(coverage.n, 'setting')}, "
            f"{answer.n_covered} contained the new trial: {100 * coverage.value:.1f} %{ends}"
        )
    yield from warning_lines(answer.warnings)
    yield ""
    yield from wrapped(answer.sentence)


def _format_relative(share: float | None) -> str:
    return "~" if share is None else f"{format_number(100 * share)} %"


def _format_curve(answer: Validation, scale: tuple[float, str]) -> Iterator[str]:
    divisor, unit = scale
    yield format_heading("error by the number of rows to learn from", unit)
    names = [model.candidate.short for model in answer.judged]
    rows = [
        [point.n_train, *["~" if value is None else format_number(value / divisor) for value in point.mae]]
        for point in answer.curve
    ]
    yield from table(["rows", *names], rows, "r" * (len(names) + 1)).splitlines()
    yield from paragraphs((f"{sentence}." for sentence in answer.crossings), "  ")
