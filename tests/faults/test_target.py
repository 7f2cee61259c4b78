"""What a failing or hanging target costs: no run that was finished, no time beyond the limit, nothing of anybody's."""

import errno
import os
import re
import subprocess
import sys
import time

import pytest

from iosonde.measure.rank import command
from iosonde.store import Store

IDLE_S = 4
# Of the campaign, after the idle limit. The machine of a test may be busy: the promise is 10 s.
SLOW = 6
TINY = (
    "--repetitions",
    "3",
    "--small-files",
    "5",
    "--large-size",
    "256KiB",
    "--transfer-size",
    "64KiB",
    "--seed",
    "1",
    "--idle-timeout",
    f"{IDLE_S}s",
)


def one_and(*rest):
    """One case in CI; the others in `make test-faults`."""
    first, *others = rest
    return [
        first,
        *(pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=pytest.mark.slow) for one in others),
    ]


def iosonde(*words, seconds=120):
    command = [sys.executable, "-m", "iosonde.cli.main", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds)


def run(target, store, *more):
    return iosonde("run", "--target", target, "--store", store, *TINY, *more)


def left_of(faulty):
    return sorted(path for path in faulty.tree() if path != "/")


@pytest.mark.parametrize(
    ("operation", "path", "kept"),
    one_and(
        ("write", "*/trial-0001/*", 2),
        ("create", "*/trial-0001/*", 2),
        ("unlink", "*/trial-0001/*", 2),
        ("rmdir", "*/trial-0001", 2),
        ("opendir", "*/trial-0001", 2),
    ),
)
def test_a_target_that_hangs_in_mid_trial_hangs_nothing(faulty, tmp_path, operation, path, kept):
    faulty.set({"on": operation, "do": "hang", "path": path})
    began = time.monotonic()
    done = run(faulty.path, tmp_path / "store")
    assert time.monotonic() - began < SLOW * (IDLE_S + 10)
    assert done.returncode == 3, done.stderr
    assert "answer" in done.stderr and "trial-0001" in done.stderr
    assert len(Store.open(tmp_path / "store").run_ids()) == kept
    assert "Traceback" not in done.stderr
    faulty.clear()
    again = run(faulty.path, tmp_path / "store")
    assert again.returncode == 0, again.stderr
    assert left_of(faulty) == []


def test_a_command_that_hangs_is_ended_by_the_idle_limit(faulty, tmp_path):
    """It has no timeout of its own, and its shell only waits for it."""
    faulty.set({"on": "create", "do": "hang", "path": "*/f"})
    began = time.monotonic()
    words = ("run", "dd if=/dev/zero of=${TARGET}/f bs=1k count=1; true", "--target", faulty.path)
    done = iosonde(*words, "--store", tmp_path / "store", "--repetitions", "1", "--idle-timeout", f"{IDLE_S}s")
    assert time.monotonic() - began < SLOW * (IDLE_S + 10)
    assert done.returncode in (1, 3), done.stderr
    said = " ".join(Store.open(tmp_path / "store").runs()[0]["missing"])
    assert re.search(r"\(process \d+, request_wait_answer\)", said), said


def test_a_command_that_hangs_at_its_timeout_hears_no_sigterm(faulty, tmp_path):
    """So it is given no time to follow it: of the promised 10 s others need most."""
    (faulty.path / "f").touch()
    faulty.set({"on": "open", "do": "hang", "path": "*/f"})
    began = time.monotonic()
    asked = command.ShellCommand(f"cat {faulty.path}/f; true", step_id="x:1", timeout_s=0.5, grace_s=60)
    result = command.run(asked, tmp_path / "output")
    assert time.monotonic() - began < 30
    assert (result.ended_by, result.exit_code) == ("timeout", None)


@pytest.mark.parametrize("operation", one_and("statfs", "getattr", "lookup", "mkdir", "fsync"))
def test_a_target_that_hangs_before_the_first_trial_is_named(faulty, tmp_path, operation):
    faulty.set({"on": operation, "do": "hang"})
    done = run(faulty.path, tmp_path / "store")
    assert done.returncode == 3, done.stderr
    waiting, error = (line for line in done.stderr.splitlines()[:2])
    assert "waiting" in waiting and str(faulty.path) in done.stderr and "answer" in done.stderr
    assert "hangs" in done.stderr and error


@pytest.mark.parametrize("command", one_and("plan", "probe"))
def test_plan_and_probe_say_that_it_hangs(faulty, tmp_path, command):
    faulty.set({"on": ["statfs", "lookup", "getattr"], "do": "hang"})
    done = iosonde(command, "--target", faulty.path, "--store", tmp_path / "store", "--idle-timeout", f"{IDLE_S}s")
    assert done.returncode == 3, done.stderr
    assert str(faulty.path) in done.stderr and "answer" in done.stderr


