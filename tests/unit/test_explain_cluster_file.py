"""A cluster file: every number with its range, and every mistake by its code, key and values."""

from __future__ import annotations

import math

import pytest

from iosonde.core import yaml_text
from iosonde.core.errors import InputError
from iosonde.core.problems import SpecError
from iosonde.explain.cluster_file import ClusterFile, describe_system, parse_cluster
from iosonde.explain.upgrade import Quantity, UpgradeCandidate, UpgradeLimits
from iosonde.explain.upgrade_tables import CRITERIA, Configuration, ListedCpu
from messages import raises

TODAY = {"clients": 8, "servers": 4, "disks": 8, "network": "100MB/s", "disk_write": "150MB/s"}


def read_cluster(document: dict) -> ClusterFile:
    return parse_cluster(yaml_text.Document(document, "the cluster"))


def test_a_whole_file_is_read():
    cluster_file = read_cluster(
        {
            "name": "blue",
            "today": {
                **TODAY,
                "network": ["90MB/s", "100MB/s", "120MB/s"],
                "disk_write": ["100MB/s", "144MB/s"],
                "redundancy": "client",
                "replicas": 2,
                "watts_per_server": 100,
                "nodes_per_rack_unit": 2,
                "watts": 50,
                "rack_units": 3,
                "cost_per_server": 1000,
                "capacity": "8TB",
                "bandwidth": "400MB/s",
                "cost": 16000,
                "model": {"network": "gigabit"},
                "measured": {"fs": "nfs"},
            },
            "limits": {
                "max_cost": 5000,
                "max_watts": 900,
                "min_nodes_per_rack_unit": 1,
                "min_cpu_points": 10,
                "max_cpu_watts": 95,
            },
            "candidates": {
                "faster": {
                    "network": "x10",
                    "cost": -5,
                    "watts": 0,
                    "watts_per_server": 90,
                    "measured": {"fs": "lustre"},
                },
                "more": {"servers": 8, "disks": "x2", "model": {"network": "ten"}},
            },
            "cpus": {"atom": {"points": 916, "watts": 8.5}},
            "measured": {"a": {"time": ["282min", "10s"], "fs": "nfs"}, "b": {"time": "1h"}},
            "systems": {"nfs": dict.fromkeys(CRITERIA, 3)},
            "weights": {"usage": 2, "features": 0},
        }
    )
    cluster = cluster_file.cluster
    assert (cluster.name, cluster_file.name) == ("blue", "blue")
    assert cluster.system == {
        "clients": Quantity(8, 8, 8),
        "servers": Quantity(4, 4, 4),
        "disks": Quantity(8, 8, 8),
        "network": Quantity(100e6, 90e6, 120e6),
        "disk_write": Quantity(pytest.approx(120e6), 100e6, 144e6),
        "replicas": Quantity(2, 2, 2),
    }
    assert cluster.words == {"redundancy": "client"}
    numbers = (
        cluster.watts_per_server,
        cluster.nodes_per_rack_unit,
        cluster.watts,
        cluster.rack_units,
        cluster.cost_per_server,
    )
    assert numbers == (100, 2, 50, 3, 1000)
    assert (cluster.model, cluster.measured) == ({"network": "gigabit"}, {"fs": "nfs"})
    assert cluster_file.candidates == (
        UpgradeCandidate(
            "faster",
            {"network": Quantity(10, 10, 10, True)},
            cost=-5,
            watts=0,
            attributes={"watts_per_server": 90},
            measured={"fs": "lustre"},
        ),
        UpgradeCandidate(
            "more", {"servers": Quantity(8, 8, 8), "disks": Quantity(2, 2, 2, True)}, model={"network": "ten"}
        ),
    )
    assert cluster_file.limits == UpgradeLimits(5000, 900, None, 1)
    assert (cluster_file.min_cpu_points, cluster_file.max_cpu_watts) == (10, 95)
    assert cluster_file.cpus == (ListedCpu("atom", 916, 8.5),)
    assert cluster_file.measured == (
        Configuration("a", {"fs": "nfs"}, (282 * 60.0, 10.0)),
        Configuration("b", {}, (3600.0,)),
    )
    assert cluster_file.systems == {"nfs": dict.fromkeys(CRITERIA, 3)}
    assert cluster_file.weights == {"usage": 2, "features": 0}
    assert cluster_file.compute_derived_quantities() == {
        "capacity_per_disk": 1e12,
        "bandwidth_per_server": 100e6,
        "cost_per_terabyte": pytest.approx(2000),
    }


@pytest.mark.parametrize(
    ("document", "derived"),
    [
        ({"today": TODAY}, {}),
        ({"today": {**TODAY, "capacity": "8TB"}}, {"capacity_per_disk": 1e12}),
        ({"today": {"servers": 4, "network": "1MB/s", "bandwidth": "8MB/s"}}, {"bandwidth_per_server": 2e6}),
        ({"cpus": {"atom": {"points": 1, "watts": 1}}}, {}),
    ],
)
def test_what_follows_from_the_whole_and_its_parts(document, derived):
    assert read_cluster(document).compute_derived_quantities() == derived


