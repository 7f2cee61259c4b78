"""``advise`` and the page advise no setting that another column explains as well, as ``compare`` says."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import iosonde
from iosonde.core.table import build_table
from iosonde.core.verdict import VerdictState
from iosonde.stats.assumptions.separable import check_separable
from terminal import command_of


def write_rows(path: Path, header: str, rows: list[str]) -> str:
    path.write_text("\n".join([header, *rows]) + "\n")
    return str(path)


def half_fraction(tmp_path: Path) -> str:
    """The level of compress, which has no effect, is the product of those of cache and sync, which have one."""
    rng = np.random.default_rng(1)
    rows = [
        f"{cache},{sync},{cache * sync},{200 + 30 * sync + 15 * cache * sync + rng.normal(0, 3):.2f}"
        for cache, sync, _ in product((-1, 1), (-1, 1), range(4))
    ]
    return write_rows(tmp_path / "half.csv", "cache,sync,compress,mb_s", rows)


def hosts_within_systems(tmp_path: Path) -> str:
    rng = np.random.default_rng(2)
    hosts = {"nfs": range(4), "ceph": range(4, 8)}
    level = rng.normal(300, 25, 8)
    rows = [
        f"{fs},n{host},{level[host] + rng.normal(0, 10):.2f}"
        for fs, host, _ in ((fs, host, n) for fs, own in hosts.items() for host in own for n in range(10))
    ]
    return write_rows(tmp_path / "hosts.csv", "fs,host,mib_s", rows)


@pytest.mark.parametrize(
    ("build", "choose", "given", "cause"),
    [(half_fraction, "compress", ["cache"], "sync"), (hosts_within_systems, "fs", None, "host")],
)
def test_no_advice_where_another_column_explains_the_choice(build, choose, given, cause, tmp_path):
    data = build(tmp_path)
    advised = iosonde.advise(data, [choose], given=given).answer
    compared = iosonde.compare(data, choose, by=given or []).answer
    (verdict,) = advised.verdicts
    assert verdict.state is VerdictState.NOT_SEPARABLE
    assert {each.state for each in compared.verdicts} == {VerdictState.NOT_SEPARABLE}
    assert advised.advice.kind == "nothing" and not advised.advice.rules and not advised.advice.cases
    assert cause in advised.sentence


def test_a_page_advises_no_setting_that_another_column_explains(tmp_path):
    page, data = tmp_path / "page.html", half_fraction(tmp_path)
    words = [data, "--choose", "compress", "--given", "cache", "-o", str(page)]
    assert CliRunner().invoke(command_of("report"), words, catch_exceptions=False, standalone_mode=False)
    assert "Advice:" not in page.read_text() and "sync" in page.read_text()


def test_a_column_that_links_the_settings_leaves_the_advice(tmp_path):
    rng = np.random.default_rng(3)
    rows = [
        f"{fs},d{day},{(1 + 0.3 * (fs == 'b')) * (100 + 20 * day) + rng.normal(0, 2):.2f}"
        for fs, day, _ in product("ab", range(3), range(3))
    ]
    data = write_rows(tmp_path / "days.csv", "fs,day,mib_s", rows)
    assert iosonde.advise(data, ["fs"], given=["day"]).answer.advice.kind == "default"


def check(columns: dict[str, list], choose: list[str], workload: list[str], name: str) -> list[str]:
    table = build_table(columns)
    return [check.outcome for check in check_separable(table, choose, workload, [name])]


def test_settings_are_separable_where_values_link_them():
    fs = ["a", "a", "b", "b", "c", "c"]
    assert not check({"fs": fs, "day": [1, 2, 2, 3, 3, 4]}, ["fs"], [], "day")
    assert check({"fs": fs, "day": [1, 2, 2, 3, 5, 5]}, ["fs"], [], "day") == ["fails"]


def test_a_name_of_each_row_explains_nothing():
    assert not check({"fs": ["a", "a", "b", "b"], "trial": [1, 2, 3, 4]}, ["fs"], [], "trial")


def test_a_few_workloads_without_a_link_are_a_doubt():
    columns = {"fs": ["a", "b"] * 3, "size": [1, 1, 2, 2, 3, 3], "day": [1, 1, 2, 2, 3, 4]}
    assert check(columns, ["fs"], ["size"], "day") == ["doubtful"]
