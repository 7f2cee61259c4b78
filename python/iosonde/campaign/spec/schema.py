"""The form of an experiment: ``experiment.schema.json`` beside this file, and its violations as sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.campaign.pacing import parse_pace
from iosonde.core.errors import InputError
from iosonde.core.problems import Problem, nearest
from iosonde.core.units import parse_seconds, parse_share, parse_size
from iosonde.core.yaml_text import Document, Key, key_text, kind_of

if TYPE_CHECKING:
    from jsonschema import ValidationError

_PATH = Path(__file__).with_name("experiment.schema.json")
_TYPES = {"object": "keys with values", "array": "a list", "string": "a text", "integer": "a whole number",
          "number": "a number", "boolean": "true or false"}  # fmt: skip
_UNTIL = re.compile(r"\s*(?:ci\s*<\s*)?(\d+(?:\.\d+)?)\s*%\s*")


def schema_text() -> str:
    """The JSON Schema (2020-12), for editors and other tools."""
    return _PATH.read_text(encoding="utf-8")


def parse_until(text: str) -> float:
    """The half-width in ``ci<5%`` as a fraction of the mean. Raises InputError."""
    found = _UNTIL.fullmatch(text)
    if not found or not 0 < float(found.group(1)) < 100:
        raise InputError(f"'{text}' is not a rule", "write it like 'ci<5%'")
    return float(found.group(1)) / 100


def problems(document: Document) -> list[Problem]:
    """Everything that does not have the form, one problem for a value."""
    found: dict[Key, Problem] = {}
    for error in _validator().iter_errors(document.data):
        for path, what, hint in _sentences(error):
            found.setdefault(path, Problem(document.place(path), key_text(path), what, hint))
    return list(found.values())


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator, FormatChecker

    checker = FormatChecker(formats=())
    for name, parse in {"size": parse_size, "duration": parse_seconds, "until": parse_until}.items():
        checker.checks(name, raises=InputError)(_reads(parse))
    checker.checks("share", raises=InputError)(_is_share)
    checker.checks("pace", raises=InputError)(_is_pace)
    return Draft202012Validator(json.loads(schema_text()), format_checker=checker)


def _reads(parse: Callable[[Any], Any]) -> Callable[[Any], bool]:
    def reads(value: Any) -> bool:
        if isinstance(value, str) and parse(value) <= 0:
            raise InputError(f"'{value}' is nothing", "it must be more than 0")
        return True

    return reads


def _is_share(value: Any) -> bool:
    if isinstance(value, (str, int, float)):
        parse_share(str(value))
    return True


def _is_pace(value: Any) -> bool:
    if isinstance(value, (str, int, float)):
        parse_pace(value)
    return True


def _sentences(error: ValidationError) -> Iterator[tuple[Key, str, str]]:
    """(path, what, hint) of one violation."""
    path = tuple(error.absolute_path)
    value: Any = error.instance
    wanted: Any = error.validator_value
    schema: Any = error.schema
    match error.validator:
        case "additionalProperties":
            known = list(schema["properties"])
            for key in value:
                if key not in known:
                    yield (*path, key), "there is no such key", nearest(key, known)
        case "required":
            for key in wanted:
                if key not in value:
                    yield path, f"the key '{key}' is missing", "see docs/experiment.md"
        case "type":
            types = [wanted] if isinstance(wanted, str) else wanted
            expected = " or ".join(_TYPES[name] for name in types)
            yield path, f"expected {expected}, found {kind_of(value)}", _for_type(types, value)
        case "enum":
            near = nearest(str(value), wanted)
            hint = near if near.startswith("did") else "write one of them"
            yield path, f"{kind_of(value)} is not one of {', '.join(wanted)}", hint
        case "format" if isinstance(error.cause, InputError):
            yield path, error.cause.message, error.cause.hint
        case "minimum":
            yield path, f"{value} is less than {wanted}", f"it must be at least {wanted}"
        case "exclusiveMinimum":
            yield path, f"{value} is not more than {wanted}", f"it must be more than {wanted}"
        case "maximum":
            yield path, f"{value} is more than {wanted}", f"it must be at most {wanted}"
        case "minItems" | "minLength" | "minProperties":
            yield path, "it is empty", "give it a value, or leave the key out"
        case "maxLength":
            yield path, f"it has more than {wanted} characters", "shorten it"
        case "uniqueItems":
            yield path, "a value is given twice", "keep one of them"
        case _:
            yield path, error.message, ""


def _for_type(types: list[str], value: Any) -> str:
    if "boolean" in types and isinstance(value, str) and value.lower() in ("yes", "no", "on", "off"):
        return "write true or false"
    if isinstance(value, (bool, int, float)) and "string" in types:
        return f"for a text put it in quotes: '{str(value).lower()}'"
    return "see docs/experiment.md"
