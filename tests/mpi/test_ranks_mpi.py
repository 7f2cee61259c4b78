"""Real ranks under this machine's mpiexec: collectives, streams, clocks, and what happens when one fails."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from iosonde.core.errors import LaunchError
from iosonde.ranks import leftovers, processes, watchdog
from iosonde.ranks.launch import local, mpiexec

pytestmark = pytest.mark.mpi

SOURCE = str(Path(watchdog.__file__).parents[2])
SOON = watchdog.TimeLimits(60)
PROLOGUE = """\
import hashlib, json, os, signal, sys, time
from pathlib import Path
from iosonde.core.errors import IosondeError
from iosonde.ranks import clocks, mpi
from iosonde.ranks.heartbeat import RUNNING, WAITING, Heartbeat
here = Path(__file__).parent
ranks = mpi.connect_ranks(int(sys.argv[1]))
def say(value):
    (here / f"said-{ranks.rank}").write_text(json.dumps(value))
"""


@pytest.fixture(autouse=True, scope="module")
def an_mpiexec():
    try:
        mpiexec.find_mpiexec()
    except LaunchError as error:
        pytest.skip(error.message)


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Run a body on n ranks; gives the outcome and what each rank said."""
    monkeypatch.setenv("PYTHONPATH", SOURCE)

    def run(count: int, body: str, limits: watchdog.TimeLimits = SOON):
        words = local.Local().command(count, 1, program(tmp_path, count, body))
        outcome = watchdog.watch_command(words, heartbeat_dir=tmp_path / "beats", limits=limits, ranks=count)
        said = [tmp_path / f"said-{rank}" for rank in range(count)]
        return outcome, [json.loads(path.read_text()) if path.exists() else None for path in said]

    return run


def program(directory: Path, count: int, body: str) -> list[str]:
    path = directory / "program.py"
    path.write_text(PROLOGUE + textwrap.dedent(body))
    return [sys.executable, str(path), str(count)]


@pytest.mark.parametrize("count", [2, 4])
def test_collectives(start, count):
    outcome, said = start(
        count,
        """
        ranks.barrier()
        ranks.wait_for_all()
        me = ranks.rank
        say([me, ranks.size, ranks.node, ranks.nodes, ranks.local_rank, ranks.broadcast(me + 5), ranks.gather(me),
             ranks.all_gather(me), ranks.all_max(me)])
        """,
    )
    everyone = list(range(count))
    assert outcome.exit_code == 0, outcome.stderr_tail
    for rank in everyone:
        gathered = everyone if rank == 0 else None
        assert said[rank] == [rank, count, 0, 1, rank, 5, gathered, everyone, count - 1]


def test_streams_of_64_mb_and_of_nothing_arrive_whole_and_in_order(start):
    outcome, said = start(
        4,
        """
        mpi.PIECE_BYTES = 1 << 20  # many messages for each chunk, the last one short
        large = [os.urandom((32 << 20) + 1), b"", os.urandom(32 << 20)]
        made = [[b"root"], large, [], [b"3"] * 500][ranks.rank]
        got = []
        ranks.stream_to_root(iter(made), lambda rank, chunk: got.append((rank, hashlib.sha256(chunk).hexdigest())))
        sent = ranks.gather([(ranks.rank, hashlib.sha256(chunk).hexdigest()) for chunk in made])
        say(ranks.rank > 0 or got == [chunk for rank in sent for chunk in rank])
        """,
    )
    assert outcome.exit_code == 0, outcome.stderr_tail
    assert said == [True] * 4


def test_rank_0_learns_that_another_rank_could_not_send(start):
    outcome, said = start(
        2,
        """
        def chunks():
            yield b"one"
            raise OSError("disk full")
        try:
            ranks.stream_to_root(chunks() if ranks.rank else [], lambda rank, chunk: None)
        except IosondeError as error:
            say([error.code, error.values["rank"]])
        except OSError as error:
            say(str(error))
        """,
    )
    assert said[0] == ["rank-failed", 1]
    assert said[1].split() == ["disk", "full"]
    assert outcome.exit_code == 0


