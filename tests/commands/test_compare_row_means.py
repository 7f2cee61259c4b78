"""``compare`` of rows that are means with their sd and n: as of the trials behind them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import iosonde
from iosonde.stats.estimate.compare import Comparison
from iosonde.stats.estimate.ratio import compute_moments, moments_from_summary, pool_moments


def draw_trials(seed: int, clients: Sequence[int], sd: float = 0.08, n: int = 5) -> dict[tuple[str, int], np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        (fs, count): 500 * count * (1 + 0.02 * (fs == "b")) * np.exp(rng.normal(0, sd, n + (fs == "b")))
        for fs, count in product("ab", clients)
    }


def write_trials(path: Path, trials: dict[tuple[str, int], np.ndarray]) -> str:
    rows = [f"{fs},{count},{value}" for (fs, count), values in trials.items() for value in values]
    path.write_text("\n".join(["fs,clients,mib_s", *rows]) + "\n")
    return str(path)


def write_means(path: Path, trials: dict[tuple[str, int], np.ndarray], head: str = "sd", parts: int = 1) -> str:
    rows = []
    for (fs, count), every in trials.items():
        for values in np.array_split(every, parts):
            spread = values.std(ddof=1) / (values.size**0.5 if head == "stderr" else 1)
            rows.append(f"{fs},{count},{values.mean()},{spread},{values.size}")
    path.write_text("\n".join([f"fs,clients,mean_mib_s,{head},n", *rows]) + "\n")
    return str(path)


def compare(data: str, **options: object) -> Comparison:
    (item,) = iosonde.compare(data, "fs", **options).answer.items
    return item.comparison


@pytest.mark.parametrize(("head", "parts"), [("sd", 1), ("stderr", 1), ("sd", 2)])
def test_means_say_what_their_trials_say(head, parts, tmp_path):
    trials = draw_trials(1, [1], n=6)
    of_trials = compare(write_trials(tmp_path / "trials.csv", trials), adjust=())
    of_means = compare(write_means(tmp_path / "means.csv", trials, head, parts), adjust=())
    assert of_means.t == pytest.approx(of_trials.t, rel=1e-9)
    assert of_means.df == pytest.approx(of_trials.df, rel=1e-9)
    assert of_means.p == pytest.approx(of_trials.p, rel=1e-9)
    assert (of_means.a.side.n, of_means.b.side.n) == (of_trials.a.side.n, of_trials.b.side.n)


def test_means_in_cells_say_what_their_trials_say(tmp_path):
    trials = draw_trials(2, [1, 4, 16])
    of_trials = compare(write_trials(tmp_path / "trials.csv", trials))
    of_means = compare(write_means(tmp_path / "means.csv", trials))
    assert of_means.cells == of_trials.cells == 3
    assert of_means.p == pytest.approx(of_trials.p, rel=0.1)
    for end in ("value", "low", "high"):
        assert getattr(of_means.ratio, end) == pytest.approx(getattr(of_trials.ratio, end), rel=0.005)


def test_equal_ratios_of_uncertain_means_are_no_difference(tmp_path):
    path = tmp_path / "means.csv"
    rows = [f"{fs},{n},{500 * n * (1 + 0.016 * (fs == 'b'))},{45 * n},5" for fs, n in product("ab", (1, 4, 16))]
    path.write_text("\n".join(["fs,clients,mean_mib_s,sd,n", *rows]) + "\n")
    item = iosonde.compare(str(path), "fs").answer.items[0]
    assert str(item.state) == "inconclusive"
    assert not item.comparison.a.is_published and item.comparison.a.side.n == 15


def test_means_without_their_number_count_as_trials_and_say_so(tmp_path):
    path = tmp_path / "means.csv"
    rows = [f"{fs},{n},{500 * n + 7 * len(fs) + n},{45 * n}" for fs, n in product(("a", "bb"), (1, 4, 16))]
    path.write_text("\n".join(["fs,clients,mean_mib_s,sd", *rows]) + "\n")
    answer = iosonde.compare(str(path), "fs").answer
    assert answer.items[0].comparison.a.side.n == 3
    assert any(getattr(text, "code", "") == "rows-are-means" for text in answer.warnings)


def test_pooled_moments_are_those_of_all_trials():
    values = np.random.default_rng(3).normal(50, 7, 19)
    several = [
        moments_from_summary(x.mean(), x.std(ddof=1), x.size)
        for x in (values[:1], values[1:9], values[9:])
        if x.size > 1
    ]
    several.append(moments_from_summary(float(values[0]), 0.0, 1))
    pooled, direct = pool_moments(several), compute_moments(values)
    assert (pooled.n, pooled.mean, pooled.sd) == pytest.approx((direct.n, direct.mean, direct.sd))
