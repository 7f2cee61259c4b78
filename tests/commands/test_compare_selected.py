"""Pairs of which one side has more units: whether those that were paired are extreme among them."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.commands.compare.answer import Comparisons, Sides, compare
from iosonde.core.table import build_table
from iosonde.core.verdict import Direction, VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data


def nodes_measured_again(rng: np.random.Generator, change: float = 1.0, chosen: str = "lowest") -> dict:
    """60 nodes that are alike in the first round, and 8 of them again in the second."""
    first = 100 + 10 * rng.standard_normal(60)
    order = {"lowest": np.argsort(first), "highest": np.argsort(-first), "any": rng.permutation(60)}[chosen]
    again = change * (100 + 10 * rng.standard_normal(8))
    return {
        "node": [f"n{n:02}" for n in [*range(60), *order[:8]]],
        "round": ["first"] * 60 + ["second"] * 8,
        "y": [*first, *again],
    }


def compared(columns: dict, levels=("first", "second")) -> Comparisons:
    return compare(open_data(build_table(columns)), ResponseQuery(("y",)), Sides(levels, "round", pair=("node",)))


@pytest.mark.parametrize("levels", [("first", "second"), ("second", "first")])
@pytest.mark.parametrize("chosen", ["lowest", "highest"])
def test_regression_to_the_mean_is_no_difference(chosen, levels):
    rng = np.random.default_rng(1)
    claims = [compared(nodes_measured_again(rng, chosen=chosen), levels).verdicts[0] for _ in range(40)]
    assert all(claim.doubts == ("selected",) for claim in claims)
    assert sum(claim.state is not VerdictState.INCONCLUSIVE for claim in claims) <= 2


def test_a_factor_of_two_is_more_than_that():
    rng = np.random.default_rng(2)
    claims = [compared(nodes_measured_again(rng, change=2.0)).verdicts[0] for _ in range(40)]
    assert sum(claim.state is VerdictState.DIFFERENT for claim in claims) >= 36
    assert {(claim.direction, claim.doubts) for claim in claims if claim.direction} == {(Direction.UP, ("selected",))}


def test_nodes_that_were_chosen_blindly_have_no_caveat():
    rng = np.random.default_rng(3)
    claims = [compared(nodes_measured_again(rng, chosen="any")).verdicts[0] for _ in range(100)]
    assert sum(bool(claim.doubts) for claim in claims) <= 5


def test_sizes_that_one_side_lacks_are_no_selection_by_luck():
    rng = np.random.default_rng(4)
    sizes = [2**power for power in range(16)]
    rows = [(size, "first", size * rng.normal(1, 0.01)) for size in sizes]
    rows += [(size, "second", 0.9 * size * rng.normal(1, 0.01)) for size in sizes[:8]]
    node, side, y = map(list, zip(*rows, strict=True))
    (claim,) = compared({"node": node, "round": side, "y": y}).verdicts
    assert (claim.state, claim.direction, claim.doubts) == (VerdictState.DIFFERENT, Direction.DOWN, ())


def test_two_tables_are_asked_alike():
    columns = nodes_measured_again(np.random.default_rng(5))
    tables = [{name: columns[name][part] for name in ("node", "y")} for part in (slice(60), slice(60, None))]
    first, second = (open_data(build_table(table)) for table in tables)
    (claim,) = compare(first, ResponseQuery(("y",)), Sides(other=second, pair=("node",))).verdicts
    assert claim.state is VerdictState.INCONCLUSIVE and "selected" in claim.doubts
