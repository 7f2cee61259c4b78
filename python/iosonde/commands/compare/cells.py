"""Settings that vary besides the group: which can be adjusted for, and which of their cells have both sides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.answers.caveats import format_some_texts
from iosonde.core.errors import DataError
from iosonde.core.level_text import format_assignments
from iosonde.core.message import Message
from iosonde.core.table import Cell, is_missing
from iosonde.core.verdict import VerdictState
from iosonde.core.words import join_names
from iosonde.stats.assumptions import fails
from iosonde.stats.estimate.ratio import Moments
from iosonde.stats.estimate.shared_bring_ups import (
    InEach,
    Key,
    average_by_bring_up,
    has_repeated_bring_ups,
)
from iosonde.stats.estimate.shared_bring_ups import group_means_by_bring_up as averaged
from iosonde.stats.overview.cells import AVERAGED_BRING_UPS

from .caveat import Caveat
from .parts import ComparedPart
from .samples import SidePair, SideTrials

ONE_SIDED, ONE_SIDED_METRIC = "one-sided", "one-sided-metric"
_MOST_CELLS, _MOST_CHARACTERS = 4, 120  # listed where one side alone has them


@dataclass(frozen=True)
class InCells:
    """The pair with the trials of cells that have both sides, and the columns of the cells. ``shared``: caveats of all
    comparisons. ``display_cells``: cells whose means are shown, if not the compared ones (None). ``summaries``: of the
    same cells, if the values are means."""

    pair: SidePair
    names: tuple[str, ...]
    cells: tuple[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]], ...]
    shared: tuple[Caveat, ...] = ()
    exclusions: tuple[str, ...] = ()
    display_cells: InEach | None = None
    summaries: tuple[tuple[Moments, Moments], ...] = ()


def split_pair_into_cells(pair: SidePair) -> InCells:
    """Split the pair into cells of what varies besides. Raises DataError if no cell has both sides."""
    matched = _split_values_into_cells(pair)
    a, b = matched.pair.a, matched.pair.b
    if not (a.summaries and b.summaries):
        return matched
    own, other = a.pool_by_cell(), b.pool_by_cell()
    summaries = tuple((own[cell], other[cell]) for cell in own) if matched.names else ()
    return replace(matched, pair=replace(matched.pair, a=a.publish(), b=b.publish()), summaries=summaries)


def _split_values_into_cells(pair: SidePair) -> InCells:
    names = pair.part.adjust
    if not names or pair.a.published or pair.b.published:
        return InCells(pair, (), ())
    varying = [
        place for place in range(len(names)) if len({cell[place] for cell in (*pair.a.cells, *pair.b.cells)}) > 1
    ]
    shared_places = [place for place in varying if _intersect_cells(pair, [place])]
    apart = (_build_unshared_caveat(pair, place) for place in varying if place not in shared_places)
    caveats = tuple(caveat for caveat in apart if caveat is not None)
    pair = _project_pair(pair, shared_places)
    names = tuple(names[place] for place in shared_places)
    if not names:
        return InCells(pair, (), (), caveats)
    both = _intersect_cells(pair, range(len(names)))
    if not both:
        raise DataError(
            "no-common-setting",
            "no setting of {names} has trials of both {side_a} and {side_b}",
            "choose what to hold with {spell.adjust} or {spell.where}",
            names=join_names(names),
            side_a=pair.a.name,
            side_b=pair.b.name,
        )
    alone = {side.name: sorted(set(side.cells) - both, key=str) for side in (pair.a, pair.b)}
    excluded = describe_exclusive_cells(
        {side: [dict(zip(names, cell, strict=True)) for cell in cells] for side, cells in alone.items()},
        pair.part.units,
        [dict(zip(names, cell, strict=True)) for cell in both],
    )
    pair = replace(pair, a=_select_cells(pair.a, both), b=_select_cells(pair.b, both))
    a, b = pair.a.by_cell(), pair.b.by_cell()
    return InCells(pair, names, tuple((a[cell], b[cell]) for cell in a), caveats, excluded)


def describe_exclusive_cells(
    cells_by_side: Mapping[str, Sequence[Mapping[str, Cell]]],
    units: Mapping[str, str],
    common: Sequence[Mapping[str, Cell]] = (),
) -> tuple[Message, ...]:
    """Return what is excluded since one side alone has it; ``common`` are the cells that both have."""
    sides = {side: format_cells(cells, units, common) for side, cells in cells_by_side.items() if cells}
    return tuple(describe_exclusive(side, text) for side, text in sides.items())


def describe_exclusive(side: str, text: str, code: str = ONE_SIDED) -> Message:
    """Return the note on what one side alone has: settings, or metrics (the code ONE_SIDED_METRIC)."""
    return Message(code, "{side} alone has {cells}", side=side, cells=text)


def format_cells(
    cells: Sequence[Mapping[str, Cell]], units: Mapping[str, str], others: Sequence[Mapping[str, Cell]] = ()
) -> str:
    """List a few cells by the settings in which they differ, also from all ``others``, as many as one or two lines
    hold, and count the rest."""
    varying = [name for name in cells[0] if len({cell[name] for cell in cells}) > 1] or list(cells[0])
    own = [name for name in cells[0] if others and cells[0][name] not in {cell.get(name) for cell in others}]
    names = [name for name in cells[0] if name in varying or name in own]
    texts = [
        "/".join(format_assignments({name: cell[name] for name in names if not is_missing(cell[name])}, units))
        or "(missing)"
        for cell in cells
    ]
    ends = np.cumsum([len(text) for text in texts])
    most = max(1, min(_MOST_CELLS, int(np.searchsorted(ends, _MOST_CHARACTERS, "right"))))
    return format_some_texts(texts, most)


def average_within_bring_ups(matched: InCells) -> InCells:
    """Average trials that share a bring-up into one value. Positive values are averaged as logs over cells, as
    ``compare_within_cells`` takes them."""
    a, b = matched.pair.a, matched.pair.b
    units = (a.bring_ups, b.bring_ups)
    if not any(has_repeated_bring_ups(each) for each in units):
        return matched
    if not matched.names:
        a, b = (
            replace(x, values=average_by_bring_up(x.values, x.bring_ups), bring_ups=()) if x.bring_ups else x
            for x in (a, b)
        )
        return replace(
            matched, pair=replace(matched.pair, a=a, b=b), shared=(*matched.shared, Caveat(AVERAGED_BRING_UPS))
        )
    if min(len(set(each)) for each in units) < 2:
        a, b = (replace(x, values=average_by_bring_up(x.values, x.bring_ups)) for x in (a, b))
        return replace(matched, pair=replace(matched.pair, a=a, b=b), names=(), cells=())
    both, cells = (a.values, b.values), (a.cells, b.cells)
    plain = averaged(both, cells, units)
    logs = matched.pair.part.base is None and all(np.all(x > 0) for x in both)
    averages = averaged((np.log(both[0]), np.log(both[1])), cells, units) if logs else plain
    compared = [(np.exp(x), np.exp(y)) for x, y in averages] if logs else plain
    return replace(
        matched, cells=tuple(compared), display_cells=plain, shared=(*matched.shared, Caveat(AVERAGED_BRING_UPS))
    )


def _intersect_cells(pair: SidePair, places: Sequence[int]) -> set[Key]:
    """Return the cells of these columns that have both sides."""
    a, b = ({tuple(cell[place] for place in places) for cell in side.cells} for side in (pair.a, pair.b))
    return a & b


def _build_unshared_caveat(pair: SidePair, place: int) -> Caveat | None:
    """Build the caveat of a column without a value shared by both sides. None if each row has its own value, as a
    name."""
    values = [[cell[place] for cell in side.cells] for side in (pair.a, pair.b)]
    if max(map(len, values)) > 1 and all(len(set(side)) == len(side) for side in values):
        return None
    name = pair.part.adjust[place]
    template = "{factor} has no value that both {side_a} and {side_b} have: they cannot be separated here"
    if min(len(set(side)) for side in values) > 1:  # the sides may be compared by its values
        template += "; {spell.roles:'{factor}=repetition'} compares the sides by the differences between these"
    text = Message("confounded", template, factor=name, side_a=pair.a.name, side_b=pair.b.name)
    return Caveat(text, fails("goes-together", VerdictState.NOT_SEPARABLE, text, cause=name))


def _project_pair(pair: SidePair, places: Sequence[int]) -> SidePair:
    """Reduce the cells to some of the columns."""

    def project(side: SideTrials) -> SideTrials:
        return replace(side, cells=tuple(tuple(cell[place] for place in places) for cell in side.cells))

    part: ComparedPart = replace(pair.part, adjust=tuple(pair.part.adjust[place] for place in places))
    return SidePair(part, project(pair.a), project(pair.b))


def _select_cells(side: SideTrials, cells: set[Key]) -> SideTrials:
    return side.take([place for place, cell in enumerate(side.cells) if cell in cells])
