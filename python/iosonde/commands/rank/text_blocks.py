"""Tables of ``iosonde rank --block``: what each block adds, and its factors within the remaining variance."""

from collections.abc import Iterator

from iosonde.core.types import Estimate
from iosonde.core.units import format_significant
from iosonde.layout.text import table
from iosonde.model.sensitivity.blocks import Blocks
from iosonde.model.sensitivity.variances import VariancePart


def format_share(estimate: Estimate | None) -> str:
    """Format the value with two decimals; ``~`` if it is unknown."""
    return format_number(None if estimate is None else estimate.value)


def format_number(value: float | None) -> str:
    """Format with two decimals, or ``~``."""
    return "~" if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def format_interval(estimate: Estimate | None) -> str:
    """Format ``0.49–0.60``, or ``~``."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return "~"
    dash = " to " if estimate.low < 0 else "–"
    return f"{format_number(estimate.low)}{dash}{format_number(estimate.high)}"


def format_p_value(p: float | None) -> str:
    """Format a p value with two digits; ``<1e-9`` below."""
    return "~" if p is None else "<1e-9" if p < 1e-9 else f"{p:.2g}"


def format_block_shares(blocks: Blocks) -> Iterator[str]:
    """Yield both tables."""
    rows = [
        [
            f"{place}. {block.name}",
            *_format_cells(block.added),
            format_share(block.rest_share),
            format_interval(block.rest_share),
        ]
        for place, block in enumerate(blocks.blocks, 1)
    ]
    if blocks.interactions is not None and blocks.interactions.df:
        rows.append(["interactions", *_format_cells(blocks.interactions), "", ""])
    residual = "noise" if blocks.interactions is not None else "noise, interactions"
    rows.append([residual, format_number(blocks.unexplained), "", str(blocks.unexplained_df), "", "", "", ""])
    yield from table(
        ["block", "adds", "interval", "df", "F", "p", "of the rest", "interval"], rows, "lrrrrrrr"
    ).splitlines()
    yield ""
    rows = [[name, block.name, *_format_cells(part)] for block in blocks.blocks for name, part in block.factors.items()]
    yield from table(["factor", "block", "of the rest", "interval", "df", "F", "p"], rows, "llrrrrr").splitlines()


def _format_cells(part: VariancePart) -> list[str]:
    f = "~" if part.f is None else format_significant(part.f)
    return [format_share(part.share), format_interval(part.share), str(part.df), f, format_p_value(part.p)]
