"""The campaign that iosonde measured: what was set aside is predicted as often as the intervals claim."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from iosonde.data.source import open_data
from iosonde.model.fit import fitted
from iosonde.model.fit.choose import choose_model
from iosonde.model.fit.features import build_examples
from iosonde.model.fit.folds import group_inseparable_rows
from iosonde.model.fit.validate import Candidate

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "golden" / "data" / "what_matters.csv"
FACTORS = ["file_system", "access", "request_KiB", "pattern", "processes"]


@pytest.mark.long
@pytest.mark.parametrize("response", ["write", "read"])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_settings_that_were_set_aside_are_inside_as_often_as_claimed(response, level):
    data = build_examples(open_data(str(DATA), ()).table, response, FACTORS)
    settings = np.unique(data.cells)
    inside = []
    for seed in range(8):
        aside = np.random.default_rng(seed).choice(settings, 18, replace=False)
        held = np.isin(data.cells, aside)
        learn = data.take(np.flatnonzero(~held))
        model = choose_model(
            learn, [Candidate("tree", {"depth": 3})], group_inseparable_rows(learn), None, level, seed
        ).model
        for row in np.flatnonzero(held):
            setting = {
                f.name: float(v) if f.numeric else f.levels[int(v)]
                for f, v in zip(data.features, data.x[row], strict=True)
            }
            said = fitted.predict_setting(model, setting, level).value
            inside.append(said.low <= data.y[row] <= said.high)
    assert len(inside) == 8 * 90
    assert level - 0.03 <= np.mean(inside) <= level + 0.07


def test_hold_out_keeps_repeats_together_and_loses_no_row(tmp_path):
    args = [sys.executable, ROOT / "examples" / "hold_out.py", DATA, ",".join(FACTORS), "0.25", "1"]
    said = subprocess.run(args, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60).stdout
    assert re.findall(r"\d+", said) == ["54", "18"]
    parts = []
    for name in ("learn.csv", "judge.csv"):
        with (tmp_path / name).open(newline="") as file:
            parts.append([tuple(row[factor] for factor in FACTORS) for row in csv.DictReader(file)])
    assert (len(parts[0]), len(parts[1])) == (270, 90)
    assert not set(parts[0]) & set(parts[1])
