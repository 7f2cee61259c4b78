"""Figures of a corpus: runs by phase or covariate with the median of systems and one's own result, distributions,
scores.
Values are on logarithmic axes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.level_text import format_level
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale
from iosonde.core.words import format_count, format_share, format_share_interval
from iosonde.layout.figure import Figure, combine_figures
from iosonde.layout.text import format_estimate
from iosonde.layout.vocabulary import (
    BLUE,
    GRID,
    INK,
    PAPER,
    VERMILION,
    Spec,
    build_legend,
    build_name_channel,
    build_number_channel,
    draw_intervals,
    get_interval_ends,
    layer,
    list_decades,
    number_duplicates,
    share_rows,
    short,
    view,
)
from iosonde.stats.overview.systems import BySetting, CorpusPhase

from .answer import Corpus
from .dependence import Dependence

_ROW = 26  # px
_WIDE = 460
_SCALES = {"bytes/s": (1024.0**3, "GiB/s"), "operations/s": (1e3, "kop/s")}
_RUNS, _MEDIAN, _MINE = "a run", "median of systems, interval", "yours"
_DOT = {"filled": True, "size": 22, "opacity": 0.55}


@dataclass(frozen=True)
class _Strip:
    """Runs side by side: (value, tooltip), in base units."""

    name: str
    runs: Sequence[tuple[float, str]]
    median: Estimate
    systems: int
    mine: float | None = None


def figure(answer: Corpus) -> Figure:
    """Draw a panel per unit; of a corpus that is asked which phases go together, their correlations."""
    if answer.parts.dependence is not None:
        return draw_dependence(answer.parts.dependence)
    return combine_figures(draw_panels(answer), columns=1)


def draw_panels(answer: Corpus) -> list[Figure]:
    """Draw every run by phase, a figure per unit. Index numbers without a unit are left to the text."""
    kinds = dict.fromkeys((phase.unit, phase.per) for phase in answer.phases if phase.unit in _SCALES)
    return [
        _draw_panel([phase for phase in answer.phases if (phase.unit, phase.per) == kind], answer) for kind in kinds
    ]


def _draw_panel(phases: Sequence[CorpusPhase], answer: Corpus) -> Figure:
    strips = [
        _Strip(
            name,
            [
                (value, f"{system}\n{_format_value(value, phase)}")
                for value, system in zip(phase.values, phase.names, strict=True)
            ],
            phase.quantiles[0.5],
            phase.systems,
            None if phase.placed is None else phase.placed.value,
        )
        for phase, name in zip(phases, number_duplicates(phase.name for phase in phases), strict=True)
    ]
    per = f" per {phases[0].per}" if phases[0].per else ""
    of = f"{format_count(answer.runs, 'run')} of {format_count(answer.systems, 'system')}"
    title = f"{'Bandwidth' if phases[0].unit == 'bytes/s' else 'Rate'}{per}: {of}"
    return Figure(
        _draw_strips(strips, phases[0]), title, f"{title}, by phase, with the median of systems and its interval."
    )


def _draw_strips(strips: Sequence[_Strip], phase: CorpusPhase) -> Spec:
    divisor, x = _build_scale(phase, [value for strip in strips for value, _ in strip.runs], "x")
    runs = [
        {"y": strip.name, "x": short(value / divisor), "series": _RUNS, "tip": tip}
        for strip in strips
        for value, tip in strip.runs
    ]
    medians = [
        {
            "y": strip.name,
            "x": short(strip.median.value / divisor),
            "low": low,
            "high": high,
            "tip": f"{strip.name}\nmedian of {strip.systems} systems {format_estimate(strip.median, phase.unit)}",
            "series": _MEDIAN,
        }
        for strip in strips
        if strip.median.value is not None
        for low, high in [get_interval_ends(strip.median, divisor) or (None, None)]
    ]
    mine = [
        {
            "y": strip.name,
            "x": short(strip.mine / divisor),
            "series": _MINE,
            "tip": f"{strip.name}\nyours {_format_value(strip.mine, phase)}",
        }
        for strip in strips
        if strip.mine is not None
    ]
    y = build_name_channel("", [strip.name for strip in strips], "y", {"domain": False})
    series_names = [_RUNS, _MEDIAN, _MINE] if mine else [_RUNS, _MEDIAN]
    channels = {
        "x": x,
        "y": y,
        "color": build_legend(series_names, [BLUE, INK, VERMILION][: len(series_names)], offset=8),
    }
    return view(
        layer(runs, "tick", channels, size=14, thickness=1, opacity=0.35),
        *draw_intervals(medians, y, x, across=True, cap=10, strokeWidth=2),
        layer(medians, "point", channels, filled=True, size=46, opacity=1),
        *([layer(mine, "point", channels, filled=True, size=80, shape="diamond", opacity=1)] if mine else []),
        width=_WIDE,
        height=max(2, len(strips)) * _ROW,
    )


def draw_by_covariate(phase: CorpusPhase, name: str, unit: str = "") -> Figure:
    """Draw a metric by a covariate with its ``unit``: strips by level, or points if it has many levels."""
    setting = phase.settings[name]
    title = f"{phase.title} by {name}"
    caption = (
        f"{title}: it explains {format_share_interval(phase.explained[name].share)} of the variance between systems."
    )
    rows = [
        (level, value, f"{system}\n{name}={format_level(level, unit)}\n{_format_value(value, phase)}")
        for level, value, system in zip(setting.levels, phase.values, phase.names, strict=True)
    ]
    if not setting.medians:
        return Figure(_draw_levels(phase, name, setting, rows), title, caption)
    strips = [
        _Strip(
            f"{format_level(level, unit)} ({median.n})",
            [(value, tip) for at, value, tip in rows if at == level],
            median,
            median.n,
        )
        for level, median in setting.medians.items()
    ]
    return Figure(_draw_strips(strips, phase), title, caption)


def _draw_levels(phase: CorpusPhase, name: str, setting: BySetting, rows: Sequence[tuple[object, float, str]]) -> Spec:
    levels = [(float(str(level)), value, tip) for level, value, tip in rows if level is not None]
    divisor, y = _build_scale(phase, [value for _, value, _ in levels], "y")
    points = [{"x": short(level), "y": short(value / divisor), "tip": tip} for level, value, tip in levels]
    ticks = {"values": list_decades(min(levels)[0], max(levels)[0])} if setting.doublings else {}
    x = build_number_channel(name, log=setting.doublings, room=8, axis=ticks)
    return view(layer(points, "point", {"x": x, "y": y}, color=BLUE, **_DOT), width=_WIDE, height=230)


def draw_distribution(phase: CorpusPhase) -> Figure:
    """Draw the share of systems at or below each value, and one's own result."""
    divisor, x = _build_scale(phase, phase.values, "x")
    rows = [
        {
            "x": short(value / divisor),
            "y": short(100 * share),
            "tip": f"{system}\n{_format_value(value, phase)}: {format_share(share)} at or below",
        }
        for value, share, system in phase.steps()
    ]
    channels = {"x": x, "y": build_number_channel("% of systems at or below", "y", (0, 100))}
    mine = []
    if phase.placed is not None:
        row = {
            "x": short(phase.placed.value / divisor),
            "y": short(100 * (phase.placed.share.value or 0.0)),
            "tip": f"yours {_format_value(phase.placed.value, phase)}\n"
            f"exceeds {format_share_interval(phase.placed.share)} of the systems",
        }
        mine = [
            layer([{"x": row["x"]}], "rule", {"x": x}, color=VERMILION, strokeWidth=1.6),
            layer([row], "point", channels, color=VERMILION, filled=True, size=80, shape="diamond", opacity=1),
        ]
    line = layer(rows, "line", channels, color=BLUE, interpolate="step-after", strokeWidth=1.6)
    dots = layer(rows, "point", channels, color=BLUE, filled=True, size=14, opacity=0.5)
    title = phase.title
    return Figure(
        view(share_rows(line, dots), *mine),
        title,
        f"{title}: the share of {format_count(phase.systems, 'system')} at or below each value.",
    )


