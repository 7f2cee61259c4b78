"""Published figures as DATA: beside measured runs in compare, summary and plot, and refused where they are wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.core.errors import WRONG_INPUT
from iosonde.core.problems import SpecError

EXAMPLES = Path(__file__).parents[2] / "examples"
SHEET = EXAMPLES / "documents" / "data_sheet.yaml"


def run(*words: object) -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def store(tmp_path):
    """Three trials on NFS, two on CephFS."""
    columns = EXAMPLES / "columns"
    run("import", columns / "mytool.csv", "--columns", columns / "mytool.yaml", "--store", tmp_path / "store")
    return tmp_path / "store"


def test_documents_stand_beside_measured_trials(store, tmp_path):
    run("import", SHEET, "--store", store)
    groups = json.loads(run("summary", store, "--by", "document,file_system", "--json"))["groups"]
    cells = {(group["operation"], group["by"]["document"], group["by"]["file_system"]): group["n"] for group in groups}
    assert cells[("write", "data-sheet", "nfs")] == 1 and cells[("write", None, "nfs")] == 3
    figure = tmp_path / "figure.svg"
    run("plot", store, "--x", "file_system", "--color", "document", "--response", "write", "-o", figure)
    assert "data-sheet" in figure.read_text(encoding="utf-8")


def test_a_directory_of_documents_is_imported_without_those_that_are_wrong(tmp_path):
    folder = tmp_path / "documents"
    shutil.copytree(EXAMPLES / "published", folder)
    sheet = SHEET.read_text(encoding="utf-8")
    (folder / "wrong.yaml").write_text(sheet.replace("[120, 240]", "[130, 240]"), encoding="utf-8")
    done = CliRunner().invoke(cli, ["import", str(folder), "--recursive", "--store", str(tmp_path / "s"), "--json"])
    imported = json.loads(done.stdout)
    assert [Path(file["file"]).name for file in imported["unknown"]] == ["wrong.yaml"]
    names = {Path(file["file"]).name for file in imported["imported"]}
    assert names == {path.name for path in EXAMPLES.glob("published/*.yaml")}
    assert imported["quoted"] == []


def test_a_wrong_number_is_a_mistake_of_the_user_with_its_line(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(SHEET.read_text(encoding="utf-8").replace("[120, 240]", "[130, 240]"), encoding="utf-8")
    error = CliRunner().invoke(cli, ["parse", str(path)]).exception
    assert isinstance(error, SpecError) and error.exit_code == WRONG_INPUT
    assert [problem.place for problem in error.problems] == [15]
