"""Regression from published sums: n, Σx, Σx², b0, b1, SSR, SSE, for a single predictor."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.types import Finding

from .. import checks
from . import ols
from .regress import Regression
from .types import FitSubject, Point

_NEEDED = ("n", "sum_x", "sum_x2", "b0", "b1", "ssr", "sse")
_ROUNDING = 0.01


def regress_sums(
    figures: Mapping[str, Any],
    level: float,
    *,
    at: Sequence[Mapping[str, str]] = (),
    m: int = 1,
    source: str = "the sums",
) -> Regression:
    """Compute the whole report from sufficient statistics. Optional keys: ``x`` (the predictor's name), ``response``,
    ``x_min``, ``x_max``.

    Raises InputError with the key.
    """
    lowered = {str(key).lower(): value for key, value in figures.items()}
    numbers = {key: _read_number(lowered, key, source) for key in _NEEDED}
    name, response = str(lowered.get("x", "x")), str(lowered.get("response", "y"))
    n, sum_x, sum_x2, ssr, sse = (numbers[key] for key in ("n", "sum_x", "sum_x2", "ssr", "sse"))
    sxx = sum_x2 - sum_x**2 / n
    if n != int(n) or n < 3 or sxx <= 0 or ssr < 0 or sse < 0 or ssr + sse == 0:
        raise InputError(
            "inconsistent-sums",
            "{source}: n={n:g}, sum_x={sum_x:g}, sum_x2={sum_x2:g}, SSR={ssr:g}, SSE={sse:g} are inconsistent",
            "n must be a whole number from 3, sum_x2 > sum_x²/n, and no sum of squares below 0",
            source=source,
            n=n,
            sum_x=sum_x,
            sum_x2=sum_x2,
            ssr=ssr,
            sse=sse,
        )
    mean_x, df = sum_x / n, int(n) - 2
    unscaled = np.array([[1 / n + mean_x**2 / sxx, -mean_x / sxx], [-mean_x / sxx, 1 / sxx]])
    beta = np.array([numbers["b0"], numbers["b1"]])
    fit = ols.Fit(
        ("intercept", name),
        beta,
        unscaled * (sse / df),
        unscaled,
        int(n),
        df,
        ssr,
        sse,
        float(beta[0] + beta[1] * mean_x),
        level,
    )
    points = tuple(_predict_point(fit, name, point, lowered, m, source) for point in at)
    warnings = _list_contradictions(beta[1] ** 2 * sxx, ssr)
    if points and points[0].extrapolated is None:
        warnings.append(Message("unknown-range", "cannot check for extrapolation: give x_min and x_max"))
    findings: list[Finding] = checks.run_fit_checks(FitSubject(fit, None, level, points, response))
    return Regression(response, (name,), fit, points, None, tuple(findings), tuple(warnings))


def _list_contradictions(explained: float, ssr: float) -> list[str]:
    return (
        []
        if abs(explained - ssr) <= _ROUNDING * max(ssr, explained)
        else [
            Message(
                "inconsistent-sums",
                "the published figures are inconsistent: b1²·Sxx = {explained:.6g}, but SSR = {ssr:.6g}",
                explained=explained,
                ssr=ssr,
            )
        ]
    )


def _predict_point(
    fit: ols.Fit, name: str, at: Mapping[str, str], figures: Mapping[str, Any], m: int, source: str
) -> Point:
    if set(at) != {name}:
        raise InputError(
            "wrong-predictor",
            "{spell.at} must name {predictor} and nothing else",
            "write {spell.at:{predictor}=9}",
            predictor=name,
        )
    try:
        x = float(at[name])
    except ValueError:
        raise InputError(
            "not-a-number",
            "{predictor}={setting} is not a number",
            "write {spell.at:{predictor}=9}",
            predictor=name,
            setting=at[name],
        ) from None
    has_range = figures.get("x_min") is not None and figures.get("x_max") is not None
    outside = (
        not _read_number(figures, "x_min", source) <= x <= _read_number(figures, "x_max", source) if has_range else None
    )
    row = np.array([1.0, x])
    return Point({name: x}, ols.predict_response(fit, row, m), outside, row)


def _read_number(figures: Mapping[str, Any], key: str, source: str) -> float:
    value = figures.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise InputError(
            "missing-number" if value is None else "not-a-number",
            "{source}: {key} is missing" if value is None else "{source}: {key} is {value!r} and not a number",
            "needed: {needed}",
            source=source,
            key=key,
            value=value,
            needed=", ".join(_NEEDED),
        )
    return float(value)
