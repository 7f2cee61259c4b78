"""What single operations tell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from .result import Result
from .words import DataOptions, Names, open_last_experiment, takes, texts

if TYPE_CHECKING:
    from iosonde.answers.diagnose.answer import OperationCauses


@takes(DataOptions)
def diagnose(
    data: Any, response: Names = None, *, bandwidth: str | float = "stable", confirm: str | Path | None = None,
    name: Mapping[str, str] | None = None, **options: Unpack[DataOptions],
) -> Result[OperationCauses]:  # fmt: skip
    """Why operations were slow: classes by how long they took, what each has in common, what it costs.

    Parameters
    ----------
    data : path, table or Source
        A store with recorded operations, or a table with a row for each operation.
    response : str, optional
        Of a table the column that says how long each operation took.
    bandwidth : str or float, optional
        Of the density of log duration: ``"stable"`` (the number of hills that stays over most bandwidths), ``"isj"``,
        ``"silverman"``, ``"scott"``, or a number, as 0.05 for 5 %.
    confirm : path, optional
        Of a store: write the experiment that would confirm the costliest finding, to a file that is not there.
    name : dict of str, optional
        What to call classes, by label or by place from the fastest on: ``{"class 1": "cached", "slow": "cold"}``.
    **options
        ``where``, ``incomplete``, ``metric`` (names of operations), ``experiment``, ``level``; a ``clock`` is
        refused.

    Returns
    -------
    Result[OperationCauses]
        One row a class; ``.plot()`` draws the operations by class and the density.

    Examples
    --------
    >>> iosonde.diagnose("results", metric="read_large").plot().save("classes.png")
    """
    from iosonde.answers.diagnose.answer import bandwidth_of, check_clock
    from iosonde.answers.diagnose.answer import diagnose as answer
    from iosonde.answers.diagnose.confirm import write
    from iosonde.answers.diagnose.names import rename_classes
    from iosonde.report.figures.diagnose import figure
    from iosonde.report.text.diagnose import lines

    width = bandwidth_of(bandwidth)
    check_clock(options["clock"])
    source, query = open_last_experiment(data, response, None, options, alike=False)
    causes = answer(source, query.level, query.metric, query.response, width)
    if name is not None:
        causes = rename_classes(causes, texts(name, "name"))
    if confirm is not None:
        write(source, causes, Path(confirm))
    return Result(causes, lines, figure)
