"""Which columns vary although nobody asked about them."""

from __future__ import annotations

from itertools import product

import declared_sample
import pytest

from iosonde.core.table import build_table
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import choose_response
from iosonde.data.source import open_data
from iosonde.data.varying import list_columns_in, list_other_varying
from iosonde.store import Store


def test_of_a_store_the_other_factors_and_those_that_go_with_them(tmp_path):
    source = open_data(declared_sample.store(tmp_path / "s")).separate_last(("nodes",))[0]
    response = choose_response(source, ResponseQuery(("write",), ("nodes",)))
    assert list_other_varying(source, response, ["nodes"]) == ("fs", "servers")
    assert list_other_varying(source, response, ["nodes", "fs", "servers"]) == ()


@pytest.mark.parametrize("named", ["nodes", "ranks"])
def test_ranks_that_grow_with_the_nodes_are_their_number(tmp_path, named):
    made = Store.create(tmp_path / "s")
    cells = list(product((1, 2, 4), range(3)))
    made.save_experiment(
        Experiment(
            id="e",
            name="e",
            settings={},
            seed=1,
            created_at="2026-11-21T10:00:00Z",
            factors=[Factor("nodes", levels=(1, 2, 4)), Factor("ranks", levels=(4, 8, 16))],
            trials=[Trial(i, {"nodes": n, "ranks": 4 * n}, r, r, i) for i, (n, r) in enumerate(cells)],
        )
    )
    for number, (n, r) in enumerate(cells):
        rows = [Observation("write", "bandwidth_last_done", 1e8 * n + r, "bytes/s")]
        factors = {"nodes": n, "ranks": 4 * n, "repetition": r}
        made.append(
            Run(
                id=f"e-{number}",
                experiment="e",
                source="test",
                seconds=1.0,
                factors=factors,
                observations=rows,
                started_at=f"2026-11-21T10:00:{number:02}Z",
            )
        )
    source = open_data(made)
    assert list_other_varying(source, choose_response(source, ResponseQuery(("write",), (named,))), [named]) == ()


def test_what_a_response_is_computed_from_is_no_setting():
    rows = {"nodes": [1, 2] * 6, "fs": ["a", "a", "b", "b"] * 3, "time (s)": [1.5 + 0.01 * k for k in range(12)]}
    table = build_table(rows)
    assert list_columns_in(table, ["time (s)"]) == ["time (s)"]
    source = open_data(build_table({**rows, "seconds": rows["time (s)"]}))
    response = choose_response(source, ResponseQuery(("log(seconds)",), ("fs",)))
    assert list_other_varying(source, response, ["fs"]) == ("nodes",)
