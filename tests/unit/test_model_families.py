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
from iosonde.model.families import NAMES, complete_options, import_family, linear, nodes
from iosonde.model.fit.features import build_examples
from messages import assert_problem, raises

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
