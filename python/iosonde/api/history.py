"""What changed over the history of a store?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Unpack

from .result import Result
from .words import DataOptions, Names, level_text, open_query, takes

if TYPE_CHECKING:
    from iosonde.answers.watch import Watch


class WatchOptions(DataOptions, total=False):
    """What counts as a change, and which are new: the options of ``iosonde watch``, shares as ``"3%"`` or 0.03."""

    least: Annotated[str | float, "3%"]
    min_segment: Annotated[int, 5]
    newest: Annotated[int, 14]
    since: Annotated[str | None, None]
    false_alarms: Annotated[str | float, "5%"]
    looks: Annotated[int, 365]


@takes(WatchOptions)
def watch(data: Any, response: Names = None, **options: Unpack[WatchOptions]) -> Result[Watch]:
    """Changes over the history of a store: when, by how much, and with which commit or change of the system.

    A series is one metric of one operation at one setting, in the order of time. Autocorrelation is respected, and
    false alarms are counted over all series and over a year of daily looks.

    Parameters
    ----------
    data : path or Source
        A store.
    response : str or sequence of str, optional
        Operations or metrics; by default what was measured.
    **options
        ``least``: the smallest change that counts; ``min_segment``: points on either side of one; ``newest``: changes
        among so many last points are new, or ``since``: those from a date, a run or a commit on; ``false_alarms``: the
        most of all series and of so many ``looks`` together. And ``where``, ``incomplete``, ``metric``, ``clock``,
        ``experiment``, ``level``.

    Returns
    -------
    Result[Watch]
        One row a change; ``.answer.problem`` is whether there is a new one for the worse.
    """
    from iosonde.answers.watch import watch as answer
    from iosonde.answers.watch import watching
    from iosonde.core.units import parse_share
    from iosonde.report.text.watch import lines

    source, query = open_query(data, response, None, options)
    least, most = parse_share(level_text(options["least"])), parse_share(level_text(options["false_alarms"]))
    how = watching(least, options["min_segment"], options["newest"], options["since"], most, options["looks"])
    return Result(answer(source, query, how), lines)
