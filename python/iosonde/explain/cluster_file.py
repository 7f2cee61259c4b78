"""``CLUSTER.yaml`` of ``iosonde upgrade``: read, checked with line numbers of all its mistakes, and built."""

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from iosonde.core import cluster_nodes, yaml_text
from iosonde.core.cluster_nodes import ClusterNodes
from iosonde.core.errors import InputError
from iosonde.core.file_sections import Sections, parse_number
from iosonde.core.message import Message
from iosonde.core.problems import SpecError
from iosonde.core.system_words import READS, parse_integer
from iosonde.core.units import parse_rate, parse_size
from iosonde.core.yaml_text import Key
from iosonde.explain.upgrade import Cluster, Quantity, UpgradeCandidate, UpgradeLimits, compute_ceiling_after_changes
from iosonde.explain.upgrade_tables import Configuration, ListedCpu
from iosonde.model.bound.bound import UnlimitedSystemError
from iosonde.model.bound.probed import Ends
from iosonde.model.bound.system import LESS_IS_BETTER, find_unused_field

from . import cluster_tables

SECTIONS = ("name", "nodes", "today", "limits", "candidates", "cpus", "measured", "systems", "weights", "criteria")
_CONTENT = ("nodes", "today", "limits", "candidates", "cpus", "measured", "systems")  # a file needs at least one
_CHUNKS = ("data_chunks", "parity_chunks")
_COUNTS = (*(name for name, reader in READS.items() if reader is parse_integer), *_CHUNKS)
_WORDS = ("operation", "redundancy", "placement")
_SYSTEM = (*READS, *_CHUNKS, *_WORDS)
# Numbers of a cluster; a change may replace the first two.
_ATTRIBUTES = ("watts_per_server", "nodes_per_rack_unit")
_OF_CLUSTER = (*_ATTRIBUTES, "watts", "rack_units", "cost_per_server")
_ADDED = ("cost", "watts", "rack_units")  # by a change; may be negative
_LIMITS = ("max_cost", "max_watts", "max_rack_units", "min_nodes_per_rack_unit")
_CPU_LIMITS = ("min_cpu_points", "max_cpu_watts")


_TOTALS: dict[str, Callable[[str], float]] = {
    "capacity": lambda text: float(parse_size(text)),
    "bandwidth": parse_rate,
    "cost": parse_number,
}


@dataclass(frozen=True)
class ClusterFile:
    """Contents of a cluster file. ``capacity`` (bytes), ``bandwidth`` (bytes/s, measured) and ``cost`` are of the whole
    cluster."""

    name: str
    cluster: Cluster | None
    candidates: tuple[UpgradeCandidate, ...]
    limits: UpgradeLimits
    cpus: tuple[ListedCpu, ...] = ()
    min_cpu_points: float | None = None
    max_cpu_watts: float | None = None
    measured: tuple[Configuration, ...] = ()
    systems: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    capacity: float | None = None
    bandwidth: float | None = None
    cost: float | None = None
    nodes: ClusterNodes = ClusterNodes(())

    def compute_derived_quantities(self) -> dict[str, float]:
        """Quantities derived from the whole and its parts: bytes per disk, bytes/s per server, money per 10¹² bytes."""
        system = self.cluster.system if self.cluster else {}
        values = {}
        if self.capacity and "disks" in system:
            values["capacity_per_disk"] = self.capacity / system["disks"].value
        if self.bandwidth and "servers" in system:
            values["bandwidth_per_server"] = self.bandwidth / system["servers"].value
        if self.capacity and self.cost:
            values["cost_per_terabyte"] = self.cost / self.capacity * 1e12
        return values


def parse_cluster(document: yaml_text.Document) -> ClusterFile:
    """Return the cluster that a document describes. Raises SpecError with all its mistakes."""
    reader = _Reader(document)
    cluster_file = reader.build()
    if reader.problems:
        raise SpecError(document.name, reader.problems)
    return cluster_file


