"""``iosonde predict MODEL --describe``: a stored model, its errors, and the factors that it depends on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.words import format_number
from iosonde.layout.text import table, wrapped

if TYPE_CHECKING:
    from iosonde.commands.predict.answer import Described
    from iosonde.model.fit.describe import Description
    from iosonde.model.fit.fitted import Model

_MOST_LEVELS = 6


def lines(answer: Described) -> Iterator[str]:
    """Yield the lines of the text."""
    model, description = answer.model, answer.description
    unit = f" in {model.unit}" if model.unit and model.unit not in model.response else ""
    yield from wrapped(f"{model.name} model of {model.response}{unit}; {model.rows} rows of {model.settings} settings")
    yield from wrapped(_format_errors(model))
    for text in model.constraints:
        yield from wrapped(f"every setting satisfies '{text}'", "  ")
    yield ""
    rows = [
        [
            feature.name,
            _format_levels(feature.levels, feature.numeric),
            format_number(description.shares.get(feature.name), 2),
        ]
        for feature in model.features
    ]
    yield from table(["factor", "tried", "share"], rows, "llr").splitlines()
    if "terms" in model.form:
        yield ""
        for term in model.form["terms"]:
            yield from wrapped(
                f"{term['direction']}: {format_number(term['estimate'])} ({format_number(term['low'])} to "
                f"{format_number(term['high'])})",
                "  ",
            )
    yield ""
    yield from wrapped(_format_sentence(description))


def _format_errors(model: Model) -> str:
    get_error = model.errors.get
    mean_error = format_number(get_error("mean_model"))
    text = f"error {format_number(get_error('mae'))} on unseen rows, of the mean model {mean_error}"
    text += f", noise of repetitions {format_number(get_error('noise'))}" if get_error("noise") is not None else ""
    return text + (f"; R² of unseen rows {get_error('r2'):.3f}" if get_error("r2") is not None else "")


def _format_levels(levels: tuple[object, ...], numeric: bool) -> str:
    texts = [f"{level:.12g}" if isinstance(level, float) else str(level) for level in levels]
    if len(texts) <= _MOST_LEVELS and len(", ".join(texts)) < 40:
        return ", ".join(texts)
    return f"{texts[0]} to {texts[-1]}, {len(texts)} levels" if numeric else f"{len(texts)} levels"


def _format_sentence(description: Description) -> str:
    if not description.shares:
        return "The model predicts the same for every setting."
    over = (
        f"all {description.designs} designs" if description.all_designs else f"{description.designs} designs at random"
    )
    text = f"share: of the variance of the predictions over {over} of these levels"
    text += (
        f"; {format_number(description.together, 2)} belongs to interactions"
        if description.together is not None
        else ""
    )
    return f"{text}. For shares of the measurements, with intervals, use iosonde rank."
