"""Ranks on hosts that an agent reaches, as ssh does: real launchers, links and host names; dead and wrong nodes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from families import AGENTS, INTEL, MPICH, NETWORK, OPEN_MPI, over_agent

from iosonde.ranks.launch import program

every_family = pytest.mark.parametrize("family", [MPICH, OPEN_MPI, INTEL])

PIECE = 5 << 20
RUN = ("run", "--nodes", "1,3", "--quick", "--repetitions", "1", "--small-files", "20", "--large-size", "1MiB")
STREAMS = """
    import hashlib, os, sys
    from pathlib import Path
    from iosonde.ranks import launch, watchdog
    from iosonde.ranks.launch import mpirun
    program = '''
    import hashlib, json, os
    from iosonde.ranks import mpi
    ranks = mpi.connect_ranks(3)
    made = [os.urandom(%d), b"", bytes(range(256))]
    got = []
    ranks.stream_to_root(made, lambda rank, chunk: got.append((rank, hashlib.sha256(chunk).hexdigest())))
    sent = ranks.gather([(ranks.rank, hashlib.sha256(chunk).hexdigest()) for chunk in made])
    ranks.rank or print(json.dumps([got == sum(sent, []), [host.name for host in ranks.hosts], ranks.node_of]))
    '''
    launcher = launch.find_launcher(hosts=mpirun.read_hostfile(Path(sys.argv[1])))
    words = launcher.command(3, 1, [sys.executable, "-c", program])
    outcome = watchdog.watch_command(words, heartbeat_dir=Path("beats"), limits=watchdog.TimeLimits(60))
    print(Path("beats/stdout.txt").read_text() or outcome)
"""
CALL = """
    import sys
    from pathlib import Path
    from iosonde.core.errors import IosondeError
    from iosonde.ranks import launch, rollcall
    from iosonde.ranks.launch import mpiexec, mpirun
    rollcall.ALONE_S = 4
    {before}
    launcher = launch.find_launcher(hosts=mpirun.read_hostfile(Path("{hosts}")))
    try:
        print(*rollcall.call_roll(launcher, launcher.max_nodes, answer_s={answer_s}))
    except IosondeError as error:
        print(error.message)
        print(error.hint)
