"""Versions of fio from files around its latency logs, imported or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path, PurePath

from iosonde.foreign.guarded import begin_of
from iosonde.importers.fio_version import HEAD_BYTES, AdjacentVersion, find_sibling_version, is_latency_log


def versions_of(
    places: Sequence[PurePath], content: Callable[[PurePath, int], bytes]
) -> dict[PurePath, AdjacentVersion]:
    """Return place of a log → version. ``content`` returns the first bytes of an imported file."""
    imported = set(places)
    by_folder: dict[PurePath, list[PurePath]] = {}
    for place in places:
        by_folder.setdefault(place.parent, []).append(place)

    def read_begin(place: PurePath) -> bytes:
        return content(place, HEAD_BYTES) if place in imported else begin_of(Path(place), HEAD_BYTES)

    versions: dict[PurePath, AdjacentVersion] = {}
    for place in filter(is_latency_log, places):
        others = [*by_folder[place.parent], *by_folder.get(place.parent.parent, ())]
        if version := find_sibling_version(place, read_begin, others):
            versions[place] = version
    return versions
