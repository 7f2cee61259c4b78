"""Options of commands about models: which to train, on which folds, with their figure; and one that was fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from iosonde.commands.files import build_figure_writer
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.option_kinds import FigureFile, Integer, Setting
from iosonde.core.options import Choice, Data, NameList, Names, Option, Text
from iosonde.data.options import DataOptions

if TYPE_CHECKING:
    from iosonde.answers.learned import Learning
    from iosonde.layout.figure import Figure
    from iosonde.model.fit.fitted import Model


class FittedModel(Option[Any, Any]):
    """The file of a model, or the result of a fit."""

    kind = "path or Result[Fitted]"

    def parse(self, value: Any) -> Any:
        """Return the path as a text, or the result. Raises InputError for anything else."""
        if isinstance(value, str | PurePath):
            return str(value)
        from .fit.answer import Fitted

        if isinstance(value, Result) and isinstance(value.answer, Fitted):
            return value
        raise self.type_error(value, "give what iosonde.fit gave, or its file")


@dataclass
class FittedModelOptions:
    """The model that a command is about."""

    model: FittedModel = FittedModel(
        "MODEL", "The file that iosonde fit wrote; in Python also its result.", is_argument=True, is_required=True
    )

    def load_model(self) -> Model:
        """Load the model. Raises InputError, DataError."""
        return load_model(self.model)

    @property
    def model_name(self) -> str:
        """The name of the file, where there is one."""
        return self.model if isinstance(self.model, str) else "the model"


def load_model(model: str | Result[Any]) -> Model:
    """Load a model from its file, or take that of a fit. Raises InputError, DataError."""
    from iosonde.answers.model_file import read_model

    return read_model(model) if isinstance(model, str) else model.answer.choice.model


@dataclass
class LearningOptions(DataOptions):
    """DATA, the models to train on it, and the figure of their errors."""

    data: Data = DataOptions.data
    response: Names[NameList] = Names(
        "Y,…", "What to predict: a column; of a store an operation or metric; log(Y), Y/nodes.", ()
    )
    on: Names[NameList] = Names(
        "X,…", "The factors: numbers, or text by its levels.", (), default_text="of a store, those that were set"
    )
    _: KW_ONLY
    families: Names[NameList] = Names(
        "NAME…",
        "auto, linear,tree or 'tree depth=4'. Repeatable.",
        (),
        flag="family",
        is_repeatable=True,
        default_text="auto",
    )
    terms: Text[str | None] = Text("T,…", "Of linear models: log2(a), C(a), a:b, a*b.", default_text="the factors")
    folds: Integer[int | None] = Integer("K", "Number of folds.", default_text="10, or as many as settings")
    together: Choice[str] = Choice(
        ("twins", "cells", "rows"), "Kept in one fold: repeats and copies, only repeats, or nothing.", "twins"
    )
    seed: Integer[int] = Integer(
        "N", "Folds and forests are drawn from it.", 0, least=0, most=2**32 - 1, default_text="0"
    )
    plot: FigureFile[str | None] = FigureFile(
        "FILE", "Predicted against observed rows, and more, as .png, .svg or .pdf."
    )
    against: Text[str | None] = Text("X", "With `plot`: also against this factor.")
    at: Setting[Mapping[str, str] | None] = Setting(
        "X=V,…",
        "With `against`: only rows with these levels.",
        hint="write it as size=4096,fs=nfs",
        is_repeatable=True,
    )

    def __post_init__(self) -> None:
        """Check that what chooses a panel has a figure. Raises InputError."""
        super().__post_init__()
        if (self.against or self.at) and not self.plot:
            raise InputError(
                "option-requires-option", "{spell.against} and {spell.at} are of a figure", "name it: {spell.plot:FILE}"
            )

    @property
    def learning(self) -> Learning:
        """The models to train, and their folds."""
        from iosonde.answers.learned import Learning

        return Learning(self.families or (), self.terms, self.folds, self.together, self.seed)

    def figure_writer(self, draw: Callable[..., Figure], answer: Any) -> Callable[[], None] | None:
        """Return what writes the figure of an answer; None where none was asked for."""
        return build_figure_writer(self.plot, lambda: draw(answer, against=self.against, at=self.at or {}))
