"""The watchdog and ranks on other nodes, whose temporary directories it does not see: over real links and launchers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from families import MPICH, OPEN_MPI, over_agent

from iosonde.ranks import watchdog

WORK = """
steps:
  - workload: phases
    phases:
      - {name: work, files: "rank${RANK}", steps: [create, {kind: compute, time: 1s, count: "%s"}]}
"""


def words(cluster, name, count, *more):
    plan = cluster.root / f"{name}.yaml"
    plan.write_text("nodes: [2]\nrepetitions: 1\n" + WORK % count)
    hosts = cluster.hostfile("n1", "n2")
    return (
        "run",
        str(plan),
        "--target",
        str(cluster.target),
        "--hosts",
        str(hosts),
        "--store",
        str(cluster.local / name),
        *more,
    )


@pytest.mark.parametrize("family", [MPICH, OPEN_MPI])
def test_a_rank_of_another_node_may_work_longer_than_the_idle_limit(cluster, family):
    told = words(cluster, f"slow-{family}", "${RANK} * 13 + 1", "--idle-timeout", "6s")
    done = cluster.product("n1", *told, env=over_agent(family, cluster))
    assert not done.returncode, done.stdout + done.stderr


def test_a_rank_of_another_node_that_hangs_is_named(cluster):
    program = (sys.executable, "-m", "iosonde.cli.main")
    told = words(cluster, "hangs", "${RANK} * 500 + 1", "--idle-timeout", "8s")
    env = {**cluster.environment(), **over_agent(MPICH, cluster)}
    running = subprocess.Popen(
        cluster.words("n1", *program, *told),
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )
    stop(cluster, "n2", b"rank.program", signal.SIGSTOP)
    said = " ".join(running.communicate(timeout=90)[0].split())
    assert f"({watchdog.IDLE})" in said
    assert re.search(r"rank 1 on n2: running work \w+ \d+ s", said), "it had started"


def test_a_proxy_that_is_killed_on_another_node_ends_the_trial(cluster):
    """Its ranks end themselves; mpiexec notices nothing, and rank 0 works on."""
    program = (sys.executable, "-m", "iosonde.cli.main")
    told = words(cluster, "proxy", "500", "--idle-timeout", "12s")
    env = {**cluster.environment(), **over_agent(MPICH, cluster)}
    running = subprocess.Popen(
        cluster.words("n1", *program, *told),
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )
    stop(cluster, "n2", b"hydra_pmi_proxy", signal.SIGKILL)
    said = " ".join(running.communicate(timeout=110)[0].split())
    assert f"({watchdog.LOST})" in said
    assert re.search(r"n2 [a-z ]+ 30 s", said)
    assert not cluster.pids("n2")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_of_a_campaign_that_was_cut_short_stays_on_another_node(cluster, number):
    """After kill -9 the same command removes it; after an interrupt it does not even stay until then."""
    told = words(cluster, f"cut-{number.name}", "${RANK} * 3 + 3")
    program = (sys.executable, "-m", "iosonde.cli.main")
    env = {**cluster.environment(), **over_agent(MPICH, cluster)}
    running = subprocess.Popen(cluster.words("n1", *program, *told), env=env, stdin=subprocess.DEVNULL)
    stop(cluster, "n1", b"iosonde.cli.main", number)
    running.wait(60)
    assert bool(spools(cluster, "n2")) == (number == signal.SIGKILL)
    done = cluster.product("n1", *told, env=env)
    assert not done.returncode, done.stdout + done.stderr
    assert "resuming" in done.stderr
    assert not spools(cluster, "n1") and not spools(cluster, "n2")


def spools(cluster, node):
    """Where ranks on a node have left results."""
    return cluster.run(node, "sh", "-c", f"ls -d {cluster.local}/iosonde-spool-* 2>/dev/null").stdout.split()


def test_a_node_without_the_target_is_named_with_what_lies_there(cluster):
    cluster.run("n2", "mount", "-t", "tmpfs", "nothing", str(cluster.target))
    try:
        done = cluster.product("n1", *words(cluster, "unmounted", "1"), env=over_agent(MPICH, cluster))
    finally:
        cluster.run("n2", "umount", str(cluster.target))
    assert done.returncode
    said = " ".join((done.stdout + done.stderr).split())
    assert f"n2: {cluster.target}" in said and "tmpfs" in said, said
    assert "MPI_Abort" not in said


def stop(cluster, node, name, number):
    """Send a signal to the first process of this name on the node, a second after it is there and ranks compute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = [pid for pid in cluster.pids(node) if name in arguments(pid)]
        if found and any(cluster.target.glob("iosonde-*/trial-*/rank1*")):
            time.sleep(1.5)  # a beat of the rank has gone home meanwhile
            os.kill(min(found), number)
            return
        time.sleep(0.05)
    raise AssertionError(f"no {name!r} on {node}")


def arguments(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read()
    except OSError:
        return b""
    return b"" if words.startswith((b"sh\0", b"/bin/sh\0")) else words  # the shell that the agent starts it by
