"""Folds keep together what belongs together; errors are what their definitions say; the published case comes out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csv_table import table_from
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.model.fit import folds, speed_classes
from iosonde.model.fit.errors_of import (
    Errors,
    compute_class_bounds,
    compute_class_errors,
    compute_errors,
    compute_grouped_standard_error,
    estimate_grouped_mean,
    estimate_repeat_noise,
)
from iosonde.model.fit.features import Examples, build_examples
from iosonde.model.fit.folds import Fold, Groups
from iosonde.model.fit.validate import (
    Candidate,
    CurvePoint,
    compute_learning_curve,
    find_rows_where_always_better,
    group_rows_for_folds,
    interpolate_curve_crossing,
    use_custom_classes_of_candidates,
    validate_candidate,
)
from iosonde.model.fit.work import FitProgress
from messages import codes, has_message, raises
from outside import published_table


def data(cells: int = 40, repeats: int = 3, seed: int = 1, noise: float = 2.0, copies: int = 0):
    rng = np.random.default_rng(seed)
    a, b = np.arange(cells) % 8, np.arange(cells) // 8
    truth = 50 + 20.0 * np.sin(a) + 7.5 * b
    y = truth[:, None] + noise * rng.standard_normal((cells, repeats))
    for i in range(copies):
        y[cells - 1 - i] = y[i]
    table = build_table({"a": np.repeat(a, repeats), "b": np.repeat(b, repeats), "y": y.ravel()})
    return build_examples(table, "y", ["a", "b"])


# Golden G20.
@pytest.mark.parametrize(
    ("k", "sizes"), [(2, [387, 387]), (4, [193, 193, 194, 194]), (8, [96, 96, 97, 97, 97, 97, 97, 97])]
)
def test_fold_sizes_of_the_published_table(k, sizes):
    made = folds.build_k_folds(folds.Groups(np.arange(774)), k, 1)
    assert sorted(fold.test.size for fold in made) == sizes
    assert sorted(fold.train.size for fold in made) == sorted(774 - size for size in sizes)
    assert sorted(fold.train.size for fold in folds.swap_training_and_test(made)) == sizes
    assert np.array_equal(np.sort(np.concatenate([fold.test for fold in made])), np.arange(774))
    again = folds.build_k_folds(folds.Groups(np.arange(774)), k, 1)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(made, again, strict=True))


def test_a_split_of_three_quarters():
    fold, again, other = (folds.split_once(folds.Groups(np.arange(100)), 0.75, seed) for seed in (3, 3, 4))
    assert (fold.train.size, fold.test.size) == (75, 25)
    assert not set(fold.train) & set(fold.test)
    assert np.array_equal(fold.train, again.train) and not np.array_equal(fold.train, other.train)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=10, max_size=60), st.integers(2, 5), st.integers(0, 99))
def test_no_group_is_on_both_sides_and_every_row_is_judged_once(group, k, seed):
    group = np.array(group)
    if np.unique(group).size < k:
        return
    together = folds.Groups(group)
    made = folds.build_k_folds(together, k, seed)
    assert np.array_equal(np.sort(np.concatenate([fold.test for fold in made])), np.arange(group.size))
    for fold in [*made, folds.split_once(together, 0.75, seed)]:
        assert fold.train.size and fold.test.size
        assert not set(group[fold.train]) & set(group[fold.test])


def test_repeats_and_copies_are_kept_together():
    clean, copied = data(), data(copies=10)
    assert (folds.group_inseparable_rows(clean).n, folds.group_inseparable_rows(clean).twins) == (40, 0)
    assert (folds.group_inseparable_rows(copied).n, folds.group_inseparable_rows(copied).twins) == (30, 60)
    assert (folds.group_inseparable_rows(copied, "cells").n, folds.group_inseparable_rows(copied, "rows").n) == (
        40,
        120,
    )
    together = folds.group_inseparable_rows(copied).of
    assert (together[:3] == together[-3:]).all()


def in_bring_ups(levels: int, each: int, sd: float = 5.0, seed: int = 2):
    """A level of ``net`` is set once for three sizes: ``each`` such bring-ups of a level, each off by an error."""
    rng = np.random.default_rng(seed)
    net, size = np.repeat(np.arange(levels), 3 * each), np.tile(np.arange(3), levels * each)
    bring_up = np.repeat(np.arange(levels * each), 3)
    y = 50 + 10.0 * net + 3.0 * size + rng.normal(0, sd, levels * each)[bring_up] + rng.normal(0, 0.05, net.size)
    return build_examples(
        build_table({"net": net, "size": size, "bring_up": bring_up, "y": y}), "y", ["net", "size"]
    ), bring_up


@pytest.mark.parametrize(("levels", "each", "crossed"), [(6, 2, False), (2, 6, True)])
def test_a_bring_up_is_not_on_both_sides(levels, each, crossed):
    d, bring_up = in_bring_ups(levels, each)
    together = folds.group_inseparable_rows(d)
    assert (together.n_bring_ups, together.crossed is not None) == (12, crossed)
    made = folds.build_k_folds(together, 6, 1)
    assert np.array_equal(np.sort(np.concatenate([fold.test for fold in made])), np.arange(len(d)))
    for fold in [*made, folds.split_once(together, 0.5, 1), *folds.swap_training_and_test(made)]:
        assert not set(bring_up[fold.train]) & set(bring_up[fold.test])
        assert not set(d.cells[fold.train]) & set(d.cells[fold.test])


def test_the_error_of_a_bring_up_that_was_not_seen():
    """The tree knows each setting only by its level and size; a new bring-up is off by sd 5, or 4 on average."""
    tree, honest, naive = Candidate("tree"), [], []
    for seed in range(12):
        d, _ = in_bring_ups(2, 6, seed=seed)
        together, rows = folds.group_inseparable_rows(d), folds.group_inseparable_rows(d, "rows")
        honest.append(validate_candidate(d, tree, folds.build_k_folds(together, 6, 1), together, 0.95, 1).mae)
        naive.append(validate_candidate(d, tree, folds.build_k_folds(rows, 6, 1), rows, 0.95, 1).mae)
    assert {one.n for one in honest} == {12} and {one.n for one in naive} == {36}
    assert np.mean([one.value for one in honest]) > 4
    assert np.mean([one.value for one in honest]) > np.mean([one.value for one in naive])


def test_levels_of_one_bring_up_each_cannot_be_told_from_it():
    d, _ = in_bring_ups(2, 1)
    assert folds.group_inseparable_rows(d).crossed is None and folds.group_inseparable_rows(d).n_bring_ups == 0


def test_a_level_left_out_is_a_fold_with_its_name():
    text = build_examples(
        build_table({"fs": ["x", "y", "x", "z"], "n": [1, 2, 3, 4], "y": [1, 2, 3, 5]}), "y", ["fs", "n"]
    )
    assert [(fold.name, fold.test.tolist()) for fold in folds.leave_out(text, "fs")] == [
        ("fs=x", [0, 2]),
        ("fs=y", [1]),
        ("fs=z", [3]),
    ]
    assert [fold.name for fold in folds.leave_out(text, "n")] == ["n=1", "n=2", "n=3", "n=4"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda: folds.build_k_folds(folds.Groups(np.arange(3)), 4, 0),
        lambda: folds.build_k_folds(folds.Groups(np.arange(3)), 1, 0),
        lambda: folds.split_once(folds.Groups(np.arange(9)), 1.0, 0),
        lambda: folds.split_once(folds.Groups(np.zeros(9, int)), 0.5, 0),
        lambda: folds.leave_out(data(), "c"),
        lambda: folds.group_inseparable_rows(data(), "names"),
        lambda: group_rows_for_folds(data(cells=4), "twins", 5),
        lambda: compute_learning_curve(
            data(cells=3), [Candidate("mean")], folds.group_inseparable_rows(data(cells=3)), 0
        ),
    ],
)
def test_what_cannot_be_folded_is_one_sentence_with_a_cure(ask):
    with pytest.raises((InputError, DataError)) as refused:
        ask()
    assert refused.value.hint


# Golden G10 and G19.
def test_errors_by_their_definitions():
    made = compute_errors(np.array([10.0, 20, 30, 40]), np.array([12.0, 18, 33, 44]), None)
    assert (made.r2, made.mae, made.class_error) == (pytest.approx(0.934), 2.75, None)
    assert made.relative == pytest.approx((0.2 + 0.1 + 0.1 + 0.1) / 4)
    assert compute_errors(np.array([10.0, 20, 30, 40]), np.array([40.0, 30, 20, 10]), None).r2 == pytest.approx(-3)
    bounds = speed_classes.compute_class_upper_bounds(110)
    assert compute_errors(np.array([0.55, 54.7]), np.array([0.56, 0.3]), bounds).class_error == (1 + 33) / 2


def test_speed_classes_of_the_published_mapping():
    bounds = speed_classes.compute_class_upper_bounds(110)
    assert bounds.size == 41 and speed_classes.compute_class_upper_bounds(110, "bound").size == 42
    assert bounds[8:13] == pytest.approx([4.95, 5.5, 6.105, 6.7705, 7.50255], abs=1e-4)
    assert bounds[-3:] == pytest.approx([95.421712, 105.018884, 110], abs=1e-4)
    assert speed_classes.number_speed_classes([0, 0.55, 0.56, 5.5, 5.6, 54.7, 110], bounds).tolist() == [
        1,
        1,
        2,
        10,
        11,
        34,
        41,
    ]
    assert compute_class_bounds(np.array([-1.0, 2])) is None


def test_the_noise_of_repeats_is_the_true_one_on_average():
    found = [estimate_repeat_noise(data(cells=40, repeats=3, seed=seed, noise=2.0)) for seed in range(40)]
    assert np.mean([noise.mae for noise in found]) == pytest.approx(2 * np.sqrt(2 / np.pi), rel=0.03)
    assert np.mean([noise.sd for noise in found]) == pytest.approx(2, rel=0.03)
    assert estimate_repeat_noise(data(repeats=1)) is None


def test_the_interval_of_an_error_counts_groups_and_not_rows():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(300):
        group = np.repeat(np.arange(20), 10)
        values = np.repeat(rng.normal(5, 1, 20), 10)  # ten rows of a group say the same
        e = estimate_grouped_mean(values, group, 0.95)
        covered += e.low <= 5 <= e.high
    assert 0.91 <= covered / 300 <= 0.985
    assert estimate_grouped_mean(np.array([1.0]), np.array([0]), 0.95).low is None


def test_every_candidate_is_judged_on_the_same_rows_and_a_better_one_is_seen():
    d = data()
    group = folds.group_inseparable_rows(d)
    made = [
        validate_candidate(d, Candidate(name), folds.build_k_folds(group, 5, 1), group, 0.95, 1)
        for name in ("mean", "forest")
    ]
    assert [m.rows.size for m in made] == [120, 120]
    assert made[1].mae.high < made[0].mae.low
    assert made[0].errors.r2 <= 0 < made[1].errors.r2
    low, high = made[1].extremes("mae")
    assert low <= made[1].mae.value <= high
    assert made[0].to_json()["folds"][0]["n_train"] + made[0].to_json()["folds"][0]["n_test"] == 120


def test_a_family_that_cannot_be_fitted_is_refused_with_its_reason():
    text = build_examples(build_table({"a": [1, 2, 3, 4, 5, 6.0], "y": [-1, 2, 3, 5, 4, 9.0]}), "y", ["a"])
    group = folds.group_inseparable_rows(text)
    made = validate_candidate(text, Candidate("loglinear"), folds.build_k_folds(group, 2, 0), group, 0.95, 0)
    assert made.refused.code == "response-not-positive" and made.mae.value is None
    with pytest.raises(InputError):
        validate_candidate(text, Candidate("tree", {"k": 1}), folds.build_k_folds(group, 2, 0), group, 0.95, 0)


def test_more_rows_make_a_better_tree_and_the_crossing_is_found():
    d = data(cells=40, repeats=2)
    points = compute_learning_curve(d, [Candidate("tree"), Candidate("mean")], folds.group_inseparable_rows(d), 1)
    assert [point.n_train for point in points] == [5, 10, 20, 40, 60, 70]
    assert points[-1].mae[0] < points[0].mae[0]
    made = [CurvePoint(n, mae) for n, mae in ((10, (9, 5)), (20, (4, 5)), (40, (6, 5)), (80, (4, 5)), (90, (3, 5)))]
    assert find_rows_where_always_better(made, 0, 1) == 80 and find_rows_where_always_better(made, 1, 0) is None
    # One above at 40, one below at 80: halfway on the logarithm, which is their geometric mean.
    assert (
        interpolate_curve_crossing(made, 0, 1) == pytest.approx(40 * 2**0.5)
        and interpolate_curve_crossing(made, 1, 0) is None
    )
    unknown = [CurvePoint(10, (None, 5.0)), CurvePoint(20, (4.0, 5.0))]
    assert find_rows_where_always_better(unknown, 0, 1) == 20 and interpolate_curve_crossing(unknown, 0, 1) is None


def test_folds_that_learn_from_as_many_rows_are_one_point_of_the_curve():
    """Of few settings crossed with bring-ups they did, and the errors crossed between a point and itself."""
    d = data(cells=12, repeats=2)
    crossed = folds.Groups(np.repeat(np.arange(8), 3), crossed=np.tile([0, 1], 12))
    points = compute_learning_curve(d, [Candidate("tree"), Candidate("mean")], crossed, 1)
    sizes = [point.n_train for point in points]
    assert sizes == sorted(set(sizes))


def test_the_published_errors_of_the_class_tree_come_out():

    table = table_from(published_table())
    size, _, sieving, buffer, fill, speed = table.names
    d = build_examples(table, speed, [size, sieving, buffer, fill])
    rows, twins = folds.group_inseparable_rows(d, "rows"), folds.group_inseparable_rows(d)
    assert (rows.n, twins.n, twins.twins) == (774, 576, 396)
    tree = Candidate("classes", {"reading": "bound"})

    def error(candidate, made, group):
        return validate_candidate(d, candidate, made, group, 0.95, 1).mae.value

    assert error(Candidate("mean"), folds.build_k_folds(rows, 8, 1), rows) == pytest.approx(28.45, abs=0.1)
    for k, published in ((2, 7.3), (4, 6.1), (8, 5.6)):
        made = [error(tree, folds.build_k_folds(rows, k, seed), rows) for seed in range(16 // k)]
        assert np.mean(made) == pytest.approx(published, rel=0.1)
    assert error(tree, folds.build_k_folds(twins, 8, 1), twins) == pytest.approx(7.1, rel=0.1)
    unseen = error(tree, folds.leave_out(d, size), twins)
    assert unseen == pytest.approx(12.9, rel=0.05)
    terms = {"terms": f"log2({size})*{fill}*{sieving},log2({size})*{fill}*{buffer}"}
    linear = error(Candidate("linear", terms), folds.build_k_folds(rows, 8, 1), rows)
    assert linear == pytest.approx(13.2, rel=0.03)
    curve = compute_learning_curve(d, [tree, Candidate("linear", terms)], rows, 1)
    assert find_rows_where_always_better(curve, 0, 1) <= 97  # published: from about 96 on


@pytest.mark.parametrize(
    ("values", "group", "mean", "half", "n"),
    [
        ([1.0, 3.0, 5.0], [0, 0, 0], 3.0, None, 1),
        ([7.0], [3], 7.0, None, 1),
        # The groups' sums about the mean are -2 and 2: √(8·2) ÷ 3, times t(0.9, 1).
        ([11.0, 13.0, 15.0], [5, 5, 2], 13.0, 6.313751514675 * 4 / 3, 2),
        # Single rows: the standard error of the mean, √(10 ÷ 4 ÷ 5), times t(0.9, 4).
        ([8.0, 9.0, 10.0, 11.0, 12.0], [0, 1, 2, 3, 4], 10.0, 2.131846786326649 * 0.5**0.5, 5),
    ],
)
def test_a_mean_over_groups_counts_them(values, group, mean, half, n):
    made = estimate_grouped_mean(np.array(values), np.array(group), 0.9)
    ends = (None, None) if half is None else (pytest.approx(mean - half), pytest.approx(mean + half))
    assert (made.value, (made.low, made.high), made.level, made.n) == (mean, ends, 0.9, n)
    assert codes(made.warnings) == (["single-group"] if n == 1 else [])
    error = compute_grouped_standard_error(np.array(values), np.array(group))
    assert math.isinf(error) if n == 1 else error == pytest.approx(half / {2: 6.313751514675, 5: 2.131846786326649}[n])


def test_the_interval_of_an_error_ends_at_zero():
    made = estimate_grouped_mean(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]), 0.9)
    assert (made.low, codes(made.warnings)) == (0.0, ["cut-interval"])


@pytest.mark.parametrize(
    ("observed", "predicted", "wanted"),
    [
        ([0.0, 10.0], [1.0, 12.0], Errors(1.5, 0.2, None, 1 - 5 / 50)),
        ([0.0, 0.0], [1.0, -2.0], Errors(1.5, None, None, None)),
        ([5.0], [4.0], Errors(1.0, 0.2, None, None)),
        ([-2.0, 2.0], [-1.0, 2.0], Errors(0.5, 0.25, None, 1 - 1 / 8)),
    ],
)
def test_errors_that_are_undefined_are_none(observed, predicted, wanted):
    assert vars(compute_errors(np.array(observed), np.array(predicted), None)) == pytest.approx(vars(wanted))


@pytest.mark.parametrize("observed", [[1.0, 2.0], [1e-300, 1e-300]])
def test_errors_that_overflow_are_refused(observed):
    with raises("prediction-not-finite", DataError):
        compute_errors(np.array(observed), np.array([1e300, 1e300]), None)


def test_class_errors_are_distances_and_hits_over_groups():
    bounds = np.array([1.0, 2.0, 3.0, 4.0])
    made = compute_class_errors(
        np.array([0.5, 1.5, 2.5, 3.5]), np.array([0.6, 3.5, 2.6, 2.5]), bounds, np.array([0, 1, 2, 3]), 0.95
    )
    assert (made.apart.value, made.apart.n, made.right.value, made.right.n) == (0.75, 4, 0.5, 4)
    assert made.to_json() == {
        "class_error_low": 0.0,
        "class_error_high": pytest.approx(0.75 + 3.182446305284263 * np.std([0, 2, 0, 1], ddof=1) / 2),
        "class_right": 0.5,
        "class_right_low": made.right.low,
        "class_right_high": made.right.high,
    }
    assert 0 < made.right.low < 0.5 < made.right.high < 1


@pytest.mark.parametrize(
    ("y", "n"), [([0.0, 0.0], None), ([0.0, 1.0], 41), ([2.0, 1.0], 41), ([-0.1, 1.0], None), ([-2.0, -1.0], None)]
)
def test_only_a_response_that_is_never_below_zero_has_classes(y, n):
    bounds = compute_class_bounds(np.array(y))
    assert (None if bounds is None else (bounds.size, bounds[-1])) == (None if n is None else (n, max(y)))


@pytest.mark.parametrize(
    ("maximum", "reading", "code"),
    [(0.0, "width", "not-positive"), (np.inf, "width", "not-positive"), (1.0, "height", "unknown-option-value")],
)
def test_classes_need_a_maximum_and_a_reading(maximum, reading, code):
    with raises(code, InputError):
        speed_classes.compute_class_upper_bounds(maximum, reading)


def test_classes_of_values_at_and_beyond_the_ends():
    values = [-1.0, 0.0, 1.0, 1.0 + 1e-10, 1.0 + 1e-6, 2.0, 9.0]
    assert speed_classes.number_speed_classes(values, [1.0, 2.0, 4.0]).tolist() == [1, 1, 1, 1, 2, 2, 3]
    assert speed_classes.compute_class_middles([1.0, 2.0, 4.0]).tolist() == [0.5, 1.5, 3.0]
    by_bound = speed_classes.compute_class_upper_bounds(100, "bound")
    assert by_bound[9:12] == pytest.approx([5, 5.5, 6.05]) and by_bound[-1] == 100


def test_the_noise_of_repeats_by_hand():
    """Settings of 2, 3 and 1 trials: off by 1, 1; 2, 2, 0."""
    table = build_table({"a": [1, 1, 2, 2, 2, 3], "y": [1.0, 3.0, 10.0, 14.0, 12.0, 7.0]})
    noise = estimate_repeat_noise(build_examples(table, "y", ["a"]))
    variance = (1 + 1 + 4 + 4) / (5 - 2)
    assert noise.to_json() == {
        "mae": pytest.approx((2 * 2**0.5 + 4 * 1.5**0.5) / 5),
        "sd": pytest.approx(variance**0.5),
        "share": pytest.approx(variance / np.var([1, 3, 10, 14, 12, 7])),
        "n": 5,
    }
    all_noise = build_examples(build_table({"a": [1, 1, 2, 2], "y": [1.0, 3.0, 1.0, 3.0]}), "y", ["a"])
    assert estimate_repeat_noise(all_noise).share == 1.0, "2 of 1: never more than all of it"


@pytest.mark.parametrize(
    ("options", "name", "short"),
    [
        ({}, "tree", "tree"),
        ({"depth": 3}, "tree depth=3", "tree depth=3"),
        ({"terms": "a*b"}, "tree terms=a*b", "tree"),
        ({"x": "1234567890123456"}, "tree x=1234567890123456", "tree x=1234567890123456"),
        ({"xx": "1234567890123456789"}, "tree xx=1234567890123456789", "tree …"),
        ({"ends": "25,75", "names": "slow,avg,fast"}, "tree ends=25,75 names=slow,avg,fast", "tree slow,avg,fast"),
        ({"ends": "25,75", "depth": 3, "min_leaf": 4}, "tree ends=25,75 depth=3 min_leaf=4", "tree 25,75"),
    ],
)
def test_a_candidate_has_a_name_and_a_short_one(options, name, short):
    candidate = Candidate("tree", options)
    assert (candidate.name, candidate.short) == (name, short)


def four_rows() -> Examples:
    return build_examples(build_table({"a": [1, 2, 3, 4], "y": [1.0, 3.0, 4.0, 8.0]}), "y", ["a"])


def test_a_judged_candidate_in_json():
    """The mean of 1 and 3 is off by 2 and 6 of 4 and 8; that of 4 and 8 by 5 and 3 of 1 and 3."""
    halves = [Fold(np.array([0, 1]), np.array([2, 3]), "last"), Fold(np.array([2, 3]), np.array([0, 1]))]
    made = validate_candidate(four_rows(), Candidate("mean"), halves, Groups(np.arange(4)), 0.95, 1)
    half = 3.182446305284263 * np.std([2, 6, 5, 3], ddof=1) / 2
    assert (made.rows.tolist(), made.predicted.tolist(), made.bounds.size) == ([2, 3, 0, 1], [2, 2, 6, 6], 41)
    document = made.to_json()
    folds_json = document.pop("folds")
    apart = np.abs(
        speed_classes.number_speed_classes([2, 2, 6, 6], made.bounds)
        - speed_classes.number_speed_classes([4, 8, 1, 3], made.bounds)
    )
    assert document == {
        "model": "mean",
        "family": "mean",
        "options": {},
        "mae": 4.0,
        "relative": pytest.approx((2 / 4 + 6 / 8 + 5 + 1) / 4),
        "class_error": apart.mean(),
        "class_error_low": document["class_error_low"],
        "class_error_high": document["class_error_high"],
        "class_right": 0.0,
        "class_right_low": document["class_right_low"],
        "class_right_high": document["class_right_high"],
        "r2": pytest.approx(1 - (4 + 36 + 25 + 9) / 26),
        "mae_low": pytest.approx(4 - half),
        "mae_high": pytest.approx(4 + half),
        "level": 0.95,
        "n_groups": 4,
        "refused": None,
    }
    last, first = folds_json
    assert (last["name"], last["n_train"], last["n_test"], last["mae"], last["r2"]) == ("last", 2, 2, 4.0, 1 - 40 / 8)
    assert (first["name"], first["mae"], first["relative"]) == (None, 4.0, 3.0)
    assert made.extremes("r2") == (1 - 34 / 2, 1 - 40 / 8) and made.extremes("relative") == (0.625, 3.0)


def test_a_refused_candidate_has_no_numbers_and_says_from_how_many_rows():
    d = build_examples(build_table({"a": [1, 2, 3, 4], "y": [-1.0, 3.0, 4.0, 8.0]}), "y", ["a"])
    fold = Fold(np.array([0, 1, 2]), np.array([3]))
    made = validate_candidate(d, Candidate("loglinear"), [fold], Groups(np.arange(4)), 0.95, 1)
    assert has_message([made.refused], "response-not-positive", n_train=3, n_rows=4)
    empty = {"relative", "class_error", "class_error_low", "class_error_high", "class_right", "r2", "mae", "mae_low"}
    document = made.to_json()
    assert {document[name] for name in empty} == {None} and document["folds"] == [] and document["n_groups"] == 0
    assert made.extremes("mae") is None and document["refused"] == made.refused


def test_rounding_alone_is_no_error():
    line = build_examples(build_table({"a": [1, 2, 3, 4], "y": [0.1, 0.2, 0.30000000000000004, 0.4]}), "y", ["a"])
    made = validate_candidate(
        line, Candidate("linear"), [Fold(np.array([0, 1, 2]), np.array([3]))], Groups(np.arange(4)), 0.95, 1
    )
    assert (made.mae.value, made.predicted.tolist()) == (0.0, [0.4])


def test_crossings_are_where_a_model_stays_better():
    points = [
        CurvePoint(2, (5.0, 4.0)),
        CurvePoint(4, (3.0, 4.0)),
        CurvePoint(8, (4.0, 4.0)),
        CurvePoint(16, (3.0, 3.5)),
        CurvePoint(32, (1.0, 3.0)),
    ]
    assert (find_rows_where_always_better(points, 0, 1), find_rows_where_always_better(points, 1, 0)) == (16, None)
    assert find_rows_where_always_better(points[:2], 0, 1) == 4 and find_rows_where_always_better([], 0, 1) is None
    assert find_rows_where_always_better([*points, CurvePoint(64, (None, 3.0))], 0, 1) is None
    assert find_rows_where_always_better([CurvePoint(2, (1.0, None)), CurvePoint(4, (1.0, 2.0))], 0, 1) == 4
    # 1 behind at 2 rows, 1 ahead at 4: half way on the logarithm.
    assert interpolate_curve_crossing(points[:2], 0, 1) == pytest.approx(8**0.5)
    three_to_one = [CurvePoint(2, (7.0, 4.0)), CurvePoint(32, (3.0, 4.0))]
    assert interpolate_curve_crossing(three_to_one, 0, 1) == pytest.approx(2 * 16**0.75)
    assert interpolate_curve_crossing([CurvePoint(2, (1.0, None)), CurvePoint(4, (1.0, 2.0))], 0, 1) is None
    assert interpolate_curve_crossing(points, 1, 0) is None
    assert points[0].to_json(["a", "b"]) == {"n_train": 2, "mae": {"a": 5.0, "b": 4.0}}


@pytest.mark.parametrize(("n", "n_train"), [(4, [2]), (8, [2, 4, 6]), (16, [2, 4, 8, 12, 14]), (7, [4])])
def test_a_learning_curve_goes_from_few_rows_to_many(n, n_train):
    d = build_examples(build_table({"a": np.arange(n), "y": np.arange(n) ** 1.5}), "y", ["a"])
    made = compute_learning_curve(d, [Candidate("mean")], folds.group_inseparable_rows(d), 1)
    assert [point.n_train for point in made] == n_train
    halves = folds.swap_training_and_test(folds.build_k_folds(folds.group_inseparable_rows(d), 2, 1))
    expected = [np.abs(d.y[fold.test] - d.y[fold.train].mean()).sum() for fold in halves]
    middle = next(point for point in made if point.n_train == round(n / 2))
    assert middle.mae == (pytest.approx(sum(expected) / n),)


@pytest.mark.parametrize(
    ("cells", "k", "kind", "values"),
    [(4, 5, DataError, {"settings": 4, "folds": 5}), (4, 4, None, {}), (1, 0, InputError, {})],
)
def test_groups_are_as_many_as_folds(cells, k, kind, values):
    d = four_rows().take(np.arange(cells))
    if kind is None:
        assert group_rows_for_folds(d, "rows", k).n == cells
    else:
        with raises("too-few-settings", kind, **values):
            group_rows_for_folds(d, "rows", k)


@pytest.mark.parametrize(
    ("sizes", "k", "wanted"),
    [([5, 3, 2, 2], 2, [5, 7]), ([4, 3, 3, 2], 2, [6, 6]), ([5, 4, 3], 2, [5, 7]), ([6, 1, 1, 1], 3, [1, 2, 6])],
)
def test_folds_of_uneven_groups_are_as_even_as_can_be(sizes, k, wanted):
    made = folds.build_k_folds(Groups(np.repeat(np.arange(len(sizes)), sizes)), k, 3)
    assert sorted(fold.test.size for fold in made) == wanted
    assert all(fold.train.size + fold.test.size == sum(sizes) for fold in made)


@pytest.mark.parametrize(
    ("sizes", "train", "n_train"),
    [([1] * 4, 0.5, {2}), ([1] * 4, 0.9, {3}), ([1] * 4, 0.99, {3}), ([5, 5], 0.9, {5}), ([1] * 10, 0.25, {2, 3})],
)
def test_a_split_takes_whole_groups_and_leaves_one(sizes, train, n_train):
    fold = folds.split_once(Groups(np.repeat(np.arange(len(sizes)), sizes)), train, 2)
    assert fold.train.size in n_train and fold.train.size + fold.test.size == sum(sizes)


@pytest.mark.parametrize(
    ("levels", "each", "n", "n_bring_ups", "crossed"),
    [(5, 1, 5, 5, False), (4, 1, 12, 0, False), (4, 2, 12, 8, True), (5, 2, 5, 10, False)],
)
def test_whole_bring_ups_are_groups_where_there_are_five(levels, each, n, n_bring_ups, crossed):
    d, bring_up = in_bring_ups(levels, each)
    made = folds.group_inseparable_rows(d)
    assert (made.n, made.n_bring_ups, made.crossed is not None) == (n, n_bring_ups, crossed)
    assert np.array_equal(made.independent, made.crossed if crossed else made.of)
    some = made.take(np.array([0, 4]))
    assert some.of.tolist() == made.of[[0, 4]].tolist() and some.n_bring_ups == n_bring_ups
    assert (some.crossed is None) is not crossed and (not crossed or some.crossed.tolist() == bring_up[[0, 4]].tolist())


@pytest.mark.parametrize(("k", "n"), [(2, 4), (4, 4), (5, 9), (9, 9)])
def test_folds_crossed_with_bring_ups_are_about_as_many_blocks(k, n):
    d, bring_up = in_bring_ups(4, 6)
    made = folds.build_k_folds(folds.group_inseparable_rows(d), k, 1)
    assert len(made) == n and sum(fold.test.size for fold in made) == len(d)
    for fold in made:
        apart = ~np.isin(d.cells, d.cells[fold.test]) & ~np.isin(bring_up, bring_up[fold.test])
        assert fold.train.size and apart[fold.train].all()
        # A third or a half of the settings and of the bring-ups are tested; all rows of the others are learned from.
        assert fold.train.size == pytest.approx(len(d) * (1 - n**-0.5) ** 2, rel=0.35)


def test_no_block_without_a_bring_up_of_its_own():
    one_each = Groups(np.array([0, 1]), crossed=np.array([0, 0]))
    with raises("too-few-bring-ups", DataError):
        folds.build_k_folds(one_each, 2, 1)
    with raises("too-few-bring-ups", DataError):
        folds.split_once(one_each, 0.5, 1)


def test_a_level_left_out_learns_from_all_others():
    made = folds.leave_out(four_rows(), "a")
    assert [(fold.train.tolist(), fold.test.tolist()) for fold in made][1] == ([0, 2, 3], [1])
    with raises("unknown-factor", InputError, factor="b", factors="a"):
        folds.leave_out(four_rows(), "b")


def test_progress_is_the_share_of_rows_times_cost():
    """A tree costs 1 a row, a forest 20, the mean 0.05."""
    heard: list[tuple[str, float]] = []
    work = FitProgress(lambda family, share: heard.append((family, share)))
    work.plan(["tree", "forest"], 10)
    work.plan_largest(["mean", "tree"], 30)
    assert work.total == 240
    work.fitted("forest", 6)
    work.fitted("mean", 240)
    work.fitted("forest", 10)
    assert heard == [("forest", 0.5), ("mean", pytest.approx(132 / 240)), ("forest", 1.0)]
    FitProgress().fitted("tree", 1)


def test_folds_are_dealt_from_the_order_of_the_seed():
    """Equal groups in turn, as generator and seed have them: the same folds in every version."""
    order = np.random.default_rng(5).permutation(7)
    made = folds.build_k_folds(Groups(np.arange(7)), 3, 5)
    assert [fold.test.tolist() for fold in made] == [sorted(order[i::3]) for i in range(3)]
    crossed = Groups(np.repeat(np.arange(4), 4), crossed=np.tile(np.arange(4), 4))
    settings_of, bring_ups_of = (np.random.default_rng(seed).permutation(4) for seed in (5, 6))
    made = folds.build_k_folds(crossed, 4, 5)
    expected = [
        sorted(4 * a + b for a in settings_of[i::2] for b in bring_ups_of[j::2]) for i in range(2) for j in range(2)
    ]
    assert [fold.test.tolist() for fold in made] == expected


@pytest.mark.parametrize(
    ("candidates", "ends"),
    [
        ([], None),
        (["classes"], None),
        (["classes 2,5"], [2, 5, 8]),
        (["tree", "classes 2,5"], [2, 5, 8]),
        (["classes 2,5", "classes", "classes 2,5"], [2, 5, 8]),
        (["classes 2,5", "classes 2,6"], None),
        (["classes 2,5", "classes 2,5", "classes 2,6"], None),
    ],
)
def test_classes_of_ones_own_judge_all_unless_two_differ(candidates, ends):
    asked = [Candidate(name.split()[0], {"ends": name.split()[1]} if " " in name else {}) for name in candidates]
    made = use_custom_classes_of_candidates(four_rows(), asked)
    assert (None if made.class_ends is None else made.class_ends.tolist()) == ends
    if ends:
        fold = Fold(np.array([0, 1]), np.array([2, 3]))
        judged = validate_candidate(made, Candidate("mean"), [fold], Groups(np.arange(4)), 0.95, 1)
        assert (judged.classes.own, judged.classes.apart.value) == (3, 1.5), "2 is in the first class, 4 and 8 are not"
