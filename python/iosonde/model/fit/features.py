"""Factors as a model sees them: coding of each column, the tried levels or range, and the rows.

A number stays a number; text becomes the number of its level. The tried range is kept with the model: beyond it a
prediction is an extrapolation, and an untried level has none.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.schema import BRING_UPS
from iosonde.core.table import Cell, Table, is_number, tidy_number
from iosonde.stats.estimate.missing import build_missing_row_warnings
from iosonde.stats.regression import strata

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Feature:
    """A factor. ``levels`` are all distinct values that were tried, in order: numbers ascending, or text."""

    name: str
    unit: str
    levels: tuple[Cell, ...]
    numeric: bool

    @property
    def low(self) -> float:
        """The smallest number that was tried."""
        return _to_number(self.levels[0])

    @property
    def high(self) -> float:
        """The largest number that was tried."""
        return _to_number(self.levels[-1])

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a model file."""
        return {"name": self.name, "unit": self.unit, "numeric": self.numeric, "levels": list(self.levels)}

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> Feature:
        """The inverse of ``to_json``."""
        return Feature(content["name"], content["unit"], tuple(content["levels"]), content["numeric"])


def _to_number(level: Cell) -> float:
    assert isinstance(level, (int, float)), level
    return float(level)


@dataclass(frozen=True)
class Examples:
    """Training data of a model.

    ``x`` is rows × features, ``y`` the response, ``cells`` numbers the rows' settings: rows of one cell are repeats of
    each other. ``bring_ups`` numbers the bring-up that several rows share; None without shared ones. ``class_ends``:
    the upper ends of the classes for judging models; None: the usual speed classes. ``terms``: those of linear models,
    where the factors were named by terms."""

    features: tuple[Feature, ...]
    x: Array
    y: Array
    cells: npt.NDArray[np.intp]
    response: str
    unit: str
    warnings: tuple[str, ...] = ()
    bring_ups: npt.NDArray[np.intp] | None = None
    class_ends: Array | None = None
    terms: str = ""

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: npt.NDArray[Any]) -> Examples:
        """Select these rows; the features keep all tried levels."""
        return Examples(
            self.features,
            self.x[rows],
            self.y[rows],
            self.cells[rows],
            self.response,
            self.unit,
            (),
            None if self.bring_ups is None else self.bring_ups[rows],
            self.class_ends,
            self.terms,
        )


def build_examples(table: Table, response: str, on: Sequence[str]) -> Examples:
    """Return the rows of ``table`` that have the response and every factor of ``on``.

    Raises DataError for a factor with one level, a constant response, or no remaining row. Raises InputError for a
    factor named twice or the response as its own factor.
    """
    measured = table.column(response)
    y = table.numbers(response)
    columns = [table.column(name) for name in on]
    names = [column.name for column in columns]
    _raise_if_invalid_factors(table, measured.name, names)
    usable = ~np.any([np.isnan(y), *(column.missing for column in columns)], axis=0)
    n_usable = int(usable.sum())
    if not n_usable:
        raise DataError(
            "no-complete-rows",
            "{source}: no row has {response} and all of {columns}",
            "look at empty cells",
            source=table.source,
            response=response,
            columns=", ".join(names),
        )
    part = table.take(usable)
    if np.ptp(y[usable]) == 0:
        raise DataError(
            "constant-response",
            "{response} is {constant} in all rows",
            "a constant response cannot be explained",
            response=measured.name,
            constant=tidy_number(y[usable][0]),
        )
    coded = [part.column(name).codes() for name in names]
    for name, (_, levels) in zip(names, coded, strict=True):
        if len(levels) < 2:
            raise _build_single_level_error(table, measured.name, name)
    numeric = [column.numeric for column in columns]
    features = tuple(
        Feature(column.name, column.level_unit, tuple(levels), column.numeric)
        for column, (_, levels) in zip(columns, coded, strict=True)
    )
    x = np.column_stack(
        [
            part.numbers(name) if number else codes
            for name, number, (codes, _) in zip(names, numeric, coded, strict=True)
        ]
    ).astype(float)
    _, cells = np.unique(x, axis=0, return_inverse=True)
    warnings = build_missing_row_warnings(len(table) - n_usable, len(table))
    warnings += [message for feature in features if (message := _warn_if_nearly_numbers(feature))]
    return Examples(
        features,
        x,
        y[usable],
        cells.reshape(-1).astype(np.intp),
        measured.name,
        measured.unit,
        tuple(warnings),
        _get_bring_ups_unless_factor(part, names),
    )


