"""The scaling laws in sentences."""

from collections.abc import Callable, Iterable

from iosonde.core.estimate_text import format_estimate_parts
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.units import format_significant
from iosonde.core.verdict import VerdictState

from . import laws
from .analyse import Scaling
from .comparison import LINEAR, FittedLaw, Regime
from .limit import Fall
from .regimes import Change

_FLAT = 0.9  # of contention: beyond it ten times the nodes bring a tenth more
Number = Callable[[Estimate], str]
TITLES = {"linear": "linear", "amdahl": "Amdahl", "usl": "USL", "min": "min-law", "queue": "one queue"}


def list_conclusions(scaling: Scaling, on: str, rate: Number) -> list[str]:
    """Return the conclusions: change of regime, fall, law, and inconclusive results. ``rate`` formats an Estimate of a
    rate."""
    changes: list[str] = [_describe_change(change, on) for change in scaling.changes]
    if changes:
        changes[-1] += " Each side has laws of its own."
    return [*changes, " ".join(_build_conclusion(scaling, on, rate))]


def list_conclusion_messages(scaling: Scaling, on: str, rate: Number) -> list[Message]:
    """Return the sentences with their codes."""
    return [*(_describe_change(change, on) for change in scaling.changes), *_build_conclusion(scaling, on, rate)]


def _build_conclusion(scaling: Scaling, on: str, rate: Number) -> list[Message]:
    """Return the conclusion of the last regime; ``scaling.limit.state`` decides whether it reports a limit."""
    limit = _describe_limit(scaling, on)
    return [*([] if limit is None else [limit]), *_describe_laws(scaling, on, rate)]


def _describe_limit(scaling: Scaling, on: str) -> Message | None:
    """Return the limit in the rates themselves; None if the sentence of the best law covers it."""
    regime, limit = scaling.regimes[-1], scaling.limit
    has_peak = bool(regime.possible) and laws.PEAK in regime.possible[0].parameters
    if limit.fall and not has_peak:
        return _describe_fall(limit.fall, on)
    if not limit.is_detected or (regime.is_compared and _is_bent(regime)):
        return None
    return Message(
        "limit",
        "There is a limit: at {size:g} {unit} the efficiency is {efficiency}.",
        size=limit.size,
        unit=on,
        efficiency=_format_share(limit.efficiency),
    )


def _describe_fall(fall: Fall, on: str) -> Message:
    return Message(
        "fall" if fall.is_significant else "fall-inconclusive",
        "The rate falls beyond {peak:g} {unit}: at {last:g} it is {ratio} times that at {peak:g}."
        if fall.is_significant
        else "At {last:g} {unit} the rate is {ratio} times that at {peak:g}: with one trial a size a fall is "
        "inconclusive.",
        peak=fall.peak,
        last=fall.last,
        ratio=_format_share(fall.ratio),
        unit=on,
    )


def _is_bent(regime: Regime) -> bool:
    if not regime.possible:
        return False
    best = regime.possible[0]
    low = {name: value.low or 0.0 for name, value in best.parameters.items()}
    if best.law.name == "min":
        knee = best.parameters[laws.KNEE]
        return knee.high is not None and (knee.value or 0.0) <= regime.high
    return (
        best.parameters[laws.CEILING].high is not None
        if best.law.name == "queue"
        else max(low.get(laws.ALPHA, 0.0), low.get(laws.KAPPA, 0.0)) > 0
    )


def _describe_change(change: Change, on: str) -> Message:
    return Message(
        "change-of-regime",
        "Between {last:g} and {first:g} {unit} the rate "
        + ("falls" if change.factor < 1 else "rises")
        + " to {factor} "
        "({low}–{high}) of its previous level: a change of regime (data that leave or enter a cache, another network, "
        "another mount), not contention.",
        last=change.last,
        first=change.first,
        unit=on,
        factor=format_significant(change.factor),
        low=format_significant(change.factor_low),
        high=format_significant(change.factor_high),
    )


def _describe_laws(scaling: Scaling, on: str, rate: Number) -> list[Message]:
    regime = scaling.regimes[-1]
    span = f"{regime.low:g} to {regime.high:g} {on}"
    if not regime.possible:
        if any(law.fit for law in regime.laws):
            return [Message("no-falling-law", "None of the laws falls like this.")]
        template = "{span} are too few sizes for a law: 3 or more are needed, 5 to look for a cliff."
        return [Message("too-few-sizes", template, span=span)]
    best, others = regime.possible[0], regime.possible[1:]
    if not regime.is_compared:
        cure = "measure at more of them" if regime.lacks_fit else "repeat each, or measure at more"
        return [
            Message(
                "laws-not-compared",
                "There is too little data from {span} to compare the laws ({laws}): " + cure + ".",
                span=span,
                laws=_join_titles(regime.possible),
            )
        ]
    if best.law.name == LINEAR:
        return _describe_linear(scaling, on, rate)  # a case of all others: it can rule out none of them
    conclusion = (
        Message("best-law", "Of the laws {law} fits best.", law=TITLES[best.law.name])
        if scaling.limit.is_detected and not _is_bent(regime)
        else _SAY[best.law.name](best, regime, on, rate)
    )
    also = Message("other-laws", "Not ruled out either: {laws}.", laws=_join_titles(others))
    return [conclusion, also] if others else [conclusion]


def _join_titles(laws: Iterable[FittedLaw]) -> str:
    return ", ".join(TITLES[law.law.name] for law in laws)


