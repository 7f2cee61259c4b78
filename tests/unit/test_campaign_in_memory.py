"""Commands that move less than the node's memory holds are said to, before they run; nothing else is."""

from __future__ import annotations

import pytest

from iosonde.campaign.caller import Caller
from iosonde.campaign.plan import plan_campaign
from iosonde.campaign.request import Request
from iosonde.ranks import machine
from messages import assert_problem

FILE = """
name: copies
target: {target}
nodes: [1, 2]
factors: {{size: [64MiB, 512MiB]}}
steps: [{step}]
repetitions: 1
{moves}
"""
COMMAND = "{command: 'cp /dev/zero ${TARGET}/${size}'}"


@pytest.fixture
def said(tmp_path, monkeypatch):
    def of(step: str, moves: str, memory_bytes: int) -> list[str]:
        monkeypatch.setattr(machine, "compute_usable_memory", lambda: memory_bytes)
        file = tmp_path / "copies.yaml"
        (tmp_path / "target").mkdir(exist_ok=True)
        file.write_text(FILE.format(target=tmp_path / "target", step=step, moves=moves))
        sentences: list[str] = []
        plan_campaign(Request(file=str(file), nodes=None), Caller(say=sentences.append))
        return [one for one in sentences if "memory" in one]

    return of


def test_the_largest_trial_that_fits_is_named_a_node(said):
    (one,) = said(COMMAND, "moves: 2*size", 16 << 30)
    assert_problem(one, "fits-in-memory", trials="all trials", size="1 GiB")


def test_what_fits_into_the_memory_of_all_servers_is_said_where_the_cluster_file_tells_it(said, tmp_path):
    (tmp_path / "c.yaml").write_text("nodes: {'s[1-2]': {role: server, memory: 512MiB}}")
    found = said(COMMAND, f"moves: 2*size\ncluster: {tmp_path}/c.yaml", 16 << 20)
    (one,) = found
    assert_problem(one, "fits-in-server-memory", trials="all trials", size="1 GiB", memory="1 GiB", file="c.yaml")


def test_trials_that_go_beyond_memory_are_not_counted(said):
    (one,) = said(COMMAND, "moves: 2*size", 600 << 20)  # 1 GiB on one node goes beyond, half of it on two does not
    assert_problem(one, "fits-in-memory", trials="3 trials of 4", size="512 MiB")
    assert said(COMMAND, "moves: 2*size", 16 << 20) == []


def test_nothing_is_said_of_what_nobody_knows_nor_of_native_workloads(said):
    assert said(COMMAND, "", 16 << 30) == []
    native = "{workload: envelope, large_file_size: '${size}'}"
    assert said(native, "moves: 2*size", 16 << 30) == []
