"""Surveys of a tree that is known: estimates against the number of draws, beside the truth, and how they scatter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from iosonde.core.words import decimals
from iosonde.report.text.survey_more import TITLES, simulated_name

from .figure import Figure, together
from .vocabulary import Row, Spec, colours_of, layer, legend, number, short, view

if TYPE_CHECKING:
    from iosonde.answers.survey.simulate import Simulation
    from iosonde.stats.sampling.resampling import SimulatedEstimate

_MOST = 6  # lines of a panel, as many as there are colours
_TYPE = "type"
_WITH_REPLACEMENT = "by size, with replacement"
_SIZE = {"width": 360, "height": 240}
_WHAT = "line: one survey; band: 90 of 100; dashed: the truth"


def figure(made: Simulation) -> Figure:
    """A panel for each way of drawing, with its types; one for what else is a share; and the scatter of the largest
    samples with replacement."""
    every = [one for one in made.shares if one.known.unit == "share"]
    panels = []
    palettes = [_palette([one for one in every if _is_type(one) is types]) for types in (False, True)]
    for way in dict.fromkeys(one.way for one in every):
        for types in (True, False):
            if some := [one for one in every if one.way == way and _is_type(one) is types]:
                panels.append(_against_draws(way, some, palettes[types]))
    if last := [one for one in every if one.way == _WITH_REPLACEMENT]:
        most = max(one.n for one in last)
        panels.append(_scatter([one for one in last if one.n == most], palettes[True], made.asked.repetitions))
    said = f"Estimates by {made.asked.repetitions} surveys of {made.files} files, against how many are drawn."
    return together(panels, columns=2, description=said)


def _is_type(one: SimulatedEstimate) -> bool:
    return one.known.what == _TYPE


def _palette(found: Sequence[SimulatedEstimate]) -> dict[str, str]:
    """The largest, of the files or the capacity, and the colour that each has in all panels."""
    names = dict.fromkeys(simulated_name(one) for one in sorted(found, key=lambda one: -one.known.truth))
    return dict(zip(list(names)[:_MOST], colours_of(_MOST), strict=False))


def _series(found: Sequence[SimulatedEstimate], colours: Mapping[str, str]) -> dict[str, list[SimulatedEstimate]]:
    """Those with a colour, each with its numbers of draws in order."""
    order = sorted(found, key=lambda one: one.n)
    mine = {name: [one for one in order if simulated_name(one) == name] for name in colours}
    return {name: some for name, some in mine.items() if some}


def _colour(series: Mapping[str, object], colours: Mapping[str, str]) -> Spec:
    return legend(list(series), [colours[name] for name in series])


def _against_draws(way: str, found: Sequence[SimulatedEstimate], colours: Mapping[str, str]) -> Figure:
    series, sizes = _series(found, colours), sorted({one.n for one in found})
    colour, x = _colour(series, colours), number("files drawn", log=True, axis={"values": sizes})
    y = number("% of files" if found[0].known.of == "files" else "% of capacity", "y", zero=True)
    points, band = list(_points(series)), {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    spec = view(
        layer(points, "area", {"x": x, **band, "color": colour}, opacity=0.18),
        layer(points, "rule", {"x": x, **band, "color": colour}, opacity=0.5),
        layer(points, "line", {"x": x, "y": y, "color": colour}, point={"size": 22}, strokeWidth=1.6),
        layer(_truths(series), "line", {"x": x, "y": y, "color": colour}, strokeDash=[4, 3], strokeWidth=1.2),
        **_SIZE,
    )
    title = TITLES[way].rstrip(":") + ("" if _is_type(found[0]) else ", means")
    return Figure(spec, f"{title}\n{_WHAT}", f"{title}: estimates against the number of files drawn.")


def _points(series: Mapping[str, Sequence[SimulatedEstimate]]) -> Iterator[Row]:
    for name, every in series.items():
        for one in every:
            low, high = one.band
            said = f"{_percent(one.first)}; 90 of 100 surveys: {_percent(low)} to {_percent(high)}"
            yield {"x": one.n, "y": short(100 * one.first), "low": short(100 * low), "high": short(100 * high),
                   "series": name, "tip": f"{name}, {one.n:,} drawn: {said}; truth {_percent(one.known.truth)}",
                   }  # fmt: skip


def _percent(share: float) -> str:
    return f"{decimals(100 * share, 1)} %"


def _truths(series: Mapping[str, Sequence[SimulatedEstimate]]) -> Iterator[Row]:
    for name, every in series.items():
        for one in every:
            yield {"x": one.n, "y": short(100 * one.known.truth), "series": name}


def _scatter(found: Sequence[SimulatedEstimate], colours: Mapping[str, str], repetitions: int) -> Figure:
    """How many surveys said what, of each type; the truth is where they are around."""
    series = _series(found, colours)
    colour, x = _colour(series, colours), number("% of capacity")
    y = number("surveys", "y", zero=True)
    bars = [{"x": short(100 * low), "x2": short(100 * high), "y": many, "zero": 0, "series": name,
             "tip": f"{name}: {many} surveys between {_percent(low)} and {_percent(high)}"}
            for name, (one, *_) in series.items() for low, high, many in one.bins if many]  # fmt: skip
    truths = [{"x": short(100 * one.known.truth), "series": name, "tip": f"{name}: truth {_percent(one.known.truth)}"}
              for name, (one, *_) in series.items()]  # fmt: skip
    spec = view(
        layer(bars, "rect", {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "zero"}, "color": colour},
              opacity=0.6),
        layer(truths, "rule", {"x": x, "color": colour}, strokeDash=[4, 3], strokeWidth=1.4), **_SIZE,
    )  # fmt: skip
    title = f"{found[0].n:,} draws with replacement"
    words = f"{title}\nwhat {repetitions:,} surveys said; dashed: the truth"
    return Figure(spec, words, f"{title}: how often which estimate.")
