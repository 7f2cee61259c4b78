"""``iosonde check``: what is planted is found, clean data are left in peace."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from iosonde.cli import check
from iosonde.core.errors import DataError, InputError
from iosonde.stats import copies, roles
from iosonde.stats.table import table_of
from iosonde.stats.trend import neighbour_correlation

PUBLISHED = Path(__file__).parents[1] / "golden" / "data"


def rows(repeats: int = 6, seed: int = 1, decimals: int = 4) -> list[dict]:
    """A clean grid: two file systems, three sizes, so many trials of each."""
    rng = np.random.default_rng(seed)
    made = []
    for (fs, size), repeat in product(product(("nfs", "afs"), (4, 64, 1024)), range(repeats)):
        mean = {"nfs": 100, "afs": 80}[fs] + 5 * np.log2(size)
        made.append(
            {"fs": fs, "size": size, "run": repeat, "mibs": round(mean * (1 + 0.02 * rng.standard_normal()), decimals)}
        )
    return made


def found(tmp_path, made: list[dict], *args: str) -> dict[str, dict]:
    path = tmp_path / "t.csv"
    names = list(made[0])
    path.write_text("\n".join([",".join(names), *(",".join(str(row[n]) for n in names) for row in made)]))
    text = CliRunner().invoke(check.command, [str(path), *args, "--json"], catch_exceptions=False).stdout
    return {finding["code"]: finding for finding in json.loads(text)["findings"]}


def test_clean_data_are_left_in_peace(tmp_path):
    assert found(tmp_path, rows()) == {}
    assert found(tmp_path, rows(), "--response", "mibs", "--by", "fs,size") == {}


def test_copied_cells_are_an_error_and_leak(tmp_path):
    made = rows()
    by_cell = {(row["fs"], row["size"], row["run"]): row["mibs"] for row in made}
    for row in made:
        if row["fs"] == "afs":
            row["mibs"] = by_cell["nfs", row["size"], row["run"]]
    out = found(tmp_path, made)
    assert out["S202"]["severity"] == "error" and out["S202"]["evidence"]["n_cells"] == 3
    assert set(out["S202"]["evidence"]["levels"]) == {"nfs", "afs"}
    assert out["S203"]["evidence"]["share_with_twin"] == 1.0
    assert out["S201"]["evidence"]["pairs"] == 18


def test_pasted_rows_are_found_among_values_with_many_digits(tmp_path):
    made = rows()
    assert "S201" in found(tmp_path, [*made, *made[:3]])


def test_equal_values_that_rounding_explains_are_no_copies(tmp_path):
    assert "S201" not in found(tmp_path, rows(20, decimals=0))


@pytest.mark.parametrize("factor", [1024, 1000, 1 / 1024])
def test_a_unit_mixed_up_in_one_trial(tmp_path, factor):
    made = rows()
    made[9]["mibs"] *= factor
    assert found(tmp_path, made)["S207"]["evidence"]["n"] == 1


def test_a_file_system_in_other_units(tmp_path):
    made = rows()
    for row in made:
        row["mibs"] *= 1024 if row["fs"] == "afs" else 1
    assert "fs" in str(found(tmp_path, made)["S207"]["evidence"])


def test_values_beyond_the_bound(tmp_path):
    out = found(tmp_path, rows(), "--limit", "130")
    assert "above the bound of 130" in out["S207"]["sentence"]
    assert found(tmp_path, rows(), "--limit", "200") == {}


def test_missing_cells_and_unequal_numbers(tmp_path):
    made = [row for row in rows() if (row["fs"], row["size"]) != ("afs", 64)]
    assert "1 of 6 combinations" in found(tmp_path, made)["S204"]["sentence"]
    assert "hold 5 to 6 trials" in found(tmp_path, rows()[1:])["S204"]["sentence"]


def test_a_coarse_clock(tmp_path):
    made = rows()
    for row in made:
        row["mibs"] = round(row["mibs"], -1)
    assert "steps of 10" in found(tmp_path, made)["S206"]["sentence"]


def test_neighbours_that_are_alike(tmp_path):
    rng = np.random.default_rng(5)
    made = rows(30)
    for start in range(0, len(made), 30):
        wave = np.convolve(rng.standard_normal(60), np.ones(4) / 2, "valid")[:30]
        for offset in range(30):
            made[start + offset]["mibs"] = 100 + 3 * wave[offset]
    out = found(tmp_path, made, "--response", "mibs", "--by", "fs,size")
    assert out["S205"]["evidence"]["correlation"] > 0.3


def test_means_are_told_from_trials(tmp_path):
    rng = np.random.default_rng(3)
    grid = [{"fs": f, "size": s, "y": rng.normal(100)} for f, s in product("abcd", (1, 2, 4, 8))]
    assert "S208" in found(tmp_path, grid, "--response", "y", "--by", "fs,size")


def test_the_exit_code_is_1_for_errors_only(tmp_path):
    clean, broken = tmp_path / "clean.csv", tmp_path / "broken.csv"
    for path, made in ((clean, rows()), (broken, rows())):
        if path == broken:
            made[3]["mibs"] *= 1000
        path.write_text("fs,size,mibs\n" + "".join(f"{r['fs']},{r['size']},{r['mibs']}\n" for r in made))
    assert CliRunner().invoke(check.command, [str(clean)]).exit_code == 0
    result = CliRunner().invoke(check.command, [str(broken)])
    assert result.exit_code == 1 and max(map(len, result.stdout.splitlines())) < 80


def test_a_table_without_numbers_or_rows_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,y\n")
    with pytest.raises((DataError, InputError)):
        CliRunner().invoke(check.command, [str(path)], catch_exceptions=False, standalone_mode=False)


@pytest.mark.parametrize("cell", ["nan", "inf", "1,5", "3o"])
def test_a_column_that_is_numbers_but_for_a_cell_is_refused_and_not_passed_over(tmp_path, cell):
    path = tmp_path / "t.csv"
    path.write_text(f"a;y\n1;{cell}\n1;2\n2;3\n")
    with pytest.raises(DataError) as refused:
        CliRunner().invoke(check.command, [str(path)], catch_exceptions=False, standalone_mode=False)
    assert "line 2, column 'y'" in refused.value.message


def test_response_and_settings_are_guessed_by_their_values():
    made = rows()
    table = table_of({name: [row[name] for row in made] for name in made[0]})
    assert roles.likely_response(table) == "mibs"
    assert roles.likely_settings(table, ["mibs"]) == ["fs", "size"]


@pytest.mark.parametrize(
    ("values", "expected"), [([1.5, 2.0, 3.5], 0.5 * 0.2), ([1000.0, 3000], 1000), ([1.23], 0.01), ([0.0], 0)]
)
def test_the_step_of_values_is_a_power_of_ten(values, expected):
    assert copies.step(np.array(values)) == pytest.approx(expected)


def test_expected_ties_are_those_of_rounding():
    rng = np.random.default_rng(2)
    seen, expected = [], []
    for _ in range(30):
        values = np.round(rng.normal(100, 5, 200), 1)
        seen.append(copies.ties(values))
        expected.append(copies.expected_ties(values, 0.1))
    assert np.mean(expected) == pytest.approx(np.mean(seen), rel=0.25)


def test_the_correlation_of_neighbours_is_fair():
    rng = np.random.default_rng(7)
    p = [neighbour_correlation([rng.normal(size=8) for _ in range(4)], 400)[1] for _ in range(200)]
    assert np.mean(np.array(p) < 0.05) < 0.11
    assert abs(np.mean(p) - 0.5) < 0.08


def test_false_alarms_of_all_findings_together_are_rare(tmp_path):
    alarms = [bool(found(tmp_path, rows(seed=seed))) for seed in range(60)]
    assert np.mean(alarms) < 0.12
