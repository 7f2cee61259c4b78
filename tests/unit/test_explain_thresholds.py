"""Constants of advice and causes at their edges."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from iosonde.core.table import Table, build_table
from iosonde.explain.advise_gain import mark_settings_tied_with_best
from iosonde.explain.classes import DensityClasses
from iosonde.explain.cost import BLOCKS, Account, estimate_class_shares
from iosonde.explain.instances import build_instances
from iosonde.stats.estimate.distributions import t_quantile


def table(gap: float, settings: int) -> Table:
    """Two trials a setting at e^(±0.1) of its mean; the best setting is better than all others by this log ratio."""
    names = np.repeat(np.arange(settings), 2)
    logs = np.resize([-0.1, 0.1], 2 * settings) + np.where(names == 0, gap, 0.0)
    return build_table({"set": [f"s{name}" for name in names], "v": np.exp(logs).tolist()})


@pytest.mark.parametrize("settings", [2, 6])
def test_settings_are_compared_with_the_best_at_one_level_for_all(settings):
    """Each trial is 0.1 from its mean: the noise is 0.1·√2, known with a degree of freedom a setting."""
    limit = t_quantile(1 - 0.05 / (settings - 1), settings) * 0.1 * np.sqrt(2)
    for factor, ties in ((0.98, settings), (1.02, 1)):
        cells = build_instances(table(factor * limit, settings), "v", ["set"], [], False)
        assert int(mark_settings_tied_with_best(cells, 0.95).sum()) == ties


def test_slow_operations_in_one_episode_leave_more_open_than_the_same_ones_apart():
    """A fifth of the parts is slow: eight together, or each alone."""
    classes, widths = cast(DensityClasses, SimpleNamespace(count=2, fast=0)), {}
    for name, slow in (("together", np.arange(8)), ("apart", np.arange(8) * 5)):
        counts = np.tile([10.0, 0.0], (BLOCKS, 1))
        counts[slow] = [0.0, 10.0]
        trial = Account(counts, counts * [1.0, 2.0], 1, float((counts * [1.0, 2.0]).sum()), 0)
        share = estimate_class_shares([trial], classes, 0.95)[1].share
        widths[name] = share.high - share.low
    assert widths["together"] > 1.5 * widths["apart"]
