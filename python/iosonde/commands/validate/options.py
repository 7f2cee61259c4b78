"""``iosonde validate``: an honest error, on rows that a model has not seen."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis
from iosonde.commands.model_options import FittedModelOptions, LearningOptions, load_model
from iosonde.commands.result import Result
from iosonde.core.option_kinds import Number
from iosonde.core.options import Data, Flag, Text
from iosonde.data.options import DataOptions, RowOptions, select_last_experiment

if TYPE_CHECKING:
    from iosonde.model.fit.fitted import Model

    from .answer import Validation
    from .held_out import HoldoutAnswer


@dataclass
class ValidateOptions(LearningOptions):
    """Options of ``iosonde.validate``."""

    _: KW_ONLY
    inverse: Flag[bool] = Flag("Learn from one fold, be judged by the others.")
    split: Number[float | None] = Number("SHARE", "One split: learn from this share, as 0.75.")
    leave_out: Text[str | None] = Text("X", "A fold for every level of this factor.")
    curve: Flag[bool] = Flag("The error by the number of rows to learn from.")


@dataclass
class ValidateCommandOptions(ValidateOptions):
    """Options of ``iosonde validate``."""

    _: KW_ONLY
    model: Text[str | None] = Text("FILE", "Judge this model by DATA, which it must not have seen.")


@dataclass
class HeldOutOptions(RowOptions, FittedModelOptions):
    """Options of ``iosonde.held_out``."""

    data: Data = Data(
        "DATA", "Rows with the response and all factors, which the model must not have seen.", is_required=True
    )
    _: KW_ONLY
    clock: Text[str] = DataOptions.clock


@command("", ValidateOptions)
def validate(options: ValidateOptions) -> Result[Validation]:
    """Validate models on rows that they have not seen: their prediction error.

    All models are judged on the same folds, beside the mean of everything and the noise of repeats. Repeats of a
    setting, and rows that are copies of another, are in one fold.

    Returns
    -------
    Result[Validation]
        One row a model; ``.plot()`` draws predicted against observed, and the curve.

    See Also
    --------
    held_out : a model that is there already, judged by new data.

    Examples
    --------
    >>> iosonde.validate("runs.csv", "speed", ["size", "fs"], curve=True)
    """
    return _validate(options)


@command("", HeldOutOptions)
def held_out(options: HeldOutOptions) -> Result[HoldoutAnswer]:
    """Judge a model on data that it has not seen: how wrong it is, and how often its intervals held.

    It is ``iosonde validate --model``.

    Returns
    -------
    Result[HoldoutAnswer]
        One row.

    Examples
    --------
    >>> iosonde.held_out("model.json", "new.csv")
    """
    return _judge(options.load_model(), options)


@command(
    "validate",
    ValidateCommandOptions,
    "validate runs.csv --response speed --on size,fs --curve",
    in_python=False,
)
def validate_or_hold_out(options: ValidateCommandOptions) -> Result[Validation] | Result[HoldoutAnswer]:
    """Validate models on rows that they have not seen: their prediction error.

    All models are judged on the same folds, beside the mean of everything and the noise of repeats. Repeats of a
    setting, and rows that are copies of another, are in one fold.
    """
    from iosonde.commands.fit.figure import refuse_plot

    if options.model is None:
        return _validate(options)
    result = _judge(load_model(options.model), options)
    return replace(result, write=options.figure_writer(refuse_plot, result.answer))


def _validate(options: ValidateOptions) -> Result[Validation]:
    from iosonde.answers.row_summaries import represent_trials
    from iosonde.commands.fit.figure import draw_validation

    from .answer import validate as answer
    from .text import lines

    source = represent_trials(options.open_last_experiment(), options.query)
    announce_analysis("validate", len(source.table), len(source.table.columns))
    folding = options.inverse, options.split, options.leave_out
    validation = answer(source, options.query, options.learning, *folding, options.curve)
    return Result(validation, lines, draw_validation, options.figure_writer(draw_validation, validation))


def _judge(model: Model, options: HeldOutOptions | ValidateCommandOptions) -> Result[HoldoutAnswer]:
    from iosonde.answers.model_file import build_example_setting

    from .held_out import judge_held_out as answer
    from .text import format_unseen_error

    source = select_last_experiment(options.open(options.data), tuple(build_example_setting(model)))
    return Result(answer(model, source, options.level), format_unseen_error)
