"""Whatever a small table holds, fit and predict end in an answer that is JSON, or in one sentence."""

import contextlib
import json
import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.core.errors import IosondeError
from iosonde.core.table import build_table
from iosonde.model.fit import document
from iosonde.model.fit.choose import choose_model
from iosonde.model.fit.describe import describe_predictions
from iosonde.model.fit.features import build_examples
from iosonde.model.fit.fitted import compute_negative_share, predict_settings
from iosonde.model.fit.folds import group_inseparable_rows
from iosonde.model.fit.validate import Candidate

FAMILIES = ["mean", "linear", "loglinear", "tree", "classes", "neighbours", "gaussian", "kcca"]
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.floats(-1e6, 1e6, allow_nan=False),
    st.sampled_from([0.0, 1e-130, 1e-30, 1e30, 1e139, -1e139, 1e-300, float("inf")]),
    st.none(),
)
TEXTS = st.sampled_from(["a", "b", "a:b", "C(a)", "\x1b[31m", "größe", "1", "", None])
NAMES = st.sampled_from(["a", "log2", "C(a)", "I", "a b", "a:b", "size (KiB)", "1", "\x1b[31m", "y "])


@st.composite
def tables(draw):
    n = draw(st.integers(1, 14))
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    columns = {
        name: draw(st.lists(draw(st.sampled_from([NUMBERS, TEXTS, st.integers(0, 2)])), min_size=n, max_size=n))
        for name in names
    }
    columns["y"] = draw(
        st.lists(draw(st.sampled_from([NUMBERS, st.integers(0, 3), st.floats(1, 2)])), min_size=n, max_size=n)
    )
    return columns, names


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.lists(st.sampled_from(FAMILIES), min_size=1, max_size=2, unique=True), st.integers(0, 9))
def test_every_table_ends_in_an_answer_or_a_sentence(made, families, seed):
    columns, names = made
    with warnings.catch_warnings(), contextlib.suppress(IosondeError):
        warnings.simplefilter("error", RuntimeWarning)
        data = build_examples(build_table(columns), "y", names)
        found = choose_model(
            data, [Candidate(name) for name in families], group_inseparable_rows(data), None, 0.9, seed
        )
        json.dumps(found.to_json(), allow_nan=False)
        model = document.from_text(document.to_text(found.model).encode(), "m.json")
        assert 0 <= compute_negative_share(model) <= 1
        shares = describe_predictions(model).shares.values()
        assert all(0 <= share <= 1 + 1e-9 for share in shares)
        at = {feature.name: feature.levels[seed % len(feature.levels)] for feature in model.features}
        for said in predict_settings(model, [at], 0.9):
            if isinstance(said, IosondeError):
                assert said.message and said.hint
                continue
            json.dumps(said.to_json(), allow_nan=False)
            assert np.isfinite(said.value.value)
            assert said.value.low is None or said.value.low <= said.value.high
