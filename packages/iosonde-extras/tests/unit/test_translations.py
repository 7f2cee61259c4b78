"""Other tools' command lines as workloads: what is translated, refused and ignored, and where every byte goes."""

import json
from pathlib import Path

import pytest

from iosonde.core.errors import InputError
from iosonde.core.workload import Workload
from iosonde.engine import _native
from iosonde.measure import spool, workloads
from iosonde.measure.workloads.translation import translate
from iosonde_extras import ior
from messages import codes


def execute(root: Path, command: str, ranks: int, shift: int = 0) -> list[tuple[str, int, list]]:
    """(phase, rank, records) of all phases, rank after rank, really done below ``root``."""
    translation = translate(command)
    producer = workloads.find_producer(translation.workload)
    settings = producer.Settings(**json.loads(json.dumps(translation.settings.to_json())))
    assert settings == translation.settings
    plans = [producer.plan(settings, rank, ranks, shift) for rank in range(ranks)]
    done = []
    for phases in zip(*plans, strict=True):
        for rank, plan in enumerate(phases):
            session = _native.Session(Workload(str(root), ((plan.phase,),), seed=1, rank=rank).to_json(), 100_000)
            session.prepare(0)
            (record,) = session.run(0, 0)
            session.close()
            assert not record.errors, record.errors
            done.append((plan.operation, rank, spool.records_to_operations(record.operations, rank, 0)))
    return done


def kinds(records) -> list[str]:
    return [_native.KINDS[kind] for kind in records["kind"].tolist()]


def offsets(records, kind: str) -> list[int]:
    return records["offset"][records["kind"] == _native.KINDS.index(kind)].tolist()


