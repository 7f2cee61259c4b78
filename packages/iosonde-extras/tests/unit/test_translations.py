"""Other tools' command lines as workloads: what is translated, refused and ignored, and where every byte goes."""

import json
from pathlib import Path

import pytest

from iosonde.core.errors import InputError
from iosonde.core.workload import Files, Workload
from iosonde.engine import _native
from iosonde.measure import spool, workloads
from iosonde.measure.workloads.translation import translate
from iosonde_extras import ior
from messages import codes, raises


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


def describe(plan) -> list[str]:
    """A planned phase in words: what it is, its files, and each of its steps."""
    phase = plan.phase
    marks = {
        "untimed": not plan.timed,
        "shared": plan.shared,
        "verified": phase.verify,
        phase.order: phase.order != "listed",
        **dict.fromkeys(phase.open_flags, True),
        f"distinct {plan.distinct_bytes}": plan.distinct_bytes,
        "reads them": plan.reads == (phase.files,),
    }
    head = f"{plan.operation} {plan.measures} {plan.counted_kind}: {', '.join(mark for mark in marks if marks[mark])}"
    names = (
        f"{phase.files.template} {phase.files.count} from {phase.files.first}"
        if isinstance(phase.files, Files)
        else " ".join(phase.files.names)
    )
    return [head, names, *map(describe_step, phase.steps)]


def describe_step(step) -> str:
    words = [step.kind, *(str(value) for value in (step.transfer_size,) if value is not None)]
    parts = {"at": step.base, "of": step.size, "times": step.count, "order": step.offsets}
    return " ".join([*words, *(f"{name}={value}" for name, value in parts.items() if value is not None)])


def plans(command: str, rank: int, ranks: int, shift: int = 0) -> list[list[str]]:
    translation = translate(command)
    producer = workloads.find_producer(translation.workload)
    return [describe(plan) for plan in producer.plan(translation.settings, rank, ranks, shift)]


@pytest.mark.parametrize(
    ("command", "steps"),
    [
        # Rank 1 of 3. Segment s of rank r is block 3 s + r of the shared file.
        ("ior -w -t 4k -b 8k", ["create", "write 4096 at=8192 of=8192 order=seq", "close"]),
        ("ior -w -t 4k -b 8k -s 2 -F", ["create", "write 4096 at=0 of=16384 order=seq", "close"]),
        (
            "ior -w -t 4k -b 4k -s 2",
            ["create", "write 4096 at=4096 of=16384 times=2 order={'stride': {'hole': 8192}}", "close"],
        ),
        (
            "ior -w -t 4k -b 8k -s 2",
            [
                "create",
                "write 4096 at=8192 of=8192 order=seq",
                "write 4096 at=32768 of=8192 order=seq",
                "close",
            ],
        ),
        (
            "ior -w -e -Y -t 4k -b 8k",
            [
                "create",
                "write 4096 at=8192 of=4096",
                "fsync",
                "write 4096 at=12288 of=4096",
                "fsync",
                "fsync",
                "close",
            ],
        ),
    ],
)
def test_the_steps_of_ior_are_its_blocks(command, steps):
    assert plans(command, 1, 3)[0][2:] == steps


def test_the_phases_of_ior_are_planned_as_a_whole():
    command = "ior -w -r -W -e -F -u -C -Q 1 -B -t 4k -b 4k"
    accesses = {kind: f"{kind} 4096 at=0 of=4096 order=seq" for kind in ("write", "read")}
    expected = [
        [
            "write bandwidth write: verified, direct",
            "ior/00000003/testFile. 1 from 3",
            "create",
            accesses["write"],
            "fsync",
            "close",
        ],
        # The checker is two shifts away: rank (3 + 2 × 2) mod 4; the reader one: (3 + 2) mod 4.
        [
            "check_write bandwidth read: untimed, verified, direct, reads them",
            "ior/00000003/testFile. 1 from 3",
            "open",
            accesses["read"],
            "close",
        ],
        [
            "read bandwidth read: verified, direct, reads them",
            "ior/00000001/testFile. 1 from 1",
            "open",
            accesses["read"],
            "close",
        ],
    ]
    assert plans(command, 3, 4, shift=2) == expected
    expected = [
        [
            "write bandwidth write: untimed, shared, verified, distinct 49152",
            "ior/testFile. 1 from 0",
            "create",
            *(f"write 4096 at={at} of=8192 order=seq" for at in (0, 16384, 32768)),
            "close",
        ],
        [
            "read bandwidth read: shared, verified, distinct 49152, reads them",
            "ior/testFile. 1 from 0",
            "open",
            *(f"read 4096 at={at} of=8192 order=seq" for at in (0, 16384, 32768)),
            "close",
        ],
    ]
    assert plans("ior -r -R -t 4k -b 8k -s 3", 0, 2) == expected


