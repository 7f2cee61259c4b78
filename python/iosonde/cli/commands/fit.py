"""``iosonde fit``: a model of a table, chosen by cross-validation, kept in a file that a person can read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.answers.answer import finite

from .._constraints import Broken, check_of, of_experiments, typed
from .._data import check_level, options
from .._models import candidates, check_terms, data_options, open_examples
from .._progress import Share
from ..output import replace_file, talk

if TYPE_CHECKING:
    from iosonde.core.table import Table
    from iosonde.model.fit.choose import Choice
    from iosonde.model.fit.features import Examples
    from iosonde.stats.regression.regress import Regression


@click.command(epilog="Example: iosonde fit runs.csv --response speed --on size,fs -o model.json")
@click.argument("data")
@data_options
@click.option("--family", multiple=True, metavar="NAME…", help="auto, linear,tree or 'tree depth=4'. Repeatable.")
@click.option("--constraint", "constrained", multiple=True, metavar="EXPR",
              help="What every setting fulfils, as 'stripes <= servers'. Repeatable.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", help="Keep the model here, as JSON.")
@click.option("--rules", is_flag=True, help="Print a tree as rules.")
@click.option("--plot", metavar="FILE", help="Predicted against observed, errors, the tree: .png, .svg or .pdf.")
@options
def command(
    data: str, response: str | None, on: str | None, terms: str | None, n_folds: int | None, together: str, seed: int,
    family: tuple[str, ...], constrained: tuple[str, ...], output: str | None, rules: bool, plot: str | None,
    where: tuple[str, ...], level: float, as_json: bool,
) -> None:  # fmt: skip
    """Fit a model that predicts a response from factors.

    Every family is judged on rows that it has not seen; of those as good as the best the simplest is taken. Beside
    them stand the mean of everything and the noise of repeats.
    """
    check_level(level)
    from iosonde.model.fit import choose
    from iosonde.model.fit.folds import groups

    source, examples = open_examples(data, response, on, where)
    found = candidates(family, int(examples.cells.max()) + 1, terms)
    check_terms(examples, found)
    typed(constrained, examples)
    designed, left = of_experiments(source, examples)
    kept = tuple(dict.fromkeys((*constrained, *designed)))
    progress = Share("fit")
    try:
        made = choose.choose(examples, found, groups(examples, together), n_folds, level, seed, progress)
    finally:
        progress.clear()
    linear = _linear(source.trials(response, [f.name for f in examples.features]), examples, made, level)
    warnings = (*made.model.warnings, *left)
    made = replace(made, model=replace(made.model, constraints=kept, warnings=warnings))
    below = _below_zero(examples, made, check_of(kept, examples.features) if kept else None)
    if output:
        from iosonde.model.fit.document import to_text

        replace_file(Path(output), to_text(made.model).encode())
        talk(f"wrote {output}")
    if plot:
        from .._models_plot import draw_fit

        draw_fit(plot, examples, made)
    if as_json:
        content: dict[str, Any] = {"schema": 1, "response": examples.response, "unit": examples.unit, **made.to_json(),
                                   "constraints": list(kept), "negative_share": below,
                                   "linear_findings": [f.to_json() for f in linear.findings] if linear else None,
                                   "form": dict(made.model.form)}  # fmt: skip
        click.echo(json.dumps(finite(content), indent=1, ensure_ascii=False, allow_nan=False))
        return
    from .._fit_text import lines

    for line in lines(examples, made, linear, below, together, level, rules):
        click.echo(line)


def _linear(table: Table, examples: Examples, made: Choice, level: float) -> Regression | None:
    """The regression of the linear model that was tried, with what speaks against it; None where none was fitted."""
    from iosonde.core.errors import IosondeError
    from iosonde.model.families.linear import expand_terms
    from iosonde.stats.regression.regress import regress

    tried = next((one for one in made.tried if one.candidate.family == "linear" and not one.refused), None)
    if tried is None:
        return None
    terms = expand_terms(str(tried.candidate.options.get("terms", ""))) or [f.name for f in examples.features]
    try:
        return regress(table, examples.response, terms, level)
    except IosondeError:
        return None  # a combination of levels that no row has: the model leaves it out, the regression refuses it


def _below_zero(examples: Examples, made: Choice, broken: Broken | None) -> dict[str, float]:
    """Model → the share of valid designs in which it predicts below 0 what never was."""
    from iosonde.model.families import checked
    from iosonde.model.fit.fitted import negative_share, train

    valid = None if broken is None else lambda setting: broken(setting) is None
    shares = {made.model.family: negative_share(made.model, valid)}
    for one in made.tried:
        if one.candidate.family == "linear" and not one.refused and "linear" not in shares:
            options = checked("linear", one.candidate.options)
            shares["linear"] = negative_share(train(examples, "linear", options, made.model.seed), valid)
    return {name: share for name, share in shares.items() if share > 0}
