"""Traces of system calls, devices and libraries: lines after the tools' sources, and what each means."""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

pytest.importorskip("iosonde.engine._native")
from iosonde.core.io_counters import IoCounters
from iosonde.core.schema import STATUS_SHORT
from iosonde.importers import Text, darshan_child, understand
from iosonde.importers import darshan_log as darshan_log_module
from iosonde.importers.darshan_log import count_unmapped_bytes
from messages import codes, has_message

S = 10**9


def of(*lines: str, name: str = "t.txt", end: str = "\n"):
    found = understand(Text(("\n".join(lines) + end).encode(), name))
    assert len(found.runs) == 1
    return found.runs[0]


def said(run, kind: str = "warnings") -> str:
    return " ".join(note.sentence for note in getattr(run, kind))


def lacks(run, code: str, **values: object) -> bool:
    return has_message((note.sentence for note in run.missing), code, **values)


def warns(run, code: str, **values: object) -> bool:
    return has_message((note.sentence for note in run.warnings), code, **values)


def operations(run) -> list[tuple]:
    """(operation, rank, file, offset, size, status), in the order of the store: by rank and time."""
    names, files = run.operation_names, run.facts["files"]
    return [
        (
            names[one["phase"]],
            int(one["rank"]),
            files[str(one["file"])],
            int(one["offset"]),
            int(one["size"]),
            int(one["status"]),
        )
        for one in run.operations
    ]


def strace(*calls: str, pid: int = 7) -> list[str]:
    return [f"{pid} 17000000{at:02d}.000100 {call} <0.000010>" for at, call in enumerate(calls)]


def test_strace_follows_the_place_in_a_file():
    run = of(
        *strace(
            'openat(AT_FDCWD, "/f", O_RDWR) = 3',
            r'read(3, "\0\1\"x\", 5) = 5 <0.000001>"..., 100) = 100',
            'read(3, "a", 100) = 40',
            "lseek(3, 4096, SEEK_SET) = 4096",
            'write(3, "b"..., 10) = 10',
            'pread64(3, "c", 8, 1000) = 8',
            "dup(3) = 4",
            'write(4, "d", 1) = 1',
            'pwritev(3, [{iov_base="a", iov_len=3}, {iov_base="b", iov_len=4}], 2, 70) = 7',
            'read(3, "", 9) = 0',
            "close(3) = 0",
        )
    )
    assert operations(run) == [
        ("open", 0, "/f", 0, 0, 0),
        ("read", 0, "/f", 0, 100, 0),
        ("read", 0, "/f", 100, 100, 0),
        ("write", 0, "/f", 4096, 10, 0),
        ("read", 0, "/f", 1000, 8, 0),
        ("write", 0, "/f", 4106, 1, 0),
        ("write", 0, "/f", 70, 7, 0),
        ("read", 0, "/f", 4107, 9, STATUS_SHORT),
        ("close", 0, "/f", 0, 0, 0),
    ]
    assert set(run.operations["duration_ns"]) == {10_000}
    assert run.operations["start_ns"][:3].tolist() == [0, 1 * S, 2 * S]
    assert not run.missing and run.started_at == "2023-11-14T22:13:20"


def test_strace_with_y_knows_how_long_an_open_took_and_reads_deleted_and_odd_names():
    run = of(
        *strace(
            r'openat(AT_FDCWD</home>, "a <b> = 1", O_RDWR|O_CREAT, 0600) = 3</home/a \74b\76 = 1>',
            r'write(3</home/a \74b\76 = 1>(deleted), "x", 1) = 1',
            "lseek(3</home/a \\74b\\76 = 1>(deleted), 9, SEEK_SET) = 9",
            r'write(3</home/a \74b\76 = 1>(deleted), "x", 1) = 1',
            "close(3</home/a \\74b\\76 = 1>(deleted)) = 0",
            'write(1</dev/pts/0<char 136:0>>, "x", 1) = 1',
            'read(5</proc/meminfo>, "x", 1) = 1',
            'read(0<pipe:[123]>, "x", 1) = 1',
            'write(4<TCP:[127.0.0.1:1->127.0.0.1:2]>, "x", 1) = 1',
            'read(6</dev/zero<char 1:5>>, "x", 1) = 1',
        )
    )
    path = r"/home/a \74b\76 = 1"
    assert operations(run) == [
        ("create", 0, path, 0, 0, 0),
        ("write", 0, path, 0, 1, 0),
        ("write", 0, path, 9, 1, 0),
        ("close", 0, path, 0, 0, 0),
    ]
    assert not run.missing
    for what in ("terminals", "/proc and /sys", "pipes", "sockets", "devices without a medium"):
        assert warns(run, "calls-left-out", n_calls=1, calls=what)


