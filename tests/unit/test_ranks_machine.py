"""Facts of the machine: what the kernel and the tools print, read from samples."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.ranks import machine, processes
from iosonde.ranks.machine import (
    block,
    command,
    emulated,
    filesystems,
    host,
    load,
    mount,
    quota,
    reading,
    scheduler,
    traffic,
)
from iosonde.ranks.machine.daemon import Daemon
from iosonde.ranks.machine.filesystems import lustre, others

MOUNTS = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
23 22 0:21 / /proc rw,nosuid - proc proc rw
40 22 0:45 / /mnt rw - tmpfs tmpfs rw,size=1024k
41 40 0:46 / /mnt/nfs\040share rw,relatime - nfs4 srv.example:/export/a\040b rw,vers=4.2,rsize=1048576
42 22 0:47 / /scratch rw - lustre 10.0.0.1@tcp:10.0.0.2@tcp:/scratch rw,flock
43 22 0:48 / /smb rw - cifs //files.example/share rw,username=me,password=hunter2,vers=3.0
44 22 254:16 /sub /mnt2 rw - xfs /dev/vdb rw,prjquota
45 22 254:17 / /mnt2 rw - xfs /dev/vdc rw
a line that is none
"""


def mounts() -> list[mount.Mount]:
    return mount.parse_mountinfo(MOUNTS)


@pytest.mark.parametrize(
    ("path", "type_", "source", "server"),
    [
        ("/home/x", "ext4", "/dev/vda", None),
        ("/mnt", "tmpfs", "tmpfs", None),
        ("/mnt/nfs share/deep/er", "nfs4", "srv.example:/export/a b", "srv.example"),
        ("/mnt/nfs shares", "tmpfs", "tmpfs", None),
        ("/scratch/u", "lustre", "10.0.0.1@tcp:10.0.0.2@tcp:/scratch", "10.0.0.1@tcp,10.0.0.2@tcp"),
        ("/smb/x", "cifs", "//files.example/share", "files.example"),
        ("/mnt2/y", "xfs", "/dev/vdc", None),  # mounted over the first
    ],
)
def test_the_mount_that_holds_a_path(path, type_, source, server):
    found = mount.find_holding_mount(mounts(), path)
    assert (found.type, found.source, found.server) == (type_, source, server)


def test_a_mount_is_stored_without_its_password(tmp_path):
    stored = mount.to_json(mount.find_holding_mount(mounts(), "/smb"), tmp_path)
    assert stored["super_options"] == "rw,username=me,password=***,vers=3.0"
    assert stored["device"] == "0:48"
    assert 0 < stored["free_bytes"] <= stored["total_bytes"]


def test_facts_of_this_machine_are_json_and_there(tmp_path):
    found = json.loads(json.dumps(machine.collect_facts(tmp_path / "not" / "yet")))
    assert found["host"]["name"]
    assert found["cpu"]["allowed"] >= 1
    assert found["memory"]["usable_bytes"] == machine.compute_usable_memory() > 2**20
    assert found["mount"]["type"]
    assert found["mount"]["total_bytes"] > 0


def test_facts_that_cannot_be_read_are_none(monkeypatch, tmp_path):
    def broken(*arguments):
        raise RuntimeError("unlike all others")

    readers = {host: "read_cpu_facts", mount: "find_mount", traffic: "describe_interfaces", block: "list_devices"}
    for module, name in readers.items():
        monkeypatch.setattr(module, name, broken)
    found = machine.collect_facts(tmp_path)
    assert found["cpu"] is found["mount"] is found["network"] is found["devices"] is None
    assert found["host"]["name"]


# --- memory and CPU


def test_meminfo_and_cpuinfo():
    assert host.parse_meminfo("MemTotal:   100 kB\nHugePages_Total: 3\nDirty:  4 kB\n") == {
        "MemTotal": 102400,
        "Dirty": 4096,
    }
    two_sockets = "".join(
        f"processor\t: {n}\nmodel name\t: AMD EPYC\nphysical id\t: {n % 2}\ncore id\t\t: {n // 4}\n\n" for n in range(8)
    )
    assert host.parse_cpuinfo(two_sockets) == {"model": "AMD EPYC", "sockets": 2, "cores": 4}
    assert host.parse_cpuinfo("") == {"model": None, "sockets": None, "cores": None}


def fake_cgroup(root: Path, kind: str, group: str, limits: dict[str, str]) -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(group)
    (root / "proc/self/mountinfo").write_text(f"30 22 0:26 / /sys/fs/cgroup rw - {kind}\n")
    for name, limit in limits.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(limit + "\n")
    return root


def test_the_smallest_limit_on_the_way_up_counts(tmp_path):
    limits = {"job/step/memory.max": "max", "job/memory.max": "4096000", "memory.max": "8192000"}
    root = fake_cgroup(tmp_path, "cgroup2 cgroup2 rw", "0::/job/step", limits)
    assert host.find_cgroup_limit(root) == 4096000


def test_cgroup_version_1_says_no_limit_with_a_huge_number(tmp_path):
    groups = "5:cpu,cpuacct:/x\n4:memory:/job\n"
    root = fake_cgroup(tmp_path / "a", "cgroup cgroup rw,memory", groups, {"job/memory.limit_in_bytes": "123"})
    assert host.find_cgroup_limit(root) == 123
    unlimited = {"job/memory.limit_in_bytes": "9223372036854771712"}
    root = fake_cgroup(tmp_path / "b", "cgroup cgroup rw,memory", groups, unlimited)
    assert host.find_cgroup_limit(root) is None