def test_a_random_reader_of_ior_is_at_least_its_distance_away_and_the_seed_draws_it():
    def choose(seed: int, distance: int, rank: int, shift: int) -> int:
        command = f"ior -w -r -Z -F -Q {distance} --random-offset-seed {seed}"
        return ior.plan(translate(command).settings, rank, 6, shift)[1].phase.files.first

    for distance, shift, allowed in [(1, 0, {1, 2, 3, 4, 5}), (2, 2, {4, 5}), (9, 1, {5})]:
        drawn = {(choose(seed, distance, rank, shift) - rank) % 6 for seed in range(12) for rank in range(6)}
        assert drawn == allowed
    assert ior.plan(translate("ior -w -r -Z -F").settings, 0, 1, 0)[1].phase.files.first == 0


def test_the_phases_of_mdtest_are_planned_as_a_whole():
    command = "mdtest -n 2 -u -w 100 -e 40 -y -N 1 -R -X"
    expected = [
        ["directory_creation rate mkdir: verified", "mdtest/mdtest_tree.0.0/dir.mdtest.0. 2 from 0", "mkdir"],
        ["directory_stat rate stat: verified, shuffled", "mdtest/mdtest_tree.1.0/dir.mdtest.1. 2 from 0", "stat"],
        ["directory_removal rate rmdir: verified", "mdtest/mdtest_tree.3.0/dir.mdtest.3. 2 from 0", "rmdir"],
        [
            "file_creation rate create: verified",
            "mdtest/mdtest_tree.0.0/file.mdtest.0. 2 from 0",
            "create",
            "write 100 of=100 order=seq",
            "fsync",
            "close",
        ],
        ["file_stat rate stat: verified, shuffled", "mdtest/mdtest_tree.1.0/file.mdtest.1. 2 from 0", "stat"],
        [
            "file_read rate open: verified, shuffled, reads them",
            "mdtest/mdtest_tree.2.0/file.mdtest.2. 2 from 0",
            "open",
            "read 40 of=40 order=seq",
            "close",
        ],
        ["file_removal rate unlink: verified", "mdtest/mdtest_tree.3.0/file.mdtest.3. 2 from 0", "unlink"],
    ]
    assert plans(command, 0, 4, shift=1) == expected
    # A tree of 1 + 2 directories; in leaves only, the items of directory d are 2 d and 2 d + 1.
    base = "mdtest/mdtest_tree.0"
    expected = [
        [
            "directory_creation rate mkdir: ",
            f"{base}/mdtest_tree.1/dir.mdtest.1.0 {base}/mdtest_tree.1/dir.mdtest.1.1 "
            f"{base}/mdtest_tree.2/dir.mdtest.1.2 {base}/mdtest_tree.2/dir.mdtest.1.3",
            "mkdir",
        ]
    ]
    assert plans("mdtest -D -C -y -n 4 -b 2 -z 1 -L", 1, 2) == expected
    expected = [
        [
            "file_creation rate create: ",
            f"{base}/mdtest_tree.1/mdtest_tree.2/file.mdtest.0. 3 from 0",
            "create",
            "close",
        ]
    ]
    assert plans("mdtest -F -C -y -n 3 -z 2 -L", 0, 1) == expected


def test_the_phases_of_iozone_are_planned_as_a_whole():
    names = "iozone/iozone.DUMMY. 1 from 1"
    last = ["fsync", "close"]
    expected = [
        [
            "write bandwidth write: untimed, verified, direct, sync",
            names,
            "create",
            "write 4096 of=12288 order=seq",
            *last,
        ],
        [
            "read bandwidth read: verified, direct, sync, reads them",
            names,
            "open",
            "read 4096 of=12288 order=seq",
            "close",
        ],
        [
            "backward_read bandwidth read: verified, direct, sync, reads them",
            names,
            "open",
            "read 4096 of=12288 order=reverse",
            "close",
        ],
        [
            "record_rewrite bandwidth write: verified, direct, sync",
            names,
            "open",
            "write 4096 of=4096 times=3 order=off0",
            *last,
        ],
        [
            "stride_read bandwidth read: verified, direct, sync, reads them",
            names,
            "open",
            "read 4096 at=0 of=12288 times=2 order={'stride': {'hole': 4096}}",
            "read 4096 at=4096 of=8192 times=1 order={'stride': {'hole': 4096}}",
            "close",
        ],
    ]
    assert plans("iozone -i 1 -i 3 -i 4 -i 5 -j 2 -+n -+d -I -o -s 12k -r 4k", 1, 2) == expected
    (write, rewrite) = plans("iozone -i 0 -s 8k -r 8k", 0, 1)
    assert (write[2], rewrite[2], write[3:], rewrite[3:]) == (
        "create",
        "open",
        ["write 8192 of=8192 order=seq", *last],
        ["write 8192 of=8192 order=seq", *last],
    )


