"""A fitted model: its form, its fitted range, its errors on unseen rows; and predictions from it.

A prediction beyond the range warns and has no interval. Farther out than the range is wide, or at an untried text
level, there is none. A response that is never below 0 is never predicted below 0.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.message import Message
from iosonde.core.no_scaling import SCALING_COLUMNS
from iosonde.core.table import Cell, tidy_number
from iosonde.core.transforms import LOG_BASES, is_logarithm
from iosonde.core.types import Estimate

from ..families import import_family, nodes
from .calibration import Calibration, count_groups_needed
from .features import Array, Examples, Feature, encode_setting, list_factors_outside_range
from .repeats import ENOUGH, Repeats, list_repeated_settings

MOST_DESIGNS = 20_000
MOST_BETWEEN = 3  # factors at a number between tried ones: each doubles the neighbours


@dataclass(frozen=True)
class Model:
    """A map from factors to a response.

    ``low`` and ``high`` are the smallest and largest measured response; ``settings`` the number of distinct ones;
    ``errors`` the validation result (JSON). ``constraints`` are expressions that a valid setting fulfils; they are for
    readers. ``repeats`` are the settings with enough trials for intervals of their own. ``between`` calibrates
    predictions at numbers between tried levels, ``calibration`` those at tried levels."""

    family: str
    options: Mapping[str, Any]
    seed: int
    features: tuple[Feature, ...]
    response: str
    unit: str
    low: float
    high: float
    rows: int
    settings: int
    form: Mapping[str, Any]
    calibration: Calibration | None
    errors: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    repeats: tuple[Repeats, ...] = ()
    between: Calibration | None = None

    @cached_property
    def repeats_at(self) -> dict[tuple[float, ...], Repeats]:
        """``repeats`` by their setting."""
        return {repeat.at: repeat for repeat in self.repeats}

    def values(self, x: Array) -> Array:
        """Predict at rows × features by the form; infinite or NaN on overflow."""
        with np.errstate(all="ignore"):
            return import_family(self.family).predict(self.form, x)

    @property
    def name(self) -> str:
        """The family with the numeric options that differ from the defaults; texts (terms, the inputs of a bound) are
        in its form."""
        defaults = import_family(self.family).OPTIONS
        texts = [f"{k}={v}" for k, v in self.options.items() if v != defaults.get(k) and not isinstance(v, str)]
        return " ".join([self.family, *texts])


@dataclass(frozen=True)
class Prediction:
    """The predicted value of one setting with the interval for one new trial there.

    ``extrapolated``: the setting is beyond the tried range. ``n_alike``: measurements in its leaf of a tree; None for
    other families. ``repeats``: the trials of this very setting, if the interval is theirs. ``between``: the interval
    is that of the tried numbers around it. ``at_new_level``: it is that of errors at levels that were left out.
    ``original`` is the prediction of a logarithm in the unit of its column."""

    at: Mapping[str, Cell]
    value: Estimate
    extrapolated: bool
    n_alike: int | None = None
    repeats: Repeats | None = None
    between: bool = False
    at_new_level: bool = False
    original: Estimate | None = None

    def to_json(self) -> dict[str, Any]:
        """The stable form: fit, low, high, level, n, interval_of, repeats_mean, n_alike, extrapolated, warnings;
        ``original`` of a logarithm."""
        e = self.value
        sources = {"repeats": self.repeats, "neighbours": self.between, "levels": self.at_new_level, "settings": True}
        source = None if e.low is None else next(name for name, holds in sources.items() if holds)
        return {
            "at": dict(self.at),
            "fit": e.value,
            "low": e.low,
            "high": e.high,
            "level": e.level,
            "n": e.n,
            "interval_of": source,
            "repeats_mean": self.repeats.mean if self.repeats else None,
            "n_alike": self.n_alike,
            "extrapolated": self.extrapolated,
            **({"original": self.original.to_json()} if self.original else {}),
            "warnings": list(e.warnings),
        }


def train_model(examples: Examples, name: str, options: Mapping[str, Any], seed: int, level: float = 0.95) -> Model:
    """Fit the model to all rows without validation; ``level`` is that of the coefficients' intervals. Raises DataError
    if the family cannot be fitted."""
    return Model(
        name,
        dict(options),
        seed,
        examples.features,
        examples.response,
        examples.unit,
        float(examples.y.min()),
        float(examples.y.max()),
        len(examples),
        int(np.unique(examples.cells).size),
        import_family(name).fit(examples, {**options, "level": level}, seed),
        None,
        {},
        repeats=list_repeated_settings(examples),
    )


def predict_setting(model: Model, setting: Mapping[str, Cell], level: float) -> Prediction:
    """Predict the response at one setting. Raises InputError for a setting far outside, or an impossible prediction."""
    (prediction,) = predict_settings(model, [setting], level)
    if isinstance(prediction, IosondeError):
        raise prediction
    return prediction


def predict_settings(
    model: Model, settings: Sequence[Mapping[str, Cell]], level: float
) -> list[Prediction | IosondeError]:
    """Predict the response at each setting, or return the error; the model is read once for all of them."""
    rows = [_encode_row(model.features, setting) for setting in settings]
    good = np.array([row for row in rows if isinstance(row, np.ndarray)])
    predictions = (
        iter(zip(model.values(good), _count_rows_in_leaves(model, good), strict=True)) if good.size else iter(())
    )
    answers: list[Prediction | IosondeError] = []
    for setting, row in zip(settings, rows, strict=True):
        if isinstance(row, IosondeError):
            answers.append(row)
            continue
        try:
            prediction = _build_prediction(model, setting, row, level, *next(predictions))
        except IosondeError as error:
            answers.append(error)
            continue
        apart = (
            [] if prediction.value.low is not None or prediction.extrapolated else _list_between(model.features, row)
        )
        if 0 < len(apart) <= MOST_BETWEEN:
            prediction = _add_interval_of_neighbours(model, prediction, apart, level)
        answers.append(_add_original(model, prediction))
    return answers


def _add_original(model: Model, prediction: Prediction) -> Prediction:
    """Add the value and the interval of a logarithm's column: the median of one new trial."""
    if not is_logarithm(model.response):
        return prediction
    base, e = LOG_BASES[model.response.partition("(")[0]], prediction.value
    value, low, high = (None if x is None else base**x for x in (e.value, e.low, e.high))
    return replace(prediction, original=Estimate(value, low, high, e.level, e.n))


