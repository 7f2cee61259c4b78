"""``iosonde rank``: what it prints, its JSON, its figure, and what it refuses."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import iosonde
from messages import raises
from rank_sample import rows
from sample_store import main as make_store
from terminal import command_of

command = command_of("rank")

LINE = (
    "metric,feature,coefficient\nwrite,Intercept,5\nwrite,net,2\nwrite,disk,-1\nwrite,age,3\nread,net,1\nread,disk,1\n"
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    path = tmp_path_factory.mktemp("rank") / "runs.csv"
    path.write_text("\n".join(rows()) + "\n", encoding="utf-8")
    return str(path)


def said(*words: str) -> str:
    done = CliRunner().invoke(command, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def content(*words: str) -> dict:
    return json.loads(said(*words, "--json"))


def test_an_interaction_is_refused_as_none_of_its_columns(runs):
    names = list(rows())[0].split(",")[:2]
    with raises("interaction-as-column", column="*".join(names)):
        iosonde.rank(runs, on=["*".join(names)])


def test_the_text_is_narrow_and_ends_with_the_ranking(runs):
    text = said(runs, "--fixed", "network")
    assert max(map(len, text.splitlines())) < 80
    flat = " ".join(text.split())
    sentence = content(runs, "--fixed", "network")["rankings"][0]["sentence"]
    assert sentence in flat and sentence.startswith("network ") and "base_fs" in sentence
    assert re.search(r"network: servers\b", flat)


def test_blocks_are_shown_in_order_with_what_they_left(runs):
    words = (runs, "--response", "write", "--block", "hardware=network", "--block", "settings=servers,base_fs")
    text = said(*words)
    assert max(map(len, text.splitlines())) < 80
    lines = [line.split() for line in text.splitlines()]
    names = ["1.", "2.", "interactions", "noise"]
    assert [line[0] for line in lines if line and line[0] in names] == names
    made = content(*words)
    assert f"settings {made['blocks'][1]['share']:.1g}" in " ".join(text.split())
    assert [block["name"] for block in made["blocks"]] == ["hardware", "settings"]
    assert made["blocks"][1]["of_rest_low"] > 0.5 > 0.1 > made["blocks"][1]["share_high"]
    whole = sum(block["share"] for block in made["blocks"]) + made["interactions"]["share"] + made["unexplained"]
    assert whole == pytest.approx(1)


def test_factors_in_no_block_are_told(runs):
    made = content(runs, "--response", "write", "--on", "network,servers", "--block", "hardware=network")
    (hardware, rest) = made["blocks"]
    assert hardware["name"] == "hardware" and [one["name"] for one in rest["factors"]] == ["servers"]


def test_a_logarithm_has_shares_of_its_own_variance_and_means_in_the_unit(runs):
    text = said(runs, "--response", "log(write)", "--on", "network,servers")
    assert "log(write)" in text and "MB/s" in text and "gigabit" in text and "×2.7" in text
    made, plain = (content(runs, "--response", r, "--on", "network,servers") for r in ("log(write)", "write"))
    assert made["response"] == "log(write)" and made["transform"] == "log"
    assert made["factors"][0]["s1"] != plain["factors"][0]["s1"] and plain["transform"] is None
    assert made["factors"][0]["levels"][0]["mean"] == pytest.approx(4.3, abs=0.01)


def test_wide_tables_are_cut_between_columns_and_not_through_names(tmp_path):
    path = tmp_path / "wide.csv"
    names = ("bytes_of_request", "bytes_of_the_hole")
    cells = [(a, b, a * b / 1e9 + (a + b) % 7) for a in range(1_000_000, 9_000_000, 654_321) for b in range(5)]
    path.write_text(",".join((*names, "y")) + "\n" + "\n".join(",".join(map(str, row)) for row in cells) + "\n")
    lines = said(str(path), "--response", "y", "--on", ",".join(names)).splitlines()
    assert max(map(len, lines)) < 80 and any(line.startswith(f"{names[0]}   1000000 to 8851852 (13)") for line in lines)
    assert not any("…" in line for line in lines)


def test_json_of_one_response_has_the_promised_keys(runs):
    made = content(runs, "--response", "write", "--on", "network,servers")
    assert made["schema"] == 1 and [f["name"] for f in made["factors"]] == ["network", "servers"]
    assert {"name", "s1", "s1_low", "s1_high", "s1_corrected", "st", "st_low", "st_high", "importance", "p"} <= set(
        made["factors"][0]
    )
    assert sum(f["importance"] for f in made["factors"]) == pytest.approx(1)


def test_the_effect_of_names_says_from_which_level_to_which(tmp_path):
    """It said "lowers", and neither on nor off."""
    rows = [
        f"{mode},{size},{100 * (mode == 'on') + size + i}"
        for i in range(3)
        for mode in ("on", "off")
        for size in (1, 2)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["mode,size,rate (MB/s)", *rows]) + "\n")
    words = (str(tmp_path / "t.csv"), "--response", "rate", "--on", "mode,size")
    assert re.search(r"^mode .* on → off (?!~|raises)", said(*words, "--all"), re.MULTILINE)
    assert re.search(r"^size .* (~|raises)$", said(*words, "--all"), re.MULTILINE)
    assert [one["change"] for one in content(*words)["factors"]] == [["on", "off"], None]


def test_without_response_every_measured_column_is_ranked(runs):
    made = content(runs)
    assert [ranking["response"] for ranking in made["rankings"]] == ["write (MB/s)"]
    assert {f["name"] for f in made["rankings"][0]["factors"]} == {"network", "servers", "base_fs"}


def test_every_metric_of_a_store_is_ranked(tmp_path):
    make_store(str(tmp_path / "store"))
    made = content(str(tmp_path / "store"))
    responses = [ranking["response"] for ranking in made["rankings"]]
    assert responses == ["read rate_last_done", "read bandwidth_last_done"]
    assert made["rankings"][0]["factors"][0]["name"] == "nodes"
    assert made["rankings"][1]["unit"] == "bytes/s"


def test_a_published_line_is_ranked(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text(LINE, encoding="utf-8")
    words = ("--coefficients", str(path), "--levels", "net=0,1", "--levels", "disk=0,2")
    made = content(*words)
    assert [ranking["response"] for ranking in made["rankings"]] == ["write", "read"]
    write = {f["name"]: f["s1"] for f in content(*words, "--response", "write")["factors"]}
    assert write == {"net": pytest.approx(0.5), "disk": pytest.approx(0.5)}
    assert re.search(r"\bage\b", said(*words))


def test_the_figure_is_drawn(runs, tmp_path):
    said(runs, "--plot", str(tmp_path / "rank.svg"))
    assert "network" in (tmp_path / "rank.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), "missing-data"),
        (("RUNS", "--levels", "a=1,2"), "option-requires-option"),
        (("RUNS", "--plot", "x.bmp"), "unknown-file-format"),
        (("RUNS", "--on", "nothing"), "unknown-column"),
        (("RUNS", "--where", "network=gigabit", "--response", "write", "--on", "network"), "single-level-factor"),
        (("RUNS", "--fixed", "servers,network,base_fs"), "no-free-factor"),
        (("--coefficients", "LINE", "--levels", "net=fast"), "invalid-option-value"),
        (("--coefficients", "LINE", "--levels", "net=0,1", "--response", "stat"), "unknown-response"),
        (("--coefficients", "RUNS", "--levels", "net=0,1"), "missing-column"),
        (("RUNS", "--coefficients", "LINE"), "conflicting-options"),
        (("--block", "a=b", "--coefficients", "LINE"), "conflicting-options"),
        (("RUNS", "--block", "hardware"), "missing-members"),
        (("RUNS", "--block", "a=network", "--block", "a=servers"), "duplicate-name"),
        (("RUNS", "--block", "a=network", "--fixed", "servers"), "conflicting-options"),
        (("RUNS", "--on", "network,servers", "--block", "a=base_fs"), "unknown-factor"),
        (("RUNS", "--response", "log(write)", "--on", "write,network"), "conflicting-roles"),
        (("RUNS", "--response", "log(write)", "--level", "1"), "out-of-range"),
    ],
)
def test_what_is_wrong_is_said(words, code, runs, tmp_path):
    line = tmp_path / "line.csv"
    line.write_text(LINE, encoding="utf-8")
    given = [{"RUNS": runs, "LINE": str(line)}.get(word, word) for word in words]
    with raises(code):
        CliRunner().invoke(command, given, catch_exceptions=False)


def test_numbers_that_vary_freely_beside_one_rate_are_its_factors(tmp_path):
    random = np.random.default_rng(3)
    rows = [(x, y, 50 + 3 * x + random.normal(0, 5)) for x, y in random.uniform(1, 60, (60, 2))]
    path = tmp_path / "t.csv"
    path.write_text("clients,processes,mb_s\n" + "\n".join(f"{a:.2f},{b:.2f},{c:.2f}" for a, b, c in rows))
    (ranking,) = iosonde.rank(str(path)).answer.rankings
    assert ranking.response == "mb_s" and {factor.name for factor in ranking.factors} == {"clients", "processes"}
    (named,) = iosonde.rank(str(path), response="mb_s").answer.rankings
    assert named.to_json()["factors"] == ranking.to_json()["factors"]


def test_a_load_that_was_not_chosen_is_no_result(tmp_path):
    random = np.random.default_rng(3)
    path = tmp_path / "t.csv"
    rows = [f"{fs},{random.uniform(1, 9):.3f},{random.normal(100, 2):.2f}" for fs in "ab" for _ in range(8)]
    path.write_text("\n".join(["fs,background_load,mib_s", *rows]))
    assert [ranking.response for ranking in iosonde.rank(str(path)).answer.rankings] == ["mib_s"]


def test_the_first_sentence_of_a_summary_names_an_interaction_that_is_the_larger_part(tmp_path):
    random = np.random.default_rng(3)
    path = tmp_path / "t.csv"
    means = {("a", 1): 100, ("a", 8): 400, ("b", 1): 400, ("b", 8): 150}
    rows = [f"{fs},{n},{random.normal(mean, 3):.2f}" for (fs, n), mean in means.items() for _ in range(6)]
    path.write_text("\n".join(["fs,n,mib_s", *rows]))
    (story,) = iosonde.summary(str(path)).answer.overview.stories
    assert story.effects.interaction > 0.5
    assert "is interaction" in iosonde.summary(str(path)).answer.overview.sentence
