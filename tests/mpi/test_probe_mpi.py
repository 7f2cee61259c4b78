"""A probe on real ranks: pairs, one measurement for each host, a node with a target of its own, an interrupt."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_trial_mpi import TwoNodes, can_have_another_node

from iosonde.core import hardware as probed
from iosonde.core.errors import LaunchError
from iosonde.measure.probe import repetition
from iosonde.measure.target.workspace import Workspace
from iosonde.ranks.launch import local, mpiexec

pytestmark = pytest.mark.mpi

two_nodes = pytest.mark.skipif(not can_have_another_node(), reason="no user name spaces: no second node here")


@pytest.fixture(autouse=True, scope="module")
def an_mpiexec():
    try:
        mpiexec.find_mpiexec()
    except LaunchError as error:
        pytest.fail(f"these tests need MPI: {error.message}; {error.hint}")


@dataclass(frozen=True)
class OtherDisks(TwoNodes):
    """The second node also has a disk of its own at the path of the target."""

    target: Path = Path()
    its_disk: Path = Path()

    def command(self, nodes, ranks_per_node, program):
        words = super().command(nodes, ranks_per_node, program)
        binding = f"mount --bind {self.its_disk} {self.target}; "
        return [word.replace("hostname n2; ", f"hostname n2; {binding}") for word in words]


@pytest.fixture(autouse=True)
def copies_between_user_name_spaces(monkeypatch):
    """MPICH reads large messages out of the other process, which the kernel refuses across user name spaces."""
    monkeypatch.setenv("MPIR_CVAR_CH4_CMA_ENABLE", "0")


@pytest.fixture
def place():
    """Not below /tmp, which the other node does not share."""
    path = Path(f"/dev/shm/iosonde-test-{os.getpid()}-{time.monotonic_ns()}")
    for name in ("target", "other-disk", "other-tmp"):
        (path / name).mkdir(parents=True)
    yield path
    subprocess.run(["rm", "-rf", str(path)], check=True)


def bench(launcher, target, nodes=2, in_turn=False):
    return repetition.ProbeBench(
        experiment="probe-test",
        launcher=launcher,
        nodes=nodes,
        target=target,
        size=2**20,
        in_turn=in_turn,
        facts={},
        idle_s=60.0,
    )


def test_three_ranks_of_one_host_are_three_pairs_and_one_node(place):
    Workspace.create(place / "target", "probe-test")
    run = repetition.run_repetition(bench(local.Local(), place / "target", nodes=3), 0, "probe-test-0000")
    assert run.complete, run.missing
    found = run.facts["probe"]
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [(0, 1), (0, 2), (1, 2)]
    assert [node["rank"] for node in found["nodes"]] == [0]
    assert all(pair["forth"] > 0 and pair["back"] > 0 for pair in found["pairs"])
    assert {probed.classify_medium(pair, run.facts["nodes"]) for pair in found["pairs"]} == {probed.SHARED_MEMORY}


@two_nodes
@pytest.mark.parametrize("in_turn", [False, True])
def test_a_node_with_a_disk_of_its_own_makes_and_removes_its_own_workspace(place, in_turn):
    """Its transport is shared memory in truth, which the counters of the interfaces give away."""
    workspace = Workspace.create(place / "target", "probe-test")
    there = OtherDisks(place / "other-tmp", target=place / "target", its_disk=place / "other-disk")
    run = repetition.run_repetition(bench(there, place / "target", in_turn=in_turn), 0, "probe-test-0000")
    assert run.complete, run.missing
    assert [node["host"] for node in run.facts["probe"]["nodes"]][1] == "n2"
    assert all("disk" in node for node in run.facts["probe"]["nodes"])
    (pair,) = run.facts["probe"]["pairs"]
    assert probed.classify_medium(pair, run.facts["nodes"]) == probed.UNSEEN
    workspace.remove()
    assert not list((place / "target").iterdir())
    assert not list((place / "other-disk").iterdir())
    assert not list((place / "other-tmp").iterdir())


@two_nodes
def test_a_target_that_the_other_node_lacks_is_said_by_name(place):
    Workspace.create(place / "target", "probe-test")
    there = OtherDisks(place / "other-tmp", target=place, its_disk=place / "other-disk")
    run = repetition.run_repetition(bench(there, place / "target"), 0, "probe-test-0000")
    assert not run.complete
    assert run.missing[0].startswith("on n2: ")
    assert os.strerror(errno.ENOENT) in run.missing[0]


def test_an_interrupt_leaves_nothing_on_the_target(place):
    words = ["-m", "iosonde.cli.main", "probe", "--nodes", "2", "--target", str(place / "target"), "--size", "64MiB"]
    process = subprocess.Popen(
        [sys.executable, *words, "--repetitions", "50", "--store", str(place / "store")], stderr=subprocess.PIPE
    )
    while not list((place / "store" / "runs").glob("*-0000")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert not list((place / "target").iterdir())
