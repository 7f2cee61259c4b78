"""ioping of its versions 0.6 to 1.3: written after its source; figures of our own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, Understood, understand
from messages import has_message

KIB, MIB = 2.0**10, 2.0**20

READ = """$ ioping -c 10 /data
4 KiB <<< /data (ext4 /dev/sda3 100 GiB): request=1 time=1.15 ms (warmup)
4 KiB <<< /data (ext4 /dev/sda3 100 GiB): request=2 time=396.4 us
4 KiB <<< /data (ext4 /dev/sda3 100 GiB): request=3 time=254.2 us (fast)

--- /data (ext4 /dev/sda3 100 GiB) ioping statistics ---
9 requests completed in 3.01 ms, 36 KiB read, 2.99 k iops, 11.5 MiB/s
generated 10 requests in 9.00 s, 40 KiB, 1 iops, 4.5 KiB/s
min/avg/max/mdev = 254.2 us / 334.5 us / 1.40 ms / 46.5 us
"""
WRITE = """
--- /dev/nvme0n1 (block device 894.3 GiB) ioping statistics ---
70.7 k requests completed in 1.5 min, 276.5 MiB written, 23.8 k iops, 93.5 MiB/s
3 too fast, 2 too slow, generated 70.7 k requests in 1.6 min, 276.4 MiB, 23.6 k iops, 92.1 MiB/s
min/avg/max/mdev = 33.1 us / 41.9 us / 87.9 ms / 452.6 us
"""
OLD = """4096 bytes from . (ext4 /dev/sda3): request=1 time=0.2 ms
4096 bytes from . (ext4 /dev/sda3): request=2 time=0.3 ms
^C
--- . (ext4 /dev/sda3) ioping statistics ---
5 requests completed in 4794.0 ms, 364 iops, 1.5 MiB/s
min/avg/max/mdev = 0.2/2.8/12.7/5.0 ms
"""


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, run: int = 0) -> dict[tuple[str, str], float]:
    return {(row.operation, row.metric): row.value for row in reading.runs[run].rows}


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def test_reads_of_a_directory():
    reading = read_text(READ)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing, reading.others) == ("ioping", 1, [], {})
    assert run.factors == {"block_size": 4096, "target": "/data", "file_system": "ext4"}
    assert run.facts["device"] == "/dev/sda3" and run.facts["command"] == "ioping -c 10 /data"
    assert get_values(reading) == pytest.approx(
        {
            ("read", "operations"): 9,
            ("read", "rate_while_busy"): 2990,
            ("read", "bandwidth_while_busy"): 11.5 * MIB,
            ("read", "time"): 9.0,
            ("read", "rate"): 1,
            ("read", "bandwidth"): 4.5 * KIB,
            ("read", "latency_min"): 254.2e-6,
            ("read", "latency_mean"): 334.5e-6,
            ("read", "latency_max"): 1.4e-3,
            ("read", "latency_sd"): 46.5e-6,
        }
    )


def test_writes_of_a_device_with_requests_left_out():
    reading = read_text(WRITE)
    values = get_values(reading)
    assert values["write", "operations"] == 70700
    assert values["write", "time"] == pytest.approx(96)
    assert values["write", "latency_max"] == pytest.approx(87.9e-3)
    assert "file_system" not in reading.runs[0].factors
    assert has_message((note.sentence for note in reading.warnings), "left-out-by-the-tool", n_requests="5.0")


def test_the_form_of_older_versions():
    reading = read_text(OLD)
    assert reading.runs[0].factors["block_size"] == 4096 and not reading.runs[0].missing
    values = get_values(reading)
    assert values["read", "latency_max"] == pytest.approx(12.7e-3)
    assert values["read", "rate_while_busy"] == 364
    mixed = read_text(READ.replace("36 KiB read", "36 KiB"))
    assert ("readwrite", "latency_mean") in get_values(mixed)


def test_each_execution_is_a_run_and_one_that_is_cut_is_incomplete():
    assert [run.factors["target"] for run in read_text(READ + WRITE + OLD).runs] == ["/data", "/dev/nvme0n1", "."]
    assert lacks(read_text(READ[: READ.index("min/avg")]), "ended-early")
    assert lacks(read_text(READ[: READ.index("--- /data")]), "ended-early")
    failed = read_text(READ[: READ.index("\n---")] + "\nioping: request failed: Input/output error\n")
    assert lacks(failed, "tool-failed")
    line = READ.splitlines()[6]
    nothing = READ.replace(line, "0 requests completed in 0 ns, 0 B read, 0 iops, 0 B/s")
    assert lacks(read_text(nothing), "no-results")


def test_a_ping_of_a_network_is_not_claimed():
    with pytest.raises(UnknownFormatError):
        read_text("--- h ping statistics ---\n4 packets transmitted\nrtt min/avg/max/mdev = 1.2/1.9/3.2/0.7 ms\n")


@given(
    st.lists(st.tuples(st.integers(100, 999), st.sampled_from(["ns", "us", "ms", "s"])), min_size=4, max_size=4),
    st.sampled_from(["read", "written"]),
)
@settings(max_examples=60, deadline=None)
def test_every_time_is_in_seconds(times, direction):
    spread = " / ".join(f"{number / 10} {unit}" for number, unit in times)
    text = READ.replace("254.2 us / 334.5 us / 1.40 ms / 46.5 us", spread).replace("KiB read", f"KiB {direction}")
    values = get_values(read_text(text))
    operation = "read" if direction == "read" else "write"
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    for name, (number, unit) in zip(("min", "mean", "max", "sd"), times, strict=True):
        assert values[operation, f"latency_{name}"] == pytest.approx(number / 10 * units[unit])


def test_without_the_line_of_completed_requests_it_is_incomplete() -> None:
    assert not read_text(WRITE).runs[0].missing
    (run,) = read_text("".join(line for line in WRITE.splitlines(True) if "completed" not in line)).runs
    assert [message.code for _, message in run.missing] == ["no-results"]
