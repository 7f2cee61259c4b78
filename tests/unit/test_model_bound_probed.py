"""The system that a probe's document describes: fields with their ends, counts, and assumptions by their code."""

from __future__ import annotations

import math
from typing import Any

import pytest

from iosonde.model.bound.probed import build_probed_system, is_target_disk_of_node
from messages import codes, has_message, with_code


def estimate(value: float, low: float | None = None, high: float | None = None) -> dict[str, float | None]:
    return {"value": value, "low": low, "high": high}


def node(write: float, read: float, **more: Any) -> dict[str, Any]:
    return {"disk_write": estimate(write), "disk_read": estimate(read), "cores": 4, **more}


def pair(there: float, back: float, medium: str = "network") -> dict[str, Any]:
    return {"bandwidth": estimate(there, there - 1, there + 2), "bandwidth_back": estimate(back), "medium": medium}


def server(*rates: float) -> dict[str, Any]:
    return {"disks": [node(rate, 2 * rate) for rate in rates]}


SERVERS = {"servers": [server(30.0, 20.0), server(40.0)]}


@pytest.mark.parametrize(
    ("overrides", "words", "parts"),
    [
        ((), {"servers": 2, "disks": 3}, "2 servers and 3 disks"),
        (("servers",), {"disks": 3}, "3 disks"),
        (("disks",), {"servers": 2}, "2 servers"),
        (("servers", "disks"), {}, None),
    ],
)
def test_probed_servers_are_counted_unless_both_counts_are_given(overrides, words, parts):
    system = build_probed_system(SERVERS, "write", overrides)
    assert (system.fields["disk_write"], system.fields["disk_read"]) == ((20.0,) * 3, (40.0,) * 3)
    assert system.words == words
    assert codes(system.notes) == (["probed-taken-for-all"] if parts else [])
    assert not parts or has_message(system.notes, "probed-taken-for-all", parts=parts)


def test_one_server_with_one_disk_is_counted_in_the_singular():
    system = build_probed_system({"servers": [server(5.0)]}, "write", ())
    assert with_code(system.notes, "probed-taken-for-all").values["parts"] == "1 server and 1 disk"


def test_the_slowest_direction_of_the_slowest_network_pair_is_the_clients_link():
    document = {"pairs": [pair(100.0, 90.0), pair(80.0, 95.0), pair(1.0, 1.0, "memory")]}
    assert build_probed_system(document, "write", ()).fields == {"client_network": (80.0, 79.0, 82.0)}
    assert build_probed_system(document, "write", ("client_network",)).fields == {}
    for field in ("servers", "network", "server_network"):
        assert build_probed_system(document, "write", (field,)).fields == {"network": (80.0, 79.0, 82.0)}


def test_counted_servers_make_the_network_that_of_both_sides():
    system = build_probed_system({"pairs": [pair(80.0, 95.0)], **SERVERS}, "write", ())
    assert system.fields["network"] == (80.0, 79.0, 82.0) and "client_network" not in system.fields


@pytest.mark.parametrize(("pairs", "expected"), [([pair(1.0, 1.0, "memory")], ["no-network"]), ([], [])])
def test_pairs_without_a_network_are_reported(pairs, expected):
    system = build_probed_system({"pairs": pairs}, "write", ())
    assert (system.fields, codes(system.notes)) == ({}, expected)


@pytest.mark.parametrize(
    ("overrides", "words", "notes"),
    [
        ((), {"disks": 1, "path": "local"}, ["single-disk"]),
        (("network",), {"disks": 1}, ["single-disk"]),
        (("client_network",), {"disks": 1}, ["single-disk"]),
        (("server_network",), {"disks": 1}, ["single-disk"]),
        (("disks",), {}, []),
        (("servers",), {}, []),
    ],
)
def test_a_disk_of_the_only_node_is_the_only_one(overrides, words, notes):
    system = build_probed_system({"nodes": [node(10.0, 20.0)], "own_disk": True}, "write", overrides)
    assert system.fields == {"disk_read": (20.0,) * 3, "disk_write": (10.0,) * 3}
    assert (system.words, codes(system.notes)) == (words, notes)


