"""The dashboard and the alerts of examples/grafana ask for metrics that serve has; a real Prometheus answers them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import pytest

import history_sample
from iosonde.serve import server as servers
from iosonde.serve.guard import Doorkeeper
from iosonde.serve.pages import metrics
from iosonde.serve.shelf import open_shelf
from iosonde.store.index import Index

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "grafana"
METRIC = re.compile(r"iosonde_\w+")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grafana")
    history_sample.write(str(folder / "nightly"), days=45)
    shelf = open_shelf([str(folder / "nightly")], Index(folder / "index.sqlite"))
    shelf.look(thorough=True)
    return shelf


def list_queries() -> list[str]:
    dashboard = json.loads((FOLDER / "iosonde.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    queries += re.findall(r"expr: (.*)", (FOLDER / "alerts.yml").read_text())
    return [query.replace("$store", ".*") for query in queries]


def test_every_query_is_of_metrics_that_are_served(shelf, monkeypatch):
    monkeypatch.setattr(metrics, "_PATIENCE_S", 600.0)
    answer = servers.answer_request(shelf, Doorkeeper("127.0.0.1", 1, None), "/metrics", {"Host": "127.0.0.1:1"})
    served = set(re.findall(r"^# TYPE (\w+)", answer.body.decode(), re.M))
    asked = {name for query in list_queries() for name in METRIC.findall(query)}
    # Nothing is damaged in this store, but a family without a sample is not written.
    assert asked - {"iosonde_unreadable_runs"} <= served and len(asked) >= 6


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("prometheus"), reason="needs prometheus: apt install prometheus")
def test_a_real_prometheus_answers_the_dashboard(shelf, tmp_path):
    server, places = servers.create_server("127.0.0.1", 0), servers.create_server("127.0.0.1", 0)
    port, own = server.server_address[1], places.server_address[1]
    places.server_close()
    text = (FOLDER / "prometheus.yml").read_text().replace("8642", str(port)).replace("1m", "1s")
    (tmp_path / "prometheus.yml").write_text(text)
    shutil.copy(FOLDER / "alerts.yml", tmp_path)
    words = [f"--config.file={tmp_path / 'prometheus.yml'}", f"--storage.tsdb.path={tmp_path / 'data'}"]
    log = (tmp_path / "log").open("w")
    with servers.serve_in_background(server, shelf, Doorkeeper("127.0.0.1", port, None)):
        process = subprocess.Popen(["prometheus", *words, f"--web.listen-address=127.0.0.1:{own}"], stderr=log)
        try:
            answers = wait_for_answers(own)
        finally:
            process.terminate()
            process.wait(30)
    # One series of rates has no unit of time; all others have an answer.
    empty = {query for query, values in answers.items() if not values}
    assert all('unit="s"' in query or "unreadable" in query for query in empty)
    assert [float(row["value"][1]) for row in answers[list_queries()[0]]] == [2.0]


def wait_for_answers(port: int) -> dict[str, list[dict[str, list[str]]]]:
    """Ask every query until the metrics are complete; at most 60 s."""
    for _ in range(120):
        try:
            if any(float(row["value"][1]) == 1 for row in query_prometheus(port, "iosonde_complete")):
                break
        except OSError:
            pass
        time.sleep(0.5)
    return {query: query_prometheus(port, query) for query in list_queries()}


def query_prometheus(port: int, query: str) -> list[dict[str, list[str]]]:
    address = f"http://127.0.0.1:{port}/api/v1/query?{urlencode({'query': query})}"
    with urllib.request.urlopen(address, timeout=10) as answer:
        rows: list[dict[str, list[str]]] = json.load(answer)["data"]["result"]
    return rows
