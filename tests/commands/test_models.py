"""Models of stores and tables as answers: any response and clock, declared factors, one verdict, one way of better."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from iosonde.answers.learned import Learning, select_examples
from iosonde.answers.verdict import describe_choice
from iosonde.commands.advise.answer import Advising, advise
from iosonde.commands.fit.answer import fit
from iosonde.commands.predict.answer import predict, predict_rows
from iosonde.commands.validate import held_out
from iosonde.commands.validate.answer import validate
from iosonde.commands.validate.held_out import HoldoutAnswer, judge_held_out
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.core.types import Estimate, Experiment, Factor, Observation, Role, Run
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.explain.advise import Wish
from iosonde.store import Store
from messages import assert_problem, raises

LINE = Learning(("linear",))


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> str:
    """Two operations with two clocks each; ``hint`` b doubles the rate, and halves the time; ``room`` is a block."""
    path = tmp_path_factory.mktemp("models") / "s"
    made = Store.create(path)
    factors = [
        Factor("size", "bytes", levels=(1, 2, 3, 4)),
        Factor("hint", levels=("a", "b")),
        Factor("room", levels=("r", "s"), role=Role.BLOCKED),
    ]
    made.save_experiment(Experiment("x", "x", factors, {}, [], 1, "2026-11-21T10:00:00Z"))
    cells = [(size, hint, repetition) for repetition in range(3) for size in (1, 2, 3, 4) for hint in "ab"]
    for number, (size, hint, repetition) in enumerate(cells):
        rate = 1e8 * (2 if hint == "b" else 1) + 1e6 * size + 1e4 * (7 * number % 5)
        at = {"size": size, "hint": hint, "room": "rs"[repetition % 2], "repetition": repetition}
        seen = [
            Observation("write", "bandwidth_last_done", rate, "bytes/s"),
            Observation("write", "bandwidth_first_done", 2 * rate, "bytes/s"),
            Observation("sync", "job_seconds", 1e9 / rate, "s"),
            Observation("read", "bandwidth_last_done", 3 * rate, "bytes/s"),
        ]
        made.append(Run(f"r{number:02}", "x", "iosonde", f"2026-11-21T10:{number:02}:00Z", 1.0, at, seen))
    return str(path)


def test_the_factors_of_a_store_are_those_that_were_set(store):
    found = select_examples(open_data(store), ResponseQuery(("read",)))
    assert [one.name for one in found.examples.features] == ["size", "hint"], "a block is nothing that one chooses"
    assert (found.examples.features[0].unit, found.examples.unit) == ("bytes", "bytes/s")
    assert found.examples.response == "read bandwidth_last_done" and len(found.examples) == 24


def test_a_clock_and_a_computed_response_are_responses(store):
    source = open_data(store)
    last, first = (
        select_examples(source, ResponseQuery(("write bandwidth_" + clock,))).examples
        for clock in ("last_done", "first_done")
    )
    assert first.y.tolist() == (2 * last.y).tolist()
    by_clock = select_examples(source, ResponseQuery(("write",), clock="bandwidth_first_done")).examples
    assert by_clock.y.tolist() == first.y.tolist()
    logs = select_examples(source, ResponseQuery(("log(read)",))).examples
    assert logs.unit == "" and logs.response == "log(read)" and logs.y.max() < 25


def test_several_responses_are_a_choice_to_make(store):
    with raises("ambiguous-response") as refused:
        select_examples(open_data(store), ResponseQuery())
    assert "--response" in refused.value.hint


def test_a_table_needs_no_names_where_one_column_can_be_the_response(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,2.5\n4,3.25\n")
    for asked in (ResponseQuery(), ResponseQuery(("y",)), ResponseQuery((), ("a",))):
        learned = select_examples(open_data(tmp_path / "t.csv"), asked)
        assert (learned.response.title, [one.name for one in learned.examples.features]) == ("y", ["a"])
    (tmp_path / "u.csv").write_text("a,y,z\n1,2.5,3.5\n4,3.25,4.75\n")
    with raises("ambiguous-response", InputError, n_responses=2):
        select_examples(open_data(tmp_path / "u.csv"), ResponseQuery())


def test_a_model_of_an_operation_finds_its_rows_in_a_store_again(store, tmp_path):
    source = open_data(store)
    made = fit(source, ResponseQuery(("write",)), LINE)
    model = made.choice.model
    assert made.content()["unit"] == "bytes/s" and json.loads(json.dumps(made.to_dict()))["schema"] == 1
    assert len(predict_rows(model, source).predictions) == 24
    assert judge_held_out(model, source).n == 24
    one = predict(model, {"size": "2B", "hint": "b"})
    assert one.content()["fit"] == pytest.approx(2.02e8, rel=1e-3)
    with raises("unknown-column", DataError, column="hint"):
        (tmp_path / "t.csv").write_text("size,write bandwidth_last_done\n1,2\n")
        judge_held_out(model, open_data(tmp_path / "t.csv"))


def test_a_fit_is_one_row_a_model_and_says_what_the_page_says_in_its_unit(store):
    made = fit(open_data(store), ResponseQuery(("write",)), Learning(("mean", "linear"), n_folds=4))
    assert [row["family"] for row in made.records()] == ["mean", "linear"]
    assert [row["taken"] for row in made.records()] == [False, True]
    in_bytes, in_megabytes = made.sentence, describe_choice(made.choice, (1e6, "MB/s"))
    assert in_bytes.startswith("linear ") and made.choice.tried[made.choice.chosen].candidate.family == "linear"
    assert "58.3 MB/s" in in_megabytes and "MB/s" not in in_bytes
    assert in_megabytes.replace(" MB/s", "").split(":")[0] == in_bytes.split(":")[0]


def test_a_validation_folds_one_way(store):
    source = open_data(store)
    made = validate(source, ResponseQuery(("write",)), LINE, leave_out="size")
    assert_problem(made.how, "leave-level-out", n_folds=4, factor="size")
    assert made.sentence.startswith("linear ")
    with raises("conflicting-options"):
        validate(source, ResponseQuery(("write",)), LINE, inverse=True, share=0.5)


def test_advice_on_a_store_needs_no_condition_and_is_given_the_other_factors(store):
    made = advise(open_data(store), ResponseQuery(("write",)), Advising(("hint",)))
    assert made.content()["given"] == ["size"] and made.content()["better"] == "higher"
    assert made.content()["best_default"] == "b"
    alone = advise(open_data(store), ResponseQuery(("write",)), Advising(("hint",), workload_columns=()))
    assert alone.content()["instances"] == 1


def test_what_is_better_is_what_the_metric_says(store, tmp_path):
    made = advise(open_data(store), ResponseQuery(("job_seconds",)), Advising(("hint",)))
    assert made.content()["better"] == "lower" and made.content()["best_default"] == "b"
    rows = [f"{m},{10 if m == 'a' else 20},{r}" for m in "ab" for r in range(3)]
    (tmp_path / "t.csv").write_text("\n".join(["mode,latency,r", *rows]) + "\n")
    made = advise(open_data(tmp_path / "t.csv"), ResponseQuery(("latency",)), Advising(("mode",)))
    assert made.content()["better"] == "lower", "a latency without a unit, too"
    higher = advise(open_data(tmp_path / "t.csv"), ResponseQuery(("latency",)), Advising(("mode",), better="higher"))
    assert higher.content()["best_default"] == "b"


def test_shares_of_the_best_end_at_all_of_it(tmp_path):
    """Nearly the best everywhere, with an exception: Student's t alone reaches beyond 100 %."""
    rows = [f"{i},{mode},{100 + i if (mode == 'a') != (i == 5) else 60 + i}" for i in range(12) for mode in "ab"]
    (tmp_path / "t.csv").write_text("\n".join(["size,mode,speed", *rows]) + "\n")
    how = Advising(("mode",), ("size",), wish=Wish(depth=1))
    made = advise(open_data(tmp_path / "t.csv"), ResponseQuery(("speed",)), how)
    gain = made.content()["gain"]
    shares = [gain["advised"], gain["reference"]]
    assert all(0 < one["low"] < one["value"] < one["high"] < 1 for one in shares)


