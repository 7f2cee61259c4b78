"""The setting to choose for each workload, and its reliable gain.

Advice requires a gain, measured on data that did not choose it (``advise_gain``), whose interval excludes zero.
Otherwise ``advise_needs`` says what to measure.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.core.column_units import split_unit
from iosonde.core.errors import InputError
from iosonde.core.level_text import is_same_level
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric, is_speed
from iosonde.core.table import Cell, Table
from iosonde.core.types import Estimate

from .advise_cases import Case, build_case_rules, compare_cases, has_setting_effect, select_equal_settings
from .advise_defaults import (
    Default,
    build_defaults,
    compute_shares_of_best,
    find_best_default_by_criterion,
    get_best_values,
)
from .advise_effects import Effect, estimate_setting_effects
from .advise_gain import (
    Crossed,
    Learner,
    cross_validate_choice,
    grow_full_tree,
    mark_settings_tied_with_best,
    pick_depth,
    select_best_setting_by_instance,
)
from .advise_intervals import (
    bound_instance_share,
    bound_repeat_share,
    cut_share_to_range,
    estimate_absolute_gain,
    estimate_ratio_gain,
    estimate_share_gain,
    find_best_settings,
    to_one_hot,
)
from .advise_needs import Needs, compute_deciding_needs
from .advise_parts import FEW, estimate_grouped_mean, needs_split_by_repeat, to_geometric_mean
from .advise_tree import choose_settings_by_tree
from .advise_tree import cut_tree as pruned
from .instances import Instances, Rows, build_instances
from .rules import Rule, build_rules

# Kinds of advice: rules by workload, a default for all, or nothing.
RULES, DEFAULT, NOTHING = "rules", "default", "nothing"


@dataclass(frozen=True)
class Depth:
    """A tree with at most ``depth`` questions on a path (0: the best default).

    ``loss`` is its distance from the best possible, as a share of it, on the training instances; ``crossed`` the same
    on others; ``lowest`` its worst case (a share of the best).
    """

    depth: int
    loss: float
    crossed: Estimate | None
    lowest: float


@dataclass(frozen=True)
class Gain:
    """Gain of the advice in cross-validation.

    ``share`` is the increase of the share of the best possible, over ``over`` (the best default, or the setting in
    use). ``ratio`` is the geometric mean of its speed over that one's, ``absolute`` the difference in the response's
    unit (for a time: saved). Over the setting in use the level is that of as many intervals as there are settings, for
    the choice among them. ``advised`` and ``reference`` are the two shares, ``possible`` that of choosing for every
    instance alone (None without repeats). ``lowest`` and ``reference_lowest`` are the two worst cases, a share of the
    best. ``logs`` are the log ratios of the instances, each held out (empty if impossible).
    """

    over: str
    share: Estimate
    ratio: Estimate
    absolute: Estimate
    advised: Estimate
    reference: Estimate
    possible: Estimate | None
    lowest: float
    reference_lowest: float
    logs: tuple[float, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the Estimate of the share, and the others by name."""
        parts = {
            "ratio": self.ratio,
            "absolute": self.absolute,
            "advised": self.advised,
            "reference": self.reference,
            "possible": self.possible,
        }
        return {
            **self.share.to_json(),
            "over": self.over,
            "lowest": self.lowest,
            "reference_lowest": self.reference_lowest,
            **{name: None if e is None else e.to_json() for name, e in parts.items()},
        }


