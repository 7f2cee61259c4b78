"""The answer of ``iosonde fit`` as text: the candidates, the chosen model and why, findings against it."""

from collections.abc import Iterator, Sequence

from iosonde.core.message import spell
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale
from iosonde.core.words import format_number, format_share_interval
from iosonde.layout.text import WIDTH, format_estimate, format_estimate_parts, paragraphs, table, warning_lines, wrapped
from iosonde.model.fit.errors_of import RepeatNoise
from iosonde.model.fit.folds import Groups
from iosonde.model.fit.validate import Judged

from .answer import Fitted

_SMALL, _LARGE = 1e-3, 1e7
_AGAINST = ("S301", "S302", "S303", "S304")  # violated assumptions of least squares
_MOST_RULES = 30


def choose_error_scale(judged: Sequence[Judged], unit: str) -> tuple[float, str]:
    """Return (divisor, unit) for all errors of a text: that of the first model, which is the mean model in a fit."""
    return choose_human_scale(next((abs(model.mae.value) for model in judged if model.mae.value), 1.0), unit)


def format_errors_table(judged: Sequence[Judged], scale: tuple[float, str], chosen: int | None = None) -> Iterator[str]:
    """Yield a line per model; ``*`` marks the chosen one."""
    divisor, unit = scale
    several = any(len(model.folds) > 1 for model in judged)
    rows = []
    for place, model in enumerate(judged):
        name = ("* " if place == chosen else "") + model.candidate.short
        if model.errors is None:
            rows.append([name, "~"] + [""] * (5 if several else 4))
            continue
        value, interval = _format_error(model.mae, divisor)
        ends = model.extremes("mae")
        folds = (
            [f"{format_number(ends[0] / divisor)}–{format_number(ends[1] / divisor)}" if ends else "~"]
            if several
            else []
        )
        rows.append(
            [
                name,
                value,
                interval,
                *folds,
                _format_percent(model.errors.relative),
                format_number(model.errors.class_error),
                "~" if model.errors.r2 is None else f"{model.errors.r2:.3f}",
            ]
        )
    headers = [
        "model",
        f"error, {unit}" if unit else "error",
        "interval",
        *(["of folds"] if several else []),
        "relative",
        "classes",
        "R²",
    ]
    yield from table(headers, rows, "l" + "r" * (len(headers) - 1), WIDTH).splitlines()


def format_heading(what: str, unit: str) -> str:
    """Format ``error, MiB/s``."""
    return f"{what}, {unit}" if unit else what


def _format_error(mae: Estimate, divisor: float) -> tuple[str, str]:
    """Return (value, interval), with exponents if decimals would fill the line."""
    if mae.value and mae.low is not None and mae.high is not None and not _SMALL <= mae.value / divisor < _LARGE:
        return format_number(
            mae.value / divisor
        ), f"{format_number(mae.low / divisor)}–{format_number(mae.high / divisor)}"
    return format_estimate_parts(mae, divisor)


def _format_percent(share: float | None) -> str:
    return "~" if share is None else f"{format_number(100 * share)} %"


def format_class_errors(judged: Judged | None) -> Iterator[str]:
    """Yield the share of rows whose speed class a model predicts, and the mean distance of the others' classes."""
    if judged is None or judged.classes is None:
        return
    own = judged.classes.own
    which = f"the {own} classes of your own" if own else "classes that grow by 10 % (column 'classes')"
    right = format_share_interval(judged.classes.right)
    yield from wrapped(
        f"In {which}, {judged.candidate.short} predicts the right one for {right} of the rows, and errs by "
        f"{format_estimate(judged.classes.apart, '')} classes on average.",
        "  ",
    )


def format_remarks(judged: Sequence[Judged], noise: RepeatNoise | None, scale: tuple[float, str]) -> Iterator[str]:
    """Yield models that could not be fitted, the meaning of R² below 0, and the noise floor."""
    yield from paragraphs(
        (f"~ {model.candidate.short} is left out: {model.refused}" for model in judged if model.refused), "  "
    )
    if any(model.errors and (model.errors.r2 or 0) < 0 for model in judged if model.candidate.family != "mean"):
        yield from wrapped("~ R² below 0: worse than the mean of the predicted rows", "  ")
    yield from wrapped(describe_noise_floor(noise, scale), "  ")


def describe_noise_floor(noise: RepeatNoise | None, scale: tuple[float, str]) -> str:
    """Describe the noise floor."""
    divisor, unit = scale
    if noise is None:
        return "~ no setting was repeated: the noise floor is unknown; repeat some settings"
    return (
        f"noise of repetitions, the floor: {format_number(noise.mae / divisor)}{f' {unit}' if unit else ''} "
        f"(sd {format_number(noise.sd / divisor)}, "
        f"{_format_percent(noise.share)} of the variance; {noise.n} rows)"
    )


