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


def sentence(pair_verdict: PairVerdict) -> str:
    """What the interval of the ratio says, with its numbers, the level, and the number of pairs."""
    a, b, margin = *sides(pair_verdict), f"± {percent(pair_verdict.rule.margin)}"
    e = pair_verdict.ratio
    unclear = f"Cannot tell whether {b} differs from {a}"
    pairs, alone = _format_pairs(pair_verdict), _describe_unpaired(pair_verdict)
    if pair_verdict.n < LEAST:
        return f"{unclear}: {pairs}, and at least {LEAST} are needed{alone}."
    if e.value is None or e.low is None or e.high is None:
        return f"{unclear}: {e.warnings[0]} ({pairs}{alone})."
    basis = (
        f"{100 * pair_verdict.rule.level:g} %, anytime-valid, "
        f"{_format_pairs(pair_verdict)}{_describe_unpaired(pair_verdict)}"
    )
    interval = f"{ratio_text(e.low)} to {ratio_text(e.high)}"
    ratio = f"ratio {ratio_text(e.value)}, {interval}; {basis}"
    if pair_verdict.verdict == CANNOT_TELL:
        ended = "" if pair_verdict.limits else _describe_end(pair_verdict)
        return (
            f"{unclear}: the ratio of {what(pair_verdict)} may be {interval}, which holds 1 and "
            f"reaches beyond {margin} ({basis}{ended})."
        )
    if pair_verdict.verdict == EQUAL:
        return f"{b} and {a} are practically equal in {what(pair_verdict)}, within {margin} ({ratio})."
    caveat = "" if pair_verdict.verdict == DIFFERENT else f", which is within the margin of {margin}"
    direction, typical = _describe_direction(pair_verdict, e.value), _format_typical(pair_verdict)
    return f"{b} {direction} {a}{caveat}: {what(pair_verdict)} {typical} ({ratio})."


def untold_limit(pair_verdict: PairVerdict) -> str:
    """Of sealed conditions that the pairs do not tell."""
    conditions = " or ".join(f"'{each}'" for each in pair_verdict.untold)
    return (
        f"{_format_pairs(pair_verdict)} cannot tell {conditions} of {what(pair_verdict)}{_describe_end(pair_verdict)}"
    )


def sides(pair_verdict: PairVerdict) -> tuple[str, str]:
    """A and B as people say them, with the setting of the other factors at B."""
    a, b = (called(name, pair_verdict.rule.factor) for name in (pair_verdict.rule.a, pair_verdict.rule.b))
    setting = ", ".join(f"{name}={level}" for name, level in pair_verdict.cell.items())
    return a, f"{b} (at {setting})" if setting else b


def what(pair_verdict: PairVerdict) -> str:
    """``write bandwidth``; of a step whose only number is its time, ``time``."""
    operation, metric, _ = pair_verdict.name
    plain = metric.removesuffix("_last_done").removesuffix("_sum_of_ranks")
    return "time" if plain == "seconds" else f"{operation} {plain}"


def gate_name(name: Name, cell: Mapping[str, FactorValue] | None = None) -> str:
    """``write bandwidth, nodes=2``: which number of which cell a gate judges."""
    operation, metric, _ = name
    plain = metric.removesuffix("_last_done").removesuffix("_sum_of_ranks")
    text = f"{operation} {'time' if plain == 'seconds' else plain}"
    return ", ".join([text, *(f"{factor}={level}" for factor, level in (cell or {}).items())])


def _describe_direction(pair_verdict: PairVerdict, ratio: float) -> str:
    """``is 12 % faster than``; less time is said as such, since "12 % faster" may mean either of two numbers."""
    share, rate = percent(abs(ratio - 1)), is_rate(pair_verdict.name[2])
    if rate and ratio >= _TWICE:
        return f"is {significant(ratio)} times as fast as"
    if rate:
        return f"is {share} {'faster' if ratio > 1 else 'slower'} than"
    many = f"{significant(ratio)} times the" if ratio >= _TWICE else f"{share} {'more' if ratio > 1 else 'less'}"
    other = "of" if ratio >= _TWICE else "than"
    if pair_verdict.name[1] == "seconds":
        return f"is {'slower' if ratio > 1 else 'faster'}: it takes {many} time {other}"
    return f"has {many} {what(pair_verdict)} {other}"


def _format_typical(pair_verdict: PairVerdict) -> str:
    """``112 MiB/s against 100 MiB/s``."""
    means = pair_verdict.typical()
    if means is None:
        return ""
    scale, unit = human_scale(max(means), pair_verdict.name[2])
    a, b = (f"{significant(value / scale)} {unit}".rstrip() for value in means)
    return f"{b} against {a}"


def _describe_end(pair_verdict: PairVerdict) -> str:
    """Why there are no more pairs, where there cannot be, and how many would surely tell."""
    most = ", the most that were asked for" if pair_verdict.n + pair_verdict.alone >= pair_verdict.rule.most else ""
    return f"{most}; about {needed} would tell" if (needed := pair_verdict.n_needed()) else most


def _format_pairs(pair_verdict: PairVerdict) -> str:
    return "1 pair" if pair_verdict.n == 1 else f"{pair_verdict.n} pairs"


def _describe_unpaired(pair_verdict: PairVerdict) -> str:
    if not pair_verdict.alone:
        return ""
    return f"; {pair_verdict.alone} run{'s' if pair_verdict.alone > 1 else ''} without a complete partner left out"
