"""The advice to take logarithms of a response whose effects multiply."""

import numpy as np
import pandas as pd
import pytest

import iosonde

ROWS, COLUMNS = np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)


@pytest.mark.parametrize("command", [iosonde.rank, iosonde.anova])
def test_logarithms_are_advised_of_single_trials_whose_effects_multiply(command):
    noise = np.exp(0.01 * np.random.default_rng(1).standard_normal(12))
    data = pd.DataFrame({"fs": [f"f{row}" for row in ROWS], "size": [f"s{column}" for column in COLUMNS]})
    data["mbs"] = 10 * 1.1**ROWS * 3.0**COLUMNS * noise
    assert "log(mbs)" in str(command(data, response="mbs", on=["fs", "size"]))
    data["mbs"] = np.log(data["mbs"]) + 1
    assert "log(mbs)" not in str(command(data, response="mbs", on=["fs", "size"]))
