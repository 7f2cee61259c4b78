"""The harness of the fault campaign: the same seed gives the same plans, and a breach of each invariant is seen."""

import hashlib
import json

import pytest

from faults import invariants, plans, table
from faults.plans import NODES, ROWS


def test_a_number_of_a_seed_is_always_the_same_plan():
    assert [plans.draw(7, n) for n in range(60)] == [plans.draw(7, n) for n in range(60)]
    assert [plans.draw(7, n).row for n in range(60)] != [plans.draw(8, n).row for n in range(60)]
    assert plans.Plan(**json.loads(json.dumps(plans.draw(7, 3).told()))) == plans.draw(7, 3)


def test_what_ci_tries_has_every_kind_of_fault_and_all_have_their_share():
    assert {plans.draw(11, n).row for n in range(35)} == {row.name for row in ROWS}
    drawn = [plans.draw(11, n) for n in range(500)]
    for row in ROWS:
        assert sum(one.row == row.name for one in drawn) >= 500 * row.weight // sum(r.weight for r in ROWS) - 1
    assert sum(one.shape == NODES for one in drawn) >= 25
    assert all(one.shape in row.shapes for one in drawn for row in ROWS if row.name == one.row)


def test_half_a_run_is_seen(tmp_path):
    told = {"results.parquet": {"bytes": 3, "sha256": hashlib.sha256(b"abc").hexdigest()}}
    (tmp_path / "run.json").write_text(json.dumps({"files": told}))
    assert invariants._damage(tmp_path) == "FileNotFoundError"
    (tmp_path / "results.parquet").write_bytes(b"abd")
    assert "results.parquet" in invariants._damage(tmp_path)
    (tmp_path / "results.parquet").write_bytes(b"abc")
    assert invariants._damage(tmp_path) == ""
    (tmp_path / "run.json").write_text("{")
    assert invariants._damage(tmp_path) == "JSONDecodeError"


class Ended:
    """A command that ended as a test says."""

    def __init__(self, folder, row, code, said):
        self.plan = plans.Plan(1, 0, row, plans.ENVELOPE, plans.PLAIN, 2, False, "start", 0, 0.0)
        self.main = type("Main", (), {"returncode": code, "pid": 1})
        self.store, self.victim, self.target = folder / "store", folder / "victim", folder / "target"
        self.fuse = self.cluster = None
        self.stderr, self.attempt = folder / "stderr", 1
        self.stderr.write_text(said)
        for place in (self.store / "runs", self.victim, self.target):
            place.mkdir(parents=True)

    def said(self, _):
        return self.stderr

    def runs(self):
        return sorted((self.store / "runs").iterdir())


@pytest.mark.parametrize(
    ("row", "code", "said", "breach"),
    [
        ("SIGINT", 130, "interrupted: finished trials are kept; the same command resumes", None),
        ("SIGINT", 130, "", "ended with 130 and no word"),
        ("SIGTERM", -15, "", None),
        ("SIGINT", 1, "Traceback (most recent call last):\nOSError: interrupted", "a traceback: OSError: interrupted"),
        ("target full", 1, "iosonde: the target is full", None),
        ("target full", 1, "iosonde: something failed", "does not say what happened: iosonde: something failed"),
        ("target full", 1, "iosonde: full: OSError(28, 'x')", "Python's words instead of a sentence"),
        ("EIO of an operation", 2, "x was not created by this experiment; input/output error", "says what is not true"),
        ("kill -9 of a rank", 0, "", "ended with 0 and trials are missing"),
    ],
)
def test_what_is_said_at_the_end_is_judged(tmp_path, row, code, said, breach):
    witness = invariants.Witness(Ended(tmp_path, row, code, said))
    witness.check_end(1.0, 10.0, hit=True)
    assert [one[: len(breach or "")] for one in witness.breaches] == ([breach] if breach else [])


def test_a_command_that_does_not_end_is_a_breach(tmp_path):
    witness = invariants.Witness(Ended(tmp_path, "target full", None, ""))
    witness.check_end(None, 10.0, hit=True)
    (breach,) = witness.breaches
    assert "10 s" in breach


def test_a_run_that_is_lost_or_changed_and_foreign_files_are_seen(tmp_path):
    ended = Ended(tmp_path, "SIGTERM", -15, "interrupted")
    (tmp_path / "target" / "thesis.tex").write_text("precious")
    (tmp_path / "target" / "iosonde-x").mkdir()
    for name in ("a", "b"):
        (tmp_path / "store" / "runs" / name).mkdir()
        (tmp_path / "store" / "runs" / name / "run.json").write_text('{"files": {}, "missing": []}')
    witness = invariants.Witness(ended)
    witness.look()
    ended.underlying = []
    ended.workspaces = list
    witness.check_store()
    witness.check_target(killed=True)
    assert witness.breaches == []
    (tmp_path / "store" / "runs" / "a" / "run.json").write_text('{"files": {}, "missing": [] }')
    (tmp_path / "store" / "runs" / "b" / "run.json").unlink()
    (tmp_path / "store" / "runs" / "b").rmdir()
    (tmp_path / "victim" / "new").touch()
    (tmp_path / "target" / "thesis.tex").write_text("gone")
    witness.check_store()
    witness.check_target(killed=True)
    assert witness.breaches == [
        "A FINISHED RUN CHANGED",
        "A FINISHED RUN IS LOST",
        "FOREIGN FILES CHANGED: the victim of the link",
        "FOREIGN FILES CHANGED in the target",
    ]


def test_the_table_counts_and_goes_between_its_marks(tmp_path):
    one = {"row": "SIGTERM", "number": 3, "shape": NODES, "hit": True, "breaches": [], "start_s": 0.2}
    other = one | {"number": 5, "shape": plans.ENVELOPE, "hit": False, "breaches": ["half a run"]}
    found = {"seed": 7, "seconds": 60.0, "commit": "abc", "cores": 2, "not_run": {"x": "y"}, "campaigns": [one, other]}
    assert table.rows(found)[0] == ["SIGTERM", "2", "1", "1", "1", "5"]
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    table.into(page, found)
    table.into(page, found)
    content = page.read_text()
    assert content.startswith("before\n") and content.endswith(f"{table.END}\nafter\n")
    assert content.count("| SIGTERM | 2 | 1 | 1 | 1 | 5 |") == 1
    assert "old" not in content
    assert "1 × SIGTERM: half a run (5)" in content
