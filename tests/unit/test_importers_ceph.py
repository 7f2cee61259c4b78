"""rados bench, rbd bench and the bench of Ceph's daemons: written after Ceph's sources; figures of our own."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import UnknownFormatError
from iosonde.importers import Text, Understood, understand
from messages import has_message

KIB, MIB = 2.0**10, 2.0**20

WRITE = """hints = 1
Maintaining 16 concurrent writes of 65536 bytes to objects of size 131072 for up to 10 seconds or 0 objects
Object prefix: benchmark_data_h_1
  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
    0       0         0         0         0         0           -           0
    1      16      1197      1181   73.8125   73.8125 0.000686436  0.01324382
2026-11-20T17:26:04.352451+0100 min lat: 0.00046 max lat: 0.161 avg lat: 0.0134
  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
   20      16      2368      2352      73.5   73.1875 0.000885594   0.0134044
Total time run:         20.0625
Total writes made:      2368
Write size:             65536
Object size:            131072
Bandwidth (MB/sec):     73.625
Stddev Bandwidth:       0.5
Max bandwidth (MB/sec): 73.75
Min bandwidth (MB/sec): 73.25
Average IOPS:           1178
Stddev IOPS:            7
Max IOPS:               1181
Min IOPS:               1171
Average Latency(s):     0.0135
Stddev Latency(s):      0.0085
Max latency(s):         0.161
Min latency(s):         0.00046
Cleaning up (deleting benchmark objects)
Removed 2368 objects
"""

READ = """hints = 1
  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
    0      16        16         0         0         0           -           0
Total time run:       10.0625
Total reads made:     275
Read size:            4194304
Object size:          4194304
Bandwidth (MB/sec):   106.5
Average IOPS:         26
Stddev IOPS:          1.68655
Max IOPS:             29
Min IOPS:             24
Average Latency(s):   0.581478
Max latency(s):       1.56143
Min latency(s):       0.0813735
"""

OLD_READ = """ Total time run:        20.5
Total reads made:     7430
Read size:            4194304
Bandwidth (MB/sec):    1441.25 

