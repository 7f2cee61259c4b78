"""Run one command in a room: with the environment and the files of its own, within a deadline; what it left."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
IOSONDE = (sys.executable, "-m", "iosonde.cli.main")
PLAIN_UID = 54321  # of nobody whom a machine knows
LAST_S = 5.0  # until what a command started must have ended, once it has
EXIT_CODES = {0, 1, 2, 3}


@dataclass
class Room:
    """``work`` is where commands run, a copy of ``inputs``; ``around`` what is changed of the environment (None: it is
    not set); ``before`` the words that change who runs them."""

    root: Path
    inputs: Path
    around: dict[str, str | None] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    uid: int | None = None

    def __post_init__(self) -> None:
        self.work, self.home, self.temporary = (self.root / name for name in ("work", "home", "tmp"))
        shutil.copytree(self.inputs, self.work, symlinks=True)
        for path in (self.home, self.temporary, self.root / "locks"):
            path.mkdir()
        if self.uid is not None:
            subprocess.run(["chown", "-R", f"{self.uid}:{self.uid}", str(self.root)], check=True)
            self.root.chmod(0o755)

    def run(self, words: list[str], deadline_s: float, waits: bool = False, free: object = None) -> Ended:
        """Run ``iosonde WORDS``; where it ``waits``, until it said something, and was interrupted. ``free`` is called
        before what is left is looked at."""
        mark = uuid.uuid4().hex
        changes = {
            "HOME": str(self.home),
            "XDG_CACHE_HOME": None,
            "XDG_CONFIG_HOME": None,
            "XDG_DATA_HOME": None,
            "XDG_STATE_HOME": None,
            "XDG_RUNTIME_DIR": None,
            "TMPDIR": str(self.temporary),
            "IOSONDE_LOCK_DIR": str(self.root / "locks"),
            "IOSONDE_ROOM": mark,
            **self.around,
        }
        around = {name: value for name, value in (os.environ | changes).items() if value is not None}
        before = _entries(self.work)
        begin = time.monotonic()
        child = subprocess.Popen(
            [*self.before, *IOSONDE, *words],
            cwd=self.work,
            env=around,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        said = b""
        if waits and child.stdout is not None:
            while b"}" not in said and (line := child.stdout.readline()):
                said += line
            child.send_signal(signal.SIGINT)
        try:
            stdout, stderr = child.communicate(timeout=deadline_s)
            code: int | None = child.returncode
        except subprocess.TimeoutExpired:
            code, stdout, stderr = None, b"", b""
        seconds = time.monotonic() - begin
        if callable(free):
            free()
        if code is None:
            child.kill()
            stdout, stderr = child.communicate()
        return Ended(
            code,
            (said + stdout).decode(),
            stderr.decode(),
            seconds,
            sorted(_entries(self.work) - before),
            [str(path.relative_to(self.home)) for path in self.home.rglob("*") if not path.is_dir()],
            [path.name for path in self.temporary.iterdir()],
            _still_there(mark),
        )


@dataclass(frozen=True)
class Ended:
    """How a command ended (``code`` None: not before its deadline), and what is there since."""

    code: int | None
    stdout: str
    stderr: str
    seconds: float
    new: list[str]
    at_home: list[str]
    temporary: list[str]
    processes: list[str]

    def check(self, codes: tuple[int, ...], makes: tuple[str, ...], as_json: bool) -> None:
        """Assert what every command owes, whichever room it is in."""
        text = f"{self.stdout[-2000:]}\n{self.stderr[-4000:]}"
        assert self.code is not None, f"has not ended after {self.seconds:.0f} s\n{text}"
        assert "Traceback" not in text, text
        assert self.code in codes, f"exit code {self.code} instead of {codes}\n{text}"
        if self.code in (0, 1):
            assert self.stdout.strip() or self.stderr.strip() or self.new, "has said nothing"
            if as_json:
                assert isinstance(json.loads(self.stdout), dict | list)
        else:
            assert self.stderr.strip(), "the reason belongs on stderr\n" + text
            assert not self.stdout or json.loads(self.stdout), "what is on stdout is no answer\n" + text
        assert not [name for name in self.new if not any(fnmatch(name, f"{one}*") for one in makes)], self.new
        assert not [name for name in self.at_home if not name.startswith(".cache/iosonde/")], self.at_home
        assert not self.temporary and not self.processes, (self.temporary, self.processes)


def as_plain_user(root: Path) -> list[str]:
    """The words that run a command as a user without rights. Directories that only root may enter, as that which Python
    is installed in, are replaced by empty ones with nothing but what is needed."""
    if os.geteuid():
        return []
    needed = [CHECKOUT, Path(sys.prefix), Path(sys.base_prefix), root]
    covers: dict[Path, set[Path]] = {}
    for path in needed:
        closed = [one for one in reversed(path.parents) if not one.stat().st_mode & stat.S_IXOTH]
        if closed:
            covers.setdefault(closed[0], set()).add(path)
    lines = ["set -e", "mount --make-rprivate /"]
    for cover, inside in covers.items():
        lines += ["mount -t tmpfs -o mode=755 iosonde-rooms /mnt"]
        for path in sorted(inside):
            place = Path("/mnt") / path.relative_to(cover)
            lines += [f"mkdir -p '{place}'", f"mount --rbind '{path}' '{place}'"]
        lines += [f"mount --move /mnt '{cover}'"]
    user = f"setpriv --reuid={PLAIN_UID} --regid={PLAIN_UID} --clear-groups"
    return ["unshare", "--mount", "sh", "-c", "\n".join([*lines, f'cd "$PWD"; exec {user} "$@"']), "sh"]


def _entries(work: Path) -> set[str]:
    """Names of what is there, and of what is in stores; of a run itself nothing changes."""
    return {str(path.relative_to(work)) for pattern in ("*", "*/*", "*/*/*") for path in work.glob(pattern)}


def _still_there(mark: str) -> list[str]:
    """Processes that the command started and that did not end soon after it."""
    end = time.monotonic() + LAST_S
    while (found := list(_marked(mark))) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def _marked(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (path / "environ").read_bytes():
                words = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if words and "Z" not in (path / "stat").read_text().rpartition(")")[2].split()[:1]:
                    found.append(f"{path.name} {words}")
    return found