@dataclass(frozen=True)
class Advice:
    """The table of defaults, trees by depth, the advice, and its gain.

    ``equal_defaults`` are not significantly worse than the best default. ``over_random`` is what the best default adds
    to the share of the best over the mean of all settings; ``depth`` is where the tree stops. ``cases`` are few
    instances, each compared by itself.
    """

    instances: Instances
    level: float
    defaults: tuple[Default, ...]
    winners: dict[str, str]
    best_default: str
    equal_defaults: tuple[str, ...]
    effects: tuple[Effect, ...]
    depths: tuple[Depth, ...]
    depth: int
    kind: str
    rules: tuple[Rule, ...]
    gain: Gain | None
    over_random: Estimate | None
    needs: Needs | None
    current: str | None
    warnings: tuple[str, ...]
    cases: tuple[Case, ...] = ()

    @property
    def criteria_agree(self) -> bool:
        """True if every criterion selects the same default."""
        return len(set(self.winners.values())) == 1

    @property
    def gain_name(self) -> str:
        """Return ``times as fast`` for a rate or a time, ``times as good`` for other metrics."""
        is_fast = is_speed(build_metric(self.instances.response, self.instances.unit))
        return "times as fast" if is_fast else "times as good"

    @property
    def exceptions(self) -> tuple[str, tuple[Rule, ...]]:
        """Return the setting of several rules, and the rules with another one; '' and all rules if each has its own."""
        usual, n = Counter(rule.then for rule in self.rules).most_common(1)[0]
        return (usual, tuple(rule for rule in self.rules if rule.then != usual)) if n > 1 else ("", self.rules)

    def find_rule_for(self, instance: Mapping[str, Cell]) -> Rule | None:
        """Return the rule that an instance fulfils; None without advice."""
        return next((rule for rule in self.rules if rule.holds(instance)), None)

    def find_case(self, instance: Mapping[str, Cell]) -> Case | None:
        """Return the case that is this instance; None where cases were not compared by themselves."""
        return next((case for case in self.cases if case.instance == instance), None)

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        instances = self.instances
        return {
            "response": instances.response,
            "unit": instances.unit,
            "better": "lower" if instances.lower else "higher",
            "choose": list(instances.choose),
            "given": [f.name for f in instances.features],
            "level": self.level,
            "instances": len(instances),
            "incomplete": instances.incomplete,
            "settings": len(instances.settings),
            "repeats": int(instances.trials.min()),
            "best_mean": float(get_best_values(instances.values, instances.lower).mean()),
            "defaults": [d.to_json() for d in self.defaults],
            "best_by": self.winners,
            "criteria_agree": self.criteria_agree,
            "best_default": self.best_default,
            "equal_defaults": list(self.equal_defaults),
            "effects": [e.to_json() for e in self.effects],
            "depths": [_depth_to_json(d) for d in self.depths],
            "depth": self.depth,
            "advised": self.kind,
            "rules": [r.to_json() for r in self.rules],
            "cases": [c.to_json() for c in self.cases],
            "gain": None if self.gain is None else self.gain.to_json(),
            "over_random": None if self.over_random is None else self.over_random.to_json(),
            "needs": None if self.needs is None else self.needs.to_json(),
            "warnings": list(self.warnings),
        }


def _depth_to_json(depth: Depth) -> dict[str, Any]:
    crossed = None if depth.crossed is None else depth.crossed.to_json()
    return {"depth": depth.depth, "loss": depth.loss, "crossed": crossed, "lowest": depth.lowest}


@dataclass(frozen=True)
class Wish:
    """Options of the advice. ``unit`` is the response's, if not that of its column; ``lower``: less of it is better.

    ``depth`` is the most questions on a path; ``full`` asks them all instead of stopping by cross-validation. ``weigh``
    weights instances by the loss of a wrong choice. ``current`` is the setting in use, the reference of the gain.
    """

    unit: str | None = None
    lower: bool = False
    depth: int = 5
    full: bool = False
    weigh: bool = True
    current: Mapping[str, str] | None = None


