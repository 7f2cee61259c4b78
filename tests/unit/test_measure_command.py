"""A user's command may do what it likes: it is timed, ended, told about, and nothing of it is left."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iosonde.measure.rank import command, output
from iosonde.ranks.processes import find_family


def run(tmp_path, text, begin=lambda: 0, **more):
    output = tmp_path / "output"
    asked = command.ShellCommand(text, {"GREETING": "hello"}, f"test:{tmp_path}", **more)
    result = command.run(asked, output, begin)
    return result, output.read_bytes() if output.exists() else None


def test_what_it_prints_is_kept_in_order_and_its_end_is_known(tmp_path):
    before = time.monotonic_ns()
    result, said = run(tmp_path, "echo $GREETING; echo oh >&2; read x; echo end; exit 7")
    assert said == b"hello\noh\nend\n"  # standard input is empty, nobody waits for it
    assert (result.exit_code, result.signal, result.left, result.ended_by, result.fault) == (7, None, 0, "", "")
    assert before <= result.started_ns < result.ended_ns <= time.monotonic_ns()
    assert abs(result.started_at - time.time()) < 60
    assert result.output_bytes == len(said)


def test_memory_and_cpu_are_those_of_the_command(tmp_path):
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # the most that any test before this one took
    size = ours + 200 * 2**20
    program = f"{sys.executable} -c 'x = bytearray({size}); sum(range(3_000_000))'"
    result, _ = run(tmp_path, program)
    assert size < result.max_rss_bytes < size + 400 * 2**20
    assert result.user_s > 0.01
    small, _ = run_again(tmp_path, "true")
    assert small.max_rss_bytes is None  # not to be told from our own


def run_again(tmp_path, text, **more):
    (tmp_path / "again").mkdir(exist_ok=True)
    return run(tmp_path / "again", text, **more)


def test_binary_output_comes_through(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(os.urandom(300_000) + bytes(range(256)))
    _, said = run(tmp_path, f"cat {source}")
    assert said == source.read_bytes()


def test_one_that_never_ends_is_ended_with_all_it_started(tmp_path):
    result, said = run(tmp_path, "echo begun; sleep 1000 & sleep 1000 | cat", timeout_s=0.3)
    assert (result.ended_by, result.exit_code, said) == ("timeout", None, b"begun\n")
    assert result.signal == signal.SIGTERM
    assert not find_family(f"test:{tmp_path}", command.STEP_VARIABLE)


def test_one_that_ignores_sigterm_is_killed(tmp_path):
    result, _ = run(tmp_path, "trap '' TERM; while :; do sleep 0.05; done", timeout_s=0.2, grace_s=0.2)
    assert (result.ended_by, result.signal) == ("timeout", signal.SIGKILL)


def test_one_that_kills_its_shell_is_told_by_its_signal(tmp_path):
    result, _ = run(tmp_path, "kill -9 $$")
    assert (result.exit_code, result.signal) == (None, signal.SIGKILL)


@pytest.mark.parametrize("how", ["sleep 1000 &", "setsid sleep 1000 & sleep 0.05;", "env -i sleep 1000 &"])
def test_a_daemon_neither_hangs_nor_leaks_and_is_counted(tmp_path, how):
    result, _ = run(tmp_path, f"{how} echo started")
    assert (result.exit_code, result.left) == (0, 1)
    assert not find_family(f"test:{tmp_path}", command.STEP_VARIABLE)


def test_what_shall_stay_stays(tmp_path):
    result, said = run(tmp_path, "sleep 1000 & echo $!", leftover_policy=command.OUTLIVES)
    pid = int(said)
    try:
        os.kill(pid, 0)
        assert result.left == 0
    finally:
        os.kill(pid, signal.SIGKILL)


def test_one_that_prints_without_end_is_ended_before_the_disk_is_full(tmp_path):
    result, said = run(tmp_path, "yes", output_bytes=2**20, timeout_s=60)
    assert result.ended_by == "output"
    assert len(said) == result.output_bytes > 2**20


def test_no_place_for_the_output_is_a_sentence_and_the_others_are_not_left_waiting(tmp_path):
    waited = []
    result = command.run(command.ShellCommand("true"), tmp_path / "none" / "output", lambda: waited.append(1) or 0)
    assert str(tmp_path / "none") in result.fault
    assert waited == [1]


def can_mount():
    probe = ["unshare", "--user", "--map-root-user", "--mount", "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="no user name spaces: no small file system")
def test_a_full_temporary_directory_is_said(tmp_path):
    script = (
        f'mount -t tmpfs -o size=128k none {tmp_path}; cd {tmp_path}; exec {sys.executable} -c "'
        "from pathlib import Path; from iosonde.measure.rank import command; "
        "x = command.ShellCommand('yes | head -c 1000000; echo over'); "
        f"print(command.run(x, Path('{tmp_path}/output')).fault)\""
    )
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(tmp_path) in done.stdout and len(done.stdout.splitlines()) == 1


def test_an_mpi_program_does_not_take_itself_for_a_rank(tmp_path, monkeypatch):
    for name in ("PMI_RANK", "PMI_FD", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"):
        monkeypatch.setenv(name, "1")
    for name in ("OMPI_MCA_btl", "UCX_TLS", "SLURM_JOB_ID"):
        monkeypatch.setenv(name, "mine")
    _, said = run(tmp_path, "env")
    names = {line.partition("=")[0] for line in said.decode().splitlines()}
    assert not names & {"PMI_RANK", "PMI_FD", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"}
    assert names >= {"OMPI_MCA_btl", "UCX_TLS", "SLURM_JOB_ID", "GREETING"}


def test_it_starts_at_the_agreed_moment_and_on_all_cores(tmp_path):
    mine = os.sched_getaffinity(0)
    moment = time.monotonic_ns() + 30_000_000
    try:
        os.sched_setaffinity(0, {min(mine)})
        result, said = run(tmp_path, "grep Cpus_allowed_list /proc/self/status; nproc", cpus=mine, begin=lambda: moment)
        assert os.sched_getaffinity(0) == {min(mine)}
    finally:
        os.sched_setaffinity(0, mine)
    assert result.started_ns >= moment
    assert int(said.split()[-1]) == len(mine)


def test_pipes_break_as_in_a_shell(tmp_path):
    """Python ignores SIGPIPE; a command that inherited that would print errors, or never end."""
    result, said = run(tmp_path, "yes | head -n 1", timeout_s=20)
    assert (result.exit_code, said) == (0, b"y\n")


def test_only_the_three_standard_files_are_open_in_it(tmp_path):
    with Path("/dev/null").open() as file:
        os.set_inheritable(file.fileno(), True)
        _, said = run(tmp_path, "ls /proc/$$/fd")
    assert said.split() == [b"0", b"1", b"2"]


def test_when_its_rank_is_killed_it_ends_too(tmp_path):
    """Also with kill -9, which leaves the rank no moment to do anything."""
    script = (
        "from pathlib import Path; from iosonde.measure.rank import command; "
        "watch = command.Guard.watch; "
        f"command.Guard.watch = lambda *of: (watch(*of), Path('{tmp_path}/guarded').touch()); "
        f"x = command.ShellCommand('echo $$ > {tmp_path}/pid; sleep 1000 & wait'); "
        f"command.run(x, Path('{tmp_path}/output'))"
    )
    rank = subprocess.Popen([sys.executable, "-c", script])
    pid_file = tmp_path / "pid"
    while not (pid_file.exists() and pid_file.read_text().strip() and (tmp_path / "guarded").exists()):
        time.sleep(0.005)
    shell = pid_file.read_text().strip()
    rank.kill()
    rank.wait()
    give_up = time.monotonic() + 60
    while _is_alive(shell) and time.monotonic() < give_up:
        time.sleep(0.01)
    assert not _is_alive(shell)


def _is_alive(pid):
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_the_guard_is_there_before_the_command_starts(tmp_path):
    """Its start is not inside the timed region, and a rank that is killed just then leaves no command."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before, seen = children.read_text().split(), []

    def begin():
        (guard,) = set(children.read_text().split()) - set(before)
        deadline = time.monotonic() + 60
        while not (words := Path(f"/proc/{guard}/cmdline").read_bytes()) and time.monotonic() < deadline:
            time.sleep(0.001)  # it is there, and the kernel has yet to show its words
        seen.append(words)
        return 0

    command.run(command.ShellCommand("true"), tmp_path / "output", begin)
    assert b"read -r group" in seen[0]


