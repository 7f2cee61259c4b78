"""``iosonde corpus``: many people's results, and one's own among them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis, build_figure_writer
from iosonde.commands.page_file import check_page_is_writable
from iosonde.commands.result import Result
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import Choices, FigureFile
from iosonde.core.options import Data, Flag, NameList, Names, Text
from iosonde.data.options import DataOptions

from .topics import TOPICS

if TYPE_CHECKING:
    from .answer import Corpus


@dataclass
class CorpusOptions(DataOptions):
    """Options of ``iosonde corpus``."""

    data: Data = DataOptions.data
    response: Names[NameList] = Names(
        "Y,…", "Only these operations, or 'operation metric'.", (), default_text="those of most systems"
    )
    on: Names[NameList] = Names(
        "X,…",
        "Covariates: what may explain the differences; also year, of the runs' dates.",
        (),
        default_text="factors that several systems share",
    )
    _: KW_ONLY
    cluster: Names[NameList] = Names(
        "X,…",
        "Columns that say what is one system.",
        (),
        default_text="institution,system, else site,system, else system",
    )
    per: Text[str | None] = Text("X", "Rates per nodes or ranks, or none.", default_text="nodes, where they are known")
    mine: Text[str] = Text("STORE|COND", "Your own result: a store, or a condition on this one.", "")
    about: Choices[NameList] = Choices(
        TOPICS,
        "What else to answer: validity (and score), dependence (of phases), open-close (shares of the time), "
        "wear-out (stragglers), balance (of ranks and epochs), or all.",
        metavar="TOPIC,…",
    )
    every: Flag[bool] = Flag("Numbers of few systems, too.", flag="all")
    plot: FigureFile[str | None] = FigureFile("FILE", "Every run by phase, as .png, .svg or .pdf.")
    page: Text[str | None] = Text("FILE", "Write a page of it, with figures: one HTML file.")


@command("corpus", CorpusOptions, "corpus io500 --on nodes,api,year --mine submission=mine")
def corpus(options: CorpusOptions) -> Result[Corpus]:
    """Show how results of many systems are spread, what explains it, and where your own lies.

    DATA is a store of other people's results, as iosonde import makes it. Runs of one system are no repetitions: each
    system counts once, and every interval is over systems.

    Returns
    -------
    Result[Corpus]
        One row a number; ``.plot()`` draws every run.

    Examples
    --------
    >>> iosonde.corpus("io500", on=["nodes", "api", "year"], mine="submission=mine")
    >>> iosonde.corpus("io500", about=["validity", "dependence"])
    """
    from .answer import HowCorpus
    from .answer import corpus as answer
    from .figure import figure
    from .text import lines

    check_page_is_writable(options.page)
    source = options.open_data()
    announce_analysis("corpus", len(source.table), len(source.table.columns))
    systems = answer(
        source,
        options.query,
        HowCorpus(options.cluster or (), options.per, options.mine or "", options.every, options.about),
    )
    write_figure = build_figure_writer(options.plot, lambda: figure(systems))

    def write() -> None:
        if write_figure:
            write_figure()
        if options.page:
            _write_page(systems, options.page)

    return Result(systems, lines, figure, write)


def _write_page(systems: Corpus, path: str) -> None:
    from .for_page import build_corpus_page
    from .section import save_corpus

    save_corpus(build_corpus_page(systems), path, get_front_end().note)
