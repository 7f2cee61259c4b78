"""``iosonde survey``: what a tree of files holds, from a sample; what a survey costs, and how good it is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click

from iosonde import answers, report
from iosonde.cli.options.level import level_options
from iosonde.cli.options.types import Counts, Duration, FigureFile, SizeType
from iosonde.cli.output import emit, talk, write_figure
from iosonde.cli.progress import Counting, Waiting
from iosonde.commands.page_file import check_place_of_page
from iosonde.core.units import parse_rate, parse_share
from iosonde.foreign.child import LIMIT_S


class _OfPath(click.Group):
    """``survey PATH`` is ``survey tree PATH``: the first word is a path unless it is a command.

    A directory of a command's name is that path where what the command needs does not follow.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in _HELP and (args[0] not in self.commands or self._is_directory(ctx, args)):
            args = [_TREE, *args]
        return super().parse_args(ctx, args)

    def _is_directory(self, ctx: click.Context, args: list[str]) -> bool:
        name, *rest = args
        if any(flag in rest for flag in _HELP) or not os.path.isdir(name):
            return False
        needed = [option for parameter in self.commands[name].params if parameter.required for option in parameter.opts]
        if any(word.partition("=")[0] in needed for word in rest):
            return False
        try:
            self.commands[name].make_context(name, rest, parent=ctx)
        except (click.MissingParameter, click.NoSuchOption):
            return True
        except click.ClickException:
            return False
        return False


def _tell_hangs(hangs: Iterable[str]) -> None:
    for hang in hangs:
        talk(hang)


def _parse_codecs(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text != "none" else ()


_TREE = "tree"
_HELP = ("-h", "--help")
_IDLE = click.option(
    "--idle-timeout",
    type=Duration(),
    metavar="TIME",
    default=f"{LIMIT_S:g}s",
    help=f"Give up a file or directory that is silent for this long ({LIMIT_S:g}s).",
)


@click.group(cls=_OfPath, epilog="Example: iosonde survey /projects --precision 2%")
def command() -> None:
    """What a tree of files holds, from reading some hundred of them: iosonde survey PATH.

    Every file is counted, none is changed; which are read is drawn by count, for shares of the files, and by size, for
    shares of the capacity. A directory called plan, simulate or tree is meant where nothing follows that such a
    command needs; ./plan always is. The options of survey PATH are those of: iosonde survey tree --help
    """


@command.command(_TREE, epilog="Example: iosonde survey /projects --precision 2%")
@click.argument("path")
@click.option("--precision", type=parse_share, metavar="SHARE", default="5%", help="Of a share, ±, at worst (5%).")
@click.option("--until", metavar="SHARE", type=parse_share, help="End as soon as all shares are ± that narrow.")
@click.option("--for", "seconds", type=Duration(), metavar="TIME", help="End when so long was read, in random order.")
@click.option("--files", type=int, metavar="N", help="Instead, read at most N files.")
@click.option("--by", metavar="PART", help="directory, directory:DEPTH or owner: each has draws of its own.")
@click.option("--files-from", metavar="LIST", help="No walk: the files are those of a list (-: standard input).")
@click.option(
    "--codecs", metavar="NAME,…", type=_parse_codecs, default="lz4,zstd:3", help="Also gzip, bzip2, xz:9; none."
)
@click.option("--what-if", multiple=True, metavar="CHANGE", help="compress=zstd:3,older=1y,type=TIFF; archive=64KiB.")
@click.option("--allocated", is_flag=True, help="The capacity is what is allocated, not the sizes of files.")
@click.option("--other-file-systems", is_flag=True, help="Enter those that are mounted in the tree.")
@click.option("--snapshots", is_flag=True, help="Enter .snapshot, .zfs and .snap.")
@click.option("--store", metavar="DIR", help="Keep it there, as a run: for show, compare, watch.")
@click.option("--page", metavar="FILE", help="Write a page of it, with figures: one HTML file.")
@click.option("--rate", type=int, default=0, metavar="N", help="The walk looks at N entries a second at most.")
@click.option("--nice", is_flag=True, help="Let all others on the node go first (nice 19, idle I/O class).")
@click.option("--seed", type=int, default=0, show_default=True, help="The same draws the same files.")
@_IDLE
@level_options
def tree(store: str | None, page: str | None, as_json: bool, **given: Any) -> None:
    """Walk PATH, draw files by count and by size, read these, and say what that tells of all."""
    request = answers.survey.answer.SurveyQuery(**given)
    if survey_store := answers.survey.run.SurveyStore(Path(store)) if store else None:
        survey_store.check(request.path, request.idle_timeout)
    check_place_of_page(page)
    with Counting() as on_progress:
        survey = answers.survey.ranks.survey_together(request, on_progress, Waiting())
    if survey is None:  # of several processes one answers
        return
    _tell_hangs(survey.hangs)
    if survey_store:
        talk(f"kept as {survey_store.keep(survey, request)} in {store}")
    page_of, save = answers.survey.page.survey_page, report.page.survey.save_survey
    emit(
        survey, report.text.survey.lines(survey), as_json, (lambda: save(page_of(survey), page, talk)) if page else None
    )


@command.command(epilog="Example: iosonde survey simulate /usr --repetitions 1000")
@click.argument("path")
@click.option("--repetitions", type=int, default=100, show_default=True, help="Surveys of each kind.")
@click.option("--draws", type=Counts(), default="64,256,1024,4096", show_default=True, help="Sizes of the samples.")
@click.option(
    "--codecs", metavar="NAME,…", type=_parse_codecs, default="none", help="Read all bytes, too, and pack them."
)
@click.option("--by", metavar="PART", help="directory or directory:DEPTH: each has draws of its own.")
@click.option("--until", metavar="SHARE", type=parse_share, help="Instead, end as soon as all are ± that narrow.")
@click.option("--scan", metavar="FILE", help="Keep the full scan there; if it is there, draw from it.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same draws the same files.")
@click.option("--plot", type=FigureFile(), metavar="FILE", help="Estimates against the truth, as .png, .svg or .pdf.")
@_IDLE
@level_options
def simulate(plot: str | None, as_json: bool, **given: Any) -> None:
    """Look at every file below PATH, then survey that many times: by count, by size, and the wrong way."""
    request = answers.survey.simulate.SimulationQuery(**given)
    with Counting() as on_progress:
        simulation = answers.survey.simulate.simulate(request, on_progress, Waiting())
    _tell_hangs(simulation.hangs)
    draw = partial(write_figure, plot, lambda: report.figures.survey_simulation.figure(simulation))
    emit(simulation, report.text.survey_more.simulation_lines(simulation), as_json, draw)


@command.command(epilog="Example: iosonde survey plan --population 300000000 --capacity 50PB --rate 5GiB/s")
@click.option("--population", type=int, required=True, metavar="N", help="How many files there are.")
@click.option("--capacity", type=SizeType(), required=True, metavar="SIZE", help="What they hold.")
@click.option("--rate", metavar="RATE", default="1GiB/s", show_default=True, help="What one node reads.")
@click.option("--per-file", type=Duration(), metavar="TIME", default="10ms", help="For each file (10ms).")
@level_options
def plan(population: int, capacity: int, rate: str, per_file: float, level: float, as_json: bool) -> None:
    """How many files a survey reads for what precision, and what that costs. Nothing is looked at."""
    survey_plan = answers.survey.plan.plan(population, capacity, parse_rate(rate), per_file, level=level)
    emit(survey_plan, report.text.survey_more.plan_lines(survey_plan), as_json)
