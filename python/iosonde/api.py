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

    from iosonde.answers.check import Check, Noise
    from iosonde.answers.rank import Rankings
    from iosonde.answers.summary import Summary
    from iosonde.answers.verify import Verification

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
    "Check": "check", "Noise": "noise", "Rankings": "rank", "Summary": "summary", "Verification": "verify",
}  # fmt: skip
