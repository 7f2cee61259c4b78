"""The line with the time left: what it says of a trial in progress."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from iosonde.cli.progress import RateNow, TrialLine
from iosonde.core.types import Trial
from iosonde.ranks.beats import Beat


def beats(phase, *done):
    return [Beat(rank, "n", 1, phase, "running", 0.0, count) for rank, count in enumerate(done)]


def test_the_rate_is_of_all_ranks_of_the_phase_over_the_last_seconds():
    now = RateNow()
    assert now.compute_rate("write", beats("write", 0, 0), 100.0) is None
    assert now.compute_rate("write", [*beats("write", 100, 300), *beats("read", 9, 9)], 101.0) == pytest.approx(400)
    assert now.compute_rate("write", beats("write", 100, 300), 103.0) == pytest.approx(400 / 3)
    assert now.compute_rate("write", beats("write", 100, 300), 106.0) is None  # nothing for five seconds
    assert now.compute_rate("write", beats("write", 150, 350), 107.0) == pytest.approx(100 / 6)


def test_another_phase_or_another_trial_begins_anew():
    now = RateNow()
    now.compute_rate("write", beats("write", 500), 100.0)
    assert now.compute_rate("read", beats("read", 900), 101.0) is None
    assert now.compute_rate("read", beats("read", 10), 102.0) is None
    assert now.compute_rate("read", beats("read", 30), 103.0) == pytest.approx(20)


def test_a_command_whose_operations_nobody_sees_has_none():
    now = RateNow()
    assert [now.compute_rate("ior", beats("ior", 0, 0), at) for at in (1.0, 2.0, 3.0)] == [None, None, None]


def test_the_line_says_the_rate(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    clock = iter(range(100, 200))
    monkeypatch.setattr("iosonde.cli.progress.time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    progress = TrialLine(60.0)
    progress.trial(Trial(0, {"nodes": 2}, 0, 0, 1), 0, 3)
    progress.tick(beats("write", 0, 0))
    progress.tick(beats("write", 10_000, 20_000))
    line = capsys.readouterr().err.split("\r")[-1]
    assert "1/3: 2 nodes" in line and "write" in line and "kop/s" in line
