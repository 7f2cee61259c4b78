"""``iosonde anova``: how much of the variation each factor explains."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis
from iosonde.commands.result import Result
from iosonde.core.option_kinds import Integer
from iosonde.core.options import Data, Flag, NameList, Names, Text
from iosonde.data.options import DataOptions

if TYPE_CHECKING:
    from .answer import AnalysisOfVariance


@dataclass
class AnovaOptions(DataOptions):
    """Options of ``iosonde anova``."""

    data: Data = DataOptions.data
    response: Names[NameList] = Names(
        "Y,…",
        "What to explain: a column; of a store an operation or a metric; log(Y), Y/nodes.",
        (),
        default_text="the only one that was measured",
    )
    on: Names[NameList] = Names(
        "X,…",
        "Factors: a, a:b for an interaction, a*b for all of both.",
        (),
        default_text="a store's factors, a table's columns that look set",
    )
    _: KW_ONLY
    block: Text[str | None] = Text("B", "A factor whose effect is taken out and not asked about.")
    weighted: Flag[bool] = Flag("Each level of `block` counts by its own noise (1 / variance).")
    kind: Integer[int] = Integer("N", "Sums of squares: 1 sequential, 2, 3.", 2, flag="type")
    contrasts: Names[NameList] = Names(
        "'F: a - b'", "A difference of means. Repeatable.", (), flag="contrast", is_repeatable=True
    )
    bring_ups: Names[NameList] = Names(
        "COLUMN",
        "Numbers the trials that share a set-up, a whole plot. Repeatable, the outermost first. A store tells.",
        (),
        flag="bring_up",
        is_repeatable=True,
    )


@command("anova", AnovaOptions, "anova runs.csv --response bandwidth --on 'fs*size' --block day")
def anova(options: AnovaOptions) -> Result[AnalysisOfVariance]:
    """Allocate a response's variation to the factors and interactions that explain it.

    Factors are categorical; a number that hardly repeats is a straight line. Unbalanced and incomplete designs are
    allowed; a warning names them. What is set once for several trials is tested against the error between bring-ups (a
    split plot).

    Returns
    -------
    Result[AnalysisOfVariance]
        One row a term.

    Examples
    --------
    >>> iosonde.anova("runs.csv", "bandwidth", "fs*size", block="day")
    """
    from iosonde.answers.covariate_lines import choose_stated_block
    from iosonde.answers.row_summaries import represent_trials

    from .answer import anova as answer
    from .text import lines

    source = represent_trials(options.open_last_experiment(), options.query)
    announce_analysis("analysis of variance", len(source.table), len(source.table.columns))
    table = answer(
        source,
        options.query,
        options.block or choose_stated_block(source, options.query.on),
        options.kind,
        options.contrasts or (),
        options.bring_ups or (),
        options.weighted,
    )
    return Result(table, lines)
