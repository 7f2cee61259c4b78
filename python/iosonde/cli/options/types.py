"""What values of options are read as: sizes, times, counts, precisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from iosonde.core.errors import InputError
from iosonde.core.option_kinds import figure_format
from iosonde.core.units import parse_seconds, parse_size

_T = TypeVar("_T")


class _Kind(click.ParamType):  # type: ignore[type-arg]  # generic in the newest click only, and others will do
    """What an option's text is read as."""


class SizeType(_Kind):
    """A size such as 4KiB or 1M, in bytes."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Bytes."""
        return _parse_or_fail(parse_size, value, self, param, ctx)


class Duration(_Kind):
    """A duration such as 30min, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Seconds."""
        return _parse_or_fail(parse_seconds, value, self, param, ctx)


class Counts(_Kind):
    """A list of counts such as 1,2,4."""

    name = "counts"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        """The counts, each once."""
        if isinstance(value, tuple):
            return value
        try:
            counts = tuple(int(word) for word in value.split(","))
        except ValueError:
            counts = ()
        if not counts or min(counts) < 1:
            self.fail(f"'{value}' is not a list of counts: write it like 1,2,4", param, ctx)
        return tuple(dict.fromkeys(counts))


class FigureFile(_Kind):
    """The file of a figure: its name is looked at before anything is computed."""

    name = "figure"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The name. Raises InputError for one that ends in no format of ours."""
        figure_format(value)
        return str(value)


def _parse_or_fail(parse: Callable[[Any], _T], value: Any, kind: _Kind, param: Any, ctx: Any) -> _T:
    try:
        return parse(value)
    except InputError as error:
        kind.fail(f"{error.message}: {error.hint}", param, ctx)
