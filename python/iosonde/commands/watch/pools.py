"""Series of a store that one change would touch together: measured in the same nights, at other settings or metrics."""

from collections.abc import Iterator, Sequence

import numpy as np

from iosonde.changes.pooled import Pool
from iosonde.core.types import Better

from .series import WatchedSeries

_SHARED = 0.75  # share of the nights that a member of a pool has in common with its first


def build_pools(series: Sequence[WatchedSeries]) -> tuple[Pool, ...]:
    """Return the pools of at least two series. A series is in at most one of them."""
    nights = [list(item.nights) for item in series]
    families: list[list[int]] = []
    for number in sorted(range(len(series)), key=lambda number: -len(nights[number])):
        family = next((family for family in families if _is_shared(nights[family[0]], nights[number])), None)
        if family is None:
            families.append([number])
        else:
            family.append(number)
    pools = (_build_pool(sorted(family), series, nights) for family in families if len(family) > 1)
    return tuple(pool for pool in pools if pool)


def _is_shared(first: Sequence[str], nights: Sequence[str]) -> bool:
    return len(set(first) & set(nights)) >= _SHARED * max(len(first), len(nights))


def _build_pool(members: list[int], series: Sequence[WatchedSeries], nights: Sequence[list[str]]) -> Pool | None:
    starts: dict[str, str] = {}
    for member in members:
        for night, run in zip(nights[member], series[member].runs, strict=True):
            starts[night] = min(starts.get(night, run.started_at), run.started_at)
    columns = {night: place for place, night in enumerate(sorted(starts, key=lambda night: (starts[night], night)))}
    places = {member: [columns[night] for night in nights[member]] for member in members}
    # Experiments that overlap in time have no common order.
    members = [member for member in members if places[member] == sorted(places[member])]
    if len(members) < 2:
        return None
    values = np.full((len(members), len(columns)), np.nan)
    for row, member in zip(values, members, strict=True):
        row[places[member]] = series[member].values
    pooled = [series[member] for member in members]
    signs = tuple(-1 if item.metric.better is Better.LOWER else 1 for item in pooled)
    return Pool(tuple(members), values, signs, tuple(_iterate_groups(pooled)))


def _iterate_groups(series: Sequence[WatchedSeries]) -> Iterator[tuple[int, ...]]:
    """Yield all series, then those of each operation, metric and level of a factor, each group of two or more once."""
    groups: dict[tuple[str, object], list[int]] = {("", None): list(range(len(series)))}
    for place, item in enumerate(series):
        for key in (("operation", item.operation), ("metric", item.metric.name), *item.by.items()):
            groups.setdefault(key, []).append(place)
    yield from dict.fromkeys(tuple(group) for group in groups.values() if len(group) > 1)