@pytest.mark.parametrize("count", [2, 4])
def test_spread_of_starts(start, count):
    """Prints how close together ranks leave a barrier and an agreed start; only gross faults fail."""
    outcome, said = start(
        count,
        """
        barrier, agreed = [], []
        for _ in range(50):
            ranks.barrier()
            barrier.append(time.monotonic_ns())
            at = ranks.agree_start(500_000)
            while time.monotonic_ns() < at:
                pass
            agreed.append(time.monotonic_ns())
        say([barrier, agreed])
        """,
    )
    assert outcome.exit_code == 0, outcome.stderr_tail
    for name, moments in zip(("barrier", "agreed start"), zip(*said, strict=True), strict=True):
        spread_us = sorted((max(at) - min(at)) / 1000 for at in zip(*moments, strict=True))
        print(f"{count} ranks, {name}: spread p50 {spread_us[25]:.2f} us, p98 {spread_us[48]:.1f} us")
        assert spread_us[0] < 100_000


def test_processes_that_are_each_alone_are_found_out(tmp_path):
    """As after a launcher of another MPI: no mpiexec here, so the communicator has size 1."""
    words = program(tmp_path, 2, "say('connected')")
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert re.search(r"LaunchError: 2 ranks .* 1: ", done.stderr)
    assert not (tmp_path / "said-0").exists()


def test_fewer_ranks_than_expected_are_found_out(start, tmp_path):
    words = local.Local().command(2, 1, program(tmp_path, 3, "say('connected')"))
    outcome = watchdog.watch_command(
        words, heartbeat_dir=tmp_path, limits=SOON, env={**os.environ, "PYTHONPATH": SOURCE}
    )
    assert outcome.exit_code != 0
    assert re.search(r"3 ranks .* 2: ", outcome.stderr_tail)


def test_a_rank_killed_takes_the_others_with_it_and_leaves_nothing(start):
    began = time.time()
    outcome, said = start(
        2,
        """
        say(os.getpid())
        ranks.barrier()
        if ranks.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        ranks.barrier()
        """,
    )
    assert outcome.exit_code != 0
    assert not outcome.timed_out
    assert outcome.leftover_pids == ()
    assert [processes.start_time(pid) for pid in said] == [None, None]
    assert not leftovers.find_unused_segments(began)


def test_a_rank_that_aborts_ends_all(start):
    outcome, said = start(
        2,
        """
        say(os.getpid())
        ranks.barrier()  # both have spoken: whom an abort ends has no more time for it
        if ranks.rank == 1:
            ranks.abort(5)
        ranks.barrier()
        """,
    )
    assert (outcome.exit_code, outcome.timed_out) == (5, False)
    assert [processes.start_time(pid) for pid in said] == [None, None]


def test_a_hang_is_ended_with_the_name_of_the_rank_that_hangs(start):
    outcome, said = start(
        3,
        """
        say(os.getpid())
        with Heartbeat(here / "beats", ranks.rank, interval_s=0.1) as heart:
            heart.enter("write_large")
            ranks.barrier()
            if ranks.rank == 1:
                time.sleep(600)
            heart.enter("read_large", WAITING)
            ranks.wait_for_all()
        """,
        watchdog.TimeLimits(60, idle_s=2.5, grace_s=0.5),
    )
    assert (outcome.reason, outcome.waited_for) == ("idle", [1])
    assert "running write_large for" in outcome.sentences()[0]
    assert [processes.start_time(pid) for pid in said] == [None] * 3


@pytest.mark.parametrize("victim", ["watchdog", "launcher"])
def test_nobody_is_left_when_the_launcher_or_its_watchdog_is_killed(tmp_path, victim):
    body = """
        with Heartbeat(here / "beats", ranks.rank, interval_s=0.05):
            say([os.getpid(), os.environ["IOSONDE_WATCHDOG"]])
            time.sleep(600)
    """
    began = time.time()
    words = local.Local().command(2, 1, program(tmp_path, 2, body))
    watching = (
        f"from pathlib import Path; from iosonde.ranks import watchdog\n"
        f"print(watchdog.watch_command({words!r}, heartbeat_dir=Path({str(tmp_path / 'beats')!r})).exit_code)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", watching], env={**os.environ, "PYTHONPATH": SOURCE}, stdout=subprocess.PIPE
    )
    assert wait_until(lambda: all((tmp_path / f"said-{rank}").exists() for rank in (0, 1)))
    time.sleep(0.1)
    token = json.loads((tmp_path / "said-0").read_text())[1]
    family = processes.find_family(token)
    assert len(family) >= 4  # mpiexec, its proxy, two ranks
    if victim == "watchdog":
        parent.kill()
    else:
        os.kill(next(pid for pid in family if parent_of(pid) == parent.pid), signal.SIGKILL)
    assert wait_until(lambda: not processes.find_family(token))
    said, _ = parent.communicate(timeout=120)
    assert said == (b"137\n" if victim == "launcher" else b"")
    left = leftovers.remove_segments(began)
    assert not left or victim == "watchdog"  # nobody is there any more to do it


