"""Summary of a table of settings in a sentence: the best and the worst setting, and the factors that matter.

The effects, their tests and blocks are those of ``regression.effects``. All tests of a store's or a table's headline
responses are one family, whichever of them are shown; the metrics that a user names narrow it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.estimate_text import format_estimate
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric, get_lowest_mean, name_extremes
from iosonde.core.stored import StoredRun
from iosonde.core.transforms import get_log_base, is_logarithm, remove_logarithm
from iosonde.core.types import Better, Experiment
from iosonde.core.units import choose_human_scale, format_percent
from iosonde.core.verdict import VerdictState
from iosonde.core.words import join_names

from ..assumptions import AssumptionCheck, fails, holds
from ..assumptions.cells import check_cells, measure_worth
from ..assumptions.drift import DriftInTurn, detect_drift_in_turn
from ..estimate.multiple import is_same_evidence
from ..estimate.percentiles import TrialPercentiles
from ..estimate.summarise import estimate_mean
from ..regression.effect_types import (
    NO_SHARE,
    FactorEffect,
    ResponseEffects,
    correct_effects,
    describe_blocks,
    describe_effects_decided_by_family,
    describe_interaction,
    describe_minor_effects,
    describe_too_different,
    describe_unclaimed_effects,
    refuse_too_different,
)
from ..regression.effects import SINGLE_RUN, SINGLE_TRIAL, estimate_effects
from .cells import TrialCell
from .comparable import choose_comparable_factors, number_levels
from .types import OverviewRow, ResponseStory, drop_constant_levels, span_decades
from .uneven_missing import check_uneven_missing

SIZES = ("nodes", "ranks")
_MOST = 3  # responses in the sentence
_MOST_FACTORS = 4  # listed by name
_MIN_SHARE = 0.05  # smallest reported share without a test


@dataclass(frozen=True)
class Background:
    """What is known of trials besides their cells. ``headline_cells``: of the headline responses, which belong to the
    family of tests whether shown or not. ``impossible``: cells beyond the hardware limit, None if no limit is set.
    ``together``: factor → the columns that always change with it. ``missing``: response → the setting that lacks more
    values than the others. ``untested``: why nothing can be tested, as where rows are single ranks. ``besides``: the
    checks of columns that are no factors, ``others`` those of them that are settings. ``controlled``: response → the
    effects that change in a model with the covariates.

    Of a store also: ``runs``, all trials (incomplete ones become a finding), of the ``experiments``; ``probes``,
    complete repetitions of its probes; ``latencies``, percentiles by run id; ``pilot``, the number of trials that fixed
    the total by Stein's rule, whose interval means then use; ``units`` of the factors that have one.
    """

    headline_cells: Sequence[TrialCell] = ()
    impossible: Sequence[TrialCell] | None = None
    together: Mapping[str, Sequence[str]] | None = None
    missing: Mapping[str, str] | None = None
    untested: str = ""
    besides: Sequence[AssumptionCheck] = ()
    controlled: Mapping[str, Sequence[AssumptionCheck]] = field(default_factory=dict)
    others: Sequence[str] = ()
    runs: Sequence[StoredRun] = ()
    experiments: Sequence[Experiment] = ()
    probes: Sequence[StoredRun] = ()
    latencies: Mapping[str, Sequence[TrialPercentiles]] = field(default_factory=dict)
    pilot: int | None = None
    units: Mapping[str, str] = field(default_factory=dict)


def build_stories(
    rows: Sequence[OverviewRow], cells: Sequence[TrialCell], level: float, background: Background
) -> tuple[ResponseStory, ...]:
    """Return the stories of responses whose settings differ by more than the number of nodes. ``rows`` are of the
    ``cells``, one each."""
    rows_by_response = {key: list(some) for key, some in groupby(rows, key=lambda row: (row.operation, row.metric))}
    displayed, headlines = _group_by_response(cells), _group_by_response(background.headline_cells)
    every = headlines | displayed
    complete = [select_complete_cells(some) for some in every.values()]
    family = [
        ResponseEffects(tuple(some[0].by), untested=background.untested)
        if background.untested
        else estimate_cell_effects(chosen, level, background.together)
        for some, chosen in zip(every.values(), complete, strict=True)
    ]
    corrected = correct_effects(family, find_repeated_evidence(list(every.values())), len(headlines or displayed))
    effects = {
        key: own.withdraw(
            (
                *_list_lacking_factors((background.missing or {}).get(key[1], "")),
                *(name for check in background.controlled.get(key[1], ()) for name in check.subject),
            )
        )
        for key, own in zip(every, refuse_too_different(corrected, count_trials(complete)), strict=True)
    }
    beyond = {(cell.operation, cell.metric, *cell.by.items()) for cell in background.impossible or ()}
    response_stories = []
    for key, its in rows_by_response.items():
        measured = [row for row in its if row.mean.value is not None]
        ordered = sorted(measured, key=lambda row: row.mean.value or 0.0, reverse=not _is_lower_better(its))
        settings = {tuple(level for name, level in row.by.items() if name not in SIZES) for row in its}
        if key in effects and ordered and len(settings) > 1:
            wrong = drop_constant_levels([row for row in ordered if (*key, *row.by.items()) in beyond], its)
            ordered = drop_constant_levels(ordered, its)
            possible = [row for row in ordered if row not in wrong]
            best, worst = _find_extremes(possible, effects[key]) if possible else (ordered[0], ordered[-1])
            means = tuple(row.mean.value or 0.0 for row in (ordered[0], ordered[-1]))
            has_logarithms = not is_logarithm(key[1]) and all(value > 0 for row in ordered for value in row.values)
            untested = fails("subsamples", VerdictState.NOT_TESTED, background.untested)
            response_stories.append(
                ResponseStory(
                    *key,
                    effects[key],
                    best,
                    worst,
                    tuple(wrong),
                    (background.missing or {}).get(key[1], ""),
                    (
                        *([untested] if background.untested else []),
                        *check_cells(displayed[key], background.impossible, bool(effects[key].drifting)),
                        *background.besides,
                        *background.controlled.get(key[1], ()),
                        *holds("subsamples", "missing-values"),
                    ),
                    tuple(metric for operation, metric in rows_by_response if operation == key[0]),
                    means,
                    has_logarithms and span_decades(means),
                    _list_steady_factors(possible or ordered, best),
                    key in (headlines or displayed),
                )
            )
    return tuple(response_stories)


def _list_lacking_factors(missing: str) -> tuple[str, ...]:
    """Return the factor whose claims the missing values take away; nothing if they take away all, or none."""
    return next((check.subject for check in check_uneven_missing(missing) if check.instead is not None), ())


def _find_extremes(rows: Sequence[OverviewRow], effects: ResponseEffects) -> tuple[OverviewRow, OverviewRow]:
    """Return the best and the worst setting, over all levels of the factors that hardly matter if others do: a mean
    over settings that may differ is none of any setting."""
    minor = {name for effect in effects.minor for name in effect.factors}
    names = [name for name in rows[0].by if name not in minor]
    if not effects.significant or len(names) == len(rows[0].by):
        return rows[0], rows[-1]
    groups = _group_by_mean(rows, names)
    return _pool_rows(groups[0], names), _pool_rows(groups[-1], names)


def _list_steady_factors(rows: Sequence[OverviewRow], best: OverviewRow) -> tuple[str, ...]:
    """Return the factors whose level in ``best`` has the best mean over the settings of the others, too."""
    return tuple(name for name in best.by if _group_by_mean(rows, [name])[0][0].by[name] == best.by[name])


def _group_by_mean(rows: Sequence[OverviewRow], names: Sequence[str]) -> list[list[OverviewRow]]:
    """Return the rows with the same levels of ``names``, the best mean over settings first."""
    groups = group_by_key((tuple(row.by[name] for name in names), row) for row in rows).values()
    return sorted(
        groups, key=lambda some: float(np.mean([row.mean.value for row in some])), reverse=not _is_lower_better(rows)
    )


def _pool_rows(rows: Sequence[OverviewRow], names: Sequence[str]) -> OverviewRow:
    """Return one row of the levels of ``names``, over all trials."""
    values = np.array([value for row in rows for value in row.values])
    lowest = get_lowest_mean(rows[0].unit, bool(np.all(values > 0)), f"{rows[0].operation} {rows[0].metric}".strip())
    return replace(
        rows[0],
        by={name: level for name, level in rows[0].by.items() if name in names},
        n=values.size,
        mean=estimate_mean(values, rows[0].mean.level).within(low=lowest),
        values=tuple(values),
    )


def _is_lower_better(rows: Sequence[OverviewRow]) -> bool:
    return build_metric(rows[0].metric, rows[0].unit).better is Better.LOWER


def select_complete_cells(cells: Sequence[TrialCell]) -> list[TrialCell]:
    """Return the trials at each setting of the comparable factors, without trials that lack one of these."""
    names = list(cells[0].by)
    levels = {name: number_levels([cell.by[name] for cell in cells]) for name in names}
    chosen = choose_comparable_factors(levels, np.array([cell.values.size for cell in cells], dtype=float)).names
    if not chosen or not (chosen != tuple(names) or any((levels[name] < 0).any() for name in chosen)):
        return list(cells)
    every = (cell.average_iterations() for cell in cells)
    settings = group_by_key((tuple(cell.by[name] for name in chosen), cell) for cell in every)
    return [
        replace(
            several[0],
            by=dict(zip(chosen, key, strict=True)),
            values=np.concatenate([cell.values for cell in several]),
            times=_join_arrays([cell.times for cell in several]),
            bring_ups=_join_arrays([cell.bring_ups for cell in several]),
        )
        for key, several in settings.items()
        if None not in key
    ]


def count_trials(responses: Sequence[Sequence[TrialCell]]) -> list[list[int]]:
    """Return the number of trials of each setting of each response."""
    return [[cell.n for cell in cells if cell.n] for cells in responses]


def _join_arrays(arrays: Sequence[npt.NDArray[Any] | None]) -> npt.NDArray[Any] | None:
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if present and len(present) == len(arrays) else None


def find_repeated_evidence(responses: Sequence[Sequence[TrialCell]]) -> dict[int, int]:
    """Return place → place of an earlier response of these cells that is the same evidence: the bandwidth and the rate
    of an operation at one size."""
    repeated: dict[int, int] = {}
    for place, cells in enumerate(responses):
        earlier = (other for other in range(place) if other not in repeated)
        other = next((other for other in earlier if _is_same_evidence(cells, responses[other])), None)
        if other is not None:
            repeated[place] = other
    return repeated


def _is_same_evidence(cells: Sequence[TrialCell], others: Sequence[TrialCell]) -> bool:
    if not cells or not others or not cells[0].operation or cells[0].operation != others[0].operation:
        return False
    values = [{tuple(cell.by.items()): cell.values for cell in some} for some in (cells, others)]
    if values[0].keys() != values[1].keys() or any(values[0][by].size != values[1][by].size for by in values[0]):
        return False
    a, b = (np.concatenate([some[by] for by in values[0]]) for some in values)
    return is_same_evidence((cells[0].unit, others[0].unit), a, b)


def _group_by_response(cells: Sequence[TrialCell]) -> dict[tuple[str, str], list[TrialCell]]:
    return group_by_key(((cell.operation, cell.metric), cell) for cell in cells)


def estimate_cell_effects(
    cells: Sequence[TrialCell], level: float, together: Mapping[str, Sequence[str]] | None = None
) -> ResponseEffects:
    """Estimate the effects of the factors of these cells on their one response, not yet corrected."""
    if not cells:
        return ResponseEffects(())
    names = tuple(cells[0].by)
    trials = [cell.average_iterations() for cell in cells if cell.values.size]
    bring_ups = _join_arrays([cell.bring_ups for cell in trials])
    settings = {
        column: [cell.by[name] for cell in trials]
        for name in names
        for column in (name, *(together or {}).get(name, ()))
    }
    log_base = cells[0].log_base or get_log_base(cells[0].metric)
    effects = estimate_effects(settings, [cell.values for cell in trials], bring_ups, level, log_base)
    if effects.untested == SINGLE_TRIAL and any(cell.within_run for cell in cells):
        return replace(effects, untested=SINGLE_RUN)
    return effects if bring_ups is not None else _add_worth(_add_drifts(effects, trials, level), trials, level)


def _add_worth(effects: ResponseEffects, cells: Sequence[TrialCell], level: float) -> ResponseEffects:
    """Add what a trial is worth where its neighbours resemble it, unless a drift explains that."""
    is_clear = any(effect.p is not None and effect.p < 1 - level for effect in effects.effects)
    worth = measure_worth(cells) if is_clear and not any(effect.drift for effect in effects.effects) else 1.0
    if worth >= 1:
        return effects

    def add_worth(effect: FactorEffect) -> FactorEffect:
        return replace(effect, worth=worth, own=tuple(map(add_worth, effect.own)))

    return replace(effects, effects=tuple(map(add_worth, effects.effects)))


def _add_drifts(effects: ResponseEffects, cells: Sequence[TrialCell], level: float) -> ResponseEffects:
    """Add the drift of values inside the levels of factors that were measured in turn."""
    tested = [effect for effect in effects.effects if effect.p is not None and effect.p < 1 - level]
    cells = [part for cell in cells for part in cell.split_by_others()] if tested else []
    times = _join_arrays([cell.times for cell in cells])
    if times is None:
        return effects
    sizes, values = [cell.values.size for cell in cells], np.concatenate([cell.values for cell in cells])

    def number(keys: Sequence[tuple[object, ...]]) -> npt.NDArray[np.intp]:
        return np.repeat(number_levels(keys) - 1, sizes)

    def detect(names: Sequence[str]) -> DriftInTurn | None:
        own = number([tuple(cell.by[name] for name in names if name in cell.by) for cell in cells])
        fixed = [name for name in cells[0].by if name not in names]
        others = [0 if cell.others is None else int(cell.others[0]) for cell in cells]
        settings = number(
            [(place, *(cell.by[name] for name in fixed)) for place, cell in zip(others, cells, strict=True)]
        )
        return detect_drift_in_turn(own, values, settings, times.astype(float), level)

    def add_drift(effect: FactorEffect) -> FactorEffect:
        if effect not in tested:
            return effect
        candidates = (detect(names) for names in (effect.factors, *([name] for name in effect.factors)))
        drift = next(filter(None, candidates), None)
        return replace(effect, drift=drift, own=tuple(replace(member, drift=drift) for member in effect.own))

    return replace(effects, effects=tuple(map(add_drift, effects.effects)))


def describe_stories(response_stories: Sequence[ResponseStory], units: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence for each of the first responses with a significant effect, and for all others together."""
    if too_different := describe_too_different([story.effects for story in response_stories]):
        return tuple(too_different)
    sure = [story for story in response_stories if story.is_significant]
    texts = [_describe_significant_story(story, units) for story in sure[:_MOST]]
    more = [Message("more-responses", "{n} more: see the table.", n=len(sure) - _MOST)] if len(sure) > _MOST else []
    missing = [f"{story.title}: {story.missing}." for story in response_stories if story.missing]
    controlled = [f"{story.title}: {text}" for story in response_stories for text in story.changes_by_control]
    unclaimed = {story.title: describe_unclaimed_effects(story.effects) for story in response_stories}
    reasons = [f"{remove_logarithm(title)}: {text}." for title, texts in unclaimed.items() for text in texts]
    explained = [story for story in response_stories if story.is_biased or unclaimed[story.title]]
    explained += [story for story in response_stories if story.changes_by_control]
    open_ = [story for story in response_stories if not story.is_significant and story not in explained]
    # Advise logarithms of responses over decades, where the fastest settings alone make the variation.
    wide = list(dict.fromkeys(story.title for story in response_stories if story.spans_decades))[:_MOST]
    template = "Means of {responses} span decades: take logs ({spell.response:'log({name})'})."
    logarithms = [
        Message("take-logarithms", template, responses=join_names(wide), name=story.kind)
        for story in response_stories
        if story.spans_decades
    ][:1]
    return (
        *texts,
        *more,
        *reasons[:_MOST],
        *missing[:_MOST],
        *controlled[:_MOST],
        *_describe_unsure(open_),
        *describe_effects_decided_by_family(
            {(story.title, story.operation, story.kind): story.effects for story in open_ + sure}
        ),
        *logarithms,
    )


