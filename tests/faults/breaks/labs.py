"""Labs that are killed while they come up, and what is not theirs below and beside them. Needs root and name spaces.

After `lab down` no process, mount, loop device, control group or file of the lab is left, whenever it was killed; and a
file that somebody else has there, through a mount, a link or a name like theirs, is as it was.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from .case import Case, NotTriedError, dice, digest, judge
from .warm import ROOT, Ended

sys.path.insert(0, str(ROOT / "packages" / "iosonde-lab" / "tests" / "lab"))

NAME = "breaks"
LONGEST_S = 3.0  # a lab of this size is up by then, on a machine that does nothing else
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def cases(seed: int, quick: bool) -> Iterator[Case]:
    """Kills of `lab up local` and of `lab down`, and each kind of what is not the lab's."""
    for number in range(3 if quick else 24):
        title = f"{SIGNALS[number % 3].name} #{number}"
        yield Case("lab: killed while it comes up, then down", title, partial(_attack_up, seed, number, title))
    for number in range(0 if quick else 6):
        yield Case("lab: down killed, then down", f"#{number}", partial(_attack_down, seed, number))
    for name in FOREIGN if not quick else list(FOREIGN)[:2]:
        yield Case("lab: what is not its own", name, partial(_attack_by_foreign, name))


class _Desk:
    """A root for labs that nobody else has."""

    def __init__(self, folder: Path) -> None:
        from lab_here import Leftovers, noting, why_not

        if why := why_not():
            raise NotTriedError(why)
        self.folder, self.root = folder, folder / "labs"
        self.root.mkdir()
        self.lab, self.data = self.root / noting(NAME), folder / "data"
        self.data.mkdir()
        (self.data / "thesis.tex").write_text("precious")
        (self.data / "deep" / "er").mkdir(parents=True)
        (self.data / "deep" / "er" / "f").write_text("precious, too")
        self.leftovers = Leftovers(self.root)
        self.foreign = digest(self.data)
        self.env = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "python"),
            "NO_COLOR": "1",
            "HOME": str(folder),
            "IOSONDE_LAB_ROOT": str(self.root),
        }

    def start(self, *words: str, group: bool = False) -> subprocess.Popen[str]:
        """``iosonde lab WORDS``."""
        return subprocess.Popen(
            [sys.executable, "-m", "iosonde.cli.main", "lab", *words],
            env=self.env,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=group,
        )

    def up(self) -> subprocess.Popen[str]:
        """``iosonde lab up local``, as small as it can be."""
        return self.start("up", "local", "--name", NAME, "--servers", "1", "--clients", "1", "--disk-size", "320MiB")

    def down(self) -> Ended:
        """``iosonde lab down``."""
        return _end(self.start("down", NAME), "down")

    def changed(self) -> list[str]:
        """What became of the files of others."""
        now = digest(self.data)
        lost = sorted(path for path in self.foreign if now.get(path) != self.foreign[path])
        return [f"FOREIGN FILES CHANGED: {', '.join(lost)}"] * bool(lost)

    def left(self) -> list[str]:
        """What is there of the lab."""
        return [f"left: {kind}: {', '.join(there)[:150]}" for kind, there in self.leftovers.found().items()]


def _end(process: subprocess.Popen[str], what: str, limit_s: float = 90) -> Ended:
    began = time.monotonic()
    try:
        _, err = process.communicate(timeout=limit_s)
        seconds: float | None = time.monotonic() - began
    except subprocess.TimeoutExpired:
        process.kill()
        _, err = process.communicate()
        seconds = None
    return Ended(f"iosonde lab {what}", process.returncode, "", err, seconds, limit_s)


def _attack_up(seed: int, number: int, title: str, folder: Path) -> list[str]:
    desk, chosen = _Desk(folder), SIGNALS[number % 3]
    moment = dice(seed, title).uniform(0.1, LONGEST_S)
    process = desk.up()
    time.sleep(moment)
    if process.poll() is None:
        process.send_signal(chosen)
    ended = _end(process, "up")
    # An interrupt while code is compiled ends Python by the signal itself, which a shell calls 130 as well.
    interrupted = (130, -signal.SIGINT)
    breaches = [] if chosen == signal.SIGKILL else judge(ended, codes=(0, 1, *interrupted, -signal.SIGTERM))
    if ended.code in interrupted:
        breaches += [f"after {chosen.name}: {left}" for left in desk.left()]
    if desk.lab.exists():
        breaches += judge(desk.down(), codes=(0,))
    return [f"killed after {moment:.2f} s: {breach}" for breach in (*breaches, *desk.left())]


