"""A user's file: what each violation is called, which line it has, and what sections, plug-ins and errors give back."""

from __future__ import annotations

import pickle

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from iosonde.core import plugins, yaml_text
from iosonde.core.errors import (
    DataError,
    InputError,
    IosondeWarning,
    LaunchError,
    SystemFaultError,
    error_from_json,
)
from iosonde.core.file_sections import Sections, parse_number
from iosonde.core.message import Message, mark_deferred_option, prepend_place, spell_deferred, spell_page, use_spelling
from iosonde.core.problems import SpecError
from iosonde.core.schema_problems import list_violations
from iosonde.core.units import parse_size
from messages import raises

SCHEMA = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "maxLength": 4, "minLength": 1},
        "n": {"type": ["integer", "boolean"], "minimum": 2, "maximum": 9},
        "share": {"type": "number", "exclusiveMinimum": 0},
        "size": {"type": "string", "format": "size"},
        "kind": {"enum": ["read", "write"]},
        "several": {"type": "array", "uniqueItems": True, "minItems": 1},
        "flag": {"type": "boolean"},
        "odd": {"pattern": "^a"},
    },
}
FORMATS = FormatChecker(())
FORMATS.checks("size", InputError)(lambda value: bool(parse_size(value) + 1))


def violations(text: str) -> list[tuple[object, str, str, dict]]:
    validator = Draft202012Validator(SCHEMA, format_checker=FORMATS)
    found = list_violations(validator, yaml_text.parse(text, "f.yaml"), "docs/x.md")
    return [
        (
            one.place,
            one.key,
            one.code,
            {name: value for name, value in one.values.items() if name not in ("place", "key")},
        )
        for one in found
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: a\n", []),
        ("n: 3\n", [(1, "", "missing-key", {"name": "name"})]),
        ("name: a\nnmae: b\n", [(2, "nmae", "unknown-key", {})]),
        ("name: a\nn: 1\n", [(2, "n", "out-of-range", {"value": 1, "limit": 2})]),
        ("name: a\nn: 10\n", [(2, "n", "out-of-range", {"value": 10, "limit": 9})]),
        ("name: a\nshare: 0\n", [(2, "share", "out-of-range", {"value": 0, "limit": 0})]),
        ("name: a\nsize: 4k\n", []),
        ("name: a\nsize: 4x\n", [(2, "size", "invalid-size", {"size": "4x"})]),
        (
            "name: a\nkind: raed\n",
            [(2, "kind", "unknown-value", {"value": "the text 'raed'", "allowed": "read, write"})],
        ),
        ("name: a\nseveral: []\n", [(2, "several", "empty-value", {})]),
        ("name: ''\n", [(1, "name", "empty-value", {})]),
        ("name: abcde\n", [(1, "name", "too-long", {"limit": 4})]),
        ("name: a\nseveral:\n - 1\n - 1\n", [(2, "several", "duplicate-value", {})]),
        ("name: 1\n", [(1, "name", "wrong-type", {"expected": "a text", "value": "the number 1"})]),
        (
            "name: a\nn: [1]\n",
            [(2, "n", "wrong-type", {"expected": "a whole number or true or false", "value": "a list"})],
        ),
    ],
)
def test_a_violation_has_its_line_its_key_and_its_values(text, expected):
    assert violations(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("name: 1.5\n", "'1.5'"),
        ("name: true\n", "'true'"),
        ("name: [1]\n", "docs/x.md"),
        ("name: a\nflag: yes\n", "true or false"),
        ("name: a\nflag: maybe\n", "docs/x.md"),
        ("name: a\nkind: raed\n", "read?"),
        ("name: a\nkind: zzz\n", "one of them"),
        ("name: a\nnmae: b\n", "name?"),
        ("n: 3\n", "docs/x.md"),
        ("name: a\nn: 1\n", "at least 2"),
        ("name: a\nn: 10\n", "at most 9"),
        ("name: a\nshare: 0\n", "more than 0"),
    ],
)
def test_a_violation_has_a_cure(text, hint):
    (problem,) = list_violations(
        Draft202012Validator(SCHEMA, format_checker=FORMATS), yaml_text.parse(text, "f"), "docs/x.md"
    )
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("Null", None),
        ("true", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("-12", -12),
        ("+0", 0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1.", 1.0),
        ("1e999", "1e999"),
        ("9" * 99, 10**99 - 1),
        ("9" * 100, "9" * 100),
        ("1-2", "1-2"),
    ],
)
def test_a_plain_word_of_a_file(text, value):
    parsed = yaml_text.parse_scalar(text, "--x")
    assert parsed == value and type(parsed) is type(value)


