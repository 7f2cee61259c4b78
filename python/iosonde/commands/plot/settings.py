"""Every metric by the settings that varied: ``iosonde plot DATA``. A point is the mean of the trials of one setting
with its interval. Settings are never averaged. Notes list factors without a place along x, by colour or in a panel, and
panels omitted for lack of room."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from iosonde.answers.besides import build_background
from iosonde.answers.caveats import list_caveats
from iosonde.answers.trials import build_response_cells, find_impossible_cells, list_family
from iosonde.commands.report.axis import title as operation_title
from iosonde.commands.summary.answer import count_pilot_trials
from iosonde.core.factor_levels import NAMES, PERCENTILE, FactorLevels, collect_factor_levels
from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import format_metric
from iosonde.core.message import Message
from iosonde.core.stored import describe_incomplete_treatment
from iosonde.core.table import Cell
from iosonde.core.words import format_count, join_names
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response
from iosonde.data.source import Source
from iosonde.data.varying import list_measured_columns, list_other_varying
from iosonde.stats.overview.cells import TrialCell
from iosonde.stats.overview.coarse_cells import compute_cell_half_ticks
from iosonde.stats.overview.overview import build_overview_rows, estimate_cell_mean
from iosonde.stats.overview.story import build_stories, describe_stories
from iosonde.stats.overview.types import ResponseStory
from iosonde.stats.overview.uneven_missing import describe_uneven_missing

from .chosen import resolve_role_names, select_experiment, select_responses
from .layout import HUES, SHADES, PlotLayout, PlotRoles, lay_out_factors
from .settings_plot import SettingPoint, SettingsPanel, SettingsPlot, describe_best_and_worst

MOST_PANELS = 16
_MAX_SENTENCES = 12  # sentences
_MAX_FACTORS = 6  # factors of a setting
_OWN_SCALE = 4.0  # metrics that differ by more than this factor get separate axes


@dataclass(frozen=True)
class Fits:
    """Room of a kind of drawing: levels of names and of numbers by colour, panels."""

    hues: int = HUES
    shades: int = SHADES
    panels: int = MOST_PANELS


@dataclass(frozen=True)
class _Measured:
    """A response: its cells, each with its mean, and its names."""

    response: Response
    name: str
    metric: str
    points: tuple[tuple[TrialCell, SettingPoint], ...]


def build_settings_plot(
    source: Source, query: ResponseQuery, roles: PlotRoles | None = None, fits: Fits | None = None
) -> SettingsPlot:
    """Plot the metrics of the query by the known factors; ``query.response`` as in every analysis. Raises InputError,
    DataError."""
    source, newest = select_experiment(source, roles or PlotRoles())
    responses = select_responses(source, query, roles or PlotRoles())
    family = list_family(source, query, responses[0].names)
    plot = plot_responses(
        source, responses, query, resolve_role_names(responses, roles or PlotRoles()), fits or Fits(), family=family
    )
    return replace(plot, notes=(*([newest] if newest else []), *plot.notes))


def plot_responses(
    source: Source,
    responses: Sequence[Response],
    query: ResponseQuery,
    roles: PlotRoles,
    fits: Fits,
    compared: Callable[[SettingPoint], bool] | None = None,
    family: Sequence[Response] = (),
) -> SettingsPlot:
    """Plot these responses. ``compared`` selects the points that compete for best and worst, by default all.
    ``family``: responses in the family of tests, shown or not."""
    cells = [build_response_cells(source, response) for response in responses]
    metrics = group_by_key((response.operation, response.metric.name) for response in responses)
    pilot = count_pilot_trials(source)
    groups = group_by_key(
        (_list_applicable_factors(response, roles), (response, response_cells))
        for response, response_cells in zip(responses, cells, strict=True)
    )
    plots, measurements = list[SettingsPlot](), list[_Measured]()
    for group in groups.values():
        levels = _collect_factor_levels([response for response, _ in group], roles.factors, len(groups) > 1)
        settings = [cell.by for _, response_cells in group for cell in response_cells]
        places = lay_out_factors(levels, settings, roles, fits.hues, fits.shades)
        measured = [
            _Measured(
                response,
                *_format_names(response, metrics[response.operation]),
                tuple(
                    (cell, _build_point(cell, levels, places, query.level, pilot, half))
                    for cell, half in zip(response_cells, compute_cell_half_ticks(response_cells), strict=True)
                ),
            )
            for response, response_cells in group
        ]
        plots.append(_plot_group(measured, levels, places, fits.panels, query.level))
        measurements += measured
    stories = () if compared else _build_stories(source, responses, cells, query.level, family)
    texts = list(describe_stories(stories, source.units())) or [
        describe_best_and_worst(
            measurement.name,
            measurement.metric,
            measurement.response,
            [point for _, point in measurement.points if compared is None or compared(point)],
        )
        for measurement in measurements
    ]
    return replace(
        plots[0],
        sentences=tuple(islice((text for text in texts if text), _MAX_SENTENCES)),
        notes=tuple(dict.fromkeys(_list_notes(source, measurements))),
        stories=stories,
        units=source.units(),
        below=tuple(plots[1:]),
    )


def _plot_group(
    measurements: Sequence[_Measured],
    levels: Mapping[str, FactorLevels],
    places: PlotLayout,
    most: int,
    level: float,
) -> SettingsPlot:
    """Plot responses that share their factors."""
    panels, across, omissions = (
        _build_panels(measurements, levels, places, most) if levels else (_build_operation_panels(measurements), 0, [])
    )
    settings = [cell.by for measurement in measurements for cell, _ in measurement.points]
    names = tuple(measurement.name for measurement in measurements)
    return SettingsPlot(
        _format_title(measurements, levels, places),
        levels[places.x] if levels else FactorLevels("", "", "", NAMES, names, names),
        levels.get(places.color),
        tuple(panels),
        across,
        not places.rest,
        level,
        omissions=(*omissions, *_describe_unplaced_factors(places), *_describe_missing(levels, places, settings)),
    )


def _build_stories(
    source: Source,
    responses: Sequence[Response],
    cells: Sequence[Sequence[TrialCell]],
    level: float,
    family: Sequence[Response],
) -> tuple[ResponseStory, ...]:
    every, pilot = [cell for response_cells in cells for cell in response_cells], count_pilot_trials(source)
    first = responses[0]
    others = list_other_varying(source, first, first.names)
    measured = () if source.knows_factors else list_measured_columns(first)
    are_parts = any(each.are_parts for each in responses)
    background = build_background(first.rows, others, first.names, are_parts, measured, level)
    background = replace(
        background,
        headline_cells=[cell for response in family for cell in build_response_cells(source, response)],
        impossible=find_impossible_cells(source, every, level),
        missing={
            response_cells[0].metric: _describe_missing_values(source, response)
            for response, response_cells in zip(responses, cells, strict=True)
            if response_cells
        },
        together=first.together if source.knows_factors else {**first.together, **(background.together or {})},
    )
    return build_stories(build_overview_rows(every, level, pilot), every, level, background)


def _describe_missing_values(source: Source, response: Response) -> str:
    """Describe the setting that lacks more values than the others; the drawn rows are those with a value."""
    table, names = source.table, (response.title, *response.names)
    if source.knows_factors or not all(name in table.columns for name in names):
        return ""
    return describe_uneven_missing(table, table.numbers(response.title), response.names, response.metric)


# Factors


def _list_applicable_factors(response: Response, roles: PlotRoles) -> frozenset[str]:
    """Return the factors that have a level where the response was measured: a setting of one tool is none of another's.
    A factor with a role applies to all."""
    return frozenset(
        name
        for name in response.names
        if name in roles.factors or any(level is not None for level in response.rows.column(name).codes()[1])
    )


def _collect_factor_levels(
    responses: Sequence[Response], role_names: Sequence[str], is_mixed: bool
) -> dict[str, FactorLevels]:
    """Return the levels of each factor over all responses, in one order; single-level factors only if they have a role
    by name, or stand alone. ``is_mixed``: in an archive, a factor that varies in no response belongs to their names."""
    names = dict.fromkeys(name for response in responses for name in response.names)
    levels_by_name = {
        name: collect_factor_levels([response.rows.column(name) for response in responses if name in response.names])
        for name in names
    }
    return {
        name: factor_levels
        for name, factor_levels in levels_by_name.items()
        if name in role_names
        or (len(levels_by_name) == 1 and not is_mixed)
        or (
            len(factor_levels) > 1
            and not (is_mixed and all(len(response.rows.column(name).codes()[1]) < 2 for response in responses))
        )
    }


def _build_point(
    cell: TrialCell,
    levels: Mapping[str, FactorLevels],
    places: PlotLayout,
    level: float,
    pilot: int | None,
    half_tick: float,
) -> SettingPoint:
    def at(name: str) -> int:
        return levels[name].place[cell.by[name]] if name else 0

    order = dict.fromkeys([*(name for name in (places.x, places.color, *places.panels) if name), *levels])
    parts = [levels[name].describe_level(at(name)) for name in order]
    label = ", ".join([*parts[:_MAX_FACTORS], *(["…"] if len(parts) > _MAX_FACTORS else [])])
    mean = estimate_cell_mean(cell, level, pilot, half_tick)
    setting = {name: value for name, value in cell.by.items() if value is not None or name in levels}
    return SettingPoint(
        at(places.x),
        at(places.color),
        setting,
        label,
        mean,
        () if cell.is_from_moments else tuple(cell.values.tolist()),
    )


# Panels


def _build_panels(
    measurements: Sequence[_Measured], levels: Mapping[str, FactorLevels], places: PlotLayout, most: int
) -> tuple[list[SettingsPanel], int, list[str]]:
    """Return (the panels, the number in a row, omissions): one panel per response and setting of the panels'
    factors."""
    drawn, omissions = measurements[:most], list[str]()
    if len(measurements) > most:
        names = join_names(
            [
                f"{measurement.name} {measurement.metric}"
                if measurement.name != measurement.metric
                else measurement.name
                for measurement in measurements[most:]
            ][:4]
        )
        template = "{most} of {n_metrics} metrics are drawn, not {excluded}: {spell.metric} chooses others"
        excluded = names + (" …" if len(measurements) > most + 4 else "")
        omissions.append(Message("truncated", template, most=most, n_metrics=len(measurements), excluded=excluded))
    panels = [_group_points(measurement, levels, places) for measurement in drawn]
    room = max(1, most // len(drawn))
    if len(keys := max(map(list, panels), key=len)) > room:
        template = (
            "{room} of {n_settings} settings of {factors} are drawn: {spell.where} chooses others, as "
            "{spell.where:'{condition}'}"
        )
        values = {"room": room, "n_settings": len(keys), "factors": join_names(places.panels)}
        omissions.append(
            Message("truncated", template, condition=_format_condition(keys, room, levels, places), **values)
        )
    scales = _assign_scales(drawn)
    return (
        [
            SettingsPanel(
                _format_heading(measurement, measurements) if len(measurements) > 1 else "",
                ", ".join(levels[name].describe_level(at) for name, at in zip(places.panels, key, strict=True)),
                measurement.metric,
                measurement.response.unit,
                scales[measurement.response.title],
                tuple(points),
            )
            for measurement, points_by_key in zip(drawn, panels, strict=True)
            for key, points in islice(points_by_key.items(), room)
        ],
        _count_columns(min(room, len(keys))) if len({tuple(points_by_key) for points_by_key in panels}) == 1 else 0,
        omissions,
    )


def _count_columns(settings: int) -> int:
    """Return the panels in a row, so that rows of one response are whole; 0 for as many as fit."""
    if settings == 1:
        return 0
    return next((count for count in (5, 4, 3) if settings % count == 0), settings if settings < 5 else 4)


def _group_points(
    measurement: _Measured, levels: Mapping[str, FactorLevels], places: PlotLayout
) -> dict[tuple[int, ...], list[SettingPoint]]:
    """Return the places of the panels' factors → the points there, without panels that have nothing to draw."""
    points_by_key = group_by_key(
        (tuple(levels[name].place[cell.by[name]] for name in places.panels), point)
        for cell, point in measurement.points
    )
    return {
        key: points
        for key, points in sorted(points_by_key.items())
        if any(point.mean.value is not None for point in points)
    }