def test_several_nodes_give_the_slowest_disk_and_no_count():
    system = build_probed_system({"nodes": [node(10.0, 25.0), node(11.0, 20.0)], "own_disk": True}, "write", ())
    assert system.fields == {"disk_read": (20.0,) * 3, "disk_write": (10.0,) * 3}
    assert (system.words, system.notes) == ({}, ())


@pytest.mark.parametrize(
    ("document", "own"),
    [
        ({"own_disk": True}, True),
        ({"own_disk": False, "warnings": []}, False),
        ({"warnings": ["its 'disk' is a network file system"]}, False),
        ({"own_disk": True, "warnings": ["its 'disk' is a network file system"]}, True),
        ({"warnings": ["something else"]}, None),
        ({}, None),
    ],
)
def test_whether_the_target_was_a_disk_is_read_from_every_version(document, own):
    assert is_target_disk_of_node(document) is own
    system = build_probed_system({**document, "nodes": [node(10.0, 20.0)]}, "write", ())
    assert ("disk_write" in system.fields, system.words.get("path")) == (own is not False, "local" if own else None)
    assert system.words.get("disks") == (None if own is False else 1)


def test_a_node_without_a_disk_leaves_all_disks_out():
    system = build_probed_system(
        {"nodes": [node(10.0, 20.0), {"cores": 1, "disk_write": None}], "own_disk": True}, "read", ()
    )
    assert (system.fields, system.words, system.notes) == ({}, {}, ())


CORES = [
    {
        "cores": 2,
        "memory_copy_all_cores": estimate(9e9, 8e9, 11e9),
        "cpu_read": estimate(4e-9, 3e-9, 6e-9),
        "cpu_write": estimate(1e-9),
    },
    {
        "cores": 8,
        "memory_copy_all_cores": estimate(10e9, 7e9, 12e9),
        "cpu_read": estimate(8e-9, 7e-9, 9e-9),
        "cpu_write": estimate(8.8e-9, 8e-9, 16e-9),
    },
]


@pytest.mark.parametrize(("operation", "cpu"), [("read", (2e-9, 3e-9, 1.5e-9)), ("write", (1.1e-9, 2e-9, 1e-9))])
def test_the_node_whose_cores_take_longest_for_a_byte_limits(operation, cpu):
    """A time is worst at its high end, a rate at its low end."""
    system = build_probed_system({"nodes": CORES}, operation, ())
    assert system.fields["cpu"] == pytest.approx(cpu)
    assert system.fields["memory_copy"] == (9e9, 8e9, 11e9)
    assert set(system.fields) == {"cpu", "memory_copy"}


@pytest.mark.parametrize("key", ["cpu_read", "memory_copy_all_cores"])
def test_what_one_node_lacks_is_unknown(key):
    nodes = [CORES[0], {**CORES[1], key: None}]
    field = "cpu" if key == "cpu_read" else "memory_copy"
    assert field not in build_probed_system({"nodes": nodes}, "read", ()).fields


@pytest.mark.parametrize(("low", "worst", "notes"), [(0.0, 5.0, ["interval-reaches-zero"]), (0.1, 0.1, [])])
def test_an_interval_that_reaches_zero_ends_at_its_mean(low, worst, notes):
    nodes = [{"cores": 1, "memory_copy_all_cores": estimate(5.0, low, 7.0)}]
    system = build_probed_system({"nodes": nodes, "warnings": ["kept", "kept"]}, "read", ())
    assert system.fields == {"memory_copy": (5.0, worst, 7.0)}
    assert codes(system.notes) == ["", *notes] and system.notes[0] == "kept"
    assert not notes or has_message(system.notes, "interval-reaches-zero", field="memory copy")
    assert all(math.isfinite(end) for end in system.fields["memory_copy"])
