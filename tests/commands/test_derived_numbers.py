"""What a tool computes from its own numbers is no further evidence: IO500's score, and what belongs to a phase."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import iosonde
from iosonde.core.derived_numbers import ALL_OPERATIONS, list_sources
from iosonde.core.headlines import list_headline_kinds

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from test_ingest_related_files import directory, imported, ior, only, result, summary

PHASES = {
    ("ior_easy_write", "bandwidth"),
    ("ior_hard_read", "bandwidth"),
    ("find", "rate"),
    ("mdtest_easy_stat", "rate"),
}
SCORE = {("score", "total"), ("score", "bandwidth"), ("score", "rate")}


@pytest.mark.parametrize(
    ("number", "sources"),
    [
        (("score", "total"), {("score", "bandwidth"), ("score", "rate")}),
        (("score", "bandwidth"), {("ior_easy_write", "bandwidth"), ("ior_hard_read", "bandwidth")}),
        (("score", "rate"), {("find", "rate"), ("mdtest_easy_stat", "rate")}),
        (("ior_easy_write", "rate"), {("ior_easy_write", "bandwidth")}),
        (("mdtest_easy_stat_tree_creation", "rate"), {("mdtest_easy_stat", "rate")}),
        (("ior_easy_write", "bandwidth"), set()),
        (("find", "rate"), set()),
        (("write", "rate"), set()),
    ],
)
def test_the_numbers_that_another_is_made_of(number, sources):
    assert set(list_sources(number, PHASES | SCORE)) == sources


def test_a_score_without_its_phases_stands_for_itself():
    assert not list_sources(("score", "bandwidth"), {("score", "bandwidth")})


def test_headlines_are_the_score_and_the_phases():
    metrics = [(operation, f"{kind}_last_done") for operation, kind in PHASES] + list(SCORE)
    metrics += [("ior_easy_write", "rate_last_done"), ("mdtest_easy_stat_tree_creation", "rate_last_done")]
    headlines = list_headline_kinds(metrics, ("bandwidth", "rate", "total"))
    assert headlines["score"] == ["total"]
    assert headlines["ior_easy_write"] == ["bandwidth"]
    assert headlines["mdtest_easy_stat_tree_creation"] == []
    assert headlines["find"] == ["rate"]


def test_bytes_of_all_operations_are_a_headline_only_alone():
    every = (ALL_OPERATIONS, "bandwidth_last_done")
    assert list_headline_kinds([every, ("read", "bandwidth_sum_of_ranks")], ("bandwidth",))[ALL_OPERATIONS] == []
    assert list_headline_kinds([every], ())[ALL_OPERATIONS] == ["bandwidth"]


def mark_invalid(text: str) -> str:
    return text.replace("TOTAL 5.656854", "TOTAL 5.656854 [INVALID]")


def test_the_score_comes_first_and_says_that_it_is_invalid(tmp_path):
    directory(tmp_path / "in", result__txt=result(), result_summary__txt=mark_invalid(summary()))
    assert imported(tmp_path / "in", tmp_path / "s")["incomplete"] == 1
    run = only(tmp_path / "s")
    assert "invalid" in run.missing[0]
    assert (run.observations[0].operation, run.observations[0].metric) == ("score", "total")


def test_one_spelling_of_a_phase(tmp_path):
    listed = summary().replace(
        "[SCORE ]", "[      ]  ior-rnd4K-easy-read 4.000000 GiB/s : time 300.5 seconds\n[SCORE ]"
    )
    directory(tmp_path / "in", result_summary__txt=listed, ior_easy_write__txt=ior())
    (tmp_path / "in" / "ior-rnd4K-easy-read.txt").write_text(ior())
    imported(tmp_path / "in", tmp_path / "s")
    names = {row.operation for row in only(tmp_path / "s").observations if "rnd4" in row.operation.lower()}
    assert names and all(name.startswith("ior_rnd4k_easy_read") for name in names)


def test_a_mean_over_operations_leaves_out_the_score(tmp_path):
    for system, factor in (("a", 1.0), ("b", 2.0)):
        for trial in range(3):
            directory(tmp_path / "in" / system / f"run-{trial}", result__txt=result(factor * (1 + trial / 50)))
    imported(tmp_path / "in", tmp_path / "s", factors_from=("{system}/*/*",))
    means = iosonde.compare(str(tmp_path / "s"), group="system").to_dict()["geometric_means"]
    assert sum(len(mean["operations"]) for mean in means) == 12
    assert {name for mean in means for name in mean["left_out"]} == {"score"}
    assert [mean["speed"]["value"] for mean in means] == [pytest.approx(2)] * 3
    first = iosonde.summary(str(tmp_path / "s")).to_dict()["groups"][0]
    assert (first["operation"], first["metric"]) == ("score", "total")