def test_strace_does_not_know_where_an_append_or_an_inherited_file_is():
    run = of(
        *strace(
            'openat(AT_FDCWD, "/log", O_WRONLY|O_APPEND|O_CREAT, 0600) = 3',
            'write(3, "a", 5) = 5',
            'write(1, "b", 6) = 6',
            'read(0, "c", 7) = 7',
        )
    )
    assert [one[0] for one in operations(run)] == ["create", "append", "write_unplaced", "read_unplaced"]
    assert set(run.unplaced) == {"append", "write_unplaced", "read_unplaced"}
    assert warns(run, "opened-before-trace", n_calls=2)


def test_strace_counts_what_the_kernel_copies_by_itself():
    run = of(
        *strace(
            'openat(AT_FDCWD, "/a", O_RDONLY) = 3',
            'openat(AT_FDCWD, "/b", O_WRONLY|O_CREAT, 0600) = 4',
            "copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 1000",
            "copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 0",
            "sendfile(4, 3, [0] => [3], 3) = 3",
            'write(4, "x", 1) = 1',
        )
    )
    assert operations(run)[2:] == [
        ("copy", 0, "/b", 0, 1000, 0),
        ("copy", 0, "/b", 0, 0, STATUS_SHORT),
        ("copy", 0, "/b", 0, 3, 0),
        ("write_unplaced", 0, "/b", 0, 1, 0),
    ]
    assert next(row.value for row in run.rows if (row.operation, row.metric) == ("copy", "bytes")) == 1003


def test_strace_joins_calls_that_others_interrupt_and_gives_children_their_parents_files():
    run = of(
        '10 1700000000.000000 openat(AT_FDCWD, "/f", O_RDWR) = 3 <0.000005>',
        "10 1700000001.000000 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD <unfinished ...>",
        "11 1700000001.500000 read(3,  <unfinished ...>",
        "10 1700000002.000000 <... clone resumed>) = 11 <1.000000>",
        '11 1700000003.000000 <... read resumed>"x", 4) = 4 <1.500000>',
        '10 1700000004.000000 read(3, "y", 6) = 6 <0.000005>',
        "10 1700000005.000000 close(-1) = -1 EBADF (Bad file descriptor) <0.000003>",
        "10 1700000006.000000 fsync(3 <unfinished ...>",
    )
    assert operations(run) == [
        ("open", 0, "/f", 0, 0, 0),
        ("read", 0, "/f", 4, 6, 0),
        ("close", 0, "", 0, 0, 9),
        ("read", 1, "/f", 0, 4, 0),
    ]
    child = run.operations[run.operations["rank"] == 1]
    assert (child["start_ns"][0], child["duration_ns"][0]) == (1.5 * S, 1.5 * S)
    assert not run.missing and warns(run, "end-not-traced", n_calls=1)


def test_a_short_read_that_was_interrupted_keeps_what_it_asked_for_and_what_it_got():
    run = of(
        '10 1700000000.000000 openat(AT_FDCWD, "/f", O_RDWR) = 3 <0.000005>',
        "10 1700000001.500000 read(3,  <unfinished ...>",
        '10 1700000003.000000 <... read resumed>"x", 4096) = 1000 <1.500000>',
    )
    assert operations(run)[1:] == [("read", 0, "/f", 0, 4096, 0)]
    assert [row.value for row in run.rows if (row.operation, row.metric) == ("read", "bytes")] == [1000]


@pytest.mark.parametrize(
    "damage",
    [
        '7 1700000001.000000 read(3, "x", 5) = 5 <0.000001>7 1700000002.000000 read(3, "x", 5) = 5 <0.000001>',
        '7 1700000001.000000 futex(0x1 <unfinished ...> 8 1700000002.000000 read(3, "x", 5) = 5 <0.000001>',
        '7 1700000001.000000 +++ exited with 0 +++8 1700000002.000000 read(3, "x", 5) = 5 <0.000001>',
        '7 1700000001.000000 read(3, "x", 5) =',
        '7 1700000001.000000 read(3, "x", 5) = 5',
        "7 1700000001.000000 mprotect(0x7f",
        '7 1700000001.000000 <... read resumed>"x", 5) = 5 <0.000001>',
        "garbage",
    ],
)
def test_a_damaged_line_of_strace_is_left_out_and_marks_the_run(damage):
    good = strace('openat(AT_FDCWD, "/f", O_RDWR) = 3', 'read(3, "a", 4) = 4', 'read(3, "a", 4) = 4')
    run = of(*good, damage, *strace('read(3, "a", 4) = 4'))
    assert [one[0] for one in operations(run)].count("read") == 3
    assert run.missing


def test_strace_without_what_it_needs_says_which_options():
    for head in ("7      0.000100 ", "7 ", ""):
        run = of(
            f'{head}execve("/bin/ls", ["ls"], 0x7ffe /* 1 var */) = 0 <0.000400>',
            f'{head}read(3, "x", 5) = 5 <0.000001>',
        )
        assert run.operations is None or not len(run.operations)
        assert lacks(run, "missing-times")
    run = of('7 1700000001.000000 read(3, "x", 5) = 5', '7 1700000001.000000 read(3, "x", 5) = 5')
    assert lacks(run, "missing-times", n_calls=2)


