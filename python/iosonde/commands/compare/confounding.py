"""Causes that cannot be separated from the sides: confounded factors, and the order in which trials were measured."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

import numpy as np

from iosonde.answers.caveats import build_confounded_warning as together
from iosonde.core.level_text import format_level
from iosonde.core.message import Message
from iosonde.core.stored import strip_factor_prefix
from iosonde.core.table import Cell
from iosonde.core.types import Estimate
from iosonde.core.units import format_percent, format_ratio
from iosonde.core.verdict import VerdictState
from iosonde.data.choice import column_to_texts
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.source import Source
from iosonde.stats.assumptions import AssumptionCheck, doubtful, fails
from iosonde.stats.assumptions.dependence import describe_dependence
from iosonde.stats.assumptions.drift import DriftInTurn, LevelsInTurn, examine_order
from iosonde.stats.estimate.compare import DIFFERENT, Comparison, judge_ratio
from iosonde.stats.overview.measured_order import find_measured_order

from .caveat import Caveat
from .cells import InCells
from .parts import list_factors_following_group
from .samples import SidePair

_WITHOUT_DRIFT = "the step between the sides, without the drift"


def list_confounding_caveats(source: Source, group: str | None, levels: Sequence[Cell]) -> tuple[Caveat, ...]:
    """Return the factors that always change with the group, and time if its levels were measured in turn."""
    if not source.knows_factors or group is None:
        return ()
    own = source.table.column(group).name
    twins = [(name, twin) for name, twin in source.varying_factors.confounded.items() if own in (name, twin)]
    confounded_names = {name for pair in twins for name in pair}
    twins += [(name, own) for name in list_factors_following_group(source, own) if name not in confounded_names]
    return (*(_build_twin_caveat(name, twin, own) for name, twin in twins), *_list_in_turn_caveats(source, own, levels))


def select_differing_caveats(pair: SidePair, group: str | None, caveats: Sequence[Caveat]) -> Iterator[Caveat]:
    """Return the caveats of a pair of sides; a twin counts only if it differs between these two."""
    rows = pair.part.rows
    for caveat in caveats:
        cause = "" if caveat.check is None else caveat.check.cause
        if group is None or cause not in rows.columns:
            yield caveat
            continue
        levels = {str(key[0]): key[1] for key, _ in rows.groups([rows.column(group).name, cause])}
        if levels.get(pair.a.name) != levels.get(pair.b.name):
            yield caveat


def _build_twin_caveat(name: str, twin: str, own: str) -> Caveat:
    """Build the caveat of a twin; none for an experiment, which is not a cause, and for ranks, which grow with
    nodes."""
    follows = own == EXPERIMENT or "ranks" in (name, twin)
    other = name if twin == own else twin
    text = together(name, twin)
    if follows:
        return Caveat(text, doubtful("goes-together", text))
    return Caveat(text, fails("goes-together", VerdictState.NOT_SEPARABLE, text, cause=other))


def check_explanation(explains: bool, assumption: str, why: str) -> AssumptionCheck:
    """Return the check of an assumption whose failure ``explains`` the claim, or only puts it in doubt."""
    return fails(assumption, VerdictState.INCONCLUSIVE, why) if explains else doubtful(assumption, why)


def _list_in_turn_caveats(source: Source, own: str, chosen_levels: Sequence[Cell]) -> Iterator[Caveat]:
    """Yield levels that were measured wholly before another."""
    column = source.run_rows.column(own)
    times = zip(column_to_texts(source.run_rows, "started_at"), column.values.tolist(), strict=True)
    chosen = {level: level for level in chosen_levels}  # 1 and not 1.0
    measured = sorted(((time, chosen[level]) for time, level in times if level in chosen), key=itemgetter(0))
    turns = [level for level, _ in groupby(measured, itemgetter(1))]
    if all(time for time, _ in measured) and len(turns) == len(chosen_levels) == len(set(turns)) >= 2:
        order_text = ", then ".join(format_level(level, column.level_unit) for level in turns)
        turn = f"{strip_factor_prefix(own)} was measured one after the other ({order_text})"
        yield Caveat(describe_measured_in_turn(turn), doubtful("order"))


@dataclass(frozen=True)
class SidesInTurn:
    """Sides that were measured one after the other: ``order`` describes which was first; ``by_rows``: no column tells
    the order."""

    in_turn: LevelsInTurn
    order: str
    by_rows: bool


def examine_sides(matched: InCells, comparison: Comparison, group: str, by_rows: bool) -> SidesInTurn | None:
    """Examine the order of the sides; None if they were not measured in turn. ``by_rows``: use the order of a table's
    rows if no column tells the order."""
    a, b, part = matched.pair.a, matched.pair.b, matched.pair.part
    if a.published or b.published or a.bring_ups or b.bring_ups or part.within_run or comparison.paired:
        return None
    names = part.name_sides(group)
    places = np.flatnonzero(np.isin(names, [a.name, b.name]) & ~np.isnan(part.values))
    rows, names = part.rows.take(places), names[places]
    order = find_measured_order(rows, (part.column, group, *matched.names))
    if order is not None and part.lines and find_measured_order(rows, (part.column, group, *part.lines)) is None:
        return None  # the order itself is held
    if order is None and not by_rows:
        return None
    times, settings = np.arange(float(len(rows))) if order is None else order, rows.number_groups(part.settings)
    is_b = (names == b.name).astype(np.intp)
    in_turn = examine_order(is_b, rows.numbers(part.column), settings, times, comparison.decided.level)
    if in_turn is None:
        return None
    sides = [format_level((a.name, b.name)[level], part.units.get(group, "")) for level in in_turn.levels]
    return SidesInTurn(in_turn, ", then ".join(sides), order is None)


def order_caveats(sides: SidesInTurn | None, comparison: Comparison, group: str, by_rows: bool) -> list[Caveat]:
    """Return the caveats of sides that were measured in turn."""
    if sides is None:
        return []
    order_text = sides.order + (", by the rows" if sides.by_rows else "")
    turn = f"{strip_factor_prefix(group)} was measured one after the other ({order_text})"
    caveats = list(_build_order_caveats(sides.in_turn, comparison, turn))
    if caveats or sides.by_rows or not by_rows:  # a store's campaign has one caveat for all
        return caveats
    return [Caveat(describe_measured_in_turn(turn), doubtful("order"))]


def adjust_for_order(comparison: Comparison, sides: SidesInTurn | None) -> Comparison:
    """Return the comparison of sides in turn without the drift, or with an interval that is as wide as the dependence
    of neighbouring trials makes it."""
    stepped = _remove_drift(comparison, sides)
    if sides is None or stepped is not comparison or (sides.in_turn.drift and sides.in_turn.drift.explains_effect):
        return stepped
    return _widen_interval(comparison, sides.in_turn.worth)


def _widen_interval(comparison: Comparison, worth: float) -> Comparison:
    """Return the comparison with the interval of trials that are each ``worth`` a part of an independent one."""
    ratio = comparison.ratio
    if worth >= 1 or ratio is None or ratio.value is None or ratio.low is None or ratio.high is None or ratio.low <= 0:
        return comparison
    low, high = (ratio.value * (end / ratio.value) ** (worth**-0.5) for end in (ratio.low, ratio.high))
    wide = replace(ratio, low=low, high=high)
    method = f"{comparison.method}, widened by the dependence of trials"
    verdict = judge_ratio(wide, comparison.margin)
    return replace(comparison, ratio=wide, method=method, verdict=verdict, by_level=(), at=None)


def _remove_drift(comparison: Comparison, sides: SidesInTurn | None) -> Comparison:
    """Return the comparison whose ratio is the step between the sides, if a drift inside them biases that of their
    means."""
    drift, ratio = None if sides is None else sides.in_turn.drift, comparison.ratio
    if sides is None or drift is None or drift.explains_effect or comparison.verdict != DIFFERENT:
        return comparison
    step = _estimate_step_ratio(drift, sides.in_turn.levels)
    if ratio is None or ratio.value is None or step is None or step.low is None or step.high is None:
        return comparison
    if step.low <= ratio.value <= step.high:
        return comparison
    verdict = judge_ratio(step, comparison.margin)
    return replace(comparison, ratio=step, method=_WITHOUT_DRIFT, verdict=verdict, by_level=(), at=None)


def describe_measured_in_turn(turn: str) -> Message:
    """Return the caveat that time is in a difference; ``turn`` says what was measured when."""
    return Message("measured-in-turn", "{turn}: a change with time is in the difference, too", turn=turn)


def _build_order_caveats(in_turn: LevelsInTurn, comparison: Comparison, turn: str) -> Iterator[Caveat]:
    """Yield a drift, else a dependence, and whether it overrides the claim."""
    drift, differs = in_turn.drift, comparison.verdict == DIFFERENT
    if drift is not None:
        text = Message(
            "drift",
            "{turn}, and values drift inside the sides, by {drift} from the first trial to the last (p = {p:.2g})"
            + ("; {without}" if drift.step is not None and comparison.ratio is not None else ""),
            turn=turn,
            drift=format_percent(abs(drift.change)),
            p=drift.p,
            without=_describe_step(drift, in_turn.levels, comparison),
        )
        explained = ", which explains the difference" if differs else ""
        why = Message("drift", "values drift with the order in which they were measured" + explained)
        gone = drift.explains_effect if differs else abs(drift.change) > comparison.margin
        yield Caveat(text, check_explanation(gone, "drift", why))
    elif in_turn.worth < 1:
        why = describe_dependence(in_turn.worth)
        text = Message(
            "dependent-trials", "{turn}, and {reason}: interleave the sides", turn=turn, reason=why, worth=in_turn.worth
        )
        yield Caveat(text, doubtful("dependent", why, worth=in_turn.worth))


def _describe_step(drift: DriftInTurn, levels: Sequence[int], comparison: Comparison) -> str:
    """Describe the difference of the sides without the drift: the step at the border between them."""
    step = None if comparison.ratio is None else _estimate_step_ratio(drift, levels)
    if step is None:
        return ""
    value, low, high = map(format_ratio, (step.value or 0.0, step.low or 0.0, step.high or 0.0))
    return f"without the drift {value} ({low} to {high})"


def _estimate_step_ratio(drift: DriftInTurn, levels: Sequence[int]) -> Estimate | None:
    """Return the step at the border between the sides as a ratio B ÷ A; None without one."""
    step = drift.step
    if step is None or step.value is None or step.low is None or step.high is None:
        return None
    sign = 1 if levels[0] == 0 else -1  # of the second side that was measured against the first
    low, high = sorted(math.exp(sign * end) for end in (step.low, step.high))
    return Estimate(math.exp(sign * step.value), low, high, step.level, step.n)
