"""Whatever types somebody writes into a store, with hashes that fit: no command ends in a traceback, and what is no run
is left out, said, and counted as damaged."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import forged_store
import pytest
from click.testing import CliRunner

import sample_store
from iosonde.answers.store import check
from iosonde.cli.group import cli
from iosonde.core.errors import IosondeError

RUN = "envelope-7f3a-0002"
COMMANDS = (
    ["store", "check", "{}"], ["show", "{}"], ["show", "{}", RUN], ["show", "{}", "--json"], ["verify", "{}"],
    ["summary", "{}"], ["check", "{}"], ["watch", "{}"], ["store", "export", "{}"], ["report", "{}", "-o", "{}.html"],
)  # fmt: skip


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("forged") / "results"
    sample_store.main(str(path))
    return path


@pytest.fixture
def store(original, tmp_path) -> Path:
    return shutil.copytree(original, tmp_path / "results")


def ask_all(store: Path) -> None:
    for words in COMMANDS:
        done = CliRunner().invoke(cli, [word.format(store) for word in words])
        assert done.exception is None or isinstance(done.exception, (SystemExit, IosondeError)), (words, done.exc_info)


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (("factors", "nodes"), {"a": 1}, "factors.nodes is an object"),
        (("phases",), "x", "phases is text, not a list"),
        (("findings",), [{"code": "S1", "severity": "nope", "sentence": ""}], "findings.0.severity is not one of"),
        (("facts", "own"), forged_store.nested(900), "nested deeper than 64 levels"),
        (("started_at",), None, "started_at is missing"),
        (("facts", "hosts"), [1], "facts.hosts.0 is a whole number, not text"),
        (("facts", "nodes"), [1.5], "facts.nodes.0 is a number, not a whole number"),
        (("seconds",), {"$float": "many"}, "a number that is none"),
    ],
)
def test_a_run_of_other_types_is_a_damaged_one(store, path, value, why):
    forged_store.forge(store / "runs" / RUN / "run.json", path, value)
    (problem,) = check(str(store)).serious
    assert problem.code == "D101" and f"run {RUN} is damaged" in problem.sentence and why in problem.sentence
    ask_all(store)


@pytest.mark.parametrize(
    ("path", "value"),
    [(("factors",), "x"), (("trials", 0, "factors"), []), (("factors", 0, "role"), "king"), (("id",), "another")],
)
def test_an_experiment_of_other_types_is_a_damaged_one(store, path, value):
    (file,) = (store / "experiments").glob("*.json")
    forged_store.forge(file, path, value)
    assert "D105" in {problem.code for problem in check(str(store)).serious}
    ask_all(store)


@pytest.mark.parametrize("seed", range(12))
def test_no_command_ends_in_a_traceback(store, seed):
    draw = random.Random(seed)
    for file, path, value in forged_store.forgeries(store, draw, 3):
        before = file.read_bytes()
        forged_store.forge(file, path, value)
        try:
            ask_all(store)
        except AssertionError as error:
            raise AssertionError(f"{file.name} {forged_store.kind_of(path)} = {json.dumps(value)[:60]}") from error
        file.write_bytes(before)
