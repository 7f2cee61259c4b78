"""The history of every series with its changes, as found by ``iosonde watch``, with figures; a change compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iosonde.commands.result import Result
from iosonde.commands.watch import answer as watch_answer
from iosonde.commands.watch import figure as watch_figure
from iosonde.commands.watch import text as watch_text
from iosonde.commands.watch.answer import Watch
from iosonde.commands.watch.change import SeriesChange
from iosonde.commands.watch.figure_together import choose_scale_factor, group_series, together_figure
from iosonde.commands.watch.series import WatchedSeries
from iosonde.core.errors import InputError
from iosonde.core.headlines import build_name_writer
from iosonde.data.query import ResponseQuery as Numbers
from iosonde.data.source import open_data
from iosonde.layout.figure import Figure
from iosonde.serve.overview import sort_series
from iosonde.serve.shelf import Shelf
from iosonde.store.decisions import locate_decisions, read_decisions

from .web_page import Address, WebPage, build_figure_scripts, render_page

NEWEST, MOST = 2000, 20_000  # runs used by default, and at most
ON_A_PAGE = 12  # figures


def render_history_page(shelf: Shelf, address: Address) -> WebPage:
    """Render ``/history``: ``store``, the first one unless it is given; ``where``, ``response``, ``last`` (runs), ``x``
    (``commit``, else time), ``together`` (the factor whose levels share a figure, ``none``), ``page``. Raises
    InputError, DataError."""
    place = address.parameter("store") or str(shelf.stores[0].place)
    return WebPage(shelf.once(address.but(), lambda: _render_page(shelf, address, place).body))


def watch_selected_runs(shelf: Shelf, address: Address, place: str) -> tuple[Watch, int]:
    """Return the history of the selected runs, and their number. Raises InputError, DataError."""
    shelved = shelf.at(place)
    part, total = shelf.part(shelved, address.where, address.number("last", NEWEST, MOST))
    if not total:
        raise InputError("no-matching-runs", "no run fulfils the conditions", "correct the conditions above")
    query = Numbers(tuple(address.parameters("response")))
    decisions = read_decisions(locate_decisions(shelved.store.path))
    return watch_answer.watch(open_data(part), query, decisions=decisions), total


@dataclass(frozen=True)
class SeriesBlock:
    """A series with its changes, newest first, and the id of its figure. ``together`` is the figure of all series
    that differ from it in one factor alone, at the first of them, under its own id; None elsewhere."""

    id: str
    series: WatchedSeries
    changes: Sequence[SeriesChange]
    together: Figure | None

    @property
    def together_id(self) -> str:
        """Return the id of the common figure."""
        return f"{self.id}-together"


def _render_page(shelf: Shelf, address: Address, place: str) -> WebPage:
    shelved, last = shelf.at(place), address.number("last", NEWEST, MOST)
    watch, total = watch_selected_runs(shelf, address, place)
    by_commit = address.parameter("x") == "commit"
    number = address.number("page", 1, 10**6)
    factors = list(dict.fromkeys(name for series in watch.series for name in series.by))
    factor = address.parameter("together") or choose_scale_factor(watch.series)
    blocks = list(_iterate_blocks(watch, number, factor if factor in factors else "", by_commit))
    figures = {
        block.id: watch_figure.history_figure(block.series, block.changes, by_commit).spec for block in blocks
    } | {block.together_id: block.together.spec for block in blocks if block.together}
    return render_page(
        "history.html",
        shelf,
        address,
        f"History of {shelved.name}",
        shelved=shelved,
        watch=watch,
        lines=list(Result(watch, watch_text.lines).text()),
        human=build_name_writer([verdict.response for verdict in watch.verdicts]) or str,
        blocks=blocks,
        total=total,
        last=last,
        by_commit=by_commit,
        factor=factor,
        factors=factors,
        number=number,
        pages=max(1, -(-len(watch.series) // ON_A_PAGE)),
        **build_figure_scripts(figures),
    )


def _iterate_blocks(watch: Watch, number: int, factor: str, by_commit: bool) -> Iterator[SeriesBlock]:
    """Yield the blocks of one page: groups of series that differ in ``factor`` alone, those with news first."""
    groups = _sort_by_news(watch, group_series(sort_series(watch.series), factor))
    members = [(series, group) for group in groups for series in group]
    for place, (series, group) in enumerate(members[(number - 1) * ON_A_PAGE : number * ON_A_PAGE], 1):
        is_first = series is group[0] and len(group) > 1
        together = together_figure(watch, group, factor, by_commit) if is_first else None
        yield SeriesBlock(f"series-{place}", series, _select_changes(watch, series), together)


def _sort_by_news(watch: Watch, groups: Sequence[Sequence[WatchedSeries]]) -> Sequence[Sequence[WatchedSeries]]:
    """Sort groups of series: those with a regression first, then those with the newest change, then the others."""
    newest = {id(change.series): change.first_after.started_at for change in reversed(watch.changes)}
    worse = {id(regression.series) for regression in (*watch.regressions, *watch.open_regressions)}
    ordered = sorted(groups, key=lambda group: max(newest.get(id(series), "") for series in group), reverse=True)
    return sorted(ordered, key=lambda group: not any(id(series) in worse for series in group))


def _select_changes(watch: Watch, series: WatchedSeries) -> list[SeriesChange]:
    return [change for change in reversed(watch.changes) if change.series is series]


def render_change_page(shelf: Shelf, address: Address) -> WebPage:
    """Render ``/change``: the parameters of ``/history``, and ``series`` (its title) and ``run`` (the first after the
    change). Raises InputError, DataError."""
    return WebPage(shelf.once(address.but(), lambda: _render_change(shelf, address).body))


def _render_change(shelf: Shelf, address: Address) -> WebPage:
    history, _ = watch_selected_runs(shelf, address, address.parameter("store"))
    series, run = address.parameter("series"), address.parameter("run")
    change = next(
        (
            candidate
            for candidate in history.changes
            if (candidate.series.title, candidate.first_after.id) == (series, run)
        ),
        None,
    )
    if change is None:
        raise InputError("unknown-change", "this history no longer has that change", "reload the history")
    drawn = watch_figure.history_figure(change.series, _select_changes(history, change.series))
    point = "experiment, the mean of its trials" if change.series.nightly else "trial"
    return render_page(
        "change.html",
        shelf,
        address,
        f"{series}: before and after",
        note=f"All points before the change and all after it, up to the neighbouring changes. A point is one {point}.",
        lines=list(watch_text.change_lines(change)),
        drawn=drawn,
        **build_figure_scripts({"history": drawn.spec}),
    )
