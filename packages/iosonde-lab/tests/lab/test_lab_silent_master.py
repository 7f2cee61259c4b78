"""A master that ended, hangs or is cut off: lab's own commands say so in time, and end as they promise."""

import json
import time

import pytest
from lab_here import iosonde

from iosonde_lab import api as labs

LIMIT_S = 40  # of what may take 30, on a busy machine


@pytest.fixture(scope="module")
def lab(lab_of):
    return lab_of("moosefs", {"name": "silent"})


@pytest.fixture(params=["kill-server", "stop", "cut-link"])
def fault(request, lab):
    labs.inflict(lab, request.param, lab.host("master"))
    yield request.param
    assert labs.heal(lab, limit_s=120).healed_s is not None


def test_status_names_what_does_not_answer_in_time_and_says_that_it_waits(lab, fault):
    begin = time.monotonic()
    done = iosonde("lab", "status", "--lab", lab.name, "--json")
    assert done.returncode == 1, done.stderr
    assert time.monotonic() - begin < LIMIT_S
    found = json.loads(done.stdout)
    assert [one["kind"] for one in found["faults"]] == [fault]
    if fault == "cut-link":  # the master itself is well
        assert any("client1" in one for one in found["health"])
    else:
        assert [one.split()[0].rstrip(":") for one in found["health"]] == ["master"]
    assert "waiting" in done.stderr


def test_questions_of_the_mount_end_with_a_sentence(lab, fault):
    if fault == "kill-server":
        pytest.skip("as with the master that is stopped")
    begin = time.monotonic()
    done = iosonde("lab", "placement", "--lab", lab.name, "file")
    assert (done.returncode, done.stdout) == (3, "")
    assert time.monotonic() - begin < LIMIT_S
    assert "waiting" in done.stderr and "client1" in done.stderr
