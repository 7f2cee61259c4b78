"""Every family predicts from plain JSON what the library that fitted it predicts, to 1e-9."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.model.families import (
    NAMES,
    complete_options,
    gaussian,
    get_max_settings,
    import_family,
    kcca,
    linear,
    neighbours,
    nodes,
    one_column,
    tree,
    warn_about_few_rows,
)
from iosonde.model.fit.features import build_examples
from messages import assert_problem, has_message, raises

FILE_SYSTEMS = ("ext4", "nfs", "lustre")


def sample(n: int = 60, seed: int = 3, repeats: int = 1):
    """size × fs × mode → rate, numbers and text, all above 0."""
    rng = np.random.default_rng(seed)
    size = 2.0 ** rng.integers(9, 24, n)
    fs, mode = rng.integers(0, 3, n), rng.integers(0, 2, n)
    rate = 20 + 4 * np.log2(size) * (1 + fs) + 30 * mode + rng.normal(0, 3, n)
    rows = {
        "size": size,
        "fs": [FILE_SYSTEMS[i] for i in fs],
        "mode": ["ab"[i] for i in mode],
        "depth": rng.uniform(1, 64, n),
        "rate": rate,
    }
    table = build_table({name: [v for v in values for _ in range(repeats)] for name, values in rows.items()})
    return build_examples(table, "rate", ["size", "fs", "mode", "depth"])


# A bound knows nothing of itself.
GIVEN = {
    "bound": {"unit": "MB/s", "disks": "8", "disk": "20MB/s"},
    "bound_tree": {"unit": "MB/s", "disks": "8", "disk": "20MB/s"},
}


def through_json(form):
    return json.loads(json.dumps(form, allow_nan=False))


@pytest.mark.parametrize("name", NAMES)
def test_every_family_is_plain_json_and_gives_the_same_for_the_same_seed(name):
    data, module = sample(), import_family(name)
    options = complete_options(name, GIVEN.get(name, {}))
    form = module.fit(data, options, 7)
    assert through_json(form) == form == module.fit(data, options, 7)
    predicted = module.predict(form, data.x)
    assert predicted.shape == data.y.shape and np.isfinite(predicted).all()
    assert name == "bound" or np.abs(predicted - data.y).mean() <= np.abs(data.y - data.y.mean()).mean() * 1.001


def _ranks(data):
    """The columns as the trees learn them, from the definition: rank of numbers, indicator of levels."""
    size, fs, mode, depth = data.x.T
    columns = [
        np.unique(size, return_inverse=True)[1],
        fs == 0,
        fs == 1,
        fs == 2,
        mode == 1,
        np.unique(depth, return_inverse=True)[1],
    ]
    return np.column_stack(columns).astype(float)


def _library(name, data, seed):
    from sklearn import ensemble, tree

    made = {
        "tree": tree.DecisionTreeRegressor(random_state=seed),
        "forest": ensemble.RandomForestRegressor(50, max_features=2, random_state=seed),
        "boosting": ensemble.GradientBoostingRegressor(random_state=seed),
    }[name]
    return made.fit(_ranks(data), data.y).predict(_ranks(data))


@pytest.mark.parametrize("name", ["tree", "forest", "boosting"])
def test_trees_predict_what_scikit_learn_does(name):
    data = sample()
    form = through_json(import_family(name).fit(data, {"trees": 0} if name == "forest" else {}, 5))
    assert import_family(name).predict(form, data.x) == pytest.approx(_library(name, data, 5), rel=1e-9, abs=1e-9)


def test_a_tree_of_raw_numbers_is_scikit_learns_between_the_levels_too():
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(1)
    a, b = rng.uniform(0, 10, 80), rng.uniform(0, 10, 80)
    y = np.where(a < 5, 1.0, 2.0) + (b > 7)
    data = build_examples(build_table({"a": a, "b": b, "y": y}), "y", ["a", "b"])
    form, new = import_family("tree").fit(data, {}, 0), rng.uniform(-2, 12, (500, 2))
    library = DecisionTreeRegressor(random_state=0).fit(data.x, data.y)
    assert np.mean(import_family("tree").predict(form, new) == library.predict(new)) > 0.98  # thresholds differ in rank


def test_a_tree_tells_sizes_apart_that_32_bits_do_not():
    size = 1e9 + np.arange(8.0)
    data = build_examples(build_table({"size": size, "y": np.arange(8.0)}), "y", ["size"])
    form = import_family("tree").fit(data, {}, 0)
    assert import_family("tree").predict(form, data.x).tolist() == list(range(8))


def test_the_class_tree_predicts_what_scikit_learn_does():
    from sklearn.tree import DecisionTreeClassifier

    from iosonde.model.fit import speed_classes

    data = sample(repeats=2)
    form = through_json(import_family("classes").fit(data, {"depth": 4}, 2))
    bounds = np.array(form["bounds"])
    library = DecisionTreeClassifier(random_state=2, max_depth=4).fit(
        _ranks(data), speed_classes.number_speed_classes(data.y, bounds)
    )
    expected = speed_classes.compute_class_middles(bounds)[library.predict(_ranks(data)) - 1]
    assert import_family("classes").predict(form, data.x) == pytest.approx(expected, rel=1e-9)
    leaves = [node for node in form["nodes"] if "value" in node]
    assert sum(sum(leaf["classes"].values()) for leaf in leaves) == len(data)


def test_classes_of_ones_own_have_names():
    data = build_examples(build_table({"a": [1, 2, 3, 4], "y": [25, 25.1, 75, 75.1]}), "y", ["a"])
    form = import_family("classes").fit(data, {"ends": "25,75", "names": "slow,avg,fast"}, 0)
    leaves = [form["nodes"][at] for at in nodes.find_leaves(form["nodes"], form["factors"], data.x)]
    assert [leaf["name"] for leaf in leaves] == ["slow", "avg", "avg", "fast"]
    assert [leaf["value"] for leaf in leaves] == pytest.approx([12.5, 50, 50, 75.05])
    for options in ({"ends": "a"}, {"ends": "75,25"}, {"ends": "25,80"}, {"ends": "25", "names": "slow"}):
        with pytest.raises(InputError):
            import_family("classes").fit(data, options, 0)


def test_neighbours_predict_what_scikit_learn_does():
    from sklearn.neighbors import KNeighborsRegressor

    from iosonde.model.families.neighbours import to_distance_coordinates
    from iosonde.model.fit.coding import factors_to_json

    data = sample(40)
    form = through_json(import_family("neighbours").fit(data, {"k": 3}, 0))
    new = data.x[:20] + np.array([0, 0, 0, 0.11])
    here, there = (to_distance_coordinates(factors_to_json(data.features), data.x, x) for x in (data.x, new))
    library = KNeighborsRegressor(3, weights="distance").fit(here, data.y)
    assert import_family("neighbours").predict(form, new) == pytest.approx(library.predict(there), rel=1e-9)
    assert import_family("neighbours").predict(form, data.x) == pytest.approx(data.y)


@pytest.mark.parametrize("logarithm", [False, True])
def test_the_gaussian_process_predicts_what_scikit_learn_does(logarithm):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    from iosonde.model.families.neighbours import to_distance_coordinates

    data = sample(40)
    data = replace(data, y=np.exp(data.y / 20)) if logarithm else data
    form = through_json(import_family("gaussian").fit(data, {}, 0))
    kernel = ConstantKernel(form["amplitude"]) * RBF(form["scales"]) + WhiteKernel(form["noise"])
    u = to_distance_coordinates(form["factors"], data.x, data.x)
    assert form["log"] == logarithm
    y = np.log(data.y) if logarithm else data.y
    library = GaussianProcessRegressor(kernel, optimizer=None).fit(u, (y - form["mean"]) / form["sd"])
    new = data.x[:20] + np.array([0, 0, 0, 0.3])
    expected = form["mean"] + form["sd"] * library.predict(to_distance_coordinates(form["factors"], data.x, new))
    expected = np.exp(expected) if logarithm else expected
    assert import_family("gaussian").predict(form, new) == pytest.approx(expected, rel=1e-9)


def test_kcca_finds_the_projections_that_a_symmetric_solver_finds():
    from scipy.linalg import eigh

    from iosonde.model.families import kcca

    rng = np.random.default_rng(2)
    u = rng.uniform(0, 1, (20, 2))
    kx, ky = (
        kcca.centre_kernel(kcca.compute_gaussian_kernel(u, u, 0.3)),
        kcca.centre_kernel(kcca.compute_gaussian_kernel(u[:, :1], u[:, :1], 0.2)),
    )
    found, weights = kcca.compute_projections(kx, ky, 2.0, 2)
    zero, tiny = np.zeros((20, 20)), 1e-9 * np.eye(40)
    left = np.block([[zero, kx @ ky], [ky @ kx, zero]])
    right = np.block([[kx @ kx + 2 * kx, zero], [zero, ky @ ky + 2 * ky]]) + tiny
    values, vectors = eigh(left, right)
    assert found == pytest.approx(values[::-1][:2], rel=1e-5)
    for column in range(2):
        assert abs(np.corrcoef(kx @ weights[:, column], kx @ vectors[:20, -1 - column])[0, 1]) > 0.9999


def test_kcca_predicts_better_than_the_mean_what_it_has_not_seen():
    everything = sample(100)
    data, new = everything.take(np.arange(60)), everything.take(np.arange(60, 100))
    form = through_json(import_family("kcca").fit(data, {}, 0))
    assert 0 < form["correlations"][1] <= form["correlations"][0] <= 1
    off = np.abs(import_family("kcca").predict(form, new.x) - new.y).mean()
    assert off < 0.6 * np.abs(data.y.mean() - new.y).mean()


def cluster(noise: float = 0.02):
    """60 MB/s for each node, up to 240 of the servers' disks; 80 % of it with sync."""
    rng = np.random.default_rng(4)
    nodes, sync = np.repeat([1, 2, 3, 4, 6, 8], 6), np.tile([0, 1], 18)
    y = np.minimum(60.0 * nodes, 240.0) * np.where(sync, 0.8, 1.0) * np.exp(noise * rng.standard_normal(36))
    return build_examples(
        build_table({"nodes": nodes, "sync": ["ny"[i] for i in sync], "rate (MB/s)": y}),
        "rate (MB/s)",
        ["nodes", "sync"],
    )


