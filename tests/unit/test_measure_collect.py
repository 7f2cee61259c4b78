"""Parts of ranks → entries of run.json and rows: times, failures, caches, calls, outputs."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from iosonde.core.errors import IosondeError, UnknownFormatError
from iosonde.core.message import Message
from iosonde.core.schema import OPERATION
from iosonde.core.workload import MpiIo
from iosonde.engine import _native
from iosonde.measure import items, spool
from iosonde.measure.collect import assemble, commands, phase_entry
from iosonde.measure.collect.rates import PhaseTimes
from iosonde.measure.spec import NativeStep
from iosonde.measure.spool import RankPhase
from messages import assert_problem, codes, raises

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
    return SimpleNamespace(rows=rows, factors={}, headline=(), missing=list(missing), invalid=[], tool="", version="")


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


def tool_execution(tool="ior", version="4.0", **factors):
    found = execution(READ)
    found.tool, found.version, found.factors, found.headline = tool, version, factors, ("rate",)
    return found


def collect_command(tmp_path, executions, item=ITEM, parts=TWO, more=(), **source):
    for each in parts:
        spool.append_phase(tmp_path, each)
        spool.build_output_path(tmp_path, each.rank, 3).write_text(f"{each.rank}")
    left = dict(enumerate(executions))
    fields = {"places": PLACES, "repetition": 0, "parse": lambda form, name, content: left[int(content)], **source}
    asked = item | {"parse": "auto", "command": "ior -o ${TARGET}/f"}
    trial_parts = [items.Part(asked, 3, []), *more]
    return assemble.collect_trial(assemble.SpooledTrial(tmp_path, len(parts), **fields), trial_parts)


def test_a_step_keeps_what_its_tools_said(tmp_path):
    found = collect_command(
        tmp_path,
        [[tool_execution(ranks=2, api="POSIX")], [tool_execution("ior", "4.1", ranks=2, api="MPIIO")]],
    )
    (entry,) = found.phases
    assert {name: entry[name] for name in ("tools", "versions", "settings", "unread", "parse", "mpi")} == {
        "tools": ["ior"],
        "versions": ["4.0", "4.1"],
        "settings": {"ranks": 2},
        "unread": None,
        "parse": "auto",
        "mpi": {"tool": "ior", "expected": 2, "tasks": [2, 2]},
    }
    assert "of_ranks_alone" not in entry and entry["network"] is None
    assert found.factors == {"ranks": 2} and found.missing == []
    rates = {(row.operation, row.metric, row.rank): row.value for row in found.observations if row.unit != "s"}
    assert rates == {
        ("read", "rate_own", 0): 1.0,
        ("read", "rate_own", 1): 1.0,
        ("read", "rate_sum_of_ranks", None): 2.0,
    }
    assert found.headlines == {"read": ["rate"], "copy": []}
    assert found.raw == {
        "step-02-rank-0000.out": b"0",
        "step-02-rank-0001.out": b"1",
    }


def test_several_steps_with_results_are_apart_and_no_settings_of_the_trial(tmp_path):
    other = items.Part(ITEM | {"label": "more", "parse": "auto"}, 4, [])
    found = collect_command(tmp_path, [[tool_execution(ranks=2)]] * 2, more=[other])
    assert {row.operation for row in found.observations if row.unit != "s"} == {"copy.read"}
    assert found.factors == {} and found.phases[0]["settings"] == {"ranks": 2}
    assert codes(found.missing) == ["unfinished-phase"]


def test_outputs_that_no_tool_printed_leave_the_time_of_the_command(tmp_path):
    found = collect_command(tmp_path, [[tool_execution()]] * 2, parse=parse_nothing)
    (entry,) = found.phases
    assert (entry["tools"], entry["versions"], entry["settings"], entry["mpi"]) == ([], [], {}, None)
    assert getattr(entry["unread"], "code", None) == "unknown-format"
    assert found.headlines == {"copy": ["seconds"]} and found.missing == []


def parse_nothing(form, name, content):
    raise UnknownFormatError("unknown-format", "not known")


@pytest.mark.parametrize(
    ("stage", "headlines", "traffic"), [("step", {"copy": ["seconds"]}, True), ("set_up", {}, False)]
)
def test_only_steps_have_headlines_and_traffic(tmp_path, stage, headlines, traffic):
    count_traffic(tmp_path, 0)
    found = collect_command(tmp_path, [[tool_execution()]] * 2, ITEM | {"stage": stage}, parse=parse_nothing)
    assert found.headlines == headlines
    assert (found.phases[0]["network"] is not None) is traffic
    assert bool([row for row in found.observations if row.metric.startswith("network")]) is traffic


def count_traffic(folder, *ranks):
    counted = dict.fromkeys(("received_bytes", "sent_bytes", "received_packets", "sent_packets", "loopback_bytes"), 0)
    about = {"interfaces": ["eth0"], "ports": [], "why": "", "assumed": False}
    for rank in ranks:
        parts = {"idle": {**counted, "seconds": 0.1}, "timed": {**counted, "seconds": 1.0, "sent_bytes": 5 + rank}}
        spool.write_wire(folder, rank, 3, about | parts)


@pytest.mark.parametrize(("on", "sent"), [("all", 5 + 6), ("single", 5), ("servers", None), ("mpi", 5 + 6)])
def test_the_traffic_of_a_command_is_that_of_the_nodes_it_runs_on(tmp_path, on, sent):
    count_traffic(tmp_path, 0, 1)
    found = collect_command(tmp_path, [[tool_execution()]] * 2, ITEM | {"on": on})
    network = found.phases[0]["network"]
    assert (network and network["timed"]["sent_bytes"]) == sent


def test_a_failed_operation_of_each_rank_is_its_first(tmp_path):
    plan = SimpleNamespace(operation="read_it")
    first = {"text": "EIO", "kind": 1, "path": "f", "offset": 7}
    parts = [
        part(0),
        part(1, errors=[first, first | {"text": "other"}]),
        part(2, errors=[first | {"kind": "fsync", "offset": 0}]),
    ]
    found = assemble._describe_failures(plan, parts, ["open", "read"])
    assert codes(found) == ["operation-failed"] * 2
    values = {"phase": "read_it", "error": "EIO", "path": "f"}
    assert_problem(found[0], "operation-failed", **values, rank=1, kind="read", offset=7)
    assert_problem(found[1], "operation-failed", **values, rank=2, kind="fsync", offset=0)


@pytest.mark.parametrize(
    ("phases", "ranks", "later"),
    [
        ([("a", [3])], "3", ""),
        ([("a", list(range(8))), ("b", [0])], "0, 1, 2, 3, 4, 5, 6, 7", "b"),
        ([("a", list(range(10))), ("b", [0]), ("c", [1])], "0, 1, 2, 3, 4, 5, 6, 7 and 2 more", "b, c"),
    ],
)
def test_the_first_unfinished_phase_names_its_ranks_and_the_later_ones(phases, ranks, later):
    expected = ranks
    (found,) = assemble._describe_unfinished(phases)
    assert_problem(found, "unfinished-phase", phase="a", ranks=expected, missing_phases=later)
    assert assemble._describe_unfinished([]) == []


def native_phase(rank, kinds, **more):
    totals = [
        {**total(_native.KINDS.index(kind), *of), "first_start_ns": 1_000_000, "last_end_ns": 2_000_000}
        for kind, of in kinds.items()
    ]
    return part(rank, 1_000_000 + 1000 * rank, 3_000_000 + 1000 * rank, totals=totals, **more)


def test_the_entry_of_a_phase_of_the_engine(tmp_path):
    written = {"name": "w", "files": "f${RANK}", "open_flags": ["direct"]}
    write = {"kind": "write", "transfer_size": 10, "count": 3}
    spec = {**written, "steps": ["create", write, "close"]}
    made = items.build_items((), (NativeStep("phases", {"phases": [spec]}),), (), {})
    (trial_part,) = items.lay_out_items(made, 0, 2, 0)
    kinds = {"create": (1, 0), "write": (3, 30, 1), "close": (1, 0)}
    looked = {"state": "cold-verified", "resident_bytes": 0, "bytes": 5}
    for rank in range(2):
        each = native_phase(rank, kinds, recorded_all=rank == 0, cache=looked)
        each.phase, each.histograms = 0, {str(_native.KINDS.index("write")): [[5, 3]]}
        spool.append_phase(tmp_path, each)
    found = assemble.collect_trial(assemble.SpooledTrial(tmp_path, 2, PLACES, 4), [trial_part])
    (entry,) = found.phases
    ranks = entry.pop("ranks")
    counts = {"create": (2, 0, 0), "write": (6, 60, 2), "close": (2, 0, 0)}
    assert entry == {
        "index": 0,
        "name": "w",
        "operation": "w",
        "duration_ns": 2_000_000,
        "start_spread_ns": 0,
        "end_spread_ns": 0,
        "all_active_ns": 2_000_000,
        "clock_error_ns": 10,
        "comparable": True,
        "measures": "bandwidth",
        "counted_kind": "write",
        "shared": False,
        "distinct_bytes": None,
        "recorded_all": False,
        "open_flags": ["direct"],
        "cache": {"state": "cold-verified", "resident_bytes": 0, "bytes": 10},
        "histograms": {"write": [[5, 6]]},
        "totals": {
            kind: {"count": count, "bytes": size, "errors": errors} for kind, (count, size, errors) in counts.items()
        },
        "bytes_moved": None,
        "hints": None,
        "network": None,
    } | {name: entry[name] for name in entry if name == "server_calls"}
    assert [(each["operations"], each["bytes"], each["errors"], each["host"]) for each in ranks] == [
        (5, 30, 1, "n1"),
        (5, 30, 1, "n2"),
    ]
    assert found.client_cache == "cold-verified" and found.operations is None and found.missing == []
    last = {
        (row.operation, row.metric): (row.value, row.repetition, row.count)
        for row in found.observations
        if row.rank is None
    }
    assert last["w", "bandwidth_last_done"] == (pytest.approx(60 / 0.002), 4, 4)


@pytest.mark.parametrize(
    ("shared", "counted", "nodes", "states", "facts", "at_home"),
    [
        (True, "read", [0, 0, 1], ["cold-verified"] * 3, {"writer_counted": True, "writer_cache": "cold-verified"}, []),
        (
            True,
            "read",
            [0, 0, 1],
            ["cold-verified", "warm", "warm"],
            {"writer_counted": False, "writer_cache": "warm"},
            [0, 1],
        ),
        (False, "read", [0, 0, 1], ["warm"] * 3, {}, []),
        (True, "write", [0, 0, 1], ["warm"] * 3, {}, []),
        (True, "read", [0, 0, 0], ["warm"] * 3, {}, []),
        (True, "read", [], ["warm"] * 3, {}, []),
        (True, "read", [0], ["warm"] * 3, {}, []),
    ],
)
def test_the_node_of_the_writer_is_apart_unless_it_was_verified_to_be_cold(
    shared, counted, nodes, states, facts, at_home
):
    plan = SimpleNamespace(shared=shared, counted_kind=counted)
    parts = [part(rank, cache={"state": state}) for rank, state in enumerate(states)]
    assert assemble.split_writer_node(plan, parts, nodes) == (facts, at_home)


def test_clock_offsets_are_interpolated_between_both_estimates():
    places = PLACES | {"drift_ns": [0, 2000]}
    middle = [part(0, 5 * 10**8, 6 * 10**8), part(1, 5 * 10**8 + 2000, 6 * 10**8)]
    assert assemble._compute_offsets(middle, places) == {0: 0, 1: 2000}
    assert assemble._compute_offsets(middle, {}) == {}


def test_bytes_of_all_outputs_are_summed_or_unknown():
    def read(size):
        return [execution([output_row("read", "bytes", size, "bytes")])]

    assert commands.sum_bytes_moved({0: read(3.0), 1: read(4.0)}) == (7.0, 0.0, 0)
    assert commands.sum_bytes_moved({0: read(3.0), 1: [execution(READ)]}) is None


def test_an_output_that_is_too_long_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "PARSED_BYTES", 4)
    path = tmp_path / "output"
    path.write_bytes(b"four")
    assert commands._read_content(path) == b"four"
    path.write_bytes(b"five!")
    with raises("file-too-large", size="5 B", max_size="4 B"):
        commands._read_content(path)
    with raises("unreadable-file"):
        commands._read_content(tmp_path / "none")


def test_the_network_of_a_phase_is_held_against_what_each_node_moved(monkeypatch):
    asked = []
    monkeypatch.setattr(phase_entry.wire, "describe_phase", lambda *of: asked.append(of) or "entry")
    kinds = ["open", "read", "write", "append", "mmap_read", "mmap_write", "close"]

    def moved(rank, read, written):
        return part(rank, totals=[total(0, 1, 0), total(1, 2, read), total(2, 3, written), total(4, 1, 1)])

    parts = [moved(0, 10, 4), moved(1, 20, 5), moved(2, 40, 6)]
    plan = SimpleNamespace(shared=False, distinct_bytes=15, phase=None, counted_kind="read")
    assert phase_entry.build_network_entry(plan, parts, {}, [0, 0, 1], 2.0, kinds) is None
    assert phase_entry.build_network_entry(plan, parts, {0: "c"}, [0, 0, 1], 2.0, kinds) == "entry"
    sums = {0: (32, 9, 14), 1: (41, 6, 7)}
    assert asked == [({0: "c"}, sums, [0, 0, 1], 2.0, 6, "", False)]
    shared = SimpleNamespace(**vars(plan) | {"shared": True})
    phase_entry.build_network_entry(shared, parts, {0: "c"}, [0, 0, 1], 2.0, kinds)
    assert asked[1] == ({0: "c"}, {0: (15, 9, 14), 1: (15, 6, 7)}, [0, 0, 1], 2.0, 6, "", True)
    writes = SimpleNamespace(**vars(shared) | {"counted_kind": "write"})
    phase_entry.build_network_entry(writes, parts, {0: "c"}, [0], 2.0, kinds)
    assert asked[2][1:] == ({0: (15, 15, 21)}, [0], 2.0, 9, "", False)
    access = MpiIo("p", "f", "read", 0, 1, 0, 1, 1)
    for nodes, is_unknown in (([0, 0, 1], True), ([0, 0, 0], False)):
        phase_entry.build_network_entry(
            SimpleNamespace(**vars(plan) | {"phase": access}), parts, {0: "c"}, nodes, 2.0, kinds
        )
        assert bool(asked[-1][5]) is is_unknown
