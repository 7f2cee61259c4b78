"""What lies around the tools: clean text, the choice of an importer, paths, runs, the two commands, plug-ins."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import math
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.core.errors import DataError, InputError
from iosonde.core.plugins import read_groups
from iosonde.importers import Text, read, registry, understand
from iosonde.importers import text as text_module
from iosonde.importers.damage import drop_implausible_rows
from iosonde.importers.parsed import Parsed, Row
from iosonde.importers.runs import build_runs
from iosonde.store import Store
from messages import assert_problem, codes, raises
from terminal import command_of

import_command = command_of("import")
parse_command = command_of("parse")

ROOT = Path(__file__).parents[2]
OURS = ROOT / "tests" / "golden" / "fixtures"
MDTEST = OURS / "mdtest" / "gen-mdtest400-3iter.txt"


def lines(raw: bytes) -> list[str]:
    return Text(raw, "x").lines


def test_text_is_clean_whatever_it_was():
    assert lines(b"a\r\nb\r\n") == ["a", "b", ""]
    assert lines(b"a\rb\rc") == ["a", "b", "c"]
    assert lines(b"10%\r50%\r100%\ndone\n") == ["100%", "done", ""]
    assert lines(b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07x") == ["red x"]
    assert lines(b"x\na\0b\ny\0\n") == ["x", "", "y", ""]
    assert lines("größe".encode("utf-16")) == ["größe"]
    assert lines(b"\xff\xfe".join([b"a"])) == ["a"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("took 0,5 s", "took 0.5 s"),
        ("real 1m2,345s", "real 1m2.345s"),
        ("rate 8543,928 ops", "rate 8543.928 ops"),
        ("1,234 MB/s and 0,5 s", "1.234 MB/s and 0.5 s"),
        ("1,234 MB/s", "1,234 MB/s"),  # a thousand, or a decimal comma: left as it is, and noted
        ("1,234 MB/s took 0,5 s not 1.5 s", "1,234 MB/s took 0.5 s not 1.5 s"),
        ("total=3990,4202,0,0 short", "total=3990,4202,0,0 short"),
        ("a,1,2,3", "a,1,2,3"),
        ('{"x": [1,2]}', '{"x": [1,2]}'),
    ],
)
def test_decimal_commas_become_points_only_where_it_is_clear(before, after):
    assert lines(before.encode()) == [after]


def test_a_line_that_never_ends_is_cut_and_what_follows_is_read(monkeypatch):
    monkeypatch.setattr(text_module, "LINE_BYTES", 1000)
    monkeypatch.setattr(text_module, "_BLOCK", 300)
    found = read(io.BytesIO(b"first\n" + b"x" * 5000 + b"\nlast\n"), "x")
    assert found.lines[0] == "first" and found.lines[-2:] == ["last", ""] and len(found.raw) < 1700
    assert found.notes[0].sentence.code == "line-too-long" and found.notes[0].line == 2


def test_a_file_beyond_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr(text_module, "FILE_BYTES", 1000)
    with raises("file-too-large"):
        read(io.BytesIO(b"x\n" * 1000), "x")


def test_the_surest_reads_and_the_choice_is_shown():
    both = (
        b"1+0 records in\n1+0 records out\n64 bytes copied, 0.5 s, 1 B/s\n\nreal\t0m0.5s\nuser\t0m0.1s\nsys\t0m0.1s\n"
    )
    found = understand(Text(both, "x"))
    assert (found.format, list(found.others)) == ("dd", ["time"])
    assert understand(Text(both, "x"), "time").format == "time"
    equal = MDTEST.read_bytes() + (OURS / "ior" / "gen-ior400-fpp-3reps.txt").read_bytes()
    found = understand(Text(equal, "x"))
    assert found.format == "mdtest" and {run.tool for run in found.runs} == {"mdtest", "ior"}
    with raises("empty-file", DataError):
        understand(Text(b"  \n", "x"))


def test_a_long_file_is_known_by_its_head(monkeypatch):
    monkeypatch.setattr(text_module, "HEAD_CHARACTERS", 200)
    assert understand(Text(MDTEST.read_bytes() * 3, "x")).claim.line == 3
    late = Text(b"shell output\n" * 100 + MDTEST.read_bytes(), "x")
    assert understand(late).claim.line == 103


def test_a_fault_of_an_importer_names_it(monkeypatch):
    class Broken:
        NAME = "broken"
        claims = staticmethod(lambda text: 1 / 0)

    monkeypatch.setattr(registry, "importers", lambda: {"broken": Broken})
    with raises("importer-failed", DataError, importer="broken"):
        understand(Text(b"x", "x"))


def archive(path: Path) -> Path:
    for name, site in (
        ("mdtest/gen-mdtest400-3iter.txt", "bonn"),
        ("ior/gen-ior410-enospc.txt", "kyiv"),
        ("iozone/gen-v489-directio-ext4.txt", "kyiv"),
    ):
        target = path / f"site={site}" / Path(name).name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(OURS / name, target)
    shutil.copy(OURS / "mdtest/gen-mdtest400-3iter.txt", path / "the same again.txt")
    (path / "notes.txt").write_text("hello\x1b[31m\n")
    (path / "link").symlink_to("notes.txt")
    return path


def imported(*arguments: str, code: int = 0) -> dict:
    done = CliRunner().invoke(import_command, [*arguments, "--json"], standalone_mode=False)
    if code:
        assert isinstance(done.exception, InputError)
        return {}
    assert done.exception is None, done.exception
    return json.loads(done.stdout)


def test_a_source_of_factors_that_says_nothing_is_named(tmp_path):
    there, store = archive(tmp_path / "in"), str(tmp_path / "store")
    made = imported("-r", str(there), "--store", store, "--factors-from", "site={}/", "--factors-from", "site={}/*")
    (said,) = made["warnings"]
    assert all(word in said for word in ("--factors-from", "'site={}/'", " 5 ", "'notes.txt'"))
    done = CliRunner().invoke(import_command, ["-r", str(there), "--store", store, "--factors-from", "nodes={}/..."])
    assert "~ --factors-from 'nodes={}/...'" in done.stdout


def test_import_is_recursive_says_what_it_left_and_stores_nothing_twice(tmp_path):
    there, store = archive(tmp_path / "in"), str(tmp_path / "store")
    first = imported("-r", str(there), "--store", store, "--factors-from", "site={}/...")
    assert (first["files"], first["runs"], first["incomplete"], first["already_there"]) == (5, 3, 1, 1)
    assert [Path(item["file"]).name for item in first["unknown"]] == ["notes.txt"]
    runs = Store.open(store).runs()
    assert {run["factors"].get("site") for run in runs} == {"bonn", "kyiv"}
    assert {run["source"] for run in runs} == {"mdtest 4.0.0", "ior 4.1.0+dev", "iozone 3.489"}
    assert [bool(run["missing"]) for run in runs if run["source"].startswith("ior")] == [True]
    again = imported("-r", str(there), "--store", store)
    assert (again["runs"], again["already_there"]) == (0, 4)
    kept = Store.open(store).run(next(run["id"] for run in runs if run["source"].startswith("mdtest")))
    assert list(kept.raw.values()) == [MDTEST.read_bytes()]
    assert kept.facts["import"]["sha256"] and kept.facts["standard_deviation"] == "sample"


def test_import_into_a_store_within_the_archive_does_not_read_the_store(tmp_path):
    there = archive(tmp_path)
    imported("-r", str(there), "--store", str(there / "store"))
    assert imported("-r", str(there), "--store", str(there / "store"))["files"] == 5


def test_import_in_processes_is_the_same_as_alone(tmp_path):
    there = tmp_path / "in"
    there.mkdir()
    for index in range(60):
        (there / f"{index:02d}.txt").write_bytes(MDTEST.read_bytes().replace(b"09:26:16", b"09:%02d:00" % index, 1))
    imported("-r", str(there), "--store", str(tmp_path / "a"), "--jobs", "1")
    imported("-r", str(there), "--store", str(tmp_path / "b"), "--jobs", "2")
    ids = [sorted(Store.open(tmp_path / name).run_ids()) for name in "ab"]
    assert ids[0] == ids[1] and len(ids[0]) == 60


def test_import_refuses_a_directory_without_r_and_what_it_does_not_know(tmp_path):
    there = archive(tmp_path / "in")
    imported(str(there), "--store", str(tmp_path / "s"), code=2)
    imported(str(there / "notes.txt"), "--store", str(tmp_path / "s"), code=2)
    imported("--format", "nonsense", str(MDTEST), "--store", str(tmp_path / "s"), code=2)


def test_parse_json_has_the_keys_that_others_rely_on():
    done = CliRunner().invoke(parse_command, ["--json", "-"], input=MDTEST.read_bytes(), standalone_mode=False)
    document = json.loads(done.stdout)
    assert {
        "schema",
        "file",
        "format",
        "tool_version",
        "complete",
        "evidence",
        "also_claimed_by",
        "runs",
        "results",
        "warnings",
    } == set(document)
    keys = {"run", "operation", "metric", "value", "unit", "rank", "iteration", "count", "includes", "line", "factors"}
    assert all(set(row) == keys for row in document["results"])
    assert (document["format"], document["tool_version"]) == ("mdtest", "4.0.0")
    several = CliRunner().invoke(parse_command, ["--json", str(MDTEST), str(MDTEST)], standalone_mode=False)
    assert [item["format"] for item in json.loads(several.stdout)["files"]] == ["mdtest", "mdtest"]


def test_parse_shows_no_control_character_of_a_file(tmp_path):
    odd = tmp_path / "odd\x1b[31m.txt"
    odd.write_bytes(MDTEST.read_bytes().replace(b"500", b"5\x9b00"))
    done = CliRunner().invoke(parse_command, [str(odd)], standalone_mode=False)
    assert done.exception is None and "\x1b" not in done.stdout and "\x9b" not in done.stdout
    assert all(len(line) < 80 for line in done.stdout.splitlines()[1:])


def forget_plugins():
    registry.importers.cache_clear()
    read_groups.cache_clear()


def test_a_plug_in_adds_a_tool(tmp_path, monkeypatch):
    shutil.copy(ROOT / "examples" / "importer_plugin" / "toybench.py", tmp_path)
    info = tmp_path / "iosonde_toybench-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: iosonde-toybench\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[iosonde.importers]\ntoybench = toybench\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_plugins()
    try:
        found = understand(Text(b"toybench: write 12.5 MB/s\n", "x"))
        assert found.format == "toybench" and found.runs[0].rows[0].value == 12.5e6
    finally:
        forget_plugins()
        sys.modules.pop("toybench", None)


def test_the_table_of_captures_in_the_docs_is_that_of_the_tests(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "golden"))
    from importer_table import PAGE, written

    page = PAGE.read_text(encoding="utf-8")
    assert written(page) == page, "run python tests/golden/importer_table.py"


def test_what_is_there_already_is_not_parsed_again(tmp_path, monkeypatch):
    there, store = archive(tmp_path / "in"), str(tmp_path / "store")
    imported("-r", str(there), "--store", store)
    (there / "notes.txt").unlink()
    monkeypatch.setattr("iosonde.importers.understand", None)
    assert imported("-r", str(there), "--store", store)["already_there"] == 4


def test_damaged_text_never_becomes_another_number():
    """A hole, an end in the middle of a number, a value of no machine: out, and the run is marked."""

    def rows(text, *values):
        run = Parsed(rows=[Row("write", "bandwidth_last_done", value, "bytes/s", line) for line, value in values])
        return drop_implausible_rows(run, Text(text, "x"))

    assert [row.value for row in rows(b"a\nb 12", (1, 5.0), (2, 12.0)).rows] == [5.0]
    assert rows(b"a\nb 12", (2, 12.0)).missing[0].sentence.code == "cut-last-line"
    assert not rows(b"a\nb 12 MB/s", (2, 12.0)).missing and not rows(b"a\nb 12\n", (2, 12.0)).missing
    assert_problem(rows(b"a\nb\0\0\0\0c\n", (1, 5.0)).missing[0].sentence, "lost-bytes", n_bytes=4)
    absurd = rows(b"a\n", (1, 1e30), (1, math.nan), (1, -1.0), (1, 3.0))
    assert [row.value for row in absurd.rows] == [3.0] and absurd.missing[0].sentence.code == "impossible-value"


def test_a_hole_beside_a_line_of_many_megabytes_takes_no_longer_than_the_line():
    """Time that grows with the square of the line would be days."""
    text = Text(b"7" * (16 << 20) + b"\nx\0y\nz\n", "x")
    assert [len(line) for line in text.content.split("\n")] == [16 << 20, 0, 1, 0] and text.damage
    assert Text(b"ab\0" * (1 << 20) + b"\nz", "x").content == "\nz"


@pytest.mark.parametrize(
    ("module", "pattern", "text"),
    [
        ("dlio", "_RANK", "0"),
        ("elbencho_text", "_PERCENTILE", "0"),
        ("fio_text", "_PERCENTILE", "0"),
        ("io500_execution", "_INFORMATION_LINE", " \n"),
        ("iperf2", "_HEAD", " "),
        ("md_real_io", "_VALUE", "0"),
        ("netperf", "_TEST", " "),
        ("ingest.paths", "_PLACE", "a"),
        ("core.vocabulary.sizes", "_SIZE", " "),
        ("text", "_NO_COMMAS", "0"),
        ("text", "_COMMA", "0"),
        ("text", "_DOT", "0"),
        ("text", "_ANSI", "\x1b["),
    ],
)
def test_a_pattern_on_a_megabyte_of_the_same_takes_no_longer_than_the_text(module, pattern, text):
    """Time that grows with the square of the text would be hours."""
    path = module if "." in module else f"importers.{module}"
    compiled = getattr(importlib.import_module(f"iosonde.{path}"), pattern)
    head = {"_HEAD": "Server listening on ", "_SIZE": "0"}.get(pattern, "")
    long = head + text * ((1 << 20) // len(text)) + "\x01"
    assert compiled.match(long) is None
    if pattern not in ("_HEAD", "_SIZE", "_TEST"):  # those are asked for at the begin of a line alone
        found = compiled.findall(long)
        assert not found or pattern == "_ANSI"


def test_a_log_of_several_tools_is_read_by_each_of_them():
    """Each with its own settings, at the lines of the file."""
    ior, mdtest = (OURS / "ior" / "gen-ior400-fpp-3reps.txt").read_bytes(), MDTEST.read_bytes()
    for parts in ((ior, mdtest), (mdtest, ior), (ior, mdtest, ior)):
        whole = b"\n".join(parts)
        found = understand(Text(whole, "job.log"))
        single = [understand(Text(part, "x")) for part in parts]
        assert sorted(run.tool for run in found.runs) == sorted(run.tool for one in single for run in one.runs)
        for tool in ("ior", "mdtest"):
            of_tool = [run for run in found.runs if run.tool == tool]
            alone = [run for one in single for run in one.runs if run.tool == tool]
            assert [run.facts["command"] for run in of_tool] == [run.facts["command"] for run in alone]
            printed = [[[row.value for row in run.rows] for run in runs] for runs in (of_tool, alone)]
            assert printed[0] == printed[1]
            assert not any(run.missing for run in of_tool)
        lines = whole.decode().split("\n")
        for run in found.runs:
            assert all(lines[row.line - 1].strip() for row in run.rows)
        sources = {run.source.split()[0] for run in build_runs(found, Text(whole, "job.log"), "e")}
        assert sources == {"ior", "mdtest"}


def packed(path: Path, files: dict[str, bytes]) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as whole:
            for name, content in files.items():
                whole.writestr(name, content)
        return path
    with tarfile.open(path, "w:gz") as tape:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tape.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("site-a/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tape.addfile(link)
    return path


@pytest.mark.parametrize("kind", ["results.tgz", "results.zip"])
def test_an_archive_is_read_as_the_directory_that_it_holds(tmp_path, kind):
    """Wherever its names lead, nothing is written beside, and nothing of it stays."""
    content = {"site-a/run/m.txt": MDTEST.read_bytes(), "../../etc/evil": b"x", "/abs/olute.txt": b"nothing"}
    archive = packed(tmp_path / kind, content)
    store = tmp_path / "store"
    words = [str(archive), "--store", str(store), "--factors-from", "{site}/run/..."]
    done = CliRunner().invoke(import_command, [*words, "-r"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    runs = Store.open(store).runs()
    assert {run["factors"]["site"] for run in runs} == {"site-a"}
    assert f"{kind}/abs/olute.txt" in " ".join(done.output.split()).replace(" ", "") or "olute" in done.output
    assert not list(tmp_path.parent.glob("**/evil"))
    damaged = tmp_path / f"damaged-{kind}"
    damaged.write_bytes(archive.read_bytes()[:200])
    failed = CliRunner().invoke(import_command, [str(damaged), "--store", str(tmp_path / "other")])
    assert failed.exit_code != 0 and not (tmp_path / "other").exists()


def test_a_gzipped_file_is_the_file(tmp_path):
    whole = gzip.compress(MDTEST.read_bytes())
    same = understand(read(io.BytesIO(whole), "m.txt.gz"))
    plain = understand(Text(MDTEST.read_bytes(), "m.txt"))
    assert [run.rows for run in same.runs] == [run.rows for run in plain.runs] and not same.runs[0].missing
    cut = understand(read(io.BytesIO(whole[: len(whole) * 3 // 4]), "m.txt.gz"))
    assert "truncated-file" in codes(note.sentence for note in cut.runs[0].missing)
