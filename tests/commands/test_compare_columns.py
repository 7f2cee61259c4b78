"""``compare`` of two columns of a table whose rows are settings: within each setting, as in rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iosonde
from iosonde.core.errors import DataError, InputError

CEPH, LUSTRE = [86.3, 151.5, 243.8, 378.9, 619.4], [164.6, 265.6, 439.2, 731.6, 1284.5]


def write(path: Path, head: str, rows: list[tuple[object, ...]]) -> str:
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return str(path)


@pytest.fixture
def wide(tmp_path: Path) -> str:
    rows = [(2**i, 100 + i, *both) for i, both in enumerate(zip(CEPH, LUSTRE, strict=True))]
    return write(tmp_path / "wide.csv", "processes,nfs,ceph,lustre", rows)


def compare(data: str, *sides: object, **options: object):
    (item,) = iosonde.compare(data, *sides, **options).answer.items
    return item


def test_columns_are_compared_within_each_setting_as_levels_in_rows_are(wide, tmp_path):
    rows = [(2**i, fs, each[i]) for i in range(5) for fs, each in (("ceph", CEPH), ("lustre", LUSTRE))]
    long = write(tmp_path / "long.csv", "processes,fs,mib_s", rows)
    of_columns, of_rows = compare(wide, levels=["ceph", "lustre"]), compare(long, "fs", ["ceph", "lustre"])
    assert of_columns.adjusted == ("processes",)
    assert of_columns.comparison.ratio == of_rows.comparison.ratio
    assert of_columns.comparison.p == pytest.approx(of_rows.comparison.p)


def test_rows_that_repeat_a_setting_are_one_cell(tmp_path):
    rng = np.random.default_rng(1)
    rows = [
        (clients, *(mean * clients * np.exp(rng.normal(0, 0.05)) for mean in (100, 110)))
        for clients in (1, 4, 16)
        for _ in range(8)
    ]
    comparison = compare(
        write(tmp_path / "t.csv", "clients,a_mib_s,b_mib_s", rows), levels=["a_mib_s", "b_mib_s"]
    ).comparison
    assert comparison.cells == 3
    assert comparison.ratio.low < 1.1 < comparison.ratio.high
    assert comparison.ratio.high - comparison.ratio.low < 0.12


def test_nothing_is_held_on_request_and_without_settings(wide, tmp_path):
    assert compare(wide, levels=["ceph", "lustre"], adjust=()).comparison.cells < 2
    plain = write(tmp_path / "plain.csv", "ceph,lustre", list(zip(CEPH, LUSTRE, strict=True)))
    assert compare(plain, levels=["ceph", "lustre"]).comparison.cells < 2


def test_without_sides_the_columns_are_offered(wide):
    with pytest.raises(InputError) as error:
        iosonde.compare(wide)
    assert {"ceph", "lustre"} <= set(error.value.values["columns"].strip(" ()").split(", "))


def test_a_wrong_response_is_said_before_a_missing_group(tmp_path):
    rows = [(fs, n, 100 + n) for fs in "abc" for n in range(4)]
    data = write(tmp_path / "t.csv", "fs,clients,write_mib_s", rows)
    with pytest.raises(DataError) as error:
        iosonde.compare(data, response="wirte")
    assert (error.value.code, error.value.values["column"]) == ("unknown-column", "wirte")