@pytest.mark.parametrize(
    ("kind", "group", "names"),
    [
        ("cgroup2 cgroup2 rw", "0::/job", ("memory.max", "memory.current", "inactive_file")),
        (
            "cgroup cgroup rw,memory",
            "4:memory:/job",
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ),
    ],
)
def test_what_a_control_group_leaves_is_all_that_is_available(tmp_path, kind, group, names):
    limit, used, cache = names
    root = fake_cgroup(
        tmp_path,
        kind,
        group,
        {
            f"job/{limit}": "1000000",
            f"job/{used}": "700000",
            "job/memory.stat": f"anon 5\n{cache} 300000\n",
        },
    )
    for available_kib, left in ((10, 10240), (10**9, 600000)):
        (root / "proc/meminfo").write_text(f"MemTotal: 99 kB\nMemAvailable: {available_kib} kB\n")
        assert host.read_available_bytes(root) == left
    (root / "sys/fs/cgroup/job" / used).write_text("2000000")
    assert host.read_available_bytes(root) == 0


# --- devices and networks


def write(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)


def fake_sys(root: Path) -> Path:
    """dm-0 on the partition vda1 of the disk vda."""
    disk = "devices/block/vda"
    write(
        root,
        {
            f"{disk}/dev": "254:0",
            f"{disk}/size": "2048",
            f"{disk}/device/model": "QEMU DISK ",
            f"{disk}/queue/rotational": "0",
            f"{disk}/queue/scheduler": "none [mq-deadline] kyber",
            f"{disk}/queue/physical_block_size": "4096",
            f"{disk}/vda1/dev": "254:1",
            f"{disk}/vda1/partition": "1",
            f"{disk}/vda1/size": "1024",
            "devices/block/dm-0/dev": "253:0",
            "devices/block/dm-0/dm/name": "vg-data",
        },
    )
    for number, place in (("254:0", disk), ("254:1", f"{disk}/vda1"), ("253:0", "devices/block/dm-0")):
        (root / "dev/block").mkdir(parents=True, exist_ok=True)
        (root / "dev/block" / number).symlink_to(root / place)
    (root / "devices/block/dm-0/slaves").mkdir()
    (root / "devices/block/dm-0/slaves/vda1").symlink_to(root / disk / "vda1")
    return root


def test_devices_through_device_mapper_and_partition(tmp_path):
    on_dm = mount.Mount("/", "ext4", "/dev/mapper/vg-data", "rw", "rw", (253, 0), "/")
    found = block.list_devices(on_dm, fake_sys(tmp_path))
    assert [(device["name"], device["carries"]) for device in found] == [
        ("dm-0", None),
        ("vda1", "dm-0"),
        ("vda", "vda1"),
    ]
    disk = found[-1]
    assert (disk["model"], disk["rotational"], disk["scheduler"]) == ("QEMU DISK", False, "mq-deadline")
    assert (disk["size_bytes"], disk["physical_block_bytes"]) == (2048 * 512, 4096)
    assert found[0]["model"] == "vg-data"


def test_a_mount_without_a_device_has_none():
    assert block.list_devices(mount.find_holding_mount(mounts(), "/scratch")) == []


def test_interfaces_and_ports(tmp_path):
    write(
        tmp_path / "net",
        {
            "eth0/speed": "25000",
            "eth0/operstate": "up",
            "eth0/mtu": "9000",
            "lo/mtu": "65536",
            "eth1/speed": "-1",
            "eth1/operstate": "down",
        },
    )
    write(tmp_path / "ib/mlx5_0/ports/1", {"state": "4: ACTIVE", "rate": "200 Gb/sec (4X HDR)"})
    first, second = traffic.describe_interfaces(tmp_path / "net")
    assert (first["name"], first["bits_per_s"], first["mtu_bytes"]) == ("eth0", 25 * 10**9, 9000)
    assert (second["state"], second["bits_per_s"]) == ("down", None)
    (port,) = traffic.describe_ports(tmp_path / "ib")
    assert (port["adapter"], port["port"], port["rate"]) == ("mlx5_0", 1, "200 Gb/sec (4X HDR)")


# --- what file systems say


def test_lustre_striping():
    several = "stripe_count:  4 stripe_size:   1048576 pattern:       raid0 stripe_offset: -1\n"
    assert lustre.parse_getstripe(several) == {
        "stripe_count": 4,
        "stripe_size": 1048576,
        "pattern": "raid0",
        "stripe_offset": -1,
    }
    assert lustre.parse_getstripe("lmm_stripe_count:  2\nlmm_pool: fast\n") == {"stripe_count": 2, "pool": "fast"}
    assert lustre.parse_getstripe("") == {}


MOUNTSTATS = r"""device rootfs mounted on / with fstype rootfs
device srv:/a mounted on /mnt/a with fstype nfs4 statvers=1.1
	opts:	rw,vers=3,rsize=8192
	age:	5
device srv:/b mounted on /mnt/b\040c with fstype nfs4 statvers=1.1
	opts:	rw,vers=4.2,rsize=1048576,wsize=524288,nconnect=2,proto=tcp
	age:	3600
	xprt:	tcp 0 0 1 0 0 24 24 0 24 0 2 0 0
	xprt:	tcp 0 0 1 0 0 24 24 0 24 0 2 0 0
device tmpfs mounted on /tmp with fstype tmpfs
	opts:	rw
"""


