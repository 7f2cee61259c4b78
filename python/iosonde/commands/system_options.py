"""Options that describe a system: its numbers, words, probes, and file."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.option_kinds import Paths, Size
from iosonde.core.options import Choice, NameList, Option, Text, V, Value, format_written_level, iter_options
from iosonde.core.system_words import OPTIONS
from iosonde.core.units import parse_link_rate, parse_per_byte, parse_rate, parse_seconds

if TYPE_CHECKING:
    from iosonde.commands.bound.inputs import SystemDescription

Quantity = str | float
_BASE_UNITS: dict[Callable[..., Any], str] = {
    parse_rate: "B/s",
    parse_link_rate: "B/s",
    parse_seconds: "s",
    parse_per_byte: "s/B",
}
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
        return f"{Decimal(format_written_level(value)):f}{_BASE_UNITS.get(self.parse_text, '')}"  # without an exponent


class QuantityTexts(QuantityText[V]):
    """Several of them."""

    kind = "str, float in base units, or sequence of them"

    def __set__(self, instance: object, value: Quantity | Sequence[Quantity] | None) -> None:
        """Hold the texts."""
        super().__set__(instance, value)  # type: ignore[arg-type]  # it takes one, and parse takes several

    def parse(self, value: Any) -> tuple[str, ...]:
        """Return the texts. Raises InputError for a number that is out of bounds."""
        return tuple(map(self._format, value if isinstance(value, list | tuple) else [value]))


class SystemNumber(QuantityText[str | None]):
    """A number of a system: a text with its unit, or a column of DATA. ``core.system_words`` declares it."""

    def __init__(self) -> None:
        super().__init__("", "", str)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.field, self.parse_text, self.metavar, self.help, self._default_text = OPTIONS[
            "--" + name.replace("_", "-")
        ]


@dataclass(kw_only=True)
class SystemOptions:
    """A system of clients, servers, links and disks."""

    clients: SystemNumber = SystemNumber()
    servers: SystemNumber = SystemNumber()
    disks: SystemNumber = SystemNumber()
    net: SystemNumber = SystemNumber()
    client_net: SystemNumber = SystemNumber()
    server_net: SystemNumber = SystemNumber()
    fabric: SystemNumber = SystemNumber()
    disk: SystemNumber = SystemNumber()
    disk_read: SystemNumber = SystemNumber()
    disk_write: SystemNumber = SystemNumber()
    cpu: SystemNumber = SystemNumber()
    server_cpu: SystemNumber = SystemNumber()
    memory_copy: SystemNumber = SystemNumber()
    copies: SystemNumber = SystemNumber()
    latency: SystemNumber = SystemNumber()
    request: SystemNumber = SystemNumber()
    queue_depth: SystemNumber = SystemNumber()
    metadata_rate: SystemNumber = SystemNumber()
    metadata_operations: SystemNumber = SystemNumber()
    file_size: SystemNumber = SystemNumber()
    replicas: SystemNumber = SystemNumber()
    chunk: SystemNumber = SystemNumber()
    stripe: SystemNumber = SystemNumber()
    files: SystemNumber = SystemNumber()
    operation: Choice[str | None] = Choice(("read", "write"), "What is done.", default_text="write; as DATA says")
    redundancy: Choice[str | None] = Choice(("client", "chained"), "Who makes the `replicas`.", default_text="client")
    erasure: Text[str | None] = Text("K+M", "Erasure code by the client: 4+2.")
    placement: Choice[str | None] = Choice(
        ("round_robin", "random", "groups"),
        "How servers are chosen for `stripe`; groups: one of the fixed sets that hold the same copies.",
    )
    probe: Paths[NameList] = Paths(
        "FILE|STORE",
        "What 'iosonde probe --json', netperf, iperf or IOzone printed, or a store that knows a probe. Repeatable.",
        default=(),
        is_repeatable=True,
    )
    cluster: Value = Value("FILE", "The system as a file: today, as 'iosonde upgrade' reads it; in Python also a dict.")
    server_memory: Size[int | None] = Size(
        "SIZE", "Warn if a server's part of the data fits into it; larger files of IOzone tell R."
    )

    @property
    def description(self) -> SystemDescription:
        """What the answers take. Raises InputError."""
        from .bound.inputs import SystemDescription, parse_system_words

        numbers = {
            option.field: vars(self)[option.name]
            for option in iter_options(type(self))
            if isinstance(option, SystemNumber)
        }
        return SystemDescription(
            {field: text for field, text in numbers.items() if text is not None},
            parse_system_words(self.operation, self.redundancy, self.erasure, self.placement),
            self.probe,
            str(self.cluster) if isinstance(self.cluster, Path) else self.cluster,
            memory_bytes=self.server_memory,
        )
