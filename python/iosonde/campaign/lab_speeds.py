"""Guessed speeds of a lab before the first measurement, from its known links.

Copies sent by a client pass its links as often. Disks (whose effect caches may hide) and the time to bring up a lab are
ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from iosonde.core.filesystems import LOCAL, sent_by_client
from iosonde.core.types import Trial, count_of
from iosonde.core.units import parse_bits

from .forecast import Cell, Speeds, SpeedsOf
from .spec import lab

_SERVERS = 3  # default of `iosonde lab up`


def speeds_from_links(section: Mapping[str, Any]) -> SpeedsOf | None:
    """Return the speeds of a cell, by a file's section ``lab``: as many links in parallel as active clients, or
    servers. None if no link is limited."""
    if "net" not in section and not any(
        "net" in words for levels in section.get(lab.LEVELS, {}).values() for words in levels.values()
    ):
        return None
    usual = Speeds()
    names = (*lab.factors(section), "nodes")

    @cache  # a design may have thousands of cells, and few labs
    def compute_at_levels(levels: tuple[Any, ...]) -> Speeds:
        cell = dict(zip(names, levels, strict=True))
        words, options = lab.at(section, cell)
        if words.get("net") is None or words.get("file_system") == LOCAL:
            return usual
        link = parse_bits(str(words["net"])) / 8 / float(words.get("scale", 1))
        links = min(count_of(cell["nodes"]), int(words.get("servers", _SERVERS)))
        copies = sent_by_client(str(words.get("file_system")), options)
        written = min(link * links / copies, usual.bytes_per_s) if copies > 1 else None
        return replace(usual, bytes_per_s=min(link * links, usual.bytes_per_s), written_per_s=written)

    def compute_speeds(cell: Cell) -> Speeds:
        return compute_at_levels(tuple([cell[name] for name in names])) if cell.keys() >= set(names) else usual

    return compute_speeds


def n_labs(section: Mapping[str, Any], trials: Collection[Trial]) -> int:
    """Return the number of labs brought up for these trials, one after another; 0 without a lab section."""
    lab_factors = lab.factors(section)
    if not section:
        return 0
    return len(
        {(trial.repetition, *(trial.factors[name] for name in lab_factors)) if lab_factors else () for trial in trials}
    )
