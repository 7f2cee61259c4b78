"""Sizes as storage tools read and print them: in steps of 1024."""

import re

BINARY = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "e": 2**60}
_SIZE = re.compile(r"^\s*+(\d++(?:\.\d++)?)\s*+([kmgtpe]?)i?(b(?:ytes?)?)?\s*+$", re.IGNORECASE)


def parse_size(text: str) -> int | None:
    """Return the bytes of ``8 MiB``, ``65536 bytes``, ``256k``; None if unclear."""
    match = _SIZE.match(text)
    if not match:
        return None
    size = float(match.group(1)) * BINARY[match.group(2).lower()]
    return round(size) if size < 2**63 else None
