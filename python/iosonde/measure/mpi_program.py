"""Programs of a shell command, as far as its text shows: whether it is an MPI program, and where a launcher belongs.

An MPI program is one job over all ranks, not one job on each: N independent copies of ``ior`` overwrite one file, and
their sum is nobody's bandwidth. So by default (``choose_default_on``) it runs as ``on: mpi``. Pure functions.
"""

import re
import shlex
from collections.abc import Collection, Iterator, Sequence

from iosonde.core.message import Message
from iosonde.core.programs import LAUNCHERS, MPI_TOOLS, WRAPPERS, get_first_program, list_programs
from iosonde.core.vocabulary import MDTEST
from iosonde.core.vocabulary.calls import list_tool_calls

from .placeholders import RANK, list_placeholders
from .spec import MPI, SINGLE

# Variables that differ between ranks.
_OF_A_RANK = re.compile(rf"\$\{{?IOSONDE_(?:{'|'.join(RANK)})\b")


def is_mdtest_create_only(command: str) -> bool:
    """Return whether it runs mdtest with ``-C`` and no other phase: ``-T`` (stat), ``-E`` (read), ``-r`` (remove)."""
    calls = [call for call in list_tool_calls(command) if call.tool is MDTEST]
    return any(
        {word.name for word in call.tool.split(call.words)} & {"-C", "-T", "-E", "-r"} == {"-C"} for call in calls
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
    return list(dict.fromkeys(_match_tools(command, MPI_TOOLS, WRAPPERS)))


def has_any_program(command: str, tools: Collection[str]) -> bool:
    """Return whether a command runs one of these programs, also by a launcher of ranks or through ``env`` and the
    like."""
    return any(_match_tools(command, tools, (*WRAPPERS, *LAUNCHERS)))


def _match_tools(command: str, tools: Collection[str], starters: Collection[str]) -> Iterator[str]:
    for program in list_programs(command):
        words = [program.word, *program.words] if program.name.partition(".")[0] in starters else [program.word]
        yield from (name for word in words if (name := word.rpartition("/")[2]) in tools)


def find_launched_tool(command: str) -> tuple[str, str] | None:
    """Return (launcher, MPI program) of a command that begins with a launcher; None otherwise."""
    begins = get_first_program(command)
    if begins is None or not begins.is_launcher:
        return None
    tool = next((word for word in begins.words if word.rpartition("/")[2] in MPI_TOOLS), None)
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