def advise_settings(
    table: Table,
    response: str,
    choose: Sequence[str],
    feature_columns: Sequence[str] = (),
    level: float = 0.95,
    wish: Wish = Wish(),
) -> Advice:
    """Compute the advice from the trials of a table. Raises InputError, DataError."""
    instances = build_instances(table, response, choose, feature_columns, wish.lower)
    instances = instances if wish.unit is None else replace(instances, unit=wish.unit)
    now = None if wish.current is None else _find_setting(instances, wish.current)
    few = needs_split_by_repeat(instances)
    learner = Learner(wish.depth if instances.features and not few else 0, wish.weigh, wish.full)
    values, rows = instances.values, np.arange(len(instances))
    share = compute_shares_of_best(values, instances.lower)
    tops, best = select_best_setting_by_instance(share), int(share.mean(axis=0).argmax())
    cases = compare_cases(instances, tops, level) if few and instances.slots > 1 else None
    ties = mark_settings_tied_with_best(instances, level) if cases is None else cases.ties
    table_of = build_defaults(values, instances.names, instances.lower, ties if instances.slots > 1 else None)
    tree, stop = grow_full_tree(instances, values, rows, learner), pick_depth(instances, values, rows, learner)
    crossed = cross_validate_choice(instances, learner, best, now)
    random = None if crossed is None else _estimate_gain_over_random(instances, crossed, best, level)
    equal = _select_equal_defaults(instances, share, best, level)
    by_case = None if cases is None else cases.choose_settings(best, wish.depth)
    at = {
        "advice": choose_settings_by_tree(tree, instances.x, stop),
        "default": np.full(len(instances), best),
        "possible": find_best_settings(instances),
        **({} if by_case is None else {"cases": by_case}),
        **({} if now is None else {"current": np.full(len(instances), now)}),
    }
    kind, gain = NOTHING, None
    if crossed is not None:
        kind, gain = _decide_advice(instances, crossed, random, at, level)
        if few and kind == DEFAULT:
            differs = instances.names[now] not in equal if now is not None else has_setting_effect(instances, level)
            kind = DEFAULT if differs else NOTHING
    rules: tuple[Rule, ...] = ()
    if kind == RULES and by_case is not None:
        rules = build_case_rules(instances, by_case, tops)
    elif kind != NOTHING:
        rules = build_rules(pruned(tree, stop if kind == RULES else 0), instances, share, tops)
    tried = _label_gains(instances, gain, random, now)
    return Advice(
        instances,
        level,
        table_of,
        find_best_default_by_criterion(table_of, instances.lower),
        instances.names[best],
        equal,
        estimate_setting_effects(instances, level),
        tuple(
            _build_depth(share, crossed, d, choose_settings_by_tree(tree, instances.x, d), level)
            for d in range(learner.depth + 1)
        ),
        stop,
        kind,
        rules,
        gain,
        random,
        None if kind == RULES else compute_deciding_needs(instances, tried, ties, level),
        None if now is None else instances.names[now],
        (*instances.warnings, *_list_warnings(instances, wish.full)),
        () if cases is None else cases.list_cases(),
    )


def _decide_advice(
    instances: Instances, crossed: Crossed, random: Estimate | None, at: Mapping[str, Rows], level: float
) -> tuple[str, Gain | None]:
    """Decide what to advise, and its gain: over the setting in use, or without one the rules' gain over the best
    default.

    ``at``: name of a choice → its setting for each instance."""
    learned = "cases" if "cases" in at else "advice"
    rules_gain = _estimate_gain(instances, crossed, (learned, "default"), at, level)
    worth = _is_positive(rules_gain.share) and bool((at[learned] != at["default"]).any())
    if "current" not in at:
        return (RULES if worth else DEFAULT if _is_positive(random) else NOTHING), rules_gain
    # The best of several settings was chosen to beat the one in use.
    what = learned if worth else "default"
    over = _estimate_gain(instances, crossed, (what, "current"), at, _compute_joint_level(instances, level))
    if not _is_positive(over.share) or (what == "default" and at["default"][0] == at["current"][0]):
        return NOTHING, over
    return (RULES if worth else DEFAULT), over


def _label_gains(
    instances: Instances, gain: Gain | None, random: Estimate | None, now: int | None
) -> dict[str, Estimate]:
    if gain is None or random is None:
        return {}
    over = instances.format_setting(gain.over)
    if now is not None:
        return {f"over {over}": gain.share}
    return {f"rules over {over}": gain.share, f"{over} over a setting at random": random}


