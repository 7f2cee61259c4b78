"""Did the trials follow the order of a factor's levels, and did values drift meanwhile? All commands ask here.

A drift is a trend of trials that differ in nothing but time: of equal levels of the factor and of all other known
settings. The order of loops over these settings is no drift, whether a command was asked about them or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.units import format_percent
from iosonde.core.verdict import VerdictState

from ..estimate.order_effect import (
    ALPHA,
    OrderedTrials,
    OrderEffect,
    estimate_order_effect,
    is_explained_by_drift,
    sort_trials,
)
from .check import AssumptionCheck, doubtful, fails

_FEWEST = 4  # trials per level: fewer may be in turn by chance, and show no drift


@dataclass(frozen=True)
class DriftInTurn:
    """A drift of values inside the levels of a factor that were measured in turn: by ``change`` of their mean from the
    first trial of a level to its last, with ``p``. ``explains_effect``: no step between two levels has the direction of
    their difference. ``step``: of two levels, their difference at the border between them, without the drift; of
    logarithms if all values are positive."""

    change: float
    p: float
    explains_effect: bool
    step: Estimate | None = None

    @property
    def text(self) -> str:
        """Return the text that follows the name of the factor."""
        how = f"values drift inside its levels, by {format_percent(abs(self.change))} from the first trial to the last"
        gone = ", which explains its effect" if self.explains_effect else ""
        return f"was measured one level after the other, and {how} (p = {self.p:.2g}){gone}"


@dataclass(frozen=True)
class LevelsInTurn:
    """The ``levels`` of a factor in the order in which they were measured, the ``drift`` of values inside them, None if
    not significant, and the independent trials that a trial is ``worth``, by the correlation of neighbours."""

    levels: tuple[int, ...]
    drift: DriftInTurn | None
    worth: float


def list_turns(levels: Indices, times: Array) -> list[int]:
    """Return the levels in the order of ``times`` if each was measured before the next began, several times; else
    none."""
    ordered = levels[np.argsort(times, kind="stable")]
    turns = [int(run[0]) for run in np.split(ordered, np.flatnonzero(np.diff(ordered)) + 1) if run.size]
    is_in_turn = 2 <= len(turns) == len(set(turns)) and np.bincount(levels)[turns].min() >= _FEWEST
    return turns if is_in_turn else []


def check_drift(
    column: str, drift: DriftInTurn, subject: tuple[str, ...] = ()
) -> tuple[AssumptionCheck, AssumptionCheck]:
    """Return the checks of a ``column`` that was measured in turn while values drifted."""
    why = Message("drift", "{column} {drift}", column=column, drift=drift.text)
    order = doubtful("order", why, subject)
    if drift.explains_effect:
        return order, fails("drift", VerdictState.INCONCLUSIVE, why, subject)
    return order, doubtful("drift", why, subject)


def detect_drift_in_turn(
    levels: Indices, values: Array, settings: Indices, times: Array, level: float
) -> DriftInTurn | None:
    """Return the drift that :func:`examine_order` finds, if any."""
    in_turn = examine_order(levels, values, settings, times, level)
    return None if in_turn is None else in_turn.drift


def examine_order(levels: Indices, values: Array, settings: Indices, times: Array, level: float) -> LevelsInTurn | None:
    """Examine the trials of a factor; None if its ``levels`` were not measured in turn. ``settings``: those of all
    other known settings of each trial; ``times`` rise with time. Each level is compared with the next
    (:func:`estimate_order_effect`), with Bonferroni's correction."""
    turns = list_turns(levels, times)
    if not turns:
        return None
    effects: list[tuple[OrderEffect, bool]] = []
    for first, second in zip(turns, turns[1:], strict=False):
        pair = (levels == first) | (levels == second)
        trials = sort_trials(values[pair], levels[pair] == second, settings[pair], times[pair])
        step_trials = _hold_shared_settings(trials)
        effects.append((estimate_order_effect(trials, level, step_trials.cells), _is_second_higher(step_trials)))
    worth = min(effect.worth for effect, _ in effects)
    return LevelsInTurn(tuple(turns), _select_drift(effects), worth)


def _hold_shared_settings(trials: OrderedTrials) -> OrderedTrials:
    """If all other settings change with the level, the step holds none: it includes both. A drift is a trend inside
    them all the same."""
    if np.intersect1d(trials.cells[trials.is_b], trials.cells[~trials.is_b]).size:
        return trials
    return OrderedTrials(trials.values, trials.is_b, np.zeros_like(trials.cells))


def _is_second_higher(trials: OrderedTrials) -> bool:
    """Return whether the second level is the higher one, inside the settings that both have."""
    total = 0.0
    for cell in np.unique(trials.cells):
        first, second = (trials.values[(trials.cells == cell) & (trials.is_b == side)] for side in (False, True))
        if first.size and second.size:
            total += first.size * second.size / (first.size + second.size) * float(second.mean() - first.mean())
    return total > 0


def _select_drift(effects: Sequence[tuple[OrderEffect, bool]]) -> DriftInTurn | None:
    """Return the most significant drift of the pairs of levels; ``effects``: with whether the second is higher."""
    drifting = (effect for effect, _ in effects if effect.drift is not None)
    worst = min(drifting, key=lambda effect: effect.drift_p, default=None)
    p = 1.0 if worst is None else min(1.0, worst.drift_p * len(effects))
    if worst is None or worst.drift is None or p >= ALPHA:
        return None
    is_explained = all(is_explained_by_drift(effect, is_higher) for effect, is_higher in effects)
    return DriftInTurn(worst.drift, p, is_explained, worst.step if len(effects) == 1 else None)
