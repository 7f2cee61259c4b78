"""A level of a factor as people read it: 4 KiB and not 4096, where its unit is known."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import InputError
from .table import Cell, show
from .types import FactorValue, level_text
from .units import format_size, parse_size


def level_shown(level: Cell, unit: str = "") -> str:
    """``4096`` of bytes → ``4 KiB``; text as it was written; a missing level is said to be."""
    if unit == "bytes" and isinstance(level, (int, float)) and not isinstance(level, bool):
        return format_size(level)
    return show(level)


def same_level(level: FactorValue, said: str) -> bool:
    """Whether what somebody wrote, or a system said, is the level: as text, as a number, or as a size (4MiB is
    4194304)."""
    wanted, found = level_text(level).strip(), said.strip()
    if wanted == found:
        return True
    for read in (float, parse_size):
        try:
            return read(wanted) == read(found)
        except (ValueError, InputError):
            continue
    return False


def setting_text(by: Mapping[str, Cell], units: Mapping[str, str]) -> str:
    """``t=4 KiB, nodes=2``."""
    return ", ".join(f"{name}={level_shown(level, units.get(name, ''))}" for name, level in by.items())
