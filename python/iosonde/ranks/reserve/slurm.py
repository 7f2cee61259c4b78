"""Nodes from Slurm: an allocation held during a block (salloc), or a job that runs the whole command (sbatch).

`salloc` runs a shell that waits until a pipe from this process closes, and releases the nodes when it ends. If this
process is killed the kernel closes the pipe, and ends a salloc that still waits in the queue.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from iosonde.core import nodelist
from iosonde.core.errors import InputError, LaunchError
from iosonde.core.message import Message
from iosonde.core.parent_death import signal_on_parent_death
from iosonde.core.program_output import run_program
from iosonde.ranks.machine import reading

TICK_S = 0.05
LOOK_S = 2.0  # interval of queries for the reason of the wait
RELEASE_S = 15.0
SUBMIT_S = 60.0
_HOLD = "env -0; echo; exec cat"
_END_OF_ENVIRONMENT = b"\0\n"
_TALK_BYTES = 1 << 16
_OPTIONS_HINT = "check: sinfo; put Slurm's options after the word, as in {spell.reserve:'salloc --partition=long'}"
# Reasons of squeue(1) that waiting does not cure, or only an administrator can.
_HOPELESS = {
    "PartitionConfig": "the partition has too few nodes, or too short a time limit",
    "PartitionNodeLimit": "the partition has too few nodes, or limits the nodes per job",
    "PartitionTimeLimit": "the partition's time limit is shorter",
    "PartitionDown": "the partition is down",
    "PartitionInactive": "the partition is inactive",
    "BadConstraints": "no nodes meet the constraints",
    "AccountNotAllowed": "the partition does not allow this account",
    "InvalidAccount": "the account is not valid",
    "InvalidQOS": "the QOS is not valid",
    "QOSNotAllowed": "the partition does not allow this QOS",
}


@contextmanager
def hold_allocation(options: Sequence[str], nodes: int, on_wait: Callable[[str], None] | None) -> Iterator[None]:
    """Hold whole nodes during the block, with the environment of that Slurm job. Raises LaunchError."""
    salloc = _find_program("salloc")
    words = [salloc, f"--nodes={nodes}", "--exclusive", "--job-name=iosonde", *options, "sh", "-c", _HOLD]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        # Its own session: Ctrl-C must not reach it, as the nodes are released only after the clean-up on them.
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=signal_on_parent_death(signal.SIGTERM),
        )
        job: dict[str, str] = {}
        try:
            job = _wait_for_grant(process, out.fileno(), err.fileno(), nodes, on_wait)
            with _set_environment(job):
                yield
        finally:
            _release_nodes(process, granted=bool(job))


@contextmanager
def _set_environment(variables: dict[str, str]) -> Iterator[None]:
    """Set these variables during the block, also for child processes."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def submit_job(options: Sequence[str], nodes: int, command: Sequence[str]) -> str:
    """Submit the command to sbatch; return the job's id. Its output goes to slurm-ID.out here. Raises LaunchError."""
    words = [_find_program("sbatch"), "--parsable", f"--nodes={nodes}", "--exclusive", "--job-name=iosonde", *options]
    try:
        done = run_program([*words, f"--wrap=exec {shlex.join(command)}"], SUBMIT_S)
    except OSError as error:
        raise LaunchError(
            "launch-failed",
            "cannot run sbatch: {reason}",
            _OPTIONS_HINT,
            reason=error.strerror,
        ) from error
    except subprocess.TimeoutExpired:
        raise LaunchError(
            "no-response",
            "sbatch did not answer within {limit_s:.0f} s",
            "check whether Slurm is up: sinfo",
            limit_s=SUBMIT_S,
        ) from None
    job = done.stdout.strip().partition(";")[0]  # ID, or ID;CLUSTER
    if done.returncode or not job.isdigit():
        raise _build_refusal(nodes, done.stderr)
    if (reason := _read_reason(job)) in _HOPELESS:
        reading.run_tool(["scancel", job])
        raise _build_hopeless(nodes, reason)
    return job


def _wait_for_grant(
    process: subprocess.Popen[bytes], out: int, err: int, nodes: int, on_wait: Callable[[str], None] | None
) -> dict[str, str]:
    """Wait for the allocation and return its variables."""
    look_at = time.monotonic() + LOOK_S / 4
    while not (output := os.pread(out, 1 << 22, 0)).endswith(_END_OF_ENVIRONMENT):
        if process.poll() is not None:
            raise _build_refusal(nodes, _read_talk(err))
        if time.monotonic() > look_at:
            look_at = time.monotonic() + LOOK_S
            job = re.search(r"job allocation (\d+)", _read_talk(err))
            reason = _read_reason(job[1]) if job else ""
            if reason in _HOPELESS:
                raise _build_hopeless(nodes, reason)
            if on_wait and job:
                on_wait(
                    Message(
                        "waiting",
                        "waiting for {nodes} nodes of Slurm, job {job} ({reason})",
                        nodes=nodes,
                        job=job[1],
                        reason=reason or "starting",
                    )
                )
        time.sleep(TICK_S)
    pairs = (os.fsdecode(entry).partition("=") for entry in output.split(b"\0"))
    granted = {name: value for name, _, value in pairs if name.startswith("SLURM_")}
    count = len(nodelist.expand_node_list(granted.get("SLURM_JOB_NODELIST", "")))
    if count < nodes:
        raise InputError(
            "too-few-nodes",
            "Slurm gave {granted_nodes} nodes, but {nodes} are needed",
            "omit the number of nodes in {spell.reserve}: {spell.nodes} sets it",
            granted_nodes=count,
            nodes=nodes,
        )
    return granted


def _release_nodes(process: subprocess.Popen[bytes], granted: bool) -> None:
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    for patience_s, end in ((RELEASE_S if granted else 0, process.terminate), (RELEASE_S, process.kill)):
        try:
            process.wait(patience_s)
            return
        except subprocess.TimeoutExpired:
            end()
    process.wait()


def _build_refusal(nodes: int, talk: str) -> LaunchError:
    """Build the error with Slurm's last message, without the names of the program and the call."""
    lines = [line.strip() for line in talk.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line] or lines or ["no message"]
    why = errors[-1].rpartition("error: ")[2]
    return LaunchError(
        "allocation-refused",
        "Slurm refuses {nodes} nodes: {reason}",
        _OPTIONS_HINT,
        nodes=nodes,
        reason=why.removeprefix("Job submit/allocate failed: ").removeprefix("Batch job submission failed: "),
    )


def _build_hopeless(nodes: int, reason: str) -> LaunchError:
    return LaunchError(
        "allocation-refused",
        "Slurm refuses {nodes} nodes: {explanation} ({reason})",
        _OPTIONS_HINT,
        nodes=nodes,
        explanation=_HOPELESS[reason],
        reason=reason,
    )


def _read_reason(job: str) -> str:
    """Return Slurm's reason why a job waits; empty if it does not wait, or is unknown."""
    return (reading.run_tool(["squeue", "--noheader", "--jobs", job, "--format=%r"]) or "").strip().replace("None", "")


def _read_talk(err: int) -> str:
    return os.pread(err, _TALK_BYTES, 0).decode(errors="replace")


def _find_program(name: str) -> str:
    path = shutil.which(name)
    if not path:
        raise LaunchError(
            "tool-missing",
            "cannot request nodes from Slurm: {tool} is not on PATH",
            "log in where its clients are installed, or use your own reserve script",
            tool=name,
        )
    return path
