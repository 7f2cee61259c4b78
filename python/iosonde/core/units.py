"""Units of input and output: ``4KiB`` ↔ 4096 bytes, ``30min`` ↔ 1800 s. All other code uses base units only.

Base units are bytes, seconds (or integer ns), operations, bytes/s. Sizes follow the usage of storage tools: ``4KiB``,
``4k`` and ``4K`` are 4096 (as in IOR, fio, dd), ``4kB`` and ``4KB`` are 4000 (SI).
"""

import math
import re
from collections.abc import Iterable

from .errors import InputError

_BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
_DECIMAL = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_SIZE = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([KMGTP]?)(iB|B|)\s*$", re.IGNORECASE)
_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "": 1.0,
    "s": 1.0,
    "sec": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_BITS = re.compile(r"([0-9.]+)\s*([kmg]?)bit(?:/s|ps)?", re.IGNORECASE)
_BITS_OR_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg])b(?:/s|ps)?", re.IGNORECASE)
_POWERS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zµ]*)", re.IGNORECASE)


def parse_size(text: str | int) -> int:
    """Parse ``4096``, ``4KiB``, ``4k`` (all 4096) or ``4kB`` (4000) to bytes. Raises InputError."""
    if isinstance(text, int):
        return text
    match = _SIZE.match(text)
    if not match:
        raise InputError("invalid-size", "'{size}' is not a size", "write it like 4KiB, 1M, 2GiB or 4096", size=text)
    number, prefix, suffix = match.group(1), match.group(2).upper(), match.group(3).lower()
    size = float(number) * (_DECIMAL[prefix] if suffix == "b" and prefix else _BINARY[prefix])
    if not math.isfinite(size) or size != int(size):
        raise InputError(
            "invalid-size", "'{size}' is not a whole number of bytes", "write it like 4KiB, 1M, 2GiB or 4096", size=text
        )
    return int(size)


def parse_suffixed_size(text: str) -> int | None:
    """Parse a text that can only be a size, such as ``64k`` or ``1MiB``; None for anything else, also a
    plain number."""
    match = _SIZE.match(text)
    if not match or not match.group(2):
        return 0 if text == "0" else None
    try:
        return parse_size(text)
    except InputError:
        return None


def parse_typed_sizes(levels: Iterable[object]) -> list[int] | None:
    """Parse levels that were written as sizes (``512``, ``4k``, ``1MiB``). Return None if one is not a size, if all are
    plain numbers, or if two are equal."""
    texts = list(levels)
    is_sizes = all(isinstance(text, str) and text[:1].isdigit() for text in texts)
    if not is_sizes or all(parse_suffixed_size(str(text)) is None for text in texts):
        return None
    try:
        sizes = [parse_size(str(text)) for text in texts]
    except InputError:
        return None
    return sizes if len(set(sizes)) == len(sizes) else None


def parse_seconds(text: str | float | int) -> float:
    """Parse ``90``, ``90s``, ``30min``, ``1h30m`` or ``250ms`` to seconds. Raises InputError."""
    if isinstance(text, (int, float)):
        return float(text)
    stripped, at, total = text.strip(), 0, 0.0
    while at < len(stripped):
        match = _DURATION.match(stripped, at)
        if not match or match.group(2).lower() not in _SECONDS:
            break
        total += float(match.group(1)) * _SECONDS[match.group(2).lower()]
        at = match.end()
        while at < len(stripped) and stripped[at].isspace():
            at += 1
    if not stripped or at < len(stripped) or not math.isfinite(total):
        raise InputError(
            "invalid-duration",
            "'{duration}' is not a duration",
            "write it like 30s, 5min, 1h30m or 250ms",
            duration=text,
        )
    return total


