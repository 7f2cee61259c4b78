"""CrystalDiskMark's and KDiskMark's text exports: written after their sources; figures of our own, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, Understood, understand
from messages import has_message

SAMPLES = Path(__file__).parents[1] / "golden" / "fixtures" / "crystaldiskmark"
MIX = (SAMPLES / "sample-default-mix.txt").read_text()
OLD = (SAMPLES / "sample-5.txt").read_text()
KIB, MIB, GIB = 2**10, 2**20, 2**30
KDISKMARK = """                     KDiskMark (3.1.4): https://github.com/JonMagon/KDiskMark
                 Flexible I/O Tester (fio-3.30): https://github.com/axboe/fio
--------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
* KB = 1000 bytes, KiB = 1024 bytes

[Read]
Sequential   1 MiB (Q=  8, T= 1):   512.000 MB/s [    500.0 IOPS] < 15500.25 us>
    Random   4 KiB (Q= 32, T= 1):   200.000 MB/s [  50000.0 IOPS] <   620.50 us>

[Write]
Sequential   1 MiB (Q=  8, T= 1):   409.600 MB/s [    400.0 IOPS] < 19500.75 us>
    Random   4 KiB (Q= 32, T= 1):   160.000 MB/s [  40000.0 IOPS] <   780.25 us>

Profile: Default
   Test: 1 GiB (x5) [Measure: 5 sec / Interval: 2 min]
   Date: 2026-11-20 17:26:04
     OS: arch unknown [linux 6.1]
 Target: /dev/sda1 [X]