def test_times_of_the_day_and_seconds_are_never_of_one_trace():
    good = [f'7 10:00:0{at}.000000 read(3, "x", 5) = 5 <0.000001>' for at in range(4)]
    run = of(*good, '7 1700000001.000000 read(3, "x", 5) = 5 <0.000001>')
    assert len(run.operations) == 4 and run.missing and warns(run, "times-of-day")


def test_what_a_program_writes_is_no_decimal_comma():
    found = understand(
        Text(('7 1700000001.000000 write(3, "6,14)\\1 and 0,5 s", 15) = 15 <0.000001>\n' * 2).encode(), "t")
    )
    assert not found.notes


def test_stamps_in_nanoseconds_are_kept_and_whole_microseconds_are_said():
    fine = of(
        '7 1700000001.000000001 read(3, "x", 5) = 5 <0.000001234>',
        '7 1700000001.000005001 read(3, "x", 5) = 5 <0.000001235>',
    )
    assert fine.operations["duration_ns"].tolist() == [1234, 1235] and fine.operations["start_ns"].tolist() == [0, 5000]
    assert "whole µs" not in said(fine)
    assert "whole µs" in said(of(*strace('read(3, "x", 5) = 5')))


def test_times_of_no_clock_do_not_reach_the_store():
    run = of(
        *strace(*['read(3, "x", 5) = 5'] * 5),
        '7 9999999999.000000 read(3, "x", 5) = 5 <0.000001>',
        '7 1700000001.000000 read(3, "x", 99999999999999999999) = 5 <0.000001>',
    )
    assert len(run.operations) == 5 and run.missing


DXT_HEAD = (
    "# darshan log version: 3.41",
    "# nprocs: 2",
    "",
    "# DXT, file_id: 1, file_name: /a",
    "# DXT, rank: 0, hostname: n1",
    "# DXT, write_count: 2, read_count: 0",
)


def dxt(rank: int, segment: int, offset: int, size: int, start: float, end: float, rest: str = "   N/A") -> str:
    return f" X_POSIX{rank:8d}  write{segment:9d}{offset:16d}{size:16d}{start:12.4f}{end:12.4f}{rest}"


def test_dxt_lines_with_and_without_room_between_columns_are_operations():
    run = of(
        *DXT_HEAD,
        dxt(0, 0, 0, 4096, 0.1, 0.2),
        dxt(0, 1, 4096, 5 * 2**30, 0.2, 99999.5),
        "",
        "# DXT, file_id: 2, file_name: /b",
        "# DXT, rank: 1, hostname: n2",
        "# DXT, write_count: 1, read_count: 0",
        " X_POSIX 1 write 0 8192 10 1.0000 1.0001 [3] [5]",
    )
    assert operations(run) == [
        ("write", 0, "/a", 0, 4096, 0),
        ("write", 0, "/a", 4096, 2**32 - 1, 0),
        ("write", 1, "/b", 8192, 10, 0),
    ]
    assert run.operations["duration_ns"].tolist() == [10**8, 999993 * 10**8, 10**5]
    assert next(row.value for row in run.rows if row.metric == "bytes") == 4096 + 5 * 2**30 + 10
    assert run.phase_facts["comparable"] is False  # two hosts, two clocks
    assert run.factors == {"ranks": 2} and not run.missing


def test_dxt_that_lost_a_line_says_so():
    whole = [*DXT_HEAD, dxt(0, 0, 0, 4096, 0.1, 0.2), dxt(0, 1, 4096, 4096, 0.2, 0.3)]
    assert not of(*whole).missing
    assert lacks(of(*whole[:-1]), "missing-rows", n_expected=2, n_present=1)
    assert lacks(of(*whole[:-2], whole[-2] + whole[-1]), "unreadable-lines")
    assert lacks(of(*whole, end=""), "ended-early")
    backwards = of(*whole[:-1], dxt(0, 1, 4096, 4096, 0.3, 0.2))
    assert lacks(backwards, "impossible-times")


def test_counters_of_darshan_that_are_words_or_of_other_modules_are_no_damage():
    def line(module: str, counter: str, value: str) -> str:
        return f"{module}\t0\t42\t{counter}\t{value}\t/f\t/\text4"

    head = ("# darshan log version: 3.41", "# nprocs: 1")
    run = of(
        *head,
        line("POSIX", "POSIX_BYTES_READ", "10"),
        line("DFS", "DFS_POOL_UUID", "a-b-c"),
        line("BG/Q", "BGQ_CSJOBID", "7"),
        line("POSIX", "POSIX_OPENS", "-1"),
    )
    assert [(row.operation, row.metric, row.value) for row in run.rows] == [("posix_read", "bytes", 10)]
    assert not run.missing
    assert of(*head, line("POSIX", "POSIX_BYTES_READ", "1O")).missing
    assert "total" in said(of(*head, "total_POSIX_OPENS: 4total_POSIX_READS: 10"), "missing")


