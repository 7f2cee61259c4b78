"""A cluster as its file describes it: clients, network, servers, disks, the rate of each, and the bottleneck.
The bottleneck is marked three times: by colour, by thick lines and by a word.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from iosonde.core.types import Estimate
from iosonde.core.units import format_rate
from iosonde.layout.figure import Figure
from iosonde.layout.text import escape, format_estimate, width, wrapped
from iosonde.layout.vocabulary import INK, MUTED, PAPER, VERMILION, Row, Spec, layer, view

_LINE, _FILL = "#8a8d91", "#f4f4f1"
_TITLE = 72  # columns of the title
_NAME, _FACT = 20, 27  # columns that fit in the box of a node at its font sizes
_NODE = 16.0  # width of the box of another node, units
_OTHERS = 6.5  # height of the row of other nodes, units
_ALL_OF = 4  # up to this many nodes or disks are drawn individually
_UNIT = 7.6  # px; the drawing is 100 units wide
_POINT = 1.29  # px of text for each point
_TOP, _MIDDLE, _PITCH, _LIST, _ENTRY = 62.0, 30.0, 6.0, 15.5, 9.6
_KEY = "Below each part: its maximum rate, in bytes of the application. The bound is the minimum of all."
_CLIENTS, _BAR, _SERVERS, _DISKS = (1.0, 17.0), (36.0, 42.0), (58.0, 99.0), (75.0, 97.5)
_AT = {"clients": 9.0, "client_links": 25.5, "network": 39.0, "server_links": 52.0, "servers": 66.0, "disks": 86.0}


@dataclass(frozen=True)
class Passed:
    """Maximum rate of one part by a formula, bytes/s of the application; no value if unknown."""

    name: str
    formula: str
    rate: Estimate
    limits: bool = False


@dataclass(frozen=True)
class DrawnPart:
    """A part of the path from clients to disks: its title, facts about one unit of it, and its maximum rates."""

    title: str
    facts: tuple[str, ...] = ()
    passed: tuple[Passed, ...] = ()

    @property
    def limits(self) -> bool:
        """Return whether this part is the bottleneck."""
        return any(term.limits for term in self.passed)


@dataclass(frozen=True)
class DrawnNode:
    """A box: a node, its other roles and its number of disks (None: unknown); or the other nodes of one role."""

    title: str
    fact: str = ""
    disks: int | None = 0


@dataclass(frozen=True)
class ClusterDrawing:
    """A cluster. ``parts`` has the keys clients, client_links, network, server_links, servers, disks, and metadata if
    known.
    ``clients`` and ``servers`` are the nodes to draw (None: an omission mark); ``others`` are nodes of other roles.
    """

    name: str
    sentences: tuple[str, ...]
    parts: dict[str, DrawnPart]
    clients: tuple[DrawnNode | None, ...]
    servers: tuple[DrawnNode | None, ...]
    others: tuple[DrawnNode, ...] = ()


def choose_drawn_numbers(count: int) -> tuple[int | None, ...]:
    """Return the numbers, from 1, of the items to draw: all of a few, else the first, None and the last."""
    return tuple(range(1, count + 1)) if count <= _ALL_OF else (1, None, count)


def format_amount(estimate: Estimate, unit: str) -> str:
    """Format ``110 (107–113) MiB/s``, or ``110 MiB/s`` for a value that a file states as exact."""
    if estimate.value is not None and estimate.low is None:
        return format_rate(estimate.value, unit)
    return format_estimate(estimate, unit)


@dataclass(frozen=True)
class _Look:
    """Style of a text; ``size`` in points."""

    size: float
    colour: str = INK
    bold: bool = False
    align: str = "center"
    angle: int = 0

    def to_mark_properties(self) -> Row:
        """Return the style as properties of a mark."""
        return {
            "fontSize": round(self.size * _POINT, 1),
            "color": self.colour,
            "align": self.align,
            "angle": self.angle,
            "fontWeight": 600 if self.bold else "normal",
        }


@dataclass
class _Paper:
    """Lines, boxes and texts grouped by style; each style becomes one layer."""

    lines: dict[tuple[str, float, bool], list[Row]] = field(default_factory=dict)
    boxes: dict[tuple[str, float, str, float], list[Row]] = field(default_factory=dict)
    texts: dict[_Look, list[Row]] = field(default_factory=dict)

    def line(self, start: tuple[float, float], end: tuple[float, float], limits: bool, dashed: bool = False) -> None:
        """Add a line between two points."""
        self.lines.setdefault((*_choose_edge_style(limits), dashed), []).append(
            {"x": start[0], "y": start[1], "x2": end[0], "y2": end[1]}
        )

    def box(
        self, across: tuple[float, float], y: float, height: float, limits: bool, fill: str = _FILL, corner: float = 6
    ) -> None:
        """Add a frame centred on ``y``; with ``corner`` 0 it has no outline."""
        row = {"x": across[0], "x2": across[1], "y": y - height / 2, "y2": y + height / 2}
        self.boxes.setdefault((*_choose_edge_style(limits), fill, corner), []).append(row)

    def say(self, x: float, y: float, text: str, look: _Look) -> None:
        """Add a text at a position."""
        if text:
            self.texts.setdefault(look, []).append({"x": x, "y": y, "said": escape(text)})

    def layers(self, bottom: float) -> list[Spec]:
        """Return the layers, from back to front: lines, boxes, texts."""
        x, y = (
            {
                "field": name,
                "type": "quantitative",
                "axis": None,
                "scale": {"domain": list(ends), "nice": False, "zero": False},
            }
            for name, ends in (("x", (0, 100)), ("y", (bottom, _TOP)))
        )
        at: Spec = {"x": x, "y": y}
        pair: Spec = {**at, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
        lines = [
            layer(rows, "rule", pair, color=colour, strokeWidth=thick, strokeDash=[4, 3] if dashed else [])
            for (colour, thick, dashed), rows in self.lines.items()
        ]
        boxes = [
            layer(rows, "rect", pair, stroke=colour, strokeWidth=thick if corner else 0, fill=fill, cornerRadius=corner)
            for (colour, thick, fill, corner), rows in self.boxes.items()
        ]
        layer_spec: Spec = {**at, "text": {"field": "said"}}
        texts = [
            layer(rows, "text", layer_spec, baseline="middle", limit=_UNIT * 99, **look.to_mark_properties())
            for look, rows in self.texts.items()
        ]
        return [*lines, *boxes, *texts]


def cluster_figure(item: ClusterDrawing) -> Figure:
    """Draw the cluster, as high as its longest list needs."""
    bottom, paper = (
        _compute_list_top(item) - _ENTRY * max(len(_select_column_rates(item, at)) for at in _AT) - 3,
        _Paper(),
    )
    paper.say(1, _TOP - 1.5, _truncate_text(item.name), _Look(10.5, bold=True, align="left"))
    lines = [line for sentence in item.sentences for line in wrapped(sentence, limit=112)]
    for place, line in enumerate(lines[:3]):
        paper.say(1, _TOP - 4.7 - 2.1 * place, line, _Look(8, INK if place == 0 else MUTED, align="left"))
    _draw_network(paper, item)
    _draw_clients(paper, item)
    _draw_servers(paper, item)
    _draw_others(paper, item)
    for at, x in _AT.items():
        for place, passed in enumerate(_select_column_rates(item, at)):
            _draw_passed(paper, x, _compute_list_top(item) - _ENTRY * place, passed)
    if any(part.passed for part in item.parts.values()):
        paper.say(1, bottom + 0.8, _KEY, _Look(6.5, MUTED, align="left"))
    spec = view(*paper.layers(bottom), width=round(100 * _UNIT), height=round((_TOP - bottom) * _UNIT))
    return Figure(spec, "", f"The cluster {item.name}. {' '.join(item.sentences)}")


def _compute_list_top(item: ClusterDrawing) -> float:
    """Return where the list of rates begins: below the other nodes."""
    return _LIST - (_OTHERS if item.others else 0.0)


def _select_column_rates(item: ClusterDrawing, at: str) -> list[Passed]:
    """Return the rates listed below a part; those of the metadata servers go below the network."""
    parts = [item.parts.get(at), item.parts.get("metadata") if at == "network" else None]
    return [term for part in parts if part for term in part.passed]


def _draw_clients(paper: _Paper, item: ClusterDrawing) -> None:
    part, links = item.parts["clients"], item.parts["client_links"]
    _draw_head(paper, _CLIENTS[0], part, "left")
    for node, y in _place_rows(item.clients):
        if node is None:
            _draw_dots(paper, _AT["clients"], y)
            continue
        _draw_link(paper, _CLIENTS[1], _BAR[0], y, links.limits)
        paper.box(_CLIENTS, y, 4.4, part.limits)
        _draw_name(paper, _AT["clients"], y, node)
    _draw_link_facts(paper, _AT["client_links"], links)


def _draw_servers(paper: _Paper, item: ClusterDrawing) -> None:
    part, links, disks = item.parts["servers"], item.parts["server_links"], item.parts["disks"]
    _draw_head(paper, _AT["servers"], part)
    _draw_head(paper, _AT["disks"], disks)
    for node, y in _place_rows(item.servers):
        if node is None:
            _draw_dots(paper, sum(_SERVERS) / 2, y)
            continue
        _draw_link(paper, _SERVERS[0], _BAR[1], y, links.limits)
        paper.box(_SERVERS, y, 5.0, part.limits)
        _draw_name(paper, _AT["servers"], y, node)
        _draw_disks(paper, y, node.disks, disks.limits)
    _draw_link_facts(paper, _AT["server_links"], links)


def _draw_name(paper: _Paper, x: float, y: float, node: DrawnNode) -> None:
    paper.say(x, y + (0.9 if node.fact else 0), _truncate_text(node.title, _NAME), _Look(8))
    paper.say(x, y - 1.1, _truncate_text(node.fact, _FACT), _Look(6.5, MUTED))


def _draw_others(paper: _Paper, item: ClusterDrawing) -> None:
    y, pitch = _LIST - 2.5, _NODE + 2
    for place, node in enumerate(item.others):
        x = _AT["network"] + (place - (len(item.others) - 1) / 2) * pitch
        paper.line((x, y), (_AT["network"], _MIDDLE - 9.5), False, dashed=True)
        paper.box((x - _NODE / 2, x + _NODE / 2), y, 4.4, False)
        _draw_name(paper, x, y, node)


def _draw_disks(paper: _Paper, y: float, count: int | None, limits: bool) -> None:
    if count is None:
        paper.say(_AT["disks"], y, "disks unknown", _Look(7, MUTED))
        return
    numbers, pitch = choose_drawn_numbers(count), (_DISKS[1] - _DISKS[0]) / _ALL_OF
    for place, number in enumerate(numbers):
        x = _AT["disks"] + (place - (len(numbers) - 1) / 2) * pitch
        if number is None:
            paper.say(x, y, "…", _Look(10))
            continue
        paper.box((x - 2.1, x + 2.1), y, 3.8, limits, PAPER, 5)
        paper.box((x - 2.1, x + 2.1), y + 1.2, 1.4, limits, PAPER, 5)
        paper.say(x, y - 0.6, format_drawn_number(number), _Look(6.5))


def _draw_network(paper: _Paper, item: ClusterDrawing) -> None:
    part, metadata = item.parts["network"], item.parts.get("metadata")
    paper.box(_BAR, _MIDDLE, 19.0, part.limits)
    label_lines = [part.title, *part.facts]
    for place, text in enumerate(label_lines):
        x = _AT["network"] + (place - (len(label_lines) - 1) / 2) * 2.2
        paper.say(x, _MIDDLE, text, _Look(8 if place == 0 else 7, angle=270))
    if metadata:
        paper.line((_AT["network"], _MIDDLE + 9.5), (_AT["network"], 45.0), metadata.limits, dashed=True)
        paper.box((28.0, 50.0), 48.3, 6.6, metadata.limits)
        top = 50.2 if metadata.facts else 48.3
        for place, text in enumerate([metadata.title, *metadata.facts]):
            paper.say(
                _AT["network"], top - 1.9 * place, text, _Look(8 if place == 0 else 7, INK if place == 0 else MUTED)
            )


def _draw_passed(paper: _Paper, x: float, y: float, passed: Passed) -> None:
    """Write name, formula, rate and interval; the bottleneck has a frame and the word ``limits``."""
    has_rate = passed.rate.value is not None
    rate_text = format_amount(passed.rate, "bytes/s") if has_rate else "unknown"
    value, _, rest = rate_text.partition(" (")
    interval, _, unit = rest.partition(") ")
    paper.say(x, y - 1.1, passed.name, _Look(7, MUTED))
    paper.say(x, y - 2.9, passed.formula, _Look(7, MUTED))
    paper.say(x, y - 5.0, f"{value} {unit}".rstrip(), _Look(9, INK if has_rate else MUTED, bold=has_rate))
    paper.say(x, y - 7.0, interval, _Look(7, MUTED))
    if passed.limits:
        paper.box((x - 6.3, x + 6.3), y - 4.5, 9.0, True, "transparent")
        paper.box((x - 3.2, x + 3.2), y - 9.0, 1.6, False, PAPER, 0)
        paper.say(x, y - 9.0, "limits", _Look(8, VERMILION, bold=True))


def _place_rows(nodes: Sequence[DrawnNode | None]) -> list[tuple[DrawnNode | None, float]]:
    """Return the vertical position of each node, from the top down, centred."""
    return [(node, _MIDDLE + ((len(nodes) - 1) / 2 - place) * _PITCH) for place, node in enumerate(nodes)]


def _draw_head(paper: _Paper, x: float, part: DrawnPart, align: str = "center") -> None:
    paper.say(x, 51.0, part.title, _Look(9, bold=True, align=align))
    for place, fact in enumerate(part.facts):
        paper.say(x, 49.1 - 1.8 * place, fact, _Look(7, MUTED, align=align))


def _draw_link(paper: _Paper, node: float, bar: float, y: float, limits: bool) -> None:
    paper.line((node, y), (bar, _MIDDLE + (y - _MIDDLE) * 0.8), limits)


def _draw_link_facts(paper: _Paper, x: float, part: DrawnPart) -> None:
    for place, fact in enumerate([part.title, *part.facts]):
        paper.say(x, 43.0 - 1.8 * place, fact, _Look(7, INK if place == 0 else MUTED))


def _choose_edge_style(limits: bool) -> tuple[str, float]:
    return (VERMILION, 2.6) if limits else (_LINE, 1.1)


def _draw_dots(paper: _Paper, x: float, y: float) -> None:
    paper.say(x, y, "⋮", _Look(14))


def _truncate_text(text: str, columns: int = _TITLE) -> str:
    text = escape(text)
    if width(text) <= columns:
        return text
    text = text[:columns]
    while width(text) >= columns:
        text = text[:-1]
    return text + "…"


def format_drawn_number(number: int) -> str:
    """Format ``12``; numbers from a million on with four digits."""
    return str(number) if number < 10**6 else f"{number:.4g}"
