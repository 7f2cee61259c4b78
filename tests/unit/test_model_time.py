"""``model/time_model``: the golden case, variants, diagnosis, fits, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.model.time_model import (
    TimePart,
    build_conditions,
    classify_by_condition,
    compute_least_time,
    find_nearest_condition,
    fit_line,
)
from messages import raises

SIZE = 262144
PARTS = [
    TimePart("m", 0.3e-6),
    TimePart("p", 0, 1e10),
    TimePart("n", 50e-6, 125e6),
    TimePart("c", 0, 2e9),
    TimePart("d", 8e-3, 150e6),
]


def test_golden_times_and_diagnosis():
    found = build_conditions(PARTS)
    times = {"discard": 0.3, "client_cached": 26.5144, "server_cached": 2173.6664, "uncached": 12052.365067}
    assert {one.name: one.seconds(SIZE) * 1e6 for one in found} == pytest.approx(times, abs=0.01)
    told = [find_nearest_condition(found, SIZE, us * 1e-6).condition for us in (0.5, 30, 2500, 11000)]
    assert told == ["discard", "client_cached", "server_cached", "uncached"]
    assert compute_least_time(found, SIZE) == pytest.approx(0.3e-6)
    assert find_nearest_condition(found, SIZE, 2500e-6).lost_s == pytest.approx(2499.7e-6)


def test_a_sequential_device_prepares_nothing():
    times = {one.name: one.seconds(SIZE) for one in build_conditions(PARTS, "sequential")}
    assert times["uncached"] == pytest.approx(12052.365067e-6 - 8e-3)


def test_places_make_conditions_of_their_own():
    found = build_conditions([*PARTS, TimePart("p", 0, 5e9, "numa")])
    names = [one.name for one in found]
    assert names.count("discard") == 1 and "client_cached (numa)" in names and len(names) == 7
    assert find_nearest_condition(found, SIZE, 53e-6).condition == "client_cached (numa)"


def test_conditions_that_cannot_be_are_left_out():
    found = build_conditions(PARTS, only=("client_cached", "uncached"))
    assert [one.name for one in found] == ["client_cached", "uncached"]
    assert compute_least_time(found, SIZE) == pytest.approx(26.5144e-6)


def test_a_local_file_system_has_no_network_to_pay():
    found = {one.name: one for one in build_conditions([p for p in PARTS if p.name != "n"])}
    assert list(found) == ["discard", "client_cached", "uncached"]
    assert [part.name for part in found["uncached"].parts] == ["m", "p", "c", "d"]


@given(st.floats(1, 1e9), st.floats(1e-9, 1e3))
def test_the_nearest_is_the_nearest_and_lost_time_adds_up(size, observed):
    found = build_conditions(PARTS)
    told = find_nearest_condition(found, size, observed)
    assert abs(told.model_s - observed) == min(abs(one.seconds(size) - observed) for one in found)
    assert told.best_s + told.lost_s == pytest.approx(observed, rel=1e-9) and 0 <= told.margin <= 1


def test_a_fitted_line_finds_the_truth_and_names_its_interval():
    rng = np.random.default_rng(2)
    sizes = np.repeat([4096.0, 65536.0, 1048576.0], 20)
    times = 50e-6 + sizes / 125e6 + rng.normal(0, 2e-6, sizes.size)
    line = fit_line("server_cached", sizes, times, 0.99)
    assert line.fixed.low < 50e-6 < line.fixed.high and line.per_byte.low < 8e-9 < line.per_byte.high
    assert line.condition().seconds(SIZE) == pytest.approx(50e-6 + SIZE / 125e6, rel=0.01)


def test_no_complete_condition_is_an_error():
    with raises("unknown-part", name="x"):
        build_conditions([TimePart("x")])
    with raises("incomplete-condition", part="n", meaning="network") as error:
        build_conditions([p for p in PARTS if p.name in "mn"])
    assert error.value.hint == "give p too"


@given(st.lists(st.tuples(st.floats(1, 1e8), st.floats(1e-9, 1)), min_size=1, max_size=50))
def test_many_operations_are_classified_as_one_is(rows):
    found = build_conditions(PARTS)
    sizes, seconds = (np.array(column) for column in zip(*rows, strict=True))
    made = classify_by_condition(found, sizes, seconds)
    told = [find_nearest_condition(found, size, time) for size, time in rows]
    for name, share in made.shares.items():
        assert share == pytest.approx(sum(one.condition == name for one in told) / len(told))
    assert made.lost == pytest.approx(sum(one.lost_s for one in told) / seconds.sum())
    assert made.beyond == pytest.approx(sum(one.beyond for one in told) / len(told))
