"""Integers in JSON: Python refuses to convert very long ones with a text about its own settings."""

_MAX_DIGITS = 4000  # Python's own limit is 4,300


def parse_json_integer(text: str) -> int:
    """Return the integer, as ``json.loads`` takes it for ``parse_int``. Raises ValueError for one that is too long."""
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"{text[:18]}… has {len(text):,} digits, too many for a number")
    return int(text)
