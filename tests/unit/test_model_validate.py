"""Folds keep together what belongs together; errors are what their definitions say; the published case comes out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csv_table import table_from
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.model.fit import folds, speed_classes
from iosonde.model.fit.errors_of import (
    compute_class_bounds,
    compute_errors,
    estimate_grouped_mean,
    estimate_repeat_noise,
)
from iosonde.model.fit.features import build_examples
from iosonde.model.fit.validate import (
    Candidate,
    CurvePoint,
    compute_learning_curve,
    find_rows_where_always_better,
    group_rows_for_folds,
    interpolate_curve_crossing,
    validate_candidate,
)
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