def _list_between(features: Sequence[Feature], row: Array) -> list[Feature]:
    return [
        feature
        for feature, value in zip(features, row, strict=True)
        if feature.numeric and tidy_number(float(value)) not in feature.levels
    ]


def _list_untried_factors(model: Model, row: Array) -> list[Feature]:
    """List the factors whose number is untried here, though others of them were tried often."""
    return [feature for feature in _list_between(model.features, row) if 2 * len(feature.levels) <= model.settings]


def _add_interval_of_neighbours(
    model: Model, prediction: Prediction, apart: Sequence[Feature], level: float
) -> Prediction:
    """Return the prediction between tried numbers with their joint interval, valid for a monotonic response in between.
    Return ``prediction`` unchanged if one of them has no interval."""
    sides = [find_tried_neighbours(feature, prediction.at[feature.name]) for feature in apart]
    corners = [
        {**prediction.at, **dict(zip([feature.name for feature in apart], corner, strict=True))}
        for corner in itertools.product(*sides)
    ]
    lows: list[float] = []
    highs: list[float] = []
    for corner_prediction in predict_settings(model, corners, level):
        if (
            isinstance(corner_prediction, IosondeError)
            or corner_prediction.value.low is None
            or corner_prediction.value.high is None
        ):
            return prediction
        lows.append(corner_prediction.value.low)
        highs.append(corner_prediction.value.high)
    value = prediction.value.value
    if value is None:
        return prediction
    why = Message(
        "interval-of-neighbours",
        "the interval joins those of {levels}: it holds if the response is monotonic between them",
        levels=", ".join(f"{f.name} {low} and {high}" for f, (low, high) in zip(apart, sides, strict=True)),
    )
    return replace(
        prediction,
        value=Estimate(value, min(*lows, value), max(*highs, value), level, prediction.value.n, (why,)),
        between=True,
    )


def find_tried_neighbours(feature: Feature, value: Cell) -> tuple[Cell, Cell]:
    """Return the tried numbers next to an untried one between them."""
    assert isinstance(value, (int, float))
    below = [number for number in feature.levels if isinstance(number, (int, float)) and number < value]
    above = [number for number in feature.levels if isinstance(number, (int, float)) and number > value]
    return below[-1], above[0]


def _encode_row(features: Sequence[Feature], setting: Mapping[str, Cell]) -> Array | IosondeError:
    """Encode a setting for a family, or return the error that excludes it."""
    try:
        row = encode_setting(features, setting)
        _refuse_far(features, row)
    except IosondeError as error:
        return error
    return row


def _build_prediction(
    model: Model, setting: Mapping[str, Cell], row: Array, level: float, value: float, n_alike: int | None
) -> Prediction:
    value = float(value)
    if not np.isfinite(value):
        raise DataError(
            "prediction-not-finite",
            "the {family} model predicts no number there",
            "stay within the tried range",
            family=model.name,
        )
    if value < 0 <= model.low:
        raise InputError(
            "prediction-out-of-range",
            "the {family} model predicts {response} = {predicted:.4g} there, which is impossible: it was "
            "never below {minimum}",
            "fit {spell.family:{advice}} above 0",
            family=model.name,
            response=model.response,
            predicted=value,
            minimum=tidy_number(model.low),
            advice="loglinear or tree, which stay" if model.low > 0 else "tree, which stays",
        )
    at = {feature.name: setting[feature.name] for feature in model.features}
    beyond = list_factors_outside_range(model.features, row)
    why = _explain_missing_interval(model, row, beyond, level)
    own = model.repeats_at.get(tuple(row.tolist()))
    if own is not None and (why or own.n >= ENOUGH):
        return Prediction(at, _estimate_from_repeats(value, own, model.low >= 0, level), False, n_alike, own)
    is_apart = not beyond and _has_interval_between(model, level) and bool(_list_untried_factors(model, row))
    calibration, why = (model.between, ()) if is_apart else (model.calibration, why)
    interval = None if why or calibration is None else calibration.interval(value, level)
    low, high = interval or (None, None)
    estimate = Estimate(value, low, high, level, calibration.groups if calibration else 0, (*beyond, *why)).within(
        low=0.0 if calibration and calibration.floor else None
    )
    return Prediction(at, estimate, bool(beyond), n_alike, at_new_level=is_apart)


