"""A stored campaign and a table are two implementations of one interface."""

from __future__ import annotations

import pytest
from test_data_factors import NOW, trial

from iosonde.core.types import Experiment, Factor
from iosonde.data.query import EVERY, MetricChoice, ResponseQuery
from iosonde.data.source import Source, open_data
from iosonde.store import Store
from messages import raises

ROWS = "nodes,rate (MB/s)\n1,10\n1,11\n2,19\n2,21\n"


@pytest.fixture
def campaign(tmp_path) -> Source:
    store = Store.create(tmp_path / "s")
    store.save_experiment(Experiment("one", "a test", [Factor("nodes")], {}, [], 1, NOW))
    for number in range(4):
        store.append(trial(number, 100.0 + number, "one"))
    return open_data(store)


@pytest.fixture
def table(tmp_path) -> Source:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS, encoding="utf-8")
    return open_data(path)


def test_only_a_campaign_has_runs_operations_and_experiments(campaign, table):
    assert (len(campaign.runs), len(campaign.all_runs), len(campaign.experiments)) == (4, 4, 1)
    assert table.runs == table.all_runs == table.probes == table.experiments == table.all_experiments == ()
    assert campaign.has_operations and len(campaign.operations(campaign.runs[0].id)) == 0
    assert not table.has_operations and table.find_problems() == []


def test_a_table_requires_what_a_campaign_knows(campaign, table):
    campaign.require_names(ResponseQuery())
    with raises("missing-option", option="--response"):
        table.require_names(ResponseQuery())
    with raises("missing-option", option="--on"):
        table.require_names(ResponseQuery(("rate",)))


def test_a_table_is_no_campaign(campaign, table):
    assert str(campaign.require_campaign("{name} is a table", "give a store").path) == campaign.path
    with raises("not-a-store", name="rows"):
        table.require_campaign("{name} is a table", "give a store", name="rows")


def test_only_a_campaign_without_rows_misses_trials(campaign, table):
    campaign.require_trials(campaign.table)
    table.require_trials(table.table.take([]))
    with raises("no-results"):
        campaign.require_trials(campaign.table.take([]))


def test_names_among_metrics_are_operations_or_columns(campaign, table):
    assert campaign.split_metrics(("write", "bandwidth", "write seconds")) == (
        ("write", "write seconds"),
        ("bandwidth",),
    )
    assert table.split_metrics(("rate", "all")) == (("rate",), ())


def test_settings_are_declared_or_guessed(campaign, table):
    assert list(campaign.settings_among(campaign.table, ["value"])) == list(campaign.varying_factors.names)
    assert list(table.settings_among(table.table, ["rate (MB/s)"])) == ["nodes"]
    assert table.factor_names == table.table.names and not table.varying_factors.names


def test_a_clock_is_that_of_our_engine(campaign, table):
    assert campaign.own_clock(MetricChoice()) == "last_done" and table.own_clock(EVERY) == ""
