"""A placeholder that only the command names, in ``compare`` of a run with an import."""

from __future__ import annotations

import store_samples

import iosonde
from iosonde.core.types import Experiment, Factor, Observation
from iosonde.store import Store

KIB = 1 << 10


def test_a_run_of_elbencho_meets_an_import_of_it(tmp_path):
    steps = {"steps": [{"command": "elbencho -w -b ${b} f"}]}
    experiment = Experiment("e", "asked", [Factor("b", "", ("4k", "1m"))], steps, [], 1, "2026-01-01")
    old, new = Store.create(tmp_path / "old"), Store.create(tmp_path / "new")
    new.save_new_experiment(experiment)
    for number in range(6):
        level, size, value = (("4k", 4 * KIB, 1e6), ("1m", KIB**2, 2e6))[number % 2]
        result = {"observations": [Observation("write", "bandwidth_last_done", value + number, "bytes/s")]}
        new.append(store_samples.run(f"e-{number}", experiment="e", factors={"b": level}, **result))
        old.append(store_samples.run(f"i-{number}", factors={"block_size": size}, facts={"import": {}}, **result))
    compared = iosonde.compare(f"{tmp_path}/old", levels=[f"{tmp_path}/new"]).to_dict()["comparisons"]
    assert {cell["by"].get("block_size") for cell in compared} == {4 * KIB, KIB**2}
