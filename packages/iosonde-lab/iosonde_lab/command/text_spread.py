"""Distribution of a directory over the servers of a lab, as text: files and bytes by server, and the balance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.words import format_count, format_number, format_share
from iosonde.layout.text import escape, table, wrapped

if TYPE_CHECKING:
    from .spread import LabSpread


def lines(spread_report: LabSpread) -> Iterator[str]:
    """The lines of the text."""
    more = f"; {format_count(spread_report.empty, 'file')} without bytes left out" if spread_report.empty else ""
    yield escape(f"{spread_report.directory}: {format_count(spread_report.n_files, 'file')}{more}")
    shares = spread_report.shares
    rows = [
        [escape(name), files, n_bytes, format_share(shares[name])]
        for name, (files, n_bytes) in spread_report.servers.items()
    ]
    yield from table(["server", "files", "bytes", "of all"], rows, "lrrr").splitlines()
    yield ""
    if spread_report.spread:
        of = "busiest ÷ mean"
        kinds = [
            [row.what, format_number(row.index), format_number(row.chance_high), format_number(row.p)]
            for row in spread_report.spread
        ]
        yield from table([of, "here", "chance up to", "p"], kinds, "lrrr").splitlines()
        yield ""
    yield from wrapped(f"{spread_report.sentence[0].upper()}{spread_report.sentence[1:]}.")
