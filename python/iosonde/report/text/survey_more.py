"""What a survey would cost, and how good it would have been, under 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.core.units import format_rate, format_seconds, format_size, percent, significant
from iosonde.core.words import counted, decimals

from .layout import table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.survey.plan import PlannedSurvey, SurveyPlan
    from iosonde.answers.survey.simulate import Simulation
    from iosonde.stats.sampling.resampling import SimulatedEstimate

_DAY_S = 86_400.0
_EXAMPLE = 0.05  # the precision that most ask for


def plan_lines(made: SurveyPlan) -> Iterator[str]:
    """The text of a plan."""
    yield from wrapped(f"{counted(made.population, 'file')}, {format_size(made.capacity)}; shares at "
                       f"{percent(made.level)} confidence, by count and by capacity:")  # fmt: skip
    yield ""
    rows = [(_precision(one), f"{one.files:,}", format_size(one.bytes), _long(one.seconds),
             significant(one.node_hours)) for one in made.rows]  # fmt: skip
    yield from table(("precision", "files", "bytes at most", "on one node", "node hours"), rows, "Lrrrr").splitlines()
    yield ""
    yield from wrapped(_half(made))
    yield from wrapped(_time(made))
    yield ""
    yield from wrapped("The sizes, ages and owners of all files need no sample, but a walk. A number of files that is "
                       "enough is known before for shares alone: for means, as of compression, look at the interval "
                       "that a survey gives, and ask for more files where it is too wide.")  # fmt: skip


def _half(made: SurveyPlan) -> str:
    halves = [row for row in made.rows if row.precision is not None and row.files == 2 * row.by_count]
    if not halves:
        return "Files: drawn by count and by size, all of them where these are more."
    one = min(halves, key=lambda row: abs((row.precision or 0.0) - _EXAMPLE))
    return (f"Files: half of them drawn by count, half by size; {one.files:,} are {one.by_count:,} for the shares by "
            f"count and {one.by_count:,} for those by capacity.")  # fmt: skip


def _time(made: SurveyPlan) -> str:
    whole = made.rows[-1]
    if not made.per_file_s:
        return f"Time: the bytes at {format_rate(made.rate, 'bytes/s')} (--rate)."
    return (f"Time: the bytes at {format_rate(made.rate, 'bytes/s')} (--rate), and {format_seconds(made.per_file_s)} "
            f"for each file besides (--per-file): for all of them {_long(whole.seconds - whole.seconds_of_bytes)} of "
            f"{_long(whole.seconds)}; the bytes alone take {_long(whole.seconds_of_bytes)}.")  # fmt: skip


def _precision(one: PlannedSurvey) -> str:
    return "all are read" if one.precision is None else f"± {decimals(100 * one.precision, 1)} points"


def _long(seconds: float) -> str:
    return f"{significant(seconds / _DAY_S)} days" if seconds >= 2 * _DAY_S else format_seconds(seconds)


def simulation_lines(made: Simulation) -> Iterator[str]:
    """The text of a simulation: a block for each way, and one for the quantiles of that."""
    asked, whole = made.asked, f"{counted(made.files, 'file')}, {format_size(made.capacity)}"
    each = f", each part by itself (--by {asked.by})" if asked.by else ""
    yield from wrapped(f"{asked.path}: {whole}, all of them looked at, then {asked.repetitions:,} surveys of each "
                       f"kind{each}, in {format_seconds(made.seconds)}.")  # fmt: skip
    for way in dict.fromkeys(one.way for one in made.shares):
        mine = [one for one in made.shares if one.way == way]
        for shares in (True, False):
            if some := [one for one in mine if (one.known.unit == "share") is shares]:
                yield ""
                yield from _way(way, some)
    yield ""
    yield from wrapped("error: 95 of 100 are within so many points (of quantiles: % of them). held: how often the "
                       f"{percent(asked.level)} interval held the truth.")  # fmt: skip
    if asked.until is not None:
        yield from wrapped(f"Files were read until all shares were ± {decimals(100 * asked.until, 1)} points; the "
                           "number is the median.")  # fmt: skip
    if made.left_out:
        yield from wrapped(f"~ {counted(made.left_out, 'file')} could not be looked at, and are left out", "  ")


TITLES = {
    "by count": "Drawn by count, for the files:",
    "by size": "Drawn by size, for the capacity:",
    "by size, with replacement": "Drawn by size with replacement, for the capacity:",
    "wrong": "The wrong way: drawn by count, taken for the capacity:",
}
_NAMES = {"compressed": "left by {}", "zeros": "zeros", "entropy": "entropy", "size": "size, {}", "age": "age, {}"}


def _way(way: str, found: Sequence[SimulatedEstimate]) -> Iterator[str]:
    yield TITLES[way]
    sizes = sorted({one.n for one in found})
    rows = []
    for known in dict.fromkeys(one.known for one in found):
        mine = {one.n: one for one in found if one.known == known}
        cells = [f"{_error(mine[n])} {decimals(100 * (mine[n].coverage.value or 0.0), 0)}%" for n in sizes]
        truth = f"{decimals(100 * known.truth, 1)} %" if known.unit == "share" else _amount(known.unit, known.truth)
        rows.append((simulated_name(mine[sizes[0]]), truth, *cells))
    heads = [f"error, held at {sizes[0]:,}", *(f"{n:,}" for n in sizes[1:])]
    what = "share" if found[0].known.unit == "share" else "quantile"
    yield from table((what, "truth", *heads), rows, "L" + "r" * (1 + len(sizes))).splitlines()


def simulated_name(one: SimulatedEstimate) -> str:
    """What was estimated, of a way of drawing that is said already."""
    known = one.known
    name = f"{float(known.name):.0%}" if known.what in ("size", "age") else known.name
    return _NAMES.get(known.what, "{}").format(name)


def _error(one: SimulatedEstimate) -> str:
    if one.known.unit == "share":
        return decimals(100 * one.worst, 1)
    return f"{decimals(100 * one.worst / one.known.truth, 0)}%" if one.known.truth else "–"


def _amount(unit: str, value: float) -> str:
    return format_size(value) if unit == "bytes" else _long(value)
