"""What a shell command writes: the calls of known tools in it, each by its number of processes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from iosonde.core.message import Message
from iosonde.core.programs import KEYWORDS, MPI_TOOLS, Program, list_programs
from iosonde.core.vocabulary.calls import ToolCall, find_tool_call
from iosonde.measure.mpi_program import is_different_by_rank
from iosonde.measure.spec import MPI, ONCE, SERVERS, CommandStep

from . import dd, elbencho, fio, ior, iozone, mdtest
from .amount import (
    Amount,
    CallContext,
    CallOptions,
    FileSpace,
    UnknownAmountError,
    add_work,
    collect_options,
    merge_spaces,
    multiply_work,
)

# Programs that write nothing on a target, or next to nothing.
_HARMLESS = (
    *(":", "[", "cd", "chmod", "date", "df", "echo", "exit", "export", "false", "grep", "hostname", "ls", "mkdir"),
    *("printf", "rm", "rmdir", "set", "sleep", "sort", "stat", "sync", "tee", "test", "true", "ulimit", "uname", "wc"),
)
_AMOUNTS: Mapping[str, Callable[[CallOptions, CallContext], Amount]] = {
    "dd": dd.compute_amount,
    "ior": ior.compute_amount,
    "mdtest": mdtest.compute_amount,
    "elbencho": elbencho.compute_amount,
    "iozone": iozone.compute_amount,
}


@dataclass(frozen=True)
class RankCounts:
    """RankCounts of a trial."""

    nodes: int
    per_node: int

    @property
    def total(self) -> int:
        """The number of all ranks."""
        return self.nodes * self.per_node


@dataclass(frozen=True)
class RankTexts:
    """A command as its first rank runs it; as another rank of the node, and the first rank of another node do."""

    first: str
    on_node: str
    on_other_node: str

    def count_copies(self, paths: Callable[[str], object], ranks: RankCounts) -> int:
        """Count the ranks whose files are their own, as ``paths`` of their texts differ."""
        own = paths(self.first)
        by_rank, by_node = paths(self.on_node) != own, paths(self.on_other_node) != own
        return (ranks.per_node if by_rank else 1) * (ranks.nodes if by_node else 1)


def compute_command_amount(step: CommandStep, texts: RankTexts, ranks: RankCounts, context: CallContext) -> Amount:
    """Return what a step writes in a trial. Raises UnknownAmountError.

    Copies of ranks that write the same file need its space once.
    """
    if step.on == SERVERS:
        raise UnknownAmountError(Message("unknown-amount", "it runs on the servers"))
    amount = _compute_amount(texts.first, step.on == MPI, ranks, context)
    if step.on in ONCE or not amount.spaces:
        return amount
    copies = 1
    if is_different_by_rank(step.command):
        copies = texts.count_copies(lambda text: _compute_amount(text, False, ranks, context).spaces.keys(), ranks)
    spaces = {path: space.times(copies) for path, space in amount.spaces.items()}
    return Amount(spaces, multiply_work(amount.work, ranks.total), amount.is_permanent)


def _compute_amount(text: str, is_mpi: bool, ranks: RankCounts, context: CallContext) -> Amount:
    if any(expansion in text for expansion in ("$(", "`", "<(", ">(")):
        raise UnknownAmountError(Message("unknown-amount", "the shell runs a part of it"))
    spaces: dict[str, FileSpace] = {}
    amounts = [_compute_call(call, is_mpi, ranks, context.at(place)) for place, call in _list_calls(text)]
    for amount in amounts:
        merge_spaces(spaces, amount.spaces)
    work = None if not amounts or "sleep" in text else add_work(amount.work for amount in amounts)
    return Amount(spaces, work, any(amount.is_permanent for amount in amounts))


def _list_calls(text: str) -> Iterator[tuple[str, ToolCall]]:
    """Yield the calls of a command whose other programs write nothing, with the directory that it changed to. Raises
    UnknownAmountError."""
    place = ""
    for program in list_programs(text):
        if program.word in KEYWORDS:
            raise UnknownAmountError(Message("unknown-amount", "it has a loop or a condition"))
        call = find_tool_call(program)
        if program.name == "cd" and program.words:
            place = str(PurePosixPath(place, program.words[-1]))
        if program.name in _HARMLESS:
            continue
        if call is None or not call.is_plain:
            message = Message("unknown-amount", "the output of {program} is unknown", program=program.name)
            raise UnknownAmountError(message)
        yield place, call


def _compute_call(call: ToolCall, is_mpi: bool, ranks: RankCounts, context: CallContext) -> Amount:
    """Return what a call writes: an MPI program is one job over its ranks, another one a copy on each."""
    n_processes = ranks.total if is_mpi else call.count_processes()
    if n_processes is None:
        launcher = call.launcher[0]
        message = Message("unknown-amount", "it is unknown how many ranks {launcher} starts", launcher=launcher)
        raise UnknownAmountError(message)
    is_job = call.tool.name in MPI_TOOLS
    inner = replace(context, ranks=n_processes if is_job else 1)
    words = tuple(call.tool.split(call.words))
    if call.tool.name == "fio":
        amount = fio.compute_amount(words, inner)
    elif compute_amount := _AMOUNTS.get(call.tool.name):
        amount = compute_amount(collect_options(words), inner)
    else:
        raise UnknownAmountError(
            Message("unknown-amount", "the output of {program} is unknown", program=call.tool.name)
        )
    spaces = {context.locate(path): space for path, space in amount.spaces.items()}
    return Amount(spaces, amount.work if is_job else multiply_work(amount.work, n_processes), amount.is_permanent)


def list_new_directories(commands: Sequence[str]) -> frozenset[str]:
    """Return the directories that commands make with mkdir."""
    programs: list[Program] = [program for command in commands for program in list_programs(command)]
    return frozenset(
        word.rstrip("/")
        for program in programs
        if program.name == "mkdir"
        for word in program.words
        if not word.startswith("-")
    )
