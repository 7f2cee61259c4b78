"""Whether all nodes see the target, and if not, what lies there instead: the mount tables of the nodes compared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from iosonde.ranks.machine import command, mount
from iosonde.ranks.mpi import Ranks


@dataclass(frozen=True)
class Seen:
    """One node's view of a directory: whether it is there, and the type and source of the mount below it."""

    visible: bool
    type: str
    source: str

    def other_than(self, first: Seen) -> tuple[str, str]:
        """This mount and the ``first`` one in words that tell them apart; the same words if nothing does."""
        if self.type != first.type:
            return self.type, first.type
        return f"{self.type} of {self.source}", f"{first.type} of {first.source}"


def look(directory: Path) -> Seen:
    """As this node sees it."""
    try:
        found = mount.of_path(directory)
    except OSError:
        found = None
    named = (found.type, command.redact(found.source)) if found else ("unknown", "")
    return Seen(directory.is_dir(), *named)


def compare(ranks: Ranks, directory: Path) -> list[str]:
    """One sentence for each node that does not see ``directory``; all ranks call it, and get the same answer."""
    seen = ranks.all_gather(look(directory) if ranks.local_rank == 0 else None)
    by_host = {ranks.hosts[rank].name: view for rank, view in enumerate(seen) if view}
    return sentences(by_host, directory)


def sentences(seen: dict[str, Seen], directory: Path) -> list[str]:
    """For hosts in the order of their ranks."""
    first = next((host for host, view in seen.items() if view.visible), None)
    said = []
    for host, view in seen.items():
        if view.visible:
            continue
        if first is None:
            said.append(f"{host}: {directory} is not visible")
            continue
        here, there = view.other_than(seen[first])
        why = f"the target is {here}, on {first} it is {there}" if here != there else "the mount is the same"
        said.append(f"{host}: {why}; {directory} is not visible there, mount the target at the same path on every node")
    return said
