"""Interactions by the ranks of their columns, where cells are missing or factors are nested."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import iosonde
from iosonde.core.table import Column, Table


def rank_names(table: Table) -> list[str]:
    return [
        f"{item.first} × {item.second}"
        for item in iosonde.rank(table, response="mib_s").answer.rankings[0].interactions
    ]


def build_table(rows: list[tuple[str, str, float, float]], names: tuple[str, ...]) -> Table:
    columns = [
        np.array(cells, dtype=float if isinstance(cells[0], float) else object) for cells in zip(*rows, strict=True)
    ]
    return Table({name: Column(name, cells) for name, cells in zip(names, columns, strict=True)})


@pytest.mark.parametrize("seed", range(5))
def test_nested_factors_without_interaction_have_none(seed):
    rng = np.random.default_rng(seed)
    disk_effects = {(host, disk): rng.normal(0, 10) for host in range(4) for disk in range(3)}
    rows = [
        (f"h{host}", f"h{host}-{disk}", float(size), 150 + 0.5 * size + disk_effects[host, disk] + rng.normal(0, 5))
        for host, disk, size, _ in product(range(4), range(3), (4, 128), range(3))
    ]
    table = build_table(rows, ("host", "disk", "size_kib", "mib_s"))
    assert rank_names(table) == []
    warnings = iosonde.rank(table, response="mib_s").answer.rankings[0].warnings
    assert "few-settings" not in [getattr(text, "code", "") for text in warnings]  # a full grid, not a sample
