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


@pytest.mark.parametrize(
    ("shares", "beyond"),
    [([], False), ([0.06], True), ([0.0, 0.0], False), ([0.0, 0.2, 0.1], False), ([0.1, 0.11] * 10, True)],
)
def test_the_spread_of_shares_is_allowed_for(shares, beyond):
    assert limits.is_above(shares, 0.05) is beyond


def test_wrong_open_changes_and_suspicions_are_held_to_their_limits(monkeypatch, capsys):
    def draw(is_open: bool, suspected: float):
        year = bench_watch.YearOfLooks(is_open, is_open, is_open, suspected)
        monkeypatch.setattr(bench_watch, "open_years", lambda name, count: [year] * count)
        return bench_watch.wrong_opens(["normal"], 20)

    assert not draw(False, 0.04)
    assert len(draw(True, 0.04)) == len(draw(False, 0.06)) == 1 and len(draw(True, 0.06)) == 2
    assert "0.0 %" in capsys.readouterr().out


def test_a_year_of_looks_at_a_step_is_open_and_at_noise_is_not():
    rng = bench_watch.np.random.default_rng(1)
    quiet = bench_watch.normal(rng, 40)
    assert bench_watch.look_for_a_year(quiet).is_open is False
    quiet[20:] *= 0.7
    year = bench_watch.look_for_a_year(quiet)
    assert year.new and year.any_change and year.is_open and 0 < year.suspected < 0.5
    assert not bench_watch.look_for_a_year(100 / quiet).is_open, "a change for the better fails nobody"


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
