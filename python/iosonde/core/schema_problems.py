"""Convert violations of a JSON Schema in a user's file into problems with place, message and hint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .errors import InputError
from .message import Message
from .problems import UNKNOWN_KEY, Problem, find_closest_word, suggest_replacement
from .yaml_text import Document, Key, describe_value, format_key

if TYPE_CHECKING:
    from jsonschema import ValidationError

_TYPES = {
    "object": "keys with values",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}


def list_violations(validator: Any, document: Document, page: str) -> list[Problem]:
    """Return every violation in ``document``, one problem per value; ``page`` documents the format."""
    problems: dict[Key, Problem] = {}
    for error in validator.iter_errors(document.data):
        for path, what, hint in _describe_violation(error, page):
            problems.setdefault(path, Problem(document.place(path), format_key(path), what, hint))
    return list(problems.values())


def _describe_violation(error: ValidationError, page: str) -> Iterator[tuple[Key, Message, str]]:
    """Describe one violation as (path, what, hint)."""
    path = tuple(error.absolute_path)
    value: Any = error.instance
    constraint: Any = error.validator_value
    schema: Any = error.schema
    match error.validator:
        case "additionalProperties":
            key_names = list(schema["properties"])
            for key in value:
                if key not in key_names:
                    yield (*path, key), UNKNOWN_KEY, suggest_replacement(key, key_names)
        case "required":
            for key in constraint:
                if key not in value:
                    yield path, Message("missing-key", "the key '{name}' is missing", name=key), f"see {page}"
        case "type":
            types = [constraint] if isinstance(constraint, str) else constraint
            expected = " or ".join(_TYPES[name] for name in types)
            what = Message(
                "wrong-type", "expected {expected}, found {value}", expected=expected, value=describe_value(value)
            )
            yield path, what, _suggest_type_cure(types, value, page)
        case "enum":
            hint = (
                suggest_replacement(str(value), constraint)
                if find_closest_word(str(value), constraint)
                else "write one of them"
            )
            allowed = ", ".join(constraint)
            what = Message(
                "unknown-value", "{value} is not one of {allowed}", value=describe_value(value), allowed=allowed
            )
            yield path, what, hint
        case "format" if isinstance(error.cause, InputError):
            yield path, error.cause.message, error.cause.hint
        case "minimum":
            what = Message("out-of-range", "{value} is less than {limit}", value=value, limit=constraint)
            yield path, what, f"it must be at least {constraint}"
        case "exclusiveMinimum":
            what = Message("out-of-range", "{value} is not more than {limit}", value=value, limit=constraint)
            yield path, what, f"it must be more than {constraint}"
        case "maximum":
            what = Message("out-of-range", "{value} is more than {limit}", value=value, limit=constraint)
            yield path, what, f"it must be at most {constraint}"
        case "minItems" | "minLength" | "minProperties":
            yield path, Message("empty-value", "it is empty"), "give it a value, or omit the key"
        case "maxLength":
            yield path, Message("too-long", "it has more than {limit} characters", limit=constraint), "shorten it"
        case "uniqueItems":
            yield path, Message("duplicate-value", "a value is given twice"), "duplicate value"
        case _:
            yield path, Message("invalid-value", "{reason}", reason=error.message), ""


def _suggest_type_cure(types: list[str], value: Any, page: str) -> str:
    if "boolean" in types and isinstance(value, str) and value.lower() in ("yes", "no", "on", "off"):
        return "write true or false"
    if isinstance(value, (bool, int, float)) and "string" in types:
        return f"put a text in quotes: '{str(value).lower()}'"
    return f"see {page}"
