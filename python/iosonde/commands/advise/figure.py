"""Shortfall of a decision tree of settings from the best possible, by its depth."""

from collections.abc import Sequence

from iosonde.core.types import Estimate
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import (
    BLUE,
    MUTED,
    VERMILION,
    Row,
    build_flat_title,
    build_legend,
    build_name_channel,
    build_number_channel,
    draw_intervals,
    get_interval_ends,
    layer,
    short,
    view,
)

from .answer import Advised, AdvisedEach

_LEARNED, _CROSSED = "learned from", "cross-validation"


def figure(answer: Advised | AdvisedEach) -> Figure:
    """Draw the loss of the learned advice by depth."""
    advice = answer.advice
    losses, crossed = [depth.loss for depth in advice.depths], [depth.crossed for depth in advice.depths]
    return draw_loss_by_depth(losses, crossed, advice.depth, advice.instances.format_setting(advice.best_default))


def draw_loss_by_depth(learned: Sequence[float], crossed: Sequence[Estimate | None], stop: int, default: str) -> Figure:
    """Draw the loss (share of the best possible) by the maximum number of questions, on learned data and
    cross-validated.
    ``crossed`` has intervals. ``stop`` is the chosen depth, ``default`` the setting at depth 0.
    """
    x = build_name_channel(
        f"questions (0: {default}; dotted: stops here)", [str(depth) for depth in range(len(learned))]
    )
    y = build_number_channel("", "y", zero=True, axis=build_flat_title("short of the best, %"))
    own = [{"x": str(depth), "y": short(100 * loss), "series": _LEARNED} for depth, loss in enumerate(learned)]
    others = [
        _build_row(depth, estimate)
        for depth, estimate in enumerate(crossed)
        if estimate is not None and estimate.value is not None
    ]
    channels = {"x": x, "y": y, "color": build_legend([_LEARNED, _CROSSED], [BLUE, VERMILION])}
    spec = view(
        layer([{"x": str(stop)}], "rule", {"x": x}, color=MUTED, strokeDash=[2, 3]),
        *draw_intervals(others, x, y, color=VERMILION),
        *(layer(rows, "line", channels, strokeWidth=1.8) for rows in (own, others)),
        *(
            layer(rows, "point", channels, shape=shape, filled=True, size=48, opacity=1)
            for rows, shape in ((own, "circle"), (others, "square"))
        ),
        width=380,
        height=220,
    )
    return Figure(spec, "Loss by depth of the tree", "What trees of settings fall short of the best, by their depth.")


def _build_row(depth: int, estimate: Estimate) -> Row:
    low, high = get_interval_ends(estimate, 0.01) or (None, None)
    return {"x": str(depth), "y": short(100 * (estimate.value or 0.0)), "low": low, "high": high, "series": _CROSSED}
