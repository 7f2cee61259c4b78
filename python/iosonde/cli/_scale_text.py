"""The scaling of a series as text: what was measured, the laws, the predictions, the conclusion."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.types import Estimate
from iosonde.core.units import human_scale, significant
from iosonde.report.text import CANNOT_TELL, escape, estimate_parts, estimate_text, table

if TYPE_CHECKING:
    from iosonde.model.scaling.analyse import FittedLaw, Regime, Scaling
    from iosonde.model.scaling.series import Series

_WIDTH = 79
_PERCENTS = ("contention", "server_share")
_LABELS = {"rate_of_one": "λ", "ceiling": "C", "contention": "α", "coherency": "κ", "peak": "peak N", "knee": "knee N",
           "server_share": "ρ"}  # fmt: skip


def lines(series: Series, made: Scaling) -> Iterator[str]:
    """The lines of the text."""
    from iosonde.model.scaling.words import sentences

    settings = ", ".join(f"{name}={value}" for name, value in series.by.items())
    yield from _wrapped(f"{series.response} on {series.on}{'; ' + settings if settings else ''}; "
                        f"{100 * made.level:g} % intervals")  # fmt: skip
    yield ""
    scale = human_scale(max(size.rate.value or 0.0 for size in made.sizes), series.unit)
    yield from _sizes(series, made, scale)
    for regime in made.regimes:
        yield ""
        yield from _laws(regime, series, len(made.regimes) > 1)
    if made.predictions:
        yield ""
        yield from _predictions(made, series)
    said = [*made.warnings, *_misfits(made, series.on)]
    yield ""
    for warning in said:
        yield from _wrapped(f"~ {warning}", "  ")
    if said:
        yield ""
    for sentence in sentences(made, series.on, lambda estimate: _ends(estimate, series.unit)):
        yield from _wrapped(sentence)


def _sizes(series: Series, made: Scaling, scale: tuple[float, str]) -> Iterator[str]:
    rows = []
    for size in made.sizes:
        value, interval = estimate_parts(size.rate, scale[0])
        each = significant((size.rate.value or 0.0) / size.size / scale[0])
        of_one = size.efficiency
        shown = ["", ""] if of_one is None else list(estimate_parts(of_one))
        rows.append([f"{size.size:g}", str(size.rate.n), value, interval, each, *shown])
    header = [series.on, "n", scale[1] or "rate", "interval", "each", "efficiency", "interval"]
    yield from table(header, rows, "rrrrrrr", _WIDTH).splitlines()


def _laws(regime: Regime, series: Series, several: bool) -> Iterator[str]:
    from iosonde.model.scaling.words import TITLES

    if several:
        yield f"from {regime.low:g} to {regime.high:g} {series.on}"
    rows = []
    for law in regime.laws:
        if law.fit is None:
            rows.append([TITLES[law.law.name], CANNOT_TELL, f"not identifiable: {law.why}"])
            continue
        delta = CANNOT_TELL if law.delta is None else f"{law.delta:.1f}"
        shown = [f"{_LABELS[name]} {_parameter(name, value, series.unit)}" for name, value in law.parameters.items()]
        rows.append([TITLES[law.law.name], delta, shown[0]])
        rows += [["", "", text] for text in shown[1:]]
    yield from table(["law", "ΔAICc", "parameters"], rows, "lrL", _WIDTH).splitlines()


def _parameter(name: str, estimate: Estimate, unit: str) -> str:
    if name in ("rate_of_one", "ceiling"):
        return _ends(estimate, unit)
    if name in _PERCENTS:
        scaled = Estimate(*(None if x is None else 100 * x for x in (estimate.value, estimate.low, estimate.high)),
                          estimate.level, estimate.n)  # fmt: skip
        return _ends(scaled, "%")
    return _ends(estimate, "")


def _ends(estimate: Estimate, unit: str) -> str:
    """An estimate of which an end may be unknown: ``at least 8``. It is then the other end that says something."""
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        return estimate_text(estimate, unit)
    known = estimate.low if estimate.high is None else estimate.high
    if known is None:
        return CANNOT_TELL
    divisor, name = human_scale(known, unit)
    return f"at {'least' if estimate.high is None else 'most'} {significant(known / divisor)} {name}".rstrip()


def _predictions(made: Scaling, series: Series) -> Iterator[str]:
    from iosonde.model.scaling.words import TITLES

    rows = []
    for prediction in made.predictions:
        others = list(prediction.by_law.values())
        scenario = prediction.kind == "scenario" and len(others) > 1
        shown = _span(others, series.unit) if scenario else _ends(prediction.rate, series.unit)
        named = ", ".join(TITLES[law] for law in prediction.by_law)
        rows.append([f"{prediction.size:,.0f}", shown, "" if prediction.kind == "inside" else prediction.kind, named])
    yield from table([series.on, "predicted", "", "laws not ruled out"], rows, "rlLl", _WIDTH).splitlines()


def _span(values: list[float], unit: str) -> str:
    """What several laws say: from the least to the most."""
    divisor, name = human_scale(max(values), unit)
    return f"{significant(min(values) / divisor)} to {significant(max(values) / divisor)} {name}".rstrip()


def _misfits(made: Scaling, on: str) -> Iterator[str]:
    for regime in made.regimes:
        if regime.unit_of_noise == "sizes":
            yield (f"from {regime.low:g} to {regime.high:g} {on} every law misses the means by more than the trials' "
                   "noise: the intervals of the laws take the sizes, not the trials, as what repeats")  # fmt: skip


def best_of(regime: Regime) -> FittedLaw | None:
    """The law that is drawn."""
    return regime.possible[0] if regime.possible else None


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(escape(text), _WIDTH, subsequent_indent=indent)