def blkparse(*events: tuple) -> list[str]:
    return [
        f"  8,0    1 {at:8d} {ns // S:5d}.{ns % S:09d} {pid:5d}  {action} {flags:>3} {sector} + {count} [{who}]"
        for at, (ns, pid, action, flags, sector, count, who) in enumerate(events)
    ]


def test_blktrace_is_from_the_driver_or_where_it_has_no_such_event_from_the_queue():
    run = of(
        *blkparse(
            (0, 9, "Q", "R", 8, 8, "dd"),
            (100, 9, "D", "R", 8, 8, "dd"),
            (5000, 0, "C", "R", 8, 8, "0"),
            (6000, 9, "Q", "WS", 80, 16, "dd"),
            (9000, 0, "C", "WS", 80, 16, "0"),
        )
    )
    assert [(name, offset, size) for name, _, _, offset, size, _ in operations(run)] == [
        ("read", 4096, 4096),
        ("write", 40960, 8192),
    ]
    assert run.operations["duration_ns"].tolist() == [4900, 3000]
    assert warns(run, "queue-times", n_queued=1, n_requests=2)


def test_blktrace_that_lost_parts_or_glued_lines_is_marked():
    events = blkparse(
        (100, 9, "D", "R", 8, 8, "dd"),
        (5000, 0, "C", "R", 8, 8, "0"),
        (6000, 9, "D", "R", 8, 8, "dd"),
        (7000, 0, "C", "R", 8, 8, "0"),
    )
    assert not of(*events, "Skips: 0 forward (0 -   0.0%)").missing
    assert lacks(of(*events, "Skips: 3 forward (9 - 0.1%)"), "lost-records", n_lost=3)
    assert of(*events, *events, events[2] + events[3]).missing


def test_biosnoop_begins_are_ends_less_the_latency():
    run = of(
        "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)",
        "1.000000    a b            19     vda     W 8          4096      2.50",
        "1.500000    dd             20     vda     R 16         512     500.00",
    )
    assert run.operations["start_ns"].tolist() == [0, 2_500_000]
    assert run.facts["processes"] == {"0": "19 a b", "1": "20 dd"}
    assert "whole 10 µs" in said(run)


def test_biosnoop_of_bpftrace_is_counted_and_never_diagnosed():
    run = of(
        "TIME(ms)     DISK    COMM             PID    LAT(ms)", "611          nvme0n1 bash             4179         10"
    )
    assert run.operations is None and warns(run, "low-resolution")
    assert next(row.value for row in run.rows if row.metric == "latency_max") == 0.010


def test_recorder_knows_the_rank_by_the_files_name_and_marks_lines_in_one():
    call = "0.01 0.02 pwrite 0 0 ( /tmp/a b 0x1 4096 8192 )"
    run = of(call, call, name="_text/012.txt")
    assert operations(run)[0] == ("write", 12, "/tmp/a b", 8192, 4096, 0)
    assert of(call, call, call + call, name="1.txt").missing
    assert warns(of(call, call, name="x"), "assumed-rank")


def test_a_trace_says_what_it_cannot_tell():
    """Every trace that becomes operations has a sentence for its stamps or its view of the storage."""
    assert warns(of(*strace('read(3, "x", 5) = 5')), "tracing-overhead")
    assert "0.1 ms" in said(of(*DXT_HEAD, dxt(0, 0, 0, 1, 0, 1), dxt(0, 1, 0, 1, 0, 1)))
    requests = of(*blkparse((1, 9, "D", "R", 8, 8, "dd"), (5, 0, "C", "R", 8, 8, "0")))
    assert warns(requests, "device-requests")


def test_operations_of_a_trace_are_those_of_the_store():
    run = of(*strace('openat(AT_FDCWD, "/f", O_RDWR) = 3', 'read(3, "a", 4) = 4'))
    assert np.all(np.diff(run.operations["start_ns"].astype(np.int64)) >= 0)
    assert run.operation_names == ("read", "open")


def csv_of(text: str, name: str):
    found = understand(Text(text.encode(), name))
    return found.format, found.runs[0]


def kinds(run) -> list[str]:
    from iosonde.engine._native import KINDS

    return [KINDS[one] for one in run.operations["kind"]]


PER_OP = "time,runtime,tp\n1.00000000e-06,2.00000000e-05,3.276800e+09\n3.00000000e-05,0.00000000e+00,inf\n"