def test_the_bound_is_the_bound_in_the_responses_unit():
    data = cluster()
    options = {
        "clients": "nodes",
        "client_network": "60MB/s",
        "servers": "2",
        "disks": "8",
        "disk": "30MB/s",
        "unit": "MB/s",
    }
    form = through_json(import_family("bound").fit(data, options, 0))
    expected = np.minimum(60.0 * data.x[:, 0], 240)
    assert import_family("bound").predict(form, data.x) == pytest.approx(expected)
    assert form["columns"] == [{"field": "clients", "factor": "nodes", "scale": 1.0}]


def test_bound_and_tree_know_a_node_count_that_no_tree_has_seen():
    data = cluster()
    options = {"clients": "nodes", "client_network": "60MB/s", "disks": "8", "disk": "30MB/s", "unit": "MB/s"}
    seen = data.take(np.flatnonzero(data.x[:, 0] != 1))
    new = data.x[data.x[:, 0] == 1]
    truth = 60 * np.where(new[:, 1] == 0, 1.0, 0.8)
    both, alone = (
        import_family(name).fit(seen, {**o, "depth": 1}, 0) for name, o in (("bound_tree", options), ("tree", {}))
    )
    assert import_family("bound_tree").predict(through_json(both), new) == pytest.approx(truth, rel=0.05)
    assert np.abs(import_family("tree").predict(alone, new) - truth).min() > 40


