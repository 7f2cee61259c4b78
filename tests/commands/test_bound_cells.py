"""Where a bound's numbers come from, cell by cell: the lab, the layout of the file system, how files are placed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

pytest.importorskip("iosonde.engine._native")
from iosonde.commands.bound.bounded_cells import (
    BoundCell,
    describe_overridden_fields,
    describe_sources,
    format_value,
    group_options_by_source,
)
from iosonde.commands.bound.inputs import BY_HAND, Inputs, parse_system_words
from iosonde.commands.bound.lab_truth import LabTruths, read_lab_fields, read_lab_truth
from iosonde.commands.bound.own_probe import OwnLayout
from iosonde.commands.bound.probed import _read_attached_probe, _read_disk_rates, _select_tcp_rows
from iosonde.commands.bound.shared_files import SharedFiles, has_fixed_copy_groups, has_unstriped_files
from iosonde.commands.bound.waterfall import describe_waterfall
from iosonde.core.emulated import StoredRates
from iosonde.core.hardware import SOURCE
from iosonde.core.stored import StoredRun
from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.explain.waterfall import Waterfall
from iosonde.importers.parsed import Parsed, Row
from iosonde.model.bound.system import System
from messages import codes, raises

LINKS = {"links": [{"bytes_per_s": 5.0}, {"bytes_per_s": 4.0}]}
DISKS = {
    "disks": [{"read_bytes_per_s": 9.0, "write_bytes_per_s": 7.0}, {"read_bytes_per_s": 8.0, "write_bytes_per_s": 8.0}]
}
ONE_COPY = {"servers": 3, "disks": 3, "replicas": 1}


def run(name: str = "a", **facts: Any) -> StoredRun:
    return StoredRun({"id": name, "experiment": "e", "facts": facts})


def inputs(*origins: str, **columns: str) -> Inputs:
    return Inputs(System(), System(), System(), columns, origins=dict.fromkeys(origins, BY_HAND))


def source(*runs: StoredRun) -> Any:
    return SimpleNamespace(runs=runs)


@pytest.mark.parametrize(
    ("rates", "emulated", "expected"),
    [
        (StoredRates("local", 2, 8e8), LINKS | DISKS, None),
        (StoredRates("nfs"), {}, ONE_COPY),
        (StoredRates("nfs"), LINKS, ONE_COPY | {"network": 4.0}),
        (StoredRates("nfs"), DISKS, ONE_COPY | {"disk_read": 8.0, "disk_write": 7.0}),
        (
            StoredRates("nfs", 3, 8e8, 90.0, scale=2),
            LINKS | DISKS,
            ONE_COPY | {"network": 47.8e6, "disk_read": 45.0, "disk_write": 7.0},
        ),
        (
            StoredRates("nfs", 3, None, None, 6.0),
            LINKS | DISKS,
            ONE_COPY | {"network": 4.0, "disk_read": 8.0, "disk_write": 6.0},
        ),
    ],
)
def test_limits_of_a_lab_are_as_configured_and_the_rest_as_measured(
    rates: StoredRates, emulated: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    assert read_lab_fields(rates, emulated, {}) == pytest.approx(expected or {})


@pytest.mark.parametrize(
    ("layout", "live", "expected"),
    [
        ({}, None, {"replicas": 1}),
        ({"copies": 1, "copied_by": "client"}, None, {"replicas": 1}),
        ({"copies": 2, "copied_by": "client"}, None, {"redundancy": "client", "replicas": 2}),
        ({"copies": 2, "copied_by": "servers"}, None, {"redundancy": "chained", "replicas": 2}),
        ({"copies": 2, "copied_by": "servers"}, "3", {"redundancy": "chained", "replicas": 3}),
        ({"copies": 2, "copied_by": "servers"}, "1", {"replicas": 1}),
        (
            {"copies": 2, "data_parts": 4, "parity_parts": 2},
            "3",
            {"redundancy": "erasure", "data_chunks": 4, "parity_chunks": 2},
        ),
        ({"data_parts": 4, "parity_parts": 0}, None, {"replicas": 1}),
    ],
)
def test_the_redundancy_of_a_lab_follows_the_live_option(
    layout: dict[str, Any], live: str | None, expected: dict[str, Any]
) -> None:
    assert read_lab_fields(StoredRates("nfs"), {}, layout, live) == {"servers": 3, "disks": 3} | expected


def test_a_run_without_a_lab_has_no_truth() -> None:
    lab = {"description": {"file_system": "lizardfs", "servers": 2}, "layout": {"copies": 2, "copied_by": "servers"}}
    copies = {"servers": 2, "disks": 2, "redundancy": "chained"}
    assert (
        read_lab_truth(run())
        == read_lab_truth(run(machine={"lab": {}}))
        == read_lab_truth(run(machine={"lab": "x"}))
        == {}
    )
    assert read_lab_truth(run(machine={"lab": lab})) == copies | {"replicas": 2}
    for option, value, n in (("goal", "3", 3), ("pool_size", "4", 4), ("goal", "ec(4,2)", 2), ("other", "5", 2)):
        options = {"options": {option: value}}
        assert read_lab_truth(run(machine={"lab": lab}, conditions=options)) == copies | {"replicas": n}


def test_trials_of_different_labs_never_share_a_cell() -> None:
    response: Any = SimpleNamespace(rows=build_table({"run": ["a", "b", "a", "c"], "y": [1, 2, 3, 4]}))
    truths = LabTruths({"a": {"servers": 2, "network": 1e6}, "b": {"servers": 3, "network": 1e6}})
    cells = [BoundCell({"x": 1}, np.array([0, 1, 2])), BoundCell({"x": 2}, np.array([3]))]
    parts = [(cell.by, cell.rows.tolist()) for cell in truths.apart(response, cells)]
    assert parts == [
        ({"x": 1, "lab_servers": "2"}, [0, 2]),
        ({"x": 1, "lab_servers": "3"}, [1]),
        ({"x": 2, "lab_servers": ""}, [3]),
    ]
    alike = [BoundCell({"x": 1}, np.array([0, 2])), BoundCell({"x": 2}, np.array([1]))]
    assert truths.apart(response, alike) == alike
    assert LabTruths({}).apart(response, cells) == cells
    nameless: Any = SimpleNamespace(rows=build_table({"y": [1, 2, 3, 4]}))
    assert truths.apart(nameless, cells) == cells
    assert truths.names == {"servers", "network"}
    assert (truths.truth(["b", "a"]), truths.truth(["c"]), truths.truth([])) == ({"servers": 3, "network": 1e6}, {}, {})


def test_a_lab_that_is_not_as_requested_is_named_once() -> None:
    def in_lab(name: str, *warnings: str) -> StoredRun:
        lab = {"description": {"file_system": "nfs"}, "emulated": {"warnings": warnings}}
        return run(name, machine={"lab": lab})

    assert LabTruths.from_source(None) == LabTruths({})
    quiet = LabTruths.from_source(source(in_lab("a"), run("b")))
    assert (set(quiet.by_run), quiet.warnings) == ({"a"}, ())
    (single,) = LabTruths.from_source(source(in_lab("a", "slow"), in_lab("b", "slow"))).warnings
    assert (single.code, single.values["difference"], single.values["more"]) == ("lab-differs", "slow", "")
    (several,) = LabTruths.from_source(source(in_lab("a", "slow", "late"), in_lab("b", "late", "off"))).warnings
    assert several.values["difference"] == "slow" and "2 more" in str(several.values["more"])


@pytest.mark.parametrize(
    ("origins", "truth", "gone"),
    [
        ((), {"servers": 2, "disks": 2}, ()),
        (("servers",), {"servers": 2, "disks": 2, "network": 1.0}, ("servers", "disks")),
        (("servers",), {"network": 1.0}, ()),
        (("disk",), {"disk_read": 1.0, "disk_write": 1.0, "disks": 2}, ("disk_read", "disk_write")),
        (("disk_read",), {"disk_read": 1.0, "disk_write": 1.0}, ("disk_read",)),
        (
            ("redundancy",),
            {"redundancy": "erasure", "data_chunks": 4, "parity_chunks": 2, "replicas": 1},
            ("redundancy", "data_chunks", "parity_chunks", "replicas"),
        ),
        (
            ("replicas",),
            {"redundancy": "erasure", "data_chunks": 4, "parity_chunks": 2, "servers": 2},
            ("redundancy", "data_chunks", "parity_chunks"),
        ),
        (("replicas",), {"redundancy": "chained", "replicas": 2}, ("replicas",)),
        (
            ("network",),
            {"client_network": 1.0, "server_network": 2.0, "network": 3.0},
            ("client_network", "server_network", "network"),
        ),
    ],
)
def test_what_is_given_hides_what_a_lab_says(
    origins: tuple[str, ...], truth: dict[str, Any], gone: tuple[str, ...]
) -> None:
    remaining = {name: value for name, value in truth.items() if name not in gone}
    assert inputs(*origins).beneath(truth) == remaining
    assert inputs(**dict.fromkeys(origins, "column")).beneath(truth) == remaining


@pytest.mark.parametrize(
    ("erasure", "redundancy", "expected"),
    [
        (None, None, {}),
        (None, "client", {"redundancy": "client"}),
        ("4+2", None, {"redundancy": "erasure", "data_chunks": 4, "parity_chunks": 2}),
        ("1+0", "none", {"redundancy": "erasure", "data_chunks": 1, "parity_chunks": 0}),
    ],
)
def test_words_of_a_system(erasure: str | None, redundancy: str | None, expected: dict[str, Any]) -> None:
    assert parse_system_words(None, redundancy, erasure, None) == expected
    assert parse_system_words("read", redundancy, erasure, "random") == {
        "operation": "read",
        "placement": "random",
        **expected,
    }
    with raises("conflicting-options"):
        parse_system_words(None, "chained", "4+2", None)
    for code in ("0+2", "4", "4+", "1234567+1"):
        with raises("invalid-erasure-code"):
            parse_system_words(None, None, code, None)


def layout(name: str = "a", **fields: Any) -> StoredRun:
    return run(name, machine={"filesystem": fields})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {}),
        ({"copies": 2, "copied_by": "client"}, {"redundancy": "client", "replicas": 2}),
        ({"copies": 999, "copied_by": "servers"}, {"redundancy": "chained", "replicas": 999}),
        ({"copies": 1000, "copied_by": "servers"}, {}),
        ({"copies": 1, "copied_by": "client"}, {}),
        ({"copies": "2", "copied_by": "client"}, {}),
        ({"copies": 2}, {}),
        (
            {"data_parts": 4, "parity_parts": 2, "copies": 2},
            {"redundancy": "erasure", "data_chunks": 4, "parity_chunks": 2},
        ),
        ({"data_parts": 4, "parity_parts": 0}, {}),
        ({"servers": ["a", "b"]}, {"servers": 2}),
        ({"servers": []}, {}),
        ({"servers": 2}, {}),
    ],
)
def test_the_layout_that_a_file_system_reports(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    own = OwnLayout(source(layout("a", **fields), layout("b", **fields), layout("c", copies=7)))
    assert own.fields(["a", "b"], inputs()) == expected
    assert len(own.notes) == bool(expected)
    assert own.fields(["a", "c"], inputs()) == own.fields(["none"], inputs()) == own.fields([], inputs()) == {}


@pytest.mark.parametrize(
    ("explicit", "names"),
    [
        ("network", {"redundancy", "replicas", "servers"}),
        ("redundancy", {"servers"}),
        ("replicas", {"servers"}),
        ("data_chunks", {"servers"}),
        ("parity_chunks", {"servers"}),
        ("servers", {"redundancy", "replicas"}),
        ("disks", {"redundancy", "replicas"}),
    ],
)
def test_the_own_layout_yields_to_what_is_given(explicit: str, names: set[str]) -> None:
    own = OwnLayout(source(layout(copies=2, copied_by="client", servers=["a", "b", "c"])))
    assert set(own.fields(["a"], inputs(explicit))) == set(own.fields(["a"], inputs(**{explicit: "column"}))) == names


GLUSTER = {"mount": {"type": "fuse.glusterfs"}, "filesystem": {"type": "Replicate"}}


def placed(
    name: str = "a", nodes: tuple[int, ...] = (0, 1), machine: dict[str, Any] | None = None, **phase: Any
) -> StoredRun:
    phases = [{"index": 0, "name": "read", "operation": "read", "counted_kind": "read", **phase}]
    facts = {"nodes": nodes, "target": "/mnt", "machine": GLUSTER if machine is None else machine}
    return StoredRun({"id": name, "experiment": "e", "facts": facts, "phases": phases})


@pytest.mark.parametrize(
    ("stored", "system", "expected", "notes"),
    [
        (placed(), System(clients=2, servers=4), {"stripe_count": 1, "placement": "groups"}, ["whole-files"]),
        (
            placed(),
            System(clients=3, servers=4),
            {"stripe_count": 1, "placement": "groups", "files": 2},
            ["whole-files"],
        ),
        (placed(on="each"), System(clients=2, servers=4), {}, []),
        (placed(), System(clients=2, servers=4, stripe_count=2), {}, []),
        (placed(), System(clients=2, servers=4, redundancy="erasure"), {}, []),
        (placed(), System(clients=2, servers=1), {}, []),
        (placed(nodes=()), System(clients=2, servers=4), {}, []),
        (placed(name="other"), System(clients=2, servers=4), {}, []),
        (
            placed(shared=True, nodes=(0, 0)),
            System(operation="read", servers=4, replicas=2),
            {"stripe_count": 2, "files": 1},
            ["shared-file"],
        ),
        (
            placed(shared=True, nodes=(0, 0)),
            System(operation="read", servers=2, replicas=3),
            {"stripe_count": 2, "files": 1},
            ["shared-file"],
        ),
        (
            placed(shared=True, nodes=(0, 0)),
            System(operation="write", servers=4, replicas=2),
            {"stripe_count": 1, "files": 1},
            ["shared-file"],
        ),
        (
            placed(shared=True),
            System(operation="read", servers=4),
            {"clients": 1, "stripe_count": 1, "files": 1},
            ["writer-excluded", "shared-file"],
        ),
        (placed(shared=True, machine={}), System(operation="read", servers=4), {"clients": 1}, ["writer-excluded"]),
        (placed(shared=True, writer_counted=True), System(operation="read", servers=1), {}, []),
    ],
)
def test_where_whole_files_lie(stored: StoredRun, system: System, expected: dict[str, Any], notes: list[str]) -> None:
    files = SharedFiles(source(stored))
    assert files.fields("read", ["a"], system) == expected
    assert codes(cast(Any, files.notes)) == notes


def test_files_of_trials_that_differ_are_nowhere() -> None:
    files = SharedFiles(source(placed("a"), placed("b", nodes=(0, 1, 2)), placed("c", machine={})))
    system = System(clients=2, servers=4)
    assert files.fields("read", ["a", "b"], system) == files.fields("read", ["a", "c"], system) == {}
    assert files.fields("read", ["a"], system) == {"stripe_count": 1, "placement": "groups"}
    striped = {**GLUSTER, "lab": {"layout": {"servers_of_a_file": 2}}}
    assert has_unstriped_files(placed()) and not has_unstriped_files(placed(machine=striped))
    assert has_fixed_copy_groups(placed()) and not has_fixed_copy_groups(placed(machine={}))


def test_values_have_their_units_and_options_their_sources() -> None:
    texts = [
        format_value("disk", 2**20),
        format_value("servers", 2),
        format_value("redundancy", "client"),
        format_value("latency", 0.002),
        format_value("cpu", 2e-8),
        format_value("chunk_size", 1024),
    ]
    assert texts == ["1.00 MiB/s", "2", "client", "2.00 ms", "0.02 s/MB", "1 KiB"]

    def share(servers: int, origins: dict[str, str]) -> Any:
        return SimpleNamespace(sources=origins, ceiling=SimpleNamespace(system=System(servers=servers, data_chunks=4)))

    shares = [
        share(2, {"servers": "the lab", "data_chunks": BY_HAND}),
        share(3, {"servers": "the lab"}),
        share(2, {"servers": BY_HAND}),
    ]
    options = group_options_by_source(shares)
    expected = {"the lab": [("servers", ("2", "3"))], BY_HAND: [("data chunks", ("4",)), ("servers", ("2",))]}
    assert options == expected
    expected = ["from the lab: servers 2 or 3", f"{BY_HAND}: data chunks 4, servers 2"]
    assert describe_sources(options) == expected
    (note,) = cast(Any, describe_overridden_fields({"servers": 2, "disks": 3}, {"disks"}))
    assert (note.code, note.values) == ("lab-input-overridden", {"input": "servers", "level": "2"})


def fall(work: float = 0.0, **parts: float) -> Waterfall:
    def estimate(value: float, low: float) -> Estimate:
        return Estimate(value, low, value, 0.95, 3)

    usual = {"bound": 10.0, "calls": 0.0, "slow_operations": 0.0, **parts}
    estimates = {name: estimate(value, value if value > 1 else -1.0) for name, value in usual.items()}
    return Waterfall("write", {}, cast(Any, None), estimates, estimate(20.0, 20.0), work, 0.0)


@pytest.mark.parametrize(
    ("waterfall", "starts"),
    [
        (fall(), []),
        (fall(slow_operations=4.0), ["Most"]),
        (fall(slow_operations=0.5), ["~"]),
        (fall(calls=1.0), ["~"]),
        (fall(calls=1.01), ["Most", "Open"]),
        (fall(work=0.02), []),
        (fall(work=0.021), ["The"]),
        (fall(slow_operations=-0.1), ["Operations"]),
    ],
)
def test_what_a_waterfall_says(waterfall: Waterfall, starts: list[str]) -> None:
    assert [sentence.split()[0] for sentence in describe_waterfall(waterfall)] == starts


def measured(operation: str, value: float, size: float | str = 8, metric: str = "bandwidth", **more: Any) -> Row:
    fields = {"unit": "bytes/s", "line": 1, "factors": {"file_size": size, "record_size": 2}, **more}
    return Row(operation, metric, value, **fields)


def test_the_rate_of_a_disk_is_the_best_of_its_largest_files() -> None:
    rows = [
        measured("write", 5.0),
        measured("write", 7.0),
        measured("write", 9.0, 6),
        measured("write", 99.0, 4),
        measured("write", 98.0, unit="operations/s"),
        measured("write", 97.0, rank=0),
        measured("rewrite", 96.0),
        measured("read", 3.0, 6),
    ]
    system = _read_disk_rates(Path("f"), [Parsed(rows=rows[:1]), Parsed(rows=rows[1:])], 4.0)
    assert system.fields == {"disk_write": (7.0,) * 3, "disk_read": (3.0,) * 3}
    write, read = cast(Any, system.notes)
    assert (write.values["operation"], write.values["rate"], write.values["file_size"]) == ("write", "7.00 B/s", "8 B")
    assert "5.00 B/s" in write.values["span"] and read.values["span"] == ""
    inherited = Parsed(rows=[measured("read", 3.0, factors={})], factors={"file_size": 9})
    assert set(_read_disk_rates(Path("f"), [inherited], 8.0).fields) == {"disk_read"}
    with raises("fits-in-memory"):
        _read_disk_rates(Path("f"), [Parsed(rows=rows)], 8.0)


def test_received_data_of_a_whole_tcp_stream_count_before_sent_ones() -> None:
    rows = [
        measured("tcp_send", 1.0),
        measured("tcp", 2.0),
        measured("tcp_receive", 3.0),
        measured("tcp_receive", 9.0, rank=0),
        measured("tcp_receive", 9.0, metric="seconds"),
        measured("udp", 9.0),
    ]
    assert [row.value for row in _select_tcp_rows(Parsed(rows=rows))] == [3.0, 2.0, 1.0]


def test_the_attached_probe_is_that_of_the_last_run_that_is_no_probe() -> None:
    def probed(name: str, source: str = "iosonde", **facts: Any) -> StoredRun:
        return StoredRun({"id": name, "experiment": "e", "source": source, "facts": facts})

    mount = {"mount": {"type": "xfs"}}
    runs = [
        probed("a", probe={"n": 1, "target": "/t"}, target="/t", machine=mount),
        probed("b", probe={"n": 2, "target": "/other"}, target="/t", machine=mount),
        probed("c", SOURCE, probe={"n": 3}),
        probed("d"),
    ]
    assert _read_attached_probe(runs) == {"own_disk": None, "n": 2, "target": "/other"}
    first = _read_attached_probe(runs[:1])
    assert (first["own_disk"], first["n"]) == (True, 1)
    assert _read_attached_probe(runs[2:]) == _read_attached_probe([]) == {}
    own = _read_attached_probe([probed("a", probe={"own_disk": False, "target": "/t"}, target="/t", machine=mount)])
    assert own["own_disk"] is False
