"""``iosonde lab``: an emulated cluster on this machine, with a real file system on it."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import click

from iosonde import answers, report
from iosonde import lab as labs
from iosonde.cli import lab_campaign
from iosonde.cli.commands import lab_live
from iosonde.cli.options.types import Duration, FigureFile, SizeType
from iosonde.cli.output import emit, talk, write_figure
from iosonde.cli.progress import Waiting
from iosonde.core.errors import InputError
from iosonde.core.pairs import pair_of


@click.group(epilog="Example: iosonde lab up glusterfs --servers 3 --clients 2 --net 993mbit --set replica=3")
def command() -> None:
    """An emulated cluster on this machine, with a real file system on it. Needs root."""
    labs.tell_waiting(Waiting())


@command.command(epilog="Example: iosonde lab up glusterfs --net 993mbit --disk-read 117MB/s --disk-write 148MB/s")
@click.argument("file_system", metavar="FILE-SYSTEM")
@click.option("--name", metavar="NAME", help="What the lab is called [default: its file system's name].")
@click.option("--servers", type=click.IntRange(1), metavar="N", help="Hosts with disks [default: 3, or 1].")
@click.option("--clients", type=click.IntRange(1), default=2, show_default=True, metavar="N", help="Hosts that mount.")
@click.option("--clients-on-servers", type=click.IntRange(0), metavar="N", help="So many of these are servers, too.")
@click.option("--net", metavar="RATE", help="Each link, in Ethernet bits: 993mbit [default: not limited].")
@click.option("--delay", type=Duration(), metavar="TIME", help="Round trip between two hosts, added.")
@click.option("--base-fs", metavar="FS", help="Below the servers: xfs, ext4, ext3, btrfs, tmpfs [default: xfs].")
@click.option("--disk-size", type=SizeType(), metavar="SIZE", help="Of each server [default: 2GiB].")
@click.option("--disk-read", metavar="RATE", help="Of each disk, like 117MB/s [default: not limited].")
@click.option("--disk-write", metavar="RATE", help="Of each disk [default: not limited].")
@click.option("--write-back", type=SizeType(), metavar="SIZE", help="What servers may hold back of each disk's writes.")
@click.option("--cpus", type=float, metavar="N", help="CPUs that each host may use at once.")
@click.option("--scale", type=float, metavar="N", help="Divide all rates by this.")
@click.option("--set", "settings", multiple=True, metavar="OPTION=VALUE", help="Of the file system; see lab list.")
@click.option("--json", "as_json", is_flag=True, help="The lab as JSON.")
def up(settings: tuple[str, ...], as_json: bool, **words: Any) -> None:
    """Bring a cluster up: hosts, links, disks, the file system, mounts; then see what was really emulated."""
    lab = labs.up(labs.described(words, dict(pair_of(setting, "--set") for setting in settings)), talk)
    status = labs.status(lab.name)
    emit(status, report.text.lab.lines(status), as_json)


@command.command(epilog="Example: iosonde lab status")
@lab_live.LAB_OPTION
@click.option("--plot", type=FigureFile(), metavar="FILE", help="Draw it, as `iosonde upgrade --plot` does a cluster.")
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def status(name: str | None, plot: str | None, as_json: bool) -> None:
    """What a lab is, what its links and disks really give, and whether its file system is well."""
    lab_status = labs.status(name)
    draw = partial(
        write_figure, plot, lambda: report.cluster_plot.cluster_plot(answers.lab_cluster.cluster_of(lab_status))
    )
    emit(lab_status, report.text.lab.lines(lab_status), as_json, draw)


@command.command(
    "exec", epilog="Example: iosonde lab exec client1 df -h", context_settings={"allow_interspersed_args": False}
)
@lab_live.LAB_OPTION
@click.argument("host")
@click.argument("words", nargs=-1, metavar="[COMMAND]...", type=click.UNPROCESSED)
def exec_(name: str | None, host: str, words: tuple[str, ...]) -> None:
    """Run a command on a host, or a shell; its exit code is ours."""
    labs.need_root()
    words = words[1:] if words[:1] == ("--",) else words  # as after ssh and docker
    lab = labs.open_lab(name)
    _hand_over(lab, lab.host(host), words or (os.environ.get("SHELL", "sh"),))


@command.command(
    epilog="Examples: iosonde lab run --nodes 1,2 --store results; iosonde lab run examples/lab/replicas.yaml",
    context_settings={"ignore_unknown_options": True},
)
@lab_live.LAB_OPTION
@click.argument("words", nargs=-1, metavar="[EXPERIMENT] [OPTION]...", type=click.UNPROCESSED)
def run(name: str | None, words: tuple[str, ...]) -> None:
    """Measure a lab's file system from its clients: `iosonde run`, with the target and the hosts filled in.

    An experiment file with a section `lab` brings up what it asks for, again for every setting of the lab, and takes
    it down afterwards. The options are those of `iosonde run`; the same command again resumes.
    """
    labs.need_root()
    if not lab_campaign.asks_for_labs(words):
        lab = labs.open_lab(name)
        words = lab_campaign.remounting(words, [lab.description.file_system])
        _hand_over(lab, lab.clients[0], labs.run_words(lab, words))
    if name:
        raise InputError(
            "conflicting-options",
            "{spell.lab} names a lab that is there, and this experiment brings up its own",
            "leave one out",
        )
    lab_campaign.measure(words)


@command.command(epilog="Example: iosonde lab down glusterfs")
@click.argument("name", required=False)
@click.option("--all", "every", is_flag=True, help="All labs that there are.")
def down(name: str | None, every: bool) -> None:
    """Take a lab down, whole or half made: nothing of it stays, and nothing else is touched."""
    labs.need_root()
    if every and name:
        raise InputError("conflicting-options", "{spell.all} and a name are two wishes", "give one of them")
    for lab_name in [running_lab for running_lab, _, _ in labs.labs()] if every else [name or labs.only()]:
        labs.down(lab_name)
        talk(f"{lab_name}: nothing of it is left")


@command.command("list", epilog="Example: iosonde lab list")
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def list_(as_json: bool) -> None:
    """The labs that there are, and the file systems that one can hold, with what each still needs."""
    listing = labs.listing()
    emit(listing, report.text.lab.listing(listing), as_json)


def _hand_over(lab: labs.Lab, host: labs.LabHost, words: tuple[str, ...]) -> None:
    """Become a command on a host, in the directory that we are in."""
    inside = host.words(*words, directory=os.getcwd())
    os.execvpe(inside[0], inside, host.environment())


for _name, _command in lab_live.COMMANDS.items():
    command.add_command(_command, _name)
