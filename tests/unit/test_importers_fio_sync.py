"""fio's fsyncs are an operation of their own, in its JSON and in its text; never the percentiles of the writes."""

import json

import pytest

from iosonde.importers.registry import understand
from iosonde.importers.text import Text

TEXT = """w: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
fio-3.33
Starting 1 process

w: (groupid=0, jobs=1): err= 0: pid=21534: Mon Nov 30 09:14:17 2026
  write: IOPS=3459, BW=13.5MiB/s (14.2MB/s)(2048KiB/148msec); 0 zone resets
    clat (nsec): min=2513, max=71295, avg=4795.15, stdev=5870.47
     lat (nsec): min=2543, max=71365, avg=4872.31, stdev=5983.84
    clat percentiles (nsec):
     | 50.00th=[ 3440], 99.00th=[31616], 99.99th=[71168]
  lat (usec)   : 4=71.68%, 10=22.46%, 20=2.34%, 50=3.32%, 100=0.20%
  fsync/fdatasync/sync_file_range:
    sync (usec): min=628, max=11875, avg=4668.94, stdev=2797.22
    sync percentiles (usec):
     | 50.00th=[ 3916], 99.00th=[11863], 99.99th=[11863]
  cpu          : usr=6.80%, sys=0.00%, ctx=161, majf=0, minf=12
     issued rwts: total=0,512,0,31 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
  WRITE: bw=13.5MiB/s (14.2MB/s), 13.5MiB/s-13.5MiB/s (14.2MB/s-14.2MB/s), io=2048KiB (2097kB), run=148-148msec
"""


def build_entry(p99_ns: int, total: int, counted: int) -> dict:
    write = {"io_bytes": 2**20, "bw_bytes": 2**20, "iops": 256.0, "runtime": 1000, "total_ios": 256}
    write["clat_ns"] = {"mean": 5000.0, "N": 256, "percentile": {"99.000000": p99_ns // 100}}
    sync = {"mean": 4e6, "min": 1e6, "max": 9e6, "N": counted, "percentile": {"99.000000": p99_ns}}
    options = {"rw": "randwrite", "bs": "4k", "fsync": "16"}
    return {
        "jobname": "w",
        "groupid": 0,
        "error": 0,
        "job options": options,
        "write": write,
        "sync": {"total_ios": total, "lat_ns": sync},
    }


def build_json(*entries: dict) -> str:
    return json.dumps({"fio version": "fio-3.33", "jobs": list(entries)}, indent=1)


def read_rows(text: str) -> dict[tuple[str, str, int | None], tuple[float, int | None]]:
    (parsed,) = understand(Text(text.encode(), "fio")).runs
    keys = [(row.operation, row.metric, row.rank) for row in parsed.rows]
    assert len(keys) == len(set(keys))
    return {key: (row.value, row.count) for key, row in zip(keys, parsed.rows, strict=True)}


@pytest.mark.parametrize("total", [31, 0])  # with group_reporting fio prints 0
def test_json_has_the_time_and_the_number_of_fsyncs(total):
    rows = read_rows(build_json(build_entry(8_000_000, total, 31)))
    assert rows["fsync", "latency_mean", None] == (pytest.approx(0.004), 31)
    assert rows["fsync", "latency_p99", None] == (pytest.approx(0.008), 31)
    assert rows["write", "completion_latency_p99", None][0] == pytest.approx(8e-5)


def test_text_has_them_apart_from_the_writes():
    rows = read_rows(TEXT)
    assert rows["fsync", "latency_mean", None] == (pytest.approx(4.66894e-3), 31)
    assert rows["fsync", "latency_p99", None] == (pytest.approx(11.863e-3), 31)
    assert rows["write", "completion_latency_p99", None][0] == pytest.approx(31.616e-6)
