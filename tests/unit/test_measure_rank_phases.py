"""All ranks take part in what all agree on, also those that have nothing to do in a phase."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.measure.assignment import Assignment
from iosonde.measure.rank import phases as rank_phases
from iosonde.measure.rank.wire import Meter
from iosonde.measure.workloads import phases
from iosonde.ranks.heartbeat import WAITING


class Recorder:
    """A communicator of two that answers at once and remembers which collective calls were made."""

    def __init__(self, rank):
        self.rank, self.size, self.nodes, self.node_of, self.local_rank = rank, 2, 1, (0, 0), rank
        self.called = []

    def __getattr__(self, name):
        def call(value=None, *_):
            self.called.append(name)
            return [value] * self.size if name == "all_gather" else value

        return call


def record(**more):
    totals = [{"kind": 2, "count": 3, "bytes": 3, "errors": 0, "sum_duration_ns": 1}]
    fields = {
        "started_ns": 1,
        "ended_ns": 2,
        "stopped": "count",
        "complete": True,
        "totals": totals,
        "errors": [],
        "histograms": {},
        "extra_bytes": 0,
        "operations": None,
    }
    return SimpleNamespace(**(fields | more))


WORN = {"time_limit": "1s", "passes": 0, "wear_out": True}


@pytest.mark.parametrize("more", [{}, {"timed": False}, WORN, {"timed": False, **WORN}])
def test_a_phase_of_the_first_rank_alone_has_the_same_collective_calls_on_all(monkeypatch, more):
    """A timed one hung with two ranks: the first entered an agreed start that the others left out."""
    session = SimpleNamespace(
        prepare=lambda _: 0, operations_done=lambda: 0, run=lambda *_: [record()], close=lambda: 0
    )
    monkeypatch.setattr(rank_phases, "open_session", lambda *_: session)
    monkeypatch.setattr(rank_phases.spool, "append_phase", lambda *_: None)
    monkeypatch.setattr(rank_phases.spool, "records_to_operations", lambda *_: None)
    steps = ["create", {"kind": "write", "transfer_size": 1, "count": 3}]
    settings = phases.Settings([{"name": "w", "by": "first", "files": "f", "steps": steps, **more}])
    called = []
    for rank in (0, 1):
        ranks, said = Recorder(rank), []
        heart = SimpleNamespace(enter=lambda phase, state="", *_, said=said: said.append((phase, state)))
        part = SimpleNamespace(item={"settings": {}}, plans=phases.plan(settings, rank, 2, 1), first=0)
        assert rank_phases.run_phases(
            part, Assignment("/r", "/s", 2, [], 1, 9), ranks, heart, 9, Meter(Path(), rank, None)
        )
        assert said[-1][1] == WAITING  # and who has nothing to do is not the one that is waited for
        called.append(ranks.called)
    assert called[0] == called[1]
    assert called[0][-2:] == ["wait_for_all", "all_max"]  # asleep until all are done, not spinning
