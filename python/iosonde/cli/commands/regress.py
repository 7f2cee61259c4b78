"""``iosonde regress``: least squares on raw repeats, with everything that says whether to believe it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.cli.options.data import DataOptions, data_options
from iosonde.cli.output import emit, tell, write_figure
from iosonde.core.errors import InputError

if TYPE_CHECKING:
    pass

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
@click.option("--sums", metavar="FILE", help="Instead of DATA: JSON with n, sum_x, sum_x2, b0, b1, SSR, SSE.")
@click.option("--plot", metavar="FILE", help="The four diagnostic plots as .png, .svg or .pdf.")
@click.option("--plot-kind", type=click.Choice(PLOTS), help="Only this one.")
def command(
    asked: DataOptions, at: tuple[str, ...], m: int, robust: bool, sums: str | None, plot: str | None,
    plot_kind: str | None,
) -> None:  # fmt: skip
    """Explain a response by predictors, on the raw repeats.

    Prints the allocation of variation, the coefficients and the predictions with their intervals, and in words
    what speaks against the model.
    """
    from iosonde.answers.regress import AtPoints, of_sums, regress
    from iosonde.report.figures.files import format_of
    from iosonde.report.figures.regression import figure
    from iosonde.report.text.regress import lines

    if plot:
        format_of(plot)
    predicted = AtPoints([_point(text) for text in at], m, robust)
    if sums:
        if asked.data is not None:
            raise InputError("DATA and --sums are both given", "leave one out")
        made = of_sums(_sums(sums), asked.level, predicted, sums)
    else:
        if asked.data is None:
            raise InputError("neither DATA nor --sums is given", "name a store, a .csv or a .parquet")
        source = asked.open()
        tell("least squares", source.table)
        made = regress(source, asked.asked, predicted)
    if plot:
        write_figure(plot, figure(made, plot_kind))
    emit(made, lines(made), asked.as_json)


def _sums(path: str) -> dict[str, Any]:
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", "look at the name") from error
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}", 'write {"n": 44, "sum_x": 157, …}') from error
    if not isinstance(given, dict):
        raise InputError(f"{path} holds no object", 'write {"n": 44, "sum_x": 157, …}')
    return given


def _point(text: str) -> dict[str, str]:
    """``a=9,b=nfs`` → {"a": "9", "b": "nfs"}. Raises InputError."""
    point = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.rpartition("="))
        if not equals or not name or not value:
            raise InputError(f"'{text}' is no point", "write --at size=4096,fs=nfs")
        point[name] = value
    return point
