"""A corpus: each run by phase or by level of a covariate on a logarithmic axis, the median of systems with its
interval, one's own result; distributions; one score against the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.core.level_text import level_shown
from iosonde.core.units import human_scale
from iosonde.core.words import counted, percent, percent_interval
from iosonde.report.text import estimate_text

from .figure import Figure, together
from .vocabulary import (
    BLUE,
    INK,
    VERMILION,
    Row,
    Spec,
    decades,
    ends,
    interval,
    layer,
    legend,
    names,
    number,
    shared,
    short,
    unique,
    view,
)

if TYPE_CHECKING:
    from iosonde.answers.corpus import Corpus
    from iosonde.core.types import Estimate
    from iosonde.stats.overview.systems import BySetting, CorpusPhase

_ROW = 26  # px
_WIDE = 460
_SCALES = {"bytes/s": (1024.0**3, "GiB/s"), "operations/s": (1e3, "kop/s")}
_RUNS, _MEDIAN, _MINE = "a run", "median of systems, interval", "yours"
_DOT = {"filled": True, "size": 22, "opacity": 0.55}


@dataclass(frozen=True)
class _Strip:
    """Runs beside each other: (value, what is said of it); in base units."""

    name: str
    runs: Sequence[tuple[float, str]]
    median: Estimate
    systems: int
    mine: float | None = None


def figure(answer: Corpus) -> Figure:
    """A panel for each unit."""
    return together(panels(answer), columns=1)


def panels(answer: Corpus) -> list[Figure]:
    """Every run by phase, a figure for each unit. Index numbers without one are not drawn: they are in the text."""
    kinds = dict.fromkeys((one.unit, one.per) for one in answer.phases if one.unit in _SCALES)
    return [_panel([one for one in answer.phases if (one.unit, one.per) == kind], answer) for kind in kinds]


def _panel(phases: Sequence[CorpusPhase], answer: Corpus) -> Figure:
    strips = [_Strip(name, [(value, f"{system}\n{_value(value, one)}") for value, system
                            in zip(one.values, one.names, strict=True)],
                     one.quantiles[0.5], one.systems, None if one.placed is None else one.placed.value)
              for one, name in zip(phases, unique(one.name for one in phases), strict=True)]  # fmt: skip
    per = f" per {phases[0].per}" if phases[0].per else ""
    of = f"{counted(answer.runs, 'run')} of {counted(answer.systems, 'system')}"
    title = f"{'Bandwidth' if phases[0].unit == 'bytes/s' else 'Rate'}{per}: {of}"
    return Figure(_strips(strips, phases[0]), title,
                  f"{title}, by phase, with the median of systems and its interval.")  # fmt: skip


def _strips(strips: Sequence[_Strip], one: CorpusPhase) -> Spec:
    """Each strip in a row; the unit is that of the phase."""
    divisor, x = _scale(one, [value for strip in strips for value, _ in strip.runs], "x")
    runs: list[Row] = []
    medians: list[Row] = []
    mine: list[Row] = []
    for strip in strips:
        runs += [{"y": strip.name, "x": short(value / divisor), "series": _RUNS, "tip": tip}
                 for value, tip in strip.runs]  # fmt: skip
        low, high = ends(strip.median, divisor) or (None, None)
        if strip.median.value is not None:
            tip = f"{strip.name}\nmedian of {strip.systems} systems {estimate_text(strip.median, one.unit)}"
            medians.append({"y": strip.name, "x": short(strip.median.value / divisor), "low": low, "high": high,
                            "tip": tip, "series": _MEDIAN})  # fmt: skip
        if strip.mine is not None:
            mine.append({"y": strip.name, "x": short(strip.mine / divisor), "series": _MINE,
                         "tip": f"{strip.name}\nyours {_value(strip.mine, one)}"})  # fmt: skip
    y = names("", [strip.name for strip in strips], "y", {"domain": False})
    shown = [_RUNS, _MEDIAN, _MINE] if mine else [_RUNS, _MEDIAN]
    colour = legend(shown, [BLUE, INK, VERMILION][: len(shown)], offset=8)
    channels = {"x": x, "y": y, "color": colour}
    return view(
        layer(runs, "tick", channels, size=14, thickness=1, opacity=0.35),
        *interval(medians, y, x, across=True, cap=10, strokeWidth=2),
        layer(medians, "point", channels, filled=True, size=46, opacity=1),
        *([layer(mine, "point", channels, filled=True, size=80, shape="diamond", opacity=1)] if mine else []),
        width=_WIDE, height=max(2, len(strips)) * _ROW,
    )  # fmt: skip


def by_covariate(one: CorpusPhase, name: str, unit: str = "") -> Figure:
    """A number by a covariate: strips of its levels, or points over one of many. ``unit`` is that of the levels."""
    setting = one.settings[name]
    title = f"{one.title} by {name}"
    said = f"{title}: it explains {percent_interval(one.explained[name].share)} of the variance between systems."
    rows = [(level, value, f"{system}\n{name}={level_shown(level, unit)}\n{_value(value, one)}")
            for level, value, system in zip(setting.levels, one.values, one.names, strict=True)]  # fmt: skip
    if not setting.medians:
        return Figure(_over(one, name, setting, rows), title, said)
    strips = [_Strip(f"{level_shown(level, unit)} ({median.n})",
                     [(value, tip) for at, value, tip in rows if at == level], median, median.n)
              for level, median in setting.medians.items()]  # fmt: skip
    return Figure(_strips(strips, one), title, said)


def _over(one: CorpusPhase, name: str, setting: BySetting, rows: Sequence[tuple[object, float, str]]) -> Spec:
    known = [(float(str(level)), value, tip) for level, value, tip in rows if level is not None]
    divisor, y = _scale(one, [value for _, value, _ in known], "y")
    points = [{"x": short(level), "y": short(value / divisor), "tip": tip} for level, value, tip in known]
    ticks = {"values": decades(min(known)[0], max(known)[0])} if setting.doublings else {}
    x = number(name, log=setting.doublings, room=8, axis=ticks)
    return view(layer(points, "point", {"x": x, "y": y}, color=BLUE, **_DOT), width=_WIDE, height=230)


def distribution(one: CorpusPhase) -> Figure:
    """The share of systems up to each value, and where one's own lies."""
    divisor, x = _scale(one, one.values, "x")
    rows = [{"x": short(value / divisor), "y": short(100 * share),
             "tip": f"{system}\n{_value(value, one)}: {percent(share)} at or below"}
            for value, share, system in one.steps()]  # fmt: skip
    channels = {"x": x, "y": number("% of systems at or below", "y", (0, 100))}
    mine = []
    if one.placed is not None:
        tip = f"yours {_value(one.placed.value, one)}\nabove {percent_interval(one.placed.share)} of the systems"
        row = {"x": short(one.placed.value / divisor), "y": short(100 * (one.placed.share.value or 0.0)), "tip": tip}
        mine = [
            layer([{"x": row["x"]}], "rule", {"x": x}, color=VERMILION, strokeWidth=1.6),
            layer([row], "point", channels, color=VERMILION, filled=True, size=80, shape="diamond", opacity=1),
        ]
    line = layer(rows, "line", channels, color=BLUE, interpolate="step-after", strokeWidth=1.6)
    dots = layer(rows, "point", channels, color=BLUE, filled=True, size=14, opacity=0.5)
    title = one.title
    return Figure(view(shared(line, dots), *mine), title,
                  f"{title}: the share of {counted(one.systems, 'system')} at or below each value.")  # fmt: skip


