"""The answers in Python: the same numbers, texts and errors as on the command line; nothing prints, nothing shadows."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from stats_sample import store

import iosonde
from iosonde.cli.group import cli

CP = Path(__file__).parents[1] / "golden" / "data" / "cp_raw.csv"


def shown(*words: str) -> str:
    return CliRunner().invoke(cli, list(words)).stdout


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> str:
    place = tmp_path_factory.mktemp("api") / "results"
    store(place)
    return str(place)


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (("summary", "CP", "--response", "real_s", "--by", "replicas"),
         lambda: iosonde.summary(CP, "real_s", "replicas")),
        (("rank", "CP", "--response", "real_s", "--on", "replicas"),
         lambda: iosonde.rank(CP, response="real_s", on=["replicas"])),
        (("check", "CP", "--response", "real_s", "--by", "replicas"),
         lambda: iosonde.check(CP, response="real_s", by="replicas")),
        (("check", "CP", "--noise", "--response", "real_s", "--by", "replicas"),
         lambda: iosonde.noise(CP, "real_s", by="replicas")),
        (("regress", "CP", "--response", "real_s", "--on", "replicas", "--at", "replicas=9"),
         lambda: iosonde.regress(CP, "real_s", "replicas", at=[{"replicas": 9}])),
        (("anova", "CP", "--response", "real_s", "--on", "replicas"),
         lambda: iosonde.anova(CP, "real_s", "replicas")),
        (("compare", "CP", "--response", "real_s", "--group", "replicas", "1", "2"),
         lambda: iosonde.compare(CP, "replicas", ["1", "2"], response="real_s")),
        (("scale", "CP", "--response", "1/real_s", "--on", "replicas"),
         lambda: iosonde.scale(CP, "replicas", response="1/real_s")),
        (("fit", "CP", "--response", "real_s", "--on", "replicas", "--family", "linear"),
         lambda: iosonde.fit(CP, "real_s", "replicas", families="linear")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_text_and_data_are_those_of_the_command(words, made):
    words = [str(CP) if word == "CP" else word for word in words]
    answer = made()
    assert str(answer) + "\n" == shown(*words)
    assert answer.to_dict() == json.loads(shown(*words, "--json"))
    assert len(answer.to_frame()) == len(answer.answer.records())


def test_a_store_is_opened_once_for_several_questions(results):
    data = iosonde.open(results)
    assert str(iosonde.summary(data)) + "\n" == shown("summary", results)
    assert iosonde.summary(data).to_frame()["n"].tolist()[0] == 6
    assert iosonde.verify(data).to_dict()["n_runs"] > 0
    assert iosonde.summary(results, where=["nodes=1"], clock="all", level=0.9).to_dict()["level"] == 0.9


def test_a_frame_is_data_like_its_file():
    frame = pd.read_csv(CP, comment="#")
    assert iosonde.summary(frame, "real_s", by="replicas").to_dict() == iosonde.summary(
        CP, "real_s", by="replicas").to_dict()  # fmt: skip


def test_errors_are_exceptions_with_the_sentence_of_the_command(tmp_path):
    with pytest.raises(iosonde.IosondeError) as error:
        iosonde.summary(tmp_path / "no.csv")
    assert "does not exist" in error.value.message and error.value.hint
    with pytest.raises(iosonde.IosondeError, match="not a table"):
        iosonde.summary(42)
    with pytest.raises(iosonde.IosondeError, match="confidence level"):
        iosonde.summary(CP, "real_s", level=95)


def test_no_room_shadows_a_function():
    for module in pkgutil.iter_modules(iosonde.__path__):
        importlib.import_module(f"iosonde.{module.name}")
    for name in iosonde.__all__:
        assert callable(getattr(iosonde, name)), name


def test_importing_the_package_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import iosonde; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout and "iosonde.api" not in done.stdout


def test_an_answer_draws_itself_and_says_where_it_cannot():
    figure = iosonde.rank(CP, response="real_s", on="replicas").plot()
    assert figure.image("svg").startswith(b"<?xml") and "image/svg+xml" in figure._repr_mimebundle_()
    with pytest.raises(iosonde.IosondeError, match="has no figure"):
        iosonde.summary(CP, "real_s", by="replicas").plot()


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
