"""A corpus: each run by phase on a logarithmic axis, the median of systems with its interval, one's own result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.core.units import human_scale
from iosonde.core.words import counted
from iosonde.report.text import estimate_text

from .figure import Figure, together
from .vocabulary import (
    BLUE,
    INK,
    VERMILION,
    Row,
    decades,
    ends,
    interval,
    layer,
    legend,
    names,
    number,
    short,
    unique,
    view,
)

if TYPE_CHECKING:
    from iosonde.answers.corpus import Corpus
    from iosonde.stats.overview.systems import CorpusPhase

_ROW = 26  # px
_WIDE = 460
_SCALES = {"bytes/s": (1024.0**3, "GiB/s"), "operations/s": (1e3, "kop/s")}
_RUNS, _MEDIAN, _MINE = "a run", "median of systems, interval", "yours"


def figure(answer: Corpus) -> Figure:
    """A panel for each unit. Index numbers without one are not drawn: they are in the text."""
    kinds = dict.fromkeys((one.unit, one.per) for one in answer.phases if one.unit in _SCALES)
    return together([_panel([one for one in answer.phases if (one.unit, one.per) == kind], answer) for kind in kinds],
                    columns=1)  # fmt: skip


def _panel(phases: Sequence[CorpusPhase], answer: Corpus) -> Figure:
    divisor, unit = _SCALES[phases[0].unit]
    per = f" per {phases[0].per}" if phases[0].per else ""
    said = unique(one.name for one in phases)
    runs: list[Row] = []
    medians: list[Row] = []
    mine: list[Row] = []
    for one, name in zip(phases, said, strict=True):
        runs += [{"y": name, "x": short(value / divisor), "series": _RUNS, "tip": f"{system}\n{_value(value, one)}"}
                 for value, system in zip(one.values, one.names, strict=True)]  # fmt: skip
        middle = one.quantiles[0.5]
        low, high = ends(middle, divisor) or (None, None)
        if middle.value is not None:
            tip = f"{name}\nmedian of {one.systems} systems {estimate_text(middle, one.unit)}"
            medians.append({"y": name, "x": short(middle.value / divisor), "low": low, "high": high, "tip": tip,
                            "series": _MEDIAN})  # fmt: skip
        if one.placed is not None:
            mine.append({"y": name, "x": short(one.placed.value / divisor), "series": _MINE,
                         "tip": f"{name}\nyours {_value(one.placed.value, one)}"})  # fmt: skip
    reached = [value / divisor for one in phases for value in one.values]
    ticks = decades(min(reached), max(reached))
    x, y = (
        number(f"{unit}{per}", log=True, room=8, axis={"grid": True, "values": ticks}),
        names("", said, "y", {"domain": False}),
    )
    shown = [_RUNS, _MEDIAN, _MINE] if mine else [_RUNS, _MEDIAN]
    colour = legend(shown, [BLUE, INK, VERMILION][: len(shown)], offset=8)
    channels = {"x": x, "y": y, "color": colour}
    spec = view(
        layer(runs, "tick", channels, size=14, thickness=1, opacity=0.35),
        *interval(medians, y, x, across=True, cap=10, strokeWidth=2),
        layer(medians, "point", channels, filled=True, size=46, opacity=1),
        *([layer(mine, "point", channels, filled=True, size=80, shape="diamond", opacity=1)] if mine else []),
        width=_WIDE, height=max(2, len(said)) * _ROW,
    )  # fmt: skip
    of = f"{counted(answer.runs, 'run')} of {counted(answer.systems, 'system')}"
    title = f"{'Bandwidth' if divisor > 1e6 else 'Rate'}{per}: {of}"
    return Figure(spec, title, f"{title}, by phase, with the median of systems and its interval.")


def _value(value: float, one: CorpusPhase) -> str:
    divisor, unit = human_scale(value, one.unit)
    return f"{short(float(f'{value / divisor:.3g}'))} {unit}"
