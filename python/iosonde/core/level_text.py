"""Format the level of a factor for people: 4 KiB and not 4096, if its unit is known."""

from collections.abc import Iterable, Mapping

from .column_units import split_unit
from .errors import InputError
from .table import Cell, format_cell, is_missing
from .types import FactorValue, level_text
from .units import format_size, parse_size, parse_typed_sizes


def format_level(level: Cell, unit: str = "") -> str:
    """Format ``4096`` and ``4k`` of bytes as ``4 KiB``. Other text stays; missing and empty levels are marked."""
    if unit != "bytes" or level == "" or is_missing(level) or isinstance(level, bool):
        return format_cell(level)
    cell = level_to_base(level, unit)
    return cell if isinstance(cell, str) else format_size(cell or 0)


def level_to_base(level: Cell, unit: str = "") -> Cell:
    """Convert ``4k`` of bytes to 4096; other levels stay."""
    if unit != "bytes" or not isinstance(level, str):
        return level
    sizes = [parse_size(level)] if level.isdigit() else parse_typed_sizes([level])
    return sizes[0] if sizes else level


def levels_to_base(by: Mapping[str, Cell], units: Mapping[str, str]) -> dict[str, Cell]:
    """Convert each level by ``level_to_base``."""
    return {name: level_to_base(level, units.get(name, "")) for name, level in by.items()}


def format_level_word(level: Cell, unit: str = "") -> str:
    """Format as ``4KiB``, one word that can be typed and never breaks over two lines."""
    return format_level(level, unit).replace(" ", "") if unit == "bytes" else format_level(level, unit)


def format_levels(names: Iterable[str], by: Mapping[str, Cell], units: Mapping[str, str]) -> list[str]:
    """Format the levels of these factors, as cells of a table."""
    return [format_level(by.get(name), units.get(name, "")) for name in names]


def format_assignments(by: Mapping[str, Cell], units: Mapping[str, str]) -> list[str]:
    """Format as ``t=4 KiB``, ``nodes=2``; a byte unit in a column's name moves to the text."""
    return [
        f"{split_unit(name)[0] if units.get(name) == 'bytes' else name}={format_level(level, units.get(name, ''))}"
        for name, level in by.items()
    ]


def is_same_level(level: FactorValue, text: str) -> bool:
    """Return whether ``text``, from a user or a system, is the level: as text, as a number, or as a size (4MiB is
    4194304)."""
    expected, actual = level_text(level).strip(), text.strip()
    if expected == actual:
        return True
    for read in (float, parse_size):
        try:
            return read(expected) == read(actual)
        except (ValueError, InputError):
            continue
    return False


def format_setting(by: Mapping[str, Cell], units: Mapping[str, str]) -> str:
    """Format as ``t=4 KiB, nodes=2``."""
    return ", ".join(format_assignments(by, units))
