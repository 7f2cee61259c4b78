"""What ranks say of themselves, as far as it needs no process: beats, relayed lines, last words."""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from dataclasses import replace

import pytest

from iosonde.ranks import beats, listener, processes, watchdog
from iosonde.ranks import beats as last_words
from iosonde.ranks.beats import Beat, read_beats
from iosonde.ranks.heartbeat import Heartbeat
from messages import assert_problem, codes


def beat(rank: int, state: str, phase: str = "write", since: float = 100.0) -> Beat:
    return Beat(rank, "n1", 1, phase, state, since, 7)


def test_a_node_tells_what_is_news_and_one_of_those_that_move(tmp_path):
    def told(*written):
        for one in written:
            last_words.write_beat(tmp_path, one)
        os.write(writing, b"something else\n")
        speaker.look()
        lines = os.read(reading, 2**16).decode().splitlines()
        return [found.rank for line in lines if (found := beats.parse_line(line, 0))]

    reading, writing = os.pipe()
    speaker = beats.Relay(tmp_path, writing)
    moved = [[replace(beat(rank, "running"), progress=at) for rank in range(3)] for at in range(20)]
    assert told(*moved[0]) == [0, 1, 2]
    assert told() == []
    assert len(told(*moved[1])) == 1
    assert told(*moved[2][:2], replace(beat(2, "waiting"), since=101.0))[0] == 2
    assert told(*moved[2][:2]) == [1]  # both stand still now: the number that was not told yet
    os.close(reading)
    last_words.write_beat(tmp_path, moved[3][0])
    speaker.look()  # nobody reads any more: the rank goes on
    os.close(writing)


def test_a_node_on_which_nothing_changes_says_now_and_then_that_it_is_there(tmp_path):
    reading, writing = os.pipe()
    last_words.write_beat(tmp_path, beat(1, "running"))
    speaker = beats.Relay(tmp_path, writing)
    for _ in range(2 * beats.ALL_EVERY):
        speaker.look()
    assert os.read(reading, 2**16).count(b"iosonde-beat") == 3


def test_a_launcher_that_does_not_read_does_not_stop_a_rank(tmp_path):
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    last_words.write_beat(tmp_path, beat(1, "running"))
    speaker = beats.Relay(tmp_path, writing)
    speaker.look()
    os.read(reading, 2**20)
    speaker.look()
    assert beats.parse_line(os.read(reading, 2**16).decode(), 0) is not None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "hello",
        "iosonde-beat",
        "iosonde-beat [1, 2",
        'iosonde-beat {"rank": 1}',
        "iosonde-beat [1]",
        'iosonde-beat [1,"x","n","p",1,"s","y",1]',
    ],
)
def test_what_is_no_beat_is_left_out(line):
    assert beats.parse_line(line, 0.0) is None


def test_times_of_another_node_are_brought_to_this_ones_clock(tmp_path):
    said = '1: iosonde-beat [1000.0, 3, "n2", 77, "write", "running", 970.0, 5]\niosonde-beat [10'
    (tmp_path / "stdout.txt").write_text(said)
    received = beats.Received(tmp_path / "stdout.txt")
    received.look()
    sentence = received.beats[3].sentence(time.time())
    assert_problem(sentence, "rank-waiting", rank=3, host="n2", activity="running write", operations=5)
    assert sentence.values["seconds"] == pytest.approx(30, abs=0.5) and "30 s (5" in sentence
    with (tmp_path / "stdout.txt").open("a") as file:
        file.write('00.0, 4, "n2", 78, "write", "running", 999.0, 5]\n')
    received.look()
    assert sorted(received.beats) == [3, 4]


def test_identity_of_a_process():
    assert not processes.is_gone(processes.get_process_identity())
    parts = processes.get_process_identity().split(":")
    assert processes.is_gone(":".join([*parts[:3], "1"]))  # the same pid, started at another time
    assert not processes.is_gone("another-boot:" + ":".join(parts[1:]))
    assert not processes.is_gone("")


def test_heartbeats_are_read_back_and_damaged_ones_are_left_out(tmp_path):
    with Heartbeat(tmp_path, 11) as heart:
        heart.enter("read")
        assert [(b.rank, b.phase, b.state) for b in read_beats(tmp_path)] == [(11, "read", "running")]
    (tmp_path / "rank-2").write_text('{"rank": 2')
    (tmp_path / "rank-3").write_text("[]")
    (tmp_path / "rank-4.new").write_text("")
    assert [(b.rank, b.state) for b in read_beats(tmp_path)] == [(11, "done")]


