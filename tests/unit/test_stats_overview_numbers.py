"""Small parts of an overview by hand: calls, servers, links, traffic, the results file of many tasks."""

from __future__ import annotations

from collections import Counter

import pytest

from iosonde.core.many_task import IOZONE_NAMES
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate
from iosonde.stats.definitions.many_task import build_document
from iosonde.stats.estimate.probed_limit import ProbedLimit
from iosonde.stats.overview import balance, hardware, probed_limits, wire
from iosonde.stats.overview.calls import PhaseCalls


def known(value, high=None) -> Estimate:
    return Estimate(value, None if high is None else 0.0, high, 0.95, 3)


def test_calls_have_all_their_numbers():
    total, of_client = known(3.0, 4.0), known(1.0, 2.0)
    client, servers = {"open": known(0.5, 1.0)}, {"getattr": known(2.0, 3.0)}
    made = PhaseCalls("read", "nodes=2", "read", client, servers, total, of_client)
    assert made.to_json() == {
        "operation": "read",
        "setting": "nodes=2",
        "per": "read",
        "n": 3,
        **total.flat("calls"),
        "servers": [{"kind": "getattr", **known(2.0, 3.0).flat("calls")}],
        **of_client.flat("operations"),
        "client": [{"kind": "open", **known(0.5, 1.0).flat("operations")}],
    }


def served(name, written, factors=None, **more) -> StoredRun:
    by_server = {server: {"written_bytes": size, "read_bytes": 0} for server, size in written.items()}
    facts = {"servers": {"profile": {"by_server": by_server}}}
    return StoredRun({"id": name, "experiment": "x", "factors": factors or {}, "facts": facts, **more})


def test_the_balance_of_servers_is_the_busiest_over_their_mean():
    runs = [
        served("a", {"s1": 10, "s2": 30}),
        served("b", {"s1": 20, "s2": 20, "s3": 20}),
        served("c", {"s1": 10}),
        served("d", {"s1": 0, "s2": 0}),
        served("e", {"s1": 1, "s2": 9}, missing=["x"]),
    ]
    (made,) = balance.estimate_server_balances(runs, 0.95)
    assert (made.what, made.setting, made.n_servers, made.least) == ("written", "", 3, 1.0)
    assert (made.index.value, made.index.low, made.index.n) == (pytest.approx(1.25), 1.0, 2)
    assert (made.lost.value, made.lost.low) == (pytest.approx(0.2), 0.0)
    assert made.lost.high == pytest.approx(1 - 1 / made.index.high)
    assert made.busiest == Counter({"s2": 1, "s1": 1})


def test_settings_are_the_factors_that_vary_and_do_not_number_trials():
    runs = [served(str(i), {}, {"nodes": nodes, "fs": "x", "block": i}) for i, nodes in enumerate((1, 2))]
    assert balance.describe_run_settings(runs) == ["nodes=1", "nodes=2"]
    assert balance.describe_run_settings(runs[:1]) == [""]


def test_the_slowest_part_of_each_kind_is_taken():
    pair = {"bandwidth": known(9.0), "bandwidth_back": known(7.0), "latency": known(0.1)}
    slow = {"bandwidth": known(8.0), "bandwidth_back": known(8.0), "latency": known(0.3)}
    rates = ("memory_copy_all_cores", "disk_write"), ("cpu_write", "cpu_read", "disk_read")
    nodes = [
        {name: known(value) for names, value in zip(rates, values, strict=True) for name in names}
        for values in ((5.0, 0.1), (4.0, 0.2))
    ]
    facts = {"pairs": [pair, slow], "tcp": [slow], "nodes": nodes, "servers": [], "own_disk": True}
    parts = {
        "network_bandwidth": 7.0,
        "network_latency": 0.3,
        "tcp_bandwidth": 8.0,
        "memory_copy": 4.0,
        "cpu_write": 0.2,
        "cpu_read": 0.2,
    }
    assert hardware.find_slowest_parts(facts) == parts | {"disk_write": 4.0, "disk_read": 0.1}
    assert hardware.find_slowest_parts(facts | {"own_disk": False}) == parts
    disks = [{"disk_write": known(3.0), "disk_read": known(2.0)}, {"disk_write": known(6.0), "disk_read": known(1.0)}]
    servers = facts | {"servers": [{"disks": disks[:1]}, {"disks": disks[1:]}]}
    assert hardware.find_slowest_parts(servers) == parts | {"disk_write": 3.0, "disk_read": 1.0}


