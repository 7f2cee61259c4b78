"""Every question as a Python function: the same words as on the command line, the same answers.

``data`` is everywhere a path (a store, ``.csv``, ``.parquet``), a table in memory (pandas, polars, DuckDB, Arrow) or
what :func:`open` gave. ``response`` and ``on`` are one name or several.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, Unpack

from iosonde.answers.answer import Answer
from iosonde.core.errors import IosondeError
from iosonde.core.levels import check_level
from iosonde.data.asked import LAST_DONE, Asked
from iosonde.data.source import Source, open_data

if TYPE_CHECKING:
    import pandas as pd

    from iosonde.answers.advise import Advised
    from iosonde.answers.anova import AnalysisOfVariance
    from iosonde.answers.check import Check, Noise
    from iosonde.answers.compare import Comparisons
    from iosonde.answers.fit import Fitted
    from iosonde.answers.rank import Rankings
    from iosonde.answers.regress import LeastSquares
    from iosonde.answers.scale import ScalingLaws
    from iosonde.answers.summary import Summary
    from iosonde.answers.verify import Verification
    from iosonde.campaign.run import Outcome
    from iosonde.report.figures.figure import Figure

Names = str | Sequence[str] | None
AnswerT = TypeVar("AnswerT", bound=Answer)


class DataOptions(TypedDict, total=False):
    """What every function takes besides its own words. ``where``: conditions as ``"fs=nfs"``; ``clock``: until when a
    store's rates count; ``experiment``: only this one of a store; ``level``: of every interval."""

    where: Sequence[str]
    clock: str
    experiment: str | None
    level: float


@dataclass(frozen=True)
class Result(Generic[AnswerT]):
    """An answer that shows itself. ``answer`` holds its estimates, findings and sentence, with their types."""

    answer: AnswerT

    def __str__(self) -> str:
        """What the terminal shows."""
        return "\n".join(_lines(self.answer))

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return self.answer.to_dict()

    def plot(self) -> Figure:
        """The figure; in a notebook it shows itself. Raises IosondeError where an answer has none."""
        name = _FIGURES.get(type(self.answer).__name__)
        if name is None:
            raise IosondeError("this answer has no figure", f"these have: {', '.join(_FIGURES)}")
        made: Figure = importlib.import_module(f"iosonde.report.figures.{name}").figure(self.answer)
        return made

    def to_frame(self) -> pd.DataFrame:
        """One row for each thing that was asked about: a cell, a factor, a finding. Needs pandas."""
        try:
            import pandas as pd
        except ImportError as error:
            raise IosondeError("a frame needs pandas", "pip install pandas, or use .to_dict()") from error
        return pd.DataFrame(self.answer.records())


def open(data: Any, where: Sequence[str] = (), experiment: str | None = None) -> Source:  # noqa: A001
    """DATA, opened once for several questions.

    Parameters
    ----------
    data : path or table
        A store, a ``.csv``, a ``.parquet``, or a table in memory that speaks Arrow (pandas, polars, DuckDB).
    where : sequence of str
        Conditions that the rows fulfil, as ``"fs=nfs"`` or ``"nodes>=2"``.
    experiment : str, optional
        Only this experiment of a store.

    Returns
    -------
    Source
        Its rows and, of a store, its runs and experiments.

    Raises
    ------
    InputError, DataError
        What is wrong with it, and where.
    """
    return data if isinstance(data, Source) else open_data(data, where, experiment)


def summary(data: Any, response: Names = None, by: Names = None, **options: Unpack[DataOptions]) -> Result[Summary]:
    """Every number with its interval, how many trials are behind it, and what looks wrong.

    Parameters
    ----------
    data : path, table or Source
    response : str or sequence of str, optional
        Columns of a table; of a store operations or metrics; ``"log(Y)"``, ``"Y/nodes"``. A store needs none.
    by : str or sequence of str, optional
        The columns that make the cells; of a store by default the factors that its experiments declare.
    **options
        ``where``, ``clock``, ``experiment``, ``level``: see :class:`DataOptions`.

    Returns
    -------
    Result[Summary]
    """
    from iosonde.answers.summary import summary as answer

    source, asked = _asked(data, response, None, options)
    return Result(answer(source, asked, _names(by)))


