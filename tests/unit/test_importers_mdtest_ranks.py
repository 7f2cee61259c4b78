"""mdtest --showRankStatistics: the columns of ranks before those of iterations; as its source prints them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.importers import Text, Understood, understand
from messages import has_message

HEAD = """-- started at 11/21/2026 09:26:18 --

mdtest-4.1.0+dev was launched with 4 total task(s) on 2 node(s)
Command line used: mdtest '-n' '500' '-i' '2' '--showRankStatistics'
4 tasks, 2000 files/directories

SUMMARY rate (in ops/sec): (of {iterations} iterations)
   Operation     {columns} Max            Min           Mean        Std Dev
   ---------               ---            ---           ----        -------
"""
RANKS = "per Rank: Max            Min           Mean      per Iteration:"
TAIL = "-- finished at 11/21/2026 09:26:19 --\n"


def write_row(name: str, numbers: list[float]) -> str:
    cells = [f"{number:14.3f} " for number in numbers]
    ranks = "".join(cells[:-4]) + "    " if len(cells) > 4 else ""
    return f"   {name:<18} {ranks}    {''.join(cells[-4:])}\n"


def read_rows(rows: str, columns: str = RANKS, iterations: int = 2) -> Understood:
    return understand(Text((HEAD.format(columns=columns, iterations=iterations) + rows + TAIL).encode(), "x"))


def get_values(reading: Understood) -> dict[tuple[str, str], float]:
    return {(row.operation, row.metric): row.value for row in reading.runs[0].rows}


def test_ranks_and_iterations_are_told_apart():
    rows = write_row("File creation", [250.5, 120.25, 200.0, 900.0, 800.0, 850.0, 70.711])
    reading = read_rows(rows + write_row("Tree creation", [90.0, 80.0, 85.0, 90.0, 80.0, 85.0, 7.071]))
    assert (reading.format, len(reading.runs), reading.runs[0].missing) == ("mdtest", 1, [])
    values = get_values(reading)
    assert {metric: value for (operation, metric), value in values.items() if operation == "file_creation"} == {
        "rate_own_max": 250.5,
        "rate_own_min": 120.25,
        "rate_own_mean": 200.0,
        "rate_max": 900.0,
        "rate_min": 800.0,
        "rate_mean": 850.0,
        "rate_sd": 70.711,
    }
    assert values["tree_creation", "rate_mean"] == 85.0


def test_a_single_iteration_is_a_measurement():
    rows = write_row("File stat", [250.5, 120.25, 200.0, 900.0, 900.0, 900.0, 0.0])
    values = get_values(read_rows(rows, iterations=1))
    assert values["file_stat", "rate_last_done"] == 900.0
    assert values["file_stat", "rate_own_min"] == 120.25


def test_a_cut_row_is_left_out():
    cut = write_row("File stat", [250.5, 120.25, 200.0, 900.0])
    reading = read_rows(cut + write_row("File read", [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 0.0]))
    assert {operation for operation, _ in get_values(reading)} == {"file_read"}
    assert has_message((note.sentence for note in reading.runs[0].missing), "damaged-lines")


@given(st.lists(st.integers(1, 10**9), min_size=5, max_size=5), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_column_keeps_its_place(numbers, has_ranks):
    numbers = [number / 1000 for number in numbers]
    low, high = sorted(numbers[:2])
    own = numbers[2:5] if has_ranks else []
    rows = write_row("File removal", [*own, high, low, (low + high) / 2, 1.5])
    values = get_values(read_rows(rows, columns=RANKS if has_ranks else "              "))
    assert values["file_removal", "rate_max"] == high and values["file_removal", "rate_min"] == low
    expected = own or [None] * 3
    assert [values.get(("file_removal", f"rate_own_{name}")) for name in ("max", "min", "mean")] == expected


def test_columns_follow_their_head():
    """Some versions of 2020 have the deviation on the side of the ranks, and print these columns in any case."""
    columns = "per Rank: Max            Min           Mean          Std Dev     per Iteration:"
    head = HEAD.replace("        Std Dev\n", "\n").format(columns=columns, iterations=3)
    row = write_row(
        "Directory creation", [133349.335, 15240.973, 63062.865, 35579.914, 45577.003, 15240.973, 34399.616]
    )
    reading = understand(Text((head + row + TAIL).encode(), "x"))
    assert reading.runs[0].missing == []
    assert get_values(reading) == {
        ("directory_creation", f"rate_{name}"): value
        for name, value in {
            "own_max": 133349.335,
            "own_min": 15240.973,
            "own_mean": 63062.865,
            "own_sd": 35579.914,
            "max": 45577.003,
            "min": 15240.973,
            "mean": 34399.616,
        }.items()
    }
