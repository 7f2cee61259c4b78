"""The analytic bound as a model of its own: nothing is learned, S = min(N/c, N·I, M·I, P·R) and its extensions.

Options are the fields of ``model.bound.system.System``, as in ``iosonde bound``: a number with its unit
(``network=117MB/s``), or the name of a factor (``clients=nodes``), which has its column's unit. The response must be a
rate of bytes; if its column has no unit, set it with ``unit=MB/s``. ``MB`` in a column is 10⁶ bytes.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from iosonde.core.column_units import split_unit, unit_to_bytes_per_s
from iosonde.core.errors import DataError, InputError
from iosonde.core.units import parse_per_byte, parse_rate, parse_seconds, parse_size
from iosonde.model.bound.bound import compute_bound
from iosonde.model.bound.system import FIELDS, System, replace_fields
from iosonde.model.fit.coding import factors_to_json
from iosonde.model.fit.features import Array, Examples, Feature

NAME = "bound"
OPTIONS: dict[str, Any] = {"unit": "", **dict.fromkeys(FIELDS, "")}
_RATES = ("network", "client_network", "server_network", "fabric", "disk", "disk_read", "disk_write", "memory_copy")
_SIZES = ("request_size", "file_size", "chunk_size")
_PER_BYTE = ("cpu", "server_cpu")
_WORDS = ("operation", "redundancy", "placement")
_INTEGER_FIELDS = ("replicas", "data_chunks", "parity_chunks", "stripe_count", "files")


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"bytes_per_s": one unit of the response, "system": {field: value}, "columns": [{"field", "factor", "scale"}],
    "factors": […]}``. Raises InputError for an option without meaning, DataError if the response is not a rate."""
    system, columns = {}, []
    for field in FIELDS:
        text = str(options.get(field) or "")
        if not text:
            continue
        feature = next((f for f in examples.features if text in (f.name, split_unit(f.name)[0])), None)
        if feature is None:
            system[field] = _parse_field(field, text)
        else:
            columns.append({"field": field, "factor": feature.name, "scale": _compute_scale(field, feature)})
    if not system and not columns:
        raise InputError(
            "missing-system",
            "the bound has no property of the system",
            "write {spell.family:'bound network=117MB/s disk=25MB/s disks=8 clients=nodes'}",
        )
    form = {
        "bytes_per_s": _parse_unit(examples, str(options.get("unit") or "")),
        "system": system,
        "columns": columns,
        "factors": factors_to_json(examples.features),
    }
    predict(form, examples.x[:1])  # raises for an impossible system
    return form


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """S in the response's unit."""
    factors = {factor["name"]: (index, factor.get("levels")) for index, factor in enumerate(form["factors"])}
    system = replace_fields(System(), form["system"])
    used = [factors[column["factor"]][0] for column in form["columns"]]
    rows, inverse = np.unique(x[:, used], axis=0, return_inverse=True)
    ceilings = []
    for row in rows:
        settings = {}
        for column, value in zip(form["columns"], row.tolist(), strict=True):
            levels = factors[column["factor"]][1]
            scaled = _to_integer(column["field"], value * column["scale"])
            settings[column["field"]] = scaled if levels is None else levels[int(value)]
        ceilings.append(compute_bound(system, settings) / float(form["bytes_per_s"]))
    return np.array(ceilings)[inverse.reshape(-1)]


def _parse_field(field: str, text: str) -> Any:
    parse: Callable[[str], Any] = _parse_number
    if field in _WORDS:
        return text
    for fields, reader in ((_RATES, parse_rate), (_SIZES, parse_size), (_PER_BYTE, parse_per_byte)):
        parse = reader if field in fields else parse
    parse = parse_seconds if field == "latency" else parse
    try:
        return _to_integer(field, parse(text))
    except InputError as error:
        raise error.with_words(error.message.prefixed(f"bound {field}"), f"{error.hint}, or name a factor") from error


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError("not-a-number", "'{number}' is not a number", "write it like 4", number=text) from None


def _to_integer(field: str, value: Any) -> Any:
    return int(value) if field in _INTEGER_FIELDS and value == int(value) else value


def _compute_scale(field: str, feature: Feature) -> float:
    if field in _RATES and unit_to_bytes_per_s(feature.unit):
        return unit_to_bytes_per_s(feature.unit)[0]
    if field in _SIZES and feature.unit:
        return float(parse_size("1" + ("B" if feature.unit.lower() in ("byte", "bytes") else feature.unit)))
    return 1.0


def _parse_unit(examples: Examples, text: str) -> float:
    unit = text or examples.unit
    scale = unit_to_bytes_per_s(unit)
    if not scale:
        raise DataError(
            "not-a-rate",
            "{response} is "
            + ("in {unit}, which is" if unit else "without a unit:")
            + " no byte rate to compare with a bound",
            "set the unit: {spell.family:'bound … unit=MB/s'}",
            response=examples.response,
            unit=unit,
        )
    return scale[0]
