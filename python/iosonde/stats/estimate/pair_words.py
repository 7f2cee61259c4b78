"""What pairs say, in one sentence that can be quoted: A is the base, always."""

from __future__ import annotations

from collections.abc import Mapping

from iosonde.core.column_units import is_rate
from iosonde.core.deciding import Name
from iosonde.core.types import FactorValue
from iosonde.core.units import human_scale, percent, ratio_text, significant

from .compare import CANNOT_TELL, DIFFERENT, EQUAL
from .compare_words import called
from .pairs import PairVerdict
from .sequential import LEAST

_TWICE = 2.0  # from here on people say "2.5 times"


def sentence(one: PairVerdict) -> str:
    """What the interval of the ratio says, with its numbers, the level, and the number of pairs."""
    a, b, margin = *sides(one), f"± {percent(one.rule.margin)}"
    e = one.ratio
    if one.n < LEAST:
        return f"Cannot tell whether {b} differs from {a}: {_pairs(one)}, and at least {LEAST} are needed{_alone(one)}."
    if e.value is None or e.low is None or e.high is None:
        return f"Cannot tell whether {b} differs from {a}: {e.warnings[0]} ({_pairs(one)}{_alone(one)})."
    basis = f"{100 * one.rule.level:g} %, anytime-valid, {_pairs(one)}{_alone(one)}"
    interval = f"{ratio_text(e.low)} to {ratio_text(e.high)}"
    ratio = f"ratio {ratio_text(e.value)}, {interval}; {basis}"
    if one.verdict == CANNOT_TELL:
        ended = "" if one.limits else _ended(one)
        return (
            f"Cannot tell whether {b} differs from {a}: the ratio of {what(one)} may be {interval}, which holds 1 and "
            f"reaches beyond {margin} ({basis}{ended})."
        )
    if one.verdict == EQUAL:
        return f"{b} and {a} are practically equal in {what(one)}, within {margin} ({ratio})."
    beside = "" if one.verdict == DIFFERENT else f", which is within the margin of {margin}"
    return f"{b} {_way(one, e.value)} {a}{beside}: {what(one)} {_typical(one)} ({ratio})."


def untold_limit(one: PairVerdict) -> str:
    """Of sealed conditions that the pairs do not tell."""
    conditions = " or ".join(f"'{each}'" for each in one.untold)
    return f"{_pairs(one)} cannot tell {conditions} of {what(one)}{_ended(one)}"


def sides(one: PairVerdict) -> tuple[str, str]:
    """A and B as people say them, with the setting of the other factors at B."""
    a, b = (called(name, one.rule.factor) for name in (one.rule.a, one.rule.b))
    setting = ", ".join(f"{name}={level}" for name, level in one.cell.items())
    return a, f"{b} (at {setting})" if setting else b


def what(one: PairVerdict) -> str:
    """``write bandwidth``; of a step whose only number is its time, ``time``."""
    operation, metric, _ = one.name
    plain = metric.removesuffix("_last_done").removesuffix("_sum_of_ranks")
    return "time" if plain == "seconds" else f"{operation} {plain}"


def gate_name(name: Name, cell: Mapping[str, FactorValue] | None = None) -> str:
    """``write bandwidth, nodes=2``: which number of which cell a gate judges."""
    operation, metric, _ = name
    plain = metric.removesuffix("_last_done").removesuffix("_sum_of_ranks")
    said = f"{operation} {'time' if plain == 'seconds' else plain}"
    return ", ".join([said, *(f"{factor}={level}" for factor, level in (cell or {}).items())])


def _way(one: PairVerdict, ratio: float) -> str:
    """``is 12 % faster than``; less time is said as such, since "12 % faster" may mean either of two numbers."""
    share, rate = percent(abs(ratio - 1)), is_rate(one.name[2])
    if rate and ratio >= _TWICE:
        return f"is {significant(ratio)} times as fast as"
    if rate:
        return f"is {share} {'faster' if ratio > 1 else 'slower'} than"
    many = f"{significant(ratio)} times the" if ratio >= _TWICE else f"{share} {'more' if ratio > 1 else 'less'}"
    other = "of" if ratio >= _TWICE else "than"
    if one.name[1] == "seconds":
        return f"is {'slower' if ratio > 1 else 'faster'}: it takes {many} time {other}"
    return f"has {many} {what(one)} {other}"


def _typical(one: PairVerdict) -> str:
    """``112 MiB/s against 100 MiB/s``."""
    found = one.typical()
    if found is None:
        return ""
    scale, unit = human_scale(max(found), one.name[2])
    a, b = (f"{significant(value / scale)} {unit}".rstrip() for value in found)
    return f"{b} against {a}"


def _ended(one: PairVerdict) -> str:
    """Why there are no more pairs, where there cannot be, and how many would surely tell."""
    most = ", the most that were asked for" if one.n + one.alone >= one.rule.most else ""
    return f"{most}; about {needed} would tell" if (needed := one.n_needed()) else most


def _pairs(one: PairVerdict) -> str:
    return "1 pair" if one.n == 1 else f"{one.n} pairs"


def _alone(one: PairVerdict) -> str:
    if not one.alone:
        return ""
    return f"; {one.alone} run{'s' if one.alone > 1 else ''} without a complete partner left out"
