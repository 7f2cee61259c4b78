"""The page about DATA, whichever it is: of trials or of a table, or of a survey."""

from __future__ import annotations

from collections.abc import Callable

from iosonde.answers.page.content.page import Page
from iosonde.answers.survey_page import SurveyPage

from .page import render
from .survey import survey_html


def html_of(page: Page | SurveyPage, say: Callable[[str], None] = lambda sentence: None) -> str:
    """The page as HTML text. ``say`` is told what made this slower than it need be."""
    return survey_html(page, say) if isinstance(page, SurveyPage) else render(page, say)
