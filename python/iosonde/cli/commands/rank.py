"""``iosonde rank``: which factor matters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options, split_names
from iosonde.cli.options.types import FigureFile
from iosonde.cli.output import emit, talk, write_figure
from iosonde.core.errors import InputError


@click.command(epilog="Example: iosonde rank runs.csv --response write_s --on network,servers --fixed network")
@data_options(required=False)
@click.option("--fixed", metavar="X,…", help="Factors that one cannot choose: rank the others within them, too.")
@click.option("--block", multiple=True, metavar="NAME=X,…", help="Factors entered together, in order. Repeatable.")
@click.option("--coefficients", metavar="FILE", help="Instead of DATA: .csv with feature and coefficient of a line.")
@click.option("--levels", multiple=True, metavar="X=V,V,…", help="Levels of a feature of FILE. Repeatable.")
@click.option("--plot", type=FigureFile(), metavar="FILE",
              help="Bars with intervals, S1 inside ST, as .png, .svg or .pdf.")  # fmt: skip
def command(
    asked: DataOptions, fixed: str | None, block: tuple[str, ...], coefficients: str | None, levels: tuple[str, ...],
    plot: str | None,
) -> None:  # fmt: skip
    """Rank factors by the share of the response's variance that each explains.

    S1 is the share of a factor alone, ST its share with all its interactions. A ranking holds for the levels that were
    measured; they are printed with the largest step between them.
    """
    if coefficients:
        if asked.data is not None or asked.on or block:
            raise InputError("conflicting-options",
                             "{spell.coefficients} does not go with DATA, {spell.on} or {spell.block}",
                             "leave one out")  # fmt: skip
        rankings = answers.published.rank_published(asked.open(coefficients), asked.query, levels, split_names(fixed))
    else:
        if levels:
            raise InputError("option-requires-option", "{spell.levels} goes with {spell.coefficients}",
                             "the levels of DATA are in DATA")  # fmt: skip
        if asked.data is None:
            raise InputError(
                "missing-data", "neither DATA nor {spell.coefficients} is given", "name a store, a .csv or a .parquet"
            )
        ranked = answers.rank.Ranked(tuple(split_names(fixed)), _blocks(block), talk)
        source = asked.open_last_experiment(*(name for chosen in ranked.blocks.values() for name in chosen))
        rankings = answers.rank.rank(source, asked.query, ranked)
    draw = partial(write_figure, plot, lambda: report.figures.importance.figure(rankings))
    emit(rankings, report.text.rank.lines(rankings), asked.as_json, draw)


def _blocks(texts: Sequence[str]) -> dict[str, list[str]]:
    """``hardware=network,disk`` → {"hardware": ["network", "disk"]}. Raises InputError."""
    blocks: dict[str, list[str]] = {}
    for text in texts:
        name, equals, factors = (part.strip() for part in text.partition("="))
        if not name or not equals or not split_names(factors):
            raise InputError("missing-factors", "{spell.block:'{block}'} names no factors",
                             "write {spell.block:'hardware=network,disk'}", block=text)  # fmt: skip
        if name in blocks:
            raise InputError("duplicate-block", "there are two blocks '{block}'",
                             "name every block once, with all its factors", block=name)  # fmt: skip
        blocks[name] = split_names(factors)
    return blocks
