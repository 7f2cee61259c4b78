"""A decision tree: questions above, leaves below, yes to the left; leaves of classes show the share of each class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.units import choose_common_scale, format_significant
from iosonde.layout.figure import Figure
from iosonde.layout.text import escape
from iosonde.layout.vocabulary import BLUE, INK, MUTED, PAPER, RULE, Row, Spec, layer, view

_MOST_LEAVES = 8  # a larger tree is cut: more leaves are not readable in a panel
_CHARACTERS = 19
_LEAF, _LEVEL, _BOX = 128, 74, (118, 38)  # px


@dataclass(frozen=True)
class TreeDrawing:
    """Nodes of a tree, as in a model file; values in ``unit``."""

    response: str
    nodes: Sequence[Mapping[str, Any]]
    unit: str = ""


def is_cut(nodes: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether only the top of a tree is drawn."""
    return 2 * len(select_drawn_nodes(nodes)) + 1 < len(nodes)


def tree_figure(item: TreeDrawing) -> Figure:
    """Draw the tree down to at most 8 leaves, leaves side by side, a branch centred above its children."""
    numbers, leaves = select_drawn_nodes(item.nodes), [0]
    place: dict[int, tuple[float, float]] = {}
    _place_nodes(item.nodes, numbers, 0, 0, leaves, place)
    divisor, unit = choose_common_scale([node["value"] for node in item.nodes if "value" in node], item.unit)
    names = {node["class"]: str(node.get("name", f"class {node['class']}")) for node in item.nodes if "class" in node}
    boxes = [
        _build_box(item.nodes[number], number in numbers, place[number], (divisor, unit), names) for number in place
    ]
    edges = [
        {
            "x": place[number][0],
            "y": place[number][1] + _BOX[1] / 2,
            "x2": place[child][0],
            "y2": place[child][1] - _BOX[1] / 2,
            "said": word,
        }
        for number in sorted(numbers)
        for child, word in _list_children(item.nodes[number])
    ]
    width, height = leaves[0] * _LEAF, max(y for _, y in place.values()) + _BOX[1] / 2 + 2
    spec = view(*_draw_layers(boxes, edges, (width, height)), width=width, height=round(height))
    measured = f", {unit}" if unit and not names else ""
    title = f"{item.response}: the tree" + (" (its top)" if is_cut(item.nodes) else "") + measured
    what = "the likeliest class of each leaf with the share of its rows" if names else "the mean of each leaf"
    return Figure(spec, title, f"The tree of {item.response}: questions, and {what}.")


def _draw_layers(boxes: list[Row], edges: list[Row], size: tuple[float, float]) -> list[Spec]:
    x, y = (
        {"field": name, "type": "quantitative", "axis": None, "scale": {"domain": ends, "nice": False, "zero": False}}
        for name, ends in (("x", [0, size[0]]), ("y", [size[1], 0]))
    )
    at: Spec = {"x": x, "y": y}
    words = [{"x": (e["x"] + e["x2"]) / 2, "y": (e["y"] + e["y2"]) / 2, "said": e["said"]} for e in edges]
    leaves, branches = ([box for box in boxes if box["leaf"] is leaf] for leaf in (True, False))
    lines = [
        layer(edges, "rule", {**at, "x2": {"field": "x2"}, "y2": {"field": "y2"}}, color=RULE),
        layer(words, "text", {**at, "text": {"field": "said"}}, fontSize=11, color=MUTED, stroke=PAPER, strokeWidth=0),
    ]
    frames = [
        layer(rows, "rect", at, width=_BOX[0], height=_BOX[1], cornerRadius=4, fill=PAPER, stroke=colour)
        for rows, colour in ((branches, MUTED), (leaves, BLUE))
        if rows
    ]
    texts = [
        layer(boxes, "text", {**at, "text": {"field": field}}, dy=dy, fontSize=11.5, color=INK, baseline="middle")
        for field, dy in (("first", -7), ("second", 8))
    ]
    return [*lines, *frames, *texts]


def select_drawn_nodes(nodes: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the branches to draw, level by level, up to 8 leaves."""
    drawn: set[int] = set()
    level = [0]
    while level:
        branches = [number for number in level if "factor" in nodes[number]]
        if not branches or len(drawn) + len(branches) + 1 > _MOST_LEAVES:
            break
        drawn |= set(branches)
        level = [child for number in branches for child, _ in _list_children(nodes[number])]
    return drawn


def _list_children(node: Mapping[str, Any]) -> tuple[tuple[int, str], tuple[int, str]]:
    return (node["yes"], "yes"), (node["no"], "no")


def _place_nodes(
    nodes: Sequence[Mapping[str, Any]],
    drawn: set[int],
    number: int,
    deep: int,
    leaves: list[int],
    place: dict[int, tuple[float, float]],
) -> float:
    """Place leaves side by side and branches centred above their children. Return the node's x."""
    if number not in drawn:
        x = (leaves[0] + 0.5) * _LEAF
        leaves[0] += 1
    else:
        x = (
            sum(
                _place_nodes(nodes, drawn, child, deep + 1, leaves, place) for child, _ in _list_children(nodes[number])
            )
            / 2
        )
    place[number] = (x, deep * _LEVEL + _BOX[1] / 2 + 2)
    return x


def _build_box(
    node: Mapping[str, Any], branch: bool, at: tuple[float, float], scale: tuple[float, str], names: Mapping[int, str]
) -> Row:
    rows = f"{node['n']} rows"
    if not branch and "classes" in node:
        shares = {int(number): count / node["n"] for number, count in node["classes"].items()}
        shares_text = ", ".join(
            f"{names.get(number, f'class {number}')} {100 * share:.0f} %"
            for number, share in sorted(shares.items(), key=lambda pair: -pair[1])
        )
        here = f"{100 * shares[node['class']]:.0f} % of {rows}"
        return _build_row(at, names[node["class"]], here, True, f"{shares_text} of {rows}")
    if not branch:
        value = format_significant(node["value"] / scale[0]) if "factor" not in node else "…"
        return _build_row(at, value, rows, True, f"{value} {scale[1]}, {rows}")
    name = str(node["factor"])
    question = f"= {node['is']}?" if "is" in node else f"≤ {node['at_most']:.7g}?"
    return _build_row(at, name, question, False, f"{name} {question} ({rows})")


def _build_row(at: tuple[float, float], first: str, second: str, leaf: bool, tip: str) -> Row:
    return {
        "x": at[0],
        "y": at[1],
        "first": _truncate_text(escape(first)),
        "second": _truncate_text(escape(second)),
        "leaf": leaf,
        "tip": tip,
    }


def _truncate_text(text: str) -> str:
    return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…"
