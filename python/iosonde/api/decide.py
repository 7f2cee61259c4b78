"""What to choose? Models that predict, how wrong they are on unseen rows, and advice with its measured gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Unpack

from .result import Result
from .words import (
    DataOptions,
    Names,
    Setting,
    check_choice,
    conditions,
    names,
    open,
    open_last_experiment,
    takes,
    texts,
    within,
)

if TYPE_CHECKING:
    from iosonde.answers.advise import Advised, AdvisedEach


class AdviseOptions(DataOptions, total=False):
    """How advice is judged. ``given`` None: of a store all other factors that were set."""

    given: Annotated[Names, None]
    better: Annotated[str | None, None]
    current: Annotated[Setting | None, None]
    workload: Annotated[Setting | None, None]
    depth: Annotated[int, 5]
    full: Annotated[bool, False]
    unweighted: Annotated[bool, False]
    against: Annotated[Any, None]


@takes(AdviseOptions)
def advise(
    data: Any, choose: Names, response: Names = None, **options: Unpack[AdviseOptions]
) -> Result[Advised | AdvisedEach]:
    """The best setting of ``choose`` for each workload, and what choosing it gains where it was not learned.

    Parameters
    ----------
    data : path, table or Source
    choose : str or sequence of str
        Columns that one may set.
    response : str, optional
        What to make better: a column; of a store an operation or metric; ``"log(Y)"``, ``"Y/nodes"``.
    **options
        ``given``: columns that describe the workload; of a store by default its others. ``better``: ``"higher"`` or
        ``"lower"``; by default as of the response. ``current``: the setting in use, as ``{"stripe_count": 4}``: the
        gain is then over it; by default what a campaign found before it set anything. ``workload``: what to set for
        this one, the ``--for`` of the command. ``depth``: at most so many questions; ``full``: all of them, not only
        those that are worth it; ``unweighted``: every instance counts alike. ``against``: new trials (DATA), which the
        promise is held against. And ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[Advised | AdvisedEach]
        One row a setting, as a default for everything; of a store with several operations, of each.
        ``.answer.files("romio", {})`` are the rules as files of a system; ``.plot()`` draws the loss by the depth of
        the tree; both of one response.
    """
    from iosonde.answers.advise import Advising
    from iosonde.answers.advise import advise as answer
    from iosonde.report.figures.depth import figure
    from iosonde.report.text.advise import lines

    cells = () if options["given"] is None else (*names(choose, "choose"), *names(options["given"], "given"))
    source, query = open_last_experiment(data, response, None, options, cells)
    if options["better"] is not None:
        check_choice(options["better"], ("higher", "lower"), "better")
    within(options["depth"], 0, 12, "depth")
    current, workload, workload_columns = options["current"], options["workload"], options["given"]
    how = Advising(
        names(choose, "choose"),
        None if workload_columns is None else names(workload_columns, "given"),
        options["better"],
        None if current is None else texts(current, "current"),
        options["depth"],
        options["full"],
        not options["unweighted"],
    )
    workload_setting = None if workload is None else texts(workload, "workload")
    new = None if options["against"] is None else open(options["against"], conditions(options), options["experiment"])
    return Result(answer(source, query, how, workload_setting, new), lines, figure)
