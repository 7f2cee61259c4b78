"""A drift that a step in the other direction hides: both are named, and a step or a staircase is no drift."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.changes.all_changes import find_all_changes
from iosonde.changes.find import Break, Search
from iosonde.changes.interrupted import find_interrupted_drifts
from iosonde.changes.pooled import Pool

NIGHTS, STEP = 60, 30
RATE = Search(rate=0.00125)


def draw_store(seed: int, rho: float = 0.0, sd: float = 0.015) -> np.ndarray:
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((8, NIGHTS))
    for night in range(1, NIGHTS):
        noise[:, night] = rho * noise[:, night - 1] + np.sqrt(1 - rho**2) * noise[:, night]
    return 100 * np.exp(sd * noise)


def pool_all(values: np.ndarray) -> Pool:
    rows = tuple(range(len(values)))
    return Pool(rows, values, (1,) * len(values), (rows,))


def find(values: np.ndarray) -> list[list[Break]]:
    return find_interrupted_drifts(list(values), [pool_all(values)], [()] * len(values), RATE, 0.05)


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_drift_and_the_step_that_hides_it_are_both_named(seed):
    nights = np.arange(NIGHTS)
    values = draw_store(seed) * (1 - 0.0015 * nights) * np.where(nights >= STEP, 1.08, 1.0)
    changes = find_all_changes(list(values), [pool_all(values)], Search())
    named = [several for several in changes if [change.is_drift for change in several][-2:] == [False, True]]
    assert len(named) >= 5
    for several in named:
        step, drift = several[-2:]
        assert step.first <= STEP <= step.last and abs(step.at - STEP) <= 1
        assert (drift.begin, drift.end) == (step.at, NIGHTS) and drift.at > step.at
        assert all(change.is_drift and change.end == step.at for change in several[:-2])


@pytest.mark.parametrize("rho", [0.0, 0.6])
@pytest.mark.parametrize("levels", [(1.0,), (1.0, 0.93), (1.0, 1.04, 1.08), (1.0, 0.93, 1.0)])
def test_steps_are_no_drifts(rho, levels):
    steps = np.repeat(levels, NIGHTS // len(levels))
    for seed in range(5):
        values = draw_store(seed, rho) * steps
        changes = find_all_changes(list(values), [pool_all(values)], Search())
        kept = find_interrupted_drifts(list(values), [pool_all(values)], changes, RATE, 0.05)
        assert kept == [list(several) for several in changes]
        assert not any(change.is_drift and change.begin for several in changes for change in several)


def test_a_drift_alone_is_no_step():
    values = draw_store(3) * (1 - 0.002 * np.arange(NIGHTS))
    assert all(
        change.is_drift
        for several in find_all_changes(list(values), [pool_all(values)], Search())
        for change in several
    )


def test_a_series_alone_and_too_few_nights():
    values = (
        draw_store(1, sd=0.005)[:1] * (1 - 0.003 * np.arange(NIGHTS)) * np.where(np.arange(NIGHTS) >= STEP, 1.16, 1)
    )
    (several,) = find_interrupted_drifts(list(values), [], [()], RATE, 0.05)
    assert [change.is_drift for change in several] in ([True, False, True], [False, True])
    assert find_interrupted_drifts([values[0, :22]], [], [()], RATE, 0.05) == [[]]
