"""The answer of ``iosonde fit`` as text: the candidates, the chosen model and why, findings against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.words import format_number
from iosonde.layout.text import wrapped

from .text_models import classes_lines, data_line, errors_table, remarks, scale_of, twins_line

if TYPE_CHECKING:
    from .answer import Fitted

_AGAINST = ("S301", "S302", "S303", "S304")  # violated assumptions of least squares
_MOST_RULES = 30


def lines(answer: Fitted, rules: bool = False) -> Iterator[str]:
    """Yield the lines of the text; with ``rules``, also a tree as rules."""
    choice, model = answer.choice, answer.choice.model
    names = [feature.name for feature in answer.examples.features]
    yield from wrapped(data_line(answer.examples.response, names, model.rows, model.settings))
    n_folds = len(choice.tried[choice.chosen].folds)
    how = f"{n_folds} folds of whole settings" if n_folds > 1 else "learned from 75 % of the rows, at random"
    yield from wrapped(f"error: mean |predicted - observed| on unseen rows ({how}); {100 * answer.level:g} % intervals")
    if twins_line(choice.groups, answer.together):
        yield from wrapped(twins_line(choice.groups, answer.together))
    if choice.n_choice < model.rows:
        yield from wrapped(f"chosen on {choice.n_choice} rows at random; the error of * is that of all rows")
    yield ""
    listed = list(choice.tried)
    if all(listed_model.candidate.family != "mean" for listed_model in listed):
        listed.insert(0, choice.baseline)
    scale = scale_of(listed, answer.examples.unit)
    yield from errors_table(listed, scale, listed.index(choice.tried[choice.chosen]) if len(choice.tried) > 1 else None)
    yield from classes_lines([choice.tried[choice.chosen]])
    yield ""
    if model.constraints:
        constraints = ", ".join(f"'{text}'" for text in model.constraints)
        yield from wrapped(f"every setting satisfies {constraints}; predict refuses others", "  ")
    for warning in model.warnings:
        yield from wrapped(f"~ {warning}", "  ")
    yield from remarks(listed, choice.noise, scale)
    yield from _format_linear(answer)
    if rules:
        yield ""
        yield from _format_rules(answer)
    yield ""
    yield from wrapped(answer.sentence)


def _format_linear(answer: Fitted) -> Iterator[str]:
    for name, share in answer.below.items():
        yield from wrapped(
            f"~ {name} predicts below 0 in {format_number(100 * share)} % of the designs that these levels allow: "
            "predict refuses there; loglinear models and trees do not",
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
        for finding in answer.linear.findings:
            yield from wrapped(f"{finding.code} {finding.sentence}", "     ")
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
        yield f"a {answer.choice.model.family} model has no rules: use --family tree or classes"
        return
    for rule in rules[:_MOST_RULES]:
        name = f"{rule.leaf['name']}, " if "name" in rule.leaf else ""
        yield from wrapped(f"{rule}: {name}{format_number(rule.leaf['value'], 4)} ({rule.leaf['n']} rows)", "    ")
    if len(rules) > _MOST_RULES:
        yield from wrapped(f"… {len(rules) - _MOST_RULES} more; --family 'tree depth=4' gives fewer")
