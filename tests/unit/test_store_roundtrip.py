"""Run → store → Run is the identity, for whatever a run may hold."""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import store_samples
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.schema import OPERATION
from iosonde.core.types import Finding, Observation, Run, Severity
from iosonde.store import Store
from messages import raises

INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
# A file name that is no UTF-8 reaches Python as text with lone low surrogates.
ANY_TEXT = st.text(st.characters(exclude_categories=()) | st.just("\udcff"), max_size=20).filter(
    lambda text: not any("\ud800" <= a < "\udc00" <= b < "\ue000" for a, b in zip(text, text[1:], strict=False))
)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT
PLAIN = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3), max_leaves=8
)
OBSERVATIONS = st.lists(
    st.builds(
        Observation,
        operation=TEXT,
        metric=TEXT,
        value=st.floats(),
        unit=TEXT,
        rank=st.none() | INT64,
        repetition=INT64,
        count=st.none() | INT64,
        includes=TEXT,
    ),
    max_size=5,
)
FINDINGS = st.lists(
    st.builds(
        Finding,
        ANY_TEXT,
        st.sampled_from(Severity),
        ANY_TEXT,
        st.dictionaries(ANY_TEXT, PLAIN, max_size=3),
        ANY_TEXT,
    ),
    max_size=3,
)
ID = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._+=@-]{0,30}\Z")


@st.composite
def operations(draw: st.DrawFn) -> np.ndarray | None:
    if draw(st.booleans()):
        return None
    rows = np.zeros(draw(st.integers(0, 20)), OPERATION)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    for name in OPERATION.names or ():
        limit = np.iinfo(OPERATION[name])
        rows[name] = rng.integers(0, limit.max, len(rows), dtype=OPERATION[name], endpoint=True)
    rows["rank"] %= 2
    return rows


RUNS = st.builds(
    Run,
    id=ID,
    experiment=ID,
    source=ANY_TEXT,
    started_at=TEXT,
    seconds=st.floats(),
    factors=st.dictionaries(ANY_TEXT, SCALAR, max_size=5),
    observations=OBSERVATIONS,
    facts=st.dictionaries(ANY_TEXT, PLAIN, max_size=3),
    operations=operations(),
    phases=st.lists(st.dictionaries(ANY_TEXT, PLAIN, max_size=2), max_size=2),
    findings=FINDINGS,
    missing=st.lists(ANY_TEXT, max_size=2),
    raw=st.dictionaries(st.from_regex(r"\A[a-zé][a-z0-9é. ]{0,10}\Z"), st.binary(max_size=30), max_size=2),
    seed=st.none() | st.integers(),
)


def same(a: object, b: object) -> bool:
    """Equal, with NaN equal to NaN and True unequal to 1."""
    return repr(a) == repr(b)


def sorted_keys(value: object) -> object:
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=40, deadline=None)
@given(RUNS)
def test_a_run_comes_back_as_it_was(run: Run) -> None:
    with tempfile.TemporaryDirectory() as directory:
        store = Store.create(Path(directory) / "store")
        store.append(run)
        again = store.run(run.id, operations=True)
        for name in (field.name for field in fields(Run)):
            before, after = getattr(run, name), getattr(again, name)
            if name == "operations" and before is not None:
                assert np.array_equal(before[np.lexsort((before["start_ns"], before["rank"]))], after)
            elif name == "findings":
                assert [(f.code, f.severity) for f in before] == [(f.code, f.severity) for f in after]
                assert same([sorted_keys(f.to_json()) for f in before], [sorted_keys(f.to_json()) for f in after])
            else:
                assert same(sorted_keys(before), sorted_keys(after)), name
        assert store.problems() == []
        assert store.results(include_incomplete=True).num_rows == len(run.observations)
        assert store.results().num_rows == (0 if run.missing else len(run.observations))


