"""What ``iosonde fit`` says: what was tried, what was taken and why, what speaks against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._models_text import data_line, errors_table, number, remarks, short, twins_line, wrapped

if TYPE_CHECKING:
    from iosonde.model.fit.choose import Choice
    from iosonde.model.fit.features import Examples
    from iosonde.stats.regression.regress import Regression

_AGAINST = ("S301", "S302", "S303", "S304")  # what least squares assumes of the errors
_MOST_RULES = 30
_FEWEST = 5  # settings


def lines(
    examples: Examples, made: Choice, linear: Regression | None, below: dict[str, float], together: str, level: float,
    rules: bool,
) -> Iterator[str]:  # fmt: skip
    """The lines of the text."""
    names = [feature.name for feature in examples.features]
    yield from wrapped(data_line(examples.response, names, made.model.rows, made.model.settings))
    n_folds = len(made.tried[made.chosen].folds)
    how = f"{n_folds} folds of whole settings" if n_folds > 1 else "learned from 75 % of the rows, at random"
    yield from wrapped(f"error: mean |predicted - observed| on rows not seen ({how}); {100 * level:g} % intervals")
    if twins_line(made.groups, together):
        yield from wrapped(twins_line(made.groups, together))
    if made.n_choice < made.model.rows:
        yield from wrapped(f"chosen on {made.n_choice} rows at random; the error of * is that of all rows")
    yield ""
    shown = list(made.tried)
    if all(one.candidate.family != "mean" for one in shown):
        shown.insert(0, made.baseline)
    yield from errors_table(shown, shown.index(made.tried[made.chosen]) if len(made.tried) > 1 else None)
    yield ""
    if made.model.constraints:
        kept = ", ".join(f"'{text}'" for text in made.model.constraints)
        yield from wrapped(f"every setting fulfils {kept}: predict refuses what does not", "  ")
    for warning in made.model.warnings:
        yield from wrapped(f"~ {warning}", "  ")
    yield from remarks(shown, made.noise)
    yield from _linear(made, linear, below)
    if rules:
        yield ""
        yield from _rules(made)
    yield ""
    yield from wrapped(_sentence(made))


def _linear(made: Choice, linear: Regression | None, below: dict[str, float]) -> Iterator[str]:
    for name, share in below.items():
        yield from wrapped(
            f"~ {name} predicts below 0 in {number(100 * share)} % of the designs that these levels allow: "
            "predict refuses there; loglinear and trees stay above", "  "
        )  # fmt: skip
    if linear is None:
        return
    against = [finding for finding in linear.findings if finding.code in _AGAINST]
    if made.model.family == "linear":
        f = linear.fit
        yield from wrapped(f"R² of the rows that the line was fitted to: {f.r2:.3f} (adjusted {f.adjusted_r2:.3f}); of "
                           f"rows not seen: {_unseen(made)}", "  ")  # fmt: skip
        for finding in linear.findings:
            yield from wrapped(f"{finding.code} {finding.sentence}", "     ")
    if against:
        codes = ", ".join(finding.code for finding in against)
        yield from wrapped(f"~ a line's assumptions do not hold ({codes}): which factor matters is told without them "
                           "by iosonde rank", "  ")  # fmt: skip


def _unseen(made: Choice) -> str:
    errors = made.tried[made.chosen].errors
    return "~" if errors is None or errors.r2 is None else f"{errors.r2:.3f}"


def _rules(made: Choice) -> Iterator[str]:
    if "nodes" not in made.model.form:
        yield f"a {made.model.family} model has no rules: --family tree or classes has"
        return
    from iosonde.model.families.nodes import rules

    found = rules(made.model.form["nodes"], made.model.form["factors"])
    for rule in found[:_MOST_RULES]:
        name = f"{rule.leaf['name']}, " if "name" in rule.leaf else ""
        yield from wrapped(f"{rule}: {name}{number(rule.leaf['value'], 4)} ({rule.leaf['n']} rows)", "    ")
    if len(found) > _MOST_RULES:
        yield from wrapped(f"… {len(found) - _MOST_RULES} more; --family 'tree depth=4' has fewer")


def _nothing(made: Choice) -> str:
    best = min((one for one in made.tried if one.mae.value is not None), key=lambda one: one.mae.value or 0.0)
    text = "The mean of everything is taken: no model is better"
    if best.candidate.family != "mean":
        text += (f" by more than one standard error ({short(best.candidate.name)} errs by {number(best.mae.value)}, "
                 f"the mean by {number(made.baseline.mae.value)})")  # fmt: skip
    return f"{text}. What these factors tell of the response cannot be seen here."


def _sentence(made: Choice) -> str:
    judged, baseline = made.tried[made.chosen], made.baseline.mae.value
    name = short(judged.candidate.name)
    if made.groups.n < _FEWEST:
        return (f"Cannot tell which model is right: each is judged on settings that it has not seen, and there are "
                f"{made.groups.n}. Measure {_FEWEST} settings or more.")  # fmt: skip
    if judged.candidate.family == "mean" and len(made.tried) > 1:
        return _nothing(made)
    error = f"it errs by {number(judged.mae.value)} on rows not seen, the mean of everything by {number(baseline)}"
    if judged.mae.value and baseline and judged.mae.value >= baseline and judged.candidate.family != "mean":
        error += ": it is no better than that mean"
    if len(made.tried) == 1:
        return f"{name}: {error}."
    best = min((one for one in made.tried if one.mae.value is not None), key=lambda one: one.mae.value or 0.0)
    why = "the smallest error" if best.candidate == judged.candidate else (
        f"the simplest within one standard error of {short(best.candidate.name)}"
    )  # fmt: skip
    if made.passed_over:
        over = " and ".join(short(made.tried[place].candidate.name) for place in made.passed_over)
        why += f" that predicts nothing below 0 ({over} {'does' if len(made.passed_over) == 1 else 'do'})"
    text = f"{name} is taken, {why}: {error}."
    if made.nested is not None:
        e = made.nested
        text += f" Choosing like this errs by {number(e.value)} ({number(e.low)}–{number(e.high)}; nested folds"
        text += f", {made.n_choice} rows)." if made.n_choice < made.model.rows else ")."
    return text
