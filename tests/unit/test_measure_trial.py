"""What a run keeps of its trial: factors, facts, its source, and why it is incomplete."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from iosonde.core.errors import TargetFaultError
from iosonde.core.message import Message
from iosonde.core.types import Trial
from iosonde.measure import last_words, trial
from iosonde.measure.collect.assemble import Collected
from iosonde.measure.spec import CacheRegime, CommandStep, NativeStep
from iosonde.ranks.watchdog import DEADLINE, IDLE, Outcome
from messages import assert_problem, codes

LOCAL, NFS = {"type": "ext4", "source": "/dev/vda"}, {"type": "nfs4", "source": "s:/x"}
TRIAL = Trial(5, {"nodes": 2, "ranks_per_node": 3, "size": 4096}, 1, 4, 99)


def outcome(exit_code=0, reason="", **more):
    return Outcome(exit_code, 12.0, bool(reason), [], "no such file\n", None, reason, **more)


@pytest.mark.parametrize(
    ("ended", "left", "places", "wanted"),
    [
        (outcome(), [], {"nodes": [0]}, []),
        (outcome(), [], {}, ["no-reason"]),
        (outcome(3), [], {}, ["ranks-failed"]),
        (outcome(3), ["full"], {}, ["full"]),
        (outcome(0), [], {"nodes": [0], "faults": [last_words.message_to_json(Message("hook", "x"))]}, ["hook"]),
        (outcome(0, DEADLINE), [], {}, ["ended-by-watchdog"]),
        (outcome(137, IDLE, leftover_pids=(7, 8)), [], {}, ["ended-by-watchdog", "leftover-processes"]),
        (outcome(0, open_files=(("/dev/shm/x", 1, 2),)), [], {}, ["mapped-file-left"]),
    ],
)
def test_an_incomplete_trial_has_its_reasons(tmp_path, ended, left, places, wanted):
    for code in left:
        text = f'{{"message": "m", "hint": "", "code": "{code}", "values": {{}}}}'
        (tmp_path / "error-n1-1.json").write_text(text)
    found = trial._explain_failure(tmp_path, ended, places)
    assert codes(found) == wanted
    for message in found:
        if message.code == "leftover-processes":
            assert_problem(message, message.code, pids="7, 8")
        if message.code == "ended-by-watchdog":
            assert_problem(message, message.code, limit=ended.reason, seconds=12.0)


@pytest.mark.parametrize(
    ("ended", "idle_s", "limit_s"),
    [
        (outcome(1), 60.0, min(trial.RESCUE_S, 60.0)),
        (outcome(1), 1e9, trial.RESCUE_S),
        (outcome(1, DEADLINE), 1e9, trial.RESCUE_S),
        (outcome(1, IDLE), 1e9, trial.SOON_S),
        (outcome(1, IDLE, leftover_pids=(1,)), 1e9, trial.VERY_SOON_S),
        (outcome(1, leftover_pids=(1,)), 1e9, trial.VERY_SOON_S),
    ],
)
def test_a_rescue_after_ranks_that_hung_is_short(ended, idle_s, limit_s):
    assert trial.compute_rescue_limit_s(ended, idle_s) == limit_s
    assert trial.VERY_SOON_S < trial.SOON_S < trial.RESCUE_S


class Workspace:
    def __init__(self, moved=False):
        self.moved, self.calls = moved, []

    def suspect(self):
        self.calls.append("suspect")

    def verify(self, name):
        self.calls.append(name)
        if self.moved:
            raise TargetFaultError("moved", "it moved")


@pytest.mark.parametrize(
    ("ended", "well", "moved", "calls", "wanted"),
    [
        (outcome(), True, False, ["trial-0005"], []),
        (outcome(), True, True, ["trial-0005"], ["moved"]),
        (outcome(), False, True, [], []),
        (outcome(0, DEADLINE), False, False, ["suspect"], []),
        (outcome(leftover_pids=(1,)), True, False, ["suspect", "trial-0005"], []),
    ],
)
def test_a_directory_is_looked_at_after_a_trial_that_went_well(ended, well, moved, calls, wanted):
    workspace = Workspace(moved)
    assert codes(trial._check_moved(SimpleNamespace(workspace=workspace), TRIAL, ended, well)) == wanted
    assert workspace.calls == calls
    assert trial._check_moved(SimpleNamespace(workspace=None), TRIAL, ended, well) == []


@pytest.mark.parametrize(
    ("mount", "regime", "state"),
    [
        (LOCAL, {"between_trials": "remount"}, "no-server"),
        (None, {}, "no-server"),
        (NFS, {}, "warm"),
        (NFS, {"between_trials": "drop"}, "warm"),
        (NFS, {"between_trials": "remount"}, "cold-requested"),
        (NFS, {"before_reads": "drop-servers"}, "cold-requested"),
        (NFS, {"before_reads": trial.CLIENTS_ANEW}, "warm"),
    ],
)
def test_the_cache_of_the_servers_is_cold_where_something_empties_it(mount, regime, state):
    bench = SimpleNamespace(cache=CacheRegime(**regime), facts={"machine": {"mount": mount}})
    assert trial._describe_server_cache(bench) == (trial.cache.NO_SERVER if state == "no-server" else state)


@pytest.mark.parametrize(
    ("steps", "source"),
    [
        ([CommandStep("x")], "iosonde commands"),
        ([NativeStep("envelope", {}), CommandStep("x"), NativeStep("envelope", {})], "iosonde envelope"),
        ([NativeStep("phases", {}), NativeStep("envelope", {})], "iosonde phases+envelope"),
    ],
)
def test_the_source_is_the_workloads_else_commands(steps, source):
    assert trial._name_source(SimpleNamespace(steps=steps)) == source


@pytest.mark.parametrize(
    ("looked", "between", "state"),
    [("", "none", "warm"), ("", "drop", "cold-requested"), ("cold-verified", "none", "cold-verified")],
)
def test_factors_are_those_that_were_set_then_those_that_were_seen(looked, between, state):
    bench = SimpleNamespace(
        cache=CacheRegime(between_trials=between), facts={"machine": {"mount": NFS}}, allocation="n[1-2]"
    )
    tool = Collected(client_cache=looked, factors={"size": 1, "api": "POSIX"})
    results = SimpleNamespace(collected=tool, reader="other_node")
    around = SimpleNamespace(factors={"level_read": "m"})
    found = trial._build_factors(bench, TRIAL, results, around)
    assert list(found.items()) == [
        ("nodes", 2),
        ("ranks_per_node", 3),
        ("size", 4096),  # of the experiment, not as the tool says it
        ("ranks", 6),
        ("repetition", 1),
        ("block", 4),
        *zip(trial.OBSERVED_FACTORS, ("other_node", state, "warm", "n[1-2]"), strict=True),
        ("level_read", "m"),
        ("api", "POSIX"),
    ]


def test_facts_are_of_the_bench_the_places_and_what_was_skipped():
    places = {"hosts": ["a"], "nodes": [0], "error_ns": 7, "loads": [1], "bound": True, "remounts": ["x"]}
    around = SimpleNamespace(lab=SimpleNamespace(facts={"settled": 1}), facts={"seen": 2})
    found = trial._build_facts(
        SimpleNamespace(facts={"target": "/t"}),
        TRIAL,
        SimpleNamespace(places=places, skipped={"write": "why"}),
        around,
    )
    assert found == {
        "target": "/t",
        "settled": 1,
        "order": 5,
        "hosts": ["a"],
        "nodes": [0],
        "clocks": {"offset_ns": None, "error_ns": 7, "drift_ns": None, "at_ns": None},
        "loads": [1],
        "mounts": [],
        "bound": True,
        "remounts": ["x"],
        "seen": 2,
        "skipped": {"write": "why"},
    }
    empty = trial._build_facts(SimpleNamespace(facts={}), TRIAL, SimpleNamespace(places={}, skipped={}), around)
    assert (empty["hosts"], empty["bound"]) == ([], None) and not {"remounts", "skipped"} & set(empty)
