"""Settings of workloads, as people write them: read them, and refuse wrong ones with their path."""

import ast
import operator
import re
from typing import Any, Self

from iosonde.core.errors import InputError, IosondeError
from iosonde.core.expression import ARITHMETIC, Grammar
from iosonde.core.units import parse_size

Key = tuple[str | int, ...]


class SettingError(InputError):
    """A setting that a workload refuses; ``path`` leads to it."""

    def __init__(self, path: Key, code: str, message: str, hint: str = "", /, **values: object) -> None:
        super().__init__(code, message, hint, **values)
        self.path = path

    @classmethod
    def from_error(cls, path: Key, error: IosondeError, name: str = "") -> Self:
        """Return the same error as one of the setting at ``path``; its message begins with ``name``."""
        setting_error = cls.__new__(cls)
        setting_error._set_texts(error.message.prefixed(name) if name else error.message, error.hint)
        setting_error.path = path
        return setting_error


def read_count(name: str, value: Any, size: bool = False, least: int = 1) -> int:
    """Read a whole number, or with ``size`` also a size as ``64KiB``, in bytes. Raises SettingError."""
    try:
        number = parse_size(value) if isinstance(value, str) and (size or value.isdecimal()) else value
    except InputError as error:
        raise SettingError.from_error((name,), error, name) from None
    if isinstance(number, bool) or not isinstance(number, int):
        raise SettingError(
            (name,),
            "not-an-integer",
            "{name} is {setting!r}",
            "give a size as 64KiB" if size else "give a whole number",
            name=name,
            setting=value,
        )
    if number < least:
        raise SettingError(
            (name,),
            "out-of-range",
            "{name} is {number}",
            "it must be at least {minimum}",
            name=name,
            number=number,
            minimum=least,
        )
    return number


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Check that a setting is one of its choices. Raises SettingError."""
    if value not in choices:
        raise SettingError(
            (name,),
            "unknown-option-value",
            "{name}: '{choice}' is unknown",
            "use one of: {choices}",
            name=name,
            choice=value,
            choices=", ".join(choices),
        )


_SIZE = re.compile(r"\b\d+(?:\.\d+)?\s*[KMGTP]i?B?\b", re.IGNORECASE)


def parse_integer(value: int | float | str) -> int:
    """Return the number, or the value of the text, as ``3 * 64MiB + 4096``, sizes in bytes. Only + - * // and brackets
    are evaluated. Raises InputError."""
    if isinstance(value, str):
        return _evaluate_text(value)
    if isinstance(value, bool) or value != int(value):
        raise InputError(
            "not-an-integer",
            "{setting} is not a whole number",
            "write it like 4096, 64KiB or ${{RANK}} * 64KiB",
            setting=value,
        )
    return int(value)


def _evaluate_text(text: str) -> int:
    plain = _SIZE.sub(lambda match: str(parse_size(match[0])), text)
    try:
        return int(_GRAMMAR.read(plain, (), "").number({}))
    except InputError as error:
        raise InputError(
            "not-an-integer",
            "'{setting}' is not a whole number",
            "write it like 4096, 64KiB or ${{RANK}} * 64KiB",
            setting=text,
        ) from error


def _check_range(number: int) -> int:
    """Return the number. Raises ValueError if it exceeds 64 bits."""
    if abs(number) >= 2**63:
        raise ValueError
    return number


_GRAMMAR = Grammar({**ARITHMETIC, ast.FloorDiv: operator.floordiv}, lambda value: type(value) is int, _check_range)