def test_iors_operations_are_recorded_where_the_files_name_says_what_they_are():
    form, run = csv_of(PER_OP, "out/write-1-00003.csv")
    assert (form, run.operation_names, kinds(run)) == ("ior", ("write",), ["write", "write"])
    assert run.operations[["rank", "size", "start_ns", "duration_ns"]].tolist() == [
        (3, 65536, 0, 20_000),
        (3, 65536, 29_000, 0),
    ]
    assert run.unplaced == ("write",) and not run.missing
    form, run = csv_of(PER_OP, "out/perop-1-00003.csv")
    assert run.operations is None and warns(run, "unknown-operation")
    assert [row.value for row in run.rows if row.metric == "operations"] == [2]


@pytest.mark.parametrize(
    ("what", "operation", "kind"),
    [
        ("File creation", "file_creation", "create"),
        ("File stat", "file_stat", "stat"),
        ("File read", "file_read", "read"),
        ("File removal", "file_removal", "unlink"),
    ],
)
def test_mdtests_operations_are_known_by_the_files_name(what, operation, kind):
    form, run = csv_of("time,runtime,tp\n1.00000000e-06,2.00000000e-05,5.000000e+04\n", f"md-{what}-00002.csv")
    assert (form, run.operation_names, kinds(run)) == ("mdtest", (operation,), [kind])
    # 1 over the duration is what mdtest prints where no bytes are moved.
    assert run.operations[["rank", "size"]].tolist() == [(2, 0)]


@pytest.mark.parametrize(
    ("what", "operation", "kind"),
    [
        ("read", "benchmark_read", "read"),
        ("stat", "benchmark_stat", "stat"),
        ("create", "benchmark_create", "create"),
        ("delete", "benchmark_delete", "unlink"),
        ("precreate", "precreate_create", "create"),
        ("cleanup-all", "cleanup_delete", "unlink"),
    ],
)
def test_md_workbenchs_operations_are_different_ones(what, operation, kind):
    form, run = csv_of("time,runtime\n0.0000250,5.2929e-05\n0.0000870,7.8678e-06\n", f"lat-0.00-2-{what}.csv")
    assert (form, run.operation_names, kinds(run)) == ("md-workbench", (operation,), [kind] * 2)
    assert run.operations["duration_ns"].tolist() == [52929, 7868] and run.factors["part"].startswith("iteration 2")
    assert warns(run, "unknown-ranks") == what.endswith("-all")
    _, nameless = csv_of("time,runtime\n0.0000250,5.2929e-05\n", "x.csv")
    assert nameless.operations is None and warns(nameless, "unknown-operation")


def test_fios_averages_are_no_operations_and_a_log_without_offsets_has_no_places():
    _, run = csv_of("6, 166689, 0, 0, 0\n11, 90000, 0, 0, 0\n", "j_clat.1.log")
    assert run.operations is None and "log_avg_msec" in said(run)
    assert {row.metric for row in run.rows} == {
        "samples",
        "latency_sample_mean",
        "latency_sample_min",
        "latency_sample_max",
    }
    assert next(row.value for row in run.rows if row.metric == "latency_sample_max") == pytest.approx(166689e-9)
    _, run = csv_of("6, 166689, 0, 4096, 0\n11, 90000, 1, 4096, 0\n", "j_clat.1.log")
    assert run.unplaced == ("read", "write") and "log_offset=1" in said(run)
    _, run = csv_of("6, 166689, 0, 4096, 61440, 0\n11, 90000, 1, 4096, 0, 0\n", "j_clat.1.log")
    assert not run.unplaced and run.operations["offset"].tolist() == [61440, 0]


# pydarshan, as far as it is asked: two ranks of a job that wrote 3 times, one operation without a time that can be.
PYDARSHAN = """
class Records(list):
    to_numpy = lambda self: list(self)

class DarshanReport:
    modules = {"POSIX": {"partial_flag": False}, "DXT_POSIX": {"partial_flag": PARTIAL}}
    metadata = {"job": {"nprocs": 2, "jobid": 7, "start_time_sec": 1700000000, "run_time": 2.5, "log_ver": "3.41"},
                "exe": "./app"}
    name_records = {42: "/scratch/out"}
    counters = {"POSIX": {"counters": ["POSIX_WRITES", "POSIX_OPENS", "POSIX_MODE"],
                          "fcounters": ["POSIX_F_WRITE_TIME"]}}

    def __init__(self, path, read_all):
        raw = open(path, "rb").read()
        self.records = {}

    def mod_read_all_records(self, module, dtype):
        one = {"id": 42, "rank": -1, "counters": [3, -1, 436], "fcounters": [0.5]}
        self.records[module] = Records([one])

    def mod_read_all_dxt_records(self, module, dtype):
        def segment(offset, start, end):
            return {"offset": offset, "length": 4096, "start_time": start, "end_time": end}

        self.records[module] = Records([
            {"id": 42, "rank": 0, "hostname": "n1", "write_segments": [segment(0, 0.5, 0.500002)], "read_segments": []},
            {"id": 42, "rank": 1, "hostname": "n2",
             "write_segments": [segment(4096, 0.25, 0.75), segment(8192, 0.8, SECOND)], "read_segments": []},
        ])
"""
LOG = b"3.41\0\0\0\0" + (6567223).to_bytes(8, "little") + bytes(range(256)) * 4


