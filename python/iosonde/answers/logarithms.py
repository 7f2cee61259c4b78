"""Advice to take logarithms of a response whose effects multiply, and what these say."""

from collections.abc import Sequence

import numpy as np

from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.data.responses import Response
from iosonde.stats.overview.types import name_kind, span_decades
from iosonde.stats.regression.additivity import do_effects_multiply
from iosonde.stats.regression.effect_types import ResponseEffects
from iosonde.stats.regression.regress import Regression, regress

_MOST_ROWS = 2000
_MENDED = ("S301", "S303")  # findings of a line that logarithms may mend: not straight, unequal variance


def name_response(response: Response) -> str:
    """Return the name of a response as a query takes it in ``log(…)``."""
    return name_kind(response.operation, response.metric.name if response.operation else response.title)


def do_settings_span_decades(trials: Sequence[np.ndarray]) -> bool:
    """Return whether the means of settings differ by decades; ``trials`` of each setting."""
    is_positive = all(np.all(values > 0) for values in trials)
    return is_positive and span_decades([float(values.mean()) for values in trials])


def describe_log_shares(effects: ResponseEffects, name: str) -> Message:
    """Describe the ``effects`` on the logarithms of a response whose settings span decades."""
    template = "means span decades: of the variation of logarithms {shares} ({spell.response:'log({name})'})"
    texts = [f"{effect.name} is {effect.text}" for effect in effects.significant]
    return Message("take-logarithms", template, shares=", ".join(texts) or "no share is significant", name=name)


def advise_power_law(response: Response, terms: Sequence[str], regression: Regression, level: float) -> list[str]:
    """Return the advice to take logarithms of the response, and of the numbers it is regressed on, if these leave no
    finding that the line of ``regression`` has; none for terms that are no plain columns."""
    columns, wrong = response.rows.columns, {finding.code for finding in regression.findings}
    is_plain = not response.transform and all(term in columns for term in terms)
    if not is_plain or not wrong.intersection(_MENDED):
        return []
    logs = [f"log({term})" if columns[term].numeric and _is_positive(response, term) else term for term in terms]
    for predictors in (logs, list(terms)):
        try:
            line = regress(response.rows, f"log({response.title})", predictors, level)
        except IosondeError:  # values of 0 have no logarithm
            continue
        if {finding.code for finding in line.findings} < wrong and not _has_findings(line):
            template = "logarithms mend these residuals: {spell.response:'log({name})'} {spell.on:'{terms}'}"
            return [Message("take-logarithms", template, name=name_response(response), terms=",".join(predictors))]
    return []


def _is_positive(response: Response, name: str) -> bool:
    values = response.rows.numbers(name)
    return bool(np.all(values[~np.isnan(values)] > 0))


def _has_findings(line: Regression) -> bool:
    return any(finding.code in _MENDED for finding in line.findings)


def advise_logarithms(response: Response, names: Sequence[str]) -> list[str]:
    """Return the advice, if the effects of these factors multiply, by one trial of each setting."""
    plain = [name for name in names if name in response.rows.columns]
    present = np.flatnonzero(~np.isnan(response.values))
    rows, values = response.rows.take(present), response.values[present]
    is_single = len(plain) > 1 and 0 < len(values) <= _MOST_ROWS and len(rows.groups(plain)) == len(values)
    if response.transform or not is_single:
        return []
    if not do_effects_multiply([rows.column(name).values.tolist() for name in plain], values):
        return []
    template = "the effects multiply instead of adding up: take logs ({spell.response:'log({name})'})"
    return [Message("take-logarithms", template, name=name_response(response))]
