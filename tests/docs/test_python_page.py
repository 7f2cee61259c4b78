"""docs/python.md: its examples run, and it names every function that there is."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import iosonde
import sample_store
from console import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs(tmp_path: Path, number: int) -> None:
    shutil.copy(ROOT / "tests" / "golden" / "data" / "cp_raw.csv", tmp_path / "cp.csv")
    sample_store.main(str(tmp_path / "results"))
    (tmp_path / "example.py").write_text(EXAMPLES[number])
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_function_is_named() -> None:
    assert {name for name in iosonde.__all__ if f"`{name}(" not in PAGE} == {"IosondeError", "IosondeWarning"}


def test_a_call_in_the_table_has_words_of_its_function() -> None:
    table = PAGE.partition("## Functions")[2].partition("\n\n`data`")[0]
    calls = re.findall(r"`(\w+)\(([^`]*)\)`", table)
    assert len(calls) > 30
    for name, words in calls:
        known = inspect.signature(getattr(iosonde, name)).parameters
        assert set(re.findall(r"\w+", words)) <= set(known), name
