"""Commands of the terminal, for ``CliRunner().invoke``."""

from __future__ import annotations

import click

from iosonde.cli.group import cli, list_command_groups


def command_of(name: str) -> click.Command:
    """The parser of ``iosonde NAME``."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command


GROUPS = list_command_groups()
COMMANDS = {name: brief for commands in GROUPS.values() for name, brief in commands.items()}
