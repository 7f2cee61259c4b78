"""Whole trials on real ranks: who reads what, what a dead or hanging rank leaves, and what another node sends home.

The other node is a rank in name spaces of its own: another host name, and a /tmp that nobody else sees.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from iosonde.core.errors import LaunchError
from iosonde.core.types import Trial
from iosonde.measure import trial
from iosonde.measure.spec import NativeStep
from iosonde.measure.target.workspace import Workspace
from iosonde.measure.workloads import envelope
from iosonde.ranks import leftovers, machine, processes, watchdog
from iosonde.ranks.launch import local, mpiexec
from messages import assert_problem, codes

pytestmark = pytest.mark.mpi

SETTINGS = envelope.Settings(small_files=20, large_file_size=2**18, transfer_size=2**16, verify=True)


@pytest.fixture(autouse=True, scope="module")
def an_mpiexec():
    try:
        mpiexec.find_mpiexec()
    except LaunchError as error:
        pytest.fail(f"these tests need MPI: {error.message}; {error.hint}")


@dataclass(frozen=True)
class TwoNodes:
    """The second half of the ranks are on a node of their own, whose /tmp is ``its_tmp``."""

    its_tmp: Path
    name: str = "two-nodes"
    max_nodes: int = 2
    note: str = ""

    def addresses(self, nodes):
        return ("localhost", "n2")[:nodes]

    def command(self, nodes, ranks_per_node, program):
        start = local.build_prefix(mpiexec.find_mpiexec(), nodes * ranks_per_node)
        if nodes == 1:
            return [*start, *program]
        away = f'hostname n2; mount --rbind {self.its_tmp} /tmp; exec "$0" "$@"'
        there = ["unshare", "--user", "--map-root-user", "--uts", "--mount", "sh", "-c", away]
        half = str(ranks_per_node)
        return [*start[:-1], half, *program, ":", "-n", half, *there, *program]


def can_have_another_node():
    probe = [
        "unshare",
        "--user",
        "--map-root-user",
        "--uts",
        "--mount",
        "sh",
        "-c",
        "hostname n2; mount --rbind /mnt /tmp",
    ]
    return bool(shutil.which("unshare")) and subprocess.run(probe, capture_output=True, check=False).returncode == 0


two_nodes = pytest.mark.skipif(not can_have_another_node(), reason="no user name spaces: no second node here")


@pytest.fixture
def target():
    """Not below /tmp, which the other node does not share."""
    path = Path(f"/dev/shm/iosonde-test-{os.getpid()}-{time.monotonic_ns()}")
    path.mkdir()
    yield path
    shutil.rmtree(path)


@pytest.fixture
def another_node():
    path = Path(f"/dev/shm/iosonde-node2-{os.getpid()}-{time.monotonic_ns()}")
    path.mkdir()
    yield TwoNodes(path)
    shutil.rmtree(path)


def run(target, launcher, nodes=2, per_node=1, idle_s=60.0, settings=SETTINGS, **more):
    workspace = Workspace.create(target, "test")
    facts = {"machine": machine.collect_facts(target)}
    steps = more.pop("steps", (NativeStep("envelope", settings.to_json()),))
    bench = trial.Bench("test", steps, launcher, workspace, facts, 10_000, idle_s, **more)
    try:
        cell = {"nodes": nodes, "ranks_per_node": per_node}
        return trial.run_trial(bench, Trial(0, cell, 0, 0, 7), "run", deadline_s=120)
    finally:
        workspace.remove()


def rows(run, operation):
    return {row.metric: row for row in run.observations if row.operation == operation and row.rank is None}


def test_two_ranks_read_each_others_files(target):
    done = run(target, local.Local())
    assert done.complete, done.missing
    assert done.factors["reader"] == envelope.OTHER_RANK
    assert done.factors["ranks"] == 2
    assert not list(target.iterdir())
    for phase in done.phases:
        assert len(phase["ranks"]) == 2
        assert phase["comparable"]
        assert phase["start_spread_ns"] >= 0
    small = next(phase for phase in done.phases if phase["operation"] == "read_1to1_small")
    assert small["totals"]["read"]["count"] == 2 * SETTINGS.small_files
    many = next(phase for phase in done.phases if phase["operation"] == "read_nto1_large")
    assert many["totals"]["read"]["bytes"] == 2 * SETTINGS.large_file_size
    assert many["distinct_bytes"] == SETTINGS.large_file_size


@two_nodes
def test_what_another_node_measured_comes_home(target, another_node):
    done = run(target, another_node)
    assert done.complete, done.missing
    assert done.facts["hosts"][1] == "n2"
    assert done.facts["nodes"] == [0, 1]
    assert done.factors["reader"] == envelope.OTHER_NODE
    assert {load["host"] for load in done.facts["loads"]} == set(done.facts["hosts"])
    assert set(done.operations["rank"]) == {0, 1}
    assert not list(another_node.its_tmp.iterdir())


@two_nodes
def test_an_n_to_1_read_is_of_the_nodes_that_did_not_write_it(target, another_node):
    done = run(target, another_node)
    away, at_home = rows(done, "read_nto1_large"), rows(done, "read_nto1_large_writer_node")
    assert away["bandwidth_last_done"].count == at_home["bandwidth_last_done"].count == 4
    assert rows(done, "read_1to1_large")["bandwidth_last_done"].count == 8


def ranks_below(word):
    """Ranks that this test started; others may measure on the same machine."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    parents = {int(pid): int(parent) for pid, parent, _ in rows}
    found = [(int(pid), args) for pid, _, args in rows if "iosonde.measure.rank.program" in args]
    # The launcher's own processes carry the same words; ranks are Python.
    return sorted(pid for pid, args in found if word in args.split()[0] and os.getpid() in _ancestors(pid, parents))


