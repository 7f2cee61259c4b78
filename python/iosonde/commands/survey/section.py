"""The page of a survey: areas, distributions, types and savings with intervals, in one self-contained file."""

from collections.abc import Callable, Iterator
from pathlib import Path

from iosonde.core.whole_file import replace_file
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import adapt_to_page
from iosonde.page.environment import render_page_with_figures

from .figure import areas_figure, cumulative_figure, estimates_figure
from .for_page import SurveyPage
from .text import lines

_KINDS = _AREAS, _LINES, _BARS, _RATES = "areas", "lines", "bars", "rates"


def render_survey(page: SurveyPage, say: Callable[[str], None] = lambda sentence: None) -> str:
    """Return the page as HTML text. ``say`` reports what made this slower than necessary."""
    drawn = list(_iterate_figures(page))
    by_kind = {
        kind: [(name, figure.title, figure.description) for name, figure in drawn if name.startswith(kind)]
        for kind in _KINDS
    }
    specs = {  # areas have a fixed width, to which their labels fit
        name: adapt_to_page(
            {key: value for key, value in figure.spec.items() if key != "title"}, name.startswith(_AREAS)
        )
        for name, figure in drawn
    }
    return render_page_with_figures("survey.html", specs, say, page=page, drawn=by_kind, text=list(lines(page.survey)))


def save_survey(page: SurveyPage, path: str | Path, say: Callable[[str], None] = lambda sentence: None) -> None:
    """Write the page atomically. Raises InputError."""
    replace_file(Path(path), render_survey(page, say).encode())
    say(f"the page: {path}")


def _iterate_figures(page: SurveyPage) -> Iterator[tuple[str, Figure]]:
    kinds = {
        _AREAS: [areas_figure(square) for square in page.squares],
        _LINES: [cumulative_figure(distribution) for distribution in page.distributions],
        _BARS: [estimates_figure(bar) for bar in page.bars],
        _RATES: [estimates_figure(rate) for rate in page.rates],
    }
    for kind, figures in kinds.items():
        yield from ((f"{kind}-{number}", figure) for number, figure in enumerate(figures, 1))
