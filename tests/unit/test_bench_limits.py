"""Benches that hold the product to a limit: chance is allowed for, and what is beyond ends with code 1."""

from __future__ import annotations

import io

import pytest

import bench_coverage
import bench_false_alarms
import bench_import
import bench_watch
import limits
from iosonde.importers import read, understand


@pytest.mark.parametrize(
    ("misses", "draws", "allowed", "beyond"),
    [
        (50, 1000, 0.05, False),
        (75, 1000, 0.05, False),
        (80, 1000, 0.05, True),
        (2, 5, 0.05, False),
        (5, 5, 0.05, True),
        (0, 0, 0.05, False),
        (1, 300, 0.001, False),
        (9, 300, 0.001, True),
    ],
)
def test_chance_is_allowed_for(misses, draws, allowed, beyond):
    assert limits.too_many(misses, draws, allowed) is beyond


def test_an_interval_is_held_to_what_it_promises_and_only_there():
    normal, *_, dependent = bench_coverage.POPULATIONS
    assert not bench_coverage.is_beyond("mean (t)", normal, 0.95, 1890, 2000)
    assert bench_coverage.is_beyond("mean (t)", normal, 0.95, 1840, 2000)
    assert not bench_coverage.is_beyond("mean (t)", dependent, 0.95, 1500, 2000)


def test_clean_tables_are_held_to_silence():
    assert not bench_false_alarms.is_beyond("normal", 0.07, 400)
    assert bench_false_alarms.is_beyond("rounded", 0.10, 400)
    assert not bench_false_alarms.is_beyond("AR(1) 0.6", 0.75, 400)


def test_steps_are_to_be_found_in_time():
    promised, other = (6, 1, 200, 10), (1, 1, 60, 10)
    assert not bench_watch.is_too_late(promised, 0.9, 60)
    assert bench_watch.is_too_late(promised, 0.7, 60)
    assert not bench_watch.is_too_late(other, 0.02, 60)


def test_what_is_beyond_a_limit_ends_with_code_1(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bench_false_alarms.py", "--tables", "40"])
    monkeypatch.setattr(bench_false_alarms, "SHAPES", ((1, 6),))
    monkeypatch.setattr(bench_false_alarms, "rates", lambda draw, *_, seed: (1.0, {}))
    assert bench_false_alarms.main() == 1
    assert capsys.readouterr().out.count(" limit: ") == len(bench_false_alarms.CLEAN)
    monkeypatch.setattr(bench_false_alarms, "rates", lambda draw, *_, seed: (0.05, {}))
    assert bench_false_alarms.main() == 0


def test_an_importer_slower_than_its_limit_fails_the_bench_of_imports(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bench_import.py", "--quick"])
    monkeypatch.setattr(bench_import, "_BYTES", 20_000)
    cases = {name: (build, 0.0) for name, (build, _) in bench_import.CASES.items()}
    monkeypatch.setattr(bench_import, "CASES", cases)
    assert bench_import.main() == 1
    assert capsys.readouterr().out.count(" limit: ") == len(cases)
    monkeypatch.setattr(bench_import, "CASES", {name: (build, 1e9) for name, (build, _) in cases.items()})
    assert bench_import.main() == 0


def test_the_logs_of_the_bench_of_imports_are_one_run_each():
    for build in (bench_import.build_darshan_log, bench_import.build_iostat_log, bench_import.build_sar_log):
        (run,) = understand(read(io.BytesIO(build(50_000)), "bench")).runs
        assert run.rows and not run.missing
