"""Several stores in one figure: what was measured of each file system is a line of its own."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

pytest.importorskip("iosonde.engine._native")
from iosonde.cli.group import cli
from iosonde.core.types import Experiment, Factor, Observation, Run
from iosonde.store import Store


def stored(path, name: str, kind: str, rate: float) -> str:
    store = Store.create(path)
    factors = [Factor("nodes", "nodes", (1, 2, 4))]
    store.save_experiment(Experiment(name, name, factors, {}, [], 0, "2026-11-21T10:00:00Z"))
    for number in range(6):
        nodes = (1, 2, 4)[number % 3]
        rows = [Observation("write_large", "bandwidth_last_done", rate * nodes + number, "bytes/s")]
        facts = {"target": "/mnt/x", "machine": {"mount": {"type": kind}}}
        store.append(
            Run(
                f"{name}-{number:04d}",
                name,
                "iosonde envelope",
                f"2026-11-21T10:{number:02d}:00Z",
                1.0,
                {"nodes": nodes},
                rows,
                facts,
            )
        )
    return str(path)


def test_stores_of_two_file_systems_become_one_figure_with_a_line_each(tmp_path):
    places = [stored(tmp_path / kind, f"of-{kind}", kind, rate) for kind, rate in (("nfs4", 1e8), ("lustre", 3e8))]
    both = str(tmp_path / "both")
    done = CliRunner().invoke(cli, ["store", "merge", both, *places], catch_exceptions=False)
    assert done.exit_code == 0
    made = json.loads(CliRunner().invoke(cli, ["plot", both, "--json"], catch_exceptions=False).stdout)
    (figure,) = made["figures"]
    assert (figure["x"], figure["color"]) == ("nodes", "filesystem")
    (panel,) = figure["panels"]
    assert {(*one["setting"].values(), one["mean"]["n"]) for one in panel["points"]} == {
        (nodes, kind, 2) for kind in ("nfs4", "lustre") for nodes in (1, 2, 4)
    }
