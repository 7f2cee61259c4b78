"""Directories for the ranks' results until a trial is stored, and their removal from all nodes after a trial was killed
or interrupted.

The directory has the same name on all nodes. Nodes that do not share it with the node that started the ranks have their
own, which only a process there can remove: ``python -m iosonde.measure.spools EXPERIMENT PARENT``.
"""

import glob
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.message import Message
from iosonde.foreign.removal import remove_scratch
from iosonde.ranks import beats, leftovers, temporary, watchdog
from iosonde.ranks.launch import Launcher

from .rank import command
from .rank.program import BEATS, PARENT_MARK


def make_spool(experiment: str, parent: Path | None) -> Path:
    """Make an empty spool for a trial, in ``parent`` or in the temporary directory."""
    return Path(tempfile.mkdtemp(prefix=_build_prefix(experiment), dir=parent))


@dataclass
class Spool:
    """The spool of one trial. ``holds_outputs``: its Run refers to files in it, which are removed once it is stored."""

    folder: Path
    holds_outputs: bool = False


@contextmanager
def open_trial(experiment: str, parent: Path | None, remember: Path | None) -> Iterator[Spool]:
    """Yield an empty spool, removed at the end of the block. ``remember`` holds what cannot be removed until a hung
    process ends."""
    spool = Spool(make_spool(experiment, parent))
    try:
        yield spool
    finally:
        if remember:
            leftovers.remember_files(remember, leftovers.list_remaining_files(spool.folder / BEATS))
        if not spool.holds_outputs:
            remove_scratch(spool.folder)


def read_local_beats(experiment: str, parent: Path | None = None) -> list[beats.Beat]:
    """Return the last heartbeats of the ranks of a running trial, as far as its spool is on this node and readable."""
    last_beats: list[beats.Beat] = []
    for folder in _get_place(parent).glob(_build_prefix(glob.escape(experiment)) + "*"):
        with suppress(OSError):
            last_beats += beats.read_beats(folder / BEATS)
    return last_beats


def remove_here(experiment: str, parent: Path | None) -> None:
    """Remove all spools of this experiment on this node; their trials are repeated.

    Only the holder of the experiment's lock may call it.
    """
    for folder in _get_place(parent).glob(_build_prefix(glob.escape(experiment)) + "*"):
        command.end_trial(str(folder))
        leftovers.remove_recorded(folder / BEATS)
        with suppress(OSError):
            leftovers.remove_since((folder / PARENT_MARK).stat().st_mtime)
        remove_scratch(folder)


def remove_on_nodes(launcher: Launcher, nodes: int, experiment: str, parent: Path | None, limit_s: float) -> str:
    """Remove them on the first ``nodes`` nodes, if these are others. Return a message if that failed."""
    if nodes < 2 or launcher.name == "local":
        return ""
    place = _get_place(parent)
    program = [sys.executable, "-m", "iosonde.measure.spools", experiment, str(place)]
    with temporary.hold_directory("clean", parent) as folder:
        limits = watchdog.TimeLimits(limit_s, grace_s=0.5)
        ended = watchdog.watch_command(
            launcher.command(nodes, 1, program), heartbeat_dir=folder, limits=limits, ranks=nodes
        )
    if not ended.exit_code:
        return ""
    return Message(
        "no-response" if ended.timed_out else "leftover-spool",
        "{path}* may be left on some of the nodes ({reason}); the same command removes it",
        path=place / _build_prefix(experiment),
        reason=f"no answer within {limit_s:.0f} s" if ended.timed_out else ended.last_words(),
    )


def _build_prefix(experiment: str) -> str:
    return f"iosonde-spool-{experiment}-"


def _get_place(parent: Path | None) -> Path:
    return parent or Path(tempfile.gettempdir())


if __name__ == "__main__":
    remove_here(sys.argv[1], Path(sys.argv[2]))