def _is_positive(estimate: Estimate | None) -> bool:
    return estimate is not None and estimate.low is not None and estimate.low > 0


def _find_setting(instances: Instances, current: Mapping[str, str]) -> int:
    current = {
        next((name for name in instances.choose if column in (name, split_unit(name)[0])), column): level
        for column, level in current.items()
    }
    missing = [name for name in instances.choose if name not in current]
    if missing or len(current) > len(instances.choose):
        example = f"{instances.choose[0]}={instances.settings[0][0]}"
        raise InputError(
            "incomplete-setting",
            "the setting in use is not one value for each chosen column",
            "name {columns}, as {spell.current:{example}}",
            columns=", ".join(instances.choose),
            example=example,
        )
    text = tuple(str(current[name]) for name in instances.choose)
    for at, setting in enumerate(instances.settings):
        if tuple(map(str, setting)) == text or all(map(is_same_level, setting, text)):
            return at
    for copy, first in instances.renamed:
        if tuple(map(str, copy)) == text:
            return instances.settings.index(first)
    raise InputError(
        "unmeasured-setting",
        "the setting in use, {setting}, was never measured",
        "measured settings: {settings}",
        setting="/".join(text),
        settings=", ".join(instances.names),
    )


def _estimate_gain(
    instances: Instances, crossed: Crossed, pair: tuple[str, str], at: Mapping[str, Rows], level: float
) -> Gain:
    """Estimate the gain of the first of the ``pair`` over the second. ``at``: name of a choice → its setting for each
    instance."""
    what, over = pair
    if what == "cases":
        return _estimate_gain_of_cases(instances, crossed, at[what], at[over], level)
    sign = -1.0 if instances.lower else 1.0
    logs = sign * (crossed.logs[what] - crossed.logs[over])
    absolute = sign * (crossed.values[what] - crossed.values[over])
    mean = crossed.mean
    gains = crossed.gain(what, over, level), mean(logs, level), mean(absolute, level)
    if crossed.by_repeat and what == "default":
        sides = at[what], at[over]
        gains = (
            estimate_share_gain(instances, sides[0], to_one_hot(instances, sides[1]), level, gains[0]),
            estimate_ratio_gain(instances, *sides, level, gains[1]),
            estimate_absolute_gain(instances, *sides, level, gains[2]),
        )
    return Gain(
        instances.names[at[over][0]],
        gains[0],
        to_geometric_mean(gains[1]),
        gains[2],
        _estimate_share(instances, crossed, at, what, level),
        _estimate_share(instances, crossed, at, over, level),
        _estimate_share(instances, crossed, at, "possible", level) if "possible" in crossed.share else None,
        crossed.lowest[what],
        crossed.lowest[over],
        () if crossed.by_repeat else tuple(logs.tolist()),
    )


def _estimate_share(
    instances: Instances, crossed: Crossed, at: Mapping[str, Rows], name: str, level: float
) -> Estimate:
    """Estimate the share of the best that a choice reaches on data that did not choose it."""
    estimate = crossed.mean(crossed.share[name], level)
    return (
        bound_repeat_share(instances, at[name], estimate)
        if crossed.by_repeat
        else bound_instance_share(estimate, crossed.share[name])
    )


