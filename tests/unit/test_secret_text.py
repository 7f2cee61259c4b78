"""No password of an address is in a message, whatever characters it has; no token is in a stored command."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from iosonde.core.errors import IosondeError, SystemFaultError
from iosonde.core.secret_text import hide_address_passwords
from iosonde.ranks.machine import command
from iosonde.store.index import Index
from iosonde.store.index_postgres import SCHEMA, hide_password
from messages import raises

MARK = "Zq9"  # part of every piece of a generated password
PASSWORDS = st.lists(st.sampled_from([*"/@:%[]?#&=+", "%2F", "%zz", "%00", "a"]), min_size=1, max_size=8).map(
    lambda parts: MARK + MARK.join(parts) + MARK
)


@given(PASSWORDS, st.sampled_from(["postgresql://u:{}@h/db", "https://:{}@[::1]:80/x", "s3://u:{}@[::1/x?a=b"]))
def test_the_password_of_an_address_is_hidden(password: str, form: str) -> None:
    address = form.format(password)
    for text in (address, f"index {address} cannot be used", f"(see {address})", f"x={address}"):
        assert MARK not in hide_address_passwords(text)
        assert MARK not in command.redact(text)
    assert MARK not in hide_address_passwords(address.replace("+", " "), is_address=True)
    assert hide_address_passwords(f"at {address}").startswith("at " + form.partition("{")[0])


@given(PASSWORDS)
@settings(max_examples=60, deadline=None)
@example(f"se/{MARK}")
@example(f"{MARK}%zzret")
@example(f"{MARK}@b")
def test_no_message_of_an_index_has_the_password(password: str) -> None:
    pytest.importorskip("psycopg")
    for address in (f"postgresql://u:{password}@/db?host=/nonexistent", f"postgresql://u:{password}@[::1/db"):
        with pytest.raises(IosondeError) as caught:
            Index.at(address)
        assert MARK not in caught.value.message + caught.value.hint


def test_the_password_is_hidden_in_the_message_of_the_library_and_nothing_else(monkeypatch) -> None:
    psycopg = pytest.importorskip("psycopg")

    def refuse(url: str, **_: object) -> None:
        raise psycopg.OperationalError(f'no "{MARK}" of\n  user "me" at {url.partition("@")[2]}')

    monkeypatch.setattr(psycopg, "connect", refuse)
    for password, shown in ((f":{MARK}", "***"), ("", MARK)):
        address = f"postgresql://me{password}@h/db"
        reason = f'no "{shown}" of user "me" at h/db'
        index = address.replace(MARK, "***")
        with raises("unusable-index", SystemFaultError, index=index, reason=reason, schema=SCHEMA) as caught:
            Index.at(address)
        assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:se@cret@h:5/d?password=x", "postgresql://me:***@h:5/d"),
        ("postgresql://me@h/d?sslmode=disable", "postgresql://me@h/d"),
        ("postgresql:///d", "postgresql:///d"),
    ],
)
def test_an_index_is_named_without_password_and_options(address: str, shown: str) -> None:
    assert hide_password(address) == shown


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a://u:p@h b://v:q@i", "a://u:***@h b://v:***@i"),
        ("x?password=a&b=c&Token=d e", "x?password=***&b=c&Token=*** e"),
        ("a secret=b", "a secret=***"),
    ],
)
def test_each_password_of_a_text_is_hidden_and_the_rest_stays(text: str, hidden: str) -> None:
    assert hide_address_passwords(text) == hidden


def test_an_address_alone_may_have_spaces_in_its_password() -> None:
    assert hide_address_passwords("a://u:p q@h", is_address=True) == "a://u:***@h"


@pytest.mark.parametrize("password", ["se/cret", "p@w", "50%zz"])
def test_an_address_that_cannot_be_read_is_the_input_and_has_a_cure(password: str) -> None:
    pytest.importorskip("psycopg")
    with raises("invalid-address", IosondeError, url="postgresql://u:***@h/db") as caught:
        Index.at(f"postgresql://u:{password}@h/db")
    assert caught.value.exit_code == 2 and "%2F" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    ["http://host:80/x and mail me@there.org", "git clone https://github.com/x/y", "ssh://node:22/x", "a:b@c", "::1"],
)
def test_a_text_without_a_password_stays(text: str) -> None:
    assert hide_address_passwords(text) == text


@pytest.mark.parametrize("token", ["ghp_abcdefghij0123456789", "sk-abcdefgh12345678", "glpat-AbCdEfGh12345678"])
def test_no_token_is_in_a_stored_command(token: str) -> None:
    assert command.redact_words(["sh", "-c", f"X={token} ior"]) == ["sh", "-c", "X=*** ior"]
