"""The page about DATA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from iosonde.core.errors import InputError
from iosonde.core.whole_file import replace_file
from iosonde.data.asked import LAST_DONE
from iosonde.data.source import Source, narrowed

from .words import Names, Setting, checked, conditions, level_text, names, open, takes, texts

if TYPE_CHECKING:
    from iosonde.answers.corpus_page import CorpusPage
    from iosonde.answers.page.advice import Choosing
    from iosonde.answers.page.content.page import Page
    from iosonde.answers.survey.page import SurveyPage


@dataclass(frozen=True)
class Report:
    """A page that was written to ``path``; ``page`` is what it shows."""

    page: Page | SurveyPage | CorpusPage
    path: Path

    def __str__(self) -> str:
        """What the terminal shows: the first sentence."""
        from iosonde.report.text import wrapped

        return "\n".join(wrapped(self.page.headline))

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints: everything that the page shows."""
        from iosonde.report.page.page import page_document

        return page_document(self.page)


class ReportOptions(TypedDict, total=False):
    """What a page is about, in the words of ``iosonde report``."""

    response: Annotated[Names, None]
    on: Annotated[Names, None]
    by: Annotated[Names, None]
    bound: Annotated[str | Path | Setting | None, None]
    choose: Annotated[Names, None]
    given: Annotated[Names, None]
    current: Annotated[Setting | None, None]
    where: Annotated[Names, None]
    incomplete: Annotated[bool, False]
    metric: Annotated[Names, None]
    clock: Annotated[str, LAST_DONE]
    questions: Annotated[str | Path | None, None]
    experiment: Annotated[str | None, None]
    level: Annotated[float, 0.95]
    constraints: Annotated[Names, None]


@takes(ReportOptions)
def write_report(data: Any, output: str | Path = "iosonde-report.html", **options: Unpack[ReportOptions]) -> Report:
    """Write one self-contained HTML page about DATA: the newest experiment of a store, or a table.

    It is ``iosonde report``; ``iosonde.report`` is a part of the package.

    Parameters
    ----------
    data : path, table or Source
    output : path, optional
        The page; replaced whole.
    **options
        ``response``: of a table the measured columns, by default what looks measured. ``on``: what the regressions are
        on, as ``["nodes", "log2(size)"]``, by default what varies. ``by``: what makes the cells.
        ``bound``: the hardware, as ``{"servers": 4, "net": "117MB/s"}`` (the words of :func:`bound`), or a probe of
        it. ``choose``: settings that one may choose; ``given``: the workload; ``current``: the setting in use, as
        ``{"stripe_count": 4}``. ``constraints``: what settings fulfil that are offered, as ``"stripes <= servers"``,
        beside those of the experiment. ``questions``: a file with questions, instead of those of a store's experiment.
        And ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Report
        ``print`` shows its first sentence; ``.path`` is the file, ``.to_dict()`` what the page shows.
    """
    from iosonde.answers.report import ReportQuery, report
    from iosonde.campaign.asked_of import questions_of
    from iosonde.report.page.html import html_of

    source = open(data)
    request = ReportQuery(
        source.name,
        names(options["response"], "response"),
        names(options["on"], "on"),
        None if options["by"] is None else names(options["by"], "by"),
        _format_bound(options["bound"]),
        _build_choosing(options),
        options["experiment"] or source.experiment,
        conditions(options),
        checked(options["level"]),
        options["clock"],
        names(options["metric"], "metric"),
        tuple(_build_command(source, output, options)),
        questions=questions_of(Path(options["questions"])) if options["questions"] else None,
        constraints=names(options["constraints"], "constraints"),
    )
    page = report(request, lambda _, where, experiment: narrowed(source, where, experiment))
    return Report(page, replace_file(Path(output), html_of(page).encode()))


def _format_bound(bound: str | Path | Setting | None) -> str | None:
    if isinstance(bound, Mapping):
        return ",".join(f"{name}={level_text(value)}" for name, value in bound.items())
    return None if bound is None else str(bound)


def _build_choosing(options: ReportOptions) -> Choosing | None:
    from iosonde.answers.page.advice import Choosing

    choose, workload_columns, current = options["choose"], options["given"], options["current"]
    if choose is None:
        if workload_columns is not None or current is not None:
            raise InputError(
                "option-requires-option", "given and current are about choose", "name what may be set with choose"
            )
        return None
    workload = None if workload_columns is None else names(workload_columns, "given")
    return Choosing(names(choose, "choose"), workload, None if current is None else texts(current, "current"))


def _build_command(source: Source, output: str | Path, options: ReportOptions) -> list[str]:
    """The command that makes this page again; none for a table in memory, or where DATA was narrowed before."""
    if not Path(source.name).exists() or source.where:
        return []
    from iosonde.answers.report import TEXT_OPTIONS, words_again

    arguments: dict[str, Any] = dict(options) | {
        "data": source.name,
        "experiment": options["experiment"] or source.experiment,
        "where": conditions(options),
        "constraints": names(options["constraints"], "constraints"),
    }
    texts = {name: _joined(name, arguments[name]) for name in TEXT_OPTIONS if arguments[name]}
    return list(words_again(arguments | texts, str(output)))


def _joined(name: str, value: Any) -> str:
    """As the command line has it: ``a,b``, or ``a=1,b=2``."""
    return _format_bound(value) or "" if name in ("bound", "current", "questions") else ",".join(names(value, name))
