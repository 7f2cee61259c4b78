"""Figures of fitted models: predicted against observed, errors, learning curve, tree. Lays out what it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .figures import BLUE, VERMILION, panels
from .text import escape

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Array = np.ndarray[Any, np.dtype[np.float64]]

_CAPTION = 14
_MOST_LEAVES = 8  # a tree with more is drawn down to where it has so many: more cannot be read in a panel


@dataclass(frozen=True)
class Predicted:
    """Rows that the model had not seen: what it said, against what was measured."""

    response: str
    model: str
    observed: Array
    predicted: Array

    def draw(self, axes: Axes) -> None:
        """Points, and the line of no error."""
        axes.axline((0, 0), slope=1, color=VERMILION, linewidth=1)
        axes.plot(self.observed, self.predicted, "o", color=BLUE, markersize=3, alpha=0.5)
        axes.set(xlabel="observed", ylabel="predicted", title=escape(f"{self.response}: {self.model}, rows not seen"))


@dataclass(frozen=True)
class SortedRows:
    """The same rows in the order of what was measured."""

    response: str
    model: str
    observed: Array
    predicted: Array

    def draw(self, axes: Axes) -> None:
        """The observed as a line, the predicted as points about it."""
        axes.plot(self.predicted, "o", color=BLUE, markersize=2.5, alpha=0.5, label="predicted")
        axes.plot(self.observed, color=VERMILION, linewidth=1.4, label="observed")
        axes.legend(fontsize=7)
        axes.set(xlabel="rows, sorted by what was observed", ylabel=escape(self.response), title="Rows not seen")


@dataclass(frozen=True)
class Errors:
    """(error, low, high) of each model, with the noise of repeats and the mean model as lines."""

    response: str
    names: Sequence[str]
    values: Sequence[tuple[float, float | None, float | None]]
    noise: float | None
    mean: float | None

    def draw(self, axes: Axes) -> None:
        """Bars with intervals."""
        for place, (value, low, high) in enumerate(self.values):
            axes.barh(place, value, color=BLUE, alpha=0.6)
            if low is not None and high is not None:
                axes.plot([low, high], [place, place], color="black", linewidth=1.2)
        for at, name in ((self.noise, "noise of repeats"), (self.mean, "mean of everything")):
            if at is not None:
                axes.axvline(at, color=VERMILION, linewidth=1, linestyle="--" if name.startswith("mean") else "-",
                             label=name)  # fmt: skip
        if self.noise is not None or self.mean is not None:
            axes.legend(fontsize=7)
        axes.set_yticks(range(len(self.names)), [escape(name) for name in self.names])
        axes.invert_yaxis()
        axes.set(xlabel=f"mean |error|, {escape(self.response)}", title="Errors on rows not seen")


@dataclass(frozen=True)
class LearningCurve:
    """Model → (rows to learn from, error)."""

    response: str
    lines: Mapping[str, Sequence[tuple[int, float | None]]]

    def draw(self, axes: Axes) -> None:
        """A line for each model over the rows, by powers of two."""
        for name, points in self.lines.items():
            known = [(n, error) for n, error in points if error is not None]
            axes.plot([n for n, _ in known], [error for _, error in known], "o-", markersize=3, label=escape(name))
        axes.set_xscale("log", base=2)
        ticks: list[int] = []
        for n in sorted({n for points in self.lines.values() for n, _ in points}):
            if not ticks or n > 1.3 * ticks[-1]:
                ticks.append(n)
        axes.set_xticks(ticks, [str(n) for n in ticks])
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=7)
        axes.set(xlabel="rows to learn from", ylabel=f"mean |error|, {escape(self.response)}", title="Learning curve")


@dataclass(frozen=True)
class TreeDrawing:
    """A tree's nodes, as a model file has them."""

    response: str
    nodes: Sequence[Mapping[str, Any]]

    def draw(self, axes: Axes) -> None:
        """Questions above, leaves below; yes to the left."""
        shown = shown_nodes(self.nodes)
        place: dict[int, tuple[float, float]] = {}
        _place(self.nodes, shown, 0, 0, [0], place)
        small = 6
        for number, (x, y) in place.items():
            node = self.nodes[number]
            if number in shown:
                for child, word in ((node["yes"], "yes"), (node["no"], "no")):
                    cx, cy = place[child]
                    axes.plot([x, cx], [y, cy], color="0.6", linewidth=0.8, zorder=1)
                    axes.text((x + cx) / 2, (y + cy) / 2, word, fontsize=small - 1, color="0.4", ha="center")
            axes.text(x, y, _caption(node, number in shown), fontsize=small, ha="center", va="center",
                      bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": BLUE})  # fmt: skip
        axes.margins(0.12)
        axes.axis("off")
        axes.set_title(escape(f"{self.response}: the tree" + (" (its top)" if len(place) < len(self.nodes) else "")))


def shown_nodes(nodes: Sequence[Mapping[str, Any]]) -> set[int]:
    """The branches that are drawn: level by level, as long as no more than 8 leaves come of them."""
    shown: set[int] = set()
    level = [0]
    while level:
        branches = [number for number in level if "factor" in nodes[number]]
        if not branches or len(shown) + len(branches) + 1 > _MOST_LEAVES:
            break
        shown |= set(branches)
        level = [child for number in branches for child in (nodes[number]["yes"], nodes[number]["no"])]
    return shown


def _place(
    nodes: Sequence[Mapping[str, Any]], shown: set[int], number: int, deep: int, next_leaf: list[float],
    place: dict[int, tuple[float, float]],
) -> float:  # fmt: skip
    """Leaves side by side, a branch in the middle above its two. Returns the node's x."""
    if number not in shown:
        x, next_leaf[0] = next_leaf[0], next_leaf[0] + 1
    else:
        children = (nodes[number]["yes"], nodes[number]["no"])
        x = sum(_place(nodes, shown, child, deep + 1, next_leaf, place) for child in children) / 2
    place[number] = (x, -deep)
    return x


def _caption(node: Mapping[str, Any], open_branch: bool) -> str:
    if not open_branch and "factor" in node:
        lines = ["…", f"n={node['n']}"]
    elif "is" in node:
        lines = [node["factor"], f"= {node['is']}?"]
    elif "factor" in node:
        lines = [node["factor"], f"<= {node['at_most']:.7g}?"]
    else:
        lines = [f"{node['value']:.4g}", f"n={node['n']}"]
    return "\n".join(_cut(escape(line)) for line in lines)


def _cut(text: str) -> str:
    return text if len(text) <= _CAPTION else text[: _CAPTION - 1] + "…"


def fit_figure(items: Sequence[Any]) -> Figure:
    """All of them in one figure, two beside each other; a tree is wide."""
    return panels(items, lambda axes, item: item.draw(axes), columns=2, wider=1.4)
