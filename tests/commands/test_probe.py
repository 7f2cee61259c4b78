"""`iosonde probe` from the command line: what it refuses, and that nothing stays behind."""

from __future__ import annotations

import errno
import json
import os

import pytest
from click.testing import CliRunner

from iosonde.campaign import preflight
from iosonde.core.errors import IncompleteError, InputError, TargetError
from iosonde.measure.probe import local as probe_local
from iosonde.measure.target.space import QuotaFree
from iosonde.store import Store
from terminal import command_of

command = command_of("probe")


def invoke(*words):
    return CliRunner().invoke(command, [str(word) for word in words], catch_exceptions=False, standalone_mode=False)


def refused(error, *words):
    done = CliRunner().invoke(command, [str(word) for word in words], standalone_mode=False)
    assert isinstance(done.exception, error), done.exception
    return done.exception


def test_a_target_that_is_not_there(tmp_path):
    error = refused(TargetError, "--target", tmp_path / "no", "--store", tmp_path / "s")
    assert str(tmp_path / "no") in error.message and os.strerror(errno.ENOENT) in error.message


def test_a_store_on_the_target_is_refused_before_anything_is_made(tmp_path):
    assert refused(InputError, "--target", tmp_path, "--store", tmp_path / "s").code == "store-on-target"
    assert not list(tmp_path.iterdir())


def test_temporary_files_on_the_target_are_refused_before_anything_is_made(tmp_path, monkeypatch):
    target = tmp_path / "t"
    (target / "tmp").mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(target / "tmp"))
    error = refused(InputError, "--target", target, "--size", "1MiB", "--store", tmp_path / "s")
    assert str(target) in error.message and "TMPDIR" in error.hint
    assert [path.name for path in tmp_path.rglob("*")] == ["t", "tmp"]


def test_what_a_quota_leaves_is_asked_for(tmp_path, monkeypatch):
    target = tmp_path / "t"
    target.mkdir()
    monkeypatch.setattr(preflight, "compute_quota_free", lambda facts: QuotaFree(2**20 - 1))
    error = refused(TargetError, "--target", target, "--size", "1MiB", "--store", tmp_path / "s")
    assert "quota" in error.message and "--size" in error.hint


@pytest.mark.parametrize("size", ["0", "1000", "1537KiB"])
def test_a_size_that_is_no_multiple_of_a_transfer(tmp_path, size):
    target = tmp_path / "t"
    target.mkdir()
    assert "1 MiB" in refused(InputError, "--target", target, "--size", size, "--store", tmp_path / "s").message


def test_more_than_the_target_holds(tmp_path):
    target = tmp_path / "t"
    target.mkdir()
    error = refused(TargetError, "--target", target, "--size", "4096TiB", "--store", tmp_path / "s")
    assert "--size" in error.hint


def test_hosts_that_are_no_hosts(tmp_path):
    (tmp_path / "hosts").write_text("-oProxyCommand=x\n")
    refused(InputError, "--hosts", tmp_path / "hosts", "--store", tmp_path / "s")


def test_one_node_with_a_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    target = tmp_path / "t"
    target.mkdir()
    done = invoke("--target", target, "--size", "1MiB", "--repetitions", 1, "--store", tmp_path / "s", "--json")
    document = json.loads(done.stdout)
    assert document["pairs"] == []
    assert any("network" in line for line in document["warnings"])
    (node,) = document["nodes"]
    assert node["disk_read"]["value"] > 0
    assert node["cores"] == probe_local.count_cores()
    assert not list(target.iterdir())
    (run,) = Store.open(tmp_path / "s").runs()
    assert run["complete"]


def test_ranks_that_die_are_told_and_leave_nothing(tmp_path, monkeypatch):
    from iosonde.ranks import rollcall
    from iosonde.ranks.launch import mpirun

    def dead(self, nodes, ranks_per_node, program):
        return ["sh", "-c", "echo 'ssh: n9 does not answer' >&2; exit 255"]

    monkeypatch.setattr(mpirun.MpiRun, "command", dead)
    monkeypatch.setattr(rollcall, "call_roll", lambda launcher, nodes, targets: ("n1", "n9"))
    (tmp_path / "hosts").write_text("n1\nn9\n")
    target = tmp_path / "t"
    target.mkdir()
    error = refused(IncompleteError, "--hosts", tmp_path / "hosts", "--target", target, "--store", tmp_path / "s")
    assert "ssh: n9 " in error.message
    assert "--hosts" in error.hint
    assert not list(target.iterdir())
