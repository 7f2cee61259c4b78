"""Rows that a model had not seen: their classes by hand, and only those at the levels that are held."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.model.fit.errors_of import compute_class_bounds, compute_class_errors
from iosonde.model.fit.features import Examples, build_examples
from iosonde.model.fit.unseen import find_unseen_classes, select_unseen_by_factor
from iosonde.model.fit.validate import Candidate, Judged
from messages import raises

SIZES, SYSTEMS = (1, 2, 4, 8), ("a", "b")


def rows() -> Examples:
    cells = [(size, fs, 100.0 * size / 8 - (1 if fs == "b" else 0)) for size in SIZES for fs in SYSTEMS]
    names = ("size", "fs", "y")
    return build_examples(
        build_table({name: [row[i] for row in cells] for i, name in enumerate(names)}), "y", names[:2]
    )


def judged(predicted: list[float]) -> Judged:
    """Of the rows in turn, from the last: as folds give them."""
    order, said, y = np.arange(len(predicted))[::-1], np.array(predicted)[::-1], rows().y
    classes = compute_class_errors(y[order], said, compute_class_bounds(y), order // 2, 0.95)
    return Judged(Candidate("tree"), (), order, said, Estimate(1.0, 0.5, 2.0, 0.95, 8), None, classes=classes)


def test_classes_are_sorted_by_the_observed_one_and_the_error_is_their_distance():
    data = rows()
    made = find_unseen_classes(data, judged([*data.y[:-1], data.y[0]]))
    assert list(made.observed) == sorted(made.observed) and made.n_classes == 41 == max(made.observed)
    off = [seen - guess for seen, guess in zip(made.observed, made.predicted, strict=True)]
    assert np.count_nonzero(off) == 1 and made.errors.apart.value == sum(off) / 8 > 0
    right = made.errors.right
    assert right.value == 7 / 8 and right.low < 7 / 8 < right.high < 1 and right.n == 4  # of settings, not rows


def test_what_is_below_zero_has_no_classes():
    data = build_examples(build_table({"a": [1, 2, 3], "y": [-1.0, 1, 2]}), "y", ["a"])
    assert find_unseen_classes(data, judged(list(range(8)))) is None


def test_only_rows_at_the_levels_held_are_drawn_with_what_else_varies():
    data = rows()
    made = select_unseen_by_factor(data, judged(list(range(8))), "size", {"fs": "b"})
    pairs = sorted(zip(made.levels, made.observed, made.predicted, strict=True))
    assert pairs == [(1, 11.5, 1), (2, 24, 3), (4, 49, 5), (8, 99, 7)]
    assert made.fixed_levels == ("fs=b",) and made.varied == ()
    every = select_unseen_by_factor(data, judged(list(range(8))), "fs", {})
    assert len(every.levels) == 8 and every.varied == ("size",) and set(every.levels) == {"a", "b"}


@pytest.mark.parametrize(
    ("factor", "held", "code", "name"),
    [
        ("sise", {}, "unknown-factor", "sise"),
        ("size", {"size": 1}, "conflicting-options", "size"),
        ("fs", {"size": 3}, "no-matching-rows", "size"),
        ("size", {"fs": "c"}, "unknown-level", "fs"),
        ("fs", {"size": "x"}, "not-a-number", "size"),
    ],
)
def test_what_cannot_be_held_is_refused(factor, held, code, name):
    with raises(code, InputError, factor=name):
        select_unseen_by_factor(rows(), judged([1.0] * 8), factor, held)


def test_levels_that_were_never_together_leave_no_row():
    data = build_examples(
        build_table({"a": [1, 1, 2], "b": [1, 2, 1], "c": [1, 2, 2], "y": [1.0, 2, 3]}), "y", list("abc")
    )
    with raises("no-matching-rows", DataError):
        select_unseen_by_factor(data, judged([1.0, 2, 3]), "c", {"a": 2, "b": 2})