def test_a_word_over_a_longer_one_is_read_alone_and_half_of_one_is_not_read(tmp_path):
    long, short = (replace(beat(3, "running"), phase=name) for name in ("x" * 300, "y"))
    last_words.write_beat(tmp_path, long)
    last_words.write_beat(tmp_path, short)
    assert read_beats(tmp_path) == [short]
    content = (tmp_path / "rank-3").read_bytes()
    (tmp_path / "rank-3").write_bytes(content[:40] + b"0" + content[41:])
    assert read_beats(tmp_path) == []


def test_a_rank_that_fails_is_not_done(tmp_path):
    with pytest.raises(BrokenPipeError), Heartbeat(tmp_path, 0) as heart:
        heart.enter("read")
        raise BrokenPipeError
    assert read_beats(tmp_path)[0].state == "running"


def test_a_heartbeat_that_cannot_be_written_does_not_stop_the_rank(tmp_path):
    directory = tmp_path / "beats"
    directory.mkdir()
    with Heartbeat(directory, 0) as heart:
        (directory / "rank-0").unlink()
        directory.rmdir()
        heart.enter("read")


@pytest.mark.parametrize(
    ("beats", "ranks", "expected"),
    [
        ([beat(0, "waiting"), beat(1, "running")], 2, [1]),
        ([beat(0, "waiting")], 3, [1, 2]),
        ([beat(0, "waiting", "read", 9), beat(1, "waiting", "write", 5)], 2, [1]),
        ([beat(0, "waiting"), beat(1, "waiting")], 2, [0, 1]),
        ([beat(0, "done"), beat(1, "waiting")], 2, [1]),
        ([beat(0, "done")], 1, []),
    ],
)
def test_who_is_waited_for(beats, ranks, expected):
    assert last_words.find_blocking_ranks(beats, ranks) == expected


SSH = "ssh: Could not resolve hostname n9: Name or service not known"


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        (f"{SSH}\r\n[mpiexec@n1] ui_cmd_cb (x.c:51): Launch proxy failed.\n[mpiexec@n1] main (y.c:2): error\n", SSH),
        ("[mpiexec@n1] main (y.c:2): error\n", "[mpiexec@n1] main (y.c:2): error"),
        ("Traceback (most recent call last):\n  File x\nValueError: no\n\n=====\n", "ValueError: no"),
        (f"-----\nPrimary job ended\n-----\n{SSH}\n-----\nmpiexec detected\n  Exit code:  16\n-----\n", SSH),
        (f"{SSH}\nslurmstepd: error: *** STEP 2.2 ON n1 CANCELLED ***\nsrun: Force Terminated StepId=2.2\n", SSH),
        ("-----\nORTE was unable to start\n-----\n", "ORTE was unable to start"),
        (" \n", "exit code 5"),
        ("x" * 300, "x" * 200),
    ],
)
def test_the_reason_is_not_what_the_launcher_says_of_itself(stderr, said):
    assert watchdog.Outcome(5, 1.0, False, [], stderr, None).last_words() == said


def test_a_rank_of_ours_is_heard_through_what_mpi_says():
    ours = "n2: /t is full. Make room"
    stderr = f"iosonde: {ours}\nAbort(3) on node 1 (rank 1 in comm 496): application called MPI_Abort\n"
    assert watchdog.Outcome(3, 1.0, False, [], stderr, None).last_words() == ours


@pytest.mark.parametrize(
    ("more", "code", "values"),
    [
        ({}, "rank-waiting", {"activity": "running write", "seconds": 31.0, "operations": 7}),
        ({"phase": ""}, "rank-waiting", {"activity": "running", "seconds": 31.0}),
        ({"since": 200.0}, "rank-waiting", {"seconds": 0}),  # another clock
        ({"hangs": "process 9, nfs_wait"}, "command-hangs", {"phase": "write", "process": "process 9, nfs_wait"}),
    ],
)
def test_a_beat_says_what_its_rank_does(more, code, values):
    assert_problem(replace(beat(3, "running"), **more).sentence(131.0), code, rank=3, host="n1", **values)


def outcome(**more):
    return watchdog.Outcome(1, 1.0, True, [0, 1, 2], "", None, **more)


def test_each_rank_that_was_waited_for_is_described_by_what_is_known_of_it():
    said = outcome(reason=watchdog.IDLE, beats=(beat(1, "waiting"),), hosts=("n1", "n2")).sentences()
    assert codes(said) == ["rank-not-heard", "rank-waiting", "rank-not-started"]
    assert_problem(said[0], "rank-not-heard", rank=0, host="n1", first_host="n1")
    assert_problem(said[2], "rank-not-started", rank=2)
    assert outcome(reason=watchdog.LOST, beats=(beat(1, "waiting"),), lost=("gone",)).sentences() == ["gone"]


def ear(tmp_path, idle_s=None):
    return listener.Listener(tmp_path, tmp_path / "printed", "token", idle_s)


