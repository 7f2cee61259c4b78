"""The kinds of models, each a module: ``NAME``, ``fit(examples, options, seed) -> form``, ``predict(form, x) -> y``.

A form is plain JSON data that a person can read; a prediction is computed from it by our own few lines, so that
loading a model executes nothing. ``OPTIONS`` are a family's options with their defaults.
"""

import importlib
from collections.abc import Mapping
from typing import Any, Protocol

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.model.fit.features import Array, Examples

# From the simplest to the hardest to understand: among equally good families the first is taken.
NAMES = (
    "mean",
    "bound",
    "linear",
    "loglinear",
    "loglog",
    "tree",
    "bound_tree",
    "classes",
    "neighbours",
    "gaussian",
    "kcca",
    "boosting",
    "forest",
)
# Options that must be above 0, with their largest plausible value; for the others 0 means no limit.
MOST = {"trees": 10_000, "k": 10_000, "rate": 10, "dimensions": 100, "ridge": 1000}


class Family(Protocol):
    """Interface of a module of this package."""

    NAME: str
    OPTIONS: dict[str, Any]

    def fit(self, examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """The form: plain JSON data."""

    def predict(self, form: Mapping[str, Any], x: Array) -> Array:
        """The response at rows × features."""


def get_max_settings(name: str) -> int | None:
    """Return the largest number of settings that a family accepts, None without a limit."""
    return getattr(import_family(name), "MOST_SETTINGS", None)


def warn_about_few_rows(name: str, rows: int) -> tuple[str, ...]:
    """Return a note if the family learns from fewer than ``rows`` rows."""
    most = getattr(import_family(name), "MOST_ROWS", rows)
    return (
        (
            Message(
                "sampled-rows",
                "each tree of {family} learns from {n:,} of {n_rows:,} rows, drawn at random",
                family=name,
                n=most,
                n_rows=rows,
            ),
        )
        if rows > most
        else ()
    )


def import_family(name: str) -> Family:
    """The module of this name. Raises InputError."""
    if name not in NAMES:
        raise InputError(
            "unknown-family",
            "unknown model family '{family}'",
            "families: {families}",
            family=name,
            families=", ".join(NAMES),
        )
    return importlib.import_module(f"{__name__}.{name}")


def complete_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a family, defaults filled in. Raises InputError for an unknown option, or a number out of
    range."""
    defaults = import_family(name).OPTIONS
    for option in options:
        if option not in defaults:
            raise InputError(
                "unknown-family-option",
                "the family {family} has no option '{option}'",
                "its options: {options}" if defaults else "it has none",
                family=name,
                option=option,
                options=", ".join(defaults),
            )
        if option in MOST and not 0 < options[option] <= MOST[option]:
            raise InputError(
                "out-of-range",
                "{family} {option}={number} is out of range",
                "use a number above 0, {limit:g} at most",
                family=name,
                option=option,
                number=options[option],
                limit=MOST[option],
            )
    return {**defaults, **options}
