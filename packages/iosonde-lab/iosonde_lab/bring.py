"""Bring-up of a lab: hosts, links, disks, servers, mounts, and a calibration of the result."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import Message

from . import cgroups, claim, disks, hosts, links, place, secure_shell
from .calibrate import calibrate
from .description import LabDescription, description_from_words
from .filesystems import recipe, recipe_of
from .lab import CUT_SHORT, STARTING, UP, Lab, planned, state_of
from .teardown import down
from .tools import LabError, need, need_root

Say = Callable[[str], None]


def described(words: Mapping[str, Any], options: Mapping[str, str], ignore_unknown: bool = False) -> LabDescription:
    """Return the lab described by the words of ``lab up``, with the usual number of servers.
    ``ignore_unknown`` drops options of other file systems of an experiment. Raises InputError.
    """
    settings = {word: value for word, value in words.items() if value is not None}
    how = recipe(str(settings.get("file_system")))
    usual = {"servers": how.usual_servers}
    options = {name: value for name, value in options.items() if how.knows(name) or not ignore_unknown}
    return description_from_words(usual | settings, options)


def check_options(file_systems: Sequence[str], options: Iterable[str]) -> None:
    """Raises InputError for an option that none of several file systems has."""
    for name in options if len(file_systems) > 1 else ():
        if not any(recipe(file_system).knows(name) for file_system in file_systems):
            raise InputError(
                "unknown-option",
                "lab: set: {option}: not an option of {file_systems}",
                "iosonde lab list names them",
                option=name,
                file_systems=", ".join(file_systems),
            )


def check_description(description: LabDescription, profiled: bool = False) -> None:
    """Check that such a lab can exist, and that its servers count operations if ``profiled``.
    Raises InputError.
    """
    how = recipe(description.file_system)
    if profiled and not how.profiled:
        raise InputError(
            "unsupported-operation",
            "lab: profile: the servers of {file_system} do not count their operations",
            "omit it",
            file_system=how.title,
        )
    how.check(description.servers, description.options)


def check(description: LabDescription, profiled: bool = False) -> None:
    """Check that such a lab can be brought up on this machine, without creating anything. Raises InputError."""
    need_root()
    check_description(description, profiled)
    how = recipe(description.file_system)
    need({**how.commands, **disks.commands(description.base_fs)})
    links.check_delay(description.delay_s)


def up(
    description: LabDescription,
    say: Say = lambda _: None,
    measured: bool = True,
    setting: Mapping[str, Any] | None = None,
) -> Lab:
    """Bring a lab up; ``say`` is called with each step.
    ``measured``: calibrate links and disks. ``setting``: purpose of the lab, stored on its hosts. Nothing remains after
    a failure. Raises InputError for an impossible lab, LabError if the bring-up fails.
    """
    check(description)
    how = recipe(description.file_system)
    full_description, lock = _claimed(description, say)
    lab = planned(full_description, how.extra_hosts)
    try:
        for_what = {"setting": dict(setting)} if setting else {}
        lab.write(STARTING, for_what)
        _furnish(lab, say)
        say(f"starting {how.title}")
        how.start(lab)
        say("mounting")
        lab.each(lab.clients, lambda client: how.mount(lab, client))
        lab.each(lab.clients, lambda client: _see_mount(lab, client))
        calibration = calibrate(lab, say) if measured else {}
        facts: dict[str, Any] = {"cpu_usage": cgroups.cpu_usage_file(lab.directory)}
        facts |= {"emulated": calibration, "layout": how.layout(lab).to_dict(), "version": how.version(lab)}
        lab.write(UP, facts | for_what)
        lab.each(lab.hosts, lambda host: host.run("cp", str(lab.file), place.FACTS))
        return lab
    except BaseException:
        if lab.name in place.names():  # another process may have taken it down meanwhile
            down(lab.name)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _claimed(description: LabDescription, say: Say) -> tuple[LabDescription, int | None]:
    """Claim a name and its directory; return the description with that name, and the lock to hold until it is up.
    Removes what an interrupted bring-up left under that name. Raises InputError.
    """
    base = description.name or description.file_system
    candidates = [base] if description.name else [base, *(f"{base}-{n}" for n in range(2, 100))]
    place.root().mkdir(parents=True, exist_ok=True, mode=0o755)
    for name in candidates:
        _remove_leftover_lab(name, say)
        if place.claim(name):
            return description.with_name(name), claim.hold(name)
    if base not in place.names():
        raise InputError(
            "path-exists",
            "{directory} already exists and was not created by a lab",
            "use another {spell.name}",
            directory=place.directory(base),
        )
    raise InputError(
        "lab-exists",
        "lab {directory} already exists",
        "remove it with iosonde lab down {directory}, or use another {spell.name}",
        directory=base,
    )


def _remove_leftover_lab(name: str, say: Say) -> None:
    """Take down a lab whose bring-up was interrupted."""
    if name not in place.names() or state_of(name) != CUT_SHORT or (lock := claim.hold(name)) is None:
        return
    try:
        say(Message("leftover-lab", "{lab}: removing the remains of an interrupted bring-up", lab=name))
        down(name)
    finally:
        os.close(lock)


def _furnish(lab: Lab, say: Say) -> None:
    """Create the hosts, their links and disks."""
    description, how = lab.description, recipe_of(lab)
    lab.mount_point.mkdir()
    place.make_directories(lab.directory, how.machine_directories)
    hosts.prepare(lab.directory, [*lab.hosts])
    everyone = (lab.switch, *lab.hosts)
    say(f"starting {len(lab.hosts)} hosts")
    for host in lab.hosts:
        cgroups.make(lab.directory, host.name, description.cpus_per_host)
    lab.each(everyone, hosts.start)
    links.make_switch(lab.switch)
    for host in lab.hosts:
        links.connect(lab.switch, host)
        links.shape(lab.switch, host, description.link_bits_per_s, description.delay_s)
    with_disks = lab.servers if how.has_disks else ()
    if with_disks:
        say(f"making {len(with_disks)} disks of {description.base_fs}")
    lab.each(with_disks, lambda server: disks.make(server, description.base_fs, description.disk_bytes))
    for host in with_disks if description.base_fs != "tmpfs" else ():
        disks.throttle(host, description.read_rate, description.write_rate)
        disks.bound_write_back(host, description.write_back_bytes)
    secure_shell.start(lab)


def _see_mount(lab: Lab, client: hosts.LabHost) -> None:
    """Raises LabError if nothing is mounted: a silent failure would measure the local disk."""
    if not lab.is_mounted(client):
        raise LabError(
            "not-mounted",
            "{host}: nothing is mounted at {mount_point}",
            "logs: {log_paths}",
            host=client.name,
            mount_point=lab.mount_point,
            log_paths=_logs(client),
        )


def _logs(host: hosts.LabHost) -> Path:
    return host.directory / "log"
