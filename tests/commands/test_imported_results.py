"""Other tools' logs: when something was run, and what somebody called it, are facts and no settings."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

pytest.importorskip("iosonde.engine._native")
from iosonde.commands.diagnose.answer import diagnose
from iosonde.commands.plot.settings import build_settings_plot
from iosonde.commands.report.machine import build_reproduction
from iosonde.commands.show.answer import open_chosen_runs
from iosonde.commands.show.slowest import find_slowest_operations
from iosonde.commands.summary.answer import summary
from iosonde.core.types import Experiment, Observation, Run
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import Source, open_data
from iosonde.importers import read, understand
from iosonde.importers.registry import importers
from iosonde.ingest.candidate_files import iterate_file_groups
from iosonde.ingest.import_files import import_all
from iosonde.ingest.import_plan import ImportPlan
from iosonde.store import Store
from messages import raises

FIXTURES = Path(__file__).parents[1] / "golden" / "fixtures"
_NO_SETTINGS = {
    "date",
    "time",
    "host",
    "hostname",
    "hosts",
    "user",
    "pid",
    "jobid",
    "started_at",
    "command",
    "label",
    "title",
    "path",
    "file",
    "directory",
}


def ficus_log(days: int) -> str:
    """Two replica counts a day, as grep printed them."""
    line = "x/RESULTS/9505{day:02d}.2110{replicas:02d}/benchtimes:ficus mab {replicas} {real} real 8.2 user 4.9 sys\n"
    return "".join(
        line.format(day=day, replicas=replicas, real=100 * replicas + day)
        for day in range(1, days + 1)
        for replicas in (1, 2)
    )


def test_a_log_of_many_days_has_cells_of_its_settings(tmp_path):
    (tmp_path / "log").write_text(ficus_log(24))
    plan = ImportPlan(tmp_path / "s", "imported", None, ())
    plan.prepare()
    with iterate_file_groups([str(tmp_path / "log")], False, tmp_path / "s") as found:
        made = import_all(plan, found)
    assert made.n_runs == 48 and not made.failed
    rows = [
        row for row in summary(open_data(str(tmp_path / "s")), ResponseQuery()).overview.rows if row.metric == "real"
    ]
    assert [(row.by, row.n) for row in rows] == [({"replicas": 1}, 24), ({"replicas": 2}, 24)]


def test_a_store_that_has_dates_among_its_factors_is_read_alike(tmp_path):
    store = Store.create(tmp_path / "s")
    store.save_experiment(Experiment("imported", "x", [], {}, [], 0, "2026-11-21T10:00:00Z"))
    for number in range(6):
        factors = {
            "fs": "ab"[number % 2],
            "date": f"1995-05-{number + 1:02d}",
            "time": f"21:10:{number:02d}",
            "label": f"try {number}",
        }
        rows = [Observation("mab", "real", 100.0 + number, "s")]
        store.append(
            Run(
                f"r-{number}",
                "imported",
                "ficus",
                f"1995-05-{number + 1:02d}T21:10:00",
                0.0,
                factors,
                rows,
                {"import": {"format": "ficus"}},
            )
        )
    rows = summary(open_data(str(tmp_path / "s")), ResponseQuery()).overview.rows
    assert [(row.by, row.n) for row in rows] == [({"fs": "a"}, 3), ({"fs": "b"}, 3)]
    only = open_data(str(tmp_path / "s"), ["date=1995-05-01"])
    assert len(only.runs) == 1


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/*")), ids=lambda path: path.name)
def test_no_importer_calls_a_date_a_host_or_a_remark_a_setting(path):
    for run in understand(read(io.BytesIO(path.read_bytes()), path.name)).runs:
        named = {*run.factors, *(name for row in run.rows for name in row.factors or {})}
        assert not named & _NO_SETTINGS


def test_no_importer_names_such_a_factor_anywhere():
    places = [Path(one.__file__).parent for one in importers().values() if hasattr(one, "__file__")]
    files = {file for place in places for file in place.glob("*.py")}
    assert files
    wrong = [(file.name, name) for file in files for name in _NO_SETTINGS if f'factors["{name}"]' in file.read_text()]
    assert not wrong


def test_an_imported_trace_is_diagnosed_with_what_it_cannot_tell_and_its_files_have_names(tmp_path):
    """Reads of 64 KiB, every sixteenth waits: strace's µs and its overhead stand beside the cause."""
    at, lines = 0, ['7 1700000000.000000 openat(AT_FDCWD, "/data/f", O_RDONLY) = 3 <0.000004>']
    for number in range(640):
        took = 900 + number % 7 if number % 16 == 0 else 20 + number % 5
        at += took + 40
        lines.append(f'7 1700000001.{at:06d} read(3, "x"..., 65536) = 65536 <0.{took:06d}>')
    (tmp_path / "t.txt").write_text("\n".join(lines) + "\n")
    plan = ImportPlan(tmp_path / "s", "imported", None, ())
    plan.prepare()
    with iterate_file_groups([str(tmp_path / "t.txt")], False, tmp_path / "s") as found:
        assert import_all(plan, found).n_runs == 1
    made = diagnose(open_data(str(tmp_path / "s")), 0.95)
    (group,) = made.groups
    assert group.step_s == 1e-6 and group.slow[0].reasons[0].suspect.code == "S401"
    said = " ".join(made.notes)
    limits = [one for one in made.notes if one.code == "tool-limit"]
    assert len(limits) > 2 and {one.values["tool"] for one in limits} == {"strace"} and "mmap" in said and "µs" in said
    longest = find_slowest_operations(open_chosen_runs(str(tmp_path / "s")), 3)
    assert {one.path for one in longest.operations} == {"/data/f"}


METRIC = "bandwidth_last_done"


def imported_sweep(tmp_path: Path) -> Source:
    """Three outputs of IOR, each of another transfer size, with three iterations."""
    plan = ImportPlan(tmp_path / "s", "imported", None, ())
    plan.prepare()
    files = [str(FIXTURES.parent / "data" / "ior_sweep" / f"t{size}-1.txt") for size in ("4k", "64k", "1m")]
    with iterate_file_groups(files, False, tmp_path / "s") as found:
        assert import_all(plan, found).n_runs == 3
    return open_data(str(tmp_path / "s"))


def test_iterations_of_one_run_a_setting_are_drawn_as_its_points(tmp_path):
    drawn = build_settings_plot(imported_sweep(tmp_path), ResponseQuery())
    points = [point for panel in drawn.panels for point in panel.points]
    assert {len(point.trials) for point in points} == {3} and all(point.mean.within_run for point in points)


def test_the_commands_of_imported_runs_stand_on_the_page_as_they_were_printed(tmp_path):
    runs = imported_sweep(tmp_path).runs
    again = build_reproduction(runs, 0, "s", ("iosonde", "report", "s"))
    *printed, page = [what for what, _ in again.commands]
    assert [re.findall(r"\d", what) for what in printed] == [[str(place), "3"] for place in (1, 2, 3)]
    assert dict(again.commands)[page].split() == ["iosonde", "report", "s"]
    assert "ior -i 3 -t 4k" in " ".join(text for _, text in again.commands)
    assert not any("seed" in name for name in dict(again.facts))


def test_a_response_that_is_nearly_named_is_said_and_not_taken_for_an_expression(tmp_path):
    with raises("unknown-response", response="write-1 bandwidth_last") as refused:
        build_responses(imported_sweep(tmp_path), ResponseQuery(("write-1 bandwidth_last",)))
    assert f"write {METRIC}?" in refused.value.hint
