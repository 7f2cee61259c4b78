"""A stored model judged by unseen DATA: its error, and the coverage of its intervals."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.answers.answer import Answer
from iosonde.answers.model_file import rows_to_settings
from iosonde.core.errors import DataError, IosondeError
from iosonde.core.message import Message
from iosonde.core.transforms import is_logarithm
from iosonde.core.types import Estimate
from iosonde.data.source import Source
from iosonde.model.fit.errors_of import Errors, compute_errors, estimate_grouped_mean
from iosonde.model.fit.fitted import Model, predict_settings
from iosonde.stats.estimate.clusters import estimate_member_share


@dataclass(frozen=True)
class HoldoutAnswer(Answer):
    """Error ``mae`` over ``n`` predicted rows. ``n_intervals`` of them had an interval for one new trial, and
    ``n_covered`` fell inside it. ``coverage`` is that share; its value is None without intervals. Its ``n`` and its
    interval count settings, since trials of one are missed or covered together. ``n_refused`` rows have no prediction.
    """

    model: Model
    n: int
    errors: Errors
    mae: Estimate
    n_intervals: int
    n_covered: int
    coverage: Estimate
    n_refused: int
    warnings: tuple[str, ...]
    level: float

    def content(self) -> dict[str, Any]:
        """As ``iosonde validate --model --json``."""
        return {
            "model": self.model.name,
            "response": self.model.response,
            "unit": self.model.unit,
            "n": self.n,
            "level": self.level,
            **self.errors.to_json(),
            **self.mae.flat("mae"),
            "n_intervals": self.n_intervals,
            "n_covered": self.n_covered,
            **self.coverage.flat("coverage"),
            "coverage_settings": self.coverage.n,
            "n_refused": self.n_refused,
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return the single row."""
        return [{key: value for key, value in self.content().items() if key != "warnings"}]

    @property
    def sentence(self) -> str:
        """Describe whether the intervals have the claimed coverage."""
        if not self.n_intervals:
            return "The coverage of its intervals is unknown: it gave none."
        if self.coverage.high is None:
            return "The coverage of its intervals cannot be judged from one setting: measure others."
        if self.coverage.high < self.level:
            return "The intervals held less often than they claim: these rows are not like those it was fitted to."
        return "The intervals held as often as they claim, as far as these rows can tell."


def judge_held_out(model: Model, source: Source, level: float = 0.95) -> HoldoutAnswer:
    """Judge the model on every row of DATA that has its response. Raises DataError if it predicts none."""
    rows, table = rows_to_settings(model, source, measured=True)
    y = table.numbers(model.response)
    values, inside, ends, refused = [], [], [], []
    for row, (prediction, observed) in enumerate(zip(predict_settings(model, rows, level), y, strict=True)):
        if np.isnan(observed):
            continue
        if isinstance(prediction, IosondeError):
            refused.append(prediction.message.prefixed(table.place(row)))
            continue
        values.append(prediction.value.value)
        ends.append((prediction.value.low, prediction.value.high))
        inside.append(row)
    if not inside:
        raise DataError(
            "no-predictions",
            "the model predicts none of the rows: {reason}",
            "look at the factors' ranges",
            reason=refused[0] if refused else "none has a value",
        )
    observed, predicted = y[inside], np.array(values, dtype=float)
    settings = np.unique([json.dumps(rows[i], sort_keys=True) for i in inside], return_inverse=True)[1]
    low, high = np.array(ends, dtype=float).T
    has_interval = ~np.isnan(low) & ~np.isnan(high)
    covered = ((low <= observed) & (observed <= high))[has_interval]
    warnings = []
    if refused:
        template = "{n_rows} rows have no prediction; the first: {reason}"
        warnings.append(Message("no-predictions", template, n_rows=len(refused), reason=refused[0]))
    if not has_interval.all():
        template = "{n_predictions} predictions have no interval"
        warnings.append(Message("no-intervals", template, n_predictions=len(inside) - has_interval.sum()))
    return HoldoutAnswer(
        model,
        len(inside),
        compute_errors(observed, predicted, None, is_logarithm(model.response)),
        estimate_grouped_mean(np.abs(predicted - observed), settings, level),
        int(has_interval.sum()),
        int(covered.sum()),
        estimate_member_share(covered.astype(float), settings[has_interval], level),
        len(refused),
        tuple(warnings),
        level,
    )
