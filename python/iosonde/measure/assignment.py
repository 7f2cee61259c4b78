"""The parent's orders for the ranks of one trial: plain data, as one word of a command line or, if long, a file."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import LaunchError
from iosonde.core.types import FactorValue

from .spec import CacheRegime, Control

if TYPE_CHECKING:
    from iosonde.ranks.mpi import Ranks

# Linux limits an argument to 128 KiB (MAX_ARG_STRLEN), and launchers repeat and quote it.
MOST_CHARACTERS = 16 * 1024
FILE = "assignment"


@dataclass(frozen=True)
class Assignment:
    """The assignment of one trial. ``root`` is its directory on the target, ``items`` its steps in order (see
    ``items``), ``values`` the values of its placeholders. ``hosts`` are the nodes' addresses for the launcher (empty:
    their host names), ``directory`` is where commands run. ``outside`` are the launcher variables that were set before
    ours, ``file_servers`` the hosts that hold the target's data (empty: unknown). Rank 0 notes in the file ``marks``
    when a phase begins and ends (empty: not needed). The command ``server_counts`` prints the servers' counters (empty:
    they have none).
    """

    root: str
    spool: str
    ranks: int
    items: list[dict[str, Any]]
    seed: int
    max_operations: int
    ranks_per_node: int = 1
    values: dict[str, FactorValue] = field(default_factory=dict)
    controls: list[dict[str, Any]] = field(default_factory=list)
    cache: dict[str, Any] = field(default_factory=dict)
    hosts: list[str] = field(default_factory=list)
    directory: str = ""
    outside: list[str] = field(default_factory=list)
    file_servers: list[str] = field(default_factory=list)
    marks: str = ""
    server_counts: list[str] = field(default_factory=list)
    only_collect: bool = False

    @property
    def regime(self) -> CacheRegime:
        """The cache regime."""
        return CacheRegime(**self.cache)

    @property
    def factor_controls(self) -> list[Control]:
        """The controls that set factors and read them back."""
        return [Control(**control) for control in self.controls]

    def to_word(self) -> str:
        """Return the assignment as one word that needs no quoting in shells and launchers.

        If it is too long for a command line, it goes into a file of the spool, from which rank 0 broadcasts it.
        """
        packed = zlib.compress(json.dumps(asdict(self)).encode(), 9)
        word = base64.urlsafe_b64encode(packed).decode()
        if len(word) <= MOST_CHARACTERS:
            return word
        (Path(self.spool) / FILE).write_bytes(packed)
        return base64.urlsafe_b64encode(
            zlib.compress(json.dumps({"spool": self.spool, "ranks": self.ranks}).encode())
        ).decode()

    @staticmethod
    def from_word(word: str) -> Assignment | Sealed:
        """Return the inverse of ``to_word``; a Sealed if the content is in a file."""
        content = json.loads(zlib.decompress(base64.urlsafe_b64decode(word)))
        return Assignment(**content) if "root" in content else Sealed(**content)


@dataclass(frozen=True)
class Sealed:
    """An assignment that lies in rank 0's spool."""

    spool: str
    ranks: int

    def opened(self, ranks: Ranks) -> Assignment:
        """Read it on rank 0 and broadcast it. Raises LaunchError on all ranks if rank 0 cannot read it."""
        content: dict[str, Any] | None = None
        if ranks.rank == 0:
            try:
                content = json.loads(zlib.decompress((Path(self.spool) / FILE).read_bytes()))
            except OSError:
                content = None
        content = ranks.broadcast(content)
        if content is None:
            raise LaunchError(
                "spool-not-shared",
                "rank 0 runs on {host} and cannot read {spool} of the node that started it",
                "start iosonde on the first node, or give a shared directory with {spell.spool}",
                host=ranks.hosts[0].name,
                spool=self.spool,
            )
        return Assignment(**content)
