"""Result of trying several models, in one sentence: the chosen one, the reason, and its error."""

from iosonde.core.verdict import UncheckedClaim, VerdictState
from iosonde.core.words import format_number
from iosonde.model.fit.choose import Choice
from iosonde.model.fit.validate import Judged

FEWEST = 5  # settings: too few others to hold one out
_PLAIN = (1.0, "")


def describe_choice(choice: Choice, scale: tuple[float, str] = _PLAIN) -> str:
    """Return the sentence; errors are divided by the first of ``scale`` and have the second as their unit."""
    judged = choice.tried[choice.chosen]
    if choice.groups.n < FEWEST:
        return (
            f"It is inconclusive which model is best: each is judged on unseen settings, and there are "
            f"{choice.groups.n}. Measure {FEWEST} settings or more."
        )
    if judged.candidate.family == "mean" and len(choice.tried) > 1:
        return _describe_mean_choice(choice, scale)
    if len(choice.tried) == 1:
        return f"{judged.candidate.short}: {_describe_error(choice, judged, scale)}.{_describe_between(choice, scale)}"
    reason, error = _explain_choice(choice, judged), _describe_error(choice, judged, scale)
    text = f"{judged.candidate.short} is taken, {reason}: {error}.{_describe_between(choice, scale)}"
    if choice.nested is not None:
        e = choice.nested
        rows = f", {choice.n_choice} rows" if choice.n_choice < choice.model.rows else ""
        low, high = (_format_in_unit(end, (scale[0], "")) for end in (e.low, e.high))
        spread = f"{low}–{high}: spread over nested folds{rows}, no confidence interval"
        text += f" Choosing like this errs by {_format_in_unit(e.value, scale)} ({spread})."
    return text


def build_model_claim(choice: Choice, response: str, factors: tuple[str, ...]) -> UncheckedClaim:
    """Return the claim: DIFFERENT if the chosen model beats the overall mean by more than chance."""
    judged, gain = choice.tried[choice.chosen], choice.gain
    if choice.groups.n < FEWEST or gain is None or gain.low is None:
        state = VerdictState.NOT_TESTED
    else:
        state = VerdictState.DIFFERENT if _is_better_than_mean(choice) else VerdictState.INCONCLUSIVE
    return UncheckedClaim("model", response, factors, state, None, judged.candidate.short, gain)


def _is_better_than_mean(choice: Choice) -> bool:
    """Return whether the model's error is below that of the overall mean by more than chance."""
    gain = choice.gain
    is_mean = choice.tried[choice.chosen].candidate.family == "mean"
    return not is_mean and gain is not None and gain.low is not None and gain.low > 0


def _describe_mean_choice(choice: Choice, scale: tuple[float, str]) -> str:
    best = _find_best(choice)
    text = "The mean of everything is taken: no model is better"
    if best.candidate.family != "mean":
        error, mean_error = (_format_in_unit(judged.mae.value, scale) for judged in (best, choice.baseline))
        text += f" by more than one standard error ({best.candidate.short} errs by {error}, the mean by {mean_error})"
    return f"{text}. A new setting cannot be predicted from these {choice.groups.n}."


def _describe_error(choice: Choice, judged: Judged, scale: tuple[float, str]) -> str:
    baseline = choice.baseline.mae.value
    text = (
        f"it errs by {_format_in_unit(judged.mae.value, scale)} on rows not seen, the mean of everything by "
        f"{_format_in_unit(baseline, scale)}"
    )
    if judged.mae.value and baseline and judged.mae.value >= baseline and judged.candidate.family != "mean":
        text += ": it is not better than that mean"
    elif judged.candidate.family != "mean" and choice.gain is not None and not _is_better_than_mean(choice):
        text += ", which may be by chance"
    return text


def _describe_between(choice: Choice, scale: tuple[float, str]) -> str:
    """Describe the error at levels that the model has not seen; '' without numbers of three repeated levels."""
    if choice.between_levels is None:
        return ""
    error = _format_in_unit(choice.between_levels.value, scale)
    return f" Each level of these rows was seen in others; at levels between, left out whole, it errs by {error}."


def _explain_choice(choice: Choice, judged: Judged) -> str:
    best = _find_best(choice)
    why = (
        "the smallest error"
        if best.candidate == judged.candidate
        else (f"the simplest within one standard error of {best.candidate.short}")
    )
    if choice.passed_over:
        over = " and ".join(choice.tried[place].candidate.short for place in choice.passed_over)
        why += f" that predicts nothing below 0 ({over} {'does' if len(choice.passed_over) == 1 else 'do'})"
    return why


def _find_best(choice: Choice) -> Judged:
    return min(
        (model for model in choice.tried if model.mae.value is not None), key=lambda model: model.mae.value or 0.0
    )


def _format_in_unit(value: float | None, scale: tuple[float, str]) -> str:
    return format_number(value) if value is None else f"{format_number(value / scale[0])} {scale[1]}".rstrip()
