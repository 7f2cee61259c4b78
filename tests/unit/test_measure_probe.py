"""The arithmetic of a probe: pairs, how often, what crossed the network, rows, Estimates, the newest in a store."""

from __future__ import annotations

import itertools
import json
from types import SimpleNamespace

import pytest

import thread_ranks
from iosonde.campaign import probe
from iosonde.campaign.probe import attach_probe, list_probe_warnings, summarise_repetitions
from iosonde.campaign.request import ProbeRequest
from iosonde.commands.probe import text as text_of
from iosonde.core import hardware as names
from iosonde.core.errors import IncompleteError
from iosonde.core.schema import PROBE_FACTORS
from iosonde.core.stored import StoredRun
from iosonde.core.types import Run
from iosonde.measure.probe import local as probe_local
from iosonde.measure.probe import network as probe_network
from iosonde.measure.probe import repetition
from iosonde.ranks.machine import traffic
from iosonde.stats.overview import hardware
from iosonde.store import Store
from messages import codes, raises

SWEEP = [[8, 1e-6], [1024, 2e-6], [65536, 2e-5], [2**20, 2e-4], [2**23, 1e-3]]


def pair(a, b, forth=1e9, back=1e9, crossed=1000):
    return {"a": a, "b": b, "sweep": SWEEP, "forth": forth, "back": back, "sent_bytes": 1000, "crossed_bytes": crossed}


def node(rank, host, scale=1.0, way="O_DIRECT"):
    return {
        "rank": rank,
        "host": host,
        "cores": 2,
        "copy_one": 5e9 * scale,
        "copy_all": 8e9 * scale,
        "disk": {"write": 1e8 * scale, "read": 2e8 * scale, "way": way},
        "cpu": {"write": 2e-9, "read": 1e-9},
    }


def facts(scale=1.0, hosts=("n1", "n2", "n3")):
    pairs = [pair(0, 1, 1e9 * scale), pair(0, 2, 9e8), pair(1, 2, 8e8, back=5e8)]
    link = {"a": 1, "b": 2, "forth": 4e8, "back": 3e8, "error": "", "outputs": []}
    return {
        "hosts": list(hosts),
        "nodes": list(range(len(hosts))),
        "target": "/t",
        "probe": {"pairs": pairs, "tcp": [link], "nodes": [node(i, host, scale) for i, host in enumerate(hosts)]},
    }


@pytest.mark.parametrize(("duration_ns", "count"), [(0, 1000), (1000, 1000), (1_000_000, 30), (10**9, 3)])
def test_messages_fill_the_budget_within_bounds(duration_ns, count):
    assert probe_network.count_affordable_messages(duration_ns) == count


def test_the_arrays_of_a_copy_are_larger_than_all_caches_and_leave_memory_free():
    assert 8 * probe_local.copy_bytes(32 * 2**20, 8, 2**40) >= 4 * 32 * 2**20
    assert 2 * 8 * probe_local.copy_bytes(32 * 2**20, 8, 2**20) <= 2**20 / 4


def test_last_level_caches_are_counted_once_each(tmp_path):
    for cpu, (shared, size) in enumerate([("0-1", "512K"), ("0-1", "512K"), ("2-3", "512K")]):
        for index, (level, text) in enumerate([("1", "32K"), ("3", size)]):
            place = tmp_path / f"cpu{cpu}" / "cache" / f"index{index}"
            place.mkdir(parents=True)
            (place / "level").write_text(level)
            (place / "size").write_text(text)
            (place / "shared_cpu_list").write_text(shared if level == "3" else str(cpu))
    assert probe_local.sum_last_level_caches(tmp_path) == 1024 * 1024
    assert probe_local.sum_last_level_caches(tmp_path / "none") == 0


NET_DEV = """Inter-|   Receive                                   |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed
    lo: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0
  eth0: 500 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0
  eth1:   0 0 0 0 0 0 0 0 5 1 0 0 0 0 0 0
"""