def test_nfs_mountstats_of_the_mount_that_is_meant():
    found = others.parse_mountstats(MOUNTSTATS, "/mnt/b c")
    assert (found["vers"], found["rsize"], found["wsize"], found["age_s"]) == ("4.2", 1048576, 524288, 3600)
    assert (found["connections"], found["transport"]) == (2, "tcp")
    assert others.parse_mountstats(MOUNTSTATS, "/mnt/a")["rsize"] == 8192
    assert others.parse_mountstats(MOUNTSTATS, "/none") == {}


def test_a_tool_that_hangs_fails_or_is_absent_is_no_answer(monkeypatch, tmp_path):
    assert reading.run_tool(["sleep", "60"], timeout_s=0.05) is None
    assert reading.run_tool(["false"]) is None
    assert reading.run_tool(["no-such-tool"]) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    on_lustre = mount.find_holding_mount(mounts(), "/scratch")
    assert filesystems.identify_file_system(tmp_path, on_lustre) == {
        "family": "lustre",
        "version": None,
        "striping": {},
    }


# --- quotas


def test_lustre_and_nfs_quota():
    (found,) = quota.parse_lfs("/scratch  900*  800  1000  6d23h  12  0  100  -\n", 7)
    assert (found["kind"], found["id"], found["used_bytes"], found["hard_bytes"]) == (
        "user",
        7,
        900 * 1024,
        1000 * 1024,
    )
    assert (found["free_bytes"], found["free_files"], found["soft_files"]) == (100 * 1024, 88, None)
    nfs = "Disk quotas for user me (uid 7): \n     Filesystem blocks quota limit grace files quota limit grace\n"
    nfs += "srv:/a  10  0  20  0  1  0  0  0\nsrv:/b  5  0  6  0  1  0  0  0\n"
    assert quota.parse_quota(nfs, "srv:/b", 7)[0]["free_bytes"] == 1024
    assert quota.parse_quota(nfs, "srv:/c", 7) == []


def test_lustre_is_asked_for_the_quotas_of_user_group_and_project(monkeypatch, tmp_path):
    asked = []

    def lfs(words):
        asked.append(words[3])
        return f"{words[-1]}  10  0  {20 * len(asked)}  -  1  0  {30 * len(asked)}  -\n"

    on_lustre = mount.Mount(**{**vars(mount.find_mount(tmp_path)), "type": "lustre", "mount_point": "/scratch"})
    monkeypatch.setattr(quota.reading, "run_tool", lfs)
    monkeypatch.setattr(quota, "read_project_id", lambda _: 42)
    found = quota.query_quotas(tmp_path, on_lustre)
    assert asked == ["-u", "-g", "-p"]
    assert [(one["kind"], one["hard_files"]) for one in found] == [("user", 30), ("group", 60), ("project", 90)]
    assert found[2]["id"] == 42
    monkeypatch.setattr(quota.reading, "run_tool", lambda words: asked.append(words) and None)
    assert quota.query_quotas(tmp_path, on_lustre) == [] and len(asked) == 4, "it hangs once, not three times"


def test_no_quota_is_none():
    assert quota.parse_lfs("/scratch 900 0 0 - 12 0 0 -", 7) == []
    assert quota.parse_lfs("some error text", 7) == []
    assert quota.parse_lfs("", 7) == []


def test_a_soft_limit_counts_where_there_is_no_hard_one():
    assert quota.parse_lfs("/s 900 800 0 none 1 0 0 -", 1)[0]["free_bytes"] == 0


def test_a_directory_without_a_project_has_none(tmp_path):
    assert quota.read_project_id(tmp_path) is None
    assert quota.read_project_id(tmp_path / "absent") is None


# --- batch jobs


def test_a_slurm_job_and_its_end():
    env = {
        "SLURM_JOB_ID": "42",
        "SLURM_JOB_NUM_NODES": "3",
        "SLURM_JOB_NODELIST": "n[1-3]",
        "SLURM_JOB_END_TIME": "1795262400",
    }
    found = scheduler.identify_job(env)
    assert (found["name"], found["job"], found["nodes"]) == ("slurm", "42", 3)
    assert found["walltime_end"] == "2026-11-21T12:00:00+00:00"
    assert scheduler.identify_job({}) is None


def test_ends_of_jobs_as_the_tools_print_them(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    assert scheduler.parse_scontrol("JobId=1 EndTime=2026-11-21T12:00:00 Deadline=N/A") == 1795262400
    assert scheduler.parse_scontrol("JobId=1 EndTime=Unknown") is None
    pro = "    Resource_List.walltime = 01:00:30\n    stime = Sat Nov 21 11:00:00 2026\n"
    assert scheduler.parse_pbs_end(pro) == 1795262430
    assert scheduler.parse_pbs_end(pro.replace("stime", "start_time")) == 1795262430
    assert scheduler.parse_pbs_end("    stime = Sat Nov 21 11:00:00 2026\n") is None


# --- secrets


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["x", "--password=abc"], ["x", "--password=***"]),
        (["x", "--api-key", "abc", "y"], ["x", "--api-key", "***", "y"]),
        (["x", "--token", "--verbose"], ["x", "--token", "--verbose"]),
        (["S3_SECRET_ACCESS_KEY=abc", "run"], ["S3_SECRET_ACCESS_KEY=***", "run"]),
        (["curl", "https://me:pw@host/x"], ["curl", "https://***@host/x"]),
        (["curl", "-H", "Authorization: Bearer abc"], ["curl", "-H", "Authorization: ***"]),
        (["sh", "-c", "fio --password='a b' --size=1"], ["sh", "-c", "fio --password=*** --size=1"]),
        (["sh", "-c", "tool --token abc --size 1"], ["sh", "-c", "tool --token *** --size 1"]),
        (["ior", "-t", "1m", "-o", "/mnt/secret/file", "user@host:/path"], None),
    ],
)
def test_secrets_are_taken_out_of_a_command_line(words, expected):
    assert machine.redact_words(words) == (expected or words)


