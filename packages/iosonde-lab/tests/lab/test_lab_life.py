"""A lab comes whole or not at all, goes without a trace wherever it was ended, and touches nothing that is not its."""

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lab_here import Leftovers, command, iosonde, noting, surroundings, why_not

from iosonde.core.errors import InputError
from iosonde_lab import api as labs
from iosonde_lab import hosts, links, place
from iosonde_lab.lab import CUT_SHORT
from iosonde_lab.tools import LabError
from messages import raises

SEED = 20140


@pytest.fixture
def root(lab_root, monkeypatch):
    """A root for one test alone."""
    own = Path(tempfile.mkdtemp(prefix="iosonde-lab-", dir="/var/tmp")).resolve()
    monkeypatch.setenv(place.ROOT, str(own))
    yield own
    for name in place.names():
        labs.down(name)
    shutil.rmtree(own)


def up_words(file_system: str, name: str) -> list[str]:
    words = [
        "lab",
        "up",
        file_system,
        "--name",
        noting(name),
        "--servers",
        "2",
        "--clients",
        "1",
        "--disk-size",
        "512MiB",
    ]
    return command(
        *words, "--net", "993mbit", "--disk-read", "200MB/s", "--disk-write", "200MB/s", "--write-back", "8MiB"
    )


def bring_up(file_system: str, name: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        up_words(file_system, name), env=surroundings(**more), capture_output=True, text=True, timeout=120, check=False
    )


def test_what_is_there_of_a_lab_is_seen_and_nothing_of_it_stays(root):
    """Else the tests below could not fail."""
    assert Leftovers(root).found() == {}
    done = bring_up("local", "one")
    assert done.returncode in (0, 1), done.stderr
    there = Leftovers(root).found(0)
    assert set(there) == {"processes", "loops", "groups", "directories"}
    assert len(there["loops"]) == 2 and len(there["groups"]) >= 1
    begin = time.monotonic()
    labs.down("one")
    assert time.monotonic() - begin < 30
    assert Leftovers(root).found() == {}


