"""The sections of a user's YAML file, read one by one; all mistakes are collected with their lines."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from .errors import InputError
from .message import Message
from .problems import UNKNOWN_KEY, Problem, suggest_replacement
from .yaml_text import Document, Key, describe_value, format_key


class Sections:
    """A document's sections and their mistakes: ``problems``."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def wrong(self, path: Key, what: str, hint: str = "") -> None:
        """Add a mistake."""
        self.problems.append(Problem(self.document.place(path), format_key(path), what, hint))

    def check_names(self, values: Mapping[str, Any], path: Key, names: tuple[str, ...]) -> None:
        """Report every other name as a mistake."""
        for name in values:
            if name not in names:
                self.wrong((*path, name), UNKNOWN_KEY, suggest_replacement(str(name), names))

    def mapping(self, path: Key) -> dict[str, Any]:
        """Return the mapping at a path; empty if nothing is there or, as a mistake, something else."""
        value: Any = self.document.data
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.wrong(
                path,
                Message("not-a-mapping", "{value} where keys with values belong", value=describe_value(value)),
                "write key: value below it",
            )
            return {}
        return value

    def numbers(
        self, path: Key, names: tuple[str, ...], all_of_them: bool = False, zero: bool = False
    ) -> dict[str, float]:
        """Read the numbers with these names; ``zero`` allows 0 and negative numbers."""
        values = self.mapping(path)
        self.check_names(values, path, names)
        missing = [name for name in names if name not in values]
        if all_of_them and missing:
            self.wrong(
                path, Message("missing-key", "{names} missing", names=", ".join(missing)), f"give {', '.join(names)}"
            )
        numbers = {name: self.scalar((*path, name), parse_number, zero) for name in names if name in values}
        return {name: value for name, value in numbers.items() if value is not None}

    def scalar(self, path: Key, parse: Callable[[str], Any], any_sign: bool = False) -> float | None:
        """Read the number at a path, above 0 unless ``any_sign``; None if it is a mistake."""
        value: Any = self.document.data
        for part in path:
            value = value[part]
        try:
            number = float(parse(str(value)))
        except InputError as error:
            self.wrong(path, error.message, error.hint)
            return None
        if not math.isfinite(number):
            what = Message("not-finite", "{number:g} is not a finite number", number=number)
            self.wrong(path, what, "leave out unknown values")
            return None
        if not number > 0 and not any_sign:
            what = Message("out-of-range", "{value} must be above 0", value=value)
            self.wrong(path, what, "leave out unknown values")
            return None
        return number

    def levels(self, path: Key) -> dict[str, Any]:
        """Read factor → level, a number or a text."""
        levels = self.mapping(path)
        for name, value in levels.items():
            if isinstance(value, bool) or not isinstance(value, (str, int, float)):
                self.wrong(
                    (*path, name),
                    Message("invalid-level", "a level must be a number or a text"),
                    "write it like network: 10",
                )
        return {str(name): value for name, value in levels.items()}


def parse_number(text: str) -> float:
    """Parse a plain number. Raises InputError."""
    try:
        return float(text)
    except ValueError as error:
        raise InputError("not-a-number", "'{number}' is not a number", "write a plain number", number=text) from error
