"""What commands write, from their text: bytes and files at once, and the work of a trial."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from iosonde.campaign.amounts.trials import CommandAmounts
from iosonde.campaign.forecast import TrialWork
from iosonde.core.types import Factor
from iosonde.measure.spec import ALL, EACH, MPI, SERVERS, SINGLE, CommandStep, Spec

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
UNKNOWN = None


def spec(*steps, nodes=(1,), per_node=(1,), set_up=(), targets=None, **levels):
    factors = [
        Factor("nodes", "", nodes),
        Factor("ranks_per_node", "", per_node),
        *(Factor(name, "", values) for name, values in levels.items()),
    ]
    steps = tuple(CommandStep(step) if isinstance(step, str) else step for step in steps)
    set_up = tuple(CommandStep(command) for command in set_up)
    return Spec({"": Path("/mnt/t")} if targets is None else targets, steps, tuple(factors), set_up=set_up)


def need(*steps, **more):
    """(bytes, files), None if a step is not counted."""
    space = CommandAmounts(spec(*steps, **more)).need
    return None if space.uncounted else (space.n_bytes, space.n_files)


def job(command, on=MPI):
    return CommandStep(command, on)


@pytest.mark.parametrize(
    ("options", "space"),
    [
        ("-b 1g -s 4", (512 * GIB, 1)),
        ("-b 1g -s 4 -F", (512 * GIB, 128)),
        ("-w -F -b1m -t=1m", (128 * MIB, 128)),
        ("-wF -u -b 1m", (128 * MIB, 256)),
        ("-w", (128 * MIB, 1)),  # the default block
        ("-r -b 1g", (0, 0)),
        ("-w -N 8 -b 1g", (8 * GIB, 1)),
        ("-w -b 1m -m -i 3", (384 * MIB, 3)),
        ("-w -b 1g -a MPIIO -c -e -z -C -Q 1 -g -O summaryFormat=JSON", (128 * GIB, 1)),
        ("-w -b 1g --posix.odirect", (128 * GIB, 1)),
        ("-b 9920000m -D 300", UNKNOWN),
        ("-b 1g -a DFS", UNKNOWN),
        ("-f script", UNKNOWN),
        ("-O stoneWallingWearOut=1", UNKNOWN),
        ("-w -b 1g --new-option", UNKNOWN),
        ("-w -b $SIZE", UNKNOWN),
        ("-w -b all", UNKNOWN),
    ],
)
def test_ior_writes_blocks_times_segments_times_ranks(options, space):
    command = f"ior {options} -o ${{TARGET}}/f"
    assert need(job(command), nodes=(8,), per_node=(16,)) == space
    piped = job(f"/opt/ior/bin/{command} | tee log")
    assert need(piped, nodes=(1, 8), per_node=(2, 16)) == space


@pytest.mark.parametrize(
    ("options", "space"),
    [
        ("-n 1000 -w 4k", (4000 * 4 * KIB, 4001)),
        ("-n 1000 -w 4k -F", (4000 * 4 * KIB, 4001)),
        ("-n 1000 -D -w 4k", (0, 4001)),
        ("-n 10 -w 4k -C", (40 * 4 * KIB, 81)),  # files beside directories
        ("-n 10 -F -T", (0, 0)),
        ("-I 10 -b 3 -z 2 -F -u", (0, 4 * 130 + 4 * 13)),
        ("-n 10 -S -F -w 1", (10, 11)),
        ("-n 10 -W 300", UNKNOWN),
        ("-n 10 -l 8", UNKNOWN),
        ("-n 10 --run-cmd-before-phase=x", UNKNOWN),
    ],
)
def test_mdtest_makes_items_times_ranks(options, space):
    assert need(job(f"mdtest {options} -d ${{TARGET}}/d"), nodes=(2,), per_node=(2,)) == space


@pytest.mark.parametrize(
    ("options", "space"),
    [
        ("--rw=write --size=1g --numjobs=4", (4 * GIB, 4)),
        ("--readwrite=randrw --size 64k --nrfiles=2 --bs=4k --direct=1 --group_reporting", (64 * KIB, 2)),
        ("--rw=write --filesize=1m --nrfiles=3", (3 * MIB, 3)),
        ("--rw=write --size=1g --numjobs=4 --filename=a:b", (GIB, 2)),
        ("--rw=read --size=1g", (GIB, 1)),  # laid out first
        ("--rw=write --size=1g --name=b --rw=read --size=2g", (3 * GIB, 2)),
        ("--rw=write --size=1g --filename=x --name=b --rw=read --size=1g --filename=x", (GIB, 1)),
        ("--rw=write --size=1g --time_based --runtime=30", (GIB, 1)),
        ("--rw=write --size=50%", UNKNOWN),
        ("--rw=write", UNKNOWN),
        ("--rw=trim --size=1g", UNKNOWN),
        ("--rw=write --size=1g --ioengine=rados", UNKNOWN),
        ("--rw=write --size=1g --fill_device=1", UNKNOWN),
        ("--rw=write --size=1g --offset_increment=1g", UNKNOWN),
        ("--rw=write --size=1g --client=host", UNKNOWN),
        ("--rw=write --size=1g --unheard-of=1", UNKNOWN),
        ("--rw=write --size=1g jobs.fio", UNKNOWN),
    ],
)
def test_fio_writes_the_sizes_of_its_jobs(options, space):
    assert need(f"fio --directory=${{TARGET}} --output-format=json --name=a {options}") == space


JOBS = """; a comment
[global]
size=1g   # of each
rw=write
stonewall