"""


def call(cluster, hosts, env, before="", answer_s=30):
    done = cluster.python("n1", CALL.format(before=before, hosts=hosts, answer_s=answer_s), env=env)
    assert not done.returncode, done.stderr
    return done.stdout


@every_family
def test_output_of_all_nodes_comes_home_over_the_network(cluster, family):
    before = cluster.received_bytes("n1")
    body = (STREAMS % PIECE).replace("sys.argv[1]", repr(str(cluster.hostfile("n1", "n2", "n3"))))
    body = body.replace('"beats', f'"{cluster.local}/beats')
    done = cluster.python("n1", body, env=over_agent(family, cluster))
    assert json.loads(done.stdout) == [True, ["n1", "n2", "n3"], [0, 1, 2]], done.stderr
    assert cluster.received_bytes("n1") - before > 2 * PIECE  # and not through memory that the nodes share


@every_family
def test_a_campaign_on_hosts(cluster, family):
    store = cluster.local / f"store-{family}"
    hosts = cluster.hostfile("n1", "n2", "n3")
    words = (*RUN, "--target", str(cluster.target), "--hosts", str(hosts), "--store", str(store))
    done = cluster.product("n1", *words, env=over_agent(family, cluster))
    assert not done.returncode, done.stderr
    runs = cluster.run("n1", "sh", "-c", f"cat {store}/runs/*/run.json").stdout
    found = [json.loads(line) for line in [*runs.replace("}\n{", "}\f{").split("\f")]]
    assert sorted(run["facts"]["hosts"] for run in found) == [["n1"], ["n1", "n2", "n3"]]
    assert not any(run["missing"] for run in found)
    assert not list(cluster.target.iterdir())


@every_family
def test_it_does_not_matter_on_which_node_it_is_started(cluster, family):
    """One plan, started on the first of its nodes, on another one, and on one that measures nothing: the same
    participants do the same trials in the same order. Rank 0 may be elsewhere, so all share its spool. Open MPI counts
    from the node that starts it, if that is one of them: the same nodes, with other numbers."""
    hosts, spool, plan = cluster.hostfile("n1", "n2", "n3"), cluster.root / "spool", cluster.root / "same.yaml"
    spool.mkdir(exist_ok=True)
    plan.write_text(
        "nodes: [1, 2, 3]\nfactors: {size: [1, 2]}\nrepetitions: 2\nseed: 7\nsteps: ['echo ${NODENAME} ${size}']\n"
    )
    words, env = (str(plan), "--hosts", str(hosts), "--spool", str(spool)), over_agent(family, cluster)
    found = {}
    for start in ("n1", "n3", "login"):
        store = cluster.root / f"same-{family}-{start}"
        planned = cluster.product(start, "plan", *words, "--json", env=env)
        assert not planned.returncode, planned.stderr
        done = cluster.product(start, "run", *words, "--store", str(store), env=env)
        assert not done.returncode, done.stderr
        runs = [json.loads((one / "run.json").read_text()) for one in (store / "runs").iterdir()]
        assert not any(run["missing"] for run in runs)
        trials = sorted((run["facts"]["order"], run["factors"]["size"], sorted(run["facts"]["hosts"])) for run in runs)
        told = [
            (one["index"], one["size"], ["n1", "n2", "n3"][: one["nodes"]])
            for one in json.loads(planned.stdout)["trials"]
        ]
        assert trials == sorted(told)
        found[start] = trials
    assert len(found["n1"]) == 12 and found["n3"] == found["login"] == found["n1"]


@pytest.mark.parametrize("family", [MPICH, OPEN_MPI])
def test_an_mpi_program_is_one_job_over_the_hosts_by_the_launcher_of_its_own_mpi(cluster, family):
    """IOR as Debian's Open MPI or another built it, whatever our own ranks have."""
    if not shutil.which("ior"):
        pytest.skip("ior is not on PATH")
    theirs = program.find_library_of_program("ior").flavour
    env = {
        **over_agent(family, cluster),
        **NETWORK.get(theirs, {}),
        **dict.fromkeys(AGENTS.get(theirs, ()), cluster.agent),
    }
    store, hosts = cluster.local / f"ior-{family}", cluster.hostfile("n1", "n2", "n3")
    words = ["run", "A=b ior -w -r -t 64k -b 256k -o ${TARGET}/f", "--nodes", "1,3", "--ranks-per-node", "2"]
    words += ["--repetitions", "1", "--target", str(cluster.target), "--hosts", str(hosts), "--store", str(store)]
    done = cluster.product("n1", *words, env={name: str(value) for name, value in env.items()})
    assert not done.returncode, done.stderr
    runs = cluster.run("n1", "sh", "-c", f"cat {store}/runs/*/run.json").stdout
    found = [json.loads(line) for line in runs.replace("}\n{", "}\f{").split("\f")]
    jobs = sorted((run["phases"][0]["mpi"]["tasks"], run["phases"][0]["settings"]["nodes"]) for run in found)
    assert jobs == [([2], 1), ([6], 3)]
    assert not list(cluster.target.iterdir())


@every_family
def test_a_node_that_is_off_is_named_before_anything_is_measured(cluster, family):
    hosts = cluster.root / "with-a-dead-one"
    hosts.write_text(f"{cluster.address('n1')}\n{cluster.address('n2')}\n10.77.88.99\n")
    store = cluster.local / "never"
    words = (*RUN, "--target", str(cluster.target), "--hosts", str(hosts), "--store", str(store))
    done = cluster.product("n1", *words, env=over_agent(family, cluster))
    assert done.returncode == 3
    assert "10.77.88.99 (" in done.stderr and "1 of 3" in done.stderr
    assert "10.77.88.2 (" not in done.stderr
    assert not list(cluster.target.iterdir())
    assert cluster.run("n1", "test", "-e", str(store)).returncode


def test_a_node_that_does_not_answer_is_named_after_a_while(cluster):
    env = over_agent(MPICH, cluster)
    cluster.pretend("10.77.88.98")
    hosts = cluster.root / "with-a-silent-one"
    hosts.write_text(f"{cluster.address('n1')}\n10.77.88.98\n")
    said = call(cluster, hosts, env, answer_s=4)
    assert "10.77.88.98 (" in said and "4 s)" in said and "ssh" in said