def check(data: Any, response: Names = None, by: Names = None, **options: Unpack[DataOptions]) -> Result[Check]:
    """What is suspicious in DATA, before any analysis of it is believed: findings with their evidence and cure.

    ``by`` are the settings; by default those that are known of a store, or look like settings in a table.
    """
    from iosonde.answers.check import check as answer

    source, asked = _asked(data, response, None, options)
    return Result(answer(source, asked, _names(by)))


def noise(data: Any, response: Names = None, by: Names = None, **options: Unpack[DataOptions]) -> Result[Noise]:
    """The noise passport: how often a comparison cries wolf on this very data, and how small a difference it sees."""
    from iosonde.answers.check import noise as answer

    source, asked = _asked(data, response, None, options)
    return Result(answer(source, asked, _names(by)))


def verify(store: Any, **options: Unpack[DataOptions]) -> Result[Verification]:
    """Every stored rate computed again from its operations, and the summary from those rates."""
    from iosonde.answers.verify import verify as answer

    source, asked = _asked(store, None, None, options)
    return Result(answer(source, asked.level))


def rank(
    data: Any, response: Names = None, on: Names = None, *, fixed: Names = None,
    blocks: Mapping[str, Sequence[str]] | None = None, **options: Unpack[DataOptions],
) -> Result[Rankings]:  # fmt: skip
    """Which factor matters: shares of the response's variance, with intervals.

    Parameters
    ----------
    data : path, table or Source
    response : str or sequence of str, optional
        What was measured. Without it every measured column, or metric of a store.
    on : str or sequence of str, optional
        The factors. Without it those that are known.
    fixed : str or sequence of str, optional
        Factors that one cannot choose: the others are ranked within them, too.
    blocks : mapping of str to sequence of str, optional
        Name → factors that are entered together, in order.
    **options
        ``where``, ``clock``, ``experiment``, ``level``: see :class:`DataOptions`.

    Returns
    -------
    Result[Rankings]
        A ranking for each response.
    """
    from iosonde.answers.rank import Ranked
    from iosonde.answers.rank import rank as answer

    source, asked = _asked(data, response, on, options)
    return Result(answer(source, asked, Ranked(_names(fixed), blocks or {})))


def regress(
    data: Any, response: Names = None, on: Names = None, *, at: Sequence[Mapping[str, Any]] = (), robust: bool = False,
    **options: Unpack[DataOptions],
) -> Result[LeastSquares]:  # fmt: skip
    """What explains a response: least squares on the raw repeats, with what speaks against the model.

    ``on`` are terms: columns, ``"log2(a)"``, ``"C(a)"`` for its levels, ``"a:b"`` for an interaction; of a store by
    default its factors. ``at`` are points to predict at, as ``{"replicas": 9}``. ``robust``: standard errors that allow
    unequal variance (HC3).
    """
    from iosonde.answers.regress import AtPoints
    from iosonde.answers.regress import regress as answer

    source, asked = _asked(data, response, on, options)
    points = [{name: str(value) for name, value in point.items()} for point in at]
    return Result(answer(source, asked, AtPoints(points, robust=robust)))


def anova(
    data: Any, response: Names = None, on: Names = None, *, block: str | None = None, kind: int = 2,
    contrasts: Sequence[str] = (), **options: Unpack[DataOptions],
) -> Result[AnalysisOfVariance]:  # fmt: skip
    """How much of a response's variation each factor and interaction explains.

    ``on``: ``"a"``, ``"a:b"``, ``"a*b"``; of a store by default its factors. ``block``: a factor whose effect is taken
    out. ``kind``: sums of squares of type 1, 2 or 3. ``contrasts``: differences of means, as ``"fs: nfs - afs"``.
    """
    from iosonde.answers.anova import SumsOfSquares
    from iosonde.answers.anova import anova as answer

    source, asked = _asked(data, response, on, options)
    return Result(answer(source, asked, SumsOfSquares(block, kind, tuple(contrasts))))


