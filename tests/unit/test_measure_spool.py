"""What ranks leave behind: whole frames are read back, a frame that was cut short is not there."""

from pathlib import Path

import numpy as np
import pytest

from iosonde.core.schema import OPERATION
from iosonde.measure import spool
from iosonde.measure.assignment import Assignment
from iosonde.measure.rank import program
from iosonde.measure.spool import RankPhase


def part(phase, n=5, rank=3):
    rows = np.zeros(n, OPERATION)
    rows["start_ns"] = np.arange(n)
    return RankPhase(rank, phase, 1, 2, "count", True, [{"kind": 1, "count": n, "bytes": 0}], [], operations=rows)


def test_phases_come_back_as_they_were_left(tmp_path):
    for phase in (0, 2):
        spool.append_phase(tmp_path, part(phase, n=phase + 1))
    frames = spool.index_frames(tmp_path, 5)
    assert [sorted(one) for one in frames] == [[], [], [], [0, 2], []]
    back = spool.read_phase(tmp_path, 3, frames[3][2])
    assert back.phase == 2
    assert back.operations.tolist() == part(2, n=3).operations.tolist()
    assert back.total(1, "count") == 3


def test_a_phase_without_records_comes_back_without(tmp_path):
    left = part(0)
    left.operations = None
    spool.append_phase(tmp_path, left)
    assert spool.read_phase(tmp_path, 3, spool.index_frames(tmp_path, 4)[3][0]).operations is None


def test_every_cut_leaves_only_whole_phases(tmp_path):
    for phase in range(3):
        spool.append_phase(tmp_path, part(phase))
    path = spool.build_rank_path(tmp_path, 3)
    content = path.read_bytes()
    ends = []
    for length in range(len(content)):
        path.write_bytes(content[:length])
        frames = spool.index_frames(tmp_path, 4)[3]
        assert sorted(frames) == list(range(len(frames)))
        for at in frames.values():
            assert len(spool.read_phase(tmp_path, 3, at).operations) == 5
        ends.append(len(frames))
    assert ends == sorted(ends)
    assert ends[-1] == 2


def test_pieces_from_another_node_make_the_same_file(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "PIECE_BYTES", 7)
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    spool.append_phase(there, part(0))
    printed = bytes(range(256)) * 9
    spool.build_output_path(there, 3, 1).write_bytes(printed)
    assert spool.list_ranks(there) == [3]
    for piece in spool.iterate_pieces(there, 3):
        spool.append_piece(here, piece)
    assert spool.build_rank_path(here, 3).read_bytes() == spool.build_rank_path(there, 3).read_bytes()
    assert spool.build_output_path(here, 3, 1).read_bytes() == printed


