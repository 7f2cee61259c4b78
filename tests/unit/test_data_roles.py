"""What the columns of somebody's table are: measured, set, or neither."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from iosonde.core.table import Column, Table, table_of
from iosonde.data.roles import guess

RNG = np.random.default_rng


def table(unit_of: dict[str, str], **columns: object) -> Table:
    made = table_of({name: list(values) for name, values in columns.items()})  # type: ignore[call-overload]  # lists
    return Table({n: Column(n, c.values, n, unit_of.get(n, "")) for n, c in made.columns.items()})


def repeated(n: int, seed: int) -> dict[str, list[object]]:
    """A grid of two settings with n repetitions of each, and what was measured."""
    rows = [(fs, size, k) for fs, size, k in product(["a", "b"], [4096, 65536, 1048576], range(n))]
    noise = RNG(seed)
    return {
        "fs": [fs for fs, _, _ in rows], "size": [size for _, size, _ in rows], "repetition": [k for *_, k in rows],
        "speed": [float(10 * noise.uniform(0.5, 1.5)) for _ in rows],
        "received": [int(8e6 * noise.uniform(0.3, 3)) for _ in rows],
        "packets": [int(size / 10 + noise.uniform(0, 200)) for _, size, _ in rows],
    }  # fmt: skip


def test_bytes_received_and_counts_of_packets_are_outcomes():
    rows = repeated(3, 1)
    roles = guess(table({"size": "bytes", "received": "bytes"}, **rows))
    assert roles.settings == ("fs", "size")
    assert roles.responses == ("speed",) and set(roles.others) == {"received", "packets"}


def test_without_numbers_of_repetitions_outcomes_are_told_by_what_they_vary_over():
    rows = repeated(3, 2)
    del rows["repetition"], rows["received"]
    rows["links"] = [int(1e6 + x) for x in RNG(3).permutation(len(rows["fs"]))]
    roles = guess(table({"size": "bytes"}, **rows))
    assert roles.settings == ("fs", "size") and set(roles.others) == {"packets", "links"}


@pytest.mark.parametrize("seed", range(20))
def test_sizes_that_were_drawn_for_each_trial_are_settings(seed):
    noise = RNG(seed)
    rows = {
        "fs": ["a", "b"] * 15, "cache": ["on"] * 15 + ["off"] * 15, "trial": list(range(30)),
        "size": [int(2 ** noise.uniform(12, 24)) for _ in range(30)],
        "files": [int(noise.uniform(100, 1000)) for _ in range(30)],
        "speed": list(noise.random(30)),
    }  # fmt: skip
    roles = guess(table({"size": "bytes"}, **rows))
    assert roles.settings == ("fs", "cache", "size", "files") and roles.others == ()


def test_an_outcome_that_is_asked_for_is_the_response():
    assert guess(table({"received": "bytes"}, **repeated(3, 4)), ["received"]).responses == ("received",)
