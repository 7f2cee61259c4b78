"""``iosonde anova``: which factors the variation belongs to."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from iosonde.core.errors import InputError
from iosonde.core.units import significant

from ._data import check_level, open_data, options, split_names, tell

if TYPE_CHECKING:
    from iosonde.stats.anova import Anova

_WIDTH = 79


@click.command(epilog="Example: iosonde anova runs.csv --response bandwidth --on 'fs*size' --block day")
@click.argument("data")
@click.option("--response", metavar="Y", required=True, help="The column whose variation is allocated.")
@click.option("--on", metavar="X,…", required=True, help="Factors: a, a:b for an interaction, a*b for all of both.")
@click.option("--block", metavar="B", help="A factor whose effect is taken out and not asked about.")
@click.option("--type", "kind", type=int, default=2, show_default=True, help="Sums of squares: 1 sequential, 2, 3.")
@click.option("--contrast", "contrasts", multiple=True, metavar="'F: a - b'", help="A difference of means. Repeatable.")
@options
def command(
    data: str, response: str, on: str, block: str | None, kind: int, contrasts: tuple[str, ...],
    where: tuple[str, ...], level: float, as_json: bool,
) -> None:  # fmt: skip
    """Allocate the variation of a response to factors and their interactions.

    Every factor is taken by its levels. Unbalanced and incomplete designs are allowed, and said to be so.
    """
    from iosonde.stats.anova import anova

    check_level(level)
    source = open_data(data, where)
    table = source.trials(response, split_names(on))
    if len(table) == 0:
        raise InputError(f"{data} holds no rows", "give a table with measurements")
    tell("analysis of variance", table)
    made = anova(table, response, split_names(on), level, block=block, kind=kind, contrasts=contrasts)
    if as_json:
        from .regress import finite

        click.echo(json.dumps({"schema": 1, **finite(made.to_json())}, indent=1, ensure_ascii=False, allow_nan=False))
        return
    for line in lines(made):
        click.echo(line)


def lines(made: Anova) -> Iterator[str]:
    """The lines of the text."""
    from iosonde.report.text import escape, table

    yield escape(f"{made.response}; n = {made.n}; sums of squares of type {'I' * made.kind}")
    yield ""
    rows = [[s.name + (" (block)" if s.block else ""), str(s.df), significant(s.ss, 5), f"{100 * s.share:.1f} %",
             f"{s.f:.3g}", f"{s.f_critical:.3g}", f"{s.p:.2g}"] for s in made.sources]  # fmt: skip
    rest = made.ss_residual / made.ss_total
    rows.append(
        ["residual", str(made.df_residual), significant(made.ss_residual, 5), f"{100 * rest:.1f} %", "", "", ""]
    )
    rows.append(["total", str(made.n - 1), significant(made.ss_total, 5), "", "", "", ""])
    yield from table(
        ["term", "df", "sum of squares", "share", "F", "critical", "p"], rows, "lrrrrrr", _WIDTH
    ).splitlines()
    for contrast in made.contrasts:
        e = contrast.estimate
        assert e.value is not None and e.low is not None and e.high is not None
        shown = f"{significant(e.value, 4)} ({significant(e.low, 4)} to {significant(e.high, 4)}), p = {contrast.p:.2g}"
        yield from ["", *textwrap.wrap(escape(f"{contrast.text} = {shown}"), _WIDTH)]
    if made.warnings or made.findings:
        yield ""
    for text in [*(f"~ {w}" for w in made.warnings), *(f"{f.code} {f.sentence}" for f in made.findings)]:
        yield from textwrap.wrap(escape(text), _WIDTH, subsequent_indent="  ")
    yield ""
    yield from textwrap.wrap(escape(sentence(made)), _WIDTH)


def sentence(made: Anova) -> str:
    """Whom the variation belongs to."""
    asked = [source for source in made.sources if not source.block]
    told = sorted((s for s in asked if s.p < 1 - made.level), key=lambda s: -s.share)
    if not told:
        return f"No effect on {made.response} can be told from chance at level {made.level:g}."
    named = ", ".join(f"{s.name} ({100 * s.share:.0f} %)" for s in told)
    rest = 100 * made.ss_residual / made.ss_total
    return f"The variation of {made.response} belongs to {named}; {rest:.0f} % is residual."
