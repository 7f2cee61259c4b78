"""What a stored model says of its factors is what its formula says."""

import numpy as np
import pytest

from iosonde.core.table import build_table
from iosonde.model.fit import fitted
from iosonde.model.fit.describe import describe_predictions
from iosonde.model.fit.features import build_examples
from iosonde.model.fit.fitted import train_model


def model(family="linear", terms="a,b,a:b", n=5):
    a, b = (axis.ravel().astype(float) for axis in np.meshgrid(np.arange(n) - 2, [-1, 1]))
    y = 100 + 3 * a + 4 * b + 2 * a * b + np.resize([1e-6, -1e-6, 0], a.size)
    return train_model(
        build_examples(build_table({"a": a, "b": b, "y": y}), "y", ["a", "b"]), family, {"terms": terms}, 0
    )


def test_shares_are_those_of_the_formula():
    """Var(a) = 2, Var(b) = 1: 9·2, 16·1 and 4·2 of 42."""
    made = describe_predictions(model())
    assert made.shares == pytest.approx({"a": 18 / 42, "b": 16 / 42}, rel=1e-4)
    assert made.together == pytest.approx(8 / 42, rel=1e-4)
    assert (made.designs, made.all_designs) == (10, True)


def test_designs_at_random_give_the_same_shares(monkeypatch):
    exact = describe_predictions(model(n=41))
    monkeypatch.setattr(fitted, "MOST_DESIGNS", 80)
    drawn = [describe_predictions(model(n=41)).shares["b"]]
    assert not describe_predictions(model(n=41)).all_designs
    assert np.mean(drawn) == pytest.approx(exact.shares["b"], abs=0.1)


def test_designs_that_cannot_be_do_not_count():
    made = describe_predictions(model(), lambda at: at["b"] > 0)
    assert made.shares == pytest.approx({"a": 1, "b": 0}, abs=1e-6) and made.together is None and made.designs == 5
    assert describe_predictions(model(), lambda at: False).shares == {}


def test_the_mean_of_everything_follows_no_factor():
    a = np.arange(6.0)
    assert (
        describe_predictions(
            train_model(build_examples(build_table({"a": a, "y": a}), "y", ["a"]), "mean", {}, 0)
        ).shares
        == {}
    )
