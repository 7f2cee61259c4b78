"""The time line of a phase knows the classes of its operations, and when each took how much of their time."""

from __future__ import annotations

import diagnose_sample as sample
import numpy as np
import pytest

from iosonde.commands.plot.figure_over_time import over_time_figure
from iosonde.commands.plot.over_time import build_over_time_plot
from iosonde.data.source import open_data
from iosonde.engine import _native

N = 4000


@pytest.fixture(scope="module")
def plot(tmp_path_factory):
    """Operations that are slow from the middle on, after an open that takes a while."""
    rows = sample.rows(N, 2, lambda r, i, o: (i >= N // 2) & (i % 4 == 0), np.random.default_rng(3))
    opened = rows[:1].copy()
    opened["kind"], opened["size"] = _native.KINDS.index("open"), 0
    opened["start_ns"] -= 50_000_000
    sample.store(path := tmp_path_factory.mktemp("time") / "s", [np.concatenate([opened, rows])])
    return build_over_time_plot(open_data(path))


def test_classes_have_their_time(plot):
    [phase] = plot.phases
    told = phase.to_json()["classes"]
    assert (told["kind"], told["size"]) == ("read", sample.SIZE)
    assert [one["label"] for one in told["classes"]] == ["fast", "slow"]
    parts = told["over_time"]
    assert parts[0]["begin_s"] == pytest.approx(0.05) and parts[-1]["end_s"] == pytest.approx(phase.over_time.end_s)
    assert parts[0]["time_shares"] == [1.0, 0.0] and parts[-2]["time_shares"][1] > 0.7
    for part in parts:
        assert sum(part["shares"]) == pytest.approx(1) and sum(part["time_shares"]) == pytest.approx(1)


def test_they_are_drawn_below(plot):
    spec = over_time_figure(plot).spec["concat"][0]
    rows = spec["vconcat"][2]["layer"][0]["data"]["values"]
    assert {row["series"].split(":")[0] for row in rows} == {"fast", "slow"}
    assert min(row["x"] for row in rows) > 0 and len(rows) <= 2 * 40


def test_of_one_class_nothing_is_drawn(tmp_path):
    sample.store(tmp_path / "s", [sample.rows(N, 1, lambda r, i, o: i < 0, np.random.default_rng(3))])
    plot = build_over_time_plot(open_data(tmp_path / "s"))
    assert plot.phases[0].classes is None and "classes" not in plot.phases[0].to_json()
    assert len(over_time_figure(plot).spec["concat"][0]["vconcat"]) == 2
