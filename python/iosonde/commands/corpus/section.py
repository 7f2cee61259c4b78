"""The page of a corpus: the spread of results over systems, what explains it, and one's own place.
It is one self-contained file.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from iosonde.core.whole_file import replace_file
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import adapt_to_page
from iosonde.page.environment import render_page_with_figures

from . import figure as figures
from .for_page import CorpusPage
from .text import format_share, lines

KINDS = _PLACED, _SPREAD, _BY, _SCORES, _DEPENDENCE, _SHARES = (
    "placed",
    "spread",
    "by",
    "scores",
    "dependence",
    "shares",
)


def render_corpus(page: CorpusPage, say: Callable[[str], None] = lambda sentence: None) -> str:
    """Return the page as HTML text. ``say`` reports what made this slower than necessary."""
    drawn = list(_iterate_figures(page))
    by_kind = {
        kind: [(name, figure.title, figure.description) for name, figure in drawn if name.rpartition("-")[0] == kind]
        for kind in KINDS
    }
    specs = {
        name: adapt_to_page({key: value for key, value in figure.spec.items() if key != "title"})
        for name, figure in drawn
    }
    corpus = page.corpus
    return render_page_with_figures(
        "corpus.html",
        specs,
        say,
        page=page,
        made=corpus,
        drawn=by_kind,
        text=list(lines(corpus)),
        heading=page.headline,
        explained=[
            (phase.title, [format_share(phase.explained[name].share) for name in corpus.on]) for phase in corpus.phases
        ],
        share=format_share,
    )


def save_corpus(page: CorpusPage, path: str | Path, say: Callable[[str], None] = lambda sentence: None) -> None:
    """Write the page atomically. Raises InputError."""
    replace_file(Path(path), render_corpus(page, say).encode())
    say(f"the page: {path}")


def _iterate_figures(page: CorpusPage) -> Iterator[tuple[str, Figure]]:
    dependence = page.corpus.parts.dependence
    corpus, phases = page.corpus, [phase for phase in page.corpus.phases if len(phase.values) > 1]
    kinds = {
        _PLACED: [figures.draw_own_places(corpus)] if any(phase.placed for phase in corpus.phases) else [],
        _SPREAD: figures.draw_panels(corpus),
        _BY: [
            figures.draw_by_covariate(covariate.phase, covariate.name, corpus.units.get(covariate.name, ""))
            for covariate in page.by
        ],
        _SCORES: [figures.draw_scores(corpus)] if len(corpus.scores) > 1 else [],
        _DEPENDENCE: [figures.draw_dependence(dependence)] if dependence is not None and dependence.tests else [],
        _SHARES: [figures.draw_distribution(phase) for phase in phases],
    }
    for kind, several in kinds.items():
        yield from ((f"{kind}-{number}", figure) for number, figure in enumerate(several, 1))
