"""NFS in a lab: the server, and the client that the kernel has, or ours over FUSE, which must be an honest one."""

import contextlib
import errno
import mmap
import os
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import short_life

from iosonde_lab.filesystems import recipe_of
from iosonde_lab.filesystems.ganesha import kernel_has_client
from iosonde_lab.status import status

MIB = 1 << 20


@pytest.fixture(scope="module")
def lab():
    with short_life.a_lab("nfs", servers=1) as one:
        yield one


@pytest.fixture
def here(lab, request):
    """A directory of the test's own, as the first client has it; removed afterwards."""
    made = short_life.seen(lab, lab.clients[0]) / request.node.name
    made.mkdir()
    yield made
    for one in sorted(made.rglob("*"), reverse=True):
        one.rmdir() if one.is_dir() and not one.is_symlink() else one.unlink()
    made.rmdir()


@pytest.fixture
def there(lab, here):
    """The same directory, as the second client has it."""
    return short_life.seen(lab, lab.clients[1]) / here.name


@contextlib.contextmanager
def opened(path: Path, flags: int, mode: int = 0o644):
    file = os.open(path, flags, mode)
    try:
        yield file
    finally:
        os.close(file)


def received_bytes(client) -> int:
    """Over its link, since it was started."""
    lines = client.run("cat", "/proc/net/dev").splitlines()
    return int(next(line for line in lines if line.strip().startswith("eth0:")).partition(":")[2].split()[0])


def fails_with(number: int):
    return pytest.raises(OSError, check=lambda error: error.errno == number)


def test_it_says_what_it_is(lab):
    found = status(lab.name)
    assert found.version.startswith("NFS-Ganesha ") and "version 3" in found.version
    assert found.layout["copies"] == 1 and not found.problem
    mounts = lab.clients[0].run("cat", "/proc/self/mountinfo")
    assert f"{lab.mount_point} " in mounts and (" nfs " if kernel_has_client() else " fuse.nfs ") in mounts


def test_each_client_sees_the_others_file_and_the_server_has_it_whole(lab):
    for name in short_life.each_sees_the_others_file(lab):
        assert recipe_of(lab).placement(lab, lab.mount_point / name) == {"server1": 5 * MIB + 123}
        (short_life.seen(lab, lab.clients[0]) / name).unlink()


def test_what_one_closed_the_next_to_open_sees(here, there):
    for n_bytes in (100, 3 * MIB, 10):
        (here / "f").write_bytes(bytes([n_bytes % 251]) * n_bytes)
        assert (there / "f").read_bytes() == bytes([n_bytes % 251]) * n_bytes
        with opened(there / "f", os.O_RDONLY) as file:
            assert os.fstat(file).st_size == n_bytes


def test_pages_are_kept_while_nobody_changes_the_file(lab, here, there):
    (here / "f").write_bytes(os.urandom(MIB))
    received = lambda: received_bytes(lab.clients[1])  # noqa: E731
    before = received()
    assert short_life.sha256(there / "f")
    cold = received()
    assert cold - before > MIB
    assert short_life.sha256(there / "f")
    assert received() - cold < MIB / 4


def test_two_clients_write_one_file(here, there):
    """Each every other MiB, both open all the time: sizes and pages of one must not hide the other's."""
    with opened(here / "f", os.O_CREAT | os.O_RDWR) as mine, opened(there / "f", os.O_RDWR) as others:
        for index in range(8):
            os.pwrite((mine, others)[index % 2], bytes([index + 1]) * MIB, index * MIB)
    for side in (here, there):
        assert (side / "f").read_bytes() == b"".join(bytes([index + 1]) * MIB for index in range(8))


def test_reads_see_writes_that_are_on_their_way(here):
    with opened(here / "f", os.O_CREAT | os.O_RDWR) as file:
        for index in range(200):
            os.pwrite(file, bytes([index]) * 5000, index * 5000)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            assert os.pread(file, 5000, index * 5000) == bytes([index]) * 5000
            assert os.fstat(file).st_size == (index + 1) * 5000 == (here / "f").stat().st_size