def describe_data(response: str, names: Sequence[str], n: int, settings: int) -> str:
    """Describe the learned data."""
    rows = f"{n} rows" if n == settings else f"{n} rows of {settings} settings"
    return f"{response} on {', '.join(names)}; {rows}"


def describe_shared_folds(groups: Groups, together: str) -> str:
    """Describe which rows share a fold; empty if every row is a group."""
    if together == "rows":
        return "~ repetitions and duplicates are spread over the folds: if there are any, the errors are too small"
    if groups.crossed is not None:
        return (
            f"{groups.n_bring_ups} bring-ups: predicted rows share neither setting nor bring-up with those learned from"
        )
    if groups.n_bring_ups:
        return f"{groups.n_bring_ups} bring-ups: settings that share one are in the same fold, {groups.n} groups"
    if groups.twins:
        return f"{groups.twins} rows duplicate another setting's: they are in the same fold (iosonde check)"
    return ""


def lines(answer: Fitted, rules: bool = False) -> Iterator[str]:
    """Yield the lines of the text; with ``rules``, also a tree as rules."""
    choice, model = answer.choice, answer.choice.model
    names = [feature.name for feature in answer.examples.features]
    yield from wrapped(describe_data(answer.examples.response, names, model.rows, model.settings))
    n_folds = len(choice.tried[choice.chosen].folds)
    how = f"{n_folds} folds of whole settings" if n_folds > 1 else "learned from 75 % of the rows, at random"
    yield from wrapped(f"error: mean |predicted - observed| on unseen rows ({how}); {100 * answer.level:g} % intervals")
    if describe_shared_folds(choice.groups, answer.together):
        yield from wrapped(describe_shared_folds(choice.groups, answer.together))
    if choice.n_choice < model.rows:
        yield from wrapped(f"chosen on {choice.n_choice} rows at random; the error of * is that of all rows")
    yield ""
    listed = list(choice.tried)
    if all(listed_model.candidate.family != "mean" for listed_model in listed):
        listed.insert(0, choice.baseline)
    scale = choose_error_scale(listed, answer.examples.unit)
    yield from format_errors_table(
        listed, scale, listed.index(choice.tried[choice.chosen]) if len(choice.tried) > 1 else None
    )
    yield from format_class_errors(choice.tried[choice.chosen])
    yield ""
    if model.constraints:
        constraints = ", ".join(f"'{text}'" for text in model.constraints)
        yield from wrapped(f"every setting satisfies {constraints}; predict refuses others", "  ")
    yield from warning_lines(model.warnings)
    yield from format_remarks(listed, choice.noise, scale)
    yield from _format_linear(answer)
    if rules:
        yield ""
        yield from _format_rules(answer)
    yield ""
    yield from wrapped(answer.sentence)


def _format_linear(answer: Fitted) -> Iterator[str]:
    yield from paragraphs(
        (
            f"~ {name} predicts below 0 in {format_number(100 * share)} % of the designs that these levels allow: "
            "predict refuses there; loglinear models and trees do not"
            for name, share in answer.below.items()
        ),
        "  ",
    )
    if answer.linear is None:
        return
    against = [finding for finding in answer.linear.findings if finding.code in _AGAINST]
    if answer.choice.model.family == "linear":
        f = answer.linear.fit
        yield from wrapped(
            f"R² of the fitted rows: {f.r2:.3f} (adjusted {f.adjusted_r2:.3f}); of unseen rows: "
            f"{_describe_unseen(answer)}",
            "  ",
        )
        yield from paragraphs((f"{finding.code} {finding.sentence}" for finding in answer.linear.findings), "     ")
    if against:
        codes = ", ".join(finding.code for finding in against)
        yield from wrapped(
            f"~ the assumptions of a linear model do not hold ({codes}): iosonde rank finds the factors "
            "that matter without them",
            "  ",
        )


def _describe_unseen(answer: Fitted) -> str:
    errors = answer.choice.tried[answer.choice.chosen].errors
    return "~" if errors is None or errors.r2 is None else f"{errors.r2:.3f}"


def _format_rules(answer: Fitted) -> Iterator[str]:
    rules = answer.rules
    if rules is None:
        yield f"a {answer.choice.model.family} model has no rules: use {spell.family:tree} or classes"
        return
    for rule in rules[:_MOST_RULES]:
        name = f"{rule.leaf['name']}, " if "name" in rule.leaf else ""
        yield from wrapped(f"{rule}: {name}{format_number(rule.leaf['value'], 4)} ({rule.leaf['n']} rows)", "    ")
    if len(rules) > _MOST_RULES:
        family = f"{spell.family:'tree depth=4'}"
        yield from wrapped(f"… {len(rules) - _MOST_RULES} more; {family} gives fewer")
