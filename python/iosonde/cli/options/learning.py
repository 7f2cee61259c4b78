"""What is learned, and how rows are kept together: the options of ``fit`` and ``validate``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from iosonde import answers

Command = Callable[..., Any]

_OPTIONS = (
    click.option("--family", "families", multiple=True, metavar="NAME…",
                 help="auto, linear,tree or 'tree depth=4'. Repeatable."),
    click.option("--terms", metavar="T,…", help="Of linear models: log2(a), C(a), a:b, a*b. Default: the factors."),
    click.option("--folds", "n_folds", type=int, metavar="K", help="Number of folds; 10 by default."),
    click.option("--together", type=click.Choice(["twins", "cells", "rows"]), default="twins", show_default=True,
                 help="Kept in one fold: repeats and copies, only repeats, or nothing."),
    click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True,
                 help="Folds and forests are drawn from it."),
)  # fmt: skip


def learning_options(command: Command) -> Command:
    """The options, handed to the command as ``how``, an ``answers.candidates.Learning``."""

    @functools.wraps(command)
    def called(**given: Any) -> Any:
        names = ("families", "terms", "n_folds", "together", "seed")
        return command(how=answers.candidates.Learning(**{name: given.pop(name) for name in names}), **given)

    made: Command = called
    for option in reversed(_OPTIONS):
        made = option(made)
    return made
