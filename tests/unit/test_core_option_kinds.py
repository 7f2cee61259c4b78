"""Every kind of option takes a value or refuses it with a hint, whatever Python gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from iosonde.core.errors import InputError
from iosonde.core.option_kinds import (
    Counts,
    Duration,
    FigureFile,
    Integer,
    Level,
    NamedLists,
    Number,
    Paths,
    Quantities,
    Rate,
    Setting,
    SettingList,
    Share,
    Size,
)
from iosonde.core.option_words import RepeatableOptions
from iosonde.core.options import (
    Choice,
    Flag,
    Levels,
    NameList,
    Names,
    Rest,
    Text,
    format_written_level,
    is_level,
    list_to_members,
)
from messages import raises

NAN, INF = float("nan"), float("inf")


@dataclass(kw_only=True)
class Options(RepeatableOptions):
    choice: Choice[str | None] = Choice(("a", "b"), "")
    counts: Counts[Any] = Counts("N,…", "")
    duration: Duration[Any] = Duration("TIME", "")
    figure: FigureFile[Any] = FigureFile("FILE", "")
    flag: Flag[bool] = Flag("")
    integer: Integer[Any] = Integer("N", "", least=0)
    level: Level[Any] = Level("C", "")
    levels: Levels[NameList] = Levels("L,…", "", ())
    lists: NamedLists[Any] = NamedLists("A=B,…", "", "hw=net,disk")
    names: Names[NameList] = Names("X,…", "", ())
    number: Number[Any] = Number("N", "")
    paths: Paths[NameList] = Paths("FILE…", "", ())
    rate: Rate[Any] = Rate("RATE", "")
    rest: Rest = Rest("WORD…", "")
    setting: Setting[Any] = Setting("K=V,…", "")
    settings: SettingList[Any] = SettingList("K=V,…", "")
    share: Share[Any] = Share("SHARE", "")
    size: Size[Any] = Size("SIZE", "")
    sizes: Quantities[Any] = Quantities("SIZE,…", "", Size)
    text: Text[Any] = Text("TEXT", "")


KINDS = [name for name in vars(Options) if not name.startswith("_") and name in Options.__annotations__]
ODD = {
    "None": None,
    "True": True,
    "1.5": 1.5,
    "nan": NAN,
    "inf": INF,
    "-1": -1,
    "10**400": 10**400,
    "2**60": 2**60,
    "bytes": b"x",
    "[None]": [None],
    "[]": [],
    "{}": {},
    "object": object(),
    "set": {"a", "b"},
    "0-d": np.array(1),
    "array": np.array([1.5, 2.5]),
    "''": "",
    "ü,=": "ü,=",
    "NUL": "a\0b",
    "NUL in a dict": {"a": ["a\0b"]},
    "surrogate": "\ud800",
}
PLAIN = (str, bool, int, float, tuple, dict)


def value_of(**given: Any) -> Any:
    ((name, _),) = given.items()
    return getattr(Options(**given), name)


def is_plain(value: Any) -> bool:
    if isinstance(value, tuple | dict):
        return all(map(is_plain, value.values() if isinstance(value, dict) else value))
    return isinstance(value, PLAIN) and not (isinstance(value, float) and not math.isfinite(value))


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", KINDS)
def test_any_value_is_taken_or_refused_with_a_hint(name, odd):
    try:
        value = value_of(**{name: ODD[odd]})
    except InputError as error:
        assert error.hint and error.code
    else:
        assert is_plain(value) or (odd == "None" and value is None)
        assert odd not in ("bytes", "object", "set", "[None]", "NUL", "NUL in a dict", "surrogate")


@pytest.mark.parametrize("value", ["no", 2, "false", 0.0, []])
def test_a_flag_is_true_or_false(value):
    with raises("wrong-argument-type"):
        Options(flag=value)
    assert value_of(flag=np.bool_(True)) is True and value_of(flag=False) is False


@pytest.mark.parametrize("value", [1.7, [1.5, 2], [1, True], [1, NAN], b"12", INF, [None], {1, 2}, "1,,2", ""])
def test_counts_are_whole_numbers(value):
    with raises("not-a-count-list"):
        Options(counts=value)


def test_counts_may_be_any_whole_numbers():
    for value in ([1, 2.0, np.int64(4)], "1,2,4", np.array([1, 2, 4]), (n for n in (1, 2, 2, 4))):
        assert value_of(counts=value) == (1, 2, 4)
    assert value_of(counts=np.int64(3)) == (3,)


@pytest.mark.parametrize("name", ["duration", "rate", "size", "share", "sizes"])
def test_quantities_are_finite_and_positive_numbers(name):
    for value in (NAN, INF, -1, 10**400):
        with raises("out-of-range"):
            Options(**{name: value})
    for value in (True, Decimal(1), b"1", [[1]], np.array(1)):
        with raises("wrong-argument-type"):
            Options(**{name: value})


def test_quantities_are_of_any_real_numbers():
    assert value_of(size=np.int64(4096)) == value_of(size=4096.0) == value_of(size=np.float32(4096)) == 4096
    assert value_of(size=2**60 + 1) == 2**60 + 1
    assert value_of(duration=np.int64(90)) == value_of(duration="90s") == 90.0
    assert value_of(rate=np.float32(0.5)) == value_of(rate=Fraction(1, 2)) == value_of(share=Fraction(1, 2)) == 0.5
    with raises("invalid-size"):
        Options(size=1.5)


def test_whole_numbers_keep_their_digits():
    assert format_written_level(2**53 + 1) == format_written_level(np.int64(2**53 + 1)) == "9007199254740993"
    assert (
        format_written_level(10**400) == "1" + 400 * "0"
        and format_written_level(2.0) == "2"
        and format_written_level(Fraction(10**400)) != ""
    )
    assert value_of(integer=2**53 + 1) == value_of(integer="9007199254740993") == 2**53 + 1
    for value in (1.5, True, "1.5", 2**63, -1, NAN, INF):
        with raises("out-of-range"):
            Options(integer=value)


@pytest.mark.parametrize("value", [INF, -INF, "inf", "1e999", 10**400, NAN])
def test_a_number_is_finite(value):
    with raises("out-of-range"):
        Options(number=value)


def test_words_say_the_same_as_the_values():
    options = Options(names=["a", "b"], settings=[{"a": 1, "b": 2}, {"a": 3}], lists={"hw": ["net", "disk"]}, flag=True)
    assert options.words() == (
        *("--flag", "--lists", "hw=net,disk", "--names", "a,b"),
        *("--settings", "a=1,b=2", "--settings", "a=3"),
    )
    assert Options(settings={"a": 1, "b": 2}).words() == ("--settings", "a=1,b=2")
    assert Options(setting={"a": 1, "b": 2}).words() == ("--setting", "a=1,b=2")
    for given in ({"names": ["a,b"]}, {"setting": {"a": "1,b=2"}}, {"lists": {"a": ["b,c"]}}):
        with raises("not-for-a-terminal"):
            Options(**given).words()


def test_sets_and_lists_without_members_are_refused():
    for given in ({"names": {"a", "b"}}, {"lists": 3}, {"lists": [1]}, {"setting": {"a": None}}, {"figure": 3}):
        with raises("wrong-argument-type"):
            Options(**given)
    with raises("missing-members"):
        Options(lists={"a": []})
    with raises("not-text"):
        Options(setting=[1])


@pytest.mark.parametrize(
    ("value", "is_possible"),
    [
        ("a", True),
        (1.5, True),
        (True, True),
        (np.int64(1), True),
        (np.str_("a"), True),
        (np.datetime64("2026-01-01"), True),
        (np.array(1), False),  # an array without dimensions has no hash
        (np.bytes_(b"a"), False),
        (b"a", False),
        (None, False),
        ([1], False),
    ],
)
def test_what_may_be_a_level(value, is_possible):
    assert is_level(value) is is_possible


def test_lists_and_what_is_none():
    assert list_to_members([1, "a"]) == list_to_members(iter((1, "a"))) == (1, "a")
    assert [list_to_members(value) for value in ("ab", b"ab", {"a": 1}, {1}, 3, np.array(3))] == [None] * 6


def test_values_of_a_command_line_as_python_writes_them():
    option: Number[float] = Number("N", "a number")
    assert [option.write(text) for text in ("3", "3.5", "FILE", "a b", "3s")] == ["3", "3.5", "FILE", "'a b'", "'3s'"]
