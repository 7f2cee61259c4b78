"""What programs read of the dashboard: ``/metrics`` for Prometheus, ``/api/…`` as JSON."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest

import history_sample
from here import iosonde
from iosonde.core.types import Experiment, Observation, Run, Trial
from iosonde.serve import server as servers
from iosonde.serve.guard import Doorkeeper
from iosonde.serve.overview import get_deadline, get_headlines
from iosonde.serve.pages import metrics
from iosonde.serve.pages.metrics import MetricFamily, format_labels
from iosonde.serve.shelf import open_shelf
from iosonde.store import Store
from iosonde.store.index import Index

TOKEN = "a-token-that-nobody-guesses"
OPEN, CLOSED = Doorkeeper("127.0.0.1", 1, None), Doorkeeper("127.0.0.1", 1, TOKEN)
HOSTILE = 'a"b\\c\n\u202e\ud800{x="y"} 1'
DAYS = 40
# The text format 0.0.4, as its specification has it.
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(metrics, "_PATIENCE_S", 600.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    history_sample.write(str(folder / "nightly"), days=DAYS)
    odd = Store.create(folder / "odd")
    odd.save_experiment(
        Experiment("odd", HOSTILE.replace("\ud800", ""), [], {"steps": []}, [Trial(0, {}, 0, 0, 0)], 1, "")
    )
    odd.append(
        Run("odd-0", "odd", "x", "", 1.0, {HOSTILE: HOSTILE, "nodes": 1}, [Observation(HOSTILE, "real", 2.0, "s")])
    )
    return folder


@pytest.fixture(scope="module")
def shelf(folder, tmp_path_factory):
    place = tmp_path_factory.mktemp("index") / "index.sqlite"
    made = open_shelf([str(folder / "nightly"), str(folder / "odd")], Index(place))
    made.look(thorough=True)
    return made


def ask(shelf, path, guard=OPEN, headers=(), **words):
    target = f"{path}?{urlencode(words, doseq=True)}" if words else path
    return servers.answer_request(shelf, guard, target, {"Host": "127.0.0.1:1", **dict(headers)})


def parse_metrics(text):
    """Return metric → labels → value; fails for a line that is not of the format, and for a repeated sample."""
    samples, declared = {}, set()
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert kind == "gauge" and name not in declared
            declared.add(name)
        elif not line.startswith("# HELP "):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            key = tuple(sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")))
            assert name in declared and key not in samples.setdefault(name, {})
            samples[name][key] = float(value)
    return samples


def select(samples, name, **labels):
    return [value for key, value in samples.get(name, {}).items() if labels.items() <= dict(key).items()]


@pytest.fixture(scope="module")
def scraped(shelf):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics, "_PATIENCE_S", 600.0)
        said = ask(shelf, "/metrics")
    assert said.status == 200 and said.kind == "text/plain; version=0.0.4; charset=utf-8"
    return said.body.decode()


def test_the_newest_numbers_are_those_of_their_experiment(shelf, scraped):
    samples = parse_metrics(scraped)
    night = "nightly-20260809"
    for headline in get_headlines(shelf, shelf.stores[0], night, get_deadline(600)):
        labels = {
            "store": "nightly",
            "experiment": night,
            "operation": headline.operation,
            "metric": headline.metric,
            "settings": headline.setting,
            "unit": headline.unit,
        }
        assert select(samples, "iosonde_headline", **labels) == [headline.value]
        assert select(samples, "iosonde_headline_low", **labels) == [headline.low]
        assert select(samples, "iosonde_headline_high", **labels) == [headline.high]
        assert select(samples, "iosonde_headline_trials", **labels) == [2.0]
    assert len(select(samples, "iosonde_headline", store="nightly")) == 4


def test_every_series_is_in_one_state(scraped):
    samples = parse_metrics(scraped)
    write, create = {"store": "nightly", "operation": "write"}, {"store": "nightly", "operation": "create"}
    assert select(samples, "iosonde_series_state", **write, state="open") == [1.0, 1.0]
    assert select(samples, "iosonde_series_state", **create, state="open") == [0.0, 0.0]
    assert sum(select(samples, "iosonde_series_state")) == len(select(samples, "iosonde_series_points")) == 5
    assert select(samples, "iosonde_series_points", store="nightly") == [DAYS] * 4
    assert select(samples, "iosonde_series_state", store="odd", state="cannot tell") == [1.0]


def test_stores_have_their_counts_and_the_time_of_the_newest_run(scraped):
    samples = parse_metrics(scraped)
    assert select(samples, "iosonde_runs", store="nightly") == [4.0 * DAYS]
    assert select(samples, "iosonde_experiments") == [DAYS, 1.0] and select(samples, "iosonde_complete") == [1.0]
    newest = datetime(2026, 8, 9, 2, 3, tzinfo=UTC).timestamp()
    assert select(samples, "iosonde_newest_run_timestamp_seconds") == [newest], "an undated run has no time"


def test_prometheus_own_parser_reads_it(scraped):
    pytest.importorskip("prometheus_client")
    from prometheus_client.parser import text_string_to_metric_families

    families = {family.name: family for family in text_string_to_metric_families(scraped)}
    samples = parse_metrics(scraped)
    assert families.keys() == samples.keys()
    assert all(len(families[name].samples) == len(some) for name, some in samples.items())
    (odd,) = [sample for sample in families["iosonde_headline"].samples if sample.labels["store"] == "odd"]
    assert odd.value == 2.0 and '"' in odd.labels["operation"] and "\u202e" not in scraped


def test_labels_are_escaped_and_samples_are_not_repeated():
    assert format_labels({"a": 'x"\\'}) == '{a="x\\"\\\\"}' and format_labels({}) == ""
    family = MetricFamily("f", "text")
    for value in (1.0, 2.0, float("nan"), None):
        family.add({"a": "b"}, value)
    family.add({"a": "c"}, float("inf"))
    assert list(family.samples.values()) == [1.0] and MetricFamily("f", "text").list_lines() == []


def test_each_setting_has_a_label_of_its_own(scraped):
    series = [dict(key) for key in parse_metrics(scraped)["iosonde_series_points"]]
    assert all(row["settings"] == f"nodes={row['nodes']}" for row in series if "nodes" in row)
    assert any("nodes" in row for row in series) and "bandwidth" in {row["metric_name"] for row in series}


def test_names_of_settings_become_labels():
    levels = {"nodes": 4.0, "block-size": 4096, "block size": 1, "state": "on", "4k": "x", "größe": 2, "job": "a"}
    labels = metrics.name_setting_labels(levels)
    assert list(labels.values()) == ["4", "4096", "1", "on", "x", "2", "a"]
    assert list(labels) == [
        "nodes",
        "block_size",
        "setting_block_size",
        "setting_state",
        "setting_4k",
        "gr__e",
        "setting_job",
    ]


def test_an_empty_store_is_scraped(tmp_path):
    made = open_shelf([str(Store.create(tmp_path / "s").path)], Index())
    made.look()
    samples = parse_metrics(ask(made, "/metrics").body.decode())
    assert select(samples, "iosonde_runs") == [0.0] and "iosonde_headline" not in samples


@pytest.mark.parametrize("path", ["/metrics", "/api", "/api/show", "/api/watch", "/api/nothing"])
def test_programs_need_the_token_too(shelf, path):
    assert ask(shelf, path, CLOSED).status == 401
    assert ask(shelf, path, CLOSED, {"Authorization": f"Bearer {TOKEN}"}).status != 401
    assert ask(shelf, path, headers={"Host": "evil.example"}).status == 421


def read_json(said):
    assert said.kind == "application/json" and said.body.isascii()
    return json.loads(said.body)


def test_stores_are_listed_with_the_documents(shelf):
    listing = read_json(ask(shelf, "/api"))
    assert [(store["store"], store["runs"]) for store in listing["stores"]] == [(1, 4 * DAYS), (2, 1)]
    for path in listing["documents"]:
        assert ask(shelf, path).status == 400, "each needs a store"


NIGHTS = {"a": "nightly-20260702", "b": "nightly-20260808"}


@pytest.mark.parametrize(
    ("path", "words", "command"),
    [
        ("/api/show", {"store": 1, "run": "nightly-20260702-0001"}, ["show", "nightly", "nightly-20260702-0001"]),
        ("/api/show", {"store": 1}, ["show", "nightly"]),
        (
            "/api/summary",
            {"store": 1, "experiment": "nightly-20260702"},
            ["summary", "nightly", "--experiment", "nightly-20260702"],
        ),
        ("/api/summary", {"store": 1}, ["summary", "nightly"]),
        (
            "/api/summary",
            {"store": 1, "where": "nodes=2", "response": "write", "by": "nodes"},
            ["summary", "nightly", "--response", "write", "--by", "nodes", "--where", "nodes=2"],
        ),
        ("/api/watch", {"store": 1}, ["watch", "nightly"]),
        (
            "/api/watch",
            {"store": 1, "response": "write", "where": "nodes=2"},
            ["watch", "nightly", "--response", "write", "--where", "nodes=2"],
        ),
    ],
)
def test_documents_are_those_of_the_commands(shelf, folder, path, words, command):
    document = read_json(ask(shelf, path, **words))
    printed = json.loads(iosonde(*command, "--json", where=folder).stdout)
    for name in ("store", "path"):  # a path as it was typed
        document.pop(name, None), printed.pop(name, None)
    assert document == printed


def test_a_comparison_is_that_of_the_command(shelf):
    words = dict.fromkeys(NIGHTS, 1) | {f"where_{side}": f"experiment={night}" for side, night in NIGHTS.items()}
    document = read_json(ask(shelf, "/api/compare", **words))
    assert {"verdicts", "comparisons", "schema"} <= document.keys()


@pytest.mark.parametrize(
    ("target", "status", "code"),
    [
        ("/api/nothing", 404, "unknown-page"),
        ("/api/", 404, "unknown-page"),
        ("/api/show?store=9", 400, "unknown-store"),
        ("/api/show?store=1&run=../../secret", 400, ""),
        ("/api/summary?store=1&where=nods%3D1", 400, ""),
        ("/api/summary?store=1&last=0", 400, "out-of-range"),
        ("/api/watch?store=1&where=nodes%3D77", 400, "no-matching-runs"),
        ("/api/compare?a=1", 400, "missing-parameter"),
    ],
)
def test_a_mistake_is_a_document_with_its_code(shelf, target, status, code):
    said = ask(shelf, target)
    error = read_json(said)["error"]
    assert said.status == status and code in error["code"] and error["message"]


def test_a_decision_changes_the_documents_at_once(tmp_path):
    history_sample.write(str(tmp_path / "nightly"), days=DAYS)
    made = open_shelf([str(tmp_path / "nightly")], Index(tmp_path / "index.sqlite"))
    made.look(thorough=True)
    before = json.loads(ask(made, "/api/watch", store="1").body)
    change = before["changes"][0]["id"]
    iosonde("watch", "nightly", "--accept", change, "--because", "a slower disk is in use", where=tmp_path)
    after = json.loads(ask(made, "/api/watch", store="1").body)
    states = {entry["id"]: entry["state"] for entry in after["changes"]}
    assert states[change] == "accepted" != before["changes"][0]["state"]