def list_mistakes(document: dict) -> list[tuple]:
    with pytest.raises(SpecError) as error:
        read_cluster(document)
    return [(problem.key, getattr(problem.what, "code", "")) for problem in error.value.problems]


def change(**keys) -> dict:
    return {"today": TODAY, "candidates": {"c": keys}}


@pytest.mark.parametrize(
    ("document", "key", "code"),
    [
        ({}, "", "nothing-to-choose"),
        ({"name": "x", "weights": {"usage": 1}}, "", "nothing-to-choose"),
        ({"candidates": {"c": {"network": "1MB/s"}}}, "candidates", "no-cluster"),
        (change(), "candidates.c", "changes-nothing"),
        (change(cost=5), "candidates.c", "changes-nothing"),
        (change(fabric="x2"), "candidates.c.fabric", "missing-base"),
        (change(servers=[4, 8]), "candidates.c.servers", "range-of-count"),
        (change(servers="x1.1"), "candidates.c.servers", "not-an-integer"),
        (change(network=["2MB/s", "1MB/s"]), "candidates.c.network", "not-a-range"),
        (change(network=["1MB/s"] * 4), "candidates.c.network", "not-a-range"),
        (change(network=["0MB/s", "1MB/s"]), "candidates.c.network", "not-a-range"),
        (change(network=[]), "candidates.c.network", "not-a-range"),
        (change(latency="1ms"), "candidates.c.latency", "unused-key"),
        (change(servers=16), "candidates.c", None),
        (
            {"today": {**TODAY, "servers": 5}, "nodes": {"a": "server", "b": "server"}},
            "today.servers",
            "count-mismatch",
        ),
        ({"today": {**TODAY, "watts": -1}}, "today.watts", "out-of-range"),
        ({"today": {**TODAY, "watts_per_server": 0}}, "today.watts_per_server", "out-of-range"),
        ({"limits": {"max_cost": 0}, "today": TODAY}, "limits.max_cost", "out-of-range"),
        ({"measured": {"a": {"fs": "nfs"}}}, "measured.a", "missing-key"),
        ({"measured": {"a": {"time": "0s"}}}, "measured.a.time", "out-of-range"),
        ({"measured": {"a": {"time": []}}}, "measured.a.time", "out-of-range"),
        ({"measured": {"a": {"time": "0.1ns"}}}, "measured.a.time", "out-of-range"),
        ({"measured": {"a": {"time": ["1s", "9999999999999s"]}}}, "measured.a.time", "out-of-range"),
        ({"cpus": {"atom": {"points": 1}}}, "cpus.atom", "missing-key"),
        ({"systems": {"nfs": {**dict.fromkeys(CRITERIA, 3), "usage": 5.1}}}, "systems.nfs.usage", "out-of-range"),
        ({"systems": {"nfs": {**dict.fromkeys(CRITERIA, 3), "usage": -0.1}}}, "systems.nfs.usage", "out-of-range"),
        ({"systems": {"nfs": {"a": 1}}, "criteria": ["a", "a"]}, "criteria", "duplicate-names"),
        ({"systems": {"nfs": {"a": 1}}, "criteria": []}, "criteria", "duplicate-names"),
        ({"systems": {"nfs": {"a": 1}}, "criteria": ["a"], "weights": {"a": -1}}, "weights.a", "out-of-range"),
        ({"systems": {"nfs": {"a": 1}}, "criteria": ["a"], "weights": {"a": 0}}, "weights", "no-weight"),
    ],
)
def test_a_mistake_is_said_at_its_key(document, key, code):
    mistakes = list_mistakes(document)
    assert key in dict(mistakes) if code is None else (key, code) in mistakes, mistakes


def test_what_is_at_its_limit_is_no_mistake():
    assert read_cluster(change(servers="x1.5")).candidates[0].system["servers"].value == 1.5
    marks = {"systems": {"nfs": {"a": 0, "b": 5}}, "criteria": ["a", "b"], "weights": {"a": 0, "b": 1}}
    assert read_cluster(marks).systems == {"nfs": {"a": 0, "b": 5}}
    assert read_cluster(change(latency="1ms", request_size="4KiB")).candidates[0].system["latency"].value == 1e-3


def test_the_ends_of_a_quantity_are_worst_and_best():
    document = {**TODAY, "network": ["90MB/s", "160MB/s"], "cpu": ["1s/GB", "4s/GB"], "operation": "write"}
    ends, words, nodes = describe_system(read_cluster({"today": document}), "it")
    assert ends["network"] == (pytest.approx(math.sqrt(90 * 160) * 1e6), 90e6, 160e6)
    value, worst, best = ends["cpu"]
    assert value == pytest.approx(math.sqrt(worst * best)) and worst == pytest.approx(4 * best)
    assert words == {"operation": "write"} and not nodes.counts()
    with raises("no-cluster", InputError, name="it"):
        describe_system(read_cluster({"cpus": {"atom": {"points": 1, "watts": 1}}}), "it")