@pytest.mark.parametrize(
    ("command", "needs"),
    [
        # Bytes at once, moved and written, files at once and touched, of 3 ranks.
        ("ior -w -t 4k -b 8k -s 2", (49152, 49152, 49152, 3, 6)),
        ("ior -w -r -F -t 4k -b 8k -s 2", (49152, 98304, 49152, 5, 9)),
        ("ior -w -r -W -F -u -t 4k -b 8k", (24576, 73728, 24576, 8, 12)),
        ("mdtest -n 10 -w 100 -e 50 -u", (3000, 4500, 3000, 37, 210)),
        ("mdtest -n 10 -w 100 -e 50 -C -T -F", (3000, 3000, 3000, 35, 120)),
        ("mdtest -n 10 -C", (0, 0, 0, 65, 210)),
        ("mdtest -D -n 15 -b 2 -z 2 -w 100", (0, 0, 0, 53, 126)),
        ("iozone -i 0 -i 1 -s 64k -r 4k", (196608, 786432, 393216, 5, 18)),
        ("iozone -i 1 -i 2 -+n -s 64k -r 4k", (196608, 786432, 393216, 5, 15)),
    ],
)
def test_what_a_trial_needs_is_counted(command, needs):
    translation = translate(command)
    producer = workloads.find_producer(translation.workload)
    functions = (
        producer.bytes_needed,
        producer.bytes_moved,
        producer.bytes_written,
        producer.files_needed,
        producer.files_touched,
    )
    assert tuple(function(translation.settings, 3) for function in functions) == needs


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("ior", {}),
        ("ior -w", {"read": False}),
        ("ior -W", {"write": False, "read": False, "check_write": True}),
        ("ior -R", {"write": False, "verify": True}),
        ("ior -C", {"shift": 1}),
        ("ior -Q 3", {}),
        ("ior -Z -Q 3 -X 7", {"shift": 3, "random_reader": True, "seed": 7}),
        ("ior -z -X 7 --random-offset-seed 8", {"random_order": True, "seed": 8}),
        ("ior -z -Z -F", {"random_order": True, "random_reader": True, "shift": 1, "file_per_process": True}),
        ("ior -B -u", {"direct": True}),
        ("ior --posix.odirect -u -F", {"direct": True, "unique_directories": True, "file_per_process": True}),
        ("ior -e -Y -t 1m -b 2m -s 4", {"fsync": True, "fsync_per_write": True, "transfer_size": 2**20}
         | {"block_size": 2**21, "segments": 4}),
        ("mdtest -n 5", {"items": 5}),
        ("mdtest -I 3 -b 2 -z 1", {"items": 9, "branches": 2, "depth": 1}),
        ("mdtest -I 3 -b 2 -z 1 -L", {"items": 6, "branches": 2, "depth": 1, "leaf_only": True}),
        ("mdtest -n 5 -F -C -E", {"items": 5, "directories": False, "phases": ["create", "read"]}),
        ("mdtest -n 5 -D -T -r", {"items": 5, "files": False, "phases": ["stat", "remove"]}),
        ("mdtest -n 5 -F -D", {"items": 5}),
        ("mdtest -n 5 -u -w 9 -e 8 -y -N 2 -R --verify-read", {"items": 5, "unique_directories": True}
         | {"write_bytes": 9, "read_bytes": 8, "fsync": True, "stride": 2, "random_stat": True, "verify": True}),
        ("iozone", {}),
        ("iozone -+n", {"tests": ["write", "read"]}),
        ("iozone -i 2 -i 0 -j 5", {"tests": ["write", "rewrite", "random_read", "random_write"], "stride": 5}),
        ("iozone -s 2m -r 8 -c -o -I -+d", {"file_size": 2**21, "record_size": 8192, "inside": ["close"]}
         | {"synchronous": True, "direct": True, "verify": True}),
    ],
)  # fmt: skip
def test_options_change_the_settings_that_they_name_and_no_others(command, changed):
    translation = translate(command)
    defaults = workloads.find_producer(translation.workload).Settings().to_json()
    assert translation.settings.to_json() == defaults | changed
    assert set(changed) <= set(defaults)


