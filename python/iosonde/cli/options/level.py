"""``--level`` and ``--json`` of commands that do not take the options of DATA."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from iosonde.cli.output import talk
from iosonde.core.levels import check_level, warning

Command = Callable[..., Any]


def checked_level(level: float) -> float:
    """The level; one that is unusually low is warned about. Raises InputError."""
    if low := warning(check_level(level)):
        talk(f"warning: {low}")
    return level


def level_options(command: Command) -> Command:
    """The options, handed to the command as ``level`` (checked; one that is unusually low is warned about) and
    ``as_json``."""

    @functools.wraps(command)
    def called(**arguments: Any) -> Any:
        checked_level(arguments["level"])
        return command(**arguments)

    decorated = click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")(called)
    return click.option(
        "--level", type=float, default=0.95, show_default=True, help="Confidence level of every interval."
    )(decorated)
