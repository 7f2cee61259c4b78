"""Quantities that stay texts until a room reads them, as they may name a column of DATA or a variant."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from iosonde.core.options import Option, V, level_text
from iosonde.core.units import parse_per_byte, parse_rate, parse_seconds

Quantity = str | float
_BASE_UNITS: dict[Callable[..., Any], str] = {parse_rate: "B/s", parse_seconds: "s", parse_per_byte: "s/B"}
_MAX_NUMBER = 1e18


class QuantityText(Option[V, Quantity | None]):
    """A text with a unit; a number is in base units (bytes, s, bytes/s). ``parse_text`` is what will read it."""

    kind = "str, or float in base units"

    def __init__(self, metavar: str, help: str, parse_text: Callable[..., Any], **more: Any) -> None:  # noqa: A002
        super().__init__(metavar, help, **more)
        self.parse_text = parse_text

    def parse(self, value: Any) -> Any:
        """Return the text. Raises InputError for a number that is out of bounds."""
        return self._format(value)

    def _format(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= _MAX_NUMBER:
            raise self.error(
                "out-of-range",
                "{option} is not possible",
                "give a text with its unit, or a number from 0 to {maximum:g}",
                value,
                maximum=_MAX_NUMBER,
            )
        return f"{Decimal(level_text(value)):f}{_BASE_UNITS.get(self.parse_text, '')}"  # without an exponent


class QuantityTexts(QuantityText[V]):
    """Several of them."""

    kind = "str, float in base units, or sequence of them"

    def __set__(self, instance: object, value: Quantity | Sequence[Quantity] | None) -> None:
        """Hold the texts."""
        super().__set__(instance, value)  # type: ignore[arg-type]  # it takes one, and parse takes several

    def parse(self, value: Any) -> tuple[str, ...]:
        """Return the texts. Raises InputError for a number that is out of bounds."""
        several = value if isinstance(value, list | tuple) else [value]
        return tuple(map(self._format, several))
