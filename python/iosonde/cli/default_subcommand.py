"""A group whose first word may be missing: ``survey PATH`` is ``survey tree PATH``."""

from __future__ import annotations

import os
from typing import Any

import click

_HELP = ("-h", "--help")


class FirstByDefault(click.Group):
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
