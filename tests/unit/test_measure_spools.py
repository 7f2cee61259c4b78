"""What a campaign that was cut short left in temporary directories is removed, here and on other nodes; no more."""

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from iosonde.measure import spools
from iosonde.ranks import processes, temporary
from messages import assert_problem, codes


@dataclass
class OtherNodes:
    """A launcher that starts the program once, after ``before``."""

    before: tuple[str, ...] = ()
    name: str = "mpirun"

    def command(self, nodes, ranks_per_node, program):
        assert (nodes, ranks_per_node) == (2, 1)
        return [*self.before, *program]


@pytest.fixture
def left(tmp_path):
    """A spool of experiment 7 that was left, and one of another experiment."""
    folder = spools.make_spool("20261122-7", tmp_path)
    (folder / "rank-00001").write_bytes(b"some")
    return folder, spools.make_spool("20261122-70", tmp_path)


def test_what_a_killed_campaign_left_on_another_node_is_removed_there(left, tmp_path):
    ours, other = left
    assert spools.remove_on_nodes(OtherNodes(), 2, "20261122-7", tmp_path, 60) == ""
    assert other.exists() and not ours.exists()


def test_what_could_not_be_removed_there_is_named(left, tmp_path):
    failing = OtherNodes(("sh", "-c", "echo no route to n2 >&2; exit 1"))
    said = spools.remove_on_nodes(failing, 2, "20261122-7", tmp_path, 60)
    assert_problem(said, "leftover-spool", path=tmp_path / "iosonde-spool-20261122-7-", reason="no route to n2")
    hanging = OtherNodes(("sh", "-c", "sleep 60"))
    assert codes([spools.remove_on_nodes(hanging, 2, "20261122-7", tmp_path, 0.1)]) == ["no-response"]


def test_on_this_node_alone_nobody_else_is_asked(left, tmp_path):
    assert spools.remove_on_nodes(OtherNodes(("false",), "local"), 2, "20261122-7", tmp_path, 60) == ""
    assert spools.remove_on_nodes(OtherNodes(("false",)), 1, "20261122-7", tmp_path, 60) == ""
    assert left[0].exists()
    spools.remove_here("20261122-7", tmp_path)
    assert left[1].exists() and not left[0].exists()


def test_a_directory_whose_process_was_killed_is_removed_by_the_next_one(tmp_path, monkeypatch):
    program = (
        "import os; from iosonde.ranks import temporary\n"
        "with temporary.hold_directory('x') as d: os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (killed,) = tmp_path.iterdir()
    foreign = [tmp_path / "iosonde-x-", tmp_path / "iosonde-x-some-thing", tmp_path / "iosonde-y-z"]
    for path in foreign:
        path.mkdir()
    with temporary.hold_directory("x") as mine, temporary.hold_directory("x") as second:
        assert set(tmp_path.iterdir()) == {mine, second, *foreign}
    assert set(tmp_path.iterdir()) == set(foreign)
    assert (
        killed.name.startswith("iosonde-x-") and processes.get_process_identity().replace(":", "+") not in killed.name
    )
