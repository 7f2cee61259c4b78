"""Histories that are no store of nights: a table with dates, several stores, outputs of tools by night."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import history_sample
import iosonde
from iosonde.cli.group import cli
from iosonde.commands.report.answer import report
from iosonde.commands.report.query import ReportQuery
from iosonde.commands.watch.answer import Watch, watch
from iosonde.commands.watch.nights import assign_nights, group_sessions
from iosonde.core.stored import StoredRun
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.store import Store
from iosonde.tables.dates import normalize_dates
from messages import codes, raises

BEGIN = datetime(2026, 7, 1, 2, tzinfo=UTC)
NIGHTS, STEP = 60, 45


def write_table(
    path: Path, form: str = "%Y-%m-%d", trials: int = 1, order: str = "date", shuffled: bool = False
) -> str:
    """Nights at 1 and 2 nodes; from one of them on the bandwidth is 10 % lower, and the kernel another one."""
    rng, rows = np.random.default_rng(4), []
    for night in range(NIGHTS):
        for trial in range(trials):
            for nodes in (1, 2):
                level = 400 * nodes * (0.9 if night >= STEP else 1) * (1 + 0.02 * rng.standard_normal())
                when = BEGIN + timedelta(days=night, minutes=3 * trial)
                date = night if form == "n" else when.timestamp() if form == "s" else when.strftime(form)
                rows.append(f"{date},c{night:06x},{6.1 if night < STEP else 6.2},{nodes},{level:.2f}")
    if shuffled:
        random.Random(1).shuffle(rows)
    path.write_text("\n".join([f"{order},commit,kernel,nodes,bandwidth (MiB/s)", *rows, ""]))
    return str(path)


def watch_file(name: str, *response: str) -> Watch:
    return watch(open_data(name), ResponseQuery(response))


@pytest.mark.parametrize(
    ("form", "order"),
    [
        ("%Y-%m-%d", "date"),
        ("%Y-%m-%dT%H:%M:%S+02:00", "date"),
        ("%d.%m.%Y", "Datum"),
        ("s", "timestamp"),
        ("n", "seq"),
    ],
)
def test_rows_are_nights_in_whatever_form_their_dates_are(tmp_path, form, order):
    answer = watch_file(write_table(tmp_path / "a.csv", form, order=order, shuffled=True))
    assert [series.by for series in answer.series] == [{"nodes": 1}, {"nodes": 2}]
    assert [series.values.size for series in answer.series] == [NIGHTS, NIGHTS]
    assert len(answer.changes) == 2 and answer.problem
    for change in answer.changes:
        assert abs(change.split.at - STEP) <= 1 and change.verdict == "worse" and change.word == "slower"
        assert [(fact.name, fact.before, fact.after) for fact in change.facts] == [("kernel", "6.1", "6.2")]
        assert change.surely_before.subject_commit < f"c{STEP:06x}" <= change.surely_after.subject_commit
        assert not change.first_after.started_at or change.first_after.started_at.startswith("2026-08-1") or form == "n"
    assert codes(answer.warnings) == ["assumed-order"]
    assert answer.warnings[0].values["facts"].split(", ") == ["commit", "kernel"]


def test_trials_of_one_night_are_one_point(tmp_path):
    name = write_table(tmp_path / "a.csv", "%Y-%m-%d %H:%M", trials=3)
    answer = watch_file(name)
    assert [series.values.size for series in answer.series] == [NIGHTS, NIGHTS]
    assert [series.trials for series in answer.series] == [3 * NIGHTS] * 2 and answer.series[0].nightly
    assert answer.changes[0].split.together == 2, "both were measured in the same nights"


def test_a_stated_role_makes_a_fact_a_setting_and_a_number_the_order(tmp_path):
    name = write_table(tmp_path / "a.csv", "n", order="campaign")
    with raises("no-order-in-time"):
        watch(open_data(name).with_roles({"campaign": "setting"}), ResponseQuery())
    source = open_data(name).with_roles({"campaign": "order", "kernel": "setting"})
    assert len(watch(source, ResponseQuery()).series) == 4


def test_on_the_terminal_and_in_python_a_table_is_watched_as_a_store(tmp_path):
    name = write_table(tmp_path / "a.csv")
    done = CliRunner().invoke(cli, ["watch", name])
    assert done.exit_code == 1 and "2026-08-15" in done.stdout
    assert iosonde.watch(name, since="2026-08-20").answer.problem is False
    with raises("not-a-store"):
        iosonde.watch(name, experiment="last")
    frame = iosonde.watch(name).to_frame()
    assert list(frame["nodes"]) == [1, 2] or list(frame["nodes"]) == [2, 1]


def test_an_exported_history_has_the_direction_of_each_metric(tmp_path):
    rows = ["started_at,operation,metric,unit,value"]
    for night in range(NIGHTS):
        day = (BEGIN + timedelta(days=night)).date()
        level = (1.0 if night < STEP else 1.2) * (1 + 0.01 * np.random.default_rng(night).standard_normal())
        rows += [f"{day},read,bandwidth,bytes/s,{1e6 * level}", f"{day},read,latency,s,{1e-3 * level}"]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    answer = watch_file(str(tmp_path / "a.csv"), "value")
    assert {(c.series.metric.name, c.series.operation, c.verdict) for c in answer.changes} == {
        ("bandwidth", "read", "better"),
        ("latency", "read", "worse"),
    }


@pytest.mark.parametrize(
    ("texts", "dates"),
    [
        (["2026-03-01", "2026-12-24"], ["2026-03-01", "2026-12-24"]),
        (["2026-03-01 00:00:00+00:00"], ["2026-03-01"]),
        (["2026-03-01T01:30+02:00", "2026-03-02"], ["2026-02-28T23:30:00Z", "2026-03-02T00:00:00Z"]),
        (["01.03.2026", "02.03.26"], ["2026-03-01", "2026-03-02"]),
        (["3/14/2026 1:30 PM"], ["2026-03-14T13:30:00Z"]),
        (["14/3/2026, 13:30:05"], ["2026-03-14T13:30:05Z"]),
        (["2026/3/1"], ["2026-03-01"]),
        (["3/3/2026"], ["2026-03-03"]),
        (["2026-03-01", "soon"], None),
        (["31.02.2026"], None),
        ([], None),
    ],
)
def test_dates_become_sortable(texts, dates):
    assert normalize_dates(texts, "date") == dates


def test_a_date_that_may_be_two_is_refused():
    with raises("ambiguous-dates", column="when"):
        normalize_dates(["3/1/2026", "3/2/2026"], "when")


def test_sessions_end_with_a_pause_and_measuring_without_any_has_none():
    night = ["2026-07-01T23:50:00Z", "2026-07-02T00:10:00Z", "2026-07-02T23:50:00Z"]
    assert list(group_sessions(night).values()) == [night[0], night[0], night[2]]
    hourly = [f"2026-07-0{day}T{hour:02}:00:00Z" for day in (1, 2) for hour in range(24)]
    assert group_sessions(hourly) == {moment: moment for moment in hourly}
    assert group_sessions([]) == {}


def test_imported_runs_share_the_night_of_their_session():
    runs = [
        StoredRun({"id": f"r{i}", "experiment": "imported", "started_at": at, "facts": {"import": {"file": "f"}}})
        for i, at in enumerate(["2026-07-01T02:00:00Z", "2026-07-01T02:30:00Z", "2026-07-02T02:00:00Z"])
    ]
    nights = assign_nights({run.id: run for run in runs})
    assert nights["r0"] == nights["r1"] != nights["r2"]


def test_outputs_of_tools_have_the_date_of_their_directory(tmp_path):
    for day in range(12):
        place = tmp_path / "nights" / f"2026-07-{day + 1:02}"
        place.mkdir(parents=True)
        (place / "dd.txt").write_text(
            f"1+0 records in\n1+0 records out\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, {2 + 0.01 * day:.5f} s, "
            f"{1073.741824 / (2 + 0.01 * day):.0f} MB/s\n"
        )
    answer = watch_file(str(tmp_path / "nights"))
    dates = [run.started_at for run in answer.series[0].runs]
    assert dates == [f"2026-07-{day + 1:02}" for day in range(12)] and "undated-runs" not in codes(answer.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("is_renamed", [False, True])
def test_a_directory_of_stores_and_several_stores_are_one_history(tmp_path, is_renamed):
    rng, folder = np.random.default_rng(3), tmp_path / "all"
    folder.mkdir()
    for day in range(44):
        experiment, runs = history_sample.night(day, rng, 32, 0.2)
        if is_renamed:  # the same command in a store of its own each night
            experiment = replace(experiment, id="nightly")
            runs = [replace(run, id=f"nightly-{place}", experiment="nightly") for place, run in enumerate(runs)]
        store = Store.create(folder / f"night-{day:02}")
        store.save_experiment(experiment)
        store.append_many(runs)
    answer = iosonde.watch(str(folder)).answer
    assert {series.values.size for series in answer.series} == {44} and answer.series[0].nightly
    assert {change.series.operation for change in answer.regressions} == {"write"}
    assert answer.name == str(folder)
    two = iosonde.watch([str(folder / "night-00"), str(folder / "night-01")]).answer
    assert {series.values.size for series in two.series} == {2}


def test_a_suspected_regression_says_how_many_points_would_settle_it_and_does_not_fail(tmp_path):
    lines = Path(write_table(tmp_path / "a.csv")).read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(lines[: 1 + 2 * (STEP + 3)]))
    answer = watch_file(str(tmp_path / "a.csv"))
    assert not answer.changes and not answer.problem
    assert {item.change.verdict for item in answer.suspected} == {"worse"}
    assert all(1 <= item.remaining <= 10 for item in answer.suspected)
    entry = answer.to_dict()["suspected"][0]
    assert entry["points_to_settle"] == answer.suspected[0].remaining and entry["word"] == "slower"
    assert CliRunner().invoke(cli, ["watch", str(tmp_path / "a.csv")]).exit_code == 0
    short = watch_file(str(tmp_path / "a.csv"))
    text = "\n".join(str(line) for line in iosonde.watch(str(tmp_path / "a.csv")).text())
    assert "more" not in short.sentence and text.count(" settle ") == len(short.suspected)
    assert all(item.change.cause in " ".join(text.split()) for item in short.suspected)


def test_fewer_points_than_are_newest_are_all_of_them(tmp_path):
    rows = [f"2026-11-{day + 1:02},{100 + day % 3}" for day in range(11)]
    (tmp_path / "a.csv").write_text("\n".join(["date,mibs", *rows, ""]))
    result = iosonde.watch(str(tmp_path / "a.csv"), looks=1)
    assert result.answer.period.split()[1] == "11" and result.answer.period in result.answer.sentence
    assert "together" not in str(result)


def test_a_level_without_a_unit_has_no_blank_before_the_colon(tmp_path):
    rows = [f"2026-11-{day + 1:02},{(100 if day < 15 else 50) + day % 3}" for day in range(30)]
    (tmp_path / "a.csv").write_text("\n".join(["date,mibs", *rows, ""]))
    text = str(iosonde.watch(str(tmp_path / "a.csv")))
    assert "→" in text and " :" not in text


def test_a_suspicion_of_a_short_series_names_its_commit(tmp_path):
    rows = [f"2026-11-{day + 1:02},c{day},{100 + day % 3 if day < 4 else 70 + day % 3}" for day in range(7)]
    (tmp_path / "a.csv").write_text("\n".join(["date,commit,mibs", *rows, ""]))
    answer = watch_file(str(tmp_path / "a.csv"))
    assert not answer.suspected and "c3 → c4" in answer.sentence


def test_a_multiple_of_a_series_is_judged_once(tmp_path):
    rng = np.random.default_rng(4)
    values = 100 * (1 + 0.01 * rng.standard_normal(40))
    values[28:] *= 0.8
    days = [str(np.datetime64("2026-09-01") + day) for day in range(40)]
    rows = [
        f"{day},{value:.4f},{16 * value:.3f},{rng.normal(5, 0.1):.4f}" for day, value in zip(days, values, strict=True)
    ]
    (tmp_path / "a.csv").write_text("\n".join(["date,bandwidth,iops,latency_ms", *rows, ""]))
    answer = iosonde.watch(str(tmp_path / "a.csv"), response="bandwidth,iops,latency_ms").answer
    assert len(answer.series) == 2 and len(answer.regressions) == 1 and codes(answer.warnings)[-1] == "copied-series"
    assert [(copy.metric.name, judged.metric.name) for copy, judged in answer.copies] == [("iops", "bandwidth")]
    (alone,) = iosonde.watch(str(tmp_path / "a.csv"), response="iops").answer.series
    assert alone.metric.name == "iops"


def test_the_page_of_a_dated_table_leads_with_what_watch_says(tmp_path):
    lines = [f"2026-08-{day + 1:02},{60 + (day > 15) * 9 + day % 3 / 10}" for day in range(30)]
    (tmp_path / "nights.csv").write_text("\n".join(["date,walltime", *lines]) + "\n")
    page = report(ReportQuery(str(tmp_path / "nights.csv")))
    watched = iosonde.watch(str(tmp_path / "nights.csv")).answer
    assert watched.changes and page.answers.sentence == watched.sentence


@pytest.mark.parametrize("zone", ["", "Z"])
def test_the_hours_of_a_table_that_is_measured_around_the_clock_are_no_changes(tmp_path, zone):
    rng, begin = np.random.default_rng(5), datetime(2026, 6, 1)
    rows = ["time,bandwidth (MiB/s)"]
    for look in range(6 * 144):
        level = 400 * (0.7 if 9 <= look // 6 % 24 < 18 else 1) * np.exp(0.03 * rng.standard_normal())
        rows.append(
            f"{(begin + timedelta(minutes=10 * look)).isoformat()}{zone},{level * (0.85 if look > 750 else 1):.2f}"
        )
    (tmp_path / "raw.csv").write_text("\n".join([*rows, ""]))
    answer = watch_file(str(tmp_path / "raw.csv"))
    assert "daily-pattern" in codes(answer.warnings)
    (change,) = answer.changes
    assert change.split.first <= 751 <= change.split.last


@pytest.mark.parametrize("after", [0.8, 1.25])
def test_a_change_of_an_unknown_direction_opens_either_way(tmp_path, after):
    values = [100 * (after if night >= 30 else 1) + night % 3 for night in range(45)]
    path = tmp_path / "h.csv"
    path.write_text(
        "date,thing\n" + "".join(f"2026-{1 + n // 28:02}-{1 + n % 28:02},{v}\n" for n, v in enumerate(values))
    )
    unknown = watch_file(str(path))
    assert [change.heading for change in unknown.open_regressions + unknown.regressions] == ["changed"]
    assert "unknown-direction" in codes(unknown.warnings)
    path.write_text(path.read_text().replace("thing", "bandwidth"))
    known = watch_file(str(path))
    assert len(known.open_regressions + known.regressions) == (after < 1) and "unknown-direction" not in codes(
        known.warnings
    )
