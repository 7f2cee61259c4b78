"""What a node's counters say of a phase: how much of what was moved went over the network, and what follows."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.core.wire import METRICS
from iosonde.importers import registry
from iosonde.importers.text import Text
from iosonde.measure import items, spool
from iosonde.measure.assignment import Assignment
from iosonde.measure.collect import assemble, commands, tool_bytes, wire
from iosonde.measure.collect.tool_bytes import Moved
from iosonde.measure.rank import mounted
from iosonde.measure.rank import wire as rank_wire
from iosonde.measure.rank.wire import Meter
from iosonde.measure.spec import NativeStep
from iosonde.ranks.machine.route import Route
from iosonde.ranks.machine.traffic import NetworkCounts

MIB = 2**20
FIXTURES = Path(__file__).parents[1] / "golden" / "fixtures"


def part(received=0, sent=0, packets=0, loopback=0, seconds=1.0):
    counted = {"received_bytes": received, "sent_bytes": sent, "received_packets": packets, "sent_packets": packets}
    return counted | {"loopback_bytes": loopback, "seconds": seconds}


def counted(why="", idle=None, assumed=False, **parts):
    about = {"interfaces": ["eth0"], "ports": [], "why": why, "assumed": assumed}
    return about if why else {**about, "idle": idle or part(seconds=0.1), **parts}


READ = Moved(10 * MIB, 0, 10)


@pytest.mark.parametrize(
    ("timed", "moved", "state", "share"),
    [
        (part(received=10 * MIB), READ, "came", 1.0),
        (part(received=9.2 * MIB), READ, "came", 0.92),
        (part(received=8 * MIB), READ, "served-by-cache", 0.8),
        (part(received=0), READ, "served-by-cache", 0.0),
        # Much more than was asked for may hide a cache, and so may messages about small files.
        (part(received=20 * MIB), READ, "unclear", 2.0),
        (part(received=MIB), Moved(MIB, 0, 256), "unclear", 1.0),
        (part(received=MIB // 2), Moved(MIB, 0, 256), "served-by-cache", 0.5),
        # How many operations a tool made is not known.
        (part(received=10 * MIB), Moved(10 * MIB, 0), "unclear", 1.0),
        (part(received=9000), Moved(9000, 0, 9), "", None),
    ],
)
def test_what_came_is_held_against_what_was_read(timed, moved, state, share):
    said = wire.compare_with_expected_bytes([counted(timed=timed)], moved, 1.0)
    assert (said["reads"], said["share_received"], said["why"]) == (state, share and pytest.approx(share), "")


@pytest.mark.parametrize(
    ("sent", "copies", "state", "share"),
    [(10, 1.0, "sent", 1.0), (10, 2.0, "buffered", 0.5), (20, 2.0, "sent", 1.0), (15, 1.5, "sent", 1.0)],
)
def test_a_write_is_sent_as_often_as_the_client_copies(sent, copies, state, share):
    said = wire.compare_with_expected_bytes([counted(timed=part(sent=sent * MIB))], Moved(0, 10 * MIB, 10), copies)
    assert (said["writes"], said["share_sent"], said["reads"]) == (state, pytest.approx(share), "")


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (counted(why="RDMA"), "RDMA"),
        (counted(timed=part(received=-5)), "a counter was set back"),
        (
            counted(assumed=True, timed=part(received=MIB // 2)),
            "no server of it is known, and next to nothing went over the network",
        ),
        (counted(), "the counters were not read to the end"),
        (
            counted(timed=part(received=10 * MIB, loopback=2 * MIB)),
            "2 MiB went over loopback: a server runs on a node of ours",
        ),
        (
            counted(idle=part(received=MIB, seconds=0.1), timed=part(received=12 * MIB, seconds=0.2)),
            "others used the network (10.0 MiB/s before we began)",
        ),
    ],
)
def test_what_cannot_be_told_is_unknown_with_the_reason(found, why):
    said = wire.compare_with_expected_bytes([found], READ, 1.0)
    assert (said["reads"], said["share_received"], said["why"]) == ("unknown", None, why)


def test_a_little_traffic_of_others_is_deducted():
    """20 KB in 0.1 s before, 1 s of measuring: 200 KB are not ours."""
    found = counted(idle=part(received=20_000, seconds=0.1), timed=part(received=10 * MIB + 200_000))
    assert wire.compare_with_expected_bytes([found], READ, 1.0)["share_received"] == pytest.approx(1.0)


def test_of_what_the_first_node_wrote_the_others_count():
    """N-to-1: its own cache may have it, and it is shown apart."""
    of = {0: counted(timed=part(received=0)), 2: counted(timed=part(received=10 * MIB, packets=30))}
    found = wire.describe_phase(of, {0: READ, 1: READ}, [0, 0, 1, 1], 1.0, 20, away=True)
    assert (found["reads"], found["share_received"]) == ("came", pytest.approx(1.0))
    assert [(one["node"], one["reads"]) for one in found["nodes"]] == [(0, "served-by-cache"), (1, "came")]
    assert found["packets_per_operation"] == 60 / 20
    both = wire.describe_phase(of, {0: READ, 1: READ}, [0, 0, 1, 1], 1.0)
    assert (both["reads"], both["share_received"]) == ("served-by-cache", pytest.approx(0.5))
    assert wire.describe_phase({}, {0: READ}, [0], 1.0) is None


def test_rows_are_of_each_part_of_the_whole_and_of_each_node():
    parts = {"preparing": part(received=1), "timed": part(received=2, sent=3), "flush": part(sent=4)}
    network = wire.describe_phase({0: counted(**parts), 1: counted(**parts)}, {}, [0, 1], 1.0, operations=2)
    rows = {(row.metric, row.rank): (row.value, row.unit) for row in wire.observe_traffic("w", network, 5)}
    assert {metric for metric, _ in rows} == set(METRICS)
    assert rows["network_sent_flush", None] == (8.0, "bytes")
    assert rows["network_received", 1] == (2.0, "bytes")
    assert wire.observe_traffic("w", None) == []


@pytest.mark.parametrize(
    ("before", "reads", "after"),
    [
        ("cold-requested", "came", "cold-verified"),
        ("cold-requested", "served-by-cache", "served-by-cache"),
        ("cold-requested", "unclear", "cold-requested"),
        ("cold-verified", "unknown", "cold-verified"),
        ("cold-verified", "served-by-cache", "served-by-cache"),
        ("warm", "served-by-cache", "warm"),
        ("warm", "came", "warm"),
    ],
)
def test_the_wire_says_what_the_cache_was(before, reads, after):
    assert wire.update_cache_state(before, {"reads": reads}) == after
    assert wire.update_cache_state(before, None) == before


@pytest.mark.parametrize(
    ("said", "copies"),
    [
        ({"copies": 3, "copied_by": "client"}, 3.0),
        ({"copies": 3, "copied_by": "servers"}, 1.0),
        ({"copies": 1, "copied_by": "client", "data_parts": 2, "parity_parts": 1}, 1.5),
        ({}, 1.0),
        (None, 1.0),
    ],
)
def test_how_often_a_client_sends_each_byte(said, copies):
    assert wire.count_copies_sent(said) == copies


class Counters:
    """Counters that stand at the next of these values each time they are read."""

    def __init__(self, *received):
        self._left = list(received)

    def __call__(self, route):
        received = self._left.pop(0)
        return NetworkCounts(received, 2 * received, 1, 1), NetworkCounts(received, 0, 0, 0)


def quiet():
    return SimpleNamespace(wait_for_all=lambda: None), SimpleNamespace(enter=lambda *_: None)


def test_a_meter_counts_the_parts_of_a_phase_apart(tmp_path):
    meter = Meter(tmp_path, 3, Route(("eth0",)), Counters(5, 7, 8, 10, 20, 30, 31, 31, 40))
    meter.idle(*quiet())
    for frame, parts in ((0, ("preparing", "timed", "flush")), (1, ("preparing", "timed"))):
        for name in parts:
            meter.ends(name)
        meter.keep(frame)
    found = spool.read_wire(tmp_path)
    assert {name: found[0][3][name]["received_bytes"] for name in ("idle", "preparing", "timed", "flush")} == {
        "idle": 1,
        "preparing": 2,
        "timed": 10,
        "flush": 10,
    }
    assert found[0][3]["timed"]["sent_bytes"] == 20
    assert found[0][3]["timed"]["loopback_bytes"] == 10
    assert found[1][3]["preparing"]["received_bytes"] == 1
    assert "flush" not in found[1][3]
    assert found[0][3]["idle"]["seconds"] >= 0.1


def test_a_meter_that_cannot_count_leaves_the_reason_and_reads_nothing(tmp_path):
    for found in (Route(why="RDMA"), None):
        meter = Meter(tmp_path, 0, found, Counters())
        meter.idle(*quiet())
        meter.ends("timed")
        meter.keep(0)
    assert spool.read_wire(tmp_path) == {0: {0: {"interfaces": [], "ports": [], "why": "RDMA", "assumed": False}}}


def test_a_meter_on_a_server_leaves_which_one_it_is(tmp_path):
    meter = Meter(tmp_path, 0, Route(why="a server runs on this node (n1)", own_server="n1"), Counters())
    meter.keep(0)
    (found,) = spool.read_wire(tmp_path)[0].values()
    assert found["own_server"] == "n1"
    whole = wire.describe_phase({0: found}, {0: READ}, [0], 1.0)
    assert whole["nodes"][0]["own_server"] == "n1" and whole["reads"] == "unknown"


def test_what_was_counted_travels_with_the_rest_and_a_torn_line_is_left_out(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir(), there.mkdir()
    spool.write_wire(here, 4, 1, {"why": ""})
    with spool.build_wire_path(here, 4).open("a") as file:
        file.write('{"frame": 2, "wh')
    for piece in spool.iterate_pieces(here, 4):
        spool.append_piece(there, piece)
    assert spool.read_wire(there) == {1: {4: {"why": ""}}}
    spool.remove_sent_files(there, 4)
    assert spool.read_wire(there) == {}


def rank_phase(phase, kinds, **more):
    totals = [
        {
            "kind": assemble.list_operation_kinds().index(kind),
            "count": count,
            "bytes": size,
            "errors": 0,
            "sum_duration_ns": 1,
            "first_start_ns": 1,
            "last_end_ns": 10**9,
        }
        for kind, (count, size) in kinds.items()
    ]
    return spool.RankPhase(0, phase, 1, 10**9, "count", False, totals, [], **more)


@pytest.mark.parametrize(
    ("received", "state", "client_cache"),
    [
        (MIB, "cold-verified", "cold-verified"),
        (0, "served-by-cache", "served-by-cache"),
        (None, "cold-requested", "cold-requested"),
    ],
)
def test_the_run_has_what_came_as_a_fact_and_as_rows_and_its_cache_follows(tmp_path, received, state, client_cache):
    """One rank writes a file and reads it."""
    phases = [
        {"name": name, "files": "f", "steps": [step, {"kind": kind, "transfer_size": MIB, "count": 1}]}
        for name, kind, step in (("write_it", "write", "create"), ("read_it", "read", "open"))
    ]
    item = items.build_items((), (NativeStep("phases", {"phases": phases}),), (), {})
    parts = items.lay_out_items(item, 0, 1, 0)
    looked = {"state": "cold-requested", "resident_bytes": 0, "bytes": MIB}
    spool.append_phase(tmp_path, rank_phase(0, {"create": (1, 0), "write": (1, MIB)}))
    spool.append_phase(tmp_path, rank_phase(1, {"open": (1, 0), "read": (1, MIB)}, cache=looked))
    if received is not None:
        spool.write_wire(tmp_path, 0, 0, counted(timed=part(sent=MIB // 4), flush=part(sent=3 * MIB // 4)))
        spool.write_wire(tmp_path, 0, 1, counted(timed=part(received=received)))
    found = assemble.collect_trial(assemble.SpooledTrial(tmp_path, 1, {}, 0), parts)
    wrote, read = found.phases
    assert (read["cache"]["state"], found.client_cache) == (state, client_cache)
    rows = {(row.operation, row.metric): row.value for row in found.observations if row.rank is None}
    if received is None:
        assert wrote["network"] is read["network"] is None
        assert not any(metric.startswith("network") for _, metric in rows)
    else:
        assert (wrote["network"]["writes"], wrote["network"]["share_sent"]) == ("buffered", 0.25)
        assert rows["write_buffered_it", "network_sent_flush"] == 3 * MIB // 4
        assert rows["read_it", "network_received"] == received
        assert json.dumps(found.phases)


COMMAND = {
    "kind": items.COMMAND,
    "stage": items.STEP,
    "on": "single",
    "label": "step-01",
    "command": "ior -o ${TARGET}/f",
}


@pytest.mark.parametrize(
    ("more", "yes"),
    [
        ({}, True),
        ({"command": "ior -o /mnt/g/f"}, True),
        ({"command": "ior -o /tmp/f"}, False),
        ({"on": "servers"}, False),
        ({"stage": items.SET_UP}, False),
    ],
)
def test_a_command_is_judged_only_where_it_works_on_the_target(more, yes):
    assert commands.is_target_named(COMMAND | more, "/mnt/g") is yes
    assert not commands.is_target_named(COMMAND | {"command": "true"}, "")


def test_a_command_that_read_what_it_had_just_written():
    """IOR on Gluster: 64 MiB written over the link, and read at 3 GiB/s from the page cache."""
    of = {0: counted(timed=part(received=300_000, sent=67 * MIB))}
    network = wire.describe_command(of, Moved(64 * MIB, 64 * MIB), [0], 1)
    assert (network["reads"], network["writes"]) == ("served-by-cache", "sent")
    nobody = wire.describe_command(of, None, [0], 1)
    assert (nobody["reads"], nobody["writes"], nobody["share_received"]) == ("", "", None)


@pytest.mark.parametrize(
    ("file", "read", "written"),
    [
        ("ior/gen-ior400-fpp-3reps.txt", 96 * MIB, 96 * MIB),  # 3 iterations of 32 MiB
        ("ior/gen-ior410-readonly.txt", 32 * MIB, 0),
        ("ior/gen-ior410-json-3reps.json", 96 * MIB, 96 * MIB),
        ("fio/gen-fio333-json-seqwrite-2jobs.json", 0, 32 * MIB),  # two jobs, no row of both
        ("fio/gen-fio333-normal-and-json.txt", 16 * MIB, 0),
        ("iozone/gen-v489-directio-ext4.txt", 8 * MIB, 8 * MIB),  # read, reread, write, rewrite of 4 MiB
        ("iozone/gen-v489-t2-threads-cpu.txt", 131072, 16 * MIB),  # where a process ended the others: the least
    ],
)
def test_how_much_a_tool_says_it_moved(file, read, written):
    path = FIXTURES / file
    found = tool_bytes.sum_output_bytes(registry.understand(Text(path.read_bytes(), path.name), None).runs)
    assert found is not None
    assert found.read == pytest.approx(read, rel=0.01)
    assert found.written == pytest.approx(written, rel=0.01)


@pytest.mark.parametrize("file", ["iozone/gen-v489-mixed-t4-pct.txt", "mdtest/gen-mdtest410-3iter.txt"])
def test_what_is_both_or_says_nothing_is_not_guessed(file):
    path = FIXTURES / file
    assert tool_bytes.sum_output_bytes(registry.understand(Text(path.read_bytes(), path.name), None).runs) is None
    assert commands.sum_bytes_moved({}) is None


def test_a_mount_is_known_by_an_id_that_is_given_once(tmp_path, monkeypatch):
    assert mounted.find_mount_of_path(tmp_path) == mounted.find_mount_of_path(tmp_path)
    assert mounted.find_mount_of_path(Path("/proc"))[0] != mounted.find_mount_of_path(Path("/sys"))[0]
    monkeypatch.setattr(mounted, "_read_unique_id", lambda _: "")  # before Linux 6.8
    assert mounted.find_mount_of_path(Path("/proc"))[0].isdigit()


def test_the_entry_of_a_phase_on_two_nodes_by_hand():
    """Node 0 read 10 MiB of which 5 came; node 1 read 10 MiB, which came, and wrote 1 MiB twice, of which half went."""
    first = counted(timed=part(received=5 * MIB, packets=10))
    second = counted(timed=part(received=10 * MIB, sent=MIB, packets=30), flush=part(sent=7))
    moved = {0: READ, 1: Moved(10 * MIB, MIB, 10)}
    found = wire.describe_phase({0: first, 3: second}, moved, [0, 0, 1, 1], 2.0, 20)
    nodes = found.pop("nodes")
    assert nodes == [
        {
            "node": 0,
            "rank": 0,
            **first,
            "reads": "served-by-cache",
            "expected_received_bytes": 10 * MIB,
            "share_received": 0.5,
            "writes": "",
            "expected_sent_bytes": 0.0,
            "share_sent": None,
            "why": "",
        },
        {
            "node": 1,
            "rank": 3,
            **second,
            "reads": "came",
            "expected_received_bytes": 10 * MIB,
            "share_received": 1.0,
            "writes": "buffered",
            "expected_sent_bytes": 2.0 * MIB,
            "share_sent": 0.5,
            "why": "",
        },
    ]
    nothing = dict.fromkeys(NetworkCounts._fields, 0)
    assert found == {
        "timed": {"received_bytes": 15 * MIB, "sent_bytes": MIB, "received_packets": 40, "sent_packets": 40},
        "flush": nothing | {"sent_bytes": 7},
        "reads": "served-by-cache",
        "writes": "buffered",
        "why": "",
        "expected_received_bytes": 20 * MIB,
        "share_received": 0.75,
        "expected_sent_bytes": 2.0 * MIB,
        "share_sent": 0.5,
        "packets_per_operation": 4.0,
    }
    away = wire.describe_phase({0: first, 3: second}, moved, [0, 0, 1, 1], 2.0, 20, away=True)
    assert (away["reads"], away["share_received"], away["expected_received_bytes"]) == ("came", 1.0, 10 * MIB)
    alone = wire.describe_phase({0: first}, moved, [0], 1.0, away=True)
    assert (alone["reads"], alone["packets_per_operation"]) == ("served-by-cache", None)


def test_a_phase_that_cannot_be_judged_has_a_reason_and_no_packets():
    of = {0: counted(timed=part(received=5 * MIB, packets=10))}
    found = wire.describe_phase(of, {0: READ}, [0], 1.0, 20, why="shared")
    assert (found["reads"], found["why"], found["share_received"]) == ("unknown", "shared", None)
    assert found["packets_per_operation"] is None and found["timed"]["received_packets"] == 10
    far = wire.describe_phase({7: of[0]}, {0: READ}, [0], 1.0)
    assert (far["nodes"][0]["node"], far["reads"]) == (0, "served-by-cache")


@pytest.mark.parametrize(
    ("size", "received", "operations", "state"),
    [
        (wire.LEAST_BYTES - 1, 0, 1, ""),
        (wire.LEAST_BYTES, 0, 1, "served-by-cache"),
        (MIB, 0.9 * MIB, 1, "came"),
        (MIB, 0.89 * MIB, 1, "served-by-cache"),
        (MIB, 1.5 * MIB, 1, "came"),
        (MIB, 1.51 * MIB, 1, "unclear"),
        (MIB, MIB, 64, "came"),  # 16 KiB each
        (MIB, MIB, 65, "unclear"),
    ],
)
def test_limits_of_what_reads_show(size, received, operations, state):
    said = wire.compare_with_expected_bytes([counted(timed=part(received=received))], Moved(size, 0, operations), 1.0)
    assert said["reads"] == state


@pytest.mark.parametrize(
    ("sent", "assumed", "state"),
    [
        (0.9, False, "sent"),
        (0.89, False, "buffered"),
        (0.1, True, "buffered"),
        (0.09, True, "unknown"),
        (0.09, False, "buffered"),
    ],
)
def test_limits_of_what_writes_show(sent, assumed, state):
    found = counted(assumed=assumed, timed=part(sent=sent * MIB))
    said = wire.compare_with_expected_bytes([found], Moved(0, MIB, 1), 1.0)
    assert (said["writes"], bool(said["why"])) == (state, state == "unknown")


@pytest.mark.parametrize(
    ("loopback", "idle", "is_known"),
    [(MIB, 0, True), (MIB + 1, 0, False), (0, MIB / 10, True), (0, MIB / 10 + 1, False)],
)
def test_limits_of_what_others_may_send(loopback, idle, is_known):
    found = counted(idle=part(received=idle, seconds=0.1), timed=part(received=10 * MIB, loopback=loopback))
    said = wire.compare_with_expected_bytes([found], READ, 1.0)
    assert (said["reads"] != "unknown") is is_known


def test_packets_of_others_are_deducted_and_never_negative():
    found = counted(idle=part(packets=1, seconds=0.1), timed=part(packets=30, seconds=2.0))
    assert wire._compute_packets([found], 8, "") == (2 * 30 - 2 * 20) / 8
    few = counted(idle=part(packets=1, seconds=0.1), timed=part(packets=3, seconds=2.0))
    assert wire._compute_packets([few], 8, "") == 0.0
    assert wire._compute_packets([few], 0, "") is None and wire._compute_packets([few], 8, "x") is None
    assert wire._compute_packets([counted(why="RDMA")], 8, "") is None
    assert wire._compute_packets([counted()], 8, "") is None


def test_the_worst_of_several_states():
    order = ["served-by-cache", "buffered", "unknown", "unclear", "came", "sent"]
    for place, state in enumerate(order):
        assert wire._select_worst(["", *reversed(order[place:])]) == state
    assert wire._select_worst(["", ""]) == ""


def test_a_command_is_compared_over_all_nodes():
    of = {0: counted(timed=part(received=6 * MIB)), 2: counted(timed=part(received=4 * MIB))}
    found = wire.describe_command(of, READ, [0, 0], 1.0)
    assert (found["reads"], found["share_received"], found["timed"]["received_bytes"]) == ("came", 1.0, 10 * MIB)
    assert [(node["node"], node["rank"]) for node in found["nodes"]] == [(0, 0), (0, 2)]
    assert found["packets_per_operation"] is None and wire.describe_command({}, READ, [0], 1.0) is None


@pytest.mark.parametrize(
    ("facts", "copies"),
    [
        ({"copied_by": "client"}, 1.0),
        ({"copied_by": "client", "copies": 2, "data_parts": 4, "parity_parts": 2}, 3.0),
        ({"copied_by": "client", "copies": None, "data_parts": 4}, 1.0),
        ({"copies": 2}, 1.0),
    ],
)
def test_copies_and_parity_of_a_client(facts, copies):
    assert wire.count_copies_sent(facts) == copies


def test_rows_of_packets_and_parts_in_order():
    network = {
        "timed": part(received=2, sent=3),
        "packets_per_operation": 1.5,
        "nodes": [{"rank": 4, "flush": part(sent=5)}],
    }
    rows = wire.observe_traffic("w", network, 7)
    assert [(row.metric, row.value, row.unit, row.rank) for row in rows] == [
        ("network_received", 2.0, "bytes", None),
        ("network_sent", 3.0, "bytes", None),
        ("network_received_flush", 0.0, "bytes", 4),
        ("network_sent_flush", 5.0, "bytes", 4),
        ("network_packets_per_operation", 1.5, "packets", None),
    ]
    assert {(row.operation, row.repetition) for row in rows} == {("w", 7)}


# A rank's meter


@pytest.mark.parametrize(
    ("root", "local_rank", "kind", "asks"),
    [
        ("/t", 0, "nfs4", True),
        ("/t", 1, "nfs4", False),
        ("", 0, "nfs4", False),
        ("/t", 0, "ext4", False),
        ("/t", 0, None, False),
    ],
)
def test_the_first_rank_of_a_node_counts_for_a_network_mount(tmp_path, monkeypatch, root, local_rank, kind, asks):
    asked = []
    entry = kind and SimpleNamespace(type=kind, source="s:/x" if kind == "nfs4" else "/dev/vda")
    monkeypatch.setattr(rank_wire.mount, "find_mount", lambda path: entry if path == Path("/t") else 1)
    monkeypatch.setattr(rank_wire.route, "read_node_network", lambda: "network")
    found = Route(("eth0",))
    monkeypatch.setattr(rank_wire.route, "find_route_to_servers", lambda *of: asked.append(of) or found)
    monkeypatch.setattr(rank_wire, "read_counters", lambda _: (NetworkCounts(1, 2, 3, 4), NetworkCounts(0, 0, 0, 0)))
    assignment = Assignment(root, str(tmp_path), 2, [], 1, 9, file_servers=["s1"])
    meter = rank_wire.create_meter(assignment, SimpleNamespace(local_rank=local_rank, rank=5))
    assert asked == ([(entry, "network", ["s1"])] if asks else []) and meter.counts is asks
    meter.keep(3)
    assert spool.read_wire(tmp_path) == (
        {3: {5: {"why": "", "assumed": False, "interfaces": ["eth0"], "ports": []}}} if asks else {}
    )


def test_counters_are_those_of_interfaces_and_ports(monkeypatch):
    cards = {"eth0": NetworkCounts(1, 2, 3, 4), "eth1": NetworkCounts(10, 20, 30, 40), "lo": NetworkCounts(7, 7, 7, 7)}
    monkeypatch.setattr(rank_wire.traffic, "read_interface_counts", lambda: cards)
    monkeypatch.setattr(rank_wire.traffic, "read_port_counts", lambda: {"mlx5_0/1": NetworkCounts(100, 200, 300, 400)})
    both = rank_wire.read_counters(Route(("eth0", "eth1", "gone"), ("mlx5_0/1", "gone")))
    assert both == (NetworkCounts(111, 222, 333, 444), NetworkCounts(7, 7, 7, 7))
    monkeypatch.setattr(rank_wire.traffic, "read_port_counts", None)  # not read without a port
    assert rank_wire.read_counters(Route(("eth0",)))[0] == NetworkCounts(1, 2, 3, 4)
    cards.clear()
    assert rank_wire.read_counters(Route(("eth0",))) == (NetworkCounts(0, 0, 0, 0),) * 2


# Bytes that a tool moved


def tool_row(operation, metric, value, **more):
    unit = "bytes" if metric.startswith("bytes") else "bytes/s"
    fields = {"rank": None, "iteration": None, "factors": None, "unit": unit, **more}
    return SimpleNamespace(operation=operation, metric=metric, value=value, **fields)


@pytest.mark.parametrize(
    ("rows", "factors", "moved"),
    [
        ([tool_row("read", "bytes", 5)], {}, (5, 0)),
        ([tool_row("write", "bytes", 5), tool_row("read", "bytes", 7)], {}, (7, 5)),
        ([tool_row("readwrite", "bytes", 5)], {}, None),
        ([tool_row("stat", "bytes", 5)], {}, None),
        ([tool_row("write", "bandwidth_last_done", 5), tool_row("write", "total_time", 3)], {}, (0, 15)),
        ([tool_row("write", "bandwidth_last_done", 5)], {}, None),
        ([tool_row("write", "bandwidth_last_done", 5)], {"file_size": 9}, (0, 9)),
        ([tool_row("write", "bandwidth_last_done", 5)], {"file_size": 9, "ranks": 2}, (0, 18)),
        ([tool_row("write", "bandwidth_last_done", 5)], {"file_size": 9, "ranks": "2"}, None),
        ([tool_row("write", "bytes_rank_min", 4)], {"ranks": 3}, (0, 12)),
        ([tool_row("write", "bytes", 4, rank=rank) for rank in (0, 1)], {}, (0, 8)),
        ([tool_row("write", "bytes", 9), *[tool_row("write", "bytes", 4, rank=rank) for rank in (0, 1)]], {}, (0, 9)),
        ([tool_row("write", "bytes", 9, iteration=i) for i in (0, 1)], {}, (0, 18)),
        ([tool_row("write", "bytes", 9, factors={"record_size": size}) for size in (1, 2)], {}, (0, 18)),
        ([tool_row("write", "bytes", 9), tool_row("write", "bandwidth_max", 1)], {}, (0, 9)),
        ([tool_row("write", "total_time", 9)], {}, None),
        ([], {}, None),
    ],
)
def test_bytes_of_a_tool_by_hand(rows, factors, moved):
    found = tool_bytes.sum_output_bytes([SimpleNamespace(rows=rows, factors=factors)])
    assert (found and found[:2]) == moved
    assert Moved(1, 2, 3).plus(Moved(10, 20, 30)) == (11, 22, 33)


@pytest.mark.parametrize(
    ("metric", "is_summary"),
    [
        ("bandwidth_max", True),
        ("bandwidth_mean", True),
        ("bandwidth_sd", True),
        ("bandwidth_first_done", True),
        ("bandwidth_min", True),
        ("bytes_rank_min", False),
        ("bandwidth_last_done", False),
    ],
)
def test_metrics_that_summarise_others(metric, is_summary):
    assert tool_bytes._is_summary_metric(metric) is is_summary