def test_a_node_with_another_target_is_named_before_anything_is_written(cluster):
    """Also to commands that name their files themselves. The directory itself is the same for all three nodes."""
    store, hosts = cluster.local / "never", cluster.hostfile("n1", "n2", "n3")
    cluster.run("n3", "mount", "-t", "tmpfs", "other", str(cluster.target))
    cluster.run("n2", "mount", "-t", "proc", "other", str(cluster.target))
    cluster.run("n1", "mount", "-t", "tmpfs", "other", str(cluster.target))
    try:
        words = ("run", f"touch {cluster.target}/mine", "--nodes", "3", "--target", str(cluster.target))
        done = cluster.product(
            "n1", *words, "--hosts", str(hosts), "--store", str(store), env=over_agent(MPICH, cluster)
        )
        made = cluster.run("n1", "ls", str(cluster.target)).stdout
    finally:
        for name in ("n1", "n2", "n3"):
            cluster.run(name, "umount", str(cluster.target))
    assert done.returncode == 2
    (line,) = (line for line in done.stderr.splitlines() if f"n2: {cluster.target}" in line)
    assert "proc" in line and line.endswith("tmpfs") and "n3:" not in line
    assert made == "" and cluster.run("n1", "test", "-e", str(store)).returncode


def test_two_names_of_one_node_are_found_out(cluster):
    env = over_agent(MPICH, cluster)
    hosts = cluster.root / "twice"
    hosts.write_text(f"{cluster.address('n1')}\n{cluster.address('n2')}\nn2\n")
    assert {"10.77.88.3", "n2"} <= set(call(cluster, hosts, env).splitlines()[0].split())


def test_a_launcher_of_another_mpi_is_found_out(cluster):
    """MPICH's mpiexec starts Open MPI's ranks: each is alone."""
    env = {**over_agent(MPICH, cluster), **over_agent(OPEN_MPI, cluster)}
    other = 'import shutil; mpiexec.find_mpiexec = lambda: mpiexec.identify_mpiexec(shutil.which("mpiexec.hydra"))'
    hosts = cluster.hostfile("n1", "n2", "n3")
    said = call(cluster, hosts, env, before=other)
    assert re.match(r"3 ranks .* 1: ", said) and "Open MPI" in said


def test_a_series_on_the_hosts_of_a_reserve_script(cluster):
    """Asked once with the largest number; every step finds the first k addresses in its machine file."""
    env = over_agent(MPICH, cluster)
    script, plan, store = cluster.root / "reserve.sh", cluster.root / "plan.yaml", cluster.root / "store-reserved"
    script.write_text(f"#!/bin/sh\necho asked for $1 >>{cluster.root}/asked\nhead -n $1 {cluster.root}/hosts\n")
    script.chmod(0o755)
    cluster.hostfile("n1", "n2", "n3")
    plan.write_text(
        f"reserve: {script}\nnodes: [1, 2, 3]\nrepetitions: 1\nsteps:\n"
        "  - command: echo ${NODENAME} $(hostname); cat ${MACHINEFILE}\n"
    )
    done = cluster.product("n1", "run", str(plan), "--store", str(store), env=env)
    assert not done.returncode, done.stderr
    seen = {}
    for run in (store / "runs").iterdir():
        outputs = [path.read_text().split() for path in sorted((run / "raw").glob("step-01-rank-*"))]
        seen[len(outputs)] = outputs
    address = [cluster.address(name) for name in ("n1", "n2", "n3")]
    assert seen == {k: [[f"{i}", f"n{i + 1}", *address[:k]] for i in range(k)] for k in (1, 2, 3)}
    assert (cluster.root / "asked").read_text().split() == ["asked", "for", "3"]


def test_a_reserve_script_that_prints_nonsense_measures_nothing(cluster):
    script = cluster.root / "nonsense.sh"
    script.write_text("#!/bin/sh\necho Reservation: granted\n")
    script.chmod(0o755)
    words = (*RUN, "--target", str(cluster.target), "--reserve", str(script), "--store", str(cluster.root / "never"))
    done = cluster.product("n1", *words)
    assert done.returncode == 2
    assert "'Reservation:'" in done.stderr and str(script) in done.stderr
    assert "Traceback" not in done.stderr
    assert not (cluster.root / "never").exists()


def test_nothing_is_left_on_the_nodes(cluster):
    """Last of this file: no process of any of the tests above."""
    left = {name: cluster.pids(name) for name in cluster.names}
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    assert not any(left.values()), pytest.fail(f"left: {left}\n{listed}")
