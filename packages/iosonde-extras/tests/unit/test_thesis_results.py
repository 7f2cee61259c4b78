"""The thesis's results file: its bar plots out of that file alone, and files that are none."""

import json

import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.core.errors import DataError
from iosonde_extras.thesis_results import read
from messages import raises

# Dobrescu-Balau (2014), section 4.1: an N-to-1 read of two nodes by IOzone, kB/s.
INDIVIDUAL = [{"re-reader": 728699, "reader": 721448}, {"re-reader": 704672, "reader": 624046}]
TOTAL = {"re-reader": 1433371, "reader": 1345494}


def call(*words):
    return CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=True)


def test_bars_are_drawn_from_the_published_file_alone(tmp_path):
    """Nothing but the file: no store, and none of our own keys in it."""
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"2": {"total": TOTAL, "individual": INDIVIDUAL}}))
    done = call("plot", file, "--bars", "-o", tmp_path / "figures", "--format", "svg")
    assert done.exit_code == 0, done.output
    drawn = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert drawn == ["re-reader.svg", "reader.svg"]
    picture = (tmp_path / "figures" / "reader.svg").read_text()
    assert "nodes" in picture and ">2<" in picture
    assert f"{TOTAL['reader'] / 2**20:.2f}" in picture  # GiB/s


def test_names_from_a_file_stay_in_the_directory(tmp_path):
    file = tmp_path / "results.json"
    file.write_text(
        json.dumps({"1": {"total": {"../../evil": 1, "a b": 2, "a/b": 3, "\u001b[1m": 4}, "individual": []}})
    )
    done = call("plot", file, "--bars", "-o", tmp_path / "figures")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "1m.png",
        "a_b-2.png",
        "a_b.png",
        "evil.png",
    ]
    assert "\x1b" not in done.output


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "no results by node count"),
        ('{"two": {"total": {}}}', "'two' is not a number of nodes"),
        ('{"2": {"individual": []}}', "2: 'total' with numbers is missing"),
        ('{"2": {"total": {"reader": "many"}}}', "2: 'total' with numbers is missing"),
        ('{"2": {"total": {"reader": 1e999}}}', "2: 'total' with numbers is missing"),
        ('{"2": {"total": {"reader": 1}, "repetitions": [3]}}', "2: 'total' with numbers is missing"),
    ],
)
def test_a_file_that_is_none_is_said_in_a_sentence(tmp_path, content, said):
    (tmp_path / "r.json").write_text(content)
    done = call("plot", tmp_path / "r.json", "--bars", "-o", tmp_path / "figures")
    assert isinstance(done.exception, Exception)
    assert said in getattr(done.exception, "message", "")


def write_results(tmp_path, content):
    file = tmp_path / "r.json"
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize(
    "content",
    [
        {"1": {"total": {"reader": 3}}, "16": {"total": {"reader": 2.5, "writer": 0}, "individual": []}},
        {"2": {"total": {"reader": 3}, "repetitions": [{"total": {"reader": 4}}, {"total": {}}]}},
        {"2": {"total": {}}},
    ],
)
def test_results_are_read_by_node_count(tmp_path, content):
    expected = {int(nodes): entry for nodes, entry in content.items()}
    assert read(write_results(tmp_path, content)) == expected
    assert read(write_results(tmp_path, {"version": 1, "results": content})) == expected


@pytest.mark.parametrize(
    ("content", "code", "values"),
    [
        ({}, "no-results", {}),
        ([1], "no-results", {}),
        ({"results": {}}, "no-results", {}),
        ({"0": {"total": {}}}, "invalid-number", {"key": "0"}),
        ({"1.5": {"total": {}}}, "invalid-number", {"key": "1.5"}),
        ({"4": 3}, "missing-key", {"key": "4"}),
        ({"4": {"total": [3]}}, "missing-key", {"key": "4"}),
        ({"4": {"total": {"reader": True}}}, "missing-key", {"key": "4"}),
        ({"4": {"total": {"reader": 1, "writer": None}}}, "missing-key", {"key": "4"}),
        ({"4": {"repetitions": [{"total": {"reader": 1}}]}}, "missing-key", {"key": "4"}),
        ({"4": {"total": {"reader": 1}, "repetitions": [{"total": {"reader": 1}}, {}]}}, "missing-key", {"key": "4"}),
        ({"1": {"total": {"reader": 1}}, "4": {}}, "missing-key", {"key": "4"}),
    ],
)
def test_a_file_without_results_by_node_count_is_refused(tmp_path, content, code, values):
    file = write_results(tmp_path, content)
    with raises(code, DataError, path=file, **values):
        read(file)


def test_a_missing_file_is_refused_with_the_reason(tmp_path):
    with raises("unreadable-file", DataError, path=tmp_path / "none", reason="No such file or directory"):
        read(tmp_path / "none")
