"""Options that describe a system: its numbers, words, probes, and file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.core.option_kinds import Paths, Size
from iosonde.core.options import Choice, NameList, Text, Value, options_of
from iosonde.core.system_words import OPTIONS

from .quantity_text import QuantityText

if TYPE_CHECKING:
    from .bound.inputs import SystemDescription


class SystemNumber(QuantityText[str | None]):
    """A number of a system: a text with its unit, or a column of DATA. ``core.system_words`` declares it."""

    def __init__(self) -> None:
        super().__init__("", "", str)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        word = OPTIONS["--" + name.replace("_", "-")]
        self.field, self.parse_text, self.metavar, self.help, self._default_text = word


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
        from .bound.inputs import SystemDescription, words_of

        numbers = {
            option.field: vars(self)[option.name]
            for option in options_of(type(self))
            if isinstance(option, SystemNumber)
        }
        return SystemDescription(
            {field: text for field, text in numbers.items() if text is not None},
            words_of(self.operation, self.redundancy, self.erasure, self.placement),
            self.probe,
            str(self.cluster) if isinstance(self.cluster, Path) else self.cluster,
            memory_bytes=self.server_memory,
        )
