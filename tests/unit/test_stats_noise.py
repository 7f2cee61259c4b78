"""The noise passport: known spreads come back, random halves keep the level, a drift shows in neighbouring ones."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from iosonde.stats import noise
from iosonde.stats.cells import TrialCell
from iosonde.stats.ratio import ratio_of_means, side
from iosonde.stats.table import table_of


def cells(spread: float, n: int = 12, drift: float = 0.0, many: int = 8) -> list[TrialCell]:
    rng = np.random.default_rng(5)
    walk = np.exp(drift * np.arange(n))
    return [TrialCell({"k": k}, "rate", "op/s", 100 * k * walk * np.exp(spread * rng.standard_normal(n)), "open")
            for k in range(1, many + 1)]  # fmt: skip


def test_the_spread_comes_back_and_random_halves_keep_the_level():
    (entry,) = noise.passport(cells(0.05), 0.95)
    assert entry.between_trials == pytest.approx(0.05, rel=0.2)
    assert entry.false_alarms_random == pytest.approx(0.05, abs=0.02)
    assert (entry.n_cells, entry.n_trials) == (8, 96)


def test_a_slow_change_shows_between_neighbouring_halves():
    (entry,) = noise.passport(cells(0.01, drift=0.01), 0.95)
    assert entry.false_alarms_neighbours == 1.0
    assert entry.false_alarms_random < 0.1


@pytest.mark.parametrize("n", [6, 20])
def test_the_detectable_difference_is_detected_as_often_as_said(n):
    rng, spread = np.random.default_rng(9), 0.04
    shift = 1 + noise.detectable(spread, n, 0.95)
    seen = []
    for _ in range(600):
        a, b = np.exp(spread * rng.standard_normal((2, n)))
        seen.append(ratio_of_means(side(b * shift), side(a), 0.95).low > 1)
    assert np.mean(seen) == pytest.approx(0.8, abs=0.06)


def test_few_trials_give_no_rate():
    (entry,) = noise.passport(cells(0.05, n=4), 0.95)
    assert entry.false_alarms_random is None and entry.detectable[6] > entry.detectable[50]
    assert noise.passport(cells(0.05, n=1), 0.95) == []


def test_the_spread_between_ranks_is_inside_trials():
    rows = [
        ("open", "rate_own", run, rank, 100 * (1 + run) * (1 + 0.1 * rank)) for run in range(4) for rank in range(2)
    ]
    names = ("operation", "metric", "run", "rank", "value")
    table = table_of({name: [str(r[i]) if name == "run" else r[i] for r in rows] for i, name in enumerate(names)})
    assert noise.between_ranks(table)["open"] == pytest.approx(np.std(np.log([1, 1.1]), ddof=1))
    assert noise.between_ranks(table_of({"x": [1.0]})) == {}


def test_check_prints_it(tmp_path):
    from iosonde.cli import check

    path = tmp_path / "t.csv"
    rng = np.random.default_rng(1)
    path.write_text("fs,y\n" + "".join(f"{fs},{rng.normal(100, 2):.4f}\n" for fs in "ab" for _ in range(12)))
    args = [str(path), "--noise"]
    text = CliRunner().invoke(check.command, args, catch_exceptions=False).stdout
    assert "noise passport" in text and max(map(len, text.splitlines())) < 80
    (entry,) = json.loads(CliRunner().invoke(check.command, [*args, "--json"], catch_exceptions=False).stdout)["noise"]
    assert 0.01 < entry["between_trials"] < 0.04 and set(entry["detectable"]) == {"6", "10", "20", "50"}
