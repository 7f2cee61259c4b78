"""What a tree of settings falls short of the best possible, by its depth. Lays out what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.core.types import Estimate

from .figures import BLUE, VERMILION, panels
from .text import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def depth_figure(learned: Sequence[float], crossed: Sequence[Estimate | None], stop: int, default: str) -> Figure:
    """Loss (a share of the best possible) by the most questions on a way, from 0: where it was learned, and in
    cross-validation with intervals. ``stop`` is the depth that was chosen, ``default`` what depth 0 is."""
    return panels([0], lambda axes, _: _draw(axes, learned, crossed, stop, default), columns=1, wider=1.5)


def _draw(axes: Axes, learned: Sequence[float], crossed: Sequence[Estimate | None], stop: int, default: str) -> None:
    axes.plot(range(len(learned)), [100 * x for x in learned], "o-", color=BLUE, markersize=4, label="learned from")
    known = [(depth, e) for depth, e in enumerate(crossed) if e is not None and e.value is not None]
    if known:
        depths, values = [d for d, _ in known], [100 * (e.value or 0.0) for _, e in known]
        axes.plot(depths, values, "s-", color=VERMILION, markersize=4, label="cross-validation")
        for depth, e in known:
            if e.low is not None and e.high is not None:
                axes.plot([depth, depth], [100 * e.low, 100 * e.high], color=VERMILION, linewidth=1.3)
    axes.axvline(stop, color="#999999", linestyle=":", linewidth=1)
    axes.set_xticks(range(len(learned)))
    axes.set(xlabel=escape(f"questions (0: {default}; dotted: stops here)"), ylabel="short of the best, %",
             title="Loss by depth of the tree")  # fmt: skip
    axes.legend(fontsize=7)
