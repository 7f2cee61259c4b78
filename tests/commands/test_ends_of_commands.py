"""An interval of a mean that cannot be below 0 ends there in every answer, and says so: one rule, ``core.metrics``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.core.metrics import get_lowest_mean
from iosonde.model.fit.errors_of import estimate_grouped_mean

SAID = "the interval reaches below 0 and is cut there"
TABLE = "nodes,side,write_MB/s\n" + "".join(
    f"{nodes},{side},{value}\n" for nodes in (1, 2, 4) for side in "ab" for value in (nodes, nodes * 30, nodes * 2)
)


def printed(tmp_path, *arguments: str) -> str:
    (tmp_path / "t.csv").write_text(TABLE)
    done = CliRunner().invoke(cli, [arguments[0], str(tmp_path / "t.csv"), *arguments[1:]])
    assert done.exit_code == 0, (done.stderr, done.exception)
    return done.stdout


LOWS = {
    "summary": (("--by", "nodes,side"), lambda made: [row["mean_low"] for row in made["groups"]]),
    "compare": (
        ("--group", "side", "--by", "nodes"),
        lambda made: [one["a"]["mean_low"] for one in made["comparisons"]],
    ),
    "scale": (("--by", "side"), lambda made: [size["rate_low"] for one in made["series"] for size in one["sizes"]]),
    "bound": (
        ("--by", "nodes,side", "--net", "1GB/s", "--disk", "1GB/s", "--disks", "4", "--servers", "1"),
        lambda made: [row["mean_low"] for row in made["rows"]],
    ),
}


@pytest.mark.parametrize("name", LOWS)
def test_a_rate_is_not_below_zero_and_that_it_was_cut_is_said(tmp_path, name):
    options, lows_of = LOWS[name]
    made = json.loads(printed(tmp_path, name, "--response", "write", *options, "--json"))
    assert set(lows_of(made)) == {0.0}
    assert SAID in json.dumps(made)


@pytest.mark.parametrize("name", ["summary", "scale", "bound"])
def test_the_text_says_it_once(tmp_path, name):
    text = " ".join(printed(tmp_path, name, "--response", "write", *LOWS[name][0], "--where", "side=a").split())
    assert text.count(SAID) == 1


def test_one_comparison_says_it(tmp_path):
    text = " ".join(printed(tmp_path, "compare", "--response", "write", "--group", "side", "--adjust", "none").split())
    assert SAID in text


def test_what_may_be_below_zero_is_left_as_it_is():
    assert get_lowest_mean("MB/s", True) == 0.0 == get_lowest_mean("ms", True) and get_lowest_mean("bytes", True) == 0.0
    assert (
        get_lowest_mean("MB/s", False) is None
        and get_lowest_mean("", True) is None
        and get_lowest_mean("degrees", True) is None
    )


def test_an_error_of_a_model_is_not_below_zero():
    made = estimate_grouped_mean(np.array([0.1, 0.1, 9.0]), np.array([0, 1, 2]), 0.95)
    assert made.low == 0.0 and made.warnings == (SAID,)