def _raise_if_invalid_factors(table: Table, response: str, names: Sequence[str]) -> None:
    """Raise InputError for no factor, a factor twice, or the response among them."""
    if not names:
        raise InputError(
            "missing-option",
            "no factor is named",
            "{spell.on} takes columns: {columns}",
            columns=", ".join(table.names),
        )
    for name in names:
        if names.count(name) > 1:
            raise InputError("duplicate-factor", "'{factor}' is named twice", "leave one out", factor=name)
        if name == response:
            raise InputError(
                "response-as-factor", "'{column}' is the response", "a factor is another column", column=name
            )


def _build_single_level_error(table: Table, response: str, name: str) -> DataError:
    has_several = len(table.column(name).codes()[1]) > 1
    return DataError(
        "single-level-factor",
        "column '{column}' has "
        + ("values of {response} at one level only" if has_several else "one level")
        + ": it cannot explain anything",
        "leave it out of {spell.on}",
        column=name,
        response=response,
    )


def _get_bring_ups_unless_factor(table: Table, names: Sequence[str]) -> npt.NDArray[np.intp] | None:
    """Return the outermost bring-ups, unless a factor is about them."""
    units = [] if set(names) & set(BRING_UPS) else strata.list_nested_units(table)
    return units[0] if units else None


def _warn_if_nearly_numbers(feature: Feature) -> Message | None:
    """Warn about a text factor whose levels are mostly numbers (perhaps a typo); None for others."""
    if feature.numeric:
        return None
    odd = [level for level in feature.levels if not is_number(level)]
    if not odd or 2 * len(odd) >= len(feature.levels):  # text on purpose, or a real text factor
        return None
    return Message(
        "number-as-text",
        "{factor} is taken as text with {n_levels} levels: '{level}' is not a number",
        factor=feature.name,
        n_levels=len(feature.levels),
        level=odd[0],
    )


def encode_setting(features: Sequence[Feature], setting: Mapping[str, Cell]) -> Array:
    """Encode one setting as a row of ``x``. Raises InputError for a missing or unknown factor, text for a number, or an
    untried level."""
    names = [feature.name for feature in features]
    for name in setting:
        if name not in names:
            near = difflib.get_close_matches(name.lower(), {n.lower(): n for n in names}, 1)
            nearest = [n for n in names if n.lower() in near][:1]
            raise InputError(
                "unknown-factor",
                "the model has no factor '{factor}'",
                "did you mean {factors}?" if nearest else "its factors: {factors}",
                factor=name,
                factors=", ".join(nearest or names),
            )
    row = []
    for feature in features:
        if feature.name not in setting:
            raise InputError(
                "missing-factor-level",
                "no value for {factor}",
                "give it as {factor}={example}",
                factor=feature.name,
                example=feature.levels[0],
            )
        row.append(encode_level(feature, setting[feature.name]))
    return np.array(row)


def encode_level(feature: Feature, value: Cell) -> float:
    """Encode one level as in a row of ``x``. Raises InputError as :func:`encode`."""
    if feature.numeric:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(
                "not-a-number",
                "{factor}={level} is not a number",
                "tried were {levels}" + (", in {unit}" if feature.unit else ", without a unit"),
                factor=feature.name,
                level=value,
                levels=_describe_levels(feature),
                unit=feature.unit,
            )
        return float(value)
    if value in feature.levels:
        return float(feature.levels.index(value))
    raise InputError(
        "unknown-level",
        "{factor}={level} was never tried",
        "tried were {levels}",
        factor=feature.name,
        level=value,
        levels=_describe_levels(feature),
    )


def list_factors_outside_range(features: Sequence[Feature], row: Array) -> list[Message]:
    """List the factors in which a row lies beyond the tried range, in words."""
    return [
        Message(
            "out-of-range",
            "{factor}={level} is outside {low} to {high}",
            factor=feature.name,
            level=tidy_number(float(value)),
            low=tidy_number(feature.low),
            high=tidy_number(feature.high),
        )
        for feature, value in zip(features, row, strict=True)
        if feature.numeric and not feature.low <= value <= feature.high
    ]


def _describe_levels(feature: Feature) -> str:
    return (
        f"{tidy_number(feature.low)} to {tidy_number(feature.high)}"
        if feature.numeric
        else ", ".join(map(str, feature.levels[:12])) + (", …" if len(feature.levels) > 12 else "")
    )
