"""The path study as a ready-made experiment: ``path-study``, ``path-study:200`` (cells), ``path-study:full``.

Options are factors, so that ``--set`` changes them; incompatible levels are excluded by constraints. The default is a
balanced fraction of the full matrix, measured once (docs/path-study.md).
"""

from collections.abc import Sequence
from typing import Any

from iosonde.core.errors import InputError
from iosonde.measure.load_program import OFF, ON
from iosonde.measure.placeholders import PYTHON_VARIABLE

from .names import READ, READ_STATES, STATES, WORKLOAD, WRITE, WRITE_STATES
from .workload import MEMORY, PLACES

CELLS, QUICK_CELLS = 96, 36
FULL = "full"
_SIZES = (1, 4, 16, 64, 256, "1KiB", "4KiB", "16KiB", "64KiB", "256KiB", "1MiB", "4MiB", "16MiB")
_LOAD_FILES = 100
# A word per key: `when` is a level of the factor.
_PLACE = '"$IOSONDE_TARGET/load-$IOSONDE_RANK"'


def find(word: str, levels: Sequence[str] = (), quick: bool = False) -> dict[str, Any]:
    """Return the experiment without a target. ``levels`` are the words of ``--set``: background load needs steps of its
    own. Raises InputError for an invalid number of cells."""
    limits = {"operations": [2000], "bytes": ["64MiB"]} if quick else {"operations": [10_000], "bytes": ["1GiB"]}
    factors: dict[str, Any] = {
        "state": list(STATES),
        "direction": [READ, WRITE],
        "memory": list(MEMORY),
        "place": list(PLACES),
        "access_size": {"levels": list(_SIZES), "unit": "bytes"},
        **limits,
        "time_limit": ["60s"],
    }
    loaded = any(level.partition("=")[0] == "load" and ON in level.partition("=")[2].split(",") for level in levels)
    document: dict[str, Any] = {
        "name": WORKLOAD,
        "factors": factors | ({"load": [OFF, ON]} if loaded else {}),
        "steps": [{"workload": WORKLOAD, **{name: f"${{{name}}}" for name in factors}}],
        "design": _build_design(word.partition(":")[2], quick),
        "repetitions": 1,
    }
    if loaded:
        document |= {
            "set_up": [
                _build_step_on_all("tree", _build_tree_command()),
                _build_step_on_all("load", _build_load_command("start")),
            ],
            "tear_down": [_build_step_on_all("load_end", _build_load_command("stop"))],
        }
    return document


def _build_design(cells: str, quick: bool) -> dict[str, Any]:
    constraints = [
        f"direction == '{WRITE}' or state in ({_quote_words(READ_STATES)})",
        f"direction == '{READ}' or state in ({_quote_words(WRITE_STATES)})",
    ]
    if cells == FULL:
        return {"kind": "full", "constraints": constraints}
    if cells and not cells.isdecimal():
        raise InputError(
            "not-an-integer",
            "'{study}:{cells}' is not a number of cells",
            "as {study}:200, or {study}:{full} for all",
            study=WORKLOAD,
            cells=cells,
            full=FULL,
        )
    count = int(cells) if cells else QUICK_CELLS if quick else CELLS
    return {"kind": "balanced", "cells": count, "constraints": constraints}


def _quote_words(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _build_step_on_all(name: str, command: str) -> dict[str, Any]:
    return {"name": name, "command": command, "on": "all", "when": {"load": ON}}


def _build_tree_command() -> str:
    return f'"${PYTHON_VARIABLE}" -m iosonde.measure.tree_program make {_PLACE} --files {_LOAD_FILES}'


def _build_load_command(what: str) -> str:
    return f'"${PYTHON_VARIABLE}" -m iosonde.measure.load_program {what} --place {_PLACE}'
