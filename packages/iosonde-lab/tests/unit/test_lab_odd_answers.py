"""What tools print when they are not well is an answer that is not known, of every file system, and never a crash."""

import pytest

from iosonde.core.errors import IosondeError
from iosonde_lab import place
from iosonde_lab.api import LabDescription
from iosonde_lab.filesystems import MODULES, recipe
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import planned
from iosonde_lab.status import status
from messages import assert_problem, raises

ODD = (
    "",
    "\n\n",
    "Working master servers not found !!!\nsection 'CS' not allowed\n",
    "a|b",
    "|||",
    "12",
    "-1 -1",
    "{}",
    "[]",
    "null",
    '"text"',
    "[1, 2]",
    "[[], []]",
    '{"beans": []}',
    '{"beans": [1]}',
    '{"LocatedBlocks": null}',
    '{"osds": [{}], "checks": {"x": {}}, "fsmap": {"filesystems": [1]}, "pgmap": {}, "osdmap": {}}',
    "<x/>",
    "<cliOutput><opRet>0</opRet><replicaCount>two</replicaCount></cliOutput>",
    "chunk\ncopy 1:",
    "oss.space=x&y",
    "Brick: a:\nBrick: b:\n",
    "x = V",
    "OpenAFS ",
    "all chunks matrix:|chunkclass missing:|many",
)


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv(place.ROOT, str(tmp_path))
    monkeypatch.setattr(place, "FACTS", str(tmp_path / "facts"))
    monkeypatch.setattr(place, "OWNER", tmp_path.stat().st_uid)


def lab_with_answer(file_system: str, text: str, monkeypatch):
    """A lab that was brought up, on whose hosts every command prints this text and ends well."""
    how = recipe(file_system)
    assert place.claim("one")
    lab = planned(LabDescription(file_system, "one", how.usual_servers, 1), how.extra_hosts)
    (lab.directory / "ceph.conf").touch()
    lab.write("up", {})
    monkeypatch.setattr(LabHost, "run", lambda self, *words, **_: text)
    monkeypatch.setattr(LabHost, "all_processes", lambda self: {"glusterd": [1], "ceph-mds": [1]})
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return how, lab


def questions(how, lab):
    file = lab.mount_point / "file"
    return {
        "states": lambda: how.states(lab),
        "health": lambda: how.health(lab),
        "facts": lambda: how.facts(lab),
        "layout": lambda: how.layout(lab),
        "version": lambda: how.version(lab),
        "placement": lambda: how.placement(lab, file),
        "placements": lambda: how.placements(lab, lab.mount_point),
        "profile": lambda: how.profile(lab),
        "read_all": lambda: how.read_all(lab, tuple(how.live)),
    }


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("file_system", MODULES)
def test_an_odd_answer_is_an_error_that_says_it_or_is_taken_for_nothing(file_system, text, monkeypatch):
    how, lab = lab_with_answer(file_system, text, monkeypatch)
    for ask in questions(how, lab).values():
        try:
            ask()
        except IosondeError as error:
            assert error.message


@pytest.mark.parametrize("file_system", MODULES)
def test_status_answers_whatever_its_tools_say(file_system, monkeypatch):
    lab_with_answer(file_system, ODD[2], monkeypatch)
    found = status("one")
    assert found.problem and found.capacity is None


def test_a_master_that_is_not_there_does_not_answer(monkeypatch):
    """mfscli ends with exit code 0 then."""
    how, lab = lab_with_answer("moosefs", ODD[2], monkeypatch)
    assert_problem(*how.health(lab), "no-response", host="master")
    assert {name: one.well for name, one in how.states(lab).items()} == {"master": False}
    with raises("unparsable-output", IosondeError):
        how.facts(lab)
