"""Cold reads in a lab: clients that keep data themselves are mounted anew, unless it is said what is done before."""

import os
from types import SimpleNamespace

import pytest

from iosonde.cli.terminal import TerminalFrontEnd
from iosonde.commands.run.options import RunOptions
from iosonde.core.front_end import use_front_end
from iosonde.measure import trial
from iosonde.measure.rank import hooks
from iosonde.measure.spec import CLIENTS_ANEW, CacheRegime
from iosonde.ranks import binding
from iosonde_lab import place
from iosonde_lab.command.campaigns import mount_before_cold_reads

ADDED = ("--before-reads", CLIENTS_ANEW)
PHASES = "steps: [{workload: envelope}]\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setenv(place.ROOT, str(tmp_path))
    monkeypatch.setattr(place, "FACTS", str(tmp_path / "facts"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words(options: RunOptions, *file_systems: str) -> tuple[str, ...]:
    return mount_before_cold_reads(options, file_systems).words()


@pytest.mark.parametrize("file_system", ["glusterfs", "ceph", "moosefs", "openafs"])
def test_where_clients_keep_data_they_are_mounted_anew(file_system, capsys):
    options = RunOptions(nodes="1,2", store="s")
    with use_front_end(TerminalFrontEnd()):
        added = words(options, file_system)
    assert added == ("--nodes", "1,2", "--store", "s", *ADDED)
    assert f"({CLIENTS_ANEW})" in capsys.readouterr().err
    assert words(options, "local", file_system) == added


@pytest.mark.parametrize(
    ("asked", "file"),
    [
        ({"before_reads": "mine"}, ""),
        ({"cache": "warm"}, ""),
        ({"what": "ls"}, ""),
        ({"what": "e.yaml"}, PHASES + "cache: {before_reads: mine}\n"),
        ({"what": "e.yaml"}, "steps: [ls]\n"),
        ({"what": "e.yaml"}, "steps: [{workload: envelope, cache: warm}]\n"),
    ],
)
def test_not_where_it_is_said_what_is_done_or_nothing_reads_cold(here, asked, file):
    (here / "e.yaml").write_text(file)
    options = RunOptions(**asked)
    assert mount_before_cold_reads(options, ["glusterfs"]) is options


def test_a_file_with_a_lab_or_between_trials_has_it_too(here):
    (here / "e.yaml").write_text(PHASES + "cache: drop\nlab: {file_system: [nfs, ceph]}\n")
    assert words(RunOptions("e.yaml"), "nfs", "ceph") == ("e.yaml", *ADDED)
    assert words(RunOptions("e.yaml"), "nfs", "sshfs", "local", "xrootd") == ("e.yaml",)


def test_a_new_mount_of_clients_makes_no_server_forget():
    facts = {"machine": {"mount": {"type": "fuse.glusterfs", "source": "server1:/lab"}}}
    for hook, said in ((CLIENTS_ANEW, "warm"), ("ssh server1 drop", "cold-requested"), ("", "warm")):
        bench = SimpleNamespace(facts=facts, cache=CacheRegime(before_reads=hook))
        assert trial._describe_server_cache(bench) == said


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU")
def test_a_hook_runs_where_the_rank_was_before_it_was_bound(monkeypatch):
    """The daemon of a mount that it makes stays, and must not share the one core of a rank that spins."""
    mine = os.sched_getaffinity(0)
    monkeypatch.setattr(binding, "_before", set(mine))
    os.sched_setaffinity(0, {min(mine)})
    try:
        assert int(hooks.run("nproc", {})) == len(mine)
    finally:
        os.sched_setaffinity(0, mine)