def test_a_rank_that_was_alive_and_is_gone_before_its_end_has_died(tmp_path, monkeypatch):
    alive = {1: True}
    monkeypatch.setattr(listener.processes, "is_alive", lambda pid, token: alive[pid])
    monkeypatch.setattr(listener.leftovers, "record_open_files", lambda *_: [])
    monkeypatch.setattr(listener.processes, "find_family", lambda _: [])
    for state, before, after, said in (
        ("running", True, False, ["rank-died"]),
        ("done", True, False, []),
        ("running", None, False, []),  # it was never seen: it may live in another name space
        ("running", True, None, []),
        ("running", True, True, []),
    ):
        last_words.write_beat(tmp_path, beat(0, state))
        hears = ear(tmp_path)
        alive[1] = before
        hears.look()
        assert hears.lost == ()
        alive[1] = after
        hears.look()
        assert codes(hears.lost) == said
        assert not hears.was_lost()
    last_words.write_beat(tmp_path, beat(0, "running"))
    alive[1] = True
    hears = ear(tmp_path)
    hears.look()
    alive[1] = False
    hears.look()
    assert_problem(hears.lost[0], "rank-died", rank=0, host="n1", process=1, activity="running write")
    now = time.monotonic()
    monkeypatch.setattr(listener.time, "monotonic", lambda: now + listener.LOST_S + 1)
    assert hears.was_lost()


def test_a_launcher_that_died_is_named_once_with_all_its_ranks(tmp_path, monkeypatch):
    monkeypatch.setattr(listener.processes, "is_alive", lambda *_: True)
    monkeypatch.setattr(listener.processes, "find_family", lambda _: [])
    for rank, lost in enumerate(("proxy", "", "proxy", "orted")):
        last_words.write_beat(tmp_path, replace(beat(rank, "running"), lost=lost))
    hears = ear(tmp_path)
    hears.look()
    assert [(said.values["process"], said.values["ranks"]) for said in hears.lost] == [
        ("proxy", "0, 2"),
        ("orted", "3"),
    ]


def test_troubles_are_no_progress_and_numbers_are(tmp_path, monkeypatch):
    monkeypatch.setattr(listener.processes, "is_alive", lambda *_: True)
    monkeypatch.setattr(listener.processes, "find_family", lambda _: [])
    moments = iter(range(1000))
    monkeypatch.setattr(listener.time, "monotonic", lambda: float(next(moments)))
    hears = ear(tmp_path)
    moved = []
    for more in ({}, {"lost": "proxy"}, {"hangs": "process 9"}, {"progress": 8}, {"progress": 8}, {"pulse": 1}):
        last_words.write_beat(tmp_path, replace(beat(0, "running"), **more))
        before = hears.moved_at
        hears.look()
        moved.append(hears.moved_at > before)
    assert moved == [True, False, False, True, False, True]


@pytest.mark.parametrize(("idle_s", "silent_s"), [(None, math.inf), (1.0, listener.SILENT_S), (1e6, 1e6)])
def test_a_node_is_silent_after_the_idle_limit_and_never_soon(tmp_path, idle_s, silent_s):
    assert ear(tmp_path, idle_s)._silent_s == silent_s


def relayed(received, path, **more):
    """What is known of rank 3 after another line of it, sent now."""
    values = {"sent": 1000.0, "since": 970.0, "state": "running", "progress": 5, **more}
    line = [values["sent"], 3, "n2", 77, "write", values["state"], values["since"], values["progress"]]
    with path.open("a") as file:
        file.write(f"iosonde-beat {json.dumps(line)}\n")
    received.look()
    return received.beats[3]


@pytest.mark.parametrize(
    ("more", "moved"),
    [
        ({"sent": 1001.0}, False),  # a line that was under way for another second
        ({"sent": 1000.0 - last_words.SAME_S + 0.5}, False),
        ({"sent": 1000.0 - last_words.SAME_S - 0.5}, True),
        ({"sent": 1000.0 + last_words.SAME_S + 0.5}, True),
        ({"progress": 6}, True),
        ({"state": "waiting"}, True),
    ],
)
def test_a_line_that_says_the_same_is_no_progress_however_long_it_took(tmp_path, monkeypatch, more, moved):
    monkeypatch.setattr(last_words.time, "time", lambda: 5000.0)
    received = beats.Received(tmp_path / "printed")
    first = relayed(received, tmp_path / "printed")
    assert first.since == 4970.0
    assert (relayed(received, tmp_path / "printed", **more) != first) is moved


@pytest.mark.parametrize(("state", "ago_s", "silent"), [("running", 61, ["n2"]), ("running", 59, []), ("done", 61, [])])
def test_a_host_is_silent_while_its_ranks_work(tmp_path, state, ago_s, silent):
    received = beats.Received(tmp_path / "printed")
    relayed(received, tmp_path / "printed", state=state)
    received.heard_at["n2"] -= ago_s
    assert received.silent(60.0) == silent


