"""The one file that several copies of a command would write, as far as its text shows. Pure functions."""

import re

from iosonde.core.programs import Program, list_programs
from iosonde.core.vocabulary import TOOLS
from iosonde.core.vocabulary.tool import ValueKind

from .mpi_program import is_different_by_rank
from .placeholders import OF_NODE, list_placeholders

# Shell expansions, which may differ between ranks.
_OF_THE_SHELL = re.compile(r"\$(?!\{[A-Za-z_][A-Za-z0-9_]*\})|`")


def find_file_written_by_all(command: str, nodes: int, per_node: int) -> str | None:
    """Return the name of a file that more than one of ``nodes`` × ``per_node`` copies writes; None without such a
    file."""
    if nodes * per_node < 2:
        return None
    for program in list_programs(command):
        name = _find_written_file(program)
        if name is None or not _can_write(program) or name.startswith("/dev/") or _OF_THE_SHELL.search(name):
            continue
        moved = not name.startswith(("/", "${TARGET")) and is_different_by_rank(
            command
        )  # perhaps each copy is in its own directory
        if not moved and not _has_unique_name(name, nodes, per_node):
            return name
    return None


def _find_written_file(program: Program) -> str | None:
    tool = TOOLS.get(program.name)
    file_option = next((option for option in tool.options if option.kind == ValueKind.PATH), None) if tool else None
    words = tool.split(program.words) if tool else ()
    return next((word.value for word in words if word.option is not None and word.option is file_option), None)


def _can_write(program: Program) -> bool:
    values: dict[str, list[str]] = {}
    for word in TOOLS[program.name].split(program.words):
        if word.option is not None:
            values.setdefault(word.option.names[0], []).append(word.value or "")
    if program.name == "ior":
        return "w" in values or "r" not in values
    if program.name == "fio":
        return any("write" in kind or kind.endswith("rw") for kind in values.get("rw", ()))
    if program.name == "iozone":
        return "0" in values.get("i", ["0"])
    return True


def _has_unique_name(name: str, nodes: int, per_node: int) -> bool:
    """Return whether every copy has its own name."""
    names = set(list_placeholders(name))
    by_node, by_rank_of_it = bool(names.intersection(OF_NODE)), "LOCAL_RANK" in names
    return "RANK" in names or ((by_node or nodes == 1) and (by_rank_of_it or per_node == 1))
