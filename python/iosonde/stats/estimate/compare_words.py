"""A comparison in one sentence that can be quoted."""

from __future__ import annotations

from iosonde.core.units import percent, ratio_text

from .compare import CANNOT_TELL, DIFFERENT, EQUAL, Comparison


def called(name: str, factor: str | None) -> str:
    """A side as people say it: ``before``, but ``replicas=1`` where the name alone is a number."""
    return f"{factor}={name}" if factor and name.replace(".", "", 1).lstrip("-").isdigit() else name


def sentence(one: Comparison, factor: str | None = None) -> str:
    """What the interval of the ratio says, with the numbers; ``factor`` is the column that tells the sides
    apart."""
    a, b, margin = called(one.a.name, factor), called(one.b.name, factor), f"± {percent(one.margin)}"
    low, high, value = one.ratio.low, one.ratio.high, one.ratio.value
    if one.verdict == CANNOT_TELL:
        if low is None or high is None or value is None:
            return f"Cannot tell whether {b} differs from {a}: {one.ratio.warnings[0]}."
        cure = f"; about {one.n_needed} trials a side would tell" if one.n_needed else ""
        return (
            f"Cannot tell whether {b} differs from {a}: the ratio may be {ratio_text(low)} to {ratio_text(high)}, "
            f"which holds 1 and reaches beyond {margin}{cure}."
        )
    assert low is not None and high is not None and value is not None
    interval = f"{ratio_text(value)} ({ratio_text(low)} to {ratio_text(high)})"
    if one.verdict == EQUAL:
        return f"{b} and {a} are practically equal: {b} is {interval} times {a}, within {margin}."
    way = "larger" if value > 1 else "smaller"
    if one.verdict == DIFFERENT:
        return f"{b} is {way}: {interval} times {a}."
    return f"{b} is {way}, but by less than the margin of {margin}: {interval} times {a}."
