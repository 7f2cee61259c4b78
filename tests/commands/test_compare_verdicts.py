"""The claims of comparisons: their state, direction and doubts, which text, JSON and frames share."""

from __future__ import annotations

import re

import numpy as np
import pytest

import compare_sample
from iosonde.commands.compare.answer import Comparisons, Sides, compare
from iosonde.commands.compare.text import lines
from iosonde.commands.compare.text_markdown import format_markdown
from iosonde.core.table import build_table
from iosonde.core.verdict import Direction, VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data


def compared(columns: dict, **sides) -> Comparisons:
    group = sides.pop("group", "v")
    return compare(open_data(build_table(columns)), ResponseQuery(("y",)), Sides(group=group, **sides))


def two_sides(b: float, n: int = 8, noise: float = 0.02, seed: int = 1) -> dict:
    rng = np.random.default_rng(seed)
    order = rng.permutation(2 * n)
    y = np.concatenate([rng.normal(1, noise, n), b * rng.normal(1, noise, n)])
    return {"v": np.array(["a"] * n + ["b"] * n)[order].tolist(), "y": (100 * y)[order].tolist()}


@pytest.mark.parametrize(
    ("b", "noise", "state", "direction"),
    [
        (2.0, 0.02, VerdictState.DIFFERENT, Direction.UP),
        (0.5, 0.02, VerdictState.DIFFERENT, Direction.DOWN),
        (1.0, 0.005, VerdictState.EQUAL, None),
        (1.0, 0.2, VerdictState.INCONCLUSIVE, None),
        (1.01, 0.0005, VerdictState.EQUAL, None),
    ],
)
def test_a_comparison_is_one_claim(b, noise, state, direction):
    made = compared(two_sides(b, noise=noise))
    (claim,) = made.verdicts
    assert (claim.question, claim.response, claim.subject) == ("difference", "y", ("a", "b"))
    assert (claim.state, claim.direction, claim.doubts) == (state, direction, ())
    assert claim.estimate == made.items[0].comparison.ratio and claim.p == made.items[0].comparison.p_holm
    record, data = made.records()[0], made.to_dict()
    assert record["state"] == data["comparisons"][0]["state"] == data["verdicts"][0]["state"] == str(state)


def test_a_column_that_goes_with_the_sides_is_not_separable_from_them():
    rows = two_sides(1.5)
    rows["host"] = ["h1" if v == "a" else "h2" for v in rows["v"]]
    made = compared(rows)
    (claim,) = made.verdicts
    assert claim.state is VerdictState.NOT_SEPARABLE and claim.direction is Direction.UP
    assert claim.doubts == ("goes-together",)
    (item,) = made.items
    assert "host" in item.sentence and "host" in item.verdict_word and item.overriding.cause == "host"
    assert item.sentence in " ".join(lines(made)).replace("  ", " ")
    assert any("| more ! |" in line for line in format_markdown(made))


def test_what_a_caveat_takes_away_is_claimed_at_no_level():
    """`By level: faster at 90 %, 95 % and 99 %` above `Cannot tell`."""
    rows = two_sides(1.5)
    plain = compared(rows)
    rows["host"] = ["h1" if v == "a" else "h2" for v in rows["v"]]
    made = compared(rows)
    for answer, there in ((plain, True), (made, False)):
        assert any("99 %" in line for line in lines(answer)) is there
        assert bool(answer.to_dict()["comparisons"][0]["by_level"]) is there


def test_a_side_that_equals_the_other_is_equal_whatever_goes_with_it():
    rows = two_sides(1.0, noise=0.005)
    rows["host"] = ["h1" if v == "a" else "h2" for v in rows["v"]]
    (claim,) = compared(rows).verdicts
    assert claim.state is VerdictState.EQUAL and claim.doubts == ("goes-together",)


def test_a_cell_with_one_trial_is_not_tested():
    table = {
        "v": list("aaabbb") + list("aaab"),
        "size": [1] * 6 + [2] * 4,
        "y": [1, 1.1, 1.2, 2, 2.1, 2.2, 1, 1.1, 1.2, 2],
    }
    made = compared(table, by=("size",))
    assert [(claim.claim, claim.state) for claim in made.verdicts] == [
        ("size=1", VerdictState.DIFFERENT),
        ("size=2", VerdictState.NOT_TESTED),
    ]
    (alone,) = compared({"v": ["a", "b", "b"], "size": [1, 1, 2], "y": [1.0, 2.0, 3.0]}).verdicts
    assert alone.state is VerdictState.NOT_TESTED


def test_two_stores_and_their_geometric_mean(tmp_path):
    compare_sample.main(str(tmp_path / "old"), str(tmp_path / "new"))
    made = compare(open_data(tmp_path / "old"), ResponseQuery(()), Sides(other=open_data(tmp_path / "new")))
    single, means = made.verdicts[:4], made.verdicts[4:]
    assert len(means) == 2 and {claim.state for claim in made.verdicts} == {VerdictState.DIFFERENT}
    assert {claim.family for claim in single} == {4} and {claim.claim for claim in single} == {"nodes=1", "nodes=2"}
    assert {claim.direction for claim in single if claim.response.startswith("write")} == {Direction.DOWN}
    assert {(mean.response.split()[-1], mean.direction) for mean in means} == {("mean", Direction.DOWN)}
    assert {claim.doubts for claim in made.verdicts} == {("order", "goes-together")}


def test_neither_of_two_columns_that_go_together_is_said_to_be_the_reason():
    table = two_sides(1.5)
    table["host"] = ["h1" if v == "a" else "h2" for v in table["v"]]
    rates = {"read bandwidth": table.pop("y")}
    rates["reread bandwidth"] = [2 * rate for rate in rates["read bandwidth"]]
    answer = compare(open_data(build_table({**table, **rates})), ResponseQuery(tuple(rates)), Sides(group="v"))
    (mean,) = answer.overall
    assert {claim.state for claim in answer.verdicts} == {VerdictState.NOT_SEPARABLE}
    for sentence in (mean.sentence, *(item.sentence for item in answer.items)):
        assert re.search(r"\bv\b.*\bhost\b", sentence) and not re.search(r"\bis (faster|slower)\b", sentence)