def test_links_and_disks_of_all_nodes_are_added_by_means_and_by_upper_ends():
    def link(hosts, there, back, **more):
        return {"hosts": hosts, "bandwidth": known(1.0, there), "bandwidth_back": known(1.0, back), **more}

    links = {"pairs": [link(["a", "b"], 9.0, 7.0)], "tcp": [link(["a", "c"], 6.0, 12.0)]}
    limit = probed_limits._sum_link_limits(links, {"a", "b"})
    assert limit == ProbedLimit(2.0, 12.0 + 9.0, probed_limits.LINKS)
    assert probed_limits._sum_link_limits(links, {"a", "d"}) is None
    local = {"pairs": [link(["a", "b"], 9.0, 7.0, medium="memory")], "tcp": []}
    assert probed_limits._sum_link_limits(local, {"a", "b"}) is None
    disks = [{"host": host, "disk_read": known(2.0, high)} for host, high in (("a", 5.0), ("b", None), ("c", 9.0))]
    summary = {"nodes": disks, "own_disk": True}
    read = probed_limits._sum_disk_limits(summary, {"a", "b"}, "read")
    assert read == ProbedLimit(4.0, 7.0, probed_limits.DISKS)
    assert probed_limits._sum_disk_limits(summary, {"a", "b"}, "write") is None
    assert probed_limits._sum_disk_limits(summary, {"a", "x"}, "read") is None
    assert probed_limits._sum_disk_limits(summary | {"own_disk": False}, {"a"}, "read") is None


@pytest.mark.parametrize(("share", "text"), [(0.0, "0 %"), (0.999, "99 %"), (0.29, "29 %"), (1.0, "100 %")])
def test_shares_of_traffic_are_rounded_down(share, text):
    assert wire.format_floored_percent(share) == text


def test_the_file_of_many_tasks_has_totals_and_ranks_in_kb():
    def row(metric, value, rank=None, unit="bytes/s", **more):
        numbers = {"operation": "read", "metric": metric, "rank": rank, "value": value, "unit": unit}
        return {"run": "r", "nodes": 2} | numbers | more

    rows = [
        row("bandwidth_sum_of_ranks", 2048.0, fs="x", gap=None),
        row("bandwidth_own", 1024.0, 1),
        row("bandwidth_own", 512.0, 0),
        row("seconds", 3.0, unit="s"),
    ]
    cell = {"total": {"read fs=x": 2}, "individual": [{"read fs=x": 0.5}, {"read fs=x": 1}]}
    assert build_document(rows, [], ["fs", "gap"]) == {"2": cell | {"units": {"read fs=x": "kB/s"}}}
    assert build_document([row("seconds", 3.0, unit="s")], [], []) == {}


def rate(run, nodes, value, rank=None, metric="rate_sum_of_ranks", operation="read", unit="operations/s", **more):
    return {"operation": operation, "metric": metric, "rank": rank, "value": value, "unit": unit, "run": run} | {
        "nodes": nodes,
        **more,
    }


def test_repetitions_of_many_tasks_are_averaged_and_node_counts_and_cells_are_apart():
    rows = [
        *[rate("a", 1, 10.0, fs="x"), rate("a", 1, 4.0, 0, "rate_own", fs="x")],
        *[
            rate("b", 1, 15.0, fs="x"),
            rate("b", 1, 8.0, 0, "rate_own", fs="x"),
            rate("b", 1, 2.5, 1, "rate_own", fs="x"),
        ],
        *[rate("c", 1, 7.0, fs="y"), rate("d", 16, 9.0, fs="y"), rate("e", 2, 1.0, 0, "rate_own", fs="y")],
    ]
    units = {"read fs=x": "operations/s", "read fs=y": "operations/s"}
    expected = {
        "1": {
            "total": {"read fs=x": 12.5, "read fs=y": 7},
            "individual": [{"read fs=x": 6}, {"read fs=x": 2.5}],
            "units": units,
            "repetitions": [
                {"total": {"read fs=x": 10, "read fs=y": 7}, "individual": [{"read fs=x": 4}]},
                {"total": {"read fs=x": 15}, "individual": [{"read fs=x": 8}, {"read fs=x": 2.5}]},
            ],
        },
        "16": {"total": {"read fs=y": 9}, "individual": [], "units": {"read fs=y": "operations/s"}},
    }
    assert build_document(rows, [], ["fs"]) == expected
    assert list(build_document(rows[::-1], [], ["fs"])) == ["1", "16"]


def test_numbers_of_many_tasks_are_named_by_operation_and_by_kind_if_there_are_two():
    rows = [
        rate("a", 1, 3.0, metric="rate_last_done"),
        rate("a", 1, 9.0, metric="rate_first_done"),
        rate("a", 1, 5.0, 0, "rate_last_done"),
        rate("a", 1, 6.0, operation="write"),
        rate("a", 1, 2048.0, operation="write", metric="bandwidth_sum_of_ranks", unit="bytes/s"),
        rate("a", 1, 7.0, operation="write", metric="rate_last_done"),
        rate("a", 1, 8.0, 0, operation="write"),
        rate("a", 1, 1.0, operation="stat", metric="rate_mean"),
    ]
    (made,) = build_document(rows, [], []).values()
    assert made["total"] == {"read": 3, "write rate": 6, "write bandwidth": 2, "stat": 1}
    assert made["units"]["write bandwidth"] == "kB/s" and made["individual"] == []
    tool = build_document([rate("a", 1, 3.0, operation=name) for name in IOZONE_NAMES], ["a"], [])
    assert list(tool["1"]["total"]) == list(IOZONE_NAMES.values())
