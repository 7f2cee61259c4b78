"""Caveats of a single comparison: its order; covariates; missing values, mostly of the worst trials (timeouts, killed
runs); pairs that are a selection, as only the extreme units of one side were measured again, or kept."""

from collections.abc import Iterator, Sequence

import numpy as np

from iosonde.answers.covariate_lines import describe_lines
from iosonde.core.arrays import Array
from iosonde.core.message import Message
from iosonde.core.metrics import is_speed
from iosonde.core.types import Better, Metric
from iosonde.core.units import format_ratio, format_significant
from iosonde.core.words import format_count
from iosonde.stats.assumptions import doubtful
from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT, Comparison, build_group, compare_groups
from iosonde.stats.estimate.compare_words import format_side_name
from iosonde.stats.estimate.missing import compute_fisher_exact_p, compute_worst_case
from iosonde.stats.estimate.selection import Selection, detect_selection
from iosonde.stats.estimate.shared_bring_ups import Key

from .caveat import Caveat
from .cells import InCells
from .confounding import SidesInTurn, check_explanation, examine_sides, order_caveats
from .design_hints import list_design_hints
from .parts import DATA, ROW
from .samples import SideTrials, map_values_by_key
from .sides import Sides

_COVARIATE_ALPHA = 0.01
_MISSING_ALPHA = 0.05


def find_sides_in_turn(matched: InCells, comparison: Comparison, sides: Sides) -> SidesInTurn | None:
    """Return the order of two levels of a column, or of two DATA, that were measured one after the other."""
    column = DATA if sides.other is not None else sides.group
    return None if column is None else examine_sides(matched, comparison, column, _uses_rows(matched, sides))


def _uses_rows(matched: InCells, sides: Sides) -> bool:
    return sides.other is None and ROW in matched.pair.part.rows.columns


def list_own_caveats(
    matched: InCells, comparison: Comparison, sides: Sides, in_turn: SidesInTurn | None
) -> tuple[Caveat, ...]:
    """Return the caveats of a comparison of two levels of a column, or of two DATA."""
    column = DATA if sides.other is not None else sides.group
    if column is None:
        return ()
    order = order_caveats(in_turn, comparison, column, _uses_rows(matched, sides))
    names = matched.pair.part.lines
    lines = [Caveat(*describe_lines(names, comparison.method, column))] if names else []
    selection = list_selection_caveats(matched, comparison, column, sides.pair) if sides.pair else ()
    return (
        *lines,
        *order,
        *selection,
        *list_missing_value_caveats(matched, comparison, column),
        *_list_covariate_caveats(matched, column),
        *(() if in_turn else list_design_hints(matched, comparison, column, _uses_rows(matched, sides))),
    )


def _list_covariate_caveats(matched: InCells, side_column: str) -> list[Caveat]:
    part, caveats = matched.pair.part, []
    names, compared = part.name_sides(side_column), ~np.isnan(part.values)
    for name in part.covariates:
        values = part.rows.numbers(name)
        sides = [
            values[compared & (names == side.name) & ~np.isnan(values)] for side in (matched.pair.a, matched.pair.b)
        ]
        if min(x.size for x in sides) < 2:
            continue
        a, b = (build_group(side.name, x) for side, x in zip((matched.pair.a, matched.pair.b), sides, strict=True))
        p = compare_groups(a, b, 0.95, 0.0, base=2).p  # base: their difference
        if p is None or p < _COVARIATE_ALPHA / len(part.covariates):
            means = f"{format_significant(a.side.mean)} in {a.name}, {format_significant(b.side.mean)} in {b.name}"
            template = (
                "{covariate} differs between the sides, too ({means}): {spell.roles:'{covariate}=covariate'} holds it"
            )
            caveats.append(
                Caveat(Message("covariate-differs", template, covariate=name, means=means), doubtful("varies-besides"))
            )
    return caveats


def list_missing_value_caveats(matched: InCells, comparison: Comparison, group: str) -> list[Caveat]:
    """Return caveats on the missing values of each side, whether they override the claim, and the worst case."""
    sides = (matched.pair.a, matched.pair.b)
    if any(side.published for side in sides):
        return []
    gone, n = zip(*(_count_missing(matched, side, group) for side in sides), strict=True)
    if not any(gone):
        return []
    p = compute_fisher_exact_p(gone[0], n[0], gone[1], n[1])
    counts = " and ".join(f"{k} of {m} of {side.name}" for k, m, side in zip(gone, n, sides, strict=True))
    if gone[0] * n[1] == gone[1] * n[0]:
        template = "values are missing: {counts}; the remaining values are compared"
        return [Caveat(Message("missing-values", template, counts=counts))]
    worse = sides[gone[1] * n[0] > gone[0] * n[1]].name
    lost = p < _MISSING_ALPHA and not _is_confirmed_by_missing(
        comparison, matched.pair.part.metric, more_of_b=worse == sides[1].name
    )
    bound = _describe_worst_case(matched.pair.part.metric, sides, gone) if not matched.names else ""
    template = "values are missing: {counts} (Fisher's p = {p:.2g}){bound}"
    text = Message("missing-values", template, counts=counts, p=p, bound=bound, side=worse)
    why = Message("missing-values", "more values of {side} are missing", side=worse)
    return [Caveat(text, check_explanation(lost, "missing-values", why))]


