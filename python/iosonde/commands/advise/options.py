"""``iosonde advise``: which setting for which workload, what it gains, as sentences and as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis, build_figure_writer, write_files
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.message import current_spelling
from iosonde.core.option_kinds import FigureFile, Integer, Setting
from iosonde.core.options import Choice, Data, Flag, NameList, Names, Text, V
from iosonde.core.pairs import parse_pair
from iosonde.data.options import DataOptions

if TYPE_CHECKING:
    from .answer import Advised, AdvisedEach, Advising

SYSTEMS = ("romio", "lustre", "gluster", "mount", "fio", "ior")


class Renaming(Setting[V]):
    """New names: ``A=KEY``, repeated, or a dict in Python. A key may hold a comma."""

    def read(self, text: Any) -> dict[str, str]:
        """Return name → key. Raises InputError."""
        return dict(parse_pair(pair, current_spelling()(self.flag, "")) for pair in text)


def write_rules(directory: Path, files: Mapping[str, str]) -> None:
    """Write the rules into a directory that holds no others. Raises InputError."""
    stale = [path.name for path in directory.glob("rule-*") if path.name not in files] if directory.is_dir() else []
    if stale:
        raise InputError(
            "directory-not-empty",
            "{directory} holds {file} of another advice",
            "name an empty directory",
            directory=directory,
            file=stale[0],
        )
    write_files(directory, files)


@dataclass
class ChosenColumns:
    """DATA, and what one may set of it: first of all in Python."""

    data: Data = DataOptions.data
    choose: Names[NameList] = Names("A,…", "Columns that one may set.", (), default_text="the only one that varies")


@dataclass
class AdviseOptions(DataOptions, ChosenColumns):
    """Options of ``iosonde advise``."""

    data: Data = DataOptions.data
    response: Names[NameList] = Names(
        "Y,…",
        "What to make better: a column; of a store an operation or metric; log(Y), Y/nodes.",
        (),
        default_text="each that was measured",
    )
    _: KW_ONLY
    given: Names[NameList | None] = Names("C,…", "Columns that one is given: the workload.", default_text="all others")
    better: Choice[str | None] = Choice(
        ("higher", "lower"), "Which is better.", default_text="as of the response; lower for times"
    )
    current: Setting[Mapping[str, str] | None] = Setting(
        "A=V,…", "The setting in use; the gain is then over it.", default_text="what the store knows"
    )
    workload: Setting[Mapping[str, str] | None] = Setting("C=V,…", "What to set for this one workload.", flag="for")
    depth: Integer[int] = Integer("N", "At most so many conditions a rule.", 5, least=0, most=12)
    full: Flag[bool] = Flag("Rules of `depth` conditions, not only those that are worth it.")
    unweighted: Flag[bool] = Flag("Every workload counts alike, whatever choosing wrong loses there.")
    against: Data = Data("NEWDATA", "New trials: what was promised, and what they show.")
    write: Text[str | None] = Text("DIR", "The rules as files of `system`, into DIR.")
    system: Choice[str | None] = Choice(SYSTEMS, "For `write`.")
    renamed: Renaming[Mapping[str, str] | None] = Renaming(
        "A=KEY", "What a column or level is called there. Repeatable.", flag="as", is_repeatable=True
    )
    plot: FigureFile[str | None] = FigureFile("FILE", "Loss by depth of the tree, as .png, .svg or .pdf.")

    def __post_init__(self) -> None:
        """Check that what is about files has a directory. Raises InputError."""
        super().__post_init__()
        if (self.write is None) != (self.system is None):
            raise InputError(
                "options-require-each-other",
                "{spell.write} and {spell.system} go together",
                "as {spell.write:rules} {spell.system:romio}",
            )
        if self.renamed and self.write is None:
            raise InputError(
                "option-requires-option",
                "{spell.as} renames columns in files, and none is written",
                "add {spell.write:DIR} {spell.system:NAME}",
            )

    @property
    def advising(self) -> Advising:
        """How settings are judged."""
        from iosonde.explain.advise import Wish

        from .answer import Advising

        wish = Wish(depth=self.depth, full=self.full, weigh=not self.unweighted, current=self.current)
        return Advising(self.choose, self.given, self.better, wish)


@command(
    "advise",
    AdviseOptions,
    "advise runs.csv --response bandwidth --choose stripe_count,stripe_size --given op,size",
)
def advise(options: AdviseOptions) -> Result[Advised | AdvisedEach]:
    """Advise the best setting for each workload, and say what choosing it gains.

    Compares every fixed setting with the best one for each workload (a combination of `given`), learns a small tree of
    rules, and measures its gain where it was not learned. A gain that is not significant is not advised.

    Returns
    -------
    Result[Advised | AdvisedEach]
        One row a setting, as a default for everything; of several responses, of each.
        ``.answer.files("romio", {})`` are the rules as files of a system; ``.plot()`` draws the loss by the depth of
        the tree; both of one response.

    Examples
    --------
    >>> iosonde.advise("runs.csv", ["stripe_count", "stripe_size"], "bandwidth", given=["op", "size"])
    """
    from iosonde.answers.row_summaries import represent_trials

    from .answer import advise as answer
    from .figure import figure
    from .text import lines

    cells = () if options.given is None else (*options.choose, *options.given)
    source = represent_trials(options.open_last_experiment(*cells), options.query, cells)
    announce_analysis("advise", len(source.table), len(source.table.columns))
    new = None if options.against is None else options.open_last_experiment(*cells, data=options.against)
    advice = answer(source, options.query, options.advising, options.workload, new)
    return Result(advice, lines, figure, partial(_write_rules_and_figure, options, advice))


def _write_rules_and_figure(options: AdviseOptions, advice: Advised | AdvisedEach) -> None:
    from .figure import figure

    if write_figure := build_figure_writer(options.plot, lambda: figure(advice)):
        write_figure()
    if options.write is not None and options.system is not None:
        write_rules(Path(options.write), advice.files(options.system, options.renamed or {}))
