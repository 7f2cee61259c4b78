"""The bound of DATA: every cell is told from the next, and every point stands under its own bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from messages import assert_problem, with_code

pytest.importorskip("iosonde.engine._native")
from iosonde.commands.bound.answer import How, bound
from iosonde.commands.bound.inputs import SystemDescription, read_inputs
from iosonde.core.types import Factor, Observation, Run
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.model.bound.roofline import build_rooflines, choose_axis
from iosonde.store import Store

NET = {"network": "100MB/s"}


def made_of(path: Path, fields: dict[str, str], *by: str, how: How | None = None):
    source = open_data(str(path))
    return bound(source, read_inputs(SystemDescription(fields), source.table, 0.95), ResponseQuery(on=by), how)


def table(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_where_servers_equal_clients_every_point_stands_under_its_own_bound(tmp_path):
    rows = [f"{n},{m},{60 * min(n, m) + r}\n" for n in (1, 2, 4) for m in (1, 2, 4) for r in range(2)]
    path = table(tmp_path / "t.csv", "clients,servers,write_MB/s\n" + "".join(rows))
    made = made_of(path, NET | {"clients": "clients", "servers": "servers"})
    found = build_rooflines(made.shares, "clients")
    assert [one.title for one in found] == [f"write_MB/s, servers={m}" for m in (1, 2, 4)]
    for one in found:
        assert [mark.x for mark in one.points] == [1, 2, 4]
        for mark in one.points:
            assert mark.measured.value <= one.s[one.xs.index(mark.x)]


def test_servers_that_always_change_with_clients_are_panels_of_their_own(tmp_path):
    rows = [f"{n},{n},{60 * n + r}\n" for n in (1, 2, 4) for r in range(2)]
    path = table(tmp_path / "t.csv", "clients,servers,write_MB/s\n" + "".join(rows))
    made = made_of(path, NET | {"clients": "clients", "servers": "servers"})
    found = build_rooflines(made.shares, "clients")
    assert [(one.title, one.points[0].x) for one in found] == [(f"write_MB/s, servers={n}", n) for n in (1, 2, 4)]
    assert all(one.points[0].measured.value <= one.s[one.xs.index(one.points[0].x)] for one in found)


def test_sizes_of_requests_are_the_axis_if_they_differ(tmp_path):
    rows = [f"{t},{n},{30 * n + r}\n" for t in ("64k", "1m") for n in (1, 2) for r in range(2)]
    path = table(tmp_path / "t.csv", "transfer_size,nodes,write_MB/s\n" + "".join(rows))
    made = made_of(path, NET | {"clients": "nodes"})
    assert choose_axis(made.shares) == "request"
    found = made.rooflines(None)
    assert [one.title for one in found] == [f"write_MB/s, nodes={n}" for n in (1, 2)]
    for one in found:
        assert one.sizes and [mark.x for mark in one.points] == [65536.0, 2.0**20]
        assert len(set(one.s)) == 1, "the bound does not depend on a size that the system does not have"
    assert [one.x_name for one in made.rooflines("clients")] == ["clients"] * 2


def test_one_size_is_no_axis(tmp_path):
    rows = [f"64k,{n},{30 * n + r}\n" for n in (1, 2) for r in range(2)]
    path = table(tmp_path / "t.csv", "transfer_size,nodes,write_MB/s\n" + "".join(rows))
    made = made_of(path, NET | {"clients": "nodes"})
    assert choose_axis(made.shares) == "clients" == made.rooflines(None)[0].x_name


def stored(path: Path, runs: list[tuple[dict, dict, float]], factors: list[Factor] | None = None) -> Path:
    """A store of (factors, facts, bytes/s)."""
    from iosonde.core.types import Experiment

    store = Store.create(path)
    store.save_experiment(Experiment("e", "x", factors or [], {}, [], 0, "2026-11-21T10:00:00Z"))
    for number, (levels, facts, rate) in enumerate(runs):
        rows = [Observation("write_large", "bandwidth_last_done", rate, "bytes/s")]
        store.append(
            Run(
                f"e-{number:04d}",
                "e",
                "iosonde envelope",
                f"2026-11-21T10:{number:02d}:00Z",
                1.0,
                {"nodes": 1, **levels},
                rows,
                facts,
            )
        )
    return path


def on(target: str, kind: str = "ext4") -> dict:
    return {"target": target, "machine": {"mount": {"type": kind}}}


@pytest.mark.parametrize(
    ("facts", "name", "levels"),
    [
        ((on("/a"), on("/b")), "target", ["/a", "/b"]),
        ((on("/mnt", "nfs4"), on("/mnt", "lustre")), "filesystem", ["nfs4", "lustre"]),
    ],
)
def test_two_targets_or_file_systems_in_one_store_are_cells_of_their_own(tmp_path, facts, name, levels):
    runs = [({}, facts[n % 2], rate + n) for n, rate in enumerate((50e6, 90e6) * 3)]
    made = made_of(stored(tmp_path / "s", runs), NET)
    assert [(one.by, one.measured.n) for one in made.shares] == [({name: level}, 3) for level in levels]
    assert [one.share.value for one in made.shares] == pytest.approx([0.5, 0.9], abs=1e-3)


def test_a_probe_of_another_directory_adds_no_factor(tmp_path):
    path = stored(tmp_path / "s", [({}, on("/a"), 50e6), ({}, on("/a"), 51e6)])
    rows = [Observation("disk_write", "bandwidth", 1e8, "bytes/s", rank=0)]
    Store.open(path).append(Run("p-0", "p", "iosonde probe", "2026-11-21T09:00:00Z", 1.0, {"nodes": 1}, rows, on("/b")))
    assert [one.by for one in made_of(path, NET).shares] == [{}]


def test_by_is_taken_of_a_store_too(tmp_path):
    runs = [
        ({"fs": fs, "size": size}, on("/a"), 50e6 + n)
        for n, (fs, size) in enumerate((fs, size) for fs in "ab" for size in (1, 2) for _ in range(2))
    ]
    path = stored(tmp_path / "s", runs, [Factor("fs", "", ("a", "b")), Factor("size", "", (1, 2))])
    assert len(made_of(path, NET).shares) == 4
    assert [(one.by, one.measured.n) for one in made_of(path, NET, "fs").shares] == [({"fs": "a"}, 4), ({"fs": "b"}, 4)]


def test_one_row_a_cell_and_the_json_has_no_nan(tmp_path):
    path = table(tmp_path / "t.csv", "fs,write_MB/s\na,50\nb,60\n")
    made = made_of(path, NET)
    assert [row["fs"] for row in made.records()] == ["a", "b"] and made.to_dict()["schema"] == 1
    assert not made.problem


def test_clients_that_are_given_come_before_the_nodes_of_the_trials_and_that_is_said(tmp_path):
    path = stored(tmp_path / "s", [({"nodes": n}, {}, 1e8 * n + trial) for n in (1, 2) for trial in range(2)])
    own = made_of(path, NET)
    assert [one.ceiling.system.clients for one in own.shares] == [1, 2] and not own.warnings
    given = made_of(path, NET | {"clients": "7", "servers": "9"})
    assert [one.ceiling.system.clients for one in given.shares] == [7, 7]
    assert_problem(with_code(given.warnings, "fixed-clients"), "fixed-clients", n_clients=7)
    column = made_of(path, NET | {"clients": "nodes"})
    assert [one.ceiling.system.clients for one in column.shares] == [1, 2] and not column.warnings


def test_runs_are_held_against_the_roles_of_a_cluster_file(tmp_path):
    facts = on("/mnt/x") | {"hosts": ["n1", "io1"]}
    store = stored(tmp_path / "s", [({"nodes": 2}, facts, 1e8), ({"nodes": 2}, facts, 1.1e8)])
    (tmp_path / "c.yaml").write_text(
        "nodes: {'n[1-2]': client, io1: {role: server, disks: 1}}\ntoday: {network: 112MB/s}"
    )
    said = SystemDescription(cluster=str(tmp_path / "c.yaml"))
    source = open_data(str(store))
    warnings = bound(source, read_inputs(said, source.table, 0.95), ResponseQuery()).warnings
    assert len(warnings) == 2 and [name in " ".join(warnings) for name in ("io1", "n2")] == [True, True]
