"""``CLUSTER.yaml`` of ``iosonde upgrade``: read, checked with all its mistakes and their lines, and built."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import InputError
from iosonde.core.units import parse_rate, parse_seconds, parse_size

from ._bound_inputs import OPTIONS

if TYPE_CHECKING:
    from iosonde.explain.upgrade import Candidate, Cluster, Limits, Quantity
    from iosonde.explain.upgrade_tables import Configuration, Cpu
    from iosonde.measure.spec_text import Document, Key

SECTIONS = ("name", "today", "limits", "candidates", "cpus", "measured", "systems", "weights")
_PARSE: dict[str, Callable[[str], Any]] = {name: parse for name, parse, _, _ in OPTIONS.values()}
_COUNTS = ("data_chunks", "parity_chunks")
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
    from iosonde.measure import spec_text
    from iosonde.measure.spec_problems import SpecError

    document = spec_text.load(Path(path), "cluster file", "describe today and candidates: iosonde upgrade -h")
    reader = _Reader(document)
    made = reader.build()
    if reader.problems:
        raise SpecError(document.name, reader.problems)
    return made


class _Reader:
    """The document's sections, and everything that is wrong with them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Any] = []

    def wrong(self, path: Key, what: str, hint: str = "") -> None:
        from iosonde.measure.spec_problems import Problem
        from iosonde.measure.spec_text import key_text

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
            str(data.get("name") or ""), cluster, candidates, Limits(**limits), self.cpus(), **own,
            measured=self.measured(), systems=self.systems(), weights=self.weights(), **whole,
        )  # fmt: skip

    def cluster(self, today: Mapping[str, Any]) -> Cluster:
        from iosonde.explain.upgrade import Cluster, after

        self.known(today, ("today",), (*_PARSE, *_COUNTS, *_WORDS, *_TODAY))
        numbers = {name: self.scalar(("today", name), _number) for name in _TODAY[:-4] if name in today}
        model = self.mapping(("today", "model"))
        made = Cluster(str(self.document.data.get("name") or "the cluster"), self.quantities(("today",), today, None),
                       self.words(("today",), today), **{k: v for k, v in numbers.items() if v is not None},
                       model=model)  # fmt: skip
        if not self.problems:
            self.possible(("today",), lambda: after(made))
        return made

    def candidate(self, name: str, cluster: Cluster | None) -> Candidate:
        from iosonde.explain.upgrade import Candidate, after

        at: Key = ("candidates", name)
        given = self.mapping(at)
        self.known(given, at, (*_PARSE, *_COUNTS, *_WORDS, *_CHANGE))
        numbers = {key: self.scalar((*at, key), _number, key in _NEGATIVE) for key in _CHANGE[:-1] if key in given}
        attributes = {key: numbers.pop(key) for key in _ATTRIBUTES if numbers.get(key) is not None}
        made = Candidate(name, self.quantities(at, given, cluster), self.words(at, given),
                         **{k: v for k, v in numbers.items() if v is not None}, attributes=attributes,
                         model=self.mapping((*at, "model")))  # fmt: skip
        if not (made.system or made.words or made.attributes or made.model) and not self.problems:
            self.wrong(at, "it changes nothing", "give what it sets, as network: 1170MB/s or servers: x2")
        if cluster and not self.problems:
            self.possible(at, lambda: after(cluster, [made]))
        return made

    def quantities(self, at: Key, given: Mapping[str, Any], cluster: Cluster | None) -> dict[str, Quantity]:
        found = {}
        for name, value in given.items():
            if name in _PARSE or name in _COUNTS:
                made = self.quantity((*at, name), value, _PARSE.get(name, _whole))
                if made and made.times and (cluster is None or name not in cluster.system):
                    self.wrong((*at, name), f"{value} of what? today does not say", f"give {name} under today")
                elif made:
                    found[name] = made
        return found

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

    def cpus(self) -> tuple[Cpu, ...]:
        from iosonde.explain.upgrade_tables import Cpu

        found = []
        for name in self.mapping(("cpus",)):
            values = self.numbers(("cpus", name), ("points", "watts"), all_of_them=True)
            if len(values) == 2:
                found.append(Cpu(str(name), values["points"], values["watts"]))
        return tuple(found)

    def measured(self) -> tuple[Configuration, ...]:
        from iosonde.explain.upgrade_tables import Configuration

        found = []
        for name in self.mapping(("measured",)):
            at: Key = ("measured", name)
            given = dict(self.mapping(at))
            times = given.pop("time", None)
            if times is None:
                self.wrong(at, "time is missing", "write it like 282min, or a list of repeats")
                continue
            try:
                seconds = tuple(parse_seconds(one) for one in (times if isinstance(times, list) else [times]))
            except InputError as error:
                self.wrong((*at, "time"), error.message, error.hint)
                continue
            if not seconds or min(seconds) <= 0:
                self.wrong((*at, "time"), "a time must be above 0", "write it like 282min")
                continue
            found.append(Configuration(str(name), given, seconds))
        return tuple(found)

    def systems(self) -> dict[str, dict[str, float]]:
        from iosonde.explain.upgrade_tables import CRITERIA

        found = {}
        for name in self.mapping(("systems",)):
            marks = self.numbers(("systems", name), tuple(CRITERIA), all_of_them=True, zero=True)
            for criterion, mark in marks.items():
                if not 0 <= mark <= 5:
                    self.wrong(("systems", name, criterion), f"a mark of {mark:g}", "marks go from 0 to 5")
            found[str(name)] = marks
        return found

    def weights(self) -> dict[str, float]:
        from iosonde.explain.upgrade_tables import CRITERIA

        return self.numbers(("weights",), tuple(CRITERIA), zero=True)

    def possible(self, path: Key, build: Callable[[], Any]) -> None:
        from iosonde.model.bound import NothingKnownError

        try:
            build()
        except InputError as error:
            # A machine may be described without being asked for a bound.
            if not isinstance(error, NothingKnownError) or self.document.data.get("candidates"):
                self.wrong(path, error.message, error.hint)

    def known(self, given: Mapping[str, Any], path: Key, names: tuple[str, ...]) -> None:
        from iosonde.measure.spec_problems import nearest

        for name in given:
            if name not in names:
                self.wrong((*path, name), "there is no such key", nearest(str(name), names))

    def mapping(self, path: Key) -> dict[str, Any]:
        value: Any = self.document.data
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            return {}
        if not isinstance(value, dict):
            from iosonde.measure.spec_text import kind_of

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
        if not number > 0 and not any_sign:
            self.wrong(path, f"{value} must be above 0", "leave out what you do not know")
            return None
        return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(f"'{text}' is no number", "write a plain number") from error


def _whole(text: str) -> int:
    value = _number(text)
    if value != int(value):
        raise InputError(f"'{text}' is no whole number", "write it like 4")
    return int(value)


def _size(text: str) -> float:
    return float(parse_size(text))
