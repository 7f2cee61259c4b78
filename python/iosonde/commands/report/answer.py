"""Page about DATA: the newest experiment of a store, or a user's table of measurements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from iosonde.answers.operations import visit_runs
from iosonde.answers.trials import add_computed_columns
from iosonde.commands.advise.for_page import Choosing
from iosonde.commands.bound.for_page import start_bound
from iosonde.commands.corpus.answer import corpus
from iosonde.commands.corpus.for_page import CorpusPage, build_corpus_page
from iosonde.commands.corpus.systems import has_many_systems
from iosonde.commands.plot.settings import build_settings_plot
from iosonde.commands.plot.settings_plot import SettingsPlot
from iosonde.commands.survey.for_page import SurveyPage
from iosonde.commands.survey.stored import are_surveys, build_surveys_page
from iosonde.core.errors import InputError, IosondeError
from iosonde.core.message import spell
from iosonde.core.questions import DeclaredQuestion
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.data.query import LAST_DONE, ResponseQuery
from iosonde.data.responses import choose_response
from iosonde.data.source import Source, find_store, open_data
from iosonde.foreign.reach import check_reachable
from iosonde.store import Store

from .content import Page
from .experiment import Opener, open_chosen
from .of_store import build_store_page
from .of_table import TableOptions, build_table_page


@dataclass(frozen=True)
class ReportQuery:
    """Options of a page. ``response``: of a table; for a store it makes a table of its rows. ``by``: columns of the
    cells. ``on``: terms of the regressions, by default what varies. ``bound``: the hardware, as
    ``servers=4,net=117MB/s``, or a probe. ``choosing``: settings to choose from. ``clock``: of a store's rates;
    ``metric``: its metrics. ``again``: the command that reproduces the page. ``part``: the selected runs of DATA, a
    store, if not all. ``questions``: questions to a store, None: those of its experiment. ``constraints``: restrictions
    on suggested settings."""

    data: str
    response: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    by: tuple[str, ...] | None = None
    bound: str | None = None
    choosing: Choosing | None = None
    experiment: str | None = None
    where: tuple[str, ...] = ()
    level: float = 0.95
    clock: str = LAST_DONE
    metric: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    part: Store | None = None
    questions: Sequence[DeclaredQuestion] | None = None
    constraints: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)


def build_repeat_command(options: ReportQuery, output: str, questions: str = "") -> tuple[str, ...]:
    """Return the command that reproduces the page; ``questions``: the file that they were read from."""
    choosing = options.choosing
    texts = {
        "response": ",".join(options.response),
        "on": ",".join(options.on),
        "by": ",".join(options.by or ()),
        "bound": options.bound,
        "choose": ",".join(choosing.choose) if choosing else "",
        "given": ",".join(choosing.workload_columns or ()) if choosing else "",
        "current": ",".join(f"{name}={level}" for name, level in (choosing.current or {}).items()) if choosing else "",
        "metric": ",".join(options.metric),
        "questions": questions,
        "roles": ",".join(f"{name}={role}" for name, role in options.roles.items()),
        "experiment": options.experiment,
        "clock": options.clock if options.clock != LAST_DONE else "",
        "level": f"{options.level:g}" if options.level != 0.95 else "",
    }
    words = [word for name, text in texts.items() if text for word in (f"--{name}", text)]
    words += [word for condition in options.where for word in ("--where", condition)]
    words += [word for constraint in options.constraints for word in ("--constraint", constraint)]
    return ("iosonde", "report", options.data, "-o", output, *words)


def report(options: ReportQuery, opened: Opener = open_data) -> Page | SurveyPage | CorpusPage:
    """Build the page. ``opened`` opens DATA. A store with results of many systems gets the page of a corpus, unless an
    option concerns a campaign. Raises InputError, DataError."""
    check_reachable(Path(options.data))
    store = options.part or find_store(options.data)  # caches what it has read
    if store and not options.response:
        return _build_corpus_page(options, store, opened) or _build_store_page(options, store, opened)
    return _build_table_page(options, opened)


def _list_campaign_options(options: ReportQuery) -> list[str]:
    """Return the given options that only the page of a campaign has."""
    words = {
        "by": options.by,
        "bound": options.bound,
        "choose": options.choosing,
        "questions": options.questions,
        "constraint": options.constraints,
    }
    return [word for word, value in words.items() if value]


def _build_corpus_page(options: ReportQuery, store: Store, opened: Opener) -> CorpusPage | None:
    if _list_campaign_options(options) or not has_many_systems([StoredRun(document) for document in store.runs()]):
        return None
    source = opened(store, options.where, options.experiment)
    if not has_many_systems(source.runs):
        return None
    return build_corpus_page(
        corpus(source, ResponseQuery((), options.on, options.clock, options.level, options.metric))
    )


def _build_store_page(options: ReportQuery, store: Store, opened: Opener) -> Page | SurveyPage:
    source, chosen = open_chosen(store, options.experiment, options.where, opened)
    if are_surveys(source.runs):
        if words := _list_campaign_options(options):
            raise InputError(
                "inapplicable-option",
                "{data} holds surveys, whose page has no {option}",
                "leave {option} out",
                data=options.data,
                option=str(getattr(spell, words[0])),
            )
        return build_surveys_page(source.runs, options.data)
    cells = ResponseQuery((), options.by or (), options.clock, options.level, options.metric)
    page = build_store_page(source, chosen, cells, options.again, options.on, options.bound, options.constraints)
    from . import questions

    def narrowed(where: Sequence[str]) -> Source:
        return opened(store, (*options.where, *where), chosen.experiment)

    question_list = options.questions if options.questions is not None else questions.read_questions(source)
    answers = questions.answer_questions(question_list, narrowed, cells, options.data)
    page = replace(page, settings=build_page_settings_plot(source, cells), questions=answers)
    if options.choosing is None:
        return page
    from iosonde.commands.advise.for_page import build_store_advice

    return replace(page, advice=build_store_advice(source, page.bars.items, options.choosing, cells))


def _build_table_page(options: ReportQuery, opened: Opener) -> Page:
    source = opened(options.data, options.where, options.experiment)
    table, responses, by = _select_rows_and_columns(source, options)
    page = build_table_page(
        table, options.data, TableOptions(responses, by, options.on, options.level, options.again, options.constraints)
    )
    if options.choosing:
        from iosonde.commands.advise.for_page import build_table_advice

        page = replace(page, advice=build_table_advice(table, responses, by, options.choosing, options.level))
    bounding = start_bound(
        source,
        options.bound,
        ResponseQuery(options.response, options.by or (), options.clock, options.level, options.metric),
    )
    visit_runs(source, [bounding.losses])
    settings = build_page_settings_plot(source, ResponseQuery(options.response, (), options.clock, options.level))
    return replace(page, bound=bounding.section(), settings=settings)


def _select_rows_and_columns(source: Source, options: ReportQuery) -> tuple[Table, Sequence[str], Sequence[str] | None]:
    """Return (the rows that are trials, the columns that are responses, the columns of the cells). A store's ``value``
    must be of one operation and metric, unless terms or cells separate them."""
    rows = source.trials().rows
    options = options if options.by is None else replace(options, by=source.apart(options.by))
    columns = {name for column in rows.columns.values() for name in (column.name, column.label)}
    query = ResponseQuery(options.response, options.by or (), options.clock, options.level, options.metric)
    if not columns.issuperset(options.response):
        if source.has_response_columns:
            table, names = add_computed_columns(source, rows, query, options.by or ())
            return table, names, options.by
        response = choose_response(source, query)
        by = options.by if options.by is not None or options.on else response.names
        return response.rows, (response.title,), by
    if options.response[:1] == ("value",) and len(rows):
        source.require_single_kind((*options.on, *(options.by or ())))
    return rows, options.response, options.by


def build_page_settings_plot(source: Source, query: ResponseQuery) -> SettingsPlot | None:
    """Return the figure, or None if there is nothing to draw: the sections below say why."""
    try:
        return build_settings_plot(source, query)
    except IosondeError:
        return None
