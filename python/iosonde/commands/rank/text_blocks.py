"""Tables of ``iosonde rank --block``: what each block adds, and its factors within the remaining variance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.layout.text import table

from .text_numbers import number, p_text, share, span

if TYPE_CHECKING:
    from iosonde.model.sensitivity.blocks import Blocks
    from iosonde.model.sensitivity.variances import VariancePart


def block_lines(blocks: Blocks) -> Iterator[str]:
    """Yield both tables."""
    rows = [
        [f"{place}. {block.name}", *_format_cells(block.added), share(block.rest_share), span(block.rest_share)]
        for place, block in enumerate(blocks.blocks, 1)
    ]
    if blocks.interactions is not None and blocks.interactions.df:
        rows.append(["interactions", *_format_cells(blocks.interactions), "", ""])
    residual = "noise" if blocks.interactions is not None else "noise, interactions"
    rows.append([residual, number(blocks.unexplained), "", str(blocks.unexplained_df), "", "", "", ""])
    yield from table(
        ["block", "adds", "interval", "df", "F", "p", "of the rest", "interval"], rows, "lrrrrrrr"
    ).splitlines()
    yield ""
    rows = [[name, block.name, *_format_cells(part)] for block in blocks.blocks for name, part in block.factors.items()]
    yield from table(["factor", "block", "of the rest", "interval", "df", "F", "p"], rows, "llrrrrr").splitlines()


def _format_cells(part: VariancePart) -> list[str]:
    from iosonde.core.units import significant

    f = "~" if part.f is None else significant(part.f)
    return [share(part.share), span(part.share), str(part.df), f, p_text(part.p)]
