"""What one command knows of its data, all know: impossible values, drifts, single ranks, shared units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from stats_sample import store

pytest.importorskip("iosonde.engine._native")
import iosonde
from iosonde.core.table import build_table
from iosonde.core.verdict import VerdictState

LAB = {"description": {"file_system": "openafs"}, "emulated": {"links": [{"bytes_per_s": 12e6}]}}
READ = "read_1to1_large bandwidth_last_done"
QUESTIONS: dict[str, dict[str, Any]] = {
    "compare": {"group": "fs"},
    "summary": {"by": ["fs"]},
    "rank": {"on": ["fs"]},
    "anova": {"on": ["fs"]},
    "regress": {"on": ["fs"]},
}


def ask(command: str, data: Any, **options: Any) -> list[dict[str, Any]]:
    answer = getattr(iosonde, command)(data, **options)
    verdicts: list[dict[str, Any]] = answer.to_dict()["verdicts"]
    return [verdict for verdict in verdicts if verdict["question"] != "best"]


@pytest.mark.parametrize("command", ["compare", "rank", "anova", "regress"])
def test_values_beyond_the_hardware_are_a_doubt_of_every_command(command, tmp_path):
    options = {"group": "nodes"} if command == "compare" else {"on": ["nodes"]}
    doubts = []
    for name, lab in (("free", {}), ("behind", {"lab": LAB})):
        data = str(store(tmp_path / name, facts={"hosts": ["client1"], "machine": lab}).path)
        verdicts = ask(command, data, **options, **({} if command in ("compare", "rank") else {"response": READ}))
        doubts.append(["impossible" in each["doubts"] for each in verdicts if each["response"].startswith("read")])
        assert all("impossible" in verdict["checked"] for verdict in verdicts)
    assert doubts[0] and not any(doubts[0]) and all(doubts[1])


def single_ranks() -> Any:
    """Two trials a side of 16 ranks; nothing names the trials."""
    rng = np.random.default_rng(3)
    order = rng.permutation(64)
    y = np.concatenate([mean + rng.normal(0, 0.1, 16) for mean in (100.0, 103.0, 110.0, 113.0)])
    fs, rank = np.repeat(["a", "b"], 32), np.tile(np.arange(16), 4)
    return build_table({"fs": fs[order].tolist(), "rank": rank[order].tolist(), "y": y[order].tolist()})


@pytest.mark.parametrize("command", QUESTIONS)
def test_single_ranks_of_unknown_trials_support_no_claim(command):
    (verdict,) = ask(command, single_ranks(), response="y", **QUESTIONS[command])
    assert verdict["state"] in (VerdictState.INCONCLUSIVE, VerdictState.NOT_TESTED)
    assert "subsamples" in verdict["doubts"] and verdict["why"] and verdict["remedy"]


@pytest.mark.parametrize("command", QUESTIONS)
def test_a_drift_that_explains_a_difference_leaves_it_open(command):
    y = 100.0 - np.arange(24) + np.random.default_rng(5).normal(0, 0.3, 24)
    table = build_table({"fs": ["a"] * 12 + ["b"] * 12, "y": y.tolist()})
    for options in (QUESTIONS[command], {} if command in ("summary", "rank", "anova") else QUESTIONS[command]):
        (verdict,) = ask(command, table, response="y", **options)
        assert verdict["state"] == VerdictState.INCONCLUSIVE and "drift" in verdict["doubts"] and verdict["why"]


@pytest.mark.parametrize("command", QUESTIONS)
def test_a_coarse_clock_is_a_doubt_of_every_command(command):
    y = [5.0, 5.0, 5.0, 5.0, 5.0, 6.0, 6.0, 6.0, 6.0, 7.0]
    table = build_table({"fs": list("aabbaabbab"), "y": [y[place] for place in (0, 1, 5, 6, 2, 3, 7, 8, 4, 9)]})
    (verdict,) = ask(command, table, response="y", **QUESTIONS[command])
    assert "coarse-clock" in verdict["doubts"]


def resembling(seed: int) -> Any:
    """Forty trials a side, one side after the other, each close to the one before."""
    noise = np.random.default_rng(seed).normal(0, 1.0, 80)
    y = np.zeros(80)
    for place in range(1, 80):
        y[place] = 0.9 * y[place - 1] + noise[place]
    return build_table({"fs": ["a"] * 40 + ["b"] * 40, "y": (100 + y).tolist()})


def test_commands_agree_on_trials_that_depend_on_their_neighbours():
    claimed = 0
    for seed in range(12):
        table = resembling(seed)
        verdicts = [ask(command, table, response="y", **options)[0] for command, options in QUESTIONS.items()]
        assert all({"dependent", "drift"} & set(verdict["doubts"]) for verdict in verdicts), verdicts
        if verdicts[0]["doubts"] == ["dependent"]:
            states = {verdict["state"] == VerdictState.DIFFERENT for verdict in verdicts}
            assert len(states) == 1, (seed, verdicts)
            claimed += states.pop()
    assert claimed <= 3
