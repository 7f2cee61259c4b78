"""Settings of the command line above a pasted output: which command it is, and what it says."""

from __future__ import annotations

import pytest

from iosonde.core.vocabulary.dd import read_dd_settings
from iosonde.importers import Parsed, Text, understand
from iosonde.importers.command_lines import CommandLines
from iosonde.importers.runs import build_runs

COPY = "1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.5 s, 430 MB/s\n"
DD = "dd if=/dev/zero of=f bs=1M count=1024 oflag=direct"
PROMPTS = (
    "$ ",
    "# ",
    "/data # ",
    "bash-4.4$ ",
    "user@host:~$ ",
    "user@host:/var/lib/x$ ",
    "root@host ~ # ",
    "[root@node4 ~]# ",
    "(venv) user@host:~$ ",
    "+ ",
    "",
)
HEAD = """{name}: (g=0): rw={rw}, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
fio-3.33
Starting 1 process

"""
JOB = """{name}: (groupid={group}, jobs=1): err= 0: pid=1: Sat Nov 21 09:32:21 2026
  {direction}: IOPS=25.6k, BW=100MiB/s (105MB/s)(200GiB/2000000msec)
"""
END = "\nRun status group 0 (all jobs):\n"
FIO = HEAD.format(name="a", rw="read") + JOB.format(name="a", group=0, direction="read") + END
JOB_FILE = "[global]\nsize=1G\n;direct=1\n\n[a]\nrw=read\nbs=4k\n"
ELBENCHO = """OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
WRITE       Elapsed time     :        69ms        70ms
            Throughput MiB/s :         108         110
---
"""
TIME = "\nreal\t0m{seconds}s\nuser\t0m0.921s\nsys\t0m4.210s\n"


def read_runs(text: str) -> list[Parsed]:
    return understand(Text(text.encode(), "x.txt")).runs


def codes_of(run: Parsed) -> list[str]:
    return [contradiction.code for contradiction in run.contradictions]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_command_behind_any_prompt_gives_the_settings(prompt):
    (copy,) = read_runs(f"{prompt}{DD}\n{COPY}")
    assert copy.factors == {"block_size": 1 << 20, "direct": True}
    (fio,) = read_runs(f"{prompt}fio --name=a --rw=read --bs=4k --size=1G\n{FIO}")
    assert (fio.factors["size"], fio.factors["ranks"], codes_of(fio)) == (1 << 30, 1, ["S104"])
    (elbencho,) = read_runs(f"{prompt}elbencho -w -t 4 -b 1m --direct /mnt\n{ELBENCHO}")
    assert elbencho.factors == {"threads": 4, "block_size": 1 << 20, "direct": True}


@pytest.mark.parametrize("output", [COPY, FIO, ELBENCHO, TIME.format(seconds="1.5")])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_changes_no_number(output, prompt):
    numbers = [[(row.metric, row.value) for row in run.rows] for run in read_runs(output)]
    for command in ("cat results", DD):
        runs = read_runs(f"{prompt or '$ '}{command}\n{output}")
        assert [[(row.metric, row.value) for row in run.rows] for run in runs] == numbers


def test_a_command_is_that_of_the_outputs_below_it_up_to_the_next_prompt():
    other = f"user@host:~$ dd if=/dev/zero of=f bs=4k\n{COPY}"
    runs = read_runs(f"$ {DD}\n{COPY}{COPY}{other}$ ./copies.sh\n{COPY}")
    assert [run.factors.get("block_size") for run in runs] == [1 << 20, 1 << 20, 4096, None]
    assert "block_size" not in read_runs(f"$ {DD} && dd if=f of=g bs=4k\n{COPY}")[0].factors


