"""COSBench's CSV of a workload and of a stage: written after its sources; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, Understood, understand
from messages import has_message

SAMPLES = Path(__file__).parents[1] / "golden" / "fixtures" / "cosbench"
WORKLOAD = (SAMPLES / "sample-workload.csv").read_text()
STAGE = (SAMPLES / "sample-stage.csv").read_text()


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x.csv"))


def get_values(reading: Understood, run: int = 0) -> dict[tuple[str, str], float]:
    return {(row.operation, row.metric): row.value for row in reading.runs[run].rows}


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def warns(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for note in reading.warnings), code, **values)


def test_each_stage_with_operations_is_a_run():
    reading = read_text(WORKLOAD)
    assert (reading.format, reading.others) == ("cosbench", {})
    assert [run.factors for run in reading.runs] == [
        {"stage": "s2-prepare"},
        {"stage": "s3-main"},
        {"stage": "s4-cleanup"},
    ]
    assert [run.started_at for run in reading.runs][:2] == ["2026-11-20T17:26:04", "2026-11-20T17:26:15"]
    assert not any(run.missing for run in reading.runs)
    assert get_values(reading) == pytest.approx(
        {
            ("prepare_write", "operations"): 1000,
            ("prepare_write", "bytes"): 65536000,
            ("prepare_write", "latency_mean"): 0.0255,
            ("prepare_write", "processing_time_mean"): 0.02025,
            ("prepare_write", "latency_p60"): 0.02,
            ("prepare_write", "latency_p80"): 0.03,
            ("prepare_write", "latency_p90"): 0.04,
            ("prepare_write", "latency_p95"): 0.05,
            ("prepare_write", "latency_p99"): 0.08,
            ("prepare_write", "latency_max"): 0.12,
            ("prepare_write", "rate_sum_of_ranks"): 312.5,
            ("prepare_write", "bandwidth_sum_of_ranks"): 20480000,
        }
    )
    assert warns(reading, "histogram-edges")
    cleanup = get_values(reading, 2)
    assert cleanup["cleanup_delete", "rate_sum_of_ranks"] == 1450.5
    assert ("cleanup_delete", "bandwidth_sum_of_ranks") not in cleanup


def test_works_with_the_same_operation_are_kept_apart():
    rows = [row for row in read_text(WORKLOAD).runs[1].rows if row.metric == "rate_sum_of_ranks"]
    assert [(row.operation, row.value, row.factors) for row in rows] == [
        ("read", 320.25, None),
        ("write", 80.06, {"part": "work 1"}),
        ("write", 20.01, {"part": "work 2"}),
    ]


def test_samples_of_a_stage_are_numbered():
    reading = read_text(STAGE)
    assert len(reading.runs) == 1 and not reading.runs[0].missing
    assert warns(reading, "samples-only")
    rows = {(row.operation, row.metric, row.iteration): row.value for row in reading.runs[0].rows}
    assert rows["read", "rate_sample", 0] == 320
    assert rows["read", "bandwidth_sample", 1] == 19660800
    assert rows["write", "latency_sample_mean", 0] == pytest.approx(0.04025)
    assert ("write", "latency_sample_mean", 1) not in rows
    assert rows["write", "rate_sample", 3] == 84
    assert {iteration for _, _, iteration in rows} == {0, 1, 3} and len(rows) == 17


def test_an_older_table_without_names_of_operations():
    lines = [line.split(",") for line in WORKLOAD.splitlines()]
    text = "\n".join(",".join(cells[:1] + cells[2:]) for cells in lines) + "\n"
    assert get_values(read_text(text), 1)["read", "rate_sum_of_ranks"] == 320.25


def test_failed_operations_and_stages_are_incomplete():
    failed = read_text(WORKLOAD.replace("20987904,100%", "20987904,74.5%"))
    assert lacks(failed, "operations-failed", percent="74.5", operation="read")
    assert [bool(run.missing) for run in failed.runs] == [False, True, False]
    stopped = WORKLOAD.replace(",completed,waiting", ",terminated,waiting", 2)
    assert lacks(read_text(stopped), "tool-failed")
    longest = read_text(WORKLOAD.replace(",350,320.25", ",9223372036854775807,320.25"))
    assert warns(longest, "last-bin") and ("read", "latency_max") not in get_values(longest, 1)


def test_damaged_rows_give_no_number():
    cut = WORKLOAD[: WORKLOAD.index("80.06")]
    assert lacks(read_text(cut), "damaged-lines")
    glued = read_text(WORKLOAD.replace("17:31:15\ns3-main,write", "17:31:15s3-main,write", 1))
    assert lacks(glued, "glued-lines")
    assert lacks(read_text(WORKLOAD.replace("320.25", "x")), "invalid-number")
    assert lacks(read_text(STAGE.replace("\n,read", ",read")), "damaged-lines")
    assert lacks(read_text(STAGE.replace(",330,84", ",330")), "damaged-lines")
    assert lacks(read_text(WORKLOAD.splitlines()[0] + "\n"), "no-results")


def test_labels_before_the_lines_are_left_out():
    labelled = "".join(f"[cos1] {line}\n" for line in WORKLOAD.splitlines())
    assert get_values(read_text(labelled), 1) == get_values(read_text(WORKLOAD), 1)


def test_other_tables_are_not_claimed():
    for text in ("Stage,Name\ns1,a\n", "Timestamp,Value\n17:26:20,1\n"):
        with pytest.raises(UnknownFormatError):
            read_text(text)


@given(st.integers(1, 10**7), st.integers(1, 10**9))
@settings(max_examples=50, deadline=None)
def test_every_number_is_in_base_units(latency, bandwidth):
    text = WORKLOAD.replace(",12.25,", f",{latency / 100},").replace(",20987904,", f",{bandwidth / 100},")
    values = get_values(read_text(text), 1)
    assert values["read", "latency_mean"] == pytest.approx(latency / 1e5)
    assert values["read", "bandwidth_sum_of_ranks"] == bandwidth / 100
