"""yabs.sh: written after its script; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.importers import Text, Understood, understand
from messages import has_message

SAMPLES = Path(__file__).parents[1] / "golden" / "fixtures" / "yabs"
NEW = (SAMPLES / "sample-new.txt").read_text()
OLD = (SAMPLES / "sample-old.txt").read_text()
KIB, MIB = 2**10, 2**20
ALL = "all operations"


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, size: int) -> dict[tuple[str, str], float]:
    return {
        (row.operation, row.metric): row.value
        for row in reading.runs[0].rows
        if (row.factors or {})["block_size"] == size
    }


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def warns(reading: Understood, code: str) -> bool:
    return has_message((note.sentence for note in reading.warnings), code)


def test_each_block_size_is_a_setting():
    reading = read_text(NEW)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing, reading.others) == ("yabs", 1, [], {})
    assert (run.version, run.started_at) == ("v2025-04-20", "2026-11-20T17:26:04")
    assert run.factors == {"random": 1, "percent_read": 50, "target": "/dev/vda1"}
    assert get_values(reading, 4 * KIB) == pytest.approx(
        {
            ("read", "bandwidth_last_done"): 204.8e6,
            ("read", "rate_last_done"): 50e3,
            ("write", "bandwidth_last_done"): 206.84e6,
            ("write", "rate_last_done"): 50.5e3,
            (ALL, "bandwidth_sum_of_ranks"): 411.64e6,
            (ALL, "rate_sum_of_ranks"): 100.5e3,
        }
    )
    assert get_values(reading, MIB)["write", "rate_last_done"] == 530
    assert get_values(reading, 64 * KIB)["read", "bandwidth_last_done"] == pytest.approx(1.02e9)
    assert len(run.rows) == 24
    assert not warns(reading, "assumed-unit")


def test_the_megabytes_of_older_versions_are_1000_kib():
    reading = read_text(OLD)
    values = get_values(reading, 4 * KIB)
    assert values["read", "bandwidth_last_done"] == pytest.approx(50e3 * 4096)
    assert get_values(reading, MIB)["read", "bandwidth_last_done"] == pytest.approx(500 * MIB)
    assert warns(reading, "assumed-unit")
    assert not reading.runs[0].missing


def test_rates_with_few_digits_leave_the_unit_open():
    text = OLD[: OLD.index("           |        ")].replace("(50.0k)", "(5.0k)").replace("(50.5k)", "(5.0k)")
    reading = read_text(text.replace("(100.5k)", "(10.1k)").replace("(20.1k)", "(2.0k)"))
    assert get_values(reading, 4 * KIB)["read", "bandwidth_last_done"] == pytest.approx(200e6)
    assert warns(reading, "assumed-unit")


def test_a_table_that_ends_early_is_incomplete():
    assert lacks(read_text(NEW[: NEW.rindex("Total ")]), "ended-early")
    assert lacks(read_text(NEW[: NEW.index("Block Size")]), "ended-early")
    assert lacks(read_text(NEW.replace("Write      | 440.40 MB/s    (840) |", "Write      | 440.40")), "damaged-lines")


def test_an_empty_cell_is_missing():
    reading = read_text(NEW.replace("524.28 MB/s    (500)", "                  ()"))
    assert lacks(reading, "no-results", operation="read", size=MIB)


def test_two_tables_are_two_runs():
    reading = read_text(NEW + NEW)
    assert [run.version for run in reading.runs] == ["v2025-04-20"] * 2


def test_markdown_that_squeezed_the_blanks_is_read():
    squeezed = NEW.replace(
        "  ------   | ---            ----  | ----           ---- ", "  ------ | --- ---- | ---- ---- "
    )
    assert get_values(read_text(squeezed), MIB) == get_values(read_text(NEW), MIB)


def test_the_table_of_other_scripts_has_another_title():
    table = NEW[NEW.index("Block Size") : NEW.index("iperf3")]
    reading = read_text(f"------- disk, by yabs -------\n{table}-----------\n")
    assert (reading.format, reading.claim.score, reading.runs[0].missing) == ("yabs", 60, [])
    assert get_values(reading, MIB) == get_values(read_text(NEW), MIB)
