"""What ``iosonde validate`` says, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from iosonde.report.text import table

from ._models_text import data_line, errors_table, number, remarks, short, twins_line, wrapped

if TYPE_CHECKING:
    from iosonde.model.fit.errors_of import Noise
    from iosonde.model.fit.features import Examples
    from iosonde.model.fit.folds import Groups
    from iosonde.model.fit.validate import CurvePoint, Judged


def lines(
    examples: Examples, judged: Sequence[Judged], groups: Groups, noise: Noise | None, points: Sequence[CurvePoint],
    folds: str, together: str, level: float,
) -> Iterator[str]:  # fmt: skip
    """The lines of the text."""
    names = [feature.name for feature in examples.features]
    settings = int(examples.cells.max()) + 1
    yield from wrapped(data_line(examples.response, names, len(examples), settings))
    yield from wrapped(f"{folds}; error: mean |predicted - observed|; {100 * level:g} % intervals")
    if twins_line(groups, together):
        yield from wrapped(twins_line(groups, together))
    yield ""
    yield from errors_table(judged)
    yield ""
    for warning in examples.warnings:
        yield from wrapped(f"~ {warning}", "  ")
    yield from remarks(judged, noise)
    if len(judged) == 1 and len(judged[0].folds) > 1 and judged[0].folds[0].name:
        yield ""
        rows = [[fold.name, fold.n_test, number(fold.errors.mae), _relative(fold.errors.relative)]
                for fold in judged[0].folds]  # fmt: skip
        yield from table(["left out", "rows", "error", "relative"], rows, "lrrr").splitlines()
    if points:
        yield ""
        yield from _curve(judged, points)
    yield ""
    yield from wrapped(closing(judged))


def _relative(share: float | None) -> str:
    return "~" if share is None else f"{number(100 * share)} %"


def _curve(judged: Sequence[Judged], points: Sequence[CurvePoint]) -> Iterator[str]:
    yield "error by the number of rows to learn from"
    names = [short(one.candidate.name) for one in judged]
    rows = [[point.n_train, *[number(value) for value in point.mae]] for point in points]
    yield from table(["rows", *names], rows, "r" * (len(names) + 1)).splitlines()
    for sentence in crossings(judged, points):
        yield from wrapped(sentence, "  ")


def crossings(judged: Sequence[Judged], points: Sequence[CurvePoint]) -> list[str]:
    """From how many rows on each other model is better than the linear one, and whether more rows would help."""
    from iosonde.model.fit.validate import crossing

    families = [one.candidate.family for one in judged]
    told = []
    if "linear" in families:
        linear = families.index("linear")
        for index, one in enumerate(judged):
            better = crossing(points, index, linear)
            if index != linear and one.candidate.family != "mean" and better is not None:
                told.append(f"{short(one.candidate.name)} is better than linear from {better} rows on")
    for index, one in enumerate(judged):
        last = [point.mae[index] for point in points[-2:]]
        if len(last) == 2 and None not in last and one.candidate.family != "mean":
            gain = 1 - last[1] / last[0] if last[0] else 0.0  # type: ignore[operator]
            if gain > 0.05:
                told.append(f"{short(one.candidate.name)} still gains {100 * gain:.0f} % at the end: "
                            "more measurements would help it")  # fmt: skip
    return told


def closing(judged: Sequence[Judged]) -> str:
    """The best, held against the mean of everything."""
    known = [one for one in judged if one.mae.value is not None]
    if not known:
        return "No model could be fitted."
    best = min(known, key=lambda one: one.mae.value or 0.0)
    mean = next((one for one in known if one.candidate.family == "mean"), None)
    text = f"{short(best.candidate.name)} errs least: by {number(best.mae.value)} on average"
    if mean is None or mean is best:
        return f"{text}; no model is better than the mean of everything." if mean is best else f"{text}."
    return f"{text}, the mean of everything by {number(mean.mae.value)}."


def to_json(
    examples: Examples, judged: Sequence[Judged], groups: Groups, noise: Noise | None, points: Sequence[CurvePoint],
    folds: str, seed: int,
) -> dict[str, Any]:  # fmt: skip
    """The best model's keys on top, all models in ``models``."""
    known = [one for one in judged if one.mae.value is not None] or list(judged[:1])
    best = min(known, key=lambda one: one.mae.value or 0.0)
    names = [one.candidate.name for one in judged]
    return {
        "schema": 1, "response": examples.response, "unit": examples.unit, "n": len(examples),
        "n_settings": int(examples.cells.max()) + 1, "rows_with_twin": groups.twins, "seed": seed, "how": folds,
        **best.to_json(), "noise": noise.to_json() if noise else None,
        "models": [one.to_json() for one in judged], "curve": [point.to_json(names) for point in points],
        "crossings": crossings(judged, points) if points else [], "warnings": list(examples.warnings),
    }  # fmt: skip
