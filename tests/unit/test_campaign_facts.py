"""A fact of the machine that cannot be read is None, and ends no campaign."""

from __future__ import annotations

from iosonde.campaign import campaign as campaigns
from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.request import Request
from iosonde.ranks import machine
from iosonde.ranks.machine import NO_TARGET


def test_nodes_have_a_name_where_nothing_is_known_of_the_host(tmp_path, monkeypatch):
    def refused():
        raise PermissionError("no /proc here")

    monkeypatch.setattr(machine.host, "read_host_facts", refused)
    facts = {**machine.collect_node_facts({}), **NO_TARGET}
    assert facts["host"] is None
    made = build_campaign(Request(what="true", store=str(tmp_path / "store")))
    assert made.allocation(facts) == campaigns.get_this_host().name


def test_the_nodes_of_a_batch_job_are_its_list(tmp_path):
    facts = {**machine.collect_node_facts({"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-4]"}), **NO_TARGET}
    assert build_campaign(Request(what="true", store=str(tmp_path / "store"))).allocation(facts) == "n[1-4]"