def _format_condition(
    keys: Sequence[tuple[int, ...]], room: int, levels: Mapping[str, FactorLevels], places: PlotLayout
) -> str:
    """Return a condition that chooses a panel beyond the first ones, preferably by a level that these lack."""
    new = [at for at, level in enumerate(keys[room]) if level not in {key[at] for key in keys[:room]}] or [0]
    return f"{places.panels[new[0]]}={levels[places.panels[new[0]]].cells[keys[room][new[0]]]}"


def _assign_scales(measurements: Sequence[_Measured]) -> dict[str, str]:
    """Map responses to their scales: one per metric, or one per response if they lie far apart."""
    tops: dict[tuple[str, str], dict[str, float]] = {}
    for measurement in measurements:
        tops.setdefault((measurement.metric, measurement.response.unit), {})[measurement.response.title] = max(
            [abs(point.mean.value or 0.0) for _, point in measurement.points], default=0.0
        )
    scales: dict[str, str] = {}
    for (metric, unit), top_by_title in tops.items():
        positive_tops = [top for top in top_by_title.values() if top]
        apart = bool(positive_tops) and max(positive_tops) / min(positive_tops) > _OWN_SCALE
        scales |= {title: f"{metric}|{unit}|{title if apart else ''}" for title in top_by_title}
    return scales


