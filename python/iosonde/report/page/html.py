"""The page of any data: a store or table, a survey, or a corpus."""

from __future__ import annotations

from collections.abc import Callable

from iosonde.answers.corpus_page import CorpusPage
from iosonde.answers.page.content.page import Page
from iosonde.answers.survey.page import SurveyPage

from .corpus import corpus_html
from .page import render
from .survey import survey_html


def html_of(page: Page | SurveyPage | CorpusPage, say: Callable[[str], None] = lambda sentence: None) -> str:
    """Return the page as HTML text. ``say`` reports what made this slower than necessary."""
    if isinstance(page, SurveyPage):
        return survey_html(page, say)
    return corpus_html(page, say) if isinstance(page, CorpusPage) else render(page, say)
