"""Figures of models: computed values in, a file out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.core.errors import InputError

from ._models_text import short
from .output import replace_file, talk

if TYPE_CHECKING:
    from iosonde.model.fit.choose import Choice
    from iosonde.model.fit.features import Examples
    from iosonde.model.fit.validate import CurvePoint, Judged


def draw_fit(path: str, examples: Examples, made: Choice) -> None:
    """Predicted against observed of what was taken, the errors of all, and the tree where it is one."""
    from iosonde.report.fit_figures import Errors, TreeDrawing

    taken = made.tried[made.chosen]
    known = [one for one in made.tried if one.mae.value is not None]
    errors = Errors(
        examples.response, [short(one.candidate.name) for one in known],
        [(one.mae.value, one.mae.low, one.mae.high) for one in known],  # type: ignore[misc]
        made.noise.mae if made.noise else None, made.baseline.mae.value,
    )  # fmt: skip
    items: list[Any] = [*_observed(examples, taken), errors]
    if "nodes" in made.model.form:
        items.append(TreeDrawing(examples.response, list(made.model.form["nodes"])))
    _write(path, items)


def draw_validation(path: str, examples: Examples, judged: Sequence[Judged], points: Sequence[CurvePoint]) -> None:
    """Predicted against observed of the best, and the learning curve where there is one."""
    from iosonde.report.fit_figures import LearningCurve

    known = [one for one in judged if one.mae.value is not None]
    if not known:
        raise InputError("no model could be fitted: there is nothing to draw", "use fewer factors, or measure more")
    best = min(known, key=lambda one: one.mae.value or 0.0)
    items: list[Any] = list(_observed(examples, best))
    if points:
        lines = {
            short(one.candidate.name): [(point.n_train, point.mae[index]) for point in points]
            for index, one in enumerate(judged)
        }
        items.append(LearningCurve(examples.response, lines))
    _write(path, items)


def _observed(examples: Examples, judged: Judged) -> list[Any]:
    from iosonde.report.fit_figures import Predicted, SortedRows

    name, observed = short(judged.candidate.name), examples.y[judged.rows]
    order = np.argsort(observed, kind="stable")
    return [Predicted(examples.response, name, observed, judged.predicted),
            SortedRows(examples.response, name, observed[order], judged.predicted[order])]  # fmt: skip


def _write(path: str, items: Sequence[Any]) -> None:
    from iosonde.report import figures
    from iosonde.report.fit_figures import fit_figure

    form = Path(path).suffix.lower().lstrip(".")
    if form not in figures.FORMATS:
        raise InputError(f"{path} is no figure's name", "end it in .png, .svg or .pdf")
    replace_file(Path(path), figures.image(fit_figure(items), form))
    talk(f"wrote {path}")
