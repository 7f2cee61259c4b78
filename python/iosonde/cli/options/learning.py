"""What is learned, and how rows are kept together: the options of ``fit`` and ``validate``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from iosonde import answers
from iosonde.cli.options.types import FigureFile
from iosonde.cli.output import write_figure
from iosonde.core.errors import InputError
from iosonde.core.pairs import pairs_of

Command = Callable[..., Any]
Draw = Callable[[Callable[..., Any], Any], None]  # (how it is drawn, what): where a figure is asked for

_OPTIONS = (
    click.option(
        "--family", "families", multiple=True, metavar="NAME…", help="auto, linear,tree or 'tree depth=4'. Repeatable."
    ),
    click.option("--terms", metavar="T,…", help="Of linear models: log2(a), C(a), a:b, a*b. Default: the factors."),
    click.option("--folds", "n_folds", type=int, metavar="K", help="Number of folds; 10 by default."),
    click.option(
        "--together",
        type=click.Choice(["twins", "cells", "rows"]),
        default="twins",
        show_default=True,
        help="Kept in one fold: repeats and copies, only repeats, or nothing.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        help="Folds and forests are drawn from it.",
    ),
)


_DRAWN = (
    click.option(
        "--plot",
        type=FigureFile(),
        metavar="FILE",
        help="Predicted against observed rows, and more, as .png, .svg or .pdf.",
    ),
    click.option("--against", metavar="X", help="With --plot: also against this factor."),
    click.option("--at", multiple=True, metavar="X=V,…", help="With --against: only rows with these levels."),
)


def learning_options(command: Command) -> Command:
    """The options, handed to the command as ``how``, an ``answers.candidates.Learning``, and ``draw``."""

    @functools.wraps(command)
    def called(plot: str | None, against: str | None, at: tuple[str, ...], **arguments: Any) -> Any:
        if (against or at) and not plot:
            raise InputError(
                "option-requires-option", "{spell.against} and {spell.at} are of a figure", "name it: {spell.plot:FILE}"
            )
        names = ("families", "terms", "n_folds", "together", "seed")
        fixed_settings = pairs_of(at, "--at", "write --at size=4096,fs=nfs") if at else {}
        draw = partial(_draw, plot, against=against, at=fixed_settings)
        return command(
            draw=draw, how=answers.candidates.Learning(**{name: arguments.pop(name) for name in names}), **arguments
        )

    decorated: Command = called
    for option in reversed((*_OPTIONS, *_DRAWN)):
        decorated = option(decorated)
    return decorated


def _draw(plot: str | None, figure: Callable[..., Any], answer: Any, **how: Any) -> None:
    write_figure(plot, lambda: figure(answer, **how))
