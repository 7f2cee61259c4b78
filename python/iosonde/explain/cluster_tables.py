"""The tables in a cluster file of ``iosonde upgrade``: CPUs, measured configurations, marks of systems, weights."""

from iosonde.core.errors import InputError
from iosonde.core.file_sections import Sections
from iosonde.core.message import Message
from iosonde.core.units import parse_seconds
from iosonde.core.yaml_text import Key
from iosonde.explain.upgrade_tables import CRITERIA, Configuration, ListedCpu

_SHORTEST_S, _LONGEST_S = 1e-9, 1e12


def read_cpus(reader: Sections) -> tuple[ListedCpu, ...]:
    """Read the section ``read_cpus``: points and W of each."""
    sections = {
        str(name): reader.numbers(("cpus", name), ("points", "watts"), all_of_them=True)
        for name in reader.mapping(("cpus",))
    }
    return tuple(ListedCpu(name, cpu["points"], cpu["watts"]) for name, cpu in sections.items() if len(cpu) == 2)


def read_measured(reader: Sections) -> tuple[Configuration, ...]:
    """Read the section ``read_measured``: the times of each configuration, and its factors."""
    configurations = []
    for name in reader.mapping(("measured",)):
        at: Key = ("measured", name)
        factors = dict(reader.mapping(at))
        times = factors.pop("time", None)
        if times is None:
            reader.wrong(
                at, Message("missing-key", "time is missing", name="time"), "write it like 282min, or a list of repeats"
            )
            continue
        try:
            seconds = tuple(parse_seconds(str(time)) for time in (times if isinstance(times, list) else [times]))
        except InputError as error:
            reader.wrong((*at, "time"), error.message, error.hint)
            continue
        if not seconds or min(seconds) <= 0:
            reader.wrong((*at, "time"), Message("out-of-range", "a time must be above 0"), "write it like 282min")
            continue
        if min(seconds) < _SHORTEST_S or max(seconds) > _LONGEST_S:
            reader.wrong((*at, "time"), Message("out-of-range", "the time is implausible"), "write it like 282min")
            continue
        configurations.append(Configuration(str(name), factors, seconds))
    return tuple(configurations)


def read_criteria(reader: Sections) -> tuple[str, ...]:
    """Read the list ``read_criteria``: the criteria of the marks, if not the seven known ones."""
    entries = reader.document.data.get("criteria")
    if entries is None:
        return tuple(CRITERIA)
    names = [str(entry) for entry in entries] if isinstance(entries, list) else []
    if not names or len(set(names)) < len(names):
        if not any(problem.key == "criteria" for problem in reader.problems):  # also called for weights
            reader.wrong(
                ("criteria",),
                Message("duplicate-names", "not a list of different names"),
                "write it like [scalability, transparency]",
            )
        return tuple(CRITERIA)
    return tuple(names)


def read_systems(reader: Sections) -> dict[str, dict[str, float]]:
    """Read the section ``read_systems``: marks from 0 to 5 by criterion."""
    marks_by_system, names = {}, read_criteria(reader)
    for name in reader.mapping(("systems",)):
        marks = reader.numbers(("systems", name), names, all_of_them=True, zero=True)
        for criterion, mark in marks.items():
            if not 0 <= mark <= 5:
                reader.wrong(
                    ("systems", name, criterion),
                    Message("out-of-range", "a mark of {mark:g}", mark=mark),
                    "marks go from 0 to 5",
                )
        marks_by_system[str(name)] = marks
    return marks_by_system


def read_weights(reader: Sections) -> dict[str, float]:
    """Read the section ``read_weights``: at least 0, and not all 0."""
    names = read_criteria(reader)
    weights_by_criterion = reader.numbers(("weights",), names, zero=True)
    for criterion, weight in weights_by_criterion.items():
        if weight < 0:
            reader.wrong(
                ("weights", criterion),
                Message("out-of-range", "a weight of {weight:g}", weight=weight),
                "a weight is 0 or more",
            )
    if len(weights_by_criterion) == len(names) and not any(weights_by_criterion.values()):
        reader.wrong(
            ("weights",), Message("no-weight", "every weight is 0"), "give a weight above 0, or omit weights of 1"
        )
    return weights_by_criterion
