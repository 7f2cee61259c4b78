"""``iosonde diagnose`` of a log of Darshan without single operations: from its text, and from a store."""

from __future__ import annotations

import json
import re
from pathlib import Path

import darshan_sample as sample
import pytest
from click.testing import CliRunner

pytest.importorskip("iosonde.engine._native")
from iosonde.cli.group import cli
from iosonde.commands.diagnose.for_page import build_part
from iosonde.commands.diagnose.section import build_section
from iosonde.data.source import open_data
from messages import assert_problem

FIXTURE = Path(__file__).parents[1] / "golden" / "fixtures" / "darshan" / "sample-files.txt"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "job.txt"
    path.write_text(sample.text(sample.head(), sample.record(sample.SMALL_WRITES)))
    return path


def run(*words: object):
    return CliRunner().invoke(cli, list(map(str, words)))


def read_json(*words: object) -> dict:
    done = run("diagnose", *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_counters_name_small_misaligned_and_random_writes_with_their_cost(log):
    answer = read_json(log)
    (diagnosis,) = answer["counters"]
    found = {finding["code"]: finding for finding in diagnosis["findings"]}
    assert set(found) == {"S501", "S502", "S503"} and answer["classes"] == []
    assert {finding["confidence"] for finding in found.values()} == {"medium"}
    assert found["S501"]["evidence"]["share"] == 1.0
    assert found["S502"]["evidence"]["share"] == 0.995
    assert found["S503"]["evidence"]["share"] == pytest.approx(0.978)  # 4 first accesses, 40 sequential ones
    for finding in found.values():
        assert (finding["rank_s"]["value"], finding["elapsed_s"]["value"]) == (41.5, 41.5)
        assert finding["io_share"]["value"] == pytest.approx(41.5 / 41.75)
        assert (finding["trials"], finding["rank_s"]["low"], finding["severity"]) == (1, None, "warning")
    assert diagnosis["counts"]["SIZE_WRITE_1K_10K"] == 2000


def test_a_job_that_only_prints_to_files_is_diagnosed(tmp_path):
    printed = {"WRITES": 10**6, "BYTES_WRITTEN": 8 * 10**7, "F_WRITE_TIME": 30.0}
    path = tmp_path / "print.txt"
    path.write_text(sample.text(sample.head(), sample.record(printed, 0, 1, "/scratch/a.txt", "STDIO")))
    (diagnosis,) = read_json(path)["counters"]
    (finding,) = diagnosis["findings"]
    assert (finding["code"], finding["confidence"], finding["severity"]) == ("S508", "medium", "warning")
    assert (finding["elapsed_s"]["value"], finding["evidence"]["bytes"]) == (30.0, 8 * 10**7)
    assert diagnosis["buffered"]["files"][0]["counts"]["BYTES_WRITTEN"] == 8 * 10**7
    assert "76.3 MiB" in run("diagnose", path).stdout
    assert run("explain", "S508").stdout.startswith("S508: ")
    page = tmp_path / "page.html"
    run("import", path, "--store", tmp_path / "s")
    assert run("report", tmp_path / "s", "-o", page).exit_code == 0
    assert "S508" in page.read_text()


def test_files_have_their_shares_ranks_and_targets(tmp_path):
    path = tmp_path / "two.txt"
    good = {"WRITES": 100, "SEQ_WRITES": 99, "FILE_NOT_ALIGNED": 0, "SIZE_WRITE_1M_4M": 100, "F_WRITE_TIME": 58.5}
    parts = [
        sample.record(sample.SMALL_WRITES),
        sample.record(good, 2, 78, "/scratch/good"),
        sample.record({"OST_ID_0": 7}, -1, 77, module="LUSTRE"),
    ]
    path.write_text(sample.text(sample.head(), *parts))
    first, second = read_json(path)["counters"][0]["files"]
    assert (first["name"], first["misaligned"], first["small"], first["random"]) == ("/scratch/good", 0.0, 0.0, 0.0)
    assert (second["name"], second["misaligned"], second["small"]) == ("/scratch/out", 0.995, 1.0)
    assert (second["random"], second["ranks"], second["osts"]) == (pytest.approx(0.978), 4, [7])
    rows = [line.split() for line in run("diagnose", path).stdout.splitlines() if line.startswith(("good ", "out "))]
    assert rows[1] == ["out", "41.6", "2,000", "100.0", "99.5", "97.8", "4", "7"]


def test_a_store_says_what_its_text_says(log, tmp_path):
    assert run("import", log, "--store", tmp_path / "s").exit_code == 0
    direct, stored = run("diagnose", log), run("diagnose", tmp_path / "s")
    assert (direct.exit_code, direct.stdout) == (0, stored.stdout)
    assert max(map(len, stored.stdout.splitlines())) < 80
    words = " ".join(stored.stdout.split())
    for part in (
        "S501 medium: 2,000 of 2,000 writes",
        "S502 medium",
        "S503 medium",
        "at most 41.5 s of the job's 60.0 s",
    ):
        assert part in words


def test_settings_are_diagnosed_one_by_one_the_costliest_first(tmp_path):
    for ranks, seconds in ((4, 41.5), (8, 50.0)):
        record = sample.record(sample.SMALL_WRITES | {"F_WRITE_TIME": seconds})
        (tmp_path / f"{ranks}.txt").write_text(sample.text(sample.head(ranks), record))
    assert run("import", *tmp_path.glob("*.txt"), "--store", tmp_path / "s").exit_code == 0
    first, second = read_json(tmp_path / "s")["counters"]
    assert (first["setting"], second["setting"]) == ({"ranks": 8}, {"ranks": 4})
    assert first["findings"][0]["rank_s"]["value"] == 50.0


def test_a_job_without_a_pattern_says_so(tmp_path):
    good = {"OPENS": 4, "WRITES": 4000, "SEQ_WRITES": 3996, "SIZE_WRITE_1M_4M": 4000, "F_WRITE_TIME": 20.0}
    path = tmp_path / "good.txt"
    path.write_text(sample.text(sample.head(), sample.record(good)))
    assert read_json(path)["counters"][0]["findings"] == []
    assert "S50" not in run("diagnose", path).stdout


def test_limits_of_costs_are_notes_only_where_costs_are_shown(tmp_path):
    parts = {"OPENS": 1, "WRITES": 2000, "SEQ_WRITES": 2000, "SIZE_WRITE_1K_10K": 2000, "F_WRITE_TIME": 20.0}
    jobs = {"one": parts, "none": parts | {"SIZE_WRITE_1K_10K": 0}, "two": parts | {"SEQ_WRITES": 0}}
    n_notes = {}
    for name, counters in jobs.items():
        path = tmp_path / f"{name}.txt"
        path.write_text(sample.text(sample.head(), sample.record(counters)))
        n_notes[name] = len(read_json(path)["notes"])
    assert n_notes == {"none": 0, "one": 1, "two": 2}


def test_a_title_without_ranks_and_accesses_is_a_sentence(tmp_path):
    path = tmp_path / "opens.txt"
    path.write_text(sample.text(sample.head(None), sample.record({"OPENS": 3, "F_META_TIME": 0.5})))
    (title,) = (line for line in run("diagnose", path).stdout.splitlines() if line.startswith("counters"))
    assert not re.search(r" ,|: ;|  ", title)


def test_misaligned_accesses_of_a_file_without_accesses_end_in_an_answer(tmp_path):
    path = tmp_path / "odd.txt"
    uncounted = {"FILE_NOT_ALIGNED": 5000, "READS": -1, "WRITES": -1}
    reads = {"READS": 9000, "SEQ_READS": 9000, "F_READ_TIME": 9.0}
    path.write_text(sample.text(sample.head(), sample.record(uncounted), sample.record(reads, 0, 78)))
    assert "S502" not in {finding["code"] for finding in read_json(path)["counters"][0]["findings"]}


def test_patterns_that_took_no_time_are_one_line(tmp_path):
    path = tmp_path / "short.txt"
    path.write_text(sample.text(sample.head(), sample.record(sample.SMALL_WRITES | {"F_WRITE_TIME": 0.05})))
    lines = run("diagnose", path).stdout
    assert "S501 (write), at most 50" in lines and "→" not in lines


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--metric", "posix_write"], "no-recorded-operations"),
        (["--plot", "x.png"], "no-recorded-operations"),
        (["--name", "slow=x"], "unknown-class"),
        (["--confirm", "x.yaml"], "nothing-to-confirm"),
    ],
)
def test_what_needs_single_operations_is_refused(log, tmp_path, options, code, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("import", log, "--store", "s").exit_code == 0
    done = run("diagnose", "s", *options)
    assert_problem(done.exception, code)


def test_names_of_files_cannot_steer_a_terminal(tmp_path):
    path = tmp_path / "odd.txt"
    path.write_text(sample.text(sample.head(), sample.record(sample.SMALL_WRITES, name="/f\x1b[2J")))
    assert "\x1b" not in run("diagnose", path).stdout


def test_explain_has_the_pages_of_counters():
    done = run("explain", "s507")
    assert done.exit_code == 0 and done.stdout.startswith("S507: ")


def test_the_page_has_a_section_on_counters(tmp_path):
    good = {"WRITES": 100, "SIZE_WRITE_1M_4M": 100, "F_WRITE_TIME": 8.5}
    path = tmp_path / "job.txt"
    records = (sample.record(sample.SMALL_WRITES), sample.record(good, 2, 78, "/s/good"))
    path.write_text(sample.text(sample.head(), *records))
    part = build_part(open_data(path), 0.95)
    assert part is not None
    section = build_section(part)
    findings, *others = section.tables
    assert [row[0][:4] for row in findings.rows] == [pattern.finding.code for pattern in part.counters[0].patterns]
    assert len(others[-1].rows) == 2 and all(len(row) == len(others[-1].columns) for row in others[-1].rows)
    sizes, times = section.figure.spec["hconcat"]
    counts = {row["y"]: row["x"] for row in sizes["layer"][0]["data"]["values"]}
    assert counts == {"≤ 10 KiB": 2000, "≤ 4 MiB": 100}
    assert {row["y"] for row in times["layer"][0]["data"]["values"]} == {"read", "write", "metadata"}
    bare = build_section(build_part(open_data(FIXTURE), 0.95))
    assert len(bare.figure.spec["hconcat"]) == 1, "no histogram of sizes was counted"
    assert "What the counters of accesses say" in read_page(path, tmp_path)


def read_page(path, folder):
    done = run("report", path, "-o", folder / "page.html")
    assert done.exit_code == 0, done.output
    return (folder / "page.html").read_text()
