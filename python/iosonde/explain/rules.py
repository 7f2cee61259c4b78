"""A tree as rules: each way from the root to a leaf is a list of conditions; together they say what the tree says.

Conditions on one number are drawn together (``64 < size <= 256``). Every instance fulfils exactly one rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.table import Cell, tidy
from iosonde.model.fit.features import Feature

from .advise_tree import Node

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RuleCondition:
    """What a rule asks of one factor: a number in ``low < x <= high`` (None: no end), or text of ``levels``."""

    name: str
    low: float | None = None
    high: float | None = None
    levels: tuple[str, ...] = ()
    other: tuple[str, ...] = ()

    def holds(self, value: Cell) -> bool:
        """Whether a value fulfils it."""
        if self.levels:
            return value in self.levels
        assert isinstance(value, (int, float))
        return (self.low is None or value > self.low) and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        if self.levels:
            if len(self.levels) > len(self.other) == 1:
                return f"{self.name} is not {self.other[0]}"
            return f"{self.name} is {' or '.join(self.levels)}"
        low, high = (None if x is None else str(tidy(x)) for x in (self.low, self.high))
        if low is None:
            return f"{self.name} <= {high}"
        return f"{self.name} > {low}" if high is None else f"{low} < {self.name} <= {high}"


@dataclass(frozen=True)
class Rule:
    """What to set where all conditions hold.

    ``instances`` were there to learn from; ``share`` is the advised setting's mean share of the best on them,
    ``lowest`` its worst case, at ``lowest_at``; ``frequent`` are the (at most two) most frequent best choices with
    their counts, and ``differ`` names the columns in which these two differ (their Hamming distance is its length).
    """

    conditions: tuple[RuleCondition, ...]
    setting: tuple[Cell, ...]
    choose: tuple[str, ...]
    instances: int
    share: float
    lowest: float
    lowest_at: dict[str, Cell]
    frequent: tuple[tuple[tuple[Cell, ...], int], ...]
    differ: tuple[str, ...]

    def holds(self, instance: Mapping[str, Cell]) -> bool:
        """Whether an instance fulfils every condition."""
        return all(condition.holds(instance[condition.name]) for condition in self.conditions)

    @property
    def when(self) -> str:
        """The conditions in words; ``always`` where there is none."""
        return " and ".join(map(str, self.conditions)) or "always"

    @property
    def then(self) -> str:
        """``servers=2 stripe=2M``."""
        return " ".join(f"{name}={value}" for name, value in zip(self.choose, self.setting, strict=True))

    def sentence(self) -> str:
        """``if op is write and hole <= 128: servers=2 stripe=2M sieving=on``."""
        return f"{'if ' if self.conditions else ''}{self.when}: {self.then}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "sentence": self.sentence(),
            "when": [_condition_json(c) for c in self.conditions],
            "set": dict(zip(self.choose, self.setting, strict=True)),
            "instances": self.instances, "share": self.share, "lowest": self.lowest, "lowest_at": self.lowest_at,
            "best_choices": [{"set": dict(zip(self.choose, s, strict=True)), "n": n} for s, n in self.frequent],
            "hamming_distance": len(self.differ), "differ": list(self.differ),
        }  # fmt: skip


def _condition_json(made: RuleCondition) -> dict[str, Any]:
    if made.levels:
        return {"factor": made.name, "levels": list(made.levels)}
    return {"factor": made.name, "above": made.low, "up_to": made.high}


def rules(tree: Node, features: Sequence[Feature], choose: Sequence[str], settings: Sequence[tuple[Cell, ...]],
          share: Array, labels: npt.NDArray[np.intp], keys: Sequence[dict[str, Cell]]) -> tuple[Rule, ...]:  # fmt: skip
    """One rule for each leaf, in the order of the tree. ``share`` is instances × settings, ``labels`` the best
    choices, ``keys`` the instances as people wrote them."""
    found = []
    for leaf, limits in _ways(tree, features, {}):
        held = share[leaf.rows, leaf.choice]
        frequent = Counter(labels[leaf.rows].tolist()).most_common(2)
        pair = [settings[label] for label, _ in frequent]
        differ = [n for n, a, b in zip(choose, *pair, strict=True) if a != b] if len(pair) == 2 else []
        found.append(
            Rule(tuple(_condition(feature, limits[at]) for at, feature in enumerate(features) if at in limits),
                 settings[leaf.choice], tuple(choose), len(leaf.rows), float(held.mean()), float(held.min()),
                 keys[int(leaf.rows[held.argmin()])], tuple((settings[label], n) for label, n in frequent),
                 tuple(differ))
        )  # fmt: skip
    return tuple(found)


# Of a number (low, high), of text the levels that are left.
_Limits = dict[int, tuple[float | None, float | None] | tuple[int, ...]]


def _ways(node: Node, features: Sequence[Feature], limits: _Limits) -> Iterator[tuple[Node, _Limits]]:
    q = node.question
    if q is None or node.yes is None or node.no is None:
        yield node, limits
        return
    if q.equal:
        left = limits.get(q.feature, tuple(range(len(features[q.feature].levels))))
        yes: Any = (int(q.at),)
        no: Any = tuple(level for level in left if level != q.at)
    else:
        low, high = limits.get(q.feature, (None, None))
        yes, no = (low, q.at), (q.at, high)
    yield from _ways(node.yes, features, {**limits, q.feature: yes})
    yield from _ways(node.no, features, {**limits, q.feature: no})


def _condition(feature: Feature, limit: Any) -> RuleCondition:
    if feature.numeric:
        return RuleCondition(feature.name, *limit)
    levels = [str(level) for level in feature.levels]
    inside = tuple(levels[at] for at in limit)
    return RuleCondition(feature.name, levels=inside, other=tuple(level for level in levels if level not in inside))