def test_the_bound_reads_units_of_factors():
    table = build_table({"net (MiB/s)": [1, 2, 3.0], "block (KiB)": [4, 8, 16.0], "y (MiB/s)": [1, 2, 3.0]})
    columns = {n: replace(c, label=n.split()[0], unit=n.split("(")[1][:-1]) for n, c in table.columns.items()}
    data = build_examples(replace(table, columns=columns), "y", ["net", "block"])
    form = import_family("bound").fit(data, {"network": "net", "latency": "2ms", "request_size": "block"}, 0)
    expected = np.minimum(data.x[:, 0], data.x[:, 1] / 1024 / 0.002)
    assert import_family("bound").predict(form, data.x) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "code", "values"),
    [
        ({}, "missing-system", {}),
        ({"network": "117"}, "invalid-rate", {"rate": "117", "place": "bound network"}),
        ({"clients": "many"}, "not-a-number", {"number": "many", "place": "bound clients"}),
        ({"network": "1MB/s", "redundancy": "raid"}, "unknown-option-value", {"name": "redundancy", "choice": "raid"}),
        ({"network": "1MB/s", "disks": "1", "servers": "2"}, "too-few-disks", {"disks": 1.0, "servers": 2.0}),
        ({"network": "1MB/s", "unit": "s"}, "not-a-rate", {"unit": "s"}),
    ],
)
def test_a_bound_that_cannot_be_is_one_sentence(options, code, values):
    with raises(code, InputError, **values) as refused:
        import_family("bound").fit(cluster(), {"unit": "MB/s", **options}, 0)
    assert refused.value.hint


def test_linear_models_predict_what_least_squares_does():
    data = sample()
    _, fs, mode, depth = data.x.T
    form = through_json(import_family("linear").fit(data, {"terms": "log2(size)*fs, mode, depth"}, 0))
    log2 = np.log2(data.x[:, 0])
    # Treatment coding against the first level.
    levels = [(fs == i).astype(float) for i in (1, 2)]
    x = np.column_stack([np.ones(len(data)), log2, *levels, *[log2 * i for i in levels], mode, depth])
    beta = np.linalg.lstsq(x, data.y, rcond=None)[0]
    assert import_family("linear").predict(form, data.x) == pytest.approx(x @ beta, rel=1e-9)
    log = through_json(import_family("loglinear").fit(data, {"terms": "log2(size)*fs, mode, depth"}, 0))
    beta = np.linalg.lstsq(x, np.log(data.y), rcond=None)[0]
    assert import_family("loglinear").predict(log, data.x) == pytest.approx(np.exp(x @ beta), rel=1e-9)


