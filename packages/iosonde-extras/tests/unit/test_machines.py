"""Scripted machines: what they do is known of every operation, and the same for the same seed."""

import numpy as np

from iosonde.core import truth
from iosonde.measure.workloads.settings import SettingError
from iosonde.store import Store
from iosonde_extras.path_study import machines
from iosonde_extras.path_study.names import pattern_name
from iosonde_extras.path_study.workload import MACHINES
from messages import raises

CELL = {
    "state": "uncached",
    "direction": "read",
    "memory": "off0",
    "place": "seq",
    "access_size": 4096,
    "operations": 1000,
    "bytes": 2**26,
}


def classes(machine, **cell):
    [run] = machines.runs(machine, [CELL | cell])
    told = truth.classify_operations(run.raw, run.operations)
    return told, run.operations["duration_ns"].astype(float)


def test_sequential_reads_are_read_ahead_and_random_ones_miss():
    told, ns = classes("read-ahead")
    assert np.count_nonzero(told == "fetch") == 1000 // 32 + 1
    assert set(told) == {"fetch", "read_ahead"}
    assert np.median(ns[told == "fetch"]) > 100 * np.median(ns[told == "read_ahead"])
    told, _ = classes("read-ahead", place="rnd")
    assert np.mean(told == "miss") > 0.95


def test_each_machine_shows_the_effect_that_it_is_for():
    slow = {
        "two-components": ("slow", {}),
        "read-ahead": ("miss", {"place": "reverse", "access_size": 1024}),
        "write-behind": ("throttled", {"direction": "write", "state": "first", "access_size": 65536}),
        "stripe": ("slow_server", {"access_size": 2**20}),
        "lock": ("contended", {"direction": "write", "state": "again"}),
        "small-cache": ("evicted", {"state": "cached", "access_size": 65536, "place": "rnd"}),
    }
    assert set(slow) == set(MACHINES)
    for machine, (name, cell) in slow.items():
        told, ns = classes(machine, **cell)
        mine = told == name
        assert 0 < np.mean(mine) < 1 and np.median(ns[mine]) > 3 * np.median(ns[~mine]), machine


def test_a_store_of_many_cells_keeps_the_truth(tmp_path):
    cells = [CELL | {"place": place, "access_size": size} for place in ("seq", "rnd") for size in (1, 4096, 2**20)]
    store = Store.create(tmp_path / "store")
    store.append_many(list(machines.runs({"kind": "read-ahead", "window": "1MiB", "outliers": 0.01}, cells)))
    run = store.run(store.run_ids()[4], operations=True)
    told = truth.classify_operations(run.raw, run.operations)
    assert run.complete and pattern_name(run.factors) == "U-off0-rnd R"
    assert told.size == run.operations.size == 1000 and set(told) == {"miss", "cached", "outlier"}


def test_the_same_seed_plays_the_same_and_another_one_another():
    first, again, other = (list(machines.runs("lock", [CELL], seed)) for seed in (1, 1, 2))
    same = [run[0].operations["duration_ns"].tolist() for run in (first, again, other)]
    assert same[0] == same[1] != same[2]


def test_a_machine_that_nobody_knows_is_refused():
    with raises("unknown-option-value", SettingError, name="machine", choice="toaster"):
        list(machines.runs("toaster", [CELL]))
