"""The daemon that serves a mount is the client: its CPU time is not that of other processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from iosonde.ranks.machine import daemon, load, mount
from iosonde.ranks.processes import WATCHDOG_VARIABLE, start_time

GLUSTER = mount.Mount("/mnt/none", "fuse.glusterfs", "n1:/rep2", "rw", "rw", (0, 2**20 - 1), "/")


@contextmanager
def process_named(name, *words, tmp_path, env=None):
    """One that waits under another name, as a client's daemon would be seen."""
    program = tmp_path / name
    shutil.copy("/bin/sh", program)
    started = subprocess.Popen([program, "-c", "read -r nothing", *words], env=env, stdin=subprocess.PIPE)
    try:
        while Path(f"/proc/{started.pid}/comm").read_text().strip() != name[:15]:
            time.sleep(0.01)
        yield started.pid
    finally:
        started.communicate()


def test_the_daemon_that_holds_the_connection_is_found(faulty):
    found = mount.find_mount_entry(str(faulty.path))
    (one,) = daemon.find_serving_processes(found)
    assert (one.pid, one.name) == (faulty.pid, Path(f"/proc/{faulty.pid}/comm").read_text().strip())
    assert one.cpu_s >= 0 and one.rss_bytes > 2**20
    assert daemon.find_serving_processes(replace(found, device=(0, found.device[1] + 1000))) == []


def test_its_cpu_time_is_a_share_of_its_own(faulty):
    sampler = load.LoadSampler(str(faulty.path))
    (faulty.path / "f").write_bytes(bytes(32 << 20))
    (faulty.path / "f").read_bytes()
    time.sleep(load.SHORTEST_S)
    found = sampler.result()
    assert found["client_daemon_cpu_s"] > 0 and 0 < found["client_daemon_share"] <= 1
    assert found["client_daemon"] and found["client_daemon_rss_bytes"] > 2**20
    faulty.kill()
    assert "client_daemon" not in sampler.result()


def test_who_may_not_look_at_others_knows_it_by_its_name_and_the_mount_point(tmp_path, monkeypatch):
    monkeypatch.setattr(daemon, "_list_connections", lambda _: [])
    with (
        process_named("glusterfs", GLUSTER.mount_point, tmp_path=tmp_path) as pid,
        process_named("glusterfsd", GLUSTER.mount_point, tmp_path=tmp_path),
    ):
        assert [one.pid for one in daemon.find_serving_processes(GLUSTER)] == [pid]
        assert daemon.find_serving_processes(replace(GLUSTER, mount_point="/mnt/other")) == []
        assert daemon.find_serving_processes(replace(GLUSTER, type="nfs4")) == []


def test_a_kernel_client_may_have_a_part_in_user_space(tmp_path):
    with process_named("pvfs2-client-core", tmp_path=tmp_path) as pid:
        assert pid in [one.pid for one in daemon.find_serving_processes(replace(GLUSTER, type="orangefs"))]


def test_a_daemon_that_a_command_of_the_trial_started_is_the_client_and_not_ours(tmp_path, monkeypatch):
    monkeypatch.setenv(WATCHDOG_VARIABLE, "here:1:2:3:4")
    with process_named("glusterfs", tmp_path=tmp_path, env=os.environ) as pid:
        monkeypatch.setattr(mount, "find_mount_entry", lambda _: GLUSTER)
        counted = []
        monkeypatch.setattr(load, "sum_cpu_seconds", lambda pids: counted.append(pids) or 0.0)
        monkeypatch.setattr(daemon, "find_serving_processes", lambda _: [])
        load.LoadSampler("/mnt/none")
        monkeypatch.setattr(daemon, "find_serving_processes", lambda _: [daemon.Daemon(pid, "1", "glusterfs")])
        load.LoadSampler("/mnt/none")
    assert counted == [[pid], []]


@pytest.mark.parametrize("before", [True, False])
def test_what_a_daemon_used_is_no_background(before):
    one, ticks = daemon.Daemon(7, "1", "ceph-fuse"), os.sysconf("SC_CLK_TCK")
    begin = load.Sample(0.0, load.parse_stat("cpu 0 0 0 0"), 0.0, {one: 2.0} if before else {})
    end = load.Sample(10.0, load.parse_stat(f"cpu {6 * ticks} 0 0 {4 * ticks}"), 1.0, {one: 5.0}, 4096)
    found = load.compute_shares(begin, end)
    used = 3.0 if before else 5.0
    assert found["client_daemon_cpu_s"] == used and found["client_daemon_share"] == pytest.approx(used / 10)
    assert found["background_share"] == pytest.approx((6 - 1 - used) / 10)
    assert (found["client_daemon"], found["client_daemon_rss_bytes"]) == ("ceph-fuse", 4096)


