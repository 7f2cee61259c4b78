"""How long an application should take: by hand, by another way of placing files, and beside what was measured."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from iosonde.core.errors import InputError
from iosonde.core.types import Estimate
from iosonde.model.bound.application import (
    Application,
    PredictedTime,
    compare_with_prediction,
    describe_range_of_ratios,
    predict_time,
)
from iosonde.model.bound.system import System

SYSTEM = System(clients=4, servers=2, network=10e6)
SAME = (SYSTEM, SYSTEM, SYSTEM)


def test_time_is_computing_and_the_bytes_of_each_direction_over_its_bound():
    time, parts = predict_time(Application(compute=1.5, read=40e6, write=100e6), SAME, "", 0.95)
    assert parts == {"compute": 1.5, "read": 2.0, "write": 5.0}  # two links of 10 MB/s limit
    assert (time.value, time.high, time.n) == (8.5, 8.5, 0)
    assert time.low == 7.0  # all that is computed hidden behind the rest


def test_what_computes_longer_than_it_moves_takes_that_at_least():
    time, _ = predict_time(Application(compute=9.0, write=100e6), SAME, "", 0.95)
    assert (time.low, time.value) == (9.0, 14.0)


def test_where_each_file_lies_whole_the_busiest_server_decides():
    time, parts = predict_time(Application(read=40e6, read_files=1, write=60e6, write_files=3), SAME, "random", 0.95)
    assert parts["read"] == pytest.approx(4.0)  # one file on one of two servers
    shares = [1.5 / max(sum(chosen), 3 - sum(chosen)) for chosen in itertools.product((0, 1), repeat=3)]
    assert parts["write"] == pytest.approx(3.0 / np.mean(shares), rel=0.03)
    assert time.low == pytest.approx(4.0 + 4.0) and time.high == pytest.approx(4.0 + 6.0)


def test_copies_are_written_and_not_read():
    system = System(clients=4, servers=2, network=10e6, redundancy="client", replicas=2)
    _, parts = predict_time(Application(read=40e6, write=40e6), (system,) * 3, "", 0.95)
    assert parts["write"] == 2 * parts["read"]


def test_what_is_not_known_of_the_cluster_is_in_the_interval():
    worse, better = System(clients=4, servers=2, network=8e6), System(clients=4, servers=2, network=16e6)
    time, _ = predict_time(Application(compute=1.0, write=160e6), (SYSTEM, worse, better), "", 0.95)
    assert (time.low, time.value, time.high) == (5.0, 9.0, 11.0)


def test_nothing_known_of_what_limits_is_refused():
    with pytest.raises(InputError):
        predict_time(Application(write=1.0), (System(),) * 3, "", 0.95)


def test_the_ratio_holds_both_intervals_and_one_trial_has_none():
    measured, ratio = compare_with_prediction(np.array([9.0, 10.0, 11.0]), Estimate(10.0, 8.0, 12.5, 0.95, 0), 0.95)
    assert (measured.value, ratio.value) == (10.0, 1.0)
    assert ratio.low == pytest.approx(measured.low / 12.5) and ratio.high == pytest.approx(measured.high / 8.0)
    single = compare_with_prediction(np.array([9.0]), Estimate(10.0, 8.0, 12.5, 0.95, 0), 0.95)[1]
    assert single.value == 0.9 and single.low is None


def _row(low: float | None, value: float, high: float | None) -> PredictedTime:
    ratio = Estimate(value, low, high, 0.95, 3)
    return PredictedTime({}, Estimate(1.0, 1.0, 1.0, 0.95, 0), {}, ratio, ratio)


def test_the_sentence_counts_what_can_be_told():
    rows = [_row(1.1, 1.2, 1.3), _row(0.6, 0.7, 0.8), _row(0.9, 1.0, 1.1), _row(None, 0.9, None)]
    assert re.findall(r"[\d.]+\b", describe_range_of_ratios(rows)) == ["0.70", "1.20", "4", "1", "1", "1", "1"]


def test_a_predicted_time_in_json():
    measured, ratio = Estimate(10.0, 9.0, 11.0, 0.95, 3, ("few",)), Estimate(1.25, 1.0, 1.5, 0.95, 3)
    row = PredictedTime({"nodes": 2}, Estimate(8.0, 7.0, 9.0, 0.95, 0), {"compute": 1.0, "read": 7.0}, measured, ratio)
    assert row.to_json() == {
        "by": {"nodes": 2},
        "n": 3,
        "predicted": 8.0,
        "predicted_low": 7.0,
        "predicted_high": 9.0,
        "parts": {"compute": 1.0, "read": 7.0},
        "measured": 10.0,
        "measured_low": 9.0,
        "measured_high": 11.0,
        "ratio": 1.25,
        "ratio_low": 1.0,
        "ratio_high": 1.5,
        "warnings": ["few"],
    }


def test_settings_at_the_limit_are_as_predicted_and_alike_ones_are_named_once():
    rows = [_row(1.0, 1.2, 1.3), _row(0.7, 0.8, 1.0)]
    assert re.findall(r"[\d.]+\b", describe_range_of_ratios(rows)) == ["0.80", "1.20", "2", "2"]
    assert re.findall(r"[\d.]+\b", describe_range_of_ratios([rows[0], rows[0]])) == ["1.20", "2", "2"]
    unknown = Estimate(None, None, None, 0.95, 0)
    nothing = PredictedTime({}, Estimate(1.0, 1.0, 1.0, 0.95, 0), {}, unknown, unknown)
    assert not re.findall(r"\d", describe_range_of_ratios([nothing]))


def test_a_prediction_of_nothing_has_no_ratio():
    measured, ratio = compare_with_prediction(np.array([9.0, 11.0]), Estimate(0.0, 0.0, 2.0, 0.95, 0), 0.95)
    assert (ratio.value, ratio.high) == (None, None) and ratio.low == measured.low / 2
