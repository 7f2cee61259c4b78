"""Intervals hold what they claim, a model knows its range, and the simplest of equally good models is taken."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.model.families import import_family
from iosonde.model.fit import choose
from iosonde.model.fit.calibration import Calibration, calibrate, count_groups_needed
from iosonde.model.fit.choose import (
    build_standard_folds,
    can_be_power_law,
    choose_model,
    find_simplest_good_candidates,
    list_auto_candidates,
)
from iosonde.model.fit.document import from_text, to_text
from iosonde.model.fit.errors_of import compute_grouped_standard_error
from iosonde.model.fit.features import Examples, Feature, build_examples
from iosonde.model.fit.fitted import (
    Model,
    _refuse_far,
    compute_negative_share,
    decode_setting,
    find_tried_neighbours,
    list_designs,
    predict_setting,
    predict_settings,
    train_model,
)
from iosonde.model.fit.folds import Fold, Groups, group_inseparable_rows, leave_inner_levels_out
from iosonde.model.fit.repeats import Repeats, list_repeated_settings
from iosonde.model.fit.validate import Candidate, Judged
from messages import assert_problem, codes, has_message, raises, with_code


def fitted(d, *candidates, n_folds=None, level=0.95):
    return choose_model(
        d,
        [Candidate(*c) if isinstance(c, tuple) else Candidate(c) for c in candidates],
        group_inseparable_rows(d),
        n_folds,
        level,
        0,
    )


def grid(noise=1.0, seed=2, repeats=1):
    rng = np.random.default_rng(seed)
    a, fs = np.repeat(np.arange(8) % 8, 3 * repeats), np.tile(["x", "y", "z"], 8 * repeats)
    y = 100 + 10 * a + 30 * (fs == "y") + noise * rng.standard_normal(a.size)
    return build_examples(build_table({"a": a, "fs": fs, "y": y}), "y", ["a", "fs"])


@pytest.mark.parametrize(("level", "needed"), [(0.95, 19), (0.9, 9), (0.99, 99), (0.8, 4)])
def test_a_level_needs_so_many_settings(level, needed):
    scores = np.arange(1.0, needed + 1)
    enough = calibrate(np.zeros(needed), scores, np.arange(needed))
    assert count_groups_needed(level) == needed
    assert enough.interval(0.0, level) == (-needed, needed)  # the largest error of all
    assert calibrate(np.zeros(needed - 1), scores[1:], np.arange(needed - 1)).interval(0.0, level) is None


@given(st.integers(19, 400), st.sampled_from([0.8, 0.9, 0.95]))
def test_the_quantile_of_single_rows_is_the_conformal_one(n, level):
    scores = np.random.default_rng(n).permutation(n) + 1.0
    found = calibrate(np.zeros(n), scores, np.arange(n)).interval(0.0, level)
    exact = np.sort(scores)[int(np.ceil(level * (n + 1) - 1e-9)) - 1]
    assert exact <= found[1] <= exact + 1 + n / 1000


@pytest.mark.parametrize("alike", [0.0, 0.9])
def test_a_new_setting_is_covered_as_often_as_claimed(alike):
    rng, covered = np.random.default_rng(4), []
    for _ in range(400):
        mine = np.sqrt(alike) * rng.standard_normal((41, 1)) + np.sqrt(1 - alike) * rng.standard_normal((41, 5))
        made = calibrate(mine[:40].ravel(), np.zeros(200), np.repeat(np.arange(40), 5))
        low, high = made.interval(0.0, 0.9)
        covered.append(low <= mine[40, 0] <= high)
    assert 0.87 <= np.mean(covered) <= 0.95


@pytest.mark.long
@pytest.mark.parametrize(("family", "trials"), [("linear", 150), ("tree", 60)])
def test_a_models_interval_covers_a_new_trial_as_often_as_claimed(family, trials):
    rng, covered = np.random.default_rng(8), []
    for _ in range(trials):
        a = rng.uniform(0, 1, 31)
        y = np.exp(1 + 3 * a + 0.1 * rng.standard_normal(31)) - 20 * (family == "linear")
        d = build_examples(build_table({"a": a[:30], "y": y[:30]}), "y", ["a"])
        setting = float(np.clip(a[30], a[:30].min(), a[:30].max()))
        e = predict_setting(fitted(d, family).model, {"a": setting}, 0.9).value
        covered.append(e.low <= y[30] <= e.high)
    assert np.mean(covered) >= 0.9 - 2.5 * np.sqrt(0.09 / trials)


def test_errors_are_in_proportion_where_the_response_spans_much():
    wide, narrow = np.geomspace(1, 100, 20), np.linspace(10, 20, 20)
    assert calibrate(wide, wide * 1.1, np.arange(20)).interval(50.0, 0.9) == pytest.approx((50 / 1.1, 55))
    assert calibrate(narrow, narrow + 1, np.arange(20)).interval(50.0, 0.9) == pytest.approx((49, 51))
    assert calibrate(narrow, narrow + 12, np.arange(20)).interval(5.0, 0.9) == pytest.approx((-7, 17))
    below = np.linspace(-10, 20, 20)
    assert calibrate(below, below + 12, np.arange(20)).interval(5.0, 0.9) == pytest.approx((-7, 17))


@pytest.mark.parametrize(("floor", "low"), [(True, 0.0), (False, -840.0)])
def test_a_prediction_is_cut_at_0_where_the_response_was_never_below_and_says_so(floor, low):
    model = fitted(grid(), ("tree", {"depth": 4})).model
    far = Calibration("difference", 99, (1000.0,) * 1000, floor)
    made = predict_setting(replace(model, calibration=far), {"a": 3, "fs": "y"}, 0.95).value
    assert made.low == pytest.approx(low, abs=40)
    assert ("cut-interval" in codes(made.warnings)) is floor


def test_calibration_survives_json():
    made = calibrate(np.arange(20.0), np.zeros(20), np.arange(20))
    assert Calibration.from_json(made.to_json()) == made


def test_inside_the_range_there_is_an_interval_and_a_count():
    model = fitted(grid(), ("tree", {"depth": 4})).model
    made = predict_setting(model, {"a": 3, "fs": "y"}, 0.95)
    assert made.value.low < 160 < made.value.high and not made.extrapolated and made.n_alike >= 1
    assert set(made.to_json()) == {
        "at",
        "fit",
        "low",
        "high",
        "level",
        "n",
        "n_alike",
        "extrapolated",
        "warnings",
        "interval_of",
        "repeats_mean",
    }
    assert made.to_json()["interval_of"] == "settings"


def repeated(noise, n, rng, settings=6):
    """Few settings, each measured n times: (examples, a new trial of each)."""
    truth = 100 * 1.5 ** np.arange(settings)
    y = truth[:, None] * noise(rng, (settings, n + 1))
    table = build_table({"a": np.repeat(np.arange(settings), n), "y": y[:, :n].ravel()})
    return build_examples(table, "y", ["a"]), y[:, n]


@pytest.mark.parametrize(
    ("noise", "least"),
    [
        (lambda rng, shape: 1 + 0.1 * rng.standard_normal(shape), 0.94),
        (lambda rng, shape: np.exp(0.2 * rng.standard_normal(shape)), 0.93),
    ],
)
@pytest.mark.parametrize("n", [3, 5, 12])
def test_the_interval_of_a_settings_own_trials_covers_a_new_one_as_often_as_claimed(noise, least, n):
    rng, covered = np.random.default_rng(n), []
    for _ in range(300):
        d, new = repeated(noise, n, rng)
        said = predict_settings(train_model(d, "mean", {}, 0), [{"a": a} for a in range(6)], 0.95)
        covered += [one.value.low <= trial <= one.value.high for one, trial in zip(said, new, strict=True)]
    assert least <= np.mean(covered) <= 0.965  # 1,800 trials: ± 1 point


def test_a_setting_that_was_measured_has_an_interval_where_there_are_few_settings():
    d, _ = repeated(lambda rng, shape: 1 + 0.1 * rng.standard_normal(shape), 4, np.random.default_rng(1))
    model = fitted(d, "linear", n_folds=3).model
    there = predict_setting(model, {"a": 2}, 0.95)
    mean, sd = d.y[d.x[:, 0] == 2].mean(), d.y[d.x[:, 0] == 2].std(ddof=1)
    assert there.value.high - mean == pytest.approx(3.182446 * sd * np.sqrt(1.25), rel=1e-6)
    assert (there.value.n, there.repeats.n, there.to_json()["interval_of"]) == (4, 4, "repeats")
    sides = [predict_setting(model, {"a": a}, 0.95).value for a in (2, 3)]
    between = predict_setting(model, {"a": 2.5}, 0.95)  # nothing but the trials around it speaks of it
    assert between.to_json()["interval_of"] == "neighbours"
    assert (between.value.low, between.value.high) == (min(s.low for s in sides), max(s.high for s in sides))
    wrong = predict_setting(
        train_model(d, "mean", {}, 0), {"a": 0}, 0.95
    )  # the mean of everything is far from this one
    assert_problem(wrong.value.warnings[0], "model-off-repeats", n=4)


@pytest.mark.parametrize(("n", "asked"), [(3, "settings"), (5, "repeats")])
def test_few_trials_of_a_setting_are_asked_last(n, asked):
    made = predict_setting(fitted(grid(repeats=n), "linear").model, {"a": 3, "fs": "y"}, 0.95)
    assert made.to_json()["interval_of"] == asked and (made.repeats is not None) == (asked == "repeats")


def test_two_trials_or_copies_of_one_say_nothing_of_another():
    y = [1.0, 2.0, 5.0, 5.0, 5.0, 7.0, 8.0, 9.0]
    d = build_examples(build_table({"a": [0, 0, 1, 1, 1, 2, 2, 2], "y": y}), "y", ["a"])
    model = train_model(d, "mean", {}, 0)
    assert [(one.at, one.n) for one in model.repeats] == [((2.0,), 3)]
    assert predict_setting(model, {"a": 1}, 0.9).value.low is None
    assert predict_setting(model, {"a": 2}, 0.95).value.low == pytest.approx(8 - 4.302653 * np.sqrt(4 / 3))
    assert predict_setting(model, {"a": 2}, 0.999).value.low == 0  # it was never below


def test_many_settings_are_what_single_ones_are():
    model = fitted(grid(repeats=3), ("tree", {"depth": 4})).model
    settings_ = [{"a": a, "fs": fs} for a in (0, 3, 3.5, 9, 40) for fs in ("x", "?")]
    for at, made in zip(settings_, predict_settings(model, settings_, 0.9), strict=True):
        try:
            assert predict_setting(model, at, 0.9) == made
        except InputError as error:
            assert error.message == made.message
    assert predict_settings(model, [], 0.9) == []


def test_a_level_between_those_tried_has_the_interval_of_its_neighbours_together():
    model = replace(fitted(grid(), "linear").model, between=None)
    made = predict_setting(model, {"a": 3.5, "fs": "y"}, 0.9)
    below, above = (predict_setting(model, {"a": a, "fs": "y"}, 0.9).value for a in (3, 4))
    assert below.low is not None and above.low is not None
    assert made.value.low == min(below.low, above.low) and made.value.high == max(below.high, above.high)
    assert_problem(made.value.warnings[0], "interval-of-neighbours", levels="a 3 and 4")
    assert made.to_json()["interval_of"] == "neighbours" and not made.extrapolated


def build_saturating_rates(seed: int, noise: float = 0.04) -> tuple[Examples, dict[tuple[int, int], float]]:
    """``y`` saturates in a and in b, which double; three trials. The truths are those between the levels."""

    def compute(a: int, b: int) -> float:
        return 1200 * a / (a + 8) * b / (b + 64)

    rng = np.random.default_rng(seed)
    rows = [(a, b) for a in (1, 2, 4, 8, 16, 32) for b in (16, 64, 256, 1024) for _ in range(3)]
    y = [compute(a, b) * np.exp(rng.normal(0, noise)) for a, b in rows]
    a, b = map(list, zip(*rows, strict=True))
    truths = {(a, b): compute(a, b) for a in (3, 6, 12, 24) for b in (32, 128, 512)}
    return build_examples(build_table({"a": a, "b": b, "y": y}), "y", ["a", "b"]), truths


def test_predictions_between_doubled_levels_are_right_and_their_intervals_hold():
    n_inside, widths, errors = 0, [], []
    for seed in range(5):
        examples, truths = build_saturating_rates(seed)
        model = fitted(examples, "gaussian").model
        rng = np.random.default_rng(1000 + seed)
        for (a, b), truth in truths.items():
            prediction = predict_setting(model, {"a": a, "b": b}, 0.9)
            assert prediction.at_new_level and prediction.to_json()["interval_of"] == "levels"
            e = prediction.value
            n_inside += e.low <= truth * np.exp(rng.normal(0, 0.04)) <= e.high
            widths.append(e.high / e.low)
            errors.append(e.value / truth - 1)
    assert abs(np.mean(errors)) < 0.02 and np.abs(errors).max() < 0.15
    assert n_inside >= 0.85 * len(errors) and np.median(widths) < 1.5


def test_the_error_between_levels_is_that_of_inner_levels_left_out():
    examples, _ = build_saturating_rates(1)
    choice = fitted(examples, "linear")
    held = leave_inner_levels_out(examples)
    assert [fold.name for fold in held] == ["a=2", "a=4", "a=8", "a=16", "b=64", "b=256"]
    errors = []
    for fold in held:
        form = import_family("linear").fit(examples.take(fold.train), {}, 0)
        errors += np.abs(import_family("linear").predict(form, examples.x[fold.test]) - examples.y[fold.test]).tolist()
    assert choice.between_levels.value == pytest.approx(np.mean(errors))
    assert choice.model.errors["between_levels"] == choice.to_json()["between_levels"] == choice.between_levels.value
    assert from_text(to_text(choice.model).encode(), "m").between == choice.model.between


def test_a_power_law_is_among_the_candidates_where_a_number_has_three_levels():
    rng = np.random.default_rng(3)
    n = np.repeat([1, 2, 4, 8, 16, 32], 6)
    table = build_table({"n": n, "b": np.tile([1, 8], 18), "y": 35 * n**0.82 * np.exp(rng.normal(0, 0.05, 36))})
    examples = build_examples(table, "y", ["n", "b"])
    assert can_be_power_law(examples) and not can_be_power_law(build_examples(table, "y", ["b"]))
    choice = fitted(examples, *(c.family for c in list_auto_candidates(12)))
    assert choice.model.family == "loglog"
    (exponent,) = [term for term in choice.model.form["terms"] if term["term"] == "log(n)"]
    assert exponent["low"] < 0.82 < exponent["high"]
    assert not can_be_power_law(replace(examples, response="log(y)"))


def test_a_prediction_of_a_logarithm_is_also_in_its_unit():
    examples, _ = build_saturating_rates(2)
    logs = replace(examples, y=np.log2(examples.y), response="log2(y)")
    choice = fitted(logs, "gaussian")
    assert choice.tried[0].classes is None and choice.tried[0].errors.relative is None
    made = predict_setting(choice.model, {"a": 6, "b": 128}, 0.9)
    assert made.original.value == pytest.approx(2**made.value.value)
    assert made.to_json()["original"]["high"] == pytest.approx(2**made.value.high)
    assert predict_setting(fitted(examples, "linear").model, {"a": 4, "b": 64}, 0.9).original is None


def test_a_level_between_those_tried_has_no_interval_where_they_have_none_and_the_cure_is_named():
    made = predict_setting(fitted(grid(), "linear").model, {"a": 3.5, "fs": "y"}, 0.999)
    assert made.value.low is None and not made.extrapolated
    assert_problem(made.value.warnings[0], "untested-level", factor="a")
    assert "--leave-out 'a'" in made.value.warnings[0]


def test_a_continuous_factor_has_intervals_between_its_values():
    a = np.random.default_rng(1).uniform(0, 1, 40)
    d = build_examples(build_table({"a": a, "y": 3 * a}), "y", ["a"])
    assert predict_setting(fitted(d, "linear").model, {"a": 0.5}, 0.95).value.low is not None


def test_beyond_the_range_is_said_and_far_beyond_is_refused():
    model = fitted(grid(), "linear").model
    beyond = predict_setting(model, {"a": 10, "fs": "x"}, 0.95)
    assert beyond.extrapolated and beyond.value.low is None
    assert_problem(beyond.value.warnings[0], "out-of-range", factor="a", level=10, low=0, high=7)
    assert predict_setting(model, {"a": 14, "fs": "x"}, 0.95).extrapolated
    for setting, code, values in (
        ({"a": 14.1, "fs": "x"}, "extrapolation-too-far", {"factor": "a", "level": 14.1, "low": 0, "high": 7}),
        ({"a": -7.5, "fs": "x"}, "extrapolation-too-far", {"level": -7.5}),
        ({"a": 1, "fs": "nfs"}, "unknown-level", {"factor": "fs", "level": "nfs"}),
        ({"a": 1}, "missing-factor-level", {"factor": "fs"}),
        ({"a": 1, "fs": "x", "b": 2}, "unknown-factor", {"factor": "b"}),
    ):
        with raises(code, InputError, **values):
            predict_setting(model, setting, 0.95)


def test_too_few_settings_are_said_with_how_many_are_needed():
    made = predict_setting(fitted(grid(), "linear").model, {"a": 1, "fs": "x"}, 0.99)
    assert made.value.low is None
    assert_problem(made.value.warnings[0], "too-few-settings", level=99.0, n_needed=99, n=24)


def test_a_speed_below_zero_is_refused_and_its_share_is_known():
    a, b = np.repeat(np.arange(6.0), 6), np.tile(np.arange(6.0), 6)
    d = build_examples(build_table({"a": a, "b": b, "y": 100 * np.exp(-a - b)}), "y", ["a", "b"])
    linear, log = fitted(d, "linear").model, fitted(d, "loglinear").model
    designs = np.column_stack([a, b])
    assert (
        compute_negative_share(linear) == pytest.approx(np.mean(linear.values(designs) < 0))
        and compute_negative_share(linear) > 0.2
    )
    assert compute_negative_share(log) == 0
    with raises("prediction-out-of-range") as refused:
        predict_setting(linear, {"a": 5, "b": 3}, 0.95)
    assert "loglinear" in refused.value.hint
    assert predict_setting(log, {"a": 5, "b": 3}, 0.95).value.value == pytest.approx(100 * np.exp(-8))
    below = build_examples(build_table({"a": a, "b": b, "y": 3 - a - b}), "y", ["a", "b"])
    assert compute_negative_share(fitted(below, "linear").model) == 0


def test_the_simplest_of_equally_good_models_is_taken():
    made = fitted(grid(noise=4.0, repeats=2), "mean", "linear", "tree", "forest")
    assert made.tried[made.chosen].candidate.family == "linear"
    values = [one.mae.value for one in made.tried]
    best = made.tried[int(np.argmin(values))]
    d = grid(noise=4.0, repeats=2)
    one_se = compute_grouped_standard_error(
        np.abs(best.predicted - d.y[best.rows]), group_inseparable_rows(d).of[best.rows]
    )
    assert values[made.chosen] <= min(values) + one_se
    assert made.nested is not None and made.nested.n == 24
    assert {"r2", "mae", "folds", "tried", "nested", "noise"} <= set(made.to_json())


def test_nothing_to_learn_leaves_the_mean():
    rng = np.random.default_rng(3)
    d = build_examples(
        build_table({"a": np.arange(40) % 10, "b": np.arange(40) // 10, "y": rng.normal(9, 1, 40)}), "y", ["a", "b"]
    )
    assert fitted(d, "mean", "linear", "tree", "forest").model.family == "mean"


@pytest.mark.long
def test_the_same_seed_gives_the_same_choice():
    runs = [fitted(grid(noise=5.0), "mean", "linear", "tree", "boosting").to_json() for _ in range(2)]
    assert runs[0] == runs[1]


def test_candidates_by_the_number_of_rows():
    assert "gaussian" in [c.family for c in list_auto_candidates(100)] and "gaussian" not in [
        c.family for c in list_auto_candidates(1000)
    ]
    assert list_auto_candidates(1000, "a*b")[1].options == {"terms": "a*b"}
    many = Groups(np.arange(30_000))
    assert [fold.test.size for fold in build_standard_folds(many, None, 0)] == [7500]
    assert len(build_standard_folds(many, 3, 0)) == 3


def test_all_of_one_setting_is_refused():
    d = build_examples(build_table({"a": [1, 1, 2, 2], "y": [3, 4, 3, 4]}), "y", ["a"])
    one = Groups(np.zeros(4, np.intp), 1, 4)
    with raises("too-few-settings", DataError):
        choose_model(d, [Candidate("tree")], one, None, 0.95, 0)
    rows = build_examples(
        build_table({"a": [1, 2, 3], "b": [1, 3, 2], "c": [3, 1, 1], "y": [3, 4, 5]}), "y", ["a", "b", "c"]
    )
    with raises("fit-failed", DataError):
        choose_model(rows, [Candidate("linear")], group_inseparable_rows(rows), None, 0.95, 0)


@settings(max_examples=30, deadline=None)
@given(st.floats(1e-6, 1e6), st.floats(0.5, 0.99))
def test_the_value_lies_inside_its_interval(value, level):
    for observed in (np.geomspace(1, 1000, 99), np.linspace(5, 9, 99)):
        low, high = calibrate(observed, observed * 1.05, np.arange(99)).interval(value, level)
        assert low <= value <= high


def test_of_many_rows_each_tree_of_boosting_learns_from_a_part_and_that_is_said(monkeypatch):
    monkeypatch.setattr("iosonde.model.families.boosting.MOST_ROWS", 20)
    made = fitted(grid(repeats=4), ("boosting", {"trees": 5}))
    assert_problem(with_code(made.model.warnings, "sampled-rows"), "sampled-rows", family="boosting", n=20, n_rows=96)
    assert max(node["n"] for tree in made.model.form["trees"] for node in tree) == 20


def test_a_family_that_cannot_take_all_settings_is_left_out_and_that_is_said(monkeypatch):
    monkeypatch.setattr("iosonde.model.families.neighbours.MOST_SETTINGS", 20)
    monkeypatch.setattr("iosonde.model.fit.choose.CHOICE_MOST", 20)
    made = fitted(grid(), "mean", "linear", "neighbours")
    assert_problem(made.tried[2].refused, "too-many-settings", settings=24, limit=20)
    assert made.model.family == "linear" and made.n_choice == 20


def test_few_settings_of_many_repeats_are_thinned(monkeypatch):
    monkeypatch.setattr("iosonde.model.fit.choose.CHOICE_MOST", 60)
    made = fitted(grid(repeats=20), "mean", "linear")
    assert made.n_choice == 60 and made.model.rows == 480
    a = np.repeat([0, 1, 2, 3], 100)
    d = build_examples(build_table({"a": a, "y": a + np.random.default_rng(0).normal(0, 0.1, 400)}), "y", ["a"])
    assert fitted(d, "mean", "tree").n_choice == 60


def test_progress_is_told_and_ends_at_all():
    told = []
    choose_model(
        grid(),
        [Candidate("mean"), Candidate("tree")],
        group_inseparable_rows(grid()),
        4,
        0.95,
        0,
        lambda *one: told.append(one),
    )
    shares = [share for _, share in told]
    # On folds, in inner and outer nested ones, without inner levels; the tree learned from all rows is not told.
    inner = [fold.train.size for fold in leave_inner_levels_out(grid())]
    total = 1.05 * 72 + 1.05 * 144 + 72 + sum(inner) + 24
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1 - 24 / total)
    assert shares[0] == pytest.approx(0.05 * 18 / total) and len(shares) == 2 * 4 + 2 * 12 + 4 + len(inner)


def test_a_group_weighs_the_same_whatever_its_rows():
    """Four rows of one setting, one of another: shares 1/8 of each of the four, 1/2 of the last."""
    made = calibrate(np.zeros(5), np.array([3.0, 1.0, 10.0, 2.0, 4.0]), np.array([7, 7, 2, 7, 7]))
    assert (made.kind, made.groups, made.floor) == ("difference", 2, True)
    # A level is looked up at level·3/2.
    ends = {0.08: 1, 0.16: 2, 0.25: 3, 0.3: 4, 1 / 3: 4, 0.34: 10, 2 / 3: 10}
    assert {level: made.interval(20.0, level) for level in ends} == {
        level: (20 - score, 20 + score) for level, score in ends.items()
    }
    assert made.interval(20.0, 0.67) is None
    assert made.to_json() == {"kind": "difference", "groups": 2, "floor": True, "scores": list(made.scores)}
    assert len(made.scores) == 1000 and set(made.scores) == {1, 2, 3, 4, 10}


@pytest.mark.parametrize(
    ("observed", "predicted", "kind", "floor"),
    [
        ([1.0, 10.0], [1.0, 10.0], "difference", True),
        ([1.0, 10.1], [1.0, 10.0], "ratio", True),
        ([1.0, 10.1], [0.0, 10.0], "difference", True),
        ([0.0, 10.1], [1.0, 10.0], "difference", True),
        ([-0.1, 10.1], [1.0, 10.0], "difference", False),
    ],
)
def test_errors_are_ratios_only_of_what_is_positive_and_spans_more_than_ten(observed, predicted, kind, floor):
    made = calibrate(np.array(observed), np.array(predicted), np.arange(2))
    assert (made.kind, made.floor) == (kind, floor)


def test_trials_of_a_setting_have_students_interval_of_one_more():
    table = build_table({"a": [2, 1, 2, 2, 1, 3, 3, 3], "y": [4.0, 1.0, 6.0, 8.0, 2.0, 5.0, 5.0, 5.0]})
    (own,) = list_repeated_settings(build_examples(table, "y", ["a"]))
    assert own == Repeats((2.0,), 3, 6.0, 2.0), "two trials, and three copies of one, are left out"
    half = 4.302652729911275 * 2 * (4 / 3) ** 0.5
    assert own.interval(0.95) == pytest.approx((6 - half, 6 + half))
    assert Repeats.from_json(own.to_json()) == own


A, B = Feature("a", "bytes", (1, 2, 4, 8), True), Feature("fs", "", ("nfs", "ceph"), False)


def constant(value: float = 50.0, groups: int = 99, **changes) -> Model:
    """A model that predicts ``value``, calibrated to errors of 10."""
    content = {
        "family": "mean",
        "options": {},
        "seed": 1,
        "features": (A, B),
        "response": "y",
        "unit": "MB/s",
        "low": 20.0,
        "high": 90.0,
        "rows": 16,
        "settings": 7,
        "form": {"value": value},
        "calibration": Calibration("difference", groups, (10.0,) * 1000, True),
        "errors": {},
    }
    return Model(**{**content, **changes})


def test_a_prediction_in_json():
    made = predict_setting(constant(), {"fs": "nfs", "a": 2}, 0.95)
    assert made.to_json() == {
        "at": {"a": 2, "fs": "nfs"},
        "fit": 50.0,
        "low": 40.0,
        "high": 60.0,
        "level": 0.95,
        "n": 99,
        "interval_of": "settings",
        "repeats_mean": None,
        "n_alike": None,
        "extrapolated": False,
        "warnings": [],
    }
    own = Repeats((2.0, 0.0), 5, 55.0, 1.0)
    half = 2.776445105197793 * 1.2**0.5
    assert predict_setting(constant(repeats=(own,)), {"fs": "nfs", "a": 2}, 0.95).to_json() == {
        **made.to_json(),
        "low": pytest.approx(55 - half),
        "high": pytest.approx(55 + half),
        "n": 5,
        "interval_of": "repeats",
        "repeats_mean": 55.0,
        "warnings": list(predict_setting(constant(repeats=(own,)), {"fs": "nfs", "a": 2}, 0.95).value.warnings),
    }


@pytest.mark.parametrize(
    ("n", "groups", "mean", "source", "warned"),
    [
        (5, 99, 50.0, "repeats", []),
        (4, 99, 50.0, "settings", []),
        (4, 18, 50.0, "repeats", []),
        (5, 99, 90.0, "repeats", ["model-off-repeats"]),
        (5, 99, 1.0, "repeats", ["model-off-repeats", "cut-interval"]),
    ],
)
def test_five_trials_of_a_setting_or_any_where_there_is_nothing_else(n, groups, mean, source, warned):
    made = predict_setting(
        constant(groups=groups, repeats=(Repeats((2.0, 0.0), n, mean, 2.0),)), {"fs": "nfs", "a": 2}, 0.95
    )
    assert (made.to_json()["interval_of"], codes(made.value.warnings)) == (source, warned)
    assert made.repeats is None or (made.repeats.n, made.value.n, made.value.value) == (n, n, 50.0)


@pytest.mark.parametrize(
    ("changes", "a", "wanted"),
    [
        ({}, 9, ["out-of-range", "extrapolated"]),
        ({}, 0.5, ["out-of-range", "extrapolated"]),
        ({}, 8, []),
        ({}, 1, []),
        ({"calibration": None}, 2, ["not-validated"]),
        ({"groups": 18}, 2, ["too-few-settings"]),
        ({"groups": 19}, 2, []),
        ({"settings": 8, "calibration": None}, 3, ["untested-level"]),
        ({"settings": 7, "calibration": None}, 3, ["not-validated"]),
    ],
)
def test_why_there_is_no_interval(changes, a, wanted):
    made = predict_setting(constant(**changes), {"fs": "nfs", "a": a}, 0.95)
    assert codes(made.value.warnings) == wanted and (made.value.low is None) is bool(wanted)
    assert made.extrapolated is ("extrapolated" in wanted)
    assert made.value.n == (0 if "calibration" in changes else changes.get("groups", 99))
    if wanted == ["too-few-settings"]:
        assert has_message(made.value.warnings, "too-few-settings", level=95.0, n_needed=19, n=18)


def test_what_rates_grow_with_has_a_command_that_goes_further():
    for name, is_advised in (("clients", True), ("queue_depth", False)):
        feature = Feature(name, "", (1.0, 2.0, 8.0), True)
        with raises("extrapolation-too-far", InputError, factor=name) as caught:
            _refuse_far([feature], np.array([64.0]))
        assert ("scale" in caught.value.hint.split()) is is_advised


@pytest.mark.parametrize(("a", "refused"), [(15, False), (15.1, True), (-6, False), (-6.1, True)])
def test_as_far_again_as_the_range_is_wide_is_the_farthest(a, refused):
    if refused:
        with raises("extrapolation-too-far", InputError, factor="a", low=1, high=8, level=a):
            predict_setting(constant(), {"fs": "nfs", "a": a}, 0.95)
    else:
        assert predict_setting(constant(), {"fs": "nfs", "a": a}, 0.95).extrapolated


@pytest.mark.parametrize(
    ("value", "low", "code"),
    [
        (math.inf, 20.0, "prediction-not-finite"),
        (-1.0, 0.0, "prediction-out-of-range"),
        (-1.0, 20.0, "prediction-out-of-range"),
        (-1.0, -0.1, None),
        (0.0, 0.0, None),
    ],
)
def test_what_cannot_be_is_not_predicted(value, low, code):
    model = constant(value, low=low)
    (made,) = predict_settings(model, [{"fs": "nfs", "a": 2}], 0.95)
    assert getattr(made, "code", None) == code
    assert compute_negative_share(model) == (1.0 if value < 0 <= low else 0.0)


def test_between_tried_numbers_the_interval_joins_those_of_both_sides():
    own = tuple(Repeats((a, 0.0), 5, mean, 1.0) for a, mean in ((2.0, 30.0), (4.0, 60.0)))
    model = constant(settings=8, repeats=own)
    assert find_tried_neighbours(A, 3) == (2, 4) and find_tried_neighbours(A, 1.5) == (1, 2)
    half = 2.776445105197793 * 1.2**0.5
    made = predict_setting(model, {"fs": "nfs", "a": 3}, 0.95)
    assert (made.value.low, made.value.high, made.value.value) == pytest.approx((30 - half, 60 + half, 50))
    assert made.between and made.to_json()["interval_of"] == "neighbours" and made.value.n == 99
    assert with_code(made.value.warnings, "interval-of-neighbours").values["levels"] == "a 2 and 4"
    other_side = predict_setting(replace(model, calibration=None), {"fs": "nfs", "a": 6}, 0.95)
    assert other_side.value.low is None and not other_side.between, "8 has no interval of its own"


def test_all_designs_of_the_levels_or_so_many_at_random(monkeypatch):
    designs, complete = list_designs(constant())
    assert complete and designs.tolist() == [[a, fs] for a in (1, 2, 4, 8) for fs in (0, 1)]
    assert decode_setting((A, B), np.array([4.0, 1.0])) == {"a": 4, "fs": "ceph"}
    assert list_designs(constant(), lambda at: at["fs"] == "ceph" and at["a"] > 2)[0].tolist() == [[4, 1], [8, 1]]
    monkeypatch.setattr("iosonde.model.fit.fitted.MOST_DESIGNS", 8)
    assert list_designs(constant())[1]
    monkeypatch.setattr("iosonde.model.fit.fitted.MOST_DESIGNS", 7)
    drawn, complete = list_designs(constant())
    assert not complete and len(drawn) == 7 and set(drawn[:, 0]) <= {1, 2, 4, 8} and set(drawn[:, 1]) <= {0, 1}


@pytest.mark.parametrize(
    ("family", "options", "name"),
    [
        ("tree", {"depth": 3, "min_leaf": 0}, "tree depth=3"),
        ("tree", {"depth": 0}, "tree"),
        ("linear", {"terms": "a*b"}, "linear"),
    ],
)
def test_a_model_is_named_by_its_options_that_are_not_the_usual(family, options, name):
    assert constant(family=family, options=options).name == name


def judged_off(errors: list[float], sign: float = 1.0) -> Judged:
    """A candidate that is off by ``errors`` in rows of 1, 2, 3, 4."""
    rows = np.arange(4)
    mae = Estimate(float(np.mean(errors)), None, None, 0.95, 4)
    return Judged(Candidate("tree"), (), rows, rows + 1 + sign * np.array(errors), mae, None)


def lost() -> Judged:
    return Judged(Candidate("linear"), (), np.array([], int), np.array([]), Estimate(None, None, None, 0.95, 0), None)


BEST = [0.0, 2.0, 0.0, 2.0]  # mean 1, its standard error √(4/3 ÷ 4) = 0.577


@pytest.mark.parametrize(
    ("tried", "chosen"),
    [
        ([judged_off([1.58] * 4), judged_off(BEST)], [1]),
        ([judged_off([1.57] * 4), judged_off(BEST)], [0]),
        ([lost(), judged_off([1.5] * 4), judged_off(BEST)], [1]),
        ([judged_off([1.5] * 4, -1), judged_off(BEST)], [1, 0]),  # 1 - 1.5 is below 0
        ([judged_off([1.5] * 4, -1), judged_off([1.1] * 4), judged_off(BEST)], [1, 0]),
        ([judged_off([1.0] * 4, -1)], [0]),
        ([judged_off([1.5] * 4, -1), judged_off([1.2] * 4, -1)], [1]),  # both below 0, and this is the best
    ],
)
def test_the_first_within_a_standard_error_that_stays_above_zero_is_chosen(tried, chosen):
    d = build_examples(build_table({"a": [1, 2, 3, 4], "y": [1.0, 2.0, 3.0, 4.0]}), "y", ["a"])
    assert find_simplest_good_candidates(tried, d, Groups(np.arange(4))) == chosen


@pytest.mark.parametrize(("least", "chosen"), [(0.0, [1, 0]), (-0.1, [0])])
def test_below_zero_is_possible_only_where_the_response_was(least, chosen):
    d = build_examples(build_table({"a": [1, 2, 3, 4], "y": [least, 2.0, 3.0, 4.0]}), "y", ["a"])
    assert (
        find_simplest_good_candidates([judged_off([1.4] * 4, -1), judged_off(BEST)], d, Groups(np.arange(4))) == chosen
    )


def test_without_any_fitted_model_there_is_no_choice():
    d = build_examples(build_table({"a": [1, 2], "y": [1.0, 2.0]}), "y", ["a"])
    with raises("fit-failed", DataError):
        find_simplest_good_candidates([lost()], d, Groups(np.arange(2)))


@pytest.mark.parametrize(
    ("rows", "asked", "wanted"), [(20_000, None, 10), (20_001, None, 1), (20_001, 3, 3), (7, None, 7), (10, 2, 2)]
)
def test_folds_by_the_number_of_rows(rows, asked, wanted):
    made = build_standard_folds(Groups(np.arange(rows)), asked, 1)
    assert len(made) == wanted
    assert wanted > 1 or (made[0].train.size, made[0].test.size) == (15_001, 5_000)


@pytest.mark.parametrize(("n_settings", "gaussian"), [(100, True), (101, False)])
def test_candidates_from_the_simplest(n_settings, gaussian):
    names = ["mean", "linear", "loglinear", "loglog", "tree", "tree", "neighbours", "gaussian", "boosting", "forest"]
    made = list_auto_candidates(n_settings, "a*b")
    assert [one.family for one in made] == [name for name in names if gaussian or name != "gaussian"]
    assert [one.options for one in made[1:6]] == [{"terms": "a*b"}, {"terms": "a*b"}, {}, {"depth": 3}, {}]
    assert [one.options for one in list_auto_candidates(5)[1:3]] == [{}, {}]


def test_few_settings_are_fitted_by_simple_families_alone():
    flexible = {"gaussian", "boosting", "forest"}
    assert not flexible & {one.family for one in list_auto_candidates(4)}
    assert flexible < {one.family for one in list_auto_candidates(5)}


def test_a_choice_in_json_holds_what_was_judged():
    """Gain: how much less each row is missed by than by the mean of the others; of single rows its error is sd/√n."""
    data = grid(noise=3.0)
    made = fitted(data, "mean", ("tree", {"depth": 3}))
    document = made.to_json()
    judged, baseline = made.tried[made.chosen], made.baseline
    less = np.abs(baseline.predicted - data.y[baseline.rows]) - np.abs(judged.predicted - data.y[judged.rows])
    half = 2.0686576104190406 * less.std(ddof=1) / 24**0.5
    assert document["gain_over_mean"] == {
        "value": pytest.approx(less.mean()),
        "low": pytest.approx(less.mean() - half),
        "high": pytest.approx(less.mean() + half),
        "level": 0.95,
        "n": 24,
        "warnings": [],
    }
    assert made.chosen == 1 and document["model"] == "tree depth=3" and document["passed_over"] == []
    assert [one["model"] for one in document["tried"]] == ["mean", "tree depth=3"]
    assert document["mean_model"] == baseline.mae.value == made.tried[0].mae.value
    counts = {name: document[name] for name in ("n", "n_settings", "n_groups", "rows_with_twin", "seed", "noise")}
    assert counts == {"n": 24, "n_settings": 24, "n_groups": 24, "rows_with_twin": 0, "seed": 0, "noise": None}
    assert not any("folds" in one for one in document["tried"]) and len(document["folds"]) == 10
    assert document["nested"]["n"] == 24 and made.n_choice == 24
    errors = {**made.model.errors}
    assert (errors.pop("mean_model"), errors.pop("noise")) == (baseline.mae.value, None)
    assert errors == {name: document[name] for name in errors} and not {"folds", "family"} & set(errors)
    assert made.model.calibration == calibrate(data.y[judged.rows], judged.predicted, judged.rows)


@pytest.mark.parametrize(("n", "nested"), [(7, False), (8, True)])
def test_nested_folds_need_eight_groups(n, nested):
    d = build_examples(build_table({"a": np.arange(n), "y": np.arange(n) ** 1.5}), "y", ["a"])
    assert (fitted(d, "mean", "linear").nested is not None) is nested
    assert fitted(d, "mean").nested is None, "nothing was chosen"


@pytest.mark.parametrize(("n", "between"), [(1, True), (3, True), (4, False)])
def test_at_most_three_numbers_lie_between_tried_ones(n, between):
    features = tuple(Feature(f"f{i}", "", (1, 2), True) for i in range(4))
    setting = {f"f{i}": 1.5 if i < n else 1 for i in range(4)}
    made = predict_setting(constant(features=features, settings=16), setting, 0.95)
    assert (made.between, made.value.low) == (between, 40.0 if between else None)


def build_folds(n: int, train: int, test: int) -> list[Fold]:
    return [Fold(np.arange(train), np.arange(test)) for _ in range(n)]


@pytest.mark.parametrize(
    ("families", "other", "total"),
    [
        # On the part; inner folds of three outer parts, on two thirds each; the choice in them; on all rows.
        (["mean", "tree"], False, 1.05 * 24 + 1.05 * 24 * 2 + 24 + 8),
        (["mean", "tree"], True, 1.05 * 24 + 1.05 * 24 * 2 + 24 + 8 * 7 + 8),
        (["forest"], False, 20 * 24 + 20 * 8),
        (["forest"], True, 20 * 24 + 20 * 56 + 20 * 8),
    ],
)
def test_the_planned_work_is_that_of_all_fits(families, other, total):
    part = build_folds(4, 6, 2)
    folds = build_folds(8, 7, 1) if other else part
    work = choose._plan_fits([Candidate(name) for name in families], part, folds, 8, None)
    assert work.total == pytest.approx(total)


@pytest.mark.parametrize(("size", "n_groups", "n_rows"), [(1, 40, 40), (2, 20, 40), (3, 20, 60), (10, 20, 40)])
def test_a_sample_for_the_choice_has_whole_groups_or_a_few_rows_of_each(size, n_groups, n_rows):
    group = np.repeat(np.arange(100), size)
    rows = choose._sample_groups(group, 40, 3)
    assert (np.unique(rows).size, np.unique(group[rows]).size) == (n_rows, n_groups)
    assert set(np.bincount(group[rows])) == {0, n_rows // n_groups}
    assert rows.tolist() == choose._sample_groups(group, 40, 3).tolist() != choose._sample_groups(group, 40, 4).tolist()
