"""How commands and their options are spelled in Python, and what becomes of a result's error there."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import pytest

from iosonde.commands import python
from iosonde.commands.declaration import COMMANDS
from iosonde.commands.python import PythonSpelling, build_signature, derive_call, finish
from iosonde.core.errors import DataError, IncompleteError, InputError, PartialInputError

FOLDERS = ("bound", "fit", "regress", "store", "survey")


@pytest.fixture(scope="module", autouse=True)
def commands():
    for folder in FOLDERS:
        importlib.import_module(f"iosonde.commands.{folder}.options")


def command_of(folder: str, name: str):
    return COMMANDS[f"iosonde.commands.{folder}.options.{name}"]


@pytest.mark.parametrize(
    ("folder", "name", "call"),
    [
        ("fit", "fit", 'iosonde.fit("runs.csv", response="speed", on=["size", "fs"], output="model.json")'),
        ("store", "merge_stores", 'iosonde.merge_stores("all", ["monday", "tuesday"])'),
        ("store", "tag_run", 'iosonde.tag_run("results", "run-0001", "baseline", remove="odd")'),
        ("store", "prune_store", 'iosonde.prune_store("nightly", older_than="400d", keep_last=200)'),
        ("survey", "survey_plan", 'iosonde.survey_plan(population=300000000, capacity="50PB", rate="5GiB/s")'),
        ("regress", "regress", 'iosonde.regress("runs.csv", response="real_s", on="replicas", at={"replicas": 9})'),
    ],
)
def test_the_example_of_a_command_is_a_call(folder, name, call):
    assert derive_call(command_of(folder, name)) == call


def test_what_must_be_given_has_no_default_and_options_have_names():
    parameters = build_signature(command_of("survey", "survey_plan")).parameters
    kinds = {name: parameter.kind.name for name, parameter in parameters.items()}
    assert [name for name, parameter in parameters.items() if parameter.default is parameter.empty] == [
        "population",
        "capacity",
    ]
    expected = {"POSITIONAL_OR_KEYWORD": {"population", "capacity"}, "KEYWORD_ONLY": {"rate", "per_file", "level"}}
    assert {kind: {name for name in kinds if kinds[name] == kind} for kind in expected} == expected


@pytest.mark.parametrize(
    ("option", "value", "spelled"),
    [
        ("where", "fs=nfs", "where='fs=nfs'"),
        ("level", "0.9", "level=0.9"),
        ("remove", "", "remove=True"),
        ("at", "'replicas=9'", "at={'replicas': 9}"),
        ("data", "3GB", "amount='3GB'"),
        ("export", "csv", "iosonde.export()"),
        ("unknown", "x", "unknown='x'"),
        ("unknown", "", "unknown="),
    ],
)
def test_an_option_is_spelled_as_a_keyword(option, value, spelled):
    key = {
        "where": "regress.options.regress",
        "remove": "store.options.prune_store",
        "at": "regress.options.regress",
        "data": "bound.options.bound",
    }.get(option, "fit.options.fit")
    assert PythonSpelling(f"iosonde.commands.{key}")(option, value) == spelled


def test_a_result_writes_its_files_and_raises_what_it_does_not_say(monkeypatch):
    written, warned = [], []
    monkeypatch.setattr(python, "get_front_end", lambda: SimpleNamespace(warn=warned.append))
    finish(SimpleNamespace(write=lambda: written.append(1), error=None))
    finish(SimpleNamespace(write=None, error=IncompleteError("incomplete", "of 3 trials 1 is incomplete", "")))
    finish("a text")
    finish(SimpleNamespace(error=PartialInputError("partial", "a file is empty", "")))
    assert written == [1] and warned == ["a file is empty"]
    for error in (InputError("x", "y", "z"), DataError("x", "y", "z")):
        with pytest.raises(type(error)):
            finish(SimpleNamespace(error=error))
