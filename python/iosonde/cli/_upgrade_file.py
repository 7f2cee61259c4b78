"""``CLUSTER.yaml`` of ``iosonde upgrade``: read, checked with all its mistakes and their lines, and built."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import InputError
from iosonde.core.units import parse_rate, parse_size

from . import _upgrade_tables_file
from ._bound_inputs import OPTIONS, whole

if TYPE_CHECKING:
    from iosonde.core.yaml_text import Document, Key
    from iosonde.explain.upgrade import Candidate, Cluster, Limits, Quantity
    from iosonde.explain.upgrade_tables import Configuration, Cpu

SECTIONS = ("name", "today", "limits", "candidates", "cpus", "measured", "systems", "weights")
_PARSE: dict[str, Callable[[str], Any]] = {name: parse for name, parse, _, _ in OPTIONS.values()}
_CHUNKS = ("data_chunks", "parity_chunks")
_COUNTS = (*(name for name, parse in _PARSE.items() if parse is whole), *_CHUNKS)
_WORDS = ("operation", "redundancy", "placement")
_ATTRIBUTES = ("watts_per_server", "nodes_per_rack_unit")
_TODAY = (*_ATTRIBUTES, "watts", "rack_units", "cost_per_server", "capacity", "bandwidth", "cost", "model")
_CHANGE = (*_ATTRIBUTES, "cost", "watts", "rack_units", "model")
_LIMITS = ("max_cost", "max_watts", "max_rack_units", "min_nodes_per_rack_unit", "min_cpu_points", "max_cpu_watts")
_NEGATIVE = ("cost", "watts", "rack_units")  # a change may save


@dataclass(frozen=True)
class Asked:
    """What a file holds. ``capacity`` (bytes), ``bandwidth`` (bytes/s, measured) and ``cost`` are of the whole
    cluster."""

    name: str
    cluster: Cluster | None
    candidates: tuple[Candidate, ...]
    limits: Limits
    cpus: tuple[Cpu, ...] = ()
    min_cpu_points: float | None = None
    max_cpu_watts: float | None = None
    measured: tuple[Configuration, ...] = ()
    systems: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    capacity: float | None = None
    bandwidth: float | None = None
    cost: float | None = None

    def derived(self) -> dict[str, float]:
        """What follows from the whole and its parts: bytes on a disk, bytes/s of a server, money for 10¹² bytes."""
        system = self.cluster.system if self.cluster else {}
        found = {}
        if self.capacity and "disks" in system:
            found["capacity_per_disk"] = self.capacity / system["disks"].value
        if self.bandwidth and "servers" in system:
            found["bandwidth_per_server"] = self.bandwidth / system["servers"].value
        if self.capacity and self.cost:
            found["cost_per_terabyte"] = self.cost / self.capacity * 1e12
        return found


def read(path: str) -> Asked:
    """Raises InputError for what is no such file, SpecError with all its mistakes."""
    from iosonde.core import yaml_text
    from iosonde.core.problems import SpecError

    document = yaml_text.load(Path(path), "cluster file", "describe today and candidates: iosonde upgrade -h")
    reader = Reader(document)
    made = reader.build()
    if reader.problems:
        raise SpecError(document.name, reader.problems)
    return made


class Reader:
    """The document's sections, and everything that is wrong with them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Any] = []

    def wrong(self, path: Key, what: str, hint: str = "") -> None:
        from iosonde.core.problems import Problem
        from iosonde.core.yaml_text import key_text

        self.problems.append(Problem(self.document.place(path), key_text(path), what, hint))

    def build(self) -> Asked:
        from iosonde.explain.upgrade import Limits

        data = self.document.data
        self.known(data, (), SECTIONS)
        limits = self.numbers(("limits",), _LIMITS)
        today = self.mapping(("today",))
        cluster = self.cluster(today) if today else None
        if not cluster and data.get("candidates"):
            self.wrong(("candidates",), "there is no cluster to change", "describe it under today")
        candidates = tuple(self.candidate(str(name), cluster) for name in self.mapping(("candidates",)))
        if not any(data.get(name) for name in SECTIONS[1:-1]) and not self.problems:
            self.wrong((), "nothing to choose from", "give today with candidates, cpus, measured or systems")
        own = {name: limits.pop(name, None) for name in ("min_cpu_points", "max_cpu_watts")}
        whole = {name: self.scalar(("today", name), parse) for name, parse in
                 (("capacity", _size), ("bandwidth", parse_rate), ("cost", _number)) if name in today}  # fmt: skip
        return Asked(
            str(data.get("name") or ""), cluster, candidates, Limits(**limits), _upgrade_tables_file.cpus(self), **own,
            measured=_upgrade_tables_file.measured(self), systems=_upgrade_tables_file.systems(self),
            weights=_upgrade_tables_file.weights(self), **whole,
        )  # fmt: skip

    def cluster(self, today: Mapping[str, Any]) -> Cluster:
        from iosonde.explain.upgrade import Cluster, after

        self.known(today, ("today",), (*_PARSE, *_CHUNKS, *_WORDS, *_TODAY))
        numbers = {name: self.scalar(("today", name), _number) for name in _TODAY[:-4] if name in today}
        model = self.levels(("today", "model"))
        made = Cluster(str(self.document.data.get("name") or "the cluster"), self.quantities(("today",), today, None),
                       self.words(("today",), today), **{k: v for k, v in numbers.items() if v is not None},
                       model=model)  # fmt: skip
        if not self.problems:
            changes = self.document.data.get("candidates")
            later = {name for one in changes.values() if isinstance(one, dict) for name in one} if isinstance(
                changes, dict) else set()  # fmt: skip
            self.used(("today",), {*made.system, *made.words}, later)
            self.possible(("today",), lambda: after(made))
        return made

    def candidate(self, name: str, cluster: Cluster | None) -> Candidate:
        from iosonde.explain.upgrade import Candidate, after

        at: Key = ("candidates", name)
        given = self.mapping(at)
        self.known(given, at, (*_PARSE, *_CHUNKS, *_WORDS, *_CHANGE))
        numbers = {key: self.scalar((*at, key), _number, key in _NEGATIVE) for key in _CHANGE[:-1] if key in given}
        attributes = {key: numbers.pop(key) for key in _ATTRIBUTES if numbers.get(key) is not None}
        made = Candidate(name, self.quantities(at, given, cluster), self.words(at, given),
                         **{k: v for k, v in numbers.items() if v is not None}, attributes=attributes,
                         model=self.levels((*at, "model")))  # fmt: skip
        if not (made.system or made.words or made.attributes or made.model) and not self.problems:
            self.wrong(at, "it changes nothing", "give what it sets, as network: 1170MB/s or servers: x2")
        if cluster and not self.problems:
            self.used(at, {*made.system, *made.words}, {*cluster.system, *cluster.words})
            self.possible(at, lambda: after(cluster, [made]))
        return made

    def used(self, at: Key, names: Collection[str], more: Collection[str]) -> None:
        """What no term would use is a mistake, and not ignored."""
        from iosonde.model.bound.system import idle

        lost = idle(sorted(names), {*names, *more})
        if lost:
            self.wrong((*at, lost[0]), f"{lost[0]} says nothing without {lost[1]}", f"give {lost[1]} too")

    def quantities(self, at: Key, given: Mapping[str, Any], cluster: Cluster | None) -> dict[str, Quantity]:
        found = {}
        for name, value in given.items():
            if name in _PARSE or name in _CHUNKS:
                made = self.quantity((*at, name), value, _PARSE.get(name, whole))
                if made and made.times and (cluster is None or name not in cluster.system):
                    self.wrong((*at, name), f"{value} of what? today does not say", f"give {name} under today")
                elif made and self.countable((*at, name), name, made, cluster):
                    found[name] = made
        return found

    def countable(self, path: Key, name: str, made: Quantity, cluster: Cluster | None) -> bool:
        """Whether a quantity that counts things is one whole number."""
        if name not in _COUNTS:
            return True
        if made.low != made.high:
            self.wrong(path, f"{name} is a count and has no range", "write one number")
            return False
        today = cluster.system[name].value if made.times and cluster else 1.0
        if today * made.value != int(today * made.value):
            self.wrong(path, f"{made.value:g} times {today:g} is no whole number", "write how many there will be")
            return False
        return True

    def quantity(self, path: Key, value: Any, parse: Callable[[str], Any]) -> Quantity | None:
        from iosonde.explain.upgrade import Quantity

        times = re.fullmatch(r"x(\d+(?:\.\d+)?)", value) if isinstance(value, str) else None
        if times and float(times[1]) > 0:
            return Quantity(float(times[1]), float(times[1]), float(times[1]), times=True)
        several = value if isinstance(value, list) else [value]
        try:
            ends = [float(parse(str(one))) for one in several]
        except InputError as error:
            self.wrong(path, error.message, error.hint)
            return None
        if len(ends) not in (1, 2, 3) or sorted(ends) != ends or (len(ends) > 1 and ends[0] <= 0):
            self.wrong(path, "this is no range", "write [low, high] or [low, value, high], above 0")
            return None
        middle = ends[1] if len(ends) == 3 else math.sqrt(ends[0] * ends[-1]) if len(ends) == 2 else ends[0]
        return Quantity(middle, ends[0], ends[-1])

    def words(self, at: Key, given: Mapping[str, Any]) -> dict[str, Any]:
        return {name: str(given[name]) for name in _WORDS if name in given}

    def possible(self, path: Key, build: Callable[[], Any]) -> None:
        from iosonde.model.bound.bound import NothingKnownError

        try:
            build()
        except InputError as error:
            # A machine may be described without being asked for a bound.
            if not isinstance(error, NothingKnownError) or self.document.data.get("candidates"):
                self.wrong(path, error.message, error.hint)

    def known(self, given: Mapping[str, Any], path: Key, names: tuple[str, ...]) -> None:
        from iosonde.core.problems import nearest

        for name in given:
            if name not in names:
                self.wrong((*path, name), "there is no such key", nearest(str(name), names))

    def levels(self, path: Key) -> dict[str, Any]:
        """Factor → its level, a number or a text."""
        found = self.mapping(path)
        for name, value in found.items():
            if isinstance(value, bool) or not isinstance(value, (str, int, float)):
                self.wrong((*path, name), "a level is a number or a text", "write it like network: 10")
        return {str(name): value for name, value in found.items()}

    def mapping(self, path: Key) -> dict[str, Any]:
        value: Any = self.document.data
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            return {}
        if not isinstance(value, dict):
            from iosonde.core.yaml_text import kind_of

            self.wrong(path, f"{kind_of(value)} where keys with values belong", "write key: value below it")
            return {}
        return value

    def numbers(
        self, path: Key, names: tuple[str, ...], all_of_them: bool = False, zero: bool = False
    ) -> dict[str, float]:  # fmt: skip
        given = self.mapping(path)
        self.known(given, path, names)
        missing = [name for name in names if name not in given]
        if all_of_them and missing:
            self.wrong(path, f"{', '.join(missing)} missing", f"give {', '.join(names)}")
        found = {name: self.scalar((*path, name), _number, zero) for name in names if name in given}
        return {name: value for name, value in found.items() if value is not None}

    def scalar(self, path: Key, parse: Callable[[str], Any], any_sign: bool = False) -> float | None:
        value: Any = self.document.data
        for part in path:
            value = value[part]
        try:
            number = float(parse(str(value)))
        except InputError as error:
            self.wrong(path, error.message, error.hint)
            return None
        if not math.isfinite(number):
            self.wrong(path, f"{number:g} is no finite number", "leave out what you do not know")
            return None
        if not number > 0 and not any_sign:
            self.wrong(path, f"{value} must be above 0", "leave out what you do not know")
            return None
        return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(f"'{text}' is no number", "write a plain number") from error


def _size(text: str) -> float:
    return float(parse_size(text))