def test_traffic_counts_interfaces_and_infiniband_but_not_loopback(tmp_path):
    (tmp_path / "dev").write_text(NET_DEV)
    port = tmp_path / "infiniband" / "mlx5_0" / "ports" / "1" / "counters"
    port.mkdir(parents=True)
    (port / "port_xmit_data").write_text("7\n")
    (port / "port_rcv_data").write_text("9\n")
    assert traffic.count_sent_bytes(tmp_path / "dev", tmp_path / "infiniband") == 15 + 4 * 7
    assert traffic.count_sent_bytes(tmp_path / "none", tmp_path / "none") == 0


def test_the_medium_is_what_the_counters_show_and_not_what_was_hoped():
    assert names.classify_medium(pair(0, 1), [0, 0, 1]) == names.SHARED_MEMORY
    assert names.classify_medium(pair(0, 2, crossed=1100), [0, 0, 1]) == names.NETWORK
    assert names.classify_medium(pair(0, 2, crossed=20), [0, 0, 1]) == names.UNSEEN


def test_every_observation_belongs_to_a_rank_and_no_two_are_the_same():
    rows = repetition.results_to_observations(facts()["probe"])
    names = [(row.operation, row.metric, row.rank) for row in rows]
    assert len(set(names)) == len(names)
    assert all(row.rank is not None for row in rows)
    by_name = {(row.operation, row.rank): row.value for row in rows if row.metric == "bandwidth"}
    assert by_name["network_to_2", 1] == 8e8
    assert by_name["network_to_1", 2] == 5e8


def test_n_counts_repetitions_and_no_interval_goes_below_zero():
    made = hardware.summarise_probe([facts(1.0), facts(3.0)], 0.95)
    first = made["pairs"][0]
    assert first["hosts"] == ["n1", "n2"]
    assert first["bandwidth"].n == 2
    assert first["bandwidth"].value == pytest.approx(2e9)
    assert first["bandwidth"].low == 0.0
    assert made["nodes"][2]["disk_read"].value == pytest.approx(4e8)


def test_one_repetition_has_no_interval_and_says_so():
    estimate = hardware.summarise_probe([facts()], 0.95)["nodes"][0]["disk_read"]
    assert estimate.low is None
    assert estimate.warnings


def test_without_a_target_there_is_no_disk_in_the_result():
    one = facts()
    for entry in one["probe"]["nodes"]:
        del entry["disk"], entry["cpu"]
    made = summarise_repetitions([one], 0.95)
    assert "disk_read" not in made.facts["nodes"][0]
    assert made.facts["nodes"][0]["disk_way"] is None
    assert "disk" not in " ".join(text_of.describe_slowest_resources(made))


def test_the_text_is_narrow_names_the_slowest_and_escapes_host_names():
    text = list(text_of.lines(summarise_repetitions([facts(hosts=("n1\x1b[31m", "n2", "n3"))], 0.95, {"type": "nfs4"})))
    assert max(map(len, text)) < 80
    assert not any("\x1b" in line for line in text)
    last = " ".join(text)
    assert "477 MiB/s" in last
    assert "0.002 s/MB" in last
    assert "nfs4:" in last


def test_of_many_pairs_the_slowest_and_fastest_are_shown():
    many = facts()
    many["hosts"], many["nodes"] = [f"n{i}" for i in range(10)], list(range(10))
    many["probe"]["pairs"] = [pair(0, 1 + i % 9, 1e8 * (i + 1)) for i in range(20)]
    text = "\n".join(text_of.lines(summarise_repetitions([many], 0.95)))
    assert text.count("n0 – ") == 6 and " 20 " in text


@pytest.mark.parametrize(
    ("kind", "source", "word"),
    [
        ("tmpfs", "tmpfs", "in memory"),
        ("nfs4", "n1:/x", "servers"),
        ("fuse", "mfs#n1:9421", "fuse of mfs#n1:9421: its 'disk' is the servers'"),
        ("fuse", "/dev/sda1", ""),
        ("ext4", "/dev/sda1", ""),
    ],
)
def test_a_target_that_is_no_disk_is_named(kind, source, word):
    said = list_probe_warnings(hardware.summarise_probe([facts()], 0.95), {"type": kind, "source": source})
    assert any(word in line for line in said) if word else said == []


