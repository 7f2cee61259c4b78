"""``mpiexec iosonde survey``: one answer, the same as that of one process; what is wrong ends all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import survey_tree

pytestmark = pytest.mark.mpi
SURVEY = (sys.executable, "-m", "iosonde.cli.main", "survey")


def told(*words: str) -> dict:
    done = subprocess.run([*words, "--json"], capture_output=True, text=True, check=True, timeout=300)
    return json.loads(done.stdout)


def apart(answer: dict) -> tuple[dict, np.ndarray]:
    """What two surveys have in common, and the ages of files (s) that grow from one to the next."""
    ages = [one for one in answer["quantiles"] if one["what"] == "age"]
    sizes = [one for one in answer["quantiles"] if one["what"] != "age"]
    rest = {**answer, "quantiles": sizes, "seconds": 0, "walk": {**answer["walk"], "seconds": 0}}
    return rest, np.array([one[end] for one in ages for end in ("value", "low", "high") if one[end] is not None])


def test_processes_of_one_survey_answer_once_and_as_one_does(tmp_path):
    tree = tmp_path / "tree"
    survey_tree.make(tree, files=600)
    for number, file in enumerate(sorted(tree.rglob("*.*"))):  # of files of this second no age is known yet
        os.utime(file, (10**9 + number, 10**9 + number))
    os.sync()  # file systems allocate late, and what is allocated is compared
    words = (*SURVEY, str(tree), "--by", "directory", "--codecs", "none", "--seed", "5")
    begin = time.time()
    (one, ages), (many, later) = (apart(told(*run, *words)) for run in ((), ("mpiexec", "-n", "3")))
    assert many == one
    passed = later - ages
    assert len(ages) and passed.min() == passed.max() and 0 <= passed[0] <= time.time() - begin


@pytest.mark.parametrize("wrong", [("nowhere",), (".", "--level", "7"), (".", "--files-from", "list")])
def test_what_is_wrong_ends_all_of_them(tmp_path, wrong):
    done = subprocess.run(
        ["mpiexec", "-n", "2", *SURVEY, *wrong], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode != 0 and "hint:" in done.stderr and "Traceback" not in done.stderr
