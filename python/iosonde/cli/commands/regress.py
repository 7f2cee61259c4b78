"""``iosonde regress``: least squares on raw repeats, with everything that says whether to believe it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError

from .._data import check_level, open_data, options, split_names, tell

if TYPE_CHECKING:
    from iosonde.stats.regression.regress import Regression

PLOTS = ("fit", "residuals", "order", "qq")


@click.command(epilog="Example: iosonde regress runs.csv --response real_s --on replicas --at replicas=9")
@click.argument("data", required=False)
@click.option("--response", metavar="Y", help="The column to explain, or log(Y), log2(Y), sqrt(Y) …")
@click.option("--on", metavar="X,…", help="Predictors: columns, log2(a), C(a) for its levels, a:b for an interaction.")
@click.option("--at", multiple=True, metavar="X=V,…", help="Predict there. Repeatable.")
@click.option("--new", "m", default=1, show_default=True, metavar="M", help="Predict the mean of M new observations.")
@click.option("--robust", is_flag=True, help="Standard errors that allow unequal variance (HC3).")
@click.option("--sums", metavar="FILE", help="Instead of DATA: JSON with n, sum_x, sum_x2, b0, b1, SSR, SSE.")
@click.option("--plot", metavar="FILE", help="The four diagnostic plots as .png, .svg or .pdf.")
@click.option("--plot-kind", type=click.Choice(PLOTS), help="Only this one.")
@options
def command(
    data: str | None, response: str | None, on: str | None, at: tuple[str, ...], m: int, robust: bool, sums: str | None,
    plot: str | None, plot_kind: str | None, where: tuple[str, ...], level: float, as_json: bool,
) -> None:  # fmt: skip
    """Explain a response by predictors, on the raw repeats.

    Prints the allocation of variation, the coefficients and the predictions with their intervals, and in words
    what speaks against the model.
    """
    check_level(level)
    if m < 1:
        raise InputError(f"--new {m} is below 1", "predict the mean of at least 1 observation")
    points = [_point(text) for text in at]
    made = (
        _of_sums(sums, points, m, level, data)
        if sums
        else _of_data(data, response, on, points, m, robust, where, level)
    )
    if plot:
        _draw(made, plot, plot_kind)
    if as_json:
        click.echo(json.dumps({"schema": 1, **finite(made.to_json())}, indent=1, ensure_ascii=False, allow_nan=False))
        return
    from .._regress_text import lines

    for line in lines(made):
        click.echo(line)


def _of_data(
    data: str | None, response: str | None, on: str | None, points: list[dict[str, str]], m: int, robust: bool,
    where: tuple[str, ...], level: float,
) -> Regression:  # fmt: skip
    from iosonde.stats.regression.regress import regress

    if data is None:
        raise InputError("neither DATA nor --sums is given", "name a store, a .csv or a .parquet")
    source = open_data(data, where)
    for name, value in (("--response", response), ("--on", on)):
        if not value:
            raise InputError(f"{name} is missing", f"columns: {', '.join(source.table.names)}")
    assert response is not None
    table = source.trials(response, split_names(on))
    tell("least squares", table)
    return regress(table, response, split_names(on), level, at=points, m=m, robust=robust)


def _of_sums(path: str, points: list[dict[str, str]], m: int, level: float, data: str | None) -> Regression:
    from iosonde.stats.regression.sums import regress_sums

    if data is not None:
        raise InputError("DATA and --sums are both given", "leave one out")
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", "look at the name") from error
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}", 'write {"n": 44, "sum_x": 157, …}') from error
    if not isinstance(given, dict):
        raise InputError(f"{path} holds no object", 'write {"n": 44, "sum_x": 157, …}')
    return regress_sums(given, level, at=points, m=m, source=path)


def _draw(made: Regression, path: str, kind: str | None) -> None:
    from iosonde.report.figures.figure import together
    from iosonde.report.figures.files import format_of
    from iosonde.report.figures.regression import regression_figures
    from iosonde.report.model_content import ModelPlots
    from iosonde.stats.regression.model_plots import plot_data

    from ..output import write_figure

    format_of(path)
    if made.model is None:
        raise InputError("sums hold no points to plot", "give DATA instead of --sums")
    plots = ModelPlots(**plot_data(made.model, made.response))
    write_figure(path, together(regression_figures(plots, "", kind), columns=2))


def _point(text: str) -> dict[str, str]:
    """``a=9,b=nfs`` → {"a": "9", "b": "nfs"}. Raises InputError."""
    point = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.rpartition("="))
        if not equals or not name or not value:
            raise InputError(f"'{text}' is no point", "write --at size=4096,fs=nfs")
        point[name] = value
    return point


def finite(value: Any) -> Any:
    """Infinite numbers (an F where nothing is left over) have no JSON: null."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
