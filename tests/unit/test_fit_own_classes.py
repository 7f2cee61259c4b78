"""Classes of one's own are what a class tree is judged in, and whatever stands beside it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from iosonde.answers.learned import Learning
from iosonde.commands.fit import text as fit_text
from iosonde.commands.fit.answer import fit
from iosonde.commands.validate.answer import validate
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.model.fit.unseen import find_unseen_classes

OWN = "classes ends=25,75 names=slow,avg,fast depth=3"
ASKED = ResponseQuery(("speed",), ("level", "size"))
LEVELS = {"a": 10.0, "b": 50.0, "c": 90.0}


@pytest.fixture
def source(tmp_path):
    """Speeds that are in the class of their level, though never in its middle."""
    rng = np.random.default_rng(2)
    rows = [
        f"{level},{size},{value + rng.uniform(-8, 8):.3f}"
        for level, value in LEVELS.items()
        for size in range(8)
        for _ in range(3)
    ]
    (tmp_path / "r.csv").write_text("\n".join(["level,size,speed", *rows]))
    return open_data(tmp_path / "r.csv")


def learning(*families: str) -> Learning:
    return Learning(families=families, seed=1)


def test_the_error_is_of_the_classes_that_were_given(source):
    answer = fit(source, ASKED, learning(OWN))
    made = answer.choice
    judged = made.tried[made.chosen]
    assert judged.classes.right.value == 1.0 and judged.classes.apart.value == 0.0
    assert judged.errors.class_error == 0.0 and judged.classes.own == 3
    assert made.baseline.classes.own == 3 and made.baseline.errors.class_error <= 1.0
    assert find_unseen_classes(answer.examples, judged).n_classes == 3


def test_other_models_beside_it_are_judged_in_the_same_classes(source):
    models = {one.candidate.family: one.classes for one in validate(source, ASKED, learning(OWN, "mean")).judged}
    assert [one.own for one in models.values()] == [3, 3]
    assert models["mean"].right.value == pytest.approx(1 / 3, abs=0.01), "the mean is in the middle class"
    usual = validate(source, ASKED, learning("tree", "mean")).judged
    assert [one.classes.own for one in usual] == [None, None]


def test_the_text_says_of_how_many_and_the_model_has_a_name(source):
    answer = fit(source, ASKED, learning(OWN))
    said = " ".join(" ".join(fit_text.lines(answer)).split())
    assert re.search(r"\b3\b", said) and OWN.split()[2].removeprefix("names=") in said and "…" not in answer.sentence
