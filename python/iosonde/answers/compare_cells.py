"""Settings that vary besides the group: which can be adjusted for, and which of their cells have both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError
from iosonde.core.level_text import level_texts
from iosonde.core.words import listed

from .caveats import some
from .compare_parts import ComparedPart
from .compare_samples import Key, SidePair, SideTrials


@dataclass(frozen=True)
class InCells:
    """The pair with the trials of cells that have both sides, the columns that make them, and what is to be said."""

    pair: SidePair
    names: tuple[str, ...]
    cells: tuple[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]], ...]
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def adjusted(pair: SidePair) -> InCells:
    """The pair within the cells of what varies besides. Raises DataError where no cell has both sides."""
    names = pair.part.adjust
    if not names or pair.a.published or pair.b.published:
        return InCells(pair, (), ())
    varying = [place for place in range(len(names)) if len({cell[place] for cell in _cells(pair)}) > 1]
    kept = [place for place in varying if _shared(pair, [place])]
    said = tuple(_gone(pair, names[place]) for place in varying if place not in kept)
    pair = _on(pair, kept)
    names = tuple(names[place] for place in kept)
    if not names:
        return InCells(pair, (), (), said)
    both = _shared(pair, range(len(names)))
    if not both:
        raise DataError(f"no setting of {listed(names)} has trials of both {pair.a.name} and {pair.b.name}",
                        "choose what to hold with --adjust or --where")  # fmt: skip
    left_out = tuple(
        f"{one.name} alone has {_shown(pair, names, sorted(set(one.cells) - both, key=str))}"
        for one in (pair.a, pair.b) if set(one.cells) - both
    )  # fmt: skip
    pair = replace(pair, a=_of(pair.a, both), b=_of(pair.b, both))
    a, b = pair.a.by_cell(), pair.b.by_cell()
    return InCells(pair, names, tuple((a[cell], b[cell]) for cell in a), said, left_out)


def _cells(pair: SidePair) -> list[Key]:
    return [*pair.a.cells, *pair.b.cells]


def _shared(pair: SidePair, places: Sequence[int]) -> set[Key]:
    """The cells of these columns that have both sides."""
    a, b = ({tuple(cell[place] for place in places) for cell in one.cells} for one in (pair.a, pair.b))
    return a & b


def _gone(pair: SidePair, name: str) -> str:
    return f"{name} has no value that both {pair.a.name} and {pair.b.name} have: nothing here tells them apart"


def _on(pair: SidePair, places: Sequence[int]) -> SidePair:
    """The cells of some of the columns."""

    def of(one: SideTrials) -> SideTrials:
        return replace(one, cells=tuple(tuple(cell[place] for place in places) for cell in one.cells))

    part: ComparedPart = replace(pair.part, adjust=tuple(pair.part.adjust[place] for place in places))
    return SidePair(part, of(pair.a), of(pair.b))


def _of(one: SideTrials, cells: set[Key]) -> SideTrials:
    return one.take([place for place, cell in enumerate(one.cells) if cell in cells])


def _shown(pair: SidePair, names: Sequence[str], cells: Sequence[Key]) -> str:
    return some(["/".join(level_texts(dict(zip(names, cell, strict=True)), pair.part.units)) for cell in cells])