def darshan_log(tmp_path, monkeypatch, module: str, order: bytes = LOG):
    (tmp_path / "darshan.py").write_text(module)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = understand(Text(order, "job.darshan"))
    assert found.format == "darshan" and not found.notes
    return found.runs[0]


def test_a_log_of_darshan_is_read_by_pydarshan_with_all_digits_of_its_times(tmp_path, monkeypatch):
    run = darshan_log(tmp_path, monkeypatch, PYDARSHAN.replace("PARTIAL", "False").replace("SECOND", "0.9"))
    assert operations(run) == [
        ("write", 0, "/scratch/out", 0, 4096, 0),
        ("write", 1, "/scratch/out", 4096, 4096, 0),
        ("write", 1, "/scratch/out", 8192, 4096, 0),
    ]
    assert run.operations["duration_ns"].tolist() == [2000, 500_000_000, 100_000_000]
    assert run.operations["start_ns"].tolist() == [250_000_000, 0, 550_000_000]
    values = {(row.operation, row.metric): row.value for row in run.rows}
    assert (values["posix_write", "operations"], values["posix_write", "time_sum_of_ranks"]) == (3, 0.5)
    assert ("posix_open", "operations") not in values  # -1: Darshan could not see it
    assert (run.factors, run.started_at, run.seconds) == ({"ranks": 2}, "2023-11-14T22:13:20", 2.5)
    assert run.phase_facts["comparable"] is False and not run.missing


def test_a_log_of_darshan_that_lost_something_is_marked(tmp_path, monkeypatch):
    module = PYDARSHAN.replace("PARTIAL", "True").replace("SECOND", "float('nan')")
    run = darshan_log(tmp_path, monkeypatch, module, LOG[:8] + (6567223).to_bytes(8, "big"))
    assert len(run.operations) == 2
    assert lacks(run, "impossible-times", n_operations=1) and lacks(run, "lost-records")


def mapped_log(sizes: dict[int, int], order: str = "little") -> bytes:
    """A log of darshan 3.21: the name table (place 0) and modules, each behind the one before."""
    words, end = [0] * 34, 400
    for place, size in sorted(sizes.items()):
        words[2 * place : 2 * place + 2] = [end, size]
        end += size
    head = b"3.21\0\0\0\0" + (6567223).to_bytes(8, order) + bytes(8)
    return (head + b"".join(word.to_bytes(8, order) for word in words)).ljust(end, b"\1")


@pytest.mark.parametrize("order", ["little", "big"])
def test_a_log_of_darshan_whose_map_lost_a_module_says_so(tmp_path, monkeypatch, order):
    module = PYDARSHAN.replace("PARTIAL", "False").replace("SECOND", "0.9")
    whole = mapped_log({0: 50, 2: 60, 9: 70}, order)
    assert not darshan_log(tmp_path, monkeypatch, module, whole).missing
    for bit in range(8 * 24, 8 * (24 + 16)):
        assert count_unmapped_bytes(_flipped(whole, bit))
    for bit in (place * 128 + at for place in (2, 9) for at in range(8 * 24, 8 * 40)):
        assert count_unmapped_bytes(_flipped(whole, bit))
    run = darshan_log(tmp_path, monkeypatch, module, _flipped(whole, 8 * (24 + 9 * 16)))
    assert lacks(run, "damaged-log") and run.rows


def _flipped(raw: bytes, bit: int) -> bytes:
    return raw[: bit // 8] + bytes([raw[bit // 8] ^ 1 << bit % 8]) + raw[bit // 8 + 1 :]


def test_a_log_of_darshan_whose_names_are_lost_says_so(tmp_path, monkeypatch):
    module = PYDARSHAN.replace("PARTIAL", "False").replace("SECOND", "0.9").replace("{42:", "{43:")
    assert lacks(darshan_log(tmp_path, monkeypatch, module), "damaged-log", n_records=1)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("raise ImportError('none')", "pip install 'iosonde[darshan]'"),
        ("import os; os.abort()", "may be damaged: -6"),
        ("raise RuntimeError('invalid log')", "may be damaged: RuntimeError: invalid log"),
    ],
)
def test_a_log_of_darshan_that_cannot_be_read_ends_nothing(tmp_path, monkeypatch, module, words):
    run = darshan_log(tmp_path, monkeypatch, module)
    # A log without pydarshan is no run: with it the same file is one.
    assert words in said(run, "warnings" if "pip" in words else "missing") and not run.rows


