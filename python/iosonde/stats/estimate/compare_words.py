"""A comparison as one quotable sentence: faster or slower, more or less than the base, by how much, over how many
trials."""

from dataclasses import dataclass

from iosonde.core.level_text import format_setting
from iosonde.core.message import spell
from iosonde.core.metrics import describe_change, is_speed
from iosonde.core.table import format_cell
from iosonde.core.types import Estimate, Metric
from iosonde.core.units import choose_human_scale, format_percent, format_ratio, format_significant
from iosonde.core.verdict import VerdictState
from iosonde.core.words import format_count, format_number, join_names

from .compare import CANNOT_TELL, DIFFERENT, EQUAL, NEGLIGIBLE, POWER, Comparison

NOT_SIGNIFICANT = "not significant"  # after Holm's correction
MOST_SHOWN = 1000  # trials: more are never measured, and their number is not known so well


@dataclass(frozen=True)
class Wording:
    """Context of the sentence. ``metric`` defines what is faster, ``unit`` is that of the values, ``factor`` the column
    that separates the sides. ``adjusted``: factors of the cells within which the sides were compared; ``level_unit``:
    unit of the factor's levels."""

    metric: Metric = Metric("", "")
    unit: str = ""
    factor: str | None = None
    adjusted: tuple[str, ...] = ()
    level_unit: str = ""

    @property
    def cells(self) -> str:
        """Return the columns of the cells."""
        return join_names(self.adjusted) if self.adjusted else "the setting"

    def called(self, name: str) -> str:
        """Return the display name of a side."""
        return format_side_name(name, self.factor, self.level_unit)

    def way(self, comparison: Comparison) -> str:
        """Return ``faster``, ``slower``, ``more`` or ``less`` for B."""
        return describe_change(self.metric, comparison.above)

    def describe_verdict(self, comparison: Comparison) -> str:
        """Return the verdict in a word or two: ``slower``, ``slower by less than the margin``, ``practically equal``;
        after Holm's correction ``slower (not significant)``; ``depends on nodes`` where the cells differ in
        direction."""
        if comparison.depends:
            return f"depends on {self.cells}"
        if comparison.verdict in (EQUAL, CANNOT_TELL):
            return comparison.verdict
        way = self.way(comparison) + (" by less than the margin" if comparison.verdict == NEGLIGIBLE else "")
        return way + (f" ({NOT_SIGNIFICANT})" if comparison.by_chance else "")

    @staticmethod
    def format_more_trials(comparison: Comparison) -> str:
        """Return the additional trials per side: ``+12`` to find a difference of the observed size, ``=+425`` to know
        that the sides are equal, ``>1000``; '' if unknown."""
        if comparison.n_more is None:
            return ""
        more, sign = max(comparison.n_more), "" if comparison.question == DIFFERENT else "="
        return f"{sign}>{MOST_SHOWN}" if more > MOST_SHOWN else f"{sign}+{more}"


def format_side_name(name: str, factor: str | None, unit: str = "") -> str:
    """Return the display name of a side: ``before``, but ``replicas=1`` if the name is a number, ``t=64 KiB`` for
    bytes."""
    if factor and unit == "bytes":
        return format_setting({factor: name}, {factor: unit})
    return f"{factor}={name}" if factor and name.replace(".", "", 1).lstrip("-").isdigit() else format_cell(name)


def describe_comparison(comparison: Comparison, words: Wording | None = None) -> str:
    """Return the result of the deciding interval, with the base, the numbers and the trials."""
    words = words or Wording()
    a, b = words.called(comparison.a.name), words.called(comparison.b.name)
    margin = f"± {_format_margin(comparison, words)}"
    if comparison.decided.low is None or comparison.decided.high is None or comparison.decided.value is None:
        why = comparison.decided.warnings[0] if comparison.decided.warnings else "no interval"
        return f"Inconclusive: {b} may differ from {a} (the base) or not: {why}; {_describe_trials(comparison, words)}."
    amount, trials = _format_amount(comparison, words), _describe_trials(comparison, words)
    if comparison.depends:
        return (
            f"How {b} differs from {a} (the base) depends on {words.cells}: compare each with {spell.by}; in the mean "
            f"{amount}; {trials}."
        )
    if comparison.verdict == CANNOT_TELL:
        either = f"{describe_change(words.metric, True)} or {describe_change(words.metric, False)}"
        nothing = 0 if comparison.ratio is None else 1
        return (
            f"Inconclusive: {b} may be {either} than {a} (the base): {amount}, which includes {nothing} and extends "
            f"beyond {margin}; {trials}.{_suggest_trials_needed(comparison, margin)}"
        )
    if comparison.verdict == EQUAL:
        return f"{b} and {a} (the base) are practically equal: {amount}, within {margin}; {trials}."
    but = "" if comparison.verdict == DIFFERENT else f", but by less than the margin of {margin}"
    if comparison.by_chance:
        return (
            f"{b} is not significantly {words.way(comparison)} than {a} (the base){but}: {amount}; {trials}, p = "
            f"{comparison.p_holm:.2g} after Holm's correction."
        )
    return f"{b} is {words.way(comparison)} than {a} (the base){but}: {amount}; {trials}."


