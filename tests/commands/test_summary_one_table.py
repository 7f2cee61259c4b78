"""Three or more responses are rows of one table on a terminal: by one factor, by several, by none."""

import pytest

from iosonde.commands.summary.answer import Summary
from iosonde.commands.summary.text import lines
from iosonde.core.types import Estimate
from iosonde.stats.overview.types import Overview, OverviewRow

OPERATIONS = ("file_creation", "file_stat", "directory_removal")


def row(operation, metric="rate_sum_of_ranks", unit="operations/s", value=2000.0, low=1000.0, high=3000.0, **by):
    mean = Estimate(value, low, high, 0.95, 3)
    return OverviewRow(operation, metric, unit, by, 3, mean, mean, 1.0, 0.1, None)


def text(rows, **options):
    answer = Summary(
        Overview(tuple(rows), (), (), (), "End.", 0.95, tuple(rows[0].by)), tool_clocks=(("mdtest", "", False),)
    )
    return list(lines(answer, **options))


def blocks(printed):
    return "\n".join(printed).split("\n\n")


def test_a_row_for_each_operation_and_a_column_for_each_level_with_intervals():
    printed = text([row(name, n=n) for name in OPERATIONS for n in (1, 2)])
    table = blocks(printed)[1].splitlines()
    assert table[0].split() == ["n=1", "interval", "n=2", "interval"]
    assert [line.split()[0] for line in table[1:4]] == list(OPERATIONS)
    assert all(line.split()[1:] == ["kop/s", "2.00", "1.00–3.00", "2.00", "1.00–3.00"] for line in table[1:4])
    assert table[4].strip() == "n 3, cv 10 %" and len(table) == 5


def test_a_metric_that_differs_stays_in_the_name_of_its_row():
    rows = [row(name, metric, n=n) for name in ("read", "write") for metric in ("rate", "latency_p99") for n in (1, 2)]
    table = blocks(text(rows))[1].splitlines()
    assert table[0].split()[0] == "n=1" and table[1].split()[:2] == ["read", "IOPS"]
    assert table[2].split()[:3] == ["read", "latency", "p99"]


@pytest.mark.parametrize("n_levels", [3, 5, 9])
def test_many_levels_are_one_column_each_and_stand_in_parts_under_80_columns(n_levels):
    printed = text([row(name, low=1100.0, high=3100.0, n=n) for name in OPERATIONS for n in range(n_levels)])
    assert max(map(len, printed)) < 80
    heads = [word for line in printed if "n=" in line and "–" not in line for word in line.split() if "n=" in word]
    assert heads == [f"n={n}" for n in range(n_levels)]
    assert sum("file_stat" in line for line in printed) == sum("n=" in line and "–" not in line for line in printed)


def test_several_factors_have_a_row_for_each_setting_and_name_the_operation_once():
    printed = text([row(name, size=size, n=n) for name in OPERATIONS for size in (4, 64, 128) for n in (1, 2)])
    table = blocks(printed)[1].splitlines()
    assert len(table) == 1 + 9 + 1 and sum("file_stat" in line for line in table) == 1
    assert table[1].split()[:2] == ["file_creation", "4"] and table[2].split()[:2] == ["64", "kop/s"]


def test_long_names_of_several_factors_stand_above_their_rows():
    long = [f"{name}_of_a_tool_with_long_names" for name in OPERATIONS]
    rows = [row(name, block_size_of_it=size, n=n) for name in long for size in (4, 64, 128) for n in (1, 2)]
    table = blocks(text(rows))[1].splitlines()
    assert max(map(len, table)) < 80 and not any("…" in line for line in table)
    assert all(sum(name in line for line in table) == 1 for name in long)


def test_without_a_factor_each_operation_is_a_row():
    table = blocks(text([row(name) for name in OPERATIONS]))[1].splitlines()
    assert table[0].split()[-2:] == ["mean", "interval"] and len(table) == 1 + 3 + 1


def test_a_setting_that_an_operation_lacks_is_an_empty_place():
    rows = [row(name, n=n) for name in OPERATIONS for n in (1, 2) if (name, n) != ("file_stat", 2)]
    (line,) = [line for line in text(rows) if line.startswith("file_stat")]
    assert line.split() == ["file_stat", "kop/s", "2.00", "1.00–3.00"]


def test_all_cells_and_two_responses_have_their_medians():
    rows = [row(name, n=n) for name in OPERATIONS for n in (1, 2)]
    assert any("median" in line for line in text(rows, every=True))
    assert any("median" in line for line in text(rows[:4]))


def test_jobs_with_operations_of_their_own_are_rows_and_leave_no_blank_cells():
    operations = {"oltp": ("read",), "log": ("write",), "mixed": ("read", "write")}
    rows = [
        row(name, metric, job=job)
        for name in ("read", "write")
        for metric in ("bandwidth_last_done", "rate_last_done")
        for job, own in operations.items()
        if name in own
    ]
    table = blocks(text(rows))[1].splitlines()
    assert table[0].split()[0] == "job" and [line.split()[0] for line in table[2:4]] == ["oltp", "mixed"]
    full = [row(name, job=job) for name in (*OPERATIONS, "tree") for job in operations]
    assert blocks(text(full[:-1]))[1].split()[0] == "job=oltp"
