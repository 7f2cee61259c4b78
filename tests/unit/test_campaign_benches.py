"""What all trials of a campaign share."""

from __future__ import annotations

import pytest

from iosonde.campaign import begun


@pytest.mark.parametrize(
    ("asked", "memory_bytes", "recorded"),
    [(10**7, 2**40, 10**7), (10**7, 64 * 10**6, 10**5), (10**3, 64 * 10**6, 10**3), (10**7, 0, 1)],
)
def test_the_operations_of_a_run_take_five_percent_of_the_memory_at_most(monkeypatch, asked, memory_bytes, recorded):
    monkeypatch.setattr(begun.machine, "compute_usable_memory", lambda: memory_bytes)
    assert begun.compute_record_budget(asked) == recorded
    assert recorded == 1 or recorded * 32 <= 0.05 * memory_bytes
