"""How much a recorded operation takes on the disk."""

from __future__ import annotations

import numpy as np
import pytest
import store_samples

from iosonde.core.schema import OPERATION
from iosonde.store import Store

COUNT = 100_000


def random_reads() -> np.ndarray:
    """Of 4 KiB by two ranks, a third from a cache: nothing in durations and offsets repeats itself."""
    rng = np.random.default_rng(1)
    rows = np.zeros(COUNT, OPERATION)
    durations = np.where(
        rng.random(COUNT) < 1 / 3, rng.lognormal(np.log(2e3), 0.2, COUNT), rng.lognormal(np.log(9e4), 0.4, COUNT)
    ).astype(np.int64)
    rows["duration_ns"], rows["rank"] = durations, np.arange(COUNT) >= COUNT // 2
    rows["start_ns"] = 10**15 + np.cumsum(durations + rng.integers(60, 140, COUNT)) - durations
    rows["kind"], rows["size"], rows["offset"] = 4, 4096, rng.integers(0, 2**22, COUNT) * 4096
    return rows


@pytest.mark.slow
def test_an_operation_takes_twelve_bytes_at_most(tmp_path):
    store = Store.create(tmp_path / "s")
    store.append(store_samples.run(operations=random_reads()))
    (file,) = (tmp_path / "s").glob("runs/*/operations.parquet")
    assert file.stat().st_size / COUNT <= 12
