"""The options that ``run`` and ``plan`` share. One that was not given is None: the file or a default says it then."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from iosonde import campaign

from .types import Counts, Duration, SizeType, Until

ON = ("single", "all", "each", "mpi")
OPTIONS = [
    click.argument("what", metavar="[SPEC|'COMMAND']", required=False),
    click.option("--file", metavar="FILE", help="An experiment file, whatever its name ends in."),
    click.option("--native", is_flag=True,
                 help="Do what COMMAND (of ior, mdtest or iozone) would do with our own engine."),
    click.option("--on", type=click.Choice(ON),
                 help="Where COMMAND runs [default: all; ior, mdtest, md-workbench and io500: mpi]."),
    click.option("--parse", metavar="auto|none|TOOL", help="What reads COMMAND's output [default: auto]."),
    click.option("--set", multiple=True, metavar="FACTOR=A,B,…", help="Levels of a factor (repeatable)."),
    click.option("--target", metavar="[NAME=]DIR", multiple=True, callback=lambda *arguments: arguments[-1],
                 help="Directory to measure (must exist); several are levels of the factor target (repeatable)."),
    click.option("--nodes", type=Counts(), metavar="1,2,4", help="Series of node counts [default: 1]."),
    click.option("--ranks-per-node", type=Counts(), metavar="K", help="Ranks on each node [default: 1]."),
    click.option("--repetitions", type=click.IntRange(1), metavar="N", 
                 help="Trials of each cell [default: 6]; with --against at most so many pairs [default: 100]."),
    click.option("--until", type=Until(), metavar="'ci<5%'",
                 help="Add repetitions until the interval of every mean is this narrow (Stein's two stages)."),
    click.option("--against", metavar="'COMMAND'",
                 help="Compare with this command: pairs in random order, until the verdict is clear."),
    click.option("--a-name", metavar="NAME", help="What COMMAND is called [default: itself if short, else A]."),
    click.option("--b-name", metavar="NAME", help="The same for that of --against."),
    click.option("--margin", metavar="5%", help="Of --against: differences below it do not matter [default: 5%]."),
    click.option("--metric", metavar="NAME,…",
                 help="Of --against: the number that decides; with others, what --fail-if judges [default: bandwidth, "
                      "else a rate, else the time; all]."),
    click.option("--fail-if", multiple=True, metavar="COND",
                 help="Of --against: end when this is told, as 'slower>5%', and exit 1 where it is so. Repeatable."),
    click.option("--budget", type=Duration(), metavar="30min", help="Start no trial that would end later."),
    click.option("--quick", is_flag=True, help="A look: 2 repetitions, small sizes; what a file says of it."),
    click.option("--full", is_flag=True, help="As large as a file says: what it was made after."),
    click.option("--launcher", metavar="NAME", help="local, mpirun or slurm [default: what fits]."),
    click.option("--hosts", metavar="FILE|NAMES", help="One host per line, or n1,n2; for mpirun."),
    click.option("--reserve", metavar="CMD",
                 help="A script that is called with the number of nodes and prints them; or 'salloc …', 'sbatch …'."),
    click.option("--store", metavar="DIR", help="Where the runs are kept, not on the target [default: iosonde-store]."),
    click.option("--name", metavar="TEXT", help="A name for this experiment."),
    click.option("--subject-commit", metavar="TEXT|auto",
                 help="The version of the file system under test, for watch; auto: of the Git repository here."),
    click.option("--seed", type=click.IntRange(0), metavar="S", help="Of the order and the data [default: drawn]."),
    click.option("--small-files", type=click.IntRange(1), metavar="N",
                 help="Envelope: small files per rank [default: 1000]."),
    click.option("--small-size", type=SizeType(), metavar="SIZE", help="Envelope: of a small file [default: 4KiB]."),
    click.option("--large-files", type=click.IntRange(1), metavar="N",
                 help="Envelope: large files per rank [default: 1]."),
    click.option("--large-size", type=SizeType(), metavar="SIZE", help="Envelope: of a large file [default: 64MiB]."),
    click.option("--transfer-size", type=SizeType(), metavar="SIZE",
                 help="Envelope: of one operation [default: 1MiB]."),
    click.option("--cache", type=click.Choice(["cold", "warm"]), help="Client cache before reads [default: cold]."),
    click.option("--before-reads", metavar="CMD",
                 help="Shell command, once per node before each read phase (remount, drop server caches)."),
    click.option("--between-trials", type=click.Choice(["none", "drop"]),
                 help="What is done with the nodes' caches between trials [default: none]."),
    click.option("--direct", is_flag=True, default=None, help="Envelope: large files with O_DIRECT."),
    click.option("--verify", is_flag=True, default=None, help="Envelope: stamp every block, check it on reading."),
    click.option("--shared-writes/--no-shared-writes", default=None,
                 help="Envelope: also write one file from all ranks [default: yes]."),
    click.option("--max-bytes", type=SizeType(), metavar="SIZE", help="Refuse a trial that needs more space."),
    click.option("--max-files", type=click.IntRange(1), metavar="N",
                 help="Refuse a trial that needs more files."),
    click.option("--max-seconds", type=Duration(), metavar="TIME", help="Refuse a longer campaign."),
    click.option("--max-operations", type=click.IntRange(1), metavar="N",
                 help="Operations recorded one by one in a run; beyond it counts, histogram and a sample "
                      "[default: 10 million]."),
    click.option("--trial-timeout", type=Duration(), metavar="TIME", help="End a trial after this time."),
    click.option("--idle-timeout", type=Duration(), metavar="TIME",
                 help="End a trial in which no rank gets on for so long [default: 5min]."),
    click.option("--pace", metavar="10min|50%",
                 help="Breaks: at most one trial in this time, or trials in at most this share of the time."),
    click.option("--abort-if", metavar="CMD",
                 help="Shell command, before each trial; exit code 0 ends the campaign. What was measured is kept."),
    click.option("--fake", metavar="MACHINE",
                 help="path-study: a scripted machine (read-ahead, lock, …) instead of the target."),
    click.option("--wait", type=Duration(), metavar="TIME",
                 help="Where another iosonde measures on this machine: wait for it so long, do not refuse at once."),
    click.option("--alongside", is_flag=True, help="Measure though another iosonde measures on this machine."),
    click.option("--spool", metavar="DIR", help="Where ranks leave results meanwhile [default: temporary]."),
]  # fmt: skip


def campaign_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All options of a measurement, as a decorator; they arrive as one ``Request``, called ``asked``."""

    @functools.wraps(command)
    def called(**arguments: Any) -> Any:
        request = campaign.request.Request
        words = {name: arguments.pop(name) for name in request.__dataclass_fields__ if name in arguments}
        return command(asked=request(**words), **arguments)

    decorated: Callable[..., Any] = called
    for option in reversed(OPTIONS):
        decorated = option(decorated)
    return decorated
