"""The page of a survey: areas, distributions, types and savings with intervals, in one file that loads nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from iosonde.answers.survey_page import SurveyPage
from iosonde.core.whole_file import replace_file
from iosonde.report.figures.figure import Figure
from iosonde.report.figures.survey import areas_figure, cumulative_figure, estimates_figure
from iosonde.report.figures.vocabulary import page_config, page_spec
from iosonde.report.text.survey import lines

from .library import library
from .page import asset, json_in_script, page_policy, templates
from .parts import share

_KINDS = _AREAS, _LINES, _BARS = "areas", "lines", "bars"


def survey_html(page: SurveyPage, say: Callable[[str], None] = lambda sentence: None) -> str:
    """The page as HTML text. ``say`` is told what made this slower than it need be."""
    from markupsafe import Markup

    drawing, script = library(say), asset("page.js")
    drawn = list(_figures(page))
    parts, specs = share({name: _spec(name, one) for name, one in drawn})
    text: str = (
        templates()
        .get_template("survey.html")
        .render(
            page=page,
            drawn={
                kind: [(name, one.title, one.description) for name, one in drawn if name.startswith(kind)]
                for kind in _KINDS
            },
            text=list(lines(page.survey)),
            policy=page_policy(drawing, script),
            style=Markup(asset("page.css")),
            library=Markup(drawing),
            script=Markup(script),
            theme=Markup(json_in_script(page_config())),
            parts=Markup(json_in_script(parts)),
            figures={name: Markup(json_in_script(spec)) for name, spec in specs.items()},
        )
    )
    return text


def save_survey(page: SurveyPage, path: str | Path, say: Callable[[str], None] = lambda sentence: None) -> None:
    """Write the page, whole or not at all. Raises InputError."""
    replace_file(Path(path), survey_html(page, say).encode())
    say(f"the page: {path}")


def _figures(page: SurveyPage) -> Iterator[tuple[str, Figure]]:
    kinds = {_AREAS: [areas_figure(one) for one in page.squares],
             _LINES: [cumulative_figure(one) for one in page.distributions],
             _BARS: [estimates_figure(one) for one in page.bars]}  # fmt: skip
    for kind, figures in kinds.items():
        yield from ((f"{kind}-{number}", one) for number, one in enumerate(figures, 1))


def _spec(name: str, figure: Figure) -> object:
    """As wide as its place, but areas, whose words fit as they are drawn."""
    without = {key: value for key, value in figure.spec.items() if key != "title"}
    return page_spec(without, name.startswith(_AREAS))
