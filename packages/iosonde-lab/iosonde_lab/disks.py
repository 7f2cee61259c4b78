"""Disks: files behind loop devices, with their own file systems, throttled as requested.
Control groups version 1 charge write-back to the root group and have flat limits, so the limit is set there, where the
servers stay. A limit in the servers' own group does not affect write-back: 393 instead of 100 MB/s.
"""

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
OWN = "/run/disk"  # path of a host's own disk, the same on all hosts that have one


def commands(base_fs: str) -> dict[str, str]:
    """Return the command needed to create a disk, with its package."""
    return {_MAKE[base_fs][0]: PACKAGES[base_fs]} if base_fs in _MAKE else {}


def make(host: LabHost, base_fs: str, n_bytes: int) -> None:
    """Create a disk and mount it on the host, with ``OWN`` linking to it; tmpfs is in memory. Raises LabError."""
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
    """Limit the disk to these rates in bytes/s (None: no limit); return the mechanism. Raises LabError."""
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
        "cannot throttle disks: the kernel has no blkio limits of control groups version 1",
        "omit {spell.disk_read} and {spell.disk_write}",
    )


def bound_write_back(host: LabHost, n_bytes: int | None) -> None:
    """Limit the dirty data of this disk to ``n_bytes``; None keeps the kernel's default, a fifth of memory.
    Raises LabError.
    """
    info = Path("/sys/class/bdi") / _number(device_of(host))
    if n_bytes is not None:
        write(info / "strict_limit", "1")
        write(info / "max_bytes", str(n_bytes))


def device_of(host: LabHost) -> str:
    """Return the loop device of the host's disk. Raises LabError."""
    for device, image in _loops(host.directory):
        if image == host.directory / _IMAGE:
            return device
    raise LabError("host-without-disk", "{host} has no disk", host=host.name)


@contextmanager
def _alone() -> Iterator[None]:
    """Serialize bring-ups: two concurrent `losetup --find` may return the same device. Raises LabError."""
    try:
        file = LOOPS.open()
    except OSError as error:
        raise LabError(
            "kernel-feature-missing",
            "{loop_device}: {reason}",
            "load the module: modprobe loop",
            loop_device=LOOPS,
            reason=error.strerror,
        ) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def detach(directory: Path) -> tuple[int, int]:
    """Free all loop devices whose files are below a directory, and reset their limits.
    Returns how many there were, and how many remain.
    """
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
    """Return (device, file) of loop devices whose file is below the directory, even if it was removed."""
    devices = []
    for entry in Path("/sys/block").glob("loop*"):
        with suppress(OSError):
            image = Path((entry / "loop" / "backing_file").read_text().rstrip("\n").removesuffix(" (deleted)"))
            if image.is_relative_to(directory):
                devices.append((f"/dev/{entry.name}", image))
    return devices


def _number(device: str) -> str:
    return (Path("/sys/block") / Path(device).name / "dev").read_text().strip()
