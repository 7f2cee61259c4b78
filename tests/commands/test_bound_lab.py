"""A store that was measured in a lab: what is true of it goes into the bound by itself, cell by cell, and is said."""

import json
import re

import pytest
from click.testing import CliRunner

pytest.importorskip("iosonde.engine._native")
from iosonde.commands.bound.inputs import BY_HAND
from iosonde.commands.bound.lab_truth import THE_LAB
from iosonde.commands.bound.shared_files import THE_FILES
from iosonde.core.types import Experiment, Factor, Observation, Run
from iosonde.store import Store
from terminal import command_of

bound = command_of("bound")
report = command_of("report")

NODES = "the nodes of the trials"  # as the JSON says where a number comes from
GOODPUT = 100e6 / 8 * 0.956


def lab(layout=None, emulated=None, **description):
    asked = {
        "file_system": "glusterfs",
        "servers": 2,
        "clients": 2,
        "net_bits_per_s": 100e6,
        "disk_read": 9e6,
        "disk_write": 8e6,
    }
    return {
        "description": asked | description,
        "emulated": emulated or {},
        "layout": {"copies": 2, "copied_by": "client"} | (layout or {}),
    }


def stored(path, runs, factors=(), operation="write", ranks=0):
    """A store of (levels, lab, options in effect, bytes/s); ``ranks``: on a node each, where phases are kept."""
    store = Store.create(path)
    store.save_experiment(Experiment("e", "x", list(factors), {}, [], 0, "2026-11-21T10:00:00Z"))
    for number, (levels, one, options, rate) in enumerate(runs):
        facts = {
            "target": "/mnt",
            "machine": {"mount": {"type": "fuse.glusterfs"}, "lab": one},
            "conditions": {"options": options},
        }
        phases = [{"index": 0, "name": operation, "shared": False, "ranks": []}] if ranks else []
        facts |= {"nodes": list(range(ranks))} if ranks else {}
        rows = [Observation(operation, "bandwidth_last_done", rate, "bytes/s")]
        store.append(
            Run(
                f"e-{number:04d}",
                "e",
                "iosonde phases",
                f"2026-11-21T10:{number:02d}:00Z",
                1.0,
                {"nodes": 2, **levels},
                rows,
                facts,
                phases=phases,
            )
        )
    return path


