"""What a tree of files holds, from a sample; how good that is, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack

from iosonde.core.units import parse_rate, parse_seconds, parse_size
from iosonde.foreign.child import LIMIT_S

from .result import Result
from .words import Names, checked, level_text, names, takes

if TYPE_CHECKING:
    from iosonde.answers.survey.answer import Survey
    from iosonde.answers.survey.plan import SurveyPlan
    from iosonde.answers.survey.simulate import Simulation


def _seconds(value: float | str) -> float:
    return parse_seconds(value) if isinstance(value, str) else value


class SurveyOptions(TypedDict, total=False):
    """The words of ``iosonde survey``."""

    precision: Annotated[float, 0.05]
    until: Annotated[float | None, None]
    seconds: Annotated[float | str | None, None]
    files: Annotated[int | None, None]
    codecs: Annotated[Names, ("lz4", "zstd:3")]
    allocated: Annotated[bool, False]
    other_file_systems: Annotated[bool, False]
    snapshots: Annotated[bool, False]
    by: Annotated[str | None, None]
    files_from: Annotated[str | None, None]
    store: Annotated[str | Path | None, None]
    page: Annotated[str | Path | None, None]
    rate: Annotated[int, 0]
    nice: Annotated[bool, False]
    what_if: Annotated[Names, None]
    idle_timeout: Annotated[float | str, LIMIT_S]
    seed: Annotated[int, 0]
    level: Annotated[float, 0.95]


@takes(SurveyOptions)
def survey_tree(path: str | Path, **options: Unpack[SurveyOptions]) -> Result[Survey]:
    """What a tree of files holds: a walk of all, and some hundred that are drawn and read.

    Parameters
    ----------
    path : path
        The directory.
    **options
        ``precision``: half the width of the interval of a share, at worst; ``until``: end as soon as all intervals
        are so narrow; ``seconds``: or when so long was read (``"10min"``); ``files``: instead, read at most so many;
        ``codecs``: of ``"zstd"``, ``"lz4"``, ``"gzip"``, ``"bzip2"``, ``"xz"``, with a level as ``"zstd:19"``, none
        for types alone; ``what_if``: changes, as ``"compress=zstd:3,older=1y"`` or ``"archive=64KiB"``;
        ``allocated``: the capacity is what is allocated; ``other_file_systems``, ``snapshots``: enter them; ``by``:
        ``"directory"``, ``"directory:2"`` or ``"owner"``, each with draws of its own; ``files_from``: a list of the
        files, instead of a walk; ``store``: keep it there, as a run; ``page``: write a page of it there, one
        HTML file; ``rate``: looks of the walk a second, at most;
        ``nice``: the least priority for this thread from now on; ``idle_timeout``: a file or directory that does not
        answer for so long is given up (``"30s"``); ``seed``; ``level``: of every interval.

    Returns
    -------
    Result[Survey]
        One row an estimate: the share of a type, of the files and of the capacity, what compression saves.
    """
    from iosonde.answers.survey.answer import SurveyQuery
    from iosonde.answers.survey.answer import survey as answer
    from iosonde.answers.survey.page import survey_page
    from iosonde.answers.survey.run import SurveyStore
    from iosonde.report.page.survey import save_survey
    from iosonde.report.text.survey import lines

    seconds = None if options["seconds"] is None else _seconds(options["seconds"])
    request = SurveyQuery(
        str(path), options["precision"], options["files"], checked(options["level"]), options["seed"],
        names(options["codecs"], "codecs"), options["allocated"], options["other_file_systems"], options["snapshots"],
        options["files_from"], options["until"], seconds,
        options["by"], options["rate"], options["nice"], names(options["what_if"], "what_if"),
        _seconds(options["idle_timeout"]),
    )  # fmt: skip
    place = None if options["store"] is None else SurveyStore(Path(options["store"]))
    if place is not None:
        place.check(request.path, request.idle_timeout)
    survey = answer(request)
    if place is not None:
        place.keep(survey, request)
    if options["page"] is not None:
        save_survey(survey_page(survey), options["page"])
    return Result(survey, lines)


class SimulationOptions(TypedDict, total=False):
    """The words of ``iosonde survey simulate``."""

    repetitions: Annotated[int, 100]
    draws: Annotated[Sequence[int], (64, 256, 1024, 4096)]
    codecs: Annotated[Names, ()]
    by: Annotated[str | None, None]
    until: Annotated[float | None, None]
    scan: Annotated[str | Path | None, None]
    idle_timeout: Annotated[float | str, LIMIT_S]
    seed: Annotated[int, 0]
    level: Annotated[float, 0.95]


@takes(SimulationOptions)
def survey_simulate(path: str | Path, **options: Unpack[SimulationOptions]) -> Result[Simulation]:
    """How good surveys of a tree are: the truth from all files, against samples drawn again and again.

    Parameters
    ----------
    path : path
        The directory; the head of every file in it is read.
    **options
        ``repetitions``: how many surveys of each kind; ``draws``: sizes of the samples; ``codecs``: read all bytes,
        too, for what these leave of them; ``by``: ``"directory"`` or ``"directory:2"``, each with draws of its own;
        ``until``: end as soon as the intervals of all shares are so narrow; ``scan``: a file in which the full scan is
        kept, or from which it is taken; ``idle_timeout``: as of ``survey_tree``; ``seed``; ``level``: of every
        interval.

    Returns
    -------
    Result[Simulation]
        One row a way of drawing, a number of files, and what was estimated.
    """
    from iosonde.answers.survey.simulate import SimulationQuery, simulate
    from iosonde.report.figures.survey_simulation import figure
    from iosonde.report.text.survey_more import simulation_lines

    scan = None if options["scan"] is None else str(options["scan"])
    request = SimulationQuery(
        str(path), options["repetitions"], options["seed"], checked(options["level"]), tuple(options["draws"]),
        names(options["codecs"], "codecs"), options["by"], options["until"], scan,
        _seconds(options["idle_timeout"]),
    )  # fmt: skip
    return Result(simulate(request), simulation_lines, figure)


def survey_plan(
    population: int, capacity: str | int, *, rate: str | float = "1GiB/s", per_file: str | float = "10ms",
    level: float = 0.95,
) -> Result[SurveyPlan]:  # fmt: skip
    """How many files a survey reads for what precision, and what that costs. Nothing is looked at.

    Parameters
    ----------
    population : int
        How many files there are.
    capacity : str or int
        What they hold: ``"50PB"``, or bytes.
    rate : str or float, optional
        What one node reads: ``"5GiB/s"``, or bytes/s.
    per_file : str or float, optional
        What each file takes besides: ``"10ms"``, or seconds.
    level : float, optional
        The confidence of every interval.

    Returns
    -------
    Result[SurveyPlan]
        One row a precision, the last for reading everything.
    """
    from iosonde.answers.survey.plan import plan
    from iosonde.report.text.survey_more import plan_lines

    speed = parse_rate(rate) if isinstance(rate, str) else rate
    size = parse_size(level_text(capacity))
    return Result(plan(population, size, speed, parse_seconds(per_file), level=checked(level)), plan_lines)
