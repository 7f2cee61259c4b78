"""Parse a number with its unit, as in a cell: ``99.8 MB/s``, ``3.4 kop/s``, ``12 ms``."""

from __future__ import annotations

import re

from .errors import InputError
from .units import parse_rate, parse_seconds

_NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_OPERATIONS = re.compile(rf"\s*({_NUMBER})\s*([kKmM]?)\s*(?:(?:ops?|req)/s|iops)\s*", re.IGNORECASE)
_SECONDS = re.compile(rf"\s*{_NUMBER}\s*(?:ns|us|µs|ms|s|sec|min|h)\s*")
_POWERS = {"": 1.0, "k": 1e3, "m": 1e6}


def parse_quantity(text: str) -> tuple[float, str] | None:
    """Parse a rate or time with its unit into (value, base unit); None for anything else, also a number without
    a unit."""
    if match := _OPERATIONS.fullmatch(text):
        return float(match[1]) * _POWERS[match[2].lower()], "operations/s"
    try:
        if _SECONDS.fullmatch(text):
            return parse_seconds(text.strip()), "s"
        return parse_rate(text), "bytes/s"
    except InputError:
        return None
