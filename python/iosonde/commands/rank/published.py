"""Factor rankings from a published line: coefficients and tried levels → one ranking per metric."""

from collections.abc import Sequence

import numpy as np

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Column, Table
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.model.sensitivity.published import rank_line

from .answer import Rankings

_FEATURE = ("feature", "term", "factor", "name", "predictor", "variable")
_COEFFICIENT = ("coefficient", "estimate", "coef", "b", "beta")
_ERROR = ("std_error", "standard_error", "se")
_METRIC = ("metric", "response")
_INTERCEPT = ("intercept", "(intercept)", "const", "constant")


def rank_published(source: Source, query: ResponseQuery, levels: Sequence[str], fixed: Sequence[str]) -> Rankings:
    """Return one ranking for each value of the column ``metric``, or for the responses of the query. Raises InputError,
    DataError."""
    table = source.table
    tried = dict(_parse_levels(text) for text in levels)
    metric = _find_column(table, _METRIC)
    groups = table.groups([metric.name]) if metric else [(("the line",), np.arange(len(table)))]
    by_name = {str(key[0]): rows for key, rows in groups}
    for response in query.response:
        if response not in by_name:
            raise InputError(
                "unknown-response",
                "{name} has no coefficients of '{response}'",
                "it has those of {responses}",
                name=source.name,
                response=response,
                responses=", ".join(by_name),
            )
    rankings = tuple(
        rank_line(response, *_read_fitted_line(table.take(by_name[response])), tried, query.level, fixed)
        for response in query.response or by_name
    )
    return Rankings(rankings, len(query.response) == 1)


def _read_fitted_line(table: Table) -> tuple[dict[str, float], dict[str, float] | None]:
    names, values, errors = (
        _find_column(table, _FEATURE),
        _find_column(table, _COEFFICIENT),
        _find_column(table, _ERROR),
    )
    if names is None or values is None:
        raise DataError(
            "missing-column",
            "{source}: a line needs the columns feature and coefficient",
            "columns are: {names}",
            source=table.source,
            names=", ".join(table.names),
        )
    numbers = table.numbers(values.name)
    error_values = table.numbers(errors.name) if errors else None
    coefficients: dict[str, float] = {}
    spread: dict[str, float] = {}
    for row, name in enumerate(names.values):
        feature = str(name).strip()
        if feature.lower() in _INTERCEPT:
            continue
        if np.isnan(numbers[row]):
            raise DataError(
                "missing-value",
                "{row}: {feature} has no coefficient",
                "write 0 where it has no effect",
                row=table.place(row),
                feature=feature,
            )
        if feature in coefficients:
            raise DataError(
                "duplicate-feature",
                "{row}: duplicate {feature}",
                "add a column metric, or use {spell.where}",
                row=table.place(row),
                feature=feature,
            )
        coefficients[feature] = float(numbers[row])
        if error_values is not None:
            if not error_values[row] >= 0:
                raise DataError(
                    "missing-value",
                    "{row}: {feature} has no standard error",
                    "fill it in",
                    row=table.place(row),
                    feature=feature,
                )
            spread[feature] = float(error_values[row])
    return coefficients, spread if errors else None


def _find_column(table: Table, names: Sequence[str]) -> Column | None:
    folded = {name.lower(): name for name in table.names}
    return next((table.columns[folded[name]] for name in names if name in folded), None)


def _parse_levels(text: str) -> tuple[str, list[float]]:
    """Parse ``Network=0,1`` to ("Network", [0, 1]). Raises InputError."""
    name, equals, values = (part.strip() for part in text.rpartition("="))
    try:
        return name, [float(value) for value in values.split(",")] if name and equals else _refuse_levels(text)
    except ValueError:
        return name, _refuse_levels(text)


def _refuse_levels(text: str) -> list[float]:
    raise InputError(
        "invalid-option-value",
        "'{levels}' gives no levels",
        "write {spell.levels:'Network=0,1'}, numbers as in the fit",
        levels=text,
    )