def _ancestors(pid, parents):
    while pid in parents:
        pid = parents[pid]
        yield pid


class Sabotage(threading.Thread):
    """Sends a signal to the youngest rank once the campaign works on its large files."""

    def __init__(self, target, number):
        super().__init__(daemon=True)
        self.target, self.number, self.hit = target, number, None

    def run(self):
        deadline = time.monotonic() + 60
        while self.hit is None and time.monotonic() < deadline:
            if list(self.target.glob("iosonde-test/trial-*/rank*/small/f*5")):
                self.hit = ranks_below("python")[-1]
                os.kill(self.hit, self.number)
            time.sleep(0.001)


LONGER = envelope.Settings(small_files=3000, large_file_size=2**24, transfer_size=2**14)


@pytest.mark.parametrize("place", ["here", pytest.param("another node", marks=two_nodes)])
def test_a_killed_rank_leaves_what_was_finished(target, another_node, place):
    launcher = local.Local() if place == "here" else another_node
    saboteur = Sabotage(target, signal.SIGKILL)
    saboteur.start()
    done = run(target, launcher, settings=LONGER)
    saboteur.join()
    assert saboteur.hit
    assert not done.complete
    create = next(phase for phase in done.phases if phase["operation"] == "create")
    assert len(create["ranks"]) == 2
    assert rows(done, "create")["rate_sum_of_ranks"].value > 0
    assert "unfinished-phase" in codes(done.missing)
    assert not ranks_below("python")
    assert not list(target.iterdir())
    assert not list(another_node.its_tmp.iterdir())


def test_a_rank_that_hangs_is_named_and_ended(target):
    saboteur = Sabotage(target, signal.SIGSTOP)
    saboteur.start()
    done = run(target, local.Local(), idle_s=4.0, settings=LONGER)
    saboteur.join()
    assert saboteur.hit
    assert_problem(done.missing[0], "ended-by-watchdog", limit=watchdog.IDLE)
    assert "rank " in done.missing[0].values["states"]
    assert not ranks_below("python")
    assert not list(target.iterdir())


@pytest.mark.parametrize("more", [{}, {"time_limit": "200ms", "passes": 0, "wear_out": True}])
def test_a_timed_phase_of_the_first_rank_alone_ends(target, more):
    writes = ["create", {"kind": "write", "transfer_size": 4096, "count": 4}, "close"]
    named = {"name": "made_by_first", "by": "first", "files": "shared/f", "steps": writes, **more}
    reads = {
        "name": "all_read",
        "files": "shared/f",
        "steps": ["open", {"kind": "read", "transfer_size": 4096, "count": 4}, "close"],
    }
    done = run(target, local.Local(), idle_s=10.0, steps=(NativeStep("phases", {"phases": [named, reads]}),))
    assert done.complete, done.missing
    assert [len(phase["ranks"]) for phase in done.phases] == [1, 2]


def working_s(per_rank):
    """A trial that only computes: rank r works for 1 + ``per_rank`` × r seconds."""
    step = {"kind": "compute", "time": "1s", "count": f"${{RANK}} * {per_rank} + 1"}
    return (NativeStep("phases", {"phases": [{"name": "work", "files": "rank${RANK}", "steps": ["create", step]}]}),)


@two_nodes
def test_a_rank_of_another_node_may_work_longer_than_the_idle_limit(target, another_node):
    """The other node's temporary directory is not seen from here; rank 0 waits for it all the time."""
    done = run(target, another_node, idle_s=5.0, steps=working_s(11))
    assert done.complete, done.missing
    assert done.facts["hosts"][1] == "n2"


def test_a_killed_proxy_of_the_launcher_ends_the_trial_at_once(target):
    """It shares its sockets with the ranks, so mpiexec does not notice."""
    parents = []

    def kill(beats):
        if not parents and any(beat.progress for beat in beats):
            parents.append(processes._read_stat(beats[0].pid)[1])
            os.kill(int(parents[0]), signal.SIGKILL)

    began = time.monotonic()
    done = run(target, local.Local(), idle_s=100.0, steps=working_s(90), on_tick=kill)
    assert_problem(done.missing[0], "ended-by-watchdog", limit=watchdog.LOST)
    states = done.missing[0].values["states"]
    assert "hydra_pmi_proxy" in states and "rank 0, 1" in states
    assert time.monotonic() - began < 60
    assert not ranks_below("python")


def test_what_the_launcher_holds_is_recorded_and_gone_after_a_failure(target):
    """Hydra's file in /tmp and MPICH's segment stayed when their holders were killed."""
    held = {}

    def kill(beats):
        if not held and any(beat.progress for beat in beats):
            proxy = int(processes._read_stat(beats[0].pid)[1])
            held.update(dict.fromkeys(leftovers._list_open_paths([proxy, *(beat.pid for beat in beats)])))
            for pid in (proxy, *(beat.pid for beat in beats)):
                os.kill(pid, signal.SIGKILL)

    done = run(target, local.Local(), steps=working_s(90), on_tick=kill)
    assert not done.complete
    if mpiexec.find_mpiexec().flavour == mpiexec.MPICH:
        assert any("/tmp/hydra_hwloc_xmlfile_" in path for path in held)
    assert not [path for path in held if os.path.exists(path)]
