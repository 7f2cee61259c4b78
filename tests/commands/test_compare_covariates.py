"""Columns beside a comparison that nobody set: named where they differ between the sides, and never its cells."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.commands.compare.answer import Comparisons, Sides, compare
from iosonde.core.table import build_table
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from messages import assert_problem, with_code


def compared(columns: dict, **sides) -> Comparisons:
    return compare(open_data(build_table(columns)), ResponseQuery(("after",)), Sides(("a", "b"), "v", **sides))


def lord(seed: int = 1, shift: float = 20.0, whole: bool = False, n: int = 15) -> dict:
    rng = np.random.default_rng(seed)
    before = np.concatenate([rng.normal(100, 8, n), rng.normal(100 + shift, 8, n)])
    before = np.round(before) if whole else before
    order = rng.permutation(2 * n)
    table = {"v": np.array(["a"] * n + ["b"] * n), "before": before, "after": before + rng.normal(0, 2, 2 * n)}
    return {name: values[order].tolist() for name, values in table.items()}


@pytest.mark.parametrize("whole", [False, True])
def test_a_number_from_before_that_differs_between_the_sides_is_named(whole):
    made = compared(lord(whole=whole))
    (claim,), (item,) = made.verdicts, made.items
    assert claim.doubts == ("varies-besides",) and claim.state is VerdictState.DIFFERENT and item.adjusted == ()
    assert_problem(with_code(item.warnings, "covariate-differs"), "covariate-differs", covariate="before")
    assert item.comparison.a.side.n == 15


def test_one_that_does_not_differ_is_no_news():
    doubted = sum(bool(compared(lord(seed, shift=0.0)).verdicts[0].doubts) for seed in range(100))
    assert doubted <= 5


def test_another_outcome_is_no_covariate():
    data = lord(shift=0.0)
    data["latency"] = [1 + value * (v == "a") for v, value in zip(data["v"], data["after"], strict=True)]
    assert compared(data).verdicts[0].doubts == ()


def test_a_name_of_its_own_for_each_row_tells_nothing_apart():
    data = lord(shift=0.0)
    data["file"] = [f"out-{place}.txt" for place in range(30)]
    data["pid"] = [4711 + 13 * place**2 for place in range(30)]
    assert compared(data).verdicts[0].doubts == () and not compared(data).warnings


def test_a_setting_with_many_levels_still_makes_cells():
    rng = np.random.default_rng(3)
    sizes = list(range(1, 17))
    data = {
        "v": ["a"] * 16 + ["b"] * 16,
        "size": sizes * 2,
        "after": [s * (1 + (v == "b")) * rng.normal(1, 0.02) for v in "ab" for s in sizes],
    }
    (item,) = compared(data).items
    assert item.adjusted == ("size",) and item.comparison.cells == 16 and item.state is VerdictState.DIFFERENT
