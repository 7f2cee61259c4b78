"""Merge walks by several processes, each of its own directories: totals are sums, samples those of all files.

Samples of the smallest keys merge exactly: the smallest of all are among the smallest of each part. The key of a file
depends on seed and inode only, whichever process draws it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .walk import DrawnFiles, Walked


@dataclass(frozen=True)
class WalkedPart:
    """The walk of one process. ``device``: device number of the tree's root on its node; other nodes may number it
    differently."""

    walked: Walked
    device: int


def merge_parts(parts: Sequence[WalkedPart], draws: int) -> Walked:
    """Merge the parts into the walk that the first process alone would have returned."""
    first, walks = parts[0], [_renumber_device(parts[0].device, part) for part in parts]
    names = sorted({name for walk in walks for name in walk.strata})
    strata = {name: _sum_walks([walk.strata[name] for walk in walks if name in walk.strata], draws) for name in names}
    total = _sum_walks(walks, draws)
    if len(parts) > 1:  # a hard link that one process counts may belong to a file that another counts
        total.counts["links_unchecked"] += total.counts["linked_elsewhere"]
        total.counts["linked_elsewhere"] = 0
    return Walked(
        total.counts, total.by_count, total.by_size, max(walk.seconds for walk in walks), first.walked.now_s, strata
    )


def _sum_walks(walks: Sequence[Walked], draws: int) -> Walked:
    totals = {name: _add_values(name, [walk.counts[name] for walk in walks]) for name in walks[0].counts}
    by_count, by_size = (
        _select_smallest([getattr(walk, name) for walk in walks], draws) for name in ("by_count", "by_size")
    )
    return Walked(totals, by_count, by_size, walks[0].seconds, walks[0].now_s)


def _add_values(name: str, values: Sequence[Any]) -> Any:
    if name == "deepest":
        return max(values)
    if isinstance(values[0], Mapping):
        keys = dict.fromkeys(key for value in values for key in value)
        return {key: _add_values("", [value[key] for value in values if key in value]) for key in keys}
    is_row = isinstance(values[0], (list, tuple))
    return [sum(column) for column in zip(*values, strict=True)] if is_row else sum(values)


def _select_smallest(samples: Iterable[DrawnFiles], draws: int) -> DrawnFiles:
    """Return the ``draws`` smallest keys of all samples, with the threshold key from which on no file was drawn."""
    samples = list(samples)
    columns = {name: np.concatenate([sample.columns[name] for sample in samples]) for name in samples[0].columns}
    paths = [path for sample in samples for path in sample.paths]
    order = np.argsort(columns["key"], kind="stable")
    drawn = DrawnFiles(
        tuple(paths[at] for at in order.tolist()), {name: column[order] for name, column in columns.items()}, None
    )
    ends = [sample.threshold for sample in samples if sample.threshold is not None]
    if len(drawn) > draws:
        ends.append(float(drawn.columns["key"][draws]))
    selected = drawn.first(draws)
    return DrawnFiles(selected.paths, selected.columns, min(ends, default=None))


def _renumber_device(device: int, part: WalkedPart) -> Walked:
    """Replace the device number of files on the tree's own file system by that of the first process."""
    for walked in (part.walked, *part.walked.strata.values()):
        for sample in (walked.by_count, walked.by_size):
            numbers = sample.columns["device"]
            sample.columns["device"] = np.where(numbers == part.device, device, numbers)
    return part.walked
