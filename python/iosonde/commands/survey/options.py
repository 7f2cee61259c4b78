"""``iosonde survey``: what a tree of files holds, from a sample; what a survey costs, and how good it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.commands.command import command
from iosonde.commands.declaration import CommandGroup
from iosonde.commands.files import build_figure_writer
from iosonde.commands.page_file import check_page_is_writable
from iosonde.commands.result import Result
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import Counts, Duration, FigureFile, Integer, Rate, Share, Size
from iosonde.core.options import Flag, NameList, Names, Text, V
from iosonde.data.options import LevelOptions
from iosonde.foreign.child import LIMIT_S

if TYPE_CHECKING:
    from .answer import Survey, SurveyQuery
    from .plan import SurveyPlan
    from .simulate import Simulation, SimulationQuery
    from .stored import SurveyStore

GROUP = CommandGroup(
    """Survey what a tree of files holds, from reading some hundred of them: iosonde survey PATH.

    Every file is counted, none is changed; which are read is drawn by count, for shares of the files, and by size, for
    shares of the capacity. A directory called plan, simulate or tree is meant where nothing follows that such a
    command needs; ./plan always is. The options of survey PATH are those of: iosonde survey tree --help
    """,
    "survey /projects --precision 2%",
    "tree",
)


class Codecs(Names[V]):
    """Names of codecs; ``none`` for no codec."""

    def parse(self, value: Any) -> NameList:
        """Return the names. Raises InputError for what is no text."""
        names = super().parse(value)
        return () if names == ("none",) else names


@dataclass
class TreeOptions(LevelOptions):
    """A tree of files, and how it is drawn from."""

    path: Text[str] = Text("PATH", "The directory.", is_argument=True, is_required=True)
    _: KW_ONLY
    seed: Integer[int] = Integer("S", "The same draws the same files.", 0, default_text="0")
    idle_timeout: Duration[float] = Duration(
        "TIME",
        "Give up a file or directory that is silent for this long.",
        LIMIT_S,
        default_text=f"{LIMIT_S:g}s",
    )


def report_hangs(hangs: Iterable[str]) -> None:
    """Say which files and directories did not answer."""
    for hang in hangs:
        get_front_end().remark(hang)


@dataclass
class SurveyOptions(TreeOptions):
    """Options of ``iosonde survey tree``."""

    _: KW_ONLY
    precision: Share[float] = Share("SHARE", "Half the width of a share's interval, at worst.", 0.05, default_text="5%")
    until: Share[float | None] = Share("SHARE", "End as soon as all shares are ± that narrow.")
    seconds: Duration[float | None] = Duration("TIME", "End when so long was read, in random order.", flag="for")
    files: Integer[int | None] = Integer("N", "Instead, read at most N files.")
    by: Text[str | None] = Text("PART", "directory, directory:DEPTH or owner: each has draws of its own.")
    files_from: Text[str | None] = Text("LIST", "No walk: the files are those of a list (-: standard input).")
    codecs: Codecs[NameList] = Codecs(
        "NAME,…",
        "What packs the bytes that are read: also gzip, bzip2, xz:9; none.",
        ("lz4", "zstd:3"),
        default_text="lz4,zstd:3",
    )
    what_if: Names[NameList] = Names(
        "CHANGE",
        "What this would save: compress=zstd:3,older=1y,type=TIFF; archive=64KiB. Repeatable.",
        (),
        is_repeatable=True,
    )
    allocated: Flag[bool] = Flag("The capacity is what is allocated, not the sizes of files.")
    other_file_systems: Flag[bool] = Flag("Enter those that are mounted in the tree.")
    snapshots: Flag[bool] = Flag("Enter .snapshot, .zfs and .snap.")
    store: Text[str | None] = Text("DIR", "Keep it there, as a run: for show, compare, watch.")
    page: Text[str | None] = Text("FILE", "Write a page of it, with figures: one HTML file.")
    rate: Integer[int] = Integer("N", "The walk looks at N entries a second at most.", 0)
    nice: Flag[bool] = Flag("Let all others on the node go first (nice 19, idle I/O class).")

    def build_query(self) -> SurveyQuery:
        """Return what the answer takes."""
        from .answer import SurveyQuery

        values = {field.name: getattr(self, field.name) for field in fields(SurveyQuery)}
        return SurveyQuery(**values | {"codecs": self.codecs or (), "what_if": self.what_if or ()})

    def open_store(self, query: SurveyQuery) -> SurveyStore | None:
        """Return where the survey is kept, checked before the walk; None for nowhere. Raises InputError."""
        from .stored import SurveyStore

        if not self.store:
            return None
        store = SurveyStore(Path(self.store))
        store.check(query.path, query.idle_timeout)
        return store


@command("", SurveyOptions)
def survey_tree(options: SurveyOptions) -> Result[Survey]:
    """Walk PATH, draw files by count and by size, read these, and infer the content of all. It is ``iosonde survey``.

    Returns
    -------
    Result[Survey]
        One row an estimate: the share of a type, of the files and of the capacity, what compression saves. A file that
        did not answer is an ``IosondeWarning``.

    Examples
    --------
    >>> iosonde.survey_tree("/projects", precision="2%")
    """
    from .answer import survey

    result = _survey(options, survey)
    assert result is not None
    return result


@command("survey tree", SurveyOptions, "survey /projects --precision 2%", in_python=False)
def survey_with_all_processes(options: SurveyOptions) -> Result[Survey] | None:
    """Walk PATH, draw files by count and by size, read these, and infer the content of all.

    Started by mpiexec, all processes walk, and the first answers.
    """
    from .ranks import survey_together

    return _survey(options, survey_together)


def _survey(options: SurveyOptions, survey_all: Callable[..., Survey | None]) -> Result[Survey] | None:
    from .text import lines

    query = options.build_query()
    store = options.open_store(query)
    check_page_is_writable(options.page)
    with get_front_end().count_progress() as on_progress:
        survey = survey_all(query, on_progress, get_front_end().waiting())
    if survey is None:
        return None
    report_hangs(survey.hangs)
    if store:
        get_front_end().note(f"kept as {store.keep(survey, query)} in {options.store}")
    return Result(survey, lines, write=_page_writer(survey, options.page))


def _page_writer(survey: Survey, path: str | None) -> Callable[[], None] | None:
    from .for_page import build_survey_page
    from .section import save_survey

    return (lambda: save_survey(build_survey_page(survey), path, get_front_end().note)) if path else None


@dataclass
class SimulationOptions(TreeOptions):
    """Options of ``iosonde survey simulate``."""

    _: KW_ONLY
    repetitions: Integer[int] = Integer("N", "Surveys of each kind.", 100)
    draws: Counts[tuple[int, ...]] = Counts(
        "N,…", "Sizes of the samples.", (64, 256, 1024, 4096), default_text="64,256,1024,4096"
    )
    codecs: Codecs[NameList] = Codecs("NAME,…", "Read all bytes, too, and pack them.", (), default_text="none")
    by: Text[str | None] = Text("PART", "directory or directory:DEPTH: each has draws of its own.")
    until: Share[float | None] = Share("SHARE", "Instead, end as soon as all are ± that narrow.")
    scan: Text[str | None] = Text("FILE", "Keep the full scan there; if it is there, draw from it.")
    plot: FigureFile[str | None] = FigureFile("FILE", "Estimates against the truth, as .png, .svg or .pdf.")

    def build_query(self) -> SimulationQuery:
        """Return what the answer takes. Raises InputError."""
        from .simulate import SimulationQuery

        values = {field.name: getattr(self, field.name) for field in fields(SimulationQuery)}
        return SimulationQuery(**values | {"codecs": self.codecs or ()})


@command("survey simulate", SimulationOptions, "survey simulate /usr --repetitions 1000")
def survey_simulate(options: SimulationOptions) -> Result[Simulation]:
    """Look at every file below PATH, then survey that many times: by count, by size, and the wrong way.

    Returns
    -------
    Result[Simulation]
        One row a way of drawing, a number of files, and what was estimated.
    """
    from .figure_simulation import figure
    from .simulate import simulate
    from .text_more import simulation_lines

    query = options.build_query()
    with get_front_end().count_progress() as on_progress:
        simulation = simulate(query, on_progress, get_front_end().waiting())
    report_hangs(simulation.hangs)
    return Result(simulation, simulation_lines, figure, build_figure_writer(options.plot, lambda: figure(simulation)))


@dataclass
class SurveyPlanOptions(LevelOptions):
    """Options of ``iosonde survey plan``."""

    population: Integer[int] = Integer("N", "How many files there are.", is_required=True)
    capacity: Size[int] = Size("SIZE", "What they hold.", is_required=True)
    _: KW_ONLY
    rate: Rate[float] = Rate("RATE", "What one node reads.", "1GiB/s")
    per_file: Duration[float] = Duration("TIME", "For each file.", "10ms")


@command("survey plan", SurveyPlanOptions, "survey plan --population 300000000 --capacity 50PB --rate 5GiB/s")
def survey_plan(options: SurveyPlanOptions) -> Result[SurveyPlan]:
    """Compute how many files a survey reads for what precision, and what that costs. Nothing is looked at.

    Returns
    -------
    Result[SurveyPlan]
        One row a precision, the last for reading everything.
    """
    from .plan import plan_survey
    from .text_more import plan_lines

    survey_plan = plan_survey(options.population, options.capacity, options.rate, options.per_file, level=options.level)
    return Result(survey_plan, plan_lines)