def test_new_trials_of_a_store_are_of_the_same_response(store):
    source = open_data(store)
    with raises("missing-option", (InputError, DataError)):
        advise(source, ResponseQuery(("write",)), Advising(("hint",)), new=source)
    with raises("conflicting-options"):
        advise(source, ResponseQuery(("write",)), Advising(("hint",)), {"size": "1"}, source)


def judge_rows(monkeypatch, *rows: tuple[str, float, tuple[float | None, ...]]) -> HoldoutAnswer:
    """Rows (setting, observed, (predicted, low, high)), the last one empty where nothing is predicted."""
    table = build_table({"y": [observed for _, observed, _ in rows]}, "t.csv")
    refusal = InputError("far-outside", "it is far outside")
    predictions = [
        SimpleNamespace(value=Estimate(*prediction, 0.9, 9)) if prediction else refusal for *_, prediction in rows
    ]
    monkeypatch.setattr(held_out, "rows_to_settings", lambda *_, measured: ([{"s": s} for s, *_ in rows], table))
    monkeypatch.setattr(held_out, "predict_settings", lambda *_: predictions)
    model: Any = SimpleNamespace(response="y", name="m", unit="s")
    source: Any = None
    return judge_held_out(model, source, 0.9)


def test_a_model_is_judged_by_the_rows_that_it_predicts(monkeypatch):
    made = judge_rows(
        monkeypatch,
        ("a", 10, (11, 9, 12)),
        ("a", 14, (11, 9, 12)),
        ("b", 20, (20, 20, 25)),
        ("c", float("nan"), (1, 0, 2)),
        ("b", 25, (20, 20, 25)),
        ("d", 3, ()),
        ("e", 7, (5, None, None)),
        ("f", 3, ()),
    )
    assert (made.n, made.n_intervals, made.n_covered, made.n_refused, made.level) == (5, 4, 3, 2, 0.9)
    assert (made.mae.value, made.mae.n, made.coverage.value, made.coverage.n) == (2.2, 3, 0.75, 2)
    assert (made.errors.mae, made.errors.relative, made.errors.class_error) == (2.2, pytest.approx(0.16), None)
    assert made.errors.r2 == pytest.approx(1 - (1 + 9 + 0 + 25 + 4) / sum((y - 15.2) ** 2 for y in (10, 14, 20, 25, 7)))
    first, second = made.warnings
    assert_problem(first, "no-predictions", n_rows=2)
    assert first.values["reason"].code == "far-outside" and "6" in first.values["reason"]
    assert_problem(second, "no-intervals", n_predictions=1)
    (record,) = made.records()
    assert {name: record[name] for name in ("model", "response", "unit", "n", "level", "coverage_settings")} == {
        "model": "m",
        "response": "y",
        "unit": "s",
        "n": 5,
        "level": 0.9,
        "coverage_settings": 2,
    }
    assert "warnings" not in record and made.content()["warnings"] == list(made.warnings)


def test_a_model_that_predicts_all_rows_has_no_warning_and_none_is_refused(monkeypatch):
    assert judge_rows(monkeypatch, ("a", 10, (11, 9, 12))).warnings == ()
    with raises("no-predictions", DataError) as refused:
        judge_rows(monkeypatch, ("a", 10, ()), ("b", 10, ()))
    assert refused.value.values["reason"].code == "far-outside" and "1" in refused.value.values["reason"]
    with raises("no-predictions", DataError):
        judge_rows(monkeypatch, ("a", float("nan"), (11, 9, 12)))


def test_the_coverage_is_judged_by_the_upper_end_of_its_interval(monkeypatch):
    made = judge_rows(monkeypatch, ("a", 10, (11, 9, 12)), ("b", 10, (11, 9, 12)))

    def sentence(n_intervals: int, high: float | None) -> str:
        return replace(made, n_intervals=n_intervals, coverage=Estimate(0.5, 0.1, high, 0.9, 2)).sentence

    held, less = sentence(2, 0.9), sentence(2, 0.89)
    assert held == sentence(2, 1.0) != less and " less " in less and " less " not in held
    assert len({held, less, sentence(0, None), sentence(1, None)}) == 4 and sentence(0, 0.95) == sentence(0, None)
