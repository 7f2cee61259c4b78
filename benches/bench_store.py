"""What recording costs on disk: bytes stored per operation, time and memory to write and to read them.

    python benches/bench_store.py [OPERATIONS]

Random 4 KiB reads of a 16 GiB file by two ranks: a third served by a cache (about 2 µs), the rest by a device
(about 90 µs, with a tail of some ms); closed loop, so start times follow from the durations.
The last table gives each column under each encoding: the ground for the choice in iosonde/store/tables.py.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from iosonde.core.schema import OPERATION
from iosonde.store import tables

ENCODINGS = ("PLAIN", "DICTIONARY", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT")


def random_reads(count: int, ranks: int = 2, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = np.zeros(count, OPERATION)
    for rank, part in enumerate(np.array_split(np.arange(count), ranks)):
        here, n = slice(part[0], part[-1] + 1), len(part)
        durations = rng.lognormal(np.log(90_000), 0.35, n)
        slow = rng.random(n) < 0.01
        durations[slow] = rng.lognormal(np.log(3e6), 0.8, slow.sum())
        cached = rng.random(n) < 1 / 3
        durations[cached] = rng.lognormal(np.log(2_000), 0.2, cached.sum())
        durations = durations.astype(np.int64)
        rows["duration_ns"][here] = durations
        rows["start_ns"][here] = 10**15 + np.cumsum(durations + rng.integers(60, 140, n)) - durations
        rows["rank"][here] = rank
    rows["kind"] = 4
    rows["size"] = 4096
    rows["offset"] = rng.integers(0, 2**22, count) * 4096
    return rows


def peak_bytes(reset: bool = False) -> int:
    """Largest resident memory since the last reset (proc(5), clear_refs)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def write(rows: np.ndarray, path: Path) -> str:
    before, started = peak_bytes(reset=True), time.perf_counter()
    with path.open("wb") as file:
        tables.write_operations(rows, file)
    seconds = time.perf_counter() - started
    extra = (peak_bytes() - before) / rows.nbytes
    return f"{seconds:.2f} s, peak memory {1 + extra:.2f} x the array (target <= 2)"


def column_sizes(rows: np.ndarray) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    print(f"\n{'bytes/operation':16}" + "".join(f"{name:>21}" for name in ENCODINGS))
    for name in OPERATION.names or ():
        cells = []
        for encoding in ENCODINGS:
            sink = io.BytesIO()
            dictionary = encoding == "DICTIONARY"
            pq.write_table(
                pa.table({name: np.ascontiguousarray(rows[name])}),
                sink,
                compression="zstd",
                compression_level=1,
                use_dictionary=dictionary,
                column_encoding=None if dictionary else {name: encoding},
            )
            cells.append(f"{sink.tell() / len(rows):21.3f}")
        print(f"{name:16}" + "".join(cells))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    import pyarrow.parquet  # noqa: F401 - its memory is not that of writing

    rows = random_reads(count)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "operations.parquet"
        in_order = write(rows, path)
        started = time.perf_counter()
        again = tables.read_operations(path)
        read = time.perf_counter() - started
        assert np.array_equal(rows, again)
        stored = path.stat().st_size / count
        del again
        np.random.default_rng(2).shuffle(rows)
        shuffled = write(rows, path)
        print(f"operations            {count}")
        print(f"stored                {stored:.2f} bytes/operation (target <= 12)")
        print(f"write, in order       {in_order}")
        print(f"write, any order      {shuffled}")
        print(f"read                  {read:.2f} s")
    column_sizes(random_reads(min(count, 1_000_000)))


if __name__ == "__main__":
    main()
