"""No text for people has a name of the store: a number is called as the tables call it, in answers, hints and pages."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("iosonde.engine._native")
from click.testing import CliRunner

import sample_store
from iosonde.cli.output import print_error
from iosonde.core.errors import IosondeError
from iosonde.core.headlines import suggest_kinds, write_metric_names
from iosonde.core.types import Observation, Run
from iosonde.store import Store
from terminal import command_of

STORED = re.compile(
    r"\w*?\\?_(?:last\\?_done|first\\?_done|sum\\?_of\\?_ranks|while\\?_busy)\b|(?:completion|submission)\\?_latency\w*"
)
FIO = (("bandwidth_sum_of_ranks", "bytes/s"), ("rate_sum_of_ranks", "operations/s"), ("completion_latency_p99", "s"))
IOR = (("bandwidth_last_done", "bytes/s"), ("rate_last_done", "operations/s"))
COMMANDS = (
    "summary {}",
    "summary {} --metric nonsense",
    "check {}",
    "rank {}",
    "anova {}",
    "regress {}",
    "fit {}",
    "validate {}",
    "show {} --profile",
    "compare {} --group depth",
    "compare {} --group depth --markdown",
    "compare {} --group depth --fail-if p99.9>5ms",
    "watch {}",
    "watch {} --markdown",
    "plot {} --metric nonsense",
    "advise {} --choose depth",
)


def store_runs(path: Path, tool: str, metrics: tuple[tuple[str, str], ...]) -> str:
    """Six runs at each of two depths, the second of which is twice as fast."""
    store = Store.create(path)
    for number in range(12):
        level = (1 + number % 2) * (1 + 0.01 * (number * 7 % 5))
        rows = [
            Observation(operation, metric, (1e-4 / level if unit == "s" else 1e8 * level), unit)
            for operation in ("read", "write")
            for metric, unit in metrics
        ]
        factors = {"tool": tool, "depth": 1 + number % 2}
        started = f"2026-11-21T10:{number:02}:00Z"
        headlines = {operation: ["bandwidth", "rate", "completion_latency_p99"] for operation in ("read", "write")}
        facts: dict[str, Any] = {"import": {"file": f"{number}.out"}, "headlines": headlines}
        store.append(Run(f"r-{number:02}", "r", tool, started, 1.0, factors, rows, facts=facts))
    return str(path)


@pytest.fixture(scope="module")
def stores(tmp_path_factory) -> dict[str, str]:
    """A store of our engine, of fio and of IOR."""
    place = tmp_path_factory.mktemp("names")
    sample_store.main(str(place / "engine"))
    return {
        "engine": str(place / "engine"),
        "fio": store_runs(place / "fio", "fio", FIO),
        "ior": store_runs(place / "ior", "ior", IOR),
    }


def show(*words: str) -> str:
    """Return what a terminal shows: the text, or the error with its hint."""
    result = CliRunner().invoke(command_of(words[0]), list(words[1:]))
    if isinstance(result.exception, IosondeError):
        error = result.exception
        return str(write_metric_names(f"{error.message} {error.hint}"))
    return str(result.output)


@pytest.mark.parametrize("tool", ["engine", "fio", "ior"])
@pytest.mark.parametrize("command", COMMANDS)
def test_texts_and_hints_have_no_names_of_the_store(stores, tool, command):
    assert STORED.findall(show(*command.format(stores[tool]).split())) == []


@pytest.mark.parametrize("tool", ["engine", "fio", "ior"])
def test_pages_and_their_evidence_have_none(stores, tool, tmp_path):
    show("report", stores[tool], "-o", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text()
    visible = re.sub(r"(?s)<(script|style|svg|template)\b.*?</\1>", "", page)
    visible = re.sub(r"(?s)<pre[^>]*>.*?</pre>", "", visible)  # data to download
    assert STORED.findall(html.unescape(re.sub(r"<[^>]+>", " ", visible))) == []


@pytest.mark.parametrize("command", ["watch", "summary"])
def test_sentences_of_json_have_none_and_its_keys_remain(stores, command):
    document = json.loads(show(command, stores["fio"], "--json"))
    sentences = list(list_sentences(document))
    assert sentences and not [text for text in sentences if STORED.search(text)]
    assert "bandwidth_sum_of_ranks" in json.dumps(document)


def list_sentences(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from list_sentences(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from list_sentences(each, key)
    elif key in ("sentence", "warnings") and isinstance(value, str):
        yield value


def test_errors_name_metrics_as_tables_do(capsys):
    print_error("compared: read bandwidth_last_done, read rate_last_done", "see 'write completion_latency_p99.9'")
    assert STORED.findall(capsys.readouterr().err) == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("read rate_last_done", "read IOPS"),
        ("create rate_last_done", "create rate"),
        ("write bandwidth_last_done, write bandwidth_sum_of_ranks", "write bandwidth, write bandwidth (sum of ranks)"),
        ("'read completion_latency_p99.9'", "'read completion latency p99.9'"),
        ("/a/read_bandwidth_last_done.csv, my_latency_p99", "/a/read_bandwidth_last_done.csv, my_latency_p99"),
    ],
)
def test_names_in_a_text_of_unknown_responses(text, written):
    assert write_metric_names(text) == written


def test_known_metrics_are_suggested_in_the_words_of_tables():
    expected = ["bandwidth", "completion latency p99", "IOPS"]
    assert suggest_kinds("nonsense", [*(metric for metric, _ in FIO), "completion_latency_p90"]) == expected
    assert suggest_kinds("x", ["rate_last_done"]) == ["rate"]
