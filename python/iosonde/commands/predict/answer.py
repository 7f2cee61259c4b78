"""Predictions of a fitted model, with an interval for one new trial; and its description."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer, build_level_columns
from iosonde.answers.constraints import build_constraint_check
from iosonde.answers.model_file import parse_setting, rows_to_settings
from iosonde.core.errors import InputError, IosondeError
from iosonde.data.source import Source
from iosonde.model.fit.describe import Description, describe_predictions
from iosonde.model.fit.fitted import Model, Prediction, predict_settings


@dataclass(frozen=True)
class Predictions(Answer):
    """A Prediction per setting of the query."""

    model: Model
    predictions: tuple[Prediction, ...]
    level: float

    def content(self) -> dict[str, Any]:
        """Return the content of ``iosonde predict --json``; a single prediction is also at the top."""
        return {
            "model": self.model.name,
            "response": self.model.response,
            "unit": self.model.unit,
            "level": self.level,
            **(self.predictions[0].to_json() if len(self.predictions) == 1 else {}),
            "predictions": [prediction.to_json() for prediction in self.predictions],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per setting."""
        rows = [
            {**prediction.value.flat("fit"), "extrapolated": prediction.extrapolated} for prediction in self.predictions
        ]
        return [
            {**build_level_columns(prediction.at, row), **row}
            for row, prediction in zip(rows, self.predictions, strict=True)
        ]


@dataclass(frozen=True)
class Described(Answer):
    """``shares`` of the model's prediction, by factor."""

    model: Model
    description: Description

    def content(self) -> dict[str, Any]:
        """As ``iosonde predict --describe --json``."""
        model = self.model
        return {
            "model": model.name,
            "response": model.response,
            "unit": model.unit,
            "factors": [feature.to_json() for feature in model.features],
            "constraints": list(model.constraints),
            "errors": dict(model.errors),
            **self.description.to_json(),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per factor."""
        return [
            {"factor": feature.name, "share": self.description.shares.get(feature.name)}
            for feature in self.model.features
        ]


def predict(model: Model, values: Mapping[str, Any], level: float = 0.95) -> Predictions:
    """Predict one setting: factor → its value, numbers as text with or without a unit. Raises InputError if the model
    has no prediction: far outside the tried range, or a constraint is broken."""
    return _predict_settings(model, [parse_setting(model.features, values)], level, lambda _: "")


def predict_rows(model: Model, source: Source, level: float = 0.95) -> Predictions:
    """Predict every row of DATA. Raises InputError for the first without a prediction, DataError."""
    rows, table = rows_to_settings(model, source)
    return _predict_settings(model, rows, level, table.place)


def describe_model(model: Model, name: str) -> Described:
    """Describe a model from the file ``name``, and the factors that it follows. Raises InputError, DataError."""
    broken = build_constraint_check(model.constraints, model.features, name)
    return Described(model, describe_predictions(model, (lambda at: broken(at) is None) if model.constraints else None))


def _predict_settings(
    model: Model, settings: Sequence[dict[str, Any]], level: float, place: Callable[[int], str]
) -> Predictions:
    """Predict settings; ``place`` names the place of a setting in error messages."""
    broken = build_constraint_check(model.constraints, model.features, "the model")
    predictions: list[Prediction] = []
    for number, (at, prediction) in enumerate(zip(settings, predict_settings(model, settings, level), strict=True)):
        where = place(number)
        if isinstance(prediction, IosondeError):
            raise (prediction.prefixed(where) if where else prediction) from prediction
        if why := broken(at):
            raise InputError(
                "constraint-violated",
                "{row}the setting breaks '{constraint}'",
                "the model was fitted under it: no such setting exists",
                row=f"{where}: " if where else "",
                constraint=why,
            )
        predictions.append(prediction)
    return Predictions(model, tuple(predictions), level)
