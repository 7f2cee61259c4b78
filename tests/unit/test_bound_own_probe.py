"""``bound STORE`` takes the probe that the store holds: of the same nodes, its disks only if they are the target's."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.core.hardware import SOURCE
from iosonde.core.types import Observation, Run
from iosonde.store import Store
from terminal import command_of

bound = command_of("bound")

DISK, CPU = 200e6, 1e-9
NODE = {
    "host": "a",
    "rank": 0,
    "cores": 1,
    "disk": {"write": DISK, "read": 2 * DISK, "way": "x"},
    "copy_one": 1e9,
    "copy_all": 2e9,
    "cpu": {"write": CPU, "read": CPU},
}


def run(number: int, host: str = "a", target: str = "/data/x", **facts) -> Run:
    rate = Observation("write_large", "bandwidth_last_done", 150e6 + 1e6 * number, "bytes/s")
    facts = {"hosts": [host], "nodes": [0], "target": target, **facts}
    return Run(
        f"w-{number}",
        "w",
        "iosonde envelope",
        f"2026-11-21T10:0{number}:00Z",
        1.0,
        {"nodes": 1, "repetition": number},
        [rate],
        facts,
    )


def probe(number: int) -> Run:
    facts = {
        "hosts": ["a"],
        "nodes": [0],
        "target": "/data",
        "machine": {"mount": {"type": "xfs", "source": "/dev/d"}},
        "probe": {"pairs": [], "tcp": [], "nodes": [NODE]},
    }
    return Run(
        f"p-{number}", "p", SOURCE, f"2026-11-21T11:0{number}:00Z", 1.0, {"nodes": 1, "repetition": number}, [], facts
    )


def store(path, *runs: Run):
    made = Store.create(path)
    for one in runs:
        made.append(one)
    return path


def asked(path, *words: str):
    return CliRunner().invoke(bound, [str(path), *words])


def shares(path, *words: str) -> list[dict]:
    out = asked(path, *words, "--json")
    assert out.exit_code == 0, out.output
    return json.loads(out.stdout)["rows"]


def test_the_probe_of_the_same_nodes_is_taken_and_named(tmp_path):
    path = store(tmp_path / "s", *map(run, range(3)), *map(probe, range(3)))
    [row] = shares(path)
    assert row["s"] == pytest.approx(DISK) and row["share"] == pytest.approx(151e6 / DISK)
    said = asked(path).output
    assert "probe" in said and "disk-write" in said
    assert iosonde.bound(path).to_dict()["rows"][0]["s"] == pytest.approx(DISK)


def test_a_cluster_or_another_probe_comes_first_and_what_is_said_by_hand_hides_it(tmp_path):
    path = store(tmp_path / "s", *map(run, range(3)), *map(probe, range(3)))
    [row] = shares(path, "--disk", "160MB/s", "--disks", "1")
    assert row["s"] == pytest.approx(160e6)
    (tmp_path / "c.yaml").write_text("today: {clients: 1, servers: 1, network: 1GB/s}")
    [row] = shares(path, "--cluster", str(tmp_path / "c.yaml"))
    assert row["s"] == pytest.approx(1e9)


def test_disks_of_another_directory_are_not_the_targets(tmp_path):
    path = store(tmp_path / "s", *(run(number, target="/mnt/nfs") for number in range(3)), *map(probe, range(3)))
    [row] = shares(path)
    assert row["s"] == pytest.approx(1 / CPU), "the node's CPU and memory are the same"


def test_a_probe_of_other_nodes_says_nothing(tmp_path):
    path = store(tmp_path / "s", *(run(number, host="z") for number in range(3)), *map(probe, range(3)))
    out = asked(path)
    assert out.exception.exit_code == 2 and out.exception.code == "no-limiting-term"
    assert "probe" in out.exception.hint, "what would make it known"


def test_what_a_run_kept_of_a_probe_is_known_without_that_probes_own_runs(tmp_path):
    estimate = {"value": 180e6, "low": None, "high": None, "level": 0.95, "n": 1, "warnings": []}
    kept = {
        "pairs": [],
        "nodes": [{"host": "a", "cores": 1, "disk_write": estimate, "disk_read": estimate}],
        "warnings": [],
        "target": "/data",
        "own_disk": True,
    }
    path = store(tmp_path / "s", *(run(number, probe=kept) for number in range(3)))
    [row] = shares(path)
    assert row["s"] == pytest.approx(180e6)


def test_repetitions_of_a_probe_are_no_trials_of_a_check(tmp_path):
    beside = {"measured_beside": [4711]}
    path = store(tmp_path / "s", *(run(number, **beside) for number in range(2)), run(2), *map(probe, range(3)))
    [finding] = [one for one in iosonde.check(path).to_dict()["findings"] if one["code"] == "S132"]
    assert finding["sentence"].startswith("2 of 3 runs"), "3 and not 6"
