"""Kinds of changes in a table of nights, from the command: exit codes, states and dates."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from messages import raises

NODES = (1, 4, 8, 16)


def write_table(path: Path, factors: np.ndarray, rows: tuple[int, ...], seed: int = 21) -> str:
    """Write nights of four numbers of nodes, ``rows`` of which are multiplied by a factor a night; noise 1.5 %."""
    rng, lines = np.random.default_rng(seed), ["date,commit,nodes,write_mib_s"]
    days = np.datetime64("2026-08-01") + np.arange(factors.size)
    for number, (day, factor) in enumerate(zip(days, factors, strict=True)):
        for row, nodes in enumerate(NODES):
            rate = 300 * nodes**0.8 * (factor if row in rows else 1.0) * np.exp(rng.normal(0, 0.015))
            lines.append(f"{day},c{number:03},{nodes},{rate:.2f}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def run(*words: str) -> int:
    return CliRunner().invoke(cli, ["watch", *words]).exit_code


def test_a_drift_is_open_until_it_is_accepted(tmp_path):
    name = write_table(tmp_path / "a.csv", np.exp(-0.002 * np.arange(60)), (0, 1, 2, 3))
    result = CliRunner().invoke(cli, ["watch", name, "--json"])
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert document["result"] == "regression" and not document["suspected"]
    assert len(document["changes"]) == 4
    for change in document["changes"]:
        assert change["state"] == "open" and change["verdict"] == "worse" and change["places"] == []
        assert change["drift"]["low"] <= -0.0018 <= change["drift"]["high"] + 0.0004
        assert change["ratio"]["value"] == pytest.approx(0.89, abs=0.02)
    ids = [part for change in document["changes"] for part in ("--accept", change["id"])]
    assert run(name, *ids, "--because", "more data") == 0
    assert run(name) == 0


def test_a_drift_has_no_commit_to_bisect(tmp_path):
    name = write_table(tmp_path / "a.csv", np.exp(-0.002 * np.arange(60)), (0, 1, 2, 3))
    with raises("bisected-drift"):
        iosonde.watch(name, bisect=True)
    assert run(name, "--change", iosonde.watch(name).answer.changes[0].id) == 1


@pytest.mark.parametrize(("nights", "code"), [(60, 0), (61, 0), (62, 0), (63, 1)])
def test_a_loss_of_30_percent_fails_in_the_third_night(tmp_path, nights, code):
    name = write_table(tmp_path / "a.csv", np.where(np.arange(nights) >= 60, 0.7, 1.0), (2, 3))
    assert run(name) == code
    changes = iosonde.watch(name).answer.changes
    assert [change.first_after.started_at[:10] for change in changes] == ["2026-09-30"] * 2 * code
    assert all(change.levels.after.n == 3 for change in changes)


def test_a_change_is_drawn_up_to_its_return(tmp_path):
    nights = np.arange(60)
    name = write_table(tmp_path / "a.csv", np.where((nights >= 29) & (nights < 44), 0.93, 1.0), (2, 3))
    answer = iosonde.watch(name).answer
    worse = [change for change in answer.changes if change.verdict == "worse"]
    assert worse and not answer.problem
    for change in worse:
        assert change.levels.ratio.value == pytest.approx(0.93, abs=0.012)
        assert change.places[1:] == pytest.approx((29, 44), abs=1)
