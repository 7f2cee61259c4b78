"""The result of pairs as one quotable sentence; A is always the base."""

from collections.abc import Mapping

from iosonde.core.column_units import is_rate
from iosonde.core.deciding import Name
from iosonde.core.headlines import format_metric
from iosonde.core.types import FactorValue
from iosonde.core.units import choose_human_scale, format_percent, format_ratio, format_significant

from .compare import CANNOT_TELL, DIFFERENT, EQUAL
from .compare_words import format_side_name
from .pairs import PairVerdict
from .sequential import LEAST

_TWICE = 2.0  # from this ratio on, write "2.5 times" instead of a percentage


def describe_pair_verdict(pair_verdict: PairVerdict) -> str:
    """Return the result of the interval of the ratio, with its numbers, the level, and the number of pairs."""
    a, b, margin = *format_side_names(pair_verdict), f"± {format_percent(pair_verdict.rule.margin)}"
    e = pair_verdict.ratio
    unclear = f"Inconclusive: {b} may differ from {a} or not"
    pairs, alone = _format_pairs(pair_verdict), _describe_unpaired(pair_verdict)
    if pair_verdict.n < LEAST:
        return f"{unclear}: {pairs}, and at least {LEAST} are needed{alone}."
    if e.value is None or e.low is None or e.high is None:
        return f"{unclear}: {e.warnings[0]} ({pairs}{alone})."
    basis = (
        f"{100 * pair_verdict.rule.level:g} %, anytime-valid, "
        f"{_format_pairs(pair_verdict)}{_describe_unpaired(pair_verdict)}"
    )
    interval = f"{format_ratio(e.low)} to {format_ratio(e.high)}"
    ratio = f"ratio {format_ratio(e.value)}, {interval}; {basis}"
    if pair_verdict.verdict == CANNOT_TELL:
        ended = "" if pair_verdict.limits else _describe_stop_reason(pair_verdict)
        return (
            f"{unclear}: the ratio of {format_metric_name(pair_verdict)} may be {interval}, which includes 1 and "
            f"extends beyond {margin} ({basis}{ended})."
        )
    if pair_verdict.verdict == EQUAL:
        return f"{b} and {a} are practically equal in {format_metric_name(pair_verdict)}, within {margin} ({ratio})."
    caveat = "" if pair_verdict.verdict == DIFFERENT else f", which is within the margin of {margin}"
    direction, typical = _describe_direction(pair_verdict, e.value), _format_typical(pair_verdict)
    return f"{b} {direction} {a}{caveat}: {format_metric_name(pair_verdict)} {typical} ({ratio})."


def describe_inconclusive_limits(pair_verdict: PairVerdict) -> str:
    """Return the sentence on sealed conditions that are inconclusive."""
    conditions = " or ".join(f"'{each}'" for each in pair_verdict.untold) or "the ratio"
    return (
        f"{conditions} of {format_metric_name(pair_verdict)} is inconclusive with {_format_pairs(pair_verdict)}"
        f"{_describe_stop_reason(pair_verdict)}"
    )


def format_side_names(pair_verdict: PairVerdict) -> tuple[str, str]:
    """Return the display names of A and B, with the setting of the other factors at B."""
    a, b = (format_side_name(name, pair_verdict.rule.factor) for name in (pair_verdict.rule.a, pair_verdict.rule.b))
    setting = ", ".join(f"{name}={level}" for name, level in pair_verdict.cell.items())
    return a, f"{b} (at {setting})" if setting else b


def format_metric_name(pair_verdict: PairVerdict) -> str:
    """Return ``write bandwidth``; for a step with a duration only, ``time``."""
    operation, metric, _ = pair_verdict.name
    return "time" if metric == "seconds" else f"{operation} {format_metric(metric, operation)}"


def format_gate_name(name: Name, cell: Mapping[str, FactorValue] | None = None) -> str:
    """Return the metric and cell that a gate judges: ``write bandwidth, nodes=2``."""
    operation, metric, _ = name
    text = f"{operation} {'time' if metric == 'seconds' else format_metric(metric, operation)}"
    return ", ".join([text, *(f"{factor}={level}" for factor, level in (cell or {}).items())])


def _describe_direction(pair_verdict: PairVerdict, ratio: float) -> str:
    """Return ``is 12 % faster than``. For times the change of the time follows, since "12 % faster" is ambiguous."""
    share, rate = format_percent(abs(ratio - 1)), is_rate(pair_verdict.name[2])
    if rate and ratio >= _TWICE:
        return f"is {format_significant(ratio)} times as fast as"
    if rate:
        return f"is {share} {'faster' if ratio > 1 else 'slower'} than"
    many = f"{format_significant(ratio)} times the" if ratio >= _TWICE else f"{share} {'more' if ratio > 1 else 'less'}"
    other = "of" if ratio >= _TWICE else "than"
    return (
        f"is {'slower' if ratio > 1 else 'faster'}: it takes {many} time {other}"
        if pair_verdict.name[1] == "seconds"
        else f"has {many} {format_metric_name(pair_verdict)} {other}"
    )


def _format_typical(pair_verdict: PairVerdict) -> str:
    means = pair_verdict.typical()
    if means is None:
        return ""
    scale, unit = choose_human_scale(max(means), pair_verdict.name[2])
    a, b = (f"{format_significant(value / scale)} {unit}".rstrip() for value in means)
    return f"{b} against {a}"


def _describe_stop_reason(pair_verdict: PairVerdict) -> str:
    """Describe why there are no more pairs, if the maximum is reached, and the sufficient number."""
    most = ", the planned maximum" if pair_verdict.n + pair_verdict.alone >= pair_verdict.rule.most else ""
    return f"{most}; about {needed} are needed" if (needed := pair_verdict.n_needed()) else most


def _format_pairs(pair_verdict: PairVerdict) -> str:
    return "1 pair" if pair_verdict.n == 1 else f"{pair_verdict.n} pairs"


def _describe_unpaired(pair_verdict: PairVerdict) -> str:
    return (
        f"; {pair_verdict.alone} run{'s' if pair_verdict.alone > 1 else ''} without a complete partner left out"
        if pair_verdict.alone
        else ""
    )