"""


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def list_values(reading: Understood, run: int = 0) -> list[tuple]:
    rows = reading.runs[run].rows
    return [(row.operation, row.metric, row.value, tuple((row.factors or {}).values())) for row in rows]


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def test_the_best_of_each_test_with_its_settings():
    reading = read_text(MIX)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing, reading.others) == ("crystaldiskmark", 1, [], {})
    assert (run.version, run.started_at) == ("8.0.5", "2026-11-20T09:26:04")
    assert run.factors == {
        "percent_read": 70,
        "file_size": GIB,
        "iterations": 5,
        "target": "C:",
        "profile": "Default [+Mix]",
        "runtime": 5,
    }
    assert (run.facts["mode"], run.facts["comment"]) == ("[Admin]", "shelf 2")
    settings_of_rows = {tuple(row.factors or {}) for row in run.rows if row.operation == "read"}
    assert settings_of_rows == {("random", "transfer_size", "io_depth", "threads")}
    values = list_values(reading)
    assert values[:3] == [
        ("read", "bandwidth_max", 5242.88e6, (0, MIB, 8, 1)),
        ("read", "rate_max", 5000.0, (0, MIB, 8, 1)),
        ("read", "latency_mean_min", pytest.approx(0.00159025), (0, MIB, 8, 1)),
    ]
    bandwidths = [(operation, value, key) for operation, metric, value, key in values if metric == "bandwidth_max"]
    assert bandwidths == [
        ("read", 5242.88e6, (0, MIB, 8, 1)),
        ("read", 2621.44e6, (0, MIB, 1, 1)),
        ("read", 819.2e6, (1, 4 * KIB, 32, 1)),
        ("read", 81.92e6, (1, 4 * KIB, 1, 1)),
        ("write", 4194.304e6, (0, MIB, 8, 1)),
        ("write", 2097.152e6, (0, MIB, 1, 1)),
        ("write", 614.4e6, (1, 4 * KIB, 32, 1)),
        ("readwrite", 3145.728e6, (0, MIB, 8, 1)),
        ("readwrite", 409.6e6, (1, 4 * KIB, 32, 1)),
    ]


def test_the_form_of_older_versions():
    reading = read_text(OLD)
    run = reading.runs[0]
    assert (run.version, run.started_at, run.missing) == ("5.2.1", "2017-11-20T17:26:04", [])
    assert run.factors == {"file_size": GIB, "iterations": 3, "target": "D:"}
    rows = [(row.operation, row.metric, row.value, row.factors) for row in run.rows]
    assert rows[0] == ("read", "bandwidth_max", 524.288e6, {"random": 0, "io_depth": 32, "threads": 1})
    assert rows[1] == ("write", "bandwidth_max", 498.5e6, {"random": 0, "io_depth": 32, "threads": 1})
    four = {"random": 1, "transfer_size": 4 * KIB, "io_depth": 32, "threads": 1}
    assert rows[2:4] == [("read", "bandwidth_max", 256e6, four), ("read", "rate_max", 62500.0, four)]
    assert rows[6] == ("read", "bandwidth_max", 480.25e6, {"random": 0, "threads": 1})
    oldest = OLD.replace("Random Read 4KiB (Q= 1,T= 1)", "  Random Read 4KB (QD=1)    ")
    assert {"random": 1, "transfer_size": 4 * KIB, "io_depth": 1} in [
        row.factors for row in read_text(oldest).runs[0].rows
    ]


def test_kdiskmark_shows_means_in_steps_of_1000_kib():
    reading = read_text(KDISKMARK)
    run = reading.runs[0]
    assert (run.version, run.facts["kdiskmark"], run.missing) == ("", "3.1.4", [])
    assert run.factors["target"] == "/dev/sda1 [X]" and run.factors["runtime"] == 5
    assert list_values(reading)[:3] == [
        ("read", "bandwidth", 500.0 * MIB, (0, MIB, 8, 1)),
        ("read", "rate", 500.0, (0, MIB, 8, 1)),
        ("read", "latency_mean", pytest.approx(0.01550025), (0, MIB, 8, 1)),
    ]
    assert has_message((note.sentence for note in reading.warnings), "assumed-unit")
    peak = read_text(KDISKMARK.replace("Profile: Default", "Profile: Peak Performance"))
    assert {row.metric for row in peak.runs[0].rows} == {"bandwidth_max", "rate_max", "latency_mean_min"}


def test_each_export_of_a_file_is_a_run():
    reading = read_text(MIX + KDISKMARK + OLD + MIX[MIX.index("[Read]") :])
    assert [run.version for run in reading.runs] == ["8.0.5", "", "5.2.1", ""]
    assert not any(run.missing for run in reading.runs)


def test_a_cut_or_damaged_export_is_incomplete():
    first = MIX[: MIX.index("[Write]")]
    assert lacks(read_text(first), "ended-early")
    mix = MIX[: MIX.index("\nProfile")]
    assert not lacks(read_text(mix), "ended-early")
    assert lacks(read_text(mix[: mix.rindex("RND")]), "ended-early")
    glued = read_text(MIX.replace("[Write]\n", "[Write]"))
    assert lacks(glued, "glued-lines")
    assert [row.value for row in glued.runs[0].rows if row.metric == "bandwidth_max"].count(5242.88e6) == 1
    assert lacks(read_text(MIX.replace("5000.0 IOPS] <  1590.25 us>", "50")), "damaged-lines")
    nothing = "\n".join(
        line.split(":")[0] + ":     0.000 MB/s" if " MB/s [" in line else line for line in MIX.splitlines()
    )
    assert lacks(read_text(nothing + "\n"), "no-results")


def test_utf16_and_quotes_change_no_number():
    expected = list_values(read_text(MIX))
    assert list_values(understand(Text(MIX.replace("\n", "\r\n").encode("utf-16"), "x"))) == expected
    quoted = "".join(f"> {line}\n" for line in MIX.splitlines())
    assert list_values(read_text(quoted)) == expected


def test_scripts_with_the_same_rows_are_not_claimed():
    for text in ("SEQ 1MiB (Q= 8, T= 1): 5.000 MB/s [ 4.8 IOPS]\n", "CrystalDiskMark 8.0 (C) hiyohiyo\n"):
        with pytest.raises(UnknownFormatError):
            read_text(text)


@given(st.integers(1, 10**8), st.integers(1, 10**8), st.sampled_from(["  1MiB", "128KiB"]))
@settings(max_examples=50, deadline=None)
def test_every_number_is_in_base_units(bandwidth, latency, size):
    old, new = " 5242.880 MB/s", f" {bandwidth / 1000:.3f} MB/s"
    text = MIX.replace(old, new).replace("1590.25 us", f"{latency / 100:.2f} us")
    values = list_values(read_text(text.replace("SEQ    1MiB (Q=  8", f"SEQ  {size} (Q=  8")))
    assert values[0][2] == pytest.approx(bandwidth * 1e3)
    assert values[2][2] == pytest.approx(latency / 1e8)
    assert values[0][3][1] == (MIB if "MiB" in size else 128 * KIB)
