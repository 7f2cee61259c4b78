"""Bars of shares and a tree as shapes for the page's SVG: places and texts, nothing is computed about the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.types import Estimate
from iosonde.core.units import significant

from .factor_content import FactorShare, Tree
from .fit_figures import shown_nodes
from .text import CANNOT_TELL, escape

BAR_WIDTH, BAR_HEIGHT = 260, 22
_LEAF_WIDTH, _ROW_HEIGHT, _BOX_WIDTH, _BOX_HEIGHT = 128, 74, 118, 36
_MOST_TEXT = 20


@dataclass(frozen=True)
class BarShapes:
    """One factor: ends of the two bars and of their intervals, and of the zero line, in the SVG's units."""

    s1: float | None
    st: float | None
    s1_ends: tuple[float, float] | None
    st_ends: tuple[float, float] | None
    zero: float | None


def bar_shapes(share: FactorShare) -> BarShapes:
    """S1 inside ST on an axis from 0 to 1."""
    return BarShapes(_x(share.s1.value), _x(share.st.value), _ends(share.s1), _ends(share.st), _x(share.zero_line))


def share_parts(estimate: Estimate) -> tuple[str, str]:
    """(value, interval) with two decimals, as ``rank`` prints them."""
    if estimate.value is None:
        return CANNOT_TELL, CANNOT_TELL
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f}", CANNOT_TELL
    return f"{estimate.value:.2f}", f"{estimate.low:.2f}–{estimate.high:.2f}"


def _x(value: float | None) -> float | None:
    return None if value is None else round(min(max(value, 0.0), 1.0) * BAR_WIDTH, 1)


def _ends(estimate: Estimate) -> tuple[float, float] | None:
    low, high = _x(estimate.low), _x(estimate.high)
    return None if low is None or high is None else (low, high)


@dataclass(frozen=True)
class Box:
    """A node: the middle of its box, two lines of text, whether it is a leaf, and the whole text of a question."""

    x: float
    y: float
    lines: tuple[str, str]
    leaf: bool
    whole: str


@dataclass(frozen=True)
class TreeShapes:
    """Boxes, and the lines between them with ``yes`` or ``no`` in their middle."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    edges: tuple[tuple[float, float, float, float, str], ...]
    cut: bool
    box: tuple[int, int] = (_BOX_WIDTH, _BOX_HEIGHT)


def tree_shapes(tree: Tree, divisor: float) -> TreeShapes:
    """The tree down to where it has 8 leaves, leaves side by side, a branch above the middle of its two."""
    shown = shown_nodes(tree.nodes)
    place: dict[int, tuple[float, float]] = {}
    leaves = [0]
    _place(tree.nodes, shown, 0, 0, leaves, place)
    edges = []
    for number in sorted(shown):
        for child, word in ((tree.nodes[number]["yes"], "yes"), (tree.nodes[number]["no"], "no")):
            (x, y), (cx, cy) = place[number], place[child]
            edges.append((x, y + _BOX_HEIGHT / 2, cx, cy - _BOX_HEIGHT / 2, word))
    boxes = tuple(_box(tree.nodes[number], number in shown, at, divisor) for number, at in place.items())
    height = max(y for _, y in place.values()) + _BOX_HEIGHT / 2 + 2
    return TreeShapes(leaves[0] * _LEAF_WIDTH, height, boxes, tuple(edges), len(place) < len(tree.nodes))


def _place(
    nodes: Sequence[Mapping[str, Any]], shown: set[int], number: int, deep: int, leaves: list[int],
    place: dict[int, tuple[float, float]],
) -> float:  # fmt: skip
    if number not in shown:
        x = (leaves[0] + 0.5) * _LEAF_WIDTH
        leaves[0] += 1
    else:
        children = (nodes[number]["yes"], nodes[number]["no"])
        x = sum(_place(nodes, shown, child, deep + 1, leaves, place) for child in children) / 2
    place[number] = (x, deep * _ROW_HEIGHT + _BOX_HEIGHT / 2 + 2)
    return x


def _box(node: Mapping[str, Any], branch: bool, at: tuple[float, float], divisor: float) -> Box:
    rows = f"{node['n']} rows"
    if "factor" not in node:
        value = significant(node["value"] / divisor)
        return Box(*at, (value, rows), True, f"{value}, {rows}")
    if not branch:
        return Box(*at, ("…", rows), True, rows)
    name = escape(str(node["factor"]))
    asked = f"= {escape(str(node['is']))}?" if "is" in node else f"≤ {node['at_most']:.7g}?"
    return Box(*at, (_cut(name), _cut(asked)), False, f"{name} {asked} ({rows})")


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"