@given(st.text(st.characters(categories=["L", "N"]), min_size=6))
def test_no_value_survives(value):
    value = f"Zq9{value}"
    text = f"--password={value} X_TOKEN={value} https://u:{value}@h --secret {value}"
    assert value not in command.redact(text)


def test_the_commit_of_a_directory_and_whether_it_was_changed(tmp_path):
    assert machine.describe_software(tmp_path)["commit"] is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    (tmp_path / "file").write_text("1")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], check=True)
    found = machine.describe_software(tmp_path)
    assert (len(found["commit"]), found["commit_modified"]) == (40, False)
    (tmp_path / "file").write_text("2")
    assert machine.describe_software(tmp_path)["commit_modified"] is True
    assert "commit" not in machine.describe_software()


# --- load


def test_shares_of_the_nodes_time():
    begin = load.Sample(10.0, load.parse_stat("cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 1\n"), 1.0)
    ticks = os.sysconf("SC_CLK_TCK")
    end_line = " ".join(str(seconds * ticks) for seconds in (4, 0, 2, 10, 2, 0, 0, 2, 0, 0))
    end = load.Sample(20.0, load.parse_stat(f"cpu  {end_line}\n"), 5.0)
    found = load.compute_shares(begin, end)
    assert (found["busy_share"], found["iowait_share"], found["steal_share"]) == (0.3, 0.1, 0.1)
    assert (found["own_share"], found["background_share"], found["seconds"]) == (0.2, pytest.approx(0.1), 10.0)


def test_the_other_hosts_of_a_lab_are_no_strangers():
    """Ten seconds of two CPUs, twelve busy: two ours, one the client's daemon's, nine of all hosts; three are left."""
    served = {Daemon(7, "1", "glusterfs"): 1.0}
    begin = load.Sample(0.0, {"user": 0.0}, 0.0, dict.fromkeys(served, 0.0), 0, 40.0)
    end = load.Sample(10.0, {"user": 12.0, "idle": 8.0}, 2.0, served, 0, 49.0)
    found = load.compute_shares(begin, end)
    assert (found["other_hosts_share"], found["background_share"]) == (pytest.approx(6 / 20), pytest.approx(3 / 20))


def test_the_cpu_time_of_a_lab_is_read_where_it_says(tmp_path):
    file, counted = tmp_path / "lab.json", tmp_path / "usage"
    file.write_text(json.dumps({"cpu_usage": str(counted), "layout": {}}))
    assert emulated.read_lab_cpu_seconds(file) is None
    for text, seconds in (("1500000000\n", 1.5), ("usage_usec 2500000\nuser_usec 1\n", 2.5), ("nothing\n", None)):
        counted.write_text(text)
        assert emulated.read_lab_cpu_seconds(file) == seconds
    assert emulated.read_lab(file) == {"layout": {}}
    assert emulated.read_lab_cpu_seconds(tmp_path / "none") is None


@pytest.mark.parametrize(("seconds", "ticks"), [(10.0, 0), (0.1, 4)])
def test_where_too_little_time_was_counted_there_is_no_share(seconds, ticks):
    found = load.compute_shares(
        load.Sample(0.0, {}, 0.0), load.Sample(seconds, load.parse_stat(f"cpu {ticks} 0 0 {ticks}"), 0.0)
    )
    assert found["busy_share"] is None
    assert found["background_share"] is None


def test_a_sampler_sees_its_own_process_at_work():
    sampler = machine.LoadSampler()
    deadline = os.times().user + 0.25
    while os.times().user < deadline:
        sum(range(10000))
    found = sampler.result()
    assert 0 < found["own_share"] <= found["busy_share"] + 0.5


def test_the_cpu_time_of_a_command_that_has_ended_is_ours():
    before = processes.sum_cpu_seconds([os.getpid()])
    subprocess.run(["/bin/sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"], check=True)
    assert processes.sum_cpu_seconds([os.getpid()]) - before > 0.1


def test_a_host_of_a_lab_knows_what_is_true_of_its_cluster(tmp_path):
    file = tmp_path / "lab.json"
    assert emulated.read_lab(file) is None
    file.write_text(json.dumps({"layout": {"copies": 2}, "hosts": [{"name": "server1"}], "state": "up"}))
    assert emulated.read_lab(file) == {"layout": {"copies": 2}}


def test_a_place_is_below_another_by_whatever_name():
    mounts = mount.parse_mountinfo(
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "30 22 8:2 / /mnt/a rw - xfs /dev/sdb1 rw\n"
        "31 22 8:2 /data /mnt/b rw - xfs /dev/sdb1 rw\n"  # mount --bind /mnt/a/data /mnt/b
        "32 22 8:1 /home/x /mnt/c rw - ext4 /dev/sda1 rw\n"
    )
    below = [
        ("/mnt/a/data/store", "/mnt/a/data"),
        ("/mnt/b/store", "/mnt/a/data"),
        ("/mnt/b/store", "/mnt/a"),
        ("/mnt/a/data/store", "/mnt/b"),
        ("/mnt/b", "/mnt/a/data"),
        ("/mnt/c/store", "/home/x"),
        ("/home/x/y/store", "/mnt/c/y"),
    ]
    apart = [
        ("/mnt/b/store", "/mnt/a/other"),
        ("/mnt/a/database", "/mnt/b"),
        ("/home/store", "/mnt/c"),
        ("/data/store", "/mnt/b"),
        ("/mnt/a", "/mnt/a/data"),
    ]
    assert [pair for pair in below if not mount.is_below(*pair, mounts)] == []
    assert [pair for pair in apart if mount.is_below(*pair, mounts)] == []


