"""The analytic bound times a learned share: a tree predicts the share of the bound that is delivered.

The bound extends to unmeasured settings what is known of the hardware; the tree learns the rest. Options are those of
``bound`` and of ``tree``.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from iosonde.model.fit.features import Array, Examples

from . import bound, tree

NAME = "bound_tree"
OPTIONS: dict[str, Any] = {**tree.OPTIONS, **bound.OPTIONS}


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"bound": the form of bound, "share": the form of tree}``. Raises as ``bound`` does."""
    ceiling = bound.fit(examples, options, seed)
    return {
        "bound": ceiling,
        "share": tree.fit(replace(examples, y=examples.y / bound.predict(ceiling, examples.x)), options, seed),
    }


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """Bound × share."""
    return bound.predict(form["bound"], x) * tree.predict(form["share"], x)