def compare(
    data: Any, group: str, levels: Names = None, *, response: Names = None, by: Names = None, pair: Names = None,
    **options: Unpack[DataOptions],
) -> Result[Comparisons]:  # fmt: skip
    """Is B different from A, by how much, and can these data tell at all?

    ``group`` is the column that tells A from B, ``levels`` those that are meant: the first is the base. ``by``: within
    each combination of these columns; of a store by default its other factors. ``pair``: columns whose equal values
    pair a trial of A with one of B.
    """
    from iosonde.answers.compare import Sides
    from iosonde.answers.compare import compare as answer

    source, asked = _asked(data, response, None, options)
    return Result(answer(source, asked, Sides(_names(levels), group, _names(by), _names(pair))))


def scale(
    data: Any, on: str = "nodes", *, response: Names = None, by: Names = None, at: Sequence[float] = (),
    **options: Unpack[DataOptions],
) -> Result[ScalingLaws]:  # fmt: skip
    """How a rate grows with ``on``, what stops it, and what more would bring: laws of scaling of every series.

    ``by``: each combination of these columns is a series; of a store by default its other factors. ``at``: predict
    there.
    """
    from iosonde.answers.scale import Growth
    from iosonde.answers.scale import scale as answer

    source, asked = _asked(data, response, None, options)
    return Result(answer(source, asked, Growth(on, _names(by), at=tuple(float(size) for size in at))))


def fit(
    data: Any, response: Names = None, on: Names = None, *, families: Names = None, constraints: Names = None,
    **options: Unpack[DataOptions],
) -> Result[Fitted]:  # fmt: skip
    """A model that predicts a response, the simplest of those that predict unseen rows best.

    ``families``: ``"auto"``, ``"linear"``, ``"tree depth=4"``. ``constraints``: what every setting fulfils, as
    ``"stripes <= servers"``. ``.answer.text()`` is the model as its file holds it.
    """
    from iosonde.answers.candidates import Learning
    from iosonde.answers.fit import fit as answer

    source, asked = _asked(data, response, on, options)
    return Result(answer(source, asked, Learning(_names(families)), _names(constraints)))


def advise(
    data: Any, choose: Names, *, response: Names = None, given: Names = None,
    current: Mapping[str, Any] | None = None, **options: Unpack[DataOptions],
) -> Result[Advised]:  # fmt: skip
    """The best setting of ``choose`` for each workload, which ``given`` describes, and what choosing it gains.

    ``current`` is the setting in use: the gain is then over it.
    """
    from iosonde.answers.advise import Advising
    from iosonde.answers.advise import advise as answer

    source, asked = _asked(data, response, None, options)
    in_use = None if current is None else {name: str(value) for name, value in current.items()}
    how = Advising(_names(choose), None if given is None else _names(given), current=in_use)
    return Result(answer(source, asked, how))


def run(what: str | None = None, *, level: float = 0.95, **asked: Any) -> Outcome:
    """Measure: an experiment file, a command, a benchmark, or the MTC envelope; every trial is stored.

    ``asked`` has the words of the options of ``iosonde run``: ``target="/mnt/x", nodes=(1, 2), store="results"``; see
    :class:`iosonde.campaign.request.Request`. The same call again resumes what was interrupted. Raises IncompleteError
    where trials are incomplete.
    """
    from iosonde.campaign.request import Request
    from iosonde.campaign.run import run as campaign

    made = campaign(Request(what=what, **asked), check_level(level))
    made.check()
    return made


def _asked(data: Any, response: Names, on: Names, options: DataOptions) -> tuple[Source, Asked]:
    source = open(data, options.get("where", ()), options.get("experiment"))
    level = check_level(options.get("level", 0.95))
    return source, Asked(_names(response), _names(on), options.get("clock", LAST_DONE), level)


def _names(names: Names) -> tuple[str, ...]:
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)


def _lines(answer: Answer) -> Iterable[str]:
    """The text of an answer: in ``report/text`` by the name of its class."""
    layout = importlib.import_module(f"iosonde.report.text.{_TEXTS[type(answer).__name__]}")
    lines: Iterable[str] = layout.lines(answer)
    return lines


_TEXTS = {
    "Advised": "advise", "AnalysisOfVariance": "anova", "Check": "check", "Comparisons": "compare", "Fitted": "fit",
    "LeastSquares": "regress", "Noise": "noise", "Rankings": "rank", "ScalingLaws": "scale", "Summary": "summary",
    "Verification": "verify",
}  # fmt: skip
_FIGURES = {"LeastSquares": "regression", "Rankings": "importance", "ScalingLaws": "scaling"}
