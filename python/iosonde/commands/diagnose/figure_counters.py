"""Counters of a job as a figure: how many accesses had which size, and what ranks spent their time on."""

from iosonde.core.io_counters import DIRECTIONS, SIZE_BINS
from iosonde.core.units import format_rate
from iosonde.core.words import format_count
from iosonde.explain.counters.over_trials import CounterDiagnosis
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import (
    BLUE,
    SERIES,
    VERMILION,
    Row,
    Spec,
    build_legend,
    build_name_channel,
    build_number_channel,
    layer,
    short,
    view,
)

# Bins of sizes as people read them, in the order of SIZE_BINS.
_SIZES = (
    *("≤ 100 B", "≤ 1 KiB", "≤ 10 KiB", "≤ 100 KiB", "≤ 1 MiB"),
    *("≤ 4 MiB", "≤ 10 MiB", "≤ 100 MiB", "≤ 1 GiB", "> 1 GiB"),
)
_COLOURS = {"read": BLUE, "write": VERMILION, "metadata": SERIES[2]}
_TIMES = {"read": "F_READ_TIME", "write": "F_WRITE_TIME", "metadata": "F_META_TIME"}
_WIDTH, _ROW = 300, 26  # px


def draw_counters(diagnosis: CounterDiagnosis) -> Figure | None:
    """Draw the accesses by size, and the time by kind of call; None if neither was counted."""
    ranks = f" of {format_count(diagnosis.counters.ranks, 'rank')}" if diagnosis.counters.ranks else ""
    sizes, times = _list_size_rows(diagnosis), _list_time_rows(diagnosis)
    panels = [_draw_sizes(sizes)] * bool(sizes) + [_draw_times(times)] * bool(times)
    if not panels:
        return None
    spec = {"hconcat": panels, "spacing": 40, "resolve": {"scale": {"color": "independent"}}}
    return Figure(spec, "", f"Accesses{ranks} by size, and their time in reads, writes and metadata calls.")


def _list_size_rows(diagnosis: CounterDiagnosis) -> list[Row]:
    return [
        {"y": size, "x": short(count), "series": name, "tip": f"{size}: {format_count(int(count), name)}"}
        for name, word in DIRECTIONS.items()
        for size, bin_name in zip(_SIZES, SIZE_BINS, strict=True)
        if (count := diagnosis.counters.total(f"SIZE_{word}_{bin_name}"))
    ]


def _draw_sizes(rows: list[Row]) -> Spec:
    channels = {
        "x": build_number_channel("accesses", zero=True, axis={"grid": True}),
        "y": build_name_channel("", _SIZES, "y", {"domain": False}),
        "yOffset": {"field": "series", "type": "nominal"},
        "color": build_legend(list(DIRECTIONS), [_COLOURS[name] for name in DIRECTIONS]),
    }
    return view(layer(rows, "bar", channels), width=_WIDTH, height=len(_SIZES) * _ROW)


def _list_time_rows(diagnosis: CounterDiagnosis) -> list[Row]:
    times = {name: diagnosis.counters.total(counter) for name, counter in _TIMES.items()}
    return [
        {"y": name, "x": short(seconds), "series": name, "tip": f"{name}: {format_rate(seconds, 's')}"}
        for name, seconds in times.items()
        if any(times.values())
    ]


def _draw_times(rows: list[Row]) -> Spec:
    channels = {
        "x": build_number_channel("s in calls, summed over ranks", zero=True, axis={"grid": True}),
        "y": build_name_channel("", list(_TIMES), "y", {"domain": False}),
        "color": {
            "field": "series",
            "type": "nominal",
            "legend": None,
            "scale": {"domain": list(_COLOURS), "range": list(_COLOURS.values())},
        },
    }
    return view(layer(rows, "bar", channels, height={"band": 0.6}), width=_WIDTH, height=len(_TIMES) * 2 * _ROW)
