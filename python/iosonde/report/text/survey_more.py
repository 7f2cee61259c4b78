"""What a survey would cost, and how good it would have been, under 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.core.units import format_seconds, format_size, percent, significant
from iosonde.core.words import counted, decimals

from .layout import table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.survey_plan import PlannedSurvey, SurveyPlan
    from iosonde.answers.survey_simulate import SimulatedShare, Simulation

_DAY_S = 86_400.0


def plan_lines(made: SurveyPlan) -> Iterator[str]:
    """The text of a plan."""
    yield from wrapped(f"{counted(made.population, 'file')}, {format_size(made.capacity)}; shares at "
                       f"{percent(made.level)} confidence, by count and by capacity:")  # fmt: skip
    yield ""
    rows = [(_precision(one), f"{one.files:,}", format_size(one.bytes), _long(one.seconds),
             significant(one.node_hours)) for one in made.rows]  # fmt: skip
    yield from table(("precision", "files", "bytes at most", "on one node", "node hours"), rows, "Lrrrr").splitlines()
    yield ""
    yield from wrapped("The sizes, ages and owners of all files need no sample, but a walk. A number of files that is "
                       "enough is known before for shares alone: for means, as of compression, look at the interval "
                       "that a survey gives, and ask for more files where it is too wide.")  # fmt: skip


def _precision(one: PlannedSurvey) -> str:
    return "all are read" if one.precision is None else f"± {decimals(100 * one.precision, 1)} points"


def _long(seconds: float) -> str:
    return f"{significant(seconds / _DAY_S)} days" if seconds >= 2 * _DAY_S else format_seconds(seconds)


def simulation_lines(made: Simulation) -> Iterator[str]:
    """The text of a simulation: a block for each way."""
    whole = f"{counted(made.files, 'file')}, {format_size(made.capacity)}"
    yield from wrapped(f"{made.path}: {whole}, all of them looked at, then {made.repetitions:,} surveys of each kind, "
                       f"in {format_seconds(made.seconds)}.")  # fmt: skip
    for way in dict.fromkeys(one.way for one in made.shares):
        yield ""
        yield from _way(way, [one for one in made.shares if one.way == way])
    yield ""
    yield from wrapped("error: 95 of 100 are within so many points. held: how often the "
                       f"{percent(made.level)} interval held the truth.")  # fmt: skip
    if made.left_out:
        yield from wrapped(f"~ {counted(made.left_out, 'file')} could not be looked at, and are left out", "  ")


_TITLES = {
    "by count": "Drawn by count, for shares of the files:",
    "by size": "Drawn by size, for shares of the capacity:",
    "by size, with replacement": "Drawn by size with replacement, for shares of the capacity:",
    "wrong": "The wrong way: drawn by count, taken for shares of the capacity:",
}


def _way(way: str, shares: Sequence[SimulatedShare]) -> Iterator[str]:
    yield _TITLES[way]
    sizes = sorted({one.n for one in shares})
    rows = []
    for kind in dict.fromkeys(one.kind for one in shares):
        mine = {one.n: one for one in shares if one.kind == kind}
        cells = [f"{decimals(100 * mine[n].worst, 1)} {decimals(100 * (mine[n].coverage.value or 0.0), 0)}%"
                 for n in sizes]  # fmt: skip
        rows.append((kind, f"{decimals(100 * mine[sizes[0]].truth, 1)} %", *cells))
    heads = [f"error, held at {sizes[0]:,}", *(f"{n:,}" for n in sizes[1:])]
    yield from table(("type", "truth", *heads), rows, "L" + "r" * (1 + len(sizes))).splitlines()
