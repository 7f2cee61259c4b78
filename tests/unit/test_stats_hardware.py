"""Repetitions of a probe become estimates of each pair, node and disk, each from its own numbers."""

from __future__ import annotations

from typing import Any

import pytest

from iosonde.core.hardware import SOURCE
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate
from iosonde.stats.estimate.summarise import estimate_mean
from iosonde.stats.overview import hardware


def pair(a: int, b: int, x: float) -> dict[str, Any]:
    crossed = {"crossed_bytes": 100, "sent_bytes": 100}
    return crossed | {"a": a, "b": b, "forth": 10 * x, "back": 20 * x, "sweep": [[1, 0.1 * x], [64, 0.2 * x]]}


def node(rank: int, x: float, disk: bool = True) -> dict[str, Any]:
    facts = {"host": f"h{rank}", "rank": rank, "cores": 4, "copy_one": x, "copy_all": 3 * x}
    more = {"disk": {"write": 5 * x, "read": 6 * x, "way": f"way{x:g}"}, "cpu": {"write": x / 10, "read": x / 20}}
    return facts | (more if disk else {})


def facts(x: float, n: int = 2, **more: Any) -> dict[str, Any]:
    disk = {"dir": "/d", "filesystem": "xfs", "way": "direct", "write": x, "read": 2 * x}
    probe = {
        "pairs": [pair(0, rank, x * rank) for rank in range(1, n)],
        "nodes": [node(rank, x * (rank + 1)) for rank in range(n)],
        "tcp": [
            {"a": 0, "b": 1, "forth": 7 * x, "back": 8 * x, "error": ""},
            {"a": 1, "b": 0, "forth": 0.0, "back": 0.0, "error": "refused"},
        ],
        "servers": [{"host": "s1", "disks": [disk, disk | {"dir": "/e", "write": 3 * x}]}],
    }
    hosts = [f"h{rank}" for rank in range(n)]
    return {"hosts": hosts, "nodes": [0, 1, 2][:n], "target": "/t", "probe": probe | more}


def of(*values: float) -> Estimate:
    return estimate_mean(list(values), 0.9).within(low=0.0)


def test_every_number_of_a_probe_is_the_mean_of_its_own_repetitions():
    made = hardware.summarise_probe([facts(1.0), facts(2.0), facts(4.0)], 0.9)
    (link,) = made["pairs"]
    medium = link.pop("medium")
    assert isinstance(medium, str) and link == {
        "ranks": [0, 1],
        "hosts": ["h0", "h1"],
        "latency": of(0.1, 0.2, 0.4),
        "bandwidth": of(10, 20, 40),
        "bandwidth_back": of(20, 40, 80),
        "sweep": [
            {"bytes": 1, "half_round_trip": of(0.1, 0.2, 0.4)},
            {"bytes": 64, "half_round_trip": of(0.2, 0.4, 0.8)},
        ],
    }
    tcp = {"ranks": [0, 1], "hosts": ["h0", "h1"], "bandwidth": of(7, 14, 28), "bandwidth_back": of(8, 16, 32)}
    assert (made["tcp"], made["tcp_error"]) == ([tcp], "refused")
    assert [each["host"] for each in made["nodes"]] == ["h0", "h1"]
    assert made["nodes"][1] == {
        "host": "h1",
        "rank": 1,
        "cores": 4,
        "disk_way": "way2, then way4, then way8",
        "disk_write": of(10, 20, 40),
        "disk_read": of(12, 24, 48),
        "memory_copy_one_core": of(2, 4, 8),
        "memory_copy_all_cores": of(6, 12, 24),
        "cpu_write": of(0.2, 0.4, 0.8),
        "cpu_read": of(0.1, 0.2, 0.4),
    }
    disk = {"dir": "/d", "filesystem": "xfs", "disk_way": "direct", "disk_write": of(1, 2, 4), "disk_read": of(2, 4, 8)}
    assert made["servers"] == [{"host": "s1", "disks": [disk, disk | {"dir": "/e", "disk_write": of(3, 6, 12)}]}]
    assert (made["filesystem"], made["own_disk"]) == (None, None)


