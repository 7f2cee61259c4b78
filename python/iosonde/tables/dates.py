"""Dates and times as people write them, for which ISO is one of several forms."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from iosonde.core.errors import InputError

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


_TIME_OF_DAY = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?:\s*[AaPp][Mm])?")


def are_moments(texts: Sequence[str], is_distinct: bool) -> bool:
    """Return whether all cells are dates, or times of a day of which hardly any occurs twice: 10:30 may be a ratio."""
    is_moment = is_date if not is_distinct else lambda text: is_date(text) or bool(_TIME_OF_DAY.fullmatch(text.strip()))
    return all(map(is_moment, texts))


_NUMBERS = re.compile(r"(\d+)([./-])(\d+)[./-](\d+)(.*)", re.DOTALL)
_TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")


def normalize_dates(texts: Sequence[str], name: str) -> list[str] | None:
    """Return the dates of a column ``name`` so that their texts sort by time: ``2026-03-01`` if none has a time, else
    ``2026-03-01T10:00:00Z``, where a time without a zone is taken for UTC. Return None if one of them is no date.
    Raises InputError if 3/1/2026 may be March or January."""
    moments = _parse(texts, name)
    if not moments:
        return None
    if all((moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0) for moment in moments):
        return [moment.date().isoformat() for moment in moments]
    return [moment.isoformat().replace("+00:00", "Z") for moment in moments]


def parse_moments(texts: Sequence[str], name: str) -> list[float] | None:
    """Return the seconds since 1970 of the dates with times of a column ``name``, or since midnight of times of a day;
    None if one is neither. Raises InputError if 3/1/2026 may be March or January."""
    days = [_TIME_OF_DAY.fullmatch(text.strip()) is not None for text in texts]
    if any(days):
        texts = [f"1970/1/1 {text.strip()}" for text in texts]
    moments = _parse(texts, name) if all(days) or not any(days) else []
    return [moment.timestamp() for moment in moments] or None


def _parse(texts: Sequence[str], name: str) -> list[datetime]:
    """Return the moments of the dates, in UTC; none if one is no date."""
    try:
        moments = [datetime.fromisoformat(text.strip()) for text in texts]
    except ValueError:
        moments = _parse_numbered(texts, name)
    return [moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC) for moment in moments]


def _parse_numbered(texts: Sequence[str], name: str) -> list[datetime]:
    """Parse ``01.03.2026 10:00``, ``3/1/2026`` or ``2026/3/1``; the result is empty if one is no date."""
    matches = [match for text in texts if is_date(text) and (match := _NUMBERS.fullmatch(text.strip()))]
    if len(matches) < len(texts):
        return []
    rows = [(int(a), int(b), int(c), rest, sign) for a, sign, b, c, rest in (match.groups() for match in matches)]
    if all(a > 31 for a, *_ in rows):
        return _build_moments([(a, b, c, rest) for a, b, c, rest, _ in rows])
    day_first = _build_moments([(c, b, a, rest) for a, b, c, rest, _ in rows])
    month_first = _build_moments([(c, a, b, rest) for a, b, c, rest, _ in rows])
    if all(sign == "." for *_, sign in rows) or not month_first:
        return day_first
    if day_first and day_first != month_first:
        raise InputError(
            "ambiguous-dates",
            "column '{column}': in {date} the month may be first or second",
            "write dates as 2026-03-01",
            column=name,
            date=texts[0],
        )
    return month_first


def _build_moments(rows: Sequence[tuple[int, int, int, str]]) -> list[datetime]:
    """Return the moments of (year, month, day, time), or none if one does not exist."""
    try:
        return [_build_moment(*row) for row in rows]
    except ValueError:
        return []


def _build_moment(year: int, month: int, day: int, rest: str) -> datetime:
    date, time = datetime(year + 2000 * (year < 100), month, day), rest.strip(" T,").replace(",", ".")
    for form in _TIMES if time else ():
        try:
            return datetime.combine(date, datetime.strptime(time.upper(), form).time())
        except ValueError:
            continue
    if time:
        raise ValueError(rest)
    return date
