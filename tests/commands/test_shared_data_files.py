"""Several files of tools, and a directory of them, as DATA."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from iosonde.ingest import temporary_stores
from messages import raises

IOR = """IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Began               : Fri May  3 09:{minute:02}:50 2024
Command line        : ior -t {size}k
nodes               : 1
tasks               : 8
xfersize            : {size} KiB
blocksize           : 16 MiB
access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     {rate:.2f}    1          0.1         16384       {size}.00    0.000100   0.900000   0.000200   {time:.6f}   0

Max Write: {rate:.2f} MiB/sec
Finished            : Fri May  3 09:{minute:02}:59 2024
"""


def write_outputs(directory: Path, factor: float = 1.0, minute: int = 0) -> list[Path]:
    directory.mkdir(parents=True)
    paths = []
    for place, (size, rate) in enumerate(((64, 100.0), (64, 101.0), (512, 200.0), (512, 203.0))):
        rate *= factor
        paths.append(directory / f"run{place}.txt")
        paths[-1].write_text(IOR.format(minute=minute + place, size=size, rate=rate, time=128 / rate))
    return paths


def ask(*words: object) -> tuple[dict, str]:
    result = CliRunner().invoke(cli, [*map(str, words), "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout), result.stderr


@pytest.fixture(autouse=True)
def nothing_read_before(monkeypatch):
    monkeypatch.setattr(temporary_stores, "_stores_of_files", {})


def read_means(*names: Path) -> list[float]:
    return list(iosonde.summary([str(name) for name in names]).to_frame()["mean"])


def test_lists_that_begin_alike_and_directories_that_change_are_read_anew(tmp_path):
    first, same, *others = write_outputs(tmp_path / "in")
    assert read_means(first, same) != read_means(first, others[0])
    before = ask("summary", tmp_path / "in")[0]["groups"]
    (tmp_path / "in" / "run3.txt").unlink()
    after = ask("summary", tmp_path / "in")[0]["groups"]
    assert [group["n"] for group in before] == [2, 2] and [group["n"] for group in after] == [2, 1]


def test_what_a_killed_reader_leaves_goes_with_the_next_one(tmp_path, monkeypatch):
    write_outputs(tmp_path / "in")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    code = (
        "import os, signal, sys; from iosonde.ingest import temporary_stores; "
        "temporary_stores.open_files([sys.argv[1]]); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "in")], timeout=60)
    (left,) = scratch.iterdir()
    assert killed.returncode == -signal.SIGKILL
    os.utime(left, (0, 0))  # a young one may be of a process that has not locked it yet
    done = subprocess.run([sys.executable, "-m", "iosonde.cli.main", "summary", str(tmp_path / "in")], timeout=60)
    assert done.returncode == 0 and not list(scratch.iterdir())


def test_several_files_and_their_directory_are_what_an_import_of_them_is(tmp_path):
    files = write_outputs(tmp_path / "in")
    iosonde.import_files([str(file) for file in files], str(tmp_path / "s"))
    stored, _ = ask("summary", tmp_path / "s")
    for words in (files, [tmp_path / "in"]):
        answer, remarks = ask("summary", *words)
        assert answer["groups"] == stored["groups"] and "4" in remarks
    assert [group["n"] for group in stored["groups"]] == [2, 2]


@pytest.mark.parametrize("command", ["summary", "rank", "anova", "plot", "fit"])
def test_commands_take_the_files_that_a_shell_lists(tmp_path, command):
    files = write_outputs(tmp_path / "in")
    output = ["-o", str(tmp_path / "x.svg")] if command == "plot" else []
    result = CliRunner().invoke(cli, [command, *map(str, files), *output])
    assert result.exit_code == 0, result.stderr


def test_directories_that_differ_in_a_directory_have_its_factor(tmp_path):
    write_outputs(tmp_path / "in" / "alpha")
    write_outputs(tmp_path / "in" / "beta", 2.0, minute=10)
    answer, remarks = ask("summary", tmp_path / "in")
    assert {group["by"]["dir1"] for group in answer["groups"]} == {"alpha", "beta"}
    assert "dir1" in remarks


def test_python_takes_a_list_of_paths_and_a_page_has_their_title(tmp_path):
    files = write_outputs(tmp_path / "in")
    assert len(iosonde.summary(files).to_dict()["groups"]) == 2
    page = tmp_path / "page.html"
    iosonde.write_report(files, page)
    text = page.read_text()
    assert f"{files[0]} and 3 more" in text and "iosonde-data-" not in text


def test_a_store_inside_a_directory_is_not_read_twice(tmp_path):
    files = write_outputs(tmp_path / "in")
    iosonde.import_files([str(file) for file in files], str(tmp_path / "in" / "store"))
    answer, _ = ask("summary", tmp_path / "in")
    assert [group["n"] for group in answer["groups"]] == [2, 2]


@pytest.mark.parametrize("other", ["table.csv", "store", "missing.txt"])
def test_a_table_a_store_and_nothing_are_no_outputs_of_tools(tmp_path, other):
    files = write_outputs(tmp_path / "in")
    (tmp_path / "table.csv").write_text("a,v\n1,2\n1,3\n")
    iosonde.import_files([str(file) for file in files], str(tmp_path / "store"))
    with raises("not-tool-output"):
        iosonde.summary([files[0], tmp_path / other])


def test_a_directory_without_results_is_no_store_and_a_huge_one_is_for_import(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    with raises("not-a-store"):
        iosonde.summary(tmp_path / "empty")
    (tmp_path / "empty" / "note.txt").write_text("nothing\n")
    with raises("not-a-store"):
        iosonde.summary(tmp_path / "empty")
    monkeypatch.setattr(temporary_stores, "MOST_FILES", 3)
    write_outputs(tmp_path / "in")
    with raises("too-many-files"):
        iosonde.summary(tmp_path / "in")
