"""Checks of an experiment beyond the schema: names without meaning, factors without effect, a missing target, settings
that a workload refuses."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from itertools import islice, product
from typing import Any

from iosonde.campaign.forecast import parse_work
from iosonde.core.errors import InputError
from iosonde.core.message import Message, restore_message, spell
from iosonde.core.problems import Problem, suggest_replacement
from iosonde.core.schema import BRING_UPS, CENTRE, HEALTH, OBSERVED_FACTORS, PROBE_FACTORS, RESULT_COLUMNS
from iosonde.core.stored import TARGET
from iosonde.core.yaml_text import Document, Key, format_key
from iosonde.measure import design, mpi_program, placeholders, workloads
from iosonde.measure.spec import CACHE_REMOUNT, MPI, SERVERS, NativeStep, Spec
from iosonde.measure.workloads.settings import SettingError
from iosonde.ranks.launch.mpirun import HOST_NAME

from . import lab
from .levels import find_level, read_levels

# Columns of a store's tables, and facts of a trial.
RESERVED = frozenset(
    {
        *OBSERVED_FACTORS,
        *PROBE_FACTORS,
        *RESULT_COLUMNS,
        *BRING_UPS,
        CENTRE,
        HEALTH,
        "run",
        "experiment",
        "started_at",
        "source",
        "complete",
        "block",
        "order",
        "seed",
        "seconds",
        "tags",
        "ranks",
        "nodes",
        "ranks_per_node",
        "trial",
    }
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# -il for -i1: an old slip of the letter for the digit.
_IOZONE_SLIP = re.compile(r"\biozone\b.*?\s(-i\s*[A-Za-z]\w*)")
# Number of cells at which settings are tested: more would not find more.
_CELLS = 2000
MAX_TRIED = 20_000  # cells that are searched for allowed ones


def list_problems(document: Document, importers: Collection[str]) -> list[Problem]:
    """Return all mistakes in a document valid by the schema."""
    problems = list(_check_factors(document))
    problems += [] if problems else _check_unused(document)
    problems += [
        *_check_cache(document),
        *_check_target(document),
        *_check_targets(document),
        *_check_servers(document),
        *_check_when(document),
    ]
    problems += _check_commands(document, importers)
    for place, step in _iterate_native_steps(document.data["steps"]):
        if step["workload"] not in workloads.list_workloads():
            problems.append(build_problem(document, ("steps", place, "workload"), *_explain_absence(step["workload"])))
    return problems


def _explain_absence(workload: str) -> tuple[Message, str]:
    """Return why there is no such workload, and what to do: install its package, or write another name."""
    if error := workloads.find_missing(workload):
        return error.message, error.hint
    what = Message("unknown-workload", "unknown native workload '{workload}'", workload=workload)
    return what, suggest_replacement(workload, workloads.list_workloads())


def list_spec_problems(document: Document, spec: Spec) -> list[Problem]:
    """Return mistakes of the design with these factors, and of settings at the cells of the factors that they use."""
    problems: list[Problem] = [*_check_design(document, spec), *_check_moves(document, spec)]
    if problems:
        return problems
    first_steps: dict[str, int] = {}
    for place, step in enumerate(spec.steps):
        if isinstance(step, NativeStep):
            problems += _check_settings(document, ("steps", place), step, spec)
            if not problems:
                problems += _check_operations(document, ("steps", place), step, spec, first_steps)
    return problems


def build_problem(document: Document, path: Key, what: str, hint: str = "") -> Problem:
    """Build the problem of the key at ``path``."""
    return Problem(document.place(path), format_key(path), what, hint)


def _iterate_native_steps(steps: list[Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    yield from ((place, step) for place, step in enumerate(steps) if isinstance(step, dict) and "workload" in step)


def _check_factors(document: Document) -> Iterator[Problem]:
    taken = {*placeholders.TRIAL, *placeholders.RANK, placeholders.LEVEL}
    for name, declaration in document.data.get("factors", {}).items():
        path: Key = ("factors", name)
        if not _NAME.fullmatch(name):
            yield build_problem(
                document,
                path,
                Message("invalid-name", "this is not a name"),
                "use letters, digits and _, beginning with a letter",
            )
        elif name in RESERVED or name in taken:
            hint = "it has a key of its own" if name in ("nodes", "ranks_per_node") else "choose another name"
            yield build_problem(
                document,
                path,
                Message("reserved-name", "'{name}' is a column or a name that every run has already", name=name),
                hint,
            )
        try:
            read_levels(declaration)
        except InputError as error:
            yield build_problem(document, path, error.message, error.hint)
        if isinstance(declaration, dict):
            yield from _check_control(document, path, declaration)


def _check_control(document: Document, path: Key, declaration: dict[str, Any]) -> Iterator[Problem]:
    if "set" in declaration and placeholders.LEVEL not in placeholders.list_placeholders(declaration["set"]):
        yield build_problem(
            document,
            (*path, "set"),
            Message("missing-placeholder", "the command does not contain ${{{name}}}", name=placeholders.LEVEL),
            "put it where the level belongs",
        )
    if "restore" in declaration and "set" not in declaration:
        yield build_problem(
            document,
            (*path, "restore"),
            Message("key-requires-key", "nothing is set"),
            "give the command that sets it with set",
        )
    if "on" in declaration and not {"set", "read"} & declaration.keys():
        yield build_problem(
            document,
            (*path, "on"),
            Message("key-requires-key", "nothing is set or read"),
            "give a command with set or read",
        )


def _check_unused(document: Document) -> Iterator[Problem]:
    data = document.data
    used = {*find_used_names(data), *lab.collect_lab_factors(data.get(lab.KEY, {}))}
    for name, declaration in data.get("factors", {}).items():
        levels = declaration["levels"] if isinstance(declaration, dict) else declaration
        controlled = isinstance(declaration, dict) and "set" in declaration
        if isinstance(levels, list) and len(levels) > 1 and not controlled and name not in used:
            yield build_problem(
                document,
                ("factors", name),
                Message(
                    "unused-factor",
                    "its levels change nothing: no command and no setting contains ${{{factor}}}",
                    factor=name,
                ),
                "use it, give it a set command, or keep a single level",
            )


def _check_design(document: Document, spec: Spec) -> Iterator[Problem]:
    """Return mistakes of the design with these factors; the messages begin with the wrong key."""
    try:
        design.check_design(spec.design, spec.factors)
    except InputError as error:
        key, _, _ = error.message.partition(": ")
        key = key if re.fullmatch(r"design[\w.\[\]]*", key) else "design"
        path = tuple(int(part) if part.isdecimal() else part for part in re.findall(r"[^.\[\]]+", key))
        yield Problem(document.place(path), key, _strip_key(error, key), error.hint)


def _check_moves(document: Document, spec: Spec) -> Iterator[Problem]:
    if "moves" in document.data:
        try:
            parse_work(document.data["moves"], [factor.name for factor in spec.factors], "moves")
        except InputError as error:
            yield build_problem(document, ("moves",), _strip_key(error, "moves"), error.hint)


def _strip_key(error: InputError, key: str) -> Message:
    return error.message.without_prefix(f"{key}: ")


def find_used_names(data: Mapping[str, Any]) -> set[str]:
    """Return the names used by commands and settings of a document's data."""
    chosen = [step["when"] for _, step in _iterate_steps(data) if isinstance(step.get("when"), dict)]
    names = find_placeholders([data.get(key) for key in ("set_up", "steps", "tear_down", "factors", "cache", "faults")])
    return names.union(*chosen)