def ior_offsets(rank: int, ranks: int, block: int, transfer: int, segments: int, own_file: bool) -> list[int]:
    """src/ior.c, WriteOrRead, written down once more."""
    found = []
    for i in range(segments):
        for j in range(block // transfer):
            offset = j * transfer
            offset += i * block if own_file else i * ranks * block + rank * block
            found.append(offset)
    return found


@pytest.mark.parametrize("own_file", [True, False])
@pytest.mark.parametrize(("block", "transfer", "segments"), [(8, 8, 1), (16, 4, 1), (8, 8, 5), (16, 4, 3)])
def test_iors_transfers_go_where_ior_puts_them(tmp_path, own_file, block, transfer, segments):
    k = 1024
    command = f"ior -w -r -t {transfer}k -b {block}k -s {segments}" + (" -F" if own_file else "")
    for operation, rank, records in execute(tmp_path, command, ranks=3):
        expected = ior_offsets(rank, 3, block * k, transfer * k, segments, own_file)
        assert offsets(records, operation) == expected
    size = block * k * segments * (1 if own_file else 3)
    assert {path.stat().st_size for path in (tmp_path / "ior").iterdir()} == {size}


@pytest.mark.parametrize("own_file", [True, False])
def test_iors_random_order_takes_every_transfer_once(tmp_path, own_file):
    done = execute(tmp_path, "ior -w -z -t 4k -b 32k -s 2" + (" -F" if own_file else ""), ranks=2)
    places = [offsets(records, "write") for _, _, records in done]
    if own_file:
        assert all(sorted(mine) == list(range(0, 65536, 4096)) and mine != sorted(mine) for mine in places)
    else:
        assert sorted(places[0] + places[1]) == list(range(0, 131072, 4096))


def test_iors_phases_hold_open_accesses_fsync_and_close(tmp_path):
    done = {(name, rank): kinds(rows) for name, rank, rows in execute(tmp_path, "ior -w -r -e -F -t 4k -b 8k", 1)}
    assert done["write", 0] == ["create", "write", "write", "fsync", "close"]
    assert done["read", 0] == ["open", "read", "read", "close"]
    done = execute(tmp_path, "ior -w -Y -F -t 4k -b 8k", 1)
    assert kinds(done[0][2]) == ["create", "write", "fsync", "write", "fsync", "close"]


def test_ior_reads_its_neighbours_file_with_reordered_tasks():
    settings = translate("ior -w -r -C -F").settings
    read = [ior.plan(settings, rank, 4, shift=2)[1].phase.files.first for rank in range(4)]
    assert read == [2, 3, 0, 1]  # the next node is two ranks away
    plain = translate("ior -w -r -F").settings
    assert [ior.plan(plain, rank, 4, shift=2)[1].phase.files.first for rank in range(4)] == [0, 1, 2, 3]


def test_ior_checks_what_it_reads(tmp_path):
    done = execute(tmp_path, "ior -w -r -R -W -F -t 4k -b 8k", ranks=2)
    assert [name for name, rank, _ in done if rank == 0] == ["write", "check_write", "read"]


def test_ior_alone_writes_and_reads_and_reading_alone_writes_before():
    assert [plan.timed for plan in ior.plan(translate("ior").settings, 0, 1, 0)] == [True, True]
    only_read = translate("ior -r")
    assert [plan.timed for plan in ior.plan(only_read.settings, 0, 1, 0)] == [False, True]
    assert codes(only_read.notes) == ["untimed-write"]


def test_mdtests_items_are_made_looked_at_read_and_removed(tmp_path):
    done = execute(tmp_path, "mdtest -n 6 -u -w 4k -e 4k -y", ranks=2)
    assert [(name, set(kinds(rows))) for name, rank, rows in done if rank == 1] == [
        ("directory_creation", {"mkdir"}),
        ("directory_stat", {"stat"}),
        ("directory_removal", {"rmdir"}),
        ("file_creation", {"create", "write", "fsync", "close"}),
        ("file_stat", {"stat"}),
        ("file_read", {"open", "read", "close"}),
        ("file_removal", {"unlink"}),
    ]
    assert not [path for path in tmp_path.rglob("*") if not path.name.startswith("mdtest")]


def test_mdtests_tree_holds_the_items_of_directory_after_directory(tmp_path):
    execute(tmp_path, "mdtest -F -C -n 15 -b 2 -z 2", ranks=1)  # 7 directories: 2 in each, 14 in all
    files = sorted(path for path in tmp_path.rglob("file.*"))
    assert len(files) == 14
    deepest = [path for path in files if path.name in ("file.mdtest.0.12", "file.mdtest.0.13")]
    # Directory 6: its parent is 2, whose parent is the tree's own.
    assert {path.parent.relative_to(tmp_path / "mdtest/mdtest_tree.0").as_posix() for path in deepest} == {
        "mdtest_tree.2/mdtest_tree.6"
    }


def test_mdtests_items_can_lie_in_leaves_only(tmp_path):
    execute(tmp_path, "mdtest -F -C -L -I 3 -b 2 -z 1", ranks=1)
    parents = sorted(path.parent.name for path in tmp_path.rglob("file.*"))
    assert parents == ["mdtest_tree.1"] * 3 + ["mdtest_tree.2"] * 3


def test_mdtests_neighbours_do_the_next_phases():
    translation = translate("mdtest -F -n 4 -N 1")
    plan = workloads.find_producer("mdtest").plan(translation.settings, 0, 4, 1)
    owners = [phase.phase.files.template.rsplit(".", 2)[1] for phase in plan]
    assert owners == ["0", "1", "2", "3"]


def test_mdtest_stat_alone_makes_the_items_outside_the_clock():
    translation = translate("mdtest -F -n 4 -T")
    plan = workloads.find_producer("mdtest").plan(translation.settings, 0, 1, 0)
    assert [(phase.operation, phase.timed) for phase in plan] == [("file_creation", False), ("file_stat", True)]


def test_iozones_tests_go_through_the_file_as_iozone_does(tmp_path):
    done = execute(tmp_path, "iozone -i 0 -i 1 -i 2 -i 3 -i 5 -j 3 -s 32k -r 4k -t 2", ranks=2)
    mine = {name: rows for name, rank, rows in done if rank == 1}
    assert list(mine) == [
        "write",
        "rewrite",
        "read",
        "reread",
        "random_read",
        "random_write",
        "backward_read",
        "stride_read",
    ]
    record = 4096
    assert offsets(mine["backward_read"], "read") == [n * record for n in range(7, -1, -1)]
    assert offsets(mine["stride_read"], "read") == [n * record for n in (0, 3, 6, 1, 4, 7, 2, 5)]
    assert sorted(offsets(mine["random_read"], "read")) == [n * record for n in range(8)]
    assert kinds(mine["rewrite"])[0] == "open" and kinds(mine["write"])[-2:] == ["fsync", "close"]


def test_iozones_sizes_without_a_letter_are_in_kib():
    settings = translate("iozone -i 0 -s 64 -r 4").settings
    assert (settings.file_size, settings.record_size) == (65536, 4096)


def test_what_the_command_says_about_the_run_itself():
    iozone = translate("iozone -t 2 -i 0 -F /mnt/x/a /mnt/x/b -e -c")
    assert (iozone.ranks, iozone.target, iozone.settings.inside) == (2, "/mnt/x", ("fsync", "close"))
    mdtest = translate("/opt/bin/mdtest -n 1 -d /mnt/x -i 3")
    assert (mdtest.repetitions, mdtest.target, mdtest.ranks) == (3, "/mnt/x", None)
    assert translate("ior -o /mnt/x/file -i 4").repetitions == 4


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("ior -w -g", "-g: phases have no barrier"),
        ("ior -w -c", "-c: POSIX has no collective calls"),
        ("ior -a MPIIO", "-a: the engine does POSIX calls, not MPIIO"),
        ("ior -D 10 -d 3", "-D: a time limit"),
        ("ior -w -z -z", "-z -z: offsets that may overlap"),
        ("ior --hdf5.x=1", "--hdf5.x: unknown here"),
        ("ior -t 3k -b 16k", "is not a multiple of the transfer"),
        ("ior -t x", "not a size"),
        ("ior -b", "its value is missing"),
        ("ior -w 1m", "'1m' belongs to no option"),
        ("mdtest -n 10 -W 3", "-W: a time limit"),
        ("mdtest -n 10 -S", "-S: every task has its own files"),
        ("mdtest -n 2 -b 2 -z 2", "leave some of them empty"),
        ("mdtest -F", "no items"),
        ("mdtest -n 5 -e 10", "reads more than"),
        ("iozone -a", "-a: a run has one file size"),
        ("iozone -i 6", "-i 6: stdio"),
        ("iozone -s 10k -r 4k", "is not a multiple of the record"),
        ("iozone -B -K", "-K: no jitter"),
        ("mpirun -np 2 ior", "starts processes"),
        ("fio x.job", "cannot be run natively"),
        ("ior '-w", "is not a command line"),
        ("", "cannot be run natively"),
    ],
)
def test_what_cannot_be_done_is_named(command, said):
    with pytest.raises(InputError) as caught:
        translate(command)
    assert said in caught.value.message and caught.value.hint


