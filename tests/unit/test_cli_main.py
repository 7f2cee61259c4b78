"""What ends a command besides its own errors: a reader that goes away, a full disk, names that steer terminals."""

import shlex
import subprocess
import sys

import pytest
import store_samples

from iosonde.store import Store

IOSONDE = [sys.executable, "-m", "iosonde.cli.main"]


def shell(script, *words):
    """``"$@"`` is iosonde with the words; the exit code is its own."""
    return subprocess.run(
        ["bash", "-c", script, "bash", *IOSONDE, *words], capture_output=True, text=True, timeout=60, check=False
    )


def test_a_reader_that_goes_away_is_no_problem_found():
    done = shell('"$@" | true; exit ${PIPESTATUS[0]}', "explain", "S104")
    assert (done.returncode, done.stderr) == (0, "")


def test_output_that_cannot_be_written_is_a_fault_in_one_sentence():
    done = shell('"$@" >/dev/full', "explain", "S104")
    assert done.returncode == 3
    assert done.stderr.startswith("iosonde: output: No space left on device\nhint: ")


def test_closed_output_is_no_output():
    done = shell('"$@" >&-', "explain", "S104")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["run", "plan", "summary", "report"])
def test_names_in_errors_do_not_reach_the_terminal_raw(tmp_path, command):
    name = str(tmp_path / "a\x1b[31mb")
    done = shell('"$@"', command, *(["--target", name] if command in ("run", "plan") else [name]))
    assert done.returncode == 2
    assert "a\\x1b[31mb" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("command", ["show", "summary", "check", "report", "verify"])
def test_names_in_a_store_do_not_reach_the_terminal_raw(tmp_path, command):
    store = Store.create(tmp_path / "store")
    store.append(store_samples.run())
    (store.path / "runs" / "a\x1b[31mb").mkdir()
    # `script` makes a terminal: without one click takes such sequences out by itself.
    words = shlex.join([*IOSONDE, command, str(store.path), *(["-o", "page.html"] if command == "report" else [])])
    done = subprocess.run(
        ["script", "-qec", words, "/dev/null"], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert "a\\x1b[31mb is not a run" in " ".join(done.stdout.split())
    assert "\x1b[31m" not in done.stdout
