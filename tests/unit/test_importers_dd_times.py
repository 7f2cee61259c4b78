"""dd in a log: what ``time`` says of a copy belongs to it, and copies of one file are no repetitions."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.importers import Text, Understood, understand
from iosonde.importers.runs import build_runs


def write_copy(size: int, seconds: str) -> str:
    return f"{size // 2**20}+0 records in\n{size // 2**20}+0 records out\n{size} bytes copied, {seconds} s, 1.0 GB/s\n"


def write_time(real: str) -> str:
    return f"\nreal\t0m{real}s\nuser\t0m0.004s\nsys\t0m0.611s\n"


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, run: int = 0) -> dict[tuple[str, str], float]:
    return {(row.operation, row.metric): row.value for row in reading.runs[run].rows}


def test_the_time_of_a_copy_is_kept_with_its_rate():
    reading = read_text(write_copy(2**30, "3.125") + write_time("3.213"))
    assert (reading.format, len(reading.runs), list(reading.others)) == ("dd", 1, ["time"])
    assert get_values(reading) == {
        ("copy", "bytes"): 2**30,
        ("copy", "time"): 3.125,
        ("copy", "bandwidth_last_done"): 2**30 / 3.125,
        ("command", "real"): 3.213,
        ("command", "user"): 0.004,
        ("command", "sys"): 0.611,
    }
    assert reading.runs[0].factors == {}


def test_copies_of_one_file_are_cells_of_their_own():
    text = write_copy(2**30, "2.0") + write_copy(2**30, "25.0")
    reading = read_text(text)
    parts = ["copy 1 of the file", "copy 2 of the file"]
    assert [run.factors for run in reading.runs] == [{"part": part} for part in parts]
    runs = build_runs(reading, Text(text.encode(), "x"), "e")
    assert len({str(run.factors) for run in runs}) == 2


def test_a_time_before_the_copy_is_of_another_command():
    reading = read_text(write_time("9.5") + write_copy(2**30, "3.125"))
    assert reading.format == "time"
    both = read_text(write_copy(2**30, "3.125") + write_time("3.2") + write_time("9.5"))
    assert [get_values(both, run).get(("command", "real")) for run in range(2)] == [3.2, 9.5]
    assert ("copy", "time") not in get_values(both, 1)


@given(st.lists(st.tuples(st.integers(1, 9999), st.booleans()), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_every_copy_keeps_its_own_time(copies):
    text = "".join(
        write_copy(2**20 * amount, f"{amount}.5") + (write_time(f"{amount}.75") if is_timed else "")
        for amount, is_timed in copies
    )
    reading = read_text(text)
    assert len(reading.runs) == len(copies)
    for place, (amount, is_timed) in enumerate(copies):
        values = get_values(reading, place)
        assert values["copy", "time"] == amount + 0.5
        assert values.get(("command", "real")) == (amount + 0.75 if is_timed else None)