def test_the_doctor_goes_on_without_a_target_that_hangs(faulty):
    from iosonde.ranks.abilities import target_checks

    faulty.set({"on": ["create", "mkdir"], "do": "hang"})
    found = target_checks.try_all(faulty.path, limit_s=1.0)
    assert [one.ok for one in found] == [True, False]
    assert str(faulty.path) in found[1].detail and "answer" in found[1].detail
    no_answer = found[1].detail.code
    faulty.clear()
    faulty.set({"on": "any", "do": "hang"})
    (found,) = target_checks.try_all(faulty.path, limit_s=1.0)
    assert found.detail.code == no_answer and found.required
    faulty.clear()
    faulty.kill()
    (found,) = target_checks.try_all(faulty.path)
    assert os.strerror(errno.ENOTCONN) in found.detail and found.detail.code != no_answer and found.required


@pytest.mark.parametrize(
    ("rule", "gone"),
    one_and(
        ({"on": "unlink", "do": "error", "errno": "EIO", "path": "*/trial-0001/*"}, False),
        ({"on": "rmdir", "do": "error", "errno": "EIO", "path": "*/trial-0001"}, False),
        ({"on": "unlink", "do": "error", "errno": "ENOTCONN", "path": "*/trial-0001/*"}, True),
        ({"on": "unlink", "do": "error", "errno": "ESTALE", "path": "*/trial-0001/*"}, True),
    ),
)
def test_a_trial_whose_files_cannot_be_removed_is_kept(faulty, tmp_path, rule, gone):
    """The envelope removes its files itself, as a phase: that phase is incomplete. Its run is there all the same."""
    faulty.set(rule)
    done = run(faulty.path, tmp_path / "store")
    assert done.returncode == 3, done.stderr
    reason = os.strerror(getattr(errno, rule["errno"]))
    assert reason in done.stderr and ("gone:" in done.stderr.split()) == gone
    assert "experiment" not in done.stderr, "nobody else made these files"
    store = Store.open(tmp_path / "store")
    assert len(store.run_ids()) == 2
    assert reason in store.notes.read_notes(store.run_ids()[1])["notes"][0]["text"]
    faulty.clear()
    assert run(faulty.path, tmp_path / "store").returncode == 0
    assert left_of(faulty) == []


def test_a_dead_server_is_said_to_be_gone(faulty, tmp_path):
    faulty.set({"on": "write", "do": "hang", "path": "*/trial-0001/*"})
    command = [
        sys.executable,
        "-m",
        "iosonde.cli.main",
        "run",
        "--target",
        str(faulty.path),
        "--store",
        str(tmp_path / "store"),
        *TINY,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    faulty.wait_until_hung()
    faulty.kill()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 3, said
    assert "gone:" in said.split()
    assert len(Store.open(tmp_path / "store").run_ids()) == 2


@pytest.mark.parametrize("lie", one_and("short", "flip", "zero"))
def test_a_target_whose_reads_lie_is_cleaned_all_the_same(faulty, tmp_path, lie):
    faulty.set({"on": "read", "do": lie})
    done = run(faulty.path, tmp_path / "store")
    assert "experiment" not in done.stderr, "nobody else made these files"
    assert len(Store.open(tmp_path / "store").run_ids()) >= 1
    assert left_of(faulty) == []


def test_unknown_counts_of_a_file_system_are_no_shortage(faulty, tmp_path):
    """CephFS says -1 of inodes; the kernel passes it on."""
    faulty.set({"on": "statfs", "do": "lie", "values": {"files": 1, "ffree": 2**64 - 1}})
    assert run(faulty.path, tmp_path / "store").returncode == 0
    faulty.set({"on": "statfs", "do": "lie", "values": {"blocks": 2**63, "bfree": 2**63, "bavail": 2**63}})
    done = run(faulty.path, tmp_path / "other")
    assert done.returncode == 0, done.stderr
    document = Store.open(tmp_path / "other").runs()[0]
    assert document["facts"]["machine"]["mount"]["free_bytes"] is None


def test_what_a_run_on_a_fuse_mount_keeps_of_its_client(faulty, tmp_path):
    """Nobody knows this type: it is a network mount with a cache of its own, served by a daemon that is no stranger."""
    assert run(faulty.path, tmp_path / "store").returncode == 0
    document = Store.open(tmp_path / "store").runs()[0]
    assert (document["factors"]["server_cache"], document["factors"]["client_cache"]) == ("warm", "cold-requested")
    (mounted,) = document["facts"]["mounts"]
    assert (mounted["type"], mounted["source"]) == ("fuse.faultfs", "faultfs")
    (load,) = document["facts"]["loads"]
    assert load["client_daemon_cpu_s"] > 0 and load["client_daemon_rss_bytes"] > 2**20