def draw_own_places(answer: Corpus) -> Figure:
    """Draw the share of systems that the user's own result exceeds, by phase."""
    shares = [(phase, phase.placed.share) for phase in answer.phases if phase.placed is not None]
    titles = number_duplicates(phase.title for phase, _ in shares)
    rows = [
        {
            "y": name,
            "x": short(100 * share.value),
            "low": low,
            "high": high,
            "tip": f"{name}\nexceeds {format_share_interval(share)} of {phase.systems} systems",
        }
        for (phase, share), name in zip(shares, titles, strict=True)
        if share.value is not None
        for low, high in [get_interval_ends(share, 0.01) or (None, None)]
    ]
    y = build_name_channel("", titles, "y", {"domain": False, "labelLimit": 240})
    x = build_number_channel("% of systems that yours exceeds", domain=(0, 100), axis={"grid": True})
    spec = view(
        *draw_intervals(rows, y, x, across=True, cap=10, strokeWidth=2),
        layer(rows, "point", {"x": x, "y": y}, color=VERMILION, filled=True, size=80, shape="diamond", opacity=1),
        width=_WIDE,
        height=max(2, len(rows)) * _ROW,
    )
    return Figure(
        spec, "Systems that yours exceeds", "The share of systems that yours exceeds, by phase, with its interval."
    )


