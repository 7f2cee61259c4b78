"""Constraints: what they mean, that nothing in them is executed, and that errors say where."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core import expression
from iosonde.core.errors import InputError
from messages import raises

CELL = {"stripe": 4, "replica": 2, "servers": 8, "fs": "nfs", "size": 4096, "sync": True, "note": None, "größe": 3}


def read(text):
    return expression.read(text, CELL, "design.constraints[0]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stripe * replica <= servers", True),
        ("stripe * replica < servers", False),
        ("1 < stripe <= 4 < servers", True),
        ("stripe % 3 == 1 and servers // 3 == 2", True),
        ("stripe / 8 == 0.5 and -stripe + 4 == 0 and stripe - +4 == 0", True),
        ("not (fs == 'nfs')", False),
        ("fs in ('nfs', 'lustre') or stripe / 0 > 1", True),
        ("fs not in ['nfs']", False),
        ("fs != 'lustre'", True),
        ("size <= 4KiB and size * 2 == 8k and '1MiB' in ('1MiB', '2 x 3GB')", True),
        ("size == '4KiB' and size in ('4k', '8k') and '1MiB' > size", True),
        ("sync", True),
        ("sync == True and note == None", True),
        ("größe == 3", True),
        ("stripe ==\n  4", True),
        ("max(stripe, 1) * max(replica, 1) <= servers and min(stripe, replica, servers) == 2", True),
        ("max(size, 1MiB) == 1MiB and -min(stripe - 5, 0) == 1", True),
    ],
)
def test_what_it_means(text, expected):
    assert read(text).holds(CELL) is expected


@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9))
def test_arithmetic_is_that_of_numbers(a, b, c):
    made = expression.read("a * b - c + a % 7", "abc", "x")
    assert made.number({"a": a, "b": b, "c": c}) == a * b - c + a % 7


def test_the_largest_and_the_smallest_of_some():
    """A level 0 of stripes and copies means none, as in table 4.1 of the GlusterFS thesis."""
    made = expression.read("max(stripes, 1) * max(copies, 1) <= servers", ("stripes", "copies", "servers", "max"), "x")
    assert made.names == {"stripes", "copies", "servers"}
    levels, servers = (0, 2, 3, 4, 5), (1, 2, 3, 4, 5)
    cells = [(a, b, n) for a in levels for b in levels for n in servers]
    kept = [one for one in cells if made.holds(dict(zip(("stripes", "copies", "servers"), one, strict=True)))]
    assert len(cells) == 125 and len(kept) == 27 and (0, 0, 1) in kept and (2, 2, 4) in kept and (2, 2, 3) not in kept
    for text, column, code in (
        ("max(a)", 1, "too-few-arguments"),
        ("a + min()", 5, "too-few-arguments"),
        ("max(a, key=a)", 1, "unsupported-syntax"),
        ("max(*a)", 1, "too-few-arguments"),
        ("sum(a, a)", 1, "unsupported-syntax"),
        ("max(a, b)", 8, "unknown-factor"),
    ):
        with raises(code, column=column):
            expression.read(text, "a", "x")
    with raises("not-a-number", part="fs", column=5, value="nfs"):
        read("max(fs, 1) == 1").holds(CELL)


def test_sizes_are_bytes_with_quotes_or_without():
    for text in ("a * 500GB * b", "a * '500GB' * b", "b*500gb*a", "a * b * 0.5TB"):
        assert expression.read(text, "ab", "moves").number({"a": 2, "b": 3}) == 3e12
    assert expression.read("a + 1MiB", "a", "x").number({"a": "4KiB"}) == 2**20 + 4096
    with raises("not-a-number", part="a", column=1, value="nfs"):
        expression.read("a * 500GB", "a", "x").number({"a": "nfs"})


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "stripe.real > 1",
        "fs[0] == 'n'",
        "[x for x in (1, 2)] == 1",
        "(lambda: 1)() == 1",
        "stripe ** servers > 1",
        "stripe << 9 > 1",
        "~stripe > 1",
        "stripe if sync else replica",
        "(stripe := 3) > 1",
        "f'{fs}' == 'nfs'",
        "stripe is 4",
        "fs == b'nfs'",
        "stripe == 1j",
        "stripe == ...",
        "{'nfs'} == fs",
        "(1, 2) == stripe",
        "fs in 'nfs'",
        "stripe in ((1, 2), 3) and servers > (3, 4)",
        "import os",
        "stripe <= servers; 1",
        "(" * 300 + "1" + ")" * 300,
        "-" * 999 + "1",
        "stripe > 1" + " " * 5 + "\0",
        "9" * 999 + "9",
        "",
        "   ",
        3,
        None,
    ],
)
def test_anything_else_is_refused_before_it_is_used(text):
    with pytest.raises(InputError) as caught:
        made = read(text)
        made.holds(CELL)
    assert caught.value.message.startswith("design.constraints[0]: ")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stripe <= server", "'server' at column 11 is not a factor"),
        ("größe < 1 and strip < 1", "'strip' at column 15 is not a factor"),
        ("stripe * <= servers", "cannot be read at column 10"),
        ("stripe * replica", "'stripe * replica' at column 1 is not a condition"),
        ("stripe and sync", "'stripe' at column 1 is 4, neither true nor false"),
        ("fs * 2 > 1", "'fs' at column 1 is 'nfs', not a number"),
        ("fs > 3", "compares 'nfs' with 3"),
        ("stripe / (servers - 8) > 1", "cannot be computed for stripe=4"),
        ("'a' * 999999999 == 'a'", "not a number"),
        ("stripe > open", "'open' at column 10 is not a factor"),
    ],
)
def test_errors_say_where(text, says):
    with pytest.raises(InputError) as caught:
        read(text).holds(CELL)
    assert says in caught.value.message


def test_a_name_that_is_nearly_right_is_offered():
    with raises("unknown-factor", factor="stripes", nearest="stripe"):
        read("stripes > 1")


@given(st.text(alphabet="stripe0123456789+-*/%()<>=! andornot'\"[],.", max_size=40))
def test_no_text_does_anything_but_mean_something_or_be_refused(text):
    try:
        found = read(text).holds(CELL)
    except InputError:
        return
    assert isinstance(found, bool)


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("size == '4KiB'", 4096.0, True),
        ("'4KiB' == size", 4096.0, True),
        ("size == '4kB'", 4096.0, False),
        ("size > 4KiB", 4096.5, True),
        ("size in ('1', '4k')", 4096.0, True),
        ("size == 'auto'", 4096.0, False),
        ("size == '4KiB'", "4k", False),  # two texts
    ],
)
def test_a_size_counts_in_bytes_next_to_any_number(text, size, expected):
    assert read(text).holds(CELL | {"size": size}) is expected


@pytest.mark.parametrize("text", ["", "  ", 3, None])
def test_what_is_no_text_is_quoted_in_the_refusal(text):
    with raises("invalid-expression", InputError, expression=text, location="design.constraints[0]"):
        read(text)


def test_an_expression_has_at_most_so_many_characters_without_the_spaces_between():
    text = "stripe".ljust(500) + "> " + "1" * 991
    assert len(" ".join(text.split())) == 1000 and read(text).names == {"stripe"}
    with raises("expression-too-long", InputError, n_characters=1001, max_characters=1000):
        read(text + "1")


def test_names_are_those_of_factors_and_can_be_replaced():
    made = read("max(stripe, replica) <= servers")
    assert made.names == {"stripe", "replica", "servers"}
    assert ast.unparse(made.replace_names({"stripe": "s"})) == "max(s, replica) <= servers"
    assert made.names == {"stripe", "replica", "servers"}
