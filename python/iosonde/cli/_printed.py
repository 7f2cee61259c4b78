"""``iosonde show STORE RUN --printed``: what commands printed, node by node, between lines that a program can find.

A head is ``==> step-02 rank 1 on n2: exit 0, 1234 bytes <==``; so many bytes follow, and a line end if they lack one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError

if TYPE_CHECKING:
    from iosonde.store import Store

_PIECE = 1 << 20


def show(store: Store, run_id: str, ranks: tuple[int, ...]) -> None:
    """To stdout: the bytes as they were, or escaped where a person looks. Raises InputError if there is nothing."""
    run = store.run(run_id)
    heads = {name: (head, rank) for name, head, rank in _heads(run.phases)}
    chosen = [name for name in run.raw if not ranks or heads.get(name, ("", None))[1] in ranks]
    if not chosen:
        which = f"rank {', '.join(map(str, ranks))} of run {run_id}" if ranks else f"run {run_id}"
        raise InputError(f"{which} has printed nothing that was kept", f"'iosonde show {store.path} {run_id}' shows it")
    for name in sorted(chosen, key=lambda one: list(heads).index(one) if one in heads else len(heads)):
        content = run.raw[name]
        size = content.stat().st_size if isinstance(content, Path) else len(content)
        _write(heads.get(name, (name, None))[0], size, _pieces(content))


def _heads(phases: list[dict[str, Any]]) -> Iterator[tuple[str, str, int]]:
    """(file, what its head says, rank) of every output, in the order of the steps."""
    for phase in phases:
        for rank in phase["ranks"] if "command" in phase else ():
            if rank.get("output"):
                ended = f"exit {rank['exit_code']}" if rank["signal"] is None else f"signal {rank['signal']}"
                ended += f", {rank['ended_by']}" if rank["ended_by"] else ""
                ended += f", {rank['left']} left behind and ended" if rank["left"] else ""
                yield rank["output"], f"{phase['name']} rank {rank['rank']} on {rank['host']}: {ended}", rank["rank"]


def _pieces(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def _write(head: str, size: int, pieces: Iterator[bytes]) -> None:
    from iosonde.report.text import escape

    terminal = sys.stdout.isatty()
    click.echo(escape(f"==> {head}, {size} bytes <=="))
    last = b"\n"
    for piece in pieces:
        last = piece[-1:]
        if terminal:
            click.echo("\n".join(escape(line) for line in piece.decode("utf-8", "replace").split("\n")), nl=False)
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    if last != b"\n":
        click.echo()
