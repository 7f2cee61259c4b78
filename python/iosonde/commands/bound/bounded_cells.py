"""The cells of a response that are bounded, and the sources of a bound's numbers in words: the lab, a column, values
given by hand, a probe."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.system_words import FLAGS, READS, parse_bytes
from iosonde.core.table import Cell as Level
from iosonde.core.units import (
    format_rate,
    format_seconds,
    format_size,
    parse_link_rate,
    parse_per_byte,
    parse_rate,
    parse_seconds,
)
from iosonde.data.responses import Response
from iosonde.model.bound.shares import MeasuredShare

from .inputs import BY_HAND

_FORMATS: dict[object, Callable[[float], str]] = {
    parse_rate: lambda x: format_rate(x, "bytes/s"),
    parse_link_rate: lambda x: format_rate(x, "bytes/s"),
    parse_seconds: format_seconds,
    parse_bytes: format_size,
    parse_per_byte: lambda x: f"{1e6 * x:.3g} s/MB",
}
_NAMES = {"data_chunks": "data chunks", "parity_chunks": "parity chunks"}


@dataclass(frozen=True)
class BoundCell:
    """The trials at one setting: ``rows`` of the response that have a value."""

    by: dict[str, Level]
    rows: npt.NDArray[np.intp]

    def runs(self, response: Response) -> tuple[str, ...]:
        """The ids of its trials, where they come from a store."""
        columns = response.rows.columns
        return tuple(map(str, columns["run"].values[self.rows])) if "run" in columns else ()


def iterate_cells(response: Response, columns: Sequence[str]) -> Iterator[BoundCell]:
    """The settings of a response: its factors, and the ``columns`` that are named as words of the system."""
    has_value = ~np.isnan(response.values)
    by = list(dict.fromkeys([*response.names, *columns]))
    for key, rows in response.rows.groups(by):
        present = np.sort(rows[has_value[rows]])
        if present.size:
            yield BoundCell(dict(zip(by, key, strict=True)), present)


def format_value(field: str, value: Any) -> str:
    """The value of a field of the system, with its unit."""
    if isinstance(value, str):
        return value
    return _FORMATS.get(READS.get(field), "{:g}".format)(value)


def group_options_by_source(shares: Sequence[MeasuredShare]) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Map sources to (name of an option, its values over the cells), the first source first."""
    options_by_source: dict[str, dict[str, dict[str, None]]] = {}
    for share in shares:
        for field, source in share.sources.items():
            values = options_by_source.setdefault(source, {}).setdefault(_format_field_name(field), {})
            values[format_value(field, getattr(share.ceiling.system, field))] = None
    return {
        source: [(name, tuple(values)) for name, values in options.items()]
        for source, options in options_by_source.items()
    }


def describe_sources(options_by_source: Mapping[str, Sequence[tuple[str, Sequence[str]]]]) -> list[str]:
    """A sentence for each source."""
    return [
        ("" if source == BY_HAND else "from ")
        + f"{source}: "
        + ", ".join(f"{name} {' or '.join(values)}" for name, values in options)
        for source, options in options_by_source.items()
    ]


def describe_overridden_fields(lab_fields: Mapping[str, Any], taken: Collection[str]) -> list[str]:
    """Return a sentence for each of the ``lab_fields`` that another source overrides: those not ``taken``."""
    template = "{input} of the lab, {level}, is overridden by another source"
    return [
        Message("lab-input-overridden", template, input=_format_field_name(field), level=format_value(field, value))
        for field, value in lab_fields.items()
        if field not in taken
    ]


def _format_field_name(field: str) -> str:
    return _NAMES.get(field) or FLAGS.get(field, field).removeprefix("--")