def test_files_of_ranks_jobs_and_iterations_are_no_trials_of_each_other():
    """Each is a cell of its own: eight ranks taken for eight trials give an interval that covers nothing."""

    def part(text: str, name: str) -> str:
        return csv_of(text, name)[1].factors["part"]

    log = "6, 166689, 0, 4096, 0\n"
    assert part(log, "j_clat.1.log") == "completion latency of job 1"
    assert part(log, "j_lat.2.log") == "latency of job 2"
    assert part(PER_OP, "write-1-00003.csv") == "iteration 1 of rank 3"
    assert part("time,runtime,tp\n1.00000000e-06,2.00000000e-05,5.0e+04\n", "m-File stat-00002.csv") == "rank 2"
    assert part("0.01 0.02 fsync 0 0 ( /f )\n" * 2, "_text/012.txt") == "rank 12"


def test_what_pydarshan_knows_of_a_log_is_written_as_it_is(tmp_path, monkeypatch):
    """In this process: what its parent reads, number by number."""
    darshan = ModuleType("darshan")
    exec(PYDARSHAN.replace("PARTIAL", "True").replace("SECOND", "0.9"), darshan.__dict__)
    monkeypatch.setitem(sys.modules, "darshan", darshan)
    (tmp_path / "log").write_bytes(LOG)
    darshan_child.main(str(tmp_path / "log"), str(tmp_path / "out.npz"))
    with np.load(tmp_path / "out.npz") as arrays:
        written, times, about = arrays["whole"].tolist(), arrays["times"].tolist(), json.loads(str(arrays["about"]))
    # Module, reads, rank, file, offset, length.
    assert written == [[0, 0, 0, 0, 0, 4096], [0, 0, 1, 0, 4096, 4096], [0, 0, 1, 0, 8192, 4096]]
    assert times == [[0.5, 0.500002], [0.25, 0.75], [0.8, 0.9]]
    counters = IoCounters.from_json(about.pop("io_counters"))
    assert (counters.total("WRITES"), counters.files[0].name, counters.files[0].ranks) == (3, "/scratch/out", 2)
    assert about == {
        "job": {"nprocs": 2, "jobid": 7, "start_time_sec": 1700000000, "run_time": 2.5, "log_ver": "3.41"},
        "exe": "./app",
        "totals": {"POSIX_WRITES": 3.0, "POSIX_MODE": 436.0, "POSIX_F_WRITE_TIME": 0.5},
        "unnamed": 0,
        "files": ["/scratch/out"],
        "hosts": {"0": "n1", "1": "n2"},
        "partial": ["DXT_POSIX"],
    }


ABOUT = {
    "job": {"nprocs": 3, "jobid": 7, "start_time_sec": 1700000000, "run_time": 2.5, "log_ver": "3.41"},
    "exe": "./app",
    "totals": {"POSIX_READS": 4.0, "POSIX_MODE": 436.0, "MPIIO_COLL_WRITES": 2.0},
    "unnamed": 0,
    "files": ["/a", "/b"],
    "hosts": {"0": "n1", "2": "n1"},
    "partial": [],
}
# Module, reads, rank, file, offset, length; begin and end in s.
TRACED = [([0, 1, 0, 0, 5, 10], (1.0, 1.5)), ([1, 0, 2, 1, 7, 20], (1.25, 1.25)), ([0, 0, 2, 1, 8, 30], (2.0, 1e9))]


def read_darshan_log(monkeypatch, about: dict, traced=(), *, code: int = 0, error: str = "", fault=None, written=True):
    """The log of a pydarshan that answers so, read without a program."""

    def run_program(command, limit_s):
        if fault is not None:
            raise fault
        assert (command[1:3], limit_s) == (["-m", "iosonde.importers.darshan_child"], 600)
        if written:
            whole, times = [fields for fields, _ in traced], [pair for _, pair in traced]
            np.savez(
                command[4],
                whole=np.array(whole, np.int64).reshape(-1, 6),
                times=np.array(times, float).reshape(-1, 2),
                about=json.dumps(about),
            )
        return subprocess.CompletedProcess(command, code, "", error)

    monkeypatch.setattr(darshan_log_module, "run_program", run_program)
    (run,) = understand(Text(LOG, "job.darshan")).runs
    return run


def test_all_that_pydarshan_answers_is_in_the_run(monkeypatch):
    run = read_darshan_log(monkeypatch, ABOUT, TRACED)
    assert (run.version, run.started_at, run.seconds, run.factors) == (
        "log 3.41",
        "2023-11-14T22:13:20",
        2.5,
        {"ranks": 3},
    )
    assert (run.facts["command"], run.facts["job"], run.facts["files"]) == ("./app", "7", {"0": "/a", "1": "/b"})
    assert run.phase_facts == {
        "comparable": True,
        "shared": True,
        "ranks": [{"rank": 0, "host": "n1"}, {"rank": 2, "host": "n1"}],
    }
    assert operations(run) == [("read", 0, "/a", 5, 10, 0), ("mpiio_write", 2, "/b", 7, 20, 0)]
    assert [run.operations[name].tolist() for name in ("start_ns", "duration_ns")] == [
        [0, 250_000_000],
        [500_000_000, 0],
    ]
    assert [(row.operation, row.value) for row in run.rows if row.line == 1 and row.count is None] == [
        ("posix_read", 4.0),
        ("mpiio_collective_write", 2.0),
    ]
    assert lacks(run, "impossible-times", n_operations=1) and len(run.missing) == 1
    assert codes(note.sentence for note in run.warnings) == ["calls-not-traced", "nested-calls"]


