"""A stored campaign and a table are two implementations of one interface."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_data_factors import NOW, trial

from iosonde.core.errors import DataError, InputError
from iosonde.core.hardware import SOURCE as PROBE
from iosonde.core.table import build_table
from iosonde.core.types import Experiment, Factor, Observation
from iosonde.data.experiments import resolve_single_experiment
from iosonde.data.options import DataOptions
from iosonde.data.query import MetricChoice, ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import Source, StoredSource, open_data
from iosonde.store import Store
from messages import assert_problem, raises

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
    assert campaign.knows_factors and len(campaign.operations(campaign.runs[0].id)) == 0
    assert not table.knows_factors and table.find_problems() == [] and len(table.operations("run")) == 0


def test_a_table_is_no_campaign(campaign, table):
    assert str(campaign.require_campaign("{name} is a table", "give a store").path) == campaign.path
    with raises("not-a-store", name="rows"):
        table.require_campaign("{name} is a table", "give a store", name="rows")


def test_only_a_campaign_without_rows_misses_trials(campaign, table):
    campaign.require_trials(campaign.table)
    table.require_trials(table.table.take([]))
    with raises("no-results"):
        campaign.require_trials(campaign.table.take([]))


def ior_trial(number: int, **factors):
    rows = [Observation("read", "bandwidth_last_done", 7.0, "bytes/s"), Observation("read", "open_time", 1.0, "s")]
    return replace(
        trial(number, 0.0, "two", facts={"import": {}}, **factors),
        observations=rows,
        headlines={"read": ["bandwidth"]},
    )


@pytest.fixture(scope="module")
def several(tmp_path_factory) -> Store:
    """Two experiments: three trials of our engine and one incomplete, two of IOR; and a probe of one node."""
    store = Store.create(tmp_path_factory.mktemp("several") / "s")
    sizes = [Factor("nodes", "hosts"), Factor("size", "bytes", (1, 2)), Factor("fixed")]
    store.save_experiment(Experiment("one", "the first", sizes, {"steps": []}, [], 1, NOW))
    store.save_experiment(Experiment("two", "the second", [Factor("depth", "m")], {"steps": []}, [], 1, NOW + "1"))
    store.save_experiment(Experiment("planned", "", [Factor("x", "s")], {}, [], 1, NOW + "2"))
    beside = {"measured_beside": [7]}
    store.append(trial(1, 100.0, "one", beside, repetitions=2, size=1, block_size=4))
    store.append(trial(0, 110.0, "one", size=2, block_size=4))
    store.append(trial(2, 120.0, "one", size=2, block_size=4))
    store.append(replace(trial(3, 130.0, "one", size=1, block_size=4), missing=["rank 1"]))
    store.append_many([ior_trial(10 + depth, depth=depth) for depth in (1, 2)])
    rank = Observation("tcp", "bandwidth", 9.0, "bytes/s", rank=0)
    store.append(replace(trial(20, 0.0, "net"), source=PROBE, observations=[rank]))
    return store


def ids(runs) -> list[str]:
    return [run.id for run in runs]


def opened(store: Store, *where: str, experiment: str | None = None, ranks: bool = True) -> StoredSource:
    source = open_data(store, where, experiment, ranks)
    assert isinstance(source, StoredSource)
    return source


def test_runs_of_a_campaign_are_those_of_its_conditions(several):
    source = opened(several, experiment="one")
    assert ids(source.runs) == ["one-0000", "one-0001", "one-0002", "one-0003"]
    assert [run.counts for run in source.runs] == [True, True, True, False]
    assert ids(source.all_runs) == [*ids(source.runs), "two-0011", "two-0012", "net-0020"]
    assert (ids(source.probes), ids(source.trial_runs)) == (["net-0020"], ids(source.runs))
    assert ids(opened(several).trial_runs) == ids(source.all_runs)[:-1]
    assert ids(opened(several, "size=2", "operation=write").runs) == ["one-0000", "one-0002"]
    assert [run.counts for run in opened(several, "complete=any", experiment="one").runs] == [True] * 4
    assert repr(source) == f"{several.path}: 4 runs, 4 results"
    assert (source.path, source.name, source.experiment) == (str(several.path),) * 2 + ("one",)


def test_experiments_of_a_campaign_are_those_of_its_runs(several):
    source = opened(several, experiment="one")
    assert ids(source.experiments) == ["one"] and ids(source.all_experiments) == ["one", "two", "planned"]
    assert ids(opened(several).experiments) == ["one", "two"]
    assert several.experiment(opened(several).runs[-2].experiment).name == "the second"
    with raises("unknown-experiment", InputError):
        several.experiment(opened(several).probes[0].experiment)
    assert source.find_problems() == [] and source.damage == ()


def test_factors_of_a_campaign_vary_or_are_declared(several):
    one, every = opened(several, experiment="one"), opened(several)
    assert one.varying_factors.names == ["size"]
    assert every.varying_factors.names == ["size", "depth"]
    assert one.units() == {"nodes": "hosts", "size": "bytes", "block_size": "bytes"}
    assert opened(several, experiment="two").units() == {"depth": "m"}
    assert (every.apart(["nodes"]), every.apart([])) == (("nodes",), ())
    assert every.apart(["size", "depth"]) == ("size", "depth")


def test_trials_are_rows_of_runs_by_time_and_warn_of_other_measurements(several):
    source = opened(several, experiment="one")
    trials = source.trials()
    assert trials.rows.numbers("value").tolist() == [110.0, 100.5, 120.0]
    assert [str(run) for run in trials.rows.columns["run"].values] == ["one-0000", "one-0001", "one-0002"]
    (warning,) = trials.warnings
    assert_problem(warning, "concurrent-measurements", n_concurrent=1, n_runs=3)
    assert source.trials() is trials and source.trials(MetricChoice()) is not trials
    assert source.describe_concurrency({"one-0000", "one-0002"}) == []
    assert_problem(source.describe_concurrency(["one-0001"])[0], "concurrent-measurements", n_concurrent=1, n_runs=1)
    assert source.trials().iterations.numbers("value").tolist() == [110.0, 100.0, 101.0, 120.0]
    assert opened(several, "size=2", experiment="one").trials().warnings == ()
    every = opened(several)
    assert [len(every.trials(MetricChoice(clock)).rows) for clock in ("last_done", "first_done", "all")] == [5, 0, 7]


def test_rows_of_single_ranks_are_no_trials(several):
    every, probe = opened(several), opened(several, experiment="net")
    assert (len(every.table), len(every.trial_rows), len(every.run_rows)) == (9, 8, 8)
    assert (len(probe.table), len(probe.trial_rows)) == (1, 0) and probe.varying_factors.names == []
    with raises("no-trials", InputError, name=several.path):
        _ = probe.run_rows
    assert len(opened(several, "operation=none").run_rows) == 0


def test_operations_of_other_tools_are_foreign(several):
    one, two, every = (opened(several, experiment=word) for word in ("one", "two", "all"))
    assert (one.foreign, two.foreign, every.foreign) == (frozenset(), {"read"}, {"read"})


def test_values_of_a_campaign_are_of_one_kind_unless_columns_separate_them(several):
    opened(several, experiment="one").require_single_kind([])
    two = opened(several, experiment="two")
    two.require_single_kind(["operation", "metric"])
    two.require_single_kind(["metric"])
    with raises("ambiguous-metric", n_kinds=2):
        two.require_single_kind(["operation"])


def test_an_empty_selection_names_the_incomplete_runs(several):
    source = opened(several, experiment="one")
    with raises("no-complete-trials", DataError, incomplete="1 incomplete run", source=several.path):
        source.require_trials(source.table.take([]))


def test_a_narrower_campaign_has_all_conditions(several):
    source = opened(several, "size=2")
    narrower = replace(source, name="mine").narrow([("nodes", "=", "1")], "one")
    assert isinstance(narrower, StoredSource)
    assert (narrower.where, narrower.experiment) == ((("size", "=", "2"), ("nodes", "=", "1")), "one")
    assert (narrower.name, narrower.every, ids(narrower.runs)) == ("mine", False, ["one-0000", "one-0002"])
    assert narrower.narrow((), None) == narrower == narrower.narrow((), "the first")
    assert ids(narrower.narrow([("value", ">", 110)], None).runs) == ids(narrower.runs)
    assert narrower.narrow([("value", ">", 110)], None).table.numbers("value").tolist() == [120.0]
    with raises("experiment-mismatch", InputError, name="mine", experiment="one", requested_experiment="two"):
        narrower.narrow((), "two")
    every = source.narrow((), "all")
    assert isinstance(every, StoredSource) and every.every and every.where == source.where
    assert not source.every and opened(several, experiment="all").every and not opened(several, experiment="one").every
    assert opened(several, "experiment=the second").where == (("experiment", "=", "two"),)


def test_a_narrower_campaign_keeps_its_choice_of_ranks(several):
    source = opened(several, ranks=False)
    narrower = source.narrow([("nodes", "=", "1")], None)
    assert isinstance(narrower, StoredSource) and not source.ranks and not narrower.ranks
    assert opened(several).ranks


@pytest.mark.parametrize(
    ("word", "chosen"), [("one", "one"), ("the first", "one"), (None, "two"), ("last", "two"), ("all", None)]
)
def test_the_last_of_several_experiments_is_chosen_unless_another_is_named(several, word, chosen):
    assert resolve_single_experiment(several, word) == chosen


def test_experiments_with_other_factors_are_separated_where_they_must_be_alike(several):
    source = opened(several)
    assert source.separate_last([], alike=False) == (source, "")
    last, note = source.separate_last([], alike=True)
    assert last.experiment == "two" and ids(last.runs) == ["two-0011", "two-0012"]
    assert_problem(note, "one-of-several", n_experiments=2, choice="the last", experiment="two")
    assert note.values["reason"] != ""
    for cells, is_separated in ((["nodes"], False), (["nodes", "gone"], False), (["nodes", "depth"], True)):
        assert (source.separate_last(cells, alike=True)[0] is not source) is is_separated
    for word in ("all", "one"):
        chosen = opened(several, experiment=word)
        assert chosen.separate_last(["depth"], alike=True) == (chosen, "")


@pytest.fixture
def mixed(tmp_path: Path) -> Source:
    store = Store.create(tmp_path / "mixed")
    for number in range(4):
        name = ("one", "two")[number // 2]
        store.append(trial(number, 100.0 + number, name, n=number % 2, m=number))
    return open_data(store)


def test_experiments_that_share_a_cell_are_separated(mixed):
    last, note = mixed.separate_last(["n"], alike=False)
    assert ids(last.runs) == ["two-0002", "two-0003"]
    assert_problem(note, "one-of-several", n_experiments=2, experiment="two", reason="")
    assert mixed.separate_last(["m"], alike=True) == (mixed, "")
    assert (mixed.apart(["n"]), mixed.apart(["m"])) == (("n", "experiment"), ("m",))


def test_damage_is_that_of_documents_and_problems_also_of_contents(tmp_path: Path):
    store = Store.create(tmp_path / "s")
    store.append_many([trial(0, 1.0), trial(1, 2.0)])
    assert (opened(store).damage, opened(store).find_problems()) == ((), [])
    table = store.path / "runs" / "e-0000" / "results.parquet"
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    (store.path / "runs" / "e-0001" / "run.json").write_text("{}")
    source = opened(store)
    assert [finding.evidence["path"] for finding in source.damage] == ["runs/e-0001"]
    assert sorted(finding.evidence["path"] for finding in source.find_problems()) == ["runs/e-0000", "runs/e-0001"]


MEASURED = {
    "nodes": [1, 1, 2, 2],
    "fs": ["a", "b", "a", "b"],
    "speed": [10.5, 11.25, 19.5, 21.75],
    "latency": [9, 8, 7, 5],
    "fixed": [3, 3, 3, 3],
}
ASSUMED, PARTS = "assumed-factors", "averaged-parts"


@pytest.mark.parametrize(
    ("asked", "values", "factor_names", "excluded"),
    [
        ({}, {"speed": MEASURED["speed"], "latency": MEASURED["latency"]}, ["nodes", "fs"], ""),
        ({"response": ("speed",)}, {"speed": MEASURED["speed"]}, ["nodes", "fs"], "latency"),
        ({"response": ("speed",), "on": ("nodes",)}, {"speed": MEASURED["speed"]}, ["nodes"], None),
        ({"on": ("fs",)}, {"speed": MEASURED["speed"], "latency": MEASURED["latency"]}, ["fs"], None),
        ({"response": ("log2(nodes)",)}, {"log2(nodes)": [0, 0, 1, 1]}, ["fs"], "speed, latency"),
        (
            {"response": ("speed / nodes", "latency")},
            {"speed / nodes": [10.5, 11.25, 9.75, 10.875], "latency": MEASURED["latency"]},
            ["nodes", "fs"],
            "",
        ),
    ],
)
def test_responses_of_a_table_are_named_or_guessed(asked, values, factor_names, excluded):
    made = build_responses(Source(build_table(MEASURED), "t"), ResponseQuery(**asked))
    assert {one.title: one.values.tolist() for one in made} == values
    for response in made:
        assert response.names == factor_names and (response.are_parts, response.trial_note) == (False, "")
        if excluded is None:
            assert response.warnings == ()
        else:
            (warning,) = response.warnings
            assert_problem(warning, ASSUMED, factors=", ".join(factor_names), excluded=excluded)


@pytest.mark.parametrize(
    ("ranks", "n", "are_parts", "note"),
    [([0, 1, 0, 1], 2, False, PARTS), ([0, 0, 1, 1], 4, True, "missing-trial-column")],
)
def test_ranks_of_a_table_are_averaged_or_named(ranks, n, are_parts, note):
    table = build_table({"rank": ranks, "fs": ["a"] * 4, "size": [1, 1, 1, 1], "speed": [1.5, 3.5, 10.5, 20.5]})
    (response,) = build_responses(Source(table, "t"), ResponseQuery(response=("speed",)))
    assert (len(response.values), response.are_parts, response.trial_note.code) == (n, are_parts, note)
    assert [warning.code for warning in response.warnings] == [note]


def test_a_table_without_rows_or_with_other_columns_has_no_response():
    table = build_table(MEASURED)
    with raises("no-rows", InputError, source="t"):
        build_responses(Source(table.take([]), "t"), ResponseQuery())
    with raises("unknown-column", DataError, column="nodez", nearest="nodes"):
        build_responses(Source(table, "t"), ResponseQuery(response=("nodez",)))


def test_a_table_knows_no_runs_and_narrows_by_all_conditions():
    source = Source(build_table(MEASURED), "t")
    assert (source.path, source.trial_runs, source.describe_concurrency(["a"])) == ("t", (), [])
    assert source.separate_last(["fs"], alike=True) == (source, "") and source.narrow((), None) is source
    narrower = source.narrow([("fs", "=", "a")], None).narrow([("nodes", ">", "1")], None)
    assert (narrower.where, len(narrower.table)) == ((("fs", "=", "a"), ("nodes", ">", "1")), 1)
    assert source.trials().at.tolist() == [0, 1, 2, 3] and source.run_rows is source.trial_rows is source.table
    with raises("not-a-store", InputError):
        Source(source.table, "t").narrow([("complete", "=", "any")], None)
    with_column = build_table({"complete": ["yes", "no"], "x": [1, 2]})
    assert len(Source(with_column, "t").narrow([("complete", "=", "no")], None).table) == 1


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, ""),
        ({"where": ("fs=a",), "response": ("y",)}, ""),
        ({"experiment": "e"}, "experiment"),
        ({"metric": ("iops",)}, "metric"),
        ({"clock": "overlap"}, "clock"),
        ({"clock": "overlap", "experiment": "e"}, "experiment"),
    ],
)
def test_an_option_of_stores_is_refused_of_a_table(table, campaign, changes, name):
    options = DataOptions(data="", **changes)
    assert options.find_store_option() == name
    options.refuse_store_options()
    options.refuse_store_options(campaign, table)
    if name:
        with raises("not-a-store", InputError, name=table.name):
            options.refuse_store_options(table, table)
    else:
        options.refuse_store_options(table)


def test_options_are_a_query_and_conditions():
    options = DataOptions(data="", response=("y",), clock="overlap", level=0.9, metric=("m",), where=("a=1",))
    assert options.query == ResponseQuery(("y",), (), "overlap", 0.9, ("m",))
    assert (options.conditions, options.grouping_columns) == (("a=1",), ())
    assert DataOptions(data="", where=("a=1",), incomplete=True).conditions == ("a=1", "complete=any")
    assert DataOptions(data="").conditions == ()


@pytest.mark.parametrize("name", ["cosbench/sample-workload.csv", "cosbench/sample-stage.csv"])
def test_a_tools_own_csv_is_no_table(name):
    fixtures = Path(__file__).parents[1] / "golden" / "fixtures"
    assert isinstance(open_data(fixtures / name), StoredSource)