_RATE = re.compile(
    r"^\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([KMGTP]?)(i?)(B|bytes?|bit)\s*(?:/|p)\s*s(?:ec)?\s*$", re.IGNORECASE
)
_PER_BYTE = re.compile(r"^\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([a-zµ]+)\s*/\s*([KMGTP]?)(i?)B\s*$", re.IGNORECASE)
_HOW_RATE = "write it like 117MB/s, 1GiB/s or 1Gbit/s"


def parse_rate(text: str) -> float:
    """Parse ``117MB/s``, ``1GiB/s`` or ``94.11Mbit/s`` to bytes/s. Raises InputError, also for a number without a unit
    and for the ambiguous ``Mb/s`` and ``mb/s``."""
    match = _RATE.match(text)
    if not match or re.search(r"\db/|[KMGTPkmgtp]i?b\s*[/p]", text):
        raise InputError("invalid-rate", "'{rate}' is not a rate in bytes", "{example}", rate=text, example=_HOW_RATE)
    share = 1 / 8 if match[4].lower() == "bit" else 1.0
    rate = float(match[1]) * share * (_BINARY if match[3] else _DECIMAL | {"": 1})[match[2].upper()]
    if not math.isfinite(rate):
        raise InputError("invalid-rate", "'{rate}' is not a rate in bytes", "{example}", rate=text, example=_HOW_RATE)
    return rate


def parse_bits(text: str) -> float:
    """Parse ``993mbit``, ``1gbit`` or ``580 Mbit/s`` to bits/s; byte rates are converted. Raises InputError."""
    if match := _BITS.fullmatch(text.strip()):
        try:
            return float(match[1]) * _POWERS[match[2].lower()]
        except ValueError as error:
            raise InputError("invalid-rate", "'{rate}' is not a rate", "write it like 993mbit", rate=text) from error
    try:
        return 8 * parse_rate(text)
    except InputError as error:
        if match := _BITS_OR_BYTES.fullmatch(text.strip()):
            raise InputError(
                "ambiguous-rate",
                "'{rate}' may mean bits or bytes",
                "write {bits}bit for bits, {bytes_}B/s for bytes",
                rate=text,
                bits=match[1] + match[2].lower(),
                bytes_=match[1] + match[2].upper(),
            ) from error
        raise InputError(
            "invalid-rate", "'{rate}' is not a link rate", "write bits like 993mbit, or bytes like 124MB/s", rate=text
        ) from error


def parse_link_rate(text: str) -> float:
    """Parse the rate of a link, ``993mbit`` or ``117MB/s``, to bytes/s. Raises InputError."""
    return parse_bits(text) / 8


def parse_per_byte(text: str) -> float:
    """Parse ``0.02s/MB`` or ``3ns/B`` to seconds per byte. Raises InputError."""
    seconds = math.inf
    if (match := _PER_BYTE.match(text)) and match[2].lower() in _SECONDS:
        size = (_BINARY if match[4] else _DECIMAL | {"": 1})[match[3].upper()]
        seconds = float(match[1]) * _SECONDS[match[2].lower()] / size
    if not math.isfinite(seconds):
        raise InputError(
            "invalid-time-per-byte",
            "'{time_per_byte}' is not a time per byte",
            "write it like 0.02s/MB or 5ns/B",
            time_per_byte=text,
        )
    return seconds


# Divisors of a unit, each with its text, the largest first.
_SCALES = {
    **{
        f"bytes{per}": [
            (1024.0**power, f"{prefix}B{per}") for power, prefix in enumerate(("", "Ki", "Mi", "Gi", "Ti"))
        ][::-1]
        for per in ("", "/s")
    },
    "operations/s": [(1e6, "Mop/s"), (1e3, "kop/s"), (1.0, "op/s")],
    "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
}


def format_size(n_bytes: float) -> str:
    """Format a byte count: ``4 KiB``, ``1.5 GiB``, ``17 B``."""
    if not math.isfinite(n_bytes):
        return str(n_bytes)
    power = 0
    while abs(n_bytes) >= 1024 ** (power + 1) and power < 5:
        power += 1
    scaled, name = n_bytes / 1024**power, ("B", "KiB", "MiB", "GiB", "TiB", "PiB")[power]
    return f"{scaled:.0f} {name}" if scaled == int(scaled) else f"{format_significant(scaled)} {name}"