def test_a_gateway_behind_which_the_file_system_is_belongs_to_the_client(tmp_path):
    hdfs = mount.Mount("/mnt/none", "fuse.hdfs", "hdfs://n1:8020", "rw", "rw", (0, 2**20 - 1), "/")
    word = daemon._GATEWAYS[hdfs.type]
    (tmp_path / "other").mkdir()
    with (
        process_named("java", word, tmp_path=tmp_path) as pid,
        process_named("java", "Other", tmp_path=tmp_path / "other"),
    ):
        assert [one.pid for one in daemon.find_serving_processes(hdfs)] == [pid]
        assert pid not in [one.pid for one in daemon.find_serving_processes(GLUSTER)]


def test_a_process_holds_the_memory_that_the_kernel_counts():
    me = daemon.Daemon(os.getpid(), start_time(os.getpid()), "python")
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")]
    assert me.rss_bytes == pytest.approx(1024 * int(line.split()[1]), rel=0.1)
    assert me.cpu_s == pytest.approx(sum(os.times()[:4]), abs=0.2)
    assert (daemon.Daemon(me.pid, "1", "x").cpu_s, daemon.Daemon(2**22 + 1, "1", "x").rss_bytes) == (0.0, 0)


PROCESSES = {
    # id: name, FUSE connections, words
    1: ("glusterfs", [50], ["glusterfs", "/mnt/a"]),
    2: ("glusterfs", [51], ["glusterfs", "/mnt/b"]),
    3: ("fuse-overlayfs-", [52], ["x"]),  # cut to 15 characters
    4: ("own-client", [53], ["own-client"]),
    5: ("java", [], ["java", "org.apache.hadoop.hdfs.nfs.nfs3.Nfs3"]),
    6: ("mmfsd", [], []),
    7: ("fuse-nfs", [], ["fuse-nfs", "/mnt/h"]),
    8: ("glusterfs", [54], ["gone"]),
    9: ("pvfs2-client-co", [], []),
}


@pytest.fixture
def processes_of(monkeypatch):
    monkeypatch.setattr(daemon.reading, "list_pids", lambda: list(PROCESSES))
    monkeypatch.setattr(daemon, "name_of", lambda pid: PROCESSES[pid][0])
    monkeypatch.setattr(daemon, "start_time", lambda pid: None if pid == 8 else f"t{pid}")
    monkeypatch.setattr(daemon, "_list_connections", lambda pid: PROCESSES[pid][1])
    monkeypatch.setattr(daemon, "_read_words", lambda pid: PROCESSES[pid][2])


@pytest.mark.parametrize(
    ("type_", "minor", "point", "pids"),
    [
        ("fuse.glusterfs", 50, "/mnt/x", [1]),
        ("fuse.glusterfs", 51, "/mnt/a", [2]),  # its connection says more than its words
        ("fuse.glusterfs", 99, "/mnt/b", [2]),
        ("fuse.glusterfs", 99, "/mnt/c", []),
        ("fuse.glusterfs", 54, "/mnt/c", []),  # it has ended
        ("fuse.fuse-overlayfs-x", 52, "/mnt/x", [3]),
        ("fuse.glusterfs", 53, "/mnt/x", [4]),  # whatever its name
        ("fuse.hdfs", 99, "/mnt/h", [5, 7]),
        ("gpfs", 50, "/mnt/a", [6]),
        ("orangefs", 50, "/mnt/a", [9]),
        ("nfs4", 50, "/mnt/a", []),
    ],
)
def test_who_serves_a_mount(processes_of, type_, minor, point, pids):
    mounted = mount.Mount(point, type_, "x", "rw", "", (0, minor), "/")
    expected = [daemon.Daemon(pid, f"t{pid}", PROCESSES[pid][0]) for pid in pids]
    assert daemon.find_serving_processes(mounted) == expected
    other = mount.Mount(point, type_, "x", "rw", "", (1, minor), "/")
    assert daemon.find_serving_processes(None) == []
    if minor in (52, 53):
        assert daemon.find_serving_processes(other) == []
