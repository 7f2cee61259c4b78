"""Options and content of a plot, as data: the same for the terminal and for Python."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.commands.plot.layout import BY_SETTINGS, FACTORS, OF_PAGE, OVER_TIME, PAGE
from iosonde.commands.show.answer import open_chosen_runs
from iosonde.commands.show.as_tool import build_thesis_document
from iosonde.core.errors import DataError, InputError
from iosonde.core.many_task import IOZONE_NAMES, KB_PER_S
from iosonde.core.message import Message, spell
from iosonde.core.plugins import load_plugin
from iosonde.data.query import LAST_DONE, ResponseQuery
from iosonde.data.source import Source
from iosonde.page.tables import Section
from iosonde.stats.estimate.summarise import estimate_mean

from .content import Bars, Cell, Drawn
from .layout import PlotRoles
from .settings import Fits

# Name of a format → function that takes a path and returns results by node count, as core/many_task.py describes them.
_READERS = "iosonde.readers"


@dataclass(frozen=True)
class PlotQuery:
    """``kind``: of BY_SETTINGS (the first one by default), OVER_TIME, OF_PAGE or PAGE. ``on``: plot every response
    against these factors instead, ``together`` in one panel each. ``bars``: totals by node count instead."""

    kind: str = ""
    roles: PlotRoles = PlotRoles()
    on: tuple[str, ...] | None = None
    together: bool = False
    bars: bool = False
    response: tuple[str, ...] = ()
    metric: tuple[str, ...] = ()
    clock: str = LAST_DONE
    level: float = 0.95

    @property
    def by_settings(self) -> bool:
        """Return whether it is one figure of metrics by the settings that varied."""
        return self.kind in ("", *BY_SETTINGS)

    def check(self) -> None:
        """Raise InputError for options that do not combine."""
        if self.on is not None:
            if not self.on:
                raise InputError(
                    "empty-option-value", "{option} names no factor", "name one, as nodes", option=str(spell.on)
                )
            self._check_alone("on", "kind", "bars", "x", "color", "panel")
        elif self.together:
            raise InputError(
                "missing-option",
                "{option} goes with {needed_option}",
                "name factors, as nodes",
                option=str(spell.together),
                needed_option=str(spell.on),
            )
        if self.bars:
            self._check_alone("bars", "kind", "response", "x", "color", "panel")
            if self.clock != LAST_DONE:
                raise InputError(
                    "conflicting-options",
                    "{option} draws the sums that the ranks were timed for",
                    "leave {other} out",
                    option=str(spell.bars),
                    other=str(spell.clock),
                )
        if not self.by_settings and (other := self._find_first_set("response", "x", "color", "panel")):
            raise InputError(
                "conflicting-options",
                "{other} does not go with {option}",
                "leave it out, or draw {by_settings}",
                other=other,
                option=format(spell.kind, self.kind),
                by_settings=format(spell.kind, BY_SETTINGS[0]),
            )

    def _check_alone(self, name: str, *others: str) -> None:
        if other := self._find_first_set(*others):
            raise InputError(
                "conflicting-options",
                "{option} and {other} do not go together",
                "leave {other} out",
                option=str(getattr(spell, name)),
                other=other,
            )

    def _find_first_set(self, *names: str) -> str:
        """Return the first of these options that is set, as its user writes it, or ''."""
        values = vars(self) | vars(self.roles)
        return next((str(getattr(spell, name)) for name in names if values[name]), "")


def collect_figures(source: Source, options: PlotQuery, fits: Callable[[str], Fits]) -> Drawn:
    """Draw the chosen runs; for kinds of the page these are of one experiment. ``fits``: room of a figure of a kind.
    Raises InputError, DataError."""
    if options.on is not None:
        return _plot_factors(source, options.on, options)
    if options.by_settings:
        return _plot_settings(source, options.kind or BY_SETTINGS[0], options, fits)
    return _plot_over_time(source, options) if options.kind == OVER_TIME else _draw_page_figures(source, options)


def collect_total_figures(data: str, options: PlotQuery, experiment: str | None, where: Sequence[str]) -> Drawn:
    """Draw each total by node count, of a store or a results file. Raises InputError, DataError."""
    from .ask import collect_totals

    items = collect_totals(data, options.metric, options.level, experiment, where)
    return Drawn(tuple(("bars", item) for item in items), axis="node")


def _plot_settings(source: Source, kind: str, options: PlotQuery, fits: Callable[[str], Fits]) -> Drawn:
    from .percentiles import build_percentiles_plot
    from .settings import build_settings_plot

    query = ResponseQuery(options.response, (), options.clock, options.level, options.metric)
    plot = (build_percentiles_plot if kind == "percentiles" else build_settings_plot)(
        source, query, options.roles, fits(kind)
    )
    return Drawn(((kind, plot),), (*plot.sentences, *plot.notes), plot.omissions)


def _plot_over_time(source: Source, options: PlotQuery) -> Drawn:
    from .over_time import build_over_time_plot

    plot = build_over_time_plot(source, options.metric)
    return Drawn(((OVER_TIME, plot),), plot.notes, plot.omissions)


def _plot_factors(source: Source, on: tuple[str, ...], options: PlotQuery) -> Drawn:
    from .factors import build_factor_panels

    source, note = source.separate_last(on, alike=True)
    factor_panels = build_factor_panels(
        source, ResponseQuery((*options.response, *options.metric), on, options.clock, options.level), options.together
    )
    omissions = tuple(Message("not-drawn", "not drawn: {reason}", reason=why) for why in factor_panels.omissions)
    return Drawn(
        tuple((FACTORS, item) for item in factor_panels.items),
        factor_panels.sentences,
        (note, *omissions) if note else omissions,
        columns=factor_panels.columns,
    )


def _draw_page_figures(source: Source, options: PlotQuery) -> Drawn:
    from iosonde.commands.report.of_store import build_store_figures

    source.require_campaign(
        "{name} is a table, but these figures need a store", "name factors, as {spell.on} nodes", name=source.name
    )
    kinds = OF_PAGE if options.kind == PAGE else (options.kind,)
    figures = build_store_figures(source, ResponseQuery(clock=options.clock, level=options.level), kinds)
    sections: tuple[Section[Any], ...] = (figures.bars, figures.latencies, figures.timelines)
    selected, gone = [], []
    for kind, section in zip(OF_PAGE, sections, strict=True):
        if kind in kinds:
            items = _select_items(section.items, options.metric)
            selected += [(kind, item) for item in items]
            gone += [] if items else [_explain_missing_figure(kind, section, options.metric)]
    if not selected:
        raise DataError(
            "nothing-to-draw", "nothing of {name} can be drawn", "{reasons}", name=source.name, reasons=" ".join(gone)
        )
    return Drawn(tuple(selected), (), tuple(gone), axis=figures.axis.noun)


def _select_items(items: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Return the items with something to draw, of the named operations or metrics."""
    ready = [item for item in items if not getattr(item, "empty", False)]
    if not names:
        return ready
    return [item for item in ready if {_get_operation(item), getattr(item, "metric", "")} & set(names)]


