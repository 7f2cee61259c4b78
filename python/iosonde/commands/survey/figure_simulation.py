"""Simulated surveys of a known tree: estimates against the number of draws and the truth, and their scatter."""

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.words import format_decimals
from iosonde.layout.figure import Figure, combine_figures
from iosonde.layout.vocabulary import Row, Spec, build_legend, build_number_channel, choose_colours, layer, short, view
from iosonde.survey.sampling.resampling import SimulatedEstimate

from .simulate import Simulation
from .text_more import TITLES, format_quantity_name

_MOST = 6  # lines of a panel: the number of colours
_TYPE = "type"
_WITH_REPLACEMENT = "by size, with replacement"
_SIZE = {"width": 360, "height": 240}
_WHAT = "line: one survey; band: 90 of 100; dashed: the truth"


def figure(simulation: Simulation) -> Figure:
    """Draw a panel of types and one of other shares per sampling scheme, and the scatter of the largest samples.
    The scatter is that of sampling with replacement.
    """
    every = [estimate for estimate in simulation.shares if estimate.true_number.unit == "share"]
    panels = []
    palettes = [
        _assign_colours([estimate for estimate in every if _is_type(estimate) is types]) for types in (False, True)
    ]
    for way in dict.fromkeys(estimate.way for estimate in every):
        for types in (True, False):
            if some := [estimate for estimate in every if estimate.way == way and _is_type(estimate) is types]:
                panels.append(_draw_estimates_by_draws(way, some, palettes[types]))
    if last := [estimate for estimate in every if estimate.way == _WITH_REPLACEMENT]:
        most = max(estimate.n for estimate in last)
        panels.append(
            _draw_scatter(
                [estimate for estimate in last if estimate.n == most], palettes[True], simulation.options.repetitions
            )
        )
    caption = (
        f"Estimates by {simulation.options.repetitions} surveys of {simulation.files} files, against how "
        "many are drawn."
    )
    return combine_figures(panels, columns=2, description=caption)


def _is_type(estimate: SimulatedEstimate) -> bool:
    return estimate.true_number.what == _TYPE


def _assign_colours(estimates: Sequence[SimulatedEstimate]) -> dict[str, str]:
    """Return the largest quantities, of the files or the capacity, with the colour of each in all panels."""
    names = dict.fromkeys(
        format_quantity_name(estimate)
        for estimate in sorted(estimates, key=lambda estimate: -estimate.true_number.truth)
    )
    return dict(zip(list(names)[:_MOST], choose_colours(_MOST), strict=False))


def _select_series(
    estimates: Sequence[SimulatedEstimate], colours: Mapping[str, str]
) -> dict[str, list[SimulatedEstimate]]:
    """Return the estimates that have a colour, by name, ordered by number of draws."""
    order = sorted(estimates, key=lambda item: item.n)
    mine = {name: [estimate for estimate in order if format_quantity_name(estimate) == name] for name in colours}
    return {name: some for name, some in mine.items() if some}


def _build_colour_channel(series: Mapping[str, object], colours: Mapping[str, str]) -> Spec:
    return build_legend(list(series), [colours[name] for name in series])


def _draw_estimates_by_draws(way: str, estimates: Sequence[SimulatedEstimate], colours: Mapping[str, str]) -> Figure:
    series, sizes = _select_series(estimates, colours), sorted({estimate.n for estimate in estimates})
    colour, x = (
        _build_colour_channel(series, colours),
        build_number_channel("files drawn", log=True, axis={"values": sizes}),
    )
    y = build_number_channel(
        "% of files" if estimates[0].true_number.of == "files" else "% of capacity", "y", zero=True
    )
    points, band = list(_build_points(series)), {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    spec = view(
        layer(points, "area", {"x": x, **band, "color": colour}, opacity=0.18),
        layer(points, "rule", {"x": x, **band, "color": colour}, opacity=0.5),
        layer(points, "line", {"x": x, "y": y, "color": colour}, point={"size": 22}, strokeWidth=1.6),
        layer(_build_truths(series), "line", {"x": x, "y": y, "color": colour}, strokeDash=[4, 3], strokeWidth=1.2),
        **_SIZE,
    )
    title = TITLES[way].rstrip(":") + ("" if _is_type(estimates[0]) else ", means")
    return Figure(spec, f"{title}\n{_WHAT}", f"{title}: estimates against the number of files drawn.")


def _build_points(series: Mapping[str, Sequence[SimulatedEstimate]]) -> Iterator[Row]:
    for name, every in series.items():
        for estimate in every:
            low, high = estimate.band
            tip = (
                f"{_format_percent(estimate.first)}; 90 of 100 surveys: {_format_percent(low)} to "
                f"{_format_percent(high)}"
            )
            yield {
                "x": estimate.n,
                "y": short(100 * estimate.first),
                "low": short(100 * low),
                "high": short(100 * high),
                "series": name,
                "tip": f"{name}, {estimate.n:,} drawn: {tip}; truth {_format_percent(estimate.true_number.truth)}",
            }


def _format_percent(share: float) -> str:
    return f"{format_decimals(100 * share, 1)} %"


def _build_truths(series: Mapping[str, Sequence[SimulatedEstimate]]) -> Iterator[Row]:
    for name, every in series.items():
        yield from (
            {"x": estimate.n, "y": short(100 * estimate.true_number.truth), "series": name} for estimate in every
        )


def _draw_scatter(estimates: Sequence[SimulatedEstimate], colours: Mapping[str, str], repetitions: int) -> Figure:
    """Draw a histogram of the estimates per type; dashed lines are the truths."""
    series = _select_series(estimates, colours)
    colour, x = _build_colour_channel(series, colours), build_number_channel("% of capacity")
    y = build_number_channel("surveys", "y", zero=True)
    bars = [
        {
            "x": short(100 * low),
            "x2": short(100 * high),
            "y": many,
            "zero": 0,
            "series": name,
            "tip": f"{name}: {many} surveys between {_format_percent(low)} and {_format_percent(high)}",
        }
        for name, (estimate, *_) in series.items()
        for low, high, many in estimate.bins
        if many
    ]
    truths = [
        {
            "x": short(100 * estimate.true_number.truth),
            "series": name,
            "tip": f"{name}: truth {_format_percent(estimate.true_number.truth)}",
        }
        for name, (estimate, *_) in series.items()
    ]
    spec = view(
        layer(
            bars, "rect", {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "zero"}, "color": colour}, opacity=0.6
        ),
        layer(truths, "rule", {"x": x, "color": colour}, strokeDash=[4, 3], strokeWidth=1.4),
        **_SIZE,
    )
    title = f"{estimates[0].n:,} draws with replacement"
    return Figure(
        spec, f"{title}\nestimates of {repetitions:,} surveys; dashed: the truth", f"{title}: histogram of estimates."
    )