def _estimate_gain_of_cases(instances: Instances, crossed: Crossed, chosen: Rows, over: Rows, level: float) -> Gain:
    """Estimate the gain of these very settings, one an instance, on all trials.

    The trials chose which instances leave the default: each interval therefore has the level of as many intervals as
    were compared (Bonferroni), and holds for any such choice of few instances."""
    comparisons = len(instances) * (len(instances.settings) - 1)
    joint = 1 - (1 - level) / comparisons
    share, rows = compute_shares_of_best(instances.values, instances.lower), np.arange(len(instances))

    def bound_mean_share(settings: Rows) -> Estimate:
        mean = Estimate(float(share[rows, settings].mean()), None, None, level, int(instances.trials.sum()))
        return bound_repeat_share(instances, settings, mean)

    gains = [
        replace(estimate, level=level)
        for estimate in (
            estimate_share_gain(instances, chosen, to_one_hot(instances, over), joint),
            estimate_ratio_gain(instances, chosen, over, joint),
            estimate_absolute_gain(instances, chosen, over, joint),
        )
    ]
    return Gain(
        instances.names[over[0]],
        gains[0],
        to_geometric_mean(gains[1]),
        gains[2],
        bound_mean_share(chosen),
        bound_mean_share(over),
        _estimate_share(instances, crossed, {"possible": find_best_settings(instances)}, "possible", level)
        if "possible" in crossed.share
        else None,
        float(share[rows, chosen].min()),
        float(share[rows, over].min()),
    )


def _estimate_gain_over_random(instances: Instances, crossed: Crossed, best: int, level: float) -> Estimate:
    """Estimate what the best default adds to the share of the best over the mean of all settings."""
    level = _compute_joint_level(instances, level)
    gain = crossed.gain("chosen", "random", level)
    if not crossed.by_repeat:
        return gain
    even = np.full(instances.values.shape, 1 / len(instances.settings))
    return estimate_share_gain(instances, np.full(len(instances), best), even, level, gain)


def _compute_joint_level(instances: Instances, level: float) -> float:
    """Return the level of each interval of a best setting's gain, so that all hold together at ``level``.

    Cross-fitting removes the bias of the best of k settings, not its variance. A setting that is best by luck in all
    repeats is chosen, and lucky, in every fold. Each of the k may be the best, but none is advised for being worse:
    half of k errors, at most the level's own where each has 1 ÷ (k - 1) of it.
    """
    return 1 - (1 - level) / (len(instances.settings) - 1)


def _select_equal_defaults(instances: Instances, share: Any, best: int, level: float) -> tuple[str, ...]:
    """Select the defaults not significantly worse than the best: paired over instances, Bonferroni (Hsu 1984); of few
    instances as ``compare`` says."""
    if needs_split_by_repeat(instances):
        return select_equal_settings(instances, best, level)
    others = [at for at in range(share.shape[1]) if at != best]
    wide = 1 - (1 - level) / len(others)
    differences = [(at, estimate_grouped_mean(share[:, best] - share[:, at], wide, instances.group)) for at in others]
    return tuple(instances.names[at] for at, e in differences if e.low is not None and e.low <= 0)


def _build_depth(share: Any, crossed: Crossed | None, depth: int, advised: Any, level: float) -> Depth:
    advised_shares = share[np.arange(len(share)), advised]
    estimate = None
    if crossed is not None:
        values = crossed.share.get("possible", 1.0) - crossed.by_depth[:, depth]
        lost = crossed.mean(values, level)
        estimate = cut_share_to_range(lost) if crossed.by_repeat else bound_instance_share(lost, values)
    return Depth(depth, float(1 - advised_shares.mean()), estimate, float(advised_shares.min()))


def _list_warnings(instances: Instances, full: bool) -> list[str]:
    messages: list[str] = []
    if instances.incomplete:
        messages.append(
            Message(
                "missing-settings",
                "{n} of {n_instances} workloads lack a setting and are not used",
                n=instances.incomplete,
                n_instances=instances.incomplete + len(instances),
            )
        )
    if instances.slots < 2:
        messages.append(
            Message(
                "single-trial",
                "a cell has one trial: the gain comes from cross-validation over workloads only, the best possible is "
                "overestimated by the noise, and ties are not detected; measure each cell "
                + ("three times" if needs_split_by_repeat(instances) else "twice")
                + " or more",
            )
        )
    if needs_split_by_repeat(instances):
        messages.append(
            Message(
                "few-instances",
                "fewer than {few} workloads: rules and gains hold for these alone"
                + (", and {spell.full} changes nothing" if full else ""),
                few=FEW,
            )
        )
    return messages