def test_every_option_that_cannot_be_done_is_named_at_once():
    with pytest.raises(InputError) as caught:
        translate("ior -g -c -D 10 -w")
    assert all(f"{name}: " in caught.value.message for name in ("-g", "-c", "-D"))


def test_what_changes_nothing_is_listed_with_the_reason():
    ignored = dict(translate("ior -w -vv -k -O summaryFormat=JSON").ignored)
    assert set(ignored) == {"-v", "-k"} and all(ignored.values())
    assert set(dict(translate("mdtest -n 1 -P -v").ignored)) == {"-P", "-v"}
    assert set(dict(translate("iozone -i 0 -w -R -x").ignored)) == {"-w", "-R", "-x"}


def test_options_may_be_written_in_every_common_way():
    assert translate("ior -wrF -t1m -b=4m").settings == translate("ior -w -r -F -t 1m -b 4m").settings


@pytest.mark.parametrize(
    "command", ["ior -F -e -t 4k -b 16k -s 2", "mdtest -n 12 -b 2 -z 1 -w 100 -C", "iozone -i 0 -i 1 -s 64k -r 4k"]
)
def test_what_a_trial_needs_on_the_target_is_foreseen(tmp_path, command):
    translation = translate(command)
    producer = workloads.find_producer(translation.workload)
    execute(tmp_path, command, ranks=2)
    there = list(tmp_path.rglob("*"))
    data = sum(path.stat().st_size for path in there if path.is_file())
    assert data <= producer.bytes_needed(translation.settings, 2)
    assert len(there) <= producer.files_needed(translation.settings, 2)
    assert producer.bytes_moved(translation.settings, 2) >= producer.bytes_written(translation.settings, 2) >= data


@pytest.mark.parametrize(
    ("workload", "settings", "said"),
    [
        ("ior", {"transfer_size": "much"}, "is not a size"),
        ("ior", {"fsync": "yes"}, "write true or false"),
        ("ior", {"cache": "lukewarm"}, "is unknown"),
        ("mdtest", {"phases": ["create", "link"]}, "'link' is unknown"),
        ("iozone", {"tests": "write"}, "tests is 'write'"),
        ("iozone", {"inside": ["open"]}, "'open' is unknown"),
    ],
)
def test_settings_in_an_experiment_file_are_checked(workload, settings, said):
    with pytest.raises(InputError) as caught:
        workloads.find_producer(workload).Settings(**settings)
    assert said in f"{caught.value.message} {caught.value.hint}"


def test_settings_in_an_experiment_file_may_have_units():
    assert workloads.find_producer("ior").Settings(transfer_size="1MiB", block_size="16MiB").block_size == 2**24
