"""Columns and times that the tools of sysstat share: iostat and sar.

Values have the names of ``core.device_loads.UNITS``, in base units. Times are those of the clock that printed them; its
zone is known only where the tool prints one.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import NamedTuple

from iosonde.core.device_loads import CPU, DISK, NETWORK, UNITS
from iosonde.core.types import FactorValue

from .parsed import Parsed, Row
from .reading import number_from_json
from .samples import DeviceSample, Samples, average, format_moment

# A tool's column → value and factor. Names are those of text, without ``%``, and of JSON. kB are 1024 bytes.
_COLUMNS: Mapping[str, tuple[str, float]] = {
    "r/s": ("read_rate", 1.0),
    "w/s": ("write_rate", 1.0),
    "tps": ("request_rate", 1.0),
    **dict.fromkeys(("rkB/s", "rkB", "kB_read/s"), ("read_bandwidth", 1024.0)),
    **dict.fromkeys(("wkB/s", "wkB", "kB_wrtn/s"), ("write_bandwidth", 1024.0)),
    **dict.fromkeys(("rMB/s", "MB_read/s"), ("read_bandwidth", 2.0**20)),
    **dict.fromkeys(("wMB/s", "MB_wrtn/s"), ("write_bandwidth", 2.0**20)),
    **dict.fromkeys(("rsec/s", "rd_sec/s", "Blk_read/s"), ("read_bandwidth", 512.0)),
    **dict.fromkeys(("wsec/s", "wr_sec/s", "Blk_wrtn/s"), ("write_bandwidth", 512.0)),
    "r_await": ("read_latency", 1e-3),
    "w_await": ("write_latency", 1e-3),
    "await": ("latency", 1e-3),
    **dict.fromkeys(("aqu-sz", "avgqu-sz"), ("queue", 1.0)),
    **dict.fromkeys(("util", "util-percent"), ("utilisation", 0.01)),
    "iowait": ("iowait", 0.01),
    "steal": ("steal", 0.01),
    "idle": ("idle", 0.01),
    **dict.fromkeys(("rxkB/s", "rxkB"), ("receive_bandwidth", 1024.0)),
    **dict.fromkeys(("txkB/s", "txkB"), ("send_bandwidth", 1024.0)),
    **dict.fromkeys(("ifutil", "ifutil-percent"), ("utilisation", 0.01)),
}
_ZONES = ("UTC", "GMT", "Z")
_DATE = re.compile(r"(\d{1,4})([-./])(\d{1,2})\2(\d{1,4})\.?")
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?: ?[AaPp]\.?[Mm]\.?)?"
_TIME = re.compile(r"(\d{1,2}):(\d\d):(\d\d)(?:[.,]\d+)?(?: ?([AaPp])\.?[Mm]\.?)?")
_MOMENT = re.compile(rf"([\d./-]+)(?:T|,? +)({_CLOCK})(?: ?([A-Z]{{1,5}}|[+-]\d\d:?\d\d))?")
_ISO_YEAR = 4  # digits


class Moment(NamedTuple):
    """A time in s since 1970: of UTC, or (``is_utc`` False) of a clock whose zone is unknown, as if it were UTC."""

    seconds: float
    is_utc: bool


@lru_cache(maxsize=256)
def parse_date(text: str, has_half: bool = False) -> date | None:
    """Return the date that strftime's ``%x`` printed, None if it is none. ``has_half``: its times have AM or PM.

    Month first: with AM or PM (en_US), and with two digits of the year (C). Day first: with points, and with four
    digits of the year (en_GB, fr_FR). A number above 12 is a day.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    first, mark, second, third = match.groups()
    if len(first) == _ISO_YEAR:
        year, month, day = int(first), int(second), int(third)
    else:
        year = int(third) + (2000 if len(third) <= 2 else 0)
        is_month_first = mark == "/" and (has_half or len(third) <= 2)
        month, day = (int(first), int(second)) if is_month_first else (int(second), int(first))
        if month > 12:
            month, day = day, month
    try:
        return date(year, month, day)
    except ValueError:
        return None


