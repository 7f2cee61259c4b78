"""A watched history as a gate: a regression is told from an inconclusive history in JSON, Markdown and JUnit."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

import history_sample
import iosonde
from iosonde.cli.group import cli
from messages import raises


def write_nights(path: Path, nights: int, factor: float, end: int = 0) -> str:
    """Nights of two series, the second named to be escaped; the first is ``factor`` times as fast in the last 15."""
    rng = np.random.default_rng(8)
    dates = np.datetime64("2026-07-01") + np.arange(nights)
    first = 400 * (1 + 0.02 * rng.standard_normal(nights))
    first[nights - 15 :] *= factor
    rows = [f"{date},a,{value:.2f}" for date, value in zip(dates, first, strict=True)]
    rows += [f"{date},<b>|,{value:.2f}" for date, value in zip(dates, rng.normal(400, 8, nights), strict=True)]
    path.write_text("\n".join(["date,system,bandwidth (MiB/s)", *rows[end:], ""]))
    return str(path)


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["watch", *words])
    return done.exit_code, done.stdout


@pytest.mark.parametrize(
    ("nights", "factor", "result", "codes", "elements"),
    [
        (60, 0.9, "regression", (1, 1), {"failure": 1, "skipped": 0}),
        (60, 1.0, "passed", (0, 0), {"failure": 0, "skipped": 0}),
        (20, 1.0, "inconclusive", (0, 1), {"failure": 0, "skipped": 2}),
    ],
)
def test_each_result_has_its_code_and_its_element(tmp_path, nights, factor, result, codes, elements):
    name, file = write_nights(tmp_path / "a.csv", nights, factor), tmp_path / "junit.xml"
    assert (run(name)[0], run(name, "--strict")[0]) == codes
    assert f'"result": "{result}"' in run(name, "--json")[1]
    assert run(name, "--markdown", "--junit", str(file))[1].startswith(result)
    suite = ElementTree.parse(file).getroot().find("testsuite")
    assert suite.get("tests") == "2" and suite.get("failures") == str(elements["failure"])
    assert {kind: len(suite.findall(f"testcase/{kind}")) for kind in elements} == elements
    assert {failure.get("type") for failure in suite.iter("failure")} <= {"regression"}
    run(name, "--strict", "--junit", str(file))
    types = {failure.get("type") for failure in ElementTree.parse(file).getroot().iter("failure")}
    assert types == ({result} if codes[1] else set())


def test_names_are_escaped_and_an_accepted_change_passes_with_its_reason(tmp_path):
    name, file = write_nights(tmp_path / "a.csv", 60, 0.9), tmp_path / "junit.xml"
    text = run(name, "--markdown")[1]
    change = text.split("\\[")[1].split("\\]")[0]
    code, text = run(name, "--accept", change, "--because", "<so>", "--markdown", "--junit", str(file))
    assert code == 0 and text.startswith("passed") and "\\<so\\>" in text
    suite = ElementTree.parse(file).getroot().find("testsuite")
    assert suite.get("failures") == "0" and "<so>" in suite.find("testcase/system-out").text
    assert any("<b>|" in case.get("name") for case in suite.iter("testcase"))


def test_a_file_that_cannot_be_written_is_a_mistake_of_the_user(tmp_path):
    import iosonde

    with raises("unwritable-file"):
        iosonde.watch(write_nights(tmp_path / "a.csv", 20, 1.0), junit=str(tmp_path / "none" / "junit.xml"))


def test_a_forge_reads_the_names_that_people_read(tmp_path):
    history_sample.write_values(
        tmp_path / "s", [1e8 * (1 if day < 20 else 0.8) * (1 + day % 3 / 100) for day in range(40)]
    )
    code, text = run(str(tmp_path / "s"), "--markdown", "--junit", str(tmp_path / "junit.xml"))
    assert code == 1 and "last" not in text
    (case,) = ElementTree.parse(tmp_path / "junit.xml").getroot().iter("testcase")
    assert case.get("name").split() == ["write", "bandwidth"]


@pytest.mark.parametrize(("missed", "result", "code"), [(0, "passed", 0), (1, "inconclusive", 1), (20, "passed", 0)])
def test_a_machine_that_the_newest_nights_lack_is_inconclusive(
    tmp_path: Path, missed: int, result: str, code: int
) -> None:
    """One that is missing for longer than the newest nights was given up."""
    path = Path(write_nights(tmp_path / "nights.csv", 60, 1.0))
    rows = path.read_text().splitlines()
    path.write_text("\n".join(rows[: len(rows) - missed]) + "\n")
    answer = iosonde.watch(str(path)).answer
    assert answer.result == result and not answer.problem and run(str(path), "--strict")[0] == code
    missing = [warning for warning in answer.warnings if warning.code == "missing-nights"]
    assert [warning.values["n_nights"] for warning in missing] == ([missed] if code else [])
    xml = tmp_path / "x.xml"
    run(str(path), "--junit", str(xml))
    assert len(list(ElementTree.parse(xml).iter("skipped"))) == code
