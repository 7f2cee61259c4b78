"""The page's section of what matters is the ranking of `rank`, which names the interactions that `summary` names."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import iosonde
from iosonde.commands.report.answer import report
from iosonde.commands.report.content import Page
from iosonde.commands.report.query import ReportQuery
from iosonde.core.table import Table, build_table
from iosonde.core.verdict import name_standing
from iosonde.model.sensitivity.ranking import Ranking
from iosonde.stats.regression.effect_types import describe_interaction
from messages import codes

Row = dict[str, object]


def build_nested_targets() -> Table:
    """Three levels of targets, one trial a setting; sizes help reads and hurt writes; a scheduler without effect."""
    rng = np.random.default_rng(4711)
    rows: list[Row] = []
    for cluster, server, target in product(range(3), range(2), range(2)):
        place = 8 * cluster + 5 * server + 3 * target
        for op, size, sched in product(("read", "write"), (4, 128), ("none", "bfq")):
            crossing = 35 if (op == "read") == (size == 128) else -35
            names = {"cluster": f"c{cluster}", "server": f"c{cluster}s{server}"}
            names["target"] = f"c{cluster}s{server}t{target}"
            value = 500 + place + crossing + rng.normal(0, 6)
            rows.append({**names, "op": op, "size_kib": size, "sched": sched, "mb_s": value})
    return _build(rows)


def build_sites() -> Table:
    """Sites, their racks and the nodes of these, two trials of most settings; compression helps at one site alone."""
    rng = np.random.default_rng(4712)
    rows: list[Row] = []
    for site, rack, node, op in product("AB", range(3), range(2), ("read", "write")):
        place = 40 * (site == "B") + 9 * rack + 5 * node + 30 * (op == "read")
        for compression, gain in (("off", 0), ("lz4", 45), ("zstd", -20)):
            for _ in range(2):
                names = {"site": site, "rack": f"{site}r{rack}", "node": f"{site}r{rack}n{node}", "op": op}
                value = 400 + place + gain * (1 if site == "A" else -1) + rng.normal(0, 6)
                rows.append({**names, "compression": compression, "mb_s": value})
    return _build([rows[place] for place in np.sort(rng.permutation(len(rows))[:122])])


def build_single_trials() -> Table:
    """A factorial of one trial a setting, in which two factors help together alone."""
    rng = np.random.default_rng(4713)
    levels = [range(2)] * 6 + [range(3)]
    names = "abcdefg"
    rows = [
        {**{name: f"l{level}" for name, level in zip(names, setting, strict=True)}, "mb_s": 80 + rng.normal(0, 4)}
        for setting in product(*levels)
    ]
    for row in rows:
        row["mb_s"] += 10 * (row["a"] == row["b"] == "l1")
    return _build(rows)


def _build(rows: list[Row]) -> Table:
    return build_table({name: [row[name] for row in rows] for name in rows[0]}, "t.csv")


TABLES = {"targets": build_nested_targets, "sites": build_sites, "single": build_single_trials}
PAIRS = {"targets": {"op", "size_kib"}, "sites": {"site", "compression"}, "single": {"a", "b"}}


def rank(table: Table) -> Ranking:
    (ranking,) = iosonde.rank(table).answer.rankings
    return ranking


def build_page(table: Table, folder: Path) -> Page:
    path, columns = folder / "t.csv", table.columns.values()
    lines = zip(*(column.values.tolist() for column in columns), strict=True)
    rows = [",".join(column.name for column in columns), *(",".join(map(str, line)) for line in lines)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    page = report(ReportQuery(str(path)))
    assert isinstance(page, Page)
    return page


@pytest.mark.parametrize("name", TABLES)
def test_rank_and_summary_name_the_same_pair(name):
    table = TABLES[name]()
    ranking = rank(table)
    (text,) = describe_interaction(ranking.effects)
    assert text in ranking.sentence and PAIRS[name] <= set(text.split())
    (story,) = iosonde.summary(table).answer.overview.stories
    assert list(describe_interaction(story.effects)) == [text]


@pytest.mark.parametrize("name", TABLES)
def test_the_section_of_a_page_is_the_ranking(name, tmp_path):
    table = TABLES[name]()
    ranking = rank(table)
    influence = build_page(table, tmp_path).influences.items[0]
    assert influence.ranking is not None and influence.ranking.sentence == ranking.sentence
    assert [share.share for share in influence.ranking.shares] == [factor.share for factor in ranking.factors]


def test_what_if_says_which_changes_have_no_significant_effect(tmp_path):
    table = build_nested_targets()
    (what_if,) = [item.what_if for item in build_page(table, tmp_path).influences.items]
    assert what_if is not None
    standings = {row.factor: row.standing for row in what_if.rows}
    (answer,) = [iosonde.rank(table).answer]
    verdicts = answer.verdicts_of(0)
    assert standings["sched"] == name_standing(verdicts["sched"]) and standings["op"] == name_standing(verdicts["op"])


def test_intervals_have_a_noise_where_no_setting_is_repeated():
    ranking = rank(build_single_trials())
    assert all(factor.share.low is not None for factor in ranking.factors)
    assert "no-replication" not in codes(ranking.warnings) and "no-repeats" in codes(ranking.warnings)
