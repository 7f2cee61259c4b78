"""``iosonde compare``: is B different from A, by how much, and can these data tell at all?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options, split_names
from iosonde.cli.output import emit, tell
from iosonde.core.errors import InputError
from iosonde.core.gate import gate_of
from iosonde.core.pairs import pairs_of
from iosonde.core.units import parse_share

if TYPE_CHECKING:
    from iosonde.answers.compare.answer import Sides
    from iosonde.data.source import Source


@click.command(
    epilog="Examples: iosonde compare before after; iosonde compare runs.csv --response bandwidth --group version 1 2"
)
@data_options(
    "What to compare: columns; of a store operations or metrics; log(Y), Y/nodes [default: what was measured].",
    on=None,
    by="Within each combination of these columns. A store needs none: its other factors.",
    required=False,
)
@click.argument("levels", nargs=-1, metavar="[OTHER | A B …]")
@click.option("--group", metavar="G", help="The column that tells A from B; its first level is the base.")
@click.option("--pair", metavar="K,…", help="Columns whose equal values pair a trial of A with one of B.")
@click.option("--base-only", is_flag=True, help="Of several levels, each with the first only.")
@click.option("--adjust", metavar="X,…|none", help="Compare inside the cells of these; else of all settings that vary.")
@click.option("--margin", default="2%", show_default=True, help="What counts as practically equal.")
@click.option("--a-summary", metavar="mean=…,n=…", help="A published side: mean, n, and sd or low, high, level.")
@click.option("--b-summary", metavar="mean=…,n=…", help="The same for B.")
@click.option("--fail-if", multiple=True, metavar="COND", help="Exit 1 where the whole interval is so: 'slower>5%'.")
@click.option("--strict", is_flag=True, help="With --fail-if: also where that cannot be told.")
@click.option("--markdown", is_flag=True, help="A Markdown table, for a pull request.")
def command(
    asked: DataOptions, levels: tuple[str, ...], group: str | None, pair: str | None, base_only: bool,
    adjust: str | None, margin: str, a_summary: str | None, b_summary: str | None,
    fail_if: tuple[str, ...], strict: bool, markdown: bool,
) -> None:  # fmt: skip
    """Compare OTHER with DATA, or level B of a column with level A: the first is the base, always.

    Two stores or files are matched setting by setting. Without --group, A and B are two columns of a wide table; a
    store of `run --against` needs no option, and its sealed rule decides. The verdict follows from the interval of the
    ratio B ÷ A, against 1 and against the margin. The tests beside it are evidence. With --a-summary and --b-summary
    no DATA is needed.
    """
    published = answers.published_side
    a = published.side_of(pairs_of(a_summary, "--a-summary", published.EXAMPLE), "A") if a_summary else None
    b = published.side_of(pairs_of(b_summary, "--b-summary", published.EXAMPLE), "B") if b_summary else None
    share, gate = parse_share(margin), gate_of(fail_if, strict)
    source = None if asked.data is None else asked.open()
    second = None if source is None or a or b else _find_second_data(source, levels, group)
    other = None if second is None else asked.open(second)
    if source is not None:
        tell("comparison", source.table)
    sides = answers.compare.answer.Sides(
        () if second else levels,
        group,
        asked.by,
        tuple(split_names(pair)),
        share,
        a,
        b,
        other,
        _parse_adjustments(adjust),
        gate,
        base_only,
    )
    comparisons = answers.compare.answer.compare(source, asked.query, sides)
    lines = report.text.compare_markdown.markdown(comparisons) if markdown else report.text.compare.lines(comparisons)
    emit(comparisons, lines, asked.as_json)


def show(options: DataOptions, sides: Sides) -> None:
    """Print the comparison; ``iosonde run --against`` ends with it."""
    comparisons = answers.compare.answer.compare(options.open(), options.query, sides)
    emit(comparisons, report.text.compare.lines(comparisons), options.as_json)


def _parse_adjustments(text: str | None) -> tuple[str, ...] | None:
    """The columns; ``none`` of them; None where nothing is said."""
    return None if text is None else () if text.strip() == "none" else tuple(split_names(text))


def _find_second_data(source: Source, levels: tuple[str, ...], group: str | None) -> str | None:
    """The second DATA: the only other argument, where it is a file or a store and no column. Raises InputError."""
    there = [text for text in levels if text not in source.table.columns and Path(text).exists()]
    if len(levels) == 1 and there:
        return there[0]
    if group is None and len(there) == len(levels) > 1:
        raise InputError("too-many-sources", "{n_sources} DATA are given", "compare takes two: the base and the other",
                         n_sources=1 + len(there))  # fmt: skip
    is_path = source.store is not None or any("/" in text or text.endswith((".csv", ".parquet")) for text in levels)
    if group is None and len(levels) == 1 and is_path:
        raise InputError(
            "no-such-file", "{path} does not exist", "give a store, a .csv or a .parquet file", path=levels[0]
        )
    return None
