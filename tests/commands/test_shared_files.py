"""N-to-1 reads: who is counted is who is divided by, and one shared file lies on one server."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("iosonde.engine._native")
from iosonde.commands.bound.answer import ABOVE, bound
from iosonde.commands.bound.inputs import SystemDescription, read_inputs
from iosonde.commands.bound.shared_files import THE_FILES
from iosonde.commands.check.answer import check
from iosonde.commands.scale.answer import scale
from iosonde.commands.summary.answer import summary
from iosonde.core.errors import DataError
from iosonde.core.stored import StoredRun
from iosonde.core.types import Factor, Observation, Run
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.stats.overview.probed_limits import ProbedLimits
from iosonde.store import Store
from messages import assert_problem, codes, raises, with_code

READ = "read_nto1_large"
LINK = 100e6
GLUSTER, SPREAD = ("fuse.glusterfs", {"type": "Replicate"}), ("fuse.glusterfs", {"type": "Disperse"})
TWO_SERVERS = {"network": "100MB/s", "servers": "2", "disks": "2", "disk": "500MB/s"}


def stored(
    path: Path,
    writer: dict,
    on: tuple = GLUSTER,
    rates: tuple = (96e6, 98e6),
    write: float = 60e6,
    ranks_per_node: int = 1,
    phase: dict | None = None,
) -> Path:
    """Three trials on one node and on two; of two, ``writer`` is what the phase says of the writer's node."""
    from iosonde.core.types import Experiment

    kind, layout = on
    store = Store.create(path)
    store.save_experiment(Experiment("e", "x", [Factor("nodes", "nodes", (1, 2))], {}, [], 0, "2026-11-21T10:00:00Z"))
    for number in range(6):
        nodes = 1 + number % 2
        told = writer if nodes == 2 else {}
        rows = [
            Observation(READ, "bandwidth_last_done", rates[nodes - 1] + number, "bytes/s"),
            Observation("write_large", "bandwidth_last_done", write * nodes + number, "bytes/s"),
        ]
        if told and not told.get("writer_counted"):
            rows.append(Observation(f"{READ}_writer_node", "bandwidth_last_done", 50e6, "bytes/s"))
        ranks = [{"rank": rank, "node": rank, "bytes": 10**6} for rank in range(nodes)]
        cache = {"state": "cold-requested"}
        common = {"ranks": ranks, "cache": cache, "totals": {}, "comparable": True, "duration_ns": 10**9}
        read_it = {"index": 0, "name": READ, "operation": READ, "shared": True, "counted_kind": "read"}
        wrote = {"index": 1, "name": "write_large", "operation": "write_large", "shared": False, **(phase or {})}
        phases = [{**read_it, **common, **told}, {**wrote, **common}]
        of_ranks = list(range(nodes)) * ranks_per_node
        machine = {"mount": {"type": kind}, "filesystem": {"family": "x", **layout}}
        facts = {
            "hosts": [f"n{rank}" for rank in range(nodes)],
            "nodes": of_ranks,
            "target": "/mnt",
            "machine": machine,
        }
        store.append(
            Run(
                f"e-{number:04d}",
                "e",
                "iosonde envelope",
                f"2026-11-21T10:{number:02d}:00Z",
                1.0,
                {"nodes": nodes, "repetition": number // 2},
                rows,
                facts,
                phases=phases,
            )
        )
    return path


def bounds(path: Path, **fields: str):
    source = open_data(str(path))
    made = bound(source, read_inputs(SystemDescription(TWO_SERVERS | fields), source.table, 0.95), ResponseQuery())
    return made, {(one.operation, one.by["nodes"]): one for one in made.shares}


COUNTED = {"writer_counted": True, "writer_cache": "cold-verified"}
APART = {"writer_counted": False, "writer_cache": "cold-requested"}


def test_all_readers_that_were_cold_share_the_link_of_the_one_server_that_has_the_file(tmp_path):
    made, found = bounds(stored(tmp_path / "s", COUNTED))
    two = found[READ, 2]
    assert two.ceiling.system.clients == 2 and two.ceiling.s == LINK and two.ceiling.limit == ("network_servers",)
    assert two.share.value == pytest.approx(0.98, abs=0.001)
    assert found["write_large", 2].ceiling.s == pytest.approx(1.5 * LINK, rel=0.01)  # a file each, where chance puts it
    assert {one.values["n_servers"] for one in made.warnings if one.code == "shared-file"} == {1}


def test_readers_that_are_not_counted_are_not_divided_by_and_that_is_said(tmp_path):
    made, found = bounds(stored(tmp_path / "s", APART, rates=(96e6, 50e6)))
    assert found[READ, 2].ceiling.system.clients == 1 == found[f"{READ}_writer_node", 2].ceiling.system.clients
    excluded = [one.values for one in made.warnings if one.code == "writer-excluded"]
    expected = {"n_readers": 1, "n_nodes": 2, "cache": "cold-requested"}
    assert {READ: {"operation": READ, **expected}}.items() <= {one["operation"]: one for one in excluded}.items()


@pytest.mark.parametrize(("on", "fields"), [(SPREAD, {}), (("ceph", {}), {}), (GLUSTER, {"stripe_count": "2"})])
def test_a_file_that_is_spread_has_all_servers(tmp_path, on, fields):
    made, found = bounds(stored(tmp_path / "s", COUNTED, on), **fields)
    assert found[READ, 2].ceiling.s == 2 * LINK and not {"shared-file", "whole-files"} & set(codes(made.warnings))


def test_the_disks_of_one_server_read_one_file(tmp_path):
    _, found = bounds(stored(tmp_path / "s", COUNTED), disks="4", disk="20MB/s")
    assert found[READ, 2].ceiling.s == 2 * 20e6
    assert found["write_large", 2].ceiling.s == pytest.approx(3 * 20e6, rel=0.01)  # by chance on one server, or on both


def test_files_of_many_clients_lie_where_chance_puts_them_and_that_is_said(tmp_path):
    path = stored(tmp_path / "s", COUNTED)
    made, found = bounds(path)
    assert found["write_large", 1].ceiling.s == LINK  # one client has one link, whatever server has its file
    assert_problem(with_code(made.warnings, "whole-files"), "whole-files", placement="groups")
    assert found["write_large", 2].sources["placement"] == THE_FILES
    said, by_hand = bounds(path, stripe_count="2")
    assert by_hand["write_large", 2].ceiling.s == 2 * LINK and "whole-files" not in codes(said.warnings)


def test_luck_is_not_above_the_bound_and_more_than_the_best_case_is(tmp_path):
    """A mean over placements may be exceeded; two files on two servers have two links at best."""
    made, lucky = bounds(stored(tmp_path / "a", COUNTED, write=90e6))
    usual, _ = bounds(stored(tmp_path / "c", COUNTED))
    assert "Above 100 %" in made.sentence and "Above 100 %" not in usual.sentence
    assert lucky["write_large", 2].share.low > 1 and lucky["write_large", 2].verdict == ""
    _, beyond = bounds(stored(tmp_path / "b", COUNTED, write=110e6))
    assert beyond["write_large", 2].verdict == ABOVE


def test_ranks_of_a_node_have_a_file_each_and_one_after_another_none_is_beside(tmp_path):
    _, found = bounds(stored(tmp_path / "a", COUNTED, ranks_per_node=4))
    of_ranks = found["write_large", 2].ceiling
    assert of_ranks.system.files == 8 and 1.5 * LINK < of_ranks.s < 2 * LINK
    _, found = bounds(stored(tmp_path / "b", COUNTED, phase={"on": "each"}))
    assert found["write_large", 2].ceiling.system.stripe_count is None


@pytest.mark.parametrize(
    ("on", "s"), [(("lustre", {"striping": {"stripe_count": 1}}), 2 * LINK), (("nfs", {}), 2 * LINK)]
)
def test_where_nobody_knows_that_chance_chooses_the_best_case_stays_the_bound(tmp_path, on, s):
    _, found = bounds(stored(tmp_path / "s", COUNTED, on))
    assert found["write_large", 2].ceiling.s == s


COPIED = ("fuse.glusterfs", {"type": "Replicate", "copies": 2, "copied_by": "client", "servers": ["a", "b"]})


def test_copies_and_servers_are_those_that_the_file_system_told(tmp_path):
    """Two copies by the client halve what its link carries; nobody has to say so."""
    path, source = stored(tmp_path / "s", COUNTED, COPIED), open_data(str(tmp_path / "s"))
    made = bound(source, read_inputs(SystemDescription({"network": "100MB/s"}), source.table, 0.95), ResponseQuery())
    found = {(one.operation, one.by["nodes"]): one.ceiling.s for one in made.shares}
    assert (found["write_large", 1], found["write_large", 2]) == (LINK / 2, LINK)
    assert found[READ, 2] == 2 * LINK  # a copy on each of two servers
    assert with_code(made.warnings, "own-redundancy").startswith("2 ")
    assert "client" in with_code(made.warnings, "own-redundancy")
    assert_problem(with_code(made.warnings, "own-servers"), "own-servers", n_servers=2)
    said, by_hand = bounds(path, replicas="1")
    assert by_hand["write_large", 2].ceiling.s == pytest.approx(1.5 * LINK, rel=0.01)
    assert not {"own-redundancy", "own-servers"} & set(codes(said.warnings))


@pytest.mark.parametrize(
    ("layout", "amount"),
    [
        ({"copies": 2, "copied_by": "servers", "servers": ["a", "b"]}, 1.0),
        ({"data_parts": 2, "parity_parts": 1}, 1.5),
        ({"copies": "2", "copied_by": "client"}, 1.0),
        ({"copies": True, "copied_by": []}, 1.0),
        ({"servers": "ab"}, 1.0),
    ],
)
def test_who_makes_the_copies_decides_and_what_is_no_number_says_nothing(tmp_path, layout, amount):
    source = open_data(str(stored(tmp_path / "s", COUNTED, ("ceph", layout))))
    made = bound(
        source, read_inputs(SystemDescription({"client_network": "100MB/s"}), source.table, 0.95), ResponseQuery()
    )
    (one,) = [one for one in made.shares if (one.operation, one.by["nodes"]) == ("write_large", 1)]
    assert one.ceiling.s == pytest.approx(LINK / amount)


def test_a_write_without_fsync_is_on_the_same_one_server(tmp_path):
    path = stored(tmp_path / "s", {})
    name, whole = "write_buffered_shared_strided", "write_shared_strided"
    rows = [Observation(name, "bandwidth_last_done", 50e6, "bytes/s")]
    phase = {
        "index": 0,
        "name": whole,
        "operation": whole,
        "shared": True,
        "counted_kind": "write",
        "totals": {},
        "ranks": [{"rank": rank, "node": rank, "bytes": 1} for rank in (0, 1)],
        "cache": None,
        "duration_ns": 1,
    }
    facts = {"nodes": [0, 1], "target": "/mnt", "machine": {"mount": {"type": "fuse.glusterfs"}, "filesystem": {}}}
    Store.open(path).append(
        Run(
            "e-9",
            "e",
            "iosonde envelope",
            "2026-11-21T10:59:00Z",
            1.0,
            {"nodes": 2, "repetition": 9},
            rows,
            facts,
            phases=[phase],
        )
    )
    _, found = bounds(path)
    assert found[name, 2].ceiling.s == LINK


def test_efficiency_is_of_all_readers_or_is_not_told(tmp_path):
    told = summary(open_data(str(stored(tmp_path / "a", COUNTED))), ResponseQuery()).overview
    (of_read,) = [one for one in told.efficiency if one.operation == READ]
    assert of_read.efficiency.value == pytest.approx(0.51, abs=0.01)
    silent = summary(open_data(str(stored(tmp_path / "b", APART, rates=(96e6, 50e6)))), ResponseQuery()).overview
    assert {one.operation for one in silent.efficiency} == {"write_large"}
    assert any(READ in one for one in silent.warnings) and not any(READ in one for one in told.warnings)


def test_scaling_leaves_out_what_is_not_of_all_readers(tmp_path):
    source = open_data(str(stored(tmp_path / "s", APART)))
    made = scale(source, ResponseQuery())
    assert {one.series.response for one in made.items} == {"write_large bandwidth_last_done"}
    assert any(READ in one for one in made.warnings)
    assert {
        one.series.response.split()[0]
        for one in scale(open_data(str(stored(tmp_path / "t", COUNTED))), ResponseQuery()).items
    } == {READ, "write_large"}


# What the store's own probe says of these rates (S127)


def with_probe(path: Path, hosts: tuple[str, ...] = ("n0", "n1"), forth: float = 20e6) -> Path:
    pair = {"a": 0, "b": 1, "sweep": [[8, 1e-6]], "forth": forth, "back": forth, "sent_bytes": 1, "crossed_bytes": 1}
    nodes = [
        {
            "rank": i,
            "host": host,
            "cores": 1,
            "copy_one": 1e9,
            "copy_all": 1e9,
            "disk": {"write": 1e6, "read": 1e6, "way": "x"},
            "cpu": {"write": 1e-9, "read": 1e-9},
        }
        for i, host in enumerate(hosts)
    ]
    facts = {
        "hosts": list(hosts),
        "nodes": [0, 1],
        "target": "/mnt",
        "machine": {"mount": {"type": "fuse.glusterfs"}},
        "probe": {"pairs": [pair], "tcp": [], "nodes": nodes},
    }
    store = Store.open(path)
    for number in range(2):
        store.append(
            Run(
                f"p-{number}",
                "p",
                "iosonde probe",
                f"2026-11-21T11:0{number}:00Z",
                1.0,
                {"nodes": 2, "repetition": number},
                [],
                facts,
            )
        )
    return path


def above(path: Path) -> dict[str, float]:
    found = check(open_data(str(path)), ResponseQuery()).examination.findings
    return {one.evidence["operation"]: one.evidence["times"] for one in found if one.code == "S127"}


def test_rates_far_above_the_probed_links_of_the_same_nodes_are_found(tmp_path):
    """20 MB/s a node: reads of 96 and 98 are 4.8 and 2.45 times that, writes of 60 and 120 three times."""
    times = above(with_probe(stored(tmp_path / "s", COUNTED)))
    assert times == pytest.approx({READ: 4.8, "write_large": 3.0}, rel=1e-3)


def test_summary_finds_the_same_rates_above_the_probe_as_check(tmp_path):
    source = open_data(str(with_probe(stored(tmp_path / "s", COUNTED))))
    checked, summarised = (
        [finding for finding in findings if finding.code == "S127"]
        for findings in (
            check(source, ResponseQuery()).examination.findings,
            summary(source, ResponseQuery()).overview.findings,
        )
    )
    assert len(checked) == 2 and summarised == checked


@pytest.mark.parametrize(("hosts", "forth"), [(("n0", "n1"), 70e6), (("m0", "m1"), 20e6)])
def test_rates_near_the_probe_or_of_other_nodes_are_none(tmp_path, hosts, forth):
    assert not above(with_probe(stored(tmp_path / "s", COUNTED), hosts, forth))


def test_a_network_file_system_is_not_held_against_the_probe_of_its_mount(tmp_path):
    """Its 'disk' of 1 MB/s is one client's rate through it."""
    assert not above(with_probe(stored(tmp_path / "s", COUNTED), forth=1e9))


@pytest.mark.parametrize(("file_system", "limit"), [("glusterfs", 2 * 12e6), ("local", None)])
def test_in_a_lab_its_links_are_the_limit(file_system, limit):
    lab = {
        "description": {"file_system": file_system},
        "emulated": {"links": [{"bytes_per_s": 11e6}, {"bytes_per_s": 12e6}]},
    }
    run = StoredRun({"facts": {"hosts": ["client1", "client2"], "machine": {"lab": lab}}})
    found = ProbedLimits((), 0.95).find_limit(run, "write")
    assert (found and found.bytes_per_s) == limit


def test_a_disk_is_held_against_its_probe_only_where_that_was_its_own(tmp_path):
    path = stored(tmp_path / "s", COUNTED, ("xfs", {}))
    with_probe(path)
    assert not above(path)  # the probe was of a Gluster mount


def test_an_operation_that_says_nothing_of_scaling_is_refused_with_the_reason(tmp_path):
    source = open_data(str(stored(tmp_path / "s", APART)))
    with raises("no-comparable-operation", DataError):
        scale(source, ResponseQuery((READ,)))


@pytest.mark.parametrize(("on_two", "told"), [("served-by-cache", False), ("cold-requested", True)])
def test_what_a_cache_served_on_two_nodes_alone_scales_by_no_factor(tmp_path, on_two, told):
    path = stored(tmp_path / "s", {**COUNTED, "cache": {"state": on_two}})
    source = open_data(str(path))
    found = summary(source, ResponseQuery())
    assert (READ in {one.operation for one in found.overview.efficiency}) is told
    assert any(READ in one for one in found.overview.warnings) is not told
