"""The direction that `rank` shows is that with the other factors held, as `compare` within cells."""

from __future__ import annotations

import numpy as np
import pytest

import iosonde
from iosonde.core.table import Column, Table


def measure(counts: dict[str, tuple[int, ...]], seed: int = 3) -> Table:
    """Return trials of xfs, 13 % slower at each number of clients, and ext4; ``counts``: at 1, 4, 16 clients."""
    rng = np.random.default_rng(seed)
    rows = [
        (fs, f"{clients}c", mean * (0.87 if fs == "xfs" else 1) * np.exp(rng.normal(0, 0.03)))
        for fs, numbers in counts.items()
        for (clients, mean), n in zip({1: 100.0, 4: 240.0, 16: 540.0}.items(), numbers, strict=True)
        for _ in range(n)
    ]
    fs, clients, values = zip(*rows, strict=True)
    texts = {"fs": np.array(fs, object), "clients": np.array(clients, object)}
    return Table({**{name: Column(name, x) for name, x in texts.items()}, "mb_s": Column("mb_s", np.array(values))})


UNEVEN = {"xfs": (3, 3, 12), "ext4": (12, 3, 3)}


def rank_fs(table: Table, response: str = "mb_s"):
    ranking = iosonde.rank(table, response=response, on=["fs", "clients"]).answer.rankings[0]
    return next(factor for factor in ranking.factors if factor.name == "fs"), ranking


@pytest.mark.parametrize("response", ["mb_s", "log(mb_s)"])
def test_the_direction_is_that_within_the_settings_of_the_others(response):
    factor, _ = rank_fs(measure(UNEVEN), response)
    low, high = factor.effects.extremes
    assert (low.low, high.low) == ("xfs", "ext4")
    assert factor.effects.misleading_mean.low == "xfs"  # of more clients


def test_the_means_have_the_ratio_of_the_test_and_of_compare():
    table = measure(UNEVEN)
    factor, _ = rank_fs(table)
    low, high = factor.effects.extremes
    assert high.center / low.center == pytest.approx(factor.effect.ratio.value, rel=0.005)
    compared = iosonde.compare(table, "fs", ["xfs", "ext4"])
    assert high.center / low.center == pytest.approx(
        compared.answer.content()["comparisons"][0]["ratio"]["value"], rel=0.02
    )
    assert "mean_adjusted" in factor.effects.to_json()["levels"][0]


def test_balanced_settings_have_plain_means():
    factor, _ = rank_fs(measure({"xfs": (5, 5, 5), "ext4": (5, 5, 5)}))
    assert all(level.adjusted is None for level in factor.effects.levels)
    assert factor.effects.misleading_mean is None


def test_nested_factors_have_plain_means():
    table = measure(UNEVEN)
    hosts = [f"{fs}-{place % 2}" for place, fs in enumerate(table.columns["fs"].values)]
    nested = Table({"host": Column("host", np.array(hosts, object)), **table.columns})
    ranking = iosonde.rank(nested, response="mb_s", on=["fs", "host", "clients"]).answer.rankings[0]
    levels = next(factor.effects.levels for factor in ranking.factors if factor.name == "fs")
    assert all(level.adjusted is None for level in levels)
