"""``compare --junit``: a test case for each condition of the gate, else for each comparison."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from messages import raises


def write_trials(path: Path, factor: float, spread: float = 0.02, trials: int = 12) -> str:
    """Two systems, of which the second is ``factor`` times as fast in writing and equal in reading."""
    rng = np.random.default_rng(3)
    rows = ["system,operation,bandwidth (MiB/s)"]
    for operation, ratio in (("write", factor), ("<read>", 1.0)):
        for system, level in (("a", 400.0), ("b", 400.0 * ratio)):
            rows += [f"{system},{operation},{value:.2f}" for value in level * np.exp(spread * rng.normal(size=trials))]
    path.write_text("\n".join([*rows, ""]))
    return str(path)


def run(*words: str) -> int:
    return CliRunner().invoke(cli, ["compare", *words, "--group", "system", "--by", "operation"]).exit_code


def read_cases(file: Path) -> list[tuple[str, str, str]]:
    """Name, kind of the element and type of each case."""
    suite = ElementTree.parse(file).getroot().find("testsuite")
    cases = [(case.get("name"), *(element for element in case)) for case in suite.iter("testcase")]
    elements = [(name, some[0].tag, some[0].get("type", "")) if some else (name, "", "") for name, *some in cases]
    assert suite.get("tests") == str(len(elements))
    assert suite.get("failures") == str(sum(kind == "failure" for _, kind, _ in elements))
    assert suite.get("skipped") == str(sum(kind == "skipped" for _, kind, _ in elements))
    return elements


@pytest.mark.parametrize(
    ("factor", "spread", "strict", "code", "kinds"),
    [
        (0.9, 0.02, False, 1, [("failure", "limit"), ("system-out", "")]),
        (1.0, 0.02, False, 0, [("system-out", ""), ("system-out", "")]),
        (1.0, 0.3, False, 0, [("skipped", ""), ("skipped", "")]),
        (1.0, 0.3, True, 1, [("failure", "inconclusive"), ("failure", "inconclusive")]),
    ],
)
def test_each_condition_is_a_case(tmp_path, factor, spread, strict, code, kinds):
    name, file = write_trials(tmp_path / "t.csv", factor, spread), tmp_path / "junit.xml"
    words = ["--fail-if", "slower>4%", "--junit", str(file), *(["--strict"] if strict else [])]
    assert run(name, *words) == code
    cases = read_cases(file)
    assert sorted(case[1:] for case in cases) == sorted(kinds)
    assert any("<read>" in name for name, _, _ in cases)


def test_without_a_gate_each_comparison_is_a_case_that_does_not_fail(tmp_path):
    name, file = write_trials(tmp_path / "t.csv", 0.9), tmp_path / "junit.xml"
    assert run(name, "--markdown", "--junit", str(file)) == 0
    assert len(read_cases(file)) == 2 and all(kind != "failure" for _, kind, _ in read_cases(file))


def test_a_file_that_cannot_be_written_is_a_mistake_of_the_user(tmp_path):
    with raises("unwritable-file"):
        iosonde.compare(
            write_trials(tmp_path / "t.csv", 0.9), "system", by="operation", junit=str(tmp_path / "none" / "x.xml")
        )