def test_hosts_with_clocks_of_their_own_are_not_comparable(monkeypatch):
    run = read_darshan_log(monkeypatch, ABOUT | {"hosts": {"0": "n1", "2": "n2"}}, TRACED[:1])
    assert run.phase_facts["comparable"] is False
    assert codes(note.sentence for note in run.warnings) == ["calls-not-traced"]


@pytest.mark.parametrize(
    ("times", "is_possible"),
    [((0.0, 0.0), True), ((-1e-9, 1.0), False), ((0.0, 999_999_999.0), True), ((0.0, 1e9), False), ((1e9, 1e9), False)],
)
def test_an_operation_of_darshan_has_times_that_a_job_can_have(monkeypatch, times, is_possible):
    run = read_darshan_log(monkeypatch, ABOUT, [([0, 1, 0, 0, 5, 10], times)])
    assert (run.operations is not None, lacks(run, "impossible-times")) == (is_possible, not is_possible)


@pytest.mark.parametrize(
    ("job", "factors", "started_at", "version", "seconds"),
    [
        ({"nprocs": 0, "start_time_sec": 0}, {}, "", "log", 0.0),
        ({"nprocs": 1, "start_time_sec": 1, "log_ver": "3"}, {"ranks": 1}, "1970-01-01T00:00:01", "log 3", 0.0),
        ({"nprocs": 2**31, "start_time_sec": 2**33, "run_time": 1}, {}, "", "log", 1.0),
    ],
)
def test_a_job_of_darshan_has_only_what_can_be(monkeypatch, job, factors, started_at, version, seconds):
    run = read_darshan_log(monkeypatch, ABOUT | {"job": job})
    assert (run.factors, run.started_at, run.version, run.seconds) == (factors, started_at, version, seconds)


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        ({"about": ABOUT | {"totals": {}}}, [("no-results", {})]),
        ({"about": ABOUT}, []),
        ({"about": ABOUT | {"partial": ["POSIX"]}}, [("lost-records", {"module": "POSIX"})]),
        ({"about": ABOUT | {"unnamed": 2}}, [("damaged-log", {"n_records": 2})]),
        ({"about": ABOUT, "error": "a\nodd\n"}, [("tool-failed", {"reason": "odd"})]),
        ({"about": ABOUT, "code": 3, "error": "a\nodd\n"}, [("damaged-log", {"reason": "odd"})]),
        ({"about": ABOUT, "code": -6}, [("damaged-log", {"reason": -6})]),
        ({"about": ABOUT, "fault": OSError(2, "gone")}, [("missing-package", {"reason": "gone"})]),
        ({"about": ABOUT, "fault": subprocess.TimeoutExpired("x", 600)}, [("timed-out", {"limit_s": 600})]),
        ({"about": ABOUT, "written": False}, []),
    ],
)
def test_what_a_log_of_darshan_lacks_is_marked(monkeypatch, answer, missing):
    run = read_darshan_log(monkeypatch, **answer)
    assert [(note.line, note.sentence.code, note.sentence.values) for note in run.missing] == [
        (0, code, values) for code, values in missing
    ]
    has_rows = not missing or missing[0][0] in ("lost-records", "tool-failed")
    assert bool(run.rows) is (has_rows and answer.get("written", True) or "n_records" in str(missing))
    assert codes(note.sentence for note in run.warnings) == ([] if answer.get("written", True) else ["missing-package"])


@pytest.mark.parametrize(
    ("sizes", "more", "n_bytes"),
    [({}, 0, 0), ({0: 50}, 0, 0), ({0: 50, 16: 20}, 0, 0), ({0: 50, 3: 20}, 5, 5), ({0: 50}, -7, 7)],
)
def test_bytes_behind_the_last_module_of_a_map_belong_to_none(sizes, more, n_bytes):
    log = mapped_log(sizes) if sizes else LOG
    cut = log + bytes(more) if more >= 0 else log[:more]
    assert count_unmapped_bytes(cut) == n_bytes
    assert count_unmapped_bytes(mapped_log({0: 1})[:295]) == 0


def test_without_pydarshan_the_child_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "darshan", None)
    darshan_child.main(str(tmp_path / "log"), str(tmp_path / "out.npz"))
    assert list(tmp_path.iterdir()) == []
