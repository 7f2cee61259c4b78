"""warp's report for people, of its versions from 0.3 to 1.x: written after its sources; figures of our own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, Understood, understand
from iosonde.importers.warp_text import parse_duration
from messages import has_message

KIB, MIB, GIB = 2.0**10, 2.0**20, 2.0**30

OLD = """
----------------------------------------
Operation: PUT. Concurrency: 20
* Average: 612.25 MiB/s, 6.12 obj/s

Throughput, split into 113 x 1s:
 * Fastest: 701.3MiB/s, 7.01 obj/s
 * 50% Median: 611.0MiB/s, 6.11 obj/s
 * Slowest: 98.4KiB/s, 0.01 obj/s

----------------------------------------
Operation: GET. Concurrency: 20
* Average: 1840.75 MiB/s, 18.41 obj/s

Throughput, split into 299 x 1s:
 * Fastest: 1.9GiB/s, 19.40 obj/s
 * 50% Median: 1841.1MiB/s, 18.41 obj/s
 * Slowest: 1402.6MiB/s, 14.03 obj/s
Aggregated data saved to out.csv
"""

DETAILS = """warp: Benchmark data written to "warp-get-2026-11-20[100000]-aB3c.csv.zst"

----------------------------------------
Operation: PUT (1500). Ran 27s. Size: 4000 bytes. Concurrency: 60. Warp Instances: 6.

Requests considered: 1066:
 * Avg: 85ms, 50%: 80ms, 90%: 1.127s, 99%: 2.17s, Fastest: 26ms, Slowest: 5.11s, StdDev: 37ms

Throughput:
* Average: 2.50 MiB/s, 655.36 obj/s

Throughput by host:
 * http://10.0.0.1:9000: Avg: 1.25 MiB/s, 327.68 obj/s
 * http://10.0.0.2:9000: Avg: 1.25 MiB/s, 327.68 obj/s

Throughput, split into 15 x 1s:
 * Fastest: 3.2MiB/s, 838.00 obj/s (1s, starting 03:55:27 UTC)
 * 50% Median: 2.8MiB/s, 734.00 obj/s (1s, starting 03:55:33 UTC)
 * Slowest: 2.2MiB/s, 577.00 obj/s (1s, starting 03:55:38 UTC)

----------------------------------------
Operation: GET (127520). Ran 1m0s. Size: 4000 bytes. Concurrency: 60. Warp Instances: 6.

Requests considered: 127470:
 * Avg: 3ms, 50%: 2ms, 90%: 5ms, 99%: 8ms, Fastest: 1ms, Slowest: 422ms, StdDev: 2ms
 * TTFB: Avg: 2ms, Best: 1ms, 25th: 2ms, Median: 2ms, 75th: 3ms, 90th: 5ms, 99th: 7ms, Worst: 421ms StdDev: 2ms
 * First Access: Avg: 4ms, 50%: 3ms, 90%: 6ms, 99%: 9ms, Fastest: 1ms, Slowest: 40ms, StdDev: 2ms

Throughput:
* Average: 80.00 MiB/s, 20971.52 obj/s
"""

NEW = """ $ warp mixed --host 10.0.0.90:443 --access-key abc --secret-key=geheim \\
  --concurrent 64 --obj.size 1MiB --duration 5m
Reqs: 33538, Errs:0, Objs:33538, Bytes: 19.64GiB
 -    DELETE Average: 11 Obj/s; Current 11 Obj/s, 27.4 ms/req

Report: DELETE. Concurrency: 64. Ran: 4m57s
 * Average: 17.60 obj/s
 * Reqs: Avg: 107.7ms, 50%: 25.0ms, 90%: 338.4ms, 99%: 730.3ms, Fastest: 1.7ms, Slowest: 2736.1ms, StdDev: 165.4ms

Throughput, split into 297 x 1s:
 * Fastest: 38.35 obj/s
 * 50% Median: 16.40 obj/s
 * Slowest: 0.00 obj/s

──────────────────────────────────

Report: GET. Concurrency: 64. Ran: 4m58s
 * Average: 79.50 MiB/s, 79.43 obj/s
 * Reqs: Avg: 229.8ms, 50%: 166.1ms, 90%: 502.8ms, 99%: 948.7ms, Fastest: 10.8ms, Slowest: 1715.8ms, StdDev: 198.3ms
 * TTFB: Avg: 73ms, Best: 1ms, 25th: 8ms, Median: 14ms, 75th: 71ms, 99th: 702ms, Worst: 1.575s StdDev: 148ms

