"""Phases that a tool would have measured, its clock on them, and the settings of their work."""

from __future__ import annotations

from typing import Any

import pytest
from test_stats_definitions import MIB, STAGGERED, work

from iosonde.commands.explain_difference.sides import _collect_work_settings, _select_clock
from iosonde.commands.show.as_tool import (
    _find_varying_factors,
    _select_operations,
    compute_tool_rows,
    get_iozone_clock_parts,
    get_workload_settings,
)
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.stats.definitions import elbencho, fio, ior, iozone, mdtest
from iosonde.stats.definitions.clock import Clock

NONE: frozenset[str] = frozenset()
TOOLS = ("ior", "iozone", "fio", "elbencho")


def build_phase(name: str = "write", **more: Any) -> StoredPhase:
    return StoredPhase({"index": 0, "name": name, "operation": name, **more})


def list_tools(phase: StoredPhase, operations: Any) -> list[str]:
    """The tools that have rows of these operations; of the others the reason is given."""
    rows = {tool: compute_tool_rows(tool, phase, operations, NONE) for tool in TOOLS}
    assert all(bool(found) is not bool(why) for found, why in rows.values())
    return [tool for tool, (found, _) in rows.items() if found]


def test_a_tool_has_rows_of_the_phases_that_it_would_measure():
    assert list_tools(build_phase(), work(*STAGGERED)) == list(TOOLS)
    assert list_tools(build_phase(), work((0, "create", 0, 10), (0, "close", 10, 20))) == []
    assert list_tools(build_phase(measures="rate"), work(*STAGGERED)) == ["fio", "elbencho"]
    assert list_tools(build_phase(), work(*STAGGERED, clock_error_ns=10**12)) == ["ior", "fio"]


def test_rows_are_those_of_the_tool():
    operations = work(*STAGGERED)
    inside = frozenset({"fsync"})
    expected = {
        "ior": list(ior.build_ior_rows(operations)),
        "iozone": list(iozone.build_iozone_rows(operations, inside)),
        "fio": list(fio.build_fio_rows(operations)),
        "elbencho": list(elbencho.build_elbencho_rows(operations, False)),
    }
    for tool, rows in expected.items():
        assert compute_tool_rows(tool, build_phase(), operations, inside) == (rows, "")


def test_every_rank_on_all_files_is_not_elbenchos():
    operations = work(*STAGGERED)
    operations.file[operations.of == 1] = [0, 0, 1, 1, 1]
    assert operations.compute_most_files_per_rank() == 2
    both = [compute_tool_rows("elbencho", build_phase(shared=shared), operations, NONE) for shared in (True, False)]
    assert [bool(rows) for rows, _ in both] == [False, True] and "ior" in list_tools(
        build_phase(shared=True), operations
    )
    assert list_tools(build_phase(shared=True), work(*STAGGERED)) == list(TOOLS)


@pytest.mark.parametrize(
    ("definition", "clock"),
    [
        ("iosonde", Clock(frozenset({"open", "fsync", "close"}), "last_done")),
        ("ior", ior.CLOCK),
        ("fio", fio.CLOCK),
        ("iozone", Clock(frozenset({"fsync"}), "sum_until_first")),
        ("iozone/parent", Clock(frozenset({"fsync", "close"}), "parent")),
        ("elbencho", Clock(frozenset({"open", "close"}), "last_done")),
        ("elbencho/first", Clock(frozenset({"open", "close"}), "first_done")),
        ("mdtest", None),
    ],
)
def test_a_definition_has_its_clock(definition: str, clock: Clock | None):
    flags = frozenset({"fsync"})
    assert _select_clock(definition, build_phase(), work(*STAGGERED), flags) == clock
    without_data = work((0, "create", 0, 10), (0, "close", 10, 20))
    own = {"iosonde": clock, "mdtest": mdtest.CLOCK}.get(definition)
    assert _select_clock(definition, build_phase("create"), without_data, flags) == own


def build_run(steps: list[Any] | None = None, **factors: Any) -> StoredRun:
    facts = {} if steps is None else {"steps": steps}
    return StoredRun({"id": "r", "experiment": "e", "factors": factors, "facts": facts})


def test_the_settings_of_work_are_those_of_its_records_and_of_its_run():
    usual = {
        "threads": 2,
        "shared file": False,
        "record order": "sequential",
        "record size": MIB,
        "bytes of each": 2 * MIB,
    }
    assert _collect_work_settings(build_run(), build_phase(), work(*STAGGERED)) == usual
    run = build_run([{"workload": "w", "direct": 1}], client_cache="cold, verified", nodes=3)
    more = {"client cache": "cold", "nodes": 3, "O_DIRECT": True}
    assert _collect_work_settings(run, build_phase(), work(*STAGGERED)) == usual | more
    warm = _collect_work_settings(
        build_run([{"workload": "w", "direct": 0}], client_cache="warm"), build_phase(), work(*STAGGERED)
    )
    assert warm == usual | {"client cache": "warm", "O_DIRECT": False}
    assert _collect_work_settings(build_run(), build_phase(), work((0, "create", 0, 10))) == {
        "threads": 1,
        "shared file": False,
    }


def test_the_settings_of_a_workload_are_known_if_it_is_the_only_one():
    native = {"workload": "w", "inside": ["fsync"]}
    assert get_workload_settings(build_run([native, {"command": "c"}, "text"])) == native
    assert get_workload_settings(build_run([native, native])) == get_workload_settings(build_run()) == {}
    assert get_iozone_clock_parts(build_run([native])) == {"fsync"}
    assert get_iozone_clock_parts(build_run([{"workload": "w"}])) == NONE


def test_rows_of_a_whole_step_give_way_to_those_of_its_tool():
    phases = [
        {"index": 0, "name": name, "operation": name} | more
        for name, more in (("ior", {"parse": "auto", "on": "all"}), ("own", {}))
    ]
    run = StoredRun({"id": "r", "experiment": "e", "phases": phases})
    cells = [
        ("r", "ior", "x_last_done"),
        ("r", "ior", "x_mean"),
        ("r", "own", "x_last_done"),
        ("s", "ior", "x_last_done"),
    ]
    rows = [dict(zip(("run", "operation", "metric"), cell, strict=True)) for cell in cells]
    assert _select_operations(rows, [run]) == rows[1:]


def test_factors_vary_besides_the_number_of_nodes_and_the_trial():
    runs = [
        build_run(nodes=n, ranks=n, repetition=n, block=n, bring_up=n, fs=fs, size=1, **more)
        for n, fs, more in ((1, "a", {}), (2, "b", {"late": 4}))
    ]
    assert _find_varying_factors(runs) == ["fs", "late"] and _find_varying_factors(runs[:1]) == []
