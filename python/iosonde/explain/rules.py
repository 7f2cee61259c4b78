"""A tree as rules: each path from the root to a leaf is a list of conditions.

Conditions on one number are merged (``64 < size <= 256``). Every instance fulfils exactly one rule.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.column_units import split_unit
from iosonde.core.level_text import format_level_word, level_to_base, levels_to_base
from iosonde.core.table import Cell, tidy_number
from iosonde.model.fit.features import Feature

from .advise_tree import Node
from .instances import Array, Instances


@dataclass(frozen=True)
class RuleCondition:
    """A rule's condition on one factor: a number in ``low < x <= high`` (None: no end), or one of ``levels``;
    ``unit``: their unit."""

    name: str
    low: float | None = None
    high: float | None = None
    levels: tuple[Cell, ...] = ()
    other: tuple[Cell, ...] = ()
    unit: str = ""

    def holds(self, value: Cell) -> bool:
        """Return whether a value fulfils it."""
        if self.levels:
            return value in self.levels
        assert isinstance(value, (int, float))
        return (self.low is None or value > self.low) and (self.high is None or value <= self.high)

    def to_base_units(self) -> dict[str, Any]:
        """Return its factor with ``levels``, or with the ends ``above`` and ``up_to``, in base units."""
        if self.levels:
            return {"factor": self.name, "levels": [level_to_base(level, self.unit) for level in self.levels]}
        return _condition_to_json(self)

    def __str__(self) -> str:
        name = _strip_unit(self.name, self.unit)
        if self.levels:
            if len(self.levels) > len(self.other) == 1:
                return f"{name} is not {format_level_word(self.other[0], self.unit)}"
            return f"{name} is {' or '.join(format_level_word(level, self.unit) for level in self.levels)}"
        low, high = (None if x is None else format_level_word(tidy_number(x), self.unit) for x in (self.low, self.high))
        if low is None:
            return f"{name} <= {high}"
        return f"{name} > {low}" if high is None else f"{low} < {name} <= {high}"


@dataclass(frozen=True)
class Rule:
    """The setting for workloads that fulfil all conditions.

    ``instances``: number of training instances; ``share``: the advised setting's mean share of the best on them;
    ``lowest``: its worst case, at ``lowest_at``. ``frequent`` are the (at most two) most frequent best choices with
    their counts; ``differ`` names the columns in which these two differ. ``units``: units of the levels.
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
    units: Mapping[str, str] = field(default_factory=dict)

    def holds(self, instance: Mapping[str, Cell]) -> bool:
        """Return whether an instance fulfils every condition."""
        return all(condition.holds(instance[condition.name]) for condition in self.conditions)

    @property
    def when(self) -> str:
        """The conditions in words; ``always`` without any."""
        return " and ".join(map(str, self.conditions)) or "always"

    @property
    def then(self) -> str:
        """``servers=2 stripe=2MiB``."""
        return " ".join(
            f"{_strip_unit(name, unit)}={format_level_word(level, unit)}"
            for name, level in zip(self.choose, self.setting, strict=True)
            for unit in (self.units.get(name, ""),)
        )

    @property
    def levels(self) -> dict[str, Cell]:
        """Return column → level to set, in base units."""
        return levels_to_base(dict(zip(self.choose, self.setting, strict=True)), self.units)

    def sentence(self) -> str:
        """``if op is write and hole <= 128: servers=2 stripe=2MiB sieving=on``."""
        return f"{'if ' if self.conditions else ''}{self.when}: {self.then}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "sentence": self.sentence(),
            "when": [_condition_to_json(c) for c in self.conditions],
            "set": dict(zip(self.choose, self.setting, strict=True)),
            "instances": self.instances,
            "share": self.share,
            "lowest": self.lowest,
            "lowest_at": self.lowest_at,
            "best_choices": [{"set": dict(zip(self.choose, s, strict=True)), "n": n} for s, n in self.frequent],
            "hamming_distance": len(self.differ),
            "differ": list(self.differ),
        }


def _strip_unit(name: str, unit: str) -> str:
    """Return the name of a column without its unit, if its levels are printed with it."""
    return split_unit(name)[0] if unit == "bytes" else name


def _condition_to_json(condition: RuleCondition) -> dict[str, Any]:
    if condition.levels:
        return {"factor": condition.name, "levels": list(condition.levels)}
    return {"factor": condition.name, "above": condition.low, "up_to": condition.high}


def build_rules(tree: Node, instances: Instances, share: Array, labels: npt.NDArray[np.intp]) -> tuple[Rule, ...]:
    """Build a rule for each leaf, in the order of the tree."""
    return tuple(
        build_rule(
            leaf,
            tuple(
                _build_condition(feature, limits[at], instances.units)
                for at, feature in enumerate(instances.features)
                if at in limits
            ),
            instances,
            share,
            labels,
        )
        for leaf, limits in _iter_leaves(tree, instances.features, {})
    )


def build_rule(
    leaf: Node,
    conditions: tuple[RuleCondition, ...],
    instances: Instances,
    share: Array,
    labels: npt.NDArray[np.intp],
) -> Rule:
    """Build the rule of a leaf. ``share`` is instances × settings, ``labels`` the best choices."""
    leaf_shares = share[leaf.rows, leaf.choice]
    frequent = Counter(labels[leaf.rows].tolist()).most_common(2)
    pair = [instances.settings[label] for label, _ in frequent]
    differ = [n for n, a, b in zip(instances.choose, *pair, strict=True) if a != b] if len(pair) == 2 else []
    return Rule(
        conditions,
        instances.settings[leaf.choice],
        instances.choose,
        len(leaf.rows),
        float(leaf_shares.mean()),
        float(leaf_shares.min()),
        instances.key(int(leaf.rows[leaf_shares.argmin()])),
        tuple((instances.settings[label], n) for label, n in frequent),
        tuple(differ),
        instances.units,
    )


# (low, high) of a number, the remaining levels of text.
_Limits = dict[int, tuple[float | None, float | None] | tuple[int, ...]]


def _iter_leaves(node: Node, features: Sequence[Feature], limits: _Limits) -> Iterator[tuple[Node, _Limits]]:
    q = node.question
    if q is None or node.yes is None or node.no is None:
        yield node, limits
        return
    if q.equal:
        remaining = limits.get(q.feature, tuple(range(len(features[q.feature].levels))))
        yes: Any = (int(q.at),)
        no: Any = tuple(level for level in remaining if level != q.at)
    else:
        low, high = limits.get(q.feature, (None, None))
        yes, no = (low, q.at), (q.at, high)
    yield from _iter_leaves(node.yes, features, {**limits, q.feature: yes})
    yield from _iter_leaves(node.no, features, {**limits, q.feature: no})


def _build_condition(feature: Feature, limit: Any, units: Mapping[str, str]) -> RuleCondition:
    unit = units.get(feature.name, "")
    if feature.numeric:
        return RuleCondition(feature.name, limit[0], limit[1], unit=unit)
    levels = [str(level) for level in feature.levels]
    inside = tuple(levels[at] for at in limit)
    return RuleCondition(
        feature.name, levels=inside, other=tuple(level for level in levels if level not in inside), unit=unit
    )
