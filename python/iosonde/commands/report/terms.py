"""Default terms of a page's regressions and models: the settings that vary."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from iosonde.core.arrays import Indices
from iosonde.core.errors import DataError
from iosonde.core.table import Column, Table
from iosonde.data.factors import is_separable
from iosonde.stats.overview.comparable import choose_comparable_factors

LEAST_DF = 3


def select_default_terms(table: Table, response: str, settings: Sequence[str]) -> list[str]:
    """Return the settings that vary where the response is known, only the first of confounded ones. Raises DataError
    with the reason if no regression can be shown by default."""
    valid_rows = table.take(~table.column(response).missing)
    n = len(valid_rows)
    varying = [name for name in settings if _count_levels(valid_rows, name) > 1]
    if not varying:
        raise DataError("nothing-varies", "no setting varies, so no effect can be estimated", "vary one")
    terms = select_varying_terms(valid_rows, settings)
    if not terms:
        raise DataError(
            "near-unique-levels",
            "{factors}: nearly every trial has a name of its own",
            "repeat the trials",
            factors=", ".join(varying),
        )
    if len(terms) == 1 and _count_levels(valid_rows, terms[0]) == 2:
        raise DataError(
            "too-few-levels",
            "only {term} varies, at two levels: a line through two points shows no shape; `iosonde "
            "compare` says whether they differ",
            "measure a level between them",
            term=terms[0],
        )
    parameters = 1 + sum(1 if valid_rows.column(t).numeric else _count_levels(valid_rows, t) - 1 for t in terms)
    if n - parameters < LEAST_DF:
        raise DataError(
            "too-few-trials",
            "{n_trials} trials are too few for a regression on {terms}: {needed_trials} or more "
            "would leave an error to judge it by",
            "repeat the trials",
            n_trials=n,
            terms=", ".join(terms),
            needed_trials=parameters + LEAST_DF,
        )
    return terms


def select_varying_terms(rows: Table, settings: Sequence[str]) -> list[str]:
    """Return the varying settings, without names that are unique to nearly every row. Settings that follow from others
    are dropped unless by design: the generated factor of a fraction, the numbers of a Latin hypercube. Labels of
    combinations are dropped, as in the tests of the effects."""
    n = len(rows)
    terms: list[str] = []
    for name in settings:
        levels = _count_levels(rows, name)
        if levels < 2 or (not rows.column(name).numeric and 3 * levels > n):
            continue
        groups = len(rows.groups(terms))
        if terms and 2 * groups <= n and len(rows.groups([*terms, name])) == groups:
            crossed = all(len(rows.groups([term, name])) == _count_levels(rows, term) * levels for term in terms)
            if not crossed and not all(is_separable(rows, name, term) for term in terms):
                continue
        terms.append(name)
    labels = choose_comparable_factors({name: _number_levels(rows, name) for name in terms}, np.ones(n)).labels
    return [name for name in terms if name not in labels]


def _number_levels(table: Table, name: str) -> Indices:
    column = table.column(name)
    return np.where(column.missing, -1, column.codes()[0])


def _count_levels(table: Table, name: str) -> int:
    return sum(level is not None for level in table.column(name).codes()[1])


def select_metric(trials: Table, rows: npt.NDArray[np.intp], title: str, unit: str) -> Table:
    """Return the rows of one metric in the order of time, with their value in a column named as the heading."""
    selected = trials.take(np.sort(rows))
    columns = {name: column for name, column in selected.columns.items() if name not in ("value", title)}
    return Table({**columns, title: Column(title, selected.numbers("value"), title, unit)}, "")