def test_random_overlapping_writes_and_truncations_leave_what_a_local_file_has(here, tmp_path):
    import random

    dice = random.Random(7)
    with opened(here / "f", os.O_CREAT | os.O_RDWR) as remote, opened(tmp_path / "f", os.O_CREAT | os.O_RDWR) as local:
        for _ in range(400):
            at, n_bytes = dice.randrange(4 * MIB), dice.choice([1, 100, 4096, 70_000, 1_500_000])
            kind = dice.choice(["write"] * 6 + ["read", "truncate", "drop", "sync"])
            data = dice.randbytes(n_bytes)
            if kind == "read":
                assert os.pread(remote, n_bytes, at) == os.pread(local, n_bytes, at)
            for file in (remote, local):
                if kind == "write":
                    os.pwrite(file, data, at)
                elif kind == "truncate":
                    os.ftruncate(file, at)
                elif kind == "drop":
                    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                elif kind == "sync":
                    os.fsync(file)
    assert short_life.sha256(here / "f") == short_life.sha256(tmp_path / "f")


def test_direct_mapped_and_appended_writes(here, there):
    page = mmap.mmap(-1, 4096)
    page.write(b"d" * 4096)
    with opened(here / "f", os.O_CREAT | os.O_RDWR | os.O_DIRECT) as file:
        assert os.pwrite(file, page, 0) == 4096
    with opened(here / "f", os.O_RDWR) as file, mmap.mmap(file, 4096) as mapped:
        mapped[:3] = b"map"
    with opened(here / "f", os.O_WRONLY | os.O_APPEND) as file:
        os.write(file, b"end")
    assert (there / "f").read_bytes() == b"map" + b"d" * 4093 + b"end"


def test_many_writers_at_once(here, there):
    content = {f"f{index}": os.urandom(300_000 + index) for index in range(32)}
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda name: (here / name).write_bytes(content[name]), content))
        found = list(pool.map(lambda name: (there / name).read_bytes(), content))
    assert found == list(content.values())


def test_a_large_directory_is_listed_whole(here, there):
    names = {f"{index:05}-{'n' * 60}" for index in range(3000)}
    for name in names:
        (here / name).touch()
    assert set(os.listdir(there)) == names
    with os.scandir(there) as entries:
        assert sum(one.stat().st_size == 0 and one.is_file() for one in entries) == 3000


def test_names_links_and_attributes(here, there):
    (here / "d").mkdir(mode=0o750)
    (here / "f").write_bytes(b"x")
    os.link(here / "f", here / "d" / "hard")
    os.symlink("../f", here / "d" / "soft")
    os.mkfifo(here / "pipe")
    os.chown(here / "f", 123, 456)
    os.chmod(here / "f", 0o4711)
    os.utime(here / "f", ns=(1_000_000_007, 2_000_000_009))
    os.rename(here / "d", here / "e")
    found = (there / "f").stat()
    assert (found.st_mode & 0o7777, found.st_uid, found.st_gid, found.st_nlink) == (0o4711, 123, 456, 2)
    assert (found.st_atime_ns, found.st_mtime_ns) == (1_000_000_007, 2_000_000_009)
    assert (there / "e" / "hard").stat().st_ino == found.st_ino
    assert os.readlink(there / "e" / "soft") == "../f" and (there / "e" / "soft").read_bytes() == b"x"
    assert stat.S_ISFIFO((there / "pipe").stat().st_mode) and (there / "e").stat().st_mode & 0o777 == 0o750
    with opened(here / "f", os.O_WRONLY) as file:
        os.ftruncate(file, 1000)
    assert (there / "f").read_bytes() == b"x" + bytes(999)


