"""Surveys of a tree on a file system that hangs, fails, lies and goes away (faultfs), and of ordinary trees.

A survey ends in time, with a sentence and an exit code of its own; an interrupt ends it at once; and where nothing was
read, nothing is said about what files hold.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from faults import faultfs

from .case import Case, NotTriedError, dice, judge
from .warm import ROOT, Ended, warm

DEADLINE_S = 60.0  # of a tree that hangs
INTERRUPT_S = 10.0
CPU_S = 10
# Of contents, not of names and sizes: nothing of these can be known without reading.
_OF_CONTENTS = ("type", "compressed", "saved", "zeros", "entropy", "copies", "sparse")

HANGS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "read": ({"on": "read", "after": 9}, ()),
    "read, --for 5s": ({"on": "read", "after": 9}, ("--for", "5s")),
    "first read": ({"on": "read"}, ()),
    "readdir": ({"on": "readdir", "path": "*/d1"}, ()),
    "opendir": ({"on": "opendir", "path": "*/d1"}, ()),
    "lookup": ({"on": "lookup", "path": "*/d1/*"}, ()),
    "getattr": ({"on": "getattr", "path": "*/d2*"}, ()),
    "open": ({"on": "open", "after": 5}, ()),
    "statfs": ({"on": "statfs"}, ()),
    "everything": ({"on": "any"}, ()),
    "release": ({"on": "release", "after": 3}, ()),
    "root's readdir": ({"on": "readdir", "path": "/"}, ()),
}
ERRORS: dict[str, dict[str, Any]] = {
    **{
        f"{name} of {operation}": {"on": operation, "do": "error", "errno": name}
        for name, operation in (
            ("EIO", "read"),
            ("ESTALE", "read"),
            ("EIO", "readdir"),
            ("EACCES", "opendir"),
            ("ENOTCONN", "lookup"),
            ("EIO", "getattr"),
            ("EIO", "open"),
            ("EINTR", "read"),
            ("EIO", "statfs"),
            ("ENOMEM", "readdir"),
            ("ELOOP", "open"),
            ("EAGAIN", "read"),
        )
    },
    "every 3rd read fails": {"on": "read", "do": "error", "every": 3},
    "short reads": {"on": "read", "do": "short"},
    "reads of rule byte": {"on": "read", "do": "short", "at": 1},
    "zeros instead of data": {"on": "read", "do": "zero"},
    "a bit flipped": {"on": "read", "do": "flip", "at": 3},
    "ghosts in directories": {"on": "readdir", "do": "lie", "values": {"names": ["ghost", "..", "a/b"]}},
    "sizes of 2^62": {"on": ["lookup", "getattr"], "path": "*/f*", "do": "lie", "values": {"size": 1 << 62}},
    "sizes of 2^63-1": {"on": ["lookup", "getattr"], "path": "*/f*", "do": "lie", "values": {"size": (1 << 63) - 1}},
    "no size": {"on": ["lookup", "getattr"], "path": "*/f*", "do": "lie", "values": {"size": 0}},
    "one byte more": {"on": ["lookup", "getattr"], "path": "*/f*", "do": "lie", "shift": {"size": 1}},
    "times of 2^62": {"on": ["lookup", "getattr"], "path": "*/f*", "do": "lie", "values": {"mtime": 1 << 62}},
    "blocks of 2^62": {"on": ["lookup", "getattr"], "path": "*/f*", "do": "lie", "values": {"blocks": 1 << 62}},
    "10^9 links": {"on": ["lookup", "getattr"], "path": "*/f*", "do": "lie", "values": {"nlink": 10**9}},
    "slow answers": {"on": ["read", "open"], "do": "delay", "seconds": 0.02},
}
GOES_AWAY = ("daemon killed", "umount -l", "files removed", "directories swapped for links", "files truncated")


def cases(seed: int, quick: bool) -> Iterator[Case]:
    """Hangs, interrupts of hangs, errors and lies, trees that go away, trees of equal files."""
    for name in HANGS if not quick else ("read", "readdir"):
        yield Case("survey: target hangs", name, partial(_attack_by_hang, name))
    for name in ("read", "readdir", "lookup", "open") if not quick else ("read",):
        for number in (signal.SIGINT, signal.SIGTERM)[: 1 if quick else 2]:
            title = f"{number.name} while {name} hangs"
            yield Case("survey: interrupted while it hangs", title, partial(_attack_by_signal, name, number))
    for name in ERRORS if not quick else list(ERRORS)[::6]:
        yield Case("survey: errors and lies", name, partial(_attack_by_error, name))
    yield Case("survey: errors and lies", "reads return nothing", _attack_by_empty_reads)
    for name in GOES_AWAY if not quick else GOES_AWAY[2:4]:
        yield Case("survey: goes away meanwhile", name, partial(_attack_by_change, seed, name))
    for number in range(1 if quick else 12):
        yield Case("survey: tree of equal files", f"#{number}", partial(_attack_by_equal_files, number))


def _mount(folder: Path, **how: Any) -> faultfs.FaultFs:
    """60 texts of 5 to 11 kB in 6 directories."""
    if why := faultfs.why_not():
        raise NotTriedError(why)
    mounted = faultfs.FaultFs(folder / "tree", capacity_bytes=64 << 20, **how).start()
    rng = random.Random(1)
    for number in range(60):
        place = mounted.path / "top" / f"d{number % 6}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"f{number}").write_text("some words " * rng.randrange(450, 1000))
    return mounted


def _start(folder: Path, *words: str, what: str = "tree/top") -> subprocess.Popen[bytes]:
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "python"),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "NO_COLOR": "1",
        "IOSONDE_LOCK_DIR": str(folder),
    }
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "iosonde.cli.main", "survey", f"./{what}", "--json", *words],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )


def _end(folder: Path, process: subprocess.Popen[bytes], limit_s: float) -> Ended:
    """How it ended within the limit; rule that did not is left to the end of the mount."""
    began = time.monotonic()
    seconds = None
    with suppress(subprocess.TimeoutExpired):
        process.wait(limit_s)
        seconds = time.monotonic() - began
    code = process.returncode if process.returncode is not None else -signal.SIGKILL
    return Ended("iosonde survey", code, _read(folder / "out"), _read(folder / "err"), seconds, limit_s)


def _read(path: Path) -> str:
    return path.read_text(errors="replace")


def _finish(mounted: faultfs.FaultFs, process: subprocess.Popen[bytes]) -> None:
    """End the mount, and with it who hangs there."""
    mounted.stop()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(20)


def _attack_by_hang(name: str, folder: Path) -> list[str]:
    rule, words = HANGS[name]
    mounted = _mount(folder)
    mounted.set({"do": "hang", **rule})
    process = _start(folder, *words)
    try:
        ended = _end(folder, process, DEADLINE_S)
        breaches = judge(ended)
        is_hit = any(rule["applied"] for rule in mounted.state()["rules"])
        if is_hit and ended.seconds is not None:
            breaches += ["a hang is not said"] * ("answer" not in ended.err + ended.out)
            breaches += _find_invented(ended)
        return breaches
    finally:
        _finish(mounted, process)


def _attack_by_signal(name: str, number: signal.Signals, folder: Path) -> list[str]:
    mounted = _mount(folder)
    mounted.set({"do": "hang", **HANGS[name][0]})
    process = _start(folder)
    try:
        if not mounted.wait_until_hung(30):
            return [f"{name} was never called"]
        time.sleep(0.2)
        os.kill(process.pid, number)
        ended = _end(folder, process, INTERRUPT_S)
        return judge(ended, codes=(130,))
    finally:
        _finish(mounted, process)


def _attack_by_error(name: str, folder: Path) -> list[str]:
    mounted = _mount(folder)
    mounted.set(ERRORS[name])
    process = _start(folder)
    try:
        ended = _end(folder, process, DEADLINE_S)
        breaches = judge(ended) + _find_invented(ended)
        if name.startswith("sizes of") and ended.seconds is not None and ended.code == 0:
            size = json.loads(ended.out)["walk"]["bytes"]
            breaches += [f"the sum of the sizes is {size}"] * (size < 1 << 62)
        return breaches
    finally:
        _finish(mounted, process)


def _attack_by_empty_reads(folder: Path) -> list[str]:
    """Files of 8 kB of which read() returns nothing."""
    mounted = _mount(folder, direct_io=True)
    for path in (mounted.path / "top").rglob("f*"):
        os.truncate(path, 0)
    mounted.set({"on": ["lookup", "getattr"], "path": "*/f*", "do": "lie", "values": {"size": 8192, "blocks": 16}})
    process = _start(folder)
    try:
        ended = _end(folder, process, DEADLINE_S)
        return judge(ended) + _find_invented(ended)
    finally:
        _finish(mounted, process)


def _find_invented(ended: Ended) -> list[str]:
    """Estimates of contents where nothing was read."""
    if ended.seconds is None or not ended.out.strip():
        return []
    document = json.loads(ended.out)
    if document["files_read"] and document["bytes_read"]:
        return []
    named = [
        f"{estimate['what']} {estimate['name']} = {estimate['value']}"
        for estimate in document["estimates"]
        if estimate["what"].startswith(_OF_CONTENTS) and estimate["value"] is not None and estimate["name"] != "empty"
    ]
    return [f"nothing was read, and {len(named)} estimates of contents: {named[0]}"] if named else []


def _attack_by_change(seed: int, name: str, folder: Path) -> list[str]:
    mounted = _mount(folder)
    mounted.set({"on": ["read", "open", "readdir"], "do": "delay", "seconds": 0.03})
    process = _start(folder)
    changes: dict[str, Callable[[random.Random], None]] = {
        "daemon killed": lambda _: mounted.kill(),
        "umount -l": lambda _: subprocess.run(["umount", "-l", str(mounted.path)], check=True) and None,
        "files removed": lambda rng: _each(mounted.path, rng, os.unlink),
        "directories swapped for links": lambda rng: _swap(mounted.path / "top", rng),
        "files truncated": lambda rng: _each(mounted.path, rng, lambda path: os.truncate(path, 10)),
    }
    rng = dice(seed, name)
    time.sleep(rng.uniform(0.3, 1.5))
    thread = threading.Thread(target=_quietly, args=(changes[name], rng))
    thread.start()
    try:
        return judge(_end(folder, process, DEADLINE_S))
    finally:
        mounted.kill()  # whoever still waits there goes on
        thread.join()
        _finish(mounted, process)


def _quietly(change: Callable[[random.Random], None], rng: random.Random) -> None:
    with suppress(OSError, subprocess.CalledProcessError):
        change(rng)


def _each(top: Path, rng: random.Random, change: Callable[[Path], object]) -> None:
    files = sorted(top.rglob("f*"))
    rng.shuffle(files)
    for path in files:
        with suppress(OSError):
            change(path)


def _swap(top: Path, rng: random.Random) -> None:
    for number in rng.sample(range(6), 6):
        os.rename(top / f"d{number}", top / f"away{number}")
        (top / f"d{number}").symlink_to("/proc/self")


def _attack_by_equal_files(number: int, folder: Path) -> list[str]:
    """Many small equal texts and few large files of zeros: what is estimated hardly differs, but for rounding."""
    tree = folder / "tree"
    for directory in range(100):
        (tree / f"d{directory}").mkdir(parents=True)
        for file in range(100):
            (tree / f"d{directory}" / f"f{file}").write_bytes(b"text " * 100)
    for file in range(3):
        (tree / f"zeros{file}").write_bytes(bytes(480_128))
    ended = _run_limited(folder, "--seed", str(number))
    shutil.rmtree(tree)
    return judge(ended)


def _run_limited(folder: Path, *words: str) -> Ended:
    return warm().command(["survey", "./tree", *words], folder, cpu_s=CPU_S, wall_s=60 * CPU_S)
