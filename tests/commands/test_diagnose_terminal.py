"""``iosonde diagnose`` as a user meets it: the text under 80 columns, the figure, wrong words."""

from __future__ import annotations

import json
import re

import diagnose_sample as sample
import numpy as np
import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.commands.diagnose.answer import diagnose
from iosonde.commands.diagnose.figure import figure
from iosonde.core.types import Experiment
from iosonde.data.source import open_data
from messages import assert_problem

MOVED = {"transfer_size": "64KiB", "size": "8MiB"}
STEPS = [
    {
        "workload": "phases",
        "phases": [
            {"name": "read", "files": "f", "steps": ["create", {"kind": "write", **MOVED}, {"kind": "read", **MOVED}]},
        ],
    }
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    rng = np.random.default_rng(8)

    def slow(rank, number, offset):
        return (number % 16 == 0) | ((rank == 1) & (number > 3000) & (rng.random(number.size) < 0.001))

    path = tmp_path_factory.mktemp("cli") / "s"
    sample.store(path, [sample.rows(4000, 2, slow, rng) for _ in range(3)])
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "s"
    slow = sample.rows(1000, 1, lambda rank, number, offset: number % 16 == 0, np.random.default_rng(8))
    sample.store(path, [slow])
    return path


def test_the_text_is_narrow_and_says_class_cause_and_cost(store):
    done = CliRunner().invoke(cli, ["diagnose", str(store)])
    assert done.exit_code == 0 and max(map(len, done.stdout.splitlines())) < 80
    said = " ".join(done.stdout.split())
    for part in (
        r"^read .*64 KiB, 24,000 .* 3 trials: 2 ",
        r" S401 high: 1 .* 16 ",
        " 3 of 3 trials",
        "→ ",
        r" fast: \d",
    ):
        assert re.search(part, said), part


SLOW = "waits for the server"  # as a user calls a class


def test_classes_may_be_called_what_they_are(small):
    done = CliRunner().invoke(cli, ["diagnose", str(small), "--name", f"class 1=cached, slow = {SLOW}"])
    assert done.exit_code == 0 and f"{SLOW}: " in done.stdout and re.search(r"\bcached: ", done.stdout)
    made = CliRunner().invoke(cli, ["diagnose", str(small), "--name", "slow=cold", "--json"])
    assert [(one["label"], one["name"]) for one in json.loads(made.stdout)["classes"]] == [
        ("fast", None),
        ("slow", "cold"),
    ]
    for wrong, code in (
        ("slow", "invalid-assignment"),
        ("class 3=x", "unknown-class"),
        ("slow=a,slow=b", "duplicate-name"),
    ):
        assert_problem(CliRunner().invoke(cli, ["diagnose", str(small), "--name", wrong]).exception, code)


def test_the_figure_is_binned(store, tmp_path):
    done = CliRunner().invoke(cli, ["diagnose", str(store), "--plot", str(tmp_path / "f.svg"), "--bandwidth", "isj"])
    assert done.exit_code == 0 and (tmp_path / "f.svg").read_text().startswith("<?xml")
    made = figure(diagnose(open_data(store), 0.95))
    above, below = made.spec["vconcat"][0]["vconcat"]
    cells = above["hconcat"][0]["layer"][0]["data"]["values"]
    assert 100 < len(cells) < 150 * 90 and {"slow", "fast"} == {row["series"].split(":")[0] for row in cells}
    shares, places, ranks = (one["layer"][0]["data"]["values"] for one in below["hconcat"])
    assert len(shares) <= 2 * 40 and max(row["high"] for row in shares) == 1
    for begin in {row["x"] for row in shares}:  # the classes of a moment fill it
        mine = [row["high"] - row["low"] for row in shares if row["x"] == begin]
        assert sum(mine) == pytest.approx(1, abs=1e-4)
    assert 100 < len(places) < 2 * 100 * 60 and {row["series"] for row in places} == {row["series"] for row in cells}
    assert {row["low"] for row in ranks} == {0, 1} and len(ranks) <= 2 * 100


@pytest.mark.parametrize("words", [["--bandwidth", "wide"], ["--metric", "nothing"], ["--plot", "x.doc"]])
def test_a_wrong_word_is_a_sentence(small, words):
    done = CliRunner().invoke(cli, ["diagnose", str(small), *words])
    assert done.exit_code != 0 and "Traceback" not in done.output


def test_the_experiment_that_would_confirm_is_one_that_plan_takes_and_is_never_written_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    rng = np.random.default_rng(8)
    (target := tmp_path / "target").mkdir()
    made = sample.store("s", [sample.rows(4000, 1, lambda rank, number, offset: number % 16 == 0, rng)] * 3)
    kept = made.runs()[0]["experiment"]
    made.save_experiment(Experiment(kept, kept, [], {"steps": STEPS, "target": str(target)}, [], 1, "2026-11-21"))
    done = CliRunner().invoke(cli, ["diagnose", "s", "--confirm", "c.yaml"])
    assert done.exit_code == 0, done.output
    plan = CliRunner().invoke(cli, ["plan", "c.yaml", "--json"])
    assert plan.exit_code == 0 and "confirm S4" in plan.stdout, plan.output
    before = (tmp_path / "c.yaml").read_bytes()
    again = CliRunner().invoke(cli, ["diagnose", "s", "--confirm", "c.yaml"])
    assert_problem(again.exception, "file-exists", path="c.yaml")
    assert (tmp_path / "c.yaml").read_bytes() == before


def test_a_trace_is_shown_with_its_clocks_step_its_limits_and_the_names_of_files(tmp_path):
    lines = ['7 1700000000.000000 openat(AT_FDCWD, "/data/of/a/rather/long/name", O_RDONLY) = 3 <0.000004>']
    lines += [
        f'7 1700000001.{100 * number:06d} read(3, "x"..., 65536) = 65536 <0.0000{20 + number % 7}>'
        for number in range(200)
    ]
    lines += [
        f'7 1700000002.{1000 * number:06d} read(3, "x"..., 65536) = 65536 <0.0006{20 + number % 7}>'
        for number in range(100)
    ]
    (tmp_path / "t.txt").write_text("\n".join(lines) + "\n")
    store = str(tmp_path / "s")
    assert CliRunner().invoke(cli, ["import", str(tmp_path / "t.txt"), "--store", store]).exit_code == 0
    done = CliRunner().invoke(cli, ["diagnose", store])
    said = " ".join(done.stdout.split())
    assert " 1.00 µs" in said and "~ strace: " in said
    assert max(map(len, done.stdout.splitlines())) < 80
    slow = CliRunner().invoke(cli, ["show", store, "--slowest", "3"]).stdout
    assert "…a/of/a/rather/long/name" in slow and max(map(len, slow.splitlines())) < 80