def test_a_coefficient_says_its_direction():
    form = import_family("linear").fit(sample(), {"terms": "log2(size), mode, depth"}, 0)
    directions = {term["term"]: term["direction"] for term in form["terms"]}
    assert_problem(directions["log2(size)"], "significant", term="log2(size)", way="more", response="rate")
    assert_problem(directions["depth"], "inconclusive", term="depth", response="rate")


def test_products_are_written_once():
    assert linear.expand_terms("a*b, b, c") == ["a", "b", "a:b", "c"]
    assert linear.expand_terms("a*b*c") == ["a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_rules_say_what_the_tree_does_on_every_row(seed, deep):
    data = sample(40, seed)
    form = import_family("tree").fit(data, {"depth": deep}, 0)
    leaf = nodes.find_leaves(form["nodes"], form["factors"], data.x)
    names = [feature.name for feature in data.features]
    for row, at in zip(data.x, leaf, strict=True):
        setting = {
            name: value if feature.numeric else feature.levels[int(value)]
            for name, value, feature in zip(names, row, data.features, strict=True)
        }
        told = nodes.iter_leaf_rules(form["nodes"], form["factors"] if seed % 2 else ())
        true = [rule for rule in told if all(_holds(c, setting) for c in rule.conditions)]
        assert len(true) == 1 and true[0].leaf == form["nodes"][at]


def _holds(condition: str, setting) -> bool:
    words = condition.split()
    if "is" in words:
        return str(setting[words[0]]) not in words[3::2]
    if "=" in words:
        return str(setting[words[0]]) == words[2]
    if len(words) == 5:
        return float(words[0]) < setting[words[2]] and setting[words[2]] <= float(words[4]) * (1 + 1e-9)
    return setting[words[0]] <= float(words[2]) if words[1] == "<=" else setting[words[0]] > float(words[2])


def test_a_tree_in_a_circle_is_refused():
    bad = [{"factor": "a", "at_most": 1, "yes": 0, "no": 1, "n": 2}, {"value": 1, "n": 2}]
    with pytest.raises(ValueError, match="no later node"):
        nodes.predict_by_leaf(bad, [{"name": "a"}], np.zeros((1, 1)))


def test_what_a_family_cannot_do_is_one_sentence():
    with raises("unknown-family", family="svm"):
        import_family("svm")
    with raises("unknown-family-option", option="trees"):
        complete_options("tree", {"trees": 3})
    below = build_examples(build_table({"a": [1, 2, 3, 4.0], "y": [-1, 2, 3, 4.0]}), "y", ["a"])
    for name in ("loglinear", "classes"):
        with pytest.raises(DataError):
            import_family(name).fit(below, {}, 0)
    with raises("too-few-rows", DataError, n_parameters=9):
        import_family("linear").fit(
            build_examples(build_table({"a": list("abcdefghi"), "y": range(9)}), "y", ["a"]), {}, 0
        )
    with raises("too-many-settings", DataError):
        import_family("gaussian").fit(sample(301), {}, 0)


def test_terms_crossed_by_the_dozen_are_refused_and_not_multiplied_out():
    assert len(linear.expand_terms("*".join("abcdefghij"))) == 2**10 - 1
    with pytest.raises(InputError):
        linear.expand_terms("*".join(f"s{number}" for number in range(60)))


@pytest.mark.parametrize(
    ("name", "options", "wanted"),
    [
        ("tree", {"depth": 3}, {"depth": 3, "min_leaf": 0}),
        ("mean", {}, {}),
        ("forest", {"trees": 10_000}, {"trees": 10_000, "depth": 0, "min_leaf": 0}),
        ("forest", {"trees": 10_001}, ("out-of-range", {"option": "trees", "number": 10_001, "limit": 10_000})),
        ("forest", {"trees": 0}, ("out-of-range", {"option": "trees", "number": 0})),
        ("boosting", {"rate": -0.1}, ("out-of-range", {"option": "rate"})),
        ("mean", {"depth": 1}, ("unknown-family-option", {"family": "mean", "options": ""})),
        ("tree", {"k": 1}, ("unknown-family-option", {"options": "depth, min_leaf"})),
    ],
)
def test_options_are_checked_and_filled_in(name, options, wanted):
    if isinstance(wanted, dict):
        assert complete_options(name, options) == wanted
    else:
        with raises(wanted[0], InputError, **wanted[1]):
            complete_options(name, options)


def test_families_have_limits_of_settings_and_rows():
    assert {name: get_max_settings(name) for name in NAMES if get_max_settings(name)} == {
        "neighbours": 5000,
        "gaussian": 300,
        "kcca": 300,
    }
    assert warn_about_few_rows("boosting", 10_000) == () == warn_about_few_rows("forest", 10**6)
    assert has_message(
        warn_about_few_rows("boosting", 10_001), "sampled-rows", family="boosting", n=10_000, n_rows=10_001
    )


def test_neighbours_by_hand():
    """Levels 1, 2, 4, 8 lie at 0, 1/3, 2/3 and 1 by their logarithms; 2 was measured twice."""
    data = build_examples(build_table({"a": [1, 2, 2, 4, 8], "y": [10.0, 20.0, 30.0, 40.0, 80.0]}), "y", ["a"])
    form = neighbours.fit(data, {"k": 2}, 0)
    assert form["settings"] == [
        {"at": [1.0], "value": 10.0, "n": 1},
        {"at": [2.0], "value": 25.0, "n": 2},
        {"at": [4.0], "value": 40.0, "n": 1},
        {"at": [8.0], "value": 80.0, "n": 1},
    ]
    x = np.array([[2.0], [8**0.5], [2 * 2**0.25], [2**0.5], [9.0]])
    # The third is a quarter of the way from 2 to 4; beyond 8 it is as at 8.
    assert neighbours.predict(form, x) == pytest.approx([25, 32.5, (25 * 3 + 40) / 4, 17.5, 80])
    assert neighbours.predict({**form, "k": 1}, x)[1:3] == pytest.approx([32.5, 25]), "both are as near as the first"
    assert neighbours.predict({**form, "k": 9}, np.array([[8**0.5]])) == pytest.approx(
        [(25 + 40 + 10 / 3 + 80 / 3) / (8 / 3)]
    )
    assert neighbours.fit(data, {}, 0)["k"] == 5
    factors = [{"name": "a"}, {"name": "fs", "levels": ["x", "y"]}]
    settings = np.array([[1.0, 0], [4.0, 1], [2.0, 1]])
    assert neighbours.to_distance_coordinates(factors, settings, np.array([[2.0, 1], [3.0, 0]])).tolist() == [
        [0.5, 1],
        [0.75, 0],
    ]
    assert neighbours.to_distance_coordinates(factors, settings[:1], settings).tolist() == [[0, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("low", "high", "code", "way"),
    [
        (0.1, 0.2, "significant", "more"),
        (-0.2, -0.1, "significant", "less"),
        (-0.1, 0.2, "inconclusive", None),
        (0.0, 0.2, "inconclusive", None),
        (-0.1, 0.0, "inconclusive", None),
    ],
)
def test_a_direction_needs_an_interval_without_0(low, high, code, way):
    made = linear.describe_coefficient_sign("n", low, high, "rate")
    assert_problem(made, code, **({"term": "n", "response": "rate"} | ({"way": way} if way else {})))


def test_a_linear_form_has_products_and_the_interval_of_its_level():
    from scipy.special import stdtrit

    data = build_examples(
        build_table({"n": [1, 2, 3, 4, 5], "fs": list("ababa"), "y": [1.0, 5, 3, 8, 5.5]}), "y", ["n", "fs"]
    )
    form = linear.fit(data, {"level": 0.8}, 0)
    assert form["factors"] == [{"name": "n"}, {"name": "fs", "levels": ["a", "b"]}]
    assert [term["product"] for term in form["terms"]] == [[{"factor": "n"}], [{"factor": "fs", "is": "b"}]]
    x = np.column_stack([np.ones(5), data.x])
    beta, inverse = np.linalg.lstsq(x, data.y, rcond=None)[0], np.linalg.inv(x.T @ x)
    half = stdtrit(2, 0.9) * np.sqrt(np.diag(inverse) * ((data.y - x @ beta) ** 2).sum() / 2)
    for entry, value, wide in zip((form["intercept"], *form["terms"]), beta, half, strict=True):
        assert (entry["estimate"], entry["low"], entry["high"]) == pytest.approx((value, value - wide, value + wide))
    assert form["level"] == 0.8 and linear.fit(data, {}, 0)["level"] == 0.95
    crossed = linear.fit(data.take(np.array([0, 1, 2, 3])), {"terms": "C(fs), log2(n)"}, 0)
    assert [term["product"] for term in crossed["terms"]] == [
        [{"factor": "fs", "is": "b"}],
        [{"factor": "n", "transform": "log2"}],
    ]


def test_a_logarithm_needs_a_response_above_0():
    data = build_examples(build_table({"a": [1, 2, 3], "y": [0.0, 1.0, 2.0]}), "y", ["a"])
    with raises("response-not-positive", DataError, response="y"):
        import_family("loglinear").fit(data, {}, 0)


@pytest.mark.parametrize(
    ("options", "code", "values"),
    [
        ({"ends": "1,x"}, "not-a-number", {"ends": "1,x"}),
        ({"ends": "2,1"}, "class-ends-not-rising", {"maximum": 8.0}),
        ({"ends": "0,1"}, "class-ends-not-rising", {}),
        ({"ends": "1,8"}, "class-ends-not-rising", {}),
        ({"ends": "1,9"}, "class-ends-not-rising", {}),
        ({"ends": "1,9", "maximum": 10.0}, None, [1, 9, 10]),
        ({"ends": "1", "names": "low"}, "class-count-mismatch", {"names": 1, "classes": 2}),
        ({"ends": "1", "names": "low,high"}, None, [1, 8]),
    ],
)
def test_ends_of_classes_rise_to_the_maximum(options, code, values):
    data = build_examples(build_table({"a": [1, 2, 3], "y": [0.5, 2.0, 8.0]}), "y", ["a"])
    if code is None:
        form = import_family("classes").fit(data, options, 0)
        assert form["bounds"] == values
        names = {leaf["class"]: leaf.get("name") for leaf in form["nodes"] if "class" in leaf}
        assert names == ({1: "low", 2: "high"} if "names" in options else dict.fromkeys((1, 2)))
    else:
        with raises(code, InputError, **values):
            import_family("classes").fit(data, options, 0)


TREE = [
    {"factor": "n", "at_most": 4, "yes": 1, "no": 2, "n": 10},
    {"value": 1.0, "n": 3},
    {"factor": "fs", "is": "nfs", "yes": 3, "no": 4, "n": 7},
    {"value": 2.0, "n": 4},
    {"factor": "n", "at_most": 16.5, "yes": 5, "no": 6, "n": 3},
    {"value": 3.0, "n": 2},
    {"value": 4.0, "n": 1},
]
TWO = [{"name": "n"}, {"name": "fs", "levels": ["ceph", "nfs"]}]
THREE = [{"name": "n"}, {"name": "fs", "levels": ["ceph", "nfs", "ext4"]}]


def test_a_tree_by_hand():
    x = np.array([[4.0, 0], [4.1, 1], [16.5, 0], [17.0, 0], [2.0, 1]])
    assert nodes.find_leaves(TREE, TWO, x).tolist() == [1, 3, 5, 6, 1]
    assert nodes.predict_by_leaf(TREE, TWO, x).tolist() == [1, 2, 3, 4, 1]
    assert (nodes.compute_tree_depth(TREE), nodes.compute_tree_depth(TREE[1:2])) == (3, 0)
    assert [rule.conditions for rule in nodes.iter_leaf_rules(TREE, TWO)] == [
        ("n <= 4",),
        ("n > 4", "fs = nfs"),
        ("4 < n <= 16.5", "fs = ceph"),
        ("n > 16.5", "fs = ceph"),
    ]
    assert [rule.leaf["value"] for rule in nodes.iter_leaf_rules(TREE)] == [1, 2, 3, 4]
    conditions = [rule.conditions for rule in nodes.iter_leaf_rules(TREE, THREE)]
    assert conditions[1] == ("n > 4", "fs = nfs") and conditions[3][1] != "fs = ceph"
    assert nodes.rank_columns(np.array([[5.0, 1], [2.0, 1], [5.0, 9]])).ranks.tolist() == [[1, 0], [0, 0], [1, 1]]


@pytest.mark.parametrize(("yes", "no"), [(0, 1), (1, 0), (2, 1), (1, 2)])
def test_children_are_later_nodes_of_the_list(yes, no):
    bad = [{"factor": "n", "at_most": 1, "yes": yes, "no": no, "n": 2}, {"value": 1, "n": 2}]
    with pytest.raises(ValueError, match="node 0"):
        nodes.find_leaves(bad, TWO, np.zeros((1, 2)))


@pytest.mark.parametrize(
    ("n", "options", "wanted"), [(1999, {}, (None, 1)), (2000, {}, (None, 2)), (9, {"depth": 3, "min_leaf": 4}, (3, 4))]
)
def test_a_leaf_has_a_thousandth_of_the_rows(n, options, wanted):
    assert tuple(tree.to_sklearn_options(options, n).values()) == wanted


def test_the_best_cut_of_a_row_of_levels():
    """Sums 0, 0, 12, 12 and one more: cut before the third, unless a part would be too small."""
    levels = one_column.Levels(
        *(np.array(of, float) for of in ([1, 1, 2, 1], [0, 0, 24, 12], [0, 0, 12, 12], [0, 0, 12, 12]))
    )
    assert [levels.cut(0, 4, least) for least in (1, 2, 3)] == [2, 2, None]
    assert (levels.cut(0, 2, 1), levels.cut(2, 4, 1), levels.cut(1, 3, 1)) == (None, None, 2)
    assert one_column.is_simple(np.zeros((3, 1), np.float32)) and not one_column.is_simple(np.zeros((3, 2), np.float32))
    assert [one_column.is_simple(np.full((1, 1), most, np.float32)) for most in (99, 100)] == [True, False]


def test_kernels_by_hand():
    a, b = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 2.0]])
    assert kcca.compute_gaussian_kernel(a, b, 2.0) == pytest.approx(np.exp([[-2.0], [-2.5]]))
    k = np.array([[4.0, 1.0], [1.0, 2.0]])
    c = np.eye(2) - 0.5
    assert kcca.centre_kernel(k) == pytest.approx(c @ k @ c)


