"""``iosonde lab``: an emulated cluster on this machine, with a real file system on it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from iosonde.commands.command import command
from iosonde.commands.declaration import CommandGroup
from iosonde.commands.files import build_figure_writer
from iosonde.commands.result import Result
from iosonde.commands.run.measurement import Measurement
from iosonde.commands.run.options import RunOptions
from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.message import spell
from iosonde.core.option_kinds import Duration, FigureFile, Integer, Number, Size
from iosonde.core.option_words import replace_options
from iosonde.core.options import Flag, NameList, Names, Rest, Text
from iosonde.core.pairs import parse_pair

from .choice import LabChoice, become_command, share_waiting
from .live import options as _live  # noqa: F401  # declares the commands about a lab that is up

GROUP = CommandGroup(
    "An emulated cluster on this machine, with a real file system on it. Needs root.",
    "lab up glusterfs --servers 3 --clients 2 --net 993mbit --set replica=3",
)


@dataclass
class UpOptions:
    """Options of ``iosonde lab up``."""

    file_system: Text[str] = Text("FILE-SYSTEM", "What it holds; see lab list.", is_argument=True, is_required=True)
    name: Text[str | None] = Text("NAME", "What the lab is called.", default_text="its file system's name")
    servers: Integer[int | None] = Integer(
        "N", "Hosts with disks.", least=1, default_text="3; 1 where there is one server"
    )
    clients: Integer[int] = Integer("N", "Hosts that mount.", 2, least=1)
    clients_on_servers: Integer[int | None] = Integer("N", "So many of these are the first servers, too.", least=0)
    net: Text[str | None] = Text("RATE", "Each link, in Ethernet bits: 993mbit.", default_text="not limited")
    delay: Duration[float | None] = Duration("TIME", "Round trip between two hosts, added.")
    base_fs: Text[str | None] = Text("FS", "Below the servers: xfs, ext4, ext3, btrfs, tmpfs.", default_text="xfs")
    disk_size: Size[int | None] = Size("SIZE", "Of each server.", default_text="2GiB")
    disk_read: Text[str | None] = Text("RATE", "Of each disk, like 117MB/s.", default_text="not limited")
    disk_write: Text[str | None] = Text("RATE", "Of each disk.", default_text="not limited")
    write_back: Size[int | None] = Size(
        "SIZE", "What servers may hold back of each disk's writes.", default_text="a fifth of the memory"
    )
    cpus: Number[float | None] = Number("N", "CPUs that each host may use at once.")
    scale: Number[float | None] = Number("N", "Divide all rates by this.")
    settings: Names[NameList] = Names(
        "OPTION=VALUE", "Of the file system; see lab list. Repeatable.", (), flag="set", is_repeatable=True
    )

    @property
    def words(self) -> Mapping[str, Any]:
        """What describes the cluster, without the options of its file system."""
        return {name: value for name, value in vars(self).items() if name != "settings"}

    @property
    def file_system_options(self) -> dict[str, str]:
        """Option → value. Raises InputError."""
        return dict(parse_pair(text, str(spell.set)) for text in self.settings)


@command(
    "lab up", UpOptions, "lab up glusterfs --net 993mbit --disk-read 117MB/s --disk-write 148MB/s", in_python=False
)
def bring_up(options: UpOptions) -> Result[Any]:
    """Bring a cluster up: hosts, links, disks, the file system, mounts; then see what was really emulated."""
    from iosonde_lab import api as labs

    from .text import lines

    share_waiting()
    lab = labs.up(labs.described(options.words, options.file_system_options), get_front_end().note)
    return Result(labs.status(lab.name), lines)


@dataclass
class StatusOptions(LabChoice):
    """Options of ``iosonde lab status``."""

    plot: FigureFile[str | None] = FigureFile("FILE", "Draw it, as `iosonde upgrade --plot` does a cluster.")


@command("lab status", StatusOptions, "lab status", in_python=False)
def show_status(options: StatusOptions) -> Result[Any]:
    """Show what a lab is, what its links and disks really give, and whether its file system is well."""
    from iosonde.commands.upgrade.figure import cluster_plot
    from iosonde_lab import api as labs

    from .cluster import cluster_of
    from .text import lines

    share_waiting()
    status = labs.status(options.lab)
    return Result(status, lines, write=build_figure_writer(options.plot, lambda: cluster_plot(cluster_of(status))))


@dataclass
class ExecOptions(LabChoice):
    """Options of ``iosonde lab exec``."""

    host: Text[str] = Text("HOST", "A host of the lab.", is_argument=True, is_required=True)
    words: Rest = Rest("[COMMAND]...", "The command; a shell if there is none.")


@command("lab exec", ExecOptions, "lab exec client1 df -h", in_python=False)
def run_on_host(options: ExecOptions) -> None:
    """Run a command on a host, or a shell; its exit code is ours."""
    lab = options.open_lab()
    words = options.words[1:] if options.words[:1] == ("--",) else options.words  # as after ssh and docker
    become_command(lab, lab.host(options.host), words or (os.environ.get("SHELL", "sh"),))


@dataclass
class LabRunOptions(LabChoice, RunOptions):
    """Options of ``iosonde lab run``: those of ``iosonde run``, and the lab."""


@command(
    "lab run",
    LabRunOptions,
    "lab run --nodes 1,2 --store results; iosonde lab run examples/lab/replicas.yaml",
    in_python=False,
)
def measure_lab(options: LabRunOptions) -> Measurement | int:
    """Measure a lab's file system from its clients: `iosonde run`, with the target and the hosts filled in.

    An experiment file with a section lab brings up what it asks for, again for every setting of the lab, and takes
    it down afterwards. The options are those of `iosonde run`; the same command again resumes.
    """
    from iosonde_lab import api as labs

    from .campaigns import measure_in_labs
    from .requested_labs import read_lab_file

    labs.need_root()
    if not read_lab_file(options).asks:
        _become_run(options)
    if options.lab:
        raise InputError(
            "conflicting-options",
            "{spell.lab} names a lab that is up, and this experiment brings up its own",
            "leave one out",
        )
    share_waiting()
    return measure_in_labs(options)


def _become_run(options: LabRunOptions) -> NoReturn:
    """Become ``iosonde run`` on the first client of the lab that is up."""
    from iosonde_lab import api as labs

    from .campaigns import mount_before_cold_reads

    lab = options.open_lab()
    options = mount_before_cold_reads(options, [lab.description.file_system])
    words = replace_options(options, lab=None).words()
    is_json = ("--json",) if get_front_end().is_json else ()
    become_command(lab, lab.clients[0], labs.run_words(lab, (*words, *is_json)))


@dataclass
class DownOptions:
    """Options of ``iosonde lab down``."""

    name: Text[str | None] = Text("NAME", "The lab; the only one if it is not named.", is_argument=True)
    every: Flag[bool] = Flag("All labs that there are.", flag="all")


@command("lab down", DownOptions, "lab down glusterfs", in_python=False)
def take_down(options: DownOptions) -> None:
    """Take a lab down, complete or not: nothing of it stays, and nothing else is touched."""
    from iosonde_lab import api as labs

    share_waiting()
    labs.need_root()
    if options.every and options.name:
        raise InputError("conflicting-options", "{spell.all} and a name exclude each other", "give one of them")
    for name in [lab for lab, _, _ in labs.labs()] if options.every else [options.name or labs.only()]:
        labs.down(name)
        get_front_end().note(f"{name}: nothing of it is left")


@dataclass
class ListOptions:
    """``iosonde lab list`` has no options of its own."""


@command("lab list", ListOptions, "lab list", in_python=False)
def list_labs(options: ListOptions) -> Result[Any]:
    """List the labs that there are, and the file systems that one can hold, with what each still needs."""
    from iosonde_lab import api as labs

    from .text import listing

    share_waiting()
    return Result(labs.listing(), listing)
