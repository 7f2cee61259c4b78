"""A pull request from its commits to a verdict: a real repository, both branches built apart, and the exit code."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import ci_sample
from iosonde.cli.group import cli
from iosonde.core.verdict import VerdictState
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
    run = [
        "run",
        base,
        "--against",
        head,
        "--a-name",
        "base",
        "--b-name",
        "head",
        "--target",
        str(tmp_path / "scratch"),
        "--store",
        store,
        "--repetitions",
        "8",
        "--budget",
        "60s",
        "--subject-commit",
        "abc123",
    ]
    done = CliRunner().invoke(cli, run)
    assert done.exit_code == 0, done.output
    assert {one["facts"]["subject_commit"] for one in Store.open(store).runs()} == {"abc123"}
    judged = CliRunner().invoke(cli, ["compare", store, *words])
    return judged.exit_code, judged.stdout


@pytest.mark.long
def test_a_careless_change_fails_the_gate(tmp_path):
    code, text = gate(tmp_path, "careful", "--fail-if", "slower>5%", "--markdown")
    assert code == 1 and re.search(r"^\w+: step-01 \w+: slower\\>5%", text, re.MULTILINE)
    assert "| \\> | step-01 seconds |" in text


@pytest.mark.long
def test_a_change_of_words_passes(tmp_path):
    """A difference of 50 % is no noise of this program, whatever else the machine does."""
    code, text = gate(tmp_path, "tidy", "--fail-if", "slower>50%")
    assert code == 0 and "failed" not in text


def test_pairs_that_do_not_exist_pass_no_gate(tmp_path):
    from iosonde.core.gate import parse_gate

    pairs = "the pairs"
    for strict in (True, False):  # a side that never came to its end passes no gate
        made = parse_gate(["slower>5%"], strict).inconclusive(pairs)
        assert made.problem and len(made.sentences) == 1 and made.sentences[0].endswith(f": {pairs}: slower>5%")
        assert [one.state for one in made.claims] == [VerdictState.INCONCLUSIVE]


WRITE, READ = "write bandwidth", "read bandwidth"  # metrics
IOR = """import random, sys
noise = lambda: random.uniform(0.995, 1.005)
print("IOR-4.1.0: MPI Coordinated Test of Parallel I/O\\nBegan               : Thu Jan 01 00:00:00 1970")
print("Options:\\napi                 : POSIX\\naccess              : single-shared-file\\n\\nResults:\\n")
print("access    bw(MiB/s)  IOPS   Latency(s)  block(KiB) xfer(KiB)  open(s)  wr/rd(s)  close(s)  total(s)  iter")
print("------    ---------  ----   ----------  ---------- ---------  -------  --------  --------  --------  ----")
for name, rate in (("write", 100), ("read", 100 * float(sys.argv[1]))):
    print(f"{name:9} {rate * noise():.2f}  {rate:.2f}  0.01  1024.00  1024.00  0.001  0.1  0.001  0.1  0")
print("Max Write: 100.00 MiB/sec (104.86 MB/sec)\\nFinished            : Thu Jan 01 00:00:01 1970")
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("read", "words", "code"),
    [("0.8", (), 1), ("0.8", ("--metric", WRITE), 0), ("0.8", ("--metric", f"{WRITE},{READ}"), 1), ("1", (), 0)],
)
def test_a_number_that_does_not_decide_fails_the_gate_as_well(tmp_path, read, words, code):
    """A pull request that made reads 20 % slower passed: only the write bandwidth, which decides, was asked."""
    (tmp_path / "scratch").mkdir()
    (tmp_path / "fake.py").write_text(IOR)
    tool = f"{shlex.quote(sys.executable)} {tmp_path / 'fake.py'}"
    run = [
        "run",
        f"{tool} 1",
        "--against",
        f"{tool} {read}",
        "--a-name",
        "main",
        "--b-name",
        "pr",
        "--target",
        str(tmp_path / "scratch"),
        "--store",
        str(tmp_path / "gate"),
        "--fail-if",
        "slower>3%",
        *words,
    ]
    done = CliRunner().invoke(cli, run)
    assert done.exit_code == code, done.output
    judged = CliRunner().invoke(cli, ["compare", str(tmp_path / "gate"), "--json"])
    made = json.loads(judged.stdout)
    assert judged.exit_code == code and made["fail_if"]["problem"] == bool(code)
    states = {one["response"]: one["state"] for one in made["verdicts"] if one["question"] == "gate"}
    assert states[WRITE] == "equal"
    narrowed = READ not in states
    assert narrowed == (words[1:] == (WRITE,)) and made["by"]["operation"] == "write"
    assert states.get(READ) == (None if narrowed else "different" if code else "equal")
    assert (READ in [one["of"] for one in made["fail_if"]["not_gated"]]) == narrowed