def test_errors_are_those_of_a_local_file_system(here):
    (here / "d").mkdir()
    (here / "d" / "f").touch()
    with fails_with(errno.ENOTEMPTY):
        (here / "d").rmdir()
    with fails_with(errno.ENOENT):
        (here / "none").read_bytes()
    with fails_with(errno.EEXIST):
        os.open(here / "d" / "f", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    with fails_with(errno.EISDIR):
        os.unlink(here / "d")
    with fails_with(errno.ENOTDIR):
        (here / "d" / "f" / "g").stat()
    with fails_with(errno.ENAMETOOLONG):
        (here / ("n" * 300)).touch()
    with fails_with(errno.EOPNOTSUPP):
        os.setxattr(here / "d", "user.x", b"y")


def test_other_users_are_refused_what_they_may_not(lab, here):
    (here / "secret").write_bytes(b"x")
    (here / "secret").chmod(0o600)
    inside = f"{lab.mount_point}/{here.name}/secret"
    told = lab.clients[0].shell(f"setpriv --reuid 1000 --regid 1000 --clear-groups cat {inside} 2>&1 || :")
    assert os.strerror(errno.EACCES) in told
    os.chown(here / "secret", 1000, 1000)
    assert lab.clients[0].shell(f"setpriv --reuid 1000 --regid 1000 --clear-groups cat {inside}") == "x"


def test_a_file_removed_while_open_keeps_its_data(here):
    for gone in ("unlink", "rename"):
        with opened(here / "f", os.O_CREAT | os.O_RDWR) as file:
            os.write(file, b"before")
            if gone == "unlink":
                os.unlink(here / "f")
            else:
                (here / "other").touch()
                os.rename(here / "other", here / "f")
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.write(file, b" and after")
            assert os.pread(file, 100, 0) == b"before and after"
        short_life.eventually("nothing hidden stays", lambda: not [n for n in os.listdir(here) if n.startswith(".nfs")])


def test_a_full_disk_is_told_at_the_latest_when_the_file_is_closed(here):
    with fails_with(errno.ENOSPC), opened(here / "f", os.O_CREAT | os.O_WRONLY) as file:
        for _ in range(1100):
            os.write(file, bytes(MIB))


def test_programs_wait_for_a_server_that_is_killed_and_started_again(lab, here):
    (server,), recipe = lab.servers, recipe_of(lab)
    (here / "kept").write_bytes(b"on disk" * 1000)
    (here / "d").mkdir()
    seen_meanwhile: list[list[str]] = []
    lister = threading.Thread(target=lambda: seen_meanwhile.append(os.listdir(here / "d")))

    def hanging() -> None:
        lister.start()
        time.sleep(0.3)
        assert lister.is_alive()

    short_life.dies_and_comes_back(lab, server, hanging)
    lister.join(20)
    assert seen_meanwhile == [[]]
    assert (here / "kept").read_bytes() == b"on disk" * 1000
    (here / "after").write_bytes(b"x" * MIB)
    assert recipe.placement(lab, lab.mount_point / here.name / "after") == {"server1": MIB}


# A process of its own: one that starts others with a file open flushes it with each.
_WRITER = """
import os, sys
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
os.write(file, bytes(4 << 20))
os.fstat(file)  # what was written is at the server
print("written", flush=True)
sys.stdin.readline()
try:
    os.write(file, b"end")
    os.fsync(file)
    print("synced")
except OSError as error:
    print(error.errno)
"""


def end_of_one_that_writes_while_the_server_dies(lab, file: Path) -> str:
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout.readline() == "written\n"
        short_life.kill_servers_of(lab, lab.servers[0])
        recipe_of(lab).restart(lab, lab.servers[0])
        return writer.communicate("\n", timeout=60)[0].strip()


@pytest.mark.skipif(kernel_has_client(), reason="the kernel's client sends again what was lost")
def test_what_a_dying_server_had_not_committed_is_an_error_of_fsync(lab, here):
    assert end_of_one_that_writes_while_the_server_dies(lab, here / "f") == str(errno.EIO)


def test_a_synchronous_mount_loses_nothing():
    with short_life.a_lab("nfs", servers=1, clients=1, sync="on") as lab:
        file = short_life.seen(lab, lab.clients[0]) / "f"
        assert end_of_one_that_writes_while_the_server_dies(lab, file) == "synced"
        assert file.read_bytes() == bytes(4 * MIB) + b"end"
