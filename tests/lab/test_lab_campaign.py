"""``iosonde lab run FILE``: labs come and go with the trials that need them, whatever ends the command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest
from lab_here import command, iosonde, surroundings, why_not

from iosonde import lab as labs
from iosonde.lab import place
from iosonde.store import Store

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
    assert "100mbit" in (here / "page.html").read_text() and done.stderr.count("the page: page.html") == 1
    assert done.stderr.count("lab for net=") == 4 and "100mbit" in done.stdout
    kept = runs(here)
    assert len(kept) == 4 and not any(one["missing"] for one in kept)
    for one in kept:
        lab = one["facts"]["machine"]["lab"]
        assert lab["setting"]["levels"] == {"net": one["factors"]["net"]}
        assert lab["setting"]["repetition"] == one["factors"]["repetition"]
        assert lab["description"]["net_bits_per_s"] == float(one["factors"]["net"].removesuffix("mbit")) * 1e6
    assert place.names() == []


def test_a_campaign_that_was_killed_goes_on_and_takes_down_what_it_left(here):
    killed = subprocess.Popen(command("lab", "run", "e.yaml", "--store", "s"), env=surroundings(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(here.glob("s/runs/*/run.json")) and time.monotonic() < deadline:
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
    ended = subprocess.Popen(command("lab", "run", "e.yaml", "--store", "s"), env=surroundings(),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    deadline = time.monotonic() + 60
    while not any(state == "up" for _, state, _ in labs.labs()) and time.monotonic() < deadline:
        time.sleep(0.1)
    ended.terminate()
    assert ended.wait(60) == 130
    assert place.names() == []


def test_a_store_that_goes_with_the_host_is_refused(here):
    done = iosonde("lab", "run", "e.yaml", "--store", "/dev/shm/iosonde-lab-store")
    assert done.returncode == 2 and "each host's own" in done.stderr
    assert not os.path.exists("/dev/shm/iosonde-lab-store") and place.names() == []


def test_a_lab_of_anybody_else_is_left_alone(here, lab_of):
    lab_of("local", {"name": "camp"})
    done = iosonde("lab", "run", "e.yaml", "--store", "s")
    assert done.returncode == 2 and "there already" in done.stderr
    assert json.loads((place.directory("camp") / place.FILE).read_text())["state"] == "up"


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
    assert "mounts anew before cold reads" in done.stderr
    (kept,) = runs(here)
    assert (kept["factors"]["client_cache"], kept["factors"]["server_cache"]) == ("cold-verified", "warm")
    states = {"server1": "brick up", "server2": "brick up"}
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
    assert done.returncode == 2 and "do not count their operations" in done.stderr
    assert not (here / "s").exists() and place.names() == before
