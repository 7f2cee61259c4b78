"""``iosonde predict MODEL --describe``: what a stored model is, how wrong it is, and which factors it follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.words import shown

from .layout import table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.predict import Described
    from iosonde.model.fit.describe import Description
    from iosonde.model.fit.fitted import Model

_MOST_LEVELS = 6


def lines(answer: Described) -> Iterator[str]:
    """The lines of the text."""
    model, found = answer.model, answer.description
    unit = f" in {model.unit}" if model.unit and model.unit not in model.response else ""
    yield from wrapped(f"{model.name} model of {model.response}{unit}; {model.rows} rows of {model.settings} settings")
    yield from wrapped(_errors(model))
    for text in model.constraints:
        yield from wrapped(f"every setting fulfils '{text}'", "  ")
    yield ""
    rows = [[feature.name, _levels(feature.levels, feature.numeric), shown(found.shares.get(feature.name), 2)]
            for feature in model.features]  # fmt: skip
    yield from table(["factor", "tried", "share"], rows, "llr").splitlines()
    if "terms" in model.form:
        yield ""
        for term in model.form["terms"]:
            yield from wrapped(f"{term['direction']}: {shown(term['estimate'])} ({shown(term['low'])} to "
                               f"{shown(term['high'])})", "  ")  # fmt: skip
    yield ""
    yield from wrapped(_sentence(found))


def _errors(model: Model) -> str:
    known = model.errors.get
    text = f"error {shown(known('mae'))} on rows not seen, of the mean of everything {shown(known('mean_model'))}"
    text += f", noise of repeats {shown(known('noise'))}" if known("noise") is not None else ""
    return text + (f"; R² of rows not seen {known('r2'):.3f}" if known("r2") is not None else "")


def _levels(levels: tuple[object, ...], numeric: bool) -> str:
    named = [f"{level:.12g}" if isinstance(level, float) else str(level) for level in levels]
    if len(named) <= _MOST_LEVELS and len(", ".join(named)) < 40:
        return ", ".join(named)
    return f"{named[0]} to {named[-1]}, {len(named)} levels" if numeric else f"{len(named)} levels"


def _sentence(found: Description) -> str:
    if not found.shares:
        return "The model says the same of every setting."
    over = f"all {found.designs} designs" if found.all_designs else f"{found.designs} designs at random"
    text = f"share: of the variance of what the model says over {over} of these levels"
    text += f"; {shown(found.together, 2)} belongs to combinations" if found.together is not None else ""
    return f"{text}. What the measurements say of the factors, with intervals: iosonde rank."
