"""Every metric by the settings that varied: ``iosonde plot DATA``.

A point is the mean of the trials of one setting with its interval. Settings are never averaged: what has no place
along x, by colour or in a panel is said, and so is what is left out where the panels would be too many for a page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from iosonde.answers.caveats import caveats
from iosonde.answers.family import headline_responses
from iosonde.answers.page.axis import title as operation_title
from iosonde.answers.summary import pilot_of
from iosonde.answers.trials import cells_of
from iosonde.core.factor_levels import NAMES, PERCENTILE, FactorLevels, levels_of
from iosonde.core.headlines import metric_words
from iosonde.core.message import Message
from iosonde.core.stored import fate_of_incomplete
from iosonde.core.table import Cell
from iosonde.core.words import counted, listed
from iosonde.data.asked import ALL, Asked
from iosonde.data.responses import Response
from iosonde.data.source import Source
from iosonde.stats.overview.cells import TrialCell
from iosonde.stats.overview.coarse_cells import half_ticks_of
from iosonde.stats.overview.overview import mean_of, rows_of
from iosonde.stats.overview.probed_limits import ProbedLimits
from iosonde.stats.overview.story import sentences, stories
from iosonde.stats.overview.types import ResponseStory

from .best import best_and_worst
from .chosen import named_in, one_experiment, responses_by
from .layout import HUES, SHADES, PlotLayout, PlotRoles, layout
from .settings_plot import SettingPoint, SettingsPanel, SettingsPlot

MOST_PANELS = 16
_SAID = 12  # sentences
_NAMED = 6  # factors of a setting
_OWN_SCALE = 4.0  # metrics so many times apart have no axis in common


@dataclass(frozen=True)
class Fits:
    """What a kind of drawing has room for: levels of names and of numbers by colour, panels."""

    hues: int = HUES
    shades: int = SHADES
    panels: int = MOST_PANELS


@dataclass(frozen=True)
class _Measured:
    """One response: its cells, each with its mean, and what it is called."""

    response: Response
    name: str
    metric: str
    points: tuple[tuple[TrialCell, SettingPoint], ...]


def settings_plot(
    source: Source, asked: Asked, roles: PlotRoles | None = None, fits: Fits | None = None
) -> SettingsPlot:
    """The metrics that are asked for, by the factors that are known; ``asked.response`` as of every analysis. Raises
    InputError, DataError."""
    source, newest = one_experiment(source, roles or PlotRoles())
    found = responses_by(source, asked, roles or PlotRoles())
    family = headline_responses(source, replace(asked, metric=(ALL,)), found[0].names)
    made = plot_of(source, found, asked, named_in(found, roles or PlotRoles()), fits or Fits(), family=family)
    return replace(made, notes=(*([newest] if newest else []), *made.notes))


def plot_of(
    source: Source, found: Sequence[Response], asked: Asked, roles: PlotRoles, fits: Fits,
    compared: Callable[[SettingPoint], bool] | None = None, family: Sequence[Response] = (),
) -> SettingsPlot:  # fmt: skip
    """The figure of these responses. ``compared`` chooses the points of which the best and the worst are said, where
    they are not said of all; ``family``: responses that belong to the family of tests, shown or not."""
    cells = [cells_of(one) for one in found]
    levels = _levels(found, roles.named)
    settings = [cell.by for of_one in cells for cell in of_one]
    places = layout(levels, settings, roles, fits.hues, fits.shades)
    pilot = pilot_of(source)
    made = [
        _Measured(one, *_called(one), tuple(
            (cell, _point(cell, levels, places, asked.level, pilot, half))
            for cell, half in zip(of_one, half_ticks_of(of_one), strict=True)))
        for one, of_one in zip(found, cells, strict=True)
    ]  # fmt: skip
    panels, across, left = _panels(made, levels, places, fits.panels) if levels else (_by_operation(made), 0, [])
    x = levels[places.x] if levels else _operations(made)
    told = () if compared else _told(source, found, cells, asked.level, family)
    said = list(sentences(told, source.units())) or [
        best_and_worst(one.name, one.metric, one.response,
                       [point for _, point in one.points if compared is None or compared(point)])
        for one in made
    ]  # fmt: skip
    return SettingsPlot(
        _title(made, levels, places), x, levels.get(places.color), tuple(panels), across, not places.rest, asked.level,
        tuple(islice((text for text in said if text), _SAID)),
        tuple(dict.fromkeys(_notes(source, made))),
        (*left, *_rest(places), *_missing(levels, places, settings)), told, source.units(),
    )  # fmt: skip


def _told(
    source: Source, found: Sequence[Response], cells: Sequence[Sequence[TrialCell]], level: float,
    family: Sequence[Response],
) -> tuple[ResponseStory, ...]:  # fmt: skip
    """What a summary says of the same settings."""
    every, pilot = [cell for of_one in cells for cell in of_one], pilot_of(source)
    beside = [cell for one in family for cell in cells_of(one)]
    impossible = ProbedLimits((), level).impossible(every, source.runs)
    rows = rows_of(every, level, pilot)
    return stories(rows, every, level, beside, impossible, found[0].together)


# Factors


def _levels(found: Sequence[Response], named: Sequence[str]) -> dict[str, FactorLevels]:
    """The levels of each factor over all responses, in one order; of one level only those that have a role by name, or
    that stand alone."""
    names = dict.fromkeys(name for one in found for name in one.names)
    made = {name: levels_of([one.rows.column(name) for one in found if name in one.names]) for name in names}
    return {name: one for name, one in made.items() if len(one) > 1 or len(made) == 1 or name in named}


def _point(
    cell: TrialCell, levels: Mapping[str, FactorLevels], places: PlotLayout, level: float, pilot: int | None,
    half_tick: float,
) -> SettingPoint:  # fmt: skip
    def at(name: str) -> int:
        return levels[name].place[cell.by[name]] if name else 0

    order = dict.fromkeys([*(name for name in (places.x, places.color, *places.panels) if name), *levels])
    parts = [levels[name].said(at(name)) for name in order]
    said = ", ".join([*parts[:_NAMED], *(["…"] if len(parts) > _NAMED else [])])
    mean = mean_of(cell, level, pilot, half_tick)
    return SettingPoint(at(places.x), at(places.color), dict(cell.by), said, mean, tuple(cell.values.tolist()))


# Panels


def _panels(
    made: Sequence[_Measured], levels: Mapping[str, FactorLevels], places: PlotLayout, most: int
) -> tuple[list[SettingsPanel], int, list[str]]:
    """(the panels, how many in a row, what is left out): one for each response and setting of the panels' factors."""
    keys = sorted({_key(cell, levels, places) for one in made for cell, _ in one.points})
    shown, left = made[:most], list[str]()
    if len(made) > most:
        names = listed([f"{one.name} {one.metric}" if one.name != one.metric else one.name for one in made[most:]][:4])
        template = "{most} of {n_metrics} metrics are drawn, not {excluded}: {spell.metric} names others"
        excluded = names + (" …" if len(made) > most + 4 else "")
        left.append(Message("truncated", template, most=most, n_metrics=len(made), excluded=excluded))
    room = max(1, most // len(shown))
    if len(keys) > room:
        template = (
            "{room} of {n_settings} settings of {factors} are drawn: {spell.where} chooses others, as "
            "{spell.where:'{condition}'}"
        )
        values = {"room": room, "n_settings": len(keys), "factors": listed(places.panels)}
        left.append(Message("truncated", template, condition=_where(keys, room, levels, places), **values))
    scales = _scales(shown)
    return [
        SettingsPanel(
            _heading(one, made) if len(made) > 1 else "", _said(key, levels, places), one.metric, one.response.unit,
            scales[one.response.title],
            tuple(point for cell, point in one.points if _key(cell, levels, places) == key),
        )
        for one in shown for key in keys[:room]
    ], _across(min(room, len(keys))), left  # fmt: skip


def _across(settings: int) -> int:
    """Panels in a row, so that rows of one response are whole; 0 for as many as fit."""
    if settings == 1:
        return 0
    return next((count for count in (5, 4, 3) if settings % count == 0), settings if settings < 5 else 4)


def _key(cell: TrialCell, levels: Mapping[str, FactorLevels], places: PlotLayout) -> tuple[int, ...]:
    return tuple(levels[name].place[cell.by[name]] for name in places.panels)


def _said(key: Sequence[int], levels: Mapping[str, FactorLevels], places: PlotLayout) -> str:
    return ", ".join(levels[name].said(at) for name, at in zip(places.panels, key, strict=True))


def _where(
    keys: Sequence[tuple[int, ...]], room: int, levels: Mapping[str, FactorLevels], places: PlotLayout
) -> str:  # fmt: skip
    """A condition that chooses a panel beyond the first ones: by a level that these do not have, if there is one."""
    new = [at for at, level in enumerate(keys[room]) if level not in {key[at] for key in keys[:room]}] or [0]
    return f"{places.panels[new[0]]}={levels[places.panels[new[0]]].cells[keys[room][new[0]]]}"


def _scales(made: Sequence[_Measured]) -> dict[str, str]:
    """Response → its scale: one for each metric, or each its own where they lie far apart."""
    tops: dict[tuple[str, str], dict[str, float]] = {}
    for one in made:
        values = [abs(point.mean.value or 0.0) for _, point in one.points]
        tops.setdefault((one.metric, one.response.unit), {})[one.response.title] = max(values, default=0.0)
    found: dict[str, str] = {}
    for (metric, unit), of_metric in tops.items():
        known = [top for top in of_metric.values() if top]
        apart = bool(known) and max(known) / min(known) > _OWN_SCALE
        found |= {title: f"{metric}|{unit}|{title if apart else ''}" for title in of_metric}
    return found


def _by_operation(made: Sequence[_Measured]) -> list[SettingsPanel]:
    """Of a single setting: a panel for each metric, with a bar for each operation."""
    kinds: dict[tuple[str, str], list[SettingPoint]] = {}
    for at, one in enumerate(made):
        points = [SettingPoint(at, 0, {}, one.name, point.mean, point.trials) for _, point in one.points]
        kinds.setdefault((one.metric, one.response.unit), []).extend(points)
    return [SettingsPanel(metric if len(kinds) > 1 else "", "", metric, unit, f"{metric}|{unit}", tuple(points))
            for (metric, unit), points in kinds.items()]  # fmt: skip


def _operations(made: Sequence[_Measured]) -> FactorLevels:
    names: tuple[Cell, ...] = tuple(one.name for one in made)
    return FactorLevels("", "", "", NAMES, names, tuple(map(str, names)))


# Words


def _called(one: Response) -> tuple[str, str]:
    """(the operation or column, the metric) as a title says them; what was computed as it was asked for."""
    if one.measured:
        return one.title, one.title
    if not one.operation:
        return one.metric.name, one.metric.name
    return operation_title(one.operation), metric_words(one.metric.name)


def _heading(one: _Measured, made: Sequence[_Measured]) -> str:
    """The operation, the metric, or both: what tells panels apart."""
    names = {other.name for other in made}
    if len(names) == len(made) or len({other.metric for other in made}) == 1:
        return one.name
    return one.metric if len(names) == 1 else f"{one.name}: {one.metric}"


def _title(made: Sequence[_Measured], levels: Mapping[str, FactorLevels], places: PlotLayout) -> str:
    """What is drawn by what."""
    metrics = list(dict.fromkeys(one.metric for one in made))
    what = listed(metrics) if len(metrics) <= 3 else counted(len(made), "metric")
    names = list(dict.fromkeys(one.name for one in made))
    of = f" of {listed(names)}" if len(names) <= 3 and made[0].response.operation else ""
    by = [levels[name].label for name in (places.x, places.color, *places.panels) if name]
    said = f"{what}{of} by {listed(by)}" if by else f"{what}{of}"
    return said[0].upper() + said[1:]


def _notes(source: Source, made: Sequence[_Measured]) -> list[str]:
    notes: list[str] = []
    broken = sum(not run.complete for run in source.runs)
    if broken:
        verb = "is" if broken == 1 else "are"
        template = "{n_incomplete} of {trials} " + verb + " incomplete and {fate}"
        values = {"trials": counted(len(source.runs), "trial"), "fate": fate_of_incomplete(source.runs)}
        notes.append(Message("incomplete-trials", template, n_incomplete=broken, **values))
    single = sum(len(point.trials) == 1 for one in made for _, point in one.points)
    every = sum(len(one.points) for one in made)
    if single and single == every:
        notes.append(Message("single-trials", "one trial of each setting: there is no interval"))
    elif single:
        template = "{n_single} of {n_points} points are of one trial and have no interval"
        notes.append(Message("single-trials", template, n_single=single, n_points=every))
    for one in made:
        notes += caveats(one.response, option="")
    return notes


def _rest(places: PlotLayout) -> list[str]:
    if not places.rest:
        return []
    vary, them = ("varies", "it") if len(places.rest) == 1 else ("vary", "them")
    return [
        Message(
            "varies-besides",
            "{columns} {verb} as well, from point to point: {spell.where} holds {pronoun}, {spell.on} draws one factor "
            "after the other",
            columns=listed(places.rest),
            verb=vary,
            pronoun=them,
        )
    ]


def _missing(
    levels: Mapping[str, FactorLevels], places: PlotLayout, settings: Sequence[Mapping[str, Cell]]
) -> list[str]:
    """Settings of a grid that nobody measured, where it is nearly whole."""
    if places.rest or not levels or PERCENTILE in levels:  # a tail that too few operations show is none
        return []
    grid = 1
    for one in levels.values():
        grid *= len(one)
    there = len({tuple(setting[name] for name in levels) for setting in settings})
    if not grid > there > grid / 2:
        return []
    verb = "has" if grid - there == 1 else "have"
    template = "{n_missing} of {n_settings} settings " + verb + " no trial"
    return [Message("missing-settings", template, n_missing=grid - there, n_settings=grid)]
