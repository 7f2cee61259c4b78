"""A pull request from its commits to a verdict: a real repository, both branches built apart, and the exit code."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import ci_sample
from iosonde.cli.group import cli
from iosonde.store import Store

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("git"), reason="Git is not here"),
]


def gate(tmp_path: Path, branch: str, *words: str) -> tuple[int, str]:
    """Exit code and text of the gate, with ``branch`` against ``main``."""
    ci_sample.make(tmp_path / "zeus")
    for name, of in (("base", "main"), ("head", branch)):
        ci_sample.git(tmp_path / "zeus", "worktree", "add", "--quiet", "--detach", f"../{name}", of)
    (tmp_path / "scratch").mkdir()
    python = shlex.quote(sys.executable)
    base, head = (f"{python} {tmp_path / name / 'put.py'} ${{TARGET}}" for name in ("base", "head"))
    store = str(tmp_path / "gate")
    run = ["run", base, "--against", head, "--a-name", "base", "--b-name", "head", "--target",
           str(tmp_path / "scratch"), "--store", store, "--repetitions", "8", "--budget", "60s",
           "--subject-commit", "abc123"]  # fmt: skip
    done = CliRunner().invoke(cli, run)
    assert done.exit_code == 0, done.output
    assert {one["facts"]["subject_commit"] for one in Store.open(store).runs()} == {"abc123"}
    judged = CliRunner().invoke(cli, ["compare", store, *words])
    return judged.exit_code, judged.stdout


def test_a_careless_change_fails_the_gate(tmp_path):
    code, text = gate(tmp_path, "careful", "--fail-if", "slower>5%", "--markdown")
    assert code == 1 and "head is slower" in text and "failed: step-01, seconds: slower\\>5%" in text
    assert "| \\> | step-01 seconds |" in text


def test_a_change_of_words_passes(tmp_path):
    """A difference of 50 % is no noise of this program, whatever else the machine does."""
    code, text = gate(tmp_path, "tidy", "--fail-if", "slower>50%")
    assert code == 0 and "failed" not in text


def test_pairs_that_do_not_exist_pass_no_gate(tmp_path):
    from iosonde.core.gate import gate_of

    for strict in (True, False):  # a side that never came to its end passes no gate
        made = gate_of(["slower>5%"], strict).untold("the pairs")
        assert made.problem and made.sentences == ("failed, as it cannot be told: the pairs: slower>5%",)
