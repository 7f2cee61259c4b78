"""`plan` of an experiment in labs looks at each lab: what there can be nowhere is a mistake of the file."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.core.errors import InputError

FILE = "lab: {lab}\nnodes: 1\nfactors: {{size: [1, 2]}}\nsteps: ['true ${{size}}']\n{more}"


def plan_of(path, lab: str, more: str = ""):
    (path / "e.yaml").write_text(FILE.format(lab=lab, more=more))
    return CliRunner().invoke(cli, ["plan", str(path / "e.yaml")])


@pytest.mark.parametrize(
    ("lab", "said", "hint"),
    [
        ('{file_system: "local; touch x"}', "local; touch x", "glusterfs"),
        ("{file_system: [local, locall]}", "locall", "local"),
        ("{file_system: glusterfs, servers: 3, set: {replica: [1, 2]}}", "replica=2", "--servers"),
        ("{file_system: local, set: {color: red}}", "color", ""),
        ("{file_system: local, base_fs: [xfs, zfs]}", "zfs", "ext4"),
        ("{file_system: local, net: 1gb}", "1gb", "1gbit"),
        ("{file_system: nfs, profile: true}", "profile", ""),
        ("{file_system: [glusterfs, moosefs], set: {colour.red: 1}, servers: 70}", "70", "60"),
    ],
)
def test_a_lab_that_there_can_be_nowhere_is_the_users_mistake(tmp_path, lab, said, hint):
    done = plan_of(tmp_path, lab)
    assert isinstance(done.exception, InputError), (done.output, done.exception)
    assert done.exception.exit_code == 2
    assert said in done.exception.message and hint in done.exception.hint


def test_a_fault_on_a_host_that_the_lab_lacks_is_one_too(tmp_path):
    faults = "faults:\n  - {fault: cut-link, on: server9, at: 1s}\n"
    done = plan_of(tmp_path, "{file_system: local, servers: 2}", faults)
    assert isinstance(done.exception, InputError) and "server9" in done.exception.message


def test_a_lab_that_can_be_is_planned_whatever_is_installed(tmp_path):
    done = plan_of(tmp_path, "{file_system: [local, orangefs], servers: [1, 2]}")
    assert done.exit_code == 0, done.exception
