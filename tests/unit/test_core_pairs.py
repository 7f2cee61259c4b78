"""NAME=VALUE as people write it: one reader for all options, which says what is wrong in which of them."""

import pytest

from iosonde.core.errors import InputError
from iosonde.core.pairs import parse_pair, parse_pairs
from messages import raises


def test_one_text_or_several_make_one_mapping():
    assert parse_pairs(" a = 9 ,b=nfs") == parse_pairs(["a=9", "b=nfs"]) == {"a": "9", "b": "nfs"}


def test_a_value_may_have_an_equals_sign_in_it():
    assert parse_pair("hint=romio_ds_read=disable") == ("hint", "romio_ds_read=disable")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a", "--at: 'a' is not NAME=VALUE"),
        ("a=", "--at: 'a=' is not NAME=VALUE"),
        ("=1", "--at: '=1' is not NAME=VALUE"),
        ("a=1, ", "--at: '' is not NAME=VALUE"),
        ("a=1,a=1", "--at: duplicate name a"),
    ],
)
def test_what_is_wrong_is_said_with_the_option(text, says):
    with pytest.raises(InputError) as wrong:
        parse_pairs(text, "--at", "write --at a=1")
    assert wrong.value.message == says


def test_an_argument_has_no_option_to_name():
    with raises("duplicate-name", name="a"):
        parse_pairs(["a=1", "a=2"])
