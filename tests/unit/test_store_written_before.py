"""A store that commit 1c65b1a wrote is read, resumed and answered as it was then.

``tests/golden/store-1c65b1a.tar.xz`` holds the ``store`` and, ``expected``, what that version printed as JSON: the
experiment ``records`` (two factors, operations recorded), ``pauses`` (a command, ended by SIGTERM after 3 of its 6
trials) and one imported output of IOR. It was made in a namespace of its own, on a host that was called node1; what
else told the machine (kernel, boot id) was replaced and the digests of run.json made anew.
"""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.store import Store

PACKED = Path(__file__).parents[1] / "golden" / "store-1c65b1a.tar.xz"
ADDED = (
    "ordered_by",
    "noise_from",
    "inputs",
    "harmonic_mean_low",
    "harmonic_mean_high",
    "verdicts",
    "importance_of",
    "effect_p",
    "effect_p_adjusted",
    "together_with",
)  # keys that came later
ENDS = ("low", "high", "s1_low", "s1_high", "st_low", "st_high")  # of shares: of the noncentral F since


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("before")
    with tarfile.open(PACKED) as packed:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from Python 3.11.4 on
        packed.extractall(directory, **safely)
    return directory


@pytest.fixture
def store(unpacked, tmp_path) -> str:
    return str(shutil.copytree(unpacked / "store", tmp_path / "store"))


def id_of(store: str, name: str) -> str:
    return next(one.id for one in Store.open(store).experiments() if one.name == name)


def printed(*arguments: str) -> str:
    done = CliRunner().invoke(cli, list(arguments))
    assert done.exit_code == 0, done.stderr
    return done.stdout


def is_added(key: str, item: object) -> bool:
    return key in ADDED or (key == "share" and isinstance(item, dict))


def without_added(value):
    """The content but for the keys that came later."""
    if isinstance(value, dict):
        return {key: without_added(item) for key, item in value.items() if not is_added(key, item)}
    return [without_added(item) for item in value] if isinstance(value, list) else value


def numbers(value, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number in it, with where it stands."""
    if isinstance(value, dict):
        value = value.items()
    elif isinstance(value, list):
        value = enumerate(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value
        return
    else:
        return
    for key, item in value:
        yield from numbers(item, f"{path}.{key}")


BOUND = ("--net", "1GB/s", "--disk", "500MB/s", "--disks", "1", "--servers", "1")


@pytest.mark.parametrize(("command", "options"), [("summary", ()), ("rank", ()), ("bound", BOUND)])
def test_the_numbers_are_those_of_then(unpacked, store, command, options):
    now = printed(command, store, "--experiment", id_of(store, "records"), *options, "--json")
    then = json.loads((unpacked / "expected" / f"{command}{'' if command == 'bound' else '-records'}.json").read_text())
    now, then = dict(numbers(without_added(json.loads(now)))), dict(numbers(then))
    assert now.keys() == then.keys() and len(then) > 50
    if command == "rank":
        now, then = ({key: one[key] for key in one if key.rpartition(".")[2] not in ENDS} for one in (now, then))
    assert len(then) > 50 and now == pytest.approx(then, rel=1e-6 if command == "rank" else 1e-12)


def test_its_runs_are_shown_as_then(unpacked, store):
    then = json.loads((unpacked / "expected" / "show.json").read_text())
    assert json.loads(printed("show", store, "--json")) == {**then, "store": store}


def test_every_stored_number_follows_from_its_operations(store):
    made = json.loads(printed("verify", store, "--json"))
    assert made["good"] and made["n_runs"] == 16 and made["n_results"] > 100
    assert json.loads(printed("store", "check", store, "--json"))["problems"] == []


def test_a_campaign_that_ended_early_has_the_cells_that_its_experiment_declares(store):
    made = json.loads(printed("summary", store, "--experiment", id_of(store, "pauses"), "--json"))
    assert {row["by"]["pause"]: row["n"] for row in made["groups"]} == {0.02: 2, 0.04: 1}


def test_a_tools_iterations_are_one_trial(store):
    made = json.loads(printed("summary", store, "--experiment", "imported", "--json"))
    write = next(row for row in made["groups"] if (row["operation"], row["metric"]) == ("write", "bandwidth_last_done"))
    assert write["n"] == 1 and write["mean"] == pytest.approx(1385336668.16)
    assert " 3 iterations" in write["warnings"][0]


def test_the_page_of_it_has_its_numbers(store, tmp_path):
    page = tmp_path / "page.html"
    printed("report", store, "--experiment", id_of(store, "records"), "-o", str(page))
    text = page.read_text()
    assert "record_size" in text and "write_buffered" in text and "12 trials" in text


def test_the_same_command_finishes_it(store):
    name, asked = "pauses", ("sleep ${pause}", "--set", "pause=0.02,0.04", "--repetitions", "3", "--seed", "3")
    before = {run["id"]: run["self_sha256"] for run in Store.open(store).runs(experiment=id_of(store, name))}
    done = CliRunner().invoke(cli, ["run", *asked, "--name", name, "--store", store])
    assert done.exit_code == 0 and f"{id_of(store, name)}: 3 trials" in done.stderr
    after = {run["id"]: run["self_sha256"] for run in Store.open(store).runs(experiment=id_of(store, name))}
    assert len(before) == 3 and len(after) == 6 and before.items() <= after.items()