def describe_system(cluster_file: ClusterFile, name: str) -> tuple[dict[str, Ends], dict[str, Any], ClusterNodes]:
    """Return of today's cluster: field of a System → (value, worst, best); its text fields; its nodes. Raises
    InputError, naming the cluster by ``name``, if it describes none."""
    cluster = cluster_file.cluster
    if cluster is None:
        raise InputError(
            "no-cluster",
            "{name} describes no cluster",
            "describe it under today: clients, servers, network …",
            name=name,
        )
    ends = {
        name: (quantity.value, quantity.high, quantity.low)
        if name in LESS_IS_BETTER
        else (quantity.value, quantity.low, quantity.high)
        for name, quantity in cluster.system.items()
    }
    return ends, dict(cluster.words), cluster_file.nodes


class _Reader(Sections):
    """Builder of a ClusterFile from its document."""

    def build(self) -> ClusterFile:
        data = self.document.data
        self.check_names(data, (), SECTIONS)
        limits = self.numbers(("limits",), (*_LIMITS, *_CPU_LIMITS))
        today = self.mapping(("today",))
        nodes = ClusterNodes(cluster_nodes.read_nodes_section(self))
        cluster = self.cluster(self.add_node_counts(today, nodes)) if today or nodes.counts() else None
        if not cluster and data.get("candidates"):
            self.wrong(("candidates",), Message("no-cluster", "no cluster to change"), "describe it under today")
        candidates = tuple(self.read_candidate(str(name), cluster) for name in self.mapping(("candidates",)))
        if not any(data.get(name) for name in _CONTENT) and not self.problems:
            self.wrong(
                (),
                Message("nothing-to-choose", "nothing to choose from"),
                "give today with candidates, cpus, measured or systems",
            )
        cpu_limits = {name: limits.pop(name, None) for name in _CPU_LIMITS}
        totals = {name: self.scalar(("today", name), reader) for name, reader in _TOTALS.items() if name in today}
        return ClusterFile(
            str(data.get("name") or ""),
            cluster,
            candidates,
            UpgradeLimits(**limits),
            cluster_tables.read_cpus(self),
            **cpu_limits,
            measured=cluster_tables.read_measured(self),
            systems=cluster_tables.read_systems(self),
            weights=cluster_tables.read_weights(self),
            **totals,
            nodes=nodes,
        )

    def add_node_counts(self, today: Mapping[str, Any], nodes: ClusterNodes) -> Mapping[str, Any]:
        """Add the numbers of named nodes to ``today``; another number there is a mistake."""
        counts = nodes.counts()
        for name, count in counts.items():
            if today.get(name, count) != count:
                template = "{count} {section}, but nodes names {n_nodes}"
                self.wrong(
                    ("today", name),
                    Message("count-mismatch", template, count=today[name], section=name, n_nodes=count),
                    f"leave {name} out",
                )
        return {**today, **counts}

    def cluster(self, today: Mapping[str, Any]) -> Cluster:
        self.check_names(today, ("today",), (*_SYSTEM, *_OF_CLUSTER, *_TOTALS, "model", "measured"))
        numbers = {name: self.scalar(("today", name), parse_number) for name in _OF_CLUSTER if name in today}
        model = self.levels(("today", "model"))
        cluster = Cluster(
            str(self.document.data.get("name") or "the cluster"),
            self.read_quantities(("today",), today, None),
            self.words(("today",), today),
            **{k: v for k, v in numbers.items() if v is not None},
            model=model,
            measured=self.levels(("today", "measured")),
        )
        if not self.problems:
            changes = self.document.data.get("candidates")
            later = (
                {name for change in changes.values() if isinstance(change, dict) for name in change}
                if isinstance(changes, dict)
                else set()
            )
            self.report_unused_fields(("today",), {*cluster.system, *cluster.words}, later)
            self.report_if_impossible(("today",), lambda: compute_ceiling_after_changes(cluster))
        return cluster

    def read_candidate(self, name: str, cluster: Cluster | None) -> UpgradeCandidate:
        at: Key = ("candidates", name)
        section = self.mapping(at)
        self.check_names(section, at, (*_SYSTEM, *_ATTRIBUTES, *_ADDED, "model", "measured"))
        keys = [key for key in (*_ATTRIBUTES, *_ADDED) if key in section]
        read = {key: self.scalar((*at, key), parse_number, any_sign=key in _ADDED) for key in keys}
        numbers = {key: value for key, value in read.items() if value is not None}
        attributes = {key: numbers.pop(key) for key in _ATTRIBUTES if key in numbers}
        candidate = UpgradeCandidate(
            name,
            self.read_quantities(at, section, cluster),
            self.words(at, section),
            **numbers,
            attributes=attributes,
            model=self.levels((*at, "model")),
            measured=self.levels((*at, "measured")),
        )
        if (
            not (candidate.system or candidate.words or candidate.attributes or candidate.model or candidate.measured)
            and not self.problems
        ):
            self.wrong(
                at,
                Message("changes-nothing", "it changes nothing"),
                "give the changes, as network: 1170MB/s or servers: x2",
            )
        if cluster and not self.problems:
            self.report_unused_fields(at, {*candidate.system, *candidate.words}, {*cluster.system, *cluster.words})
            self.report_if_impossible(at, lambda: compute_ceiling_after_changes(cluster, [candidate]))
        return candidate

    def report_unused_fields(self, at: Key, names: Collection[str], more: Collection[str]) -> None:
        """Report fields that no term uses as mistakes."""
        lost = find_unused_field(sorted(names), {*names, *more})
        if lost:
            self.wrong(
                (*at, lost[0]),
                Message("unused-key", "{unused} has no effect without {required}", unused=lost[0], required=lost[1]),
                f"give {lost[1]} too",
            )

    def read_quantities(self, at: Key, section: Mapping[str, Any], cluster: Cluster | None) -> dict[str, Quantity]:
        quantities = {}
        for name, value in section.items():
            if name in READS or name in _CHUNKS:
                quantity = self.read_quantity((*at, name), value, READS.get(name, parse_integer))
                if quantity and quantity.times and (cluster is None or name not in cluster.system):
                    self.wrong(
                        (*at, name),
                        Message("missing-base", "{factor} has no base value under today", factor=value),
                        f"give {name} under today",
                    )
                elif quantity and self.is_integer_if_count((*at, name), name, quantity, cluster):
                    quantities[name] = quantity
        return quantities

    def is_integer_if_count(self, path: Key, name: str, quantity: Quantity, cluster: Cluster | None) -> bool:
        """Return whether a quantity that counts things is a single whole number."""
        if name not in _COUNTS:
            return True
        if quantity.low != quantity.high:
            self.wrong(
                path,
                Message("range-of-count", "{quantity} is a count and has no range", quantity=name),
                "write one number",
            )
            return False
        today = cluster.system[name].value if quantity.times and cluster else 1.0
        if today * quantity.value != int(today * quantity.value):
            template = "{factor:g} times {today:g} is not a whole number"
            self.wrong(
                path, Message("not-an-integer", template, factor=quantity.value, today=today), "write the new number"
            )
            return False
        return True

    def read_quantity(self, path: Key, value: Any, parse: Callable[[str], Any]) -> Quantity | None:
        times = re.fullmatch(r"x(\d+(?:\.\d+)?)", value) if isinstance(value, str) else None
        if times and float(times[1]) > 0:
            return Quantity(float(times[1]), float(times[1]), float(times[1]), times=True)
        several = value if isinstance(value, list) else [value]
        try:
            ends = [float(parse(str(item))) for item in several]
        except InputError as error:
            self.wrong(path, error.message, error.hint)
            return None
        if len(ends) not in (1, 2, 3) or sorted(ends) != ends or (len(ends) > 1 and ends[0] <= 0):
            self.wrong(
                path, Message("not-a-range", "this is not a range"), "write [low, high] or [low, value, high], above 0"
            )
            return None
        middle = ends[1] if len(ends) == 3 else math.sqrt(ends[0] * ends[-1]) if len(ends) == 2 else ends[0]
        return Quantity(middle, ends[0], ends[-1])

    def words(self, at: Key, section: Mapping[str, Any]) -> dict[str, Any]:
        return {name: str(section[name]) for name in _WORDS if name in section}

    def report_if_impossible(self, path: Key, build: Callable[[], Any]) -> None:
        try:
            build()
        except InputError as error:
            # A cluster may be described without a bound.
            if not isinstance(error, UnlimitedSystemError) or self.document.data.get("candidates"):
                self.wrong(path, error.message, error.hint)
