"""``iosonde fit``: a model of a table, chosen by cross-validation, kept in a file that a person can read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis, write_file
from iosonde.commands.model_options import LearningOptions
from iosonde.commands.result import Result
from iosonde.core.front_end import get_front_end
from iosonde.core.options import Flag, NameList, Names, Text

if TYPE_CHECKING:
    from .answer import Fitted


@dataclass
class FitOptions(LearningOptions):
    """Options of ``iosonde fit``."""

    _: KW_ONLY
    constraints: Names[NameList] = Names(
        "EXPR",
        "What every setting fulfils, as 'stripes <= servers': predict refuses what breaks it. Repeatable.",
        (),
        flag="constraint",
        is_repeatable=True,
    )
    output: Text[str | None] = Text("FILE", "Keep the model here, as JSON.", short="-o")
    rules: Flag[bool] = Flag("Print a tree as rules.")


@command("fit", FitOptions, "fit runs.csv --response speed --on size,fs -o model.json")
def fit(options: FitOptions) -> Result[Fitted]:
    """Fit a model that predicts a response from factors.

    Every family is judged on rows that it has not seen. The simplest within one standard error of the best is taken.
    Beside them stand the mean of everything and the noise of repeats.

    Returns
    -------
    Result[Fitted]
        One row a model that was tried. ``predict``, ``describe`` and ``held_out`` take it as their model.
        ``.answer.rules`` are a tree's rules; ``.plot()`` draws predicted against observed.

    Examples
    --------
    >>> iosonde.fit("runs.csv", "speed", ["size", "fs"], output="model.json")
    """
    from iosonde.answers.row_summaries import represent_trials

    from .answer import fit as answer
    from .figure import draw_fit
    from .text import lines

    source = represent_trials(options.open_last_experiment(), options.query)
    announce_analysis("fit", len(source.table), len(source.table.columns))
    with get_front_end().share_progress("fit") as progress:
        fitted = answer(source, options.query, options.learning, options.constraints or (), progress)
    write = partial(_write_model_and_figure, fitted, options.output, options.figure_writer(draw_fit, fitted))
    return Result(fitted, partial(lines, rules=options.rules), draw_fit, write)


def _write_model_and_figure(fitted: Fitted, output: str | None, write_figure: Callable[[], None] | None) -> None:
    from iosonde.model.fit.document import to_text

    if output is not None:
        write_file(output, lambda: to_text(fitted.choice.model).encode())
    if write_figure is not None:
        write_figure()