def test_a_gaussian_process_is_evaluated_from_its_form():
    """One point of weight 2 at level 1 of 1, 3: 10 + 3·4·2·exp(-d²/2), d = 0.5 ÷ 0.25 half way."""
    form = {
        "log": False,
        "mean": 10.0,
        "sd": 3.0,
        "amplitude": 4.0,
        "noise": 0.1,
        "scales": [0.25],
        "factors": [{"name": "a"}],
        "points": [{"at": [1.0], "weight": 2.0}, {"at": [3.0], "weight": 0.0}],
    }
    x = np.array([[1.0], [2.0]])
    assert gaussian.predict(form, x) == pytest.approx([34.0, 10 + 24 * np.exp(-2)])
    assert gaussian.predict({**form, "log": True, "sd": 0.1}, x) == pytest.approx(np.exp([10.8, 10 + 0.8 * np.exp(-2)]))


@pytest.mark.parametrize(("spread", "log"), [(0.1, True), (0.0, False)])
def test_a_gaussian_process_takes_logarithms_where_they_predict_better(spread, log):
    """Noise in proportion, or a line with noise of one size."""
    a, rng = np.arange(1, 13), np.random.default_rng(4)
    y = np.exp(a + rng.normal(0, spread, 12)) if log else 10 + 5.0 * a + rng.normal(0, 1, 12)
    form = gaussian.fit(build_examples(build_table({"a": a, "y": y}), "y", ["a"]), {}, 0)
    values = np.log(y) if log else y
    assert (form["log"], form["mean"], form["sd"]) == (log, pytest.approx(values.mean()), pytest.approx(values.std()))
    below = build_examples(build_table({"a": a, "y": y - y.min()}), "y", ["a"])
    assert gaussian.fit(below, {}, 0)["log"] is False