def stored(store, name, made, started_at, experiment="probe-1", missing=()):
    store.append(
        Run(
            id=name,
            experiment=experiment,
            source=names.SOURCE,
            started_at=started_at,
            seconds=1.0,
            factors={"nodes": 3},
            observations=repetition.results_to_observations(made["probe"]),
            facts=made,
            missing=list(missing),
        )
    )


@pytest.fixture
def probes(tmp_path):
    store = Store.create(tmp_path / "store")
    assert hardware.select_complete_probes(map(StoredRun, store.runs())) == []
    stored(store, "a-0", facts(1.0), "2026-11-01T00:00:00Z", "a")
    stored(store, "b-0", facts(2.0), "2026-11-02T00:00:00Z", "b")
    stored(store, "b-1", facts(2.0), "2026-11-02T00:01:00Z", "b")
    stored(store, "c-0", facts(9.0), "2026-11-03T00:00:00Z", "c", missing=["rank 1 died"])
    stored(store, "d-0", facts(9.0, ("m1", "m2", "m3")), "2026-11-04T00:00:00Z", "d")
    return hardware.select_complete_probes(map(StoredRun, store.runs()))


def test_the_newest_probe_of_these_hosts_is_found(probes):
    found = hardware.summarise_newest_probe(probes, ["n1", "n2"], 0.95)
    assert found["experiment"] == "b"
    assert [one["host"] for one in found["nodes"]] == ["n1", "n2"]
    assert [one["hosts"] for one in found["pairs"]] == [["n1", "n2"]]
    assert found["nodes"][0]["disk_read"].n == 2
    assert hardware.summarise_newest_probe(probes, ["n1", "elsewhere"], 0.95) is None
    assert hardware.summarise_newest_probe(probes, [], 0.95) is None


def test_a_later_run_keeps_the_probe_and_the_slowest_of_everything_as_factors(probes):
    def run_on(*hosts):
        facts = {"hosts": list(hosts)}
        return Run("r", "e", "iosonde envelope", "2026-11-05T00:00:00Z", 1.0, {"nodes": 2}, [], facts)

    run = attach_probe(run_on("n2", "n3", "n3"), probes, 0.95)
    json.dumps(run.facts)
    assert run.facts["probe"]["experiment"] == "b"
    assert run.factors["network_bandwidth"] == 5e8
    assert run.factors["tcp_bandwidth"] == 3e8
    assert run.factors["disk_read"] == 4e8
    asked_of_servers = {"probed_servers", "base_filesystem"}
    assert set(run.factors) == {"nodes", *PROBE_FACTORS} - asked_of_servers
    alone = attach_probe(run_on("n2"), probes, 0.95)
    assert "network_bandwidth" not in alone.factors
    other = attach_probe(run_on("elsewhere"), probes, 0.95)
    assert "probe" not in other.facts
    assert set(other.factors) == {"nodes"}


def test_the_disk_is_written_read_and_removed_and_says_how(tmp_path):
    found = probe_local.measure_disk(tmp_path, 2 * 2**20)
    assert found["write"] > 0
    assert found["read"] > 0
    assert found["way"].startswith(("O_DIRECT", "fsync"))
    cpu = probe_local.measure_cpu_per_byte(tmp_path, 2**20)
    assert cpu["write"] >= 0
    assert not list(tmp_path.iterdir())


def test_where_o_direct_is_refused_the_cache_is_dropped_and_it_is_said(tmp_path, monkeypatch):
    class NoDirect(probe_local._Files):
        def __init__(self, root, name, size, backend, flags):
            if flags:
                raise probe_local._RefusedError("Invalid argument")
            super().__init__(root, name, size, backend, flags)

    monkeypatch.setattr(probe_local, "_Files", NoDirect)
    way = probe_local.measure_disk(tmp_path, 2**20)["way"]
    assert "fsync" in way and "O_DIRECT" not in way


