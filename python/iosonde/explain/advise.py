"""Which setting to choose for which workload, and what that gains for sure.

Nothing is advised whose gain, measured where it was not chosen (``advise_gain``), has an interval that holds zero.
Then it says what would settle it (``advise_needs``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.column_units import split_unit
from iosonde.core.errors import InputError
from iosonde.core.level_text import same_level
from iosonde.core.message import Message
from iosonde.core.table import Cell, Table
from iosonde.core.types import Estimate

from .advise_defaults import Default, best_of, defaults, shares, winners
from .advise_effects import Effect, effects
from .advise_gain import Crossed, Learner, cross_fit, labels, learn, pick_depth, tied
from .advise_needs import Needs, needs
from .advise_noise import absolute_gain, one_hot, ratio_gain, share_gain
from .advise_parts import FEW, by_repeat, geometric, mean_estimate
from .advise_shares import best_settings, cut, of_instances, of_repeats
from .advise_tree import choices
from .advise_tree import cut as pruned
from .instances import Instances, instances
from .rules import Rule, rules

Rows = npt.NDArray[np.intp]

# What is advised: rules by workload, one default for all, or nothing.
RULES, DEFAULT, NOTHING = "rules", "default", "nothing"


@dataclass(frozen=True)
class Depth:
    """A tree with at most so many questions on a way (0: the best default).

    ``loss`` is what it falls short of the best possible, as a share of it, on the instances it was learned from;
    ``crossed`` the same where it was not; ``lowest`` its worst case (a share of the best).
    """

    depth: int
    loss: float
    crossed: Estimate | None
    lowest: float


@dataclass(frozen=True)
class Gain:
    """What advice brings, in cross-validation.

    ``share`` is what it adds to the share of the best possible, over ``over`` (the best default, or the setting in
    use); ``ratio`` the geometric mean of its speed over that one's, ``absolute`` the difference in the response's
    unit (for a time: saved). Over the setting in use the level is that of as many intervals as there are settings,
    for the choice among them. ``advised`` and ``reference`` are the two shares, ``possible`` what choosing for every
    instance alone would give (None without repeats).
    ``lowest`` and ``reference_lowest`` are the two worst cases, a share of the best.
    ``logs`` are the log ratios of the instances, each held out (empty where none could be).
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
        """The Estimate of the share, and the others beside it."""
        parts = {"ratio": self.ratio, "absolute": self.absolute, "advised": self.advised, "reference": self.reference,
                 "possible": self.possible}  # fmt: skip
        return {**self.share.to_json(), "over": self.over, "lowest": self.lowest,
                "reference_lowest": self.reference_lowest,
                **{name: None if e is None else e.to_json() for name, e in parts.items()}}  # fmt: skip


