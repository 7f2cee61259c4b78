"""The page of any data: a store or table, a survey, or a corpus."""

from collections.abc import Callable, Sequence

from iosonde.commands.corpus.for_page import CorpusPage
from iosonde.commands.corpus.section import render_corpus
from iosonde.commands.survey.for_page import SurveyPage
from iosonde.commands.survey.section import render_survey

from .content import Page
from .parts import build_sections
from .section import render


def render_page_html(
    page: Page | SurveyPage | CorpusPage,
    say: Callable[[str], None] = lambda sentence: None,
    links: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the page as HTML text. ``say`` reports what made this slower than necessary; ``links``: names and
    addresses of pages around that of a store."""
    if isinstance(page, SurveyPage):
        return render_survey(page, say)
    return (
        render_corpus(page, say)
        if isinstance(page, CorpusPage)
        else render(page, say, build_sections(page.parts), links)
    )
