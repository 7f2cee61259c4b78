"""What is shown of DATA: the page of a store or table, or that of a corpus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iosonde.answers.corpus_page import CorpusPage
from iosonde.answers.page.content.page import Page

from .corpus import corpus_html
from .page import page_document, render


def page_html(page: Page | CorpusPage, say: Callable[[str], None] = lambda sentence: None) -> str:
    """The page as HTML text. ``say`` is told what made this slower than it need be."""
    return corpus_html(page, say) if isinstance(page, CorpusPage) else render(page, say)


def document_of(page: Page | CorpusPage) -> dict[str, Any]:
    """What it shows as plain values: of a corpus what ``iosonde corpus --json`` prints."""
    return page.corpus.to_dict() if isinstance(page, CorpusPage) else page_document(page)
