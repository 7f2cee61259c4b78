"""The options of ``iosonde bound`` that describe a system and what to take of DATA, gathered into one value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from iosonde import answers
from iosonde.core.system_words import OPTIONS
from iosonde.core.units import parse_size

if TYPE_CHECKING:
    from iosonde.answers.bound.answer import How
    from iosonde.answers.bound.inputs import SystemDescription

Command = Callable[..., Any]
_WORDS = ("operation", "redundancy", "erasure", "placement")
_OTHERS = ("probe", "cluster", "amount", "client_memory", "server_memory", "application", "unit")


@dataclass(frozen=True)
class BoundOptions:
    """What was said on the command line, as text. ``amount`` is --data."""

    fields: dict[str, str]
    words: dict[str, str | None]
    probe: tuple[str, ...]
    cluster: str | None
    amount: str | None
    client_memory: str | None
    server_memory: str | None
    application: str | None
    unit: str | None

    @property
    def description(self) -> SystemDescription:
        """What the bound is computed from. Raises InputError."""
        words = answers.bound.inputs.words_of(**self.words)
        memory = None if self.server_memory is None else float(parse_size(self.server_memory))
        return answers.bound.inputs.SystemDescription(self.fields, words, self.probe, self.cluster, memory_bytes=memory)

    @property
    def how(self) -> How:
        """What to take of DATA. Raises InputError."""
        sizes = (
            None if text is None else float(parse_size(text))
            for text in (self.amount, self.client_memory, self.server_memory)
        )
        return answers.bound.answer.How(self.unit, self.words["operation"], *sizes)


def bound_options(command: Command) -> Command:
    """All options that describe the system, handed to the command as ``system``."""

    @functools.wraps(command)
    def called(**arguments: Any) -> Any:
        fields = {word.field: arguments.pop(word.field) for word in OPTIONS.values()}
        words = {name: arguments.pop(name) for name in _WORDS}
        others = {name: arguments.pop(name) for name in _OTHERS}
        system_fields = {name: text for name, text in fields.items() if text is not None}
        return command(system=BoundOptions(system_fields, words, **others), **arguments)

    decorated: Command = called
    for option in reversed(_options()):
        decorated = option(decorated)
    return decorated


def _options() -> list[Callable[[Command], Command]]:
    system_options = [
        click.option(flag, word.field, metavar=word.metavar, help=word.help) for flag, word in OPTIONS.items()
    ]
    return [
        *system_options,
        click.option(
            "--operation", type=click.Choice(["read", "write"]), help="What is done [default: write; as DATA says]."
        ),
        click.option("--redundancy", type=click.Choice(["client", "chained"]), help="Who makes the --replicas."),
        click.option("--erasure", metavar="K+M", help="Erasure code by the client: 4+2."),
        click.option(
            "--placement",
            type=click.Choice(["round_robin", "random", "groups"]),
            help="How servers are chosen for --stripe.",
        ),
        click.option(
            "--probe",
            metavar="FILE|STORE",
            multiple=True,
            help="What 'iosonde probe --json', netperf, iperf or IOzone printed, or a store that knows a "
            "probe. Repeatable.",
        ),
        click.option("--cluster", metavar="FILE", help="The system as a file: today, as 'iosonde upgrade' reads it."),
        click.option("--data", "amount", metavar="D", help="How much data, as 3GB: prints T = D/S."),
        click.option("--client-memory", metavar="SIZE", help="Warn if a client's part of --data fits into it."),
        click.option(
            "--server-memory",
            metavar="SIZE",
            help="Warn if a server's part of --data fits into it; larger files of IOzone tell R.",
        ),
        click.option(
            "--application",
            metavar="K=EXPR,…",
            help="How long one takes that computes, reads and writes, predicted beside the measured seconds: "
            "compute, read, write, read_files, write_files of a trial.",
        ),
        click.option(
            "--unit", metavar="UNIT", help="The response's unit, as MB/s or KiB/s, where its name does not say it."
        ),
    ]
