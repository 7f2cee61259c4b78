"""Two tables whose headers name one column in two units."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import iosonde
from messages import codes, raises


def write_table(path: Path, header: str, scale: float) -> str:
    noise = random.Random(path.name)
    rows = [f"{n},{500 * n * scale * noise.gauss(1, 0.01):.6f}" for n in (1, 2, 4) for _ in range(5)]
    path.write_text("\n".join([f"clients,{header}", *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("header", "scale"), [("write (MiB/s)", 1.1 / 1.048576), ("write (GB/s)", 1.1e-3), ("write_mib_s", 1.1 / 1.048576)]
)
def test_one_response_in_two_units_is_compared(tmp_path: Path, header: str, scale: float) -> None:
    a = write_table(tmp_path / "a.csv", "write (MB/s)", 1)
    answer = iosonde.compare(a, b=write_table(tmp_path / "b.csv", header, scale)).answer
    assert [item.comparison.ratio.value for item in answer.items] == pytest.approx([1.1] * 3, rel=0.02)
    assert {item.unit for item in answer.items} == {"MB/s"}
    assert "converted-unit" in codes(answer.warnings)


def test_another_kind_of_unit_or_name_is_another_response(tmp_path: Path) -> None:
    a = write_table(tmp_path / "a.csv", "write (MB/s)", 1)
    for name, header in (("b.csv", "write (ms)"), ("c.csv", "read (MiB/s)")):
        with raises("no-common-response"):
            iosonde.compare(a, b=write_table(tmp_path / name, header, 1))
