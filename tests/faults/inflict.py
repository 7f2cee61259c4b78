"""The faults: armed before the command starts, or done to it at a moment; and how each is lifted again."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from . import plans
from .scene import Scene

BALLAST = "ballast"


def arm(scene: Scene) -> None:
    """What has to be there before the start: the rules of a FUSE target."""
    if rule := scene.plan.details.get("rule"):
        assert scene.fuse
        scene.fuse.set(rule)


def is_armed(scene: Scene) -> bool:
    """Whether the fault comes by a rule, and not at a moment."""
    return "rule" in scene.plan.details


def was_applied(scene: Scene) -> bool:
    """Whether a rule has hit an operation."""
    assert scene.fuse
    return any(rule["applied"] for rule in scene.fuse.state()["rules"])


def strike(scene: Scene) -> bool:
    """Do it now. False if there was nobody left to do it to."""
    with suppress(ProcessLookupError):
        return bool(_STRIKES[scene.plan.row](scene))
    return False


def lift(scene: Scene) -> None:
    """Make the place whole again, as an administrator would."""
    if scene.fuse and scene.fuse.alive():
        with suppress(ProcessLookupError):
            os.kill(scene.fuse.pid, signal.SIGCONT)
        scene.fuse.read_only(False)
        scene.fuse.resize(64 << 20)
        scene.fuse.clear()
    if scene.plan.row in _LIFTS:
        _LIFTS[scene.plan.row](scene)


def _dice(scene: Scene) -> random.Random:
    return random.Random(scene.plan.details["draw"])


def _one_of(found: Callable[[Scene], list[int]]) -> Callable[[Scene], bool]:
    def kill(scene: Scene) -> bool:
        scene.wait(lambda: found(scene), 60)
        there = found(scene)
        if there:
            os.kill(_dice(scene).choice(sorted(there)), signal.SIGKILL)
        return bool(there)

    return kill


def _children(scene: Scene) -> list[int]:
    assert scene.main
    return [pid for pid in scene.processes() if pid != scene.main.pid]


def _kill_everything(scene: Scene) -> bool:
    there = scene.processes()
    for _ in range(3):
        for pid in scene.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return bool(there)


def _kill_group(scene: Scene) -> bool:
    groups = set()
    for pid in scene.processes():
        with suppress(ProcessLookupError):
            groups.add(os.getpgid(pid))
    groups -= {os.getpgid(0), 0}
    if groups:
        os.killpg(_dice(scene).choice(sorted(groups)), signal.SIGKILL)
    return bool(groups)


def _signal(number: int, twice: bool = False) -> Callable[[Scene], bool]:
    def send(scene: Scene) -> bool:
        assert scene.main
        if scene.ended():
            return False
        os.kill(scene.main.pid, number)
        if twice:
            time.sleep(scene.plan.details["again_s"])
            if not scene.ended():
                os.kill(scene.main.pid, number)
        return True

    return send


def _stop_a_rank(scene: Scene) -> bool:
    scene.wait(scene.ranks, 60)
    there = scene.ranks()
    if there:
        os.kill(_dice(scene).choice(sorted(there)), signal.SIGSTOP)
    return bool(there)


def _stop_the_daemon(scene: Scene) -> bool:
    assert scene.fuse
    os.kill(scene.fuse.pid, signal.SIGSTOP)
    return not scene.ended()


def _kill_the_daemon(scene: Scene) -> bool:
    assert scene.fuse
    scene.fuse.kill()
    return not scene.ended()


def _fill(place: Callable[[Scene], Path]) -> Callable[[Scene], bool]:
    def fill(scene: Scene) -> bool:
        with (place(scene) / BALLAST).open("wb", buffering=0) as file, suppress(OSError):
            for size in (1 << 20, 4096):
                with suppress(OSError):
                    while True:
                        file.write(bytes(size))
        return not scene.ended()

    return fill


def _empty(place: Callable[[Scene], Path]) -> Callable[[Scene], None]:
    return lambda scene: (place(scene) / BALLAST).unlink(missing_ok=True)


def _full_server(scene: Scene) -> bool:
    assert scene.fuse
    scene.fuse.resize(4096)
    return not scene.ended()


def _turned_read_only(scene: Scene) -> bool:
    assert scene.fuse
    scene.fuse.read_only()
    return not scene.ended()


def _unmount(scene: Scene) -> bool:
    subprocess.run(["umount", "-l", str(scene.target)], check=True)
    return not scene.ended()


def _mount_again(scene: Scene) -> None:
    if not os.path.ismount(scene.target):
        scene.underlying = sorted(path.name for path in scene.target.iterdir())
        scene.mount_target()


def _start_again(scene: Scene) -> None:
    assert scene.fuse
    if not scene.fuse.alive():
        scene.fuse.stop()
        scene.restart_nodes() if scene.cluster else scene.mount_target()


def _remount_read_only(scene: Scene) -> bool:
    """It is refused while a file is open for writing: the next moment when none is will do."""
    give_up = time.monotonic() + 5
    while subprocess.run(["mount", "-o", "remount,ro", str(scene.target)], capture_output=True, check=False).returncode:
        if scene.ended() or time.monotonic() > give_up:
            return False
        time.sleep(0.005)
    return not scene.ended()


def _writable_again(scene: Scene) -> None:
    subprocess.run(["mount", "-o", "remount,rw", str(scene.target)], check=True)


def _swap_the_workspace(scene: Scene) -> bool:
    """`iosonde-<id>` becomes a link to the victim; with or without the mark that ours has."""
    for ours in scene.workspaces():
        if ours.is_symlink():
            continue
        if scene.plan.details["marked"]:
            with suppress(OSError):
                shutil.copy(ours / ".iosonde-workspace", scene.victim)
        os.rename(ours, scene.target / "away")
        os.symlink(scene.victim, ours)
        return True
    return False


def _swap_back(scene: Scene) -> None:
    for ours in scene.workspaces():
        if ours.is_symlink():
            ours.unlink()
            with suppress(OSError):
                os.rename(scene.target / "away", ours)
    (scene.victim / ".iosonde-workspace").unlink(missing_ok=True)
    shutil.rmtree(scene.target / "away", ignore_errors=True)


def _swap_a_trial(scene: Scene) -> bool:
    for ours in scene.workspaces():
        for trial in sorted(ours.glob("trial-*")):
            with suppress(OSError):
                os.rename(trial, scene.target / "away")
                os.symlink(scene.victim / "trial-0000", trial)
                return True
    return False


def _swap_the_trial_back(scene: Scene) -> None:
    for ours in scene.workspaces():
        for trial in ours.glob("trial-*"):
            if trial.is_symlink():
                trial.unlink()
    shutil.rmtree(scene.target / "away", ignore_errors=True)


def _cut(scene: Scene) -> bool:
    assert scene.cluster
    scene.cluster._ip("n2", "link", "set", "eth0", "down")
    return not scene.ended()


def _join(scene: Scene) -> None:
    assert scene.cluster
    scene.cluster._ip("n2", "link", "set", "eth0", "up")


def _target(scene: Scene) -> Path:
    return scene.target


def _store(scene: Scene) -> Path:
    return scene.store.parent


def _spool(scene: Scene) -> Path:
    return scene.spool


_STRIKES: dict[str, Callable[[Scene], bool]] = {
    "kill -9 of the main process": _signal(signal.SIGKILL),
    "kill -9 of a rank": _one_of(Scene.ranks),
    "kill -9 of a launcher or proxy": _one_of(Scene.launchers),
    "kill -9 of any process of it": _one_of(_children),
    "kill -9 of a process group": _kill_group,
    "kill -9 of everything": _kill_everything,
    "SIGTERM": _signal(signal.SIGTERM),
    "SIGTERM, twice": _signal(signal.SIGTERM, twice=True),
    "SIGINT": _signal(signal.SIGINT),
    "SIGINT, twice": _signal(signal.SIGINT, twice=True),
    "SIGSTOP of a rank": _stop_a_rank,
    "SIGSTOP of the FUSE daemon": _stop_the_daemon,
    "target full": _fill(_target),
    "target full (FUSE)": _full_server,
    "store full": _fill(_store),
    "spool full": _fill(_spool),
    "FUSE daemon killed": _kill_the_daemon,
    "umount -l": _unmount,
    "remounted read-only": _remount_read_only,
    "server turns read-only": _turned_read_only,
    "workspace swapped for a link": _swap_the_workspace,
    "trial swapped for a link": _swap_a_trial,
    "link of a node cut": _cut,
}
_LIFTS: dict[str, Callable[[Scene], object]] = {
    "target full": _empty(_target),
    "store full": _empty(_store),
    "spool full": _empty(_spool),
    "FUSE daemon killed": _start_again,
    "umount -l": _mount_again,
    "remounted read-only": _writable_again,
    "workspace swapped for a link": _swap_back,
    "trial swapped for a link": _swap_the_trial_back,
    "link of a node cut": _join,
}
assert {row.name for row in plans.ROWS} >= set(_STRIKES) | set(_LIFTS)
