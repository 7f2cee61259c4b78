"""A comparison in one sentence that can be quoted: faster or slower, more or less than the base, by how much, of how
many trials."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.core.level_text import setting_text
from iosonde.core.message import spell
from iosonde.core.metrics import changed, is_speed
from iosonde.core.table import show
from iosonde.core.types import Estimate, Metric
from iosonde.core.units import human_scale, percent, ratio_text, significant
from iosonde.core.verdict import VerdictState
from iosonde.core.words import counted, listed, shown

from .compare import CANNOT_TELL, DIFFERENT, EQUAL, NEGLIGIBLE, Comparison

NOT_SIGNIFICANT = "not significant"  # after Holm's correction


@dataclass(frozen=True)
class Wording:
    """What the words need: the ``metric`` says what is faster, ``unit`` is that of the values, ``factor`` is the column
    that tells the sides apart, ``adjusted`` are those that make the cells inside which was compared, ``level_unit`` is
    that of the factor's levels."""

    metric: Metric = Metric("", "")
    unit: str = ""
    factor: str | None = None
    adjusted: tuple[str, ...] = ()
    level_unit: str = ""

    def called(self, name: str) -> str:
        """A side as people say it."""
        return called(name, self.factor, self.level_unit)

    def way(self, one: Comparison) -> str:
        """``faster``, ``slower``, ``more`` or ``less``: where B lies."""
        return changed(self.metric, one.above)

    def said(self, one: Comparison) -> str:
        """The verdict in a word or two: ``slower``, ``slower by less than the margin``, ``practically equal``; one that
        Holm's correction takes away is ``slower (not significant)``."""
        if one.verdict in (EQUAL, CANNOT_TELL):
            return one.verdict
        way = self.way(one) + (" by less than the margin" if one.verdict == NEGLIGIBLE else "")
        return way + (f" ({NOT_SIGNIFICANT})" if one.by_chance else "")


def called(name: str, factor: str | None, unit: str = "") -> str:
    """A side as people say it: ``before``, but ``replicas=1`` where the name alone is a number, ``t=64 KiB`` of
    bytes."""
    if factor and unit == "bytes":
        return setting_text({factor: name}, {factor: unit})
    return f"{factor}={name}" if factor and name.replace(".", "", 1).lstrip("-").isdigit() else show(name)


def sentence(one: Comparison, words: Wording | None = None) -> str:
    """What the interval that decides says, with the base, the numbers and the trials."""
    words = words or Wording()
    a, b = words.called(one.a.name), words.called(one.b.name)
    margin = f"± {_margin(one, words)}"
    if one.decided.low is None or one.decided.high is None or one.decided.value is None:
        why = one.decided.warnings[0] if one.decided.warnings else "there is no interval"
        return f"Cannot tell whether {b} differs from {a} (the base): {why}; {_trials(one, words)}."
    amount, trials = _amount(one, words), _trials(one, words)
    if one.verdict == CANNOT_TELL:
        either = f"{changed(words.metric, True)} or {changed(words.metric, False)}"
        nothing = 0 if one.ratio is None else 1
        return (f"Cannot tell whether {b} is {either} than {a} (the base): {amount}, which holds {nothing} and reaches "
                f"beyond {margin}; {trials}.{_cure(one)}")  # fmt: skip
    if one.verdict == EQUAL:
        return f"{b} and {a} (the base) are practically equal: {amount}, within {margin}; {trials}."
    but = "" if one.verdict == DIFFERENT else f", but by less than the margin of {margin}"
    if one.by_chance:
        return (f"{b} is not significantly {words.way(one)} than {a} (the base){but}: {amount}; {trials}, p = "
                f"{one.p_holm:.2g} after Holm's correction.")  # fmt: skip
    return f"{b} is {words.way(one)} than {a} (the base){but}: {amount}; {trials}."


def overridden_sentence(one: Comparison, words: Wording, why: str, state: VerdictState | None) -> str:
    """What is said where an interval excludes 1, and the claim does not follow from it all the same: of ``why``."""
    a, b = words.called(one.a.name), words.called(one.b.name)
    numbers = f"{_amount(one, words)}; {_trials(one, words)}"
    if state is VerdictState.NOT_SEPARABLE:
        return f"{inseparable(words.factor, why, words.way(one), f'{a} (the base)', b)}: {numbers}."
    either = f"{changed(words.metric, True)} or {changed(words.metric, False)}"
    return f"Cannot tell whether {b} is {either} than {a} (the base): {why}; {numbers}."


def inseparable(factor: str | None, other: str, way: str, a: str, b: str) -> str:
    """A difference that the factor of the sides or another column makes: neither is claimed."""
    return f"{factor or 'the sides'} and {other} cannot be separated, of which one or both make {b} {way} than {a}"


def _amount(one: Comparison, words: Wording) -> str:
    if one.ratio is not None:
        of = _of_what(words.metric)
        return f"{_between(one.ratio)} times{of}"
    divisor, unit = _scale(one, words)
    return f"by {_between(one.difference, divisor)} {unit}".rstrip()


def _of_what(metric: Metric) -> str:
    if not is_speed(metric):
        return " as much"
    return " the rate" if changed(metric, True) == "faster" else " the time"


def _between(estimate: Estimate, divisor: float = 0.0) -> str:
    assert estimate.value is not None and estimate.low is not None and estimate.high is not None
    low, value, high = (
        shown(x / divisor) if divisor else ratio_text(x) for x in (estimate.low, estimate.value, estimate.high)
    )
    return f"{value} ({low} to {high})"


def _trials(one: Comparison, words: Wording) -> str:
    """``199 → 211 s, n = 8 and 8``; of cells, whose means are of different settings, only the trials."""
    if one.cells > 1 or words.adjusted:
        within = f"within {counted(one.cells, 'cell')}" + (f" of {listed(words.adjusted)}" if words.adjusted else "")
        return f"{within}, n = {one.a.side.n} and {one.b.side.n}"
    if one.paired:
        return f"{_means(one, words)}, n = {counted(one.a.side.n, 'pair')}"
    return f"{_means(one, words)}, n = {one.a.side.n} and {one.b.side.n}"


def _means(one: Comparison, words: Wording) -> str:
    divisor, unit = _scale(one, words)
    return f"{significant(one.a.side.mean / divisor)} → {significant(one.b.side.mean / divisor)} {unit}".rstrip()


def _scale(one: Comparison, words: Wording) -> tuple[float, str]:
    return human_scale(max(abs(one.a.side.mean), abs(one.b.side.mean)), words.unit)


def _margin(one: Comparison, words: Wording) -> str:
    if one.ratio is not None:
        return percent(one.margin)
    divisor, unit = _scale(one, words)
    return f"{significant(one.difference_margin / divisor)} {unit}".rstrip()


def _cure(one: Comparison) -> str:
    if one.cells_differ:
        return f" Its cells disagree beyond chance, which more trials would not change: compare each with {spell.by}."
    if one.n_needed is None:
        return ""
    if one.n_more is None:
        return " More trials would tell."
    a, b = one.n_more
    more = f"{a} more" if a == b else f"{a} more of A and {b} more of B"
    return f" About {one.n_needed} trials a side would tell: {more}."
