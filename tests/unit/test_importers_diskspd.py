"""diskspd's text and XML: written after its sources; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, Understood, understand
from messages import has_message

SAMPLES = Path(__file__).parents[1] / "golden" / "fixtures" / "diskspd"
MIX = (SAMPLES / "sample-mix.txt").read_text()
LINUX = (SAMPLES / "sample-linux-read.txt").read_text()
XML = (SAMPLES / "sample-two-timespans.xml").read_text()
MIB = 2.0**20
ALL = "all operations"


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, run: int = 0) -> dict[tuple[str, str], float]:
    return {(row.operation, row.metric): row.value for row in reading.runs[run].rows if row.rank is None}


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def test_a_mix_has_each_direction_and_their_sum():
    reading = read_text(MIX)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing, reading.others) == ("diskspd", 1, [], {})
    assert run.factors == {
        "runtime": 30,
        "target": r"D:\io\test 1.dat",
        "direct": 1,
        "write_through": 1,
        "percent_read": 67,
        "transfer_size": 8192,
        "random": 1,
        "io_depth": 8,
        "threads": 2,
    }
    assert (run.started_at, run.seconds) == ("2026-11-20T17:26:04+00:00", 30.0)
    assert run.facts["computer"] == "node7" and run.facts["command"].startswith("diskspd.exe -b8K")
    values = get_values(reading)
    assert values["read", "bandwidth"] == 50.0 * MIB
    assert values["read", "rate"] == 6400.0
    assert values["read", "operations"] == 192000
    assert values["read", "bytes"] == 1572864000
    assert values["read", "time"] == 30.0
    assert values["read", "latency_mean"] == 0.0015
    assert values["read", "latency_sd"] == pytest.approx(0.785e-3)
    assert values["read", "rate_interval_sd"] == 80.5
    assert values["write", "bandwidth"] == 25.0 * MIB
    assert values["write", "latency_min"] == 0.0002
    assert values["write", "latency_p99"] == 0.00625
    assert values["write", "latency_p99.99"] == 0.0305
    assert values["write", "latency_max"] == 0.06125
    assert values[ALL, "rate"] == 9600.0
    assert values[ALL, "latency_p99.9"] == 0.011
    assert {row.metric for row in run.rows if row.operation == ALL} == {
        row.metric for row in run.rows if row.rank is None
    }


def test_threads_are_ranks():
    own = [row for row in read_text(MIX).runs[0].rows if row.rank is not None]
    assert [(row.operation, row.rank, row.value) for row in own if row.metric == "rate_own"] == [
        ("read", 0, 2560.0),
        ("read", 1, 3840.0),
        ("write", 0, 1280.0),
        ("write", 1, 1920.0),
    ]


def test_the_form_of_linux_has_its_settings_and_no_sum_of_a_single_direction():
    reading = read_text(LINUX)
    run = reading.runs[0]
    assert not run.missing
    assert run.factors == {
        "runtime": 20,
        "threads": 2,
        "target": "/mnt/fs/a",
        "direct": 1,
        "write_through": 1,
        "transfer_size": 65536,
        "random": 0,
        "io_depth": 4,
    }
    assert get_values(reading) == {
        ("read", "bytes"): 63000 * 65536,
        ("read", "operations"): 63000,
        ("read", "bandwidth"): 196.88 * MIB,
        ("read", "rate"): 3150.0,
        ("read", "time"): 20.0,
    }
    buffered = read_text(LINUX.replace("\t\tusing O_DIRECT\n", "").replace("\t\tusing O_SYNC\n", ""))
    assert (buffered.runs[0].factors["direct"], buffered.runs[0].factors["write_through"]) == (0, 0)


def test_the_xml_has_a_run_for_each_timespan():
    reading = read_text(XML)
    assert [run.missing for run in reading.runs] == [[], []]
    first, second = reading.runs
    assert (first.version, first.started_at) == ("2.1.0", "2026-11-20T17:26:04+00:00")
    assert first.factors == {
        "runtime": 10,
        "target": r"E:\a.dat",
        "transfer_size": 65536,
        "io_depth": 4,
        "random": 0,
        "direct": 1,
        "write_through": 1,
        "threads": 2,
    }
    assert (second.factors["random"], second.factors["percent_read"]) == (1, 75)
    values = get_values(reading)
    assert {operation for operation, _ in values} == {"read"}
    assert values["read", "bandwidth"] == pytest.approx(202.5 * MIB)
    assert values["read", "rate"] == 3240
    assert values["read", "latency_p99.9"] == 0.0095
    assert values["read", "latency_max"] == 0.02075
    assert ("read", "latency_p98") not in values
    values = get_values(reading, 1)
    assert values["read", "rate"] == 1215
    assert values["write", "rate"] == 405
    assert values["write", "latency_mean"] == pytest.approx(0.0061)
    assert values[ALL, "rate"] == 1620
    assert values[ALL, "rate_interval_sd"] == 12.5


def test_what_ended_early_failed_or_was_stopped_is_incomplete():
    cut = read_text(MIX[: MIX.index("Write IO")])
    assert lacks(cut, "ended-early") and {row.operation for row in cut.runs[0].rows} == {"read"}
    head = MIX[: MIX.index("Results for")]
    assert lacks(read_text(head), "ended-early")
    assert lacks(read_text(MIX[: MIX.index("total:\n  %")]), "ended-early")
    failed = head + "\nError opening file: D:\\io\\test 1.dat [5]\n"
    assert lacks(read_text(failed), "tool-failed")
    interrupted = MIX[: MIX.index("\nactual")] + "The test was interrupted before the measurements began.\n"
    assert lacks(read_text(interrupted), "tool-failed")
    assert lacks(read_text(MIX.replace("30.00s", "12.25s")), "stopped-early", seconds="12.25", requested="30")
    assert lacks(read_text(LINUX.replace("32000", "0").replace("31000", "0").replace("63000", "0")), "no-results")
    assert lacks(read_text(XML[: XML.index("</Results>") - 40]), "damaged-lines")
    error = (
        XML[: XML.index("    <TestTimeSeconds>")]
        + "    <Error>The test was interrupted</Error>\n  </TimeSpan>\n</Results>"
    )
    assert lacks(read_text(error), "tool-failed")


def test_a_damaged_table_gives_no_number_to_another_section():
    glued = read_text(MIX.replace("Write IO\n", "Write IO"))
    assert lacks(glued, "glued-lines") and ("write", "bandwidth") not in get_values(glued)
    assert lacks(read_text(MIX.replace("|    6400.00 |", "|    64")), "damaged-lines")


def test_settings_that_targets_do_not_share_are_none():
    text = MIX.replace(
        "System information:", "\tpath: 'E:\\b'\n\t\tblock size: 64KiB\n\t\tusing random I/O\nSystem information:"
    )
    run = read_text(text).runs[0]
    assert has_message((note.sentence for note in run.warnings), "mixed-settings", n_targets="2")
    assert "transfer_size" not in run.factors and run.factors["random"] == 1


def test_results_without_their_head_are_a_run_of_their_own():
    reading = read_text(MIX + MIX[MIX.index("actual test time") :].replace("2560.00", "2561.00"))
    assert [bool(run.missing) for run in reading.runs] == [False, False]
    assert reading.runs[1].factors == {"threads": 2} and reading.runs[1].started_at == ""


def test_a_last_line_without_its_end_is_complete_with_all_its_decimals():
    assert get_values(read_text(MIX.rstrip("\n"))) == get_values(read_text(MIX))
    cut = read_text(MIX.rstrip("\n")[:-1])
    assert lacks(cut, "cut-last-line") and (ALL, "latency_max") not in get_values(cut)


def test_labels_before_the_lines_are_left_out():
    labelled = "".join(f"win7: {line}\n" for line in MIX.splitlines())
    assert get_values(read_text(labelled)) == get_values(read_text(MIX))


def test_a_profile_and_other_documents_are_not_claimed():
    for text in (
        "<Results>\n<TimeSpan>\n</TimeSpan>\n</Results>\n",
        "Total IO\nthread | name\n",
        "Input parameters:\n",
    ):
        with pytest.raises(UnknownFormatError):
            read_text(text)


@given(st.integers(1, 10**9), st.integers(1, 10**7), st.sampled_from(["MiB/s", "MB/s"]))
@settings(max_examples=50, deadline=None)
def test_every_rate_is_in_base_units(bandwidth, latency, unit):
    mean = f"{latency / 1000:.3f}"
    text = MIX.replace("      50.00 |    6400.00 |    1.500", f"{bandwidth / 100:.2f} | 6400.00 | {mean}")
    values = get_values(read_text(text.replace("MiB/s", unit)))
    assert values["read", "bandwidth"] == pytest.approx(bandwidth / 100 * MIB)
    assert values["read", "latency_mean"] == pytest.approx(latency / 1e6)
