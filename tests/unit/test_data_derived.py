"""Formulas over columns: what they mean, and their limits."""

import numpy as np
import pytest

from iosonde.core.errors import DataError, InputError
from iosonde.data import derived


@pytest.mark.parametrize("text", ["Y * 9 ** 9 ** 9", "Y + 1 / 0", "Y * 1e101", "Y" + " + 1" * 101, "Y+" * 300 + "Y"])
def test_a_formula_over_columns_has_limits_too(text):
    with pytest.raises((InputError, DataError)):
        derived.parse_expression(text, ["Y"]).values({"Y": np.ones(3)})


def test_a_formula_over_columns_is_that_of_numbers():
    columns = {"Y": np.array([1.0, -3.0, np.nan]), "a/b": np.array([2.0, 4.0, 8.0])}
    parsed = derived.parse_expression("square(Y) / a/b - 2 ** -1", list(columns))
    assert parsed.names == ("Y", "a/b") and [
        derived.is_decreasing(parsed.expression.tree, name) for name in ("a/b", "Y")
    ] == [True, False]
    np.testing.assert_array_equal(parsed.values(columns), [0.0, 1.75, np.nan])
