"""Factors that follow from another one are not in a model, which then proposes only what can be built."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.answers.learned import select_examples
from iosonde.commands.fit.answer import fit
from iosonde.commands.rank.answer import rank
from iosonde.commands.rank.for_page import InfluenceOptions, build_table_influences
from iosonde.core.message import Message
from iosonde.core.table import Table, build_table
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.model.fit.features import build_examples
from iosonde.model.fit.following import drop_following_factors
from messages import codes


def build_nested(repeats: int = 3) -> Table:
    """Build additive data of 4 hosts with 3 disks each at two sizes."""
    rng = np.random.default_rng(7)
    rows = [(f"h{h}", f"h{h}-sd{'abc'[d]}", bs) for h in range(4) for d in range(3) for bs in (4, 64)] * repeats
    host, disk, bs_kib = zip(*rows, strict=True)
    of_disk = dict(zip(dict.fromkeys(disk), rng.normal(0, 10, 12), strict=True))
    values = [200 + of_disk[name] + (40 if bs == 64 else 0) + rng.normal(0, 3) for _, name, bs in rows]
    return build_table({"host": list(host), "disk": list(disk), "bs_kib": list(bs_kib), "mb_s": values}, "nested.csv")


def test_a_model_leaves_out_the_host_that_follows_from_its_disks_and_says_it_once():
    answer = fit(open_data(build_nested()), ResponseQuery(("mb_s",), ("host", "disk", "bs_kib")))
    assert [feature.name for feature in answer.choice.model.features] == ["disk", "bs_kib"]
    assert answer.choice.model.family == "linear" and codes(answer.examples.warnings).count("follows") == 1
    assert not any(tried.refused for tried in answer.choice.tried)


def test_the_page_proposes_no_disk_in_the_host_of_another():
    (item,) = build_table_influences(build_nested(), ["mb_s"], ["host", "disk", "bs_kib"], InfluenceOptions(0.95)).items
    assert item.what_if is not None and {row.factor for row in item.what_if.rows} == {"disk", "bs_kib"}
    assert "host=" not in item.what_if.setting


@pytest.mark.parametrize(
    ("columns", "remaining"),
    [
        ({"a": ["x", "y", "z"] * 4, "b": ["u", "v", "w"] * 4}, ["a"]),  # twins
        ({"a": [1, 2, 4] * 4, "b": ["u", "v", "w"] * 4}, ["a"]),
        ({"a": [1, 1, 2, 2] * 3, "b": [1, 2, 3, 4] * 3}, ["a", "b"]),  # lines of numbers differ
        ({"a": [1, 1, 2, 2] * 3, "b": ["q", "r", "s", "t"] * 3}, ["b"]),
        ({"a": ["x", "x", "y", "y"] * 3, "b": ["u", "v", "u", "v"] * 3}, ["a", "b"]),
        ({"a": list(range(12)), "b": [5, 0, 9, 2, 11, 7, 1, 10, 4, 8, 3, 6]}, ["a", "b"]),  # a hypercube
    ],
)
def test_factors_are_left_out_only_if_a_model_cannot_separate_them(columns, remaining):
    table = build_table({**columns, "y": np.arange(12) ** 1.5}, "t.csv")
    examples = drop_following_factors(build_examples(table, "y", list(columns)))
    assert [feature.name for feature in examples.features] == remaining
    assert codes(examples.warnings) == (["follows"] if len(remaining) < 2 else [])


def test_factors_named_in_terms_stay():
    learned = select_examples(open_data(build_nested()), ResponseQuery(("mb_s",), ("C(host)", "disk")))
    assert [feature.name for feature in learned.examples.features] == ["host", "disk"]


def test_nested_factors_are_said_to_be_nested_and_not_to_change_together():
    answer = rank(open_data(build_nested()), ResponseQuery(("mb_s",)))
    warnings = codes(answer.rankings[0].warnings)
    assert "nested" in warnings and "inseparable-factors" not in warnings
    assert {verdict.why.code for verdict in answer.verdicts if isinstance(verdict.why, Message)} == {"nested"}
    (ranking,) = rank(open_data(build_nested()), ResponseQuery(("mb_s",), ("host", "disk"))).rankings
    assert "nested" in codes(ranking.warnings)
    twins = build_table({"a": [0, 1, 2] * 4, "b": ["u", "v", "w"] * 4, "y": np.arange(12) ** 1.5}, "t.csv")
    (ranking,) = rank(open_data(twins), ResponseQuery(("y",), ("a", "b"))).rankings
    assert "inseparable-factors" in codes(ranking.warnings)
