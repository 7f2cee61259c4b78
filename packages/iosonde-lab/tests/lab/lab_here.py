"""What this machine lacks for a lab, a lab's command line, and what a lab has left behind."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iosonde_lab import api as labs

ROOT = Path(__file__).parents[4]
SOURCE = f"{ROOT / 'python'}:{ROOT / 'packages' / 'iosonde-lab'}"
_THROTTLES = "/sys/fs/cgroup/blkio/blkio.throttle.{}_bps_device"


def why_not(file_system: str = "local") -> str:
    """What keeps this machine from having a lab with this file system; empty if nothing does."""
    found = labs.listing()
    if found.why_not:
        return found.why_not
    missing = [*found.missing, *next(one.missing for one in found.possible if one.name == file_system)]
    if missing:
        return f"missing for {file_system}: {' '.join(missing)}; install with: make lab-deps"
    return "" if file_system == "local" or Path("/dev/fuse").exists() else "missing: /dev/fuse; modprobe fuse"


def iosonde(*words: object, limit_s: float = 120, **environment: str) -> subprocess.CompletedProcess[str]:
    """`iosonde …` to its end."""
    return subprocess.run(
        command(*words),
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
        stdin=subprocess.DEVNULL,
        env=surroundings(**environment),
    )


def command(*words: object) -> list[str]:
    """`iosonde …`, as words."""
    return [sys.executable, "-m", "iosonde.cli.main", *map(str, words)]


def surroundings(**more: str) -> dict[str, str]:
    """The environment of a user in this checkout."""
    return {**os.environ, "PYTHONPATH": SOURCE, "NO_COLOR": "1", "COLUMNS": "80", **more}


@dataclass(frozen=True)
class Leftovers:
    """What there is on the machine of labs below ``root``; other labs may come and go meanwhile."""

    root: Path

    def found(self, within_s: float = 3.0) -> dict[str, list[str]]:
        """Kind → what is there; empty where nothing is. A command that was under way may take a moment to end."""
        deadline = time.monotonic() + within_s
        while (there := self._now()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return there

    def _now(self) -> dict[str, list[str]]:
        every = {
            "processes": self._processes(),
            "mounts": self._lines("/proc/self/mountinfo"),
            "loops": self._loops(),
            "limits": _limits_of_free_loops(),
            "groups": self._groups(),
            "directories": [str(one) for one in self.root.iterdir()],
        }
        return {kind: there for kind, there in every.items() if there}

    def _processes(self) -> list[str]:
        """Those that were started with this root, name it, or live among mounts from below it: with these, every name
        space that a lab made, which lasts as long as a process (or a mount) holds it."""
        mark, found = bytes(self.root), []
        for entry in Path("/proc").glob("[0-9]*"):
            if int(entry.name) in (os.getpid(), os.getppid()):
                continue
            with suppress(OSError):
                texts = [(entry / name).read_bytes() for name in ("cmdline", "environ", "mountinfo")]
                if any(mark in text for text in texts) and texts[2]:  # one that has ended has no mounts
                    found.append(f"{entry.name} {texts[0].replace(bytes(1), b' ').decode(errors='replace')}")
        return found

    def _lines(self, file: str) -> list[str]:
        return [line for line in Path(file).read_text().splitlines() if str(self.root) in line]

    def _loops(self) -> list[str]:
        return [device for device, image in _loops().items() if image.startswith(str(self.root))]

    def _groups(self) -> list[str]:
        from iosonde_lab import cgroups

        names = {cgroups._format_group_name(self.root / name) for name in _tried}
        return [str(one) for one in Path("/sys/fs/cgroup").rglob("iosonde-lab-*") if one.name in names]


_tried: set[str] = set()


def noting(name: str) -> str:
    """The name of a lab whose control groups are to be looked for afterwards."""
    _tried.add(name)
    return name


def _loops() -> dict[str, str]:
    found = {}
    for entry in Path("/sys/block").glob("loop*"):
        with suppress(OSError):
            found[entry.name] = (entry / "loop" / "backing_file").read_text().strip()
    return found


def _limits_of_free_loops() -> list[str]:
    """Limits are kept by a device's number: the next file that is attached there would be slow."""
    used = set(_loops())
    numbers = {entry.name: (entry / "dev").read_text().strip() for entry in Path("/sys/block").glob("loop*")}
    found = []
    for name, number in numbers.items():
        if name in used:
            continue
        for kind in ("read", "write"):
            with suppress(OSError):
                lines = Path(_THROTTLES.format(kind)).read_text().splitlines()
                found += [f"{name} {kind} {line}" for line in lines if line.split()[0] == number]
        with suppress(OSError):
            if Path(f"/sys/class/bdi/{number}/strict_limit").read_text().strip() == "1":
                found.append(f"{name} strict_limit")
    return found
