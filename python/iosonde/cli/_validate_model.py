"""``iosonde validate --model FILE DATA``: a model that was stored, judged by data that it has not seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import DataError, IosondeError

from ._data import open_data
from ._models import rows_of
from ._models_text import number, wrapped

if TYPE_CHECKING:
    from iosonde.model.fit.fitted import Model


def judge_model(model: Model, data: str, where: Sequence[str], level: float, as_json: bool) -> None:
    """Prints its errors on DATA, and how often its intervals held. Raises DataError where no row can be predicted."""
    found = held(model, data, where, level)
    if as_json:
        click.echo(json.dumps({"schema": 1, **found}, indent=1, ensure_ascii=False, allow_nan=False))
        return
    r2 = found["r2"]
    text = (
        f"{model.name} model of {model.response} on {found['n']} rows: error {number(found['mae'])} "
        f"({number(found['mae_low'])}–{number(found['mae_high'])}), R² {'~' if r2 is None else f'{r2:.3f}'}"
    )
    click.echo("\n".join(wrapped(text)))
    if found["n_intervals"]:
        low, high = found["coverage_low"], found["coverage_high"]
        told = (
            f"of {found['n_intervals']} intervals at {100 * level:g} % {found['n_covered']} held the new trial: "
            f"{100 * found['coverage']:.1f} % ({100 * low:.1f}–{100 * high:.1f})"
        )
        click.echo("\n".join(wrapped(told)))
    for warning in found["warnings"]:
        click.echo("\n".join(wrapped(f"~ {warning}", "  ")))
    click.echo("\n".join(["", *wrapped(_verdict(found, level))]))


def held(model: Model, data: str, where: Sequence[str], level: float) -> dict[str, Any]:
    """The figures, by name."""
    import numpy as np

    from iosonde.model.fit.errors_of import errors_of, grouped_mean
    from iosonde.model.fit.fitted import ask_all
    from iosonde.stats.estimate.distributions import binomial_interval

    rows, table = rows_of(model, open_data(data, where))
    y = table.numbers(model.response)
    values, inside, covered, asked, refused = [], [], 0, 0, []
    for number_, (made, observed) in enumerate(zip(ask_all(model, rows, level), y, strict=True)):
        if np.isnan(observed):
            continue
        if isinstance(made, IosondeError):
            refused.append(f"{table.place(number_)}: {made.message}")
            continue
        values.append(made.value.value)
        inside.append(number_)
        if made.value.low is not None and made.value.high is not None:
            asked += 1
            covered += made.value.low <= observed <= made.value.high
    if not inside:
        raise DataError(f"the model predicts none of the rows: {refused[0] if refused else 'none has a value'}",
                        "look at the factors' ranges")  # fmt: skip
    observed, predicted = y[inside], np.array(values, dtype=float)
    settings = np.unique([json.dumps(rows[i], sort_keys=True) for i in inside], return_inverse=True)[1]
    mae = grouped_mean(np.abs(predicted - observed), settings, level)
    low, high = binomial_interval(covered, asked, level) if asked else (None, None)
    warnings = [f"{len(refused)} rows have no prediction; the first: {refused[0]}"] if refused else []
    if asked < len(inside):
        warnings.append(f"{len(inside) - asked} predictions have no interval")
    return {
        "model": model.name, "response": model.response, "unit": model.unit, "n": len(inside), "level": level,
        **errors_of(observed, predicted, None).to_json(), **mae.flat("mae"), "n_intervals": asked,
        "n_covered": int(covered), "coverage": covered / asked if asked else None, "coverage_low": low,
        "coverage_high": high, "n_refused": len(refused), "warnings": warnings,
    }  # fmt: skip


def _verdict(found: dict[str, Any], level: float) -> str:
    if not found["n_intervals"]:
        return "Whether its intervals hold cannot be told: it gave none."
    if found["coverage_high"] < level:
        return "The intervals held less often than they claim: these rows are not like those it was fitted to."
    return "The intervals held as often as they claim, as far as these rows can tell."
