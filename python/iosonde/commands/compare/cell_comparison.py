"""The comparison of one pair of sides: within cells, or of all trials."""

from dataclasses import replace

import numpy as np

from iosonde.core.metrics import get_lowest_mean, is_count
from iosonde.data.query import ResponseQuery
from iosonde.stats.estimate import compare as estimates
from iosonde.stats.estimate.compare import Comparison
from iosonde.stats.estimate.within_cells import Cells, compare_summaries_within_cells, compare_within_cells
from iosonde.stats.regression.adjusted_sides import SideRows, compare_adjusted_sides

from .cells import InCells
from .sides import Sides


def compare_cell(matched: InCells, query: ResponseQuery, sides: Sides) -> Comparison:
    """Compare the sides of a pair, within its cells if it has any. A side of one trial has no spread: its ratio has no
    interval. Raises DataError without a trial."""
    pair = matched.pair
    part = pair.part
    if (adjusted := _compare_with_lines(matched, query.level, sides.margin)) is not None:
        return adjusted
    if matched.summaries:
        sides_of = (pair.a.name, pair.b.name)
        return compare_summaries_within_cells(sides_of, matched.summaries, query.level, sides.margin, part.base)
    if single := _pair_single_trials(matched):
        untested = compare_within_cells((pair.a.name, pair.b.name), single, query.level, sides.margin, part.base)
        return replace(untested, n_needed=None, warnings=(), doubts=("few-trials",))
    if matched.cells:
        return compare_within_cells(
            (pair.a.name, pair.b.name),
            matched.cells,
            query.level,
            sides.margin,
            part.base,
            display_cells=matched.display_cells,
            exact=is_count(part.metric),
        )
    a, b = (replace(side.group(), exact=is_count(part.metric)) for side in (pair.a, pair.b))
    comparison = estimates.compare_groups(
        a,
        b,
        query.level,
        sides.margin,
        pairs=bool(sides.pair),
        base=part.base,
    )
    # The interval of a mean ends where possible values do; a published one stays.
    mean_a, mean_b = (
        mean.within(low=get_lowest_mean(part.unit, bool(np.all(group.values > 0)), part.column))
        if group.values is not None
        else mean
        for group, mean in ((comparison.a, comparison.mean_a), (comparison.b, comparison.mean_b))
    )
    return replace(comparison, mean_a=mean_a, mean_b=mean_b)


def _pair_single_trials(matched: InCells) -> Cells:
    """Return the trials of both sides as one cell if a side has one trial; else none."""
    sides = (matched.pair.a, matched.pair.b)
    if matched.cells or any(side.published is not None or not side.values.size for side in sides):
        return ()
    return ((sides[0].values, sides[1].values),) if min(side.values.size for side in sides) == 1 else ()


def _compare_with_lines(matched: InCells, level: float, margin: float) -> Comparison | None:
    """Compare with numbers held; None if there are none, if the values are means, or if they cannot be held."""
    a, b = matched.pair.a, matched.pair.b
    if a.lines is None or b.lines is None or a.published or b.published or a.bring_ups or b.bring_ups:
        return None
    keys = [*a.cells, *b.cells] if matched.names else [()] * (a.values.size + b.values.size)
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    cells = np.array([numbers[key] for key in keys], dtype=np.intp)
    own = np.split(cells, [a.values.size])
    rows_a, rows_b = SideRows(a.name, a.values, a.lines, own[0]), SideRows(b.name, b.values, b.lines, own[1])
    return compare_adjusted_sides(rows_a, rows_b, level, margin, matched.pair.part.base)
