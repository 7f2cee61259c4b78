"""``against``: two commands, or a factor of two levels, as an experiment of pairs.

``against: 'B'`` makes of the one command of an experiment two, each run at its own level of the factor ``variant``.
Whatever the factor is, the order of trials is drawn so that every block is one pair in random order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.gate import gate_of
from iosonde.core.message import Message
from iosonde.core.problems import Problem
from iosonde.core.units import parse_share
from iosonde.core.yaml_text import Document, key_text
from iosonde.measure.spec import Against
from iosonde.stats.estimate.sequential import LEAST, MOST

from .levels import read_levels

FACTOR = "variant"
MARGIN = 0.05
_SHORT = 24  # characters of a command that may stand for its side
_SERIES = ("nodes", "ranks_per_node")


def expanded(document: Document) -> Document:
    """The document with both commands as steps, the factor that tells them apart, and a design of pairs. The same
    document without ``against``. To be called once ``problems`` finds none."""
    data = document.data
    if "against" not in data:
        return document
    asked = _asked(data["against"])
    data = {**data, "repetitions": data.get("repetitions", MOST)}
    if "command" in asked:
        names = _names(asked, _command_of(data["steps"][_place(data["steps"])[0]]))
        data |= _both_commands(data, asked["command"], names)
    factor = asked.get("factor", FACTOR)
    margin = parse_share(str(asked.get("margin", MARGIN)))
    data |= {
        "against": {
            "factor": factor,
            "margin": margin,
            "metric": asked.get("metric", ""),
            **({"fail_if": _conditions(asked)} if "fail_if" in asked else {}),
        },  # fmt: skip
        "design": _design(data, factor),
    }
    return Document(data, document.name, document.places, document.text)


def of_document(data: Mapping[str, Any]) -> Against | None:
    """What an expanded document says."""
    given = data.get("against")
    if not given:
        return None
    return Against(given["factor"], given["margin"], given["metric"], tuple(given.get("fail_if", ())))


def document_of(against: Against) -> dict[str, Any]:
    """What an expanded document says of it; without conditions where it has none, as before there were any."""
    beside = {"fail_if": list(against.fail_if)} if against.fail_if else {}
    return {"factor": against.factor, "margin": against.margin, "metric": against.metric, **beside}


def problems(document: Document) -> list[Problem]:
    """What is wrong with ``against``, in a document that has the form of the schema."""
    if "against" not in document.data:
        return []
    asked = _asked(document.data["against"])
    path = ("against",)
    found = [
        *(_of_command if "command" in asked else _of_factor)(document.data, asked),
        *_of_plan(document.data, asked),
    ]
    return [Problem(document.place(path), key_text(path), what, hint) for what, hint in found]


def _conditions(asked: Mapping[str, Any]) -> list[str]:
    """Of ``fail_if``, spelled in one way. Raises InputError."""
    given = asked.get("fail_if", [])
    gate = gate_of([given] if isinstance(given, str) else given, False)
    return [str(one) for one in gate.conditions] if gate else []


def _asked(given: str | dict[str, Any]) -> dict[str, Any]:
    return {"command": given} if isinstance(given, str) else given


def _place(steps: list[Any]) -> list[int]:
    """The places of the commands."""
    return [place for place, step in enumerate(steps) if isinstance(step, str) or "command" in step]


def _command_of(step: str | dict[str, Any]) -> str:
    return step if isinstance(step, str) else str(step["command"])


def _names(asked: Mapping[str, Any], first: str) -> tuple[str, str]:
    """What A and B are called: as asked, else the commands where they are short, else A and B."""
    given = asked.get("a_name"), asked.get("b_name")
    texts = first.strip(), asked["command"].strip()
    short = texts[0] != texts[1] and all(len(text) <= _SHORT and "${" not in text for text in texts)
    a, b = (name or usual for name, usual in zip(given, texts if short else ("A", "B"), strict=True))
    return a, b


def _both_commands(data: Mapping[str, Any], command: str, names: tuple[str, str]) -> dict[str, Any]:
    """The keys of a document with two commands, of which each trial runs one; both have the name of the step."""
    steps, place = data["steps"], _place(data["steps"])[0]
    step = steps[place] if isinstance(steps[place], dict) else {"command": steps[place]}
    step = {"name": f"step-{place + 1:02d}", **step}
    both = [{**step, "when": {FACTOR: names[0]}}, {**step, "command": command, "when": {FACTOR: names[1]}}]
    factors = {**data.get("factors", {}), FACTOR: list(names)}
    return {"steps": [*steps[:place], *both, *steps[place + 1 :]], "factors": factors}


def _design(data: Mapping[str, Any], factor: str) -> dict[str, Any]:
    """Every other factor is held while a pair is measured."""
    others = [name for name in _SERIES if len(_levels(data.get(name, 1))) > 1]
    others += [name for name, given in data.get("factors", {}).items() if name != factor and len(_levels(given)) > 1]
    return {"kind": "full", **({"blocks": others} if others else {})}


def _levels(given: Any) -> list[Any]:
    levels = given["levels"] if isinstance(given, dict) else given
    return levels if isinstance(levels, list) else [levels]


def _of_command(data: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[tuple[Message, str]]:
    places = _place(data["steps"])
    if "factor" in asked:
        yield (
            Message("conflicting-keys", "a command and a factor: only one of them tells the sides apart"),
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
                "it stands in the place of one command, and steps has {n_commands}",
                n_commands=len(places),
            ),
            hint,
        )
        return
    if FACTOR in data.get("factors", {}):
        yield (
            Message("duplicate-factor", "there is a factor '{factor}' already", factor=FACTOR),
            f"rename it, or write against: {{factor: {FACTOR}}}",
        )
    if not asked["command"].strip():
        yield Message("empty-command", "the command is empty"), "give the command that is compared"
        return
    names = _names(asked, _command_of(data["steps"][places[0]]))
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
            Message("ambiguous-side", "'{a}' and '{b}' read as sizes or times", a=names[0], b=names[1]),
            "give them names: a_name, b_name",
        )


def _of_factor(data: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[tuple[Message, str]]:
    if "factor" not in asked:
        yield (
            Message("missing-comparison", "there is nothing to compare with"),
            "give the command that is B, or a factor of two levels",
        )
        return
    named = [key for key in ("a_name", "b_name") if key in asked]
    if named:
        yield (
            Message("key-not-applicable", "{name} is for a command", name=named[0]),
            "the levels of the factor are the names",
        )
    name = asked["factor"]
    given = data.get(name) if name in _SERIES else data.get("factors", {}).get(name)
    if given is None:
        yield (
            Message("unknown-factor", "there is no factor '{factor}'", factor=name),
            f"there are: {', '.join(data.get('factors', {})) or 'none'}",
        )
    elif len(_levels(given)) != 2:
        yield (
            Message("not-two-levels", "'{factor}' has {n_levels} levels", factor=name, n_levels=len(_levels(given))),
            "a pair has two: the first is the base",
        )


def _of_plan(data: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[tuple[Message, str]]:
    """What would end or order the pairs in another way."""
    if "until" in data:
        yield (
            Message("conflicting-keys", "it ends when the verdict is clear, and until would end it otherwise"),
            "leave until out",
        )
    try:
        _conditions(asked)
    except InputError as error:
        yield error.message.prefixed("fail_if"), error.hint
    repetitions = data.get("repetitions", MOST)
    if repetitions < LEAST:
        yield (
            Message("too-few-pairs", "{pairs} pairs tell nothing", pairs=repetitions),
            f"allow {LEAST} or more; it ends as soon as the verdict is clear",
        )
    wanted = _design(data, asked.get("factor", FACTOR))
    if data.get("design", "full") not in ("full", {"kind": "full"}, wanted):
        yield Message("conflicting-keys", "pairs have an order of their own"), "leave design out"
    if not asked.get("metric") and any(isinstance(step, dict) and "workload" in step for step in data["steps"]):
        yield (
            Message("missing-metric", "a native workload has many numbers, and none is named that decides"),
            "write metric: NAME, as write_large",
        )
