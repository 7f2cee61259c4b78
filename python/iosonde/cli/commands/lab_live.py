"""``iosonde lab …`` of a lab that is up: options, counts, placement, mounts, faults."""

from __future__ import annotations

import time
from pathlib import Path

import click

from iosonde import answers, report
from iosonde import lab as labs
from iosonde.cli.options.level import level_options
from iosonde.cli.options.types import Duration
from iosonde.cli.output import emit, talk
from iosonde.core.pairs import pair_of

LAB_OPTION = click.option("--lab", "name", metavar="NAME", help="Which lab, where there are several.")
_JSON = click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
_CLIENTS = click.argument("clients", nargs=-1, metavar="[CLIENT]...")
_LIMIT = click.option("--limit", type=Duration(), default=300.0, metavar="TIME", help="Wait so long [default: 5min].")


@click.command(epilog="Example: iosonde lab set performance.write-behind=off")
@LAB_OPTION
@click.argument("options", nargs=-1, required=True, metavar="OPTION=VALUE...")
@_JSON
def set_(name: str | None, options: tuple[str, ...], as_json: bool) -> None:
    """Change options of the file system while it runs; the clients have them when this returns."""
    values = labs.set_options(_open(name), dict(pair_of(option) for option in options))
    emit(values, report.text.lab.options(values), as_json)


@click.command(epilog="Example: iosonde lab get performance.write-behind performance.cache-size")
@LAB_OPTION
@click.argument("options", nargs=-1, metavar="[OPTION]...")
@_JSON
def get(name: str | None, options: tuple[str, ...], as_json: bool) -> None:
    """Options as they are in force now: those named, else those that are usually varied."""
    values = labs.get_options(_open(name), options)
    emit(values, report.text.lab.options(values), as_json)


@click.command(epilog="Example: iosonde lab profile on; iosonde lab run --nodes 1; iosonde lab profile")
@LAB_OPTION
@click.argument("switch", type=click.Choice(["on", "off"]), required=False)
@_JSON
def profile(name: str | None, switch: str | None, as_json: bool) -> None:
    """What the servers did, operation by operation; `on` has them count from zero, `off` no more."""
    lab = _open(name)
    if switch is not None:
        labs.count_operations(lab, switch == "on")
        return
    counts = labs.profile(lab)
    emit(counts, report.text.lab.profile(counts), as_json)


@click.command(epilog="Examples: iosonde lab placement data/f1; iosonde lab placement data")
@LAB_OPTION
@click.argument("path", type=click.Path(path_type=Path))
@level_options
def placement(name: str | None, path: Path, level: float, as_json: bool) -> None:
    """On which servers the bytes of a file are, from the servers' own files; PATH below the mount.

    Of a directory: files and bytes by server, and whether they are spread as chance would have it.
    """
    lab = _open(name)
    if labs.is_directory(lab, path):
        spread = answers.lab_spread.answer(lab, str(path), labs.placements(lab, path), level)
        emit(spread, report.text.lab_spread.lines(spread), as_json)
        return
    layout = labs.placement(lab, path)
    emit(layout, report.text.lab.placement(layout), as_json)


@click.command(epilog="Example: iosonde lab unmount client1; iosonde lab mount client1")
@LAB_OPTION
@_CLIENTS
def mount(name: str | None, clients: tuple[str, ...]) -> None:
    """Mount the file system on clients, all by default; on a client itself, there."""
    labs.mount(_open(name), clients)


@click.command(epilog="Example: iosonde lab unmount client1; iosonde lab mount client1")
@LAB_OPTION
@_CLIENTS
def unmount(name: str | None, clients: tuple[str, ...]) -> None:
    """Unmount it there: nothing that a client has cached is left."""
    labs.unmount(_open(name), clients)


@click.command(epilog="Example: iosonde lab remount client1")
@LAB_OPTION
@_CLIENTS
def remount(name: str | None, clients: tuple[str, ...]) -> None:
    """Unmount it there and mount it again, so that what is read next comes from the servers."""
    labs.remount(_open(name), clients)


@click.command(epilog="Example: iosonde lab fault kill-server server2 --for 10s")
@LAB_OPTION
@click.argument("kind", metavar="KIND", type=click.Choice(list(labs.FAULTS)))
@click.argument("host")
@click.argument("rate", required=False)
@click.option("--for", "duration", type=Duration(), metavar="TIME", help="Undo it after so long, and wait until well.")
@_LIMIT
@_JSON
def fault(
    name: str | None, kind: str, host: str, rate: str | None, duration: float | None, limit: float, as_json: bool
) -> None:
    """Inflict a fault on a host: kill-server, stop, cut-link, fill-disk, slow-link RATE, slow-disk RATE.

    It stays until `iosonde lab heal`, and `iosonde lab status` names it.
    """
    lab = _open(name)
    inflicted = labs.inflict(lab, kind, lab.host(host), rate)
    if duration is None:
        emit(inflicted, report.text.lab.fault(inflicted), as_json)
        return
    talk(f"{host}: {kind}, for {duration:g} s")
    try:
        time.sleep(duration)
    finally:
        healing = labs.heal(lab, host, limit)
    emit(healing, report.text.lab.healing(healing), as_json)


@click.command(epilog="Example: iosonde lab heal server2")
@LAB_OPTION
@click.argument("host", required=False)
@_LIMIT
@_JSON
def heal(name: str | None, host: str | None, limit: float, as_json: bool) -> None:
    """Undo faults, of a host or all; wait until the file system is well, and say how long it took."""
    healing = labs.heal(_open(name), host, limit)
    emit(healing, report.text.lab.healing(healing), as_json)


def _open(name: str | None) -> labs.Lab:
    """The lab, for root: whoever is not learns that first. Raises InputError."""
    labs.need_root()
    return labs.open_lab(name)


COMMANDS = {
    "set": set_, "get": get, "profile": profile, "placement": placement, "mount": mount, "unmount": unmount,
    "remount": remount, "fault": fault, "heal": heal,
}  # fmt: skip