def _has_interval_between(model: Model, level: float) -> bool:
    return model.between is not None and model.between.groups >= count_groups_needed(level)


def _estimate_from_repeats(value: float, own: Repeats, floor: bool, level: float) -> Estimate:
    low, high = own.interval(level)
    message = Message(
        "model-off-repeats",
        "the model's value is outside the interval of the {n} trials of this setting: their mean is {mean:.4g}",
        n=own.n,
        mean=own.mean,
    )
    estimate = Estimate(value, low, high, level, own.n, () if low <= value <= high else (message,))
    return estimate.within(low=0.0 if floor else None)


def _count_rows_in_leaves(model: Model, rows: Array) -> Sequence[int | None]:
    if "nodes" not in model.form:
        return [None] * len(rows)
    leaves = nodes.find_leaves(model.form["nodes"], model.form["factors"], rows)
    return [int(model.form["nodes"][leaf]["n"]) for leaf in leaves]


# Laws of growth may say what a model of settings does not.
_ASK_SCALE = "; 'iosonde scale DATA --on {factor} --at {level}' fits laws of growth, which go further"


def _refuse_far(features: Sequence[Feature], row: Array) -> None:
    for feature, value in zip(features, row, strict=True):
        if not feature.numeric:
            continue
        width = feature.high - feature.low
        if not feature.low - width <= value <= feature.high + width:
            raise InputError(
                "extrapolation-too-far",
                "{factor}={level} is far outside the measured range {low} to {high}",
                "measure there, or stay between {low} and {high}"
                + (_ASK_SCALE if feature.name in SCALING_COLUMNS else ""),
                factor=feature.name,
                level=tidy_number(float(value)),
                low=tidy_number(feature.low),
                high=tidy_number(feature.high),
            )


def _explain_missing_interval(model: Model, row: Array, beyond: Sequence[str], level: float) -> tuple[str, ...]:
    """Explain why an interval is missing, with the remedy; empty if there is one."""
    if beyond:
        return (
            Message(
                "extrapolated",
                "no interval: errors within the tried range say nothing about the outside; measure there",
            ),
        )
    if between := [feature.name for feature in _list_untried_factors(model, row)]:
        return (
            Message(
                "untested-level",
                "no interval: this {factors} was never tried; validate {spell.leave_out:'{factor}'} says "
                "how wrong models are at such levels",
                factors=" and ".join(between),
                factor=between[0],
            ),
        )
    if model.calibration is None:
        return (Message("not-validated", "no interval: the model was fitted without validation"),)
    needed = count_groups_needed(level)
    if model.calibration.groups < needed:
        return (
            Message(
                "too-few-settings",
                "no interval: {level:g} % needs {n_needed} settings, and {n} were measured",
                level=100 * level,
                n_needed=needed,
                n=model.calibration.groups,
            ),
        )
    return ()


def compute_negative_share(model: Model, valid: Callable[[Mapping[str, Cell]], bool] | None = None) -> float:
    """Return the share of the designs of the tried levels where the model predicts below 0 though the response never
    was; 0 if it was."""
    if model.low < 0:
        return 0.0
    designs, _ = list_designs(model, valid)
    return float(np.mean(model.values(designs) < 0)) if len(designs) else 0.0


def list_designs(model: Model, valid: Callable[[Mapping[str, Cell]], bool] | None = None) -> tuple[Array, bool]:
    """Return (designs × factors, whether complete): every combination of the tried levels, or 20,000 at random; only
    the ``valid`` ones."""
    axes = [np.array(f.levels, float) if f.numeric else np.arange(len(f.levels), dtype=float) for f in model.features]
    total = 1
    for axis in axes:
        total *= axis.size
    if total <= MOST_DESIGNS:
        designs = np.array(list(itertools.product(*axes)))
    else:
        rng = np.random.default_rng(model.seed)
        designs = np.column_stack([rng.choice(axis, MOST_DESIGNS) for axis in axes])
    if valid is not None:
        designs = designs[[valid(decode_setting(model.features, row)) for row in designs]]
    return designs, total <= MOST_DESIGNS


def decode_setting(features: Sequence[Feature], row: Array) -> dict[str, Cell]:
    """A row of ``x`` as a setting: the inverse of ``encode``."""
    return {
        f.name: tidy_number(float(value)) if f.numeric else f.levels[int(value)]
        for f, value in zip(features, row, strict=True)
    }