@pytest.mark.parametrize("text", ["0755", "1_000", "12:30", "0x1F", "-0o7", ".inf", "-.INF", ".nan", "1_0.5", "00"])
def test_a_number_that_readers_read_differently_is_refused(text):
    with raises("ambiguous-number", SpecError, number=text, place="--x"):
        yaml_text.parse_scalar(text, "--x")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (True, "true"),
        ({}, "keys with values"),
        ([], "a list"),
        ("x", "the text 'x'"),
        ("x" * 60, f"the text '{'x' * 60}'"),
        ("x" * 61, f"the text '{'x' * 57}…'"),
        (1.5, "the number 1.5"),
    ],
)
def test_a_value_in_words(value, text):
    assert yaml_text.describe_value(value) == text


def test_the_place_of_a_value_is_its_own_or_that_around_it():
    document = yaml_text.parse("a:\n  b:\n  - 1\n  - c: x\n", "f")
    assert document.data == {"a": {"b": [1, {"c": "x"}]}}
    places = [document.place(path) for path in ((), ("a",), ("a", "b", 0), ("a", "b", 1, "c"), ("a", "z"), ("z",))]
    assert places == [1, 1, 3, 4, 1, 1]
    assert yaml_text.Document({}).place(("a",)) is None
    assert yaml_text.format_key(("a", 1, "b", 0)) == "a[1].b[0]"
    assert yaml_text.parse(yaml_text.format_yaml(document.data, ["note"]), "f").data == document.data
    assert yaml_text.format_yaml({"b": 1, "a": "ü"}, ["x", "y"]) == "# x\n# y\nb: 1\na: ü\n"


def sections(text: str) -> Sections:
    return Sections(yaml_text.parse(text, "f"))


def mistakes(read: Sections) -> list[tuple[object, str, str]]:
    return [(problem.place, problem.key, problem.code) for problem in read.problems]


def test_numbers_of_a_section_are_read_and_all_mistakes_are_kept():
    read = sections("s:\n  a: 1.5\n  b: 0\n  c: x\n  d: 9\n  f: 2e3\n")
    assert read.numbers(("s",), ("a", "b", "c", "e", "f"), all_of_them=True) == {"a": 1.5, "f": 2000.0}
    assert mistakes(read) == [
        (5, "s.d", "unknown-key"),
        (1, "s", "missing-key"),
        (3, "s.b", "out-of-range"),
        (4, "s.c", "not-a-number"),
    ]
    assert read.problems[1].values["names"] == "e"


def test_zero_and_what_is_missing_may_be_allowed():
    read = sections("s:\n  a: 0\n  b: -1\n")
    assert read.numbers(("s",), ("a", "b", "c"), zero=True) == {"a": 0.0, "b": -1.0}
    assert read.numbers(("t", "u"), ("a",)) == {} and read.problems == []
    assert read.numbers(("s", "a"), ("a",)) == {} and mistakes(read) == [(2, "s.a", "not-a-mapping")]
    infinite = sections("a: infinity\n")
    assert infinite.scalar(("a",), parse_number) is None and mistakes(infinite) == [(1, "a", "not-finite")]


def test_levels_are_numbers_and_texts():
    read = sections("s:\n  a: 1\n  b: x\n  c: true\n  d: [1]\n  e:\n")
    read.levels(("s",))
    assert mistakes(read) == [(4, "s.c", "invalid-level"), (5, "s.d", "invalid-level"), (6, "s.e", "invalid-level")]
    good = sections("s: {a: 1, b: x, 3: 2.5}\n")
    assert good.levels(("s",)) == {"a": 1, "b": "x", "3": 2.5} and good.problems == []


def test_entry_points_of_plug_ins_are_read(tmp_path, monkeypatch):
    for name, text in {
        "b.dist-info": "[iosonde.importers]\nx = b.x : read [all]\n# y = no\n[other]\nz = no\n",
        "a.egg-info": "[ iosonde.importers ]\ny=a\nplain\n",
        "c.other": "[iosonde.importers]\nw = no\n",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "entry_points.txt").write_text(text)
    (tmp_path / "d.dist-info").mkdir()
    later = tmp_path / "later" / "e.dist-info"
    later.mkdir(parents=True)
    (later / "entry_points.txt").write_text("[iosonde.importers]\nx = later\n[iosonde.launchers]\nv = later:run\n")
    monkeypatch.setattr("sys.path", [str(tmp_path / "gone"), str(tmp_path), str(tmp_path / "later")])
    plugins.read_groups.cache_clear()
    try:
        assert plugins.find_entry_points("iosonde.importers") == {"x": "b.x:read", "y": "a"}
        expected = {"v": "later:run"}
        assert plugins.find_entry_points("iosonde.launchers") == expected
        assert plugins.find_entry_points("other") == {}
        with raises("missing-package", InputError, subject="'w'", package="iosonde-extras"):
            plugins.load_plugin("iosonde.importers", "w")
        with raises("missing-package", InputError, subject="a thing"):
            plugins.load_plugin("iosonde.importers", "w", "a thing")
        with raises("plugin-load-failed", SystemFaultError, kind="launcher", name="v", entry_point="later:run"):
            plugins.load_plugin("iosonde.launchers", "v")
    finally:
        plugins.read_groups.cache_clear()