[a]
numjobs=4
[b]
size=2g
rw=randread
"""


def count_job_file(directory, text=JOBS, options="", **more):
    """The space of ``fio`` with a job file beside which it is started."""
    (directory / "job.fio").write_text(text)
    return need(f"fio --directory=${{TARGET}} {options} job.fio", **more)


@pytest.mark.parametrize(
    ("text", "options", "space"),
    [
        (JOBS, "--output-format=json", (6 * GIB, 5)),
        ("[a]\nrw=write\n", "--size=1m", (MIB, 1)),
        ("[a]\nrw=write\nsize=2m\n", "--size=1m", (2 * MIB, 1)),
        ("[global]\nrw=write\nsize=1m\n[a]\n[global]\nsize=2m\n[b]\n", "", (3 * MIB, 2)),
        ("[a]\nrw=write\nsize=1m\nunheard_of=1\n", "", UNKNOWN),
        ("[a]\nrw=write\nsize=${SIZE}\n", "", UNKNOWN),
        ("rw=write\n[a]\nsize=1m\n", "", UNKNOWN),
        ("[a]\nrw=write\nsize=1m\ninclude other.fio\n", "", UNKNOWN),
        (JOBS, "--name=c --size=1m", UNKNOWN),
        (JOBS, "other.fio", UNKNOWN),
    ],
)
def test_a_job_file_that_can_be_read_has_its_amounts(tmp_path, monkeypatch, text, options, space):
    monkeypatch.chdir(tmp_path)
    assert count_job_file(tmp_path, text, options) == space


def test_a_job_file_that_may_be_another_one_then_is_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert count_job_file(tmp_path, set_up=["printf '[a]\nsize=1m' >job.fio"]) is UNKNOWN
    assert count_job_file(tmp_path, targets={"": tmp_path}) is UNKNOWN
    (tmp_path / "job.fio").write_bytes(b"\xff")
    assert need("fio job.fio") is UNKNOWN and need("fio gone.fio") is UNKNOWN


@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
def test_fio_itself_writes_as_much_for_a_job_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place, text = tmp_path / "out", JOBS.replace("1g", "32k").replace("2g", "64k")
    place.mkdir()
    _, n_files = count_job_file(tmp_path, text)
    n_bytes, _ = count_job_file(tmp_path, text)
    subprocess.run(["fio", f"--directory={place}", "job.fio"], check=True, capture_output=True, timeout=60)
    files = [path for path in place.iterdir() if path.is_file()]
    assert (sum(path.stat().st_size for path in files), len(files)) == (n_bytes, n_files)


def test_a_device_has_no_files():
    assert need("fio --name=a --rw=write --size=1g --filename=/dev/sdx", targets={}) is UNKNOWN


def test_fio_reads_what_a_step_before_has_written():
    write = "fio --name=a --directory=${TARGET} --size=1g --rw=write"
    assert need(write, write.replace("write", "randread")) == (GIB, 1)
    assert need(write.replace("${TARGET}", "/mnt/t/old").replace("write", "read")) == (0, 0)


@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
@pytest.mark.parametrize(
    "options",
    [
        "--rw=write --size=64k --numjobs=3",
        "--rw=randrw --size=96k --nrfiles=3 --bs=4k",
        "--rw=randread --size=64k",
        "--rw=write --size=64k --filename=x:y --numjobs=2",
        "--rw=write --filesize=16k --nrfiles=2",
        "--rw=write --size=32k --name=b --size=64k --name=c --rw=read --size=8k",
        "--rw=write --size=64k --io_size=256k",
    ],
)
def test_fio_itself_writes_as_much(tmp_path, options):
    command = f"fio --directory={tmp_path} --name=a {options}"
    subprocess.run(command.split(), check=True, capture_output=True, timeout=60)
    files = [path for path in tmp_path.iterdir() if path.is_file()]
    step = command.replace(str(tmp_path), "${TARGET}")
    assert need(step) == (sum(path.stat().st_size for path in files), len(files))


@pytest.mark.parametrize(
    ("words", "space"),
    [
        ("-w -s 1g ${TARGET}/f", (GIB, 1)),
        ("-w -t 4 -s 1g ${TARGET}/f", (GIB, 1)),  # shared by the threads
        ("-wrF -s 1g -b 1m ${TARGET}/f ${TARGET}/g", (2 * GIB, 2)),
        ("-w -d -t 4 -n 2 -N 10 -s 4k ${TARGET}", (80 * 4 * KIB, 88)),
        ("-w -d -t 4 -n 2 -N 10 -s 4k --hosts a,b ${TARGET}", (160 * 4 * KIB, 176)),
        ("-w -t 2 -s 1m ${TARGET}", (2 * MIB, 4)),
        ("-w -t 2 -s 1m ${TARGET}/made", (2 * MIB, 4)),
        ("-r -s 1g ${TARGET}/f", (0, 0)),
        ("-w -t 2 -s 1m /mnt/t/unclear", UNKNOWN),
        ("-w -s 1g --infloop --timelimit 9 ${TARGET}/f", UNKNOWN),
        ("-w -s 1g --hostsfile h ${TARGET}/f", UNKNOWN),
        ("-w -s 1g --s3endpoints x b", UNKNOWN),
        ("-w ${TARGET}/f", UNKNOWN),
        ("-w -s 1g ${TARGET}/f[1-9]", UNKNOWN),
    ],
)
def test_elbencho_writes_files_of_threads_or_shared_ones(words, space):
    assert need(f"elbencho {words}", set_up=["mkdir -p ${TARGET}/made"]) == space


@pytest.mark.parametrize(
    ("words", "space"),
    [
        ("-t 4 -s 1g -r 64k", (4 * GIB, 4)),
        ("-s 1024 -r 4", (MIB, 1)),  # KiB
        ("-i 1 -s 1g", (0, 0)),
        ("-a", (512 * MIB, 1)),
        ("-a -g 1g", (GIB, 1)),
        ("-l 1 -u 4 -s 1g", UNKNOWN),
    ],
)
def test_iozone_writes_a_file_for_each_process(words, space):
    assert need(f"iozone {words} -f ${{TARGET}}/f") == space


@pytest.mark.parametrize(
    ("words", "space"),
    [
        ("if=/dev/zero of=${TARGET}/f bs=1M count=64 conv=fsync status=none", (64 * MIB, 1)),
        ("if=/dev/zero of=${TARGET}/f count=2", (KIB, 1)),
        ("if=${TARGET}/f of=/dev/null bs=1M", (0, 0)),
        ("if=/dev/zero of=${TARGET}/f bs=1M", UNKNOWN),
        ("if=/dev/zero bs=1M count=1", UNKNOWN),
        ("if=/dev/zero of=${TARGET}/f bs=1M count=1M iflag=count_bytes", UNKNOWN),
    ],
)
def test_dd_writes_blocks(words, space):
    assert need(f"dd {words}") == space


@pytest.mark.parametrize(
    ("step", "n_bytes"),
    [
        (job("ior -w -b 1m -o ${TARGET}/f"), 6 * MIB),
        (job("ior -w -b 1m -o ${TARGET}/f", SINGLE), MIB),
        (job("ior -w -b 1m -o ${TARGET}/f", ALL), MIB),  # all write the same file
        (job("ior -w -b 1m -o ${TARGET}/f${RANK}", ALL), 6 * MIB),
        (job("ior -w -b 1m -o ${TARGET}/f${LOCAL_RANK}", EACH), 3 * MIB),
        (job("ior -w -b 1m -o ${TARGET}/f${NODE_INDEX}", ALL), 2 * MIB),
        (job("fio --name=a --directory=${TARGET} --rw=write --size=1m --randseed=${RANK}", ALL), MIB),
        (job("mpirun -np 4 --hostfile h ior -w -b 1m -o ${TARGET}/f", SINGLE), 4 * MIB),
        (job("timeout 9 srun -N 2 --ntasks-per-node=5 ior -w -b 1m -o ${TARGET}/f", SINGLE), 10 * MIB),
        (job("mpirun ior -w -b 1m -o ${TARGET}/f", SINGLE), UNKNOWN),
        (job("jsrun -n 4 ior -w -b 1m -o ${TARGET}/f", SINGLE), UNKNOWN),
        (job("ior -w -b 1m -o ${TARGET}/f", SERVERS), UNKNOWN),
    ],
)
def test_it_counts_the_processes_that_run(step, n_bytes):
    space = need(step, nodes=(2,), per_node=(3,))
    assert (space and space[0]) == n_bytes


@pytest.mark.parametrize(
    "command",
    [
        "./mine --size 1g",
        "for i in 1 2; do ior -b 1g; done",
        "ior -w -o ${TARGET}/f $(options)",
        "echo `ior -w`",
        "sh -c 'ior -w'",
        "singularity exec image ior -w -o ${TARGET}/f",
        "ior -w -o /elsewhere/f",
        "fio --name=a --rw=write --size=1g",  # in the working directory
    ],
)
def test_what_is_not_understood_is_not_counted(command):
    (step,) = CommandAmounts(spec("true", command)).need.uncounted
    assert (step.number, step.command) == (2, command) and step.reason


def test_without_a_target_a_command_writes_where_it_says():
    assert need("ior -w -b 1g -o /elsewhere/f", targets={}) == (GIB, 1)


def test_a_command_that_changes_its_directory_writes_there():
    assert need("cd ${TARGET} && fio --name=a --rw=read --size=1g") == (GIB, 1)
    assert need("cd /tmp && fio --name=a --rw=write --size=1g") is UNKNOWN


def test_the_largest_cell_counts_and_a_step_only_where_it_runs():
    command = "ior -w -b ${b} -o ${TARGET}/f"
    assert need(command, b=("1m", "1g", "4k")) == (GIB, 1)
    only = CommandStep(command, when={"b": "1m"})
    assert need(only, b=("1m", "1g")) == (MIB, 1)
    amounts = CommandAmounts(spec(only, b=("1m", "1g")))
    levels = {"nodes": 1, "ranks_per_node": 1}
    assert amounts.compute_work({**levels, "b": "1m"}) == TrialWork(MIB, 2, MIB)
    assert amounts.compute_work({**levels, "b": "1g"}) == TrialWork(0)


def test_files_that_a_tool_removes_make_room_for_the_next():
    first, second = (f"ior -w -b {size} -o ${{TARGET}}/{size}" for size in ("1g", "2g"))
    assert need(first, second) == (2 * GIB, 1)
    assert need(f"{first} -k", second) == (3 * GIB, 2)
    assert need(f"{first} -k", f"{first} -k") == (GIB, 1)
    set_up = ["ior -w -k -b 1g -o ${TARGET}/f", "lfs setstripe x"]
    assert need("ior -r -b 1g -o ${TARGET}/f", set_up=set_up) == (GIB, 1)


@pytest.mark.parametrize(
    ("command", "work"),
    [
        ("ior -w -r -b 1m -i 2 -o ${TARGET}/f", TrialWork(4 * MIB, 6, 2 * MIB)),
        ("fio --name=a --directory=${TARGET} --rw=randrw --rwmixread=75 --size=1m", TrialWork(MIB, 1, MIB / 4)),
        ("fio --name=a --directory=${TARGET} --rw=write --size=1m --runtime=9", None),
        ("fio --name=a --directory=${TARGET} --rw=write --size=1m --rate=1m", None),
        ("iozone -a -f ${TARGET}/f", None),
        ("true", None),  # how long it takes does not follow from bytes
        ("ior -w -o ${TARGET}/f; sleep 60", None),
    ],
)
def test_the_work_is_known_if_the_amount_decides_how_long_it_takes(command, work):
    assert CommandAmounts(spec(command)).compute_work({"nodes": 1, "ranks_per_node": 1}) == work
