"""Experiments in labs that differ: all that changes with the lab is named, and nothing alone gets the credit."""

from __future__ import annotations

import pytest

from iosonde.commands.compare.answer import Sides, compare
from iosonde.commands.plot.settings import build_settings_plot
from iosonde.commands.rank.answer import rank
from iosonde.commands.summary.answer import summary
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.store import Store

pytest.importorskip("iosonde.engine._native")

THREADS = "performance.client-io-threads"


def lab(copies: int, net: float) -> dict:
    description = {
        "file_system": "glusterfs",
        "name": f"pool{copies}",
        "servers": 3,
        "clients": 2,
        "net_bits_per_s": net,
        "options": {"replica": str(copies)},
    }
    return {"description": description, "layout": {"copies": copies, "copied_by": "client"}, "version": "10.3"}


def store(path, labs: list[dict], threads: bool = True, factor: Factor | None = None) -> str:
    """One experiment in each lab, of two sizes, three trials each; two copies take half of the rate."""
    made = Store.create(path)
    for place, one in enumerate(labs):
        copies = one["layout"]["copies"]
        option = {"conditions": {"options": {THREADS: "off" if copies > 1 else "on"}}} if threads else {}
        facts = {"machine": {"lab": one, "mount": {"type": "fuse.glusterfs"}}, **option}
        trials = [(size, repetition) for repetition in range(3) for size in (4, 16)]
        made.save_experiment(
            Experiment(
                id=f"e{place}",
                name=f"e{place}",
                settings={},
                seed=1,
                created_at=f"2026-11-21T1{place}:00:00Z",
                factors=[Factor("size", levels=(4, 16)), *([factor] if factor else [])],
                trials=[Trial(i, {"size": size}, r, r, i) for i, (size, r) in enumerate(trials)],
            )
        )
        for number, (size, repetition) in enumerate(trials):
            rate = one["description"]["net_bits_per_s"] / 8 / copies * (1 + 0.01 * repetition)
            made.append(
                Run(
                    id=f"e{place}-{number}",
                    experiment=f"e{place}",
                    source="test",
                    seconds=1.0,
                    factors={"size": size, "repetition": repetition, **({factor.name: copies} if factor else {})},
                    started_at=f"2026-11-21T1{place}:{number:02}:00Z",
                    facts=facts | {"target": "/mnt"},
                    observations=[Observation("write", "bandwidth_last_done", rate, "bytes/s")],
                )
            )
    return str(path)


def states(answer) -> dict[tuple[str, ...], str]:
    return {one.subject: str(one.state) for one in answer.verdicts if one.question == "effect"}


BLOCK = ("replica", "copies", THREADS, "experiment")


@pytest.mark.parametrize("ask", [summary, rank, build_settings_plot])
def test_all_that_changes_with_a_lab_is_named(tmp_path, ask):
    """`performance.client-io-threads matters: 100 %` was said of two labs of one and of two copies."""
    source = open_data(store(tmp_path / "s", [lab(1, 1e8), lab(2, 1e8)]), (), "all")
    told = states(ask(source, ResponseQuery()))
    assert told[BLOCK] == "different" and all(told[name,] == VerdictState.NOT_SEPARABLE for name in BLOCK)
    assert (THREADS,) not in {subject for subject, state in told.items() if state == "different"}


def test_labs_can_be_compared_by_what_they_are(tmp_path):
    path = store(tmp_path / "s", [lab(1, 1e8), lab(2, 1e8)])
    made = compare(open_data(path, (), "all"), ResponseQuery(), Sides(group="replica"))
    assert [row["ratio"] for row in made.records()][0] == pytest.approx(0.5, abs=0.03)
    path = store(tmp_path / "t", [lab(1, 1e8), lab(1, 2e8)], threads=False)
    made = compare(open_data(path, (), "all"), ResponseQuery(), Sides(group="net"))
    assert [row["ratio"] for row in made.records()][0] == pytest.approx(2, abs=0.1)


def test_what_follows_from_a_declared_factor_takes_nothing_from_it(tmp_path):
    labs = [lab(1, 1e8), lab(2, 1e8)]
    source = open_data(store(tmp_path / "s", labs, factor=Factor("replica", levels=(1, 2))), (), "all")
    assert states(summary(source, ResponseQuery()))["replica",] == "different"
