"""Description of a lab: file system, hosts, links, disks; from options or a mapping in a file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from iosonde.core.emulated import EmulatedRates
from iosonde.core.errors import InputError
from iosonde.core.message import spell
from iosonde.core.units import format_size, parse_bits, parse_rate, parse_seconds, parse_size

# tmpfs: data is in memory only, as in MemFS.
BASE_FILE_SYSTEMS = ("xfs", "ext4", "ext3", "btrfs", "tmpfs")
# Minima of mkfs: xfs (xfsprogs 6) more than 300 MB, btrfs 109 MiB; the others need room for a journal.
_LEAST_DISK = {"xfs": 320 * 2**20, "btrfs": 128 * 2**20, "ext4": 16 * 2**20, "ext3": 16 * 2**20, "tmpfs": 2**20}
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")


@dataclass(frozen=True)
class LabDescription(EmulatedRates):
    """Requested properties of a lab; None: not limited.
    Rates are in bytes/s except ``net_bits_per_s`` (Ethernet bits, as vendors count), sizes in bytes, times in seconds.
    ``scale`` divides all rates. ``options`` are passed to the file system. ``clients_on_servers`` of the ``clients``
    are servers that also mount the file system.
    """

    file_system: str
    name: str = ""
    servers: int = 3
    clients: int = 2
    clients_on_servers: int = 0
    net_bits_per_s: float | None = None
    delay_s: float | None = None
    base_fs: str = "xfs"
    disk_bytes: int = 2 * 2**30
    disk_read: float | None = None
    disk_write: float | None = None
    write_back_bytes: int | None = None
    cpus_per_host: float | None = None
    scale: float = 1.0
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name and not _NAME.fullmatch(self.name):
            raise InputError(
                "invalid-name",
                "{spell.name:{name}}: not a valid name",
                "use at most 31 lower-case letters, digits and '-'",
                name=self.name,
            )
        if self.base_fs not in BASE_FILE_SYSTEMS:
            raise InputError(
                "unknown-option-value",
                "{spell.base_fs:{base_fs}}: unknown",
                "use one of {base_file_systems}",
                base_fs=self.base_fs,
                base_file_systems=", ".join(BASE_FILE_SYSTEMS),
            )
        if self.base_fs == "tmpfs" and (self.disk_read or self.disk_write or self.write_back_bytes):
            raise InputError(
                "conflicting-options",
                "cannot throttle memory ({spell.base_fs} tmpfs)",
                "omit the disk rates",
            )
        for key in ("servers", "clients"):
            if not 1 <= getattr(self, key) <= 60:
                raise InputError(
                    "out-of-range",
                    "{option}: not a valid number of hosts",
                    "use 1 to 60",
                    option=format(getattr(spell, key), f"{getattr(self, key)}"),
                    name=key,
                    number=getattr(self, key),
                )
        if not 0 <= self.clients_on_servers <= min(self.servers, self.clients):
            raise InputError(
                "out-of-range",
                "{spell.clients_on_servers:{clients_on_servers}}: there are {servers} servers and {clients} clients",
                "use at most the smaller of these numbers",
                clients_on_servers=self.clients_on_servers,
                servers=self.servers,
                clients=self.clients,
            )
        for word, (key, _) in WORDS.items():
            value = getattr(self, key)
            counted = word in ("servers", "clients", "clients_on_servers", "delay")
            if isinstance(value, float | int) and not counted and not 0 < value < math.inf:
                raise InputError(
                    "out-of-range",
                    "{option}: must be positive and finite",
                    option=format(getattr(spell, word), f"{value:g}"),
                    name=word,
                    number=value,
                )
        if self.delay_s is not None and not 0 <= self.delay_s < math.inf:
            raise InputError(
                "out-of-range",
                "{spell.delay:{delay_s:g}}: must be finite and not negative",
                delay_s=self.delay_s,
            )
        if self.disk_bytes < (least := _LEAST_DISK.get(self.base_fs, 0)):
            raise InputError(
                "disk-too-small",
                "{spell.disk_size:{disk_bytes}}: too small for {base_fs}",
                "use {min_bytes} or more",
                disk_bytes=format_size(self.disk_bytes),
                base_fs=self.base_fs,
                min_bytes=format_size(least),
            )

    def with_name(self, name: str) -> LabDescription:
        """Return the same description with a name."""
        return replace(self, name=name)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for ``description_from_dict``."""
        return asdict(self) | {"options": dict(self.options)}


def description_from_dict(document: Mapping[str, Any]) -> LabDescription:
    """Return the description of ``to_dict``; unknown keys are ignored."""
    field_names = {lab_field.name for lab_field in fields(LabDescription)}
    return LabDescription(**{key: value for key, value in document.items() if key in field_names})


# Key of a file's mapping, or option → (field, parser).
WORDS: dict[str, tuple[str, Any]] = {
    "file_system": ("file_system", str),
    "name": ("name", str),
    "servers": ("servers", int),
    "clients": ("clients", int),
    "clients_on_servers": ("clients_on_servers", int),
    "net": ("net_bits_per_s", lambda text: parse_bits(str(text))),
    "delay": ("delay_s", parse_seconds),
    "base_fs": ("base_fs", str),
    "disk_size": ("disk_bytes", parse_size),
    "disk_read": ("disk_read", lambda text: parse_rate(str(text))),
    "disk_write": ("disk_write", lambda text: parse_rate(str(text))),
    "write_back": ("write_back_bytes", parse_size),
    "cpus": ("cpus_per_host", float),
    "scale": ("scale", float),
}


def description_from_words(words: Mapping[str, Any], options: Mapping[str, str]) -> LabDescription:
    """Return the description of user-written words: ``{"net": "993mbit", "disk_read": "117MB/s"}``.
    None values are ignored. Raises InputError.
    """
    read: dict[str, Any] = {}
    for word, text in words.items():
        if text is None:
            continue
        if word not in WORDS:
            raise InputError(
                "unknown-key", "lab: {key}: unknown key", "use one of {keys}", key=word, keys=", ".join(WORDS)
            )
        name, parse = WORDS[word]
        try:
            read[name] = parse(text)
        except InputError as error:
            raise error.prefixed(f"lab: {word}") from error
        except ValueError as error:
            raise InputError(
                "invalid-option-value", "lab: {key}: {setting}: {error}", key=word, setting=text, error=error
            ) from error
    return LabDescription(**read, options=dict(options))
