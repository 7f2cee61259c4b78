"""Split plots: published analyses, a second implementation, exact identities of balanced designs, false alarms."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind
from statsmodels.formula.api import mixedlm

from iosonde.core.errors import DataError
from iosonde.core.table import Table, build_table
from iosonde.stats.regression import mixed, strata
from iosonde.stats.regression.anova import Anova, compute_anova
from iosonde.stats.regression.effects import estimate_effects
from messages import raises

# Montgomery, Design and Analysis of Experiments, 8th ed., table 14.15: tensile strength of paper by day, cooking
# temperature and method of preparation; a batch of pulp is made by one method and divided among the temperatures.
PULP = {
    200: [(30, 34, 29), (28, 31, 31), (31, 35, 32)],
    225: [(35, 41, 26), (32, 36, 30), (37, 40, 34)],
    250: [(37, 38, 33), (40, 42, 32), (41, 39, 39)],
    275: [(36, 42, 36), (41, 40, 40), (40, 44, 45)],
}
# Box, Hunter & Hunter, Statistics for Experimenters, 2nd ed., table 9.1: corrosion resistance by heat of a furnace
# (its temperature first) and coating of the bar.
CORROSION = [
    (360, (67, 73, 83, 89)),
    (370, (65, 91, 87, 86)),
    (380, (155, 127, 147, 212)),
    (380, (108, 100, 90, 153)),
    (370, (140, 142, 121, 150)),
    (360, (33, 8, 46, 54)),
]


def pulp() -> Table:
    rows = [
        (day, f"m{method}", temperature, 3 * day + method, float(y))
        for temperature, days in PULP.items()
        for day, all_of in enumerate(days)
        for method, y in enumerate(all_of)
    ]
    return build_table(
        dict(zip(("day", "method", "temperature", "bring_up", "y"), map(list, zip(*rows, strict=True)), strict=True))
    )


def corrosion() -> Table:
    rows = [
        (heat, str(at), f"c{coat}", float(y))
        for heat, (at, all_of) in enumerate(CORROSION)
        for coat, y in enumerate(all_of)
    ]
    return build_table(dict(zip(("bring_up", "temp", "coating", "y"), map(list, zip(*rows, strict=True)), strict=True)))


def by_name(made: Anova) -> dict[str, tuple[float, float, float, float]]:
    return {s.name: (s.ss, s.df, s.f, s.df_error) for s in made.sources}


def test_montgomerys_split_plot():
    made = compute_anova(pulp(), "y", ["method*temperature"], 0.95, block="day")
    found = by_name(made)
    assert found["day"][:2] == pytest.approx((77.55, 2), abs=0.01)
    assert found["method"] == pytest.approx((128.39, 2, 7.08, 4), abs=0.01)
    assert found["temperature"][:2] == pytest.approx((434.08, 3), abs=0.01)
    assert found["method:temperature"][:2] == pytest.approx((75.17, 6), abs=0.01)
    whole, sub = made.strata
    assert (whole.error.ss, whole.error.df, whole.n) == (pytest.approx(36.28, abs=0.01), 4, 9)
    # His subplot error leaves the interactions with days out of it, which he gives apart; together they are ours.
    assert (sub.error.ss, sub.error.df) == (
        pytest.approx(822.97 - 77.55 - 128.39 - 36.28 - 434.08 - 75.17, abs=0.05),
        18,
    )
    assert [s.stratum for s in made.sources] == [0, 0, 1, 1]


def test_the_corrosion_of_box_hunter_and_hunter():
    made = compute_anova(corrosion(), "y", ["temp*coating"], 0.95)
    found = by_name(made)
    assert found["temp"] == pytest.approx((26519, 2, 2.75, 3), rel=2e-3)
    assert found["coating"] == pytest.approx((4289, 3, 11.48, 9), rel=2e-3)
    assert found["temp:coating"] == pytest.approx((3270, 6, 4.376, 9), rel=2e-3)
    assert [one.mean_square for one in made.strata] == pytest.approx([4813, 124.5], rel=1e-3)
    assert [round(s.p, 3) for s in made.sources] == [0.209, 0.002, 0.024]
    between = made.strata[0].component
    assert (
        between.value == pytest.approx((4813.2 - 124.54) / 4, rel=1e-3) and between.low < between.value < between.high
    )


def test_of_one_bring_up_a_level_nothing_is_told_and_the_cure_is():
    once = corrosion().take(np.arange(12))
    made = compute_anova(once, "y", ["temp", "coating"], 0.95, contrasts=["temp: 370 - 360", "coating: c1 - c0"])
    temp, coating = made.sources
    assert (temp.f, temp.p, temp.explained.low) == (None, None, None) and coating.p is not None
    assert [f.code for f in made.findings][0] == "S119" and "repetitions" in made.findings[0].action
    whole, sub = made.contrasts
    assert (whole.p, whole.estimate.low) == (None, None) and whole.estimate.value == pytest.approx(4.25)
    assert sub.p is not None
    assert made.to_json()["strata"][0]["component"] is None


def test_a_contrast_of_what_is_set_once_counts_bring_ups():
    whole, sub = compute_anova(
        corrosion(), "y", ["temp", "coating"], 0.95, contrasts=["temp: 380 - 360", "coating: c3 - c0"]
    ).contrasts
    means = {at: [np.mean(y) for t, y in CORROSION if t == at] for at in (360, 370, 380)}
    pooled = np.sqrt(sum(np.var(y, ddof=1) for y in means.values()) / 3)
    assert whole.estimate.value == pytest.approx(np.mean(means[380]) - np.mean(means[360]))
    assert whole.std_error == pytest.approx(pooled)  # √(1/2 + 1/2)
    assert sub.std_error < whole.std_error / 3


def test_without_shared_bring_ups_it_is_the_ordinary_table():
    alone = corrosion()
    codes = build_table({"bring_up": list(map(float, range(24)))}).columns["bring_up"]
    apart = Table({**alone.columns, "bring_up": codes})
    plain = compute_anova(
        Table({k: v for k, v in alone.columns.items() if k != "bring_up"}), "y", ["temp*coating"], 0.95
    )
    assert compute_anova(apart, "y", ["temp*coating"], 0.95) == plain and not plain.strata


def test_terms_that_leave_nothing_between_trials_of_a_bring_up_are_refused():
    with raises("no-degrees-of-freedom", DataError):
        compute_anova(corrosion().take(np.arange(8)), "y", ["temp*coating"], 0.95)


def split_split(rng: np.random.Generator, reps: int = 3) -> tuple[np.ndarray, ...]:
    rows = np.array(list(product(range(reps), range(2), range(3), range(4))))
    outer = rows[:, 0] * 2 + rows[:, 1]
    inner = outer * 3 + rows[:, 2]
    y = rng.normal(size=6 if reps == 3 else 2 * reps)[outer] + rng.normal(size=3 * (outer.max() + 1))[inner]
    return rows, outer, inner, y + rng.normal(size=len(rows))


def test_bring_ups_inside_bring_ups_are_judged_by_means_of_theirs():
    """In a balanced design the F of each stratum is that of an ordinary table of the means of its units."""
    rows, outer, inner, y = split_split(np.random.default_rng(4))
    columns = {"a": rows[:, 1], "b": rows[:, 2], "c": rows[:, 3], "bring_up": outer, "bring_up_2": inner, "y": y}
    made = compute_anova(build_table({k: list(map(float, v)) for k, v in columns.items()}), "y", ["a*b", "c"], 0.95)
    f = {s.name: (s.f, s.df_error) for s in made.sources}
    frame = pd.DataFrame(columns)

    def of_means(unit: str, on: list[str], block: str | None = None) -> dict[str, tuple[float, float]]:
        means = frame.groupby(unit, as_index=False).mean()
        table = build_table(
            {k: means[k].astype(float).tolist() for k in frame if not k.startswith("bring")}
            | {"unit": means["bring_up"].tolist()}
        )
        plain = compute_anova(table, "y", on, 0.95, block=block, kind=1)
        return {s.name: (s.f, s.df_error) for s in plain.sources}

    assert f["a"] == pytest.approx(of_means("bring_up", ["a"])["a"])
    assert f["a:b"] == pytest.approx(of_means("bring_up_2", ["b", "a:b"], block="unit")["a:b"])
    assert [one.n for one in made.strata] == [6, 18, 72] and f["b"][1] == f["a:b"][1] == 8


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(2, 4), st.integers(2, 4))
def test_balanced_strata_are_ordinary_tables_of_means_and_of_deviations(seed, levels, reps, inside):
    rng = np.random.default_rng(seed)
    rows = np.array(list(product(range(levels), range(reps), range(inside), range(2))))
    unit = rows[:, 0] * reps + rows[:, 1]
    y = rng.normal(size=unit.max() + 1)[unit] * rng.choice([0.1, 1, 5]) + rng.normal(size=len(rows))
    data = {"a": rows[:, 0], "b": rows[:, 2], "bring_up": unit, "y": y}
    order = rng.permutation(len(rows))
    made = compute_anova(build_table({k: list(map(float, v[order])) for k, v in data.items()}), "y", ["a", "b"], 0.95)
    frame = pd.DataFrame(data)
    means = frame.groupby("bring_up", as_index=False).mean()
    whole = compute_anova(build_table({k: means[k].tolist() for k in ("a", "y")}), "y", ["a"], 0.95).sources[0]
    inner = compute_anova(
        build_table(
            {
                "unit": frame["bring_up"].astype(float).tolist(),
                "b": frame["b"].astype(float).tolist(),
                "y": frame["y"].tolist(),
            }
        ),
        "y",
        ["b"],
        0.95,
        block="unit",
    ).sources[1]
    a, b = made.sources
    assert (a.f, a.df_error, a.p) == pytest.approx((whole.f, whole.df_error, whole.p), rel=1e-5)
    assert (b.f, b.df_error, b.p) == pytest.approx((inner.f, inner.df_error, inner.p), rel=1e-5)


def unbalanced(seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [(unit, unit % 3, b) for unit in range(12) for b in rng.integers(0, 3, rng.integers(2, 7))]
    frame = pd.DataFrame(rows, columns=["bring_up", "a", "b"])
    noise = rng.normal(size=12)[frame["bring_up"]] * 1.5 + rng.normal(size=len(frame))
    return frame.assign(y=10 + frame["a"] + 0.5 * frame["b"] + noise)


def matrix(frame: pd.DataFrame, *names: str) -> np.ndarray:
    return np.column_stack([np.ones(len(frame)), *((frame[n] == v).astype(float) for n in names for v in (1, 2))])


def test_unequal_bring_ups_agree_with_the_mixed_model_of_statsmodels():
    frame = unbalanced()
    other = mixedlm("y ~ C(a) + C(b)", frame, groups=frame["bring_up"]).fit(reml=True)
    x = matrix(frame, "a", "b")
    units = strata.nest_units([frame["bring_up"].to_numpy()])
    model = strata.build_strata(frame["y"].to_numpy(), x, units, 0.95).model
    assert model.theta == pytest.approx([other.cov_re.iloc[0, 0], other.scale], rel=1e-3)
    for place, name in enumerate(other.fe_params.index):
        found = model.value(x, np.eye(5)[place])
        assert found.value == pytest.approx(other.fe_params[name], rel=1e-4)
        assert found.error == pytest.approx(other.bse_fe[name], rel=1e-2)  # its observed information


def test_satterthwaites_degrees_of_freedom_are_those_of_plain_matrices():
    """The same formulas on whole n × n matrices, with a numerical slope: Giesbrecht & Burns, Biometrics 41, 1985."""
    frame = unbalanced(5)
    y, x = frame["y"].to_numpy(), matrix(frame, "a", "b")
    model = strata.build_strata(y, x, strata.nest_units([frame["bring_up"].to_numpy()]), 0.95).model
    z = pd.get_dummies(frame["bring_up"]).to_numpy(float)
    parts = [z @ z.T, np.eye(len(y))]

    def covariance(theta):
        v = sum(t * part for t, part in zip(theta, parts, strict=True))
        return v, np.linalg.inv(x.T @ np.linalg.solve(v, x))

    v, of_beta = covariance(model.theta)
    inverse = np.linalg.inv(v)
    p = inverse - inverse @ x @ of_beta @ x.T @ inverse
    information = np.array([[0.5 * np.trace(p @ one @ p @ two) for two in parts] for one in parts])
    for row in np.eye(5)[1:]:
        slope = [
            (row @ (covariance(model.theta + step)[1] - covariance(model.theta - step)[1]) @ row) / 2e-5
            for step in 1e-5 * np.eye(2)
        ]
        variance = row @ of_beta @ row
        df = 2 * variance**2 / (slope @ np.linalg.inv(information) @ slope)
        assert model.value(x, row).df == pytest.approx(df, rel=1e-4)


def test_a_test_after_others_is_that_of_the_generalised_least_squares():
    frame = unbalanced(7)
    y, x = frame["y"].to_numpy(), matrix(frame, "a", "b")
    made = strata.build_strata(y, x, strata.nest_units([frame["bring_up"].to_numpy()]), 0.95)
    z = pd.get_dummies(frame["bring_up"]).to_numpy(float)
    root = np.linalg.inv(np.linalg.cholesky(made.model.theta[0] * z @ z.T + made.model.theta[1] * np.eye(len(y))))

    def left(columns):
        return np.sum((root @ y - root @ columns @ np.linalg.lstsq(root @ columns, root @ y, rcond=None)[0]) ** 2)

    f = (left(matrix(frame, "b")) - left(x)) / 2
    own = matrix(frame, "a")[:, 1:]
    found = made.test(matrix(frame, "b"), own, made.depth(own))
    assert found.f == pytest.approx(f)
    assert 5 < found.df_error < 12
    assert made.test(x, own, made.depth(own)) is None


def test_bring_ups_that_differ_less_than_chance_are_not_pooled():
    """A component below 0 keeps the degrees of freedom of its stratum; cut at 0 it would be judged by all trials."""
    rng = np.random.default_rng(0)
    y = np.tile([-1.0, 1.0, -1.0, 1.0], 6) + 0.01 * rng.normal(size=24)
    table = build_table(
        {"a": [float(i // 12) for i in range(24)], "bring_up": [float(i // 4) for i in range(24)], "y": y.tolist()}
    )
    made = compute_anova(table, "y", ["a"], 0.95)
    assert made.sources[0].df_error == 4
    between = made.strata[0].component
    assert (between.value, between.high, between.warnings) == (0, None, (strata.LESS,))


def alarms(simulations: int, unequal: bool, seed: int) -> tuple[float, float]:
    """How often a factor that does nothing is found at 5 %: against the error between bring-ups, and taking each trial
    for itself. 2 levels of 5 bring-ups of 6 trials (or 2 to 8), which differ as much as trials do."""
    rng = np.random.default_rng(seed)
    found = np.zeros(2)
    for _ in range(simulations):
        sizes = rng.integers(2, 9, 10) if unequal else np.full(10, 6)
        unit = np.repeat(np.arange(10), sizes)
        a, ones = (unit % 2).astype(float)[:, None], np.ones((unit.size, 1))
        y = rng.normal(size=10)[unit] + rng.normal(size=unit.size)
        made = strata.build_strata(y, np.column_stack([ones, a]), strata.nest_units([unit]), 0.95)
        naive = ttest_ind(y[unit % 2 == 0], y[unit % 2 == 1]).pvalue
        found += [made.test(ones, a, 0).p < 0.05, naive < 0.05]
    return tuple(found / simulations)


@pytest.mark.parametrize("unequal", [False, pytest.param(True, marks=pytest.mark.long)])
def test_false_alarms_are_nominal_and_those_of_trials_taken_for_themselves_are_not(unequal):
    held, naive = alarms(300, unequal, 11)
    assert 0.05 - 2.6 * np.sqrt(0.05 * 0.95 / 300) <= held <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 300)
    assert naive > 0.2


def test_the_interval_of_what_differs_between_bring_ups_holds_it():
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(300):
        unit = np.repeat(np.arange(8), 4)
        y = 2 * rng.normal(size=8)[unit] + rng.normal(size=32)
        made = strata.build_strata(y, np.ones((32, 1)), strata.nest_units([unit]), 0.95)
        held += made.strata[0].component.low <= 4 <= made.strata[0].component.high
    assert held / 300 > 0.95 - 2.6 * np.sqrt(0.05 * 0.95 / 300)


def test_degrees_of_freedom_are_joined_as_fai_and_cornelius_do():
    assert mixed._join_df([8.0, 8.0]) == 8.0
    assert mixed._join_df([4.0, 8.0]) == pytest.approx(2 * (2 + 8 / 6) / (2 + 8 / 6 - 2))
    assert mixed._join_df([1.5, 30.0]) == 1.5


@pytest.mark.parametrize(("noise", "digits"), [(1e-3, 1e-3), (1e-9, 0.05), (1e-12, 0.05)])
def test_trials_of_a_bring_up_that_are_all_but_alike_still_tell_what_bring_ups_differ_by(noise, digits):
    """Of unequal numbers of trials: REML began from a singular covariance, and had a million degrees of freedom."""
    unit = np.repeat(np.arange(5.0), 3)[:-1]
    mode = np.array([0.0, 1.0, 0.0] * 5)[:-1]
    y = 100 + 10 * (unit % 2) + 3 * unit + noise * np.random.default_rng(1).normal(size=unit.size)
    rows = {"bring_up": unit, "temp": unit % 2, "mode": mode, "y": y}
    temp, other = compute_anova(
        build_table({name: list(map(float, one)) for name, one in rows.items()}), "y", ["temp", "mode"], 0.95
    ).sources
    means = [[100 + 10 * side + 3 * one for one in range(5) if one % 2 == side] for side in (0, 1)]
    assert temp.p == pytest.approx(ttest_ind(*means).pvalue, rel=digits)
    assert other.p > 0.05


def test_bring_ups_that_are_all_alike_leave_the_error_within_as_it_is():
    """The information on rows would else be lost beside that on units."""
    rows = {
        "fs": list("aaaabbbb"),
        "nodes": ["1", "1", "2", "2"] * 2,
        "bring_up": [0, 1, 0, 1, 2, 3, 2, 3],
        "y": [824.0, 824.0, 1647.0, 1647.0, 842.0, 842.0, 1666.0, 1666.0],
    }
    found = by_name(compute_anova(build_table(rows), "y", ["fs", "nodes"], 0.95))
    assert found["nodes"] == pytest.approx((1356304.5, 1, 1356304.5 / (0.5 / 3), 3), rel=1e-4)
    assert found["fs"][2] > 1e6


def test_bring_ups_that_are_all_alike_have_the_same_degrees_of_freedom_in_every_order_of_rows():
    """Rounding, which differs by order and by CPU, made 2.9994 of 3."""
    rows = [
        ("a", "1", 0, 824.0),
        ("a", "1", 1, 824.0),
        ("a", "2", 0, 1647.0),
        ("a", "2", 1, 1647.0),
        ("b", "1", 2, 842.0),
        ("b", "1", 3, 842.0),
        ("b", "2", 2, 1666.0),
        ("b", "2", 3, 1666.0),
    ]
    for seed in range(8):
        fs, nodes, bring_up, y = zip(*random.Random(seed).sample(rows, len(rows)), strict=True)
        table = build_table({"fs": list(fs), "nodes": list(nodes), "bring_up": list(bring_up), "y": list(y)})
        sources = by_name(compute_anova(table, "y", ["fs", "nodes"], 0.95))
        assert (sources["fs"][3], sources["nodes"][3]) == (2, 3)


def of_bring_ups(y: list[float]) -> dict[str, tuple[float, int, float, float]]:
    """Two bring-ups of each file system, each of which runs on 1 and on 2 nodes."""
    rows = {"fs": list("aaaabbbb"), "nodes": ["1", "2"] * 4, "bring_up": [0, 0, 1, 1, 2, 2, 3, 3], "y": y}
    return {one.name: one for one in compute_anova(build_table(rows), "y", ["fs", "nodes", "fs:nodes"], 0.95).sources}


def test_counts_that_are_the_same_in_every_repetition_leave_no_error_to_hold_a_term_against():
    """The F test was against the last bits of the arithmetic."""
    counted = [824.1, 1647.0, 824.1, 1647.0, 842.0, 1666.7, 842.0, 1666.7]
    assert all(one.f is None and one.p is None and one.df_error > 0 for one in of_bring_ups(counted).values())
    apart = [y + 1e7 * unit for y, unit in zip(counted, [0, 0, 3, 3, 5, 5, 1, 1], strict=True)]
    made = of_bring_ups(apart)
    assert 0.1 < made["fs"].p < 1 and made["nodes"].p is None


def test_the_error_between_bring_ups_that_are_all_alike_is_none():
    """A difference of two sums of squares is as large as their rounding."""
    y = np.array([824.0, 1647.0, 824.0, 1647.0, 842.0, 1666.0, 842.0, 1666.0])
    x = np.column_stack([np.ones(8), [0, 0, 0, 0, 1, 1, 1, 1], [0, 1] * 4])
    made = strata.build_strata(y, x, strata.nest_units([np.repeat(np.arange(4), 2)]), 0.95)
    assert made.strata[0].error.ss == 0 and made.within.error.ss == pytest.approx(0.5)


@pytest.mark.parametrize("rows", [3, 40, [2, 2, 2, 2, 2000]])
def test_bring_ups_of_many_trials_that_are_all_but_alike_are_a_start(rows):
    """Their variance counts as often as each has trials."""
    unit, rng = np.repeat(np.arange(5), rows), np.random.default_rng(3)
    y = 1e9 * rng.normal(size=5)[unit] + 1e-3 * rng.normal(size=unit.size)
    x = np.column_stack([np.ones(unit.size), np.arange(unit.size) % 2])
    made = strata.build_strata(y, x, strata.nest_units([unit]), 0.95)
    found = made.value(x, np.array([1.0, 0.0]))
    assert found.df == pytest.approx(4, rel=1e-3) and np.isfinite(found.error)


@pytest.mark.parametrize(
    ("each", "joined"),
    [
        ([7.0], 7.0),
        ([7.0, 7.0 + 1e-6], 7.0),
        ([2.0, 9.0], 2.0),
        ([1.0, 9.0], 1.0),
        ([4.0, 6.0], 2 * 3.5 / 1.5),  # Σ ν ÷ (ν - 2) = 2 + 1.5
        ([3.0, 4.0, 6.0], 2 * 6.5 / 3.5),
        ([1e7, 2e7], 1e6),
    ],
)
def test_degrees_of_freedom_of_several_contrasts_are_joined_by_their_means(each, joined):
    assert mixed._join_df(each) == pytest.approx(joined)


def test_columns_inside_a_basis_are_left_out_of_it():
    x = np.column_stack([np.ones(6), np.arange(6.0), 2 * np.arange(6.0) + 1])
    basis = mixed.compute_column_basis(x)
    assert basis.shape == (6, 2) and basis.T @ basis == pytest.approx(np.eye(2))
    more = np.column_stack([np.arange(6.0), np.arange(6.0) ** 2])
    rest = mixed._project_out(more, basis)
    assert rest.shape == (6, 1) and basis.T @ rest == pytest.approx(np.zeros((2, 1)), abs=1e-9)
    assert mixed.compute_column_basis(np.empty((6, 0))).shape == (6, 0)


def test_a_value_of_the_mixed_model_is_that_of_generalised_least_squares():
    """Balanced bring-ups: a difference inside them has the error of trials, one between them that of bring-ups."""
    rng = np.random.default_rng(4)
    unit = np.repeat(np.arange(6), 4)
    between, inside = (unit >= 3).astype(float), np.tile([0.0, 0, 1, 1], 6)
    y = 5 + 2 * between + 3 * inside + rng.normal(0, 2, 6)[unit] + rng.normal(0, 1, 24)
    x = np.column_stack([np.ones(24), between, inside])
    made = strata.build_strata(y, x, [unit], 0.95)
    means = np.array([y[unit == u].mean() for u in range(6)])
    first, second = means[:3], means[3:]
    value = made.value(x, np.array([0.0, 1, 0]))
    pooled = (first.var(ddof=1) + second.var(ddof=1)) / 2
    assert (value.value, value.error, value.df) == pytest.approx(
        (second.mean() - first.mean(), np.sqrt(pooled * 2 / 3), 4)
    )
    deviations = y - means[unit]
    slopes = y[inside == 1].mean() - y[inside == 0].mean()
    rest = deviations - slopes * (inside - 0.5)
    value = made.value(x, np.array([0.0, 0, 1]))
    assert (value.value, value.error, value.df) == pytest.approx((slopes, np.sqrt(rest @ rest / 17 * 2 / 12), 17))
    assert [stratum.error.df for stratum in made.strata] == [4, 17]
    assert made.strata[0].error.ss == pytest.approx(4 * (first.var() * 3 + second.var() * 3))
    assert made.strata[1].error.ss == pytest.approx(rest @ rest)
    twice = np.column_stack([x, between])
    assert made.model.value(twice, np.array([0.0, 1, 0, 0])) is None
    test = made.test(x[:, :2], x[:, 2:], 1)
    assert (test.f, test.df, test.df_error) == (pytest.approx((slopes / value.error) ** 2), 1, pytest.approx(17))
    assert made.model.test(x, between[:, None]) is None


def test_settings_that_differ_together_are_tested_against_the_error_of_their_strata():
    """Two bring-ups of each of a, b inside: the joint difference has an F that is the mixed model's."""
    rng = np.random.default_rng(9)
    levels = {"a": ["x", "x", "y", "y"], "b": ["p", "q", "p", "q"]}
    values = [rng.normal(10, 1, 6) + shift for shift in (0.0, 4.0, 4.0, 0.0)]
    shared = np.tile(np.repeat(np.arange(3), 2), 4)[:, None] + np.repeat([0, 0, 3, 3], 6)[:, None]
    made = estimate_effects(levels, values, shared, 0.95)
    assert made.joint is not None and made.joint.factors == ("a", "b") and made.joint.is_joint
    y = np.concatenate(values)
    cell = np.repeat(np.arange(4), 6)
    x = np.eye(4)[cell]
    within = sum(float(((part - part.mean()) ** 2).sum()) for part in values)
    assert made.joint.explained.value == pytest.approx(1 - within / float(((y - y.mean()) ** 2).sum()))
    model = strata.build_strata(y - y.mean(), np.column_stack([np.ones(24), x[:, 1:]]), [shared[:, 0]], 0.95)
    assert made.joint.p == pytest.approx(model.test(np.ones((24, 1)), x[:, 1:], 1).p)
    assert made.joint.p < 0.001 and all(effect.p > 0.01 for effect in made.effects)
