"""Experiment file ↔ Spec: the only builder of experiments.

A document (from a file, options, or a bare command) is checked against the schema, then as a whole (``check``). It
becomes a ``Spec`` with its ``Terms``. ``spec_to_document`` is the inverse: the stored form, and the identity of an
experiment.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from iosonde.core import cluster_nodes, questions
from iosonde.core.cluster_nodes import ClusterNodes
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.problems import Problem, SpecError
from iosonde.core.stored import MAXIMUM, TARGET
from iosonde.core.types import Factor
from iosonde.core.units import parse_rate, parse_seconds, parse_size
from iosonde.core.yaml_text import Document
from iosonde.measure import mpi_program
from iosonde.measure.spec import (
    ALL,
    CACHE_NONE,
    SINGLE,
    CacheRegime,
    CommandStep,
    Control,
    NativeStep,
    Spec,
    Step,
    Terms,
)

from .. import targets
from . import against, check, faults, find, lab, schema
from .levels import find_level, read_levels

# The least number of trials whose extremes enclose the median at 95 %.
DEFAULT_REPETITIONS = 6
_OLDER = "commands"
# Importers with another name than their program, or named like a program whose output is not a step's result.
_ALSO_TOOLS, _NO_TOOLS = {"iperf"}, {"time"}
_SERIES = {"nodes": "nodes", "ranks_per_node": "ranks"}  # factor → unit


@dataclass(frozen=True)
class Built:
    """An experiment with its terms."""

    spec: Spec
    terms: Terms


def build_experiment(
    document: Document, importers: Collection[str], resolve: Callable[[Path], Path] = Path.resolve
) -> Built:
    """Build the experiment of a document. ``importers`` are the valid names of ``parse``; ``resolve`` makes a path
    absolute and free of links, which may hang with the target.

    Raises SpecError with all mistakes.
    """
    _give_up(document, schema.list_schema_problems(document))
    document = modernize_document(document)
    _give_up(
        document,
        [
            *against.list_against_problems(document),
            *find.list_find_problems(document),
            *lab.list_lab_problems(document),
            *faults.list_fault_problems(document),
        ],
    )
    document = lab.add_lab_factors(find.expand_find(against.expand_against(document)))
    _give_up(document, check.list_problems(document, importers))
    data = document.data
    hosts, levels, places = _read_hosts(document), data.get("factors", {}), _resolve_targets(document, resolve)
    tools = {*importers, *_ALSO_TOOLS} - _NO_TOOLS
    spec = Spec(
        targets=places,
        steps=tuple(_build_step(step, levels, tools) for step in data["steps"]),
        factors=_build_factors(data),
        name=data.get("name", ""),
        controls=_build_controls(data.get("factors", {})),
        set_up=tuple(_build_command_step(step, SINGLE, levels) for step in data.get("set_up", ())),
        tear_down=tuple(_build_command_step(step, SINGLE, levels) for step in data.get("tear_down", ())),
        cache=_build_cache_regime(data.get("cache", CACHE_NONE)),
        design=_normalise_design(data.get("design", "full")),
        repetitions=_count_repetitions(data),
        until=schema.parse_until(data["until"]) if "until" in data else None,
        against=against.against_from_document(data),
        find=find.find_from_document(data),
        seed=data.get("seed"),
        launcher=data.get("launcher"),
        hosts=hosts,
        servers=tuple(data.get("servers", ())),
        reserve=data.get("reserve", ""),
        trial_timeout_s=_parse_optional_seconds(data.get("trial_timeout")),
        lab=dict(data.get(lab.KEY, {})),
        faults=tuple(dict(fault) for fault in data.get(faults.KEY, ())),
        settle_s=_parse_optional_seconds(data.get(faults.SETTLE)),
    )
    problems = [*check.list_spec_problems(document, spec), *faults.list_spec_problems(document, spec)]
    n_settings = math.prod(len(factor.levels) for factor in spec.factors)
    _give_up(document, [*problems, *find.list_setting_problems(document, n_settings)])
    return Built(spec, _build_terms({**data, **_read_cluster(document)}))


def modernize_document(document: Document) -> Document:
    """Return the document with ``steps``; a list of ``commands`` (type, command, parse) is the older form.

    Raises SpecError if the older form is invalid, as it is not visible afterwards.
    """
    if _OLDER not in document.data:
        return document
    _give_up(document, schema.list_schema_problems(document))
    steps = [
        {"command": step["command"], "on": step["type"], "parse": step.get("parse", False)}
        for step in document.data[_OLDER]
    ]
    moved = {("steps", *path[1:]): place for path, place in document.places.items() if path[:1] == (_OLDER,)}
    data = {key: value for key, value in document.data.items() if key != _OLDER}
    return Document({**data, "steps": steps}, document.name, document.places | moved, document.text)


def spec_to_document(spec: Spec) -> dict[str, Any]:
    """The experiment as a document: plain data that ``build`` reads back as the same ``Spec``."""
    series = {name: list(spec.levels(name)) for name in _SERIES}
    keys = {*series, *lab.collect_lab_factors(spec.lab), *([] if spec.targets.keys() <= {""} else [TARGET])}
    written: dict[str, Any] = {
        "name": spec.name or None,
        **_targets_to_document(spec),
        **series,
        "factors": {
            factor.name: _factor_to_document(factor, spec) for factor in spec.factors if factor.name not in keys
        },
        "set_up": [_command_to_document(step) for step in spec.set_up],
        "steps": [
            {"workload": step.workload, **step.settings} if isinstance(step, NativeStep) else _command_to_document(step)
            for step in spec.steps
        ],
        "tear_down": [_command_to_document(step) for step in spec.tear_down],
        "cache": {key: value for key, value in vars(spec.cache).items() if value},
        "design": spec.design,
        "repetitions": spec.repetitions,
        "until": f"ci<{100 * spec.until:.12g}%" if spec.until else None,
        "against": against.against_to_document(spec.against) if spec.against else None,
        "find": find.find_to_document(spec.find) if spec.find else None,
        "seed": spec.seed,
        "launcher": spec.launcher,
        "hosts": list(spec.hosts),
        "servers": list(spec.servers),
        "reserve": spec.reserve or None,
        "trial_timeout": spec.trial_timeout_s,
        lab.KEY: spec.lab,
        faults.KEY: [dict(fault) for fault in spec.faults],
        faults.SETTLE: spec.settle_s,
    }
    return {key: value for key, value in written.items() if value is not None and value not in ([], {})}


def build_identity(spec: Spec) -> dict[str, Any]:
    """Return the identity of an experiment: everything except the source of the nodes and timeouts."""
    return {
        key: value for key, value in spec_to_document(spec).items() if key not in ("hosts", "reserve", "trial_timeout")
    }


def _give_up(document: Document, problems: list[Problem]) -> None:
    if problems:
        raise SpecError(document.name, problems)


def _build_step(step: Any, factors: Mapping[str, Any], tools: Collection[str]) -> Step:
    if isinstance(step, dict) and "workload" in step:
        return NativeStep(step["workload"], {key: value for key, value in step.items() if key != "workload"})
    return _build_command_step(step, ALL, factors, tools)


def _build_command_step(step: Any, on: str, factors: Mapping[str, Any], tools: Collection[str] = ()) -> CommandStep:
    """Build a command step; the output of programs in ``tools`` is parsed by default."""
    command = step if isinstance(step, str) else step["command"]
    parse = "auto" if mpi_program.has_any_program(command, tools) else None
    if isinstance(step, str):
        return CommandStep(step, mpi_program.choose_default_on(step, on), parse)
    expect = step.get("expect", (0,))
    return CommandStep(
        command=step["command"],
        on=step.get("on") or mpi_program.choose_default_on(step["command"], on),
        parse=parse_of(step["parse"]) if "parse" in step else parse,
        timeout_s=_parse_optional_seconds(step.get("timeout")),
        expect=tuple(expect) if isinstance(expect, (list, tuple)) else (expect,),
        keep_output=parse_size(step["keep_output"]) if "keep_output" in step else None,
        name=step.get("name", ""),
        when={factor: find_level(factors[factor], level) for factor, level in step.get("when", {}).items()},
    )


def parse_of(word: str | bool) -> str | None:
    """Convert ``parse`` for a CommandStep: true is auto, false and none are None."""
    if isinstance(word, bool):
        return "auto" if word else None
    return None if word == "none" else word


def _build_factors(data: Mapping[str, Any]) -> tuple[Factor, ...]:
    series = [Factor(name, unit, tuple(_list_counts(data.get(name, 1)))) for name, unit in _SERIES.items()]
    own = [
        Factor(name, unit, levels)
        for name, declaration in data.get("factors", {}).items()
        for levels, unit in [read_levels(declaration)]
    ]
    return (*series, *own, *([Factor(TARGET, "", tuple(data["targets"]))] if "targets" in data else []))


def _list_counts(counts: int | list[int]) -> list[int]:
    return [int(count) for count in (counts if isinstance(counts, list) else [counts])]


def _build_controls(factors: Mapping[str, Any]) -> tuple[Control, ...]:
    declarations = {
        name: declaration
        for name, declaration in factors.items()
        if isinstance(declaration, dict) and {"set", "read"} & declaration.keys()
    }
    return tuple(
        Control(
            name,
            declaration.get("set", ""),
            declaration.get("read", ""),
            declaration.get("on", SINGLE),
            declaration.get("restore", True),
        )
        for name, declaration in declarations.items()
    )


def _build_cache_regime(value: str | dict[str, str]) -> CacheRegime:
    return CacheRegime(value) if isinstance(value, str) else CacheRegime(**value)


def _normalise_design(value: str | dict[str, Any]) -> dict[str, Any]:
    return {"kind": value} if isinstance(value, str) else value


def _count_repetitions(data: Mapping[str, Any]) -> int:
    """Return the repetitions; with a stopping rule they are its pilot, with a minimum size."""
    repetitions = int(data.get("repetitions", DEFAULT_REPETITIONS))
    return max(repetitions, DEFAULT_REPETITIONS) if "until" in data else repetitions


def _resolve_targets(document: Document, resolve: Callable[[Path], Path]) -> dict[str, Path]:
    """Return name → directory; the name is empty without a factor of targets."""
    data = document.data
    directories = data["targets"] if "targets" in data else {"": data["target"]} if "target" in data else {}
    path_by_name: dict[str, Path] = {}
    for name, directory in directories.items():
        with targets.prefix_target_errors(name):
            path = resolve(Path(directory))
        if same := next((other for other, other_path in path_by_name.items() if other_path == path), None):
            _give_up(
                document,
                [
                    Problem(
                        document.place(("targets", name)),
                        f"targets.{name}",
                        Message(
                            "duplicate-target",
                            "'{name}' and '{other_name}' are one directory, {path}",
                            name=same,
                            other_name=name,
                            path=path,
                        ),
                        "keep one of them",
                    )
                ],
            )
        path_by_name[name] = path
    return path_by_name


def _targets_to_document(spec: Spec) -> dict[str, Any]:
    if spec.targets.keys() <= {""}:
        return {"target": next(map(str, spec.targets.values()), None)}
    return {"targets": {name: str(path) for name, path in spec.targets.items()}}


def _read_hosts(document: Document) -> tuple[str, ...]:
    from iosonde.ranks.launch import mpirun

    hosts = document.data.get("hosts", [])
    if isinstance(hosts, list):
        return tuple(hosts)
    try:
        return mpirun.read_hosts(hosts)
    except InputError as error:
        problem = Problem(document.place(("hosts",)), "hosts", error.message, error.hint)
        raise SpecError(document.name, [problem]) from error


def _read_cluster(document: Document) -> dict[str, ClusterNodes]:
    """Read the nodes of the file that ``cluster`` names. Raises SpecError."""
    if cluster_nodes.CLUSTER not in document.data:
        return {}
    at = (cluster_nodes.CLUSTER,)
    try:
        return {cluster_nodes.CLUSTER: cluster_nodes.load_cluster_nodes(Path(document.data[cluster_nodes.CLUSTER]))}
    except SpecError:
        raise
    except InputError as error:
        problem = Problem(document.place(at), cluster_nodes.CLUSTER, error.message, error.hint)
        raise SpecError(document.name, [problem]) from error


def _parse_optional_seconds(value: str | float | None) -> float | None:
    return None if value is None else parse_seconds(value)


def _build_terms(data: Mapping[str, Any]) -> Terms:
    units: dict[str, Callable[[Any], Any]] = {
        "budget": parse_seconds,
        "idle_timeout": parse_seconds,
        "max_seconds": parse_seconds,
        "max_bytes": parse_size,
        MAXIMUM: parse_rate,
        "speeds": _parse_speeds,
        "pace": str,
        questions.KEY: tuple,
    }
    names = {"budget": "budget_s", "idle_timeout": "idle_timeout_s"}
    converted = {key: units.get(key, _pass_through)(value) for key, value in data.items()}
    terms = {names.get(key, key): value for key, value in converted.items()}
    return Terms(**{field.name: terms[field.name] for field in fields(Terms) if field.name in terms})


def _parse_speeds(section: Mapping[str, Any]) -> dict[str, float]:
    read = {"bytes_per_s": ("bytes_per_s", parse_size), "start": ("start_s", parse_seconds)}
    return {
        name: parse(value) for key, value in section.items() for name, parse in [read.get(key, (key, _pass_through))]
    }


def _pass_through(value: Any) -> Any:
    return value


def _factor_to_document(factor: Factor, spec: Spec) -> dict[str, Any]:
    control = next((candidate for candidate in spec.controls if candidate.factor == factor.name), None)
    control_fields = {"set": control.set, "read": control.read, "on": control.on} if control else {}
    set_fields = {key: value for key, value in control_fields.items() if value}
    restore_field = {"restore": False} if control and not control.restore else {}
    return {"levels": list(factor.levels), "unit": factor.unit} | set_fields | restore_field


def _command_to_document(step: CommandStep) -> dict[str, Any]:
    written = {
        "command": step.command,
        "on": step.on,
        "parse": step.parse or "none",
        "timeout": step.timeout_s,
        "expect": list(step.expect),
        "keep_output": step.keep_output,
        "name": step.name or None,
        "when": step.when or None,
    }
    return {key: value for key, value in written.items() if value is not None}
