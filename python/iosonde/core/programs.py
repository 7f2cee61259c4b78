"""Programs of a shell command, as far as its text shows. Pure functions; the shell's words are split, but nothing is
expanded.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

# Programs that are always MPI programs.
MPI_TOOLS = ("ior", "mdtest", "md-workbench", "io500")
# Programs that start the ranks of an MPI program themselves; also with a family after a dot (mpiexec.hydra).
LAUNCHERS = ("mpiexec", "mpirun", "orterun", "prterun", "srun", "aprun", "jsrun")
# Programs that run another program, which follows among their words.
KEYWORDS = ("if", "then", "else", "elif", "for", "while", "until", "do", "case", "{", "!")
WRAPPERS = (*KEYWORDS, "env", "exec", "time", "timeout", "nice", "ionice", "numactl", "taskset", "stdbuf", "sudo")

_WORD = r"""(?:[^\s;&|()<>"'\\$`]|\\.|"(?:[^"\\]|\\.)*"|'[^']*'|\$\{[^}]*\}|\$\([^()]*\)|`[^`]*`|\$)+"""
_TOKEN = re.compile(
    rf"(?P<blank>(?:[^\S\n]|\\\n)+|\#[^\n]*)|(?P<redirect>\d*(?:<<|>>|[<>])[&|]?[^\S\n]*(?:{_WORD})?)"
    rf"|(?P<operator>&&|\|\||[;&|()\n])|(?P<word>{_WORD})|(?P<other>.)",
    re.DOTALL,
)
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")


@dataclass(frozen=True)
class Program:
    """A program of a command. ``word`` is its unquoted name, ``at`` its position in the text. ``assigned`` are the
    variables set before it, ``words`` its other words. ``alone``: the command runs no other program, except those that
    its output is piped to.
    """

    word: str
    at: int
    assigned: tuple[str, ...]
    words: tuple[str, ...]
    alone: bool = False

    @property
    def name(self) -> str:
        """The name without its directory."""
        return self.word.rpartition("/")[2]

    @property
    def is_tool(self) -> bool:
        """Return whether it is known as an MPI program."""
        return self.name in MPI_TOOLS

    @property
    def is_launcher(self) -> bool:
        """Return whether it starts ranks itself."""
        return self.name.partition(".")[0] in LAUNCHERS


def list_programs(command: str) -> list[Program]:
    """List the programs that a command runs, in order of its text; ``$(…)`` is ignored."""
    lists, ends = _split_simple_commands(command)
    candidates = [program for words in lists if (program := _parse_program(words))]
    only_pipes = set(ends[:-1]) <= {"|"} and ends[-1] in ("", ";", "\n")
    alone = only_pipes and candidates[:1] != [] and candidates[0].word not in KEYWORDS
    return [replace(candidate, alone=alone) for candidate in candidates]


def get_first_program(command: str) -> Program | None:
    """Return the program that a command begins with."""
    return next(iter(list_programs(command)), None)


def _split_simple_commands(command: str) -> tuple[list[list[tuple[int, str]]], list[str]]:
    """Return ((position, word) of each simple command, the operator after each)."""
    lists: list[list[tuple[int, str]]] = []
    ends: list[str] = []
    words: list[tuple[int, str]] = []
    tokens = [(match.lastgroup, match.start(), match.group()) for match in _TOKEN.finditer(command)]
    for kind, at, text in [*tokens, ("operator", len(command), "")]:
        if kind in ("word", "other"):
            words.append((at, text))
        elif kind == "operator" and (words or text not in ("", "\n")):
            lists.append(words)
            ends.append(text)
            words = []
    return lists, ends or [""]


def _parse_program(words: Sequence[tuple[int, str]]) -> Program | None:
    assigned = []
    for place, (at, word) in enumerate(words):
        if name := _ASSIGNMENT.match(word):
            assigned.append(name.group(1))
            continue
        return Program(
            _strip_quotes(word),
            at,
            tuple(assigned),
            tuple(_strip_quotes(argument) for _, argument in words[place + 1 :]),
        )
    return None


def _strip_quotes(word: str) -> str:
    if not any(quote in word for quote in "'\"\\"):
        return word
    try:
        return "".join(shlex.split(word, comments=False)) or word
    except ValueError:
        return word
