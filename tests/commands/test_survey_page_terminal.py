"""``iosonde survey --page`` and ``simulate --scan``: files that are written whole; what is said if they cannot be."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import survey_tree
from messages import raises
from terminal import command_of

report = command_of("report")
command = command_of("survey")


@pytest.mark.long
def test_the_command_writes_it_whole_or_says_why_not(tmp_path, empty_cache):
    tree, page = tmp_path / "tree", tmp_path / "page.html"
    survey_tree.make(tree, files=50)
    found = CliRunner().invoke(command, [str(tree), "--codecs", "none", "--page", str(page)], catch_exceptions=False)
    assert found.exit_code == 0 and page.read_text(encoding="utf-8").endswith("</html>")
    with raises("no-such-directory"):
        CliRunner().invoke(command, [str(tree), "--page", str(tmp_path / "no" / "p.html")], catch_exceptions=False)


def test_a_scan_that_is_kept_is_drawn_from(tmp_path):
    tree, scan = tmp_path / "tree", tmp_path / "scan.npz"
    survey_tree.make(tree, files=60)
    words = ["simulate", str(tree), "--repetitions", "3", "--draws", "10,20", "--scan", str(scan), "--json"]
    one, two = (json.loads(CliRunner().invoke(command, words, catch_exceptions=False).stdout) for _ in range(2))
    assert scan.stat().st_size and one["shares"] == two["shares"]
    assert {share["n"] for share in one["shares"]} == {10, 20}
    until = CliRunner().invoke(command, [*words, "--until", "20%"], catch_exceptions=False)
    assert json.loads(until.stdout)["until"] == 0.2


def test_the_page_of_a_store_of_surveys_is_the_last_one_s_and_knows_no_campaign(tmp_path):
    tree, store, page = tmp_path / "tree", tmp_path / "store", tmp_path / "p.html"
    survey_tree.make(tree, files=20)
    words = [str(tree), "--codecs", "none", "--store", str(store)]
    assert [CliRunner().invoke(command, words, catch_exceptions=False).exit_code for _ in range(2)] == [0, 0]
    found = CliRunner().invoke(report, [str(store), "-o", str(page)], catch_exceptions=False)
    assert re.search(r"\b2\s+surveys\b", found.stdout)
    assert page.read_text(encoding="utf-8").endswith("</html>")
    with raises("inapplicable-option", option="--by"):
        CliRunner().invoke(report, [str(store), "-o", str(page), "--by", "tree"], catch_exceptions=False)