def describe_untested_comparison(comparison: Comparison, words: Wording) -> str:
    """Return the sentence about sides of which one has one trial: their ratio, and what would settle the question."""
    a, b = words.called(comparison.a.name), words.called(comparison.b.name)
    value, relation = comparison.decided.value, f"{b} - {a} (the base)"
    if comparison.ratio is not None:
        relation = f"{b} ÷ {a} (the base)"
    each = "one trial each has" if max(comparison.a.side.n, comparison.b.side.n) == 1 else "a side of one trial has"
    number = "unknown" if value is None else format_significant(value)
    return (
        f"Not tested: {relation} is {number}, but {each} no spread to compare with: repeat both, 6 times or more; "
        f"{_describe_trials(comparison, words)}."
    )


def describe_overridden_verdict(comparison: Comparison, words: Wording, why: str, state: VerdictState | None) -> str:
    """Return the sentence for an interval that excludes 1 although the claim does not follow, because of ``why``."""
    a, b = words.called(comparison.a.name), words.called(comparison.b.name)
    numbers = f"{_format_amount(comparison, words)}; {_describe_trials(comparison, words)}"
    if state is VerdictState.NOT_SEPARABLE:
        text = describe_inseparable_factors(words.factor, why, words.way(comparison), f"{a} (the base)", b)
        return f"{text}: {numbers}."
    either = f"{describe_change(words.metric, True)} or {describe_change(words.metric, False)}"
    return f"Inconclusive: {b} may be {either} than {a} (the base): {why}; {numbers}."


def describe_inseparable_factors(factor: str | None, other: str, way: str, a: str, b: str) -> str:
    """Return the sentence on a difference that the factor of the sides or another column causes: neither is claimed."""
    return f"{factor or 'the sides'} and {other} cannot be separated; one or both make {b} {way} than {a}"


def _format_amount(comparison: Comparison, words: Wording) -> str:
    if comparison.ratio is not None:
        of = _describe_reference(words.metric)
        return f"{_format_interval(comparison.ratio)} times{of}"
    divisor, unit = _choose_scale(comparison, words)
    return f"by {_format_interval(comparison.difference, divisor)} {unit}".rstrip()


def _describe_reference(metric: Metric) -> str:
    if not is_speed(metric):
        return " as much"
    return " the rate" if describe_change(metric, True) == "faster" else " the time"


def _format_interval(estimate: Estimate, divisor: float = 0.0) -> str:
    assert estimate.value is not None and estimate.low is not None and estimate.high is not None
    low, value, high = (
        format_number(x / divisor) if divisor else format_ratio(x)
        for x in (estimate.low, estimate.value, estimate.high)
    )
    return f"{value} ({low} to {high})"


def _describe_trials(comparison: Comparison, words: Wording) -> str:
    """Return ``199 → 211 s, n = 8 and 8``; for cells, whose means are of different settings, only the trials."""
    if comparison.cells > 1 or words.adjusted:
        within = f"within {format_count(comparison.cells, 'cell')}" + (
            f" of {join_names(words.adjusted)}" if words.adjusted else ""
        )
        return f"{within}, n = {comparison.a.side.n} and {comparison.b.side.n}"
    if comparison.paired:
        return f"{_format_means(comparison, words)}, n = {format_count(comparison.a.side.n, 'pair')}"
    return f"{_format_means(comparison, words)}, n = {comparison.a.side.n} and {comparison.b.side.n}"


def _format_means(comparison: Comparison, words: Wording) -> str:
    divisor, unit = _choose_scale(comparison, words)
    a, b = comparison.a.side.mean / divisor, comparison.b.side.mean / divisor
    return f"{format_significant(a)} → {format_significant(b)} {unit}".rstrip()


def _choose_scale(comparison: Comparison, words: Wording) -> tuple[float, str]:
    return choose_human_scale(max(abs(comparison.a.side.mean), abs(comparison.b.side.mean)), words.unit)


def _format_margin(comparison: Comparison, words: Wording) -> str:
    if comparison.ratio is not None:
        return format_percent(comparison.margin)
    divisor, unit = _choose_scale(comparison, words)
    return f"{format_significant(comparison.difference_margin / divisor)} {unit}".rstrip()


def _suggest_trials_needed(comparison: Comparison, margin: str) -> str:
    if comparison.n_needed is None:
        return ""
    if comparison.n_more is None:
        return " More trials are needed."
    aim = f"know whether it is within {margin}"
    if comparison.question == DIFFERENT:
        aim = f"find a difference of this size (power {format_percent(POWER)})"
    if comparison.n_needed > MOST_SHOWN:
        return f" More than {MOST_SHOWN} trials per side are needed to {aim}."
    a, b = comparison.n_more
    more = f"{a} more" if a == b else f"{a} more of A and {b} more of B"
    return f" About {comparison.n_needed} trials per side are needed to {aim}: {more}."
