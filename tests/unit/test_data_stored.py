"""Rows of a store as answers take them: one per trial, with places, units and order; responses by headline."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from iosonde.core.errors import DataError, InputError
from iosonde.core.metrics import build_metric
from iosonde.core.stored import StoredRun
from iosonde.core.table import Column, build_column, build_table
from iosonde.core.types import Better, Experiment, Factor
from iosonde.data import cells_with_units, choice, derived, factors, responses, stored
from iosonde.data.factors import VaryingFactors
from iosonde.data.query import ResponseQuery
from iosonde.data.response import Response, factor_from_column, response_from_column, transform_response
from iosonde.data.source import Source
from messages import assert_problem, raises


def run(key: str, facts=None, factor_values=None, experiment="e", **more) -> StoredRun:
    document = {"id": key, "experiment": experiment, "source": "s", "started_at": "", "factors": factor_values or {}}
    return StoredRun({**document, "facts": facts or {}, **more})


def mounted(kind: str, target: str, **more) -> dict:
    return {"target": target, "machine": {"mount": {"type": kind, "source": "srv:/x"}}, **more}


def test_places_are_columns_where_they_differ_and_else_the_same_for_all():
    runs = [run("r1", mounted("nfs4", "/mnt", maximum=5e8)), run("r2", mounted("cifs", "/mnt"))]
    results = build_table({"run": ["r1", "r2", "r9"]})
    table = stored.add_place_columns(results, runs)
    assert table.names == ["run", "filesystem", "maximum"]
    assert table.columns["filesystem"].values.tolist() == ["nfs4", "cifs", None]
    assert table.alike == {"target": "/mnt", "structure": "client/server"}
    np.testing.assert_array_equal(table.columns["maximum"].values, [5e8, np.nan, np.nan])
    assert table.columns["maximum"].unit == "bytes/s"
    assert stored.add_place_columns(results, runs, ["target"]).names == ["run", "filesystem", "target", "maximum"]
    own = build_table({"run": ["r1", "r2"], "filesystem": ["a", "b"], "maximum": [1, 2]})
    assert stored.add_place_columns(own, runs).columns["filesystem"].values.tolist() == ["a", "b"]
    assert stored.add_place_columns(own, runs).columns["maximum"].values.tolist() == [1, 2]


def test_units_and_order_are_those_that_experiments_declare():
    declared = [Factor("fs", "", ("xfs", "nfs")), Factor("n", "s", (2, 1)), Factor("sync", "", (True, False))]
    experiment = Experiment("e", "e", declared, {}, [], 1, "")
    runs = [
        run("r1", factor_values={"block_size": 1, "t": "4k", "x": "1"}),
        run("r2", factor_values={"t": "8k", "x": "2"}),
    ]
    assert stored.map_factor_units([experiment], runs) == {"block_size": "bytes", "t": "bytes", "n": "s"}
    table = build_table({"fs": ["nfs", "xfs"], "factor_block_size": [1, 2], "n": [1, 2], "sync": [False, True]})
    table = stored.apply_declarations(table, [experiment], runs)
    units = {name: column.unit for name, column in table.columns.items()}
    assert units == {"fs": "", "factor_block_size": "bytes", "n": "", "sync": ""}
    orders = {name: column.order for name, column in table.columns.items()}
    assert orders == {"fs": ("xfs", "nfs"), "factor_block_size": (), "n": (), "sync": ("true", "false")}


def test_a_tools_own_iterations_are_averaged_in_place_of_the_first():
    table = build_table(
        {
            "run": ["a", "b", "a", "a", "b"],
            "operation": ["w", "w", "w", "r", "w"],
            "metric": ["m"] * 5,
            "value": [1.0, 10.0, 3.0, 7.0, 20.0],
        }
    )
    rows, places = stored._average_iterations(table)
    assert (rows.numbers("value").tolist(), places.tolist()) == ([2.0, 15.0, 7.0], [0, 1, 3])
    single, every = stored._average_iterations(table.take(np.array([0, 1, 3])))
    assert (single.numbers("value").tolist(), every.tolist()) == ([1.0, 10.0, 7.0], [0, 1, 2])


def test_rows_of_single_ranks_are_no_trials():
    assert stored.mask_run_rows(build_table({"rank": [None, 0.0, None]})).tolist() == [True, False, True]
    assert stored.mask_run_rows(build_table({"x": [1, 2]})).tolist() == [True, True]


def test_values_of_two_metrics_are_refused_with_one_of_the_usual_clock():
    table = build_table({"operation": ["w", "w"], "metric": ["a_first_done", "a_last_done"]})
    with raises("ambiguous-metric", InputError, n_kinds=2) as caught:
        stored.check_single_kind(table, ["operation", "metric"])
    assert "metric=a_last_done" in caught.value.values["example"] and "operation=w" in caught.value.values["example"]
    stored.check_single_kind(table, ["operation"])


@pytest.mark.parametrize(
    ("runs", "code", "incomplete", "offers"),
    [
        ([run("a", missing=["x"]), run("b", missing=["x"]), run("c")], "no-complete-trials", "2 incomplete runs", True),
        ([], "no-complete-trials", "0 incomplete runs", False),
        ([run("c")], "no-results", "0 incomplete runs", False),
    ],
)
def test_a_store_without_trials_offers_what_was_left_out(runs, code, incomplete, offers):
    with raises(code, DataError, incomplete=incomplete, source="store") as refused:
        Source.require_trials(SimpleNamespace(store="store", name="store", runs=runs), build_table({}))
    assert ("--incomplete" in refused.value.hint) is offers


def test_runs_that_were_measured_beside_others_are_counted():
    runs = [
        run("a", {"measured_beside": [7]}),
        run("b", {"measured_beside": []}),
        run("c", {"measured_beside": [8, 9]}),
    ]
    (sentence,) = Source.describe_concurrency(SimpleNamespace(runs=runs), "abc")
    assert_problem(sentence, "concurrent-measurements", n_concurrent=2, n_runs=3)
    assert Source.describe_concurrency(SimpleNamespace(runs=runs), "b") == []


def test_rows_of_other_tools_their_headlines_and_their_summaries():
    rows = build_table(
        {
            "run": ["ior", "ior", "ior", "own", "gone"],
            "operation": ["write"] * 5,
            "metric": [
                "bandwidth_last_done",
                "bandwidth_max",
                "open_time",
                "bandwidth_last_done",
                "bandwidth_last_done",
            ],
        }
    )
    own = run("own", phases=[{"index": 1, "name": "write"}])
    masks = choice.classify_rows(rows, [run("ior", {"import": {}}), own])
    assert masks.rows.tolist() == [True, True, True, False, False]
    assert masks.first.tolist() == [True, False, False, False, False]
    assert masks.computed.tolist() == [False, True, False, False, False]
    kept = choice.classify_rows(rows, [run("ior", {"import": {}}, headlines={"write": ["open_time"]})])
    assert kept.first.tolist() == [False, False, True, False, False]
    step = run("ior", phases=[{"index": 1, "name": "write", "command": "dd"}])
    spoken = choice.classify_rows(rows, [step])
    assert spoken.rows.tolist()[:3] == [True] * 3 and not spoken.first.any()


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("99.8 MB/s", (99.8e6, "bytes/s")),
        ("12 ms", (0.012, "s")),
        ("3.4 kop/s", (3400.0, "operations/s")),
        ("2M iops", (2e6, "operations/s")),
        ("5 req/s", (5.0, "operations/s")),
        ("12", None),
        ("4 KiB", None),
        ("x", None),
    ],
)
def test_a_cell_with_its_unit(text, quantity):
    parsed = cells_with_units.parse_quantity(text)
    assert parsed == (quantity and (pytest.approx(quantity[0]), quantity[1]))


def test_columns_of_cells_with_units_become_numbers():
    data = {
        "speed": ["1 MB/s", None, "2 MB/s"],
        "mixed_latency": ["1 MB/s", "2 s", "3 s"],
        "wait": ["1 ms", "1 ms", "2 ms"],
    }
    table = cells_with_units.convert_quantity_columns(build_table(data))
    np.testing.assert_array_equal(table.columns["speed"].values, [1e6, np.nan, 2e6])
    assert table.columns["speed"].unit == "bytes/s" and not table.columns["mixed_latency"].numeric
    assert not table.columns["wait"].numeric  # a time without the name of a metric
    (warning,) = table.warnings
    assert_problem(warning, "cells-with-units", column="speed", unit="bytes/s")
    plain = build_table({"x": [1]})
    assert cells_with_units.convert_quantity_columns(plain).columns == plain.columns


def test_a_cell_in_another_unit_is_refused_with_its_row():
    table = build_table({"speed": [None, "1 MB/s", "2 s"]})
    with raises("unit-mismatch", DataError, row="row 3", cell="2 s", unit="bytes/s"):
        cells_with_units.check_unit(table, table.columns["speed"])
    cells_with_units.check_unit(table, build_column("x", ["a", "b"]))
    cells_with_units.check_unit(
        table.take(np.array([0, 1])),
        table.columns["speed"].__class__("speed", np.array([None, "1 MB/s"], dtype=object)),
    )


def response(operation="write", metric="bandwidth_last_done", unit="bytes/s", title="y") -> Response:
    rows = build_table({title: [4.0, 8.0], "n": [2.0, 4.0], "limit": [8.0, 8.0]})
    columns = {**rows.columns, "limit": Column("limit", rows.columns["limit"].values, "limit", "bytes/s")}
    return Response(title, build_metric(metric, unit), replace(rows, columns=columns), (), operation)


@pytest.mark.parametrize(
    ("text", "values", "unit", "better", "transform"),
    [
        ("log2(y)", [2.0, 3.0], "", Better.HIGHER, "log2"),
        ("y / n", [2.0, 2.0], "bytes/s", Better.HIGHER, ""),
        ("y / limit", [0.5, 1.0], "", Better.HIGHER, ""),
        ("n / y", [0.5, 0.5], "", Better.LOWER, ""),
        ("2 * y", [8.0, 16.0], "bytes/s", Better.HIGHER, ""),
    ],
)
def test_a_computed_response_has_its_own_unit_and_direction(text, values, unit, better, transform):
    base = response()
    expression = derived.parse_expression(text, base.rows.names)
    columns = {name: base.rows.numbers(name) for name in expression.names}
    made = transform_response(base, expression, columns, text, "y")
    assert made.rows.numbers(text).tolist() == values and made.rows.columns[text].unit == unit
    assert (made.title, made.metric.unit, made.metric.better, made.transform) == (text, unit, better, transform)
    assert (made.measured, made.measured_unit) == ("y", "bytes/s")


def test_a_response_of_a_column_has_the_unit_of_the_column_or_of_its_rows():
    table = build_table({"value": [1.0, 2.0], "unit": ["s", "s"], "fs": ["a", "b"]})
    made = response_from_column(table, "value", VaryingFactors((Factor("fs"), Factor("value"))))
    assert (made.unit, made.lower_is_better, made.factors) == ("s", True, (Factor("fs"),))
    assert made.rows.columns["value"].unit == "s"
    labelled = replace(table, columns={"time (x)": build_column("time (x)", [1.0], "time", "")})
    assert response_from_column(labelled, "time (x)", VaryingFactors()).metric == build_metric("time", "")
    assert factor_from_column(build_column("n", [2, None, 1], "n", "s")) == Factor("n", "s", (1, 2))


def test_factors_that_go_together_are_named_by_the_one_that_was_kept():
    made = replace(
        response(),
        factors=(Factor("n"), Factor("limit")),
        confounded=(("ranks", "n"), ("a", "n"), ("b", "n"), ("c", "gone")),
    )
    assert made.together == {"n": ("a", "b")}
    on = made.on(["limit", "n"])
    assert [factor.name for factor in on.factors] == ["limit", "n"] and on.twins == ()
    assert on.confounded == (("ranks", "n"), ("a", "n"), ("b", "n"))
    assert made.on(["limit"]).confounded == ()


LAST, SUM = "bandwidth_last_done", "bandwidth_sum_of_ranks"


@pytest.mark.parametrize(
    ("candidates", "chosen"),
    [
        ([("write", "seconds"), ("write", LAST)], LAST),
        ([("write", "rate_last_done"), ("write", LAST)], LAST),
        ([("write", "rate_last_done"), ("write", "seconds")], "rate_last_done"),
        ([("write", LAST), ("write", SUM), ("write", "rate_last_done")], "rate_last_done"),
        ([("write", LAST), ("read", "seconds")], None),
        ([("", LAST), ("", "seconds")], None),
        ([("write", "seconds"), ("write", "count")], None),
    ],
)
def test_the_headline_of_an_operation(candidates, chosen):
    several = [response(operation, metric) for operation, metric in candidates]
    headline = responses._choose_headline(several)
    if chosen is None:
        assert headline is None
        return
    others = ", ".join(item.title for item in several if item.metric.name != chosen)
    assert headline.metric.name == chosen
    assert_problem(headline.warnings[-1], "headline-metric", operation="write", metric=chosen, others=others)


def test_one_response_is_chosen_for_each_operation(monkeypatch):
    several = [
        response("write", "seconds"),
        response("read", "seconds"),
        response("write", LAST),
        response("", "x", "", "z"),
    ]
    several += [response("stat", "seconds"), response("stat", "count")]
    monkeypatch.setattr(responses, "build_responses", lambda source, query: several)
    source = SimpleNamespace(knows_factors=True)
    made = responses.choose_per_operation(source, ResponseQuery())
    expected = [("write", LAST), ("read", "seconds"), ("", "x"), ("stat", "seconds"), ("stat", "count")]
    assert [(one.operation, one.metric.name) for one in made] == expected
    assert [len(one.warnings) for one in made] == [1, 0, 0, 0, 0]
    with raises("ambiguous-response", InputError, response="DATA", n_responses=6, remainder=""):
        responses.choose_response(source, ResponseQuery())
    several.append(response("x", "y"))
    with raises("ambiguous-response", InputError, response="'a'", n_responses=7, remainder=" and 1 more"):
        responses.choose_response(source, ResponseQuery(response=("a",)))


@pytest.mark.parametrize(
    ("levels", "other", "is_separable"),
    [
        ([1, 2, 3, 4, 5], [3, 5, 1, 4, 2], True),
        ([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], False),
        ([1, 2, 3, 4, 5], [10, 8, 6, 4, 2], False),
        ([1, 2, 3, 4], [2, 4, 1, 3], False),  # too few
        ([1, 2, 3, 4, 5], ["c", "e", "a", "d", "b"], False),
    ],
)
def test_scattered_numbers_can_be_separated(levels, other, is_separable):
    assert factors.is_separable(build_table({"a": levels, "b": other}), "a", "b") is is_separable


@pytest.mark.parametrize(
    ("pairs", "is_implied"),
    [
        ([("nfs", "nfs4"), ("xfs", "xfs"), ("nfs", "nfs4")], True),
        ([("nfs", "nfs4"), ("nfs", "nfs3")], False),
        ([(None, "nfs4")], False),
        ([(None, "nfs4"), ("xfs", "xfs")], False),
    ],
)
def test_a_labs_file_system_determines_the_type_of_the_mount(pairs, is_implied):
    runs = [
        run(f"r{place}", mounted(kind, "/mnt"), {} if lab is None else {"file_system": lab})
        for place, (lab, kind) in enumerate(pairs)
    ]
    assert factors._is_implied_by_lab(runs) is is_implied


def declared(*names: str, key: str = "e") -> Experiment:
    return Experiment(key, key, [Factor(name, "s") for name in names], {}, [], 1, "")


PLACED = {"import": {}}


@pytest.mark.parametrize(
    ("runs", "experiments", "expected"),
    [
        ([run("a", mounted("nfs4", "/a")), run("b", mounted("xfs", "/a"))], [], ["filesystem"]),
        ([run("a", mounted("nfs4", "/a")), run("b", mounted("nfs4", "/b"))], [], ["target"]),
        ([run("a", mounted("nfs4", "/a")), run("b")], [], []),
        ([run("a", mounted("nfs4", t), {"target": t}) for t in ("/a", "/b")], [], []),
        (
            [run("a", mounted("nfs4", "/a")), run("b", mounted("xfs", "/b"))],
            [declared("n", "target")],
            ["target", "filesystem", "n"],
        ),
        ([run("a"), run("b", experiment="f")], [declared("n"), declared("m", "n", key="f")], ["n", "m"]),
        ([run("a", PLACED, {"t": 1, "seed": 2, "Host": "x", "nodes": 1, "block": 0})], [], ["t", "nodes"]),
        ([run("a", PLACED, {"t": 1})], [declared("n")], ["n"]),
        ([run("a", {}, {"t": 1})], [], []),
    ],
)
def test_factors_are_declared_by_experiments_tools_or_places(runs, experiments, expected):
    found = factors.collect_declared(runs, experiments)
    assert list(found) == expected
    units = {factor.name: factor.unit for entry in experiments for factor in entry.factors}
    assert {name: factor.unit for name, factor in found.items()} == {name: units.get(name, "") for name in expected}


def test_undeclared_settings_are_those_of_measured_runs_then_of_targets():
    options = {"conditions": {"options": {"cache": "on", "t": "x"}}}
    runs = [run("a", options, {"t": 1, "seed": 2}), run("b", PLACED, {"u": 1}), run("c", {}, {"v": 1})]
    assert factors._list_undeclared_settings(runs) == ["t", "v", "cache"]
