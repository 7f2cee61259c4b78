"""``iosonde validate``: an honest error, on rows that a model has not seen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError

from .._data import check_level, options
from .._models import candidates, check_terms, data_options, full_name, open_examples, read_model

if TYPE_CHECKING:
    from iosonde.model.fit.features import Examples
    from iosonde.model.fit.folds import Fold, Groups


@click.command(epilog="Example: iosonde validate runs.csv --response speed --on size,fs --curve")
@click.argument("data")
@data_options
@click.option("--family", multiple=True, metavar="NAME…", help="auto, linear,tree or 'tree depth=4'. Repeatable.")
@click.option("--inverse", is_flag=True, help="Learn from one fold, be judged by the others.")
@click.option("--split", "share", type=float, metavar="SHARE", help="One split: learn from this share, as 0.75.")
@click.option("--leave-out", metavar="X", help="A fold for every level of this factor.")
@click.option("--curve", is_flag=True, help="The error by the number of rows to learn from.")
@click.option("--model", "model_file", metavar="FILE", help="Judge this model by DATA, which it must not have seen.")
@click.option("--plot", metavar="FILE", help="Predicted against observed, and the curve: .png, .svg or .pdf.")
@options
def command(
    data: str, response: str | None, on: str | None, terms: str | None, n_folds: int | None, together: str, seed: int,
    family: tuple[str, ...], inverse: bool, share: float | None, leave_out: str | None, curve: bool,
    model_file: str | None, plot: str | None, where: tuple[str, ...], level: float, as_json: bool,
) -> None:  # fmt: skip
    """How wrong models are on rows that they have not seen.

    All models are judged on the same folds, beside the mean of everything and the noise of repeats. Repeats of a
    setting, and rows that are copies of another, are in one fold.
    """
    check_level(level)
    if model_file:
        from .._validate_model import judge_model

        judge_model(read_model(model_file), data, where, level, as_json)
        return
    if sum((inverse, share is not None, leave_out is not None)) > 1:
        raise InputError("--inverse, --split and --leave-out are three ways to fold", "take one")
    from iosonde.model.fit import validate as validation
    from iosonde.model.fit.errors_of import noise_of

    _, examples = open_examples(data, response, on, where)
    chosen = candidates(family, int(examples.cells.max()) + 1, terms)
    check_terms(examples, chosen)
    groups = validation.groups_for(examples, together, n_folds or 2)
    folds, told = _folds(examples, groups, n_folds, seed, inverse, share, leave_out)
    judged = [validation.judge(examples, one, folds, groups.of, level, seed) for one in chosen]
    noise = noise_of(examples)
    points = validation.learning_curve(examples, chosen, groups, seed) if curve else []
    if plot:
        from .._models_plot import draw_validation

        draw_validation(plot, examples, judged, points)
    from .._validate_text import lines, to_json

    if as_json:
        content: dict[str, Any] = to_json(examples, judged, groups, noise, points, told, seed)
        click.echo(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
        return
    for line in lines(examples, judged, groups, noise, points, told, together, level):
        click.echo(line)


def _folds(
    examples: Examples, groups: Groups, n_folds: int | None, seed: int, inverse: bool, share: float | None,
    leave_out: str | None,
) -> tuple[list[Fold], str]:  # fmt: skip
    """The folds, and what they are in words."""
    from iosonde.model.fit import choose, folds

    if share is not None:
        return [folds.split(groups.of, share, seed)], f"learned from {100 * share:g} % of the rows, at random"
    if leave_out is not None:
        made = folds.leave_out(examples, full_name(examples.features, leave_out))
        return made, f"{len(made)} folds: each level of {leave_out} predicted without having seen it"
    made = choose.standard_folds(groups, n_folds, seed)
    if len(made) == 1:
        return made, "learned from 75 % of the rows, at random"
    if inverse:
        return folds.inverse(made), f"learned from one of {len(made)} folds, judged by the others"
    return made, f"{len(made)} folds, each predicted by a model of the others"
