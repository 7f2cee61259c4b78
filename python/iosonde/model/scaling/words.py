"""What the laws say, in sentences."""

from __future__ import annotations

from collections.abc import Callable

from iosonde.core.estimate_text import estimate_parts
from iosonde.core.types import Estimate
from iosonde.core.units import significant
from iosonde.core.verdict import VerdictState

from . import laws
from .analyse import Scaling
from .comparison import LINEAR
from .fitted_laws import FittedLaw, Regime
from .limit import Fall
from .regimes import Change

_FLAT = 0.9  # of contention: ten times the nodes bring a tenth more
Number = Callable[[Estimate], str]
TITLES = {"linear": "linear", "amdahl": "Amdahl", "usl": "USL", "min": "min-law", "queue": "one queue"}


def sentences(made: Scaling, on: str, rate: Number) -> list[str]:
    """The conclusions: change of regime, fall, law, what is inconclusive. ``rate`` writes an Estimate of a rate."""
    changes = [_change(change, on) for change in made.changes]
    if changes:
        changes[-1] += " Each side has laws of its own."
    return [*changes, _conclusion(made, on, rate)]


def _conclusion(made: Scaling, on: str, rate: Number) -> str:
    """The conclusion of the last regime; whether it says a limit is the state of ``made.limit``."""
    return " ".join(part for part in (_seen(made, on), _law(made, on, rate)) if part)


def _seen(made: Scaling, on: str) -> str:
    """The limit that the rates show by themselves; nothing where the sentence of the best law says it."""
    regime, limit = made.regimes[-1], made.limit
    has_peak = bool(regime.possible) and laws.PEAK in regime.possible[0].parameters
    if limit.fall and not has_peak:
        return _fall(limit.fall, on)
    if not limit.is_seen or (regime.is_compared and _is_bent(regime)):
        return ""
    return f"A limit is seen: at {limit.size:g} {on} the efficiency is {_share(limit.efficiency)}."


def _fall(fall: Fall, on: str) -> str:
    ratio = f"{_share(fall.ratio)} times that at {fall.peak:g}"
    if fall.is_significant:
        return f"The rate falls beyond {fall.peak:g} {on}: at {fall.last:g} it is {ratio}."
    return (f"At {fall.last:g} {on} the rate is {ratio}: with one trial a size a fall is neither shown nor "
            "excluded.")  # fmt: skip


def _is_bent(regime: Regime) -> bool:
    """Whether the best law's own interval excludes linear."""
    if not regime.possible:
        return False
    best = regime.possible[0]
    low = {name: value.low or 0.0 for name, value in best.parameters.items()}
    if best.law.name == "min":
        knee = best.parameters[laws.KNEE]
        return knee.high is not None and (knee.value or 0.0) <= regime.high
    if best.law.name == "queue":
        return best.parameters[laws.CEILING].high is not None
    return max(low.get(laws.ALPHA, 0.0), low.get(laws.KAPPA, 0.0)) > 0


def _change(change: Change, on: str) -> str:
    low, high = significant(change.factor_low), significant(change.factor_high)
    verb = "falls" if change.factor < 1 else "rises"
    return (
        f"Between {change.last:g} and {change.first:g} {on} the rate {verb} to {significant(change.factor)} "
        f"({low}–{high}) of what goes before: a change of regime (data that leave or enter a cache, another network, "
        "another mount) and no contention."
    )


def _law(made: Scaling, on: str, rate: Number) -> str:
    regime = made.regimes[-1]
    span = f"{regime.low:g} to {regime.high:g} {on}"
    if not regime.possible:
        if any(law.fit for law in regime.laws):
            return "None of the laws falls so."
        return f"No law can be told from {span}: 3 sizes or more are needed, 5 to look for a cliff."
    best, others = regime.possible[0], regime.possible[1:]
    if not regime.is_compared:
        named = ", ".join(TITLES[law.law.name] for law in regime.possible)
        cure = "measure at more of them" if regime.lacks_fit else "repeat each, or measure at more"
        return f"From {span} there is too little to compare the laws ({named}): {cure}."
    if best.law.name == LINEAR:
        return _linear(made, on, rate)  # a case of all others: none of them can be ruled out by it
    if made.limit.is_seen and not _is_bent(regime):
        said = f"Of the laws {TITLES[best.law.name]} fits best."
    else:
        said = _SAY[best.law.name](best, regime, on, rate)
    if others:
        named = ", ".join(TITLES[law.law.name] for law in others)
        said += f" Not ruled out either: {named}."
    return said


def _linear(made: Scaling, on: str, rate: Number) -> str:
    regime, limit = made.regimes[-1], made.limit
    each = rate(regime.possible[0].parameters[laws.LAMBDA])
    amdahl = next((law for law in regime.laws if law.law.name == "amdahl" and law.fit), None)
    contention = _percent(amdahl.parameters[laws.ALPHA].high) if amdahl else "~"
    if limit.state is not VerdictState.EQUAL:
        return (f"Whether anything limits is inconclusive as far as {regime.high:g} {on}: linear fits best, {each} "
                f"each, and contention of {contention} is not excluded.")  # fmt: skip
    other = "no other limit" if made.changes else "no limit"
    said = f"Linear as far as {regime.high:g} {on}, {each} each: {other} is seen yet."
    return said if contention == "~" else f"{said} Contention is at most {contention}."


def _amdahl(best: FittedLaw, regime: Regime, on: str, rate: Number) -> str:
    alpha = best.parameters[laws.ALPHA]
    if not alpha.low:
        return f"Whether anything limits cannot be told: contention is between 0 and {_percent(alpha.high)}."
    if alpha.value is not None and alpha.value > _FLAT:
        return f"More {on} bring next to nothing: the rate stays near {rate(best.parameters[laws.CEILING])} (Amdahl)."
    is_alone = len(regime.possible) == 1 and not regime.lacks_fit
    ceiling = f"so that no number of {on} gets beyond" if is_alone else "with a ceiling of"
    return (f"Contention: {_percent_of(alpha)} of the work is serial (Amdahl), {ceiling} "
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


_SAY = {"amdahl": _amdahl, "usl": _usl, "min": _min, "queue": _queue}


def _percent(value: float | None, digits: int = 2) -> str:
    return "~" if value is None else f"{significant(100 * value, digits)} %"


def _percent_of(estimate: Estimate) -> str:
    value, low, high = (_percent(end, 3) for end in (estimate.value, estimate.low, estimate.high))
    return f"{value} ({low} to {high})"


def _share(estimate: Estimate) -> str:
    """A ratio with its interval where it has one."""
    value, interval = estimate_parts(estimate)
    return value if estimate.low is None or estimate.high is None else f"{value} ({interval})"


def _end(value: float | None) -> str:
    return "~" if value is None else significant(value)
