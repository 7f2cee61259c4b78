"""What the laws say, in sentences."""

from __future__ import annotations

from collections.abc import Callable

from iosonde.core.types import Estimate
from iosonde.core.units import significant

from . import laws
from .analyse import FittedLaw, Regime, Scaling
from .regimes import Change

_FLAT = 0.9  # of contention: ten times the nodes bring a tenth more
Number = Callable[[Estimate], str]
TITLES = {"linear": "linear", "amdahl": "Amdahl", "usl": "USL", "min": "min-law", "queue": "one queue"}


def sentences(made: Scaling, on: str, rate: Number) -> list[str]:
    """The conclusions: change of regime, law, what cannot be told. ``rate`` writes an Estimate of a rate."""
    said = [_change(change, on) for change in made.changes]
    if said:
        said[-1] += " Each side has laws of its own."
    for regime in made.regimes[-1:]:
        said.append(_law(regime, on, rate))
    return said


def _change(change: Change, on: str) -> str:
    low, high = significant(change.factor_low), significant(change.factor_high)
    verb = "falls" if change.factor < 1 else "rises"
    return (
        f"Between {change.last:g} and {change.first:g} {on} the rate {verb} to {significant(change.factor)} "
        f"({low}–{high}) of what goes before: a change of regime (data that leave or enter a cache, another network, "
        "another mount) and no contention."
    )


def _law(regime: Regime, on: str, rate: Number) -> str:
    span = f"{regime.low:g} to {regime.high:g} {on}"
    if not regime.possible:
        return f"No law can be told from {span}: 3 sizes or more are needed, 5 to look for a cliff."
    best, others = regime.possible[0], regime.possible[1:]
    if best.delta is None:
        named = ", ".join(TITLES[law.law.name] for law in regime.possible)
        cure = "measure at more of them" if regime.unit_of_noise == "sizes" else "repeat each, or measure at more"
        return f"From {span} there is too little to compare the laws ({named}): {cure}."
    said = _SAY[best.law.name](best, regime, on, rate)
    if others:
        named = ", ".join(TITLES[law.law.name] for law in others)
        said += f" Not ruled out either: {named}."
    return said


def _linear(best: FittedLaw, regime: Regime, on: str, rate: Number) -> str:
    said = f"Linear as far as {regime.high:g} {on}, {rate(best.parameters[laws.LAMBDA])} each: no limit is seen yet."
    amdahl = next((law for law in regime.laws if law.law.name == "amdahl" and law.fit), None)
    if amdahl and amdahl.parameters[laws.ALPHA].high is not None:
        said += f" Contention is at most {_percent(amdahl.parameters[laws.ALPHA].high)}."
    return said


def _amdahl(best: FittedLaw, regime: Regime, on: str, rate: Number) -> str:
    alpha = best.parameters[laws.ALPHA]
    if not alpha.low:
        return f"Whether anything limits cannot be told: contention is between 0 and {_percent(alpha.high)}."
    if alpha.value is not None and alpha.value > _FLAT:
        return f"More {on} bring next to nothing: the rate stays near {rate(best.parameters[laws.CEILING])} (Amdahl)."
    return (f"Contention: {_percent_of(alpha)} of the work is serial (Amdahl), so that no number of {on} gets beyond "
            f"{rate(best.parameters[laws.CEILING])}.")  # fmt: skip


def _usl(best: FittedLaw, regime: Regime, on: str, rate: Number) -> str:
    alpha, peak = best.parameters[laws.ALPHA], best.parameters.get(laws.PEAK)
    serial = f"{_percent_of(alpha)} serial" if alpha.low else f"contention at most {_percent(alpha.high)}"
    if peak is None or peak.value is None:
        return f"The USL fits best ({serial}), and whether pairs of {on} cost anything cannot be told."
    where = f"{significant(peak.value)} ({_end(peak.low)}–{_end(peak.high)}) {on}"
    passed = "" if (peak.low or 0.0) <= regime.high else ", beyond what was measured"
    return f"The more {on}, the more each pair costs (USL; {serial}): the rate peaks at {where}{passed} and then falls."


def _min(best: FittedLaw, regime: Regime, on: str, rate: Number) -> str:
    knee = best.parameters[laws.KNEE]
    if knee.high is None or (knee.value or 0.0) > regime.high:
        return f"Linear as far as {regime.high:g} {on}: a ceiling, if there is one, is not reached."
    if (knee.low or 0.0) <= regime.low:
        return f"More {on} bring next to nothing: the rate is at a ceiling of {rate(best.parameters[laws.CEILING])}."
    return (f"A ceiling of {rate(best.parameters[laws.CEILING])}, reached at {significant(knee.value or 0.0)} "
            f"({_end(knee.low)}–{_end(knee.high)}) {on}; up to there linear.")  # fmt: skip


def _queue(best: FittedLaw, regime: Regime, on: str, rate: Number) -> str:
    share = best.parameters[laws.SHARE]
    if best.parameters[laws.CEILING].high is None:
        return f"Nearly linear as far as {regime.high:g} {on}: a ceiling, if there is one, is not reached."
    return (f"As {on} that wait for one server: its ceiling is {rate(best.parameters[laws.CEILING])}, and one alone "
            f"keeps it busy for {_percent_of(share)} of the time.")  # fmt: skip


_SAY = {"linear": _linear, "amdahl": _amdahl, "usl": _usl, "min": _min, "queue": _queue}


def _percent(value: float | None, digits: int = 2) -> str:
    return "~" if value is None else f"{significant(100 * value, digits)} %"


def _percent_of(estimate: Estimate) -> str:
    value, low, high = (_percent(end, 3) for end in (estimate.value, estimate.low, estimate.high))
    return f"{value} ({low} to {high})"


def _end(value: float | None) -> str:
    return "~" if value is None else significant(value)