def _describe_extremes(story: ResponseStory, units: Mapping[str, str]) -> str:
    best, worst, (top, bottom) = story.best, story.worst, name_extremes(story.best.metric, story.best.unit)
    scale = None if story.spans_decades else choose_human_scale(max(map(abs, story.means), default=0.0), best.unit)
    text = (
        f"{story.title}: {top} {format_estimate(best.mean, best.unit, scale)} at {best.setting(units)}, "
        f"{bottom} {format_estimate(worst.mean, worst.unit, scale)} at {worst.setting(units)}"
    )
    if not story.impossible:
        return text
    if best in story.impossible:
        return f"{text}, but all values are beyond the hardware limit (S127)"
    first = story.impossible[0]
    more = f" and {len(story.impossible) - 1} more" if len(story.impossible) > 1 else ""
    beyond = f"{format_estimate(first.mean, first.unit)} at {first.setting(units)}{more}"
    return f"{text}, without {beyond}: beyond the hardware limit (S127)"


def _describe_unsure(unsure: Sequence[ResponseStory]) -> Iterator[str]:
    """Iterate over sentences on the responses without a significant effect, by the error they were tested against."""
    by_test = group_by_key(((story.effects.untested, story.effects.repeated), story) for story in unsure)
    for (untested, repeated), some in by_test.items():
        titles = [story.title for story in some]
        more = f" and {len(titles) - _MOST} more" if len(titles) > _MOST else ""
        tested = [name for name in some[0].best.by if name in some[0].effects.factors] or list(some[0].best.by)
        names, factors = f"{', '.join(titles[:_MOST])}{more}", _join_factors(tested)
        if untested:
            yield Message(
                "not-tested",
                "The effect of {factors} on {responses} is not tested: {reason}.",
                factors=factors,
                responses=names if more else join_names(titles),
                reason=untested,
            )
        else:
            yield Message(
                "not-significant",
                "No significant effect of {factors} on {responses}"
                + ("." if repeated else ", tested against the residuals of the main effects: one trial per setting."),
                responses=names,
                factors=factors,
            )


