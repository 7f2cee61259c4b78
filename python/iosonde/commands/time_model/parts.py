"""Parts of the time model: from options as ``[VARIANT=]VALUE``, or from a document."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from iosonde.core import yaml_text
from iosonde.core.errors import InputError
from iosonde.core.message import spell
from iosonde.core.units import parse_rate, parse_seconds
from iosonde.foreign.reach import check_reachable
from iosonde.model.time_model import PARTS, TimePart

# Name of an option → (part, whether its value is a rate).
OPTIONS = {
    "mode_switch": ("m", False),
    "copy": ("p", True),
    "network": ("n", True),
    "network_latency": ("n", False),
    "device_copy": ("c", True),
    "device": ("d", True),
    "prepare": ("d", False),
}
_LATENCY = {"m": "seconds", "p": "latency", "n": "latency", "c": "latency", "d": "prepare"}
_KEYS = ("bandwidth", "latency", "prepare", "seconds")


def parts_from_options(option_texts: Mapping[str, Sequence[str]]) -> list[TimePart]:
    """Return the parts described by options (``{"copy": ["numa=5GB/s"]}``). Raises InputError."""
    entries: dict[tuple[str, str], dict[str, float]] = {}
    for word, texts in option_texts.items():
        option, (name, is_rate) = str(getattr(spell, word)), OPTIONS[word]
        for text in texts:
            variant, equals, value = text.rpartition("=")
            try:
                number = parse_rate(value) if is_rate else parse_seconds(value)
            except InputError as error:
                raise error.prefixed(option) from error
            if is_rate and not number > 0:
                raise InputError(
                    "out-of-range",
                    "{option}: a rate must be above 0",
                    "write {example} or {variant_example}",
                    option=format(getattr(spell, word), text),
                    example=format(getattr(spell, word), "10GB/s"),
                    variant_example=format(getattr(spell, word), "numa=5GB/s"),
                )
            entry = entries.setdefault((name, variant if equals else ""), {})
            entry["bytes_per_s" if is_rate else "fixed_s"] = number
    return _add_shared_latency(
        [TimePart(name, variant=variant, **values) for (name, variant), values in entries.items()]
    )


def _add_shared_latency(parts: list[TimePart]) -> list[TimePart]:
    """Add a fixed time without a variant to every variant of its part that moves data."""
    shared = {p.name: p.fixed_s for p in parts if not p.variant and p.bytes_per_s is None}
    variants = {p.name for p in parts if p.variant}
    selected = [
        p for p in parts if not (p.name in variants and p.name in shared and not p.variant and not p.bytes_per_s)
    ]
    return [replace(p, fixed_s=p.fixed_s or shared[p.name]) if p.variant and p.name in shared else p for p in selected]


def parts_from_file(path: str) -> list[TimePart]:
    """Read the parts from a YAML or JSON file. Raises InputError with the line."""
    check_reachable(Path(path))
    document = yaml_text.load(Path(path), "parts file", "write p: 10GB/s: see docs/commands/time-model.md")
    return parts_from_document(document.data, lambda name: f"{path}:{document.place((name,))}: ")


def parts_from_document(document: Mapping[str, Any], place: Callable[[str], str] = lambda name: "") -> list[TimePart]:
    """Parse the parts in a document: ``m: 0.3us``, ``n: {bandwidth: 125MB/s, latency: 50us}``, and by place ``p:
    {memory: 10GB/s, numa: 5GB/s}``. ``place`` returns the place of a key, as ``parts.yaml:3: ``. Raises InputError."""
    parts: list[TimePart] = []
    for name, value in document.items():
        where = f"{place(name)}{name}"
        if name not in PARTS:
            raise InputError(
                "unknown-part",
                "{where} is not a part of the time",
                "parts: {parts}",
                where=where,
                parts=", ".join(PARTS),
            )
        items = value.items() if (isinstance(value, dict) and not set(value) & set(_KEYS)) else [("", value)]
        parts += [_build_part(name, variant, item, where) for variant, item in items]
    return parts


def _build_part(name: str, variant: str, value: Any, where: str) -> TimePart:
    if not isinstance(value, dict):
        value = {"seconds" if name == "m" else "bandwidth": value}
    unknown = set(value) - {"bandwidth", _LATENCY[name]}
    if unknown:
        raise InputError(
            "unknown-key",
            "{where} has no '{key}'",
            "give bandwidth and {latency}",
            where=where,
            key=sorted(unknown)[0],
            latency=_LATENCY[name],
        )
    try:
        rate = parse_rate(str(value["bandwidth"])) if "bandwidth" in value else None
        fixed = parse_seconds(str(value[_LATENCY[name]])) if _LATENCY[name] in value else 0.0
    except InputError as error:
        raise error.prefixed(where) from error
    if rate is not None and not rate > 0:
        raise InputError(
            "out-of-range", "{where}: a rate must be above 0", "leave out what you do not know", where=where
        )
    if rate is None and not fixed and name != "m":
        raise InputError(
            "missing-value",
            "{where}{variant} is empty",
            "write it like p: 10GB/s",
            where=where,
            variant=f" ({variant})" if variant else "",
        )
    return TimePart(name, fixed, rate, variant)
