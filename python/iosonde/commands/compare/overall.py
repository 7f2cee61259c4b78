"""The settings, and the operations that read, that write or that do neither, in one number: the geometric mean of a
trial's speeds, and its ratio over trials. Like the last line of benchstat, but with an interval, and reads are never
averaged with writes. Each trial's logs are averaged over the operations, with times inverted, so effects shared by a
trial's operations are in the interval."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.core.derived_numbers import list_sources
from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import USUAL, find_kind
from iosonde.core.message import Message
from iosonde.core.metrics import is_speed
from iosonde.core.table import Cell
from iosonde.core.types import Better, Metric
from iosonde.core.units import format_ratio
from iosonde.core.verdict import Verdict, VerdictState
from iosonde.core.words import format_count, join_names
from iosonde.stats.assumptions import AssumptionCheck, doubtful, judge
from iosonde.stats.estimate.compare import CANNOT_TELL, EQUAL, apply_holm_correction
from iosonde.stats.estimate.compare_words import Wording, describe_inseparable_factors
from iosonde.stats.estimate.shared_bring_ups import Key, group_means_by_bring_up, has_repeated_bring_ups
from iosonde.stats.estimate.within_cells import compare_within_cells

from .caveat import QualifiedComparison
from .parts import RESPONSE_LABELS
from .samples import SidePair

_SPEED = Metric("speed", "operations/s")


@dataclass(frozen=True)
class Overall(QualifiedComparison):
    """Comparison of the speeds over ``operations``, within settings. ``unit``: of the levels of ``group``, if they are
    sizes. ``checks``: those of the comparisons that are in it."""

    operations: tuple[str, ...]
    exclusions: tuple[str, ...]
    unit: str = ""
    group: str = ""
    checks: tuple[AssumptionCheck, ...] = ()
    response: str = "geometric mean"
    family: int = 1  # numbers of the same sides, over which p is corrected

    @property
    def words(self) -> Wording:
        """Return the input of its wording: all of it is speed."""
        return Wording(_SPEED, factor=self.group, level_unit=self.unit)

    @property
    def judged(self) -> Verdict:
        """Return the verdict, as of a comparison; it is corrected over the numbers of its sides."""
        unlike = (doubtful("cells-differ"),) if self.comparison.cells_differ else ()
        return judge(replace(self.claim, family=self.family), (*self.checks, *unlike))

    @property
    def verdict_word(self) -> str:
        """``faster`` or ``slower``, else the verdict."""
        check = self.overriding
        if check is not None and check.instead is VerdictState.INCONCLUSIVE:
            return CANNOT_TELL
        return self.words.describe_verdict(self.comparison)

    @property
    def sentence(self) -> str:
        """Describe the ratio and the operations that it covers."""
        e, settings = self.comparison.decided, self.comparison.cells
        if e.value is None:
            return f"The geometric mean of {join_names(self.operations)} is unknown."
        interval = "~" if e.low is None or e.high is None else f"{format_ratio(e.low)} to {format_ratio(e.high)}"
        n_operations = len(self.operations)
        over = f"{format_count(n_operations, 'operation')} ({join_names(self.operations)}), each trial's own"
        subject = f"Geometric mean of {over}" if n_operations > 1 else f"All settings of {self.operations[0]} together"
        within = f" within {format_count(settings, 'setting')}" if settings > 1 else ""
        within += ", which differ beyond chance" if self.comparison.cells_differ else ""
        gone = f"; left out: {', '.join(self.exclusions)}" if self.exclusions else ""
        a, b = self.sides
        n_a, n_b = self.comparison.a.side.n, self.comparison.b.side.n
        relation = f"{b} against {a} {self.verdict_word}" if self.comparison.depends else ""
        claim = relation or f"{b} {_format_relation(self.verdict_word)} {a}"
        if (check := self.overriding) is not None and self.verdict_word != CANNOT_TELL:
            claim = describe_inseparable_factors(self.group, check.cause, self.verdict_word, a, b)
        return (
            f"{subject}: {claim}, "
            f"{format_ratio(e.value)} ({interval}) times the speed{within}, n = {n_a} and {n_b}{gone}."
        )

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        comparison = self.comparison
        return {
            "a": comparison.a.name,
            "b": comparison.b.name,
            "operations": list(self.operations),
            "settings": comparison.cells,
            "n_a": comparison.a.side.n,
            "n_b": comparison.b.side.n,
            "speed": comparison.decided.to_json(),
            "verdict": comparison.verdict,
            "said": self.verdict_word,
            "left_out": list(self.exclusions),
            "settings_differ": comparison.cells_differ,
            "sentence": self.sentence,
        }


def _format_relation(word: str) -> str:
    if word == CANNOT_TELL:
        return "does not differ significantly from"
    if word == EQUAL:
        return "is practically equal to"
    way, _, less = word.partition(" ")
    return f"is {way} than" if not less else f"is {less} {way} than"


def compute_overall_ratios(
    pairs: Sequence[SidePair], level: float, margin: float, group: str = ""
) -> tuple[Overall, ...]:
    """Compute the ratios for each pair of sides, levels of ``group``, that was compared trial by trial: one of what
    reads, one of what writes and one of the rest, if each is of two comparisons or more."""
    by_sides = group_by_key(((pair.a.name, pair.b.name), pair) for pair in pairs)
    means: list[Overall] = []
    for sides, side_pairs in by_sides.items():
        kinds = group_by_key((_classify_operation(_get_operation(pair)), pair) for pair in side_pairs).values()
        ratios = [_compute_overall_ratio(sides, kind_pairs, level, margin, group) for kind_pairs in kinds]
        computed = [ratio for ratio in ratios if ratio is not None]
        corrected = apply_holm_correction([ratio.comparison for ratio in computed])
        both = zip(computed, corrected, strict=True)
        means += [replace(ratio, comparison=each, family=len(computed)) for ratio, each in both]
    return tuple(means)


def _classify_operation(operation: str) -> tuple[bool, bool]:
    """Return whether an operation reads, and whether it writes, by the words of its name: ``ior_easy_read``."""
    words = [word.removesuffix("s") for word in re.split(r"[^a-z]+", operation.lower())]
    reads = any(word.endswith("read") and not word.endswith("thread") for word in words)
    return reads, any(word.endswith("write") for word in words)


def _compute_overall_ratio(
    sides: tuple[str, str], pairs: Sequence[SidePair], level: float, margin: float, group: str
) -> Overall | None:
    numbers = {_get_number(pair) for pair in pairs}
    usable = [pair for pair in pairs if _is_usable(pair) and not list_sources(_get_number(pair), numbers)]
    names = _select_headline_metrics(usable)
    chosen = [pair for pair in usable if (_get_operation(pair), pair.part.metric.name) in names]
    operations = tuple(dict.fromkeys(_get_operation(pair) for pair in chosen))
    if len(chosen) < 2:
        return None
    cells, used = _average_cells(chosen, len(operations))
    is_repeated = len(operations) > 1 or any(a.size + b.size > 2 for a, b in cells)
    if not is_repeated or not cells or min(sum(cell[side].size for cell in cells) for side in (0, 1)) < 2:
        return None
    speeds = [(np.exp(a), np.exp(b)) for a, b in cells]
    gone = dict.fromkeys(_get_operation(pair) for pair in pairs if _get_operation(pair) not in operations)
    return Overall(
        compare_within_cells(sides, speeds, level, margin, None, exact=True),
        operations,
        (*gone, *_describe_incomplete_trials(chosen, used)),
        chosen[0].part.units.get(group, ""),
        group,
    )


def _is_usable(pair: SidePair) -> bool:
    """Return whether the values are positive rates or times of identified trials."""
    return (
        is_speed(pair.part.metric)
        and pair.part.base is None
        and not pair.part.within_run
        and pair.part.summaries is None
        and not pair.part.lines
        and all(side_trials.trials and np.all(side_trials.values > 0) for side_trials in (pair.a, pair.b))
    )


def _get_number(pair: SidePair) -> tuple[str, str]:
    return _get_operation(pair), find_kind(pair.part.metric.name)


def _get_operation(pair: SidePair) -> str:
    cell = pair.part.cell
    return str(cell.get("operation") or cell.get("response") or pair.part.column)


def _select_headline_metrics(pairs: Sequence[SidePair]) -> set[tuple[str, str]]:
    """Return one metric of each operation: its bandwidth, else its rate, else its time, else its first."""
    metrics = group_by_key((_get_operation(pair), pair.part.metric.name) for pair in pairs)

    def rank_metric(metric: str) -> int:
        return next((i for i, head in enumerate(USUAL) if metric.startswith(head)), len(USUAL))

    return {(operation, min(names, key=rank_metric)) for operation, names in metrics.items()}


def _average_cells(pairs: Sequence[SidePair], n_operations: int) -> tuple[list[tuple[Any, Any]], int]:
    """Return the mean logs of A's and B's trials that have every operation, by setting, and the number of trials.
    Trials that share a bring-up are averaged into one."""
    logs: list[dict[tuple[Key, Cell], dict[str, float]]] = [{}, {}]
    bring_ups: dict[tuple[Key, Cell], Key] = {}
    for pair in pairs:
        setting = tuple((name, level) for name, level in pair.part.cell.items() if name not in RESPONSE_LABELS)
        sign = -1 if pair.part.metric.better is Better.LOWER else 1
        for side_logs, side_trials in zip(logs, (pair.a, pair.b), strict=True):
            bring_up_keys = side_trials.bring_ups or [(trial,) for trial in side_trials.trials]
            for value, cell, trial, unit in zip(
                side_trials.values, side_trials.cells, side_trials.trials, bring_up_keys, strict=True
            ):
                key = ((*map(str, setting), *cell), trial)
                bring_ups[key] = unit
                side_logs.setdefault(key, {})[_get_operation(pair)] = sign * float(np.log(value))
    complete = [
        {key: float(np.mean(list(each.values()))) for key, each in side_logs.items() if len(each) == n_operations}
        for side_logs in logs
    ]
    units = [[bring_ups[key] for key in side] for side in complete]
    if any(map(has_repeated_bring_ups, units)):
        values = tuple(np.array(list(side.values())) for side in complete)
        cells = tuple([setting for setting, _ in side] for side in complete)
        return group_means_by_bring_up((values[0], values[1]), (cells[0], cells[1]), (units[0], units[1])), sum(
            map(len, complete)
        )
    a, b = (group_by_key((setting_key, value) for (setting_key, _), value in mine.items()) for mine in complete)
    both = [(np.array(values), np.array(b[key])) for key, values in a.items() if key in b]
    return both, sum(x.size + y.size for x, y in both)


def _describe_incomplete_trials(pairs: Sequence[SidePair], used: int) -> list[str]:
    every = {
        (side, trial)
        for pair in pairs
        for side, side_trials in enumerate((pair.a, pair.b))
        for trial in side_trials.trials
    }
    without = len(every) - used
    if without <= 0:
        return []
    return [Message("incomplete-trials", "{trials} without all of them", trials=format_count(without, "trial"))]
