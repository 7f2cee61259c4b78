"""Distribution of a directory's files over a lab's servers: uneven, or as chance would place them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.errors import InputError
from iosonde.core.filesystems import get_file_placement
from iosonde.core.message import Message
from iosonde.core.words import format_count, format_number
from iosonde.stats.estimate.evenness import Evenness, compare_with_random_placement, list_placement_places
from iosonde_lab import api as labs

_STRIPED = Message("striped-files", "files are cut into pieces, each on servers of its own")
_ON_ALL = Message("fully-replicated", "every server has every file")


@dataclass(frozen=True)
class LabSpread(Answer):
    """``servers``: name → (files, bytes) there. ``copies``: number of places of each file, among those that chance
    chooses from (servers, or sets of them that hold the same copies). ``spread`` is empty, with the reason in
    ``why_not``, if the effect of chance is unknown. ``empty``: files without bytes, which are excluded."""

    directory: str
    n_files: int
    servers: dict[str, tuple[int, int]]
    spread: tuple[Evenness, ...] = ()
    copies: int = 1
    empty: int = 0
    why_not: str = ""

    @property
    def shares(self) -> dict[str, float]:
        """Map servers to their share of all bytes."""
        total = sum(n_bytes for _, n_bytes in self.servers.values())
        return {name: n_bytes / total for name, (_, n_bytes) in self.servers.items()}

    def content(self) -> dict[str, Any]:
        """Plain values."""
        shares = self.shares
        return {
            "directory": self.directory,
            "files": self.n_files,
            "files_without_bytes": self.empty,
            "servers": {
                name: {"files": files, "bytes": n_bytes, "share": shares[name]}
                for name, (files, n_bytes) in self.servers.items()
            },
            "copies": self.copies,
            "spread": [entry.to_dict() for entry in self.spread],
            "why_not": self.why_not,
            "sentence": self.sentence,
        }

    @property
    def sentence(self) -> str:
        """Describe the result."""
        if not self.spread:
            return f"the evenness is unknown: {self.why_not}"
        uneven = [entry for entry in self.spread if entry.uneven]
        level = f"{100 * self.spread[0].level:g} %"
        if uneven:
            each = " and ".join(
                f"{format_number(entry.index)} times the mean of {entry.what} (chance: up to "
                f"{format_number(entry.chance_high)})"
                for entry in uneven
            )
            return f"uneven at {level}: the busiest has {each}"
        files = self.spread[0]
        return (
            f"as chance would have it: of {format_count(self.n_files, 'file')} thrown blindly the busiest of "
            f"{files.n_places} places has up to {format_number(files.chance_high)} times the mean in {level}"
        )


def answer(lab: labs.Lab, directory: str, placed: Sequence[labs.Placement], level: float) -> LabSpread:
    """Analyse the files of a directory by the place of their bytes. Raises InputError if there are none."""
    file_bytes = [placement.n_bytes for placement in placed if any(placement.n_bytes.values())]
    if not file_bytes:
        raise InputError("no-files", "{directory}: no file with bytes is below it", directory=directory)
    names = [server.name for server in lab.servers]
    servers = {
        name: (
            sum(by_server.get(name, 0) > 0 for by_server in file_bytes),
            sum(by_server.get(name, 0) for by_server in file_bytes),
        )
        for name in names
    }
    empty, holders = (
        len(placed) - len(file_bytes),
        [frozenset(name for name in by_server if by_server[name]) for by_server in file_bytes],
    )
    in_groups = get_file_placement(lab.description.file_system) == "groups"
    if (chosen := list_placement_places(holders, names, in_groups)) is None:
        return LabSpread(directory, len(file_bytes), servers, empty=empty, why_not=_STRIPED)
    places, copies = chosen
    if len(places) == 1 or copies == len(places):
        return LabSpread(directory, len(file_bytes), servers, (), copies, empty, _ON_ALL)
    at = {place: number for number, place in enumerate(places)}
    file_places = [[at[holder]] if holder in at else [at[name] for name in holder] for holder in holders]
    sizes = [max(by_server.values()) for by_server in file_bytes]
    return LabSpread(
        directory,
        len(file_bytes),
        servers,
        compare_with_random_placement(file_places, sizes, len(places), level),
        copies,
        empty,
    )