def test_an_error_is_the_same_after_another_process():
    error = DataError("bad-file", "{path} is bad: use {spell.where:x=1}", "see {path}", path="p", n=3)
    error.details = ("one", "two")
    again = error_from_json(error.to_json())
    assert error.to_json() == {
        "kind": "DataError",
        "code": "bad-file",
        "message": "p is bad: use --where x=1",
        "hint": "see p",
        "values": {"path": "p", "n": "3"},
        "details": ["one", "two"],
    }
    assert type(again) is DataError and again.to_json() == error.to_json() and again.exit_code == 2
    assert error_from_json(error.to_json() | {"kind": "Newer"}).exit_code == 3
    assert type(error_from_json(error.to_json() | {"kind": "Message"})) is SystemFaultError


def test_an_error_is_the_same_after_pickling_and_with_other_words():
    error = LaunchError("no-launch", "cannot {what}", "try {what}", what="start")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.to_json(), again.__notes__) == (LaunchError, error.to_json(), ["hint: try start"])
    other = error.with_words(error.message.replaced("start", "stop"))
    assert (str(other), other.hint, other.values, type(other)) == (
        "cannot stop",
        "try start",
        {"what": "stop"},
        LaunchError,
    )
    assert error.with_words(error.message, "").hint == ""
    assert not hasattr(LaunchError("c", "x"), "__notes__")


def test_a_warning_has_the_code_and_values_of_its_message():
    warning = IosondeWarning(Message("odd", "{n} odd", n=2))
    assert (warning.code, warning.values) == ("odd", {"n": 2})
    plain = IosondeWarning("odd")
    assert (plain.code, plain.values) == ("", {})


def test_a_place_is_put_before_a_message():
    message = Message("odd", "odd", n=2).prefixed("inner").prefixed("outer")
    assert (message, message.values, message.code) == ("outer: inner: odd", {"n": 2, "place": "outer: inner"}, "odd")
    assert message.without_prefix("outer: ") == "inner: odd"
    assert (prepend_place("odd", "f"), prepend_place(Message("c", "odd"), "f").values) == ("f: odd", {"place": "f"})
    again = pickle.loads(pickle.dumps(message))
    assert (again, again.code, again.values) == (message, "odd", {"n": "2", "place": "outer: inner"})


def test_options_are_spelled_as_the_front_end_spells_them():
    deferred = {"hint": f"use {mark_deferred_option('max_n', '3')}, {mark_deferred_option('all', '')}", "n": 5}
    assert spell_deferred(deferred) == {"hint": "use --max-n 3, --all", "n": 5}

    def python(name: str, value: str) -> str:
        return f"{name}={value}"

    with use_spelling(python):
        assert spell_deferred(deferred)["hint"] == "use max_n=3, all="
        assert spell_page("x {spell.cache:cold} {spell.all} {other}") == "x cache=cold all= {other}"
        with use_spelling(lambda name, value: "never", is_default=True):
            assert str(Message("c", "{spell.a:1}")) == "a=1"
        with use_spelling(lambda name, value: "inner"):
            assert str(Message("c", "{spell.a:1}")) == "inner"
        assert str(Message("c", "{spell.a}")) == "a="
    with use_spelling(python, is_default=True):
        assert str(Message("c", "{spell.a_:1}")) == "a_=1"
    assert str(Message("c", "{spell.from_:1} {spell.a_b}")) == "--from 1 --a-b"


def test_a_file_is_nested_up_to_a_limit():
    for levels, is_possible in ((40, True), (41, False)):
        text = "a: " + "[" * (levels - 1) + "1" + "]" * (levels - 1)
        if is_possible:
            assert yaml_text.parse(text, "f").data["a"] != 1
            continue
        with raises("nested-too-deep", SpecError):
            yaml_text.parse(text, "f")


def test_a_file_has_values_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(yaml_text, "MAX_VALUES", 4)
    assert yaml_text.parse("a: [1, 2]", "f").data == {"a": [1, 2]}
    with raises("too-many-values", SpecError):
        yaml_text.parse("a: [1, 2, 3]", "f")
    monkeypatch.setattr(yaml_text, "MAX_DEPTH", 2)
    assert yaml_text.parse("a: [1, 2]", "f").data == {"a": [1, 2]}
    with raises("nested-too-deep", SpecError):
        yaml_text.parse("a: [[2]]", "f")
