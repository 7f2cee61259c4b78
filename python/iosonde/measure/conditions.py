"""How the target's file system was before and after a trial: its health, and the options that were in effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iosonde.core.schema import WELL
from iosonde.ranks.machine import TargetCondition

# How long an answer is waited for; and after ranks that hung on the target, of whose 10 s little is left.
LOOK_S, SOON_S = 8.0, 2.5

# Seconds → how it is just now; None where that is not known.
Look = Callable[[float], TargetCondition | None]


def facts(before: TargetCondition | None, after: TargetCondition | None, sets: bool) -> dict[str, Any]:
    """What is kept of both looks. ``sets``: the trial itself sets something, so that what was there before is no level
    of it."""
    looks = {"before": before, "after": after}
    states = {when: {"at": look["at"], "health": look["health"]} if look else None for when, look in looks.items()}
    return {**states, "options": _compare_options(before, after, sets)}


def health(before: TargetCondition | None, after: TargetCondition | None) -> str | None:
    """The level of the trial: ``ok``, ``n2 down``, ``ok, then n2 down``; None where neither look knows it. Where one
    does, nothing else is known."""
    levels = [_name_level(look["health"]) for look in (before, after) if look and look["health"] is not None]
    return ", then ".join(dict.fromkeys(levels)) or None


def _name_level(troubles: list[str]) -> str:
    return "; ".join(troubles) or WELL


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
