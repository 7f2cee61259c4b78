"""docs/store.md: its recipes run for somebody without iosonde, and its tables are those of the code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sample_store
import steps_bench
from console import ROOT
from iosonde.core.schema import OPERATION, RESULT_COLUMNS, STATUS_MISMATCH, STATUS_SHORT, STORE_VERSION
from iosonde.core.where import parse_where
from iosonde.engine import _native
from iosonde.measure.spec import CommandStep, NativeStep
from iosonde.measure.workloads.envelope import Settings
from iosonde.store import Store

PAGE = (ROOT / "docs" / "store.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
RECIPES = [snippet for snippet in SNIPPETS if "def digest" not in snippet]


def columns_below(title: str) -> list[str]:
    section = re.split(r"^#+ ", PAGE.partition(f"### {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]*)\|", section, re.MULTILINE)))


@pytest.mark.parametrize("number", range(len(RECIPES)))
def test_a_recipe_gives_what_iosonde_gives(tmp_path: Path, number: int) -> None:
    sample_store.main(str(tmp_path / "results"))
    left = tmp_path / "results" / "runs" / ".tmp-envelope-7f3a-0009-00000000.1.1.1-00000000"
    (tmp_path / "results" / "runs" / "envelope-7f3a-0000").rename(left)
    (tmp_path / "recipe.py").write_text(RECIPES[number])
    done = subprocess.run(
        [sys.executable, "-I", "recipe.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    store = Store.open(tmp_path / "results")
    if "operations.parquet" in RECIPES[number]:
        assert done.stdout.count("runs/envelope-7f3a-") == len(store.run_ids()) == 5
        assert done.stdout.count("200") >= 2
        return
    where = ["metric=rate_last_done", "rank="]
    for nodes in sample_store.NODES:
        values = store.results(where=parse_where([*where, f"nodes={nodes}"]))["value"].to_pylist()
        assert len(values) == 2
        assert f"{sum(values) / len(values):.1f}" in done.stdout


def test_the_digest_of_an_experiment_is_that_of_its_runs(tmp_path: Path) -> None:
    sample_store.main(str(tmp_path / "results"))
    names: dict[str, Any] = {}
    (snippet,) = (snippet for snippet in SNIPPETS if "def digest" in snippet)
    exec(snippet, names)
    document = Store.open(tmp_path / "results").document("envelope-7f3a-0000")
    experiment = tmp_path / "results" / "experiments" / f"{document['experiment']}.json"
    assert names["digest"](experiment, document["experiment_trials"]) == document["experiment_sha256"]


def test_the_columns_are_those_of_the_code(tmp_path: Path) -> None:
    assert columns_below("results.parquet")[: len(RESULT_COLUMNS)] == list(RESULT_COLUMNS)
    assert columns_below("operations.parquet") == list(OPERATION.names or ())
    sample_store.main(str(tmp_path / "results"))
    document = Store.open(tmp_path / "results").document("envelope-7f3a-0000")
    assert sorted(columns_below("run.json")) == sorted([*document, "row_settings"])  # of some outputs only


def test_the_keys_of_phases_are_those_of_a_trial(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    settings = Settings(small_files=2, large_file_size=2**16, transfer_size=2**16)
    steps = [NativeStep("envelope", settings.to_json()), CommandStep("echo up", parse="auto")]
    phases = steps_bench.run(tmp_path / "target", steps).phases
    assert {"command" in phase for phase in phases} == {True, False}
    # Of shared reads on several nodes, of steps whose percentiles are of single ranks, of labs whose servers count.
    sometimes = {"writer_counted", "writer_cache", "of_ranks_alone", "server_calls"}
    assert set().union(*phases) | sometimes == set(columns_below("phases of run.json"))
    below = PAGE.partition("Each rank of a phase:")[2].partition("\n\n")[0]
    assert set().union(*(rank for phase in phases for rank in phase["ranks"])) <= set(re.findall(r"`(\w+)`", below))


def test_kinds_statuses_and_versions_are_those_of_the_code() -> None:
    said = re.search(r"<!-- kinds -->(.*?)<!-- /kinds -->", PAGE, re.DOTALL)
    assert said
    assert dict(re.findall(r"(\d+) (\w+)", said[1])) == {str(n): name for n, name in enumerate(_native.KINDS)}
    assert f"{STATUS_SHORT} fewer bytes" in PAGE
    assert f"{STATUS_MISMATCH} verification" in PAGE
    assert re.findall(r"^\| (\d+) \| \d{4}-\d\d \|", PAGE, re.MULTILINE)[-1] == str(STORE_VERSION)
