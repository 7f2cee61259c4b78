"""NAME=VALUE as people write it: one reader for all options, which says what is wrong in which of them."""

import pytest

from iosonde.core.errors import InputError
from iosonde.core.pairs import pair_of, pairs_of
from messages import raises


def test_one_text_or_several_make_one_mapping():
    assert pairs_of(" a = 9 ,b=nfs") == pairs_of(["a=9", "b=nfs"]) == {"a": "9", "b": "nfs"}


def test_a_value_may_have_an_equals_sign_in_it():
    assert pair_of("hint=romio_ds_read=disable") == ("hint", "romio_ds_read=disable")


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
        pairs_of(text, "--at", "write --at a=1")
    assert wrong.value.message == says


def test_an_argument_has_no_option_to_name():
    with raises("duplicate-name", name="a"):
        pairs_of(["a=1", "a=2"])
