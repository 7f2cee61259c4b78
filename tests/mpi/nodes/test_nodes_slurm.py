"""A real Slurm with three nodes: srun, salloc and sbatch made for the user, and what happens when it refuses."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from families import INTEL, MPICH, OPEN_MPI, in_job

from iosonde.core import nodelist

MANUAL = Path(__file__).parents[3] / "docs" / "nodes.md"
RUN = ("run", "--nodes", "1,3", "--quick", "--repetitions", "1", "--small-files", "20", "--large-size", "1MiB")
HELD = """
    import json, os, sys
    from iosonde.core.errors import IosondeError
    from iosonde.ranks import launch, reserve, rollcall
    try:
        with reserve.reserve_nodes("{text}", {nodes}, on_wait=lambda said: print(said, file=sys.stderr)) as hosts:
            launcher = launch.find_launcher(hosts=hosts)
            print(json.dumps([launcher.name, os.environ["SLURM_JOB_ID"], *launcher.addresses({nodes})]), flush=True)
            {then}
    except IosondeError as error:
        print(type(error).__name__, error.message, "//", error.hint)
    print("SLURM_JOB_ID" in os.environ)
"""


@pytest.fixture
def idle(slurm):
    """Slurm, whose nodes are free again."""
    slurm.wait_until_idle()
    return slurm


def held(slurm, text="salloc", nodes=3, then="pass", env=None):
    body = textwrap.dedent(HELD.format(text=text, nodes=nodes, then=then))
    done = slurm.run(sys.executable, "-c", body, env={**in_job(MPICH), **(env or {})})
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


def wait_until(condition, seconds=20.0):
    give_up = time.monotonic() + seconds
    while not condition() and time.monotonic() < give_up:
        time.sleep(0.1)
    return bool(condition())


def runs_in(slurm, store):
    text = slurm.run("sh", "-c", f"cat {store}/runs/*/run.json").stdout
    return [json.loads(one) for one in text.replace("}\n{", "}\f{").split("\f")]


@pytest.mark.parametrize("family", [MPICH, OPEN_MPI, INTEL])
def test_a_campaign_inside_an_allocation(idle, family):
    cluster = idle.cluster
    spool, store = cluster.root / "spool", cluster.local / f"store-{family}"
    spool.mkdir(exist_ok=True)
    words = (sys.executable, "-m", "iosonde.cli.main", *RUN, "--ranks-per-node", "2", "--target", str(cluster.target))
    words = (*words, "--store", str(store), "--spool", str(spool))
    done = idle.run("salloc", "--nodes=3", *words, env=in_job(family), limit_s=120)
    found = {run["factors"]["nodes"]: run for run in runs_in(idle, store)}
    assert [run["missing"] for run in found.values()] == [[], []], done.stderr
    assert not done.returncode, done.stderr
    assert found[1]["facts"]["hosts"] == ["n1", "n1"]  # of a series of nodes always the first ones
    assert found[3]["facts"]["hosts"] == ["n1", "n1", "n2", "n2", "n3", "n3"]
    assert [run["facts"]["launcher"] for run in found.values()] == ["slurm", "slurm"]
    assert found[3]["facts"]["machine"]["scheduler"]["node_list"] == "n[1-3]"
    assert not list(cluster.target.iterdir())


def test_an_allocation_is_held_and_given_back(idle):
    job, inside = held(idle, then="print(*rollcall.call_roll(launcher, 2), *rollcall.call_roll(launcher, 3))")[:2]
    name, number, *nodes = json.loads(job)
    assert (name, nodes, inside) == ("slurm", ["n1", "n2", "n3"], "n1 n2 n1 n2 n3")
    assert number.isdigit()
    assert wait_until(lambda: not idle.jobs())


def test_inside_an_allocation_no_other_is_asked_for(idle):
    done = idle.run(
        "salloc",
        "--nodes=2",
        sys.executable,
        "-c",
        textwrap.dedent(HELD.format(text="salloc", nodes=2, then="pass")),
        env=in_job(MPICH),
    )
    job, left = done.stdout.splitlines()
    assert json.loads(job)[2:] == ["n1", "n2"]
    assert left == "True"
    assert len([line for line in done.stderr.splitlines() if "Granted job allocation" in line]) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("moment", ["granted", "waiting"])
def test_nodes_are_given_back_however_we_end(idle, number, moment):
    """Ctrl-C, and kill -9; while the nodes are ours, and while we wait for them in the queue."""
    if moment == "waiting":
        idle.run("sbatch", "--nodes=3", "--exclusive", "--output=/dev/null", "--wrap=sleep 60")
        assert wait_until(lambda: "mixed" in idle.states() or "allocated" in idle.states())
    body = textwrap.dedent(HELD.format(text="salloc", nodes=3, then="import time; time.sleep(60)"))
    words = idle.cluster.words(idle.login, sys.executable, "-c", body)
    process = subprocess.Popen(
        words,
        env={**idle.cluster.environment(), **idle.env, **in_job(MPICH)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert (process.stdout if moment == "granted" else process.stderr).readline()
        os.kill(process.pid, number)
        process.wait(120)
    finally:
        process.kill()
        process.communicate()
    if moment == "waiting":
        assert wait_until(lambda: len(idle.jobs()) == 1)
        idle.run("scancel", "--name=wrap")
    assert wait_until(lambda: not idle.jobs())


# Slurm was seen to give either of these two reasons for the same request.
TOO_MANY = (
    "LaunchError Slurm refuses 5 nodes: the partition has too few nodes, or too short a time limit (PartitionConfig)",
    "LaunchError Slurm refuses 5 nodes: the partition has too few nodes, or limits the nodes per job "
    "(PartitionNodeLimit)",
)


@pytest.mark.parametrize(
    ("text", "nodes", "said"),
    [
        ("salloc", 5, TOO_MANY),
        ("salloc --partition=closed", 2, "LaunchError Slurm refuses 2 nodes: the partition is down (PartitionDown)"),
        ("salloc --partition=none", 2, "LaunchError Slurm refuses 2 nodes: Invalid partition name specified //"),
        ("salloc --mem=10G", 2, "LaunchError Slurm refuses 2 nodes: Requested node configuration is not available"),
        ("salloc --nodes=1", 2, "InputError Slurm gave 1 nodes, but 2 are needed //"),
        ("salloc --nonsense", 2, "LaunchError Slurm refuses 2 nodes: "),
    ],
)
def test_slurm_that_refuses_gives_a_sentence(idle, text, nodes, said):
    line, left = held(idle, text, nodes)
    assert line.startswith(said)
    assert left == "False"
    assert wait_until(lambda: not idle.jobs())


def product(slurm, *words):
    return slurm.cluster.product(slurm.login, *words, env={**slurm.env, **in_job(MPICH)})


def test_a_campaign_that_makes_its_allocation(idle):
    cluster = idle.cluster
    (cluster.root / "spool").mkdir(exist_ok=True)
    words = (*RUN, "--target", str(cluster.target), "--store", str(cluster.root / "store-salloc"))
    done = product(idle, *words, "--reserve", "salloc --time=5", "--spool", str(cluster.root / "spool"))
    assert not done.returncode, done.stderr
    hosts = sorted(run["facts"]["hosts"] for run in runs_in(idle, cluster.root / "store-salloc"))
    assert hosts == [["n1"], ["n1", "n2", "n3"]]
    assert wait_until(lambda: not idle.jobs())


def test_sbatch_runs_the_whole_command(idle):
    cluster = idle.cluster
    store = cluster.root / "store-sbatch"
    words = (*RUN, "--target", str(cluster.target), "--store", str(store))
    done = product(idle, *words, "--reserve", f"sbatch --output={cluster.root}/job.out")
    assert not done.returncode, done.stderr
    assert "Slurm" in done.stdout
    assert wait_until(lambda: not idle.jobs(), 60)
    assert [run["missing"] for run in runs_in(idle, store)] == [[], []], (cluster.root / "job.out").read_text()
    done = product(idle, *words, "--reserve", "sbatch --partition=closed")
    assert done.returncode == 3
    assert "(PartitionDown)" in done.stderr
    assert wait_until(lambda: not idle.jobs())


def test_the_reserve_script_of_the_manual(idle):
    """It gives the same nodes when it is called again, and reserves no others."""
    script = re.search(r"```sh\n(.*?)```", MANUAL.read_text(), re.DOTALL)[1]
    path = idle.root / "reserve.sh"
    path.write_text(script)
    again = f"cd {idle.root}; sh {path} 3; sh {path} 2"
    assert idle.run("sh", "-c", again).stdout.split() == ["n1", "n2", "n3", "n1", "n2"]
    assert len(idle.jobs()) == 1
    idle.run("scancel", "--name=wrap")
    assert wait_until(lambda: not idle.jobs())


def test_node_lists_are_expanded_as_slurm_does_it(slurm):
    for text in ("n1", "n[1-3]", "n[1-2,5],m7", "a[08-11]", "r[1-2]n[09-10]", "n[1,1-2]"):
        theirs = slurm.run("scontrol", "show", "hostnames", text).stdout.split()
        assert list(nodelist.expand_node_list(text)) == list(dict.fromkeys(theirs)), text


def test_doctor_knows_this_slurm(idle):
    done = product(idle, "doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["slurm"]["ok"]
    assert "3 nodes" in checks["slurm"]["detail"]
    assert "--mpi=pmi2" in checks["slurm"]["detail"]
    assert "nodes" not in checks
    done = idle.run("salloc", "--nodes=2", sys.executable, "-m", "iosonde.cli.main", "doctor", env=in_job(MPICH))
    assert "slurm: n1, n2" in done.stdout
