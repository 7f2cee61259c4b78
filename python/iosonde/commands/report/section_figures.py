"""All figures of a page by place, as the JSON that the page's script draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from iosonde.commands.bound.figure_roofline import roofline_figure
from iosonde.commands.bound.figure_waterfall import waterfall_figure
from iosonde.commands.fit.figure_tree import TreeDrawing, tree_figure
from iosonde.commands.fit.figure_unseen import LearningCurve, Predicted, curve_figure, predicted_figure
from iosonde.commands.plot.figure_bars import bars_figure
from iosonde.commands.plot.figure_latency import latency_figure
from iosonde.commands.plot.figure_over_time import over_time_figure
from iosonde.commands.plot.figure_settings import settings_figure
from iosonde.commands.plot.figure_timeline import timeline_figure
from iosonde.commands.rank.content import Influence, JudgedModel
from iosonde.commands.rank.figure import Bar, Importance, importance_figure
from iosonde.commands.regress.figure import regression_figures
from iosonde.core.units import common_scale
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import Spec, page_spec
from iosonde.page.tables import PageSection

from .content import Page
from .section_questions import question_figure

_FIXED = ("tree-", "settings-", "faults-", "questions-")  # figures of fixed width
MEAN = "mean of everything"


def page_specs(page: Page, sections: Mapping[str, PageSection] = MappingProxyType({})) -> dict[str, Any]:
    """Return place → specification without its title, which the page has as text."""
    own = {place: _build_spec(figure, place.startswith(_FIXED)) for place, figure in _iterate_figures(page)}
    of_commands = {key: section.figure for key, section in sections.items() if section.figure is not None}
    return own | {f"{key}-1": _build_spec(figure, True) for key, figure in of_commands.items()}


def _build_spec(figure: Figure, is_fixed: bool) -> Any:
    return page_spec(_remove_title(figure.spec), is_fixed)


def _remove_title(spec: Spec) -> Spec:
    return {key: value for key, value in spec.items() if key != "title"}


def _iterate_figures(page: Page) -> Iterator[tuple[str, Figure]]:
    kinds: list[tuple[str, list[Figure | None]]] = [
        ("settings", [None if page.settings is None else settings_figure(page.settings)]),
        ("bars", [None if bars.empty or not page.scales else bars_figure(bars, page.axis) for bars in page.bars.items]),
        ("latency", [None if item.empty else latency_figure(item, page.axis) for item in page.latencies.items]),
        ("timeline", [timeline_figure(timeline) for timeline in page.timelines.items]),
        ("faults", [None if page.fault_plot is None else over_time_figure(page.fault_plot)]),
        ("bound", [roofline_figure(line) for item in page.bound.items for line in item.rooflines]),
        ("questions", [question_figure(question) for question in page.questions]),
        ("losses", [waterfall_figure(bars) for item in page.bound.items for bars in item.losses]),
    ]
    for number, model in enumerate(page.models.items, 1):
        kinds.append((f"model-{number}", list(regression_figures(model.plots, model.unit))))
    for kind, figures in kinds:
        yield from ((f"{kind}-{number}", figure) for number, figure in enumerate(figures, 1) if figure is not None)
    for number, influence in enumerate(page.influences.items, 1):
        yield from ((f"{kind}-{number}", figure) for kind, figure in _factor_figures(influence))


def _factor_figures(influence: Influence) -> Iterator[tuple[str, Figure]]:
    if influence.ranking is not None:
        bars = tuple(Bar(share.name, share.s1, share.st, share.zero_line) for share in influence.ranking.shares)
        yield "ranking", importance_figure(Importance(influence.title, bars))
    if influence.judged is not None:
        rows = Predicted(
            influence.title,
            influence.judged.name,
            influence.judged.observed,
            influence.judged.predicted,
            influence.unit,
        )
        yield "predicted", predicted_figure(rows)
        if influence.judged.curve:
            yield "curve", curve_figure(_build_curve(influence, influence.judged))
    if influence.tree is not None:
        yield "tree", tree_figure(TreeDrawing(influence.title, influence.tree.nodes, influence.unit))


def _build_curve(influence: Influence, judged: JudgedModel) -> LearningCurve:
    lines = {
        judged.name: [(point.n_train, point.model) for point in judged.curve],
        MEAN: [(point.n_train, point.mean) for point in judged.curve],
    }
    return LearningCurve(influence.title, lines, judged.noise, influence.unit)


def factor_scale(influence: Influence) -> tuple[float, str]:
    """Return (divisor, unit) for all values in the response's unit."""
    if influence.judged is not None and influence.judged.observed:
        return common_scale(influence.judged.observed, influence.unit)
    return 1.0, influence.unit
