"""What single commands ask of a store and of a table."""

from __future__ import annotations

import test_data_sources as sample

from iosonde.answers.tools import find_own_clock
from iosonde.commands.plot.chosen import _move_operations_to_responses
from iosonde.commands.report.questions import list_factor_names
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import Source
from iosonde.data.varying import list_other_varying

campaign, table, several, opened = sample.campaign, sample.table, sample.several, sample.opened


def split_metrics(source: Source, *metrics: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    query = _move_operations_to_responses(source, ResponseQuery(metric=metrics))
    return query.response, query.metric


def test_names_among_metrics_are_operations_or_columns(campaign, table):
    assert split_metrics(campaign, "write", "bandwidth", "write seconds") == (
        ("write", "write seconds"),
        ("bandwidth",),
    )
    assert split_metrics(table, "rate", "all") == (("rate",), ())


def list_settings(source: Source, query: ResponseQuery) -> list[str]:
    return list(list_other_varying(source, build_responses(source, query)[0], ()))


def test_settings_are_declared_or_guessed(campaign, table):
    assert list_settings(campaign, ResponseQuery(("value",))) == campaign.varying_factors.names
    assert list_settings(table, ResponseQuery(("rate (MB/s)",))) == ["nodes"]
    assert list_factor_names(table) == table.table.names and not table.varying_factors.names


def test_a_clock_is_that_of_our_engine(campaign, table):
    query = ResponseQuery()
    assert find_own_clock(campaign, query) == "last_done" and find_own_clock(table, query) == ""


def test_factors_of_a_store_vary_or_are_declared(several):
    assert list_factor_names(opened(several, experiment="one")) == ["size", "nodes", "fixed"]
    assert list_factor_names(opened(several)) == ["size", "depth", "nodes", "fixed"]


def test_operations_of_other_tools_have_no_clock_of_ours(several):
    one, two, every = (opened(several, experiment=word) for word in ("one", "two", "all"))
    assert [find_own_clock(source, ResponseQuery()) for source in (one, two, every)] == ["last_done", "", "last_done"]
    assert find_own_clock(every, ResponseQuery(metric=("open_time",))) == ""
    assert find_own_clock(opened(several, "operation=none"), ResponseQuery(clock="overlap")) == "overlap"
    names = ("read", "write x", "tcp")
    assert split_metrics(every, *names, "bandwidth") == (names, ("bandwidth",))
