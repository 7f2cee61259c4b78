"""The history on the page of a report, and a commit that is no setting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import history_sample
import iosonde
from iosonde.commands.watch.for_page import build_part
from iosonde.core.column_roles import ColumnRole
from iosonde.core.table import Table, build_column
from iosonde.data.experiments import ALL
from iosonde.data.roles import guess_roles
from iosonde.data.source import open_data


def write_table(path: Path, nights: int) -> str:
    rng = np.random.default_rng(4)
    rows = []
    for night in range(nights):
        level = 400 * (0.9 if night >= 20 else 1) * (1 + 0.01 * rng.standard_normal())
        day = np.datetime64("2026-08-01") + night
        rows += [f"{day},c{night},{level * nodes:.2f},{nodes}" for nodes in (1, 2)]
    path.write_text("\n".join(["date,commit,bandwidth (MiB/s),nodes", *rows, ""]))
    return str(path)


@pytest.mark.parametrize(("nights", "has_history"), [(40, True), (9, False)])
def test_the_page_of_a_table_of_many_nights_has_its_history(tmp_path, nights, has_history):
    name = write_table(tmp_path / "a.csv", nights)
    report = iosonde.write_report(name, output=str(tmp_path / "a.html"))
    part = report.page.parts.get("history")
    text = (tmp_path / "a.html").read_text()
    assert (part is not None) is has_history is ('id="history"' in text)
    if part is not None:
        assert part.to_dict() == iosonde.watch(name).to_dict() and part.sentence in text.replace(" ", " ")


def test_the_page_of_all_nights_of_a_store_says_what_its_history_says(tmp_path):
    store = history_sample.write_values(tmp_path / "s", [1e8 * (1 if day < 20 else 0.8) for day in range(40)])
    page = iosonde.write_report(str(store.path), experiment=ALL, output=str(tmp_path / "a.html")).page
    assert page.answers.sentence.split()[0] == "1" and all(verdict.question != "effect" for verdict in page.verdicts)
    assert build_part(open_data(str(store.path)), 0.95).problem
    assert build_part(open_data(store, (), "nightly-20260701"), 0.95) is None


@pytest.mark.parametrize(
    ("levels", "has_dates", "role"),
    [(20, True, ColumnRole.FACT), (20, False, ColumnRole.SETTING), (2, True, ColumnRole.SETTING)],
)
def test_a_commit_of_each_date_is_a_fact(levels, has_dates, role):
    dates = [f"2026-11-{1 + at // 2:02}" for at in range(40)]
    commits = [f"c{at // 2 % levels}" for at in range(40)]
    columns = {"date": dates} if has_dates else {}
    columns |= {"commit": commits, "bandwidth": [100.5 + 0.37 * at for at in range(40)]}
    table = Table({name: build_column(name, values) for name, values in columns.items()})
    assert guess_roles(table).by_column["commit"] is role
