"""Where a campaign takes place: name spaces of its own (so that what is left can be counted), a target, a store, a
spool, foreign files, and the running command.

/tmp, /var/tmp and /dev/shm are empty and private, and so are the process ids: whatever is there afterwards was left.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from . import faultfs, plans, shapes
from .plans import Plan

HOME = Path("/var/tmp/scene")
PRIVATE = ("/tmp", "/var/tmp", "/dev/shm")
SIZE = "48m"
RANK = b"iosonde.measure.rank.program"
LAUNCHERS = (b"mpiexec", b"hydra_pmi_proxy", b"mpirun")


def isolation() -> list[str]:
    """The words before a command that give it name spaces of its own. Raises RuntimeError where that cannot be."""
    for user in ([], ["--user", "--map-root-user"]):
        words = ["unshare", *user, "--mount", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc"]
        if (not os.geteuid() or user) and not subprocess.run(
            [*words, "true"], capture_output=True, check=False
        ).returncode:
            return words
    raise RuntimeError("needs name spaces: root, or user name spaces that users may make")


def make_private() -> None:
    """Empty directories in place of the shared ones. The checkout and Python stay visible where they lie in them."""
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    needed = {Path(__file__).parents[2], Path(sys.prefix), Path(sys.base_prefix)}
    for place in PRIVATE:
        inside = [path for path in needed if path.is_relative_to(place)]
        new = Path("/run") if inside else Path(place)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "iosonde-faults", str(new)], check=True)
        for path in inside:
            (new / path.relative_to(place)).mkdir(parents=True, exist_ok=True)
            subprocess.run(["mount", "--rbind", str(path), str(new / path.relative_to(place))], check=True)
        if inside:
            subprocess.run(["mount", "--move", str(new), place], check=True)


class Scene:
    """One place and one command. The target is never touched by path here while it may hang."""

    def __init__(self, plan: Plan, idle_s: float) -> None:
        self.plan, self.idle_s = plan, idle_s
        self.store, self.spool = HOME / "kept" / "store", HOME / "spool"
        self.victim, self.target, self.locks = HOME / "victim", HOME / "target", HOME / "locks"
        self.fuse: faultfs.FaultFs | None = None
        self.cluster = None
        self.main: subprocess.Popen[bytes] | None = None
        self.started = 0.0
        self.attempt = 0
        self.underlying: list[str] = []  # what was found below a mount point that lost its mount

    def build(self) -> None:
        """Everything but the command."""
        for place in (self.store.parent, self.spool, self.target, self.victim, self.locks):
            place.mkdir(parents=True)
        for place in (self.store.parent, self.spool):
            _tmpfs(place)
        for trial in range(10):
            (self.victim / f"trial-{trial:04d}" / "rank0").mkdir(parents=True)
            (self.victim / f"trial-{trial:04d}" / "thesis.tex").write_text(f"precious {trial}")
        if self.plan.shape == plans.NODES:
            self._nodes()
        else:
            self.mount_target()

    def _nodes(self) -> None:
        sys.path.insert(0, str(Path(__file__).parents[1] / "mpi" / "nodes"))
        from cluster import Cluster

        self.cluster = Cluster("n1", "n2")
        self.target = self.cluster.target
        self.mount_target()
        self.cluster.__enter__()

    def restart_nodes(self) -> None:
        """The same nodes once more: a mount that was made anew is not seen by those that are there."""
        assert self.cluster
        for name in list(self.cluster._holders):
            self.cluster._end_processes_of(name)
            holder = self.cluster._holders.pop(name)
            holder.kill()
            holder.wait()
            (self.cluster.root / f"ready-{name}").unlink()
        self.mount_target()
        self.cluster.__enter__()

    def mount_target(self) -> None:
        """A fresh target with foreign files."""
        if self.plan.backing == plans.FUSE:
            self.fuse = faultfs.FaultFs(self.target, capacity_bytes=64 << 20).start()
        elif not self.cluster:
            _tmpfs(self.target)
        (self.target / "data").mkdir()
        (self.target / "data" / "thesis.tex").write_text("precious")
        (self.target / "trial-0001").write_text("not a trial")

    def start(self) -> None:
        """The command, in a session of its own; what it says goes to files."""
        words, env = shapes.command(self)
        self.attempt += 1
        with self.said("stdout").open("wb") as out, self.said("stderr").open("wb") as err:
            self.started = time.monotonic()
            env["IOSONDE_LOCK_DIR"] = str(self.locks)  # two scenes at once are two machines
            self.main = subprocess.Popen(
                words, env=env, cwd=HOME, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )

    def said(self, stream: str) -> Path:
        """Where an attempt's output is."""
        return HOME / f"{stream}-{self.attempt}.txt"

    def ended(self) -> bool:
        """Whether the command has ended."""
        assert self.main
        return self.main.poll() is not None

    def wait(self, condition: Callable[[], object], limit_s: float, step_s: float = 0.01) -> bool:
        """Until the condition holds; False if the command ended or the time passed before."""
        give_up = time.monotonic() + limit_s
        while not condition():
            if self.ended() or time.monotonic() > give_up:
                return bool(condition())
            time.sleep(step_s)
        return True

    def runs(self) -> list[Path]:
        """The runs that can be seen in the store."""
        with suppress(OSError):
            return sorted(path for path in (self.store / "runs").iterdir() if not path.name.startswith("."))
        return []

    def processes(self) -> dict[int, bytes]:
        """Everybody here who is not a zombie, part of this harness, a FUSE daemon or a node: command lines by id."""
        mine = {1, os.getpid(), *(() if not self.cluster else (one.pid for one in self.cluster._holders.values()))}
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if int(entry.name) not in mine and state != "Z" and b"fuse_server.py" not in words:
                    found[int(entry.name)] = words.replace(b"\0", b" ")
        return found

    def ranks(self) -> list[int]:
        """The processes that measure."""
        return [pid for pid, words in self.processes().items() if _is_rank(words)]

    def launchers(self) -> list[int]:
        """mpiexec and its proxies."""
        return [
            pid for pid, words in self.processes().items() if any(name in words.split(b" ")[0] for name in LAUNCHERS)
        ]

    def workspaces(self) -> list[Path]:
        """What iosonde made in a target that answers."""
        return [path for path in self.target.iterdir() if path.name.startswith("iosonde-")]

    def finish(self) -> None:
        """End whatever there is."""
        if self.fuse:
            self.fuse.stop()
        for pid in self.processes():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if self.main:
            with suppress(subprocess.TimeoutExpired):
                self.main.wait(10)
        if self.cluster:
            self.cluster.close()

    def clear_processes(self) -> None:
        """SIGKILL for who is left, and a moment to be gone."""
        give_up = time.monotonic() + 10
        while (left := self.processes()) and time.monotonic() < give_up:
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)


def _is_rank(words: bytes) -> bool:
    return RANK in words and b"python" in _program(words)


def _program(words: bytes) -> bytes:
    return words.split(b" ")[0].rpartition(b"/")[2]


def _tmpfs(place: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "iosonde-faults", str(place)], check=True)


def digest(root: Path) -> dict[str, str]:
    """Every path below ``root`` with what it is and holds; links are not followed."""
    found = {}
    for folder, directories, files in os.walk(root):
        for name in (*directories, *files):
            path = Path(folder, name)
            if path.is_symlink():
                found[str(path.relative_to(root))] = f"link {os.readlink(path)}"
            elif path.is_dir():
                found[str(path.relative_to(root))] = "directory"
            else:
                found[str(path.relative_to(root))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def listed(places: Iterable[str]) -> list[str]:
    """What is in these directories, without the harness's own."""
    own = ("faultfs-", "iosonde-cluster-", "scene")
    return sorted(str(path) for place in places for path in Path(place).iterdir() if not path.name.startswith(own))


def empty(place: str) -> None:
    """Remove what is in a directory."""
    for path in listed([place]):
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
