"""The page of a corpus: how results of many systems are spread, what explains it, where one's own lies. It is one file
that loads nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from iosonde.answers.corpus import Corpus
from iosonde.answers.corpus_page import CorpusPage
from iosonde.core.whole_file import replace_file
from iosonde.report.figures import corpus as figures
from iosonde.report.figures.figure import Figure
from iosonde.report.figures.vocabulary import page_spec
from iosonde.report.text.corpus import lines, share

from .drawn import drawn_page

KINDS = _PLACED, _SPREAD, _BY, _SCORES, _SHARES = "placed", "spread", "by", "scores", "shares"


def corpus_html(page: CorpusPage, say: Callable[[str], None] = lambda sentence: None) -> str:
    """The page as HTML text. ``say`` is told what made this slower than it need be."""
    drawn = list(_figures(page))
    of_kind = {kind: [(name, one.title, one.description) for name, one in drawn if name.rpartition("-")[0] == kind]
               for kind in KINDS}  # fmt: skip
    specs = {name: page_spec({key: value for key, value in one.spec.items() if key != "title"}) for name, one in drawn}
    made = page.corpus
    return drawn_page("corpus.html", specs, say, page=page, made=made, drawn=of_kind, text=list(lines(made)),
                      heading=page.headline, explained=_explained(made), share=share)  # fmt: skip


def save_corpus(page: CorpusPage, path: str | Path, say: Callable[[str], None] = lambda sentence: None) -> None:
    """Write the page, whole or not at all. Raises InputError."""
    replace_file(Path(path), corpus_html(page, say).encode())
    say(f"the page: {path}")


def _figures(page: CorpusPage) -> Iterator[tuple[str, Figure]]:
    made, known = page.corpus, [one for one in page.corpus.phases if len(one.values) > 1]
    kinds = {
        _PLACED: [figures.placed(made)] if any(one.placed for one in made.phases) else [],
        _SPREAD: figures.panels(made),
        _BY: [figures.by_covariate(one.phase, one.name, made.units.get(one.name, "")) for one in page.by],
        _SCORES: [figures.scores(made)] if len(made.scores) > 1 else [],
        _SHARES: [figures.distribution(one) for one in known],
    }  # fmt: skip
    for kind, several in kinds.items():
        yield from ((f"{kind}-{number}", one) for number, one in enumerate(several, 1))


def _explained(made: Corpus) -> list[tuple[str, list[str]]]:
    """(number, the share that each covariate explains of it): a table."""
    return [(one.title, [share(one.explained[name].share) for name in made.on]) for one in made.phases]
