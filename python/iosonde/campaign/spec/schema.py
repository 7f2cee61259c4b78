"""The form of an experiment: ``experiment.schema.json`` in this directory, and its violations as sentences."""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from iosonde.campaign.pacing import parse_pace
from iosonde.core.errors import InputError
from iosonde.core.problems import Problem
from iosonde.core.schema_problems import list_violations
from iosonde.core.units import parse_rate, parse_seconds, parse_share, parse_size
from iosonde.core.yaml_text import Document

_PATH = Path(__file__).with_name("experiment.schema.json")
_UNTIL = re.compile(r"\s*(?:ci\s*<\s*)?(\d+(?:\.\d+)?)\s*%\s*")


def schema_text() -> str:
    """The JSON Schema (2020-12), for editors and other tools."""
    return _PATH.read_text(encoding="utf-8")


def parse_until(text: str) -> float:
    """Return the half-width in ``ci<5%`` as a fraction of the mean. Raises InputError."""
    match = _UNTIL.fullmatch(text)
    if not match or not 0 < float(match.group(1)) < 100:
        raise InputError("invalid-rule", "'{rule}' is not a rule", "write it like 'ci<5%'", rule=text)
    return float(match.group(1)) / 100


def list_schema_problems(document: Document) -> list[Problem]:
    """Return all violations of the form, one problem per value."""
    return list_violations(_build_validator(), document, "docs/experiment.md")


@cache
def _build_validator() -> Any:
    from jsonschema import Draft202012Validator, FormatChecker

    checker = FormatChecker(formats=())
    for name, parse in {
        "size": parse_size,
        "duration": parse_seconds,
        "rate": parse_rate,
        "until": parse_until,
    }.items():
        checker.checks(name, raises=InputError)(_build_predicate(parse))
    checker.checks("share", raises=InputError)(_is_share)
    checker.checks("pace", raises=InputError)(_is_pace)
    return Draft202012Validator(json.loads(schema_text()), format_checker=checker)


def _build_predicate(parse: Callable[[Any], Any]) -> Callable[[Any], bool]:
    def is_readable(value: Any) -> bool:
        if isinstance(value, str) and parse(value) <= 0:
            raise InputError("not-positive", "'{quantity}' is zero", "it must be more than 0", quantity=value)
        return True

    return is_readable


def _is_share(value: Any) -> bool:
    if isinstance(value, (str, int, float)):
        parse_share(str(value))
    return True


def _is_pace(value: Any) -> bool:
    if isinstance(value, (str, int, float)):
        parse_pace(value)
    return True