def _iterate_steps(data: Mapping[str, Any]) -> Iterator[tuple[Key, dict[str, Any]]]:
    for stage in ("set_up", "steps", "tear_down"):
        steps = data.get(stage)
        for place, step in enumerate(steps if isinstance(steps, list) else ()):
            if isinstance(step, dict):
                yield (stage, place), step


def _check_when(document: Document) -> Iterator[Problem]:
    """Return mistakes in ``when``: unknown levels or factors."""
    factors = document.data.get("factors", {})
    for path, step in _iterate_steps(document.data):
        for factor, level in step.get("when", {}).items() if "workload" not in step else ():
            if factor not in factors:
                yield build_problem(
                    document,
                    (*path, "when", factor),
                    Message("unknown-factor", "unknown factor '{factor}'", factor=factor),
                    suggest_replacement(factor, factors),
                )
                continue
            try:
                find_level(factors[factor], level)
            except InputError as error:
                yield build_problem(document, (*path, "when", factor), error.message, error.hint)


def find_placeholders(value: Any) -> set[str]:
    """Return the names of placeholders anywhere in a value."""
    if isinstance(value, str):
        return set(placeholders.list_placeholders(value))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {name for part in parts for name in find_placeholders(part)}


def _check_cache(document: Document) -> Iterator[Problem]:
    cache = document.data.get("cache")
    if not isinstance(cache, dict):
        return
    remounts = cache.get("between_trials") == CACHE_REMOUNT
    for key in ("unmount", "mount"):
        if remounts and key not in cache:
            yield build_problem(
                document,
                ("cache",),
                Message("key-requires-key", "remount needs the command '{missing_key}'", missing_key=key),
                "give both: unmount and mount",
            )
        if not remounts and key in cache:
            yield build_problem(
                document,
                ("cache", key),
                Message("unused-command", "it would never run"),
                "write between_trials: remount",
            )
    if "before_reads" not in cache:
        return
    path, native = ("cache", "before_reads"), [step for _, step in _iterate_native_steps(document.data["steps"])]
    if not native:
        yield build_problem(
            document,
            path,
            Message("unused-command", "it would not run: no step is a native workload"),
            "make it a step of its own",
        )
    elif all(step.get("cache") == "warm" for step in native):
        yield build_problem(
            document,
            path,
            Message("unused-command", "it would not run: cache: warm leaves the caches alone"),
            "leave one of them out",
        )


