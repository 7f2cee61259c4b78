"""Validation of advice by new trials: the advised setting and its reference, against the predicted gain.

Speeds are compared as ratios (geometric means), so that a new workload needs only these two settings.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Cell, Table, tidy_number
from iosonde.core.types import Estimate
from iosonde.model.fit.features import Feature

from .advise import DEFAULT, NOTHING, Advice
from .advise_parts import estimate_grouped_mean, to_geometric_mean

UNCHANGED, LESS, MORE, UNTOLD = "kept", "less", "more", "cannot tell"


@dataclass(frozen=True)
class Tried:
    """Result of the validation.

    ``predicted`` is the ratio of advice over ``over`` in cross-validation, for the new instances if they are known;
    ``obtained`` that of the new trials. ``difference`` is obtained ÷ predicted: paired by instance if all are known,
    else with both errors (None if instances were too few to hold any out). ``unused`` new instances lack one of the two
    settings or are beyond the tried range; in ``same`` both settings are equal."""

    predicted: Estimate
    obtained: Estimate
    difference: Estimate | None
    over: str
    instances: int
    same: int
    unused: int
    verdict: str

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        difference = None if self.difference is None else self.difference.to_json()
        return {
            "predicted": self.predicted.to_json(),
            "obtained": self.obtained.to_json(),
            "difference": difference,
            "over": self.over,
            "instances": self.instances,
            "same": self.same,
            "unused": self.unused,
            "verdict": self.verdict,
        }


def validate_by_new_trials(advice: Advice, new: Table) -> Tried:
    """Validate an advice by new trials.

    Raises InputError without advice, DataError if no new instance has both settings, or if the trials are the training
    trials.
    """
    gain, level = advice.gain, advice.level
    if advice.kind == NOTHING or gain is None:
        raise InputError("no-advice", "no advice to validate", "measure more; the text says what")
    if advice.kind == DEFAULT and advice.current is None:
        raise InputError(
            "missing-option",
            "the advice is a default without a reference setting",
            "name the setting in use with {spell.current}",
        )
    log_ratios, same, unused = _compute_log_ratios(advice, gain.over, new)
    if not log_ratios:
        raise DataError(
            "no-paired-trials",
            "{source}: no workload within the tried range has trials of both the advised setting and {other_setting}",
            "measure both, in turn, for workloads of the advice",
            source=new.source,
            other_setting=advice.instances.format_setting(gain.over),
        )
    obtained = estimate_grouped_mean(np.array(list(log_ratios.values())), level)
    predicted, difference = gain.ratio, None
    if gain.logs:
        promised_logs = {tuple(advice.instances.key(row).values()): log for row, log in enumerate(gain.logs)}
        if set(log_ratios) <= set(promised_logs):
            expected = np.array([promised_logs[key] for key in log_ratios])
            predicted = to_geometric_mean(estimate_grouped_mean(expected, level))
            difference = estimate_grouped_mean(np.array(list(log_ratios.values())) - expected, level)
        else:
            difference = _subtract_means(obtained, estimate_grouped_mean(np.array(gain.logs), level))
    change = None if difference is None else to_geometric_mean(difference)
    return Tried(
        predicted,
        to_geometric_mean(obtained),
        change,
        gain.over,
        len(log_ratios),
        same,
        unused,
        _judge_difference(change),
    )


def _subtract_means(a: Estimate, b: Estimate) -> Estimate:
    """Return the difference of two independent means, from their intervals (each half width is t times its error)."""
    value = (a.value or 0.0) - (b.value or 0.0)
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return Estimate(value, None, None, a.level, a.n, (*a.warnings, *b.warnings))
    half = math.hypot(a.high - a.low, b.high - b.low) / 2
    return Estimate(value, value - half, value + half, a.level, a.n)


def _compute_log_ratios(advice: Advice, over: str, new: Table) -> tuple[dict[tuple[Cell, ...], float], int, int]:
    """Return (log ratios of the new instances with both settings, number with equal settings, number unusable).
    Unusable instances lack a setting or are beyond the tried range."""
    instances = advice.instances
    names = [f.name for f in instances.features]
    usable = ~np.isnan(new.numbers(instances.response))
    for name in (*names, *instances.choose):
        usable &= ~new.column(name).missing
    part = _convert_to_learned_types(advice, new.take(usable))
    _refuse_the_same(advice, part)
    values = part.numbers(instances.response)
    if (values <= 0).any():
        raise DataError(
            "nonpositive-value",
            "{source}: '{response}' is not positive everywhere",
            "correct these rows",
            source=new.source,
            response=instances.response,
        )
    reference = instances.settings[instances.names.index(over)]
    log_ratios, same, unused = {}, 0, 0
    for key, rows in part.groups(names):
        instance = dict(zip(names, key, strict=True))
        rule = advice.find_rule_for(instance) if all(map(_is_inside, instances.features, key)) else None
        tried = {setting: float(values[rows[at]].mean()) for setting, at in part.take(rows).groups(instances.choose)}
        if rule is None or rule.setting not in tried or reference not in tried:
            unused += 1
            continue
        same += rule.setting == reference
        ratio = math.log(tried[rule.setting] / tried[reference])
        log_ratios[key] = -ratio if instances.lower else ratio
    return log_ratios, same, unused


def _is_inside(feature: Feature, value: Any) -> bool:
    return feature.low <= value <= feature.high if feature.numeric else value in feature.levels


def _convert_to_learned_types(advice: Advice, new: Table) -> Table:
    """Convert the table to the advice's types: numbers or text. Raises DataError."""
    instances, columns = advice.instances, dict(new.columns)
    numeric = {f.name: f.numeric for f in instances.features}
    for at, name in enumerate(instances.choose):
        numeric[name] = not any(isinstance(setting[at], str) for setting in instances.settings)
    for name, is_numeric in numeric.items():
        column = new.column(name)
        if is_numeric:
            values = new.numbers(name)
        elif column.numeric:
            values = np.array([str(tidy_number(x)) for x in column.values.astype(float)], dtype=object)
        else:
            continue
        columns[column.name] = replace(column, values=values)
    return replace(new, columns=columns)


def _refuse_the_same(advice: Advice, new: Table) -> None:
    """Raise DataError for the training trials, which would only confirm themselves."""
    instances = advice.instances
    cells: dict[tuple[Cell, ...], float] = {
        (*instances.key(row).values(), *setting): float(instances.values[row, at])
        for row in range(len(instances))
        for at, setting in enumerate(instances.settings)
    }
    values, n_common, equal = new.numbers(instances.response), 0, 0
    for key, rows in new.groups([*(f.name for f in instances.features), *instances.choose]):
        if key in cells:
            n_common += 1
            equal += math.isclose(float(values[rows].mean()), cells[key], rel_tol=1e-12)
    if n_common and equal == n_common:
        raise DataError(
            "training-data-reused",
            "{source}: the advice was learned from these trials",
            "measure new ones",
            source=new.source,
        )


def _judge_difference(difference: Estimate | None) -> str:
    if difference is None or difference.low is None or difference.high is None:
        return UNTOLD
    return LESS if difference.high < 1 else MORE if difference.low > 1 else UNCHANGED
