"""Pages of a store whose experiments have not the same factors: a level may be missing in any of them."""

from __future__ import annotations

import json
import math

import pytest

from iosonde.commands.watch.answer import watch
from iosonde.core.level_text import format_level, format_setting
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.core.words import format_level_in_full
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.serve import server as servers
from iosonde.serve.guard import Doorkeeper
from iosonde.serve.pages import PAGES
from iosonde.serve.shelf import open_shelf
from iosonde.store import Store
from iosonde.store.index import Index

NAN = math.nan
# A factor in bytes, one of text with a number, and none but the nodes.
EXPERIMENTS = {
    "sizes": ([Factor("block_size", "bytes", (4096, 65536))], [{"block_size": 4096}, {"block_size": 65536}]),
    "words": (
        [Factor("layout", levels=("a", "b")), Factor("depth", levels=(1, 2))],
        [{"layout": "a", "depth": 1}, {"layout": "b", "depth": 2.5}],
    ),
    "plain": ([], [{}, {}]),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store.create(tmp_path_factory.mktemp("unlike") / "store")
    for day, (name, (factors, cells)) in enumerate(EXPERIMENTS.items(), 1):
        trials = [Trial(n, {**cell, "nodes": 1}, n // 2, n // 2, n) for n, cell in enumerate(cells * 4)]
        declared = [Factor("nodes", levels=(1,)), *factors]
        store.save_experiment(Experiment(name, name, declared, {}, trials, 1, f"2026-11-0{day}T00:00:00Z"))
        store.append_many(
            [
                Run(
                    id=f"{name}-{trial.index}",
                    experiment=name,
                    source="test",
                    seconds=1.0,
                    started_at=f"2026-11-0{day}T00:0{trial.index}:00Z",
                    factors={**trial.factors, "repetition": trial.repetition},
                    observations=[Observation("read", "bandwidth_last_done", 1e8 + trial.index * 1e6, "bytes/s")],
                )
                for trial in trials
            ]
        )
    return store


@pytest.fixture(scope="module")
def shelf(store, tmp_path_factory):
    shelf = open_shelf([str(store.path)], Index(tmp_path_factory.mktemp("index") / "index.sqlite"))
    shelf.look(thorough=True)
    return shelf


QUERIES = {
    "/run": "?store=1&run=sizes-0",
    "/compare": "?a=1&where_a=block_size=4096&b=1&where_b=block_size=65536",
    "/report": "?store=1&experiment=sizes",
    "/live": "?store=1&experiment=sizes",
    "/runs": "?where=experiment=words",
}


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_shown(shelf, path):
    guard = Doorkeeper("127.0.0.1", 8642, None)
    for query in ("", QUERIES.get(path, "")):
        answer = servers.answer_request(shelf, guard, path + query, {"Host": "127.0.0.1:8642"})
        assert answer.status < 500, answer.body.decode()[-2000:]


def test_the_history_names_a_missing_level(shelf):
    guard = Doorkeeper("127.0.0.1", 8642, None)
    said = servers.answer_request(shelf, guard, "/history", {"Host": "127.0.0.1:8642"}).body.decode()
    assert (
        "block_size=4 KiB" in said and "block_size=(missing)" in said and "nan" not in said.lower().split("<script")[0]
    )


def test_watch_is_json_without_nan(store):
    content = watch(open_data(str(store.path)), ResponseQuery()).content()
    assert json.loads(json.dumps(content, allow_nan=False)) == content


def test_a_missing_number_is_a_missing_level():
    assert format_level(NAN, "bytes") == format_level(NAN) == format_level(None, "bytes") == "(missing)"
    assert format_setting({"t": NAN, "n": 2}, {"t": "bytes"}) == "t=(missing), n=2"
    assert format_level_in_full(NAN) == "nan" and format_level_in_full(math.inf) == "inf"