def _build_operation_panels(measurements: Sequence[_Measured]) -> list[SettingsPanel]:
    """Return panels of a single setting: one per metric, with a bar for each operation."""
    kinds: dict[tuple[str, str], list[SettingPoint]] = {}
    for at, measurement in enumerate(measurements):
        kinds.setdefault((measurement.metric, measurement.response.unit), []).extend(
            SettingPoint(at, 0, {}, measurement.name, point.mean, point.trials) for _, point in measurement.points
        )
    return [
        SettingsPanel(metric if len(kinds) > 1 else "", "", metric, unit, f"{metric}|{unit}", tuple(points))
        for (metric, unit), points in kinds.items()
    ]


# Words


def _format_names(response: Response, metrics: Sequence[str]) -> tuple[str, str]:
    """Return titles of (the operation or column, the metric); a computed response keeps the text of the query."""
    if response.measured:
        return response.title, response.title
    if not response.operation:
        return response.metric.name, response.metric.name
    return operation_title(response.operation), format_metric(response.metric.name, response.operation, metrics)


def _format_heading(measurement: _Measured, measurements: Sequence[_Measured]) -> str:
    """Return the operation, the metric, or both: whatever distinguishes the panels."""
    names = {other.name for other in measurements}
    if len(names) == len(measurements) or len({other.metric for other in measurements}) == 1:
        return measurement.name
    return measurement.metric if len(names) == 1 else f"{measurement.name}: {measurement.metric}"


