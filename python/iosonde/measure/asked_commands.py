"""The user's commands, all run by a shell: the names in them are checked before anything starts."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from . import placeholders
from .bench import Bench
from .spec import CommandStep, Spec

Commands = Bench | Spec


def iterate_shell_commands(commands: Commands) -> Iterator[tuple[str, str]]:
    """Yield (where, command) of every command that is filled in and given to a shell."""
    for stage in (commands.set_up, commands.steps, commands.tear_down):
        for number, step in enumerate(stage, 1):
            if isinstance(step, CommandStep):
                yield f"step {number}", step.command
    for control in commands.controls:
        yield from ((f"factor {control.factor}", text) for text in (control.set, control.read))
    yield from (("cache", text) for text in (commands.cache.unmount, commands.cache.mount))


def check_placeholders(commands: Commands, factors: Iterable[str]) -> None:
    """Raise InputError, before anything starts, for a placeholder that no trial with these ``factors`` can fill."""
    names = placeholders.list_command_names(factors)
    for where, command in iterate_shell_commands(commands):
        level = (placeholders.LEVEL,) if where.startswith("factor ") else ()
        placeholders.check_placeholders(command, (*names, *level), where)


def check_names(commands: Commands, target: Path | None, spool: Path) -> None:
    """Raise InputError if a command would paste the target's or the spool's name where a shell splits it."""
    values = {
        "TARGET": str(target or ""),
        "TARGET_ROOT": str(target or ""),
        "MACHINEFILE": str(spool),
        "IOZONE_CLIENTS": str(spool),
    }
    for where, command in iterate_shell_commands(commands):
        placeholders.check_plain(command, values, where)
