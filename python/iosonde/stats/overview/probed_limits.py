"""Upper limits of a run's rates, by direction, from a probe of the same nodes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import Any

from iosonde.core.column_units import unit_to_bytes_per_s
from iosonde.core.filesystems import MEMORY_TYPES, is_on_own_disk
from iosonde.core.grouping import group_by_key
from iosonde.core.hardware import NETWORK
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate

from ..estimate.probed_limit import ProbedLimit, sum_best
from . import hardware
from .cells import TrialCell

_PROBED = "of these nodes carried when they were probed"
DISKS, LINKS, LINKS_OF_LAB = f"the disks {_PROBED}", f"the links {_PROBED}", "the links of the lab carry"


@dataclass(frozen=True)
class BeyondLimit:
    """A rate in bytes/s that is far above the probe, and where it was measured."""

    bytes_per_s: float
    limit: ProbedLimit
    place: str


class ProbedLimits:
    """The probes of a store, as limits of its runs."""

    def __init__(self, probes: Sequence[StoredRun], level: float) -> None:
        by_experiment = group_by_key((run.experiment, dict(run.facts)) for run in probes)
        self._probes = probes
        self._summarise = cache(lambda experiment: hardware.summarise_probe(by_experiment[experiment], level))

    def find_limit(self, run: StoredRun, direction: str) -> ProbedLimit | None:
        """Return the limit of a run that reads or writes (``direction``); None if no probe of its nodes covers its
        target.

        On a network file system it is that of its nodes' links. On a disk of their own it is that of these disks, if
        that target was probed. If the file system is unknown, it is the larger of the two. In a lab, it is that of its
        links as measured at its bring-up.
        """
        if lab_limit := _find_lab_link_limit(run):
            return lab_limit
        hosts = set(run.facts.get("hosts") or ())
        last = next((probe for probe in reversed(self._probes) if hosts and hosts <= set(probe.facts["hosts"])), None)
        if last is None or run.filesystem in MEMORY_TYPES:
            return None
        summary = self._summarise(last.experiment)
        links, disks = _sum_link_limits(summary, hosts), _sum_disk_limits(summary, hosts, direction)
        if run.filesystem is None:
            return max((limit for limit in (links, disks) if limit), key=lambda limit: limit.bytes_per_s, default=None)
        if not is_on_own_disk(run.filesystem):
            return links
        return disks if is_within(str(run.target), str(last.facts.get("target") or "")) else None

    def beyond(self, cell: TrialCell, runs: Mapping[str, StoredRun]) -> Iterator[BeyondLimit]:
        """Return the values of a cell that exceed the limit of their run, by id in ``runs``. Writes
        without fsync are exempt."""
        readings = unit_to_bytes_per_s(cell.unit)
        if not readings or "buffered" in cell.operation:
            return
        direction = "read" if "read" in f"{cell.operation}{cell.metric}" else "write"
        for value, place in zip(cell.values * min(readings), cell.places, strict=False):
            run = runs.get(place.removeprefix("run "))
            limit = None if run is None else self.find_limit(run, direction)
            if limit and limit.is_exceeded_by(value):
                yield BeyondLimit(float(value), limit, place)

    def impossible(self, cells: Sequence[TrialCell], runs: Sequence[StoredRun]) -> list[TrialCell]:
        """Return the cells most of whose values are beyond their limit."""
        by_id = {run.id: run for run in runs}
        return [cell for cell in cells if by_id and 2 * len(list(self.beyond(cell, by_id))) > cell.values.size]


def _sum_link_limits(summary: Mapping[str, Any], hosts: set[str]) -> ProbedLimit | None:
    """Sum the links of the nodes, each with the rate of its best pair."""
    links: dict[str, list[Estimate]] = {host: [] for host in hosts}
    for pair in (*summary["pairs"], *summary["tcp"]):
        for host in hosts & set(pair["hosts"]) if pair.get("medium", NETWORK) == NETWORK else ():
            links[host] += [pair["bandwidth"], pair["bandwidth_back"]]
    return sum_best(list(links.values()), LINKS)


def _find_lab_link_limit(run: StoredRun) -> ProbedLimit | None:
    """Return the limit of the links in a lab with servers of its own, where each node is behind a link."""
    lab = (run.facts.get("machine") or {}).get("lab") or {}
    measured = [link["bytes_per_s"] for link in (lab.get("emulated") or {}).get("links") or ()]
    if not measured or not run.facts.get("hosts") or (lab.get("description") or {}).get("file_system") == "local":
        return None
    total = len(set(run.facts.get("hosts") or ())) * max(measured)
    return ProbedLimit(total, total, LINKS_OF_LAB)


def _sum_disk_limits(summary: Mapping[str, Any], hosts: set[str], direction: str) -> ProbedLimit | None:
    nodes = [node for node in summary["nodes"] if node["host"] in hosts and f"disk_{direction}" in node]
    if summary["own_disk"] is False or len(nodes) < len(hosts):
        return None
    return sum_best([[node[f"disk_{direction}"]] for node in nodes], DISKS)


def is_within(target: str, probed: str) -> bool:
    """Return whether one of the two directories equals or contains the other."""
    path, other = PurePath(target), PurePath(probed)
    return bool(probed) and (path == other or path in other.parents or other in path.parents)
