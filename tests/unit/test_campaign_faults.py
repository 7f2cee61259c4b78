"""``faults`` and ``settle`` in an experiment file: what is wrong with them, where they are refused, what is planned."""

from __future__ import annotations

import json
import os

import pytest

from iosonde.campaign import document, in_lab, plan
from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.request import Request
from iosonde.core import faults
from iosonde.core.faults import PlannedFault
from iosonde.core.problems import SpecError
from iosonde.measure import faults as measured_faults
from iosonde.ranks.machine import emulated
from messages import assert_problem, raises

LAB = "lab: {file_system: glusterfs, servers: 2, set: {replica: 2}}\n"
FILE = """
factors: {fault: [none, kill-server, stop]}
faults:
  - {fault: "${fault}", on: server2, at: 2s, for: 500ms, during: write}
settle: 1min
repetitions: 2
steps:
  - workload: phases
    phases: [{name: write, files: "f${RANK}", steps: [create, {kind: write, transfer_size: 4KiB, size: 1MiB}, close]}]
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    monkeypatch.setattr(emulated, "FILE", tmp_path / "none")

    def ask(text=LAB + FILE, **more):
        (tmp_path / "e.yaml").write_text(text)
        return Request(**{"what": str(tmp_path / "e.yaml"), "target": (str(tmp_path),), "in_lab": True, **more})

    return ask


def test_a_fault_may_be_a_factor_and_every_cell_has_its_own(asked):
    wanted = build_campaign(asked())
    experiment = wanted.experiment()
    assert wanted.spec.settle_s == 60
    setting = in_lab.choose_next_setting(experiment, set(), wanted, [])
    planned = in_lab.list_planned_faults(experiment, setting, wanted)
    assert set(planned) == {PlannedFault(kind, "server2", 2.0, 0.5, "", "write") for kind in ("kill-server", "stop")}
    assert len(planned) == 2
    assert wanted.identity()["faults"][0]["fault"] == "${fault}" and wanted.identity()["settle"] == 60
    assert build_campaign(asked((LAB + FILE).replace("at: 2s", "at: 3s"))).identity() != wanted.identity()


def test_what_was_stored_is_the_same_experiment_when_it_is_read_again(asked, tmp_path):
    wanted = build_campaign(asked())
    (tmp_path / "again.json").write_text(json.dumps(wanted.identity()))
    again = build_campaign(Request(what=str(tmp_path / "again.json"), in_lab=True))
    assert again.identity() == wanted.identity()


@pytest.mark.parametrize(
    ("old", "new", "key", "code", "word"),
    [
        (LAB, "", "faults", "lab-required", ""),
        ("stop]", "stopp]", "faults[0]", "", "'stopp'"),
        ("during: write", "during: wrote", "faults[0].during", "unknown-operation", "'wrote'"),
        (
            ", close]}]",
            ", close], timed: false}, {name: again, files: g, steps: [create, close]}]",
            "faults[0].during",
            "",
            "'write'",
        ),
        ("at: 2s", "at: soon", "faults[0]", "invalid-duration", "'soon'"),
        ("on: server2, ", "", "faults[0]", "missing-key", "'on'"),
        ("for: 500ms", "four: 1s", "faults[0].four", "unknown-key", ""),
        ('"${fault}"', "stop", "factors.fault", "unused-factor", "${fault}"),
    ],
)
def test_mistakes_are_said(asked, old, new, key, code, word):
    with pytest.raises(SpecError) as raised:
        build_campaign(asked((LAB + FILE).replace(old, new)))
    problem = raised.value.problems[0]
    assert_problem(problem, code or problem.code, key=key)
    assert word in problem.what


def test_on_a_real_system_faults_are_refused(asked):
    with raises("lab-required", keys="faults and settle") as raised:
        document.build_document(asked(in_lab=False))
    assert_problem(raised.value, "lab-required", keys="faults and settle")


def test_on_a_real_system_a_factor_of_faults_can_be_held_at_none(asked):
    """What else the experiment asks is measured there, and nobody is hit."""
    unsettled = (LAB + FILE).replace("settle: 1min\n", "")
    with raises("lab-required", keys="faults") as raised:
        document.build_document(asked(unsettled, in_lab=False))
    assert_problem(raised.value, "lab-required", keys="faults", options="--set fault=none")
    spared = document.build_document(asked(unsettled, in_lab=False, set=("fault=none",)))
    assert "faults" not in spared.data and spared.data["factors"]["fault"] == ["none"]
    with raises("lab-required", keys="faults"):
        document.build_document(asked(unsettled, in_lab=False, set=("fault=none,stop",)))
    for other in ("${nobody}", "kill-${fault}"):  # what cannot be known is no none
        with raises("lab-required", keys="faults"):
            document.build_document(asked(unsettled.replace("${fault}", other), in_lab=False, set=("fault=none",)))


def test_on_a_host_of_a_lab_whose_machine_does_not_attend_they_are_refused(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(emulated, "read_lab", lambda: {"directory": str(tmp_path)})
    wanted = build_campaign(asked())
    with raises("lab-required"):
        in_lab.build_orders(wanted.spec)
    (tmp_path / faults.DIRECTORY).mkdir()
    held = faults.register_injector(tmp_path / faults.DIRECTORY)
    try:
        assert in_lab.build_orders(wanted.spec).settle_s == 60
    finally:
        os.close(held)
    assert in_lab.build_orders(build_campaign(asked("steps: ['true']\n")).spec) is None


def test_a_plan_of_a_lab_that_is_not_there_has_its_trials(asked):
    made = plan.plan_campaign(asked(target=("/nowhere/at/all",)))
    assert len(made.experiment.trials) == 6 and made.campaign.spec.faults


def test_a_factor_of_faults_may_mix_those_with_a_rate_and_those_without(asked):
    text = (LAB + FILE).replace("stop]", "slow-link]").replace("on: server2,", "on: server2, rate: 10mbit,")
    wanted = build_campaign(asked(text))
    experiment = wanted.experiment()
    planned = in_lab.list_planned_faults(experiment, in_lab.choose_next_setting(experiment, set(), wanted, []), wanted)
    assert {(one.kind, one.rate) for one in planned} == {("kill-server", ""), ("slow-link", "10mbit")}
    with pytest.raises(SpecError) as raised:
        build_campaign(asked((LAB + FILE).replace("stop]", "slow-link]")))
    (problem,) = raised.value.problems
    assert_problem(problem, "rate-mismatch", key="faults[0]", kind="slow-link")
    with raises("rate-mismatch", kind="stop"):  # of one kind alone it is a mistake
        measured_faults.plan_faults([{"fault": "stop", "on": "server2", "rate": "10mbit"}], {})