def _describe_linear(scaling: Scaling, on: str, rate: Number) -> list[Message]:
    regime, limit = scaling.regimes[-1], scaling.limit
    each = rate(regime.possible[0].parameters[laws.LAMBDA])
    amdahl = next((law for law in regime.laws if law.law.name == "amdahl" and law.fit), None)
    contention = _format_percent(amdahl.parameters[laws.ALPHA].high) if amdahl else "~"
    if limit.state is not VerdictState.EQUAL:
        return [
            Message(
                "limit-inconclusive",
                "A limit is inconclusive up to {high:g} {unit}: linear fits best, {rate} each, but "
                "contention of {contention} is not excluded.",
                high=regime.high,
                unit=on,
                rate=each,
                contention=contention,
            )
        ]
    other = "no other limit" if scaling.changes else "no limit"
    no_limit = Message(
        "no-limit",
        "Linear up to {high:g} {unit}, {rate} each: " + other + " detected.",
        high=regime.high,
        unit=on,
        rate=each,
    )
    bound = Message("contention-bound", "Contention is at most {contention}.", contention=contention)
    return [no_limit] if contention == "~" else [no_limit, bound]


def _describe_amdahl(best: FittedLaw, regime: Regime, on: str, rate: Number) -> Message:
    alpha = best.parameters[laws.ALPHA]
    if not alpha.low:
        return Message(
            "limit-inconclusive",
            "A limit is inconclusive: contention is between 0 and {contention}.",
            contention=_format_percent(alpha.high),
        )
    ceiling = rate(best.parameters[laws.CEILING])
    if alpha.value is not None and alpha.value > _FLAT:
        return Message(
            "at-ceiling",
            "More {unit} bring next to nothing: the rate stays near {ceiling} (Amdahl).",
            unit=on,
            ceiling=ceiling,
        )
    is_alone = len(regime.possible) == 1 and not regime.lacks_fit
    return Message(
        "contention",
        "Contention: {share} of the work is serial (Amdahl), "
        + ("so that no number of {unit} gets beyond" if is_alone else "with a ceiling of")
        + " {ceiling}.",
        share=_format_percent_interval(alpha),
        unit=on,
        ceiling=ceiling,
        is_only_law=is_alone,
    )


def _describe_usl(best: FittedLaw, regime: Regime, on: str, rate: Number) -> Message:
    alpha, peak = best.parameters[laws.ALPHA], best.parameters.get(laws.PEAK)
    serial = (
        f"{_format_percent_interval(alpha)} serial"
        if alpha.low
        else f"contention at most {_format_percent(alpha.high)}"
    )
    if peak is None or peak.value is None:
        return Message(
            "coherency-inconclusive",
            "The USL fits best ({serial}), but a cost of pairs of {unit} is inconclusive.",
            serial=serial,
            unit=on,
        )
    return Message(
        "peak",
        "The more {unit}, the more each pair costs (USL; {serial}): the rate peaks at {peak} ({low}–{high}) {unit}"
        + ("" if (peak.low or 0.0) <= regime.high else ", beyond what was measured")
        + " and then falls.",
        unit=on,
        serial=serial,
        peak=format_significant(peak.value),
        low=_format_end(peak.low),
        high=_format_end(peak.high),
    )


def _describe_min(best: FittedLaw, regime: Regime, on: str, rate: Number) -> Message:
    knee, ceiling = best.parameters[laws.KNEE], rate(best.parameters[laws.CEILING])
    if knee.high is None or (knee.value or 0.0) > regime.high:
        return _describe_unreached_ceiling("Linear", regime, on)
    if (knee.low or 0.0) <= regime.low:
        return Message(
            "at-ceiling",
            "More {unit} bring next to nothing: the rate is at a ceiling of {ceiling}.",
            unit=on,
            ceiling=ceiling,
        )
    return Message(
        "ceiling",
        "A ceiling of {ceiling}, reached at {knee} ({low}–{high}) {unit}; up to there linear.",
        ceiling=ceiling,
        knee=format_significant(knee.value or 0.0),
        low=_format_end(knee.low),
        high=_format_end(knee.high),
        unit=on,
    )


def _describe_queue(best: FittedLaw, regime: Regime, on: str, rate: Number) -> Message:
    if best.parameters[laws.CEILING].high is None:
        return _describe_unreached_ceiling("Nearly linear", regime, on)
    return Message(
        "queue",
        "As {unit} that wait for one server: its ceiling is {ceiling}, and one alone keeps it busy for {share} of the "
        "time.",
        unit=on,
        ceiling=rate(best.parameters[laws.CEILING]),
        share=_format_percent_interval(best.parameters[laws.SHARE]),
    )


def _describe_unreached_ceiling(shape: str, regime: Regime, on: str) -> Message:
    return Message(
        "ceiling-not-reached",
        "{shape} up to {high:g} {unit}: a ceiling, if there is one, is not reached.",
        shape=shape,
        high=regime.high,
        unit=on,
    )


_SAY = {"amdahl": _describe_amdahl, "usl": _describe_usl, "min": _describe_min, "queue": _describe_queue}


def _format_percent(value: float | None, digits: int = 2) -> str:
    return "~" if value is None else f"{format_significant(100 * value, digits)} %"


def _format_percent_interval(estimate: Estimate) -> str:
    value, low, high = (_format_percent(end, 3) for end in (estimate.value, estimate.low, estimate.high))
    return f"{value} ({low} to {high})"


def _format_share(estimate: Estimate) -> str:
    value, interval = format_estimate_parts(estimate)
    return value if estimate.low is None or estimate.high is None else f"{value} ({interval})"


def _format_end(value: float | None) -> str:
    return "~" if value is None else format_significant(value)
