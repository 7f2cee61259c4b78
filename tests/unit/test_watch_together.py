"""Figures of several series in one, and their axis: time, commits in order, or numbers of points."""

from __future__ import annotations

from dataclasses import replace

import pytest

import history_sample
from iosonde.commands.watch.answer import watch
from iosonde.commands.watch.figure import history_figure
from iosonde.commands.watch.figure_axis import build_axis
from iosonde.commands.watch.figure_together import choose_scale_factor, group_series, together_figure
from iosonde.core.stored import StoredRun
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    store = history_sample.write(str(tmp_path_factory.mktemp("h") / "nightly"), days=40)
    return watch(open_data(str(store.path)), ResponseQuery())


def runs(*commits, dated=True):
    return [
        StoredRun(
            {
                "id": f"r{at}",
                "started_at": f"2026-11-{at + 1:02}T22:00:00Z" if dated else "",
                "facts": {"subject_commit": commit},
            }
        )
        for at, commit in enumerate(commits)
    ]


def test_the_axis_is_time_or_commits_or_numbers():
    places, channel = build_axis([runs("a", "b")])
    assert places == [["2026-11-01T22:00:00Z", "2026-11-02T22:00:00Z"]] and channel["scale"]["type"] == "utc"
    assert {"%H:%M"} <= set(channel["axis"]["format"].values())
    places, channel = build_axis([runs("a", "b", dated=False)])
    assert places == [[1, 2]] and channel["type"] == "quantitative"
    places, channel = build_axis([runs("", "")], by_commit=True)
    assert channel["type"] == "temporal", "no commit is known"


def test_commits_are_in_the_order_of_their_first_measurement():
    alike = ["0123456789" + letter * 30 for letter in "ab"]
    places, channel = build_axis([runs("b" * 40, "b" * 40, "a" * 40, "", "b" * 40, *alike)], by_commit=True)
    b, a, same = "b" * 10, "a" * 10, "0123456789"
    assert places == [[b, b, a, "2026-11-04", f"{b} (2)", same, f"{same} (2)"]]
    assert channel["scale"]["domain"] == list(dict.fromkeys(places[0]))


def test_series_are_grouped_by_the_factor_alone(history):
    assert choose_scale_factor(history.series) == "nodes" and choose_scale_factor(history.series[:1]) == ""
    groups = group_series(history.series, "nodes")
    assert [[(item.operation, item.by["nodes"]) for item in group] for group in groups] == [
        [("write", 1), ("write", 2)],
        [("create", 1), ("create", 2)],
    ]
    assert [len(group) for group in group_series(history.series, "")] == [1, 1, 1, 1]


@pytest.mark.parametrize("by_commit", [False, True])
def test_one_figure_has_every_point_and_change_of_its_series(history, by_commit):
    (group, _) = group_series(history.series, "nodes")
    figure = together_figure(history, group, "nodes", by_commit)
    lines, points, breaks = figure.spec["layer"]
    assert len(points["data"]["values"]) == sum(item.values.size for item in group) == 80
    assert {row["series"] for row in lines["data"]["values"]} == {"nodes=1", "nodes=2"}
    assert len(breaks["data"]["values"]) == sum(change.series in group for change in history.changes) == 2
    if by_commit:
        assert {row["x"] for row in breaks["data"]["values"]} <= {row["x"] for row in points["data"]["values"]}
    figure.image("svg")


def test_far_levels_share_a_logarithmic_axis(history):
    near, far = (
        list(history.series[:2]),
        [history.series[0], replace(history.series[1], values=history.series[1].values * 9)],
    )
    types = [
        together_figure(replace(history, changes=()), group, "nodes").spec["layer"][0]["encoding"]["y"]["scale"]["type"]
        for group in (near, far)
    ]
    assert types == ["linear", "log"]


def test_a_series_by_commit_is_drawn(history):
    series = history.series[0]
    changes = [change for change in history.changes if change.series is series]
    figure = history_figure(series, changes, by_commit=True)
    assert len(changes) == 1 and history_sample.commit_of(30)[:10] in str(figure.spec)
    figure.image("svg")