def _explain_missing_figure(kind: str, section: Section[Any], names: Sequence[str]) -> str:
    there = ", ".join(dict.fromkeys(_get_operation(item) for item in section.items))
    why = f"there are: {there}" if names and there else " ".join(section.missing) or "nothing to draw"
    return Message("no-figure", "no figure of kind {kind}: {reason}", kind=kind, reason=why)


def _get_operation(item: Any) -> str:
    return str(getattr(item, "operation", None) or item.phase)


def collect_totals(
    data: str, names: Sequence[str], level: float, experiment: str | None, where: Sequence[str]
) -> list[Bars]:
    """Return the metrics of a results file or a store, or those of ``names``. Raises InputError, DataError."""
    path = Path(data)
    if path.is_file():
        results = load_plugin(_READERS, "thesis-results", "reading a results file")(path)
    else:
        document = build_thesis_document(open_chosen_runs(data, experiment=experiment, where=where))
        results = {int(nodes): entry for nodes, entry in document.items()}
    items = [bar for bar in build_bars(results, level) if not names or bar.operation in names]
    if not items:
        there = ", ".join(_group_totals(results))
        raise DataError("unknown-metric", "{data} has no such metric", "there are: {metrics}", data=data, metrics=there)
    return items


def build_bars(results: dict[int, dict[str, Any]], level: float) -> list[Bars]:
    """Return each metric by node count, with an interval if there are repetitions."""
    units, charts = _collect_units(results), []
    for name, by_count in _group_totals(results).items():
        unit = units.get(name, "")
        scale, base = (1024.0, "bytes/s") if unit == KB_PER_S else (1.0, unit)
        cells = [
            Cell(nodes, estimate_mean(trials, level), trials if len(trials) > 1 else ())
            for nodes, values in by_count.items()
            for trials in [tuple(value * scale for value in values)]
        ]
        charts.append(Bars(name, "total", name, base, tuple(cells)))
    return charts


def _group_totals(results: Mapping[int, Mapping[str, Any]]) -> dict[str, dict[int, list[float]]]:
    """Return metric → node count → its totals, one for each repetition."""
    totals_by_metric: dict[str, dict[int, list[float]]] = {}
    for nodes, entry in sorted(results.items()):
        for repetition in entry.get("repetitions") or [entry]:
            for name, value in repetition["total"].items():
                totals_by_metric.setdefault(name, {}).setdefault(nodes, []).append(float(value))
    return totals_by_metric


def _collect_units(results: Mapping[int, Mapping[str, Any]]) -> dict[str, str]:
    """Return metric → its unit: as in the file, kB/s for IOzone's names, else none."""
    unit_by_metric = dict.fromkeys(IOZONE_NAMES.values(), KB_PER_S)
    for entry in results.values():
        if isinstance(declared := entry.get("units"), dict):
            unit_by_metric |= {str(name): str(unit) for name, unit in declared.items()}
    return unit_by_metric