def test_without_a_target_nodes_have_memory_alone():
    made = hardware.summarise_probe([facts(1.0, nodes=[node(0, 1.0, False)], servers=(), tcp=())], 0.9)
    (only,) = made["nodes"]
    assert set(only) == {"host", "rank", "cores", "disk_way", "memory_copy_one_core", "memory_copy_all_cores"}
    assert (only["disk_way"], made["servers"], made["tcp"], made["tcp_error"]) == (None, [], [], "")
    old = facts(1.0)
    del old["probe"]["tcp"], old["probe"]["servers"]
    assert (hardware.summarise_probe([old], 0.9)["tcp"], hardware.summarise_probe([old], 0.9)["servers"]) == ([], [])


@pytest.mark.parametrize(("kind", "own"), [("xfs", True), ("nfs4", False), ("tmpfs", False)])
def test_a_target_on_a_disk_of_each_node_is_known_by_its_file_system(kind, own):
    document = facts(1.0) | {"machine": {"mount": {"type": kind}}}
    made = hardware.summarise_probe([document], 0.9)
    assert (made["filesystem"], made["own_disk"]) == (kind, own)
    assert hardware.summarise_probe([document | {"target": None}], 0.9)["filesystem"] is None


def run(name: str, x: float, experiment: str = "e", n: int = 2, **more: Any) -> StoredRun:
    document = {"id": name, "experiment": experiment, "source": SOURCE, "started_at": f"t-{name}", "missing": []}
    return StoredRun(document | {"facts": facts(x, n)} | more)


def test_complete_repetitions_of_probes_are_selected():
    runs = [
        run("a", 1.0),
        run("b", 1.0, source="engine"),
        run("c", 1.0, missing=["x"]),
        run("d", 1.0, facts={"probe": None}),
        run("e", 2.0),
    ]
    assert [each.id for each in hardware.select_complete_probes(runs)] == ["a", "e"]


def test_the_newest_probe_of_all_hosts_is_summarised_for_these_alone():
    probes = [run("a", 1.0, "old"), run("b", 2.0, "new", 3), run("c", 4.0, "new", 3), run("d", 9.0, "other", 1)]
    made = hardware.summarise_newest_probe(probes, ["h0", "h2"], 0.9)
    assert (made["experiment"], made["started_at"], made["target"]) == ("new", "t-c", "/t")
    assert [each["hosts"] for each in made["pairs"]] == [["h0", "h2"]]
    assert made["pairs"][0]["bandwidth"] == of(40, 80)
    assert ([each["host"] for each in made["nodes"]], made["tcp"]) == (["h0", "h2"], [])
    assert hardware.summarise_newest_probe(probes, ["h0", "h1"], 0.9)["tcp"][0]["bandwidth"] == of(14, 28)
    assert made["tcp_error"] == "refused" and made["own_disk"] is None and len(made["servers"]) == 1
    assert (
        hardware.summarise_newest_probe(probes, ["h9"], 0.9) is hardware.summarise_newest_probe(probes, [], 0.9) is None
    )


def test_clients_and_servers_may_be_of_different_probes():
    def probe(name: str, x: float, part: str) -> StoredRun:
        document = facts(x)
        document["probe"] |= {"nodes": [], "pairs": []} if part == "servers" else {"servers": []}
        return run(name, x, name, facts=document)

    clients, servers = probe("clients", 1.0, "nodes"), probe("servers", 2.0, "servers")
    for probes in ([clients, servers], [servers, clients]):
        made = hardware.summarise_newest_parts(probes, 0.9)
        assert [each["host"] for each in made["nodes"]] == ["h0", "h1"]
        assert made["servers"][0]["disks"][0]["disk_write"] == of(2.0).to_json()
    alone = hardware.summarise_newest_parts([servers], 0.9)
    assert (alone["pairs"], alone["nodes"], alone["own_disk"]) == ([], [], None) and len(alone["servers"]) == 1
    assert hardware.summarise_newest_parts([], 0.9) == {}


def test_probed_servers_are_counted_with_their_file_systems():
    disks = [{"filesystem": kind} for kind in ("xfs", None, "ext4", "xfs")]
    servers = [{"disks": disks[:3]}, {"disks": disks[3:]}]
    expected = {"probed_servers": 2, "base_filesystem": "ext4, unknown, xfs"}
    assert hardware.describe_servers({"servers": servers}) == expected
    assert hardware.describe_servers({"servers": [{"disks": []}]}) == {}
    value = of(1, 2)
    assert hardware.to_json({"a": (value, [1, "x"]), "b": None}) == {"a": [value.to_json(), [1, "x"]], "b": None}
