"""Numbers of one process have one name, in one store and in two, whatever version stored them."""

from __future__ import annotations

import pytest

from iosonde.core.headlines import COMMAND
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table, build_table
from iosonde.data.single_process import name_single_processes

LAST, SUM, MEAN = "bandwidth_last_done", "bandwidth_sum_of_ranks", "latency_mean_mean_of_ranks"
Row = tuple[str, str, str] | tuple[str, str, str, str]


def build_run(name: str, ranks: int | None, tool: str = "ior", imported: bool = False, processes: int = 1) -> StoredRun:
    phase: dict[str, object] = {
        "operation": "step-01",
        "command": tool,
        "on": "all",
        "parse": "auto",
        "tools": [tool],
        "settings": {} if processes == 1 else {"ranks": processes},
    }
    return StoredRun(
        {
            "id": name,
            "experiment": "e",
            "factors": {} if ranks is None else {"ranks": ranks},
            "facts": {"import": {}} if imported else {},
            "phases": [] if imported else [phase],
        }
    )


def build_results(*rows: Row) -> Table:
    cells = [(*row, "")[:4] for row in rows]
    columns = zip(*cells, strict=True)
    names = ("run", "operation", "metric", "includes")
    return build_table(dict(zip(names, map(list, columns), strict=True)) | {"value": list(range(len(rows)))})


def name_metrics(runs: list[StoredRun], *rows: Row) -> list[str]:
    (table,) = name_single_processes([build_results(*rows)], [runs])
    return list(table.columns["metric"].values)


@pytest.mark.parametrize(
    ("runs", "rows", "metrics"),
    [
        # A series over ranks keeps one name.
        (
            [build_run("1", 1), build_run("2", 2), build_run("4", 4)],
            [("1", "write", LAST), ("2", "write", SUM), ("4", "write", SUM)],
            [SUM, SUM, SUM],
        ),
        # A sum over one process, as earlier versions stored it.
        ([build_run("1", 1)], [("1", "write", SUM)], [LAST]),
        ([build_run("1", 1), build_run("2", 1)], [("1", "write", SUM), ("2", "write", LAST)], [LAST, LAST]),
        (
            [build_run("1", 1, "dd"), build_run("2", 1, "dd")],
            [("1", "w", SUM), ("2", "w", "bandwidth")],
            ["bandwidth"] * 2,
        ),
        (
            [build_run("1", 1), build_run("2", 1)],
            [("1", "stat", MEAN), ("2", "stat", "latency_mean")],
            ["latency_mean"] * 2,
        ),
        # A tool that may sum over its threads, or did.
        ([build_run("1", 1, "smallfile")], [("1", "create", SUM)], [SUM]),
        ([build_run("1", 1, "fio", processes=4)], [("1", "read", SUM)], [SUM]),
        # Several ranks; two clocks of one run; operations that no tool measured.
        ([build_run("2", 2), build_run("3", 3)], [("2", "write", SUM), ("3", "write", LAST)], [SUM, LAST]),
        ([build_run("1", 1)], [("1", "write", SUM), ("1", "write", LAST)], [SUM, LAST]),
        ([StoredRun({"id": "1", "factors": {"ranks": 1}})], [("1", "write", SUM)], [SUM]),
        # What the command's start makes slower has a clock of its own, and only repeats the tool's number.
        ([build_run("1", 1)], [("1", "write", SUM), ("1", "write", LAST, COMMAND)], [LAST]),
        ([build_run("2", 2)], [("2", "write", SUM), ("2", "write", LAST, COMMAND)], [SUM, LAST]),
    ],
)
def test_a_number_of_one_process_has_the_name_of_the_others(
    runs: list[StoredRun], rows: list[Row], metrics: list[str]
) -> None:
    assert name_metrics(runs, *rows) == metrics


def test_an_import_of_one_process_meets_a_series_of_another_store() -> None:
    old, new = build_results(("a", "write", LAST)), build_results(("1", "write", LAST), ("2", "write", SUM))
    runs = [[build_run("a", None, imported=True)], [build_run("1", 1), build_run("2", 2)]]
    tables = name_single_processes([old, new], runs)
    assert [list(table.columns["metric"].values) for table in tables] == [[SUM], [SUM, SUM]]
    assert [name_single_processes([old], runs[:1])[0] is old, list(old.columns["metric"].values)] == [True, [LAST]]


def test_single_ranks_of_a_run_keep_their_names() -> None:
    table = build_results(("1", "write", SUM), ("1", "write", "bandwidth_own"))
    ranks = build_table({"rank": [None, 0]}).columns["rank"]
    (named,) = name_single_processes([Table({**table.columns, "rank": ranks})], [[build_run("1", 1)]])
    assert list(named.columns["metric"].values) == [LAST, "bandwidth_own"]
