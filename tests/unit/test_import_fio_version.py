"""fio 2 logs latencies in µs, fio 3 in ns: the version is that of the output beside the log, or it is said that none is
known."""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePath

import pytest

from iosonde.commands.parse.answer import parse
from iosonde.core.message import Message
from iosonde.importers.fio_version import find_sibling_version
from iosonde.ingest.candidate_files import iterate_file_groups
from iosonde.ingest.import_files import import_all
from iosonde.ingest.import_plan import ImportPlan
from iosonde.store import Store
from messages import assert_problem, with_code

AVERAGES = "".join(f"{500 * (i + 1)}, {200_000 + 1000 * i}, 1, 0\n" for i in range(6))  # 0.2 s in µs, 0.2 ms in ns
EACH = "".join(f"{400 + 5 * i}, {3000 + 10 * i}, 0, 4096\n" for i in range(60))
TEXT = "job: (g=0): rw=write, bs=1M-1M/1M-1M/1M-1M, ioengine=libaio, iodepth=4\nfio-{}\nStarting 1 process\n"
JSON = '{{\n  "fio version" : "fio-{}",\n  "jobs" : []\n}}\n'


def log(path: Path, content: str = AVERAGES) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def run_of(path: Path):
    [run] = parse(str(path)).understood.runs
    return run


def said(run) -> str:
    return " ".join(note.sentence for note in run.warnings)


def reason(run) -> Message:
    """Why its values were read so."""
    return with_code((note.sentence for note in run.warnings), "assumed-unit").values["reason"]


def largest(run) -> float:
    return next(row.value for row in run.rows if row.metric in ("latency_sample_max", "latency_max"))


@pytest.mark.parametrize(
    ("version", "text", "seconds"),
    [("2.16", TEXT, 0.205), ("2.2.10", JSON, 0.205), ("3.28", TEXT, 0.205e-3), ("3.1", JSON, 0.205e-3)],
)
@pytest.mark.parametrize("place", ["w_clat.1.log", "w/w_clat.log", "w/other_lat.2.log"])
def test_the_jobs_output_beside_the_log_says_the_unit(tmp_path, version, text, seconds, place):
    (tmp_path / "w.out").write_text(text.format(version))
    run = run_of(log(tmp_path / place))
    assert largest(run) == pytest.approx(seconds) and run.version == version
    assert_problem(reason(run), "version-in-output", file="w.out", version=version)


def test_recorded_operations_are_as_long_as_fio_2_says(tmp_path):
    (tmp_path / "w.txt").write_text(TEXT.format("2.99"))
    run = run_of(log(tmp_path / "w_lat.log", EACH))
    assert run.operations["duration_ns"][0] == 3_000_000
    assert run.operations["start_ns"][0] == 400_000_000 - 3_000_000


def test_where_nobody_says_it_both_readings_are_said(tmp_path):
    run = run_of(log(tmp_path / "w_clat.log"))
    assert largest(run) == pytest.approx(0.205e-3) and run.version == ""
    assert reason(run).code == "ambiguous-unit" and "1000" in said(run)


def test_what_cannot_be_decides_where_nobody_says_it(tmp_path):
    short = run_of(log(tmp_path / "a_clat.log", "10, 90, 0, 4096\n20, 120, 0, 4096\n30, 100, 0, 4096\n"))
    assert largest(short) == pytest.approx(120e-6)
    assert_problem(reason(short), "impossible-in-ns", limit_ns=400.0)
    early = run_of(log(tmp_path / "b_clat.log", "10, 90000, 0, 4096\n20, 120000, 0, 4096\n"))
    assert largest(early) == pytest.approx(120e-6) and reason(early).code == "impossible-in-us"
    submitted = run_of(log(tmp_path / "c_slat.log", "10, 90, 0, 4096\n20, 120, 0, 4096\n"))
    assert reason(submitted).code == "ambiguous-unit", "to submit an operation may take that little"


def test_two_versions_beside_a_log_say_nothing():
    heads = {"d/a.json": JSON.format("3.1"), "d/b.json": JSON.format("2.16"), "d/c.json": JSON.format("2.2")}

    def begin(place: PurePath) -> bytes:
        return heads.get(str(place), "").encode()

    others = [PurePath(name) for name in heads]
    assert find_sibling_version(PurePath("d/x_lat.log"), begin, others) is None
    assert find_sibling_version(PurePath("d/a_lat.log"), begin, others) == ("3.1", "a.json"), "that of its own job"
    assert find_sibling_version(PurePath("d/x_lat.log"), begin, others[1:]).major == 2
    assert find_sibling_version(PurePath("d/e/x_lat.log"), begin, others[1:]).major == 2, "and of the directory above"


def imported(tmp_path: Path, *names: Path) -> list[float]:
    plan = ImportPlan(tmp_path / "store", "e", None, ())
    with iterate_file_groups([str(name) for name in names], True, plan.store) as files:
        import_all(plan, files)
    rows = Store.open(plan.store).results().to_pylist()
    return sorted(row["value"] for row in rows if row["metric"] == "latency_sample_max")


def test_an_import_looks_at_the_files_around_each_log(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "results.of.monday").write_text(TEXT.format("2.16"))
    log(tmp_path / "d" / "x" / "x_clat.log")
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "y.json").write_text(JSON.format("3.30"))
    log(tmp_path / "e" / "y_clat.log", AVERAGES.replace("500,", "501,", 1))
    assert imported(tmp_path, tmp_path / "d", tmp_path / "e") == pytest.approx([0.205e-3, 0.205])


def test_a_log_that_is_named_alone_has_its_output_beside_it_all_the_same(tmp_path):
    (tmp_path / "x.out").write_text(TEXT.format("2.16"))
    assert imported(tmp_path, log(tmp_path / "x_clat.log")) == pytest.approx([0.205])


def test_the_files_of_an_archive_stand_beside_each_other(tmp_path):
    (tmp_path / "x.out").write_text(TEXT.format("2.16"))
    log(tmp_path / "x" / "x_clat.log")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "x.out", "x.out")
        archive.add(tmp_path / "x" / "x_clat.log", "x/x_clat.log")
    (tmp_path / "x.out").unlink()
    assert imported(tmp_path, tmp_path / "a.tar.gz") == pytest.approx([0.205])
