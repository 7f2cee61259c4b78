"""``iosonde compare``: is B different from A, by how much, and can these data tell at all?"""

from __future__ import annotations

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options, split_names
from iosonde.cli.output import emit, tell
from iosonde.core.pairs import pairs_of


@click.command(epilog="Example: iosonde compare runs.csv --response bandwidth --group version before after")
@data_options(
    "What to compare: columns; of a store operations or metrics; log(Y), Y/nodes. A store needs none.",
    on=None,
    by="Within each combination of these columns. A store needs none: its other factors.",
    required=False,
)
@click.argument("levels", nargs=-1, metavar="[A B …]")
@click.option("--group", metavar="G", help="The column that tells A from B.")
@click.option("--pair", metavar="K,…", help="Columns whose equal values pair a trial of A with one of B.")
@click.option("--margin", default="2%", show_default=True, help="What counts as practically equal.")
@click.option("--a-summary", metavar="mean=…,n=…", help="A published side: mean, n, and sd or low, high, level.")
@click.option("--b-summary", metavar="mean=…,n=…", help="The same for B.")
def command(
    asked: DataOptions, levels: tuple[str, ...], group: str | None, pair: str | None, margin: str,
    a_summary: str | None, b_summary: str | None,
) -> None:  # fmt: skip
    """Compare level B of a column with level A (the base); without levels, all pairs.

    Without --group, A and B are two columns of a wide table. The verdict follows from the interval of the ratio B ÷ A,
    against 1 and against the margin. The tests beside it are evidence. With --a-summary and --b-summary no DATA is
    needed.
    """
    published = answers.published_side
    a = published.side_of(pairs_of(a_summary, "--a-summary", published.EXAMPLE), "A") if a_summary else None
    b = published.side_of(pairs_of(b_summary, "--b-summary", published.EXAMPLE), "B") if b_summary else None
    share = answers.compare.share_of(margin)
    sides = answers.compare.Sides(levels, group, asked.by, tuple(split_names(pair)), share, a, b)
    source = None if asked.data is None else asked.open()
    if source is not None:
        tell("comparison", source.table)
    made = answers.compare.compare(source, asked.asked, sides)
    emit(made, report.text.compare.lines(made), asked.as_json)