def draw_scores(answer: Corpus) -> Figure:
    """Draw the metadata score of each run against its bandwidth score."""
    (gib, bandwidth), (kilo, rate) = _SCALES["bytes/s"], _SCALES["operations/s"]
    xs, ys = [score.bandwidth / gib for score in answer.scores], [score.rate / kilo for score in answer.scores]
    rows = [
        {"x": short(x), "y": short(y), "tip": f"{score.system}\n{short(x):.3g} {bandwidth}, {short(y):.3g} {rate}"}
        for x, y, score in zip(xs, ys, answer.scores, strict=True)
    ]
    x, y = (
        build_number_channel(
            title, field, log=True, room=8, axis={"grid": True, "values": list_decades(min(of), max(of))}
        )
        for title, field, of in ((f"bandwidth score, {bandwidth}", "x", xs), (f"metadata score, {rate}", "y", ys))
    )
    spec = view(layer(rows, "point", {"x": x, "y": y}, color=BLUE, **_DOT), width=_WIDE, height=300)
    return Figure(spec, "Bandwidth against metadata", "The metadata score of each run against its bandwidth score.")


def draw_dependence(dependence: Dependence) -> Figure:
    """Draw the rank correlation of all pairs of phases: above the diagonal as a whole, below it per node."""
    places = {name: place for place, name in enumerate(dependence.phases)}
    rows: list[dict[str, Any]] = []
    for pair in dependence.pairs:
        first, second = sorted(pair.names, key=places.__getitem__)
        forms = [(first, second, "as a whole", pair.total)]
        forms += [] if pair.per_unit is None else [(second, first, f"per {dependence.per}", pair.per_unit)]
        rows += [
            {
                "y": y,
                "x": x,
                "value": short(link.rho.value) if link.is_discovery else None,
                "tip": f"{y}, {x}, {form}\nρ {format_estimate(link.rho, '')}, {pair.state}",
            }
            for y, x, form, link in forms
        ]
    names = list(places)
    channels = {
        "x": build_name_channel("", names, "x", {"labelAngle": -60, "labelOverlap": False, "domain": False}),
        "y": build_name_channel("", names, "y", {"domain": False}),
        "color": {
            "field": "value",
            "type": "quantitative",
            "scale": {"domain": [-1, 0, 1], "range": [VERMILION, PAPER, BLUE], "interpolate": "rgb"},
            "legend": {"title": "ρ", "orient": "right", "direction": "vertical", "gradientLength": 120},
        },
    }
    side = max(4, len(names)) * _ROW
    below = f", per {dependence.per} below it" if dependence.per else ""
    return Figure(
        view(layer(rows, "rect", channels, stroke=GRID), width=side, height=side),
        f"Phases that go together: as a whole above the diagonal{below}",
        f"Rank correlation of {format_count(len(dependence.pairs), 'pair')} of phases over systems: of the whole above "
        f"the diagonal{below}. Pairs that are not significant are blank.",
    )


def _build_scale(phase: CorpusPhase, values: Sequence[float], field: str) -> tuple[float, Spec]:
    """Return (the divisor of values, their channel)."""
    divisor, unit = _SCALES.get(phase.unit, (1.0, phase.unit))
    reached = [value / divisor for value in values]
    per = f" per {phase.per}" if phase.per else ""
    axis = {"grid": True, "values": list_decades(min(reached), max(reached))}
    return divisor, build_number_channel(f"{unit}{per}", field, log=True, room=8, axis=axis)


def _format_value(value: float, phase: CorpusPhase) -> str:
    divisor, unit = choose_human_scale(value, phase.unit)
    return f"{short(float(f'{value / divisor:.3g}'))} {unit}"
