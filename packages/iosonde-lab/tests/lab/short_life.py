"""The life of a small lab, the same for every file system: up, two clients that see each other's files, a server that
is killed and comes back, down; and what a lab has left behind. Labs are below a directory of their own."""

import contextlib
import hashlib
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from iosonde.core.errors import InputError
from iosonde_lab import api as labs
from iosonde_lab import disks, place, tools
from iosonde_lab.filesystems import recipe, recipe_of

MIB = 1 << 20
SERVERS = 2
WELL_S = 60.0
_number = itertools.count()


def why_not(file_system: str) -> str:
    """What keeps this machine from having a lab with it; empty if nothing does."""
    if os.geteuid():
        return "it needs root"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices: modprobe loop"
    try:
        tools.need({**recipe(file_system).commands, **disks.commands("xfs")})
        tools.run(["unshare", "--net", "--uts", "--mount", "--ipc", "--pid", "--fork", "true"], limit_s=10)
    except (InputError, tools.LabError) as error:
        return f"{error.message}; {error.hint}"
    return ""


@contextlib.contextmanager
def a_lab(file_system: str, servers: int = SERVERS, clients: int = 2, **options: object) -> Iterator[labs.Lab]:
    """One that is up, and afterwards gone without a trace."""
    if why := why_not(file_system):
        pytest.skip(f"a lab of {file_system}: {why}")
    # Not /tmp, which may be memory: direct I/O needs a disk.
    root, before = Path(tempfile.mkdtemp(prefix="iosonde-lab-", dir="/var/tmp")), os.environ.get(place.ROOT)
    root.chmod(0o755)
    os.environ[place.ROOT] = str(root)
    try:
        # The name is told from those of labs of other directories, as control groups go by it.
        words = {
            "file_system": file_system,
            "name": f"{file_system}-{os.getpid()}-{next(_number)}",
            "servers": servers,
            "clients": clients,
            "disk_size": "1GiB",
        }
        lab = labs.up(labs.described(words, {key: str(value) for key, value in options.items()}), measured=False)
        try:
            yield lab
        finally:
            labs.down(lab.name)
        assert left_behind(root) == []
    finally:
        os.environ.pop(place.ROOT)
        if before is not None:
            os.environ[place.ROOT] = before
        shutil.rmtree(root, ignore_errors=True)


def left_behind(root: Path, within_s: float = 3.0) -> list[str]:
    """Processes, mounts, loop devices and files of labs below ``root``; what was under way may take a moment."""
    deadline = time.monotonic() + within_s
    while (found := _left_behind(root)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _left_behind(root: Path) -> list[str]:
    found = [str(one) for one in root.iterdir()]
    found += [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(root) in line]
    for entry in Path("/sys/block").glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):
            found += [text for text in [entry.read_text()] if str(root) in text]
    for entry in Path("/proc").glob("[0-9]*"):
        if int(entry.name) in (os.getpid(), os.getppid()):
            continue
        with contextlib.suppress(OSError):
            text = (entry / "cmdline").read_bytes() + (entry / "mountinfo").read_bytes()
            found += [f"process {entry.name}"] * (bytes(root) in text)
    return found


def seen(lab: labs.Lab, client: labs.LabHost) -> Path:
    """The file system as this client has it."""
    return Path(f"/proc/{client.pid}/root{lab.mount_point}")


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def eventually(what: str, there: Callable[[], bool], within_s: float = WELL_S) -> None:
    """Some clients believe for a few seconds what they know of a directory."""
    deadline = time.monotonic() + within_s
    while not there():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def each_sees_the_others_file(lab: labs.Lab, n_bytes: int = 5 * MIB + 123) -> dict[str, str]:
    """Name of each client's file → its checksum, the same from both."""
    written = {}
    for one in lab.clients:
        content = os.urandom(n_bytes)
        (seen(lab, one) / f"of-{one.name}").write_bytes(content)
        written[f"of-{one.name}"] = hashlib.sha256(content).hexdigest()
    each_still_reads(lab, written)
    return written


def each_still_reads(lab: labs.Lab, written: dict[str, str]) -> None:
    """Both clients, from the servers: what is in memory is forgotten first."""
    for one in lab.clients:
        for name, expected in written.items():
            file = seen(lab, one) / name
            eventually(f"{one.name} reads {name}", lambda file=file: is_read(file))
            assert sha256(file) == expected, f"{name} as {one.name} has it"


def is_read(file: Path) -> bool:
    """Its data can be read, and not from this machine's memory as far as the kernel can help it."""
    try:
        with file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            return bool(opened.read(1))
    except OSError:
        return False


def complaints(lab: labs.Lab) -> list[str]:
    """What the file system says is wrong; a server that does not answer is a complaint."""
    try:
        return recipe_of(lab).health(lab)
    except tools.LabError as error:
        return [error.message]


def kill_servers_of(lab: labs.Lab, server: labs.LabHost) -> None:
    """All that serves data there, at once."""
    pids = recipe_of(lab).server_processes(lab, server)
    assert pids, "nothing serves"
    # One that served a connection may have ended by itself meanwhile.
    server.shell(f"for pid in {' '.join(map(str, pids))}; do kill -9 $pid || [ ! -e /proc/$pid ]; done")


def dies_and_comes_back(lab: labs.Lab, server: labs.LabHost, meanwhile: Callable[[], None] = lambda: None) -> None:
    """It is said to be ill while its servers are dead, and to be well again afterwards."""
    eventually("well before", lambda: complaints(lab) == [])
    kill_servers_of(lab, server)
    eventually("a dead server is told", lambda: complaints(lab) != [])
    meanwhile()
    recipe_of(lab).restart(lab, server)
    eventually("well again", lambda: complaints(lab) == [])
