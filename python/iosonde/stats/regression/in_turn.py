"""Factors whose levels were measured one after the other: is their effect confounded with a drift?"""

from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.message import Message
from iosonde.core.units import format_percent
from iosonde.core.verdict import VerdictState

from ..assumptions import AssumptionCheck, doubtful, fails
from ..estimate.order_effect import ALPHA, OrderedTrials, OrderEffect, estimate_order_effect, is_explained_by_drift

_FEWEST = 4  # trials per level: fewer may be in turn by chance, and show no drift


@dataclass(frozen=True)
class DriftInTurn:
    """A drift of values inside the levels of a factor that were measured in turn: by ``change`` of their mean from the
    first trial of a level to its last, with ``p``. ``explains_effect``: no step between two levels has the direction of
    their difference."""

    change: float
    p: float
    explains_effect: bool

    @property
    def text(self) -> str:
        """Return the text that follows the name of the factor."""
        how = f"values drift inside its levels, by {format_percent(abs(self.change))} from the first trial to the last"
        gone = ", which explains its effect" if self.explains_effect else ""
        return f"was measured one level after the other, and {how} (p = {self.p:.2g}){gone}"


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
    levels: Indices, values: Array, cells: Indices, times: Array, level: float
) -> DriftInTurn | None:
    """Return the drift inside the ``levels`` of a factor; None if not significant, or if they were not measured in
    turn. ``cells``: the setting of all other factors of each trial; ``times`` rise with time. Each level is compared
    with the next (:func:`estimate_order_effect`), with Bonferroni's correction."""
    turns = list_turns(levels, times)
    if not turns:
        return None
    order = np.argsort(times, kind="stable")
    levels, values, cells = levels[order], values[order], cells[order]
    effects: list[tuple[OrderEffect, bool]] = []
    for first, second in zip(turns, turns[1:], strict=False):
        pair = (levels == first) | (levels == second)
        is_second = levels[pair] == second
        shared = np.intersect1d(cells[pair][is_second], cells[pair][~is_second])
        # If all other settings change with the level, none is held: the step includes both.
        effect = estimate_order_effect(
            OrderedTrials(
                values[pair], is_second, cells[pair] if shared.size else np.zeros(is_second.size, dtype=np.intp)
            ),
            level,
        )
        effects.append((effect, bool(values[pair][is_second].mean() > values[pair][~is_second].mean())))
    worst = min(
        (effect for effect, _ in effects if effect.drift is not None),
        key=lambda candidate: candidate.drift_p,
        default=None,
    )
    p = 1.0 if worst is None else min(1.0, worst.drift_p * len(effects))
    return (
        None
        if worst is None or worst.drift is None or p >= ALPHA
        else DriftInTurn(worst.drift, p, all(is_explained_by_drift(effect, above) for effect, above in effects))
    )