def test_numpy_values_are_stored_as_numbers(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    factors = {"nodes": np.int64(4), "share": np.float32(0.5), "direct": np.bool_(True), "bad": np.float64("nan")}
    store.append(store_samples.run(factors=factors, facts={"sizes": np.arange(3), "path": Path("/mnt/x")}))
    again = store.run("run-1")
    assert again.facts == {"sizes": [0, 1, 2], "path": "/mnt/x"}
    assert again.factors["nodes"] == 4
    assert again.factors["direct"] is True
    assert math.isnan(again.factors["bad"])


def test_run_json_is_strict_json_for_people(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    store.append(store_samples.run(facts={"é": "naïve\udcff", "x": float("inf")}))
    text = (tmp_path / "store/runs/run-1/run.json").read_text("utf-8")

    def refuse(name: str) -> None:
        raise AssertionError(name)

    document = json.loads(text, parse_constant=refuse)
    assert list(document) == sorted(document)
    assert "naïve" in text
    assert document["facts"]["x"] == {"$float": "inf"}
    assert document["schema_version"] == 2
    assert set(document["files"]) == {"results.parquet", "operations.parquet", "raw/out.txt"}
    assert document["versions"]["iosonde"]


def test_a_number_beyond_64_bits_in_a_result_is_refused(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    with raises("value-too-large"):
        store.append(store_samples.run(observations=[Observation("read", "bytes", 1.0, "bytes", count=2**64)]))
    assert store.run_ids() == []


def test_operations_are_sorted_and_come_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from iosonde.store import tables

    monkeypatch.setattr(tables, "ROWS_PER_GROUP", 4)
    rows = store_samples.operations(11, ranks=3)[::-1].copy()
    store = Store.create(tmp_path / "store")
    store.append(store_samples.run(operations=rows))
    expected = rows[np.lexsort((rows["start_ns"], rows["rank"]))]
    assert np.array_equal(store.operations("run-1"), expected)
    batches = list(store.operation_batches("run-1", rows=3))
    assert max(map(len, batches)) <= 3
    assert np.array_equal(np.concatenate(batches), expected)
    store.append(store_samples.run("none", operations=None))
    assert len(store.operations("none")) == 0
    assert list(store.operation_batches("none")) == []


@pytest.mark.parametrize(("group", "batch"), [(10, 3), (4, 3), (4, 4), (3, 10)])
def test_rows_are_read_whole_whatever_the_pieces(tmp_path: Path, monkeypatch, group: int, batch: int) -> None:
    from iosonde.store import tables

    monkeypatch.setattr(tables, "ROWS_PER_GROUP", group)
    monkeypatch.setattr(tables, "_BATCH", batch)
    rows = store_samples.operations(10, ranks=1)
    with (tmp_path / "o.parquet").open("wb") as file:
        tables.write_operations(rows, file)
    assert np.array_equal(tables.read_operations(tmp_path / "o.parquet"), rows)
    columns = tables.read_operation_columns(tmp_path / "o.parquet", ["offset", "size"])
    assert {name: column.tolist() for name, column in columns.items()} == {
        "offset": rows["offset"].tolist(),
        "size": rows["size"].tolist(),
    }
    parts = list(tables.iter_column_groups(tmp_path / "o.parquet", ["offset"]))
    assert [len(part["offset"]) for part in parts] == [min(group, 10 - at) for at in range(0, 10, group)]
    assert np.concatenate([part["offset"] for part in parts]).tolist() == rows["offset"].tolist()


@pytest.mark.parametrize("swap", [None, 2, 3, 4, 8])
def test_rows_out_of_order_are_found_wherever_they_are(tmp_path: Path, monkeypatch, swap: int | None) -> None:
    from iosonde.store import tables

    monkeypatch.setattr(tables, "ROWS_PER_GROUP", 4)
    rows = store_samples.operations(10, ranks=1)
    if swap is not None:
        rows[[swap, swap + 1]] = rows[[swap + 1, swap]]
    with (tmp_path / "o.parquet").open("wb") as file:
        tables.write_operations(rows, file)
    assert np.array_equal(tables.read_operations(tmp_path / "o.parquet"), store_samples.operations(10, ranks=1))


def test_columns_carry_their_units(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    store.append(store_samples.run())
    schema = pq.read_schema(tmp_path / "store/runs/run-1/operations.parquet")
    assert schema.names == list(OPERATION.names or ())
    assert schema.field("duration_ns").metadata == {b"unit": b"ns"}
    assert schema.metadata[b"iosonde_schema_version"] == b"2"
    assert json.loads(schema.metadata[b"iosonde_units"])["offset"] == "bytes"


def test_an_experiment_comes_back_as_it_was(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    experiment = store_samples.experiment()
    store.save_experiment(experiment)
    assert store.experiment("e-1") == experiment
    assert store.experiments() == [experiment]
    with raises("unknown-experiment", known="e-1"):
        store.experiment("e-2")