def placed(answer: Corpus) -> Figure:
    """Above which share of the systems one's own result lies, by phase."""
    rows: list[Row] = []
    known = [one for one in answer.phases if one.placed is not None]
    shown = unique(one.title for one in known)
    for one, name in zip(known, shown, strict=True):
        if one.placed is not None and one.placed.share.value is not None:
            low, high = ends(one.placed.share, 0.01) or (None, None)
            tip = f"{name}\nabove {percent_interval(one.placed.share)} of {one.systems} systems"
            rows.append({"y": name, "x": short(100 * one.placed.share.value), "low": low, "high": high, "tip": tip})
    y = names("", shown, "y", {"domain": False, "labelLimit": 240})
    x = number("% of systems that yours is above", domain=(0, 100), axis={"grid": True})
    spec = view(*interval(rows, y, x, across=True, cap=10, strokeWidth=2),
                layer(rows, "point", {"x": x, "y": y}, color=VERMILION, filled=True, size=80, shape="diamond",
                      opacity=1), width=_WIDE, height=max(2, len(rows)) * _ROW)  # fmt: skip
    return Figure(
        spec, "Systems that yours is above", "The share of systems that yours is above, by phase, with its interval."
    )


def scores(answer: Corpus) -> Figure:
    """The metadata score against the bandwidth score of each run."""
    (gib, bandwidth), (kilo, rate) = _SCALES["bytes/s"], _SCALES["operations/s"]
    xs, ys = [one.bandwidth / gib for one in answer.scores], [one.rate / kilo for one in answer.scores]
    rows = [{"x": short(x), "y": short(y), "tip": f"{one.system}\n{short(x):.3g} {bandwidth}, {short(y):.3g} {rate}"}
            for x, y, one in zip(xs, ys, answer.scores, strict=True)]  # fmt: skip
    x, y = (
        number(title, field, log=True, room=8, axis={"grid": True, "values": decades(min(of), max(of))})
        for title, field, of in ((f"bandwidth score, {bandwidth}", "x", xs), (f"metadata score, {rate}", "y", ys))
    )
    spec = view(layer(rows, "point", {"x": x, "y": y}, color=BLUE, **_DOT), width=_WIDE, height=300)
    return Figure(spec, "Bandwidth against metadata", "The metadata score of each run against its bandwidth score.")


def _scale(one: CorpusPhase, values: Sequence[float], field: str) -> tuple[float, Spec]:
    """(what values are divided by, their channel)."""
    divisor, unit = _SCALES.get(one.unit, (1.0, one.unit))
    reached = [value / divisor for value in values]
    per = f" per {one.per}" if one.per else ""
    axis = {"grid": True, "values": decades(min(reached), max(reached))}
    return divisor, number(f"{unit}{per}", field, log=True, room=8, axis=axis)


def _value(value: float, one: CorpusPhase) -> str:
    divisor, unit = human_scale(value, one.unit)
    return f"{short(float(f'{value / divisor:.3g}'))} {unit}"
