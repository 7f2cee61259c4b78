"""``iosonde compare``: is B different from A, by how much, and are the data sufficient?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.gate import parse_gate
from iosonde.core.message import spell
from iosonde.core.option_kinds import Setting, Share
from iosonde.core.options import Data, Flag, Levels, NameList, Names, Text
from iosonde.data.options import DataOptions

if TYPE_CHECKING:
    from .against import PairVerdicts
    from .answer import Comparisons, Sides
    from .published import PublishedVerdicts

_EXAMPLE = "write mean=177.1,low=167.6,high=186.6,n=8,level=0.9 or mean=177.1,sd=14.2,n=8"


@dataclass
class CompareOptions(DataOptions):
    """Options of ``iosonde compare``."""

    opens_several: ClassVar[bool] = True
    data: Data = Data(
        "DATA",
        "The base: a store, a table (.csv, .xlsx, .parquet) or a tool's output; in Python also a table in memory.",
        is_argument=True,
    )
    group: Text[str | None] = Text("G", "The column that tells A from B; its first level is the base.")
    levels: Levels[NameList] = Levels(
        "[OTHER | A B …]",
        "The other DATA, or the levels to compare, the base first; of several factors `fs=a,replica=3`.",
        (),
        is_argument=True,
        is_repeatable=True,
    )
    _: KW_ONLY
    response: Names[NameList] = Names(
        "Y,…",
        "What to compare: columns; of a store operations or metrics; log(Y), Y/nodes.",
        (),
        default_text="what was measured",
    )
    by: Names[NameList] = Names(
        "X,…", "Within each combination of these columns.", (), default_text="a store's other factors"
    )
    pair: Names[NameList] = Names("K,…", "Columns whose equal values pair a trial of A with one of B.", ())
    base_only: Flag[bool] = Flag("Of several levels, each with the first only.")
    adjust: Names[NameList | None] = Names(
        "X,…|none", "Compare inside the cells of these.", default_text="all settings that vary"
    )
    margin: Share[float] = Share("SHARE", "What counts as practically equal.", "2%")
    a_summary: Setting[Mapping[str, str] | None] = Setting(
        "mean=…,n=…", "A published side: mean, n, and sd or low, high, level.", hint=_EXAMPLE
    )
    b_summary: Setting[Mapping[str, str] | None] = Setting("mean=…,n=…", "The same for B.", hint=_EXAMPLE)
    fail_if: Names[NameList] = Names(
        "COND",
        "Exit 1 where the whole interval is so: 'slower>5%', of some metrics 'read: slower>3%'; or that of B: "
        "'p99>5ms', 'bandwidth<2GiB/s'; for a document 'contradicted'. Repeatable.",
        (),
        is_repeatable=True,
    )
    strict: Flag[bool] = Flag("With `fail_if`: also where that is inconclusive, or B lacks what A has.")
    markdown: Flag[bool] = Flag("A Markdown table, for a pull request.")
    junit: Text[str | None] = Text("FILE", "Write JUnit XML, a test case for each condition, or each comparison.")

    def build_sides(self) -> Sides:
        """Return the sides, without a second DATA. Raises InputError."""
        from .answer import Sides
        from .sides import parse_published_side

        return Sides(
            self.levels or (),
            self.group,
            self.by or (),
            self.pair or (),
            self.margin,
            None if self.a_summary is None else parse_published_side(self.a_summary, "A"),
            None if self.b_summary is None else parse_published_side(self.b_summary, "B"),
            adjust=() if self.adjust == ("none",) else self.adjust,
            gate=parse_gate(self.fail_if or (), self.strict),
            base_only=self.base_only,
        )


@dataclass
class DataPairOptions(CompareOptions):
    """Options of ``iosonde.compare``, to which the other DATA may be a table in memory."""

    _: KW_ONLY
    b: Data = Data("OTHER", "The other DATA: the two are matched setting by setting.")


@command("", DataPairOptions)
def compare(options: DataPairOptions) -> Result[Comparisons | PairVerdicts | PublishedVerdicts]:
    """Compare `b` with DATA, or level B of a column with level A: the first is the base, always.

    Two DATA are matched setting by setting. Without `group`, A and B are two columns of a wide table; a store of
    ``run(…, against=…)`` needs no option, and its sealed rule decides. The verdict follows from the interval of the
    ratio B ÷ A, against 1 and against the margin. With `a_summary` and `b_summary` no DATA is needed.

    Returns
    -------
    Result[Comparisons | PairVerdicts | PublishedVerdicts]
        One row a comparison; ``.answer.problem`` is whether a condition of `fail_if` holds.

    Examples
    --------
    >>> iosonde.compare("runs.csv", "version", ["before", "after"], response="bandwidth")
    >>> iosonde.compare("store_before", b="store_after", fail_if="slower>5%").answer.problem
    """
    return _compare(options, options.b)


@command(
    "compare",
    CompareOptions,
    "compare before after; iosonde compare runs.csv --response bandwidth --group version 1 2",
    in_python=False,
)
def compare_words(options: CompareOptions) -> Result[Comparisons | PairVerdicts | PublishedVerdicts]:
    """Compare OTHER with DATA, or level B of a column with level A: the first is the base, always.

    Two stores or files are matched setting by setting. Without `group`, A and B are two columns of a wide table; a
    store of `run --against` needs no option, and its sealed rule decides. The verdict follows from the interval of the
    ratio B ÷ A, against 1 and against the margin. The tests beside it are evidence. With `a_summary` and `b_summary`
    no DATA is needed.
    """
    return _compare(options)


def _compare(options: CompareOptions, second: Any = None) -> Result[Any]:
    from iosonde.commands.junit_file import add_junit

    from .answer import compare as answer
    from .opening import open_filtered
    from .selected_sides import select_sides
    from .sides import find_second_data
    from .text import lines
    from .text_markdown import format_markdown

    if (verdicts := _compare_published(options, second)) is not None:
        return verdicts
    sides = options.build_sides()
    first = None if options.data is None else open_filtered(options)
    source = None if first is None else first.source
    if source is not None:
        announce_analysis("comparison", len(source.table), len(source.table.columns))
        if second is None and not sides.published:
            second = find_second_data(source, sides.levels, sides.group)
            sides = sides if second is None else replace(sides, levels=())
    if first is not None and second is not None:
        other = open_filtered(options, second)
        (first, notes), (other, more) = first.apply_aliases(other), other.apply_aliases(first)
        source, sides = first.source, replace(sides, other=other.source, notes=(*notes, *more))
    elif first is not None:
        first.check_columns()
        if (selected := select_sides(first.source, sides.levels)) is not None:
            source, sides = selected[0], replace(sides, levels=(), other=selected[1], is_one_source=True)
    elif second is not None:
        sides = replace(sides, other=options.open_data(second))
    options.refuse_store_options(*(opened for opened in (source, sides.other) if opened is not None))
    result = Result(answer(source, options.query, sides), format_markdown if options.markdown else lines)
    return add_junit(result, options.junit, "compare", getattr(source or sides.other, "name", ""))


def _compare_published(options: CompareOptions, second: Any) -> Result[Any] | None:
    """Judge the numbers of a document beside the other DATA, or alone; None unless exactly one of them is a document.
    Raises InputError."""
    from .opening import open_filtered
    from .published import compare_published, parse_published_gate, read_document
    from .text_published import lines

    others = [second] if second is not None else list(options.levels or ())
    candidates = [options.data, *others]
    documents = [read_document(data) for data in candidates] if len(candidates) < 3 else []
    publications = [document for document in documents if document is not None]
    if len(publications) != 1:
        return None
    _refuse_sides(options)
    (publication,) = publications
    measured = [data for data, document in zip(candidates, documents, strict=True) if document is None]
    is_gated = parse_published_gate(options.fail_if or (), options.strict)
    source = open_filtered(options, measured[0]).source if measured else None
    return Result(compare_published(publication, source, options.query, is_gated, options.strict), lines)


def _refuse_sides(options: CompareOptions) -> None:
    """Raise InputError for an option that means nothing to a document."""
    from iosonde.stats.estimate.compare import MARGIN

    defaults = {"margin": MARGIN}
    for name in ("group", "by", "pair", "base_only", "adjust", "margin", "a_summary", "b_summary", "markdown", "junit"):
        if (getattr(options, name) or None) != defaults.get(name):
            raise InputError(
                "conflicting-options",
                "{option} has no effect: each number of the document is compared with its own setting",
                "omit {option}",
                option=str(getattr(spell, name)),
            )
