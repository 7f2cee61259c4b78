"""``model/time_model``: the golden case, variants, diagnosis, fits, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.model.time_model import (
    Classified,
    Mixture,
    TimeCondition,
    TimePart,
    build_conditions,
    classify_by_condition,
    compute_least_time,
    find_nearest_condition,
    fit_line,
    fit_mixture,
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


FAST, SLOW = (
    TimeCondition("fast", (TimePart("m", 1.0),)),
    TimeCondition("slow", (TimePart("m", 1.0), TimePart("p", 1.0, 10.0))),
)


@pytest.mark.parametrize(
    ("observed", "condition", "model_s", "margin", "beyond"),
    [
        (1.0, "fast", 1.0, 1.0, False),
        (1.5, "fast", 1.0, 1 - 0.5 / 1.5, False),
        (2.0, "fast", 1.0, 0.0, False),
        (2.5, "slow", 3.0, 1 - 0.5 / 1.5, False),
        (6.0, "slow", 3.0, 1 - 3 / 5, False),
        (6.1, "slow", 3.0, 1 - 3.1 / 5.1, True),
        (0.5, "fast", 1.0, 1 - 0.5 / 2.5, False),
    ],
)
def test_a_diagnosis_in_json(observed, condition, model_s, margin, beyond):
    """One second, or 1 + 1 + 10/10."""
    assert find_nearest_condition([FAST, SLOW], 10.0, observed).to_json() == {
        "size": 10.0,
        "observed_s": observed,
        "condition": condition,
        "model_s": model_s,
        "best_s": 1.0,
        "lost_s": pytest.approx(observed - 1),
        "margin": pytest.approx(margin),
        "beyond": beyond,
    }
    assert find_nearest_condition([FAST], 10.0, observed).margin == 1.0


@pytest.mark.parametrize(("observed", "share"), [(0.9, None), (1.0, 0.0), (1.5, 0.25), (3.0, 1.0), (3.1, None)])
def test_a_mixture_lies_between_two_conditions(observed, share):
    assert fit_mixture([SLOW, FAST], 10.0, observed) == (None if share is None else Mixture("fast", "slow", share))
    assert fit_mixture([FAST, FAST], 10.0, 1.0) is None


def test_shares_of_many_operations_by_hand():
    made = classify_by_condition([FAST, SLOW], np.full(4, 10.0), np.array([1.0, 1.9, 3.0, 7.0]))
    assert made == Classified({"fast": 0.5, "slow": 0.5}, pytest.approx(1 - 4 / 12.9), 0.25, 4)
    assert classify_by_condition([FAST], np.array([1.0]), np.array([0.0])).lost == 0.0


@pytest.mark.parametrize(
    ("parts", "options", "code", "values"),
    [
        ([TimePart("x")], {}, "unknown-part", {"name": "x", "parts": "m, p, n, c, d"}),
        ([TimePart("p")], {"only": ("cached",)}, "unknown-condition", {"condition": "cached"}),
        ([TimePart("d"), TimePart("p")], {}, "incomplete-condition", {"part": "d", "missing_parts": "c"}),
        ([TimePart("n")], {}, "incomplete-condition", {"part": "n", "missing_parts": "p"}),
        ([TimePart("p")], {"only": ("uncached",)}, "incomplete-condition", {"conditions": "uncached"}),
    ],
)
def test_parts_that_make_no_condition_are_refused(parts, options, code, values):
    with raises(code, **values):
        build_conditions(parts, **options)


def test_a_line_in_json_is_that_of_numpy():
    sizes, seconds = np.array([1.0, 2.0, 4.0, 8.0, 9.0]), np.array([2.1, 3.9, 8.2, 15.8, 18.3])
    line = fit_line("read", sizes, seconds, 0.95)
    slope, intercept = np.polyfit(sizes, seconds, 1)
    document = line.to_json()
    assert (document["condition"], document["n"]) == ("read", 5)
    assert (document["fixed_s"], document["s_per_byte"]) == pytest.approx((intercept, slope))
    assert document["r2"] == pytest.approx(np.corrcoef(sizes, seconds)[0, 1] ** 2)
    residuals = seconds - intercept - slope * sizes
    assert document["s_e"] == pytest.approx((residuals @ residuals / 3) ** 0.5)
    assert document["fixed_s_low"] < document["fixed_s"] < document["fixed_s_high"]
    assert document["s_per_byte_low"] < document["s_per_byte"] < document["s_per_byte_high"]
    assert line.condition().seconds(3.0) == pytest.approx(intercept + 3 * slope)
    falling = fit_line("odd", sizes, seconds[::-1], 0.95)
    assert falling.condition().seconds(100.0) == falling.fixed.estimate, "a slope below 0 moves nothing"


def test_a_part_has_a_label():
    assert [TimePart("p").label, TimePart("p", variant="numa").label] == ["p", "p (numa)"]
    assert TimePart("p", 0.5, 10.0).seconds(20) == 2.5 and TimePart("m", 0.5).seconds(20) == 0.5
