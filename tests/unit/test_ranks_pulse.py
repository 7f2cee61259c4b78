"""A command is alive while something of it runs, sleeps by its own will or moves; not while all of it hangs."""

import pytest

from iosonde.ranks.beats import RUNNING, Beat
from iosonde.ranks.heartbeat import Pulse
from messages import assert_problem

ROOT, SHELL, DD = 10, 11, 12
MARK = "IOSONDE_STEP_ID=x"


class FakeProc:
    """A /proc of a rank (10), its shell (11) and whom that started."""

    def __init__(self, root):
        self.root = root
        self.put(ROOT, 1, "R")
        self.put(SHELL, ROOT, "S", "do_wait")

    def put(self, pid, parent, state, wchan="0", *, ticks=0, written=0, mark=MARK, threads=()):
        place = self.root / str(pid)
        for number, (one, where) in enumerate([(state, wchan), *threads]):
            task = place / "task" / str(pid + 1000 * number)
            task.mkdir(parents=True, exist_ok=True)
            (task / "stat").write_text(self.stat(pid, parent, one, ticks))
            (task / "wchan").write_text(where)
            (task / "children").touch()
        (place / "stat").write_text(self.stat(pid, parent, state, ticks))
        (place / "environ").write_bytes(f"A=1\0{mark}\0".encode())
        (place / "io").write_text(f"rchar: 0\nwchar: {written}\ncancelled_write_bytes: 0\n")
        if (self.root / str(parent)).exists():
            children = self.root / str(parent) / "task" / str(parent) / "children"
            children.write_text(" ".join({*children.read_text().split(), str(pid)}))

    @staticmethod
    def stat(pid, parent, state, ticks):
        return f"{pid} (d) d() {state} {parent} " + "0 " * 9 + f"{ticks} 0 0\n"

    def beats(self, change=lambda number: None):
        """Whether the pulse goes on after the first look, which always is news."""
        pulse = Pulse(MARK, ROOT, self.root)
        first = pulse.beat()
        for number in range(3):
            change(number)
            last = pulse.beat()
        assert last in (first, first + 3)
        assert bool(pulse.hangs) == (last == first)
        return pulse.hangs or "alive"


@pytest.fixture
def proc(tmp_path):
    return FakeProc(tmp_path)


@pytest.mark.parametrize(
    ("state", "wchan", "what"),
    [
        ("R", "0", "alive"),
        ("S", "hrtimer_nanosleep", "alive"),
        ("S", "fuse_dev_do_read", "alive"),  # a FUSE daemon that waits for work
        ("D", "rpc_wait_bit_killable", "process 12, rpc_wait_bit_killable"),
        ("D", "0", "process 12, ?"),
        ("S", "request_wait_answer", "process 12, request_wait_answer"),
        ("Z", "0", "alive"),
    ],
)
def test_what_the_child_of_a_shell_does_is_what_counts(proc, state, wchan, what):
    proc.put(DD, SHELL, state, wchan)
    assert proc.beats() == what


def test_a_shell_that_sleeps_is_alive_and_so_is_nobody_to_be_seen(proc):
    assert proc.beats() == "alive"
    assert Pulse("OTHER=1", ROOT, proc.root).beat() == 2
    assert Pulse(MARK, 999, proc.root).beat() == 2


def test_counters_that_move_are_life(proc):
    assert proc.beats(lambda number: proc.put(DD, SHELL, "D", ticks=number)) == "alive"
    assert proc.beats(lambda number: proc.put(DD, SHELL, "D", written=number)) == "alive"
    assert proc.beats() == "process 12, ?"


def test_one_that_sleeps_beside_one_that_hangs_is_alive(proc):
    proc.put(DD, SHELL, "D")
    proc.put(13, SHELL, "S", "hrtimer_nanosleep")
    assert proc.beats() == "alive"


def test_others_of_the_rank_do_not_count(proc):
    proc.put(DD, SHELL, "D")
    proc.put(14, ROOT, "S", "pipe_read", mark="B=2")  # the guard of the command
    assert proc.beats() == "process 12, ?"


@pytest.mark.parametrize(("thread", "what"), [(("D", "io_schedule"), "process 12, io_schedule"), (("R", "0"), "alive")])
def test_threads_count(proc, thread, what):
    proc.put(DD, SHELL, "S", "futex_wait_queue", threads=[thread])
    assert proc.beats() == what


def test_the_sentence_of_the_watchdog():
    beat = Beat(0, "n1", 7, "write", RUNNING, 100.0, 0, 5, hangs="process 12, request_wait_answer")
    expected = {"rank": 0, "phase": "write", "process": beat.hangs, "host": "n1"}
    assert_problem(beat.sentence(200.0), "command-hangs", **expected)
    assert all(str(value) in beat.sentence(200.0) for value in expected.values())
