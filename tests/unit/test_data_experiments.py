"""Several experiments in one store are never one cell unasked: the last one is shown, and a line says so."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from test_data_factors import NOW, trial

import iosonde
from iosonde.answers.page.experiment import choose
from iosonde.cli.group import cli
from iosonde.core.errors import InputError
from iosonde.core.types import Experiment, Factor
from iosonde.store import Store


def stored(path, label=None) -> str:
    """Three experiments of one cell with the values 100, 200 and 300; with a ``label`` that is another in each."""
    store = Store.create(path)
    for place, name in enumerate(("one", "two", "three")):
        factors = [Factor("nodes"), *([Factor(label, "", (name,))] if label else [])]
        store.save_experiment(Experiment(name, "a test", factors, {}, [], 1, NOW))
        for i in range(2):
            more = {label: name} if label else {}
            store.append(trial(10 * place + i, 100.0 * (place + 1) + i, name, **more))
    return str(path)


def means(place: str, *words: str) -> list[float]:
    done = CliRunner().invoke(cli, ["summary", place, "--json", *words])
    return [row["mean"] for row in json.loads(done.stdout)["groups"]]


def test_the_last_is_shown_alone_and_a_line_says_so(tmp_path):
    place = stored(tmp_path / "s")
    assert means(place) == means(place, "--experiment", "last") == [300.5]
    assert means(place, "--experiment", "one") == [100.5]
    assert means(place, "--experiment", "all") == [200.5]
    assert means(place, "--by", "experiment") == [100.5, 200.5, 300.5]
    said = "of 3 experiments the last, three: --experiment ID|all\n"
    for command in ("summary", "check"):
        assert said in CliRunner().invoke(cli, [command, place]).stderr
        assert said not in CliRunner().invoke(cli, [command, place, "--experiment", "last"]).stderr


def test_experiments_that_a_factor_tells_apart_are_shown_together(tmp_path):
    place = stored(tmp_path / "s", "fs")
    assert sorted(means(place)) == [100.5, 200.5, 300.5]
    assert "experiments the last" not in CliRunner().invoke(cli, ["summary", place]).stderr


def test_a_group_of_experiments_is_over_all(tmp_path):
    place = stored(tmp_path / "s")
    done = CliRunner().invoke(cli, ["compare", place, "--group", "experiment", "one", "three"])
    assert "one" in done.output and "three" in done.output and done.exit_code == 0


def test_the_page_takes_the_last_and_says_so(tmp_path):
    store = Store.open(stored(tmp_path / "s"))
    assert choose(store, None).experiment == "three"
    assert choose(store, None).note == "Of 3 experiments the last, three: --experiment ID|all."
    assert choose(store, "last").experiment == "three" and choose(store, "all").experiment is None
    with pytest.raises(InputError, match="no experiment four"):
        choose(store, "four")


def test_python_says_it_as_a_warning(tmp_path):
    place = stored(tmp_path / "s")
    with pytest.warns(iosonde.IosondeWarning, match="of 3 experiments the last, three"):
        assert iosonde.summary(place).to_frame()["mean"].tolist() == [300.5]
    assert iosonde.summary(place, experiment="all").to_frame()["mean"].tolist() == [200.5]