def test_servers_are_counted_and_their_file_systems_named():
    def server(*kinds):
        return {"host": "s", "disks": [{"filesystem": kind} for kind in kinds]}

    assert hardware.describe_servers({"servers": []}) == {}
    assert hardware.describe_servers({"servers": [server("xfs"), server("xfs", "xfs")]}) == {
        "probed_servers": 2,
        "base_filesystem": "xfs",
    }
    mixed = hardware.describe_servers({"servers": [server("xfs"), server("ext4"), server(None)]})
    assert mixed == {"probed_servers": 3, "base_filesystem": ", ".join(("ext4", "unknown", "xfs"))}


def test_pairs_of_ranks_are_measured_one_after_another_with_what_crossed(monkeypatch):
    """A clock that advances by 1000 ns at each look: each round trip and each stream takes 1000 ns."""
    for name, value in {"SIZES": (8, 64), "BUDGET_NS": 5000, "WINDOW": 2, "WINDOW_MESSAGE": 32}.items():
        monkeypatch.setattr(probe_network, name, value)
    monkeypatch.setattr(probe_network, "time", SimpleNamespace(monotonic_ns=itertools.count(0, 1000).__next__))
    monkeypatch.setattr(probe_network.traffic, "count_sent_bytes", itertools.count(500, 70).__next__)
    found, *others = thread_ranks.run_ranks(thread_ranks.on_hosts("n1", "n2", "n3"), probe_network.measure_all_pairs)
    rate = 10 * 2 * 32 / 1e-6  # 64 bytes take 500 ns one way, so a window of 2 × 32 bytes too: 10 of them fit
    sent = (2 + 5) * (8 + 64) + (1 + 10) * 2 * 32
    assert found == [
        {
            "a": a,
            "b": b,
            "sweep": ((8, pytest.approx(5e-7)), (64, pytest.approx(5e-7))),
            "forth": pytest.approx(rate),
            "back": pytest.approx(rate),
            "sent_bytes": sent,
            "crossed_bytes": 70,
        }
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    assert others == [[], []]


def test_the_network_takes_as_long_as_all_pairs_together():
    budget_s = 0.03 * (5 + 2)  # each of five sizes, and a stream in each direction
    assert [repetition.estimate_network_seconds(nodes, 2) for nodes in (0, 1, 2, 4)] == pytest.approx(
        [0, 0, 2 * budget_s, 2 * 6 * budget_s]
    )


def test_rows_of_a_probe_hold_every_quantity_under_its_rank():
    results = facts()["probe"] | {"pairs": [pair(0, 1, 1e9, 7e8)], "nodes": [node(2, "n3")]}
    results["servers"] = [{"disks": [{"write": 1.0, "read": 2.0}]}, {"disks": [{"write": 3.0, "read": 4.0}]}]
    rows = repetition.results_to_observations(results)
    written, read = "open,fsync,close", "open,close"
    assert [(row.operation, row.metric, row.value, row.unit, row.rank) for row in rows] == [
        ("network_to_1", "latency", 1e-6, "s", 0),
        ("network_to_1", "bandwidth", 1e9, "bytes/s", 0),
        ("network_to_0", "bandwidth", 7e8, "bytes/s", 1),
        ("pingpong_with_1", "half_round_trip_1024", 2e-6, "s", 0),
        ("pingpong_with_1", "half_round_trip_65536", 2e-5, "s", 0),
        ("pingpong_with_1", "half_round_trip_1048576", 2e-4, "s", 0),
        ("pingpong_with_1", "half_round_trip_8388608", 1e-3, "s", 0),
        ("tcp_to_2", "bandwidth", 4e8, "bytes/s", 1),
        ("tcp_to_1", "bandwidth", 3e8, "bytes/s", 2),
        ("memory_copy", "one_core", 5e9, "bytes/s", 2),
        ("memory_copy", "all_cores", 8e9, "bytes/s", 2),
        ("disk_write", "bandwidth", 1e8, "bytes/s", 2),
        ("disk_read", "bandwidth", 2e8, "bytes/s", 2),
        ("cpu_write", "seconds_per_byte", 2e-9, "s/byte", 2),
        ("cpu_read", "seconds_per_byte", 1e-9, "s/byte", 2),
        ("server_disk_write", "bandwidth", 1.0, "bytes/s", 0),
        ("server_disk_read", "bandwidth", 2.0, "bytes/s", 0),
        ("server_disk_write", "bandwidth", 3.0, "bytes/s", 1),
        ("server_disk_read", "bandwidth", 4.0, "bytes/s", 1),
    ]
    assert [row.includes for row in rows[-10:]] == ["", "", *[written, read] * 4]


def test_records_are_rows_of_pairs_links_nodes_and_disks():
    one = facts(hosts=("n1", "n2"))
    one["probe"] |= {"pairs": [pair(0, 1)], "tcp": [{**one["probe"]["tcp"][0], "a": 0, "b": 1}]}
    one["probe"]["servers"] = [
        {"host": "s1", "disks": [{"dir": "/b", "filesystem": "xfs", "way": "O_DIRECT", "write": 5.0, "read": 6.0}]}
    ]
    rows = summarise_repetitions([one], 0.95).records()
    values = {(row["of"], row["where"], row["quantity"]): row["value"] for row in rows}
    assert len(values) == len(rows)
    assert values["pairs", "n1 – n2", "bandwidth"] == 1e9 and values["pairs", "n1 – n2", "latency"] == 1e-6
    assert values["tcp", "n1 – n2", "bandwidth"] == 4e8
    assert values["nodes", "n2", "disk_read"] == 2e8
    assert values["servers", "s1:/b", "disk_write"] == 5.0 and values["servers", "s1:/b", "disk_read"] == 6.0
    assert all(set(row) == {"of", "where", "quantity", "value", "value_low", "value_high"} for row in rows)


@pytest.mark.parametrize("hosts", ["", "h"])
def test_the_first_incomplete_repetition_is_the_reason_and_the_complete_ones_are_summarised(hosts):
    def run(scale, missing):
        return Run("r", "e1", "probe", "", 0.0, {}, [], facts=facts(scale), missing=missing)

    runs = [run(1.0, []), run(3.0, []), run(9.0, ["no disk", "no network"])]
    request = ProbeRequest(store="st", hosts=hosts)
    summary = probe._summarise_runs(request, runs, None, 0.9)
    assert (summary.n, summary.level, summary.experiment, summary.store) == (2, 0.9, "e1", "st")
    assert summary.facts["nodes"][0]["disk_read"].value == pytest.approx(4e8)
    with raises("incomplete-repetitions", IncompleteError, incomplete=1, repetitions=3, reason="no disk") as error:
        summary.check()
    assert ("hosts" in error.value.hint) == bool(hosts)
    probe._summarise_runs(request, runs[:2], None, 0.9).check()
    with raises("incomplete-repetitions", IncompleteError, incomplete=1, repetitions=1):
        probe._summarise_runs(request, runs[2:], None, 0.9)


@pytest.mark.parametrize(
    ("pairs", "nodes", "error", "mount", "wanted"),
    [
        (["network"], 2, "", {}, []),
        ([], 1, "", {}, ["one-node"]),
        ([], 0, "", {}, []),
        ([names.SHARED_MEMORY, "network"], 2, "", {"type": "tmpfs"}, ["shared-memory-network", "target-in-memory"]),
        ([names.UNSEEN], 2, "no iperf3", {"type": "ext4"}, ["network-not-used", "tcp-incomplete"]),
        (["network"], 2, "", {"type": "nfs4", "source": "s:/x"}, ["target-on-network"]),
    ],
)
def test_each_misleading_number_has_its_warning(pairs, nodes, error, mount, wanted):
    found = {"pairs": [{"medium": medium} for medium in pairs], "nodes": [{}] * nodes, "tcp_error": error}
    warnings = list_probe_warnings(found, mount)
    assert codes(warnings) == wanted
    values = {message.code: message.values for message in warnings}
    assert values.get("tcp-incomplete", {"reason": error})["reason"] == error
    assert {value["type"] for code, value in values.items() if code.startswith("target-")} <= {mount.get("type")}
