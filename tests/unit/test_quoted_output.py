"""Sources and documents that quote a tool's output: of a directory or an archive they are not taken for results."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import iosonde
from messages import raises
from terminal import command_of

import_command = command_of("import")

MDTEST = Path(__file__).parents[1] / "golden" / "fixtures" / "mdtest" / "gen-mdtest400-3iter.txt"

QUOTING = {
    "README.md": "# How fast it is\n\n```\n{}```\n",
    "README": "Of last week:\n\n{}",
    "notes.rst": "Results::\n\n{}",
    "test_it.py": 'SAMPLE = """\\\n{}"""\n',
    "output.c": "/*\n{}*/\n",
    "mdtest.1": '.TH mdtest 1 "2010"\n.nf\n{}.fi\n',
    "wiki.txt": "A page\n\n```text\n{}```\n",
    "book.ipynb": '{{"cells": []}}\n{}',
    "page.html": "<pre>\n{}</pre>\n",
    "notes.MD.gz": "{}",
}


def quoting(directory, output):
    """Documents and sources around this output; one without it."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, around in QUOTING.items():
        content = around.format(output).encode()
        (directory / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (directory / "plain.md").write_text("No output here.\n")
    return directory


def test_what_quotes_output_is_no_result_of_an_archive(tmp_path):
    there = quoting(tmp_path / "in", MDTEST.read_text())
    (there / "result.txt").write_bytes(MDTEST.read_bytes())
    (there / "result.1").write_bytes(MDTEST.read_bytes().replace(b"09:26:16", b"09:30:00", 1))
    made = iosonde.import_files(there, tmp_path / "s", recursive=True).to_dict()
    assert made["runs"] == 2 and {Path(item["file"]).name for item in made["imported"]} == {"result.txt", "result.1"}
    assert {Path(item["file"]).name: item["format"] for item in made["quoted"]} == dict.fromkeys(QUOTING, "mdtest")
    assert [Path(item["file"]).name for item in made["unknown"]] == ["plain.md"]
    text = CliRunner().invoke(import_command, ["-r", str(there), "--store", str(tmp_path / "t")]).stdout
    assert "10 files" in " ".join(text.split())


@pytest.mark.parametrize("name", ["README.md", "test_it.py", "wiki.txt"])
def test_what_quotes_output_is_read_where_it_is_named(tmp_path, name):
    there = quoting(tmp_path / "in", MDTEST.read_text())
    made = iosonde.import_files(there / name, tmp_path / "s").to_dict()
    assert made["runs"] == 1 and made["quoted"] == []


def test_an_archive_of_documents_alone_says_why_nothing_was_taken(tmp_path):
    there = quoting(tmp_path / "in", MDTEST.read_text())
    with raises("nothing-imported", iosonde.IosondeError, n_quoted=10) as caught:
        iosonde.import_files(there, tmp_path / "s", recursive=True)
    assert "README" in caught.value.hint and not (tmp_path / "s").exists()
    packed = shutil.make_archive(str(tmp_path / "all"), "zip", there)
    with raises("nothing-imported", iosonde.IosondeError, n_quoted=10):
        iosonde.import_files(packed, tmp_path / "s")
    with raises("nothing-imported", iosonde.IosondeError, n_quoted=10):
        iosonde.import_files(there, tmp_path / "s", recursive=True, format="mdtest")


VDBENCH = """<pre>
Vdbench distribution: vdbench50407 Tue June 05  9:49:29 MDT 2018
09:00:02.001 Starting RD=rd1; I/O rate: Uncontrolled MAX; elapsed=4; For loops: threads=8 xfersize=4k
Nov 20, 2026    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp
                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev
09:00:06.053     avg_2-4      104.5     0.25    1024  50.72    0.012    0.010    0.016     0.05     0.12    0.007
09:00:07.008 Vdbench execution completed successfully. Output directory: /x/output
</pre>
"""


def test_html_that_a_tool_itself_wrote_is_no_document_that_quotes(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "summary.html").write_text(VDBENCH)
    made = iosonde.import_files(tmp_path / "in", tmp_path / "s", recursive=True).to_dict()
    assert made["quoted"] == [] and [one["format"] for one in made["imported"]] == ["vdbench"]
