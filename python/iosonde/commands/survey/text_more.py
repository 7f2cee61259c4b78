"""The plan and the simulation of a survey as text, under 80 columns."""

from collections.abc import Iterator, Sequence

from iosonde.core.message import spell
from iosonde.core.units import format_percent, format_rate, format_seconds, format_significant, format_size
from iosonde.core.words import format_count, format_decimals
from iosonde.layout.text import table, wrapped
from iosonde.survey.sampling.resampling import SimulatedEstimate

from .plan import SurveyPlan
from .simulate import Simulation

_DAY_S = 86_400.0
_EXAMPLE = 0.05  # the most common precision


def plan_lines(plan: SurveyPlan) -> Iterator[str]:
    """Yield the text of a plan."""
    yield from wrapped(
        f"{format_count(plan.population, 'file')}, {format_size(plan.capacity)}; shares at "
        f"{format_percent(plan.level)} confidence, by count and by capacity:"
    )
    yield ""
    rows = [
        (
            "all are read" if row.precision is None else f"± {format_decimals(100 * row.precision, 1)} points",
            f"{row.files:,}",
            format_size(row.bytes),
            _format_duration(row.seconds),
            format_significant(row.node_hours),
        )
        for row in plan.rows
    ]
    yield from table(("precision", "files", "bytes at most", "on one node", "node hours"), rows, "Lrrrr").splitlines()
    yield ""
    yield from wrapped(_describe_half(plan))
    yield from wrapped(_describe_time(plan))
    yield ""
    yield from wrapped(
        "Sizes, ages and owners of all files need a walk, but no sample. The number of files that suffices "
        "is known in advance only for shares. For means, as of compression, check the interval of a "
        "survey, and read more files if it is too wide."
    )


def _describe_half(plan: SurveyPlan) -> str:
    halves = [row for row in plan.rows if row.precision is not None and row.files == 2 * row.by_count]
    if not halves:
        return "Files: drawn by count and by size, all of them where these are more."
    half_row = min(halves, key=lambda row: abs((row.precision or 0.0) - _EXAMPLE))
    return (
        f"Files: half of them drawn by count, half by size; {half_row.files:,} are {half_row.by_count:,} for the "
        "shares by "
        f"count and {half_row.by_count:,} for those by capacity."
    )


def _describe_time(plan: SurveyPlan) -> str:
    full_row = plan.rows[-1]
    if not plan.per_file_s:
        return f"Time: the bytes at {format_rate(plan.rate, 'bytes/s')} ({spell.rate})."
    file_time = _format_duration(full_row.seconds - full_row.seconds_of_bytes)
    return (
        f"Time: the bytes at {format_rate(plan.rate, 'bytes/s')} ({spell.rate}), and {format_seconds(plan.per_file_s)} "
        f"for each file besides ({spell.per_file}): for all of them {file_time} of "
        f"{_format_duration(full_row.seconds)}; the bytes alone take {_format_duration(full_row.seconds_of_bytes)}."
    )


def _format_duration(seconds: float) -> str:
    return f"{format_significant(seconds / _DAY_S)} days" if seconds >= 2 * _DAY_S else format_seconds(seconds)


def simulation_lines(simulation: Simulation) -> Iterator[str]:
    """Yield the text of a simulation: a block per sampling scheme, and one for its quantiles."""
    options, totals = (
        simulation.options,
        f"{format_count(simulation.files, 'file')}, {format_size(simulation.capacity)}",
    )
    each = f", each part by itself ({spell.by:{options.by}})" if options.by else ""
    yield from wrapped(
        f"{options.path}: {totals}, all of them examined, then {options.repetitions:,} surveys of each "
        f"kind{each}, in {format_seconds(simulation.seconds)}."
    )
    for way in dict.fromkeys(estimate.way for estimate in simulation.shares):
        mine = [estimate for estimate in simulation.shares if estimate.way == way]
        for shares in (True, False):
            if some := [estimate for estimate in mine if (estimate.true_number.unit == "share") is shares]:
                yield ""
                yield from _format_way(way, some)
    yield ""
    yield from wrapped(
        "error: 95 of 100 are within this many points (quantiles: %). held: how often the "
        f"{format_percent(options.level)} interval contained the truth."
    )
    if options.until is not None:
        yield from wrapped(
            f"Files were read until all shares were ± {format_decimals(100 * options.until, 1)} points; the "
            "number is the median."
        )
    if simulation.n_excluded:
        yield from wrapped(
            f"~ {format_count(simulation.n_excluded, 'file')} could not be examined, and are excluded", "  "
        )


TITLES = {
    "by count": "Drawn by count, for the files:",
    "by size": "Drawn by size, for the capacity:",
    "by size, with replacement": "Drawn by size with replacement, for the capacity:",
    "wrong": "The wrong way: drawn by count, used for the capacity:",
}
_NAMES = {"compressed": "left by {}", "zeros": "zeros", "entropy": "entropy", "size": "size, {}", "age": "age, {}"}


def _format_way(way: str, estimates: Sequence[SimulatedEstimate]) -> Iterator[str]:
    yield TITLES[way]
    sizes = sorted({estimate.n for estimate in estimates})
    rows = []
    for quantity in dict.fromkeys(estimate.true_number for estimate in estimates):
        mine = {estimate.n: estimate for estimate in estimates if estimate.true_number == quantity}
        cells = [
            f"{_format_error(mine[n])} {format_decimals(100 * (mine[n].coverage.value or 0.0), 0)}%" for n in sizes
        ]
        truth = (
            f"{format_decimals(100 * quantity.truth, 1)} %"
            if quantity.unit == "share"
            else (format_size(quantity.truth) if quantity.unit == "bytes" else _format_duration(quantity.truth))
        )
        rows.append((format_quantity_name(mine[sizes[0]]), truth, *cells))
    heads = [f"error, held at {sizes[0]:,}", *(f"{n:,}" for n in sizes[1:])]
    what = "share" if estimates[0].true_number.unit == "share" else "quantile"
    yield from table((what, "truth", *heads), rows, "L" + "r" * (1 + len(sizes))).splitlines()


def format_quantity_name(estimate: SimulatedEstimate) -> str:
    """Return the name of the estimated quantity, without the sampling scheme."""
    quantity = estimate.true_number
    name = f"{float(quantity.name):.0%}" if quantity.what in ("size", "age") else quantity.name
    return _NAMES.get(quantity.what, "{}").format(name)


def _format_error(estimate: SimulatedEstimate) -> str:
    if estimate.true_number.unit == "share":
        return format_decimals(100 * estimate.worst, 1)
    return (
        f"{format_decimals(100 * estimate.worst / estimate.true_number.truth, 0)}%"
        if estimate.true_number.truth
        else "–"
    )