def _join_factors(factors: Sequence[str]) -> str:
    return " or ".join(factors) if len(factors) <= _MOST_FACTORS else f"any of {len(factors)} factors"


def _describe_significant_story(story: ResponseStory, units: Mapping[str, str]) -> Message:
    """Describe the most important factor, with those whose intervals overlap its own, then the others."""
    effects = story.effects
    significant_effects = effects.significant
    low = significant_effects[0].explained.low
    first = [
        effect for effect in significant_effects if low is not None and (effect.explained.high or 0.0) >= low
    ] or significant_effects[:1]
    open_ = [effect for effect in effects.effects if effect.p is None]
    leading_factors = {name for effect in first for name in effect.factors}
    others = [effect for effect in effects.effects if not leading_factors.issuperset(effect.factors)]
    most = not open_ and (bool(others) or len(first) > 1)
    verb = f"matter{'' if len(first) > 1 or first[0].is_block else 's'}{' most' if most else ''}"
    leading = f"{join_names([effect.name for effect in first])} {verb}: {join_names([effect.text for effect in first])}"
    rest = ", ".join(
        f"{effect.name} {effect.text}"
        for effect in significant_effects[len(first) :]
        if effect.share >= NO_SHARE or effect.ratio_text
    )
    text = f"{leading} of the variation" + (f", then {rest}" if rest else "")
    return Message(
        "significant",
        "{extremes}; {effects}.",
        extremes=_describe_extremes(story, units),
        effects="; ".join(
            [
                text,
                *describe_blocks(significant_effects),
                *describe_interaction(effects),
                *describe_minor_effects(effects),
                *([_describe_untested(open_)] if open_ else []),
            ]
        ),
        factors=[effect.name for effect in first],
        matters_most=most,
        untested=[effect.name for effect in open_],
    )


def _describe_untested(untold: Sequence[FactorEffect]) -> str:
    ordered = sorted(untold, key=lambda effect: -effect.share)
    names = [f"{effect.name} ({format_percent(effect.share)})" for effect in ordered if effect.share >= _MIN_SHARE][
        :_MOST_FACTORS
    ]
    if not names:
        factors = _join_factors([effect.name for effect in ordered])
        return f"{factors} cannot be distinguished from variation between bring-ups"
    return f"{join_names(names)} cannot be distinguished from variation between bring-ups: use more repetitions"
