"""A self-contained HTML page: no network, no other file, all data escaped (``environment``).

Scripts run only if their hash is in the page's Content-Security-Policy, so that injected text could not run. Figures
are data, drawn by the page's script when they come into view (``library``).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from iosonde.commands.bound.figure import waterfall_figure
from iosonde.commands.bound.figure_roofline import format_title, roofline_figure, share_panels
from iosonde.commands.bound.section import BAR_HEIGHT, BAR_WIDTH, build_loss_drawings, build_share_drawings
from iosonde.commands.corpus.for_page import CorpusPage
from iosonde.commands.fit.figure_tree import TreeDrawing, is_cut, tree_figure
from iosonde.commands.fit.figure_unseen import LearningCurve, Predicted, curve_figure, predicted_figure
from iosonde.commands.plot.content import Bars
from iosonde.commands.plot.figure import timeline_figure
from iosonde.commands.plot.figure_bars import bars_figure
from iosonde.commands.plot.figure_latency import latency_figure
from iosonde.commands.plot.figure_over_time import over_time_figure
from iosonde.commands.plot.figure_settings import list_subtitle_lines, settings_figure
from iosonde.commands.rank.content import Influence, JudgedModel
from iosonde.commands.rank.figure import Bar, Importance, importance_figure
from iosonde.commands.regress.figure import TITLES, choose_scale, regression_figures
from iosonde.commands.summary import text_faults as fault_text
from iosonde.commands.survey.for_page import SurveyPage
from iosonde.core.estimate_text import format_explained_share
from iosonde.core.grouping import group_by_key
from iosonde.core.units import choose_common_scale, format_significant
from iosonde.core.words import format_count, pluralize
from iosonde.layout.figure import Figure
from iosonde.layout.text import format_estimate, format_estimate_parts
from iosonde.layout.vocabulary import adapt_to_page
from iosonde.model.bound.shares import MARKS
from iosonde.page.carried import to_jsonable
from iosonde.page.environment import render_page_with_figures
from iosonde.page.strip import STRIP_HEIGHT, STRIP_WIDTH
from iosonde.page.tables import PageSection, Section

from .content import Page
from .section_questions import FOLDED, draw_question_figure, format_question_text, list_question_sentences
from .section_summary import build_summary_tables, group_tables
from .section_top import build_top_tables, count_unfolded_tables
from .section_verdicts import MOST_LINES, build_verdict_lines

MOST_FINDINGS = 6  # findings that are not folded
MOST_OPEN = 24  # figures of a kind that are not folded
_FIXED = ("tree-", "settings-", "faults-", "questions-")  # figures of fixed width
MEAN = "mean of everything"


def render(
    page: Page,
    say: Callable[[str], None] = lambda sentence: None,
    sections: Mapping[str, PageSection] = MappingProxyType({}),
    links: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the page as HTML text. ``say`` reports what made this slower than necessary; ``sections`` are those that
    commands bring, by key. ``links``: names and addresses of pages around it."""
    tops = build_top_tables(page)
    return render_page_with_figures(
        "page.html",
        build_page_specs(page, sections),
        say,
        _list_names(page),
        page=page,
        links=links,
        verdicts=build_verdict_lines(page),
        most_verdicts=MOST_LINES,
        tops=tops,
        first_tops=count_unfolded_tables(tops),
        absent=list_absent_parts(page),
        first_ranked=next((number for number, item in enumerate(page.influences.items, 1) if item.ranking), 0),
        most_findings=MOST_FINDINGS,
        bar_groups=group_bars(page),
        most_open=MOST_OPEN,
        summaries=build_summary_tables(page.summary),
        group_tables=group_tables,
        model_scale=choose_scale,
        factor_scale=choose_factor_scale,
        share_parts=format_explained_share,
        bound_marks=MARKS,
        bar_size=(BAR_WIDTH, BAR_HEIGHT),
        tree_is_cut=is_cut,
        shares_of=build_share_drawings,
        panels_of=share_panels,
        panel_title=format_title,
        losses_of=build_loss_drawings,
        plot_titles=TITLES,
        significant=format_significant,
        subtitle_lines=list_subtitle_lines,
        question_text=format_question_text,
        folded_lines=FOLDED,
        question_sentences=list_question_sentences,
        strip=(STRIP_WIDTH, STRIP_HEIGHT),
        counted=format_count,
        fault_grid=fault_text.build_part_rows,
        fault_title=fault_text.format_title,
        sections=sections,
        section_links=[(section.name, key, True) for key, section in sections.items()],
        plural=pluralize,
        estimate_text=format_estimate,
        estimate_parts=format_estimate_parts,
    )


