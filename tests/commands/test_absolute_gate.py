"""Absolute limits in ``compare --fail-if`` and in what ``run --against`` seals."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from messages import raises


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Ten rows a file system: the second has a p99 of 5.2 ms and 1920 MiB/s."""
    noise = random.Random(1)
    rows = [
        f"{fs},{4 * share * noise.gauss(1, 0.02):.3f},{2500 / share * noise.gauss(1, 0.02):.1f}"
        for fs, share in (("a", 1), ("b", 1.3))
        for _ in range(10)
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["fs,p99 (ms),bw (MiB/s)", *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("condition", "code", "key"),
    [
        ("p99>5ms", 1, "failed"),
        ("p99>0.005s", 1, "failed"),
        ("p99>5.2ms", 0, "cannot_tell"),
        ("p99>6ms", 0, "passed"),
        ("bw<2GiB/s", 1, "failed"),
        ("bw<1.5GiB/s", 0, "passed"),
    ],
)
def test_a_table_fails_by_a_limit_in_any_unit_of_its_kind(table: str, condition: str, code: int, key: str) -> None:
    answer = iosonde.compare(table, "fs", fail_if=[condition]).answer
    judged = answer.to_dict()["fail_if"]
    assert len(judged[key]) == 1 and answer.problem == bool(code)
    done = CliRunner().invoke(cli, ["compare", table, "--group", "fs", "--fail-if", condition])
    assert done.exit_code == code
    strict = CliRunner().invoke(cli, ["compare", table, "--group", "fs", "--fail-if", condition, "--strict"])
    assert strict.exit_code == (0 if key == "passed" else 1)


def test_limits_and_shares_go_together(table: str) -> None:
    answer = iosonde.compare(table, "fs", fail_if=["p99>6ms", "slower>5%"]).answer
    judged = answer.to_dict()["fail_if"]
    assert {entry["condition"] for entry in judged["failed"]} == {"slower>5%"}
    assert [entry["condition"] for entry in judged["passed"]] == ["p99>6ms"]


def test_a_limit_of_what_is_not_compared_is_refused(table: str) -> None:
    with raises("condition-not-applicable"):
        iosonde.compare(table, "fs", fail_if=["p50>5ms"])


@pytest.mark.parametrize(
    ("conditions", "metric"),
    [
        (["p99>5ms"], "p99"),
        (["p99>5ms", "iops<9k"], "p99,iops"),
        (["p99>5ms", "slower>5%"], ""),
        (["read: slower>3%", "p99>5ms"], "read,p99"),
        (["read: slower>3%", "slower>5%"], ""),
    ],
)
def test_the_metrics_of_conditions_decide_if_each_names_some(conditions: list[str], metric: str) -> None:
    from iosonde.campaign.spec.against import expand_against
    from iosonde.core.yaml_text import Document

    data = {"steps": ["a"], "against": {"command": "b", "fail_if": conditions}}
    assert expand_against(Document(data, "x", {}, "")).data["against"]["metric"] == metric