# --- whole answers


@pytest.mark.parametrize(
    ("line", "space", "files"),
    [
        # KiB used, quota, limit, grace; files used, quota, limit, grace.
        ("/s 900 800 1000 - 12 0 100 -", (900, 800, 1000, 100), (12, None, 100, 88)),
        ("/s 900* 0 800 6d 12 10 0 -", (900, None, 800, 0), (12, 10, None, 0)),
        ("/s 1 8 0 - 2 0 0 -", (1, 8, None, 7), (2, None, None, None)),
        ("/s 1 0 0 - 2 5 7", (1, None, None, None), (2, 5, 7, 5)),
    ],
)
def test_a_quota_with_all_its_numbers(line, space, files):
    used, soft, hard, free = (None if number is None else number * 1024 for number in space)
    assert quota.parse_lfs(line.replace(" -", " none"), 7, "group") == [
        {
            "kind": "group",
            "id": 7,
            "used_bytes": used,
            "soft_bytes": soft,
            "hard_bytes": hard,
            "free_bytes": free,
            "used_files": files[0],
            "soft_files": files[1],
            "hard_files": files[2],
            "free_files": files[3],
        }
    ]


def test_a_ceph_directory_has_the_limits_of_its_attributes(monkeypatch, tmp_path):
    attributes = {"ceph.quota.max_bytes": b"1000", "ceph.dir.rbytes": b"400", "ceph.dir.rfiles": b"3"}

    def getxattr(_, name):
        if name not in attributes:
            raise OSError(61, "no data")
        return attributes[name]

    monkeypatch.setattr(os, "getxattr", getxattr, raising=False)
    for kind in ("ceph", "fuse.ceph", "fuse.ceph-fuse"):
        (found,) = quota.query_quotas(tmp_path, mount.Mount("/", kind, "mon:/", "rw", "rw", (0, 1), "/"))
        assert (found["kind"], found["used_bytes"], found["hard_bytes"], found["free_bytes"]) == (
            "directory",
            400,
            1000,
            600,
        )
        assert (found["used_files"], found["hard_files"], found["free_files"]) == (3, None, None)
    attributes.clear()
    assert quota.query_quotas(tmp_path, mount.Mount("/", "ceph", "mon:/", "rw", "rw", (0, 1), "/")) == []


def test_a_disk_with_all_that_its_queue_says(tmp_path):
    disk = "devices/block/sda"
    queue = {
        "rotational": "1",
        "scheduler": "none [bfq]",
        "logical_block_size": "512",
        "physical_block_size": "4096",
        "optimal_io_size": "65536",
        "nr_requests": "64",
        "max_sectors_kb": "1280",
        "read_ahead_kb": "128",
        "write_cache": "write back",
    }
    files = {f"{disk}/queue/{name}": text for name, text in queue.items()}
    files |= {f"{disk}/dev": "8:0", f"{disk}/size": "100", f"{disk}/device/vendor": "ATA "}
    write(tmp_path, files | {f"{disk}/device/model": "ST4000 "})
    (tmp_path / "dev/block").mkdir(parents=True)
    (tmp_path / "dev/block/8:0").symlink_to(tmp_path / disk)
    expected = [
        {
            "name": "sda",
            "carries": None,
            "size_bytes": 51200,
            "model": "ST4000",
            "vendor": "ATA",
            "backing_file": None,
            "raid_level": None,
            "rotational": True,
            "scheduler": "bfq",
            "logical_block_bytes": 512,
            "physical_block_bytes": 4096,
            "optimal_io_bytes": 65536,
            "requests": 64,
            "largest_request_bytes": 1280 * 1024,
            "read_ahead_bytes": 128 * 1024,
            "write_cache": "write back",
        }
    ]
    assert block.list_devices(mount.Mount("/", "xfs", "/dev/sda", "rw", "rw", (8, 0), "/"), tmp_path) == expected


@pytest.mark.parametrize(
    ("total_kib", "limit", "usable"), [(100, None, 102400), (100, 50000, 50000), (100, 200000, 102400), (None, 77, 77)]
)
def test_the_smaller_of_memory_and_limit_is_usable(monkeypatch, total_kib, limit, usable):
    monkeypatch.setattr(host.reading, "read_text", lambda _: total_kib and f"MemTotal: {total_kib} kB")
    monkeypatch.setattr(host, "find_cgroup_limit", lambda: limit)
    assert host.compute_usable_memory() == usable


