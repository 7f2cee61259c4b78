"""``iosonde anova``: its text and its JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

from click.testing import CliRunner

from messages import assert_problem
from terminal import command_of

command = command_of("anova")

CP = str(Path(__file__).parents[1] / "golden" / "data" / "cp_raw.csv")


PULP = str(Path(CP).with_name("pulp.csv"))


def test_strata_are_shown_with_the_number_of_bring_ups_and_what_they_differ_by():
    words = ["--response", "strength", "--on", "method,temperature", "--bring-up", "batch"]
    args = [PULP, *words, "--contrast", "method: 3 - 1"]
    text = CliRunner().invoke(command, args, catch_exceptions=False).stdout
    assert max(map(len, text.splitlines())) < 80
    for said in (
        "n = 36 trials in 9 bring-ups",
        "between 9 bring-ups\n  method ",
        "within bring-ups\n  temperature ",
        "standard deviation of 9 bring-ups: ",
        "is the error\nbetween bring-ups",
    ):
        assert said in text, said
    once = CliRunner().invoke(command, [*args, "--where", "day=1"], catch_exceptions=False).stdout
    assert "S119" in once and "method: 3 - 1 = -3.500 ~" in once
    assert max(map(len, once.splitlines())) < 80
    made = json.loads(CliRunner().invoke(command, [PULP, *words, "--json"], catch_exceptions=False).stdout)
    assert [one["n"] for one in made["strata"]] == [9, 36] and made["terms"][0]["df_error"] == 6


def test_the_command_prints_text_and_json():
    args = [CP, "--response", "real_s", "--on", "replicas"]
    text = CliRunner().invoke(command, args, catch_exceptions=False).stdout
    assert max(map(len, text.splitlines())) < 80 and text.rstrip().endswith(".")
    made = json.loads(CliRunner().invoke(command, [*args, "--json"], catch_exceptions=False).stdout)
    assert {"name", "ss", "df", "share", "f", "p"} <= set(made["terms"][0])
    assert made["residual"]["df"] == 21


def test_each_level_of_a_block_may_count_by_its_own_noise():
    args = [PULP, "--response", "strength", "--on", "method,temperature", "--block", "day", "--weighted"]
    text = CliRunner().invoke(command, args, catch_exceptions=False).stdout
    assert max(map(len, text.splitlines())) < 80
    assert re.search(r"\bnoise +weight$", text, re.MULTILINE) and "1 / noise²" in text
    made = json.loads(CliRunner().invoke(command, [*args, "--json"], catch_exceptions=False).stdout)
    assert [one["group"] for one in made["weights"]] == ["1", "2", "3"] and made["assumptions"] is None
    for wrong, code in (
        (args[:5] + ["--weighted"], "missing-option"),
        ([*args, "--bring-up", "batch"], "conflicting-options"),
    ):
        assert_problem(CliRunner().invoke(command, wrong).exception, code)