Average IOPS          360
Average Latency:       0.0443867
Max latency:           0.612827
Min latency:           0.003959
"""


def read_text(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(reading: Understood, run: int = 0) -> dict[tuple[str, str], float]:
    return {(row.operation, row.metric): row.value for row in reading.runs[run].rows}


def lacks(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for run in reading.runs for note in run.missing), code, **values)


def warns(reading: Understood, code: str, **values: object) -> bool:
    return has_message((note.sentence for note in reading.warnings), code, **values)


# rados bench


def test_a_write_of_rados_has_the_totals_and_no_samples():
    reading = read_text(WRITE)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), reading.others, run.missing) == ("rados-bench", 1, {}, [])
    assert run.factors == {"block_size": 65536, "io_depth": 16, "object_size": 131072}
    assert get_values(reading) == {
        ("write", "time"): 20.0625,
        ("write", "operations"): 2368,
        ("write", "bandwidth_last_done"): 73.625 * MIB,
        ("write", "bandwidth_interval_sd"): 0.5 * MIB,
        ("write", "bandwidth_interval_max"): 73.75 * MIB,
        ("write", "bandwidth_interval_min"): 73.25 * MIB,
        ("write", "rate_last_done"): 1178,
        ("write", "rate_interval_sd"): 7,
        ("write", "rate_interval_max"): 1181,
        ("write", "rate_interval_min"): 1171,
        ("write", "latency_mean"): 0.0135,
        ("write", "latency_sd"): 0.0085,
        ("write", "latency_max"): 0.161,
        ("write", "latency_min"): 0.00046,
    }
    assert warns(reading, "assumed-unit") and not warns(reading, "low-resolution")


def test_the_command_says_whether_a_read_is_random():
    log = (
        f"# rados bench -p pool1 10 write -b 64K -t 16 --no-cleanup\n{WRITE}"
        f"[ceph: root@n1 /]# rados bench -p pool1 10 seq\n{READ}"
        f"[ceph: root@n1 /]# rados -p pool1 bench 10 rand -t 8\n{READ.replace('106.5', '112.5')}"
    )
    reading = read_text(log)
    assert [run.factors.get("random") for run in reading.runs] == [None, 0, 1]
    assert [run.factors.get("io_depth") for run in reading.runs] == [16, None, 8]
    assert [run.factors["pool"] for run in reading.runs] == ["pool1"] * 3
    assert get_values(reading, 1)["read", "bandwidth_last_done"] == 106.5 * MIB
    assert get_values(reading, 2)["read", "bandwidth_last_done"] == 112.5 * MIB
    assert not any("part" in run.factors or run.missing for run in reading.runs)


def test_reads_without_their_command_are_no_repetitions():
    reading = read_text(WRITE + READ + READ)
    parts = [None, "read 1 of the file", "read 2 of the file"]
    assert [run.factors.get("part") for run in reading.runs] == parts
    assert warns(reading, "unknown-order") and warns(reading, "low-resolution")


def test_older_totals_and_the_time_before_each_line():
    reading = read_text(OLD_READ)
    values = get_values(reading)
    assert values["read", "bandwidth_last_done"] == 1441.25 * MIB
    assert values["read", "rate_last_done"] == 360
    assert values["read", "latency_min"] == 0.003959
    assert not reading.runs[0].missing
    stamped = "".join(f"2026-11-20 17:26:04.352451 {line}\n" for line in WRITE.splitlines())
    assert get_values(read_text(stamped)) == get_values(read_text(WRITE))


def test_a_rados_bench_that_failed_or_is_cut_is_incomplete():
    samples, error = WRITE[: WRITE.index("Total time")], "error during benchmark: (108) Cannot send"
    assert lacks(read_text(samples), "ended-early", operation="write")
    assert lacks(read_text(WRITE[: WRITE.index("Average Latency")]), "ended-early")
    assert lacks(read_text(f"{WRITE[:300]}\n{error}\n"), "tool-failed")
    assert lacks(read_text(WRITE.replace("73.625", "-nan")), "invalid-number")
    nothing = read_text(READ.replace("275", "0").replace("106.5", "0"))
    assert lacks(nothing, "no-results") and len(nothing.runs[0].rows) == 2
    wrong = READ.replace("Total time", "benchmark_data_h_1_object5 is not correct!\nTotal time")
    assert lacks(read_text(wrong), "verification-failed")


def test_the_json_of_rados_has_the_same_numbers():
    document = {
        "concurrent_ios": "16",
        "object_size": "65536",
        "datas": [{"sec": "1", "avg_bw": "70.0"}],
        "total_time_run": "20.062500",
        "total_writes_made": "2368",
        "write_size": "65536",
        "bandwidth": "73.625000",
        "average_iops": "1178",
        "average_latency": "0.013500",
        "max_latency:": "0.161000",
    }
    reading = read_text(json.dumps(document, indent=4))
    values = get_values(reading)
    assert reading.runs[0].factors == {"io_depth": 16, "object_size": 65536, "block_size": 65536}
    assert values["write", "bandwidth_last_done"] == 73.625 * MIB
    assert (values["write", "latency_max"], values["write", "rate_last_done"]) == (0.161, 1178)
    assert lacks(read_text(json.dumps({**document, "bandwidth": "x"}, indent=4)), "invalid-number")
    assert lacks(read_text(json.dumps(document, indent=4)[:-40].replace("\n}", "")), "damaged-lines")


@given(
    st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from(["write", "read"]), st.booleans(), st.integers(1, 4)
)
@settings(max_examples=60, deadline=None)
def test_every_benchmark_of_a_log_keeps_its_numbers(bandwidth, latency, kind, with_unit, n_runs):
    block = WRITE if kind == "write" else READ
    number = 73.625 if kind == "write" else 106.5
    mean = "0.0135" if kind == "write" else "0.581478"
    if not with_unit:
        block = block.replace("atency(s):", "atency:   ")
    log = "".join(
        block.replace(str(number), f"{bandwidth / 1000 + place:.6g}").replace(mean, f"{latency / 1e6:.6f}")
        for place in range(n_runs)
    )
    reading = read_text(log)
    assert len(reading.runs) == n_runs and not any(run.missing for run in reading.runs)
    for place in range(n_runs):
        values = get_values(reading, place)
        assert values[kind, "bandwidth_last_done"] == float(f"{bandwidth / 1000 + place:.6g}") * MIB
        assert values[kind, "latency_mean"] == float(f"{latency / 1e6:.6f}")


# rbd bench

RBD = """bench  type write io_size 4096 io_threads 16 bytes 1073741824 pattern random
  SEC       OPS   OPS/SEC   BYTES/SEC
    1      7952   7963.12    31 MiB/s
    2     15870   7932.40    31 MiB/s
elapsed: 33   ops: 262144   ops/sec: 7911.84   bytes/sec: 31 MiB/s
"""
OLD_RBD = """bench-write  io_size 8388608 io_threads 5 bytes 5368709120 pattern sequential
  SEC       OPS   OPS/SEC   BYTES/SEC
    1        45     44.46  372959697.41
elapsed:    19  ops:      640  ops/sec:    33.06  bytes/sec: 277317603.36
"""
MIX = """bench  type readwrite read:write=70:30 io_size 4096 io_threads 8 bytes 8388608 pattern full sequential
  SEC       OPS   OPS/SEC   BYTES/SEC