def test_memory_is_described_in_bytes(monkeypatch):
    texts = {
        "/proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 8 kB\nCached: 7 kB\nDirty: 6 kB\nSwapTotal: 5 kB\n",
        "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    }
    monkeypatch.setattr(host.reading, "read_text", texts.get)
    monkeypatch.setattr(host, "find_cgroup_limit", lambda: 4096)
    assert host.read_memory_facts() == {
        "total_bytes": 9216,
        "available_bytes": 8192,
        "cached_bytes": 7168,
        "dirty_bytes": 6144,
        "swap_total_bytes": 5120,
        "cgroup_limit_bytes": 4096,
        "usable_bytes": 4096,
        "transparent_hugepage": "madvise",
    }
    texts.clear()
    assert host.read_memory_facts()["transparent_hugepage"] is None


@pytest.mark.parametrize(
    ("detected", "cpuinfo", "hypervisor", "vendor", "kind"),
    [
        ("kvm\n", "", None, None, "kvm"),
        (None, "flags : fpu vme", "xen", "QEMU", None),
        (None, "flags : fpu hypervisor vme", "xen", "QEMU", "xen"),
        (None, "flags : fpu hypervisor", None, "QEMU", "QEMU"),
        (None, "flags : hypervisor", None, None, "hypervisor"),
        (None, None, "xen", "QEMU", None),
    ],
)
def test_a_virtual_machine_is_known_by_the_tool_or_by_its_cpu(monkeypatch, detected, cpuinfo, hypervisor, vendor, kind):
    texts = {"/proc/cpuinfo": cpuinfo, "/sys/hypervisor/type": hypervisor, "/sys/class/dmi/id/sys_vendor": vendor}
    monkeypatch.setattr(host.reading, "run_tool", lambda _: detected)
    monkeypatch.setattr(host.reading, "read_text", texts.get)
    assert host._detect_virtualisation() == kind


def test_a_job_is_described_by_its_environment(monkeypatch, tmp_path):
    slurm = {
        "SLURM_JOB_ID": "42",
        "SLURM_JOB_NUM_NODES": "3",
        "SLURM_JOB_NODELIST": "n[1-3]",
        "SLURM_JOB_PARTITION": "fast",
    }
    asked = []
    monkeypatch.setattr(scheduler.reading, "run_tool", lambda words: asked.append(words))
    assert scheduler.identify_job(slurm) == {
        "name": "slurm",
        "job": "42",
        "nodes": 3,
        "node_list": "n[1-3]",
        "partition": "fast",
        "walltime_end": None,
    }
    (tmp_path / "nodes").write_text("b\nb\na\n")
    pbs = {"PBS_JOBID": "7.s", "PBS_NUM_NODES": "x", "PBS_NODEFILE": f"{tmp_path}/nodes", "PBS_QUEUE": "q"}
    assert scheduler.identify_job(pbs) == {
        "name": "pbs",
        "job": "7.s",
        "nodes": None,
        "node_list": "b,a",
        "partition": "q",
        "walltime_end": None,
    }
    assert asked == [["scontrol", "show", "job", "-o", "42"], ["qstat", "-f", "7.s"]]
    assert scheduler.identify_job({"PBS_JOBID": "7"})["node_list"] is None


def test_a_daemon_that_serves_the_target_has_its_share_and_one_that_came_later_too():
    """Ten seconds of one CPU: three of two daemons, one of them new."""
    old, new = Daemon(7, "1", "glusterfs"), Daemon(8, "2", "fuse")
    begin = load.Sample(0.0, {}, 0.0, {old: 4.0})
    end = load.Sample(10.0, {"user": 6.0, "idle": 4.0}, 1.0, {old: 6.0, new: 1.0}, 4096)
    found = load.compute_shares(begin, end)
    assert {name: value for name, value in found.items() if name != "load_average"} == {
        "seconds": 10.0,
        "busy_share": pytest.approx(0.6),
        "iowait_share": 0.0,
        "steal_share": 0.0,
        "own_share": pytest.approx(0.1),
        "background_share": pytest.approx(0.2),
        "client_daemon_share": pytest.approx(0.3),
        "client_daemon": "glusterfs, fuse",
        "client_daemon_cpu_s": 3.0,
        "client_daemon_rss_bytes": 4096,
    }


def test_cpu_time_is_read_by_kind():
    ticks = os.sysconf("SC_CLK_TCK")
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    line = "cpu " + " ".join(str(ticks * (place + 1)) for place in range(10))
    assert load.parse_stat(f"{line}\ncpu0 1 2\n") == {name: place + 1.0 for place, name in enumerate(names)}
    assert load.parse_stat("") == {} == load.parse_stat("intr 1 2\n")


def test_key_value_lines_are_read_and_others_left_out():
    text = "Server  Name: a : b\nno sign\n: nothing\n\tAge:5\n"
    assert reading.parse_key_values(text) == {"server_name": "a : b", "age": "5"}
    assert reading.parse_key_values("a=1\nb: 2", "=") == {"a": "1"}
    assert [reading.parse_integer(word) for word in ("7", "-1", "x", "", None)] == [7, -1, None, None, None]


@pytest.fixture
def quotactl(monkeypatch):
    """A kernel that answers each kind of quota with the next of some numbers."""
    state = SimpleNamespace(calls=[], refused=())

    def answer(request, device, number, block):
        state.calls.append((request.value & 0xFFFFFFFF, device, number.value))
        if request.value & 0xFF in state.refused:
            return -1
        for at, (name, _) in enumerate(quota._Dqblk._fields_, 1):
            setattr(block._obj, name, 1000 * at)
        return 0

    monkeypatch.setattr(quota.ctypes, "CDLL", lambda *_, **__: SimpleNamespace(quotactl=answer))
    monkeypatch.setattr(quota, "read_project_id", lambda target: 9)
    monkeypatch.setattr(quota.os, "getuid", lambda: 7)
    monkeypatch.setattr(quota.os, "getgid", lambda: 8)
    return state


def test_a_local_file_system_is_asked_for_all_kinds_of_quota(quotactl, monkeypatch):
    mounted = mount.Mount("/m", "xfs", "/dev/sda", "rw", "", (8, 0), "/")
    quotas = quota.query_quotas(Path("/m"), mounted)
    first = 0x800007 << 8
    assert quotactl.calls == [(first, b"/dev/sda", 7), (first + 1, b"/dev/sda", 8), (first + 2, b"/dev/sda", 9)]
    assert [(one["kind"], one["id"]) for one in quotas] == [("user", 7), ("group", 8), ("project", 9)]
    # Limits in KiB, the usage in bytes.
    assert quotas[0] == {
        "kind": "user",
        "id": 7,
        "used_bytes": 3000,
        "soft_bytes": 2000 * 1024,
        "hard_bytes": 1000 * 1024,
        "free_bytes": 1000 * 1024 - 3000,
        "used_files": 6000,
        "soft_files": 5000,
        "hard_files": 4000,
        "free_files": 0,
    }
    quotactl.refused = (1,)
    monkeypatch.setattr(quota, "read_project_id", lambda target: None)
    assert [one["kind"] for one in quota.query_quotas(Path("/m"), mounted)] == ["user"]
    other = mount.Mount("/m", "tmpfs", "tmpfs", "rw", "", (0, 5), "/")
    assert quota.query_quotas(Path("/m"), other) == []


@pytest.mark.parametrize(
    ("type_", "asked"),
    [
        ("lustre", "lustre /p"),
        ("nfs4", "quota srv:/x 7"),
        ("ceph", "ceph /t"),
        ("fuse.ceph", "ceph /t"),
        ("fuse.ceph-fuse", "ceph /t"),
    ],
)
def test_each_file_system_is_asked_for_quotas_in_its_own_way(quotactl, monkeypatch, type_, asked):
    monkeypatch.setattr(quota, "_query_lustre", lambda target, point: [f"lustre {point}"])
    monkeypatch.setattr(quota, "_query_ceph", lambda target: [f"ceph {target}"])
    monkeypatch.setattr(quota, "parse_quota", lambda text, source, uid: [f"{text} {source} {uid}"])
    monkeypatch.setattr(quota.reading, "run_tool", lambda words: " ".join(words)[:5])
    mounted = mount.Mount("/p", type_, "srv:/x", "rw", "", (0, 5), "/")
    assert quota.query_quotas(Path("/t"), mounted) == [asked]


@pytest.mark.parametrize(
    ("lines", "found"),
    [("Disk\n/x 1 2 3 none 1 0 0\n", 1), ("/xy 1 2 3 none 1 0 0\n", 0), ("\n a /x 1 2 3 n 1 0 0\n", 0)],
)
def test_the_quota_of_a_mount_is_the_line_that_begins_with_its_source(lines, found):
    assert [one["used_bytes"] for one in quota.parse_quota(lines, "/x", 7)] == [1024] * found


@pytest.fixture
def sys_block(tmp_path):
    """/sys with a logical volume on a partition of a disk, and a loop device."""
    devices = tmp_path / "devices"
    for path, number in (("sda", "8:0"), ("sda/sda1", "8:1"), ("dm-0", "253:0"), ("loop0", "7:0")):
        (devices / path).mkdir(parents=True)
        (devices / path / "dev").write_text(f"{number}\n")
        (devices / path / "size").write_text("100\n")
        (tmp_path / "dev/block").mkdir(parents=True, exist_ok=True)
        (tmp_path / "dev/block" / number).symlink_to(devices / path)
    (devices / "sda/sda1/partition").write_text("1\n")
    (devices / "dm-0/slaves").mkdir()
    (devices / "dm-0/slaves/sda1").symlink_to(devices / "sda/sda1")
    (devices / "loop0/loop").mkdir()
    (devices / "loop0/loop/backing_file").write_text("/images/a\n")
    return tmp_path


@pytest.mark.parametrize(
    ("device", "chain"),
    [
        ((8, 0), [("sda", None)]),
        ((8, 1), [("sda1", None), ("sda", "sda1")]),
        ((253, 0), [("dm-0", None), ("sda1", "dm-0"), ("sda", "sda1")]),
        ((7, 0), [("loop0", None), ("sda1", "loop0"), ("sda", "sda1")]),
        ((9, 9), []),
    ],
)
def test_devices_are_listed_from_the_mounted_one_to_the_disk(sys_block, monkeypatch, device, chain):
    holder = mount.Mount("/images", "xfs", "/dev/sda1", "rw", "", (8, 1), "/")
    monkeypatch.setattr(block.mount, "find_mount", lambda path: holder if path == Path("/images/a") else None)
    mounted = mount.Mount("/m", "xfs", "/dev/none", "rw", "", device, "/")
    listed = block.list_devices(mounted, sys_block)
    assert [(one["name"], one["carries"]) for one in listed] == chain
    assert {one["size_bytes"] for one in listed} <= {51200}


def test_a_chain_of_devices_has_an_end(sys_block):
    (sys_block / "devices/sda/slaves").mkdir()
    (sys_block / "devices/sda/slaves/sda").symlink_to(sys_block / "devices/sda")
    mounted = mount.Mount("/m", "xfs", "/dev/none", "rw", "", (8, 0), "/")
    assert len(block.list_devices(mounted, sys_block)) == 9


@pytest.mark.parametrize(
    ("options", "chosen"), [("mq-deadline [none]", "none"), ("[a] b", "a"), ("none", "none"), ("", ""), (None, None)]
)
def test_the_chosen_scheduler_is_in_brackets(options, chosen):
    assert block._parse_chosen(options) == chosen


def test_a_source_that_is_no_block_device_has_no_number(tmp_path):
    assert block._parse_device_number(str(tmp_path)) is None
    assert block._parse_device_number("/dev/null") is None  # a character device
    assert block._parse_device_number("none") is None


@pytest.mark.parametrize(
    ("words", "hidden"),
    [
        (["--password", "x", "y"], ["--password", "***", "y"]),
        (["--token", "--other", "y"], ["--token", "--other", "y"]),
        (["password", "x"], ["password", "x"]),
        (["--password=x", "y"], ["--password=***", "y"]),
    ],
)
def test_the_word_after_the_option_of_a_secret_is_hidden(words, hidden):
    assert command.redact_words(words) == hidden


@pytest.mark.parametrize(
    ("options", "hidden"),
    [
        ("rw,password=x,vers=3", "rw,password=***,vers=3"),
        ("PASS=x,key=y,token", "PASS=***,key=***,token"),
        ("user=x,secret=", "user=x,secret=***"),
    ],
)
def test_secrets_of_mount_options_are_hidden(options, hidden):
    assert command.redact_options(options) == hidden


@pytest.mark.parametrize(
    ("commit", "changes", "expected"),
    [
        ("abc\n", "", ("abc", False)),
        ("abc\n", " M x\n", ("abc", True)),
        ("abc\n", None, ("abc", None)),
        (None, "\n", (None, False)),
    ],
)
def test_the_software_is_described_with_its_commit(monkeypatch, commit, changes, expected):
    asked = []

    def run(words):
        asked.append(words)
        return commit if "rev-parse" in words else changes

    monkeypatch.setattr(command.reading, "run_tool", run)
    described = command.describe_software(Path("/r"))
    assert (described["commit"], described["commit_modified"]) == expected
    assert [words[:3] for words in asked] == [["git", "-C", "/r"]] * 2
    assert "--untracked-files=no" in asked[1]
    assert set(command.describe_software()) == {"iosonde", "python"}


def test_a_tool_is_run_in_english_within_its_time(monkeypatch):
    calls = []

    def run(words, limit_s, environment):
        calls.append((words, limit_s, environment["LC_ALL"]))
        return SimpleNamespace(stdout="x", returncode=int(words[1]))

    monkeypatch.setattr(reading, "run_program", run)
    monkeypatch.setattr(reading.shutil, "which", lambda name: name == "tool" or None)
    answers = [reading.run_tool(["tool", "0"]), reading.run_tool(["tool", "1"], 2.0)]
    answers += [reading.run_tool(["tool", "1"], whatever_code=True), reading.run_tool(["none", "0"])]
    assert answers == ["x", None, "x", None]
    assert calls == [(["tool", "0"], 5.0, "C"), (["tool", "1"], 2.0, "C"), (["tool", "1"], 5.0, "C")]


def test_a_lab_is_read_from_a_file_of_root_or_of_this_user(tmp_path, monkeypatch):
    file = tmp_path / "lab.json"
    assert emulated.read_lab(file) is None and emulated.read_lab_cpu_seconds(file) is None
    file.write_text(json.dumps({"a": 1, "hosts": [1], "state": 2, "cpu_usage": str(tmp_path / "cpu")}))
    (tmp_path / "cpu").write_text("usage_usec 2500000\n")
    assert (emulated.read_lab(file), emulated.read_lab_cpu_seconds(file)) == ({"a": 1}, 2.5)
    monkeypatch.setattr(emulated.os, "geteuid", lambda: file.stat().st_uid + 1)
    assert (emulated.read_lab(file) is None) is bool(file.stat().st_uid)


def test_counts_are_added_and_subtracted_one_by_one():
    one, two = traffic.NetworkCounts(10, 20, 30, 40), traffic.NetworkCounts(1, 3, 5, 7)
    assert one.minus(two) == traffic.NetworkCounts(9, 17, 25, 33)
    assert one.plus(two) == traffic.NetworkCounts(11, 23, 35, 47)


def test_bytes_sent_are_those_of_interfaces_and_ports_without_loopback(tmp_path):
    header = "Inter-| Receive | Transmit\n face |bytes packets\n"
    rows = {"lo": range(1, 17), "eth0": range(100, 116), "ib0": range(200, 216)}
    (tmp_path / "dev").write_text(header + "".join(f"{name}: {' '.join(map(str, n))}\n" for name, n in rows.items()))
    counts = traffic.read_interface_counts(tmp_path / "dev")
    assert counts == {
        "lo": traffic.NetworkCounts(1, 9, 2, 10),
        "eth0": traffic.NetworkCounts(100, 108, 101, 109),
        "ib0": traffic.NetworkCounts(200, 208, 201, 209),
    }
    ports = tmp_path / "ib/mlx5_0/ports"
    sizes = {"port_rcv_data": "3", "port_xmit_data": "5"}
    write(ports / "1/counters", sizes | {"port_rcv_packets": "7", "port_xmit_packets": "9"})
    write(ports / "2/counters", sizes | {"port_rcv_data": "0"})  # no counts of packets
    write(ports / "3/counters", {"port_rcv_data": "3"})
    assert traffic.read_port_counts(tmp_path / "ib") == {
        "mlx5_0/1": traffic.NetworkCounts(12, 20, 7, 9),
        "mlx5_0/2": traffic.NetworkCounts(0, 20, 0, 0),
    }
    assert traffic.count_sent_bytes(tmp_path / "dev", tmp_path / "ib") == 108 + 208 + 20 + 20
