"""State of the target's file system before and after a trial: its health, and the options in effect."""

from collections.abc import Callable
from typing import Any

from iosonde.core.schema import WELL
from iosonde.ranks.machine import TargetCondition

# Time limits for an answer: usual, and after ranks hung on the target, when little of the 10 s remains.
LOOK_S, SOON_S = 8.0, 2.5

# Time limit in s → the current condition; None if unknown.
Look = Callable[[float], TargetCondition | None]


def facts(before: TargetCondition | None, after: TargetCondition | None, sets: bool) -> dict[str, Any]:
    """Return the stored record of both checks. ``sets``: the trial sets options itself, so that the earlier ones are
    not its level."""
    looks = {"before": before, "after": after}
    states = {when: {"at": look["at"], "health": look["health"]} if look else None for when, look in looks.items()}
    return {**states, "options": _compare_options(before, after, sets)}


def health(before: TargetCondition | None, after: TargetCondition | None) -> str | None:
    """Return the trial's level: ``ok``, ``n2 down``, ``ok, then n2 down``. None if neither check knows it; if only one
    does, its level."""
    levels = ["; ".join(look["health"]) or WELL for look in (before, after) if look and look["health"] is not None]
    return ", then ".join(dict.fromkeys(levels)) or None


def _compare_options(before: TargetCondition | None, after: TargetCondition | None, sets: bool) -> dict[str, str]:
    first, last = (condition["options"] if condition else {} for condition in (before, after))
    if sets or not first or not last:
        return last or first
    return {
        name: _join_levels(first.get(name), last.get(name))
        for name in (*last, *(name for name in first if name not in last))
    }


def _join_levels(first: str | None, last: str | None) -> str:
    return str(last) if first == last else f"{first or 'unset'}, then {last or 'unset'}"