def test_two_host_names_on_one_kernel_are_two_nodes_with_one_clock(tmp_path):
    renamed = ["unshare", "--uts", "sh", "-c", 'hostname other; exec "$@"', "sh"]
    if not shutil.which("unshare") or subprocess.run([*renamed, "true"], capture_output=True).returncode:
        pytest.skip("this user cannot make a UTS namespace")
    words = program(
        tmp_path,
        3,
        """
        found = clocks.estimate_clocks(ranks)
        say([ranks.node_of, ranks.nodes, ranks.local_rank, ranks.hosts[1].name, found.offset_ns, found.error_ns])
        """,
    )
    front = [*local.build_prefix(mpiexec.find_mpiexec(), 100)[:-1], "1"]  # as for more ranks than cores
    command = [*front, *words, ":", "-n", "1", *renamed, *words, ":", "-n", "1", *words]
    outcome = watchdog.watch_command(
        command, heartbeat_dir=tmp_path, limits=SOON, env={**os.environ, "PYTHONPATH": SOURCE}
    )
    assert outcome.exit_code == 0, outcome.stderr_tail
    said = [json.loads((tmp_path / f"said-{rank}").read_text()) for rank in range(3)]
    assert said[0] == [[0, 1, 0], 2, 0, "other", [0, 0, 0], [0, 0, 0]]
    assert [one[2] for one in said] == [0, 0, 1]


def test_clocks_of_two_time_namespaces(tmp_path):
    """A rank whose CLOCK_MONOTONIC is 1000 s ahead, by the kernel: the estimate must find exactly that."""
    ahead = ["unshare", "--time", "--monotonic", "1000", "--fork"]
    if not shutil.which("unshare") or subprocess.run([*ahead, "true"], capture_output=True).returncode:
        pytest.skip("this user cannot make a time namespace")
    words = program(
        tmp_path,
        2,
        """
        early = ranks.agree_start(1000)
        before = clocks.estimate_clocks(ranks)
        start = ranks.agree_start(10**9)
        time.sleep(0.2)
        after = clocks.estimate_clocks(ranks)
        say([early, start, before.offset_ns, before.error_ns, ranks.nodes,
             after.offset_ns[1] - before.offset_ns[1], after.error_ns[1] + before.error_ns[1],
             clocks.to_root_ns(start, ranks.rank, before, after), after.error_ns])
        """,
    )
    front = local.build_prefix(mpiexec.find_mpiexec(), 1)
    command = [*front, *words, ":", "-n", "1", *ahead, *words]
    outcome = watchdog.watch_command(
        command, heartbeat_dir=tmp_path, limits=SOON, env={**os.environ, "PYTHONPATH": SOURCE}
    )
    assert outcome.exit_code == 0, outcome.stderr_tail
    first, second = (json.loads((tmp_path / f"said-{rank}").read_text()) for rank in (0, 1))
    error_ns = first[3][1]
    print(f"offset error {error_ns} ns, found {first[2][1] - 1000 * 10**9} ns off")
    assert first[:2][0] == second[0] == 0  # unknown clocks: start at once
    assert abs(first[2][1] - 1000 * 10**9) <= error_ns < 10**7
    assert abs(second[1] - first[1] - 1000 * 10**9) <= error_ns  # one moment on two clocks
    assert abs(second[7] - first[7]) <= error_ns + first[8][1]  # a busy machine may know the second less well
    assert first[4] == 1  # still one node: they share cores and caches
    assert abs(first[5]) <= first[6]


def parent_of(pid: int) -> int:
    return int(processes._read_stat(pid)[1])


def wait_until(condition, seconds: float = 20.0) -> bool:
    give_up = time.monotonic() + seconds
    while not condition() and time.monotonic() < give_up:
        time.sleep(0.02)
    return bool(condition())