Throughput, split into 298 x 1s:
 * Fastest: 107.2MiB/s, 107.23 obj/s
 * 50% Median: 80.5MiB/s, 80.52 obj/s
 * Slowest: 5.6MiB/s, 5.63 obj/s

──────────────────────────────────

Report: Total. Concurrency: 64. Ran: 4m58s
 * Average: 105.50 MiB/s, 176.52 obj/s
"""

MIXED = """Mixed operations.
Operation: GET, 45%, Concurrency: 20, Ran 1m0s.
 * Throughput: 632.25 MiB/s, 354.78 obj/s

Operation: STAT, 30%, Concurrency: 20, Ran 1m0s.
 * Throughput: 236.38 obj/s

Cluster Total: 838.50 MiB/s, 788.30 obj/s over 1m0s.
"""

OLDEST = """Mixed operations.

Operation: GET
 * 632.25 MiB/s, 354.78 obj/s (59.993s, starting 07:44:05 PST) (45.0% of operations)

Operation: DELETE
 * 78.91 obj/s (59.927s, starting 07:44:05 PST) (10.0% of operations)

Cluster Total:  788.50 MiB/s, 433.69 obj/s (59.993s, starting 07:44:05 PST)
"""


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, run: int = 0) -> dict[tuple[str, str], float]:
    return {(row.operation, row.metric): row.value for row in reading.runs[run].rows}


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def warns(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for note in reading.warnings), code, **values)


def test_the_upload_and_the_benchmark_are_operations_of_one_run():
    reading = read_text(OLD)
    assert (reading.format, len(reading.runs), reading.others) == ("warp", 1, {})
    assert reading.runs[0].factors == {"concurrency": 20}
    assert not reading.runs[0].missing
    assert get_values(reading) == {
        ("put", "bandwidth"): 612.25 * MIB,
        ("put", "rate"): 6.12,
        ("put", "bandwidth_interval_max"): 701.3 * MIB,
        ("put", "rate_interval_max"): 7.01,
        ("put", "bandwidth_interval_p50"): 611.0 * MIB,
        ("put", "rate_interval_p50"): 6.11,
        ("put", "bandwidth_interval_min"): 98.4 * KIB,
        ("put", "rate_interval_min"): 0.01,
        ("get", "bandwidth"): 1840.75 * MIB,
        ("get", "rate"): 18.41,
        ("get", "bandwidth_interval_max"): 1.9 * GIB,
        ("get", "rate_interval_max"): 19.40,
        ("get", "bandwidth_interval_p50"): 1841.1 * MIB,
        ("get", "rate_interval_p50"): 18.41,
        ("get", "bandwidth_interval_min"): 1402.6 * MIB,
        ("get", "rate_interval_min"): 14.03,
    }


def test_details_have_latencies_and_settings_and_hosts_are_not_the_whole():
    reading = read_text(DETAILS)
    run, values = reading.runs[0], get_values(reading)
    assert len(reading.runs) == 1
    assert run.factors == {"concurrency": 60, "nodes": 6, "object_size": 4000}
    assert run.facts["data_file"] == "warp-get-2026-11-20[100000]-aB3c.csv.zst"
    assert values["put", "bandwidth"] == 2.5 * MIB
    assert values["put", "latency_p90"] == 1.127
    assert values["put", "latency_max"] == 5.11
    assert values["get", "latency_mean"] == 0.003
    assert values["get", "latency_max"] == 0.422
    assert values["get", "first_byte_latency_min"] == 0.001
    assert values["get", "first_byte_latency_max"] == 0.421
    assert values["get", "bandwidth"] == 80 * MIB
    assert sum(row.metric == "bandwidth" for row in run.rows) == 2


def test_the_report_of_version_1_has_a_total_and_means_of_percentiles():
    reading = read_text(NEW)
    run, values = reading.runs[0], get_values(reading)
    assert run.factors == {"benchmark": "mixed", "concurrency": 64, "object_size": 2**20}
    assert "geheim" not in run.facts["command"] and "abc" not in run.facts["command"]
    assert values["delete", "rate"] == 17.6 and ("delete", "bandwidth") not in values
    assert values["delete", "rate_interval_min"] == 0
    assert values["delete", "latency_max"] == pytest.approx(2.7361)
    assert values["get", "first_byte_latency_max"] == 1.575
    assert values["get", "first_byte_latency_sd"] == 0.148
    assert (values["all", "bandwidth"], values["all", "rate"]) == (105.5 * MIB, 176.52)
    windows = {name: value for name, value in run.facts.items() if name.startswith("window")}
    assert sorted(windows.values()) == [297000, 298000, 298000]
    assert warns(reading, "averaged-percentiles") and not run.missing


@pytest.mark.parametrize("text", [MIXED, OLDEST])
def test_mixed_operations_have_a_rate_each_and_a_total(text):
    reading = read_text(text)
    values = get_values(reading)
    assert len(reading.runs) == 1 and not reading.runs[0].missing
    assert values["get", "bandwidth"] == 632.25 * MIB and values["get", "rate"] == 354.78
    assert ("all", "bandwidth") in values and len(values) == 5


def test_a_second_benchmark_of_the_log_is_a_second_run():
    reading = read_text(OLD + OLD.replace("1840.75", "1900.25"))
    assert [get_values(reading, run)["get", "bandwidth"] / MIB for run in range(2)] == [1840.75, 1900.25]


def test_what_failed_was_skipped_or_is_cut_is_incomplete():
    failed = read_text(NEW.replace(" * Average: 79.50", " * Errors: 12\n * Average: 79.50"))
    assert lacks(failed, "operations-failed", operation="get")
    inside = read_text(MIXED.replace("354.78 obj/s", "354.78 obj/s, 3 errors"))
    assert lacks(inside, "operations-failed", operation="get")
    cut = read_text(OLD[: OLD.index("* Average: 1840")])
    assert lacks(cut, "ended-early", operation="get")
    assert get_values(cut)["put", "bandwidth"] == 612.25 * MIB
    words = "too few samples. Longer benchmark run required for reliable results."
    assert lacks(read_text(f"\n-----\nSkipping GET {words}\n"), "ended-early", name="GET")
    error = read_text(f"{OLD}warp: <ERROR> Error preparing server: connection refused.\n")
    assert lacks(error, "tool-failed")
    whole = OLD.index("----\nOperation: GET")
    prepared = read_text(f"----\nSkipping PUT {words}\n{OLD[whole:]}")
    assert not prepared.runs[0].missing and warns(prepared, "ended-early", name="PUT")


@pytest.mark.parametrize(
    "text",
    [
        "Operation: PUT\nnothing of it\n",
        "Report: quarterly. Concurrency: low\n * Average: 3 cups\n",
        "* Average: 20.0 MiB/s, 2.0 obj/s\n",
        "Operation: adding objects. 20 obj/s\n",
    ],
)
def test_other_texts_are_not_claimed(text):
    with pytest.raises(UnknownFormatError):
        read_text(text)


@given(
    st.lists(st.sampled_from(["GET", "PUT", "DELETE", "STAT", "LIST"]), min_size=1, max_size=5, unique=True),
    st.integers(1, 10**7),
    st.integers(1, 10**7),
    st.sampled_from(["Operation: {name}. Concurrency: 8", "Report: {name}. Concurrency: 8. Ran: 57s"]),
)
@settings(max_examples=60, deadline=None)
def test_every_operation_keeps_its_printed_rate(names, bandwidth, rate, head):
    blocks = [
        f"{head.format(name=name)}\n * Average: {bandwidth / 100 + place:.2f} MiB/s, {rate / 100:.2f} obj/s\n"
        for place, name in enumerate(names)
    ]
    reading = read_text("\n".join(blocks))
    assert len(reading.runs) == 1
    values = get_values(reading)
    for place, name in enumerate(names):
        assert values[name.lower(), "bandwidth"] == float(f"{bandwidth / 100 + place:.2f}") * MIB
        assert values[name.lower(), "rate"] == float(f"{rate / 100:.2f}")


def test_durations_are_those_of_go():
    words = {"59.0ms": 0.059, "1.575s": 1.575, "4m57s": 297.0, "1h0m0s": 3600.0, "12µs": 12e-6, "0s": 0.0}
    assert {word: parse_duration(word) for word in words} == pytest.approx(words)
    assert parse_duration("ms") is None and parse_duration("") is None and parse_duration("5x") is None