def _format_title(measurements: Sequence[_Measured], levels: Mapping[str, FactorLevels], places: PlotLayout) -> str:
    metrics = list(dict.fromkeys(measurement.metric for measurement in measurements))
    what = join_names(metrics) if len(metrics) <= 3 else format_count(len(measurements), "metric")
    names = list(dict.fromkeys(measurement.name for measurement in measurements))
    of = f" of {join_names(names)}" if len(names) <= 3 and measurements[0].response.operation else ""
    by = [levels[name].label for name in (places.x, places.color, *places.panels) if name]
    text = f"{what}{of} by {join_names(by)}" if by else f"{what}{of}"
    return text if "_" in text.split()[0] else text[0].upper() + text[1:]  # ``write_mbs`` is no word


def _list_notes(source: Source, measurements: Sequence[_Measured]) -> list[str]:
    notes: list[str] = []
    broken = sum(not run.complete for run in source.runs)
    if broken:
        verb = "is" if broken == 1 else "are"
        template = "{n_incomplete} of {trials} " + verb + " incomplete and {fate}"
        values = {"trials": format_count(len(source.runs), "trial"), "fate": describe_incomplete_treatment(source.runs)}
        notes.append(Message("incomplete-trials", template, n_incomplete=broken, **values))
    single = sum(len(point.trials) == 1 for measurement in measurements for _, point in measurement.points)
    every = sum(len(measurement.points) for measurement in measurements)
    if single and single == every:
        notes.append(Message("single-trials", "one trial per setting: no interval"))
    elif single:
        template = "{n_single} of {n_points} points are of one trial and have no interval"
        notes.append(Message("single-trials", template, n_single=single, n_points=every))
    for measurement in measurements:
        notes += list_caveats(measurement.response)
    return notes


def _describe_unplaced_factors(places: PlotLayout) -> list[str]:
    if not places.rest:
        return []
    vary, them = ("varies", "it") if len(places.rest) == 1 else ("vary", "them")
    return [
        Message(
            "varies-besides",
            "{columns} also {verb} from point to point: {spell.where} holds {pronoun}, {spell.on} draws one factor "
            "after the other",
            columns=join_names(places.rest),
            verb=vary,
            pronoun=them,
        )
    ]


def _describe_missing(
    levels: Mapping[str, FactorLevels], places: PlotLayout, settings: Sequence[Mapping[str, Cell]]
) -> list[str]:
    """Describe missing settings of a grid, if it is nearly complete."""
    if places.rest or not levels or PERCENTILE in levels:  # a percentile of too few operations is none
        return []
    grid = math.prod(map(len, levels.values()))
    there = len({tuple(setting[name] for name in levels) for setting in settings})
    if not grid > there > grid / 2:
        return []
    template = "{n_missing} of {n_settings} settings " + ("has" if grid - there == 1 else "have") + " no trial"
    return [Message("missing-settings", template, n_missing=grid - there, n_settings=grid)]
