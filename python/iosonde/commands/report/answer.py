"""Page about DATA: the newest experiment of a store, or a user's table of measurements."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from iosonde.answers.operations import visit_runs
from iosonde.answers.trials import add_computed_columns, build_response_cells, list_other_headlines
from iosonde.commands.advise.for_page import build_store_advice, build_table_advice
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
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, choose_response
from iosonde.data.source import Source, find_store, open_data
from iosonde.foreign.reach import check_reachable
from iosonde.stats.overview.cells import TrialCell
from iosonde.store import Store

from .content import Page
from .experiment import Opener, open_chosen
from .of_store import build_store_page
from .of_table import build_table_page
from .parts import build_parts, get_history
from .query import ReportQuery
from .sealed_pairs import add_questions


def report(options: ReportQuery, opened: Opener = open_data) -> Page | SurveyPage | CorpusPage:
    """Build the page. ``opened`` opens DATA. A store with results of many systems gets the page of a corpus, unless an
    option concerns a campaign. Raises InputError, DataError."""
    check_reachable(Path(options.data))
    store = options.part or find_store(options.data)  # caches what it has read
    if store and not options.response:
        return _build_corpus_page(options, store, opened) or _build_store_page(options, store, opened)
    return _build_table_page(options, opened)


def _build_corpus_page(options: ReportQuery, store: Store, opened: Opener) -> CorpusPage | None:
    runs = [StoredRun(document) for document in store.runs()]
    if options.list_campaign_options() or not has_many_systems(runs):
        return None
    source = opened(store, options.where, options.experiment)
    return (
        build_corpus_page(corpus(source, replace(options.cells, on=options.on)))
        if has_many_systems(source.runs)
        else None
    )


def _build_store_page(options: ReportQuery, store: Store, opened: Opener) -> Page | SurveyPage:
    source, chosen = open_chosen(store, options.experiment, options.where, opened)
    if are_surveys(source.runs):
        if words := options.list_campaign_options():
            raise InputError(
                "inapplicable-option",
                "{data} holds surveys, whose page has no {option}",
                "leave {option} out",
                data=options.data,
                option=str(getattr(spell, words[0])),
            )
        return build_surveys_page(source.runs, options.data)
    page = build_store_page(source, chosen, options)
    from . import questions

    answers = questions.answer_questions(
        questions.read_questions(source) if options.questions is None else options.questions,
        lambda where: opened(store, (*options.where, *where), chosen.experiment),
        options.cells,
        options.data,
    )
    settings, choosing = _plot_settings(source, options.cells), options.choosing
    advice = (
        build_store_advice(source, page.bars.items, choosing, options.cells) if choosing is not None else page.advice
    )
    return replace(page, settings=settings, questions=add_questions(page, answers), advice=advice)


def _build_table_page(options: ReportQuery, opened: Opener) -> Page:
    source = opened(options.data, options.where, options.experiment)
    table, responses, by, chosen = _select_rows_and_columns(source, options)

    list_others = partial(_list_other_cells, source, options.cells, chosen) if chosen else None
    page = build_table_page(table, replace(options, response=tuple(responses), by=by), list_others, source)
    advice = (
        build_table_advice(table, responses, by, options.choosing, options.level) if options.choosing else page.advice
    )
    bounding = start_bound(source, options.bound, options.cells)
    visit_runs(source, [bounding.losses])
    settings = _plot_settings(source, replace(options.cells, on=(), metric=()))
    parts = build_parts(source, options.level)
    answers = replace(page.answers, sentence=get_history(parts) or page.answers.sentence)
    return replace(page, answers=answers, bound=bounding.section(), settings=settings, advice=advice, parts=parts)


def _select_rows_and_columns(
    source: Source, options: ReportQuery
) -> tuple[Table, Sequence[str], tuple[str, ...] | None, Response | None]:
    """Return (the rows that are trials, the columns that are responses, the columns of the cells, the response chosen
    of a store). A store's ``value`` must be of one operation and metric, unless terms or cells separate them."""
    rows = source.trials().rows
    by = None if options.by is None else tuple(source.apart(options.by))
    query = replace(options.cells, on=by or ())
    if not {name for column in rows.columns.values() for name in (column.name, column.label)}.issuperset(
        options.response
    ):
        if not source.knows_factors:
            table, names = add_computed_columns(source, rows, query, by or ())
            return table, names, by, None
        response = choose_response(source, query)
        cells = by if by is not None or options.on else tuple(response.names)
        return response.rows, (response.title,), cells, response
    if options.response[:1] == ("value",) and len(rows):
        source.require_single_kind((*options.on, *(by or ())))
    return rows, options.response, by, None


def _list_other_cells(
    source: Source, query: ResponseQuery, response: Response, factors: Sequence[str]
) -> list[TrialCell]:
    """List the cells of a store's other headline responses: all of them are one family of tests."""
    others = list_other_headlines(source, query, [response], factors)
    return [cell for other in others for cell in build_response_cells(source, other)]


def _plot_settings(source: Source, query: ResponseQuery) -> SettingsPlot | None:
    """Return the figure, or None if there is nothing to draw: the sections below say why."""
    with suppress(IosondeError):
        return build_settings_plot(source, query)
    return None
