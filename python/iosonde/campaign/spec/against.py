"""``against``: two commands, or a factor of two levels (two targets are one), as an experiment of pairs.

``against: 'B'`` turns the one command of an experiment into two, each run at its own level of the factor ``variant``.
For any factor, the order of trials is drawn so that every block is one pair in random order.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.gate import parse_gate
from iosonde.core.gate_conditions import parse_condition
from iosonde.core.message import Message
from iosonde.core.problems import Problem
from iosonde.core.stored import TARGET
from iosonde.core.units import parse_share
from iosonde.core.yaml_text import Document, format_key
from iosonde.measure.spec import Against
from iosonde.stats.estimate.sequential import LEAST, MOST

from .levels import read_levels

FACTOR = "variant"
MARGIN = 0.05
_SHORT = 24  # characters of a command that may name its side
_SERIES = ("nodes", "ranks_per_node")


def expand_against(document: Document) -> Document:
    """Return the document with both commands as steps, the factor that distinguishes them, and a design of pairs.
    Unchanged without ``against``. Call it only if ``problems`` finds none."""
    data = document.data
    if "against" not in data:
        return document
    section = _normalise_section(data)
    data = {**data, "repetitions": data.get("repetitions", MOST)}
    if "command" in section:
        names = _name_sides(section, _get_command(data["steps"][_find_commands(data["steps"])[0]]))
        data |= _combine_commands(data, section["command"], names)
    factor = section.get("factor", FACTOR)
    margin = parse_share(str(section.get("margin", MARGIN)))
    data |= {
        "against": {
            "factor": factor,
            "margin": margin,
            "metric": section.get("metric", "") or _choose_limited_metrics(section),
            **({"fail_if": _parse_conditions(section)} if "fail_if" in section else {}),
        },
        "design": _build_design(data, factor),
    }
    return Document(data, document.name, document.places, document.text)


def against_from_document(data: Mapping[str, Any]) -> Against | None:
    """Read the section of an expanded document."""
    section = data.get("against")
    if not section:
        return None
    return Against(section["factor"], section["margin"], section["metric"], tuple(section.get("fail_if", ())))


def against_to_document(against: Against) -> dict[str, Any]:
    """Return the section of an expanded document; without the key ``fail_if`` if empty, as in older versions."""
    conditions = {"fail_if": list(against.fail_if)} if against.fail_if else {}
    return {"factor": against.factor, "margin": against.margin, "metric": against.metric, **conditions}


def list_against_problems(document: Document) -> list[Problem]:
    """Return the mistakes in ``against``, in a document valid by the schema."""
    if "against" not in document.data:
        return []
    section = _normalise_section(document.data)
    path = ("against",)
    findings = [
        *(_check_command if "command" in section else _check_factor)(document.data, section),
        *_check_plan(document.data, section),
    ]
    return [Problem(document.place(path), format_key(path), what, hint) for what, hint in findings]


def _parse_conditions(section: Mapping[str, Any]) -> list[str]:
    """Return the conditions of ``fail_if`` in a normal form. Raises InputError."""
    fail_if = section.get("fail_if", [])
    gate = parse_gate([fail_if] if isinstance(fail_if, str) else fail_if, False)
    return [str(condition) for condition in gate.conditions] if gate else []


def _choose_limited_metrics(section: Mapping[str, Any]) -> str:
    """Return the metrics that conditions name, which decide if no condition is about others; '' if one is."""
    metrics = [parse_condition(condition).metric for condition in _parse_conditions(section)]
    return ",".join(dict.fromkeys(metrics)) if all(metrics) else ""


def _normalise_section(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the section as a mapping. A command that is the name of a factor with several levels is that factor."""
    value = data["against"]
    section = {"command": value} if isinstance(value, str) else value
    is_factor = len(_list_factor_levels(data).get(section.get("command", ""), ())) > 1
    return {"factor" if is_factor and key == "command" else key: word for key, word in section.items()}


def _find_commands(steps: list[Any]) -> list[int]:
    return [place for place, step in enumerate(steps) if isinstance(step, str) or "command" in step]


def _get_command(step: str | dict[str, Any]) -> str:
    return step if isinstance(step, str) else str(step["command"])


def _name_sides(section: Mapping[str, Any], first: str) -> tuple[str, str]:
    """Name A and B: as given, else by short commands, else A and B."""
    labels = section.get("a_name"), section.get("b_name")
    texts = first.strip(), section["command"].strip()
    short = texts[0] != texts[1] and all(len(text) <= _SHORT and "${" not in text for text in texts)
    a, b = (name or usual for name, usual in zip(labels, texts if short else ("A", "B"), strict=True))
    return a, b


def _combine_commands(data: Mapping[str, Any], command: str, names: tuple[str, str]) -> dict[str, Any]:
    """Return the keys of a document with two commands, of which each trial runs one; both have the name of the step."""
    steps, place = data["steps"], _find_commands(data["steps"])[0]
    step = steps[place] if isinstance(steps[place], dict) else {"command": steps[place]}
    step = {"name": f"step-{place + 1:02d}", **step}
    both = [{**step, "when": {FACTOR: names[0]}}, {**step, "command": command, "when": {FACTOR: names[1]}}]
    factors = {**data.get("factors", {}), FACTOR: list(names)}
    return {"steps": [*steps[:place], *both, *steps[place + 1 :]], "factors": factors}


