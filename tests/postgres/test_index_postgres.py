"""The index in a real PostgreSQL: what holds of the SQLite file holds there, and what only a server can do wrong."""

from __future__ import annotations

import subprocess
import sys

import psycopg
import pytest
from server import running

import here
from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.where import Condition, parse_where
from iosonde.store import Store
from iosonde.store.index import Index, Refreshed
from iosonde.store.index_postgres import SCHEMA, hide_password
from messages import raises
from unit.test_store_index import (  # noqa: F401
    HOSTILE,
    design,
    run,
    store,
    test_a_condition_that_cannot_be,
    test_a_damaged_run_is_named_and_read_again_when_it_is_mended,
    test_a_run_in_the_place_of_another_is_read_again,
    test_a_thorough_look_notices_a_run_json_that_was_put_into_its_directory,
    test_an_experiment_can_be_asked_for_by_its_title,
    test_conditions_mean_what_they_mean_of_the_store,
    test_new_runs_are_added_and_gone_ones_dropped,
    test_pages_are_cut_and_counted,
    test_several_stores_are_asked_at_once,
    viewed,
)

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def server():
    with running() as url:
        yield url


@pytest.fixture
def url(server):
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    return server


@pytest.fixture
def index(url):
    made = Index.at(url)
    yield made
    made.close()


def test_names_are_text_whatever_is_in_them(store, index):  # noqa: F811
    weird = {"nodes": 1, HOSTILE: HOSTILE, "nul\0here": "a\0b", "half \ud800": "half \ud800", "percent %s ?": "100 %"}
    store.append(run(7, factors=weird, source=HOSTILE + "\0"))
    store.notes.change("a-01", [HOSTILE])
    view = viewed(index, store)
    assert view.runs([Condition(HOSTILE, "=", HOSTILE)]).total == 1
    assert view.runs([Condition("tags", "=", HOSTILE)]).total == 1
    assert view.runs([Condition("tags", "=", "a\0b")]).total == 0
    assert view.runs([Condition("started_at", "<", "a\0b")]).total == 7
    assert view.runs([Condition("percent %s ?", "=", "100 %")]).runs[0].factors["nul\\x00here"] == "a\0b"
    assert view.counted() == (1, 7, 0)


def test_two_that_write_at_once_write_each_run_once(tmp_path, url):
    stores = [Store.create(tmp_path / name) for name in ("one", "two")]
    for number, one in enumerate(stores):
        one.append_many([run(n % 28, f"e{number}-{n // 28}") for n in range(300)])
    code = (
        "import sys; from iosonde.store import Store; from iosonde.store.index import Index\n"
        "index = Index.at(sys.argv[1])\n"
        "for path in sys.argv[2:]: index.refresh(Store.open(path))"
    )
    paths = [str(one.path) for one in stores]
    several = [subprocess.Popen([sys.executable, "-c", code, url, *order]) for order in (paths, paths[::-1], paths)]
    assert [one.wait(120) for one in several] == [0, 0, 0]
    made = Index.at(url)
    view = viewed(made, *stores)
    assert view.counted()[1:] == (600, 0) and view.runs(parse_where(["nodes=2"])).total == 300 - 300 % 2
    assert [made.refresh(one) for one in stores] == [Refreshed(), Refreshed()]


def test_an_index_that_is_older_than_its_store_is_brought_up_to_date(store, url):  # noqa: F811
    first, second = Index.at(url), Index.at(url)
    assert first.refresh(store).added == 6
    store.append(run(6))
    assert second.refresh(store) == Refreshed(1) and first.refresh(store) == Refreshed()
    assert viewed(first, store).runs().total == 7


def test_another_store_at_the_same_place_is_another_one(store, index, tmp_path):  # noqa: F811
    """As on another machine of the team: no run of the one is dropped because the other has none of its name."""
    number = index.number(store)
    marker = store.path / "store.json"
    marker.write_text(marker.read_text().replace("2026", "2025").replace("created_at", "created_at"))
    assert index.number(Store.open(store.path)) != number


def test_tables_of_another_version_are_left_alone(store, url):  # noqa: F811
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS iosonde_index_1 CASCADE")
        connection.execute("CREATE SCHEMA iosonde_index_1 CREATE TABLE runs (x integer)")
        made = Index.at(url)
        assert made.refresh(store).added == 6
        assert connection.execute("SELECT count(*) FROM iosonde_index_1.runs").fetchone() == (0,)
        assert connection.execute(f"SELECT count(*) FROM {SCHEMA}.runs").fetchone() == (6,)


def test_a_connection_that_is_lost_is_made_again_and_a_lost_index_too(store, url):  # noqa: F811
    made = Index.at(url)
    made.refresh(store)
    with psycopg.connect(url, autocommit=True) as other:
        others = "FROM pg_stat_activity WHERE pid != pg_backend_pid() AND datname IS NOT NULL"
        other.execute(f"SELECT pg_terminate_backend(pid) {others}")
        with raises("unusable-index", SystemFaultError):
            viewed(made, store).runs()
        assert viewed(made, store).runs().total == 6
        other.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
        with raises("unusable-index", SystemFaultError, schema=SCHEMA):
            made.refresh(store, thorough=True)
    assert Index.at(url).refresh(store).added == 6


def test_nobody_there_is_said_without_the_password(tmp_path):
    with pytest.raises(SystemFaultError) as caught:
        Index.at(f"postgresql://me:secret@/postgres?host={tmp_path}")
    assert "secret" not in str(caught.value) and "me:***@" in caught.value.message
    assert hide_password("postgresql://me:se@cret@h:5/d?password=x") == "postgresql://me:***@h:5/d"
    with raises("invalid-address", InputError):
        Index.at("mysql://somewhere")


def test_the_command_line_makes_it_and_serve_reads_it(store, url, tmp_path, monkeypatch):  # noqa: F811
    made = here.iosonde("store", "index", "results", "--into", url, where=tmp_path)
    assert made.returncode == 0 and " 6 " in f" {made.stdout}" and "secret" not in made.stdout + made.stderr
    monkeypatch.setenv("IOSONDE_INDEX", url)
    again = here.iosonde("store", "index", "results", where=tmp_path)
    assert again.stdout.split() != made.stdout.split() and " 0 " in f" {again.stdout}"
