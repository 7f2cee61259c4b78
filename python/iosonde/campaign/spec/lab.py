"""``lab``: the emulated cluster of an experiment, by the words of ``iosonde lab up``.

A list makes a factor of a word: net: [99.3mbit, 580mbit]. Such factors are hard to change. The trials of one repetition
that share their levels are one whole plot, measured in a cluster that was brought up for them alone. So two trials of a
cell have different clusters, and n counts clusters too. ``levels`` makes factors of several words at once: levels:
{disk: {slow: {disk_read: 81MB/s, disk_write: 100MB/s}, fast: {...}}}.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from iosonde.core.declared_names import factor_name_from_word
from iosonde.core.message import Message
from iosonde.core.problems import Problem
from iosonde.core.yaml_text import Document, Key, format_key

KEY = "lab"
SET = "set"  # options of the file system
PROFILE = "profile"  # whether servers record counters in each trial
LEVELS = "levels"  # factor → level → its words


def read_lab_section(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lab section of an unchecked document, empty unless it is a mapping."""
    section = data.get(KEY)
    return section if isinstance(section, dict) else {}


def list_file_systems(data: Mapping[str, Any]) -> list[str]:
    """Return the file systems of all its labs."""
    names = read_lab_section(data).get("file_system")
    return [str(name) for name in (names if isinstance(names, list) else [names]) if name]


def collect_lab_factors(lab: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return name → levels of the factors in a lab's lists and its ``levels``; an option's name is its last word."""
    levels_by_factor = {
        factor_name_from_word(path[-1]): value for path, value in _iterate_words(lab) if isinstance(value, list)
    }
    return levels_by_factor | {name: list(levels) for name, levels in lab.get(LEVELS, {}).items()}


def resolve_at_levels(lab: Mapping[str, Any], levels: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return (words, options) of the cluster at these levels of its factors."""
    words: dict[str, Any] = {}
    options: dict[str, str] = {}
    for path, value in _iterate_words(lab):
        chosen = levels[factor_name_from_word(path[-1])] if isinstance(value, list) else value
        if path[0] == SET:
            options[path[1]] = _format_value(chosen)
        else:
            words[path[0]] = chosen
    for name, meant in lab.get(LEVELS, {}).items():
        meaning = meant[levels[name]]
        words |= {word: value for word, value in meaning.items() if word != SET}
        options |= {option: _format_value(value) for option, value in meaning.get(SET, {}).items()}
    return words, options


def add_lab_factors(document: Document) -> Document:
    """Return the document with the lab's factors among the others, hard to change. Call it only if ``problems`` finds
    none."""
    data = document.data
    lab_factors = collect_lab_factors(data.get(KEY, {}))
    if not lab_factors:
        return document
    design = data.get("design", "full")
    design = dict(design) if isinstance(design, dict) else {"kind": design}
    several = [name for name, levels in lab_factors.items() if len(levels) > 1]
    hard = [*several, *(name for name in design.get("hard_to_change", ()) if name not in several)]
    data = {**data, "factors": {**lab_factors, **data.get("factors", {})}}
    if hard:
        data["design"] = design | {"hard_to_change": hard}
    return Document(data, document.name, document.places, document.text)


def remove_lab(document: Document) -> Document:
    """Return the document for a real system: without the section, and without the lab's factors in its design."""
    lab_factors, data = (
        collect_lab_factors(read_lab_section(document.data)),
        {key: value for key, value in document.data.items() if key != KEY},
    )
    design = data.get("design")
    if lab_factors and isinstance(design, dict):
        retained = {
            name: [entry for entry in design.get(name, ()) if entry not in lab_factors]
            for name in ("factors", "hard_to_change")
        }
        retained["constraints"] = [
            constraint
            for constraint in design.get("constraints", ())
            if lab_factors.keys().isdisjoint(re.findall(r"[A-Za-z_]\w*", str(constraint)))
        ]
        remaining = {key: value for key, value in design.items() if key not in retained}
        # A design of the lab's factors alone has nothing to choose from: the rest is a full design.
        gone = "factors" in design and not retained["factors"]
        data["design"] = ({"kind": "full"} if gone else remaining) | {
            key: value for key, value in retained.items() if value
        }
    return Document(data, document.name, document.places, document.text)


def list_lab_problems(document: Document) -> list[Problem]:
    """Return the mistakes in ``lab``, in a document valid by the schema."""
    lab = document.data.get(KEY)
    if lab is None:
        return []
    return [
        Problem(document.place(path), format_key(path), what, hint) for path, what, hint in _check_lab(document, lab)
    ]


def _check_lab(document: Document, lab: Mapping[str, Any]) -> Iterator[tuple[Key, Message, str]]:
    path_by_name: dict[str, Key] = {}
    for path, value in _iterate_words(lab):
        if not isinstance(value, list):
            continue
        name = factor_name_from_word(path[-1])
        if name in document.data.get("factors", {}) or name in path_by_name:
            yield (KEY, *path), _create_duplicate_problem(name), "rename the other one"
        path_by_name[name] = (KEY, *path)
    for name, meant in lab.get(LEVELS, {}).items():
        if name in document.data.get("factors", {}) or name in path_by_name:
            yield (KEY, LEVELS, name), _create_duplicate_problem(name), "rename the other one"
        path_by_name[name] = (KEY, LEVELS, name)
        key_sets = [{*meaning, *meaning.get(SET, {})} for meaning in meant.values()]
        if any(keys != key_sets[0] for keys in key_sets):
            yield (
                (KEY, LEVELS, name),
                Message("unequal-levels", "its levels have different keys"),
                "give each level all keys",
            )
    for key in ("until", "against", "find"):
        if path_by_name and key in document.data:
            yield (key,), Message("conflicting-keys", "it is not supported with several labs"), "give repetitions"


def _create_duplicate_problem(factor: str) -> Message:
    return Message("duplicate-factor", "the factor '{factor}' already exists", factor=factor)


def _iterate_words(lab: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for word, value in lab.items():
        if word == SET:
            yield from (((SET, option), level) for option, level in value.items())
        elif word not in (PROFILE, LEVELS):
            yield (word,), value


def _format_value(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