def test_no_guard_is_left_after_a_command(tmp_path):
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before = children.read_text()
    open_files = len(os.listdir("/proc/self/fd"))
    run(tmp_path, "true")
    assert children.read_text() == before
    assert len(os.listdir("/proc/self/fd")) == open_files


def test_of_much_output_beginning_and_end_are_kept_and_the_cut_is_counted(tmp_path):
    result, said = run(tmp_path, "seq 1 300000", retained_bytes=2**18)
    first, mark, last = said.partition(b"[iosonde: ")
    assert (result.exit_code, result.ended_by, result.fault) == (0, "", "")
    assert 2**17 - 2**16 < len(first) <= 2**17 and len(said) == result.output_bytes < 2**18 + 200
    whole = b"".join(b"%d\n" % number for number in range(1, 300_001))
    cut, rest = int(mark and last.split()[0]), last.partition(b"\n")[2]
    assert whole.startswith(first) and whole.endswith(rest) and first.endswith(b"\n")
    assert cut == result.cut_bytes == len(whole) - len(first) - len(rest)


def test_one_long_line_is_cut_as_well(tmp_path):
    result, said = run(tmp_path, "head -c 3000000 /dev/zero | tr '\\0' x", retained_bytes=2**18)
    assert said.count(b"x") + result.cut_bytes == 3_000_000
    assert len(said) < 2**18 + 200


def test_what_is_cut_takes_no_space_meanwhile(tmp_path):
    """``yes`` with a timeout filled the disk of a node, and the store."""
    text = f"head -c 30000000 /dev/zero | tr '\\0' x; sleep 0.7; echo; stat -c %b {tmp_path / 'output'}"
    result, said = run(tmp_path, text, retained_bytes=2**18)
    assert result.cut_bytes > 29_000_000
    assert int(said.split()[-1]) * 512 < 2**21


@pytest.mark.parametrize(
    ("given", "ranks", "kept"), [(None, 1, 2**26), (None, 16, 2**22), (None, 999, 2**20), (9, 4, 9)]
)
def test_how_much_a_rank_keeps(given, ranks, kept):
    assert output.limit_of(given, ranks) == kept