def _check_target(document: Document) -> Iterator[Problem]:
    data = document.data
    if "target" in data or "targets" in data:
        return
    for place, step in _iterate_native_steps(data["steps"]):
        yield build_problem(
            document,
            ("steps", place),
            Message("missing-target", "the workload {workload} needs a target", workload=step["workload"]),
            f"give the directory to measure: target, or {spell.target:DIR}",
        )
    for path, text in _iterate_commands(data):
        if {"TARGET", "TARGET_ROOT"} & set(placeholders.list_placeholders(text)):
            yield build_problem(
                document,
                path,
                Message("missing-target", "${{TARGET}} has no value without a target"),
                f"give the directory to measure: target, or {spell.target:DIR}",
            )


def _check_targets(document: Document) -> Iterator[Problem]:
    """Check targets: several are the levels of a factor that must not be declared elsewhere."""
    data = document.data
    if "targets" not in data:
        return
    if "target" in data:
        yield build_problem(
            document,
            ("target",),
            Message("conflicting-keys", "target and targets exclude each other"),
            "keep one of them",
        )
    if TARGET in data.get("factors", {}):
        yield build_problem(
            document,
            ("factors", TARGET),
            Message("reserved-name", "targets makes a factor of this name"),
            "choose another name",
        )
    if not all(name.strip() for name in data["targets"]):
        yield build_problem(
            document, ("targets",), Message("empty-name", "a target has no name"), "write each as NAME: DIR"
        )


def _check_servers(document: Document) -> Iterator[Problem]:
    """Check hosts of steps that run on servers: they must be named, and be plain host names for ssh."""
    data = document.data
    there = [
        (stage, place)
        for stage in ("set_up", "steps", "tear_down")
        for place, step in enumerate(data.get(stage, ()))
        if isinstance(step, dict) and step.get("on") == SERVERS
    ]
    if "servers" not in data:
        for stage, place in there:
            yield build_problem(
                document,
                (stage, place, "on"),
                Message("missing-servers", "it has no servers to run on"),
                "name their hosts: servers: [HOST, …]",
            )
        return
    for place, host in enumerate(data["servers"]):
        if not HOST_NAME.fullmatch(host):
            yield build_problem(
                document,
                ("servers", place),
                Message("invalid-host-name", "'{host}' is not a host name", host=host),
                "write each as ssh takes it",
            )
    if not there:
        yield build_problem(
            document,
            ("servers",),
            Message("unused-servers", "no step runs on them"),
            "write on: servers in one, or leave the key out",
        )


def _iterate_commands(data: Mapping[str, Any]) -> Iterator[tuple[Key, str]]:
    for stage in ("set_up", "steps", "tear_down"):
        for place, step in enumerate(data.get(stage, ())):
            if isinstance(step, str):
                yield (stage, place), step
            elif "command" in step:
                yield (stage, place, "command"), step["command"]
    for name, declaration in data.get("factors", {}).items():
        if isinstance(declaration, dict):
            yield from ((("factors", name, key), declaration[key]) for key in ("set", "read") if key in declaration)
    if isinstance(data.get("cache"), dict):
        yield from ((("cache", key), data["cache"][key]) for key in ("unmount", "mount") if key in data["cache"])