def asked(command, *words):
    done = CliRunner().invoke(command, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


def rows(*words):
    return json.loads(asked(bound, *words, "--json"))["rows"]


def inputs(row):
    return {name: (one["value"], one["from"]) for name, one in row["inputs"].items()}


def test_the_truth_of_the_lab_is_what_limits_without_a_word(tmp_path):
    path = stored(tmp_path / "s", [({}, lab(), {}, 7e6), ({}, lab(), {}, 7.1e6)])
    (row,) = rows(path)
    assert (row["s"], row["limit"]) == (pytest.approx(8e6), ["disks"])
    assert inputs(row) == {
        "servers": (2, THE_LAB),
        "disks": (2, THE_LAB),
        "network": (pytest.approx(GOODPUT), THE_LAB),
        "disk_read": (9e6, THE_LAB),
        "disk_write": (8e6, THE_LAB),
        "redundancy": ("client", THE_LAB),
        "replicas": (2, THE_LAB),
        "clients": (2, NODES),
    }
    text = asked(bound, path)
    assert f"{THE_LAB}: servers 2, disks 2, net 11.4 MiB/s" in text
    assert all(len(line) < 80 for line in text.splitlines())


def test_files_of_several_clients_lie_where_chance_puts_them(tmp_path):
    """Two clients, two servers without copies: on one of them half of the time. An option says otherwise."""
    one = lab({"copies": 1, "servers_of_a_file": 1}, disk_write=None, disk_read=None)
    path = stored(tmp_path / "s", [({}, one, {}, 7e6), ({}, one, {}, 7.1e6)], ranks=2)
    (row,) = rows(path)
    assert row["s"] == pytest.approx(1.5 * GOODPUT, rel=0.01)
    assert inputs(row)["stripe_count"] == (1, THE_FILES)
    text = " ".join(asked(bound, path).split())
    assert f"{THE_FILES}: stripe 1, placement" in text
    assert rows(path, "--stripe", "2")[0]["s"] == pytest.approx(2 * GOODPUT)
    spread = lab({"copies": 1, "servers_of_a_file": 2}, disk_write=None, disk_read=None)  # in pieces over both
    assert rows(stored(tmp_path / "t", [({}, spread, {}, 7e6)] * 2, ranks=2))[0]["s"] == pytest.approx(2 * GOODPUT)


def test_what_is_given_by_hand_wins_and_is_said(tmp_path):
    path = stored(tmp_path / "s", [({}, lab(), {}, 3e6), ({}, lab(), {}, 3.1e6)])
    (row,) = rows(path, "--net", "4MB/s", "--disk", "40MB/s")
    assert (row["s"], row["limit"]) == (pytest.approx(4e6), ["network_clients", "network_servers"])
    found = inputs(row)
    assert found["network"] == (4e6, BY_HAND) and found["disk"] == (40e6, BY_HAND) and "disk_write" not in found
    text = asked(bound, path, "--net", "4MB/s")
    assert re.search(rf"~ net .*{THE_LAB}, 11.4 MiB/s, ", text) and f"{BY_HAND.capitalize()}: net 3.81 MiB/s." in text


def test_copies_by_hand_are_made_by_whom_the_lab_makes_them(tmp_path):
    path = stored(tmp_path / "s", [({}, lab({"copied_by": "servers"}), {}, 3e6)] * 2)
    (row,) = rows(path, "--replicas", "1")
    assert inputs(row)["redundancy"] == ("chained", THE_LAB) and inputs(row)["replicas"] == (1, BY_HAND)
    assert rows(path)[0]["s"] == pytest.approx(8e6)


def test_other_servers_than_the_labs_have_nobody_knows_which_disks(tmp_path):
    path = stored(tmp_path / "s", [({}, lab(), {}, 3e6)] * 2)
    (row,) = rows(path, "--servers", "5")
    assert "disks" not in inputs(row) and row["limit"] == ["network_clients"]


def test_a_property_of_the_lab_that_is_a_factor_is_taken_per_cell(tmp_path):
    every = [({"copies": copies}, lab({"copies": copies}), {}, 5e6 + copies) for copies in (1, 2) for _ in range(2)]
    path = stored(tmp_path / "s", every, [Factor("copies", "", (1, 2))])
    assert [(one["by"], one["s"]) for one in rows(path)] == [
        ({"copies": 1}, pytest.approx(16e6)),
        ({"copies": 2}, pytest.approx(8e6)),
    ]


def test_trials_of_different_labs_are_never_one_cell(tmp_path):
    """Where nothing else tells them apart, what differs between the labs does."""
    every = [({}, lab(net_bits_per_s=net), {}, net / 32 + n) for net in (100e6, 50e6) for n in range(2)]
    found = rows(stored(tmp_path / "s", every))
    assert [(one["by"], one["n"]) for one in found] == [({"net": "100mbit"}, 2), ({"net": "50mbit"}, 2)]
    assert [one["s"] for one in found] == pytest.approx([8e6, GOODPUT / 2])


def test_copies_that_were_set_live_are_those_of_the_trial(tmp_path):
    """The lab was brought up with one copy: it is the goal that was in effect that counts."""
    chained = lab({"copies": 1, "copied_by": "servers"}, file_system="moosefs", disk_write=None, disk_read=None)
    every = [({}, chained, {"goal": goal}, 5e6 + n) for goal in ("1", "2") for n in range(2)]
    found = rows(stored(tmp_path / "s", every))
    assert [(one["by"], inputs(one)["replicas"][0]) for one in found] == [({"goal": "1"}, 1), ({"goal": "2"}, 2)]
    assert [one["s"] for one in found] == pytest.approx([2 * GOODPUT, GOODPUT])


def test_what_has_no_limit_is_taken_as_it_was_measured(tmp_path):
    emulated = {
        "links": [{"bytes_per_s": 3e9}, {"bytes_per_s": 2e9}],
        "warnings": ["link a to b: 80% of it"],
        "disks": [{"read_bytes_per_s": 5e8, "write_bytes_per_s": 4e8}],
    }
    free = lab(emulated=emulated, net_bits_per_s=None, disk_read=None, disk_write=None, scale=2.0)
    path = stored(tmp_path / "s", [({}, free, {}, 1e8)] * 2)
    found = inputs(rows(path)[0])
    assert (found["network"][0], found["disk_write"][0], found["disk_read"][0]) == (2e9, 4e8, 5e8)
    assert emulated["warnings"][0] in " ".join(asked(bound, path).split())


def test_pieces_and_parity_are_told(tmp_path):
    code = lab({"copies": 1, "data_parts": 2, "parity_parts": 1}, servers=3, disk_write=None)
    (row,) = rows(stored(tmp_path / "s", [({}, code, {}, 5e6)] * 2))
    assert row["s"] == pytest.approx(2 * GOODPUT / 1.5) and row["limit"] == ["network_clients"]
    (row,) = rows(tmp_path / "s", "--replicas", "2")
    assert row["s"] == pytest.approx(GOODPUT) and "data_chunks" not in inputs(row)


def test_a_lab_without_servers_or_a_description_says_nothing(tmp_path):
    path = stored(tmp_path / "s", [({}, lab(file_system="local"), {}, 5e6), ({}, {"emulated": {}}, {}, 5e6)])
    (row,) = rows(path, "--net", "10MB/s")
    assert inputs(row) == {"network": (10e6, BY_HAND), "clients": (2, NODES)}
    assert THE_LAB not in asked(bound, path, "--net", "10MB/s")


def test_the_page_has_the_bound_by_itself_and_names_the_lab(tmp_path):
    path = stored(tmp_path / "s", [({}, lab(), {}, 7e6), ({}, lab(), {}, 7.1e6)])
    (made,) = json.loads(asked(report, path, "--json"))["bound"]["items"]
    assert made["shares"][0]["bound"] == pytest.approx(8e6)
    assert dict(map(tuple, made["inputs"]))["net"] == f"11.4 MiB/s, from {THE_LAB}"
    (made,) = json.loads(asked(report, path, "--json", "--bound", "net=2MB/s"))["bound"]["items"]
    assert made["shares"][0]["bound"] == pytest.approx(2e6)
