"""Published numbers, setting by setting, each with what was measured there and the verdict.

Numbers of the same system are compared by their intervals, promises by the limit, numbers of another system by their
share of each one's bound, or by their order over four settings or more.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from iosonde.core.grouping import group_by_key
from iosonde.core.types import Estimate
from iosonde.core.words import format_count
from iosonde.importers.published_figures import REPETITION, PrintedNumber, Publication
from iosonde.stats.estimate.distributions import t_critical

from .judge import (
    PublishedOutcome,
    PublishedVerdict,
    judge_interval,
    judge_printed,
    judge_promise,
    judge_ranking,
    judge_recomputed,
    judge_share,
)

# The texts of the codes of the key ``unmeasured``.
REASONS = {
    "hardware": "it needs hardware that is not here",
    "software": "it needs software that is gone",
    "data": "it needs data that is not public",
    "site": "it is a fact about a site",
    "input": "it is the input of a number that is compared",
    "clock": "its close returns before its data is sent, so its time here is no speed",
    "trials": "the trials of the experiment that measures it are not kept here",
    "model": "it belongs to a model of factors that were not measured",
}
# The order of three settings cannot be significant.
MIN_RANKED = 4


@dataclass(frozen=True)
class MeasuredNumber:
    """What DATA has at the setting of a number, in base units; without it, the reason."""

    estimate: Estimate | None = None
    missing: str = ""


@dataclass(frozen=True)
class JudgedCell:
    """One printed number, or the trials of one setting, and the verdict. ``published`` and ``measured`` are in base
    units; ``note`` explains a verdict that is open."""

    numbers: tuple[PrintedNumber, ...]
    published: Estimate
    measured: Estimate | None
    verdict: PublishedVerdict
    note: str = ""

    @property
    def number(self) -> PrintedNumber:
        """The number, the first of several trials."""
        return self.numbers[0]


@dataclass(frozen=True)
class JudgedRanking:
    """The order of all measured settings of one metric."""

    operation: str
    metric: str
    n_settings: int
    verdict: PublishedVerdict


@dataclass(frozen=True)
class UnmeasuredGroup:
    """Numbers that share the ``reason`` why nothing was compared with them; ``n`` counts their trials, too."""

    reason: str
    n: int
    cells: tuple[JudgedCell, ...]


Find = Callable[[PrintedNumber], MeasuredNumber]


def judge_publication(
    publication: Publication, find: Find, level: float
) -> tuple[list[JudgedCell], list[JudgedRanking]]:
    """Judge each number of a document. ``find`` returns what was measured at the setting of a number; ``level`` is that
    of intervals over printed trials."""
    cells = [
        _judge_cell(tuple(numbers), find, level, publication.is_same_hardware)
        for numbers in _group_trials(publication.figures)
    ]
    rankings = list(_rank_settings(cells))
    if not publication.is_same_hardware:
        verdicts = {(ranking.operation, ranking.metric): ranking.verdict for ranking in rankings}
        cells = [_apply_ranking(cell, verdicts) for cell in cells]
    return cells, rankings


def count_outcomes(cells: Iterable[JudgedCell]) -> Counter[PublishedOutcome]:
    """Count the printed numbers by verdict."""
    counts: Counter[PublishedOutcome] = Counter()
    for cell in cells:
        counts[cell.verdict.outcome] += len(cell.numbers)
    return counts


def describe_counts(counts: Counter[PublishedOutcome]) -> str:
    """Return the closing sentence, in the order of the verdicts."""
    parts = [f"{counts[outcome]} {outcome}" for outcome in PublishedOutcome if counts[outcome]]
    return f"Of {format_count(counts.total(), 'published number')}: {', '.join(parts)}."


def group_unmeasured(cells: Iterable[JudgedCell]) -> list[UnmeasuredGroup]:
    """Group the numbers that were not measured by the reason, the most frequent first."""
    groups = group_by_key(
        (str(cell.note) or REASONS.get(cell.number.unmeasured, "nothing to compare"), cell)
        for cell in cells
        if cell.verdict.outcome is PublishedOutcome.NOT_MEASURED
    )
    counted = [
        UnmeasuredGroup(reason, sum(len(cell.numbers) for cell in group), tuple(group))
        for reason, group in groups.items()
    ]
    return sorted(counted, key=lambda group: -group.n)


def _group_trials(figures: Sequence[PrintedNumber]) -> list[list[PrintedNumber]]:
    """Return the numbers, trials of one setting together."""

    def build_key(place: int, number: PrintedNumber) -> object:
        if REPETITION not in number.settings:
            return place
        settings = sorted((name, str(level)) for name, level in number.settings.items() if name != REPETITION)
        return number.operation, number.metric, number.statistic, tuple(settings)

    groups = group_by_key((build_key(place, number), number) for place, number in enumerate(figures))
    return list(groups.values())


def _judge_cell(numbers: tuple[PrintedNumber, ...], find: Find, level: float, is_same: bool) -> JudgedCell:
    number, published = numbers[0], _build_published(numbers, level)
    if number.follows is not None:
        return JudgedCell(numbers, published, None, judge_recomputed(number, number.follows))
    if number.slip is not None or number.statistic:
        return JudgedCell(numbers, published, None, judge_printed(number))
    measurement = find(number)
    if measurement.estimate is None:
        note = "" if number.unmeasured else measurement.missing
        return JudgedCell(numbers, published, None, judge_printed(number), note)
    verdict = _judge_estimates(number, published, measurement.estimate, is_same)
    return JudgedCell(numbers, published, measurement.estimate, verdict, measurement.missing)


def _judge_estimates(number: PrintedNumber, published: Estimate, measured: Estimate, is_same: bool) -> PublishedVerdict:
    value = published.value
    if value is None or (not is_same and number.bound is None):
        return PublishedVerdict(PublishedOutcome.INCONCLUSIVE)
    if number.bound is not None:
        theirs, ours = (number.unit.to_base(bound) for bound in number.bound)
        return judge_share(value / theirs, _divide(measured, ours))
    if number.relation:
        return judge_promise(value, number.relation, measured)
    return judge_interval(published, measured)


def _divide(estimate: Estimate, divisor: float) -> Estimate:
    value, low, high = (None if end is None else end / divisor for end in (estimate.value, estimate.low, estimate.high))
    return replace(estimate, value=value, low=low, high=high)


def _build_published(numbers: Sequence[PrintedNumber], level: float) -> Estimate:
    """Return the published mean in base units, with the printed interval, or that of its sd or of its trials."""
    number, convert = numbers[0], numbers[0].unit.to_base
    if len(numbers) > 1:
        values = [each.value for each in numbers]
        mean, half = statistics.fmean(values), _compute_half_width(statistics.stdev(values), len(values), level)
        return Estimate(convert(mean), convert(mean - half), convert(mean + half), level, len(values))
    low, high, value = number.low, number.high, number.value
    own_level = number.level or level
    if low is None and number.sd is not None and (number.n or 0) > 1:
        half = _compute_half_width(number.sd, number.n or 0, own_level)
        low, high = value - half, value + half
    low, high = (None if end is None else convert(end) for end in (low, high))
    return Estimate(convert(value), low, high, own_level, number.n or 1)


def _compute_half_width(sd: float, n: int, level: float) -> float:
    return t_critical(level, n - 1) * sd / math.sqrt(n)


def _rank_settings(cells: Sequence[JudgedCell]) -> Iterable[JudgedRanking]:
    measured = [cell for cell in cells if cell.measured is not None and cell.measured.value is not None]
    groups = group_by_key(((cell.number.operation, cell.number.metric), cell) for cell in measured)
    for (operation, metric), group in groups.items():
        if len(group) >= MIN_RANKED:
            values = [[getattr(cell, side).value for cell in group] for side in ("published", "measured")]
            yield JudgedRanking(operation, metric, len(group), judge_ranking(*values))


def _apply_ranking(cell: JudgedCell, verdicts: dict[tuple[str, str], PublishedVerdict]) -> JudgedCell:
    number = cell.number
    if cell.measured is None or number.bound is not None:
        return cell
    verdict = verdicts.get((number.operation, number.metric))
    return replace(cell, verdict=verdict) if verdict is not None else cell
