"""Columns of operations: the same numbers as the rows, of one row group and of several."""

from __future__ import annotations

import numpy as np
import pytest
import store_samples

from iosonde.core.schema import OPERATION
from iosonde.store import Store, tables


@pytest.mark.parametrize("group", [1_000_000, 100])
def test_columns_are_those_of_the_rows(tmp_path, monkeypatch, group):
    monkeypatch.setattr(tables, "ROWS_PER_GROUP", group)
    store = Store.create(tmp_path / "s")
    store.append(store_samples.run(operations=store_samples.operations(950)))
    rows = store.operations("run-1")
    columns = store.operation_columns("run-1", OPERATION.names)
    assert all(np.array_equal(columns[name], rows[name]) for name in OPERATION.names)


def test_without_operations_they_are_empty(tmp_path):
    store = Store.create(tmp_path / "s")
    store.append(store_samples.run(operations=None))
    assert store.operation_columns("run-1", ["rank"])["rank"].size == 0