@dataclass(frozen=True)
class Advice:
    """Everything: the table of defaults, trees by depth, what is advised, and its gain.

    ``equal_defaults`` cannot be told from the best default; ``over_random`` is what the best default adds to the
    share of the best over the mean of all settings; ``depth`` is where the tree stops.
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

    @property
    def criteria_agree(self) -> bool:
        """Whether every criterion names the same default."""
        return len(set(self.winners.values())) == 1

    def rule_for(self, instance: Mapping[str, Cell]) -> Rule | None:
        """The rule that an instance fulfils; None where nothing is advised."""
        return next((rule for rule in self.rules if rule.holds(instance)), None)

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        made = self.instances
        return {
            "response": made.response, "unit": made.unit, "better": "lower" if made.lower else "higher",
            "choose": list(made.choose), "given": [f.name for f in made.features], "level": self.level,
            "instances": len(made), "incomplete": made.incomplete, "settings": len(made.settings),
            "repeats": int(made.trials.min()), "best_mean": float(_best(made)),
            "defaults": [d.to_json() for d in self.defaults], "best_by": self.winners,
            "criteria_agree": self.criteria_agree, "best_default": self.best_default,
            "equal_defaults": list(self.equal_defaults), "effects": [e.to_json() for e in self.effects],
            "depths": [_depth_json(d) for d in self.depths],
            "depth": self.depth, "advised": self.kind, "rules": [r.to_json() for r in self.rules],
            "gain": None if self.gain is None else self.gain.to_json(),
            "over_random": None if self.over_random is None else self.over_random.to_json(),
            "needs": None if self.needs is None else self.needs.to_json(), "warnings": list(self.warnings),
        }  # fmt: skip


def _best(made: Instances) -> float:
    return float(best_of(made.values, made.lower).mean())


def _depth_json(made: Depth) -> dict[str, Any]:
    crossed = None if made.crossed is None else made.crossed.to_json()
    return {"depth": made.depth, "loss": made.loss, "crossed": crossed, "lowest": made.lowest}


@dataclass(frozen=True)
class Wish:
    """How advice is sought. ``unit`` is the response's, if not that of its column; ``lower``: less of it is better.

    ``depth`` is the most questions on a way; ``full`` asks them all instead of stopping where cross-validation says.
    ``weigh`` lets instances count by what choosing wrong loses there. ``current`` is the setting in use, which the
    gain is then over.
    """

    unit: str | None = None
    lower: bool = False
    depth: int = 5
    full: bool = False
    weigh: bool = True
    current: Mapping[str, str] | None = None


def advise(
    table: Table, response: str, choose: Sequence[str], given: Sequence[str] = (), level: float = 0.95,
    wish: Wish = Wish(),
) -> Advice:  # fmt: skip
    """Advice from the trials of a table. Raises InputError, DataError."""
    lower = wish.lower
    made = instances(table, response, choose, given, lower)
    made = made if wish.unit is None else replace(made, unit=wish.unit)
    now = None if wish.current is None else _setting(made, wish.current)
    learner = Learner(wish.depth if made.features else 0, wish.weigh, wish.full)
    values, rows = made.values, np.arange(len(made))
    share, ties = shares(values, made.lower), tied(made, level)
    table_of = defaults(values, made.names, lower, ties if made.slots > 1 else None)
    tree = learn(made, values, rows, learner)
    stop, best = pick_depth(made, values, rows, learner), int(share.mean(axis=0).argmax())
    crossed = cross_fit(made, learner, best, now)
    random = None if crossed is None else _over_random(made, crossed, best, _wide(made, level))
    at = {"advice": choices(tree, made.x, stop), "default": np.full(len(made), best), "possible": best_settings(made)}
    at |= {} if now is None else {"current": np.full(len(made), now)}
    kind, gain = (NOTHING, None) if crossed is None else _decide(made, crossed, random, at, level)
    tried = _tried(made, gain, random, now)
    advised = pruned(tree, stop if kind == RULES else 0)
    return Advice(
        made, level, table_of, winners(table_of, lower), made.names[best], _equal(made, share, best, level),
        effects(made, level),
        tuple(_depth(share, crossed, d, choices(tree, made.x, d), level) for d in range(learner.depth + 1)), stop, kind,
        () if kind == NOTHING
        else rules(advised, made, share, labels(share)),
        gain, random, None if kind == RULES else needs(made, tried, ties, level),
        None if now is None else made.names[now], (*made.warnings, *_warnings(made)),
    )  # fmt: skip


def _decide(
    made: Instances, crossed: Crossed, random: Estimate | None, at: Mapping[str, Rows], level: float
) -> tuple[str, Gain | None]:
    """What to advise, and its gain: over the setting in use, or where none is told the rules' over the best default.
    ``at``: what → the setting that it chooses for each instance."""
    of_rules = _gain(made, crossed, ("advice", "default"), at, level)
    worth = _sure(of_rules.share) and bool((at["advice"] != at["default"]).any())
    if "current" not in at:
        return (RULES if worth else DEFAULT if _sure(random) else NOTHING), of_rules
    # One setting among several was chosen to beat the one in use: as many intervals as settings.
    what = "advice" if worth else "default"
    over = _gain(made, crossed, (what, "current"), at, _wide(made, level))
    if not _sure(over.share) or (what == "default" and at["default"][0] == at["current"][0]):
        return NOTHING, over
    return (RULES if worth else DEFAULT), over


def _tried(made: Instances, gain: Gain | None, random: Estimate | None, now: int | None) -> dict[str, Estimate]:
    """The gains that decide, in words."""
    if gain is None or random is None:
        return {}
    over = made.shown(gain.over)
    if now is not None:
        return {f"over {over}": gain.share}
    return {f"rules over {over}": gain.share, f"{over} over a setting at random": random}


def _sure(made: Estimate | None) -> bool:
    return made is not None and made.low is not None and made.low > 0


def _setting(made: Instances, wanted: Mapping[str, str]) -> int:
    wanted = {next((name for name in made.choose if said in (name, split_unit(name)[0])), said): level
              for said, level in wanted.items()}  # fmt: skip
    missing = [name for name in made.choose if name not in wanted]
    if missing or len(wanted) > len(made.choose):
        example = f"{made.choose[0]}={made.settings[0][0]}"
        raise InputError(
            "incomplete-setting",
            "the setting in use is not one value for each chosen column",
            "name {columns}, as {spell.current:{example}}",
            columns=", ".join(made.choose),
            example=example,
        )
    text = tuple(str(wanted[name]) for name in made.choose)
    for at, setting in enumerate(made.settings):
        if tuple(map(str, setting)) == text or all(map(same_level, setting, text)):
            return at
    for copy, first in made.renamed:
        if tuple(map(str, copy)) == text:
            return made.settings.index(first)
    raise InputError(
        "unmeasured-setting",
        "the setting in use, {setting}, was never measured",
        "measured were {settings}",
        setting="/".join(text),
        settings=", ".join(made.names),
    )


def _gain(made: Instances, crossed: Crossed, pair: tuple[str, str], at: Mapping[str, Rows], level: float) -> Gain:
    """Of the first of the ``pair`` over the second. ``at``: what → the setting that is chosen for each instance."""
    what, over = pair
    sign = -1.0 if made.lower else 1.0
    logs = sign * (crossed.logs[what] - crossed.logs[over])
    absolute = sign * (crossed.values[what] - crossed.values[over])
    mean = crossed.mean

    def share(name: str) -> Estimate:
        seen = mean(crossed.share[name], level)
        return of_repeats(made, at[name], seen) if crossed.by_repeat else of_instances(seen, crossed.share[name])

    gains = crossed.gain(what, over, level), mean(logs, level), mean(absolute, level)
    if crossed.by_repeat and what == "default":
        sides = at[what], at[over]
        gains = (share_gain(made, sides[0], one_hot(made, sides[1]), level, gains[0]),
                 ratio_gain(made, *sides, level, gains[1]), absolute_gain(made, *sides, level, gains[2]))  # fmt: skip
    return Gain(made.names[at[over][0]], gains[0], geometric(gains[1]), gains[2], share(what), share(over),
                share("possible") if "possible" in crossed.share else None, crossed.lowest[what],
                crossed.lowest[over],
                () if crossed.by_repeat else tuple(logs.tolist()))  # fmt: skip


def _over_random(made: Instances, crossed: Crossed, best: int, level: float) -> Estimate:
    """What the best default adds to the share of the best over the mean of all settings."""
    seen = crossed.gain("chosen", "random", level)
    if not crossed.by_repeat:
        return seen
    even = np.full(made.values.shape, 1 / len(made.settings))
    return share_gain(made, np.full(len(made), best), even, level, seen)


def _wide(made: Instances, level: float) -> float:
    """The level of each of as many intervals as there are settings, so that all hold together at ``level``.

    Cross-fitting takes the bias out of the best of several settings, not the spread: where one setting is best by
    luck in all repeats, it is chosen, and lucky, in every fold.
    """
    return 1 - (1 - level) / len(made.settings)


def _equal(made: Instances, share: Any, best: int, level: float) -> tuple[str, ...]:
    """The defaults that cannot be told from the best: paired over instances, Bonferroni (Hsu 1984)."""
    if by_repeat(made):
        return ()
    others = [at for at in range(share.shape[1]) if at != best]
    wide = 1 - (1 - level) / len(others)
    found = [(at, mean_estimate(share[:, best] - share[:, at], wide, made.group)) for at in others]
    return tuple(made.names[at] for at, e in found if e.low is not None and e.low <= 0)


def _depth(share: Any, crossed: Crossed | None, depth: int, advised: Any, level: float) -> Depth:
    held = share[np.arange(len(share)), advised]
    estimate = None
    if crossed is not None:
        values = crossed.share.get("possible", 1.0) - crossed.by_depth[:, depth]
        lost = crossed.mean(values, level)
        estimate = cut(lost) if crossed.by_repeat else of_instances(lost, values)
    return Depth(depth, float(1 - held.mean()), estimate, float(held.min()))


def _warnings(made: Instances) -> list[str]:
    found: list[str] = []
    if made.incomplete:
        found.append(
            Message(
                "missing-settings",
                "{n} of {n_instances} instances lack a setting and are not used",
                n=made.incomplete,
                n_instances=made.incomplete + len(made),
            )
        )
    if made.slots < 2:
        found.append(
            Message(
                "single-trial",
                "a cell has one trial: the gain comes from cross-validation over instances alone, the best possible is "
                "too good by the noise, and ties are not seen; measure each cell "
                + ("three times" if by_repeat(made) else "twice")
                + " or more",
            )
        )
    if by_repeat(made):
        found.append(
            Message(
                "few-instances",
                "fewer than {few} instances: no rules, and gains hold for these instances only",
                few=FEW,
            )
        )
    return found
