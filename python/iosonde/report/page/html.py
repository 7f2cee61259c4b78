"""What is shown of DATA, whichever page it is: of a store or table, of a survey, or of a corpus."""

from __future__ import annotations

from collections.abc import Callable

from iosonde.answers.corpus_page import CorpusPage
from iosonde.answers.page.content.page import Page
from iosonde.answers.survey.page import SurveyPage

from .corpus import corpus_html
from .page import render
from .survey import survey_html


def html_of(page: Page | SurveyPage | CorpusPage, say: Callable[[str], None] = lambda sentence: None) -> str:
    """The page as HTML text. ``say`` is told what made this slower than it need be."""
    if isinstance(page, SurveyPage):
        return survey_html(page, say)
    return corpus_html(page, say) if isinstance(page, CorpusPage) else render(page, say)
