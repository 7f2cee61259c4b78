"""Disks: files behind loop devices, with a file system of their own, as slow as is asked for.

Version 1 of control groups charges write-back to the root group and has flat limits: the limit is set there, where the
servers stay (of a limit in the servers' own group nothing was left in write-back: 393 of 100 MB/s).
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .hosts import LabHost
from .tools import LabError, run, write

_IMAGE = "disk.img"
_BLKIO = Path("/sys/fs/cgroup/blkio")
_MAKE = {
    "xfs": ["mkfs.xfs", "-q", "-f", "-i", "size=512"],
    "ext4": ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "ext3": ["mkfs.ext3", "-q", "-F"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
}
PACKAGES = {"xfs": "xfsprogs", "ext4": "e2fsprogs", "ext3": "e2fsprogs", "btrfs": "btrfs-progs"}
LOOPS = Path("/dev/loop-control")
OWN = "/run/disk"  # on a host that has one: its disk, by the same name on all


def commands(base_fs: str) -> dict[str, str]:
    """What is needed to make one, with its package."""
    return {_MAKE[base_fs][0]: PACKAGES[base_fs]} if base_fs in _MAKE else {}


def make(host: LabHost, base_fs: str, n_bytes: int) -> None:
    """Make a disk and mount it on the host, where ``OWN`` leads to it; of tmpfs it is memory. Raises LabError."""
    host.run("ln", "-s", str(host.disk), OWN)
    if base_fs == "tmpfs":
        host.run("mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "iosonde-lab", str(host.disk))
        return
    image = host.directory / _IMAGE
    with image.open("wb") as file:
        file.truncate(n_bytes)
    with _alone():
        device = run(["losetup", "--find", "--show", "--direct-io=on", str(image)]).strip()
    run([*_MAKE[base_fs], device])
    host.run("mount", device, str(host.disk))


def throttle(host: LabHost, read: float | None, write_rate: float | None) -> str:
    """Limit the disk to so many bytes/s, None: not at all; which mechanism holds it. Raises LabError."""
    device = device_of(host)
    number = _number(device)
    if (_BLKIO / "blkio.throttle.read_bps_device").exists():
        for kind, rate in (("read", read), ("write", write_rate)):
            write(_BLKIO / f"blkio.throttle.{kind}_bps_device", f"{number} {int(rate or 0)}")
        return "cgroup v1 blkio, root group"
    if read is None and write_rate is None:
        return "none"
    raise LabError(
        "kernel-feature-missing",
        "disks cannot be slowed down here: the kernel offers no blkio limits of control groups version 1",
        "leave out {spell.disk_read} and {spell.disk_write}",
    )


def bound_write_back(host: LabHost, n_bytes: int | None) -> None:
    """Let the kernel hold at most so much that is written and not yet on this disk; None: as it does anyway, a fifth of
    the memory. Raises LabError."""
    info = Path("/sys/class/bdi") / _number(device_of(host))
    if n_bytes is not None:
        write(info / "strict_limit", "1")
        write(info / "max_bytes", str(n_bytes))


def device_of(host: LabHost) -> str:
    """The loop device of the host's disk. Raises LabError."""
    for device, image in _loops(host.directory):
        if image == host.directory / _IMAGE:
            return device
    raise LabError("host-without-disk", "{host} has no disk", host=host.name)


@contextmanager
def _alone() -> Iterator[None]:
    """Of all that bring labs up: two `losetup --find` at once may find the same one. Raises LabError."""
    try:
        file = LOOPS.open()
    except OSError as error:
        raise LabError(
            "kernel-feature-missing",
            "{loop_device}: {reason}",
            "this machine offers no loop devices: modprobe loop",
            loop_device=LOOPS,
            reason=error.strerror,
        ) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def detach(directory: Path) -> tuple[int, int]:
    """Free all loop devices whose files lie below a directory, without their limits. How many there were, and how many
    stayed."""
    devices = _loops(directory)
    for device, _ in devices:
        number = _number(device)
        for kind in ("read", "write"):
            with suppress(LabError):
                write(_BLKIO / f"blkio.throttle.{kind}_bps_device", f"{number} 0")
        info = Path("/sys/class/bdi") / number
        for knob, usual in (("strict_limit", "0"), ("max_ratio", "100")):
            with suppress(LabError):
                write(info / knob, usual)
        with suppress(LabError):
            run(["losetup", "--detach", device])
    deadline = time.monotonic() + 5
    while (remaining := _loops(directory)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return len(devices), len(remaining)


def _loops(directory: Path) -> list[tuple[str, Path]]:
    """(device, file) of those whose file lies below the directory, whether or not it was removed since."""
    devices = []
    for entry in Path("/sys/block").glob("loop*"):
        with suppress(OSError):
            image = Path((entry / "loop" / "backing_file").read_text().rstrip("\n").removesuffix(" (deleted)"))
            if image.is_relative_to(directory):
                devices.append((f"/dev/{entry.name}", image))
    return devices


def _number(device: str) -> str:
    return (Path("/sys/block") / Path(device).name / "dev").read_text().strip()
