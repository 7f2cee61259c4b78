"""obdfilter-survey and mds-survey of Lustre: written after their sources; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.importers import Text, Understood, understand
from iosonde.importers.reading import date_output_to_iso
from messages import has_message

SAMPLES = Path(__file__).parents[1] / "golden" / "fixtures"
OBDFILTER = (SAMPLES / "obdfilter-survey" / "sample-disk.txt").read_text()
MDS = (SAMPLES / "mds-survey" / "sample-one-mdt.txt").read_text()
MIB = 2**20
OLD = "ost  1 sz 16777216K rsz 1024 obj    1 thr    1 write  113.25 [  99.50, 139.75] \n"


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, **settings: object) -> dict[tuple[str, str], float]:
    return {
        (row.operation, row.metric): row.value
        for row in reading.runs[0].rows
        if settings.items() <= (row.factors or {}).items()
    }


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def warns(reading: Understood, code: str) -> bool:
    return has_message((note.sentence for note in reading.warnings), code)


def test_each_line_of_obdfilter_survey_is_a_setting_of_one_run():
    reading = read_text(OBDFILTER)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing, reading.others) == ("obdfilter-survey", 1, [], {})
    assert (run.factors, run.started_at, run.facts["host"]) == ({"case": "disk"}, "2026-11-20T17:26:04", "oss1")
    assert run.rows[0].factors == {"osts": 2, "transfer_size": MIB, "objects": 2, "threads": 2}
    two = get_values(reading, threads=2)
    assert two["write", "bandwidth_last_done"] == 512.5 * MIB
    assert two["write", "bandwidth_own_interval_min"] == 200.25 * MIB
    assert two["write", "bandwidth_own_interval_max"] == 300.75 * MIB
    assert two["rewrite", "bandwidth_last_done"] == 600 * MIB
    assert two["read", "bytes"] == 33554432 * 1024
    four = get_values(reading, threads=4)
    assert four["read", "bandwidth_last_done"] == 1500.25 * MIB
    assert ("read", "bandwidth_own_interval_max") not in four
    assert warns(reading, "short-test")


def test_older_versions_print_the_record_without_its_unit():
    reading = read_text(OLD)
    assert reading.runs[0].rows[0].factors == {"osts": 1, "transfer_size": MIB, "objects": 1, "threads": 1}
    assert get_values(reading)["write", "bandwidth_last_done"] == 113.25 * MIB


def test_a_test_that_failed_has_no_number():
    reading = read_text(OBDFILTER.replace("600.00 [ 250.00, 350.50]", "600.00             ERROR"))
    assert lacks(reading, "tool-failed", quote="rewrite ERROR")
    assert ("rewrite", "bandwidth_last_done") not in get_values(reading, threads=2)


def test_a_survey_that_ends_within_a_line_is_incomplete():
    assert lacks(read_text(OBDFILTER[: OBDFILTER.rindex("rewrite")]), "ended-early")
    assert lacks(read_text(OBDFILTER[: OBDFILTER.rindex("SHORT")]), "damaged-lines")
    assert lacks(read_text(OBDFILTER.partition("\n")[0] + "\n"), "ended-early")


def test_a_pasted_last_line_without_its_end_counts():
    reading = read_text(OLD.rstrip())
    assert not reading.runs[0].missing
    assert len(reading.runs[0].rows) == 4


def test_objects_that_were_not_created_are_a_failure():
    text = OLD + OLD[: OLD.index("write")].replace("thr    1", "thr    2")
    reading = read_text(text + "created object #s on localhost:lustre-OST0000_ecc not contiguous\n")
    assert lacks(reading, "tool-failed")


def test_settings_that_come_again_are_another_survey():
    assert len(read_text(OLD + OLD).runs) == 2
    assert len(read_text(OBDFILTER + OBDFILTER).runs) == 2


def test_mds_survey_of_one_target_has_rates():
    reading = read_text(MDS)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing, run.warnings) == ("mds-survey", 1, [], [])
    assert (run.started_at, run.facts["host"]) == ("2026-11-20T17:26:04", "mds1")
    assert run.rows[0].factors == {"mdts": 1, "files": 100000, "directories": 4, "threads": 4}
    eight = get_values(reading, threads=8)
    assert eight["create", "rate_last_done"] == 7000.5
    assert eight["md_getattr", "rate_own_interval_min"] == 380000
    assert eight["destroy", "rate_own_interval_max"] == 9600
    assert len(eight) == 15


def test_the_rate_of_several_targets_is_no_sum():
    reading = read_text(MDS.replace("mdt 1", "mdt 2"))
    values = get_values(reading, threads=4)
    assert values["create", "rate_own_mean"] == 5000.5
    assert ("create", "rate_last_done") not in values
    assert warns(reading, "rate-of-one-target")


def test_an_error_of_mds_survey_is_incomplete():
    reading = read_text(MDS.replace("5500.00 [ 0.00, 9500.00]", "            ERROR"))
    assert lacks(reading, "tool-failed", quote="destroy ERROR")


def test_labels_of_nodes_go():
    labelled = "".join(f"oss1: {line}" for line in OBDFILTER.splitlines(True))
    assert get_values(read_text(labelled), threads=2) == get_values(read_text(OBDFILTER), threads=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fri Sep 25 11:14:03 EDT 2026", "2026-09-25T11:14:03"),
        ("Tue Jun  8 08:50:29 PM CST 2026", "2026-06-08T20:50:29"),
        ("Wed 08 Jan 2020 12:33:21 AM UTC", "2020-01-08T00:33:21"),
        ("Fri Sep 25 11:14:03 2026", "2026-09-25T11:14:03"),
        ("Fri Sep 25 11:14:03 EDT", ""),
        ("yesterday", ""),
    ],
)
def test_the_output_of_date(text, expected):
    assert date_output_to_iso(text) == expected
