"""The result of a race as quotable sentences."""

from collections.abc import Mapping

from iosonde.core.headlines import format_metric
from iosonde.core.level_text import format_setting
from iosonde.core.message import Message
from iosonde.core.units import format_percent
from iosonde.core.words import format_count, join_names

from .runs import RaceState

_MOST_NAMES = 6  # settings that a sentence lists


def describe_race(state: RaceState, units: Mapping[str, str]) -> str:
    """Return the best setting, or what remains and what it would take."""
    leader, n = state.standing.leader, sum(state.counts)
    trials = f"{format_count(n, 'trial')} of {format_count(len(state.settings), 'setting')}"
    if leader is None:
        return Message("race-undecided", "No setting has a trial with the deciding number.")
    best, metric = format_setting(state.settings[leader], units), format_race_metric(state)
    margin, sure = format_percent(state.plan.margin), f"{100 * state.plan.confidence:g} %"
    if state.standing.is_settled:
        return Message(
            "race-best",
            "{best} has the best {metric}, or is within {margin} of the best, with {sure} confidence ({trials}).{ties}",
            best=best,
            metric=metric,
            margin=margin,
            sure=sure,
            trials=trials,
            ties=_describe_ties(state, units),
        )
    if state.n_blocks < state.rule.first_stage:
        return Message(
            "race-undecided",
            "All {n} settings remain: none leaves before {first_stage} trials of each ({trials} so far).",
            n=len(state.settings),
            first_stage=state.rule.first_stage,
            trials=trials,
        )
    reached = ""
    if state.within is not None:
        reached = f": it is within {format_percent(state.within)} of the best with {sure} confidence"
    needed = f" About {state.blocks_needed} blocks settle it if the means stay." if state.blocks_needed else ""
    return Message(
        "race-undecided",
        "{n} settings remain after {trials}: {names}. {best} leads in {metric}{reached}; within {margin} the "
        "confidence is {confidence}.{needed}",
        n=len(state.standing.remaining),
        trials=trials,
        names=_join_settings(state, state.standing.remaining, units),
        best=best,
        metric=metric,
        reached=reached,
        margin=margin,
        confidence=f"{100 * state.standing.confidence:.0f} %",
        needed=needed,
    )


def format_race_metric(state: RaceState) -> str:
    """Return the deciding metric as people read it."""
    if state.name is None:
        return state.plan.metric
    operation, metric, _ = state.name
    return f"{operation} {metric if metric == 'seconds' else format_metric(metric, operation)}"


def _describe_ties(state: RaceState, units: Mapping[str, str]) -> str:
    if not state.ties:
        return ""
    return f" As good within {format_percent(state.plan.margin)}: {_join_settings(state, state.ties, units)}."


def _join_settings(state: RaceState, places: tuple[int, ...], units: Mapping[str, str]) -> str:
    names = [f"({format_setting(state.settings[place], units)})" for place in places]
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return join_names([*names[:_MOST_NAMES], *more])
