"""The answers in Python: the same numbers, texts and errors as on the command line; nothing prints, nothing shadows."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import locale
import logging
import multiprocessing
import os
import pkgutil
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow
import pytest
from advised_sample import options
from click.testing import CliRunner
from stats_sample import store

import iosonde
from iosonde.cli.group import cli
from messages import raises
from rank_sample import rows as rank_rows

CP = Path(__file__).parents[1] / "golden" / "data" / "cp_raw.csv"


def shown(*words: str) -> str:
    return CliRunner().invoke(cli, list(words)).stdout


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> str:
    place = tmp_path_factory.mktemp("api") / "results"
    store(place)
    return str(place)


def test_a_store_is_opened_once_for_several_questions(results):
    data = iosonde.open(results)
    assert str(iosonde.summary(data)) + "\n" == shown("summary", results)
    assert iosonde.summary(data).to_frame()["n"].tolist()[0] == 6
    assert iosonde.verify(data).to_dict()["n_runs"] > 0
    assert iosonde.summary(results, where=["nodes=1"], clock="all", level=0.9).to_dict()["level"] == 0.9


def test_a_frame_is_data_like_its_file():
    frame = pd.read_csv(CP, comment="#")
    assert (
        iosonde.summary(frame, "real_s", by="replicas").to_dict()
        == iosonde.summary(CP, "real_s", by="replicas").to_dict()
    )


def test_what_is_opened_can_be_narrowed(results):
    for data in (results, pd.read_csv(CP, comment="#")):
        response, by, where = ((), "nodes", "nodes=1") if data is results else ("real_s", "replicas", "replicas>=2")
        at_once = iosonde.summary(data, response, by, where=where).to_dict()
        assert iosonde.summary(iosonde.open(data), response, by, where=[where]).to_dict() == at_once
        assert iosonde.summary(iosonde.open(data, where=where), response, by).to_dict() == at_once
    one = iosonde.open(results, experiment="x")
    assert iosonde.summary(one, experiment="x").to_dict() == iosonde.summary(one).to_dict()
    with raises("unknown-experiment", iosonde.IosondeError, experiment="y"):
        iosonde.summary(one, experiment="y")


@pytest.mark.slow
def test_tables_of_other_libraries_are_data():
    frame = pd.read_csv(CP, comment="#")
    of_file = iosonde.regress(CP, "real_s", "replicas").to_dict()
    for table in (frame, duckdb.sql("select * from frame"), pyarrow.Table.from_pandas(frame)):
        assert iosonde.regress(table, "real_s", "replicas").to_dict() == of_file


def test_a_part_of_a_frame_has_the_columns_of_the_whole(tmp_path):
    frame = pd.read_csv(CP, comment="#")
    part = frame[frame["replicas"] > 1]
    part.to_parquet(tmp_path / "part.parquet")
    for data in (part, tmp_path / "part.parquet"):
        assert list(iosonde.open(data).table.columns) == list(frame.columns)
    with raises("unreadable-table", iosonde.IosondeError) as error:
        iosonde.open(frame.assign(real_s=[1, "a"] * 12))
    assert error.value.hint and "real_s" in error.value.message


def test_a_row_of_a_frame_is_a_setting():
    model, row = iosonde.fit(CP, "real_s", "replicas", families="linear"), pd.Series({"replicas": 2})
    assert iosonde.predict(model, row).to_dict() == iosonde.predict(model, {"replicas": 2}).to_dict()


def test_errors_are_exceptions_with_the_sentence_of_the_command(tmp_path):
    with raises("no-such-file") as error:
        iosonde.summary(tmp_path / "no.csv")
    assert str(tmp_path / "no.csv") in error.value.message and error.value.hint
    with raises("not-a-table", iosonde.IosondeError):
        iosonde.summary(42)
    with raises("out-of-range", iosonde.IosondeError):
        iosonde.summary(CP, "real_s", level=95)


@pytest.mark.parametrize(
    ("asked", "code", "argument"),
    [
        (lambda: iosonde.summary(None), "wrong-argument-type", "data"),
        (lambda: iosonde.rank(CP, "real_s", on=3), "wrong-argument-type", "on"),
        (lambda: iosonde.rank(CP, "real_s", on=["replicas", 3]), "not-text", "on"),
        (lambda: iosonde.summary(CP, "real_s", by={"replicas": 1}), "wrong-argument-type", "by"),
        (lambda: iosonde.summary(CP, "real_s", level="95%"), "out-of-range", "level"),
        (lambda: iosonde.summary(CP, "reel_s"), "unknown-column", ""),
        (lambda: iosonde.regress(CP, "real_s", "replicas", at=[9]), "wrong-argument-type", "at"),
        (lambda: iosonde.regress(CP, "real_s", "replicas").plot(kind="pie"), "unknown-option-value", ""),
        (lambda: iosonde.scale(CP, "replicas", response="1/real_s", at="x"), "not-a-count-list", "at"),
        (lambda: iosonde.queue("disk=2ms", 0), "not-a-count-list", "at"),
        (lambda: iosonde.bound(net=[1, 2]), "out-of-range", "net"),
        (lambda: iosonde.bound(net=1e8).plot(against="money"), "unknown-axis", ""),
        (lambda: iosonde.bound(net=1e8).plot(kind="waterfall"), "losses-not-computed", ""),
        (lambda: iosonde.bound(where="a=1", net=1e8), "missing-data", ""),
        (lambda: iosonde.time_model(copy=1e9, size=1, state="asleep"), "unknown-option-value", "state"),
        (lambda: iosonde.fit(CP, "real_s", "replicas", seed=-1), "out-of-range", "seed"),
        (lambda: iosonde.predict(iosonde.rank(CP, "real_s", "replicas")), "wrong-argument-type", "model"),
        (lambda: iosonde.advise(CP, "replicas", "real_s", depth=-1), "out-of-range", "depth"),
        (lambda: iosonde.advise(CP, "replicas", "real_s", better="up"), "unknown-option-value", "better"),
        (lambda: iosonde.parse(b"IOR-4.0"), "wrong-argument-type", "files"),
        (lambda: iosonde.import_files([], "store"), "missing-file-name", ""),
        (lambda: iosonde.run("true", nodes="1,a"), "not-a-count-list", "nodes"),
        (lambda: iosonde.run("true", set=3), "wrong-argument-type", "set"),
        (lambda: iosonde.plan("true", budget="soon"), "invalid-duration", ""),
        (lambda: iosonde.probe(repetitions=0), "out-of-range", "repetitions"),
        (lambda: iosonde.explain_finding("S10"), "unknown-finding", ""),
    ],
)
def test_a_mistake_is_a_sentence_with_a_hint(asked, code, argument):
    with raises(code, **({"argument": argument} if argument else {})) as error:
        asked()
    assert error.value.hint


def test_a_word_that_is_not_known_is_refused_as_python_does():
    for name, ask in (
        ("wher", lambda: iosonde.summary(CP, "real_s", wher="replicas=1")),
        ("data", lambda: iosonde.summary()),
    ):
        with pytest.raises(TypeError) as error:
            ask()
        assert str(error.value).startswith("iosonde.summary()") and f"'{name}'" in str(error.value)


def test_what_is_shown_by_its_name_alone(results):
    assert repr(iosonde.open(results)) == f"{results}: 12 runs, 72 results"
    assert repr(iosonde.open(CP)).startswith(f"{CP}: 24 ")
    assert repr(iosonde.bound(net=1e8).plot()).startswith("Figure: ")
    assert repr(iosonde.summary(results)) == str(iosonde.summary(results))


def test_python_shows_the_hint_below_the_message():
    with pytest.raises(iosonde.IosondeError) as error:
        iosonde.summary(CP, "reel_s")
    assert traceback.format_exception_only(error.value)[1:] == [f"hint: {error.value.hint}\n"]


def test_what_the_command_says_on_stderr_is_a_warning_that_points_here(results, tmp_path):
    with pytest.warns(iosonde.IosondeWarning, match="at level 0.5 one interval in 2 misses") as said:
        iosonde.summary(CP, "real_s", level=0.5)
    assert said[0].filename == __file__
    shutil.copytree(results, tmp_path / "damaged")
    next((tmp_path / "damaged" / "runs").glob("*/results.parquet")).write_bytes(b"not a table")
    with pytest.warns(iosonde.IosondeWarning, match="results.parquet"):
        iosonde.summary(tmp_path / "damaged")


def test_a_model_is_kept_in_a_file_or_in_hand(tmp_path):
    made = iosonde.fit(CP, "real_s", "replicas", families="linear", output=tmp_path / "model.json")
    kept = tmp_path / "model.json"
    assert iosonde.predict(made, {"replicas": 2}).to_dict() == iosonde.predict(kept, {"replicas": "2"}).to_dict()
    assert iosonde.describe(made).to_dict() == iosonde.describe(kept).to_dict()
    assert iosonde.held_out(made, CP).to_dict() == iosonde.held_out(str(kept), CP).to_dict()
    assert iosonde.predict(made, data=pd.DataFrame({"replicas": [1, 2]})).to_frame()["replicas"].tolist() == [1, 2]


@pytest.mark.slow
def test_a_figure_is_written_whole(tmp_path):
    figure = iosonde.bound(net="117MB/s", disk="25MB/s", disks=4).plot(against="servers")
    assert figure.save(tmp_path / "a.svg").read_bytes() == figure.image("svg")
    with raises("unknown-file-format", iosonde.IosondeError):
        figure.save(tmp_path / "a.jpeg")


# Parts of the package that are designed and not built yet.
TO_COME = {"survey", "lab", "history", "serve"}


def test_no_room_shadows_a_function():
    rooms = {module.name for module in pkgutil.iter_modules(iosonde.__path__)}
    assert not (rooms | TO_COME) & set(iosonde.__all__), "rename the room or the function"
    for module in pkgutil.iter_modules(iosonde.__path__):
        importlib.import_module(f"iosonde.{module.name}")
    for name in iosonde.__all__:
        assert callable(getattr(iosonde, name)), name


@pytest.mark.parametrize("name", [name for name in iosonde.__all__ if name[0].islower()])
def test_a_function_is_documented(name):
    """In the form of numpydoc, every word of it."""
    function = getattr(iosonde, name)
    text, parameters = inspect.getdoc(function), inspect.signature(function).parameters
    assert text and text.splitlines()[0].endswith((".", "?"))
    sections = re.findall(r"^([A-Z]\w+(?: \w+)?)\n-+$", text, re.MULTILINE)
    assert "Parameters" in sections and "Returns" in sections
    own = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w+\n---)", text, re.DOTALL)[1]
    described = set(re.findall(r"\w+", " ".join(re.findall(r"^(\w+(?:, \w+)*) :", own, re.MULTILINE))))
    shared = set(re.findall(r"``(\w+)``", own.partition("**options")[2])) if "**options" in own else set()
    missing = set(parameters) - described - shared
    assert not missing or (name == "plan" and ":func:`run`" in own)
    assert described <= set(parameters), "there is no such word"


def test_importing_the_package_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import iosonde; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout and "iosonde.commands" not in done.stdout


@pytest.mark.slow
def test_an_answer_draws_itself_and_says_where_it_cannot():
    figure = iosonde.rank(CP, response="real_s", on="replicas").plot()
    assert figure.image("svg").startswith(b"<?xml") and "image/svg+xml" in figure._repr_mimebundle_()
    with raises("no-figure", iosonde.IosondeError):
        iosonde.summary(CP, "real_s", by="replicas").plot()


def state() -> dict[str, object]:
    """What a library must leave as it is."""
    return {
        "random": (random.getstate(), np.random.get_state()[1].tolist()),
        "environment": dict(os.environ),
        "directory": os.getcwd(),
        "filters": list(warnings.filters),
        "errors": np.geterr(),
        "signals": [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)],
        "locale": locale.getlocale(),
        "handlers": list(logging.getLogger().handlers),
        "path": list(sys.path),
        "threads": threading.active_count(),
        "columns": pd.get_option("display.max_columns"),
        "children": multiprocessing.active_children(),
    }


@pytest.mark.slow
def test_nothing_global_is_changed(results, tmp_path):
    importlib.import_module("sklearn.ensemble")  # what a library does when it is loaded is its own affair
    iosonde.fit(CP, "real_s", "replicas", families="linear").plot().image("svg")
    before = state()
    iosonde.rank(CP, "real_s", "replicas").plot().image("png")
    iosonde.fit(CP, "real_s", "replicas", families=["linear", "forest"], output=tmp_path / "model.json")
    iosonde.write_report(results, tmp_path / "page.html")
    iosonde.run("true", store=tmp_path / "store", repetitions=1)
    iosonde.scale(CP, "replicas", response="1/real_s", bootstrap=100)
    assert state() == before


@pytest.mark.slow
def test_a_campaign_runs_from_python(tmp_path, capsys):
    (tmp_path / "target").mkdir()
    words = {"target": str(tmp_path / "target"), "store": str(tmp_path / "results"), "repetitions": 2}
    made = iosonde.run("sleep 0.0${n}", set={"n": [1, 2]}, **words)
    assert made.outcome.ended.measured == 4 and capsys.readouterr() == ("", "")
    assert [row["n"] for row in iosonde.summary(made.store).to_dict()["groups"]] == [2, 2]


def test_nothing_prints(results, capsys):
    iosonde.summary(results)
    iosonde.check(results)
    assert capsys.readouterr() == ("", "")


def test_a_published_side_may_have_any_name():
    """Its name is no part of a text that is taken apart again."""
    side = {"mean": 177.1, "sd": 14.2, "n": 8}
    made = iosonde.compare(a_summary=side | {"name": "UFS, 1997"}, b_summary=side | {"name": "NFS"})
    assert "UFS, 1997" in str(made)


def test_every_ranking_has_its_sentence(tmp_path):
    (tmp_path / "runs.csv").write_text("\n".join(rank_rows()) + "\n")
    one = iosonde.rank(tmp_path / "runs.csv", "write", on=["network", "servers"]).answer
    assert one.sentence == one.rankings[0].sentence and one.sentence.startswith("network ")
    rankings = (one.rankings[0], replace(one.rankings[0], response="other"))
    two = replace(one, rankings=rankings, besides=2 * one.besides)
    assert two.sentence == f"{one.rankings[0].response}: {one.sentence} other: {one.sentence}"


def test_advice_on_a_store_is_on_each_operation_over_what_was_in_use(tmp_path):
    place = options(tmp_path / "s", {"write_behind": "off", "cache": "64"})
    every = iosonde.advise(place, ["write_behind", "cache"])
    assert every.answer.sentence.startswith("write bandwidth_last_done: ")
    assert set(every.to_frame()["response"]) == {"write bandwidth_last_done", "read bandwidth_last_done"}
    with raises("ambiguous-response", iosonde.IosondeError, n_responses=2):
        every.plot()
    one = iosonde.advise(place, ["write_behind", "cache"], "write").answer.advice
    assert one.current == "off/64" and "write_behind=off" in one.warnings[0]


@pytest.mark.parametrize("name", [name for name in iosonde.__all__ if name[0].islower()])
def test_the_docstring_of_a_function_ends_with_an_example_that_it_takes(name):
    text = inspect.getdoc(getattr(iosonde, name)) or ""
    _, _, examples = text.partition("\nExamples\n--------\n")
    calls = [
        node
        for example in doctest.DocTestParser().get_examples(examples)
        for node in ast.walk(ast.parse(example.source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name
    ]
    assert calls
    for call in calls:
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        inspect.signature(getattr(iosonde, name)).bind(*call.args, **keywords)