@pytest.mark.parametrize("n", range(8))
@pytest.mark.parametrize("file_system", ["local", "glusterfs"])
def test_killed_at_any_moment_of_its_bring_up_it_can_be_taken_down(root, file_system, n):
    if why := why_not(file_system):
        pytest.skip(why)
    moment = random.Random(SEED + n).uniform(0.1, {"local": 3.0, "glusterfs": 8.0}[file_system])
    started = subprocess.Popen(
        up_words(file_system, "half"), env=surroundings(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(moment)
    started.kill()
    started.wait()
    if "half" in place.names():
        done = iosonde("lab", "down", "half")
        assert done.returncode == 0, done.stderr
    assert Leftovers(root).found() == {}, f"killed after {moment:.2f} s"


@pytest.mark.parametrize("n", range(3))
def test_killed_while_it_is_taken_down_it_can_be_taken_down_again(root, n):
    assert bring_up("local", "half").returncode in (0, 1)
    ending = subprocess.Popen(command("lab", "down", "half"), env=surroundings(), stderr=subprocess.DEVNULL)
    time.sleep(random.Random(SEED + n).uniform(0.1, 0.4))
    ending.kill()
    ending.wait()
    if place.names():
        labs.down("half")
    assert Leftovers(root).found() == {}


def test_an_interrupt_of_the_bring_up_leaves_nothing(root):
    for number in (signal.SIGINT, signal.SIGTERM):
        started = subprocess.Popen(up_words("local", "half"), env=surroundings(), stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while not hosts.running(root / "half") and time.monotonic() < deadline:
            time.sleep(0.01)
        started.send_signal(number)
        assert "Traceback" not in started.communicate(timeout=60)[1]
        assert started.returncode == 130
        assert Leftovers(root).found() == {}


def test_what_a_recipe_fails_at_leaves_nothing_and_is_said(root):
    if why := why_not("glusterfs"):
        pytest.skip(why)
    done = iosonde(
        "lab",
        "up",
        "glusterfs",
        "--name",
        noting("bad"),
        "--servers",
        1,
        "--clients",
        1,
        "--set",
        "performance.wrte-behind=off",
    )
    assert done.returncode == 2
    assert "performance.wrte-behind" in done.stderr and "performance.write-behind" in done.stderr
    assert Leftovers(root).found() == {}


def test_hosts_and_servers_that_were_killed_are_no_hindrance(root):
    assert bring_up("local", "one").returncode in (0, 1)
    lab = labs.open_lab("one")
    os.kill(lab.servers[0].pid, signal.SIGKILL)
    shutil.rmtree(lab.clients[0].directory)
    deadline = time.monotonic() + 60
    while "server1" in hosts.running(lab.directory) and time.monotonic() < deadline:
        time.sleep(0.01)
    status = labs.status("one")
    assert status.problem and not next(one for one in status.hosts if one.name == "server1").running
    labs.down("one")
    assert Leftovers(root).found() == {}


def test_nothing_is_touched_that_is_not_a_labs(root):
    """Neither a directory with files, nor an empty one, nor one that looks like a lab's, nor a loop device."""
    (root / "papers").mkdir()
    (root / "papers" / "thesis.tex").write_text("mine")
    (root / "empty").mkdir()
    (root / "alike").mkdir()
    (root / "alike" / place.FILE).write_text("{}")
    image = root / "papers" / "disk.img"
    image.write_bytes(bytes(2**20))
    device = subprocess.run(["losetup", "--find", "--show", str(image)], capture_output=True, text=True, check=True)
    try:
        assert bring_up("local", "one").returncode in (0, 1)
        for name in ("papers", "empty", "alike"):
            done = iosonde("lab", "down", name)
            assert done.returncode == 2 and f"{name}: " in done.stderr
            done = iosonde("lab", "up", "local", "--name", name)
            assert done.returncode == 2 and str(root / name) in done.stderr
        assert place.names() == ["one"]
        assert iosonde("lab", "down", "--all").returncode == 0
        assert (root / "papers" / "thesis.tex").read_text() == "mine"
        assert (root / "empty").is_dir() and (root / "alike" / place.FILE).exists()
        told = subprocess.run(["losetup", "--list", device.stdout.strip()], capture_output=True, text=True, check=True)
        assert str(image) in told.stdout
    finally:
        subprocess.run(["losetup", "--detach", device.stdout.strip()], check=True)


def test_two_labs_of_one_name_stand_side_by_side(root):
    """In two places, made at the same time, with the same addresses; each lives on when the other is gone."""
    other = Path(tempfile.mkdtemp(prefix="iosonde-lab-", dir="/var/tmp")).resolve()
    try:
        with ThreadPoolExecutor() as pool:
            made = [pool.submit(bring_up, "local", "twin", IOSONDE_LAB_ROOT=str(one)) for one in (root, other)]
            assert all(one.result().returncode in (0, 1) for one in made), [one.result().stderr for one in made]
        lab = labs.open_lab("twin")
        lab.clients[0].run("touch", str(lab.mount_point / "mine"))
        done = iosonde("lab", "down", "twin", IOSONDE_LAB_ROOT=str(other))
        assert done.returncode == 0, done.stderr
        assert Leftovers(other).found() == {}
        status = labs.status("twin")
        assert all(one.running and one.cpu_seconds is not None for one in status.hosts)
        assert "mine" in lab.clients[0].run("ls", str(lab.mount_point))
        assert lab.clients[0].run("ping", "-c1", "-W2", lab.servers[0].address) if shutil.which("ping") else True
    finally:
        shutil.rmtree(other, ignore_errors=True)


def test_a_name_is_taken_once(root):
    first = bring_up("local", "one")
    assert first.returncode in (0, 1), first.stderr
    second = bring_up("local", "one")
    assert second.returncode == 2 and " one " in second.stderr
    assert labs.status("one").state == "up"


def test_a_lab_that_was_never_finished_says_so(root):
    assert place.claim("half")
    assert json.loads(iosonde("lab", "list", "--json").stdout)["labs"] == [
        {"name": "half", "state": "starting", "hosts": 0}
    ]
    with raises("incomplete-lab", InputError, lab="half"):
        labs.open_lab("half")
    labs.down("half")
    assert list(root.iterdir()) == []


def test_a_bring_up_that_was_killed_is_said_and_the_next_one_of_its_name_goes_on(root):
    started = subprocess.Popen(up_words("local", "half"), env=surroundings(), stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not hosts.running(root / "half") and time.monotonic() < deadline:
        time.sleep(0.005)
    assert [state for _, state, _ in labs.labs()] == ["starting"]
    refused = iosonde("lab", "up", "local", "--name", "half")
    started.kill()
    assert refused.returncode == 2 and " half " in refused.stderr
    started.wait()
    assert [state for _, state, _ in labs.labs()] == [CUT_SHORT]
    assert " half" in iosonde("lab", "list").stdout
    status = iosonde("lab", "status", "--lab", "half")
    assert status.returncode == 1 and CUT_SHORT in status.stdout
    again = bring_up("local", "half")
    assert again.returncode == 0, again.stderr
    assert "half: " in again.stderr and labs.status("half").state == "up"
    labs.down("half")
    assert Leftovers(root).found() == {}


def test_links_and_disks_are_as_fast_as_was_asked_for(root):
    """Measured as a user sees it: goodput of the Ethernet rate, direct I/O; at rates that a busy machine can hold."""
    done = iosonde(
        "lab",
        "up",
        "local",
        "--name",
        noting("slow"),
        "--servers",
        2,
        "--clients",
        1,
        "--json",
        "--net",
        "100mbit",
        "--disk-read",
        "20MB/s",
        "--disk-write",
        "10MB/s",
    )
    found = json.loads(done.stdout)["emulated"]
    assert len(found["links"]) == 3 and len(found["disks"]) == 2
    for link in found["links"]:
        assert link["bytes_per_s"] == pytest.approx(100e6 / 8 * 0.956, rel=0.1)
    for disk in found["disks"]:
        assert disk["read_bytes_per_s"] == pytest.approx(20e6, rel=0.1)
        assert disk["write_bytes_per_s"] == pytest.approx(10e6, rel=0.1)


def test_a_host_is_one_of_its_own(root):
    assert bring_up("local", "one").returncode in (0, 1)
    lab = labs.open_lab("one")
    for host in lab.hosts:
        assert host.run("hostname").strip() == host.name
    lab.clients[0].run("touch", "/run/mine", "/dev/shm/mine", f"{hosts.TEMPORARY}/mine")
    for place_ in ("/run", "/dev/shm", hosts.TEMPORARY):
        assert "mine" not in lab.servers[0].run("ls", place_)
    assert not Path("/run/mine").exists() and not Path("/dev/shm/mine").exists()
    assert lab.clients[0].run("ssh", "server2", "hostname").strip() == "server2"
    with raises("no-response", LabError):
        lab.clients[0].run("sleep", "30", limit_s=0.3)
    links.cut(lab.switch, lab.servers[1])
    with pytest.raises(LabError):
        lab.clients[0].run("ssh", "-o", "ConnectTimeout=1", "server2", "hostname")
    links.mend(lab.switch, lab.servers[1])
    assert lab.clients[0].run("ssh", "server2", "hostname").strip() == "server2"


def test_a_command_of_a_host_has_its_exit_code_and_its_own_options(root):
    assert bring_up("local", "one").returncode in (0, 1)
    assert iosonde("lab", "exec", "client1", "sh", "-c", "exit 7").returncode == 7
    assert "Size" in iosonde("lab", "exec", "client1", "df", "-h").stdout
    assert iosonde("lab", "exec", "client1", "--", "echo", "--", "x").stdout == "-- x\n"
    refused = iosonde("lab", "exec", "client9", "true")
    assert refused.returncode == 2 and "client1" in refused.stderr


def test_a_delay_is_in_every_round_trip_or_the_kernel_cannot_and_nothing_is_made(root):
    words = ["lab", "up", "local", "--name", noting("far"), "--servers", "1", "--clients", "2", "--disk-size", "512MiB"]
    done = iosonde(*words, "--net", "993mbit", "--delay", "8ms", "--json")
    if done.returncode == 2:
        assert "sch_netem" in done.stderr and place.names() == []
        return
    emulated = json.loads(done.stdout)["emulated"]
    assert [one["rtt_s"] - emulated["rtt_without_delay_s"] for one in emulated["links"]] == [
        pytest.approx(8e-3, rel=0.1)
    ] * 3
    lab = labs.open_lab("far")
    labs.inflict(lab, "slow-link", lab.clients[0], "100mbit")  # shapes it anew
    told = lab.clients[0].run("tc", "qdisc", "show", "dev", links.DEVICE)
    assert "netem" in told and "tbf" in told


def test_a_spool_that_the_first_node_does_not_see_is_refused_before_anything_is_measured(root, tmp_path):
    assert bring_up("local", "one").returncode in (0, 1)
    lab, store = labs.open_lab("one"), root / "one-store"
    words = command("run", "--quick", "--target", lab.servers[0].disk, "--store", store, "--hosts", "server2,server1")
    done = subprocess.run(
        lab.host("server1").words(*words),
        env=surroundings() | lab.host("server1").environment(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "server2" in done.stderr and "--spool" in done.stderr
    assert not store.exists() or not [*store.glob("runs/*")]
    shutil.rmtree(store, ignore_errors=True)
