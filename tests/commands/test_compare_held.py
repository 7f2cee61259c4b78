"""``compare`` holds numbers with the role covariate as lines, and days as blocks; both as least squares has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iosonde
from iosonde.core.verdict import VerdictState
from iosonde.stats.estimate.compare import COVARIANCE
from iosonde.stats.regression.adjusted_sides import SideRows, compare_adjusted_sides


def write_rows(path: Path, header: str, rows: list[str]) -> str:
    path.write_text("\n".join([header, *rows]) + "\n")
    return str(path)


def draw_loads(seed: int, effect: float = 30.0, n: int = 16) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the side, the load and the rate, which the load lowers by 5 a unit."""
    rng = np.random.default_rng(seed)
    is_b, load = np.arange(2 * n) % 2, rng.uniform(1, 40, 2 * n).round(2)
    return is_b, load, (600 + effect * is_b - 5 * load + rng.normal(0, 5, 2 * n)).round(2)


def loads_table(path: Path, seed: int = 1) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    is_b, load, rate = draw_loads(seed)
    rows = [f"{'AB'[side]},{number},{value}" for side, number, value in zip(is_b, load, rate, strict=True)]
    return write_rows(path, "version,background_load,mib_s", rows), is_b, load, rate


@pytest.mark.parametrize(
    "options",
    [
        {"roles": {"background_load": "covariate"}},
        {"roles": {"background_load": "block"}},
        {"adjust": ["background_load"], "response": "mib_s"},
    ],
)
def test_a_covariate_is_taken_out_of_the_comparison(options, tmp_path):
    data, is_b, load, rate = loads_table(tmp_path / "loads.csv")
    (item,) = iosonde.compare(data, "version", **options).answer.items  # and the covariate is no response
    beta = np.linalg.lstsq(np.column_stack([np.ones(rate.size), is_b, load]), rate, rcond=None)[0]
    comparison = item.comparison
    assert comparison.method == COVARIANCE
    assert comparison.difference.value == pytest.approx(beta[1])
    assert comparison.difference.low < 30 < comparison.difference.high
    assert comparison.ratio.value == pytest.approx(comparison.mean_b.value / comparison.mean_a.value)
    assert item.state is VerdictState.DIFFERENT


def test_a_covariate_that_tells_the_sides_is_not_separable(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        f"{'AB'[n % 2]},{[10.5, 20.25][n % 2]},{n + 0.5},{500 + 30 * (n % 2) + rng.normal(0, 4):.2f}" for n in range(16)
    ]
    data = write_rows(tmp_path / "loads.csv", "version,load,temperature,mib_s", rows)
    roles = {"load": "covariate", "temperature": "fact"}
    (item,) = iosonde.compare(data, "version", response="mib_s", roles=roles).answer.items
    assert item.state is VerdictState.NOT_SEPARABLE


def test_sides_without_an_effect_differ_as_often_as_chance_has_it():
    found = 0
    for seed in range(300):
        is_b, load, rate = draw_loads(seed, 0.0, 8)
        sides = [
            SideRows(name, rate[is_b == b], load[is_b == b][:, None], np.zeros(8, int)) for b, name in enumerate("ab")
        ]
        comparison = compare_adjusted_sides(*sides, 0.95, 0.02, None)
        assert comparison is not None and comparison.p is not None
        found += comparison.p < 0.05
    assert 3 <= found <= 27


def days_table(path: Path, with_days: bool) -> str:
    rng = np.random.default_rng(3)
    rows = []
    for day in range(6):
        level = 650 + rng.normal(0, 60)
        for n in range(6):
            value = level + 20 * (n % 2) + rng.normal(0, 5)
            rows.append(f"{f'2026-11-{day + 3:02d},' if with_days else ''}{('old', 'new')[n % 2]},{value:.1f}")
    return write_rows(path, f"{'day,' if with_days else ''}version,mib_s", rows)


def test_days_crossed_with_the_sides_are_blocks(tmp_path):
    data = days_table(tmp_path / "days.csv", True)
    (own,), (adjusted,) = (
        iosonde.compare(data, "version", **options).answer.items for options in ({}, {"adjust": ["day"]})
    )
    (without,) = iosonde.compare(days_table(tmp_path / "plain.csv", False), "version").answer.items
    assert own.comparison.ratio == adjusted.comparison.ratio and own.comparison.cells == 6
    assert (own.state, without.state) == (VerdictState.DIFFERENT, VerdictState.INCONCLUSIVE)


def test_a_date_of_each_row_is_no_block(tmp_path):
    rng = np.random.default_rng(4)
    rows = [f"2026-11-{n + 3:02d},{('old', 'new')[n % 2]},{600 + rng.normal(0, 5):.1f}" for n in range(20)]
    data = write_rows(tmp_path / "dates.csv", "day,version,mib_s", rows)
    assert iosonde.compare(data, "version").answer.items[0].comparison.cells == 1


@pytest.mark.parametrize("command", [iosonde.rank, iosonde.anova])
def test_other_commands_claim_nothing_that_a_covariate_or_a_day_hides(command, tmp_path):
    loads = loads_table(tmp_path / "loads.csv")[0]
    for data, column, options in (
        (loads, "background_load", {"roles": {"background_load": "covariate"}}),
        (days_table(tmp_path / "days.csv", True), "day", {}),
    ):
        answer = command(data, **options).answer
        assert column in answer.sentence
        assert {verdict.state for verdict in answer.verdicts} == {VerdictState.INCONCLUSIVE}


def test_a_summary_claims_no_effect_that_a_covariate_explains(tmp_path):
    rng = np.random.default_rng(5)
    loads = [(group, load) for group, mean in (("a", 100), ("b", 120)) for load in rng.normal(mean, 12, 20)]
    rows = [f"{group},{load:.2f},{500 - 2 * load + rng.normal(0, 4):.2f}" for group, load in loads]
    data = write_rows(tmp_path / "groups.csv", "group,load,iops", rows)
    states = [
        {
            verdict.state
            for verdict in iosonde.summary(data, roles=roles).answer.verdicts
            if verdict.question == "effect"
        }
        for roles in ({}, {"load": "covariate"})
    ]
    assert states == [{VerdictState.DIFFERENT}, {VerdictState.INCONCLUSIVE}]
    assert "group matters" not in iosonde.summary(data, roles={"load": "covariate"}).answer.overview.sentence


def test_hosts_of_each_side_are_offered_as_repetitions_and_more_trials_are_not_advised(tmp_path):
    path = tmp_path / "t.csv"
    values = [100, 104, 96, 101, 103, 99, 97, 105]
    rows = [f"{fs},{fs}{host},{value + 3 * host}" for fs in "ab" for host in range(3) for value in values]
    path.write_text("\n".join(["fs,host,mib_s", *rows]))
    answer = iosonde.compare(str(path), "fs").answer
    assert any("'host': 'repetition'" in str(warning) for warning in answer.warnings)
    assert answer.items[0].comparison.n_needed is None