def _count_missing(matched: InCells, side: SideTrials, group: str) -> tuple[int, int]:
    """Return the numbers of missing and of all values."""
    values = matched.pair.part.values[matched.pair.part.name_sides(group) == side.name]
    return int(np.isnan(values).sum()), int(values.size)


def _is_confirmed_by_missing(comparison: Comparison, metric: Metric, more_of_b: bool) -> bool:
    """Return whether the side that lacks more values is already the worse one: missing values only confirm that."""
    if comparison.verdict != DIFFERENT or not is_speed(metric):
        return False
    return (comparison.above == (metric.better is Better.LOWER)) == more_of_b


def _describe_worst_case(metric: Metric, sides: tuple[SideTrials, SideTrials], gone: tuple[int, ...]) -> str:
    """Describe the worst case, if it is known which way is worse."""
    if not is_speed(metric):
        return ""
    above = metric.better is Better.LOWER
    a, b = sides
    worst = compute_worst_case(a.values, gone[0], b.values, gone[1], above)
    if worst is None:
        return ""
    end, what = ("at least", "the time") if above else ("at most", "the rate")
    ratio = "" if worst.ratio is None else f"the median of {b.name} is {end} {format_ratio(worst.ratio)} times {what}, "
    return f"; counted as slower than all others, {ratio}rank test p = {worst.p:.2g}"


def list_selection_caveats(cells: InCells, comparison: Comparison, group: str, pair: Sequence[str]) -> Iterator[Caveat]:
    """Yield a caveat for each side whose paired units are extreme among its units. It overrides the claim if
    regression to the mean explains the change."""
    part, names = cells.pair.part, (cells.pair.a.name, cells.pair.b.name)
    values = [map_values_by_key(part, group, name, pair) for name in names]
    if comparison.ratio is not None:  # all pairs are above 0; what is not, and has no partner, has no logarithm
        values = [{key: float(np.log(value)) for key, value in side.items() if value > 0} for side in values]
    for own, other in ((0, 1), (1, 0)):
        paired, partners, unpaired = _split_by_partner(values[own], values[other])
        selection = detect_selection(paired, partners, unpaired)
        if selection is not None and abs(selection.regression) >= _get_equality_margin(comparison):
            side = names[own] if group == DATA else format_side_name(names[own], group, part.units.get(group, ""))
            yield _build_selection_caveat(selection, comparison, side, (paired, unpaired), is_of_b=own == 1)


def _split_by_partner(own: dict[Key, float], other: dict[Key, float]) -> tuple[Array, Array, Array]:
    """Return the values of a side with a partner, their partners, and the values without one."""
    common = [key for key in own if key in other]
    rest = [value for key, value in own.items() if key not in other]
    return np.array([own[key] for key in common]), np.array([other[key] for key in common]), np.array(rest)


def _get_equality_margin(comparison: Comparison) -> float:
    """Return the margin of equality for differences of pairs."""
    return comparison.difference_margin if comparison.ratio is None else float(np.log1p(comparison.margin))


def _build_selection_caveat(
    selection: Selection, comparison: Comparison, side: str, values: tuple[Array, Array], is_of_b: bool
) -> Caveat:
    paired, unpaired = values
    low, high = _get_decisive_interval(comparison)
    if is_of_b:  # the second value of a unit is then that of A
        low, high = -high, -low
    explained = comparison.verdict != CANNOT_TELL and selection.explains(low, high)
    means = [x.mean() if comparison.ratio is None else np.exp(x.mean()) for x in (paired, unpaired)]
    which = "lower" if selection.is_low else "higher"
    text = Message(
        "selected-pairs",
        "the {pairs} are a selection: those of {side} are {direction} than the {n_unpaired} without a partner "
        "({difference}), so that regression to the mean is in the change",
        pairs=format_count(paired.size, "pair"),
        side=side,
        direction=which,
        n_unpaired=unpaired.size,
        difference=f"{' against '.join(map(format_significant, means))}, rank test p = {selection.p:.2g}",
    )
    effect = "may explain the change" if comparison.verdict == DIFFERENT else "may hide a change"
    template = "the pairs are the {direction} values of {side}, so that regression to the mean " + effect
    why = Message("selected-pairs", template, direction=which, side=side)
    return Caveat(text, check_explanation(explained, "selected", why))


def _get_decisive_interval(comparison: Comparison) -> tuple[float, float]:
    """Return the decisive interval of the pairs' differences; of logarithms if a ratio decides."""
    low, high = comparison.decided.low, comparison.decided.high
    if low is None or high is None:
        return -np.inf, np.inf
    return (low, high) if comparison.ratio is None else (float(np.log(low)), float(np.log(high)))
