"""The translators of a GlusterFS client, as shown in ``MOUNT/.meta/graphs/active`` (since GlusterFS 3.6).

Each has a directory: ``type``, ``options/*``, ``subvolumes/*`` (links), ``private``. With hundreds of bricks only the
necessary files are read: each is a query to the client process.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from .. import reading

_CLIENT = "protocol/client"
# Translators that an option enables or disables: option (performance.…) → type.
SWITCHED = {
    "write-behind": "performance/write-behind",
    "read-ahead": "performance/read-ahead",
    "io-cache": "performance/io-cache",
    "quick-read": "performance/quick-read",
    "open-behind": "performance/open-behind",
    "stat-prefetch": "performance/md-cache",
    "readdir-ahead": "performance/readdir-ahead",
    "nl-cache": "performance/nl-cache",
    "client-io-threads": "performance/io-threads",
}
# The settings among a translator's own state; the rest are counters. Its ``options`` directory is useless: it shows the
# state at the last assembly of the translators, without later changes (seen with 10.3).
_LIVE = {
    "performance/write-behind": ("aggregate_size", "window_size", "flush_behind", "trickling_writes"),
    "performance/read-ahead": ("page_size", "page_count"),
    "performance/io-cache": ("cache_size", "cache_timeout", "min-file-size", "max-file-size"),
    "performance/quick-read": ("max_file_size", "cache_timeout"),
    "performance/open-behind": ("use_anonymous_fd", "lazy_open"),
    "features/shard": ("shard-block-size",),
    "cluster/replicate": ("read-hash-mode", "quorum-type"),
    "cluster/disperse": ("read-policy", "parallel-writes"),
    _CLIENT: ("ping_timeout",),
}
# The options that determine the shape of the volume.
_SHAPE = ("redundancy", "arbiter-count")


@dataclass(frozen=True)
class Translator:
    """A translator with its settings in effect (``live``), and those that formed the volume (``shape``)."""

    name: str
    type: str
    children: int
    shape: dict[str, str]
    live: dict[str, str]


@dataclass(frozen=True)
class Brick:
    """A brick, and whether this client is connected to it; None if unknown."""

    host: str
    path: str
    connected: bool | None

    @property
    def place(self) -> str:
        """``host:/path``."""
        return f"{self.host}:{self.path}"


@dataclass(frozen=True)
class Graph:
    """All translators except those of the bricks, by name, and the bricks in the volume's order."""

    translators: dict[str, Translator]
    bricks: tuple[Brick, ...]

    def select_type(self, kind: str) -> list[Translator]:
        """Return the translators of a type, in the volume's order."""
        return sorted(
            (translator for translator in self.translators.values() if translator.type == kind),
            key=lambda translator: _parse_number(translator.name),
        )


def read_graph(root: str) -> Graph | None:
    """Read the graph of the volume mounted at ``root``; None if it shows none."""
    folder = Path(root) / ".meta" / "graphs" / "active"
    try:
        names = sorted(os.listdir(folder), key=_parse_number)
    except OSError:
        return None
    translators, bricks = {}, []
    for name in names:
        kind = reading.read_text(folder / name / "type")
        if kind == _CLIENT:
            bricks.append(_read_brick(folder / name))
            if len(bricks) > 1:
                continue  # all bricks have the same options
        if kind:
            translators[name] = _read_translator(folder / name, kind)
    return Graph(translators, tuple(bricks)) if translators else None


def _read_translator(folder: Path, kind: str) -> Translator:
    private = _read_private(folder) if kind in _LIVE else {}
    live = {name: private[name] for name in _LIVE.get(kind, ()) if name in private}
    shape = {name: value for name in _SHAPE if (value := reading.read_text(folder / "options" / name))}
    return Translator(folder.name, kind, len(_list_names(folder / "subvolumes")), shape, live)


def _read_brick(folder: Path) -> Brick:
    state = _read_private(folder).get("connected")
    host = reading.read_text(folder / "options" / "remote-host") or "?"
    path = reading.read_text(folder / "options" / "remote-subvolume") or ""
    return Brick(host, path, None if state is None else state == "1")


def _read_private(folder: Path) -> dict[str, str]:
    return reading.parse_key_values(reading.read_text(folder / "private") or "", "=")


def _list_names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _parse_number(name: str) -> tuple[str, int]:
    """Sort key: ``client-10`` comes after ``client-9``."""
    match = re.search(r"\d+$", name)
    return (name[: match.start()], int(match[0])) if match else (name, -1)
