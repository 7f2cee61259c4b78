"""Errors and warnings in tests: by their code and values. Their words are asserted in golden texts alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from iosonde.core.errors import IosondeError
from iosonde.core.message import Message


def raises(code: str, kind: type[IosondeError] = IosondeError, /, **values: object) -> Any:
    """``pytest.raises`` of an error with this code and, among others, these values (compared as texts)."""

    def is_expected(error: IosondeError) -> bool:
        assert_problem(error, code, **values)
        return True

    return pytest.raises(kind, check=is_expected)


def assert_problem(problem: Any, code: str, /, **values: object) -> None:
    """``problem``: an error, or a Message; it has this code and, among others, these values."""
    assert (problem.code, texts(problem.values, values)) == (code, texts(values, values))


def texts(values: Any, names: Iterable[str]) -> dict[str, str]:
    return {name: str(values[name]) if name in values else "(missing)" for name in names}


def codes(messages: Iterable[str]) -> list[str]:
    """The code of each message; '' of a plain text."""
    return [message.code if isinstance(message, Message) else "" for message in messages]


def with_code(messages: Iterable[str], code: str) -> Message:
    """The only message with this code."""
    (message,) = (one for one in messages if isinstance(one, Message) and one.code == code)
    return message


def has_message(messages: Iterable[str], code: str, /, **values: object) -> bool:
    """Whether one of them has this code and, among others, these values (compared as texts)."""
    coded = [one for one in messages if isinstance(one, Message) and one.code == code]
    return any(texts(one.values, values) == texts(values, values) for one in coded)
