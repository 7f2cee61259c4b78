"""The tree of one column is scikit-learn's, and needs no scikit-learn."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from iosonde.core.table import build_table
from iosonde.model.families import one_column, tree
from iosonde.model.fit.features import build_examples

ALONE = """
import sys, numpy as np
from iosonde.core.table import build_table
from iosonde.model.families import tree
from iosonde.model.fit.features import examples
tree.fit(examples(build_table({"nodes": [1, 2, 4] * 6, "y": np.arange(18.0).tolist()}), "y", ["nodes"]), {}, 1)
print(*{"sklearn", "pandas", "scipy"} & set(sys.modules))
"""


def ranks_and_values(rng, n, n_levels):
    """Ranks of levels that all occur, and values that no two parts share."""
    column = np.unique(rng.integers(0, n_levels, n), return_inverse=True)[1]
    return column[:, None].astype(np.float32), np.log1p(column) * 1e9 + rng.normal(size=n) * 1e8


@pytest.mark.parametrize("depth", [None, 1, 3])
@pytest.mark.parametrize("min_leaf", [1, 2, 5])
def test_it_is_scikit_learns_node_by_node(depth, min_leaf):
    rng = np.random.default_rng(min_leaf)
    limits = {"max_depth": depth, "min_samples_leaf": min_leaf}
    for n, n_levels in ((1, 1), (2, 2), (5, 2), (18, 3), (40, 40), (300, 7), (500, 99)):
        ranks, y = ranks_and_values(rng, n, n_levels)
        ours, library = (
            one_column.grow_one_column_tree(ranks, y, limits),
            DecisionTreeRegressor(**limits, random_state=0).fit(ranks, y).tree_,
        )
        for name in ("children_left", "children_right", "n_node_samples"):
            assert getattr(ours, name).tolist() == getattr(library, name).tolist()
        branches = ours.feature >= 0
        assert ours.threshold[branches].tolist() == library.threshold[branches].tolist()
        assert ours.value == pytest.approx(library.value.ravel(), rel=1e-12)


def test_equal_values_are_one_leaf():
    grown = one_column.grow_one_column_tree(
        np.arange(6, dtype=np.float32)[:, None], np.full(6, 0.1), tree.to_sklearn_options({}, 6)
    )
    assert grown.node_count == 1


@pytest.mark.parametrize("columns", [["a"], ["a", "b"], ["many"]])
def test_the_family_predicts_what_scikit_learn_does(columns):
    rng = np.random.default_rng(3)
    rows = {"a": rng.integers(1, 9, 200) * 1.5, "b": rng.integers(0, 3, 200) * 1.0, "many": rng.uniform(0, 1, 200)}
    y = rows["a"] ** 2 + rows["b"] + rng.normal(size=200)
    data = build_examples(
        build_table({**{name: rows[name].tolist() for name in columns}, "y": y.tolist()}), "y", columns
    )
    library = DecisionTreeRegressor(min_samples_leaf=4, random_state=1).fit(data.x, data.y)
    form = tree.fit(data, {"min_leaf": 4}, 1)
    assert tree.predict(form, data.x) == pytest.approx(library.predict(data.x), rel=1e-12)


def test_a_tree_of_one_factor_does_not_load_scikit_learn():
    assert subprocess.run([sys.executable, "-c", ALONE], check=True, capture_output=True, text=True).stdout == "\n"