def test_forms_of_many_trees_are_sums_and_means():
    leaf, other = [{"value": 2.0, "n": 1}], [{"value": 4.0, "n": 1}]
    x = np.zeros((2, 1))
    form = {"factors": [{"name": "a"}], "trees": [leaf, other], "start": 10.0, "rate": 0.5}
    assert import_family("forest").predict(form, x).tolist() == [3, 3] and import_family("boosting").predict(
        form, x
    ).tolist() == [
        13,
        13,
    ]


@pytest.mark.parametrize(
    ("options", "system", "columns"),
    [
        ({"disks": "8", "disk": "20MB/s"}, {"disks": 8.0, "disk": 20e6}, []),
        (
            {"stripe_count": "2", "servers": "3", "network": "1MB/s"},
            {"stripe_count": 2, "servers": 3.0, "network": 1e6},
            [],
        ),
        ({"latency": "2ms", "request_size": "4KiB"}, {"latency": 0.002, "request_size": 4096}, []),
        ({"cpu": "1ns/B", "operation": "read"}, {"cpu": 1e-9, "operation": "read"}, []),
        ({"cpu": "1ns/B", "clients": "nodes"}, {"cpu": 1e-9}, [{"field": "clients", "factor": "nodes", "scale": 1.0}]),
    ],
)
def test_options_of_a_bound_are_read_with_their_units(options, system, columns):
    form = import_family("bound").fit(cluster(), {**options, "unit": "MB/s"}, 0)
    assert (form["bytes_per_s"], form["columns"]) == (1e6, columns) and form["system"] == pytest.approx(system)
    assert isinstance(form["system"].get("stripe_count", 1), int)