def test_a_command_of_several_lines_is_one():
    (run,) = read_runs(f"$ fio --name=a --rw=read \\\n    --bs=4k \\\n    --size=1G --direct=1\n{FIO}")
    assert (run.factors["size"], run.factors["direct"], codes_of(run)) == (1 << 30, 1, [])
    text = Text(b"$ fio --name=a \\\n --size=1G\nend", "x")
    command = CommandLines(text, "fio").find_above(3)
    assert command is not None and command.words == ("--name=a", "--size=1G")


@pytest.mark.parametrize(
    "command",
    [
        "fio --name=b --rw=read --bs=4k --size=1G",  # another job
        "fio --name=a --rw=write --bs=4k --size=1G",  # another direction
        "fio --name=a --rw=read --bs=8k --size=1G",  # another block size
        "fio --name=a --rw=read --bs=4k --size=$SIZE",
        "fio a.fio",  # its job file is elsewhere
    ],
)
def test_a_command_that_is_not_that_of_the_output_says_nothing(command):
    (run,) = read_runs(f"$ {command}\n{FIO}")
    assert run.factors == {"rw": "read", "engine": "psync", "io_depth": 1, "block_size": 4096, "ranks": 1}
    assert "command" not in run.facts and codes_of(run) == []


def test_a_job_file_above_the_output_gives_the_settings():
    for lines in (f"$ cat a.fio\n{JOB_FILE}\n$ fio a.fio\n", JOB_FILE):
        (run,) = read_runs(lines + FIO)
        assert run.factors["size"] == 1 << 30 and "direct" not in run.factors
    other = JOB_FILE.replace("1G", "9G")
    (run,) = read_runs(f"$ cat a.fio\n{JOB_FILE}$ cat b.fio\n{other}$ fio b.fio\n{FIO}")
    assert run.factors["size"] == 9 << 30
    (run,) = read_runs(f"{JOB_FILE}# another\n---\n{other}---\n{FIO}")
    assert "size" not in run.factors


def test_each_job_of_a_command_has_its_own_options():
    command = "$ fio --size=1G --name=a --rw=read --bs=4k --name=b --stonewall --rw=write --bs=4k --direct=1\n"
    first = HEAD.format(name="b", rw="write").partition("\n")[0].replace("g=0", "g=1")
    heads = f"{first}\n{HEAD.format(name='a', rw='read')}"
    jobs = JOB.format(name="a", group=0, direction="read") + JOB.format(name="b", group=1, direction="write")
    (run,) = read_runs(command + heads + jobs + END)
    assert run.factors["size"] == 1 << 30
    assert {row.operation: (row.factors or {})["direct"] for row in run.rows} == {"read": 0, "write": 1}


def test_times_of_different_commands_are_settings():
    text = "".join(
        f"u@h:~$ time cp -a x {place}\n{TIME.format(seconds=s)}" for place, s in (("/a", "1.5"), ("/b", "2.5"))
    )
    assert [run.factors for run in read_runs(text)] == [{"program": "cp -a x /a"}, {"program": "cp -a x /b"}]
    assert [run.factors for run in read_runs(text.replace("/b", "/a"))] == [{}, {}]
    source = Text(text.encode(), "x.txt")
    assert len({str(run.factors) for run in build_runs(understand(source), source, "e")}) == 2


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("if=a of=b", {"block_size": 512, "direct": False}),
        ("bs=1MB conv=notrunc,fdatasync", {"block_size": 10**6, "direct": False, "fsync": True}),
        ("bs=4b iflag=fullblock,direct", {"block_size": 2048, "direct": True}),
        ("bs=64kiB", {"block_size": 65536, "direct": False}),
        ("ibs=4k", {"direct": False}),
        ("bs=$size", {"direct": False}),
    ],
)
def test_the_words_of_dd_are_settings(words, settings):
    assert read_dd_settings(words.split()) == settings


def test_a_flush_in_the_command_of_dd_is_inside_its_clock():
    (run,) = read_runs(f"$ {DD} conv=fsync\n{COPY}")
    assert {row.metric: row.includes for row in run.rows}["bandwidth_last_done"] == "fsync"
    assert not run.warnings
