"""What a diagnosis accuses: one cause, several that cannot be separated, or none; and no server where there is none."""

from __future__ import annotations

from dataclasses import replace

import diagnose_sample as sample
import numpy as np
import pytest

from iosonde.commands.diagnose import text as diagnose_text
from iosonde.commands.diagnose.answer import diagnose
from iosonde.commands.diagnose.path import is_local
from iosonde.core.verdict import VerdictState
from iosonde.data.source import open_data
from iosonde.explain import causes, readings
from iosonde.explain.causes.target import Agreement, Suspect, Target
from iosonde.explain.readings import Times

N, FILES = 1000, 20
SURE = Agreement(1.0, 1.0, 1.0, 0.0)
SLOW_FILE, SLOW_CLASS, OPERATIONS = "on file 7", "unexpectedly slow", "read of 64 KiB"


def read_by_all(seed: int, slow_file: int = 7, ranks: int = 4) -> np.ndarray:
    """Every rank reads the same files one after another; one of them is slow, whoever reads it."""
    rng = np.random.default_rng(seed)
    made = sample.rows(N, ranks, lambda r, i, o: i < 0, rng)
    made["file"] = np.tile(np.arange(N), ranks) // (N // FILES)
    slow = made["file"] == slow_file
    made["duration_ns"][slow] = 2e6 * np.exp(0.15 * rng.standard_normal(int(slow.sum())))
    for rank in range(ranks):
        own = made["rank"] == rank
        took = made["duration_ns"][own].astype(np.int64)
        made["start_ns"][own] = sample.BEGIN + np.concatenate([[0], np.cumsum(took[:-1] + 500)])
    return made


def stalled(ranks: int, period_ns: int, stall_ns: int, n: int = 6000) -> np.ndarray:
    """All ranks stand still at the same moments, one a period."""
    made = sample.rows(n, ranks, lambda r, i, o: i < 0, np.random.default_rng(1))
    for rank in range(ranks):
        at = 0
        for row in np.flatnonzero(made["rank"] == rank):
            took = int(made["duration_ns"][row])
            stall = (at + took) // period_ns * period_ns
            if stall > at:
                took = stall + stall_ns - at
            made["start_ns"][row], made["duration_ns"][row] = sample.BEGIN + at, took
            at += took + 500
    return made


def suspects(made: np.ndarray) -> list[Suspect]:
    classes = sample.classes_of(made)
    of = classes.classify(made["duration_ns"])
    return causes.find_suspects(
        Target(sample.operations(made, shared=True), of == classes.count - 1, classes.count - 1)
    )


@pytest.mark.parametrize("seed", range(4))
def test_one_slow_file_is_no_lock_though_all_who_read_it_wait_together(seed):
    found = suspects(read_by_all(seed))
    assert found[0].code == "S408" and found[0].evidence["files"] == [7]
    assert "S409" not in {one.code for one in found}
    times = Times("read", sample.SIZE, 20e-6, 2e-3)
    assert readings.interpret_suspects(found, times) is None
    assert readings.list_explanations(found, times) == (SLOW_FILE,)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_stalls_by_the_clock_are_said_to_come_by_the_clock(ranks):
    found = {one.code: one for one in suspects(stalled(ranks, 5_000_000, 2_000_000))}
    assert found["S402"].evidence["period_s"] == pytest.approx(5e-3, rel=0.01)
    assert ("S409" in found) is (ranks > 1)


def answer_of(tmp_path, made: np.ndarray, facts: dict | None = None):
    store = sample.store(tmp_path / "s", [made], shared=True, facts=facts or {})
    return diagnose(open_data(store.path), 0.95)


def test_a_slow_file_is_one_cause_and_its_verdict_says_so(tmp_path):
    answer = answer_of(tmp_path, read_by_all(1))
    [verdict] = answer.verdicts
    assert (verdict.question, verdict.state, verdict.claim) == ("cause", VerdictState.DIFFERENT, SLOW_FILE)
    assert verdict.subject == (SLOW_CLASS,) and verdict.response == OPERATIONS
    assert verdict.estimate == answer.groups[0].classes[1].shares.cost_s
    assert answer.to_dict()["verdicts"] == [verdict.to_json()]


def test_a_class_with_nothing_in_common_is_inconclusive(tmp_path):
    rng = np.random.default_rng(3)
    made = sample.rows(N, 1, lambda r, i, o: i < 0, rng)
    rows = np.sort(rng.choice(N, 8, replace=False))  # fewer than have anything in common
    made["duration_ns"][rows] = 5_000_000
    [verdict] = answer_of(tmp_path, made).verdicts
    assert (verdict.state, verdict.claim) == (VerdictState.INCONCLUSIVE, "")