def _build_design(data: Mapping[str, Any], factor: str) -> dict[str, Any]:
    """Build a design in which every other factor is constant within a pair."""
    levels = _list_factor_levels(data)
    others = [name for name in levels if name != factor and len(levels[name]) > 1]
    return {"kind": "full", **({"blocks": others} if others else {})}


def _list_factor_levels(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the levels of each factor of a document: counts of nodes and ranks, its own factors, its targets."""
    declarations = {name: data[name] for name in _SERIES if name in data} | data.get("factors", {})
    targets = {TARGET: list(data["targets"])} if "targets" in data else {}
    return {name: _list_levels(declaration) for name, declaration in declarations.items()} | targets


def _list_levels(declaration: Any) -> list[Any]:
    levels = declaration["levels"] if isinstance(declaration, dict) else declaration
    return levels if isinstance(levels, list) else [levels]


def _check_command(data: Mapping[str, Any], section: Mapping[str, Any]) -> Iterator[tuple[Message, str]]:
    places = _find_commands(data["steps"])
    if "factor" in section:
        yield (
            Message("conflicting-keys", "give a command or a factor, not both"),
            "leave one of them out",
        )
        return
    if len(places) != 1:
        hint = (
            f"give each its 'when: {{{FACTOR}: …}}', a factor {FACTOR} of two levels, and against: {{factor: {FACTOR}}}"
        )
        yield (
            Message(
                "not-one-command",
                "it replaces one command, but steps has {n_commands}",
                n_commands=len(places),
            ),
            hint,
        )
        return
    if FACTOR in data.get("factors", {}):
        yield (
            Message("duplicate-factor", "the factor '{factor}' already exists", factor=FACTOR),
            f"rename it, or write against: {{factor: {FACTOR}}}",
        )
    if not section["command"].strip():
        yield Message("empty-command", "the command is empty"), "give the command to compare with"
        return
    names = _name_sides(section, _get_command(data["steps"][places[0]]))
    if names[0] == names[1]:
        yield (
            Message("duplicate-side", "both sides are called '{side}'", side=names[0]),
            "give them different names: a_name, b_name",
        )
        return
    try:
        plain = read_levels(list(names))[0] == names
    except InputError:
        plain = False
    if not plain:
        yield (
            Message("ambiguous-side", "'{a}' and '{b}' look like sizes or times", a=names[0], b=names[1]),
            "give them names: a_name, b_name",
        )


def _check_factor(data: Mapping[str, Any], section: Mapping[str, Any]) -> Iterator[tuple[Message, str]]:
    if "factor" not in section:
        yield (
            Message("missing-comparison", "nothing to compare with"),
            "give the command of side B, or a factor of two levels",
        )
        return
    name_keys = [key for key in ("a_name", "b_name") if key in section]
    if name_keys:
        yield (
            Message("key-not-applicable", "{name} is for a command", name=name_keys[0]),
            "the levels of the factor are the names",
        )
    name, levels = section["factor"], _list_factor_levels(data)
    if name not in levels:
        is_target = name == TARGET
        yield (
            Message("unknown-factor", "unknown factor '{factor}'", factor=name),
            "name two directories: targets: {old: DIR, new: DIR}"
            if is_target
            else f"factors: {', '.join(name for name in levels if name not in _SERIES) or 'none'}",
        )
    elif len(levels[name]) != 2:
        yield (
            Message("not-two-levels", "'{factor}' has {n_levels} levels", factor=name, n_levels=len(levels[name])),
            "a pair has two: the first is the baseline",
        )


def _check_plan(data: Mapping[str, Any], section: Mapping[str, Any]) -> Iterator[tuple[Message, str]]:
    """Return mistakes in keys that would end or order the pairs differently."""
    if "until" in data:
        yield (
            Message("conflicting-keys", "a comparison ends when its verdict is clear, which conflicts with until"),
            "leave until out",
        )
    try:
        _parse_conditions(section)
    except InputError as error:
        yield error.message.prefixed("fail_if"), error.hint
    repetitions = data.get("repetitions", MOST)
    if repetitions < LEAST:
        yield (
            Message("too-few-pairs", "{pairs} pairs are too few", pairs=repetitions),
            f"allow {LEAST} or more; it ends as soon as the verdict is clear",
        )
    design = _build_design(data, section.get("factor", FACTOR))
    if data.get("design", "full") not in ("full", {"kind": "full"}, design):
        yield Message("conflicting-keys", "a comparison has its own design"), "leave design out"
    if not section.get("metric") and any(isinstance(step, dict) and "workload" in step for step in data["steps"]):
        yield (
            Message("missing-metric", "a native workload has many metrics, and no deciding one is named"),
            "write metric: NAME, as write_large",
        )
