"""``iosonde lab …`` of a lab that is up: options, counts, placement, mounts, faults."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.commands.command import command
from iosonde.commands.result import Result
from iosonde.core.faults import KINDS
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import Duration
from iosonde.core.options import Choice, NameList, Names, Text
from iosonde.core.pairs import parse_pair
from iosonde.data.options import LevelOptions
from iosonde_lab.command.choice import LabChoice


@dataclass
class SetOptions(LabChoice):
    """Options of ``iosonde lab set``."""

    assignments: Names[NameList] = Names(
        "OPTION=VALUE...", "What to change.", is_argument=True, is_required=True, is_repeatable=True
    )


@command("lab set", SetOptions, "lab set performance.write-behind=off", in_python=False)
def set_options(options: SetOptions) -> Result[Any]:
    """Change options of the file system while it runs; the clients have them when this returns."""
    from iosonde_lab import api as labs
    from iosonde_lab.command import text

    lab = options.open_lab()
    return Result(labs.set_options(lab, dict(map(parse_pair, options.assignments))), text.options)


@dataclass
class GetOptions(LabChoice):
    """Options of ``iosonde lab get``."""

    names: Names[NameList] = Names("[OPTION]...", "Which options.", (), is_argument=True, is_repeatable=True)


@command("lab get", GetOptions, "lab get performance.write-behind performance.cache-size", in_python=False)
def get_options(options: GetOptions) -> Result[Any]:
    """Show options that are in force now: those named, else those that are usually varied."""
    from iosonde_lab import api as labs
    from iosonde_lab.command import text

    return Result(labs.get_options(options.open_lab(), options.names), text.options)


@dataclass
class ProfileOptions(LabChoice):
    """Options of ``iosonde lab profile``."""

    switch: Choice[str | None] = Choice(
        ("on", "off"), "Count operations, or stop counting.", metavar="[on|off]", is_argument=True
    )


@command(
    "lab profile", ProfileOptions, "lab profile on; iosonde lab run --nodes 1; iosonde lab profile", in_python=False
)
def show_profile(options: ProfileOptions) -> Result[Any] | None:
    """Show what the servers did, operation by operation; `on` has them count from zero, `off` no more."""
    from iosonde_lab import api as labs
    from iosonde_lab.command import text

    lab = options.open_lab()
    if options.switch is not None:
        labs.count_operations(lab, options.switch == "on")
        return None
    return Result(labs.profile(lab), text.profile)


@dataclass
class PlacementOptions(LabChoice, LevelOptions):
    """Options of ``iosonde lab placement``."""

    path: Text[str] = Text("PATH", "A file or a directory, below the mount.", is_argument=True, is_required=True)


@command("lab placement", PlacementOptions, "lab placement data/f1; iosonde lab placement data", in_python=False)
def show_placement(options: PlacementOptions) -> Result[Any]:
    """Show on which servers the bytes of a file are, from the servers' own files; PATH below the mount.

    Of a directory: files and bytes by server, and whether they are spread as chance would have it.
    """
    from iosonde_lab import api as labs
    from iosonde_lab.command import text
    from iosonde_lab.command.spread import answer
    from iosonde_lab.command.text_spread import lines

    lab, path = options.open_lab(), Path(options.path)
    if labs.is_directory(lab, path):
        return Result(answer(lab, str(path), labs.placements(lab, path), options.level), lines)
    return Result(labs.placement(lab, path), text.placement)


@dataclass
class ClientOptions(LabChoice):
    """Options of ``iosonde lab mount``, ``unmount`` and ``remount``."""

    clients: Names[NameList] = Names("[CLIENT]...", "All by default.", (), is_argument=True, is_repeatable=True)


@command("lab mount", ClientOptions, "lab unmount client1; iosonde lab mount client1", in_python=False)
def mount_clients(options: ClientOptions) -> None:
    """Mount the file system on clients, all by default; on a client itself, there."""
    from iosonde_lab import api as labs

    labs.mount(options.open_lab(), options.clients)


@command("lab unmount", ClientOptions, "lab unmount client1; iosonde lab mount client1", in_python=False)
def unmount_clients(options: ClientOptions) -> None:
    """Unmount it there: nothing that a client has cached is left."""
    from iosonde_lab import api as labs

    labs.unmount(options.open_lab(), options.clients)


@command("lab remount", ClientOptions, "lab remount client1", in_python=False)
def remount_clients(options: ClientOptions) -> None:
    """Unmount it there and mount it again, so that what is read next comes from the servers."""
    from iosonde_lab import api as labs

    labs.remount(options.open_lab(), options.clients)


@dataclass
class HealOptions(LabChoice):
    """Options of ``iosonde lab heal``."""

    host: Text[str | None] = Text("HOST", "All by default.", is_argument=True)
    limit: Duration[float] = Duration("TIME", "Wait so long.", "5min")


@dataclass
class FaultOptions(LabChoice):
    """Options of ``iosonde lab fault``."""

    kind: Choice[str] = Choice(tuple(KINDS), "What to inflict.", metavar="KIND", is_argument=True, is_required=True)
    host: Text[str] = Text("HOST", "Where.", is_argument=True, is_required=True)
    rate: Text[str | None] = Text("RATE", "Of a slow link or disk.", is_argument=True)
    duration: Duration[float | None] = Duration("TIME", "Undo it after so long, and wait until well.", flag="for")
    limit: Duration[float] = HealOptions.limit


@command("lab fault", FaultOptions, "lab fault kill-server server2 --for 10s", in_python=False)
def inflict_fault(options: FaultOptions) -> Result[Any]:
    """Inflict a fault on a host: kill-server, stop, cut-link, partition, fill-disk, slow-link RATE, slow-disk RATE.

    It stays until `iosonde lab heal`, and `iosonde lab status` names it.
    """
    from iosonde_lab import api as labs
    from iosonde_lab.command import text

    lab = options.open_lab()
    fault = labs.inflict(lab, options.kind, lab.host(options.host), options.rate)
    if options.duration is None:
        return Result(fault, text.fault)
    get_front_end().note(f"{options.host}: {options.kind}, for {options.duration:g} s")
    try:
        time.sleep(options.duration)
    finally:
        healing = labs.heal(lab, options.host, options.limit)
    return Result(healing, text.healing)


@command("lab heal", HealOptions, "lab heal server2", in_python=False)
def heal_faults(options: HealOptions) -> Result[Any]:
    """Undo faults, of a host or all; wait until the file system is well, and say how long it took."""
    from iosonde_lab import api as labs
    from iosonde_lab.command import text

    return Result(labs.heal(options.open_lab(), options.host, options.limit), text.healing)
