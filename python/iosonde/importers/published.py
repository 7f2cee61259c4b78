"""Figures of a published document (``published_figures``), read like a tool's output.

Each setting is a run, as is each trial that the document prints. Statistics of a model (slopes, R²) are no results of a
trial and are left out. A number that the document prints wrong is replaced by the right one, or left out if that is
unknown. The fact ``published`` keeps n and the interval of a mean, which is one number here and not n trials.
"""

import re
from typing import Any

from iosonde.core.message import Message
from iosonde.core.problems import SpecError

from .parsed import CERTAIN, Claim, Parsed, Row
from .published_figures import PrintedNumber, Publication, read_publication
from .text import Text

NAME = "published"
_FIRST_KEY = re.compile(r"published: *\S")
_FIRST_LINES = 200  # comments may precede the first key


def claims(text: Text) -> Claim | None:
    """Recognise the keys ``published`` and ``figures`` at the left edge."""
    if "\nfigures:" not in text.content:
        return None
    return Claim.from_match(CERTAIN, text.search(_FIRST_KEY, first_lines=_FIRST_LINES))


def check(text: Text) -> None:
    """Raise SpecError with all errors in the file."""
    read_publication(text.decoded, text.name)


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each setting and trial; nothing but the errors of a file that has any."""
    try:
        publication = read_publication(text.decoded, text.name)
    except SpecError as error:
        return [_list_errors(error)]
    runs: dict[tuple[Any, ...], Parsed] = {}
    notes = Parsed()
    n_statistics = 0
    for figure in publication.figures:
        if figure.slip is not None:
            notes.warn(figure.line, _describe_slip(figure))
        if figure.statistic:
            n_statistics += 1
            continue
        if figure.right_value is not None:
            key = tuple(sorted(figure.settings.items()))
            run = runs.setdefault(key, _build_run(publication, figure))
            _add_number(run, figure, figure.right_value)
    if n_statistics:
        what = "{n} numbers are statistics, not results of a trial: left out"
        notes.warn(0, Message("statistics-left-out", what, n=n_statistics))
    parsed = list(runs.values()) or [Parsed()]
    parsed[0].warnings = notes.warnings
    return parsed


def _list_errors(error: SpecError) -> Parsed:
    run = Parsed()
    for problem in error.problems:
        run.lacks(problem.place if isinstance(problem.place, int) else 0, problem.what)
    return run


def _build_run(publication: Publication, figure: PrintedNumber) -> Parsed:
    facts: dict[str, Any] = {"title": publication.title}
    facts |= {"authors": publication.authors} if publication.authors else {}
    facts |= {"year": publication.year} if publication.year is not None else {}
    return Parsed(
        version=publication.document, factors={"document": publication.document, **figure.settings}, facts=facts
    )


def _add_number(run: Parsed, figure: PrintedNumber, value: float) -> None:
    unit = figure.unit
    run.rows.append(Row(figure.operation, figure.metric, unit.to_base(value), unit.base, figure.line))
    spread = {key: getattr(figure, key) for key in ("low", "high", "sd") if getattr(figure, key) is not None}
    details = {key: unit.to_base(number) for key, number in spread.items()}
    details |= {key: getattr(figure, key) for key in ("n", "level") if getattr(figure, key) is not None}
    place = {"where": figure.where, "words": " … ".join(figure.words)[:400]}
    run.facts.setdefault("published", {})[f"{figure.operation} {figure.metric}"] = {**place, **details}


def _describe_slip(figure: PrintedNumber) -> Message:
    assert figure.slip is not None
    right = "unknown" if figure.right_value is None else f"{figure.right_value:g}"
    return Message(
        "published-slip",
        "{where}: {value:g} is wrong, right is {right}: {why}",
        where=figure.where,
        value=figure.value,
        right=right,
        why=figure.slip.why,
    )
