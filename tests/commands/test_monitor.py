"""``iosonde monitor`` on a terminal, and what the commands of a store say of its looks."""

from __future__ import annotations

import configparser
import json
import shlex

import numpy as np
import pytest
from click.testing import CliRunner

import iosonde
from iosonde.campaign.monitor import looks
from iosonde.cli.group import cli
from iosonde.core.errors import InputError
from iosonde.core.types import Experiment, Observation, Run
from iosonde.store import Store

EVERY_S = 600
START = np.datetime64("2026-03-01T00:00:00")


@pytest.fixture
def target(tmp_path, monkeypatch):
    monkeypatch.setattr(looks, "measure_load", lambda: 0.1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mount").mkdir()
    return tmp_path / "mount"


def call(*words):
    return CliRunner().invoke(cli, list(words))


def simulated_store(path, days, slower_from=None):
    """The store of a monitor whose latencies double in working hours; from a look on they are longer by a fifth."""
    rng, store = np.random.default_rng(3), Store.create(path)
    store.save_experiment(Experiment("m", "monitor", [], {"monitor": {}}, [], 1, "2026-03-01T00:00:00Z"))
    runs = []
    for number in range(days * 24 * 3600 // EVERY_S):
        level = 0.005 * (2 if 9 <= number * EVERY_S / 3600 % 24 < 18 else 1)
        level *= 1.2 if slower_from is not None and number >= slower_from else 1
        rows = [
            Observation(name, "latency_median", level * np.exp(0.1 * rng.standard_normal()), "s", count=4)
            for name in ("stat", "read")
        ]
        at = START + np.timedelta64(number * EVERY_S, "s")
        factors, headlines = {"nodes": 1, "repetition": number}, {row.operation: [row.metric] for row in rows}
        runs.append(Run(f"m-{number:06d}", "m", "iosonde monitor", f"{at}Z", 1.0, factors, rows, headlines=headlines))
    store.append_many(runs)
    return str(path)


def test_text_and_json_have_the_looks_and_the_store_answers(target):
    words = ("monitor", "mount", "--every", "0.1s", "--looks", "2", "--budget", "50%", "--store", "looks")
    text = call(*words)
    assert text.exit_code == 0 and all(len(line) < 80 for line in text.stdout.splitlines())
    document = json.loads(call(*words, "--json").stdout)
    assert document["schema"] == 1 and document["looks"] == 2 and document["failed"] == [] and document["bytes"] > 0
    assert [row["operation"] for row in document["operations"]] == ["stat", "open", "read", "write"]
    summary = json.loads(call("summary", "looks", "--json").stdout)
    assert [group["n"] for group in summary["groups"]] == [4, 4, 4, 4]
    assert {group["unit"] for group in summary["groups"]} == {"s"}
    for command in (("watch", "looks"), ("show", "looks")):
        assert call(*command).exit_code == 0, command
    findings = json.loads(call("check", "looks", "--json").stdout)["findings"]
    assert [finding["code"] for finding in findings] == ["S101"]  # 4 looks are few


@pytest.mark.slow
def test_its_looks_have_a_page(target):
    call("monitor", "mount", "--every", "0.1s", "--looks", "2", "--budget", "50%", "--store", "looks")
    assert call("report", "looks", "-o", "page.html").exit_code == 0


def test_a_failed_look_is_exit_code_1_and_bad_input_is_refused(target):
    words = ("monitor", "mount", "--store", "looks", "--once")
    assert call(*words).exit_code == 0
    (target.parent / "mount").rename(target.parent / "moved")
    state = target.parent / "looks" / "monitor.json"
    state.write_text(json.dumps(json.loads(state.read_text()) | {"started_s": 0.0}))
    failed = call(*words, "--json")
    assert failed.exit_code == 1 and json.loads(failed.stdout)["failed"]
    refused = [call("monitor", "nowhere", "--store", "other"), call("monitor", "moved", "--budget", "0")]
    assert all(isinstance(done.exception, InputError) for done in refused)


def test_a_unit_is_printed_and_nothing_is_measured(target):
    odd = target.parent / "a 100% $mount"
    odd.mkdir()
    done = call("monitor", str(odd), "--unit", "--every", "5min", "--store", "looks")
    units = done.stdout.partition("# systemctl")[0].split("# /etc/systemd/system/")[1:]
    service, timer = (unit.partition("\n")[2] for unit in units)
    parsed = [configparser.RawConfigParser(strict=False) for _ in range(2)]
    for parser, text in zip(parsed, (service, timer), strict=True):
        parser.optionxform = str
        parser.read_string(text)
    command = shlex.split(parsed[0]["Service"]["ExecStart"])
    assert str(odd).replace("%", "%%").replace("$", "$$") in command and "--once" in command
    assert parsed[1]["Timer"]["OnUnitActiveSec"] == "300s"
    cron = next(line for line in done.stdout.splitlines() if line.startswith("*/5 * * * * "))
    assert str(odd) in shlex.split(cron.replace("\\%", "%"))
    assert not (target.parent / "looks").exists() and not list(odd.iterdir())


def test_watch_takes_the_hour_of_the_day_out_and_finds_a_slow_down_within_6_looks(tmp_path):
    """Of 4 days with a busy time each, the last 6 looks are slower."""
    start = 4 * 24 * 6 - 6
    answer = iosonde.watch(simulated_store(tmp_path / "slow", 4, slower_from=start)).answer
    assert [warning.code for warning in answer.warnings] == ["daily-pattern"]
    assert {change.series.operation for change in answer.changes} == {"stat", "read"} and answer.problem
    for change in answer.changes:
        assert change.split.first <= start <= change.split.last
        assert change.levels.ratio.low < 1.2 < change.levels.ratio.high


def test_a_history_of_a_day_is_too_short_for_its_hours(tmp_path):
    answer = iosonde.watch(simulated_store(tmp_path / "young", 1)).answer
    assert "no-daily-pattern" in [warning.code for warning in answer.warnings]