def _check_commands(document: Document, importers: Collection[str]) -> Iterator[Problem]:
    data = document.data
    names = placeholders.list_command_names([*data.get("factors", {}), *([TARGET] if "targets" in data else [])])
    for path, text in _iterate_commands(data):
        also = (placeholders.LEVEL,) if path[0] == "factors" else ()
        try:
            placeholders.check_placeholders(text, (*names, *also))
        except InputError as error:
            yield build_problem(document, path, error.message, error.hint)
        if slip := _IOZONE_SLIP.search(text):
            yield build_problem(
                document,
                path,
                Message("unknown-tool-option", "iozone knows no test {option}", option=slip[1]),
                "did you mean -i1, with the digit one?" if "l" in slip[1] else "use -i0 … -i12",
            )
    for stage in ("set_up", "steps", "tear_down"):
        for place, step in enumerate(data.get(stage, ())):
            importer = step.get("parse") if isinstance(step, dict) and "command" in step else None
            if isinstance(importer, str) and importer not in ("none", "auto", *importers):
                yield build_problem(
                    document,
                    (stage, place, "parse"),
                    Message("unknown-importer", "unknown importer '{importer}'", importer=importer),
                    suggest_replacement(importer, ("none", "auto", *importers)),
                )
            if (
                isinstance(step, dict)
                and step.get("on") == MPI
                and (wrong := mpi_program.explain_unfit_for_mpi(step["command"]))
            ):
                yield build_problem(document, (stage, place, "on"), *wrong)


def _check_settings(document: Document, path: Key, step: NativeStep, spec: Spec) -> Iterator[Problem]:
    """Return mistakes in the settings of a step: unknown settings, unknown names in them, and values that the workload
    refuses."""
    setting_names = [field.name for field in fields(workloads.find_producer(step.workload).Settings)]
    unknown = [key for key in step.settings if key not in setting_names]
    for key in unknown:
        yield build_problem(
            document,
            (*path, key),
            Message("unknown-setting", "{workload} has no such setting", workload=step.workload),
            suggest_replacement(key, setting_names),
        )
    if unknown:
        return
    for values in iterate_cells(step, spec):
        try:
            evaluate_settings(step, values)
        except SettingError as error:
            yield build_problem(document, (*path, *error.path), _add_cell_to_message(error, values), error.hint)
            return
        except InputError as error:
            yield build_problem(document, path, _add_cell_to_message(error, values), error.hint)
            return


def _add_cell_to_message(error: InputError, levels: Mapping[str, Any]) -> Message:
    if not levels:
        return error.message
    cell = ", ".join(f"{name}={level}" for name, level in levels.items())
    return restore_message(error.code, f"{error.message} (at {cell})", {**error.values, "cell": cell})


def iterate_cells(step: NativeStep, spec: Spec) -> Iterator[dict[str, Any]]:
    """Yield the cells of the factors that the settings of a step use, except those forbidden by a constraint."""
    yield from iterate_cells_of(find_placeholders(step.settings), spec)


def iterate_cells_of(used: Collection[str], spec: Spec, limit: int = _CELLS) -> Iterator[dict[str, Any]]:
    """Yield the cells of these factors, ``limit`` at most, except those forbidden by a constraint."""
    factors = [factor for factor in spec.factors if factor.name in used]
    names = [factor.name for factor in factors]
    allows = design.build_cell_check(
        design.read_constraints(spec.design, [factor.name for factor in spec.factors]), names
    )
    grid = islice(product(*(factor.levels for factor in factors)), MAX_TRIED)
    candidates = (dict(zip(names, levels, strict=True)) for levels in grid)
    allowed = list(islice((cell for cell in candidates if allows(cell)), limit))
    if allowed:
        yield from allowed
    else:  # nearly all are forbidden, or all: the design reports it
        for cell in islice(design.build_cells(spec.factors, spec.design, 0).cells, _CELLS):
            yield {name: cell[name] for name in names}


def evaluate_settings(step: NativeStep, values: Mapping[str, Any]) -> Any:
    """Return the ``Settings`` of a native step at one setting of the factors, for any trial. Raises InputError."""
    trial = {**dict.fromkeys(placeholders.TRIAL, 1), **values, **workloads.list_own_placeholders(step.workload)}
    return workloads.find_producer(step.workload).Settings(**placeholders.fill_typed(step.settings, trial))


def _check_operations(
    document: Document, path: Key, step: NativeStep, spec: Spec, first_steps: dict[str, int]
) -> Iterator[Problem]:
    """Check for duplicate operations: two phases of one name would be one operation in the results. Steps of one
    workload are distinguished."""
    for plan in workloads.find_producer(step.workload).plan(
        evaluate_settings(step, next(iterate_cells(step, spec))), 0, 1, 0
    ):
        before = spec.steps[first_steps.get(plan.operation, 0)]
        is_distinct = first_steps.get(plan.operation) != path[1] and getattr(before, "workload", "") == step.workload
        if plan.timed and plan.operation in first_steps and not is_distinct:
            yield build_problem(
                document,
                path,
                Message(
                    "duplicate-operation",
                    "the operation '{operation}' is measured twice (steps[{first_step}] too)",
                    operation=plan.operation,
                    first_step=first_steps[plan.operation],
                ),
                "give the phases different names",
            )
        first_steps.setdefault(plan.operation, int(path[1]))
