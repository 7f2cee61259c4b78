"""``iosonde predict``: a what-if with an interval for one new trial."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.model_options import FittedModelOptions
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.option_kinds import Setting
from iosonde.core.options import Data, Flag
from iosonde.data.options import LevelOptions, RowOptions

if TYPE_CHECKING:
    from .answer import Described, Predictions


@dataclass
class PredictOptions(FittedModelOptions, LevelOptions):
    """Options of ``iosonde.predict``."""

    at: Setting[Mapping[str, str] | None] = Setting(
        "X=V…",
        "The setting: every factor; a unit in its name may be left out.",
        hint="write size=4096",
        is_argument=True,
        is_repeatable=True,
    )
    _: KW_ONLY
    data: Data = Data("FILE", "Predict every row of this table instead.")


@dataclass
class PredictCommandOptions(PredictOptions):
    """Options of ``iosonde predict``."""

    _: KW_ONLY
    describe: Flag[bool] = Flag("What the model is, its error, and which factors it follows.")


@command("", PredictOptions)
def predict(options: PredictOptions) -> Result[Predictions]:
    """Predict what a model says of a setting: the value, and an interval for one new trial there.

    Outside the range that was measured it says so and gives no interval; far outside it predicts nothing.

    Returns
    -------
    Result[Predictions]
        One row a setting.

    Examples
    --------
    >>> iosonde.predict("model.json", {"size": 4096, "fs": "nfs"})
    """
    return _predict(options, lambda example: f"give one of them, as at={example}")


@command("", FittedModelOptions, "describe model.json")
def describe(options: FittedModelOptions) -> Result[Described]:
    """Describe what a model is, how wrong, and which factors it follows.

    It is ``iosonde predict --describe``.

    Returns
    -------
    Result[Described]
        One row a factor.
    """
    return _describe(options)


@command("predict", PredictCommandOptions, "predict model.json size=4096 fs=nfs", in_python=False)
def predict_or_describe(options: PredictCommandOptions) -> Result[Predictions] | Result[Described]:
    """Predict what a model of 'iosonde fit' says of a setting: the value, and an interval for one new trial there.

    Outside the range that was measured it says so and gives no interval; far outside it predicts nothing.
    """
    if not options.describe:
        return _predict(options, lambda example: _format_command(options.model, example))
    if options.at is not None or options.data is not None:
        raise InputError(
            "conflicting-options",
            "{spell.describe} takes no setting",
            "write iosonde predict {model} --describe",
            model=shlex.quote(options.model),
        )
    return _describe(options)


def _describe(options: FittedModelOptions) -> Result[Described]:
    from .answer import describe_model
    from .text import description_lines

    return Result(describe_model(options.load_model(), options.model_name), description_lines)


def _predict(options: PredictOptions, usage: Callable[[Mapping[str, object]], str]) -> Result[Predictions]:
    from iosonde.answers.model_file import build_example_setting

    from . import answer
    from .text import lines

    model = options.load_model()
    if options.at is not None and options.data is None:
        return Result(answer.predict(model, options.at, options.level), lines)
    if options.at is None and options.data is not None:
        return Result(answer.predict_rows(model, RowOptions().open(options.data), options.level), lines)
    raise _build_setting_error(options, usage(build_example_setting(model)))


def _build_setting_error(options: PredictOptions, usage: str) -> InputError:
    if options.at is None:
        return InputError("missing-setting", "a setting is missing", "{usage}", usage=usage)
    return InputError("conflicting-options", "a setting and {spell.data} are both given", "{usage}", usage=usage)


def _format_command(model: str, setting: Mapping[str, object]) -> str:
    assignments = (f"{name}={value}" for name, value in setting.items())
    return f"write iosonde predict {shlex.join([model, *assignments])}"