def _attack_down(seed: int, number: int, folder: Path) -> list[str]:
    desk = _Desk(folder)
    breaches = judge(_end(desk.up(), "up"), codes=(0, 1))
    process = desk.start("down", NAME)
    time.sleep(dice(seed, f"down {number}").uniform(0.1, 1.0))
    process.kill()
    process.communicate()
    if desk.lab.exists():
        breaches += judge(desk.down(), codes=(0,))
    return [*breaches, *desk.left()]


def _bind(desk: _Desk, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "--bind", str(desk.data), str(place)], check=True)


def _tmpfs(desk: _Desk) -> None:
    """The data of others on a file system of its own, mounted below the lab."""
    place = desk.lab / "mnt"
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", str(place)], check=True)
    (place / "thesis.tex").write_text("precious")


def _links(desk: _Desk) -> None:
    (desk.lab / "link").symlink_to(desk.data)
    (desk.lab / "deep").mkdir()
    (desk.lab / "deep" / "link").symlink_to(desk.data)
    os.link(desk.data / "thesis.tex", desk.lab / "hard-link")


def _similar(desk: _Desk) -> None:
    for name in (f"{NAME}-2", f"{NAME}.old", f"{NAME}2", f".{NAME}", "x"):
        (desk.root / name).mkdir()
        (desk.root / name / "thesis.tex").write_text("precious")


def _process_with_the_name(desk: _Desk) -> None:
    desk.bystander = subprocess.Popen(["sh", "-c", "sleep 60 # $0", str(desk.lab)])  # type: ignore[attr-defined]


# What is put there → how. After `lab down` (whatever it says) the data of others are as they were.
FOREIGN: dict[str, Callable[[_Desk], object]] = {
    "a directory mounted below it": lambda desk: _bind(desk, desk.lab / "mnt"),
    "links to a directory": _links,
    "a directory mounted deep below it": lambda desk: _bind(desk, desk.lab / "a" / "b" / "c"),
    "a directory mounted on its disks": lambda desk: _bind(desk, next(p for p in desk.lab.iterdir() if p.is_dir())),
    "a file system mounted below it": _tmpfs,
    "directories of similar names": _similar,
    "a process that names it": _process_with_the_name,
    "a directory mounted beside it": lambda desk: _bind(desk, desk.root / "beside"),
}


def _attack_by_foreign(name: str, folder: Path) -> list[str]:
    desk = _Desk(folder)
    breaches = judge(_end(desk.up(), "up"), codes=(0, 1))
    if not desk.lab.is_dir():
        return [*breaches, "there is no lab"]
    before = None
    FOREIGN[name](desk)
    if name == "directories of similar names":
        before = {path.name: digest(path) for path in desk.root.iterdir() if path != desk.lab}
    ended = desk.down()
    breaches += judge(ended, codes=(0, 2, 3)) + desk.changed()
    if name == "a file system mounted below it":
        mounted = desk.lab / "mnt" / "thesis.tex"
        breaches += ["FOREIGN FILES CHANGED: on the file system that was mounted"] * (not mounted.exists())
    if ended.code and "mount" in name:
        breaches += ["does not name what is mounted there"] * (str(desk.lab) not in ended.err)
    if before is not None:
        after = {path.name: digest(path) for path in desk.root.iterdir() if path != desk.lab}
        breaches += ["directories of similar names were changed"] * (after != before)
    if bystander := getattr(desk, "bystander", None):
        breaches += ["ended a process that is not its own"] * (bystander.poll() is not None)
        bystander.kill()
        bystander.wait()
    _unmount(desk.root)
    breaches += judge(desk.down(), codes=(0, 2))
    return breaches + [left for left in desk.left() if "directories" not in left]


def _unmount(root: Path) -> None:
    for line in reversed(Path("/proc/self/mountinfo").read_text().splitlines()):
        if (place := line.split()[4]).startswith(f"{root}/"):
            subprocess.run(["umount", place], check=False)