@pytest.mark.parametrize("name", [b"../rank-00001", b"places.json", b"output-1", b"rank-00001/x"])
def test_a_name_that_leads_elsewhere_is_not_written(tmp_path, name):
    with pytest.raises(ValueError, check=lambda error: repr(name.decode()) in str(error)):
        spool.append_piece(tmp_path, bytes([len(name)]) + name + b"x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_the_engines_records_are_unpacked(n):
    rng = np.random.default_rng(1)
    kind, status, duration = (rng.integers(0, 2**bits, n, dtype=np.uint64) for bits in (8, 8, 48))
    words = np.zeros((n, 4), np.uint64)
    words[:, 0] = rng.integers(0, 2**63, n)
    words[:, 1] = rng.integers(0, 2**63, n)
    words[:, 2] = kind + (status << np.uint64(8)) + (duration << np.uint64(16))
    words[:, 3] = 4096 + (np.uint64(77) << np.uint64(32))
    rows = spool.records_to_operations(words, rank=2, phase=9)
    assert rows["kind"].tolist() == kind.tolist()
    assert rows["status"].tolist() == status.tolist()
    assert rows["duration_ns"].tolist() == duration.tolist()
    assert rows["start_ns"].tolist() == words[:, 0].tolist()
    assert set(rows["size"]) <= {4096}
    assert set(rows["file"]) <= {77}
    assert set(rows["rank"]) <= {2}


class Rescuers:
    """The process of each of two nodes, in turn: the other one's pieces come out of ``sent``."""

    def __init__(self, root, sent):
        self.rank, self.sent = (0 if root else 1), sent

    def broadcast(self, value):
        self.sent.setdefault("broadcast", value)
        return self.sent["broadcast"]

    def gather(self, value):
        if self.rank:
            self.sent["ranks"] = value
            return None
        return [value, self.sent.get("ranks", [3])]

    def stream_to_root(self, outgoing, receive):
        if self.rank:
            self.sent["pieces"] = list(outgoing)
        else:
            for piece in self.sent["pieces"]:
                receive(1, piece)


@pytest.mark.parametrize("whole", [False, True])
def test_a_rescue_replaces_what_was_being_sent_and_leaves_what_is_whole(tmp_path, whole):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / program.PARENT_MARK).touch()
    for phase in range(2):
        spool.append_phase(there, part(phase))
    content = spool.build_rank_path(there, 3).read_bytes()
    spool.build_rank_path(here, 3).write_bytes(content if whole else content[: len(content) // 2])
    if whole:
        (here / program.PLACES).write_text("{}")
    sent = {"broadcast": whole}
    for place, root in ((there, False), (here, True)):
        program.rescue_results(Assignment("", str(place), 2, [], 1, 9, only_collect=True), Rescuers(root, sent))
    assert spool.build_rank_path(here, 3).read_bytes() == content
    assert bool(sent["pieces"]) is not whole
    assert not there.exists()


def test_names_in_a_spool():
    assert spool.build_rank_path(Path("/s"), 3) == Path("/s/rank-00003")
    assert spool.build_output_path(Path("/s"), 3, 7) == Path("/s/output-00003-0007")
    assert spool.build_wire_path(Path("/s"), 3) == Path("/s/wire-00003")
    assert spool.build_server_counts_path(Path("/s"), 7, "begun") == Path("/s/servers-7-begun.json")


def test_ranks_are_those_that_left_a_file(tmp_path):
    for name in (
        "rank-00012",
        "output-00003-0001",
        "wire-00005",
        "places.json",
        "rank-1",
        "xrank-00009",
        "error-n1-1.json",
    ):
        (tmp_path / name).touch()
    assert spool.list_ranks(tmp_path) == [3, 5, 12]


def test_every_field_of_a_part_comes_back(tmp_path):
    left = RankPhase(
        3,
        7,
        11,
        12,
        "error",
        False,
        [{"kind": 1, "count": 2, "bytes": 3}, {"kind": 1, "count": 5, "bytes": 7}, {"kind": 2, "count": 9, "bytes": 1}],
        [{"text": "EIO"}],
        cache={"state": "warm"},
        histograms={"1": [[5, 2]]},
        command={"exit_code": 0},
        extra_bytes=None,
        hints={"asked": {"a": "b"}},
        truth="t",
    )
    spool.append_phase(tmp_path, left)
    assert spool.index_frames(tmp_path, 4)[3] == {7: 0}
    assert spool.read_phase(tmp_path, 3, 0) == left
    assert [left.total(1, "count"), left.total(1, "bytes"), left.total(2, "count"), left.total(0, "count")] == [
        7,
        10,
        9,
        0,
    ]


def test_a_file_of_another_kind_has_no_frames(tmp_path):
    spool.append_phase(tmp_path, part(0))
    path = spool.build_rank_path(tmp_path, 3)
    content = path.read_bytes()
    path.write_bytes(content + b"x" * len(content))
    assert list(spool.index_frames(tmp_path, 4)[3]) == [0]
    path.write_bytes(content + content)
    assert spool.index_frames(tmp_path, 4)[3] == {0: len(content)}, "the later one of two"
    path.write_bytes(b"x" + content)
    assert spool.index_frames(tmp_path, 4)[3] == {}


def test_counts_of_a_frame_are_by_rank(tmp_path):
    for rank, frame, count in ((3, 0, 1), (3, 1, 2), (5, 1, 3)):
        spool.write_wire(tmp_path, rank, frame, {"n": count})
    spool.build_rank_path(tmp_path, 9).touch()
    assert spool.read_wire(tmp_path) == {0: {3: {"n": 1}}, 1: {3: {"n": 2}, 5: {"n": 3}}}


def test_files_of_a_rank_that_were_sent_are_removed(tmp_path):
    for rank in (3, 4):
        spool.append_phase(tmp_path, part(0, rank=rank))
        spool.build_output_path(tmp_path, rank, 1).touch()
        spool.write_wire(tmp_path, rank, 0, {})
    spool.remove_sent_files(tmp_path, 3)
    assert spool.list_ranks(tmp_path) == [4] and len(list(tmp_path.iterdir())) == 3