elapsed: 2   ops: 2048   ops/sec: 1024.5   bytes/sec: 4.0 MiB/s
read_ops: 1434   read_ops/sec: 717.25   read_bytes/sec: 2.8 MiB/s
write_ops: 614   write_ops/sec: 307.25   write_bytes/sec: 1.2 MiB/s
"""


def test_rbd_bench_has_the_last_line_and_its_settings():
    reading = read_text(RBD)
    assert (reading.format, reading.others) == ("rbd-bench", {})
    assert reading.runs[0].factors == {
        "rw": "write",
        "block_size": 4096,
        "io_depth": 16,
        "bytes": 2**30,
        "random": 1,
    }
    assert get_values(reading) == {
        ("write", "bandwidth_last_done"): 31 * MIB,
        ("write", "rate_last_done"): 7911.84,
        ("write", "operations"): 262144,
        ("write", "time"): 33,
    }
    assert warns(reading, "low-resolution") and not reading.runs[0].missing


def test_older_and_mixed_rbd_benches():
    old = read_text(OLD_RBD)
    assert get_values(old)["write", "bandwidth_last_done"] == 277317603.36
    assert old.runs[0].factors["random"] == 0
    mix = read_text(MIX)
    values = get_values(mix)
    assert values["readwrite", "rate_last_done"] == 1024.5
    assert values["read", "bandwidth_last_done"] == 2.8 * MIB
    assert values["write", "rate_last_done"] == 307.25
    assert mix.runs[0].factors["read_share"] == 70 and mix.runs[0].factors["pattern"] == "full_sequential"
    assert len(read_text(RBD + OLD_RBD + RBD).runs) == 3


def test_an_rbd_bench_that_failed_or_is_cut_is_incomplete():
    samples, error = RBD[: RBD.index("elapsed")], "write error: (28) No space left on device"
    assert lacks(read_text(samples), "ended-early")
    assert lacks(read_text(f"{samples}{error}\n"), "tool-failed")


# The bench of a daemon

OSD = {"bytes_written": 2**30, "blocksize": 4 * 2**20, "elapsed_sec": 5.5, "bytes_per_sec": 195225786.5, "iops": 46.5}


def test_a_pass_over_all_daemons_is_one_run():
    log = "".join(f"osd.{place}: {json.dumps({**OSD, 'iops': 40 + place}, indent=4)}\n" for place in range(3))
    reading = read_text(log)
    run = reading.runs[0]
    assert (reading.format, len(reading.runs), run.missing) == ("ceph-osd-bench", 1, [])
    assert run.factors == {"block_size": 4 * 2**20}
    rates = {row.factors["osd"]: row.value for row in run.rows if row.metric == "rate_last_done" and row.factors}
    assert rates == {"osd.0": 40, "osd.1": 41, "osd.2": 42}
    twice = read_text(log + log)
    assert len(twice.runs) == 2
    assert max(row.line for row in twice.runs[1].rows) == 2 * 3 * 7 - 1


def test_the_command_before_names_the_daemon():
    reading = read_text(f"$ ceph tell osd.5 bench 12288000 4096\n{json.dumps(OSD, indent=4)}\n")
    assert reading.runs[0].factors == {"block_size": 4 * 2**20, "osd": "osd.5"}
    assert get_values(reading)["write", "bandwidth_last_done"] == 195225786.5
    unnamed = read_text(json.dumps({**OSD, "bytes_per_sec": "42741605.000000"}))
    assert warns(unnamed, "unknown-osd")
    assert get_values(unnamed)["write", "bandwidth_last_done"] == 42741605


def test_the_sentence_of_a_daemon_has_units_of_1024():
    reading = read_text(
        "osd.0 [INF] bench: wrote 1024 MB in blocks of 4096 KB in 19.125 sec at 54870 KB/sec\n"
        "osd.1: bench: wrote 1 GiB in blocks of 4 MiB in 2.5 sec at 409 MiB/sec 102 IOPS\n"
    )
    run = reading.runs[0]
    values = {(row.factors or {}).get("osd"): row.value for row in run.rows if row.metric == "bandwidth_last_done"}
    assert values == {"osd.0": 54870 * KIB, "osd.1": 409 * MIB}
    assert run.factors == {"block_size": 4 * 2**20}


def test_a_daemon_that_failed_or_a_cut_answer_is_incomplete():
    log = f"osd.0: {json.dumps(OSD, indent=4)}\nosd.1: {json.dumps(OSD, indent=4)}\n"
    cut = read_text(log[: log.rindex('"bytes_per_sec"')])
    assert lacks(cut, "damaged-lines") and len(cut.runs[0].rows) == 4
    error = "osd.2: Error ENXIO: problem getting command descriptions"
    assert lacks(read_text(f"{log}{error}\n"), "tool-failed")
    assert lacks(read_text(json.dumps({**OSD, "bytes_per_sec": "fast"})), "invalid-number")


@pytest.mark.parametrize(
    "text",
    [
        "bench of wood\n",
        '{"bytes_written": 5, "bytes_per_sec": 7}\n',
        "Maintaining 16 concurrent marriages\n",
        "Total writes made: 5\n",
    ],
)
def test_other_texts_are_not_claimed(text):
    with pytest.raises(UnknownFormatError):
        read_text(text)