def test_no_class_that_costs_time_no_verdict(tmp_path):
    answer = answer_of(tmp_path, sample.rows(N, 1, lambda r, i, o: i < 0, np.random.default_rng(3)))
    assert answer.verdicts == () and answer.to_dict()["verdicts"] == []


def period(kappa: float) -> Suspect:
    agreement = Agreement(kappa, kappa, kappa, 0.0)
    told = {"period_bytes": 1 << 20, "slow_operations": 1, "slow_bytes": sample.SIZE}
    return Suspect("S401", 1, "every 16 operations", "", agreement, "", told)


def test_what_two_mechanisms_explain_as_well_cannot_be_separated():
    times = Times("read", sample.SIZE, 20e-6, 700e-6)
    clock = Suspect("S402", 1, "every 5 ms by the clock", "", SURE, "", {"period_s": 5e-3})
    both = readings.list_explanations([clock, period(0.9)], times)
    assert both == (readings.LOCK, readings.READ_AHEAD)
    assert readings.list_explanations([clock, period(0.5)], times) == (readings.LOCK,)
    stall = Suspect("S409", 1, "all ranks wait together", "", SURE, "", {"moments": 9, "ranks": 4})
    assert readings.list_explanations([stall, clock], times) == (readings.LOCK,), "both read like the same"
    assert readings.list_explanations([], times) == ()


def test_a_local_file_system_has_no_server(tmp_path):
    files = Suspect("S408", 1, "on files 1, 5, 8", "", SURE, "", {"files": [1, 5, 8], "of": 12})
    place = Suspect("S406", 1, "", "", SURE, "", {"unit_bytes": 4 << 20, "width_bytes": 1 << 20, "crosses": False})
    stall = Suspect("S409", 1, "", "", SURE, "", {"moments": 9, "ranks": 4})
    for one, mechanism in ((files, readings.SLOW_DISK), (place, readings.SLOW_DISK), (stall, readings.LOCK)):
        read = readings.interpret_suspects([one], Times("read", sample.SIZE, 1e-3, 5e-3, local=True))
        assert read.mechanism == mechanism and "server" not in read.words
    assert (
        readings.interpret_suspects([files], Times("read", sample.SIZE, 1e-3, 5e-3)).mechanism == readings.SLOW_SERVER
    )


LOCAL = {"machine": {"mount": {"type": "ext4", "source": "/dev/sda1"}}}
SERVED = {"machine": {"mount": {"type": "nfs4", "source": "server:/export"}}}


def several_slow_files(seed: int) -> np.ndarray:
    made = sample.rows(N, 1, lambda r, i, o: i < 0, np.random.default_rng(seed))
    made["file"] = np.arange(N) % 40
    made["duration_ns"] = np.where(made["file"] % 9 == 4, 5e6, 1e6) * np.exp(
        0.05 * np.random.default_rng(seed).standard_normal(N)
    )
    made["start_ns"] = sample.BEGIN + np.concatenate([[0], np.cumsum(made["duration_ns"][:-1].astype(np.int64) + 500)])
    return made


@pytest.mark.parametrize(("facts", "mechanism"), [(LOCAL, readings.SLOW_DISK), (SERVED, readings.SLOW_SERVER)])
def test_the_store_knows_whether_there_is_a_server(tmp_path, facts, mechanism):
    answer = answer_of(tmp_path, several_slow_files(2), facts)
    assert answer.verdicts[0].claim == mechanism
    assert ("server" in "\n".join(diagnose_text.lines(answer))) is (mechanism == readings.SLOW_SERVER)
    [run] = open_data(tmp_path / "s").runs
    assert is_local(run) is (facts is LOCAL)


def test_what_moves_no_bytes_is_not_full_after_as_many():
    made = sample.rows(N, 1, lambda r, i, o: i > 700, np.random.default_rng(4))
    operations = sample.operations(made)
    slow = made["duration_ns"] > 1e5
    [cut] = [one for one in causes.find_suspects(Target(operations, slow, 1)) if one.code == "S404"]
    assert "bytes" in cut.confirm
    flushes = replace(operations, size=0)
    [cut] = [one for one in causes.find_suspects(Target(flushes, slow, 1)) if one.code == "S404"]
    assert "bytes" not in cut.confirm and "operations" in cut.confirm
