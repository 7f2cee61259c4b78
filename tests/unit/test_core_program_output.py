"""Other programs are read within limits, everywhere by the same function."""

from __future__ import annotations

import errno
import re
import subprocess
import time
from pathlib import Path

import pytest

import house
from iosonde.core.program_output import run_program

# They start programs whose output they do not read, or read from a file of limited size.
NO_OUTPUT = {
    "python/iosonde/core/program_output.py",
    "python/iosonde/measure/load_program.py",
    "python/iosonde/commands/watch/announcing.py",  # writes only: what the command prints goes to stderr
}


def test_code_output_and_input() -> None:
    done = run_program(["sh", "-c", "cat; echo $X >&2; exit 3"], 10, stdin_text="hé\n", environment={"X": "oh"})
    assert (done.returncode, done.stdout, done.stderr) == (3, "hé\n", "oh\n")
    assert run_program(["cat"], 10).stdout == ""


@pytest.mark.parametrize("text", ["yes", "cat /dev/zero", "yes >&2", "yes & yes"])
def test_one_that_prints_without_end_is_ended(text: str) -> None:
    began = time.monotonic()
    with pytest.raises(OSError) as caught:
        run_program(["sh", "-c", text], 60, limit_bytes=2**20)
    assert caught.value.errno == errno.EFBIG and time.monotonic() - began < 20


def test_one_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with pytest.raises(subprocess.TimeoutExpired):
        run_program(["sh", "-c", f"(sleep 0.6; touch {mark}) & sleep 100"], 0.2)
    time.sleep(0.7)
    assert not mark.exists()


def test_one_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        run_program(["iosonde-no-such-program"], 1)


def test_no_other_module_reads_an_output_to_its_end() -> None:
    reading = re.compile(r"subprocess\.(?:run|check_output|getoutput)\(|\.communicate\(|capture_output")
    found = {path.relative_to(house.ROOT).as_posix() for path in house.all_files() if reading.search(path.read_text())}
    assert found - NO_OUTPUT == set()