def format_rate(value: float, unit: str) -> str:
    """Format a value in base units for people: bytes/s → MiB/s, operations/s → kop/s, s → ms."""
    scale, name = choose_human_scale(value, unit)
    return f"{format_significant(value / scale)} {name}"


def format_both_prefixes(value: float, unit: str) -> tuple[str, str]:
    """Format the same bytes with both families of prefixes: ``("204MiB/s", "214MB/s")`` for ``unit`` ``B/s``."""
    return _format_prefixed(value, 1024, "i", unit), _format_prefixed(value, 1000, "", unit)


def _format_prefixed(value: float, base: int, mark: str, unit: str) -> str:
    power = 0
    while abs(value) >= 9999.5 and power < 5:
        value, power = value / base, power + 1
    prefix = ("", "K" if mark else "k", "M", "G", "T", "P")[power] + (mark if power else "")
    return f"{format_significant(value, 4) if power else f'{value:.0f}'}{prefix}{unit}"


def choose_common_scale(values: Iterable[float], unit: str) -> tuple[float, str]:
    """Return the ``choose_human_scale`` of the mean magnitude of several numbers."""
    sizes = [abs(value) for value in values]
    return choose_human_scale(sum(sizes) / len(sizes) if sizes else 0.0, unit)


def choose_human_scale(value: float, unit: str) -> tuple[float, str]:
    """Return (divisor, unit text) that makes ``value`` of a base ``unit`` readable; use one scale per table."""
    magnitude = abs(value) if math.isfinite(value) else 0.0
    scales = _SCALES.get(unit, [(1.0, unit)])
    return next((scale for scale in scales if magnitude >= scale[0]), scales[-1])


def format_significant(value: float, digits: int = 3) -> str:
    """Format ``value`` with ``digits`` significant digits, without an exponent between 0.001 and 10 million."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    if abs(rounded) >= 10_000_000 or abs(rounded) < 0.001:
        return f"{value:.{digits}g}"
    return f"{rounded:.{max(decimals, 0)}f}"


def format_for_file(value: float) -> str:
    """Format a number for an exported table: nine digits, more than any measurement has; counts in full."""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def format_fitted(value: float) -> str:
    """Format a least-squares result with five digits; rounding first keeps ties stable."""
    return format_significant(float(f"{value:.12g}"), 5)


def format_ratio(ratio: float) -> str:
    """Format a ratio with enough decimals near 1: ``1.061``, ``0.978``, ``12.4``."""
    return f"{ratio:.3f}" if 0.1 <= ratio < 10 else format_significant(ratio)


def format_seconds(seconds: float) -> str:
    """Format a duration: ``850 ms``, ``12 s``, ``4 min 10 s``, ``2 h 05 min``."""
    if not math.isfinite(seconds):
        return str(seconds)
    if seconds < 1:
        return format_rate(seconds, "s")
    if seconds < 60:
        return f"{format_significant(seconds, 2 if seconds < 10 else 2)} s"
    rounded = round(seconds)
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60:02d} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60:02d} min"


def parse_share(text: str) -> float:
    """Parse ``2%`` or ``0.02`` to 0.02. Raises InputError."""
    body, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        share = float(body) / (100 if percent else 1)
    except ValueError:
        raise InputError("invalid-share", "'{share}' is not a share", "write it like 2% or 0.02", share=text) from None
    if not 0 <= share < 1:
        raise InputError("out-of-range", "'{share}' is not between 0 and 1", "write it like 2% or 0.02", share=text)
    return share


def format_percent(share: float) -> str:
    """Format ``0.034`` as ``3.4 %``."""
    return f"{format_significant(100 * share, 2)} %"
