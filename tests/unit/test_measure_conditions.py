"""How the file system was around a trial: what becomes a factor, what is kept, and that nothing waits for it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from iosonde.core.errors import SystemFaultError
from iosonde.foreign.child import NoAnswerError
from iosonde.measure import servers_seen
from iosonde.measure.spec import CommandStep, Control
from iosonde.measure.target.keeper import Keeper

sys.path.insert(0, str(Path(__file__).parents[1]))
from steps_bench import run


def look(health, at="t0", **options):
    return {"at": at, "health": health, "options": {name.replace("_", "-"): one for name, one in options.items()}}


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        (look([]), look([]), "ok"),
        (look(["n2 down"]), look(["n2 down"]), "n2 down"),
        (look([]), look(["n2 down"]), "ok, then n2 down"),
        (look(["n2 down"]), look([]), "n2 down, then ok"),
        (look(["n1 down", "n2 down"]), look(["n2 down"]), "n1 down; n2 down, then n2 down"),
        (None, look([]), "ok"),
        (look(["n2 down"]), None, "n2 down"),
        (look(None), look([]), "ok"),
        (look(None), look(None), None),
        (None, None, None),
    ],
)
def test_the_health_of_a_trial_is_that_before_and_after_it(before, after, level):
    assert servers_seen.compute_condition_level(before, after) == level


@pytest.mark.parametrize(
    ("first", "last", "sets", "level"),
    [
        ({"a": "on"}, {"a": "on"}, False, {"a": "on"}),
        ({"a": "on"}, {"a": "off"}, False, {"a": "on, then off"}),
        ({"a": "on"}, {"a": "off"}, True, {"a": "off"}),
        ({"a": "on"}, {"b": "1"}, False, {"a": "on, then unset", "b": "unset, then 1"}),
        ({"a": "on"}, {}, True, {"a": "on"}),
        ({}, {"a": "on"}, False, {"a": "on"}),
    ],
)
def test_the_options_of_a_trial_are_those_in_effect_while_it_measured(first, last, sets, level):
    assert servers_seen.build_condition_facts(look([], **first), look([], **last), sets)["options"] == level


def test_what_was_seen_before_and_after_is_a_fact_of_the_run_and_its_health_a_factor(tmp_path):
    seen = [look([], "t0", a="on"), look(["n2 down"], "t1", a="on")]
    limits = []

    def asked(limit_s):
        limits.append(limit_s)
        return seen[len(limits) - 1]

    done = run(tmp_path, [CommandStep("true")], look=asked)
    assert done.factors["health"].split(", then ") == ["ok", seen[1]["health"][0]]
    assert done.facts["conditions"] == {
        "before": {"at": "t0", "health": []},
        "after": {"at": "t1", "health": ["n2 down"]},
        "options": {"a": "on"},
    }
    assert limits == [servers_seen.LOOK_S] * 2


def test_an_option_that_the_trial_itself_sets_has_the_level_that_it_set(tmp_path):
    seen = [look([], a="on"), look([], a="off")]
    control = Control("a", "true ${LEVEL}")
    done = run(tmp_path, [CommandStep("true")], look=lambda _: seen.pop(0), controls=(control,), factors={"a": "off"})
    assert done.facts["conditions"]["options"] == {"a": "off"}


def test_after_ranks_that_hung_nobody_waits_long_for_the_file_system(tmp_path):
    limits = []
    done = run(tmp_path, [CommandStep("sleep 60")], look=limits.append, deadline_s=0.5)
    assert not done.complete and "health" not in done.factors
    assert limits == [servers_seen.LOOK_S, servers_seen.SOON_S]


def test_a_file_system_that_nobody_asks_leaves_no_trace(tmp_path):
    done = run(tmp_path, [CommandStep("true")])
    assert "conditions" not in done.facts and "health" not in done.factors


@pytest.mark.parametrize("error", [NoAnswerError("hangs", "hangs"), SystemFaultError("ended", "ended")])
def test_a_file_system_that_does_not_answer_in_time_is_not_known(error, tmp_path, monkeypatch):
    with Keeper() as keeper:

        def call(operation, *_, **__):
            assert (operation, keeper._child.limit_s) == ("condition", 2.0)
            raise error

        monkeypatch.setattr(keeper._child, "call", call)
        assert keeper.condition(tmp_path, 2.0) is None


def test_a_helper_asks_for_the_process_that_must_not_touch_the_target(tmp_path):
    started = time.monotonic()
    with Keeper() as keeper:
        assert keeper.condition(tmp_path, 60.0) is None  # the file system of this directory says nothing
        assert keeper.facts(tmp_path)["condition"] is None
    assert time.monotonic() - started < 60
