"""The one file that several copies of a command would write, as far as its text shows. Pure functions."""

import re
from itertools import zip_longest

from .mpi_program import Program, is_different_by_rank, list_programs
from .placeholders import OF_NODE, list_placeholders

# Program → the option that names its file.
_OPTIONS = {"ior": "-o", "mdtest": "-d", "fio": "--filename", "iozone": "-f", "dd": "of="}
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
    option = _OPTIONS.get(program.name)
    if option is None:
        return None
    for word, following in zip_longest(program.words, program.words[1:]):
        if word == option:
            return following
        if word.startswith(option):
            return word.removeprefix(option).removeprefix("=")
    return None


def _can_write(program: Program) -> bool:
    words = program.words
    if program.name == "ior":
        return "-w" in words or "-r" not in words
    if program.name == "fio":
        kinds = [word.partition("=")[2] for word in words if word.startswith(("--rw=", "--readwrite="))]
        return any("write" in kind or kind.endswith("rw") for kind in kinds)
    if program.name == "iozone":
        tests = [word for word in words if word.startswith("-i")]
        return not tests or "-i0" in tests or any(pair == ("-i", "0") for pair in zip(words, words[1:], strict=False))
    return True


def _has_unique_name(name: str, nodes: int, per_node: int) -> bool:
    """Return whether every copy has its own name."""
    names = set(list_placeholders(name))
    by_node, by_rank_of_it = bool(names.intersection(OF_NODE)), "LOCAL_RANK" in names
    return "RANK" in names or ((by_node or nodes == 1) and (by_rank_of_it or per_node == 1))
