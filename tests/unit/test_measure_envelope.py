"""The envelope's plan: who writes what, who reads what, and that it is the same on every rank."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.core.workload import Workload
from iosonde.measure.workloads import envelope, phase_plan
from messages import raises

EIGHT = {
    "open",
    "create",
    "read_1to1_small",
    "read_1to1_large",
    "read_nto1_small",
    "read_nto1_large",
    "write_small",
    "write_large",
}


def by_name(settings, rank, ranks, shift):
    return {plan.operation: plan for plan in envelope.plan(settings, rank, ranks, shift)}


def test_the_eight_metrics_are_measured():
    plans = [plan for plan in envelope.plan(envelope.Settings(), 0, 2, 1) if plan.timed]
    assert {plan.operation for plan in plans} >= EIGHT
    rates = {plan.operation for plan in plans if plan.measures == phase_plan.RATE}
    assert rates == {"open", "create", "write_small", "read_1to1_small", "read_nto1_small"}


@given(st.lists(st.integers(0, 5), min_size=1, max_size=24))
def test_readers_are_turned_away_from_the_writer(nodes):
    shift, reader = envelope.compute_reader_shift(nodes)
    turned = [nodes[(rank + shift) % len(nodes)] for rank in range(len(nodes))]
    if reader == envelope.OTHER_NODE:
        assert all(mine != writers for mine, writers in zip(nodes, turned, strict=True))
    elif reader == envelope.OTHER_RANK:
        assert len(nodes) > 1
        assert shift % len(nodes)
    else:
        assert len(nodes) == 1


def test_equal_nodes_are_always_read_from_another_node():
    for count in (2, 3, 4, 16):
        for per_node in (1, 2, 8):
            nodes = [rank // per_node for rank in range(count * per_node)]
            assert envelope.compute_reader_shift(nodes)[1] == envelope.OTHER_NODE


@given(st.integers(1, 12))
def test_one_to_one_reads_are_disjoint_and_cover_all_files(ranks):
    shift = 1 if ranks > 1 else 0
    for operation in ("open", "read_1to1_small", "read_1to1_large"):
        read = [by_name(envelope.Settings(), r, ranks, shift)[operation].phase.files for r in range(ranks)]
        assert len({files.template for files in read}) == ranks


def test_n_to_one_is_one_file_read_whole_by_everybody():
    settings = envelope.Settings(large_file_size=8 * 2**20)
    for rank in range(3):
        plan = by_name(settings, rank, 3, 1)["read_nto1_large"]
        assert plan.phase.files.template == "shared/large"
        data = next(step for step in plan.phase.steps if step.kind == "read")
        assert data.size == settings.large_file_size
        assert plan.distinct_bytes == settings.large_file_size
    makers = [by_name(settings, rank, 3, 1)["make_nto1_large"].phase for rank in range(3)]
    assert makers[0] is not None
    assert makers[1:] == [None, None]


def test_each_shared_small_file_is_read_once_so_that_cold_stays_cold():
    plans = [by_name(envelope.Settings(small_files=7), rank, 3, 1)["read_nto1_small"] for rank in range(3)]
    for plan in plans:
        assert plan.phase.passes == 1
        assert plan.reads == (plan.phase.files,)
        assert plan.phase.files.count == 7


def _blocks_of(plan, ranks, settings):
    data = next(step for step in plan.phase.steps if step.kind == "write")
    count = data.count or data.size // data.transfer_size
    hole = data.offsets["stride"]["hole"] if isinstance(data.offsets, dict) else 0
    return {data.base + i * (data.transfer_size + hole) for i in range(count)}


@given(st.integers(1, 7), st.integers(1, 9))
def test_shared_writes_cover_the_file_once(ranks, transfers):
    settings = envelope.Settings(transfer_size=4096, large_file_size=4096 * transfers)
    for name in ("segmented", "strided"):
        per_rank = [
            _blocks_of(by_name(settings, r, ranks, 0)[f"write_shared_{name}"], ranks, settings) for r in range(ranks)
        ]
        assert sum(map(len, per_rank)) == ranks * transfers
        assert set().union(*per_rank) == {4096 * i for i in range(ranks * transfers)}


def test_all_ranks_have_the_same_phases_and_valid_json():
    plans = [envelope.plan(envelope.Settings(), rank, 4, 1) for rank in range(4)]
    assert len({tuple(plan.operation for plan in one) for one in plans}) == 1
    for plan in plans[0]:
        text = Workload("/x", ((plan.phase,),)).to_json()
        assert json.loads(text)["workers"][0]["phases"][0]["name"]


@pytest.mark.parametrize("wrong", [{"small_files": 0}, {"large_file_size": 3, "transfer_size": 2}, {"cache": "tepid"}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(InputError) as error:
        envelope.Settings(**wrong)
    assert error.value.hint


@pytest.mark.parametrize("shared", [False, True])
def test_what_is_written_is_what_the_measured_phases_write(shared):
    settings = envelope.Settings(small_files=7, large_files=2, shared_writes=shared)
    plans = [plan for rank in range(3) for plan in envelope.plan(settings, rank, 3, 1) if plan.timed]
    steps = [(plan.phase.files.count, step) for plan in plans for step in plan.phase.steps if step.kind == "write"]
    written = sum(files * (step.count * step.transfer_size if step.count else step.size) for files, step in steps)
    assert envelope.bytes_written(settings, 3) == written < envelope.bytes_moved(settings, 3)


@pytest.mark.parametrize(
    ("shared", "needed", "moved", "written"),
    [
        # Small files: 3 of 100 bytes; large ones: 2 of 4096. So a rank's own data are 8492 bytes.
        (False, 4 * 8492, 3 * (2 * 8492 + 4096 + 300), 3 * 8492),
        (True, 4 * 8492 + 3 * 2 * 4096, 3 * (2 * 8492 + 4096 + 300 + 2 * 4096), 3 * (8492 + 2 * 4096)),
    ],
)
def test_what_three_ranks_need_and_move(shared, needed, moved, written):
    settings = envelope.Settings(
        small_files=3,
        small_file_size=100,
        large_files=2,
        large_file_size=4096,
        transfer_size=1024,
        shared_writes=shared,
    )
    assert envelope.bytes_needed(settings, 3) == needed
    assert envelope.bytes_moved(settings, 3) == moved
    assert envelope.bytes_written(settings, 3) == written
    assert envelope.files_needed(settings, 3) == 3 * (2 * 3 + 2 + 4) + 3 + 8
    assert envelope.files_touched(settings, 3) == (7 * 3 + 2) * 3


def test_a_phase_has_its_steps_files_and_what_it_counts():
    """Rank 1 of 3, which reads what rank 2 wrote."""
    settings = envelope.Settings(
        small_files=7, small_file_size=100, large_files=2, large_file_size=4096, transfer_size=1024, direct=True
    )
    table = {
        plan.operation: (
            plan.phase and (plan.phase.files.template, plan.phase.files.count),
            plan.phase and ",".join(step.kind for step in plan.phase.steps),
            (plan.measures, plan.counted_kind),
            (plan.timed, plan.shared, plan.distinct_bytes),
            plan.reads == ((plan.phase.files,) if plan.phase and "read" in plan.operation else ()),
            plan.phase and plan.phase.open_flags,
        )
        for plan in envelope.plan(settings, 1, 3, 1)
    }
    rate, direct = (phase_plan.RATE, "close"), ("direct",)
    written, read = (phase_plan.BANDWIDTH, "write"), (phase_plan.BANDWIDTH, "read")
    own, nobody = (True, False, 0), (None, None, rate, (False, False, 0), True, None)
    expected = {
        "create": (("rank00001/empty/f", 7), "create,close", (phase_plan.RATE, "create"), own, True, ()),
        "open": (("rank00002/empty/f", 7), "open,close", (phase_plan.RATE, "open"), own, True, ()),
        "write_small": (("rank00001/small/f", 7), "create,write,close", rate, own, True, ()),
        "read_1to1_small": (("rank00002/small/f", 7), "open,read,close", rate, own, True, ()),
        "write_large": (("rank00001/large/f", 2), "create,write,fsync,close", written, own, True, direct),
        "read_1to1_large": (("rank00002/large/f", 2), "open,read,close", read, own, True, direct),
        "make_nto1_small": nobody,
        "read_nto1_small": (("shared/small", 7), "open,read,close", rate, (True, True, 700), True, ()),
        "make_nto1_large": nobody,
        "read_nto1_large": (("shared/large", 1), "open,read,close", read, (True, True, 4096), True, direct),
        "make_segmented": nobody,
        "write_shared_segmented": (
            ("shared/segmented", 1),
            "open,write,fsync,close",
            written,
            (True, True, 3 * 4096),
            True,
            direct,
        ),
        "make_strided": nobody,
        "write_shared_strided": (
            ("shared/strided", 1),
            "open,write,fsync,close",
            written,
            (True, True, 3 * 4096),
            True,
            direct,
        ),
    }
    assert table == expected


@pytest.mark.parametrize(
    ("nodes", "shift", "relation"),
    [
        ([0], 0, envelope.SAME_RANK),
        ([0, 0], 1, envelope.OTHER_RANK),
        ([0, 1], 1, envelope.OTHER_NODE),
        ([0, 0, 1, 1], 2, envelope.OTHER_NODE),
        ([0, 1, 0, 1], 1, envelope.OTHER_NODE),
        ([0, 0, 1], 1, envelope.OTHER_RANK),
        ([0, 0, 0, 1, 1, 1], 3, envelope.OTHER_NODE),
    ],
)
def test_files_are_shifted_as_little_as_brings_each_to_another_node(nodes, shift, relation):
    assert envelope.compute_reader_shift(nodes) == (shift, relation)


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ({"small_files": 0}, "out-of-range"),
        ({"large_files": 1.5}, "not-an-integer"),
        ({"small_file_size": True}, "not-an-integer"),
        ({"verify": 1}, "not-a-boolean"),
        ({"direct": "yes"}, "not-a-boolean"),
        ({"shared_writes": None}, "not-a-boolean"),
        ({"large_file_size": 2**20 + 1}, "not-a-multiple"),
        ({"cache": "tepid"}, "unknown-cache-regime"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_name(setting, code):
    (name,) = setting
    with raises(code) as error:
        envelope.Settings(**setting)
    assert error.value.path == (name,)


def test_sizes_may_be_texts_and_counts_only_numbers():
    settings = envelope.Settings(small_file_size="4KiB", large_file_size="2MiB", small_files="12", cache="warm")
    assert settings.to_json() == {
        "small_files": 12,
        "small_file_size": 4096,
        "large_files": 1,
        "large_file_size": 2**21,
        "transfer_size": 2**20,
        "cache": "warm",
        "shared_writes": True,
        "direct": False,
        "verify": False,
    }
    with raises("not-an-integer"):
        envelope.Settings(small_files="4KiB")


def test_every_transfer_of_the_envelope_by_hand():
    settings = envelope.Settings(
        small_files=7, small_file_size=100, large_files=2, large_file_size=4096, transfer_size=1024, verify=True
    )
    found = {}
    for plan in envelope.plan(settings, 0, 3, 1):
        moves = [step for step in plan.phase.steps if step.kind in ("read", "write")]
        found[plan.operation] = [
            (step.kind, step.transfer_size, step.base, step.size, step.count, step.offsets) for step in moves
        ]
        assert plan.phase.verify is bool(moves), plan.operation
        assert plan.phase.open_flags == () and plan.warm is None and plan.counts_moved is False
    small, large = (100, None, 100, None, "seq"), (1024, None, 4096, None, "seq")
    assert found == {
        "create": [],
        "open": [],
        "write_small": [("write", *small)],
        "read_1to1_small": [("read", *small)],
        "write_large": [("write", *large)],
        "read_1to1_large": [("read", *large)],
        "make_nto1_small": [("write", *small)],
        "read_nto1_small": [("read", *small)],
        "make_nto1_large": [("write", *large)],
        "read_nto1_large": [("read", *large)],
        "make_segmented": [],
        "write_shared_segmented": [("write", 1024, 0, 4096, None, "seq")],
        "make_strided": [],
        "write_shared_strided": [("write", 1024, 0, 3 * 4096 - 2048, 4, {"stride": {"hole": 2048}})],
    }
    last = by_name(settings, 2, 3, 1)
    assert last["write_shared_segmented"].phase.steps[1].base == 2 * 4096
    assert last["write_shared_strided"].phase.steps[1].base == 2 * 1024
    assert last["read_1to1_small"].phase.files.template == "rank00000/small/f"
    made = by_name(settings, 0, 3, 1)
    assert [(made[name].phase.files.template, made[name].timed) for name in ("make_nto1_small", "make_strided")] == [
        ("shared/small", False),
        ("shared/strided", False),
    ]
    assert [step.kind for step in made["make_segmented"].phase.steps] == ["create", "close"]


def test_a_large_file_may_be_one_transfer():
    assert envelope.Settings(large_file_size=2**20, transfer_size=2**20).large_file_size == 2**20
    assert envelope.Settings().to_json() == {
        "small_files": 1000,
        "small_file_size": 4096,
        "large_files": 1,
        "large_file_size": 2**26,
        "transfer_size": 2**20,
        "cache": "cold",
        "shared_writes": True,
        "direct": False,
        "verify": False,
    }
