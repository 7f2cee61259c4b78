"""What a run knows of the way to its servers, and of these, comes into its diagnosis."""

from __future__ import annotations

import json

import diagnose_sample as sample
import numpy as np
import pytest

from iosonde.commands.diagnose import text as diagnose_text
from iosonde.commands.diagnose.answer import diagnose
from iosonde.core.types import Observation, Run
from iosonde.data.source import open_data
from iosonde.explain.readings import NO_READ_AHEAD
from iosonde.store import Store

N, TYPICAL_S = 1000, 700e-6
LAB = {
    "description": {"name": "x", "file_system": "glusterfs", "servers": 2, "clients": 1, "net_bits_per_s": 100e6},
    "emulated": {
        "links": [
            {"from": "server1", "to": "client1", "bytes_per_s": 11.9e6, "rtt_s": 60e-6},
            {"from": "client1", "to": "server1", "bytes_per_s": 11.9e6, "rtt_s": 50e-6},
        ]
    },
    "layout": {},
}


def counted(*servers, least=40e-6):
    """What a lab keeps: (count, mean in s) of ``read`` on each server."""
    return {
        "servers": [
            {
                "server": f"server{place + 1}",
                "operations": [
                    {"operation": "read", "count": count, "mean_s": mean, "min_s": least, "max_s": 2 * mean}
                ],
            }
            for place, (count, mean) in enumerate(servers)
        ]
    }


def diagnosed(tmp_path, profile=None, lab=LAB, **phase):
    """A trial of reads that follow each other and take TYPICAL_S each."""
    made = sample.rows(N, 1, lambda r, i, o: np.zeros(i.size, bool), np.random.default_rng(5))
    made["size"] = 16384
    made["offset"] = np.arange(N) * 16384
    made["duration_ns"] = 1e9 * TYPICAL_S * np.exp(0.05 * np.random.default_rng(6).standard_normal(N))
    made["start_ns"] = np.concatenate([[0], np.cumsum(made["duration_ns"][:-1])])
    entry = {
        "index": 0,
        "name": "read",
        "operation": "read",
        "recorded_all": True,
        "comparable": True,
        "duration_ns": 10**9,
        "counted_kind": "read",
        "totals": {},
        "histograms": {},
        "ranks": [{"rank": 0, "host": "n0", "clock_offset_ns": 0}],
        **phase,
    }
    raw = {} if profile is None else {"servers-profile.json": json.dumps(profile).encode()}
    facts = {"machine": {"lab": lab}} if lab else {}
    run = Run(
        "r-1",
        "x",
        "iosonde",
        "2026-11-01T00:00:00Z",
        1.0,
        {"nodes": 1},
        [Observation("read", "bandwidth_last_done", 1e7, "bytes/s")],
        operations=made,
        phases=[entry],
        facts=facts,
        raw=raw,
    )
    Store.create(tmp_path / "s").append_many([run])
    return diagnose(open_data(tmp_path / "s"), 0.95)


ALIKE = counted((600, 90e-6), (400, 110e-6))


def test_reads_that_each_go_to_a_server_are_not_read_ahead(tmp_path):
    made = diagnosed(tmp_path, ALIKE)
    assert made.groups[0].reading.mechanism == NO_READ_AHEAD
    assert made.content()["groups"][0]["mechanism"] == NO_READ_AHEAD
    assert f" {NO_READ_AHEAD}" in " ".join(" ".join(diagnose_text.lines(made)).split())


@pytest.mark.parametrize(
    "without",
    [
        {"profile": None},
        {"profile": ALIKE, "lab": None},
        {"profile": ALIKE, "open_flags": ["direct"]},
        {"profile": counted((80, 1e-4), (45, 1e-4))},
    ],
)
def test_it_is_not_said_where_nobody_counted_or_it_was_asked_for_or_reads_were_gathered(tmp_path, without):
    assert diagnosed(tmp_path, **without).groups[0].reading is None


def test_a_server_that_did_nothing_of_the_kind_is_no_trouble(tmp_path):
    profile = counted((1000, 1e-4))
    profile["servers"].append({"server": "server2", "operations": []})
    assert diagnosed(tmp_path, profile).groups[0].reading.mechanism == NO_READ_AHEAD
