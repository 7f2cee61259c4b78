"""``iosonde summary``: every number with its interval, how many trials are behind it, and what looks wrong."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.options import Data, Flag, NameList, Names, Text
from iosonde.data.options import DataOptions

if TYPE_CHECKING:
    from .answer import Summary


@dataclass
class SummaryOptions(DataOptions):
    """Options of ``iosonde summary``."""

    data: Data = DataOptions.data
    response: Names[NameList] = Names(
        "Y,…", "The column(s) to summarise, or log(Y), Y/nodes.", (), default_text="what was measured"
    )
    by: Names[NameList | None] = Names(
        "X,…",
        "Columns to group by; none makes one cell of a table.",
        default_text="a store's factors, a table's columns that look set",
    )
    _: KW_ONLY
    every: Flag[bool] = Flag("Every cell on a line of its own, with its median.", flag="all")
    columns: Text[str | None] = Text("FACTOR", "A column for each level of this factor, as of file systems.")
    unit: Text[str | None] = Text("UNIT", "Of all rates of bytes in the table, as KB/s or MiB/s.")
    quantiles: Flag[bool] = Flag("Quantiles and the geometric mean, where the trials are enough.")


@command("summary", SummaryOptions, "summary runs.csv --response real_s --by replicas --level 0.9")
def summary(options: SummaryOptions) -> Result[Summary]:
    """Summarize every cell of DATA: mean, median and spread with their intervals over trials.

    DATA is a store, a table or a tool's output. For a store also the percentiles of operations, the efficiency of
    scaling, and findings about the data. n counts trials: ranks and operations inside one are not repetitions.

    Returns
    -------
    Result[Summary]
        One row a cell.

    Examples
    --------
    >>> iosonde.summary("runs.csv", "real_s", by="replicas")
    """
    from iosonde.answers.row_summaries import represent_trials

    from .answer import add_spread
    from .answer import summary as answer
    from .sealed_pairs import lead_with_pairs
    from .text import lines

    source = represent_trials(options.open_last_experiment(alike=False), options.query, options.by or ())
    if options.quantiles and source.table.row_statistics:
        raise InputError(
            "rows-are-means",
            "the rows of {data} are means, which have no quantiles of trials",
            "omit {spell.quantiles}",
            data=source.name,
        )
    announce_analysis("summary", len(source.table), len(source.table.columns))
    cells = lead_with_pairs(answer(source, options.query, options.by), source, options.query)
    layout = partial(lines, every=options.every, columns=options.columns, unit=options.unit)
    return Result(add_spread(cells) if options.quantiles else cells, layout)
