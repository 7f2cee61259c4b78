"""What commands printed, as one stream of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from .answer import Printed


def write_outputs(outputs: Iterable[Printed], file: BinaryIO) -> None:
    """Write outputs as they are, each below its head, which a program can find, and with a line end."""
    from iosonde.layout.text import escape

    for output in outputs:
        file.write(f"==> {escape(output.head)}, {output.size} bytes <==\n".encode())
        last = b"\n"
        for piece in output.pieces():
            file.write(piece)
            last = piece[-1:]
        if last != b"\n":
            file.write(b"\n")
