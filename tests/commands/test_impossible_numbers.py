"""Rates and times below 0 are no measurements: S138."""

from pathlib import Path

import pytest

import iosonde
from iosonde.core.contradiction import BELOW_ZERO
from iosonde.data.source import open_data


def write_table(folder: Path, header: str, *rows: str) -> str:
    path = folder / "t.csv"
    path.write_text("\n".join([header, *rows]))
    return str(path)


@pytest.mark.parametrize("column", ["mib_s", "latency_ms", "time (s)", "iops"])
def test_a_rate_or_time_below_0_is_no_value(tmp_path: Path, column: str) -> None:
    table = open_data(write_table(tmp_path, f"fs,{column}", "a,3", "a,-1", "a,4", "b,7", "b,6", "b,8")).table
    assert table.column(column).missing.tolist() == [False, True, False, False, False, False]
    assert [warning.code for warning in table.warnings if warning.code == BELOW_ZERO] == [BELOW_ZERO]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("mib_s_change", (3, -1, 4, 7, 6)),
        ("score", (3, -1, 4, 7, 6)),
        ("mib_s", (3, -1, 4, -7, -6)),  # differences, whatever their name
        ("time (s)", (-1, 0, 1, 2, 3)),  # a clock
    ],
)
def test_what_may_be_below_0_stays(tmp_path: Path, column: str, values: tuple[int, ...]) -> None:
    table = open_data(write_table(tmp_path, f"fs,{column}", *(f"a,{value}" for value in values))).table
    assert table.column(column).values.tolist() == list(values)


def test_check_names_the_rule(tmp_path: Path) -> None:
    rows = [f"{fs},{100 + number % 3}" for fs in "ab" for number in range(8)]
    path = write_table(tmp_path, "fs,mib_s", *rows, "a,-1")
    (finding,) = [finding for finding in iosonde.check(path).answer.examination.findings if finding.code == "S138"]
    assert int(finding.evidence["n"]) == 1
    assert iosonde.compare(path).answer.items[0].comparison.ratio.value == pytest.approx(1, rel=0.01)
