"""Out-of-sample error: models judged on unseen rows, all on the same folds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.answers.learned import Learning, select_examples
from iosonde.answers.model_file import complete_factor_name
from iosonde.commands.fit.answer import UnseenRows
from iosonde.core.errors import InputError
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.units import choose_human_scale
from iosonde.core.words import format_number
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.model.fit import choose, folds
from iosonde.model.fit.errors_of import RepeatNoise, estimate_repeat_noise
from iosonde.model.fit.features import Examples
from iosonde.model.fit.validate import (
    CurvePoint,
    Judged,
    compute_learning_curve,
    find_rows_where_always_better,
    group_rows_for_folds,
    interpolate_curve_crossing,
    use_custom_classes_of_candidates,
    validate_candidate,
)

_GAIN = 0.05  # fall of the error between the last two points of a curve: more measurements pay


@dataclass(frozen=True)
class Validation(Answer):
    """Models ``judged`` on the same folds, which ``how`` describes; ``curve``: the error by the number of rows to learn
    from."""

    examples: Examples
    judged: tuple[Judged, ...]
    groups: folds.Groups
    noise: RepeatNoise | None
    curve: tuple[CurvePoint, ...]
    how: str
    learning: Learning
    level: float

    def content(self) -> dict[str, Any]:
        """As ``iosonde validate --json``: the best model's keys on top, all models in ``models``."""
        best = self.best or self.judged[0]
        names = [model.candidate.name for model in self.judged]
        return {
            "response": self.examples.response,
            "unit": self.examples.unit,
            "n": len(self.examples),
            "n_settings": int(self.examples.cells.max()) + 1,
            "rows_with_twin": self.groups.twins,
            "seed": self.learning.seed,
            "how": self.how,
            **best.to_json(),
            "noise": self.noise.to_json() if self.noise else None,
            "models": [model.to_json() for model in self.judged],
            "curve": [point.to_json(names) for point in self.curve],
            "crossings": self.crossings,
            "warnings": list(self.examples.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per model."""
        return [model.flat() for model in self.judged]

    @property
    def best(self) -> Judged | None:
        """Return the model with the smallest error; None if none could be fitted."""
        fitted = (model for model in self.judged if model.mae.value is not None)
        return min(fitted, key=lambda model: model.mae.value or 0.0, default=None)

    @property
    def unseen(self) -> UnseenRows | None:
        """Return the rows that the best was judged by; None if none could be fitted."""
        return None if self.best is None else UnseenRows(self.examples, self.best)

    @property
    def crossings(self) -> list[str]:
        """Describe from how many rows on each other model is better than the linear one, and whether more rows would
        help."""
        return _describe_crossings(self.judged, self.curve) if self.curve else []

    @property
    def sentence(self) -> str:
        """Compare the best model with the overall mean."""
        best = self.best
        if best is None:
            return "No model could be fitted."
        means = (model for model in self.judged if model.candidate.family == "mean" and model.mae.value is not None)
        mean = next(means, None)
        divisor, unit = choose_human_scale(abs((mean or best).mae.value or 1.0), self.examples.unit)
        text = f"{best.candidate.short} errs least: by {_format_error(best, divisor, unit)} on average"
        if mean is None or mean is best:
            return f"{text}; no model is better than the mean of everything." if mean is best else f"{text}."
        return f"{text}, the mean of everything by {_format_error(mean, divisor, unit)}."


def _format_error(model: Judged, divisor: float, unit: str) -> str:
    return f"{format_number((model.mae.value or 0.0) / divisor)} {unit}".rstrip()


def validate(
    source: Source,
    query: ResponseQuery,
    how: Learning | None = None,
    inverse: bool = False,
    share: float | None = None,
    leave_out: str | None = None,
    curve: bool = False,
) -> Validation:
    """Judge every model on the same folds, with a learning ``curve`` if requested. The usual folds, or: learn from one
    fold and judge by the others (``inverse``); one split that learns from a ``share`` of the rows; a fold per level of
    the factor ``leave_out``. Raises InputError, DataError."""
    how = how or Learning()
    if sum((inverse, share is not None, leave_out is not None)) > 1:
        raise InputError(
            "conflicting-options",
            "{spell.inverse}, {spell.split} and {spell.leave_out} are three ways to fold",
            "take one",
        )
    training = select_examples(source, query)
    groups = group_rows_for_folds(training.examples, how.together, how.n_folds or 2)
    examples = training.add_single_trial_warning(groups)
    chosen = how.candidates(examples)
    fold_list, description = _build_folds(examples, groups, how, inverse, share, leave_out)
    examples = use_custom_classes_of_candidates(examples, chosen)
    judged = tuple(
        validate_candidate(examples, candidate, fold_list, groups, query.level, how.seed) for candidate in chosen
    )
    points = tuple(compute_learning_curve(examples, chosen, groups, how.seed)) if curve else ()
    return Validation(examples, judged, groups, estimate_repeat_noise(examples), points, description, how, query.level)


def _build_folds(
    examples: Examples, groups: folds.Groups, how: Learning, inverse: bool, share: float | None, leave_out: str | None
) -> tuple[list[folds.Fold], str]:
    if share is not None:
        learned = Message("random-split", "learned from {percent:g} % of the rows, at random", percent=100 * share)
        return [folds.split_once(groups, share, how.seed)], learned
    if leave_out is not None:
        fold_list = folds.leave_out(examples, complete_factor_name(examples.features, leave_out))
        return fold_list, Message(
            "leave-level-out",
            "{n_folds} folds: each level of {factor} predicted without having seen it",
            n_folds=len(fold_list),
            factor=leave_out,
        )
    fold_list = choose.build_standard_folds(groups, how.n_folds, how.seed)
    if len(fold_list) == 1:
        return fold_list, Message("random-split", "learned from 75 % of the rows, at random", percent=75)
    if inverse:
        return folds.swap_training_and_test(fold_list), Message(
            "inverse-folds", "learned from one of {n_folds} folds, judged by the others", n_folds=len(fold_list)
        )
    if how.n_folds and len(fold_list) != how.n_folds:  # test rows that share neither setting nor bring-up
        return fold_list, Message(
            "crossed-folds",
            "{n_folds} folds, not {n_asked}: blocks of settings × bring-ups, each predicted by a model of those that "
            "share neither",
            n_folds=len(fold_list),
            n_asked=how.n_folds,
        )
    return fold_list, Message(
        "cross-validation", "{n_folds} folds, each predicted by a model of the others", n_folds=len(fold_list)
    )


def _describe_crossings(judged: Sequence[Judged], points: Sequence[CurvePoint]) -> list[str]:
    families = [entry.candidate.family for entry in judged]
    from_rows: list[tuple[int, str]] = []
    if "linear" in families:
        linear = families.index("linear")
        for place, family in enumerate(families):
            better = find_rows_where_always_better(points, place, linear)
            if family != "mean" and place != linear and better is not None:
                cross = interpolate_curve_crossing(points, place, linear)
                about = "" if cross is None else f" (the errors cross at about {cross:.0f})"
                from_rows.append((better, f"{judged[place].candidate.short}{about}"))
    by_rows = sorted(group_by_key(from_rows).items())
    sentences = [f"better than linear from {rows} rows on: {', '.join(names)}" for rows, names in by_rows]
    pairs = zip(points[-2].mae, points[-1].mae, strict=True) if len(points) > 1 else ()
    gains = [
        (1 - last / before, entry.candidate.short)
        for entry, (before, last) in zip(judged, pairs, strict=False)
        if entry.candidate.family != "mean" and before and last is not None and 1 - last / before > _GAIN
    ]
    if gains:
        names = ", ".join(f"{name} {100 * gain:.0f} %" for gain, name in sorted(gains, reverse=True))
        sentences.append(f"more measurements would help: the last rows still reduced the error of {names}")
    return sentences
