"""``iosonde lab run FILE``: labs come and go with the trials that need them, whatever ends the command."""

import json
import os
import signal
import subprocess
import time

import pytest
from lab_here import command, iosonde, surroundings, why_not

from iosonde.campaign import turn
from iosonde.core import held
from iosonde.core.stored import StoredRun
from iosonde.store import Store
from iosonde_lab import api as labs
from iosonde_lab import place

UP = "brick up"  # of GlusterFS
FILE = """
lab: {file_system: local, name: camp, servers: 1, clients: 1, net: [100mbit, 200mbit]}
repetitions: 2
steps: ["sleep 0.2; dd if=/dev/zero of=${TARGET}/f bs=1M count=1"]
"""


@pytest.fixture
def here(lab_root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.yaml").write_text(FILE)
    return tmp_path


def runs(here):
    return Store.open(here / "s").runs()


def test_every_repetition_of_a_level_has_a_lab_of_its_own(here):
    done = iosonde("lab", "run", "e.yaml", "--store", "s", "--page", "page.html", limit_s=180)
    assert done.returncode == 0, done.stderr
    assert "100mbit" in (here / "page.html").read_text() and done.stderr.count(" page.html") == 1
    assert done.stderr.count(" net=") == 4 and "100mbit" in done.stdout
    kept = runs(here)
    assert len(kept) == 4 and not any(one["missing"] for one in kept)
    for one in kept:
        lab = one["facts"]["machine"]["lab"]
        assert lab["setting"]["levels"] == {"net": one["factors"]["net"]}
        assert lab["setting"]["repetition"] == one["factors"]["repetition"]
        assert lab["description"]["net_bits_per_s"] == float(one["factors"]["net"].removesuffix("mbit")) * 1e6
    assert place.names() == []


def test_a_campaign_that_was_killed_goes_on_and_takes_down_what_it_left(here):
    killed = subprocess.Popen(
        command("lab", "run", "e.yaml", "--store", "s"),
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not list(here.glob("s/runs/[!.]*/run.json")) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    kept = {one["id"] for one in runs(here)}
    assert kept
    again = iosonde("lab", "run", "e.yaml", "--store", "s", limit_s=180)
    assert again.returncode == 0, again.stderr
    assert kept <= {one["id"] for one in runs(here)} and len(runs(here)) == 4
    assert place.names() == []


def test_an_interrupt_takes_the_lab_down(here):
    ended = subprocess.Popen(
        command("lab", "run", "e.yaml", "--store", "s"),
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not any(state == "up" for _, state, _ in labs.labs()) and time.monotonic() < deadline:
        time.sleep(0.1)
    ended.terminate()
    assert ended.wait(60) == 130
    assert place.names() == []


def test_a_store_that_goes_with_the_host_is_refused(here):
    done = iosonde("lab", "run", "e.yaml", "--store", "/dev/shm/iosonde-lab-store")
    assert done.returncode == 2 and "/dev/shm/iosonde-lab-store" in done.stderr
    assert not os.path.exists("/dev/shm/iosonde-lab-store") and place.names() == []


def test_a_lab_of_anybody_else_is_left_alone(here, lab_of):
    lab_of("local", {"name": "camp"})
    done = iosonde("lab", "run", "e.yaml", "--store", "s")
    assert done.returncode == 2 and "camp" in done.stderr
    assert json.loads((place.directory("camp") / place.FILE).read_text())["state"] == "up"


def test_what_measures_in_a_lab_takes_the_turn_of_the_machine(here, lab_of):
    """Refused where another one measures, whichever way the host was entered and before any lab is brought up; or
    measured beside it, which the runs say. What a campaign starts in its own labs is not refused: all tests above."""
    lab_of("local", {"name": "turn", "servers": 1})
    own = FILE.replace("[100mbit, 200mbit]", "100mbit").replace("repetitions: 2", "repetitions: 1")
    (here / "e.yaml").write_text(own.replace("camp", "own"))
    measured = ("true", "--repetitions", 1, "--store", "s")
    ways = (
        ("lab", "run", "--lab", "turn", *measured),
        ("lab", "exec", "--lab", "turn", "client1", *command("run", *measured)),
        ("lab", "run", "e.yaml", "--store", "s"),
    )
    lock = "/run/lock" if os.path.isdir("/run/lock") else "/tmp"
    seen = iosonde("lab", "exec", "--lab", "turn", "client1", "stat", "-c", "%d:%i", held.MACHINE / held.LOCK)
    assert seen.stdout.strip() == f"{os.stat(lock).st_dev}:{os.stat(lock).st_ino}"
    with turn.hold_machine(turn.Turn(), True, print):
        for words in ways:
            done = iosonde(*words)
            assert done.returncode == 2 and f" {os.getpid()}) " in done.stderr, words
        assert not (here / "s").exists() and "own" not in place.names()
        assert all(iosonde(*words, "--alongside").returncode == 0 for words in ways)
    assert [StoredRun(one).concurrent_pids for one in runs(here)] == [(os.getpid(),)] * 3
    assert iosonde(*ways[0], "--name", "alone").returncode == 0
    assert sorted(StoredRun(one).concurrent_pids for one in runs(here)) == [(), *[(os.getpid(),)] * 3]


COLD = """
lab: {file_system: glusterfs, name: cold, servers: 2, clients: 1, net: 993mbit, profile: true, set: {replica: 2}}
repetitions: 1
steps: [{workload: envelope, large_file_size: 8MiB, small_files: 10}]
"""


def test_cold_reads_are_cold_and_what_the_servers_did_is_kept(here):
    """Without a word of it in the file: the client mounts anew, the servers are asked and count."""
    if why := why_not("glusterfs"):
        pytest.skip(why)
    (here / "e.yaml").write_text(COLD)
    done = iosonde("lab", "run", "e.yaml", "--store", "s", limit_s=180)
    assert done.returncode == 0, done.stderr
    (kept,) = runs(here)
    assert (kept["factors"]["client_cache"], kept["factors"]["server_cache"]) == ("cold-verified", "warm")
    states = dict.fromkeys(("server1", "server2"), UP)
    told = kept["facts"]["servers"]
    assert (told["before"], told["after"], kept["factors"]["health"]) == (states, states, "ok")
    (file,) = (here / "s").glob("runs/*/raw/servers-profile.json")
    together = json.loads(file.read_text())["together"]
    assert together == told["profile"] and together["read_bytes"] >= 16 * 2**20  # both large files were read, cold
    assert "unset" not in kept["facts"]["conditions"]["options"]["diagnostics.latency-measurement"]


def test_what_cannot_count_is_refused_before_anything_is_brought_up(here):
    (here / "e.yaml").write_text(FILE.replace("net: [100mbit, 200mbit]", "profile: true"))
    before = place.names()
    done = iosonde("lab", "run", "e.yaml", "--store", "s")
    assert done.returncode == 2 and "profile" in done.stderr
    assert not (here / "s").exists() and place.names() == before
