"""A model file is read as it was written, or refused in one sentence; nothing in it is executed."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import DataError, IosondeError, SchemaTooNewError
from iosonde.core.table import build_table
from iosonde.model.families import NAMES, complete_options
from iosonde.model.fit import document
from iosonde.model.fit.choose import choose_model
from iosonde.model.fit.features import build_examples
from iosonde.model.fit.fitted import train_model
from iosonde.model.fit.folds import group_inseparable_rows
from iosonde.model.fit.validate import Candidate
from messages import raises


def data():
    a, b = np.arange(32) % 8, np.arange(32) // 8
    y = 10.0 + 3 * a + b + np.random.default_rng(1).normal(0, 0.1, 32)
    return build_examples(
        build_table({"a": a, "fs": [f"fs{i}" for i in b], "rate (MB/s)": y}), "rate (MB/s)", ["a", "fs"]
    )


def model():
    d = data()
    return choose_model(d, [Candidate("tree", {"depth": 3})], group_inseparable_rows(d), 4, 0.95, 0).model


def changed(**keys) -> bytes:
    content = json.loads(document.to_text(model())) | keys
    content["sha256"] = document._compute_hash({k: v for k, v in content.items() if k != "sha256"})
    return json.dumps(content).encode()


@pytest.mark.parametrize("name", NAMES)
def test_every_family_is_read_as_it_was_written(name):
    d = data()
    bound = {"disks": "8", "disk": "20MB/s", "unit": "MB/s"} if name.startswith("bound") else {}
    made = train_model(d, name, complete_options(name, bound), 3)
    text = document.to_text(made)
    again = document.from_text(text.encode(), "m.json")
    assert again == made and document.to_text(again) == text
    assert np.array_equal(again.values(d.x), made.values(d.x))


def test_a_person_can_read_it_and_the_calibration_comes_along():
    made = model()
    text = document.to_text(made)
    assert document.from_text(text.encode(), "m.json").calibration == made.calibration
    first = text.splitlines()[:3]
    assert first == ["{", '  "iosonde_model": 1,', '  "family": "tree",']
    assert '      {"factor": "a", "at_most": 3.5, "yes": 1, "no": 8, "n": 32},' in text.splitlines()


def test_a_file_without_repeats_is_read():
    content = json.loads(document.to_text(model()))
    del content["repeats"], content["sha256"]
    content["sha256"] = document._compute_hash(content)
    assert document.from_text(json.dumps(content).encode(), "m.json").repeats == ()


def test_repeats_come_along():
    a = np.repeat([1.0, 2.0, 4.0], 3)
    d = build_examples(build_table({"a": a, "y": a + np.resize([0.1, 0.2, 0.4], 9)}), "y", ["a"])
    made = train_model(d, "mean", {}, 0)
    again = document.from_text(document.to_text(made).encode(), "m.json")
    assert again == made and [one.at for one in again.repeats] == [(1.0,), (2.0,), (4.0,)]


def test_an_edit_by_hand_is_seen():
    text = document.to_text(model()).replace('"at_most": 3.5', '"at_most": 4.5', 1)
    with raises("hash-mismatch", DataError):
        document.from_text(text.encode(), "m.json")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_part_of_a_file_is_no_model(share):
    text = document.to_text(model()).encode()
    with raises("invalid-json", DataError, source="m.json"):
        document.from_text(text[: int(share * len(text))], "m.json")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"[" * 200_000, "nested-too-deep"),
        (b'{"a":' * 200_000, "nested-too-deep"),
        (b"[1]", "not-a-json-object"),
        (b"{}", "not-a-model"),
        (b"\xff\xfe", "invalid-json"),
        (b'{"iosonde_model": 1, "x": NaN}', "invalid-json"),
        (b'{"iosonde_model": 1, "x": 1e999, "sha256": ""}', "hash-mismatch"),
        (b'{"iosonde_model": 0}', "unsupported-version"),
        (b'{"iosonde_model": 1}', "hash-mismatch"),
    ],
)
def test_what_is_no_model_is_one_sentence_with_a_cure(text, code):
    with raises(code, DataError, source="m.json") as refused:
        document.from_text(text, "m.json")
    assert refused.value.hint and "\n" not in refused.value.message


def test_a_newer_version_is_refused():
    with raises("unsupported-version", SchemaTooNewError, version=2):
        document.from_text(changed(iosonde_model=2), "m.json")


@pytest.mark.parametrize(
    "keys",
    [
        {"family": "svm"},
        {"family": "os"},
        {"form": {}},
        {"form": {"factors": [], "nodes": []}},
        {"form": {"factors": [{"name": "a"}], "nodes": [{"factor": "a", "at_most": 1, "yes": 0, "no": 0}]}},
        {"form": {"factors": [{"name": "a"}], "nodes": "x"}},
        {"form": {"factors": [{"name": "a"}], "nodes": [{"factor": "a", "at_most": 1, "yes": 10**17, "no": 10**17}]}},
        {"form": {"factors": [{"name": "a"}], "nodes": [{"value": 10**400}]}},
        {"family": "forest", "form": {"factors": [{"name": "a"}], "trees": []}},
        {"family": "bound", "form": {"factors": [], "columns": [], "system": {"disk": 1}, "bytes_per_s": 0}},
        {"seed": 10**400},
        {"factors": []},
        {"factors": [{"name": "a", "unit": "", "numeric": True, "levels": ["x", "y"]}]},
        {"interval": {"kind": "ratio", "groups": 3, "floor": True, "scores": [1]}},
        {"seed": "1"},
        {"more": 1},
    ],
)
def test_a_file_with_the_right_hash_and_the_wrong_content_is_refused(keys):
    with pytest.raises(IosondeError) as refused:
        document.from_text(changed(**keys), "m.json")
    assert refused.value.hint


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_damage_is_a_traceback(drawn):
    text = bytearray(document.to_text(small_tree()).encode())
    at = drawn.draw(st.integers(0, len(text) - 1))
    text[at] = drawn.draw(st.integers(0, 255))
    with contextlib.suppress(DataError):
        assert document.from_text(bytes(text), "m.json") == small_tree()


@cache
def small_tree():
    return train_model(data(), "tree", {"depth": 2, "min_leaf": 1}, 0)


@pytest.mark.parametrize(("digits", "code"), [(18, "hash-mismatch"), (19, "invalid-json")])
def test_integers_have_18_digits_at_most(digits, code):
    with raises(code, DataError):
        document.from_text(b'{"iosonde_model": 1, "x": ' + b"9" * digits + b"}", "m.json")


def test_a_model_has_a_largest_size(monkeypatch):
    text = document.to_text(small_tree()).encode()
    monkeypatch.setattr(document, "MOST_BYTES", len(text))
    assert document.to_text(small_tree()).encode() == text and document.from_text(text, "m.json") == small_tree()
    monkeypatch.setattr(document, "MOST_BYTES", len(text) - 1)
    with raises("model-too-large", family="tree depth=2 min_leaf=1"):
        document.to_text(small_tree())
    with raises("file-too-large", DataError, source="m.json"):
        document.from_text(text, "m.json")


def test_the_file_holds_every_part_of_a_model():
    made = replace(small_tree(), constraints=("a < 4",), warnings=("few rows",), errors={"mae": 1.5})
    content = json.loads(document.to_text(made))
    assert len(content.pop("sha256")) == 64
    form, repeats = content.pop("form"), content.pop("repeats")
    assert (form, len(repeats)) == (made.form, len(made.repeats))
    expected = {
        "iosonde_model": 1,
        "family": "tree",
        "options": {"depth": 2, "min_leaf": 1},
        "seed": 0,
        "response": {"name": made.response, "unit": made.unit, "low": made.low, "high": made.high},
        "factors": [feature.to_json() for feature in made.features],
        "constraints": ["a < 4"],
        "data": {"rows": made.rows, "settings": made.settings},
        "errors": {"mae": 1.5},
        "warnings": ["few rows"],
        "interval": None,
    }
    assert content == expected
    assert document.from_text(document.to_text(made).encode(), "m.json") == made


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"factors": []}, "factors"),
        ({"seed": "1"}, "seed"),
        ({"more": 1}, "the file"),
        ({"response": {"name": 1, "unit": "", "low": 0, "high": 1}}, "response.name"),
        ({"factors": [{"name": "a", "unit": "", "numeric": 3, "levels": [1, 2]}]}, "factors.0.numeric"),
    ],
)
def test_damage_is_named_by_its_key(keys, key):
    with raises("damaged-file", DataError, source="m.json", key=key):
        document.from_text(changed(**keys), "m.json")


@pytest.mark.parametrize("form", [{}, {"factors": [{"name": "a"}, {"name": "fs"}], "nodes": []}])
def test_a_form_that_its_family_cannot_read_is_no_model_of_it(form):
    with raises("damaged-file", DataError, source="m.json", family="tree"):
        document.from_text(changed(form=form), "m.json")


def test_the_limit_of_a_file_is_named_in_mib(monkeypatch):
    monkeypatch.setattr(document, "MOST_BYTES", 2 << 20)
    with raises("file-too-large", DataError, limit_mib=2):
        document.from_text(b" " * ((2 << 20) + 1), "m.json")
