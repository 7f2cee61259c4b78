"""One measurement at a time on a machine: who is refused, who waits, and that a lock goes with its process."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import contextmanager

import pytest

import here
from iosonde.campaign import turn
from iosonde.campaign.turn import Turn, build_inherited_environment, hold_machine, is_here, list_other_processes
from iosonde.core import held
from iosonde.core.errors import InputError
from iosonde.ranks.hosts import get_this_host
from iosonde.ranks.machine import emulated
from iosonde.store import Store
from messages import assert_problem, raises

HOLD = """
import sys
from iosonde.campaign.turn import Turn, hold_machine
with hold_machine(Turn(), True, print):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def locks(tmp_path, monkeypatch):
    folder = tmp_path / "locks"
    folder.mkdir()
    monkeypatch.setenv("IOSONDE_LOCK_DIR", str(folder))
    return folder


@contextmanager
def another(code=HOLD):
    """A process that measures, as far as anybody can tell."""
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def command(where, *words):
    return here.iosonde("run", "true", "--repetitions", "1", "--store", "kept", *words, where=where)


@pytest.mark.slow
def test_a_second_one_is_refused_and_told_by_whom(tmp_path):
    with another() as process:
        done = command(tmp_path)
        assert done.returncode == 2 and f"process {process.pid}" in done.stderr
        assert "--wait" in done.stderr and "--alongside" in done.stderr and not (tmp_path / "kept").exists()
        late = command(tmp_path, "--wait", "100ms")
        assert late.returncode == 2 and "100 ms" in late.stderr and f"process {process.pid}" in late.stderr
        assert command(tmp_path, "--alongside").returncode == 0
    assert len(Store.open(tmp_path / "kept").runs()) == 1


@pytest.mark.slow
def test_one_that_waits_begins_when_the_other_has_died(tmp_path, locks):
    said = []
    with another() as process:

        def say(line):
            said.append(line)
            process.kill()  # nothing of it is left to remove the lock

        with hold_machine(Turn(wait_s=60), True, say), pytest.raises(InputError), hold_machine(Turn(), True, say):
            pass
    (note,) = said
    assert_problem(note, "waiting", process=f"process {process.pid}")
    (file,) = locks.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 and not file.read_text()


@pytest.mark.slow
def test_runs_that_were_measured_beside_others_say_so(tmp_path):
    """A fact of the run that went on all the same, of those that it disturbed, a finding, and a warning; none alone."""
    assert command(tmp_path).returncode == 0
    with another() as process:
        assert command(tmp_path, "--alongside", "--name", "beside").returncode == 0
    assert [run["facts"].get("measured_beside") for run in Store.open(tmp_path / "kept").runs()] == [
        None,
        [process.pid],
    ]
    found, shown = (
        here.iosonde(name, "kept", "--experiment", "all", where=tmp_path).stdout for name in ("check", "summary")
    )
    assert "S132" in found and {"1", "2"} <= set(found.split()) | set(shown.split())
    assert any({"1", "2"} <= set(line.split()) for line in (found + shown).splitlines())


@pytest.mark.slow
def test_both_know_of_each_other(locks):
    alongside = HOLD.replace("Turn()", "Turn(alongside=True)")
    with hold_machine(Turn(), True, print):
        assert list_other_processes() == []
        with another(alongside) as one, another(alongside) as two:
            assert list_other_processes() == sorted([one.pid, two.pid])
        assert list_other_processes() == []
        with another(alongside) as one:
            assert list_other_processes() == [one.pid]
    with another(alongside):
        assert list_other_processes() == [], "who holds no lock measures elsewhere"


@pytest.fixture
def on_a_host(tmp_path, monkeypatch):
    """As on a host of a lab, which sees of its machine the locks and the processes."""
    machine = tmp_path / "machine"
    (machine / held.LOCK).mkdir(parents=True)
    (machine / held.PROC).symlink_to("/proc")
    monkeypatch.delenv("IOSONDE_LOCK_DIR")
    monkeypatch.setattr(held, "MACHINE", machine)
    monkeypatch.setattr(turn, "_PLACES", (str(machine / held.LOCK), str(tmp_path)))
    return machine


@pytest.mark.slow
def test_a_host_of_a_lab_takes_the_lock_of_its_machine(on_a_host, monkeypatch):
    monkeypatch.setenv("IOSONDE_LOCK_DIR", str(on_a_host / held.LOCK))
    with another() as process:
        monkeypatch.delenv("IOSONDE_LOCK_DIR")
        refused = raises("concurrent-measurement", process=f"process {process.pid}")
        with refused, hold_machine(Turn(), True, print):
            pass
        with hold_machine(Turn(alongside=True), True, print):
            assert list_other_processes() == [process.pid]


