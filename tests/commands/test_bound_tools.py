"""What netperf, iperf and IOzone tell a bound: links, a disk beyond memory, and what tells nothing."""

from pathlib import Path

import pytest

from iosonde.commands.bound.probed import read_tool_output
from iosonde.core.errors import DataError
from messages import assert_problem, codes, raises

DATA = Path(__file__).parents[1] / "golden" / "data" / "bound-tools"
NETPERF, IOZONE = DATA / "netperf.txt", DATA / "iozone.txt"
MIB = 1 << 20


def test_a_link_of_netperf_is_that_of_the_talk_in_both_units():
    """Seed 004, slide 9: 94.11 Mbit/s are 11.764 MB/s and 11,488 KiB/s."""
    told = read_tool_output(NETPERF, 0.95, None)
    assert told.fields["network"] == pytest.approx((94.11e6 / 8,) * 3)
    assert "11.764 MB/s (11,488 KiB/s)" in told.notes[0] and codes(told.notes) == ["link-goodput"]


def test_several_streams_are_repetitions_of_a_link(tmp_path):
    file = tmp_path / "netperf.txt"
    slower = NETPERF.read_text().replace("94.11", "90.11")
    file.write_text(NETPERF.read_text() + slower + NETPERF.read_text())
    value, low, high = read_tool_output(file, 0.95, None).fields["network"]
    mean = (94.11 + 90.11 + 94.11) / 3 * 1e6 / 8
    half = 4.302652729911275 * (4 / 3**0.5) / 3**0.5 * 1e6 / 8  # t(0.975, 2) times the standard error
    assert (value, low, high) == pytest.approx((mean, mean - half, mean + half))


def test_a_disk_is_what_iozone_saw_beyond_memory():
    told = read_tool_output(IOZONE, 0.95, 512 * MIB)
    assert told.fields["disk_write"][0] == 24990 * 1024
    assert told.fields["disk_read"][0] == 28611 * 1024
    largest = {"rate": "24.4 MiB/s", "file_size": "2 GiB", "record_size": "64 KiB"}
    assert_problem(told.notes[0], "disk-rate", operation="write", **largest)
    assert "24.1 MiB/s" in told.notes[0].values["span"]
    assert read_tool_output(IOZONE, 0.95, 1024 * MIB).fields["disk_write"][0] == 24990 * 1024


def test_iozone_without_memory_or_beyond_it_tells_nothing():
    with raises("missing-option"):
        read_tool_output(IOZONE, 0.95, None)
    with raises("fits-in-memory", DataError, memory_bytes="2 GiB"):
        read_tool_output(IOZONE, 0.95, 2048 * MIB)


def test_udp_a_stream_cut_off_and_another_tool_are_refused(tmp_path):
    udp = tmp_path / "iperf.txt"
    udp.write_text(
        "------\nClient connecting to node2, UDP port 5001\n------\n[  1] local node1 port 1 connected with "
        "node2 port 5001\n[ ID] Interval       Transfer     Bandwidth\n"
        "[  1] 0.0000-10.0000 sec  12.5 MBytes  10.5 Mbits/sec\n"
    )
    with raises("no-tcp-stream", DataError):
        read_tool_output(udp, 0.95, None)
    cut = tmp_path / "cut.txt"
    cut.write_text("\n".join(NETPERF.read_text().splitlines()[:5]) + "\n")
    with raises("no-tcp-stream", DataError):
        read_tool_output(cut, 0.95, None)
    other = tmp_path / "dbench.txt"
    other.write_text("Throughput 512.5 MB/sec  4 clients  4 procs  max_latency=20.123 ms\n")
    with raises("unsuitable-format", DataError):
        read_tool_output(other, 0.95, None)
    plain = tmp_path / "notes.txt"
    plain.write_text("the network was quite fast today\n")
    assert read_tool_output(plain, 0.95, None) is None