@lru_cache(maxsize=256)  # the rows of all devices have one time
def parse_time(text: str) -> float | None:
    """Return the seconds since midnight of ``10:00:01 PM`` or ``22:00:01``; None if it is no time."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    hour, minute, second, half = match.groups()
    hours = int(hour) % 12 + (12 if half in "Pp" else 0) if half else int(hour)
    return 3600.0 * hours + 60 * int(minute) + int(second)


def parse_moment(text: str) -> Moment | None:
    """Return the time in ``05/03/23 10:00:00``, ``2023-05-03T10:00:00+0200`` or ``2023-05-03 08:00:00 UTC``; None if it
    is none. The zone of other letters (CET) is taken for unknown."""
    match = _MOMENT.fullmatch(text.strip()) if ":" in text else None  # nearly all lines of a log have none
    if match is None:
        return None
    day_text, clock, zone = match[1], match[2], match[3] or ""
    day, seconds = parse_date(day_text, clock[-1:] in "Mm."), parse_time(clock)
    if day is None or seconds is None:
        return None
    total = to_seconds(day) + seconds
    if zone[:1] in ("+", "-"):
        hours, minutes = int(zone[1:3]), int(zone[-2:])
        return Moment(total - (1 if zone[0] == "+" else -1) * (3600 * hours + 60 * minutes), True)
    return Moment(total, zone in _ZONES)


def to_seconds(day: date) -> float:
    """Return the seconds from 1970 to the begin of a day."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def choose_kind(columns: Iterable[str]) -> str:
    """Return which kind of device a table with these columns is of; '' if it is none that is read."""
    names = {name.rstrip(":") for name in columns}
    if names & {"Device", "DEV"}:
        return DISK
    if "IFACE" in names:
        return NETWORK if "rxkB/s" in names else ""
    return CPU if {"CPU", "%idle"} <= names else ""


@lru_cache(maxsize=256)
def _list_places(columns: tuple[str, ...]) -> list[tuple[int, str, float]]:
    """Return the place, the value and the factor of each column that is read."""
    names = enumerate(column.strip("%") for column in columns)
    return [(place, *_COLUMNS[name]) for place, name in names if name in _COLUMNS]


def read_values(columns: tuple[str, ...], cells: Iterable[object]) -> dict[str, float]:
    """Return the values in the columns of one device, in base units, with those that follow from them."""
    values: dict[str, float] = {}
    row = tuple(cells)
    for place, name, factor in _list_places(columns):
        if (number := number_from_json(row[place])) is not None:
            values[name] = number * factor
    if "idle" in values:
        values["busy"] = max(0.0, 1.0 - values.pop("idle") - values.get("iowait", 0.0))
    reads, writes = values.get("read_rate"), values.get("write_rate")
    if reads is not None and writes is not None:
        values.setdefault("request_rate", reads + writes)
        if "read_latency" in values and "write_latency" in values and reads + writes > 0:
            together = reads * values["read_latency"] + writes * values["write_latency"]
            values.setdefault("latency", together / (reads + writes))
    return values


def add_average_rows(run: Parsed, samples: Samples) -> None:
    """Give a run its samples: a row for each value of each device, the mean over all of them, and their time range."""
    by_device: dict[tuple[str, str], list[DeviceSample]] = {}
    for sample in samples.entries:
        by_device.setdefault((sample.kind, sample.device), []).append(sample)
    for (kind, device), entries in by_device.items():
        for name, value in average(entries).items():
            unit = UNITS.get(name, "")
            factors: dict[str, FactorValue] = {"device": device}
            run.rows.append(Row(kind, name, value, unit, entries[0].line, count=len(entries), factors=factors))
    run.samples = samples
    if samples.host:
        run.facts["host"] = samples.host
    if samples.entries and not samples.untimed:
        run.started_at = format_moment(samples.begin_s) + ("Z" if samples.is_utc else "")
        run.seconds = samples.end_s - samples.begin_s
