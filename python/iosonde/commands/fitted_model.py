"""A fitted model as an option: its file, or in Python what ``iosonde.fit`` returned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from iosonde.core.options import Option

from .result import Result

if TYPE_CHECKING:
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
