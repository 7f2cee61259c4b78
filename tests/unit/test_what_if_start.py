"""The setting from which a page asks what if."""

from __future__ import annotations

import numpy as np

from iosonde.commands.rank.content import find_what_ifs
from iosonde.core.table import build_table
from iosonde.core.types import Better
from iosonde.model.fit.features import build_examples
from iosonde.model.fit.fitted import train_model


def test_what_if_starts_at_the_middle_levels_though_another_setting_has_the_median_mean():
    clients = np.repeat([1, 4, 16, 64, 256], 2)
    rate = np.repeat([50.0, 10.0, 20.0, 40.0, 30.0], 2)  # the median is at 256
    examples = build_examples(
        build_table({"clients": clients, "fs": ["a", "b"] * 5, "y": rate + np.tile([0.0, 1.0], 5)}),
        "y",
        ["clients", "fs"],
    )
    what_ifs = find_what_ifs(
        examples, train_model(examples, "tree", {"depth": 0, "min_leaf": 1}, 0), Better.HIGHER, 0.9
    )
    assert what_ifs is not None and what_ifs.setting.startswith("clients=16")
