"""Where the files of a directory lie in a lab, as text: files and bytes by server, and whether that is even."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.words import counted, percent, shown

from .layout import escape, table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.lab_spread import LabSpread


def lines(found: LabSpread) -> Iterator[str]:
    """The lines of the text."""
    more = f"; {counted(found.empty, 'file')} without bytes left out" if found.empty else ""
    yield escape(f"{found.directory}: {counted(found.n_files, 'file')}{more}")
    shares = found.shares
    rows = [[escape(name), files, n_bytes, percent(shares[name])]
            for name, (files, n_bytes) in found.servers.items()]  # fmt: skip
    yield from table(["server", "files", "bytes", "of all"], rows, "lrrr").splitlines()
    yield ""
    if found.spread:
        of = "busiest ÷ mean"
        kinds = [[row.what, shown(row.index), shown(row.chance_high), shown(row.p)] for row in found.spread]
        yield from table([of, "here", "chance up to", "p"], kinds, "lrrr").splitlines()
        yield ""
    yield from wrapped(f"{found.sentence[0].upper()}{found.sentence[1:]}.")
