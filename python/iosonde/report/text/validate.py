"""Models judged by rows that they have not seen, as text; and a stored model judged by new data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.words import shown

from .layout import table, wrapped
from .models import data_line, errors_table, remarks, twins_line

if TYPE_CHECKING:
    from iosonde.answers.held_out import HeldOut
    from iosonde.answers.validate import Validation


def lines(answer: Validation) -> Iterator[str]:
    """The lines of the text."""
    examples, judged, level = answer.examples, answer.judged, answer.level
    names = [feature.name for feature in examples.features]
    settings = int(examples.cells.max()) + 1
    yield from wrapped(data_line(examples.response, names, len(examples), settings))
    yield from wrapped(f"{answer.how}; error: mean |predicted - observed|; {100 * level:g} % intervals")
    twins = twins_line(answer.groups, answer.learning.together)
    if twins:
        yield from wrapped(twins)
    yield ""
    yield from errors_table(judged)
    yield ""
    for warning in examples.warnings:
        yield from wrapped(f"~ {warning}", "  ")
    yield from remarks(judged, answer.noise)
    if len(judged) == 1 and len(judged[0].folds) > 1 and judged[0].folds[0].name:
        yield ""
        rows = [[fold.name, fold.n_test, shown(fold.errors.mae), _relative(fold.errors.relative)]
                for fold in judged[0].folds]  # fmt: skip
        yield from table(["left out", "rows", "error", "relative"], rows, "lrrr").splitlines()
    if answer.curve:
        yield ""
        yield from _curve(answer)
    yield ""
    yield from wrapped(answer.sentence)


def held_out_lines(answer: HeldOut) -> Iterator[str]:
    """A stored model: its error on rows that it has not seen, and how often its intervals held."""
    r2, coverage = answer.errors.r2, answer.coverage
    yield from wrapped(
        f"{answer.model.name} model of {answer.model.response} on {answer.n} rows: error {shown(answer.mae.value)} "
        f"({shown(answer.mae.low)}–{shown(answer.mae.high)}), R² {'~' if r2 is None else f'{r2:.3f}'}"
    )
    if coverage.value is not None and coverage.low is not None and coverage.high is not None:
        yield from wrapped(
            f"of {answer.n_intervals} intervals at {100 * answer.level:g} % {answer.n_covered} held the new trial: "
            f"{100 * coverage.value:.1f} % ({100 * coverage.low:.1f}–{100 * coverage.high:.1f})"
        )
    for warning in answer.warnings:
        yield from wrapped(f"~ {warning}", "  ")
    yield ""
    yield from wrapped(answer.sentence)


def _relative(share: float | None) -> str:
    return "~" if share is None else f"{shown(100 * share)} %"


def _curve(answer: Validation) -> Iterator[str]:
    yield "error by the number of rows to learn from"
    names = [one.candidate.short for one in answer.judged]
    rows = [[point.n_train, *[shown(value) for value in point.mae]] for point in answer.curve]
    yield from table(["rows", *names], rows, "r" * (len(names) + 1)).splitlines()
    for sentence in answer.crossings:
        yield from wrapped(sentence, "  ")
