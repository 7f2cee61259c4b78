"""A walk by several processes, each of its own directories, as one: totals are sums, samples those of all files.

A sample of the smallest keys merges exactly: the smallest of all are among the smallest of each part, and the key of a
file follows from seed and inode wherever it was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .walk import DrawnFiles, Walked


@dataclass(frozen=True)
class WalkedPart:
    """What one process saw. ``device``: of the tree's root, as its node knows it; others may number it differently."""

    walked: Walked
    device: int


def merged(parts: Sequence[WalkedPart], draws: int) -> Walked:
    """The whole, as the first process would have seen it."""
    first, walks = parts[0], [_as_seen_from(parts[0].device, part) for part in parts]
    names = sorted({name for one in walks for name in one.strata})
    strata = {name: _sum([one.strata[name] for one in walks if name in one.strata], draws) for name in names}
    whole = _sum(walks, draws)
    if len(parts) > 1:  # a name that one process misses may be what another counted
        whole.found["links_unchecked"] += whole.found["linked_elsewhere"]
        whole.found["linked_elsewhere"] = 0
    return Walked(whole.found, whole.by_count, whole.by_size, max(one.seconds for one in walks), first.walked.now_s,
                  strata)  # fmt: skip


def _sum(walks: Sequence[Walked], draws: int) -> Walked:
    found = {name: _added(name, [one.found[name] for one in walks]) for name in walks[0].found}
    by_count, by_size = (_smallest([getattr(one, name) for one in walks], draws) for name in ("by_count", "by_size"))
    return Walked(found, by_count, by_size, walks[0].seconds, walks[0].now_s)


def _added(name: str, values: Sequence[Any]) -> Any:
    if name == "deepest":
        return max(values)
    if isinstance(values[0], Mapping):
        keys = dict.fromkeys(key for one in values for key in one)
        return {key: _added("", [one[key] for one in values if key in one]) for key in keys}
    if isinstance(values[0], (list, tuple)):
        return [sum(column) for column in zip(*values, strict=True)]
    return sum(values)


def _smallest(samples: Iterable[DrawnFiles], draws: int) -> DrawnFiles:
    """The first of all, and the key from which on none was drawn."""
    samples = list(samples)
    columns = {name: np.concatenate([one.columns[name] for one in samples]) for name in samples[0].columns}
    paths = [path for one in samples for path in one.paths]
    order = np.argsort(columns["key"], kind="stable")
    whole = DrawnFiles(tuple(paths[at] for at in order.tolist()), {name: one[order] for name, one in columns.items()},
                       None)  # fmt: skip
    ends = [one.threshold for one in samples if one.threshold is not None]
    if len(whole) > draws:
        ends.append(float(whole.columns["key"][draws]))
    kept = whole.first(draws)
    return DrawnFiles(kept.paths, kept.columns, min(ends, default=None))


def _as_seen_from(device: int, part: WalkedPart) -> Walked:
    """Files of the tree's own file system have the device's number that the first process knows."""
    for one in (part.walked, *part.walked.strata.values()):
        for sample in (one.by_count, one.by_size):
            numbers = sample.columns["device"]
            sample.columns["device"] = np.where(numbers == part.device, device, numbers)
    return part.walked