@pytest.mark.parametrize(
    ("command", "about_the_run"),
    [
        ("ior -o /x/y/f -i 2", (2, "/x/y", None, [])),
        ("ior -r -z", (None, None, None, ["untimed-write", "own-random-order"])),
        ("ior -Z", (None, None, None, ["own-random-order"])),
        ("mdtest -n 1 -d /x", (None, "/x", None, ["untimed-tree"])),
        ("mdtest -n 1 -T -i 4", (4, None, None, ["untimed-tree", "untimed-creation"])),
        ("iozone -f /x/f -T", (None, "/x", 1, ["threads-as-processes"])),
        ("iozone -t 3 -i 1 -i 2 -F /x/a /x/b", (None, "/x", 3, ["untimed-write", "own-random-order"])),
    ],
)
def test_a_command_says_of_the_run_where_how_often_and_what_is_otherwise(command, about_the_run):
    translation = translate(command)
    said = (translation.repetitions, translation.target, translation.ranks, codes(translation.notes))
    assert said == about_the_run


@pytest.mark.parametrize(
    ("command", "code", "values"),
    [
        ("ior -s 0", "out-of-range", {}),
        ("ior -t 0", "out-of-range", {}),
        ("ior -t 2k -b 1k", "out-of-range", {}),
        ("ior -t 3k -b 16k", "not-a-multiple", {"block_size": 16384, "transfer_size": 3072}),
        ("ior -z -t 1 -b 64k -s 2", "too-many-steps", {"steps": 131072, "limit": 65536}),
        ("ior -Y -t 1 -b 64k -s 2", "too-many-steps", {"steps": 131072}),
        ("ior -t 1k -b 2k -s 65537", "too-many-steps", {"steps": 65537}),
        ("ior -C -Z", "unsupported-option", {"options": "-C -Z"}),
        ("ior -Z -Z -F", "unsupported-option", {"options": "-Z -Z"}),
        ("ior -Z -z", "unsupported-option", {"options": "-Z -z"}),
        ("ior -O verbose=1,stoneWallingWearOut=1", "unsupported-option", {"options": "-O stoneWallingWearOut"}),
        ("ior -i x", "not-an-integer", {"tool": "ior", "option": "-i", "setting": "x"}),
        ("ior -b 1x", "invalid-size", {"tool": "ior", "option": "-b", "setting": "1x"}),
        ("ior -w -", "unexpected-argument", {"argument": "-"}),
        ("mdtest -n 2 -b 2 -z 1", "too-few-items", {"items": 2, "directories": 3}),
        ("mdtest -n 1000001 -z 1", "too-many-items", {"limit": 1000000}),
        ("mdtest -n 5 -w 9 -e 10", "read-exceeds-write", {"read_bytes": 10, "write_bytes": 9}),
        ("mdtest -n 5 -I 5", "unsupported-option", {"options": "-n -I"}),
        ("mdtest -n 5 -d /a@/b", "unsupported-option", {"options": "-d"}),
        ("mdtest -n 5 -a MPIIO -k", "unsupported-option", {"options": "-k, -a"}),
        ("iozone -s 4 -r 8", "not-a-multiple", {"file_size": 4096, "record_size": 8192}),
        ("iozone -i 2 -s 65537 -r 1", "too-many-steps", {"limit": 65536}),
        ("iozone -j 0", "out-of-range", {}),
        ("iozone -t 2 -F /a/x /b/x", "too-many-directories", {}),
        ("iozone -i 7 -i x", "unsupported-option", {"options": "-i -1, -i 7"}),
    ],
)  # fmt: skip
def test_a_refusal_has_its_code_and_values(command, code, values):
    with raises(code, InputError, **values):
        translate(command)


@pytest.mark.parametrize(
    "command",
    [
        "ior -t 4k -b 4k",
        "ior -z -t 1 -b 64k",
        "ior -t 1k -b 1k -s 65537",
        "ior -t 1k -b 2k -s 65537 -F",
        "ior -t 1k -b 2k -s 65536",
        "mdtest -n 3 -b 2 -z 1",
        "mdtest -n 1000001",
        "mdtest -n 5 -w 9 -e 9",
        "iozone -s 4 -r 4",
        "iozone -i 2 -s 65536 -r 1",
        "iozone -s 65537 -r 1",
        "iozone -j 1",
    ],
)
def test_what_is_just_within_the_limits_is_taken(command):
    assert translate(command).settings


def test_cold_reads_of_a_tree_are_refused():
    settings = workloads.find_producer("mdtest").Settings
    with raises("conflicting-options", InputError):
        settings(branches=2, depth=1, cache="cold")
    assert settings(cache="cold").cache == "cold"
