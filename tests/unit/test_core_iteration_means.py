"""A tool's mean over its iterations meets the number of a single iteration, in one store and in two."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from iosonde.core.iteration_means import add_iteration_means
from iosonde.core.table import Table, build_table
from terminal import command_of

SINGLE = (("1", "rate_mean", 5.0), ("1", "rate_last_done", 5.0))
SEVERAL = (("3", "rate_mean", 7.0), ("3", "rate_max", 9.0))
OUTPUT = """\
mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)
Command line used: mdtest -n 100 -i {n} -d {path}
SUMMARY rate: (of {n} iterations)
   Operation                     Max            Min           Mean        Std Dev
   File creation               {rate}.0      {rate}.0      {rate}.0      0.0
-- finished at 11/21/2026 09:26:00 --
"""


def build_results(*rows: tuple[str, str, float], ranks: tuple[int | None, ...] = ()) -> Table:
    runs, metrics, values = (list(column) for column in zip(*rows, strict=True))
    columns = {"run": runs, "operation": ["stat"] * len(rows), "metric": metrics, "value": values}
    return build_table(columns | ({"rank": list(ranks)} if ranks else {}))


def list_rows(table: Table) -> list[tuple[str, str, float]]:
    return list(zip(*(table.columns[name].values.tolist() for name in ("run", "metric", "value")), strict=True))


def test_the_mean_over_several_iterations_is_read_as_the_number_of_one():
    added = [*SEVERAL, ("3", "rate_last_done", 7.0)]
    assert [list_rows(table) for table in add_iteration_means([build_results(*SINGLE, *SEVERAL)])] == [
        [*SINGLE, *added]
    ]
    single, several = add_iteration_means([build_results(*SINGLE), build_results(*SEVERAL)])
    assert (list_rows(single), list_rows(several)) == (list(SINGLE), added)


@pytest.mark.parametrize(
    "table",
    [
        build_results(*SINGLE),
        build_results(*SEVERAL),
        build_results(("1", "rate_last_done", 5.0), *SEVERAL),  # the mean may be another one
        build_results(*SINGLE, ("3", "rate_mean", 7.0), ranks=(None, None, 0)),
    ],
)
def test_other_means_stay_as_they_are(table):
    assert add_iteration_means([table]) == [table]


def test_tables_that_are_no_results_stay_as_they_are():
    table = build_table({"fs": ["a", "b"], "rate_mean": [1.0, 2.0]})
    assert add_iteration_means([table, table]) == [table, table]


def test_runs_of_mdtest_with_one_and_with_several_iterations_meet(tmp_path):
    for name, n, rates in (("single", 1, (100, 101, 102)), ("several", 3, (200, 203, 201))):
        (tmp_path / f"{name}-in").mkdir()
        for rate in rates:
            (tmp_path / f"{name}-in" / str(rate)).write_text(OUTPUT.format(n=n, rate=rate, path=rate))
        arguments = ["-r", str(tmp_path / f"{name}-in"), "--store", str(tmp_path / name)]
        assert CliRunner().invoke(command_of("import"), arguments).exit_code == 0
    command = [str(tmp_path / "single"), str(tmp_path / "several"), "--json"]
    result = CliRunner().invoke(command_of("compare"), command)
    assert json.loads(result.stdout)["comparisons"][0]["ratio"]["value"] == pytest.approx(604 / 303, rel=0.001)
