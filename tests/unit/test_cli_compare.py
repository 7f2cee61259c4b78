"""``iosonde compare`` of long, wide and published data, and of a store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.cli.commands import compare
from iosonde.core.errors import DataError, InputError

CP = str(Path(__file__).parents[1] / "golden" / "data" / "cp_raw.csv")
CP_ARGS = (CP, "--response", "real_s", "--group", "replicas")
UFS = "mean=177.1,low=167.6,high=186.6,n=8,level=0.9,name=UFS"


def invoke(*args: str) -> str:
    return CliRunner().invoke(compare.command, list(args), catch_exceptions=False, standalone_mode=False).stdout


def as_json(*args: str) -> dict:
    return json.loads(invoke(*args, "--json"))


def refused(*args: str) -> str:
    with pytest.raises((InputError, DataError)) as error:
        invoke(*args)
    return f"{error.value.message} | {error.value.hint}"


def test_a_published_side_by_its_keys():
    made = as_json(*CP_ARGS, "1", "--b-summary", UFS, "--level", "0.9")
    assert made["t"] == pytest.approx(2.618035, abs=1e-3) and made["df"] == pytest.approx(12.923033, abs=1e-3)
    assert (made["overlap"], made["verdict"]) == (True, "different")
    assert set(made["ratio"]) == {"value", "low", "high", "level", "n", "warnings"}
    other = as_json(*CP_ARGS, "1", "--a-summary", UFS, "--level", "0.9")
    assert other["t"] == pytest.approx(-made["t"])


def test_two_published_sides_need_no_data():
    made = as_json("--a-summary", "mean=10,sd=1,n=12", "--b-summary", "mean=20,sd=1,n=12")
    assert made["t"] == pytest.approx(-10 / (2 / 12) ** 0.5) and made["verdict"] == "different"
    assert "nothing to compare" in refused("--a-summary", "mean=10,sd=1,n=12")
    assert "nothing to compare" in refused()


def test_all_levels_are_compared_pairwise_and_corrected():
    made = as_json(*CP_ARGS)
    assert [(c["a"]["name"], c["b"]["name"]) for c in made["comparisons"]] == [("1", "2"), ("1", "3"), ("2", "3")]
    assert all(c["p_holm"] >= c["p"] for c in made["comparisons"]) and "t" not in made


def test_texts_fit_a_terminal():
    for args in [(*CP_ARGS,), (*CP_ARGS, "1", "3"), (*CP_ARGS, "1", "--b-summary", UFS)]:
        text = invoke(*args)
        assert max(map(len, text.splitlines())) < 80 and text.rstrip().endswith(".")


def test_two_columns_of_a_wide_table(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("before_s,after_s\n1,2\n1.1,2.2\n0.9,\n1.05,2.1\n")
    made = as_json(str(path), "before", "after_s")
    assert (made["a"]["n"], made["b"]["n"], made["verdict"]) == (4, 3, "different")
    assert made["ratio"]["value"] == pytest.approx(2.1 / 1.0125)


def test_pairs_by_a_key(tmp_path):
    made = as_json(*CP_ARGS, "1", "3", "--pair", "run_in_group")
    assert made["paired"] and made["df"] == 7
    path = tmp_path / "t.csv"
    path.write_text(
        "v,k,y\n" + "".join(f"{v},{k},{y}\n" for v, k, y in [("a", 1, 1), ("a", 1, 2), ("b", 1, 3), ("b", 2, 4)])
    )
    assert "2 trials with k=1" in refused(str(path), "--response", "y", "--group", "v", "--pair", "k")


def test_within_every_cell_of_other_columns(tmp_path):
    path = tmp_path / "t.csv"
    rows = [(v, s, 100 * s + (9 if v == "b" else 0) + i) for v in "ab" for s in (1, 2) for i in range(4)]
    path.write_text("v,size,y\n" + "".join(f"{v},{s},{y}\n" for v, s, y in rows))
    made = as_json(str(path), "a", "b", "--response", "y", "--group", "v", "--by", "size")
    assert [c["by"] for c in made["comparisons"]] == [{"size": 1}, {"size": 2}]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((*CP_ARGS, "1", "9"), "its values: 1, 2, 3"),
        ((*CP_ARGS, "1"), "one value"),
        ((CP, "--response", "real_s", "--group", "replica"), "replicas"),
        ((CP, "--response", "real_s"), "--group is missing"),
        ((*CP_ARGS, "1", "2", "--margin", "x"), "is not a share"),
        ((*CP_ARGS, "1", "2", "--margin", "200%"), "between 0 and 1"),
        ((*CP_ARGS, "1", "2", "--level", "1"), "confidence level"),
        ((*CP_ARGS, "1", "--b-summary", "mean=1"), "no n"),
        ((*CP_ARGS, "1", "--b-summary", "mean=x,n=8"), "mean=x is not a number"),
        ((*CP_ARGS, "1", "--b-summary", "median=1,n=8"), "median=1"),
        ((*CP_ARGS, "1", "--b-summary", "mean=1,n=8.5,sd=1"), "whole number"),
        ((*CP_ARGS, "1", "--b-summary", "mean=1,n=8,sd=1,mean=2"), "--b-summary: mean is given twice"),
        ((*CP_ARGS, "1", "--b-summary", "mean=1,n"), "--b-summary: 'n' is not NAME=VALUE"),
    ],
)
def test_wrong_input_is_one_sentence_with_a_cure(args, said):
    assert said in refused(*args)


def test_a_store_compares_every_metric_of_trials(tmp_path):
    pytest.importorskip("iosonde.engine._native")
    from stats_sample import store

    store(tmp_path / "s")
    made = as_json(str(tmp_path / "s"), "1", "2", "--group", "nodes")
    assert [c["by"]["operation"] for c in made["comparisons"]] == ["create", "read_1to1_large"]
    assert {c["a"]["n"] for c in made["comparisons"]} == {6}
    text = invoke(str(tmp_path / "s"), "1", "2", "--group", "nodes")
    assert max(map(len, text.splitlines())) < 80 and "GiB/s" in text


def test_a_stores_values_must_be_of_one_kind_and_of_trials(tmp_path):
    pytest.importorskip("iosonde.engine._native")
    from stats_sample import store

    from iosonde.cli.commands import anova, regress

    store(tmp_path / "s")
    one = ("--where", "operation=create", "--where", "metric=rate_last_done")
    path = str(tmp_path / "s")
    made = as_json(path, "1", "2", "--group", "nodes", "--response", "value", *one)
    assert (made["a"]["n"], made["b"]["n"]) == (6, 6)
    said = refused(path, "1", "2", "--group", "nodes", "--response", "value")
    assert "operations and metrics" in said and "--where 'operation=create'" in said
    for command in (regress.command, anova.command):
        args = [path, "--response", "value", "--on", "nodes"]
        with pytest.raises(InputError):
            CliRunner().invoke(command, args, catch_exceptions=False, standalone_mode=False)
        text = CliRunner().invoke(command, [*args, *one], catch_exceptions=False, standalone_mode=False).stdout
        assert "n = 12" in text


def test_other_clocks_can_be_compared(tmp_path):
    pytest.importorskip("iosonde.engine._native")
    from stats_sample import store

    store(tmp_path / "s")
    made = as_json(str(tmp_path / "s"), "1", "2", "--group", "nodes", "--clock", "all")
    assert [c["by"]["metric"] for c in made["comparisons"]] == [
        "rate_last_done", "rate_sum_of_ranks", "bandwidth_last_done", "bandwidth_sum_of_ranks",
    ]  # fmt: skip
