"""What a page shows of factors: the ranking, a model on rows not seen, its tree, what-if rows; and where it stops."""

import dataclasses

import numpy as np
import pytest

from iosonde.answers.constraints import SettingConstraints
from iosonde.commands.fit.figure_tree import TreeDrawing, is_cut, tree_figure
from iosonde.commands.fit.figure_unseen import curve_figure
from iosonde.commands.rank import for_page as influences
from iosonde.commands.rank.content import LearningPoint
from iosonde.commands.rank.figure import Bar, Importance, importance_figure
from iosonde.commands.report.section import _build_curve
from iosonde.core.table import Column, Table
from iosonde.core.types import Estimate
from iosonde.model.sensitivity import rank
from messages import codes

OPTIONS = influences.InfluenceOptions(0.95)


def table(rows=96, seed=1, unit="MiB/s", names=("fs", "size")):
    """fs adds 40, size 3 for each of its 1 to 4, noise 1."""
    rng = np.random.default_rng(seed)
    fs = np.array(["ext4", "xfs"] * (rows // 2), dtype=object)
    size = np.repeat([1.0, 2.0, 3.0, 4.0], rows // 4)
    speed = 100 + 40 * (fs == "xfs") + 3 * size + rng.normal(0, 1, rows)
    columns = [Column(names[0], fs), Column(names[1], size), Column("speed", speed, "speed", unit)]
    return Table({column.name: column for column in columns}, "made.csv")


@pytest.fixture(scope="module")
def one():
    section = influences.build_table_influences(table(), ["speed"], ["fs", "size"], OPTIONS)
    assert not section.missing
    return section.items[0]


def test_the_stronger_factor_comes_first_with_its_share(one):
    assert [share.name for share in one.ranking.shares] == ["fs", "size"]
    assert one.ranking.shares[0].share.value == pytest.approx(400 / (400 + 11.25 + 1), abs=0.02)


def test_a_page_estimates_no_shapley_effects_as_it_shows_none(monkeypatch):
    rows = table().take(np.r_[0:60, 61:96:2])
    monkeypatch.setattr(rank, "estimate_shapley_effects", lambda *_: pytest.fail("not shown, and most of the time"))
    section = influences.build_table_influences(rows, ["speed"], ["fs", "size"], OPTIONS)
    (item,) = section.items
    assert "correlated-factors" in codes(item.ranking.warnings) and len(item.ranking.shares) == 2


def test_the_model_is_judged_beside_the_mean_and_the_noise(one):
    assert one.judged.error.value < 0.15 * one.judged.mean_error.value
    assert one.judged.noise == pytest.approx(0.8, abs=0.3)
    assert len(one.judged.observed) == len(one.judged.predicted) == 96
    assert [point.n_train for point in one.judged.curve] == sorted(point.n_train for point in one.judged.curve)


@pytest.mark.parametrize(("first", "scale"), [(60.0, "linear"), (25_000.0, "log")])
def test_a_model_that_few_rows_mislead_far_leaves_the_rest_of_its_curve_readable(one, first, scale):
    curve = (LearningPoint(27, first, 64.0), LearningPoint(54, 55.0, 64.0), LearningPoint(108, None, 63.0))
    judged = dataclasses.replace(one.judged, curve=curve)
    drawn = curve_figure(_build_curve(one, judged)).spec["layer"][0]["encoding"]
    assert drawn["y"]["scale"]["type"] == scale and drawn["x"]["scale"]["type"] == "log"


def test_the_tree_s_rules_hold_every_row_once(one):
    assert sum(rows for _, _, rows in one.tree.rules) == 96
    assert any("fs" in text for text, _, _ in one.tree.rules)


def test_what_if_changes_one_factor_to_its_best_other_level(one):
    rows = {row.factor: row for row in one.what_if.rows}
    now = one.what_if.now.value
    assert "fs=" in one.what_if.setting
    assert rows["size"].other == ("4" if rows["size"].now != "4" else "3")
    step = rows["fs"].predicted.value - now
    assert abs(step) == pytest.approx(40, abs=3)


def test_what_a_constraint_forbids_is_not_offered():
    rows = table()
    rows = rows.take(np.flatnonzero((rows.column("fs").values == "ext4") | (rows.column("size").values < 3)))
    free, bound = (
        influences.build_table_influences(
            rows, ["speed"], ["fs", "size"], influences.InfluenceOptions(0.95, SettingConstraints(said))
        )
        .items[0]
        .what_if
        for said in ((), ("fs == 'ext4' or size <= 2",))
    )
    assert free.setting == bound.setting == "fs=ext4, size=3"
    assert {row.factor for row in free.rows} == {"fs", "size"}
    assert {row.factor for row in bound.rows} == {"size"}


def test_a_constraint_that_was_measured_broken_is_refused():
    section = influences.build_table_influences(
        table(), ["speed"], ["fs", "size"], influences.InfluenceOptions(0.95, SettingConstraints(("size <= 3",)))
    )
    assert not section.items and "size <= 3" in section.missing[0]


@pytest.mark.long
def test_of_times_less_is_better():
    one = influences.build_table_influences(table(unit="s"), ["speed"], ["fs", "size"], OPTIONS).items[0]
    rows = {row.factor: row for row in one.what_if.rows}
    assert rows["size"].other == ("1" if rows["size"].now != "1" else "2")


@pytest.mark.long
def test_responses_of_which_no_setting_varies_are_not_said_to_be_left_out(monkeypatch):
    monkeypatch.setattr(influences, "MOST_RESPONSES", 1)
    several = table()
    several.columns["again"] = dataclasses.replace(several.columns["speed"], name="again", label="again")
    alike = several.take(np.arange(2) * 2)  # ext4 of size 1 both
    assert not influences.build_table_influences(alike, ["speed", "again"], ["fs", "size"], OPTIONS).missing
    (said,) = influences.build_table_influences(several, ["speed", "again"], ["fs", "size"], OPTIONS).missing
    assert "again" in said and "speed" not in said


def test_too_many_rows_are_left_to_the_commands(monkeypatch):
    monkeypatch.setattr(influences, "MOST_ROWS", 50)
    section = influences.build_table_influences(table(), ["speed"], ["fs", "size"], OPTIONS)
    assert not section.items
    (missing,) = section.missing
    assert " 96 " in missing and "rank" in missing


@pytest.mark.long
def test_where_the_mean_is_as_good_no_tree_is_drawn():
    random = np.random.default_rng(3)
    noise = table()
    column = noise.column("speed")
    values = dataclasses.replace(column, values=random.normal(100, 5, len(noise)))
    (one,) = influences.build_table_influences(
        Table({**noise.columns, "speed": values}, "t"), ["speed"], ["fs", "size"], OPTIONS
    ).items
    assert not one.judged.error.value < one.judged.mean_error.value and one.tree is None and one.what_if is None


def test_nothing_that_varies_is_no_part_of_the_page():
    assert not influences.build_table_influences(table(), ["speed"], [], OPTIONS).shown


def test_bars_stay_on_their_axis_and_tell_what_cannot_be_told():
    said = Estimate(0.5, 0.25, 1.2, 0.95, 9)
    unknown = Estimate(None, None, None, 0.95, 9)
    figure = importance_figure(Importance("y", (Bar("a", said, unknown, 0.1),)))
    total, first, *intervals, zero = (one["data"]["values"] for one in figure.spec["layer"])
    assert total == [] and [row["x"] for row in first] == [0.5] and [row["x"] for row in zero] == [0.1]
    assert {(row["low"], row["high"]) for rows in intervals for row in rows} == {(0.25, 1.2)}
    assert figure.spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert all(one["mark"]["clip"] for layer in figure.spec["layer"] for one in layer.get("layer", [layer]))


def drawn(nodes):
    """(edges, boxes, the specification) of a tree."""
    spec = tree_figure(TreeDrawing("y", nodes)).spec
    layers = [layer["data"]["values"] for layer in spec["layer"]]
    return layers[0], layers[-1], spec


def test_a_tree_is_drawn_without_boxes_on_each_other(one):
    edges, boxes, spec = drawn(one.tree.nodes)
    assert len(boxes) == len(one.tree.nodes) and len(edges) == len(boxes) - 1
    width = next(layer["mark"]["width"] for layer in spec["layer"] if layer["mark"]["type"] == "rect")
    by_row = {}
    for box in boxes:
        by_row.setdefault(box["y"], []).append(box["x"])
    for row in by_row.values():
        row.sort()
        assert all(b - a >= width for a, b in zip(row, row[1:], strict=False))
    assert all(0 <= box["x"] <= spec["width"] and box["y"] <= spec["height"] for box in boxes)


def test_a_leaf_of_classes_says_the_likeliest_and_the_share_of_each():
    slow = {"class": 1, "name": "slow", "value": 12.5, "classes": {"1": 3, "3": 1}, "n": 4}
    fast = {"class": 3, "value": 80.0, "classes": {"3": 2}, "n": 2}
    root = {"factor": "size", "at_most": 64, "yes": 1, "no": 2, "n": 6}
    spec = drawn([root, slow, fast])[2]
    rows = [row for layer in spec["layer"] for row in layer["data"]["values"]]
    assert {"slow", "75 % of 4 rows", "class 3", "100 % of 2 rows"} <= {
        row[field] for row in rows for field in ("first", "second") if field in row
    }
    assert {"slow 75 %, class 3 25 % of 4 rows", "class 3 100 % of 2 rows"} <= {row.get("tip") for row in rows}


def test_a_large_tree_is_drawn_to_its_top():
    nodes, width = [], 31
    for at in range(width):
        nodes.append({"factor": "x", "at_most": at, "yes": 2 * at + 1, "no": 2 * at + 2, "n": 9})
    nodes += [{"value": 1.0, "n": 1}] * (width + 1)
    _, boxes, spec = drawn(nodes)
    assert is_cut(nodes) and not is_cut(nodes[-1:])
    assert len(boxes) == 15
    firsts = [row["first"] for layer in spec["layer"] for row in layer["data"]["values"] if "first" in row]
    assert firsts.count("…") == 8


def test_names_from_data_are_text_on_the_page(tmp_path):
    from click.testing import CliRunner

    from iosonde.cli.group import cli

    made = table(names=("<b>fs", "$$size"))
    rows = zip(*(made.column(name).values for name in made.names), strict=True)
    lines = [",".join(made.names), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    out = tmp_path / "t.html"
    said = CliRunner().invoke(cli, ["report", str(tmp_path / "t.csv"), "--response", "speed", "-o", str(out)])
    assert said.exit_code == 0, said.output
    page = out.read_text()
    assert 'id="curve-1"' in page and 'id="tree-1"' in page
    assert "<b>fs" not in page and "&lt;b&gt;fs" in page