@pytest.mark.parametrize(
    ("name", "options", "library"),
    [
        (
            "boosting",
            {"trees": 4, "depth": 2, "rate": 0.5, "min_leaf": 5},
            {"n_estimators": 4, "max_depth": 2, "learning_rate": 0.5, "min_samples_leaf": 5},
        ),
        ("boosting", {"trees": 3, "depth": 0, "min_leaf": 0}, {"n_estimators": 3, "max_depth": None}),
        (
            "forest",
            {"trees": 4, "depth": 2, "min_leaf": 3},
            {"n_estimators": 4, "max_depth": 2, "min_samples_leaf": 3, "max_features": 2},
        ),
    ],
)
def test_options_of_many_trees_are_those_of_scikit_learn(name, options, library):
    from sklearn import ensemble

    data = sample()
    kind = {"boosting": ensemble.GradientBoostingRegressor, "forest": ensemble.RandomForestRegressor}[name]
    theirs = kind(**library, random_state=5).fit(_ranks(data), data.y).predict(_ranks(data))
    form = import_family(name).fit(data, options, 5)
    assert len(form["trees"]) == options["trees"]
    assert import_family(name).predict(form, data.x) == pytest.approx(theirs, rel=1e-9)


def test_a_forest_of_two_columns_tries_both_at_each_branch():
    from sklearn.ensemble import RandomForestRegressor

    a, b = np.arange(30.0) % 6, np.arange(30.0) // 6
    data = build_examples(build_table({"a": a, "b": b, "y": a + 3 * b}), "y", ["a", "b"])
    theirs = RandomForestRegressor(3, max_features=2, random_state=1).fit(data.x, data.y).predict(data.x)
    form = import_family("forest").fit(data, {"trees": 3}, 1)
    assert import_family("forest").predict(form, data.x) == pytest.approx(theirs)


