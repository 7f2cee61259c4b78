"""Programs of a shell command, as far as its text shows: whether it is an MPI program, and where a launcher belongs.

An MPI program is one job over all ranks, not one job on each: N independent copies of ``ior`` overwrite one file, and
their sum is nobody's bandwidth. So by default (``choose_default_on``) it runs as ``on: mpi``. Pure functions; the
shell's words are split, but nothing is expanded.
"""

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from iosonde.core.message import Message

from .placeholders import RANK, list_placeholders
from .spec import MPI, SINGLE

# Programs that are always MPI programs.
TOOLS = ("ior", "mdtest", "md-workbench", "io500")
# Programs that start the ranks of an MPI program themselves; also with a family after a dot (mpiexec.hydra).
LAUNCHERS = ("mpiexec", "mpirun", "orterun", "prterun", "srun", "aprun", "jsrun")
# Programs that run another program, which follows among their words.
_KEYWORDS = ("if", "then", "else", "elif", "for", "while", "until", "do", "case", "{", "!")
_WRAPPERS = (*_KEYWORDS, "env", "exec", "time", "timeout", "nice", "ionice", "numactl", "taskset", "stdbuf", "sudo")

_WORD = r"""(?:[^\s;&|()<>"'\\$`]|\\.|"(?:[^"\\]|\\.)*"|'[^']*'|\$\{[^}]*\}|\$\([^()]*\)|`[^`]*`|\$)+"""
_TOKEN = re.compile(
    rf"(?P<blank>(?:[^\S\n]|\\\n)+|\#[^\n]*)|(?P<redirect>\d*(?:<<|>>|[<>])[&|]?[^\S\n]*(?:{_WORD})?)"
    rf"|(?P<operator>&&|\|\||[;&|()\n])|(?P<word>{_WORD})|(?P<other>.)",
    re.DOTALL,
)
# Variables that differ between ranks.
_OF_A_RANK = re.compile(rf"\$\{{?IOSONDE_(?:{'|'.join(RANK)})\b")
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
        return self.name in TOOLS

    @property
    def is_launcher(self) -> bool:
        """Return whether it starts ranks itself."""
        return self.name.partition(".")[0] in LAUNCHERS


def list_programs(command: str) -> list[Program]:
    """List the programs that a command runs, in order of its text; ``$(…)`` is ignored."""
    lists, ends = _split_simple_commands(command)
    candidates = [program for words in lists if (program := _parse_program(words))]
    only_pipes = set(ends[:-1]) <= {"|"} and ends[-1] in ("", ";", "\n")
    alone = only_pipes and candidates[:1] != [] and candidates[0].word not in _KEYWORDS
    return [replace(candidate, alone=alone) for candidate in candidates]


def get_first_program(command: str) -> Program | None:
    """Return the program that a command begins with."""
    return next(iter(list_programs(command)), None)


def is_mdtest_create_only(command: str) -> bool:
    """Return whether it runs mdtest with ``-C`` and no other phase: ``-T`` (stat), ``-E`` (read), ``-r`` (remove)."""
    return any(
        "mdtest" in (path.rpartition("/")[2] for path in (program.word, *program.words))
        and {word for word in program.words if word in ("-C", "-T", "-E", "-r")} == {"-C"}
        for program in list_programs(command)
    )


def choose_default_on(command: str, otherwise: str) -> str:
    """Return where a command without its own ``on`` runs.

    MPI: a known MPI program, alone except for pipes, whose text does not differ between ranks. SINGLE: it begins with a
    launcher, or is IOzone over several nodes; these start their processes themselves. Otherwise ``otherwise``.
    """
    begins = get_first_program(command)
    if begins is None or not begins.alone:
        return otherwise
    if begins.is_launcher or (begins.name == "iozone" and "-+m" in begins.words):
        return SINGLE
    return MPI if begins.is_tool and not is_different_by_rank(command) else otherwise


def is_different_by_rank(command: str) -> bool:
    """Return whether the text of a command differs between ranks."""
    return bool(set(RANK) & set(list_placeholders(command)) or _OF_A_RANK.search(command))


def list_mpi_tools(command: str) -> list[str]:
    """List the known MPI programs that a command runs without a launcher, also through ``env``, ``timeout`` and the
    like."""
    return list(dict.fromkeys(_match_tools(command, TOOLS, _WRAPPERS)))


def has_any_program(command: str, tools: Collection[str]) -> bool:
    """Return whether a command runs one of these programs, also by a launcher of ranks or through ``env`` and the
    like."""
    return any(_match_tools(command, tools, (*_WRAPPERS, *LAUNCHERS)))


def _match_tools(command: str, tools: Collection[str], starters: Collection[str]) -> Iterator[str]:
    for program in list_programs(command):
        words = [program.word, *program.words] if program.name.partition(".")[0] in starters else [program.word]
        yield from (name for word in words if (name := word.rpartition("/")[2]) in tools)


def find_launched_tool(command: str) -> tuple[str, str] | None:
    """Return (launcher, MPI program) of a command that begins with a launcher; None otherwise."""
    begins = get_first_program(command)
    if begins is None or not begins.is_launcher:
        return None
    tool = next((word for word in begins.words if word.rpartition("/")[2] in TOOLS), None)
    return (begins.word, tool) if tool else None


def explain_unfit_for_mpi(command: str) -> tuple[Message, str] | None:
    """Return (reason, hint) for a command that cannot be one MPI job; None for one that can."""
    begins = get_first_program(command)
    if begins is None:
        return Message("no-program", "it contains no program that could be an MPI job"), "name one"
    if begins.is_launcher:
        what = Message("launcher-not-allowed", "{launcher} starts the ranks itself", launcher=begins.name)
        return what, f"leave {begins.name} and its options out, or write on: single"
    if not begins.alone:
        what = Message("several-programs", "on: mpi starts one program, and this command runs several")
        return what, "make each a step of its own, or start the ranks yourself with on: single"
    return None


def quote_launcher(launch: Sequence[str]) -> str:
    """Return a launcher's words, quoted, to be put before a program in a command; empty if there are none."""
    return "".join(f"{shlex.quote(word)} " for word in launch)


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
    try:
        return "".join(shlex.split(word, comments=False)) or word
    except ValueError:
        return word
