"""The first page: series with their newest numbers and states, and experiments with their headline numbers."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from iosonde.commands.report.headline import get_headline_sort_key
from iosonde.commands.watch.states import SeriesState
from iosonde.core.errors import IosondeError
from iosonde.serve.overview import (
    ChangePoint,
    Headline,
    SeriesOverview,
    StoreOverview,
    get_deadline,
    get_headlines,
    get_overview,
)
from iosonde.serve.shelf import Shelf, Shelved
from iosonde.serve.sparkline import Sparkline, draw_sparkline
from iosonde.store.index_query import IndexedExperiment, IndexView

from .web_page import Address, WebPage, render_page

ON_A_PAGE = 60
MOST_SERIES = 40
_PATIENCE_S = 0.8  # a page shows what is known by then
_DATE_LENGTH = 10
_WORST_FIRST = tuple(SeriesState)


@dataclass(frozen=True)
class SeriesRow:
    """A series in a row: its newest number, None if unknown, and its last change."""

    shelved: Shelved
    series: SeriesOverview
    newest: Headline | None
    sparkline: Sparkline | None
    change: ChangePoint | None


@dataclass(frozen=True)
class ExperimentRow:
    """An experiment in a row. ``headline``: its first number at the last level, None if unknown; ``others`` counts its
    other numbers. ``series``: the series of the headline. ``state`` is the worst of its series, ``change`` the last one
    up to it, of ``changed``; both None without a history."""

    shelved: Shelved
    experiment: IndexedExperiment
    headline: Headline | None
    others: int
    series: SeriesOverview | None
    sparkline: Sparkline | None
    state: SeriesState | None
    change: ChangePoint | None
    changed: SeriesOverview | None


def render_experiments_page(shelf: Shelf, address: Address) -> WebPage:
    """Render ``/``: ``store``, ``page``. Raises InputError."""
    view = shelf.narrowed(address.parameter("store"))
    number = address.number("page", 1, 10**6)
    selected = view.experiments((number - 1) * ON_A_PAGE, ON_A_PAGE)
    experiments, runs, damaged = view.counted()
    board = read_board(shelf, [shelf.of(store) for store in view.stores], selected, _PATIENCE_S)
    series = board.list_series_rows() if number == 1 else []
    return render_page(
        "experiments.html",
        shelf,
        address,
        "Experiments",
        rows=board.list_experiment_rows(),
        sentences=board.list_sentences() if number == 1 else [],
        series=select_series(series),
        more_series=max(0, len(series) - MOST_SERIES),
        waiting=board.is_waiting,
        experiments=experiments,
        runs=runs,
        damaged=damaged,
        problems=view.problems() if damaged else [],
        number=number,
        pages=max(1, -(-experiments // ON_A_PAGE)),
    )


def prepare_page(shelf: Shelf, shelved: Shelved) -> None:
    """Have the answers computed that the first page shows of a store."""
    with suppress(IosondeError):  # the page says why
        read_board(shelf, [shelved], IndexView(shelf.index, (shelved.number,)).experiments(0, ON_A_PAGE), 0.0)


@dataclass(frozen=True)
class Board:
    """What the answers say of some experiments and the series of their stores, by store number and by experiment;
    None where it is not known yet."""

    shelf: Shelf
    experiments: Sequence[IndexedExperiment]
    overviews: dict[int, StoreOverview | None]
    headlines: dict[tuple[int, str], list[Headline] | None]

    @property
    def is_waiting(self) -> bool:
        """Return whether an answer is missing."""
        return None in self.overviews.values() or None in self.headlines.values()

    def list_sentences(self) -> list[tuple[Shelved, str]]:
        """Return the sentence of each store that has a history, or why it has none."""
        available = ((self.shelf.of(store), overview) for store, overview in self.overviews.items() if overview)
        return [
            (shelved, overview.problem or overview.sentence)
            for shelved, overview in available
            if overview.problem or any(series.has_history for series in overview.series)
        ]

    def list_series_rows(self, only_history: bool = True) -> list[SeriesRow]:
        """Return a row for each series, by default those with a history."""
        return [
            SeriesRow(
                self.shelf.of(store),
                series,
                self._find_newest(store, series),
                draw_sparkline(series, len(series.points) - 1),
                series.changes[-1] if series.changes else None,
            )
            for store, overview in self.overviews.items()
            for series in (overview.series if overview else ())
            if series.has_history or not only_history
        ]

    def list_experiment_rows(self) -> list[ExperimentRow]:
        """Return a row for each experiment."""
        return [self._build_row(experiment) for experiment in self.experiments]

    def _find_newest(self, store: int, series: SeriesOverview) -> Headline | None:
        headlines = self.headlines.get((store, series.points[-1].experiment)) or []
        return next((headline for headline in headlines if _is_of_series(headline, series)), None)

    def _build_row(self, experiment: IndexedExperiment) -> ExperimentRow:
        overview = self.overviews.get(experiment.store) or StoreOverview()
        headlines = self.headlines.get((experiment.store, experiment.id)) or []
        headline = choose_headline(headlines)
        places = [(series, series.find_place(experiment.id)) for series in overview.series]
        present = [(series, place) for series, place in places if place is not None]
        own = next(((item, at) for item, at in present if headline and _is_of_series(headline, item)), None)
        states = [series.get_state_at(place) for series, place in present if series.has_history]
        changes = [(change, series) for series, place in present for change in series.changes if change.place <= place]
        change, changed = max(
            changes,
            key=lambda pair: (pair[0].started_at[:_DATE_LENGTH], own is not None and pair[1] is own[0]),
            default=(None, None),
        )
        return ExperimentRow(
            self.shelf.of(experiment.store),
            experiment,
            headline,
            max(0, len(headlines) - 1),
            own[0] if own else None,
            draw_sparkline(*own) if own else None,
            min(states, key=_WORST_FIRST.index, default=None),
            change,
            changed,
        )


def read_board(
    shelf: Shelf,
    stores: Sequence[Shelved],
    experiments: Sequence[IndexedExperiment],
    patience: float,
    only_history: bool = True,
) -> Board:
    """Read the overview of the stores, and the headlines of the experiments and of the newest one of each series,
    by default of those with a history. Wait ``patience`` seconds for answers that are not in the cache."""
    deadline = get_deadline(patience)
    overviews = {shelved.number: get_overview(shelf, shelved, deadline) for shelved in stores}
    keys = [(experiment.store, experiment.id) for experiment in experiments]
    keys += [
        (store, series.points[-1].experiment)
        for store, overview in overviews.items()
        for series in (overview.series if overview else ())
        if series.has_history or not only_history
    ]
    headlines = {
        (store, name): get_headlines(shelf, shelf.of(store), name, deadline) for store, name in dict.fromkeys(keys)
    }
    return Board(shelf, experiments, overviews, headlines)


def select_series(rows: Sequence[SeriesRow]) -> list[SeriesRow]:
    """Return at most MOST_SERIES rows in their order, without leaving out one with a worse state than another."""
    ranked = sorted(range(len(rows)), key=lambda at: (_WORST_FIRST.index(rows[at].series.state), at))
    return [rows[at] for at in sorted(ranked[:MOST_SERIES])]


def choose_headline(headlines: Sequence[Headline]) -> Headline | None:
    """Return the number that stands for an experiment: the metric with which its page begins, at the last of its
    levels."""
    kinds = dict.fromkeys((headline.operation, headline.metric) for headline in headlines)
    first = min(kinds, key=lambda kind: get_headline_sort_key(*kind), default=None)
    return next((headline for headline in reversed(headlines) if (headline.operation, headline.metric) == first), None)


def _is_of_series(headline: Headline, series: SeriesOverview) -> bool:
    """Return whether a number belongs to a series: the same metric, and no level differs."""
    return (headline.operation, headline.metric) == (series.operation, series.metric) and all(
        series.by[name] == level for name, level in headline.by.items() if name in series.by
    )
