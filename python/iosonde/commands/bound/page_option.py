"""Hardware inputs of ``--bound``, as NAME=VALUE with the option names of ``iosonde bound``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import spell
from iosonde.core.pairs import pairs_of
from iosonde.core.system_words import OPTIONS

from .inputs import words_of

_FIELDS = {flag.removeprefix("--"): name for flag, (name, *_) in OPTIONS.items()}
_WORDS = ("operation", "redundancy", "erasure", "placement")
_OTHERS = ("probe", "cluster", "data", "unit")


@dataclass(frozen=True)
class SystemOption:
    """Content of ``--bound``: fields of the system as text, words, and probe, cluster, data and unit."""

    fields: Mapping[str, str]
    words: Mapping[str, Any]
    others: Mapping[str, str]


def parse(text: str) -> SystemOption:
    """Parse ``servers=4,disks=8,net=117MB/s,probe=FILE``; a text without ``=`` is a probe. Raises InputError."""
    if "=" not in text:
        return SystemOption({}, {}, {"probe": text})
    pairs, keys = pairs_of(text, f"{spell.bound}", "write it as servers=4,net=117MB/s"), (*_FIELDS, *_WORDS, *_OTHERS)
    for name in pairs:
        if name not in keys:
            near = get_close_matches(name, keys, 1)
            raise InputError(
                "unknown-key",
                "{spell.bound}: unknown key '{key}'",
                "did you mean {suggestion}?" if near else "the names are the options of iosonde bound",
                key=name,
                suggestion="".join(near),
            )
    words = words_of(*(pairs.get(name) for name in _WORDS))
    fields = {_FIELDS[name]: value for name, value in pairs.items() if name in _FIELDS}
    return SystemOption(fields, words, {name: pairs[name] for name in _OTHERS if name in pairs})
