"""A file system that goes wrong on demand: a test's target that hangs, fails, lies, is full or disappears.

In memory, over the kernel's FUSE protocol, without a library. Needs root and /dev/fuse (`why_not()` says what is
missing). In a test (the fixture `faulty` is in conftest.py)::

    def test_a_target_that_hangs(faulty):
        faulty.set({"on": "write", "do": "hang", "path": "*/trial-0001/*", "after": 2})
        …                                  # use faulty.path as the target
        faulty.wait_until_hung()           # until a request hangs; returns the requests that do
        faulty.clear()                     # no rules any more, and what hung goes on

or by hand, to try a command against it (the rules are changed from another terminal)::

    python tests/faults/faultfs.py mount /tmp/t [--capacity 64MiB] &      Ctrl-C or `stop` unmounts
    python tests/faults/faultfs.py set /tmp/t '[{"on": "unlink", "do": "error", "errno": "EIO"}]'
    python tests/faults/faultfs.py state|clear|tree|stop /tmp/t

A rule is an object; the first that fits a request is applied:

    on      operation or list of operations: lookup getattr setattr readlink symlink mknod mkdir unlink rmdir rename
            open read write statfs release fsync flush opendir readdir releasedir fsyncdir create; any
    path    glob on the path from the mount's root ("/iosonde-x/trial-0001/f"); `*` matches `/` too; default "*"
    after   so many fitting calls are spared first (0)
    times   at most so many are hit (no limit)
    every   only each n-th of those (1)
    do      hang    no answer until `clear` or `release`; SIGKILL does not end who waits (as on a hard NFS mount)
            delay   the answer comes after `seconds`
            error   `errno` ("EIO")
            short   read, write: only `at` bytes, or half
            flip    read, write: one bit is wrong, in byte `at`
            zero    read, write: zeros instead of the data
            drop    it is said to be done and is not (write unlink rmdir rename flush fsync release …)
            lie     a right answer with wrong numbers: `values` {"size": 0, "blocks": 0, "mtime": …, "nlink": …} or,
                    added, `shift` {"size": -1}; on statfs blocks bfree bavail files ffree; on readdir names that are
                    not there, {"names": ["ghost"]}
    late    for hang, delay, error: the operation is carried out first, the answer alone is what is wrong

Nothing is cached by the kernel unless `valid_s` is given, so that every operation of the program reaches the rules;
data read is cached while a file is open, unless `direct_io`. `stop` always ends the connection, so that tasks that
hang are freed (ENOTCONN), and unmounts; a test that is killed has the same effect.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

HERE = Path(__file__).parent
CONNECTIONS = Path("/sys/fs/fuse/connections")
START_S = 20.0
END_S = 10.0


def why_not() -> str:
    """What keeps this machine from mounting it; empty if nothing does."""
    if os.geteuid():
        return "needs root, to mount a file system"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "needs /dev/fuse"
    check = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    return f"may not mount: {done.stderr.strip()}" if done.returncode else ""


class FaultFs:
    """Mounted on ``path`` (made if it is not there) from ``start`` to ``stop``, or inside ``with``."""

    def __init__(
        self,
        path: Path,
        *,
        capacity_bytes: int = 1 << 30,
        inodes: int = 100_000,
        valid_s: int = 0,
        direct_io: bool = False,
        subtype: str = "faultfs",
    ) -> None:
        self.path = Path(path)
        self._options = {
            "capacity_bytes": capacity_bytes,
            "inodes": inodes,
            "valid_s": valid_s,
            "direct_io": direct_io,
            "subtype": subtype,
        }
        self._daemon: subprocess.Popen[bytes] | None = None
        self._connection = ""
        self._home = ""
        self._made = False

    def __enter__(self) -> FaultFs:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The daemon: SIGSTOP makes everything hang, SIGKILL is a server that died (ENOTCONN)."""
        assert self._daemon
        return self._daemon.pid

    @property
    def control(self) -> Path:
        """The control socket."""
        return Path(self._home) / "control"

    def start(self) -> FaultFs:
        """Mount. Raises RuntimeError if that fails."""
        self._made = not self.path.exists()
        self.path.mkdir(exist_ok=True)
        self._home = tempfile.mkdtemp(prefix="faultfs-")
        words = [sys.executable, "-S", str(HERE / "fuse_server.py"), str(self.path), str(self.control)]
        self._daemon = subprocess.Popen(
            [*words, json.dumps(self._options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
        )
        assert self._daemon.stdout
        if self._daemon.stdout.readline() != b"mounted\n":
            self.stop()
            raise RuntimeError(f"{self.path}: not mounted")
        self._connection = _connection(self.path)
        (self.control.parent / "path").write_text(str(self.path))
        return self

    def set(self, *rules: dict[str, Any], keep: bool = False) -> None:
        """These rules, instead of or (``keep``) before those that hold. What hangs already goes on hanging."""
        self.ask(rules=list(rules), keep=keep)

    def clear(self) -> None:
        """No rules any more, and everything that hangs is carried out and answered."""
        self.ask(rules=[], release=True)

    def resize(self, capacity_bytes: int) -> None:
        """Another capacity; less than what is used means full."""
        self.ask(capacity_bytes=capacity_bytes)

    def read_only(self, value: bool = True) -> None:
        """Every change fails with EROFS, as on a server that went read-only."""
        self.ask(read_only=value)

    def state(self) -> dict[str, Any]:
        """What hangs (operation, path, pid, since), calls by operation, the rules with how often each was applied."""
        return self.ask()

    def tree(self) -> dict[str, list[Any]]:
        """Every path with its kind (d, -, l), size and digest, as the daemon has it: the mount is not touched."""
        return self.ask(tree=True)

    def wait_until_hung(self, seconds: float = 60.0) -> list[dict[str, Any]]:
        """The requests that hang, as soon as there are some; an empty list after ``seconds``."""
        give_up = time.monotonic() + seconds
        while not (hung := self.state()["hung"]) and time.monotonic() < give_up:
            time.sleep(0.02)
        return hung

    def ask(self, **told: Any) -> dict[str, Any]:
        """One exchange with the daemon. Raises ValueError for a rule that means nothing, OSError if it is gone."""
        return ask(self.control, told)

    def alive(self) -> bool:
        """Whether the daemon runs (a stopped one does)."""
        return self._daemon is not None and self._daemon.poll() is None

    def kill(self) -> None:
        """The daemon dies: whoever waits gets ECONNABORTED, everyone after that ENOTCONN. The mount stays."""
        assert self._daemon
        with suppress(ProcessLookupError):
            os.kill(self._daemon.pid, signal.SIGKILL)
        self._daemon.wait()

    def stop(self) -> None:
        """Free whoever hangs, unmount, and leave nothing. May be called twice."""
        if self._connection and CONNECTIONS.is_dir():
            with suppress(OSError):
                (CONNECTIONS / self._connection / "abort").write_text("1")
        if self._daemon:
            self.kill()  # the last descriptor of /dev/fuse closes: that too ends the connection
            for pipe in (self._daemon.stdin, self._daemon.stdout):
                assert pipe
                pipe.close()
            self._daemon = None
        for _ in range(8):
            if not _connection(self.path):
                break
            subprocess.run(["umount", "-l", str(self.path)], capture_output=True, check=False)
        self._connection = ""
        shutil.rmtree(self._home, ignore_errors=True)
        if self._made:
            with suppress(OSError):
                self.path.rmdir()


def ask(control: Path, told: dict[str, Any]) -> dict[str, Any]:
    """One exchange with the daemon behind a control socket. Raises ValueError, OSError."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(END_S)
        connection.connect(str(control))
        connection.sendall(json.dumps(told).encode() + b"\n")
        said: dict[str, Any] = json.loads(connection.makefile("rb").readline())
    if "error" in said:
        raise ValueError(said["error"])
    return said


def _connection(path: Path) -> str:
    """The kernel's number of the connection that is mounted on ``path``; empty if none is. Touches no file system."""
    wanted = os.path.abspath(path).replace("\\", "\\134").replace(" ", "\\040")
    for line in reversed(Path("/proc/self/mountinfo").read_text().splitlines()):
        words = line.split()
        if words[4] == wanted and words[words.index("-") + 1].startswith("fuse"):
            return words[2].partition(":")[2]
    return ""


def _control_of(path: str) -> Path:
    for known in Path(tempfile.gettempdir()).glob("faultfs-*/path"):
        if known.read_text() == path:
            return known.parent / "control"
    raise SystemExit(f"{path}: no faultfs is mounted there")


def _mounted_by_hand(path: str, capacity: str) -> None:
    from iosonde.core.units import parse_size

    with FaultFs(Path(path), capacity_bytes=parse_size(capacity)) as mounted, suppress(KeyboardInterrupt):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        assert mounted._daemon
        mounted._daemon.wait()


def main() -> None:
    """`faultfs.py mount|set|clear|state|tree|stop PATH [RULES]`, see above."""
    import argparse

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("mount", "set", "clear", "state", "tree", "stop"))
    parser.add_argument("path", type=os.path.abspath)
    parser.add_argument("rules", nargs="?", default="[]")
    parser.add_argument("--capacity", default="1GiB")
    asked = parser.parse_args()
    if asked.what == "mount":
        _mounted_by_hand(asked.path, asked.capacity)
        return
    told = {
        "set": {"rules": json.loads(asked.rules)},
        "clear": {"rules": [], "release": True},
        "state": {},
        "tree": {"tree": True},
        "stop": {"stop": True},
    }[asked.what]
    print(json.dumps(ask(_control_of(asked.path), told), indent=1))


if __name__ == "__main__":
    main()
