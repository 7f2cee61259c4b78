"""Timelines of a page: which trial, which ranks of many, who was late, who was last."""

from __future__ import annotations

from typing import Any

import pytest

from iosonde.commands.plot.content import RankSpan
from iosonde.commands.report.axis import Axis
from iosonde.commands.report.timelines import _choose_ranks, _mark_ranks, build_timelines
from iosonde.core.stored import StoredRun
from messages import codes

AXIS = Axis("nodes", "node", 1)
SECOND = 10**9


def phase(*times: tuple[float, float | None], name: str = "write_large", **fields: Any) -> dict[str, Any]:
    """A phase whose ranks worked from and until these seconds."""
    ranks = [
        {
            "rank": rank,
            "host": f"n{rank}",
            "started_ns": int(start * SECOND),
            "ended_ns": None if end is None else int(end * SECOND),
        }
        for rank, (start, end) in enumerate(times)
    ]
    return {"index": 0, "name": name, "ranks": ranks, **fields}


def trial(name: str, *phases: dict[str, Any], **fields: Any) -> StoredRun:
    factors = {"nodes": 2, "ranks": 2}
    return StoredRun({"id": name, "experiment": "e", "factors": factors, "phases": list(phases), **fields})


@pytest.mark.parametrize(
    ("times", "marks"),
    [
        ({}, {}),
        ({0: (5.0, 10.0)}, {}),
        ({0: (0.0, 10.0), 1: (0.1, 9.0)}, {0: "last"}),
        ({0: (0.0, 10.0), 1: (0.11, 9.0)}, {0: "last", 1: "late"}),
        ({0: (0.0, 9.0), 1: (5.0, 10.0)}, {1: "last"}),
        ({0: (0.0, 10.0), 1: (5.0, 10.0)}, {1: "late"}),
        ({0: (0.0, 9.0), 1: (0.0, 10.0), 2: (0.0, 10.0)}, {1: "last"}),
    ],
)
def test_a_rank_is_late_beyond_a_hundredth_of_the_phase_and_one_is_last(
    times: dict[int, tuple[float, float]], marks: dict[int, str]
) -> None:
    assert _mark_ranks(times) == marks


def test_of_very_many_ranks_the_latest_starts_and_ends_are_shown_and_others_evenly() -> None:
    times = {rank: (float(rank), 1000.0 - rank) for rank in range(300)}
    ends = {*range(64), *range(236, 300)}
    expected = ends | set(range(64, 236, 2))
    assert _choose_ranks(times, {}) == expected
    assert _choose_ranks(times, {101: "late"}) == expected
    assert 101 in _choose_ranks(times, {101: "last"})
    few = {rank: times[rank] for rank in range(256)}
    assert _choose_ranks(few, {}) == set(range(256))
    assert len(_choose_ranks({**few, 256: times[256]}, {})) < 257


def test_spans_begin_with_the_first_rank_and_without_a_common_clock_at_0() -> None:
    section, _ = build_timelines([trial("a", phase((2, 12), (4, 11), start_spread_ns=2 * SECOND))], AXIS)
    (timeline,) = section.items
    assert timeline.spans == (RankSpan(0, "n0", 0.0, 10.0, "last"), RankSpan(1, "n1", 2.0, 9.0, "late"))
    assert (timeline.phase, timeline.ranks, timeline.comparable) == ("write_large", 2, True)
    assert "2.00 s" in timeline.note and timeline.note.count(" s ") == 1 and "rank 0 on n0" in timeline.note
    section, _ = build_timelines([trial("a", phase((2, 12), (4, 11), comparable=False))], AXIS)
    (timeline,) = section.items
    assert timeline.spans == (RankSpan(0, "n0", 0.0, 10.0, "last"), RankSpan(1, "n1", 0.0, 7.0))
    assert not timeline.comparable and timeline.note.startswith("Rank 0 on n0") and "10.0 s" in timeline.note
    section, _ = build_timelines([trial("a", phase((2, 12), (2, 12)))], AXIS)
    assert section.items[0].note == "" and {span.mark for span in section.items[0].spans} == {""}


def test_the_trial_with_most_ranks_whose_ends_lie_furthest_apart_is_shown() -> None:
    two = ((0, 1), (0, 2))
    near = phase(*two, end_spread_ns=1, duration_ns=10)
    far = phase(*two, end_spread_ns=20, duration_ns=50)  # 0.4 of the phase
    half = phase(*two, end_spread_ns=5, duration_ns=10)
    wide = phase((0, 1), (0, 2), (0, 3), end_spread_ns=0, duration_ns=10)
    lost = {"missing": ["rank 1"]}
    for runs, expected in (
        ([trial("near", near), trial("far", far)], "far"),
        ([trial("far", far), trial("half", half), trial("near", near)], "half"),
        ([trial("half", half), trial("wide", wide), trial("near", near)], "wide"),
        ([trial("half", half, **lost), trial("near", near)], "near"),
    ):
        section, _ = build_timelines(runs, AXIS)
        assert [item.trial.split(",")[0] for item in section.items] == [f"trial {expected}"]
    section, _ = build_timelines([trial("half", half, **lost)], AXIS)
    expected = "trial half, 2 nodes, incomplete"
    assert section.items[0].trial == expected


def test_phases_stand_in_the_order_of_the_page_and_those_without_times_nowhere() -> None:
    times = ((0, 1), (0, 2))
    untimed = phase((0, 1), (0, None), name="open")
    phases = [phase(*times, name=name) for name in ("other", "create", "write_large")]
    section, _ = build_timelines([trial("a", *phases, untimed, phase(name="write_small"))], AXIS)
    assert [item.phase for item in section.items] == ["write_large", "create", "other"]


@pytest.mark.parametrize(
    ("phases", "factors", "code"),
    [
        ([phase((0, None))], {"nodes": 2}, "no-rank-times"),
        ([phase((0, 1))], {"ranks": 1}, "single-rank"),
        ([phase((0, 1))], {}, "single-rank"),
        ([phase((0, 1))], {"ranks": 2}, "no-rank-times"),
        ([phase((0, 1))], {"nodes": 2}, "no-rank-times"),
        ([phase((0, 1))], {"ranks": 1, "nodes": 2}, "single-rank"),
    ],
)
def test_why_no_ranks_are_compared(phases: list[dict[str, Any]], factors: dict[str, int], code: str) -> None:
    section, sentence = build_timelines([trial("a", *phases, factors=factors)], AXIS)
    assert (section.items, codes(section.missing), sentence) == ((), [code], "")
