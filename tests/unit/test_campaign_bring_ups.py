"""What is hard to change is set once for a whole plot, and each trial is told its bring-up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iosonde.campaign.bring_ups import BringUps, list_strata, set_once
from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.plan import plan_campaign
from iosonde.campaign.request import Request

FILE = """
target: {target}
seed: 1
repetitions: 2
nodes: {nodes}
design: {{kind: full, hard_to_change: [fs, mode]}}
factors:
  fs: {{levels: [a, b], set: 'mount ${{LEVEL}}', read: 'mounted', on: {on}}}
  mode: {{levels: [m, n], set: '{mode}'}}
  size: [1, 2]
steps: ['dd bs=${{size}} of=${{TARGET}}/f']
"""


@pytest.fixture
def wanted(tmp_path):
    def made(on="single", mode="set ${LEVEL}", nodes="1"):
        file = tmp_path / "e.yaml"
        file.write_text(FILE.format(target=tmp_path, on=on, mode=mode, nodes=nodes))
        return build_campaign(Request(what=str(file)))

    return made


def told(spec, trials, earlier=(), failing=()):
    """(number of the bring-up, of the inner one, the factors whose command is run) of each trial."""
    ups, found = BringUps(spec, earlier), []
    for trial in trials:
        ups.begin(trial)
        found.append((*ups.columns.values(), [one.factor for one in ups.controls if one.set]))
        ups.ended(trial.index not in failing)
    return found


def test_commands_run_once_a_whole_plot_and_inside_of_what_was_set_anew(wanted):
    made = wanted()
    trials = made.experiment(seed=1).trials
    found = told(made.spec, trials)
    plots = list(dict.fromkeys((t.repetition, t.factors["fs"]) for t in trials))
    inner = list(dict.fromkeys((t.repetition, t.factors["fs"], t.factors["mode"]) for t in trials))
    assert [one[0] for one in found] == [plots.index((t.repetition, t.factors["fs"])) for t in trials]
    assert [one[1] for one in found] == [
        inner.index((t.repetition, t.factors["fs"], t.factors["mode"])) for t in trials
    ]
    assert sum("fs" in one[2] for one in found) == 4 and sum("mode" in one[2] for one in found) == 8
    ups = BringUps(made.spec)
    ups.begin(trials[0])
    ups.begin(trials[1])
    assert all(one.read == "mounted" for one in ups.controls if one.factor == "fs")  # read back in every trial


def test_a_trial_that_failed_and_another_process_bring_up_anew(wanted):
    made = wanted()
    trials = made.experiment(seed=1).trials
    assert [one[:2] for one in told(made.spec, trials[:2])] == [(0, 0), (0, 0)]
    assert [one[:2] for one in told(made.spec, trials[:2], failing={0})] == [(0, 0), (1, 1)]
    earlier = [{"bring_up": 4, "bring_up_2": 9}, {"nodes": 1}]
    assert told(made.spec, trials[:1], earlier)[0][:2] == (5, 10)


def test_a_command_that_only_a_trial_can_run_makes_each_a_bring_up(wanted):
    made = wanted(mode="tune ${LEVEL} ${TARGET}")
    assert [one.every_trial for one in list_strata(made.spec)] == [False, True]
    found = told(made.spec, made.experiment(seed=1).trials[:4])
    assert [one[:2] for one in found] == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert set_once(made.spec) == {"fs"} and set_once(wanted().spec) == {"fs", "mode"}


def test_the_plan_says_which_commands_run_once_a_whole_plot(wanted, tmp_path):
    wanted()
    found = plan_campaign(Request(what=str(tmp_path / "e.yaml")))
    assert [one["set_once"] for one in found.to_dict()["controls"]] == [True, True]


def test_nodes_that_were_not_there_are_set_too(wanted):
    made = wanted(on="each", nodes="[1, 2]")
    trials = made.experiment(seed=1).trials
    plot = [t for t in trials if t.block == trials[0].block and t.factors["fs"] == trials[0].factors["fs"]]
    grown = sorted(plot, key=lambda trial: trial.nodes)
    assert [told(made.spec, [grown[0], grown[-1]])[1][0], told(made.spec, grown[::-1][:2])[1][0]] == [1, 0]


def test_the_factors_of_a_lab_are_one_bring_up_which_a_failure_does_not_end(wanted):
    spec = wanted().spec
    trials = wanted().experiment(seed=1).trials
    spec = replace(spec, lab={"net": ["a", "b"]}, controls=(), design={"kind": "full", "hard_to_change": ["net", "fs"]})
    assert [one.names for one in list_strata(spec)] == [("net",), ("fs",)]
    inside = [replace(one, factors={**one.factors, "net": "a"}, block=0) for one in trials[:3]]
    assert [one[0] for one in told(spec, inside, failing={0})] == [0, 0, 0]


def test_nothing_is_numbered_where_nothing_is_hard_to_change(wanted):
    spec = replace(wanted().spec, design={"kind": "full"})
    assert told(spec, wanted().experiment(seed=1).trials[:1]) == [(["fs", "mode"],)]
