"""A self-contained HTML page: no network, no other file, all data escaped (``environment``).

Scripts run only if their hash is in the page's Content-Security-Policy, so that injected text could not run. Figures
are data, drawn by the page's script when they come into view (``library``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from iosonde.commands.bound.section import BAR_HEIGHT, BAR_WIDTH, losses_of, shares_of
from iosonde.commands.corpus.for_page import CorpusPage
from iosonde.commands.fit.figure_tree import is_cut
from iosonde.commands.plot.bars_content import Bars
from iosonde.commands.plot.figure_settings import lines_of
from iosonde.commands.rank.figure import share_parts
from iosonde.commands.regress.figure import TITLES, scale_of
from iosonde.commands.summary import text_faults as fault_text
from iosonde.commands.survey.for_page import SurveyPage
from iosonde.core.units import significant
from iosonde.core.words import counted, plural
from iosonde.layout.text import estimate_parts, estimate_text
from iosonde.page.carried import to_jsonable
from iosonde.page.environment import drawn_page
from iosonde.page.strip import STRIP_HEIGHT, STRIP_WIDTH
from iosonde.page.tables import PageSection, Section

from .content import Page
from .section_figures import factor_scale, page_specs
from .section_questions import FOLDED, question_sentences, question_text
from .section_summary import summary_table
from .section_top import on_first_screen, top_tables

MOST_FINDINGS = 6  # findings that are not folded
MOST_OPEN = 24  # figures of a kind that are not folded


def render(
    page: Page,
    say: Callable[[str], None] = lambda sentence: None,
    sections: Mapping[str, PageSection] = MappingProxyType({}),
) -> str:
    """Return the page as HTML text. ``say`` reports what made this slower than necessary; ``sections`` are those that
    commands bring, by key."""
    tops = top_tables(page)
    return drawn_page(
        "page.html",
        page_specs(page, sections),
        say,
        _list_names(page),
        page=page,
        tops=tops,
        first_tops=on_first_screen(tops),
        absent=absent(page),
        first_ranked=_first_ranked(page),
        most_findings=MOST_FINDINGS,
        bar_groups=bar_groups(page),
        most_open=MOST_OPEN,
        summaries=[summary_table(response) for response in page.summary],
        model_scale=scale_of,
        factor_scale=factor_scale,
        share_parts=share_parts,
        bar_size=(BAR_WIDTH, BAR_HEIGHT),
        tree_is_cut=is_cut,
        shares_of=shares_of,
        losses_of=losses_of,
        plot_titles=TITLES,
        significant=significant,
        settings_lines=[] if page.settings is None else lines_of(page.settings),
        question_text=question_text,
        folded_lines=FOLDED,
        question_sentences=question_sentences,
        strip=(STRIP_WIDTH, STRIP_HEIGHT),
        counted=counted,
        fault_grid=fault_text.grid,
        fault_title=fault_text.title,
        sections=sections,
        section_links=[(section.name, key, True) for key, section in sections.items()],
        plural=plural,
        estimate_text=estimate_text,
        estimate_parts=estimate_parts,
    )


def absent(page: Page) -> list[tuple[str, str]]:
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


def _first_ranked(page: Page) -> int:
    """Return the number of the first part with a ranking, which explains the signs; 0 without any."""
    return next((number for number, item in enumerate(page.influences.items, 1) if item.ranking), 0)


def bar_groups(page: Page) -> list[tuple[str, list[tuple[int, Bars]]]]:
    """Return (title, [(number, bars)]): one group without a title, or groups by metric if they are too many."""
    numbered = list(enumerate(page.bars.items, 1))
    if len(numbered) <= MOST_OPEN:
        return [("", numbered)] if numbered else []
    groups: dict[str, list[tuple[int, Bars]]] = {}
    for number, bars in numbered:
        groups.setdefault(f"{bars.operation}, {bars.metric}", []).append((number, bars))
    return list(groups.items())


def page_document(page: Page | SurveyPage | CorpusPage) -> dict[str, Any]:
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
