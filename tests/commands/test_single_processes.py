"""Runs with numbers of single processes only, as fio's logs of several jobs: named in summary and page."""

from __future__ import annotations

import pytest

import iosonde
from iosonde.core.types import Observation, Run
from iosonde.store import Store
from messages import with_code

METRIC, UNIT = "bandwidth_sample_mean", "bytes/s"


@pytest.fixture
def store(tmp_path) -> str:
    """Logs of one job, and of three, two runs each; those of another tool have their sum."""
    store = Store.create(tmp_path / "s")
    for number in range(6):
        ranks = (None,) if number < 2 else (0, 1, 2) if number < 4 else (None, 0, 1)
        rows = [Observation("write", METRIC, 1e8 + number, UNIT, rank) for rank in ranks]
        tool = "fio-log" if number < 4 else "other"
        factors = {"tool": tool, "jobs": len(ranks)}
        facts = {"import": {"file": f"{number}.log"}}
        store.append(
            Run(
                f"r-{number}",
                "r",
                f"{tool} 1",
                f"2026-11-21T10:0{number}:00Z",
                1.0,
                factors,
                rows,
                facts=facts,
                headlines={"write": ["bandwidth_sample_mean"]},
            )
        )
    return str(tmp_path / "s")


def test_runs_of_single_processes_are_counted_in_summary_and_on_the_page(store, tmp_path):
    note = with_code(iosonde.summary(store).answer.overview.warnings, "single-processes")
    assert (note.values["tool"], note.values["operation"], note.values["runs"]) == ("fio-log", "write", "2 runs")
    page = iosonde.write_report(store, tmp_path / "page.html").page
    assert any(str(note).lower() in finding.sentence.lower() for finding in page.findings)
