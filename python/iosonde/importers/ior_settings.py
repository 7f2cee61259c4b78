"""IOR's settings as its text form prints them; the "Options" of its JSON are the same lines."""

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from iosonde.core.types import FactorValue
from iosonde.core.vocabulary import IOR
from iosonde.core.vocabulary.ior import read_ior_settings

from .parsed import Parsed
from .reading import parse_option_size, parse_size, split_command

_SIZES = {"xfersize": "transfer_size", "blocksize": "block_size"}
_TOTAL_SIZE = "aggregate filesize"  # a fact: it follows from the block size, the segments and the ranks
COUNTS = {
    "tasks": "ranks",
    "nodes": "nodes",
    "segments": "segments",
    "clients per node": "ranks_per_node",
    "repetitions": "iterations",
    "stonewallingTime": "stonewall_seconds",
    "task offset": "task_offset",
}
# A number with words behind it: 3.0 prints `2 (2 per node)`, 2.10 `30 second(s)`.
_LEADING_COUNTS = {"clients": "ranks", "Using stonewalling": "stonewall_seconds"}
_WORDS = {
    "api": "api",
    "access": "access",
    "type": "type",
    "ordering in a file": "ordering",
    "ordering inter file": "ordering_between_files",
}
_LONG_WORDS = {"sequential offsets": "sequential", "random offsets": "random"}  # of IOR 3.0
_ROUNDED = 0.006  # of a size: three digits are printed
SETTINGS = (*_SIZES, _TOTAL_SIZE, *COUNTS, *_WORDS)
"""The names of the lines."""


# APIs whose writes are calls of POSIX, and the settings that keep these out of the page cache, or flush it.
_CACHED_APIS = ("POSIX", "MPIIO")
_FLUSHES = ("direct", "fsync", "fsync_per_write")


def set_factor(run: Parsed, key: str, value: str) -> None:
    """Store a line of IOR's options as a factor of the run."""
    if key in _SIZES:
        run.factors[_SIZES[key]] = parse_size(value)
    elif key in _LEADING_COUNTS:
        if match := re.match(r"\d{1,9}", value):
            run.factors[_LEADING_COUNTS[key]] = int(match.group())
    elif key in COUNTS and value.isdigit():
        run.factors[COUNTS[key]] = int(value[:18])
    elif key in _WORDS:
        run.factors[_WORDS[key]] = _LONG_WORDS.get(value, value)[:200]
    elif key == _TOTAL_SIZE:
        run.facts["aggregate_size"] = parse_size(value)


def read_command_settings(run: Parsed) -> Mapping[str, FactorValue]:
    """Return the settings of a run's command line, empty if it is unknown."""
    return _read_settings(str(run.facts.get("command", "")))


@lru_cache(maxsize=4096)
def _read_settings(command: str) -> Mapping[str, FactorValue]:
    return read_ior_settings(split_command(command))


def complete_settings(run: Parsed) -> None:
    """Add what only the command line says of a run's settings: options that IOR does not print, and the digits of
    sizes, which give the bytes of all ranks."""
    run.factors |= {name: value for name, value in read_command_settings(run).items() if name not in run.factors}
    words = split_command(str(run.facts.get("command", "")))
    _correct_rounded_sizes(run, words)
    if IOR.states_all(words) and run.factors.get("api", "POSIX") in _CACHED_APIS:
        run.is_unflushed = not any(run.factors.get(name) for name in _FLUSHES)


def _correct_rounded_sizes(run: Parsed, words: list[str]) -> None:
    """Correct IOR's sizes, printed with three digits (9.46 TiB), from the command, if both agree."""

    def correct_size(settings: dict[str, Any], name: str, exact: int | None) -> None:
        printed = settings.get(name)
        if exact and isinstance(printed, int) and abs(printed - exact) <= _ROUNDED * exact:
            settings[name] = exact

    for name in ("transfer_size", "block_size"):
        correct_size(run.factors, name, parse_option_size(IOR.find_value(words, name) or ""))
    each = [run.factors.get(name) for name in ("block_size", "segments", "ranks")]
    if all(isinstance(value, int) for value in each):
        correct_size(run.facts, "aggregate_size", math.prod(value for value in each if isinstance(value, int)))
