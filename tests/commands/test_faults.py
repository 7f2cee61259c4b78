"""What faults did, as ``summary`` says it, its JSON has it, the page shows it, and the time line marks it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.core.faults import FaultDone, PlannedFault
from iosonde.core.schema import OPERATION
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.engine import _native
from iosonde.store import Store

ZERO, S = 10**12, 10**9
LEVELS = ("none", "stop")
FAULT = "stop on server2"  # its name in JSON


def operations(hung_ms: int) -> np.ndarray:
    """Writes of 1 MB: 10 ms each for 2 s, one that hangs, 20 ms each for 2 s."""
    took = np.array([10] * 200 + [hung_ms] + [20] * 100, float) * 1e6
    made = np.zeros(len(took), OPERATION)
    made["kind"], made["size"], made["duration_ns"] = _native.KINDS.index("write"), 10**6, took
    made["start_ns"] = ZERO + np.cumsum(took) - took
    return made


def run(number: int, level: str, missing: tuple[str, ...] = ()) -> Run:
    rows = operations(3000 if level == "stop" else 10)
    moments = [ZERO + int(s * S) for s in (2.0, 2.0, 4.5, 5.0, 6.0 + number / 10)]
    done = FaultDone(PlannedFault("stop", "server2", 2.0, 2.5, "", "write"), "server2", 0, ZERO, *moments)
    faults = {"faults": [done.to_dict()]} if level == "stop" else {}
    ranks = [
        {
            "rank": 0,
            "host": "client1",
            "node": 0,
            "started_ns": ZERO,
            "ended_ns": ZERO + 7 * S,
            "clock_offset_ns": 0,
            "operations": len(rows),
        }
    ]
    phase = {
        "index": 0,
        "name": "write",
        "operation": "write",
        "measures": "bandwidth",
        "counted_kind": "write",
        "recorded_all": True,
        "comparable": True,
        "ranks": ranks,
    }
    return Run(
        id=f"e-{number:04}",
        experiment="e",
        source="iosonde phases",
        started_at=f"2026-11-21T10:{number:02}:00Z",
        seconds=9.0,
        factors={"nodes": 1, "fault": level, "repetition": number // 2},
        observations=[Observation("write", "bandwidth_last_done", 5e7 + number, "bytes/s")],
        facts={"target": "/mnt/x", "order": number, **faults},
        operations=rows,
        phases=[phase],
        missing=list(missing),
    )


def stored(path, runs) -> str:
    store = Store.create(path)
    trials = [Trial(n, {"nodes": 1, "fault": LEVELS[n % 2]}, n // 2, n // 2, n) for n in range(len(runs))]
    store.save_experiment(
        Experiment(
            "e",
            "faults",
            [Factor("nodes", levels=(1,)), Factor("fault", levels=LEVELS)],
            {"target": "/mnt/x"},
            trials,
            1,
            "2026-11-21T10:00:00Z",
        )
    )
    for one in runs:
        store.append(one)
    return str(path)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    runs = [run(n, LEVELS[n % 2]) for n in range(6)]
    return stored(tmp_path_factory.mktemp("faults") / "s", runs)


def said(*words: str) -> str:
    done = CliRunner().invoke(cli, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_summary_tells_the_parts_the_pause_and_the_healing(data):
    text = said("summary", data)
    assert f"{FAULT}: write, fault=stop" in text and max(map(len, text.splitlines())) < 80
    rates, times, n = r"95.4 MiB/s\b.* 326 KiB/s\b.* 47.7 MiB/s\b", r".* 3.00 s .* 10.0 ms .* 1.30 s ", r".* 3 trials\."
    assert re.search(rates + times + n, " ".join(text.split()))


def test_where_trials_share_a_bring_up_the_means_are_over_bring_ups(tmp_path):
    runs = [run(n, "stop") for n in range(6)]
    for n, one in enumerate(runs):
        one.factors["bring_up"] = n // 3
    data = stored(tmp_path / "s", runs)
    (one,) = json.loads(said("summary", data, "--json"))["faults"]
    assert (one["n"], one["bring_ups"]) == (6, 2)
    during = next(part for part in one["parts"] if part["part"] == "healing")
    assert during["n"] == 2
    assert re.search(r" 2 bring-ups of 6 trials\.$", one["sentence"])
    # Healed 1.0 to 1.5 s after it was undone: three trials of one bring-up, three of the other.
    assert one["heal_s"] == pytest.approx(1.25) and one["heal_s_low"] < 0.2 and one["heal_s_high"] > 3


def test_the_json_has_estimates_whose_n_counts_trials(data):
    (one,) = json.loads(said("summary", data, "--json"))["faults"]
    assert (one["fault"], one["operation"], one["by"]["fault"], one["n"]) == (FAULT, "write", "stop", 3)
    before, during, healing, after = one["parts"]
    assert [part["part"] for part in one["parts"]] == ["before", "during", "healing", "after"]
    assert before["rate"] == pytest.approx(1e8) and before["n"] == 3 and during["p50_s"] is None
    assert one["heal_s"] == pytest.approx(1.3) and one["heal_s_low"] < 1.3 < one["heal_s_high"]
    assert healing["seconds_low"] < healing["seconds"] < healing["seconds_high"] and after["p50_s"] == 0.02


def test_one_trial_has_no_interval_and_an_incomplete_one_is_left_out(tmp_path):
    runs = [run(0, "none"), run(1, "stop"), run(2, "none"), run(3, "stop", ("write: rank 0: Input/output error",))]
    path = stored(tmp_path / "s", runs)
    (one,) = json.loads(said("summary", path, "--json"))["faults"]
    assert one["n"] == 1 and one["parts"][0]["rate_low"] is None and " to " not in one["sentence"]
    assert re.search(r"S116 \w.* 1 of 2 trials", " ".join(said("summary", path).split()))


def test_without_faults_nothing_is_said_of_them(tmp_path):
    path = stored(tmp_path / "s", [run(0, "none"), run(1, "none")])
    assert "faults" not in json.loads(said("summary", path, "--json")) and FAULT not in said("summary", path)


def test_the_time_line_has_their_marks(data):
    drawn = json.loads(said("plot", data, "--kind", "time", "--json"))
    found = json.dumps(drawn)
    for what in (FAULT, "undone", "well"):
        assert what in found


def test_the_page_shows_them(data, tmp_path):
    said("report", data, "-o", str(tmp_path / "p.html"))
    page = (tmp_path / "p.html").read_text()
    assert "faults-1" in page and FAULT in page and " 47.7 MiB/s" in page
    document = json.loads(said("report", data, "--json"))
    assert document["faults"][0]["heal_s"] == pytest.approx(1.3)


def test_lost_data_is_a_finding(tmp_path):
    lost = "read: rank 0: byte 4096 is not what was written (read of f at byte 4096)"
    path = stored(tmp_path / "s", [run(0, "none"), run(1, "stop", (lost,))])
    text = " ".join(CliRunner().invoke(cli, ["summary", path]).stdout.split())
    assert re.search(rf"S116 data \w.* 1 of 1 trials .* e-0001 \({FAULT}\)", text)