def list_absent_parts(page: Page) -> list[tuple[str, str]]:
    """Return (part, reason) for each part without a section, as it has nothing to show."""
    parts: list[tuple[str, Section[Any]]] = [
        ("what matters", page.influences),
        ("what to choose", page.advice),
        ("regression", page.models),
        ("bound", page.bound),
        ("latency", page.latencies),
        ("ranks", page.timelines),
        ("machine", page.facts),
    ]
    return [(name, " ".join(section.missing)) for name, section in parts if section.missing and not section.items]


def group_bars(page: Page) -> list[tuple[str, list[tuple[int, Bars]]]]:
    """Return (title, [(number, bars)]): one group without a title, or groups by metric if they are too many."""
    numbered = list(enumerate(page.bars.items, 1))
    if len(numbered) <= MOST_OPEN:
        return [("", numbered)] if numbered else []
    groups = group_by_key((f"{bars.operation}, {bars.metric}", (number, bars)) for number, bars in numbered)
    return list(groups.items())


def build_page_document(page: Page | SurveyPage | CorpusPage) -> dict[str, Any]:
    """Return all content of the page as plain values, for a program (docs/commands/report.md)."""
    document: dict[str, Any] = to_jsonable(page.to_json())
    return document


def _list_names(page: Page) -> set[str]:
    """Return the first words of all names on the page."""
    texts = [
        *(name for response in page.summary for name in (response.title, *response.by)),
        *(name for item in page.models.items for name in (item.title, *(term.name for term in item.terms))),
        *(item.title for item in page.influences.items),
    ]
    return {name.split(" ", 1)[0] for name in texts}


def build_page_specs(page: Page, sections: Mapping[str, PageSection] = MappingProxyType({})) -> dict[str, Any]:
    """Return place → specification without its title, which the page has as text."""
    own = {place: _build_spec(figure, place.startswith(_FIXED)) for place, figure in _iterate_figures(page)}
    of_commands = {key: section.figure for key, section in sections.items() if section.figure is not None}
    return own | {f"{key}-1": _build_spec(figure, True) for key, figure in of_commands.items()}


def _build_spec(figure: Figure, is_fixed: bool) -> Any:
    return adapt_to_page({key: value for key, value in figure.spec.items() if key != "title"}, is_fixed)


def _iterate_figures(page: Page) -> Iterator[tuple[str, Figure]]:
    kinds: list[tuple[str, list[Figure | None]]] = [
        ("settings", [] if page.settings is None else [settings_figure(plot) for plot in page.settings.every]),
        ("bars", [None if bars.empty or not page.scales else bars_figure(bars, page.axis) for bars in page.bars.items]),
        ("latency", [None if item.empty else latency_figure(item, page.axis) for item in page.latencies.items]),
        ("timeline", [timeline_figure(timeline) for timeline in page.timelines.items]),
        ("faults", [None if page.fault_plot is None else over_time_figure(page.fault_plot)]),
        ("bound", [roofline_figure(panel) for item in page.bound.items for panel in share_panels(item.rooflines)]),
        ("questions", [draw_question_figure(question) for question in page.questions]),
        ("losses", [waterfall_figure(bars) for item in page.bound.items for bars in item.losses]),
    ]
    for number, model in enumerate(page.models.items, 1):
        kinds.append((f"model-{number}", list(regression_figures(model.plots, model.unit))))
    for kind, figures in kinds:
        yield from ((f"{kind}-{number}", figure) for number, figure in enumerate(figures, 1) if figure is not None)
    for number, influence in enumerate(page.influences.items, 1):
        yield from ((f"{kind}-{number}", figure) for kind, figure in _draw_factor_figures(influence))


def _draw_factor_figures(influence: Influence) -> Iterator[tuple[str, Figure]]:
    if influence.ranking is not None:
        bars = tuple(Bar(share.name, share.share) for share in influence.ranking.shares)
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


def choose_factor_scale(influence: Influence) -> tuple[float, str]:
    """Return (divisor, unit) for all values in the response's unit."""
    if influence.judged is not None and influence.judged.observed:
        return choose_common_scale(influence.judged.observed, influence.unit)
    return 1.0, influence.unit
