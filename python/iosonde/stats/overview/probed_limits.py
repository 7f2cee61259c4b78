"""What a probe of the same nodes says that a run's target can carry at most, by direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from iosonde.core.filesystems import MEMORY_TYPES, on_own_disk
from iosonde.core.hardware import NETWORK
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate

from . import hardware

_PROBED = "of these nodes carried when they were probed"
DISKS, LINKS, LINKS_OF_LAB = f"the disks {_PROBED}", f"the links {_PROBED}", "the links of the lab carry"


@dataclass(frozen=True)
class ProbedLimit:
    """``bytes_per_s`` of all nodes of a run together, the upper ends of what was probed; ``what`` carries it."""

    bytes_per_s: float
    what: str


class ProbedLimits:
    """The probes of a store, asked for what one of its runs could get."""

    def __init__(self, probes: Sequence[StoredRun], level: float) -> None:
        self._probes, self._level = probes, level
        self._made: dict[str, Mapping[str, Any]] = {}

    def of(self, run: StoredRun, direction: str) -> ProbedLimit | None:
        """For a run that reads or writes (``direction``); None where no probe of its nodes speaks of its target.

        On a network file system its nodes' links. On a disk of their own these disks, where that target was probed.
        Where nobody says what the target is, the larger of the two. Of a lab, its links as they were at its bring-up.
        """
        if of_lab := _links_of_lab(run):
            return of_lab
        hosts = set(run.facts.get("hosts") or ())
        last = next((one for one in reversed(self._probes) if hosts and hosts <= set(one.facts["hosts"])), None)
        if last is None or run.filesystem in MEMORY_TYPES:
            return None
        made = self._summary(last.experiment)
        links, disks = _links(made, hosts), _disks(made, hosts, direction)
        if run.filesystem is None:
            return max((one for one in (links, disks) if one), key=lambda one: one.bytes_per_s, default=None)
        if not on_own_disk(run.filesystem):
            return links
        return disks if is_within(str(run.target), str(last.facts.get("target") or "")) else None

    def _summary(self, experiment: str) -> Mapping[str, Any]:
        if experiment not in self._made:
            facts = [dict(run.facts) for run in self._probes if run.experiment == experiment]
            self._made[experiment] = hardware.summarise(facts, self._level)
        return self._made[experiment]


def _links(made: Mapping[str, Any], hosts: set[str]) -> ProbedLimit | None:
    """Each node's link carries what the best of its pairs did."""
    best = dict.fromkeys(hosts, 0.0)
    for pair in (*made["pairs"], *made["tcp"]):
        if pair.get("medium", NETWORK) != NETWORK:
            continue
        for host in hosts & set(pair["hosts"]):
            best[host] = max(best[host], *(_high(pair[way]) for way in ("bandwidth", "bandwidth_back")))
    return ProbedLimit(sum(best.values()), LINKS) if all(best.values()) else None


def _links_of_lab(run: StoredRun) -> ProbedLimit | None:
    """Where a lab has servers of its own, each node is behind a link."""
    lab = (run.facts.get("machine") or {}).get("lab") or {}
    measured = [one["bytes_per_s"] for one in (lab.get("emulated") or {}).get("links") or ()]
    if not measured or not run.facts.get("hosts") or (lab.get("description") or {}).get("file_system") == "local":
        return None
    return ProbedLimit(len(set(run.facts.get("hosts") or ())) * max(measured), LINKS_OF_LAB)


def _disks(made: Mapping[str, Any], hosts: set[str], direction: str) -> ProbedLimit | None:
    nodes = [node for node in made["nodes"] if node["host"] in hosts and f"disk_{direction}" in node]
    if made["own_disk"] is False or len(nodes) < len(hosts):
        return None
    return ProbedLimit(sum(_high(node[f"disk_{direction}"]) for node in nodes), DISKS)


def _high(estimate: Estimate) -> float:
    return float(estimate.value or 0.0) if estimate.high is None else estimate.high


def is_within(target: str, probed: str) -> bool:
    """Whether one of the two directories is, or is in, the other."""
    one, other = PurePath(target), PurePath(probed)
    return bool(probed) and (one == other or one in other.parents or other in one.parents)
