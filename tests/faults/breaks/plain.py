"""`iosonde …` as somebody who is not root, whatever HOME is; in a mount name space where the checkout can be read."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .case import NotTriedError
from .warm import ROOT, Ended

ALICE, BOB, GROUP = 64_501, 64_502, 64_500  # nobody has these
LIMIT_S = 120.0
_NEEDED = (ROOT, Path(sys.prefix), Path(sys.base_prefix))


@dataclass(frozen=True)
class User:
    """Who, with which umask."""

    uid: int = ALICE
    gid: int = ALICE
    umask: int = 0o022
    groups: tuple[int, ...] = ()


def command(words: list[str], folder: Path, user: User, env: dict[str, str]) -> Ended:
    """``iosonde WORDS`` in ``folder``. Raises NotTriedError where nobody else can be become."""
    if why := why_not():
        raise NotTriedError(why)
    program = [sys.executable, "-m", "iosonde.cli.main", *words]
    began = time.monotonic()
    started = subprocess.Popen(
        _as_user(user, program),
        cwd=folder,
        env=_environment(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    seconds: float | None = None
    try:
        out, err = started.communicate(timeout=LIMIT_S)
        seconds = time.monotonic() - began
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        out, err = started.communicate()
    return Ended(" ".join(["iosonde", *words]), started.returncode, out, err, seconds, LIMIT_S)


def _environment(more: dict[str, str]) -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT / "python"),
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        **more,
    }


@cache
def why_not() -> str:
    """What keeps us from being somebody else; empty if nothing does."""
    if os.geteuid():
        return "needs root, to become plain users"
    if not shutil.which("setpriv"):
        return "needs setpriv (util-linux)"
    words = _as_user(User(), [sys.executable, "-c", "import iosonde.cli.group, iosonde.engine"])
    done = subprocess.run(words, env=_environment({}), cwd="/", capture_output=True, text=True, check=False)
    return f"a plain user cannot read the checkout: {done.stderr.strip()[-200:]}" if done.returncode else ""


def _as_user(user: User, program: list[str]) -> list[str]:
    groups = f"--groups {','.join(map(str, user.groups))}" if user.groups else "--clear-groups"
    become = f"exec setpriv --reuid {user.uid} --regid {user.gid} {groups}"
    script = "\n".join(["set -e", *_opened(), f"umask {user.umask:03o}", 'cd "$PWD"', f'{become} "$@"'])
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *program]


@cache
def _opened() -> tuple[str, ...]:
    """Commands that put what is needed of a closed directory (root's HOME) into an open one in its place."""
    closed = dict.fromkeys(top for path in _NEEDED if (top := _closed(path)))
    lines = []
    for top in closed:
        needed = [path for path in _NEEDED if path.is_relative_to(top)]
        lines += ["mount -t tmpfs -o mode=755 none /mnt"]
        for path in needed:
            place = shlex.quote(f"/mnt/{path.relative_to(top)}")
            lines += [f"mkdir -p {place}", f"mount --rbind {shlex.quote(str(path))} {place}"]
        lines += [f"mount --move /mnt {shlex.quote(str(top))}"]
    return tuple(lines)


def _closed(path: Path) -> Path | None:
    """The topmost directory on the way that others cannot enter."""
    return next((top for top in reversed((path, *path.parents)) if not top.stat().st_mode & 0o001), None)
