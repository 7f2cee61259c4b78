"""Commands on a terminal: click's parser of each, made from its declared options, and what becomes of its result."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections import Counter
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from iosonde.commands import folder_to_command, get_package_name
from iosonde.commands.declaration import COMMANDS
from iosonde.core.errors import InputError
from iosonde.core.front_end import FrontEnd, use_front_end
from iosonde.core.message import spell_for_terminal, use_spelling
from iosonde.core.options import Names, Rest

from .output import open_output, print_lines, print_result, print_to_stderr
from .progress import Counting, Interrupts, ShareDone, TrialLine, Waiting

if TYPE_CHECKING:
    from iosonde.commands.declaration import Command, CommandGroup
    from iosonde.core.front_end import Progress, Stop, TrialProgress
    from iosonde.core.options import Option

_OPTION = re.compile(r"`([a-z][a-z_]*)`")


class TerminalFrontEnd(FrontEnd):
    """Somebody looks at stderr."""

    def __init__(self, is_json: bool = False) -> None:
        self.command_line, self.is_json = tuple(sys.argv), is_json

    def warn(self, text: str) -> None:
        """A line that begins with what it is."""
        print_to_stderr(f"warning: {text}")

    def remark(self, text: str) -> None:
        """A line."""
        print_to_stderr(text)

    note = remark

    def share_progress(self, what: str) -> AbstractContextManager[Progress]:
        """A line with the time left."""
        return ShareDone(what)

    def count_progress(self) -> AbstractContextManager[Progress]:
        """A line with how many are done."""
        return Counting()

    def waiting(self) -> Progress:
        """A line, once it has been for longer than people like to guess."""
        return Waiting()

    def trial_progress(self, expected_s: float) -> TrialProgress:
        """A line with the trial and the time left."""
        return TrialLine(expected_s)

    def stopping(self) -> AbstractContextManager[Stop]:
        """Ctrl-C and SIGTERM wait for their moment."""
        return Interrupts()

    def open_output(self, form: str, path: str | None) -> AbstractContextManager[BinaryIO]:
        """Open the file, or stdout, if that can show the form."""
        return open_output(form, path)


def build_folder_command(folder: str) -> click.Command:
    """Return the command of a folder of ``commands``, or the group of its commands."""
    module = importlib.import_module(f"{get_package_name(folder)}.options")
    declared = [
        command for command in COMMANDS.values() if command.answer.__module__.startswith(f"{module.__package__}.")
    ]
    name = folder_to_command(folder)
    commands = {command.name: command for command in declared if command.name}
    if name in commands:
        return build_click_command(commands[name])
    about: CommandGroup = module.GROUP
    group_class = partial(FirstByDefault, about.default) if about.default else _Group
    return group_class(
        name=name,
        commands={command.name.split()[-1]: build_click_command(command) for command in commands.values()},
        help=about.help,
        epilog=f"Example: iosonde {about.example}",
    )


class _ListsOnce(click.Command):
    """A command that refuses a list that is given twice. Of other options the last counts, as scripts expect."""

    def __init__(self, lists: frozenset[str], **more: Any) -> None:
        super().__init__(**more)
        self._lists = lists

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse them. Raises InputError."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for option, n_times in Counter(order).items():
            if n_times > 1 and option.name in self._lists and not option.multiple:
                raise InputError(
                    "duplicate-option",
                    "{option} is given twice",
                    "give it once, with all names: A,B",
                    option=max(option.opts, key=len),
                )
        return super().parse_args(ctx, args)


def build_click_command(command: Command) -> click.Command:
    """Return the parser of a command, which runs it."""
    parameters = [_build_parameter(command, option) for option in command.declarations]
    if command.has_json:
        parameters.append(click.Option(["--json", "as_json"], is_flag=True, help="Stable JSON on stdout."))
    plural = "s" if "; iosonde " in command.example else ""
    has_rest = any(isinstance(option, Rest) for option in command.declarations)
    return _ListsOnce(
        frozenset(option.name for option in command.declarations if isinstance(option, Names)),
        name=command.name.split()[-1],
        callback=partial(_run_command, command),
        params=parameters,
        help=_for_terminal(command, command.description),
        epilog=f"Example{plural}: iosonde {command.example}",
        context_settings={"allow_interspersed_args": False} if has_rest else {},
    )


def _run_command(command: Command, **texts: Any) -> None:
    """Answer, print the answer, and only then write files."""
    options = {option.name: option for option in command.declarations}
    values = {name: option.read(texts[name]) for name, option in options.items() if texts[name] not in (None, ())}
    as_json = bool(texts.get("as_json"))
    with use_spelling(spell_for_terminal), use_front_end(TerminalFrontEnd(as_json)):
        result = command.answer(command.options(**values))
        if isinstance(result, int):
            raise click.exceptions.Exit(result)
        if isinstance(result, str):
            print_lines([result])
        elif result is not None:
            print_result(result, result.text(), as_json, result.write)
            if error := getattr(result, "error", None):
                raise error


def _build_parameter(command: Command, option: Option[Any, Any]) -> click.Parameter:
    if option.is_argument:
        nargs, kind = -1 if option.is_repeatable else 1, click.UNPROCESSED if isinstance(option, Rest) else str
        is_required, metavar = option.is_required, option.metavar
        metavar = metavar if is_required or metavar.startswith("[") else f"[{metavar}]"
        return click.Argument([option.name], metavar=metavar, required=is_required, nargs=nargs, type=kind)
    flag = "--" + option.flag.replace("_", "-")
    names = [*([option.short] if option.short else []), flag]
    help_text = _for_terminal(command, option.help) + (f"  [default: {text}]" if (text := option.default_text) else "")
    if option.is_switch:
        names[-1] = f"{flag}/--no-{flag[2:]}" if option.default is None else flag
        return click.Option([*names, option.name], is_flag=True, default=None, help=help_text)
    more: dict[str, Any] = {"is_flag": False, "flag_value": option.without_value} if option.without_value else {}
    return click.Option(
        [*names, option.name],
        metavar=option.metavar,
        help=help_text,
        multiple=option.is_repeatable,
        required=option.is_required,
        envvar=option.variable or None,
        **more,
    )


def _for_terminal(command: Command, text: str) -> str:
    """A text in which `` `name` `` is an option, as a terminal spells it."""
    options = {option.name: option for option in command.declarations}

    def spell(match: re.Match[str]) -> str:
        option = options.get(match[1])
        if option is None:
            return match[0]
        return option.metavar if option.is_argument else "--" + option.flag.replace("_", "-")

    return _OPTION.sub(spell, text)


_HELP = ("-h", "--help")


class _Group(click.Group):
    """A group of commands, listed with the first sentence of each, whole."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(10**6)) for name in sorted(self.commands)]
            )


class FirstByDefault(_Group):
    """The first word is a path for the ``default`` command unless it is a command.

    A directory of a command's name is that path where what the command needs does not follow.
    """

    def __init__(self, default: str, **more: Any) -> None:
        super().__init__(**more)
        self._default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command before the words where it is missing."""
        if args and args[0] not in _HELP and (args[0] not in self.commands or self._is_directory(ctx, args)):
            args = [self._default, *args]
        return super().parse_args(ctx, args)

    def _is_directory(self, ctx: click.Context, args: list[str]) -> bool:
        name, *rest = args
        if any(flag in rest for flag in _HELP) or not os.path.isdir(name):
            return False
        needed = [option for parameter in self.commands[name].params if parameter.required for option in parameter.opts]
        if any(word.partition("=")[0] in needed for word in rest):
            return False
        try:
            self.commands[name].make_context(name, rest, parent=ctx)
        except (click.MissingParameter, click.NoSuchOption):
            return True
        except click.ClickException:
            return False
        return False
