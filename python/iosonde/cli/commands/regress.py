"""``iosonde regress``: least squares on raw repeats, with everything that says whether to believe it."""

from __future__ import annotations

from functools import partial

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options, split_names
from iosonde.cli.options.types import FigureFile
from iosonde.cli.output import emit, tell, write_figure
from iosonde.core.errors import InputError
from iosonde.core.pairs import pairs_of

PLOTS = ("fit", "residuals", "order", "qq")


@click.command(epilog="Example: iosonde regress runs.csv --response real_s --on replicas --at replicas=9")
@data_options(
    "What to explain: a column; of a store an operation or a metric; log(Y), Y/nodes.",
    "Predictors: columns, log2(a), C(a) for its levels, a:b for an interaction. A store's factors without it.",
    required=False,
)
@click.option("--at", multiple=True, metavar="X=V,…", help="Predict there. Repeatable.")
@click.option("--new", "m", default=1, show_default=True, metavar="M", help="Predict the mean of M new observations.")
@click.option("--robust", is_flag=True, help="Standard errors that allow unequal variance (HC3).")
@click.option("--without", metavar="LINE,…",
              help="Fit again without these lines (runs), as S305 names them, or 'influential'; show both")  # fmt: skip
@click.option("--sums", metavar="FILE", help="Instead of DATA: JSON with n, sum_x, sum_x2, b0, b1, SSR, SSE.")
@click.option("--plot", type=FigureFile(), metavar="FILE", help="The four diagnostic plots as .png, .svg or .pdf.")
@click.option("--plot-kind", type=click.Choice(PLOTS), help="Only this one.")
def command(
    asked: DataOptions, at: tuple[str, ...], m: int, robust: bool, without: str | None, sums: str | None,
    plot: str | None, plot_kind: str | None,
) -> None:  # fmt: skip
    """Explain a response by predictors, on the raw repeats.

    Prints the allocation of variation, the coefficients and the predictions with their intervals, and in words
    what speaks against the model.
    """
    points = [pairs_of(text, "--at", "write --at size=4096,fs=nfs") for text in at]
    predicted = answers.regress.AtPoints(points, m, robust)
    if sums:
        if asked.data is not None:
            raise InputError("conflicting-options", "DATA and {spell.sums} are both given", "leave one out")
        if without:
            raise InputError("option-requires-data", "{spell.without}: sums hold no rows to leave out",
                             "give DATA instead of {spell.sums}")  # fmt: skip
        regression = answers.regress.regress_from_sums(answers.regress.read_sums(sums), asked.level, predicted, sums)
    else:
        if asked.data is None:
            raise InputError(
                "missing-data", "neither DATA nor {spell.sums} is given", "name a store, a .csv or a .parquet"
            )
        source = asked.open_last_experiment()
        tell("least squares", source.table)
        regression = answers.regress.regress(source, asked.query, predicted, split_names(without))
    draw = partial(write_figure, plot, lambda: report.figures.regression.figure(regression, plot_kind))
    emit(regression, report.text.regress.lines(regression), asked.as_json, draw)
