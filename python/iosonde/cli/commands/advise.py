"""``iosonde advise``: which setting for which workload, what it gains, as sentences and as files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import DataError, InputError

from .._data import check_level, open_data, options, split_names
from ..output import replace_file, talk

if TYPE_CHECKING:
    from iosonde.core.table import Table
    from iosonde.explain.advise import Advice

_TIMES = ("s", "sec", "seconds", "ms", "us", "µs", "ns", "min", "h")


@click.command(
    epilog="Example: iosonde advise runs.csv --response bandwidth --choose stripe_count,stripe_size --given op,size"
)
@click.argument("data")
@click.option("--response", metavar="Y", required=True, help="The column to make better.")
@click.option("--choose", metavar="A,…", required=True, help="Columns that one may set.")
@click.option("--given", metavar="C,…", default="", help="Columns that one is given: the workload.")
@click.option("--better", type=click.Choice(["higher", "lower"]), help="[default: lower for times]")
@click.option("--current", metavar="A=V,…", help="The setting in use; the gain is then over it.")
@click.option("--for", "workload", metavar="C=V,…", help="What to set for this one workload.")
@click.option("--depth", type=click.IntRange(0, 12), default=5, show_default=True, help="At most so many questions.")
@click.option("--full", is_flag=True, help="Ask --depth questions, not only those that are worth it.")
@click.option("--unweighted", is_flag=True, help="Every instance counts alike, whatever choosing wrong loses there.")
@click.option("--against", metavar="NEWDATA", help="New trials: what was promised, and what they show.")
@click.option("--write", "directory", metavar="DIR", help="The rules as files of --system, into DIR.")
@click.option("--system", type=click.Choice(["romio", "lustre", "gluster", "mount", "fio", "ior"]), help="For --write.")
@click.option(
    "--as", "renamed", metavar="A=KEY", multiple=True, help="What a column, or a level, is called there. Repeatable."
)
@click.option("--plot", metavar="FILE", help="Loss by depth of the tree, as .png, .svg or .pdf.")
@options
def command(
    data: str, response: str, choose: str, given: str, better: str | None, current: str | None, workload: str | None,
    depth: int, full: bool, unweighted: bool, against: str | None, directory: str | None, system: str | None,
    renamed: tuple[str, ...], plot: str | None, where: tuple[str, ...], level: float, as_json: bool,
) -> None:  # fmt: skip
    """The best setting for each workload, and what choosing it gains.

    Compares every fixed setting with the best one for each instance (a combination of --given), learns a small tree
    of rules, and measures its gain where it was not learned. A gain that may be nothing is no advice.
    """
    from iosonde.explain.advise import Wish, advise

    check_level(level)
    if (directory is None) != (system is None):
        raise InputError("--write and --system go together", "as --write rules --system romio")
    if renamed and directory is None:
        raise InputError("--as renames columns in files, and none is written", "add --write DIR --system NAME")
    if workload is not None and against is not None:
        raise InputError("--for asks for one workload, --against compares all", "give one of the two")
    names = [*split_names(choose), *split_names(given)]
    table = _trials(data, where, response, names)
    unit = _unit(table, response)
    lower = unit in _TIMES if better is None else better == "lower"
    wish = Wish(unit, lower, depth, full, not unweighted, None if current is None else pairs_of(current))
    made = advise(table, response, split_names(choose), split_names(given), level, wish)
    case = None if workload is None else _case(made, workload, where)
    tried = None
    if against is not None:
        from iosonde.explain.advise_trial import against as compare

        tried = compare(made, _trials(against, where, response, names))
    if plot is not None:
        _plot(made, Path(plot))
    if directory is not None and system is not None:
        _write(made, Path(directory), system, dict(_pair(text) for text in renamed))
    if as_json:
        from iosonde.answers.answer import finite

        content: dict[str, Any] = {"schema": 1, **made.to_json()}
        if case is not None:
            content["for"] = {"instance": case, "rule": _rule(made, case)}
        if tried is not None:
            content["against"] = tried.to_json()
        click.echo(json.dumps(finite(content), indent=1, ensure_ascii=False, allow_nan=False))
        return
    from .. import _advise_text as text

    lines = text.lines(made) if tried is None else text.trial_lines(made, tried)
    for line in lines if case is None else text.case_lines(made, case):
        click.echo(line)


def _trials(data: str, where: Sequence[str], response: str, names: Sequence[str]) -> Table:
    table = open_data(data, where).trials(response, names)
    if len(table) == 0:
        raise DataError(f"{data} holds no rows", "give a table with measurements")
    return table


def _unit(table: Table, response: str) -> str:
    """The response's unit: in its name, or for a store's values in the rows."""
    column = table.column(response)
    if not column.unit and column.name == "value" and "unit" in table.columns:
        return str(table.columns["unit"].values[0])
    return column.unit


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise InputError(f"'{text}' is not NAME=VALUE", "write it as stripe_count=2")
    return name.strip(), value.strip()


def pairs_of(text: str) -> dict[str, str]:
    """``A=V,B=W`` as a mapping. Raises InputError."""
    pairs = [_pair(part) for part in text.split(",")]
    for name, _ in pairs:
        if [other for other, _ in pairs].count(name) > 1:
            raise InputError(f"'{text}' names {name} twice", "give one value for each column")
    return dict(pairs)


def _case(made: Advice, text: str, where: Sequence[str]) -> dict[str, Any]:
    """The workload of --for. Raises InputError for one that was never tried, or that --where leaves out."""
    from iosonde.core.where import matching_rows, parse_where
    from iosonde.model.fit.features import encode, outside

    features = made.made.features
    given = pairs_of(text)
    chosen = [name for name in given if name in made.made.choose]
    if chosen:
        raise InputError(f"'{chosen[0]}' is chosen, not given", "--for describes the workload; --current the setting")
    case: dict[str, Any] = {}
    for name, value in given.items():
        numeric = any(f.name == name and f.numeric for f in features)
        case[name] = _number(value) if numeric else value
    row = encode(features, case)
    beyond = outside(features, row)
    if beyond:
        raise InputError(f"no advice beyond what was tried: {beyond[0]}", "measure there, or ask for a workload inside")
    conditions = [condition for condition in parse_where(where) if condition.column in case]
    if conditions and not matching_rows({name: [value] for name, value in case.items()}, conditions):
        raise InputError(f"--for {text} is left out by --where", "ask for a workload that the conditions allow")
    return case


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _rule(made: Advice, case: dict[str, Any]) -> dict[str, Any] | None:
    rule = made.rule_for(case)
    return None if rule is None else rule.to_json()


def _write(made: Advice, directory: Path, system: str, names: dict[str, str]) -> None:
    from iosonde.explain.hints import files_of
    from iosonde.report.text import escape

    if not made.rules:
        raise InputError("nothing was advised, so there are no rules to write", "measure more; the text says what")
    files = files_of(made.rules, system, names, made.made.settings)
    if directory.exists() and not directory.is_dir():
        raise InputError(f"{directory} is a file", "name a directory")
    stale = [p.name for p in directory.glob("rule-*") if p.name not in files] if directory.exists() else []
    if stale:
        raise InputError(f"{directory} holds {stale[0]} of another advice", "name an empty directory")
    try:
        directory.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the directory {directory}: {error.strerror}", "name another one") from error
    for name, content in files.items():
        talk(f"wrote {escape(replace_file(directory / name, content.encode()))}")


def _plot(made: Advice, path: Path) -> None:
    from iosonde.report import figures
    from iosonde.report.advice_figures import depth_figure

    kind = path.suffix[1:].lower()
    if kind not in figures.FORMATS:
        raise InputError(f"{path} is no format for figures", f"end it in .{', .'.join(figures.FORMATS)}")
    figure = depth_figure(
        [d.loss for d in made.depths], [d.crossed for d in made.depths], made.depth, made.best_default
    )
    talk(f"wrote {replace_file(path, figures.image(figure, kind))}")