def test_its_processes_are_numbered_as_the_machine_does(on_a_host, monkeypatch):
    (on_a_host / held.PROC).unlink()
    proc = on_a_host / held.PROC
    proc.mkdir()
    (proc / "self").symlink_to("4711")
    file = (on_a_host / held.LOCK / "iosonde-measuring.lock").absolute()
    with hold_machine(Turn(), True, print):
        place = os.stat(file)
        listed = "{}: FLOCK  ADVISORY  WRITE {} {:02x}:{:02x}:{} 0 EOF\n"
        where = (os.major(place.st_dev), os.minor(place.st_dev), place.st_ino)
        (proc / "locks").write_text("".join(listed.format(n, pid, *where) for n, pid in enumerate((4711, 12))))
        assert list_other_processes() == [12], "a process of another name space is seen, and ours is not taken for one"
        monkeypatch.setenv("IOSONDE_TURN_OF", "12")
        assert list_other_processes() == [], "nor the one that started us"


@pytest.mark.slow
def test_what_a_campaign_starts_in_its_labs_takes_no_lock_and_sees_the_others(locks, monkeypatch):
    inner = HOLD.replace("sys.stdin", "print(*list_other_processes(), flush=True); sys.stdin").replace(
        "import Turn", "import list_other_processes, Turn"
    )
    with hold_machine(Turn(), True, print), another(HOLD.replace("Turn()", "Turn(alongside=True)")) as other:
        for name, value in build_inherited_environment().items():
            monkeypatch.setenv(name, value)
        with another(inner) as process:
            assert process.stdout.readline() == f"{other.pid}\n"


@pytest.mark.slow
def test_a_campaign_of_labs_that_is_killed_frees_the_machine(locks):
    """What it started in a lab and is still there holds nothing."""
    starts = HOLD.replace("sys.stdin", "subprocess.Popen(['cat']); print('started', flush=True); sys.stdin")
    with another(starts.replace("import sys", "import subprocess, sys")) as process:
        assert process.stdout.readline() == "started\n"
        process.kill()
        process.wait()
        with hold_machine(Turn(), True, print):
            pass


def test_every_host_of_a_lab_is_this_machine(tmp_path, monkeypatch):
    (tmp_path / "lab.json").write_text('{"name": "here"}')
    monkeypatch.setattr(emulated, "FILE", tmp_path / "lab.json")
    assert is_here(("client7",))


def test_a_file_of_somebody_else_is_locked_all_the_same(locks, monkeypatch):
    opened = os.open

    def only_to_read(path, flags, mode=0o777):
        if flags & os.O_RDWR and not flags & os.O_CREAT:
            raise PermissionError(13, "denied")
        return opened(path, flags, mode)

    (locks / "iosonde-measuring.lock").touch()
    monkeypatch.setattr(os, "open", only_to_read)
    with hold_machine(Turn(), True, print), pytest.raises(InputError), hold_machine(Turn(), True, print):
        pass


def test_no_link_is_followed(locks, tmp_path):
    (locks / "iosonde-measuring.lock").symlink_to(tmp_path / "elsewhere")
    with raises("lock-unavailable"), hold_machine(Turn(), True, print):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_without_a_place_for_locks_it_is_measured_and_said(monkeypatch, tmp_path):
    monkeypatch.delenv("IOSONDE_LOCK_DIR")
    monkeypatch.setattr("iosonde.campaign.turn._PLACES", (str(tmp_path / "missing"),))
    said = []
    with hold_machine(Turn(), True, said.append):
        assert_problem(said[0], "lock-unavailable", path=tmp_path / "missing" / "iosonde-measuring.lock")


def test_ranks_on_other_machines_hold_none_but_a_shared_one(monkeypatch, locks):
    with hold_machine(Turn(), False, print):
        assert list(locks.iterdir()), "a directory that was named is for all machines"
    (locks / "iosonde-measuring.lock").unlink()
    monkeypatch.delenv("IOSONDE_LOCK_DIR")
    monkeypatch.setattr("iosonde.campaign.turn._PLACES", (str(locks),))
    with hold_machine(Turn(), False, print):
        assert not list(locks.iterdir())


@pytest.mark.parametrize(("nodes", "told"), [(("localhost",), True), (("n1", "n2"), False), ((), False)])
def test_whether_ranks_run_here(nodes, told):
    assert is_here(nodes) == told
    assert is_here((*nodes, get_this_host().name))
