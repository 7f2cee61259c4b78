"""The unit in a column's name: ``time (s)``, ``size [KiB]``, ``read_MiB/s``, ``write_kb_s``.

Values are never rescaled: a table keeps its numbers. The unit is a label and distinguishes rates from times.
"""

import re

from .errors import InputError
from .units import parse_seconds, parse_size

_BRACKETED = re.compile(r"^(?P<label>.*\S)\s*[(\[](?P<unit>[^()\[\]]+)[)\]]$")
TIME_UNITS = ("s", "sec", "seconds", "ms", "us", "µs", "ns", "min", "h")
_PREFIXED = r"(?:[kKmMgGtT]i?)?(?:[bB]|[bB]ytes?|[bB]its?|[oO]ps?|iops|IOPS|files|requests|reqs?)"
_PER_S = r"(?:/s(?:ec(?:ond)?)?|ps|[_ ]per[_ ]s(?:ec(?:ond)?)?|_s(?:ec)?)"
_TAIL = re.compile(
    rf"^(?P<label>.*?[^_./, ])(?: in |, ?|[_. ])(?P<unit>{_PREFIXED}{_PER_S}|"
    rf"(?:[kKmMgGtT]i?)?[bB]ytes|[kKmMgGtT]i?[bB]|[kKmM]?(?:iops|IOPS)|{'|'.join(TIME_UNITS)}|percent|%)$"
)
_ALL_UNIT = re.compile(rf"^(?:{_PREFIXED}{_PER_S}|[kKmM]?(?:iops|IOPS))$")


def split_unit(name: str) -> tuple[str, str]:
    """Split a column's name into (label, unit); the unit is empty if none is recognised. ``MiB_s`` is all unit."""
    if _ALL_UNIT.match(name):
        return name, _normalize_unit(name)
    match = _BRACKETED.match(name) or _TAIL.match(name)
    return (name, "") if not match else (match["label"], _normalize_unit(match["unit"]))


def format_column_title(name: str, unit: str) -> str:
    """Format a column's name with the unit of its displayed values: ``time, ms`` for ``time (s)``. Without a unit,
    return the label alone."""
    label, own = split_unit(name)
    return label if not unit or (label == name and own == unit) else f"{label}, {unit}"


def _normalize_unit(unit: str) -> str:
    """Normalise ``MBps``, ``MB_s`` and ``MB/sec`` to ``MB/s``, and the unambiguous ``mib_s`` to ``MiB/s``, ``kib`` to
    ``KiB``."""
    slashed = unit if is_rate(unit) else re.sub(rf"(?<=[a-zA-Z]){_PER_S}$", "/s", unit)
    slashed = (
        re.sub(r"^([mgt])b(?=/s$)", lambda match: f"{match[1].upper()}B", slashed) if unit[-2:] != "ps" else slashed
    )
    slashed = re.sub(r"^([kKMGT]i?)o(?=/s$|$)", r"\1B", slashed)  # octets
    return re.sub("^([kmgt])ib(?=/s$|$)", lambda match: f"{match[1].upper()}iB", slashed)


def is_rate(unit: str) -> bool:
    """Return whether a unit is work per time, for which a harmonic mean makes sense."""
    return unit.endswith("/s") or unit.lower().endswith("iops")


COUNT_PER_S = re.compile(r"^([kMGT]?)(iops|ops|op|operations|files|requests|reqs|req|)(?:/s)?$", re.IGNORECASE)
DECIMAL_POWERS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_RATE = re.compile(r"^(?P<prefix>[kKmMgGtT]?)(?P<binary>i?)(?P<what>[bB]ytes?|[bB]its?|[bB])/s$")


def unit_to_bytes_per_s(unit: str) -> tuple[float, ...]:
    """Return the possible values of one ``unit`` in bytes/s: two if ``KB`` may be 1000 or 1024, none if it is not a
    byte rate."""
    match = _RATE.match(unit)
    if not match:
        return ()
    share = 0.125 if match["what"].lower().startswith("bit") else 1.0
    power = " KMGT".index(match["prefix"].upper() or " ")
    if match["binary"]:
        return (share * 1024.0**power,)
    if share != 1.0 or power == 0:
        return (share * 1000.0**power,)
    return (1000.0**power, 1024.0**power)


def split_column_name(label: str) -> list[str]:
    """Split a column's name into lower-case words: ``Write_Latency`` is ``write`` and ``latency``."""
    return [word for word in re.split(r"[\W_]+", label.lower()) if word]


def measure_unit(unit: str) -> tuple[str, float]:
    """Return the base unit of a unit and its size; ('', 0) if it is unknown."""
    if sizes := unit_to_bytes_per_s(unit):
        return "bytes/s", sizes[0]
    if unit in TIME_UNITS:
        return "s", parse_seconds("1" + {"seconds": "s"}.get(unit, unit))
    if match := COUNT_PER_S.match(unit) if is_rate(unit) else None:
        return "operations/s", DECIMAL_POWERS[match[1].lower()]
    if unit == "bytes":
        return "bytes", 1.0
    try:
        return ("bytes", float(parse_size(f"1{unit}"))) if unit else ("", 0.0)
    except InputError:
        return "", 0.0
