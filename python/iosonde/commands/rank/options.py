"""``iosonde rank``: which factor matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import build_figure_writer
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import FigureFile, NamedLists
from iosonde.core.options import Data, Flag, NameList, Names, Value
from iosonde.data.options import ON, OPTIONAL_DATA, DataOptions

if TYPE_CHECKING:
    from .answer import Rankings


@dataclass
class RankOptions(DataOptions):
    """Options of ``iosonde rank``."""

    data: Data = OPTIONAL_DATA
    response: Names[NameList] = DataOptions.response
    on: Names[NameList] = ON
    _: KW_ONLY
    fixed: Names[NameList] = Names("X,…", "Factors that one cannot choose: rank the others within them, too.", ())
    blocks: NamedLists[Mapping[str, NameList]] = NamedLists(
        "NAME=X,…", "Factors entered together, in order. Repeatable.", "hardware=network,disk", flag="block"
    )
    coefficients: Value = Value(
        "FILE",
        "Instead of DATA, a published line: a table with the columns feature and coefficient; std_error and "
        "metric where they are known.",
    )
    levels: NamedLists[Mapping[str, NameList]] = NamedLists(
        "X=V,V,…", "Levels of a feature of `coefficients`, in the numbers of the line. Repeatable.", "network=0,1"
    )
    is_complete: Flag[bool] = Flag(
        "All estimators, each by its name: S1, ST, adjusted, Shapley, VI, slopes; and a permutation test.", flag="all"
    )
    plot: FigureFile[str | None] = FigureFile("FILE", "Bars with intervals, as .png, .svg or .pdf.")


@command("rank", RankOptions, "rank runs.csv --response write_s --on network,servers --fixed network")
def rank(options: RankOptions) -> Result[Rankings]:
    """Rank factors by the share of the response's variation that each explains.

    A ranking holds for the levels that were measured; they are printed with the largest step between them.

    Returns
    -------
    Result[Rankings]
        One row a factor of each response.

    Examples
    --------
    >>> iosonde.rank("results", response="write", on=["access", "request_KiB"])
    """
    from .figure import figure
    from .text import lines

    rankings = _rank_line(options) if options.coefficients is not None else _rank_data(options)
    return Result(rankings, lines, figure, build_figure_writer(options.plot, lambda: figure(rankings)))


def _rank_data(options: RankOptions) -> Rankings:
    from iosonde.answers.row_summaries import represent_trials

    from .answer import Ranked
    from .answer import rank as answer

    if options.levels:
        raise InputError(
            "option-requires-option", "{spell.levels} goes with {spell.coefficients}", "the levels of DATA are in DATA"
        )
    if options.data is None:
        raise InputError(
            "missing-data", "neither DATA nor {spell.coefficients} is given", "name a store, a table or a tool's output"
        )
    how = Ranked(options.fixed, options.blocks, get_front_end().note, options.is_complete)
    columns = tuple(chain.from_iterable(how.blocks.values()))
    return answer(represent_trials(options.open_last_experiment(*columns), options.query, columns), options.query, how)


def _rank_line(options: RankOptions) -> Rankings:
    from iosonde.data.source import open_data

    from .published import rank_published

    if options.data is not None or options.on or options.blocks:
        raise InputError(
            "conflicting-options",
            "{spell.coefficients} does not go with DATA, {spell.on} or {spell.block}",
            "leave one out",
        )
    levels = [f"{name}={','.join(several)}" for name, several in options.levels.items()]
    source = open_data(options.coefficients, options.conditions).with_roles(options.roles)  # its metrics stay in rows
    options.refuse_store_options(source)
    return rank_published(source, options.query, levels, options.fixed)
