"""Shapes of latency: counts are kept, buckets are where the durations are, shapes add."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.stats.estimate import shape


@given(st.lists(st.integers(0, 2**47), max_size=50))
def test_every_operation_is_counted_once(durations):
    made = shape.shape_from_durations(durations)
    edges, shares = made.trim_empty_buckets()
    assert made.operations == len(durations)
    assert made.total_ns == pytest.approx(sum(durations))
    assert len(edges) == (len(shares) + 1 if durations else 0)
    assert sum(shares) == pytest.approx(1 if durations else 0)


@given(st.integers(1, 10**12))
def test_the_bucket_holds_its_duration(duration_ns):
    (low, high), shares = shape.shape_from_durations([duration_ns]).trim_empty_buckets()
    assert low * (1 - 1e-9) <= duration_ns * 1e-9 <= high * (1 + 1e-9)
    assert high / low == pytest.approx(10 ** (1 / shape.PER_DECADE))
    assert shares == [1.0]


def test_shapes_add():
    both = shape.shape_from_durations([1000, 2000]) + shape.shape_from_durations([2000])
    assert both.operations == 3
    assert both.total_ns == 5000
    assert np.array_equal(both.counts, shape.shape_from_durations([1000, 2000, 2000]).counts)


def test_from_the_engine_s_buckets():
    made = shape.shape_from_buckets([1000.0, 1020.0, 1040.0], [[0, 7], [1, 3]])
    assert made.operations == 10
    assert made.total_ns == pytest.approx(7 * 1009.95 + 3 * 1029.95, rel=1e-4)
    assert np.array_equal(made.counts, shape.shape_from_durations([1010] * 10).counts)
    assert shape.shape_from_buckets([1.0, 2.0], []).operations == 0