class Launcher:
    """The standard output of a rank, which a launcher forwards while it ``reads``."""

    def __init__(self, directory, monkeypatch):
        self.reads, self.said, self.beats, self.relay = True, [], {}, beats.Relay(directory, 7)
        monkeypatch.setattr(last_words.select, "select", lambda *_: ([], [7] if self.reads else [], []))
        monkeypatch.setattr(last_words.os, "write", self.write)

    def write(self, file, content):
        assert file == 7
        self.said.append(content.decode())

    def look(self, *written):
        """The ranks and counts that one look prints."""
        self.said.clear()
        self.beats |= {one.rank: one for one in written}
        self.relay.look()
        return [(found.rank, found.progress) for line in self.said if (found := beats.parse_line(line, 0.0))]


@pytest.fixture
def launcher(tmp_path, monkeypatch):
    made = Launcher(tmp_path, monkeypatch)
    monkeypatch.setattr(last_words, "read_beats", lambda directory: list(made.beats.values()))
    return made


def at(rank, progress, **more):
    return replace(beat(rank, "running"), progress=progress, **more)


def test_of_ranks_that_move_one_is_told_and_all_in_the_tenth_look(launcher):
    assert launcher.look(at(0, 1), at(1, 1), at(2, 1)) == [(0, 1), (1, 1), (2, 1)]
    for look in range(2, 10):
        assert launcher.look(at(0, look), at(1, look), at(2, look)) == [(0, look)]
    assert launcher.look(at(0, 10), at(1, 10), at(2, 10)) == [(0, 10), (1, 10), (2, 10)]
    for _ in range(11, 20):
        assert launcher.look() == []
    assert launcher.look() == [(0, 10)]


@pytest.mark.parametrize("more", [{"since": 101.0}, {"lost": "proxy"}, {"hangs": "process 9"}])
def test_a_change_of_state_is_told_at_once(launcher, more):
    launcher.look(at(0, 1), at(1, 1))
    assert launcher.look(at(0, 2), at(1, 2, **more)) == [(1, 2), (0, 2)]


def test_a_count_that_stopped_is_told_at_once(launcher):
    launcher.look(at(0, 1), at(1, 1))
    assert launcher.look(at(0, 2), at(1, 2)) == [(0, 2)]
    assert launcher.look(at(0, 3)) == [(1, 2), (0, 3)]


def test_what_could_not_be_printed_is_told_next_time(launcher):
    launcher.reads = False
    assert launcher.look(at(0, 1), at(1, 1)) == []
    launcher.reads = True
    assert launcher.look() == [(0, 1), (1, 1)]
    assert launcher.look() == []


def test_a_line_is_short_and_has_the_time_of_its_sender(launcher, monkeypatch):
    monkeypatch.setattr(last_words.time, "time", lambda: 5000.0)
    launcher.look(at(0, 1, phase="x" * 300))
    [line] = launcher.said
    assert line.startswith("iosonde-beat [5000.0, 0, ") and line.endswith("]\n") and len(line) < 400
    assert beats.parse_line("1: " + line, 6000.0) == at(0, 1, phase="x" * 200, since=1100.0)


def test_lines_that_come_in_pieces_are_put_together(tmp_path):
    received, path = beats.Received(tmp_path / "printed"), tmp_path / "printed"
    received.look()
    line = 'iosonde-beat [1000.0, 3, "n2", 77, "write", "running", 970.0, 5]\n'
    for piece, known in (
        (line[:20], []),
        (line[20:], [3]),
        ("noise\n" + line.replace(" 3,", " 4,")[:-1], [3]),
        ("\n", [3, 4]),
    ):
        with path.open("a") as file:
            file.write(piece)
        received.look()
        assert list(received.beats) == known


def test_beats_are_read_in_the_order_of_ranks(tmp_path):
    for rank in (10, 2, 1):
        last_words.write_beat(tmp_path, beat(rank, "running"))
    assert [one.rank for one in read_beats(tmp_path)] == [1, 2, 10]
    assert (tmp_path / "rank-2").stat().st_mode & 0o777 == 0o600
    last_words.write_beat(tmp_path / "absent", beat(1, "running"))


@pytest.mark.parametrize(
    ("content", "hosts"), [('["n1", "n2"]', ("n1", "n2")), ("[1]", ("1",)), ("7", ()), ("[", ()), (None, ())]
)
def test_the_hosts_of_all_ranks_are_read(tmp_path, content, hosts):
    if content is not None:
        (tmp_path / "hosts.json").write_text(content)
    assert last_words.read_hosts(tmp_path) == hosts
