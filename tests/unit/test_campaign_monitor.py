"""A monitor: each look is stored, also a failed one; it keeps its budget, goes on after a restart, and gives way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import nullcontext

import pytest

from iosonde.campaign.caller import Caller
from iosonde.campaign.monitor import looks, pace
from iosonde.campaign.monitor.request import MonitorRequest
from iosonde.campaign.monitor.run import monitor, remove_files
from iosonde.campaign.monitor.state import FILE
from iosonde.core.errors import DataError, InputError
from iosonde.core.types import Experiment
from iosonde.measure.monitor.window import DIRECTORY
from iosonde.store import Store


@pytest.fixture(autouse=True)
def _idle_node(monkeypatch):
    monkeypatch.setattr(looks, "measure_load", lambda: 0.1)


@pytest.fixture
def target(tmp_path):
    (tmp_path / "target").mkdir()
    return tmp_path / "target"


def request(target, **options):
    usual = {"every": 0.05, "budget": 0.5, "looks": 1, "space": 16 << 20, "idle_timeout": 5.0}
    return MonitorRequest(str(target), store=str(target.parent / "looks"), **usual | options)


def runs_of(target):
    return Store.open(target.parent / "looks").runs()


def test_every_look_is_a_run_with_its_numbers(target):
    answer = monitor(request(target, looks=3))
    runs = runs_of(target)
    assert len(runs) == 3 and not answer.problem and answer.to_dict()["looks"] == 3
    assert len({run["experiment"] for run in runs}) == 1 and [run["factors"]["repetition"] for run in runs] == [0, 1, 2]
    run = Store.open(target.parent / "looks").run(runs[1]["id"])
    rows = {(row.operation, row.metric): row for row in run.observations}
    assert {operation for operation, _ in rows} == {"stat", "open", "read", "write"}
    assert rows["write", "latency_median"].includes == "fsync" and rows["read", "latency_median"].count == 4
    assert run.facts["machine"]["mount"]["type"] and run.factors["client_cache"]
    assert {row["operation"]: row["n"] for row in answer.records()} == dict.fromkeys(
        ("stat", "open", "read", "write"), 3
    )


def test_it_is_never_under_way_for_longer_than_its_budget(target):
    budget = 0.2
    answer = monitor(request(target, looks=5, budget=budget, every=0.01))
    busy = [run.facts["look"]["busy_s"] for run in answer.runs]
    assert 0 < answer.share <= budget and all(busy)
    assert answer.due_in_s <= max(busy[-1] / budget, 0.04)


def test_a_second_call_goes_on_where_the_first_ended(target):
    first = monitor(request(target, looks=2))
    second = monitor(request(target, looks=1))
    assert [run.id[-6:] for run in (*first.runs, *second.runs)] == ["000000", "000001", "000002"]
    assert second.bytes < first.bytes  # its files are there


def test_a_state_that_is_lost_is_made_from_the_looks_and_a_damaged_one_is_refused(target):
    monitor(request(target, looks=2))
    state = target.parent / "looks" / FILE
    state.write_text('{"experiment": ')
    with pytest.raises(DataError) as damaged:
        monitor(request(target))
    state.unlink()
    assert damaged.value.code == "damaged-monitor-state"
    assert monitor(request(target)).runs[0].id.endswith("000002")


def test_a_look_by_a_timer_waits_for_the_budget_and_skips_under_load(target):
    once = {"looks": None, "once": True, "budget": 0.001, "every": 3600.0}
    assert len(monitor(request(target, **once)).runs) == 1
    assert monitor(request(target, **once)).runs == () and len(runs_of(target)) == 1
    assert len(monitor(request(target, **once | {"budget": 0.5})).runs) == 1 and len(runs_of(target)) == 2


@pytest.mark.parametrize(
    ("strain", "load", "seconds", "after"),
    [(0, 0.1, 1.0, 0), (0, 0.1, 1.9, 0), (0, 0.1, 2.1, 1), (1, 9.0, 1.0, 2), (2, 9.0, 9.0, 2), (2, 0.1, 1.0, 1)]
    + [(1, 0.1, None, 0)],
)
def test_load_and_its_own_slowness_double_the_interval_up_to_fourfold(strain, load, seconds, after):
    assert pace.adjust_strain(strain, load, seconds, [1.0] * 5) == after


def test_slowness_is_unknown_before_enough_looks():
    assert pace.adjust_strain(0, 0.1, 100.0, [1.0] * 4) == 0


@pytest.mark.parametrize(
    ("busy", "strain", "gap", "timer_gap"),
    [(1.0, 0, 600.0, 200.0), (6.0, 0, 1200.0, 1200.0), (1.0, 1, 1200.0, 900.0), (1.0, 2, 2400.0, 2100.0)],
)
def test_the_gap_is_the_interval_or_what_the_budget_takes(busy, strain, gap, timer_gap):
    assert pace.compute_gap_s(600.0, 0.005, busy, strain) == gap
    assert pace.compute_timer_gap_s(600.0, 0.005, busy, strain) == timer_gap


def test_a_mount_that_is_gone_is_a_failed_look_and_nothing_is_written_below(target):
    monitor(request(target))
    state = target.parent / "looks" / FILE
    document = json.loads(state.read_text()) | {"mount": ["/mnt/gone", "nfs4"]}
    state.write_text(json.dumps(document))
    before = sorted(os.listdir(target / DIRECTORY))
    answer = monitor(request(target, looks=2))
    assert answer.problem and len(answer.failed) == 2 and sorted(os.listdir(target / DIRECTORY)) == before
    assert [bool(run["missing"]) for run in runs_of(target)] == [False, True, True]
    assert answer.failed[0].missing[0].code == "not-mounted"


def test_a_path_that_vanished_is_a_failed_look_and_a_new_one_is_refused(target, tmp_path):
    monitor(request(target))
    shutil.rmtree(target)
    assert monitor(request(target)).problem
    with pytest.raises(InputError):
        monitor(MonitorRequest(str(tmp_path / "nowhere"), store=str(tmp_path / "other"), looks=1))
    assert not (tmp_path / "other").exists()


def test_a_store_is_of_one_monitor(target, tmp_path):
    monitor(request(target))
    (tmp_path / "other").mkdir()
    codes = []
    for path, store in ((tmp_path / "other", "looks"), (target, "campaign"), (target, "target/inside")):
        if store == "campaign":
            Store.create(tmp_path / store).save_experiment(Experiment("e", "e", [], {}, [], 1, "2026-01-01T00:00:00Z"))
        with pytest.raises(InputError) as refused:
            monitor(MonitorRequest(str(path), store=str(tmp_path / store), looks=1))
        codes.append(refused.value.code)
    assert codes == ["monitor-of-another-path", "store-of-others", "store-on-target"]


@pytest.mark.parametrize(
    "options", [{"budget": 0.0}, {"budget": 0.6}, {"every": 0.0}, {"space": 1 << 20}, {"idle_timeout": 0.0}]
)
def test_impossible_options_are_refused_before_anything_is_made(target, options):
    with pytest.raises(InputError):
        monitor(request(target, **options))
    assert os.listdir(target) == [] and not (target.parent / "looks").exists()


def test_its_files_are_removed_on_request_and_come_again(target):
    monitor(request(target))
    remove_files(request(target))
    assert os.listdir(target) == []
    assert not monitor(request(target)).problem and os.listdir(target) == [DIRECTORY]


class Ending:
    """Ends the monitor after so many checks."""

    def __init__(self, checks):
        self.checks = checks

    def check(self):
        self.checks -= 1
        if self.checks < 0:
            raise KeyboardInterrupt


def test_an_end_that_is_asked_for_keeps_every_look(target):
    answer = monitor(request(target, looks=None), Caller(stopping=lambda: nullcontext(Ending(4))))
    assert 1 <= len(answer.runs) == len(runs_of(target)) <= 4 and not answer.problem


def test_a_signal_ends_it_after_the_look_under_way_and_a_second_monitor_is_refused(target):
    command = [sys.executable, "-m", "iosonde.cli.main", "monitor", str(target), "--every", "30s", "--budget", "50%"]
    command += ["--store", str(target.parent / "looks"), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        deadline = time.monotonic() + 30
        while not list((target.parent / "looks" / "runs").glob("*-000000")) and time.monotonic() < deadline:
            time.sleep(0.1)
        with pytest.raises(InputError) as refused:
            monitor(request(target))
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    assert refused.value.code == "experiment-locked"
    assert process.returncode == 0 and json.loads(printed)["looks"] == 1 == len(runs_of(target))


def test_a_full_disk_is_a_failed_look_with_what_was_measured(faulty):
    monitor(request(faulty.path, looks=2))
    faulty.set({"on": "write", "do": "error", "errno": "ENOSPC"})
    answer = monitor(request(faulty.path))
    rows = {row.operation for row in answer.runs[0].observations}
    assert answer.problem and {"stat", "open", "read"} <= rows and "write" not in rows
    faulty.clear()
    assert not monitor(request(faulty.path)).problem


def test_a_mount_that_hangs_is_a_failed_look_after_its_limit_and_leaves_one_process(faulty):
    monitor(request(faulty.path))
    faulty.set({"on": ["getattr", "lookup"], "do": "hang"})
    began = time.monotonic()
    answer = monitor(request(faulty.path, looks=3, idle_timeout=1.0))
    assert len(answer.failed) == 3 and time.monotonic() - began < 15
    state = json.loads((faulty.path.parent / "looks" / FILE).read_text())
    assert len(state["hung"]) <= 1
    if state["hung"]:  # the kernel did not end the helper: later looks did not start another one
        assert answer.failed[1].missing[0].code == "still-hanging"
    faulty.clear()
    assert not monitor(request(faulty.path)).problem


def test_a_slow_file_system_is_measured_as_slow(faulty):
    """40 ms more for each read are in its median, and not in that of stat."""
    before = monitor(request(faulty.path, looks=2)).estimates
    faulty.set({"on": "read", "do": "delay", "seconds": 0.04})
    after = monitor(request(faulty.path, looks=2)).estimates
    assert after["read"].value - before["read"].value > 0.035
    assert after["stat"].value < 0.03
