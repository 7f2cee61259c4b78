"""Names of levels: speeds of a link are no sizes, sizes have values between them, spellings are no merged levels."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import iosonde
from iosonde.core.table import build_column, convert_sizes
from iosonde.model.fit.errors_of import compute_class_bounds, compute_errors
from iosonde.model.fit.fitted import predict_setting
from iosonde.tables.read import read_table
from messages import codes, with_code


@pytest.mark.parametrize(
    ("name", "levels", "unit"),
    [
        ("net", ["1g", "10g"], ""),
        ("link_speed", ["100m", "1g"], ""),
        ("net", ["1GiB", "10GiB"], "bytes"),
        ("bs", ["4k", "64k"], "bytes"),
        ("transfer_size", ["1m", "1g"], "bytes"),
        ("subnet", ["1g", "10g"], "bytes"),
    ],
)
def test_speeds_of_a_link_are_no_sizes(name: str, levels: list[str], unit: str) -> None:
    column = build_column(name, levels[::-1])
    assert column.level_unit == unit
    assert list(column.levels) == levels  # ascending, as sizes are


def test_written_sizes_become_numbers_of_bytes() -> None:
    column = convert_sizes(build_column("bs", ["64k", "4k", None]))
    assert column.unit == "bytes" and column.values.tolist()[:2] == [65536, 4096] and column.missing.tolist()[2]
    assert convert_sizes(build_column("fs", ["a", "b"])).values.tolist() == ["a", "b"]


@pytest.fixture
def table(tmp_path: Path) -> str:
    noise = random.Random(4)
    rows = [
        f"{size}k,{fs},{100 * size**0.25 * (1 + (fs == 'b')) * noise.gauss(1, 0.01):.3f}"
        for size in (4, 16, 64, 256)
        for fs in "ab"
        for _ in range(4)
    ]
    path = tmp_path / "sizes.csv"
    path.write_text("\n".join(["bs,fs,mib_s", *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize("family", ["tree", "linear"])
def test_a_model_knows_what_lies_between_written_sizes(table: str, family: str) -> None:
    model = iosonde.fit(table, response="mib_s", on=["bs", "fs"], families=[family]).answer.choice.model
    low, between, high = (
        predict_setting(model, {"bs": size, "fs": "a"}, 0.95).value.value for size in (16384.0, 32768.0, 65536.0)
    )
    assert low <= between <= high


def test_a_prediction_of_a_logarithm_is_also_that_of_the_number(table: str) -> None:
    model = iosonde.fit(table, response="log10(mib_s)", on=["bs", "fs"], families=["tree"]).answer.choice.model
    prediction = predict_setting(model, {"bs": 16384.0, "fs": "a"}, 0.95)
    number = prediction.number
    assert number is not None
    assert (number.value, number.low, number.high) == pytest.approx(
        tuple(10**end for end in (prediction.value.value, prediction.value.low, prediction.value.high))
    )
    assert prediction.to_json()["number"] == number.value
    plain = iosonde.fit(table, response="mib_s", on=["bs", "fs"], families=["tree"]).answer.choice.model
    assert "number" not in predict_setting(plain, {"bs": 16384.0, "fs": "a"}, 0.95).to_json()


def test_errors_and_classes_of_a_logarithm_are_those_of_its_numbers() -> None:
    numbers, predicted = np.array([10.0, 100.0, 1000.0]), np.array([11.0, 90.0, 1200.0])
    plain = compute_errors(numbers, predicted, compute_class_bounds(numbers))
    logs, predicted_logs = np.log2(numbers), np.log2(predicted)
    of_logs = compute_errors(logs, predicted_logs, compute_class_bounds(logs, log_base=2.0), 2.0)
    assert of_logs.relative == pytest.approx(plain.relative) and of_logs.class_error == plain.class_error
    assert of_logs.mae == pytest.approx(np.mean(np.abs(logs - predicted_logs)))


def test_levels_that_differ_in_spelling_are_named_and_not_merged(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("fs,host,mib_s\nBEEGFS,n1,1\nBeegfs,n2,2\nbeegfs,n1,3\nnfs,n2,4\nBee-GFS,n1,5\n")
    read = read_table(str(path))
    assert len(read.columns["fs"].levels) == 5
    assert with_code(read.warnings, "similar-levels").values["n_levels"] == 4
    path.write_text("fs,mib_s\na,1\nb,2\n")
    assert "similar-levels" not in codes(read_table(str(path)).warnings)
