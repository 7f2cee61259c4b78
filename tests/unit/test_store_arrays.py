"""Values become Arrow arrays and come back without pandas; a store reads a run.json once, as long as it is the same."""

import io
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import stats_sample

from iosonde.core.types import Observation
from iosonde.store import Store, arrays, query, rundir, tables


@pytest.mark.parametrize("values", [[], [1, None, -(2**63)], [2**63 - 1], [None, None, 3, 4, 5, 6, 7, 8, 9, None]])
def test_whole_numbers(values):
    made = arrays.int64(values)
    assert made.type == pa.int64() and made.to_pylist() == values
    made.validate(full=True)


@pytest.mark.parametrize("values", [[], ["", None, "é", "a\nb"], [None], ["x"] * 20])
def test_texts(values):
    made = arrays.string(values)
    assert made.type == pa.string() and made.to_pylist() == values
    made.validate(full=True)


def test_truth_and_numbers():
    assert arrays.boolean([True, None, False] * 5).to_pylist() == [True, None, False] * 5
    assert arrays.float64([1.5, None, -0.0]).to_pylist() == [1.5, None, -0.0]


@pytest.mark.parametrize("values", [[], ["é", None, ""], [1, None, -(2**63)], [1.5, None], [True, None, False]])
def test_each_value_is_repeated_as_often_as_asked(values):
    times = [3, 0, 2][: len(values)]
    made = arrays.repeat_values(query.array_from_values(values), times)
    assert made.type == query.array_from_values(values).type
    assert made.to_pylist() == [value for value, n in zip(values, times, strict=True) for _ in range(n)]
    made.validate(full=True)


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(5, 2)], ids=str)
def test_numbers_of_every_kind_are_floats(kind):
    values, absent = arrays.column_to_floats(pa.chunked_array([pa.array([2.0, None, 100.0]).cast(kind)]))
    assert values.dtype == np.float64 and np.array_equal(values, [2, np.nan, 100], equal_nan=True)
    assert absent.tolist() == [False, True, False]


def test_numbers_come_back_with_their_gaps_from_any_piece():
    column = pa.chunked_array([pa.array([1, None, 3, 4, None]).slice(1, 3), pa.array([None, 6])])
    values, absent = arrays.column_to_floats(column)
    assert absent.tolist() == [True, False, False, True, False]
    assert np.isnan(values).tolist() == absent.tolist() and values[~absent].tolist() == [3.0, 4.0, 6.0]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.float64(), [1.5, None, float("inf"), -0.0]),
        (pa.float64(), [1, 2.5, None]),
        (pa.float64(), [None, None]),
        (pa.int64(), [1, None, -(2**63)]),
        (pa.int64(), [np.int64(3), 4]),
        (pa.int64(), []),
        (pa.string(), ["", None, "é"]),
        (pa.bool_(), [True, None]),
    ],
)
def test_values_of_a_kind_are_as_arrow_makes_them(kind, values):
    assert arrays.build_array(kind, values).equals(pa.array(values, kind))
    arrays.build_array(kind, values).validate(full=True)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.float64(), ["1.5"]),
        (pa.float64(), [2**60 + 1]),
        (pa.int64(), [2**63]),
        (pa.int64(), ["1"]),
        (pa.string(), [1]),
    ],
)
def test_a_value_of_another_kind_is_refused(kind, values):
    with pytest.raises((pa.ArrowException, TypeError, OverflowError)):
        arrays.build_array(kind, values)


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64, np.uint64, np.float64])
def test_numbers_of_every_width(kind):
    values = np.array([(0, 1), (7, 2), (3, 100)], [("a", kind), ("b", kind)])["b"]
    assert arrays.array_from_numbers(values).equals(pa.array(np.ascontiguousarray(values)))
    assert len(arrays.array_from_numbers(values[:0])) == 0


@pytest.mark.slow
def test_writing_a_store_does_not_import_pandas(tmp_path):
    code = (
        "import sys, stats_sample; stats_sample.store(sys.argv[1], repetitions=2); "
        "s = stats_sample.Store.open(sys.argv[1]); [*s.runs()]; assert 'pandas' not in sys.modules"
    )
    where = {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], check=True, env={**os.environ, **where})


@pytest.mark.slow
def test_reading_a_store_does_not_import_pandas(tmp_path):
    stats_sample.store(tmp_path / "s", repetitions=2)
    code = (
        "import sys; from iosonde.data.source import open_data; s = open_data(sys.argv[1]); "
        "assert len(s.store.operations(s.runs[0].id)) and len(s.trials().rows); assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], check=True)


def test_reading_results_starts_no_thread(tmp_path):
    """One of Arrow's that holds a Python file when the interpreter ends aborts it, once in some hundred times."""
    stats_sample.store(tmp_path / "s", repetitions=2)
    code = (
        "import os, sys; from iosonde.store import Store; s = Store.open(sys.argv[1]); t = '/proc/self/task';"
        "import pyarrow.parquet; before = set(os.listdir(t)); s.results(); [s.run(run['id']) for run in s.runs()];"
        "new = set(os.listdir(t)) - before;"
        "assert not [one for one in new if 'jemalloc' not in open(f'{t}/{one}/comm').read()], new"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], check=True)


def test_a_document_is_read_once_and_again_when_it_is_another_file(tmp_path, monkeypatch):
    store = stats_sample.store(tmp_path / "s", repetitions=2)
    read = []
    real = rundir.read_document
    monkeypatch.setattr(rundir, "read_document", lambda directory: read.append(directory.name) or real(directory))
    known = store.runs()
    assert sorted(read) == sorted(run["id"] for run in store.runs()) and len(read) == len(known)
    (tmp_path / "s" / "runs" / known[0]["id"] / "run.json").write_text("{}")
    assert [run["id"] for run in store.runs()] == [run["id"] for run in known[1:]]
    assert [one.code for one in store.problems(contents=False)] == ["D101"]
    assert [run["id"] for run in Store.open(tmp_path / "s").runs()] == [run["id"] for run in known[1:]]


def test_texts_are_what_they_were() -> None:
    cells = ["a", None, "b", "a", "", None, "ä"]
    assert list(arrays.column_to_texts(pa.chunked_array([cells[:3], cells[3:]]))) == cells
    assert list(arrays.column_to_texts(pa.chunked_array([pa.array([], pa.string())]))) == []
    assert list(arrays.column_to_texts(pa.chunked_array([pa.array([None, None], pa.string())]))) == [None, None]


def test_many_repeated_values_are_those_of_few() -> None:
    values, times = arrays.string(["x", None, "y"]), [arrays.MANY, 2, 0]
    assert arrays.repeat_values(values, times).to_pylist() == ["x"] * arrays.MANY + [None, None]


def test_a_word_of_very_many_rows_is_made_text_once(monkeypatch):
    """A CSV of ranks has a handful of words in hundreds of thousands of rows."""
    asked: list[str] = []
    plain = tables.escape_surrogates
    monkeypatch.setattr(tables, "escape_surrogates", lambda value: asked.append(value) or plain(value))
    rows = [Observation(name, "time", 1.0, "s", rank) for rank in range(50) for name in ("write", "r\udce9ad")]
    tables.write_results(rows, file := io.BytesIO())
    file.seek(0)
    assert sorted(asked) == ["", "r\udce9ad", "s", "time", "write"]
    assert tables.read_results(file)["operation"].to_pylist() == ["write", "r\\udce9ad"] * 50