def test_projections_are_as_long_as_they_correlate():
    u = np.random.default_rng(2).uniform(0, 1, (12, 2))
    kernels = [kcca.centre_kernel(kcca.compute_gaussian_kernel(x, x, 0.3)) for x in (u, u[:, :1])]
    correlations, weights = kcca.compute_projections(*kernels, 0.5, 3)
    assert (correlations.shape, weights.shape) == ((3,), (12, 3)) and (np.diff(correlations) < 0).all()
    assert np.linalg.norm(kernels[0] @ weights, axis=0) == pytest.approx(correlations)


@pytest.mark.parametrize(
    ("values", "width"), [([0, 1, 3], 4.0), ([0, 0, 1], 1.0), ([0, 0, 2, 5], 9.0), ([2, 2, 2], 1.0)]
)
def test_the_width_of_a_kernel_is_the_median_of_the_distances_above_0(values, width):
    """Squares of 1, 2 and 3; of 2, 2, 3, 5 and 5."""
    assert kcca._estimate_width(np.array(values, float)[:, None]) == width


def test_kcca_is_the_mean_of_the_nearest_settings():
    data = build_examples(build_table({"a": [1, 2, 2, 4, 8], "y": [10.0, 20.0, 30.0, 40.0, 80.0]}), "y", ["a"])
    form = kcca.fit(data, {"dimensions": 2}, 0)
    assert [(point["at"], point["value"], len(point["weights"])) for point in form["points"]] == [
        ([1.0], 10.0, 2),
        ([2.0], 25.0, 2),
        ([4.0], 40.0, 2),
        ([8.0], 80.0, 2),
    ]
    # Levels lie at 0, 1/3, 2/3 and 1: the squares of their distances are 1/9 (three), 4/9 (two) and 1.
    assert (form["k"], form["width"], len(form["correlations"])) == (3, pytest.approx((1 / 9 + 4 / 9) / 2), 2)
    x = np.array([[1.0], [2.0], [4.0], [8.0]])
    assert kcca.predict({**form, "k": 1}, x) == pytest.approx([10, 25, 40, 80])
    assert kcca.predict({**form, "k": 4}, x) == pytest.approx([38.75] * 4)


def test_a_bound_reads_texts_and_counts_of_factors():
    rows = {"op": ["read", "write"] * 2, "n": [1, 1, 2, 2], "y": [20.0, 10.0, 40.0, 20.0]}
    data = build_examples(build_table(rows), "y", ["op", "n"])
    options = {"operation": "op", "stripe_count": "n", "files": "1", "servers": "2", "disks": "2", "unit": "MB/s"}
    form = import_family("bound").fit(data, {**options, "disk_read": "20MB/s", "disk_write": "10MB/s"}, 0)
    assert form["columns"] == [
        {"field": "operation", "factor": "op", "scale": 1.0},
        {"field": "stripe_count", "factor": "n", "scale": 1.0},
    ]
    # A file on one of two servers is served by one disk, on both by two.
    assert import_family("bound").predict(form, data.x) == pytest.approx(data.y)


def test_a_level_that_these_rows_lack_has_no_coefficient():
    rows = {"fs": list("abcab"), "n": [1, 2, 3, 4, 6], "y": [1.0, 5.0, 3.0, 8.0, 5.5]}
    data = build_examples(build_table(rows), "y", ["fs", "n"])
    products = [product for _, product, _ in linear.build_design_columns(data, "")]
    assert products == [[{"factor": "fs", "is": "b"}], [{"factor": "fs", "is": "c"}], [{"factor": "n"}]]
    part = linear.build_design_columns(data.take(np.array([0, 1, 3, 4])), "fs:n")
    assert [(product, values.tolist()) for _, product, values in part] == [
        ([{"factor": "fs", "is": "b"}, {"factor": "n"}], [0, 2, 0, 6])
    ]
