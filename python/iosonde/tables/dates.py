"""Dates and times as people write them, for which ISO is one of several forms."""

import re
from datetime import datetime

_DATE = re.compile(
    r"(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|\d{4}[./]\d{1,2}[./]\d{1,2})"
    r"(?:[ T,]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[AaPp][Mm])?)?"
)


def is_date(text: str) -> bool:
    """Return whether a cell is a date, with or without a time: ISO, ``01.03.2026 10:00`` or ``3/1/2026``."""
    if _DATE.fullmatch(text.strip()):
        return True
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
