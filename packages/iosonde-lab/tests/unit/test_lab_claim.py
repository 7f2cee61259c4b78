"""Who brings a lab up is known by a lock that ends with that process, however it ends."""

import os
import subprocess
import sys
import time

import pytest

from iosonde_lab import bring, claim, place
from iosonde_lab.api import LabDescription
from iosonde_lab.lab import CUT_SHORT, labs, planned
from messages import assert_problem


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv(place.ROOT, str(tmp_path))
    monkeypatch.setattr(place, "FACTS", str(tmp_path / "facts"))
    monkeypatch.setattr(place, "OWNER", os.getuid())
    return tmp_path


def starting(name: str = "one"):
    assert place.claim(name)
    lab = planned(LabDescription("local").with_name(name), [])
    lab.write("starting", {})
    return lab


def states() -> list[str]:
    return [state for _, state, _ in labs()]


def test_a_lab_is_starting_as_long_as_somebody_holds_it_and_cut_short_afterwards():
    starting()
    held = claim.hold("one")
    assert held is not None and states() == ["starting"]
    assert claim.hold("one") is None  # one alone
    os.close(held)
    assert states() == [CUT_SHORT]
    again = claim.hold("one")
    assert again is not None and states() == ["starting"]
    os.close(again)


def test_one_that_was_just_claimed_is_given_its_moment(root):
    starting()
    assert states() == ["starting"]
    os.utime(root / "one", (time.time() - 60,) * 2)
    assert states() == [CUT_SHORT]


def test_who_is_killed_holds_nothing(root):
    starting()
    program = "from iosonde_lab import claim; import time; claim.hold('one'); print(1, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        assert states() == ["starting"]
        other.kill()
    assert states() == [CUT_SHORT]


def test_the_lock_of_a_lab_that_was_removed_and_made_again_is_another_one(root, monkeypatch):
    starting()
    os.close(claim.hold("one"))
    real = claim._take

    def removed_meanwhile(lock: int, kind: int = claim.fcntl.LOCK_EX) -> bool:
        (root / "one" / "bringing-up").unlink()
        (root / "one" / "bringing-up").touch()
        return real(lock, kind)

    monkeypatch.setattr(claim, "_take", removed_meanwhile)
    assert claim.hold("one") is None


def test_the_next_bring_up_of_that_name_removes_what_is_left_and_no_lab_that_is_up(monkeypatch):
    removed, said = [], []
    monkeypatch.setattr(bring, "down", removed.append)
    starting()
    held = claim.hold("one")
    bring._remove_leftover_lab("one", said.append)
    assert removed == []  # somebody is at it
    os.close(held)
    bring._remove_leftover_lab("one", said.append)
    assert removed == ["one"]
    assert_problem(*said, "leftover-lab", lab="one")
    planned(LabDescription("local").with_name("one"), []).write("up", {})
    bring._remove_leftover_lab("one", said.append)
    bring._remove_leftover_lab("other", said.append)
    assert removed == ["one"]
