"""Parts of ranks → entries of run.json and rows: times, failures, caches, calls, outputs."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from iosonde.core.errors import IosondeError, UnknownFormatError
from iosonde.core.message import Message
from iosonde.core.schema import OPERATION
from iosonde.engine import _native
from iosonde.measure import items, spool
from iosonde.measure.collect import assemble, commands, phase_entry
from iosonde.measure.collect.rates import PhaseTimes
from iosonde.measure.spool import RankPhase
from messages import assert_problem, codes

PLACES = {
    "hosts": ["n1", "n2"],
    "nodes": [0, 1],
    "error_ns": 10,
    "offset_ns": {"0": 0, "1": 1000},
    "drift_ns": [0, 0],
    "at_ns": [0, 10**9],
}
ENDED = {
    "exit_code": 0,
    "signal": None,
    "ended_by": "",
    "fault": "",
    "output_bytes": 5,
    "user_s": 0.5,
    "system_s": 0.25,
    "cut_bytes": 0,
}
ITEM = {
    "kind": items.COMMAND,
    "stage": items.STEP,
    "number": 2,
    "label": "copy",
    "command": "cp a b",
    "on": "all",
    "parse": None,
    "timeout_s": None,
    "keep_output": None,
    "expect": [0],
}


def part(rank, started_ns=0, ended_ns=0, **more):
    command = {**ENDED, **more.pop("command", {})}
    fields = {"stopped": "count", "recorded_all": False, "totals": [], "errors": [], **more}
    return RankPhase(rank, 3, started_ns, ended_ns, command=command, **fields)


TWO = [part(0, 1_000_000, 3_000_000), part(1, 2_001_000, 6_001_000, command={"user_s": 1.5})]
TIMES = PhaseTimes(np.array([1_000_000, 2_000_000]), np.array([3_000_000, 6_000_000]), 10)


def test_the_entry_of_a_step_has_the_times_of_all_and_of_each():
    entry = commands.build_command_entry(3, ITEM, TWO, TIMES, {0: 0, 1: 1000}, PLACES)
    ranks = entry.pop("ranks")
    assert entry == {
        "index": 3,
        "name": "copy",
        "operation": "copy",
        "duration_ns": 5_000_000,
        "start_spread_ns": 1_000_000,
        "end_spread_ns": 3_000_000,
        "all_active_ns": 1_000_000,
        "clock_error_ns": 10,
        "comparable": True,
        "stage": "step",
        "command": "cp a b",
        "on": "all",
        "parse": None,
        "launch": None,
        "measures": None,
        "shared": False,
        "distinct_bytes": None,
        "recorded_all": False,
        "cache": None,
        "histograms": {},
        "totals": {},
    }
    about = {"stopped": "count", "operations": 0, "bytes": 0, "errors": 0, **ENDED}
    place = {"rank": 1, "host": "n2", "node": 1, "started_ns": 2_000_000, "ended_ns": 6_000_000}
    assert ranks[1] == about | place | {"user_s": 1.5, "clock_offset_ns": 1000, "output": "step-02-rank-0001.out"}


def test_an_entry_without_places_and_with_another_clock_claims_no_times():
    far = PhaseTimes(TIMES.started_ns, TIMES.ended_ns, 10**6)
    parts = [part(0, 1_000_000, 3_000_000, stopped="error", command={"output_bytes": 0}), TWO[1]]
    entry = commands.build_command_entry(3, ITEM, parts, far, {}, {})
    unknown = ("duration_ns", "start_spread_ns", "end_spread_ns", "all_active_ns")
    assert [entry[name] for name in unknown] == [None] * 4 and entry["comparable"] is False
    first = entry["ranks"][0]
    assert (first["host"], first["node"], first["errors"], first["output"]) == (None, None, 1, None)


def test_a_command_has_its_time_and_that_of_its_cpu():
    rows = commands.observe_command_times(ITEM, TWO, TIMES)
    assert [(row.metric, row.rank, row.value, row.unit) for row in rows] == [
        ("seconds", 0, 0.002, "s"),
        ("seconds", 1, 0.004, "s"),
        ("seconds", None, 0.005, "s"),
        ("user_seconds", 0, 0.5, "s"),
        ("user_seconds", 1, 1.5, "s"),
        ("user_seconds", None, 2.0, "s"),
        ("system_seconds", 0, 0.25, "s"),
        ("system_seconds", 1, 0.25, "s"),
        ("system_seconds", None, 0.5, "s"),
    ]
    far = PhaseTimes(TIMES.started_ns, TIMES.ended_ns, 10**6)
    assert ("seconds", None) not in [(row.metric, row.rank) for row in commands.observe_command_times(ITEM, TWO, far)]
    assert commands.observe_command_times(ITEM | {"stage": items.SET_UP}, TWO, TIMES) == []


@pytest.mark.parametrize(
    ("ended", "item", "code", "values"),
    [
        ({}, {}, None, {}),
        ({"exit_code": 3}, {"expect": [0, 3]}, None, {}),
        ({"exit_code": 0}, {"expect": [3]}, "exit-code", {"exit_code": 0}),
        ({"exit_code": 3}, {}, "exit-code", {"exit_code": 3, "output": "no space left"}),
        ({"exit_code": -9, "signal": 9}, {"expect": [-9]}, "killed-by-signal", {"signal": 9, "name": "SIGKILL"}),
        ({"exit_code": -99, "signal": 99}, {}, "killed-by-signal", {"signal": 99, "name": "unknown"}),
        ({"fault": "no shell", "signal": 9}, {}, "command-fault", {"fault": "no shell", "output": ""}),
        ({"ended_by": "timeout", "signal": 15}, {"timeout_s": 90.0}, "timeout", {"limit": "1 min 30 s"}),
        ({"ended_by": "output", "signal": 15}, {"keep_output": 2**40}, "too-much-output", {"limit": "1 TiB"}),
    ],
)
def test_a_failed_command_has_one_reason(tmp_path, ended, item, code, values):
    spool.build_output_path(tmp_path, 1, 3).write_text("starting\nno space left\nbye\n")
    messages = commands.describe_failed_commands(tmp_path, ITEM | item, 3, [part(1, command=ended)])
    if code is None:
        assert messages == []
    else:
        assert_problem(messages[0], code, step="copy", rank=1, **values)
        assert len(messages) == 1


def output_row(operation, metric, value, unit):
    """A row as an importer makes it."""
    return SimpleNamespace(
        operation=operation,
        metric=metric,
        value=value,
        unit=unit,
        rank=None,
        iteration=None,
        count=None,
        includes="",
        factors=None,
    )


def execution(rows, missing=()):
    """What an importer understands of one output."""
    return SimpleNamespace(rows=rows, factors={}, headline=(), missing=list(missing), tool="", version="")


READ = [output_row("read", "rate", 1.0, "operations/s")]


def parse(form, name, content):
    if content == b"foreign":
        raise UnknownFormatError("unknown-format", "not known")
    if content == b"torn":
        raise IosondeError("unreadable", "torn")
    lacking = [SimpleNamespace(sentence=Message("x", "no end"))] if content == b"lacking" else []
    return [execution([] if content == b"empty" else READ, lacking)]


@pytest.mark.parametrize(
    ("form", "outputs", "more", "ranks", "missing", "nobody"),
    [
        ("auto", [b"good", b"good"], {}, [0, 1], [], False),
        ("auto", [b"foreign", b"foreign"], {}, [], [], True),
        ("auto", [b"", b" \n"], {}, [], [], True),
        ("auto", [b"good", b"foreign"], {}, [0], ["unreadable-output"], False),
        ("auto", [b"torn", b""], {}, [], ["unreadable-output", "unreadable-output"], False),
        ("ior", [b"foreign", b"foreign"], {}, [], ["unreadable-output"] * 2, False),
        ("ior", [b"good", b"empty"], {}, [0, 1], ["no-results"], False),
        ("ior", [b"lacking", b"good"], {}, [0, 1], ["incomplete-output"], False),
        ("ior", [b"good"], {"cut_bytes": 9}, [0], ["incomplete-output"], False),
        ("ior", [None], {}, [], ["unreadable-output"], False),
    ],
)
def test_an_output_is_read_or_lacking_or_says_nothing_on_all_ranks(
    tmp_path, form, outputs, more, ranks, missing, nobody
):
    for rank, content in enumerate(outputs):
        if content is not None:
            spool.build_output_path(tmp_path, rank, 3).write_bytes(content)
    parts = [part(rank, command=more) for rank in range(len(outputs))]
    executions, lacking, why = commands.parse_outputs(tmp_path, ITEM | {"parse": form}, 3, parts, parse)
    assert (sorted(executions), codes(lacking), bool(why)) == (ranks, missing, nobody)


def test_outputs_are_kept_by_stage_number_and_rank_unless_nothing_was_printed(tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "RAW_BYTES", 4)
    for rank, content in enumerate((b"four", b"", b"five!")):
        spool.build_output_path(tmp_path, rank, 3).write_bytes(content)
    found = commands.list_raw_outputs(tmp_path, ITEM | {"stage": items.SET_UP}, 3, [0, 1, 2, 7])
    assert found == {
        "set-up-02-rank-0000.out": b"four",
        "set-up-02-rank-0002.out": spool.build_output_path(tmp_path, 2, 3),
    }


@pytest.mark.parametrize(("places", "whole"), [(PLACES, 0.005), ({}, None), (PLACES | {"error_ns": 10**6}, None)])
def test_a_step_of_two_ranks_has_a_time_of_the_whole_where_clocks_are_known(tmp_path, places, whole):
    for rank_phase in TWO:
        spool.append_phase(tmp_path, rank_phase)
    found = assemble.collect_trial(assemble.SpooledTrial(tmp_path, 2, places, 0), [items.Part(ITEM, 3, [])])
    rows = {(row.metric, row.rank): row.value for row in found.observations}
    assert rows.get(("seconds", None)) == whole
    assert (rows["seconds", 0], rows["seconds", 1]) == (0.002, 0.004)
    assert found.headlines == {"copy": ["seconds"]} and found.missing == [] and found.client_cache == ""
    assert [entry["duration_ns"] for entry in found.phases] == [whole and 5_000_000]


def test_a_single_rank_needs_no_clock_but_its_own(tmp_path):
    spool.append_phase(tmp_path, TWO[0])
    source = assemble.SpooledTrial(tmp_path, 1, {}, 0)
    found = assemble.collect_trial(source, [items.Part(ITEM, 3, [])])
    assert {(row.metric, row.rank): row.value for row in found.observations}["seconds", None] == 0.002
    unsure = assemble.SpooledTrial(tmp_path, 1, PLACES | {"error_ns": 10**9}, 0)
    (entry,) = assemble.collect_trial(unsure, [items.Part(ITEM, 3, [])]).phases
    assert (entry["comparable"], entry["clock_error_ns"]) == (True, 0)


def test_a_rank_that_did_not_finish_leaves_no_time_and_is_named(tmp_path):
    spool.append_phase(tmp_path, TWO[0])
    later = ITEM | {"label": "move", "number": 3}
    found = assemble.collect_trial(
        assemble.SpooledTrial(tmp_path, 2, PLACES, 0), [items.Part(ITEM, 3, []), items.Part(later, 4, [])]
    )
    assert found.observations == []
    (why,) = found.missing
    assert_problem(why, "unfinished-phase", phase="copy", ranks="1", missing_phases="move")


def total(kind, count, size, errors=0):
    return {"kind": kind, "count": count, "bytes": size, "errors": errors, "sum_duration_ns": 1}


def test_totals_are_summed_by_kind():
    parts = [part(0, totals=[total(0, 2, 20), total(1, 1, 0, 1)]), part(1, totals=[total(0, 3, 30, 2)])]
    assert phase_entry.sum_totals_by_kind(parts, ["read", "open"]) == {
        "read": {"count": 5, "bytes": 50, "errors": 2},
        "open": {"count": 1, "bytes": 0, "errors": 1},
    }


def test_the_cache_of_a_phase_is_that_of_its_warmest_rank():
    def looked(state, resident, size, **more):
        return {"cache": {"state": state, "resident_bytes": resident, "bytes": size, **more}}

    cold, warm = looked("cold-verified", 0, 10, remount={"host": "n1"}), looked("cold-requested", 3, 20)
    assert phase_entry.find_warmest_cache_state([part(0, **cold), part(1, **warm), part(2)]) == {
        "state": "cold-requested",
        "resident_bytes": 3,
        "bytes": 30,
        "remounts": [{"host": "n1"}],
    }
    assert "remounts" not in phase_entry.find_warmest_cache_state([part(1, **warm)])
    assert phase_entry.find_warmest_cache_state([part(0)]) is None


def test_histograms_are_joined_and_complete_ranks_counted_into_them():
    edges = _native.bucket_edges_ns()
    rows = np.zeros(3, OPERATION)
    rows["kind"], rows["duration_ns"] = [1, 1, 0], [edges[5], edges[6] - 1, edges[7]]
    sampled = part(0, histograms={"1": [[5, 2], [4, 1]]})
    whole = part(1, recorded_all=True, operations=rows)
    assert phase_entry.merge_histograms([sampled, whole], ["read", "open"]) == {
        "open": [[4, 1], [5, 4]],
        "read": [[7, 1]],
    }
    assert phase_entry.merge_histograms([whole], ["read", "open"]) == {}


def counts(*servers):
    return json.dumps(
        {"servers": [{"operations": [{"operation": k, "count": n} for k, n in one.items()]} for one in servers]}
    )


@pytest.mark.parametrize(
    ("before", "after", "calls"),
    [
        (counts({"READ": 1}, {"READ": 2}), counts({"READ": 5}, {"READ": 2, "OPEN": 1}), {"OPEN": 1, "READ": 4}),
        (counts({"READ": 1}), counts({"READ": 1}), {}),
        (counts({"READ": 5}), counts({"READ": 1}), None),
        (None, counts({"READ": 1}), None),
        (counts({"READ": 1}), "{", None),
        (counts({"READ": 1}), '{"servers": [{}]}', None),
        (counts({"READ": 1}), counts({"READ": "many"}), None),
    ],
)
def test_calls_of_servers_are_the_difference_of_two_answers(tmp_path, before, after, calls):
    for when, text in (("begun", before), ("ended", after)):
        if text is not None:
            spool.build_server_counts_path(tmp_path, 3, when).write_text(text)
    assert phase_entry.count_calls(tmp_path, 3) == calls


@pytest.mark.parametrize(
    ("calls", "count", "value"),
    [({"READ": 4, "OPEN": 2}, 3, 2.0), ({}, 3, 0.0), (None, 3, None), ({"READ": 4}, 0, None)],
)
def test_calls_are_counted_for_each_operation(calls, count, value):
    entry = {"operation": "r", "counted_kind": "read", "server_calls": calls, "totals": {"read": {"count": count}}}
    rows = phase_entry.observe_server_calls(entry, 5)
    assert [(row.operation, row.value, row.unit, row.rank, row.repetition) for row in rows] == (
        [] if value is None else [("r", value, "calls", None, 5)]
    )


@pytest.mark.parametrize(("received", "state"), [(0, "served-by-cache"), (2**20, ""), (None, "")])
def test_reads_of_a_command_that_a_cache_served_are_the_cache_of_the_trial(tmp_path, received, state):
    spool.append_phase(tmp_path, TWO[0])
    spool.build_output_path(tmp_path, 0, 3).write_text("1 MiB read")
    if received is not None:
        part_of = dict.fromkeys(("sent_bytes", "received_packets", "sent_packets", "loopback_bytes"), 0)
        counted = {
            "interfaces": ["eth0"],
            "ports": [],
            "why": "",
            "assumed": False,
            "idle": {**part_of, "received_bytes": 0, "seconds": 0.1},
            "timed": {**part_of, "received_bytes": received, "seconds": 1.0},
        }
        spool.write_wire(tmp_path, 0, 3, counted)

    def read_mebibyte(form, name, content):
        return [execution([output_row("read", "bytes", 2.0**20, "bytes")])]

    source = assemble.SpooledTrial(tmp_path, 1, {}, 0, read_mebibyte, target="/mnt/t")
    item = ITEM | {"parse": "any", "command": "dd if=/mnt/t/f", "on": "single"}
    found = assemble.collect_trial(source, [items.Part(item, 3, [])])
    assert found.client_cache == state
    assert (found.phases[0]["network"] is None) == (received is None)


@pytest.mark.parametrize(
    ("kinds", "prefixes"),
    [
        (["native"], [""]),
        (["native", "native"], ["a.", "b."]),
        (["native", "parsed"], ["", "b."]),
        (["parsed", "plain"], ["", ""]),
        (["parsed", "plain", "parsed"], ["a.", "", "c."]),
        (["native", "plain"], ["", ""]),
    ],
)
def test_operations_are_called_after_their_step_where_several_steps_have_results(kinds, prefixes):
    parts = [
        items.Part(
            {"kind": "native" if kind == "native" else "command", "parse": kind == "parsed", "label": label}, 0, []
        )
        for kind, label in zip(kinds, "abc", strict=False)
    ]
    assert assemble._build_prefixes(parts) == prefixes
