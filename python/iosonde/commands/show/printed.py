"""Output of a run's commands, node by node, from the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.stored import StoredPhase

from .answer import ChosenRuns

_PIECE = 1 << 20


@dataclass(frozen=True)
class Printed:
    """An output: ``head`` names the step, rank and node, and how it ended."""

    head: str
    content: bytes | Path

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size

    @property
    def text(self) -> str:
        """Return the output as text; undecodable bytes become a replacement character."""
        return b"".join(self.pieces()).decode(errors="replace")

    def pieces(self) -> Iterator[bytes]:
        """Yield the original bytes, at most 1 MiB at a time."""
        if isinstance(self.content, bytes):
            yield self.content
            return
        with self.content.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece


def printed(chosen: ChosenRuns, ranks: Sequence[int] = ()) -> list[Printed]:
    """Return the outputs of the chosen run, in the order of its steps; of ``ranks`` only. Raises InputError if there is
    none."""
    if chosen.run is None:
        raise InputError(
            "missing-option",
            "{spell.printed} needs a run, and {spell.rank} needs {spell.printed}",
            "'iosonde show {path}' lists the runs",
            path=chosen.store.path,
        )
    run = chosen.store.run(chosen.run)
    heads = {name: (head, rank) for name, head, rank in _describe_outputs([StoredPhase(phase) for phase in run.phases])}
    names = [name for name in run.raw if not ranks or heads.get(name, ("", None))[1] in ranks]
    if not names:
        which = f"rank {', '.join(map(str, ranks))} of run {run.id}" if ranks else f"run {run.id}"
        raise InputError(
            "no-output",
            "{source} has no stored output",
            "'iosonde show {path} {id}' shows it",
            source=which,
            path=chosen.store.path,
            id=run.id,
        )
    names.sort(key=lambda output: list(heads).index(output) if output in heads else len(heads))
    return [Printed(heads.get(name, (name, None))[0], run.raw[name]) for name in names]


def _describe_outputs(phases: Sequence[StoredPhase]) -> Iterator[tuple[str, str, int]]:
    """Yield (file, its head, rank) of every output, in the order of the steps."""
    for phase in phases:
        for rank in phase.ranks if phase.is_command else ():
            if rank.get("output"):
                ended = f"exit {rank['exit_code']}" if rank["signal"] is None else f"signal {rank['signal']}"
                ended += f", {rank['ended_by']}" if rank["ended_by"] else ""
                ended += f", {rank['left']} left behind and ended" if rank["left"] else ""
                ended += f", {rank['cut_bytes']:,} bytes of output cut" if rank.get("cut_bytes") else ""
                yield rank["output"], f"{phase.name} rank {rank['rank']} on {rank['host']}: {ended}", rank["rank"]
