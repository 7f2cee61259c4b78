"""What reading other tools' outputs costs: CPU of an importer ÷ that of a plain pass that splits lines into words.

    python benches/bench_import.py [--quick]

Captures of the tests are repeated to 16 MB. Both passes are in this process, in alternation; the median of
the ratios is held against its limit, which is half above what was measured on two shared cores. A log is one run; in
captures nearly every line holds results: 100 MB of them are 350,000 (fio's JSON) to 3,700,000 rows (IOzone's table).
"""

from __future__ import annotations

import argparse
import io
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from iosonde.importers import read, understand
from limits import report

_BYTES = 16_000_000
CAPTURES = Path(__file__).resolve().parent.parent / "tests/golden/fixtures"


def repeat_capture(name: str, n_bytes: int) -> bytes:
    """The capture again and again."""
    content = (CAPTURES / name).read_bytes().rstrip(b"\n") + b"\n"
    return content * (n_bytes // len(content) + 1)


def build_darshan_log(n_bytes: int) -> bytes:
    """One log of many files."""
    lines = (CAPTURES / "darshan/sample-files.txt").read_text().splitlines(keepends=True)
    is_record = [line.startswith("POSIX\t-1\t") for line in lines]
    first, end = is_record.index(True), is_record.index(False, is_record.index(True))
    record, record_id = "".join(lines[first:end]), lines[first].split("\t")[2]
    records = (record.replace(record_id, str(number)) for number in range(n_bytes // len(record)))
    return "".join([*lines[:first], *records, *lines[end:]]).encode()


def build_iostat_log(n_bytes: int) -> bytes:
    """One log of a report each second."""
    head, report_lines = (CAPTURES / "iostat/sample-x-t-5.txt").read_text().split("\n\n", 1)
    stamp = report_lines.split("\n", 1)[0]
    # The reports end before the next stamp.
    text = report_lines[: report_lines.index("05/03/23", len(stamp))]
    begin = datetime(2023, 5, 3)
    stamps = (f"{begin + timedelta(seconds=second):%m/%d/%y %H:%M:%S}" for second in range(n_bytes // len(text)))
    return (head + "\n\n" + "".join(text.replace(stamp, moment) for moment in stamps)).encode()


def build_sar_log(n_bytes: int) -> bytes:
    """One log of four disks each second."""
    *head, row = (CAPTURES / "sar/sample-d.txt").read_text().split("\n")[:4]
    cells = row.split(None, 2)[2]
    begin = datetime(2023, 5, 3)

    def build_rows() -> Iterator[str]:
        for second in range(n_bytes // (4 * len(row))):
            moment = f"{begin + timedelta(seconds=second):%H:%M:%S}"
            yield from (f"{moment}          {disk} {cells}\n" for disk in ("sda", "sdb", "sdc", "sdd"))

    return ("\n".join(head) + "\n" + "".join(build_rows())).encode()


def build_fio_log(n_bytes: int) -> bytes:
    """One log of latencies of single operations."""
    lines = (f"{number // 20}, {7919 * number % 9_000_000}, {number % 2}, 4096, 0\n" for number in range(n_bytes // 26))
    return "".join(lines).encode()


# Name → the text of so many bytes, and the limit of its ratio.
CASES: dict[str, tuple[Callable[[int], bytes], float]] = {
    "fio, log of latencies": (build_fio_log, 17.0),
    "Darshan, one log": (build_darshan_log, 16.0),
    "iostat, one log": (build_iostat_log, 30.0),
    "sar, one log": (build_sar_log, 55.0),
    "fio, JSON": (lambda n: repeat_capture("fio/gen-fio333-json-randrw-group-lat.json", n), 22.0),
    "fio, text": (lambda n: repeat_capture("fio/gen-fio333-normal-text.txt", n), 90.0),
    "IOR, text": (lambda n: repeat_capture("ior/gen-ior400-fpp-3reps.txt", n), 85.0),
    "mdtest, text": (lambda n: repeat_capture("mdtest/gen-mdtest400-3iter.txt", n), 72.0),
    "IOzone, text": (lambda n: repeat_capture("iozone/gen-v489-t2-all.txt", n), 57.0),
    "IOzone, table": (lambda n: repeat_capture("iozone/gen-v489-auto-Ra-excel.txt", n), 130.0),
}


def measure_import(raw: bytes) -> float:
    """Seconds of CPU of an importer, without those of the files that it loads once."""
    before = time.process_time()
    understand(read(io.BytesIO(raw), "bench"))
    return time.process_time() - before


def measure_plain_pass(raw: bytes) -> float:
    """Seconds of CPU of a loop over the words of each line."""
    before = time.process_time()
    for line in raw.decode().split("\n"):
        line.split()
    return time.process_time() - before


def main() -> int:
    """Print the table; 1 if a ratio is beyond its limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 9")
    options = parser.parse_args()
    n_rounds = 3 if options.quick else 9
    beyond = []
    print(f"{'output':24}{'s per 100 MB':>14}{'ratio':>8}{'limit':>8}")
    for name, (build, limit) in CASES.items():
        raw = build(_BYTES)
        measure_import(build(100_000))
        pairs = [(measure_import(raw), measure_plain_pass(raw)) for _ in range(n_rounds)]
        ratio = statistics.median(ours / plain for ours, plain in pairs)
        seconds = min(ours for ours, _ in pairs) * 1e8 / len(raw)
        print(f"{name:24}{seconds:14.1f}{ratio:8.1f}{limit:8.1f}", flush=True)
        if ratio > limit:
            beyond.append(f"{name}: {ratio:.1f} times a plain pass, the limit is {limit:g}")
    return report(beyond)


if __name__ == "__main__":
    sys.exit(main())
