"""How rows are folded, which model is the best, and where curves of errors cross: by hand."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iosonde.answers.learned import Learning
from iosonde.commands.validate.answer import Validation, _build_folds, _describe_crossings
from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.model.fit.choose import MANY
from iosonde.model.fit.features import build_examples
from iosonde.model.fit.folds import Groups, group_inseparable_rows
from iosonde.model.fit.validate import Candidate, CurvePoint, Judged
from messages import codes


def judge(family: str, mae: float | None = 1.0) -> Judged:
    return Judged(Candidate(family), (), np.array([], np.intp), np.array([]), Estimate(mae, None, None, 0.95, 4), None)


def find_crossings(families: tuple[str, ...], *points: tuple[int, tuple[float | None, ...]]) -> list[list[str]]:
    """The models and numbers of each sentence."""
    sentences = _describe_crossings([judge(name) for name in families], [CurvePoint(*point) for point in points])
    return [re.findall(r"tree|knn|linear|mean|[\d.]+", sentence) for sentence in sentences]


def test_a_model_is_better_than_the_linear_one_from_a_number_of_rows_on():
    assert find_crossings(("linear", "tree"), (10, (2, 3)), (40, (2, 1))) == [
        ["linear", "40", "tree", "20"],
        ["tree", "67"],
    ]
    assert find_crossings(("tree", "linear"), (10, (1, 2)), (40, (1, 2))) == [["linear", "10", "tree"]]
    assert find_crossings(("linear", "mean"), (10, (3, 2)), (40, (3, 2))) == []
    assert find_crossings(("knn", "tree"), (10, (3, 2)), (40, (3, 2))) == []


@pytest.mark.parametrize(
    ("errors", "sentences"),
    [
        ((100, 96), []),
        ((100, 95.01), []),
        ((100, 94.9), [["tree", "5"]]),
        ((100, 94), [["tree", "6"]]),
        ((100, 110), []),
        ((0, 1), []),
        ((None, 50), []),
        ((100, None), []),
    ],
)
def test_more_rows_help_where_the_error_still_falls(errors, sentences):
    earlier, last = ((n, (error,)) for n, error in zip((20, 40), errors, strict=True))
    assert find_crossings(("tree",), (10, (900,)), earlier, last) == sentences
    assert find_crossings(("mean",), (10, (900,)), earlier, last) == []
    assert find_crossings(("tree",), last) == []


def validation(*judged: Judged) -> Validation:
    examples: Any = SimpleNamespace(unit="s", warnings=())
    groups: Any = None
    return Validation(examples, judged, groups, None, (), "", Learning(), 0.95)


def test_the_best_model_errs_least_and_is_compared_with_the_mean():
    def words(*judged: Judged) -> list[str]:
        return re.findall(r"tree|linear|mean|[\d.]*\d", validation(*judged).sentence)

    tree, linear, mean, refused = judge("tree", 2.0), judge("linear", 4.0), judge("mean", 8.0), judge("tree", None)
    assert validation(linear, tree, mean, refused).best is tree and validation(refused).best is None
    assert validation(judge("linear", 0.0), tree).best.candidate.family == "linear"
    assert words(linear, tree, mean, refused) == ["tree", "2.00", "mean", "8.00"]
    assert words(linear, refused) == ["linear", "4.00"]
    assert words(linear, judge("mean", 1.0)) == ["mean", "1.00", "mean"]
    assert words(refused) == []
    assert [row["family"] for row in validation(linear, refused).records()] == ["linear", "tree"]
    assert all({"folds", "options"}.isdisjoint(row) for row in validation(linear, refused).records())


def fold(
    n: int = 12,
    n_folds: int | None = None,
    inverse: bool = False,
    share: float | None = None,
    leave_out: str | None = None,
) -> tuple[list[tuple[int, int]], str, dict]:
    """The numbers of training and test rows of each fold, and the description."""
    levels = [i % 3 for i in range(n)]
    table = build_table({"a (KiB)": levels, "b": list(range(n)), "y": [float(i) for i in range(n)]})
    examples = build_examples(table, "y", ["a (KiB)", "b"])
    groups = Groups(np.arange(n), n) if n > MANY else group_inseparable_rows(examples)
    folds, description = _build_folds(examples, groups, Learning(n_folds=n_folds), inverse, share, leave_out)
    return [(len(each.train), len(each.test)) for each in folds], description.code, dict(description.values)


def test_rows_are_folded_one_way():
    assert fold(n_folds=3) == ([(8, 4)] * 3, "cross-validation", {"n_folds": 3})
    assert fold(20) == ([(18, 2)] * 10, "cross-validation", {"n_folds": 10})
    assert fold(inverse=True, n_folds=3) == ([(4, 8)] * 3, "inverse-folds", {"n_folds": 3})
    assert fold(share=0.5) == ([(6, 6)], "random-split", {"percent": 50})
    assert fold(leave_out="a") == ([(8, 4)] * 3, "leave-level-out", {"n_folds": 3, "factor": "a"})


@pytest.mark.parametrize(("n_folds", "code"), [(3, "crossed-folds"), (4, "cross-validation")])
def test_folds_across_bring_ups_that_are_not_as_many_as_requested(n_folds, code):
    bring_up = np.repeat(np.arange(12), 3)
    columns = {"net": bring_up // 6, "size": np.tile(np.arange(3), 12), "bring_up": bring_up, "y": 1.0 + bring_up}
    data = build_examples(build_table(columns), "y", ["net", "size"])
    groups = group_inseparable_rows(data)
    made, how = _build_folds(data, groups, Learning(n_folds=n_folds), False, None, None)
    assert (len(made), codes([how])) == (4, [code])
