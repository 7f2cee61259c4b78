"""A cluster as its file describes it: clients, network, servers, disks, what each lets through, and what limits.

Lays out what it is given. The part that limits is marked three times: by colour, by thick lines, and by the word.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.core.types import Estimate
from iosonde.core.units import format_rate

from .figures import VERMILION, panels
from .text import escape, estimate_text, width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _MUTED, _LINE, _FILL = "#1c1d1f", "#5c6066", "#8a8d91", "#f4f4f1"
_TITLE = 72  # columns of text
_ALL_OF = 4  # nodes or disks that are drawn one by one
_WIDTH_IN, _PER_UNIT_IN = 8.2, 0.082  # 100 units across
_TOP, _MIDDLE, _PITCH, _LIST, _ENTRY = 62.0, 30.0, 6.0, 15.5, 9.6
_KEY = "Below each part: the most that it lets through, in bytes of the application. The least of all is the bound."
_CLIENTS, _BAR, _SERVERS, _DISKS = (1.0, 17.0), (36.0, 42.0), (58.0, 99.0), (75.0, 97.5)
_AT = {"clients": 9.0, "client_links": 25.5, "network": 39.0, "server_links": 52.0, "servers": 66.0, "disks": 86.0}


@dataclass(frozen=True)
class Passed:
    """What one part lets through by a formula, bytes/s of the application; without a value it is not known."""

    name: str
    formula: str
    rate: Estimate
    limits: bool = False


@dataclass(frozen=True)
class Part:
    """One part of the way from clients to disks: its title, facts about one of its kind, and what it lets through."""

    title: str
    facts: tuple[str, ...] = ()
    passed: tuple[Passed, ...] = ()

    @property
    def limits(self) -> bool:
        """Whether something in it is what limits."""
        return any(one.limits for one in self.passed)


@dataclass(frozen=True)
class ClusterDrawing:
    """A cluster. ``parts``: clients, client_links, network, server_links, servers, disks, and, where known, metadata.
    ``client_numbers`` and ``server_numbers`` are the nodes to draw (None: those left out), ``disks_of`` how many disks
    each drawn server has."""

    name: str
    sentences: tuple[str, ...]
    parts: dict[str, Part]
    client_numbers: tuple[int | None, ...]
    server_numbers: tuple[int | None, ...]
    disks_of: dict[int, int]


def shown(count: int) -> tuple[int | None, ...]:
    """The numbers, from 1, of what is drawn of ``count``: all of a few, else the first, None, the last."""
    return tuple(range(1, count + 1)) if count <= _ALL_OF else (1, None, count)


def amount(estimate: Estimate, unit: str) -> str:
    """``110 (107–113) MiB/s``, or ``110 MiB/s`` of what a file states as exact."""
    if estimate.value is not None and estimate.low is None:
        return format_rate(estimate.value, unit)
    return estimate_text(estimate, unit)


def cluster_figure(item: ClusterDrawing) -> Figure:
    """The drawing, as high as its longest list needs."""
    height = (_TOP - _bottom(item)) * _PER_UNIT_IN
    return panels([item], _draw, columns=1, size=(_WIDTH_IN, height))


def _bottom(item: ClusterDrawing) -> float:
    return _LIST - _ENTRY * max(len(_column(item, at)) for at in _AT) - 3


def _column(item: ClusterDrawing, at: str) -> list[Passed]:
    """What stands below a part; the metadata servers stand with the network."""
    parts = [item.parts.get(at), item.parts.get("metadata") if at == "network" else None]
    return [one for part in parts if part for one in part.passed]


def _draw(axes: Axes, item: ClusterDrawing) -> None:
    axes.set(xlim=(0, 100), ylim=(_bottom(item), _TOP))
    axes.axis("off")
    _say(axes, 1, _TOP - 1.5, _cut(escape(item.name)), 10.5, bold=True, ha="left")
    lines = [line for one in item.sentences for line in textwrap.wrap(escape(one), 112)]
    for place, line in enumerate(lines[:3]):
        _say(axes, 1, _TOP - 4.7 - 2.1 * place, line, 8, _INK if place == 0 else _MUTED, ha="left")
    _draw_network(axes, item)
    _draw_clients(axes, item)
    _draw_servers(axes, item)
    for at, x in _AT.items():
        for place, one in enumerate(_column(item, at)):
            _draw_passed(axes, x, _LIST - _ENTRY * place, one)
    if any(part.passed for part in item.parts.values()):
        _say(axes, 1, _bottom(item) + 0.8, _KEY, 6.5, _MUTED, ha="left")


def _draw_clients(axes: Axes, item: ClusterDrawing) -> None:
    part, links = item.parts["clients"], item.parts["client_links"]
    _head(axes, _CLIENTS[0], part, "left")
    for number, y in _rows(item.client_numbers):
        if number is None:
            _dots(axes, _AT["clients"], y)
            continue
        _link(axes, _CLIENTS[1], _BAR[0], y, links.limits)
        _box(axes, _CLIENTS, y, 4.4, part.limits)
        _say(axes, _AT["clients"], y, f"client {_count(number)}", 8)
    _link_facts(axes, _AT["client_links"], links)


def _draw_servers(axes: Axes, item: ClusterDrawing) -> None:
    part, links, disks = item.parts["servers"], item.parts["server_links"], item.parts["disks"]
    _head(axes, _AT["servers"], part)
    _head(axes, _AT["disks"], disks)
    for number, y in _rows(item.server_numbers):
        if number is None:
            _dots(axes, sum(_SERVERS) / 2, y)
            continue
        _link(axes, _SERVERS[0], _BAR[1], y, links.limits)
        _box(axes, _SERVERS, y, 5.0, part.limits)
        _say(axes, _AT["servers"], y, f"server {_count(number)}", 8)
        _draw_disks(axes, y, item.disks_of[number], disks.limits)
    _link_facts(axes, _AT["server_links"], links)


def _draw_disks(axes: Axes, y: float, count: int, limits: bool) -> None:
    from matplotlib.patches import Ellipse, Rectangle

    numbers, pitch = shown(count), (_DISKS[1] - _DISKS[0]) / _ALL_OF
    edge, thick = _edge(limits)
    for place, number in enumerate(numbers):
        x = _AT["disks"] + (place - (len(numbers) - 1) / 2) * pitch
        if number is None:
            _say(axes, x, y, "…", 10)
            continue
        axes.add_patch(Ellipse((x, y - 1.2), 4.2, 1.4, facecolor="white", edgecolor=edge, linewidth=thick))
        axes.add_patch(Rectangle((x - 2.1, y - 1.2), 4.2, 2.4, facecolor="white", edgecolor="none"))
        for side in (x - 2.1, x + 2.1):
            axes.plot([side] * 2, [y - 1.2, y + 1.2], color=edge, linewidth=thick)
        axes.add_patch(Ellipse((x, y + 1.2), 4.2, 1.4, facecolor="white", edgecolor=edge, linewidth=thick))
        _say(axes, x, y - 0.5, _count(number), 6.5)


def _draw_network(axes: Axes, item: ClusterDrawing) -> None:
    part, metadata = item.parts["network"], item.parts.get("metadata")
    _box(axes, _BAR, _MIDDLE, 19.0, part.limits)
    said = [part.title, *part.facts]
    for place, text in enumerate(said):
        x = _AT["network"] + (place - (len(said) - 1) / 2) * 2.2
        _say(axes, x, _MIDDLE, text, 8 if place == 0 else 7, rotation=90)
    if metadata:
        edge, thick = _edge(metadata.limits)
        axes.plot([_AT["network"]] * 2, [_MIDDLE + 9.5, 45.0], "--", color=edge, linewidth=thick, zorder=0.5)
        _box(axes, (28.0, 50.0), 48.3, 6.6, metadata.limits)
        for place, text in enumerate([metadata.title, *metadata.facts]):
            _say(axes, _AT["network"], 50.2 - 1.9 * place, text, 8 if place == 0 else 7, _INK if place == 0 else _MUTED)


def _draw_passed(axes: Axes, x: float, y: float, one: Passed) -> None:
    """Name and formula, rate, interval; in a frame, with the word, where it limits."""
    known = one.rate.value is not None
    whole = amount(one.rate, "bytes/s") if known else "not known"
    value, _, rest = whole.partition(" (")
    interval, _, unit = rest.partition(") ")
    _say(axes, x, y - 1.1, one.name, 7, _MUTED)
    _say(axes, x, y - 2.9, one.formula, 7, _MUTED)
    _say(axes, x, y - 5.0, f"{value} {unit}".rstrip(), 9, _INK if known else _MUTED, bold=known)
    if interval:
        _say(axes, x, y - 7.0, interval, 7, _MUTED)
    if one.limits:
        _box(axes, (x - 6.3, x + 6.3), y - 4.5, 9.0, True, fill="none")
        axes.text(x, y - 9.0, "limits", ha="center", va="center", fontsize=8, fontweight="bold", color=VERMILION,
                  in_layout=False, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0})  # fmt: skip


def _rows(numbers: Sequence[int | None]) -> list[tuple[int | None, float]]:
    """Where each is drawn, from the top down, around the middle."""
    return [(number, _MIDDLE + ((len(numbers) - 1) / 2 - place) * _PITCH) for place, number in enumerate(numbers)]


def _head(axes: Axes, x: float, part: Part, ha: str = "center") -> None:
    _say(axes, x, 51.0, part.title, 9, bold=True, ha=ha)
    for place, fact in enumerate(part.facts):
        _say(axes, x, 49.1 - 1.8 * place, fact, 7, _MUTED, ha=ha)


def _link(axes: Axes, node: float, bar: float, y: float, limits: bool) -> None:
    edge, thick = _edge(limits)
    axes.plot([node, bar], [y, _MIDDLE + (y - _MIDDLE) * 0.8], color=edge, linewidth=thick, zorder=0.5)


def _link_facts(axes: Axes, x: float, part: Part) -> None:
    for place, fact in enumerate([part.title, *part.facts]):
        _say(axes, x, 43.0 - 1.8 * place, fact, 7, _INK if place == 0 else _MUTED)


def _box(axes: Axes, across: tuple[float, float], y: float, height: float, limits: bool, fill: str = _FILL) -> None:
    from matplotlib.patches import FancyBboxPatch

    (edge, thick), (left, right) = _edge(limits), across
    shape = "round,pad=0,rounding_size=0.8"
    axes.add_patch(FancyBboxPatch((left, y - height / 2), right - left, height, boxstyle=shape, facecolor=fill,
                                  edgecolor=edge, linewidth=thick))  # fmt: skip


def _edge(limits: bool) -> tuple[str, float]:
    return (VERMILION, 2.2) if limits else (_LINE, 0.9)


def _dots(axes: Axes, x: float, y: float) -> None:
    _say(axes, x, y, "⋮", 14)


def _cut(text: str) -> str:
    """No longer than the title's line."""
    if width(text) <= _TITLE:
        return text
    text = text[:_TITLE]
    while width(text) >= _TITLE:
        text = text[:-1]
    return text + "…"


def _count(number: int) -> str:
    return str(number) if number < 10**6 else f"{number:.4g}"


def _say(axes: Axes, x: float, y: float, text: str, size: float, colour: str = _INK, bold: bool = False,
         ha: str = "center", rotation: float = 0) -> None:  # fmt: skip
    axes.text(x, y, escape(text), ha=ha, va="center", fontsize=size, color=colour, rotation=rotation,
              fontweight="bold" if bold else "normal", in_layout=False)  # fmt: skip
