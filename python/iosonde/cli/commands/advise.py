"""``iosonde advise``: which setting for which workload, what it gains, as sentences and as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options, split_names
from iosonde.cli.options.types import FigureFile
from iosonde.cli.output import emit, replace_files, tell, write_figure
from iosonde.core.errors import InputError
from iosonde.core.pairs import pair_of, pairs_of


@click.command(
    epilog="Example: iosonde advise runs.csv --response bandwidth --choose stripe_count,stripe_size --given op,size"
)
@data_options("What to make better: a column; of a store an operation or metric; log(Y), Y/nodes.", on=None)
@click.option("--choose", metavar="A,…", required=True, help="Columns that one may set.")
@click.option("--given", metavar="C,…", help="Columns that one is given: the workload [default: all others].")
@click.option("--better", type=click.Choice(["higher", "lower"]), help="[default: as of the response; lower for times]")
@click.option("--current", metavar="A=V,…", help="The setting in use; the gain is then over it.")
@click.option("--for", "workload", metavar="C=V,…", help="What to set for this one workload.")
@click.option("--depth", type=click.IntRange(0, 12), default=5, show_default=True, help="At most so many questions.")
@click.option("--full", is_flag=True, help="Ask --depth questions, not only those that are worth it.")
@click.option("--unweighted", is_flag=True, help="Every instance counts alike, whatever choosing wrong loses there.")
@click.option("--against", metavar="NEWDATA", help="New trials: what was promised, and what they show.")
@click.option("--write", "directory", metavar="DIR", help="The rules as files of --system, into DIR.")
@click.option("--system", type=click.Choice(["romio", "lustre", "gluster", "mount", "fio", "ior"]), help="For --write.")
@click.option("--as", "renamed", metavar="A=KEY", multiple=True, help="What a column or level is called there; repeat.")
@click.option("--plot", type=FigureFile(), metavar="FILE", help="Loss by depth of the tree, as .png, .svg or .pdf.")
def command(
    asked: DataOptions, choose: str, given: str | None, better: str | None, current: str | None, workload: str | None,
    depth: int, full: bool, unweighted: bool, against: str | None, directory: str | None, system: str | None,
    renamed: tuple[str, ...], plot: str | None,
) -> None:  # fmt: skip
    """The best setting for each workload, and what choosing it gains.

    Compares every fixed setting with the best one for each instance (a combination of --given), learns a small tree
    of rules, and measures its gain where it was not learned. A gain that is not significant is not advised.
    """
    if (directory is None) != (system is None):
        raise InputError("options-require-each-other", "{spell.write} and {spell.system} go together",
                         "as {spell.write} rules {spell.system} romio")  # fmt: skip
    if renamed and directory is None:
        raise InputError("option-requires-option", "{spell.as} renames columns in files, and none is written",
                         "add {spell.write:DIR} {spell.system:NAME}")  # fmt: skip
    how = answers.advise.Advising(
        tuple(split_names(choose)), None if given is None else tuple(split_names(given)), better,
        None if current is None else pairs_of(current, "--current"), depth, full, not unweighted,
    )  # fmt: skip
    cells = () if how.workload_columns is None else (*how.choose, *how.workload_columns)
    source = asked.open_last_experiment(*cells)
    tell("advise", source.table)
    new = None if against is None else asked.open_last_experiment(*cells, data=against)
    advice = answers.advise.advise(
        source, asked.query, how, None if workload is None else pairs_of(workload, "--for"), new
    )
    try:
        emit(advice, report.text.advise.lines(advice), asked.as_json)
    finally:
        write_figure(plot, lambda: report.figures.depth.figure(advice))
        if directory is not None and system is not None:
            _write_rules(Path(directory), advice.files(system, dict(pair_of(text, "--as") for text in renamed)))


def _write_rules(directory: Path, files: Mapping[str, str]) -> None:
    """The rules into a directory that holds no others. Raises InputError."""
    stale = [path.name for path in directory.glob("rule-*") if path.name not in files] if directory.is_dir() else []
    if stale:
        raise InputError("directory-not-empty", "{directory} holds {file} of another advice", "name an empty directory",
                         directory=directory, file=stale[0])  # fmt: skip
    replace_files(directory, files)
