"""A factor that is called as a statistic is, in the frame of every answer, beside it and not in its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import iosonde
from iosonde.answers.answer import build_level_columns
from iosonde.core.table import Table, build_table


def table(factor: str) -> Table:
    noise, rows = np.random.default_rng(1), [(f, m, k) for f in (1, 2, 4) for m in "ab" for k in range(6)]
    speeds = [float(100 * f**0.5 * (1.2 if m == "b" else 1) * noise.normal(1, 0.03)) for f, m, _ in rows]
    return build_table({factor: [row[0] for row in rows], "mode": [row[1] for row in rows], "speed": speeds})


def scaled(name: str) -> Any:
    """Of series that differ in the factor, over the nodes."""
    made = table(name)
    nodes = np.array([[1.0, 2.0, 4.0][k % 3] for k in range(len(made))])
    columns = build_table({"nodes": nodes.tolist()}).columns
    return iosonde.scale(Table({**made.columns, **columns}), response="speed", by=name)


ANSWERS = {
    "summary": lambda name: iosonde.summary(table(name), "speed", [name, "mode"]),
    "quantiles": lambda name: iosonde.summary(table(name), "speed", name, quantiles=True),
    "compare": lambda name: iosonde.compare(table(name), "mode", ["a", "b"], response="speed", by=name),
    "scale": scaled,
    "predict": lambda name: iosonde.predict(iosonde.fit(table(name), "speed", name, families="linear"), {name: 2}),
}


@pytest.mark.long
@pytest.mark.parametrize("what", ANSWERS)
def test_statistics_and_factors_are_both_in_the_frame(what: str) -> None:
    plain = ANSWERS[what]("zz").to_frame()
    for name in [column for column in plain.columns if column not in ("zz", "mode", "nodes")]:
        made = ANSWERS[what](name).to_frame()
        assert len(made.columns) == len(plain.columns)
        levels = made[f"{name} (factor)"]
        pd.testing.assert_series_equal(levels, plain["zz"], check_names=False, check_dtype=False)
        if plain[name].dtype != object:
            pd.testing.assert_series_equal(made[name], plain[name])


def test_other_factors_keep_their_names() -> None:
    assert build_level_columns({"fs": "a", "n": 4}, {"n": 6, "mean": 1.0}) == {"fs": "a", "n (factor)": 4}
