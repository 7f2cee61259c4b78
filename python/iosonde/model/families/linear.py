"""The linear model: least squares on the terms of ``iosonde regress``, ``log2(size)``, ``C(size)``, ``size:fs``.

``terms`` are separated by commas; ``a*b`` stands for ``a, b, a:b``. Without terms every factor is one. The form keeps
for each coefficient its factors, its interval, and its direction in words.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iosonde.core.column_units import split_unit
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.table import Column, Table
from iosonde.core.transforms import apply_transform
from iosonde.model.fit.coding import factors_to_json
from iosonde.model.fit.features import Array, Examples
from iosonde.stats.regression import formula, ols

NAME = "linear"
OPTIONS: dict[str, Any] = {"terms": ""}
_MAX_CROSSED = 10  # terms, whose products are 2^10
LEVEL = 0.95  # default level of the intervals


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"factors": […], "intercept": {…}, "terms": [{"term", "product", "estimate", "low", "high", "direction"}]}``.
    Raises InputError for a term that does not exist, DataError where least squares is not possible."""
    return fit_to(examples, examples.y, options)


def fit_to(examples: Examples, y: Array, options: Mapping[str, Any]) -> dict[str, Any]:
    """Fit another response on these rows."""
    factors, level = factors_to_json(examples.features), float(options.get("level", LEVEL))
    columns = build_design_columns(examples, str(options.get("terms") or ""))
    regression = ols.fit_ols(
        np.column_stack([values for *_, values in columns]), y, [name for name, *_ in columns], level
    )
    first, *rest = regression.coefficients()
    return {
        "factors": factors,
        "level": level,
        "intercept": {"estimate": first.estimate, "low": first.low, "high": first.high},
        "terms": [
            {
                "term": name,
                "product": product,
                "estimate": c.estimate,
                "low": c.low,
                "high": c.high,
                "direction": describe_coefficient_sign(name, c.low, c.high, examples.response),
            }
            for (name, product, _), c in zip(columns, rest, strict=True)
        ],
    }


def build_design_columns(examples: Examples, terms: str) -> list[tuple[str, list[dict[str, Any]], Array]]:
    """Return (name, factors of the product, values) of each column of the design matrix. Raises InputError for an
    unknown term, DataError if a transform is undefined."""
    table = _build_table(examples)
    columns: list[tuple[str, list[dict[str, Any]], Array]] = []
    for term in formula.parse_terms(expand_terms(terms) or table.names, table):
        raw = {factor.column: formula.get_factor_values(table, factor) for factor in term.factors}
        products = itertools.product(*[_list_parts(factor) for factor in term.factors])
        for (name, values), product in zip(term.columns(raw), products, strict=True):
            # A level or a combination that these rows lack has no effect that could be estimated.
            if np.ptp(values) > 0 or not any("is" in part for part in product):
                columns.append((name, list(product), values))
    return columns


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """Intercept + the sum of estimate × product."""
    factors = {factor["name"]: (index, factor.get("levels")) for index, factor in enumerate(form["factors"])}
    prediction = np.full(len(x), float(form["intercept"]["estimate"]))
    for term in form["terms"]:
        product = np.full(len(x), float(term["estimate"]))
        for part in term["product"]:
            index, levels = factors[part["factor"]]
            if "is" in part:
                product *= (x[:, index] == (part["is"] if levels is None else list(levels).index(part["is"]))).astype(
                    float
                )
            else:
                product *= apply_transform(part.get("transform", ""), x[:, index], part["factor"])
        prediction += product
    return prediction


def expand_terms(text: str) -> list[str]:
    """``a*b, c`` → ["a", "b", "a:b", "c"]: every product of the parts, each once. Raises InputError for too many."""
    terms: list[str] = []
    for written in (part.strip() for part in text.split(",")):
        parts = [part.strip() for part in written.split("*") if part.strip()]
        if len(parts) > _MAX_CROSSED:
            raise InputError(
                "too-many-terms",
                "{terms} terms crossed with * are 2^{terms} terms",
                "cross at most {limit} of them",
                terms=len(parts),
                limit=_MAX_CROSSED,
            )
        for size in range(1, len(parts) + 1):
            terms += [":".join(chosen) for chosen in itertools.combinations(parts, size)]
    return list(dict.fromkeys(terms))


def describe_coefficient_sign(term: str, low: float, high: float, response: str) -> str:
    """Describe the sign of a coefficient."""
    return (
        Message("inconclusive", "inconclusive: {term} may raise or lower {response}", term=term, response=response)
        if low <= 0 <= high
        else Message(
            "significant",
            "more {term}, {way} {response}",
            term=term,
            way="more" if low > 0 else "less",
            response=response,
        )
    )


def _list_parts(factor: formula.TermFactor) -> Sequence[dict[str, Any]]:
    if factor.levels is not None:
        return [{"factor": factor.column, "is": level} for level in factor.levels[1:]]
    if factor.transform:
        return [{"factor": factor.column, "transform": factor.transform}]
    return [{"factor": factor.column}]


def _build_table(examples: Examples) -> Table:
    columns = {}
    for feature, values in zip(examples.features, examples.x.T, strict=True):
        cells: Any = (
            values
            if feature.numeric
            else np.array([str(level) for level in feature.levels], dtype=object)[values.astype(np.intp)]
        )
        columns[feature.name] = Column(feature.name, cells, split_unit(feature.name)[0], feature.unit)
    return Table(columns)
