"""``probe --servers``: each server measures its own disks; what cannot be is said with the server's name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("iosonde.engine._native")
from iosonde.campaign.probe import probe_nodes
from iosonde.campaign.request import ProbeRequest
from iosonde.core.errors import IncompleteError, TargetError
from iosonde.measure.probe import server_program, servers
from iosonde.measure.probe.server_program import ServerAssignment
from iosonde.ranks import machine
from iosonde.store import Store
from messages import assert_problem, raises

# Stands in for ssh: runs the command here, one host after another, as their disks are one here.
SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do case $1 in -o) shift 2 ;; *) shift ;; esac; done
[ "$1" = gone ] && { echo "ssh: could not resolve $1" >&2; exit 255; }
[ "$1" = bare ] && { echo "python: not found"; exit 127; }
shift; exec flock LOCK sh -c "$*"
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text(SSH.replace("LOCK", str(tmp_path / "lock")))
    (tmp_path / "bin" / "ssh").chmod(0o755)
    (tmp_path / "disk").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return tmp_path


def asked(here: Path, servers: str = "s1,s2", **more) -> ProbeRequest:
    given = {"disk_dir": (str(here / "disk"),), "size": 2**20, "repetitions": 2, "store": str(here / "st")}
    return ProbeRequest(servers=servers, **given | more)


@pytest.mark.slow
def test_every_server_measures_its_disk_and_nothing_is_left(here):
    (here / "hosts").write_text("s1\ns2 # the second\n")
    found = probe_nodes(asked(here, str(here / "hosts")))
    assert [(one["host"], len(one["disks"])) for one in found.facts["servers"]] == [("s1", 1), ("s2", 1)]
    (disk,) = found.facts["servers"][0]["disks"]
    assert disk["disk_write"].n == 2 and disk["disk_read"].value > 0 and disk["dir"] == str(here / "disk")
    assert found.facts["nodes"] == [] == found.facts["pairs"]  # no node was asked for, and none was measured
    assert found.slowest["disk_read"] == min(one["disks"][0]["disk_read"].value for one in found.facts["servers"])
    assert not list((here / "disk").iterdir())
    kind = machine.collect_target_facts(here)["mount"]["type"]
    assert disk["filesystem"] == kind
    rows = Store.open(here / "st").runs()
    assert len(rows) == 2 and all(one["complete"] for one in rows)
    assert {row["quantity"] for row in found.records()} == {"disk_write", "disk_read"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("servers", "said"), [("s1,gone", "on server gone: ssh: could not resolve gone"), ("bare", "python: not found")]
)
def test_a_server_that_says_nothing_is_named_with_what_to_look_at(here, servers, said):
    with pytest.raises(IncompleteError) as error:
        probe_nodes(asked(here, servers))
    assert_problem(error.value, "incomplete-repetitions", incomplete=1)
    assert said in error.value.message
    assert not list((here / "disk").iterdir())


@pytest.mark.slow
def test_what_is_wrong_on_a_server_is_said_as_it_says_it(here):
    with raises("incomplete-repetitions", IncompleteError):
        probe_nodes(asked(here, "s1", disk_dir=(str(here / "nowhere"),)))


@pytest.mark.parametrize(
    ("words", "code", "values"),
    [
        ({"disk_dir": ()}, "options-require-each-other", {}),
        ({"servers": None}, "options-require-each-other", {}),
        ({"disk_dir": ("disk",)}, "relative-path", {"path": "disk"}),
        ({"servers": "-oProxyCommand=x"}, "unknown-host", {"host": "-oProxyCommand=x"}),
        ({"servers": ","}, "unknown-host", {"host": ","}),
        ({"size": 1000}, "invalid-size", {"size": 1000}),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(here, words, code, values):
    with raises(code, **values):
        probe_nodes(asked(here, **words))
    assert not (here / "st").exists()


def test_two_directories_of_one_disk_are_no_two_disks(here):
    (here / "other").mkdir()
    both = (str(here / "disk"), str(here / "other"))
    with raises("same-file-system", TargetError):
        server_program.run(ServerAssignment(both, "x", 2**20))


def test_a_network_mount_is_no_disk_of_the_server(here, monkeypatch):
    monkeypatch.setattr(server_program.machine, "collect_target_facts", lambda place: {"mount": {"type": "nfs4"}})
    with raises("not-on-disk", TargetError, file_system="nfs4"):
        server_program.run(ServerAssignment((str(here / "disk"),), "x", 2**20))
    assert not list((here / "disk").iterdir())


def test_what_an_ended_repetition_left_is_removed_and_nothing_else(here):
    from iosonde.measure.target.workspace import Workspace

    Workspace.create(here / "disk", "mine").trial(server_program.PLACE)
    (here / "disk" / "iosonde-other").mkdir()
    server_program.clean(ServerAssignment((str(here / "disk"), str(here / "gone")), "mine", 2**20))
    assert [one.name for one in (here / "disk").iterdir()] == ["iosonde-other"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ('{"disks": []}', {"disks": []}),
        ('{"error": "x", "hint": "y"}', {"error": "x", "hint": "y"}),
        ('{"error": "x"}', None),
        ('["disks"]', None),
        ('"disks"', None),
        ("3", None),
        ("{}", None),
        ("python: not found", None),
        ("", None),
    ],
)
def test_an_answer_of_a_server_has_its_disks_or_its_error(line, answer):
    assert servers._parse_answer(line) == answer
