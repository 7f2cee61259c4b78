"""``faults`` and ``settle``: faults inflicted on the lab of an experiment, and the observation time afterwards."""

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.faults import NONE
from iosonde.core.message import Message
from iosonde.core.problems import Problem, suggest_replacement
from iosonde.core.yaml_text import Document
from iosonde.measure import faults, items, placeholders, workloads
from iosonde.measure.spec import NativeStep, Spec

from . import lab
from .check import build_problem, evaluate_settings, iterate_cells

KEY, SETTLE = "faults", "settle"
_CELLS = 2000  # cells at which faults are tested: more would not find more


def list_fault_problems(document: Document) -> list[Problem]:
    """Return mistakes: faults need a lab."""
    keys = [key for key in (KEY, SETTLE) if key in document.data]
    if lab.KEY in document.data:
        return []
    words = {KEY: "faults need a lab", SETTLE: "settling needs a lab"}
    hint = "write a section lab: file_system: glusterfs, or leave it out"
    return [build_problem(document, (key,), Message("lab-required", words[key]), hint) for key in keys]


def list_spec_problems(document: Document, spec: Spec) -> list[Problem]:
    """Return mistakes in a fault at the levels of its factors."""
    problems = [next(_check_fault(document, spec, place, fault), None) for place, fault in enumerate(spec.faults)]
    return [problem for problem in problems if problem]


def is_without_faults(data: Mapping[str, Any]) -> bool:
    """Return whether the only level of every fault is ``none``, without observation of servers."""
    kinds = [kind for fault in data.get(KEY, ()) for kind in _list_kinds(data, fault)]
    return SETTLE not in data and set(kinds) <= {NONE}


def list_sparing_factors(data: Mapping[str, Any]) -> list[str]:
    """Return the factors that choose a fault and have the level ``none``, which inflicts nothing."""
    names = [
        name for fault in data.get(KEY, ()) for name in placeholders.list_placeholders(str(fault.get("fault", "")))
    ]
    return [name for name in dict.fromkeys(names) if NONE in _list_levels(data, name)]


def _list_kinds(data: Mapping[str, Any], fault: Mapping[str, Any]) -> list[str]:
    """Return the levels of a fault that is just a factor; else its text, also for an unknown factor."""
    text = str(fault.get("fault", ""))
    names = placeholders.list_placeholders(text)
    return (_list_levels(data, names[0]) if names and text == f"${{{names[0]}}}" else []) or [text]


def _list_levels(data: Mapping[str, Any], name: str) -> list[str]:
    factor = data.get("factors", {}).get(name, ())
    levels = factor.get("levels", ()) if isinstance(factor, Mapping) else factor
    return [str(level) for level in (levels if isinstance(levels, list | tuple) else [levels])]


def _check_fault(document: Document, spec: Spec, place: int, fault: dict[str, Any]) -> Iterator[Problem]:
    names = {
        name for value in fault.values() if isinstance(value, str) for name in placeholders.list_placeholders(value)
    }
    factors = [factor for factor in spec.factors if factor.name in names]
    measured = set(_iterate_operations(spec))
    for levels in islice(product(*(factor.levels for factor in factors)), _CELLS):
        values = dict(zip((factor.name for factor in factors), levels, strict=True))
        try:
            for planned in faults.plan_faults([fault], values):
                if planned.during and measured and planned.during not in measured:
                    yield build_problem(
                        document,
                        (KEY, place, "during"),
                        Message(
                            "unknown-operation",
                            "no measured operation is called '{operation}'",
                            operation=planned.during,
                        ),
                        suggest_replacement(planned.during, sorted(measured)),
                    )
        except InputError as error:
            yield build_problem(document, (KEY, place), error.message, error.hint)


def _iterate_operations(spec: Spec) -> Iterator[str]:
    for number, step in enumerate(spec.steps, 1):
        if not isinstance(step, NativeStep):
            yield items.label_command(items.STEP, number, step)
            continue
        for values in iterate_cells(step, spec):
            plans = workloads.find_producer(step.workload).plan(evaluate_settings(step, values), 0, 1, 0)
            yield from (plan.operation for plan in plans if plan.timed)
