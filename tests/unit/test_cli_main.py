"""What ends a command besides its own errors: a reader that goes away, a full disk, names that steer terminals."""

import errno
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest
import store_samples
from click.testing import CliRunner

from here import iosonde
from iosonde.cli.group import cli
from iosonde.store import Store
from terminal import command_of

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
    assert re.fullmatch(rf"iosonde: \w+: {os.strerror(errno.ENOSPC)}\nhint: .+\n", done.stderr)


def test_closed_output_is_no_output():
    done = shell('"$@" >&-', "explain", "S104")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["run", "plan", "summary", "report"])
def test_names_in_errors_do_not_reach_the_terminal_raw(tmp_path, command):
    name = str(tmp_path / "a\x1b[31mb")
    done = iosonde(command, *(["--target", name] if command in ("run", "plan") else [name]), where=tmp_path)
    assert done.returncode == 2
    assert "a\\x1b[31mb" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.long
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
    assert "a\\x1b[31mb " in " ".join(done.stdout.split())
    assert "\x1b[31m" not in done.stdout


# Imports of ours that go as the test says: at the import of WHAT, do AT.
_HOOK = """
import os, signal, sys
class Hook:
    def find_spec(self, name, *_):
        if name == {what!r}:
            {at}
sys.meta_path.insert(0, Hook())
sys.argv = ["iosonde", "summary", {data!r}, "--response", "y"]
{before}
from iosonde.cli.main import main
main()
"""
_KILL = "os.kill(os.getpid(), signal.SIGINT)"
_AGAIN = f"""
class Again:
    def write(self, text, out=sys.stderr):
        {_KILL}
        out.write(text)
    def flush(self): pass
sys.stderr = Again()
"""


def hooked(what, at, data="x.csv", before=""):
    code = _HOOK.format(what=what, at=at, data=str(data), before=before)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)


_COMMAND = "iosonde.commands.summary.options"


@pytest.mark.parametrize("what", ["click", "iosonde.core.errors", "iosonde.cli.group", _COMMAND])
@pytest.mark.parametrize("before", ["", _AGAIN])
@pytest.mark.parametrize("kill", [_KILL, _KILL.replace("SIGINT", "SIGTERM")])
def test_an_interrupt_during_the_imports_and_a_second_one_leave_no_traceback(what, kill, before):
    done = hooked(what, kill, before=before)
    by_signal = (-signal.SIGTERM if "SIGTERM" in kill else -signal.SIGINT, "")  # until the command is loaded
    assert (done.returncode, done.stderr.strip()) in ((130, "interrupted"), by_signal)
    assert done.returncode == 130 or what != _COMMAND


_LATE = """
import atexit
class Late:
    def __del__(self, kill=os.kill, pid=os.getpid(), numbers=(signal.SIGINT, signal.SIGTERM)):
        for number in numbers:
            kill(pid, number)
{when}
"""


@pytest.mark.parametrize("when", ["atexit.register(Late().__del__)", "sys.late = Late()"])
def test_an_interrupt_after_all_is_done_changes_nothing(tmp_path, when):
    """Python gives the signal its default action while it ends, which takes a while when libraries were loaded."""
    (tmp_path / "x.csv").write_text("y\n1.5\n2\n3\n")
    done = hooked("nothing", "pass", tmp_path / "x.csv", before=_LATE.format(when=when))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_a_library_that_cannot_be_loaded_is_one_sentence(tmp_path):
    (tmp_path / "x.csv").write_text("y\n1.5\n2\n")
    failing = "raise ImportError('libx.so: \\x1b\\nmore')"
    done = hooked("iosonde.stats.overview", failing, tmp_path / "x.csv")
    assert done.returncode == 3
    assert re.fullmatch(r"iosonde: .+: libx\.so: \\x1b\nhint: .+ulimit -v.+\n", done.stderr)


def test_memory_that_does_not_suffice_is_one_sentence(tmp_path):
    (tmp_path / "x.csv").write_text("y\n1.5\n2\n")
    done = hooked("iosonde.stats.overview", "raise MemoryError", tmp_path / "x.csv")
    assert done.returncode == 3 and re.fullmatch(r"iosonde: .+ memory\nhint: .+ulimit -v.+\n", done.stderr)


def test_a_working_directory_that_was_removed_is_named(tmp_path):
    done = shell(
        f'mkdir {tmp_path}/d {tmp_path}/t; cd {tmp_path}/d; rmdir {tmp_path}/d; "$@"',
        "run",
        "true",
        "--target",
        "../t",
        "--store",
        "s",
    )
    assert done.returncode == 3
    assert re.fullmatch(r"iosonde: .+ directory .+\nhint: .+\n", done.stderr)


@pytest.mark.parametrize("level", ["1e-320", "1e-9", "0.9999999", "nan"])
@pytest.mark.parametrize("command", ["rank", "summary"])
def test_an_absurd_level_is_refused_with_usual_ones(tmp_path, command, level):
    (tmp_path / "x.csv").write_text("a,y\n1,1.5\n2,2\n1,3\n2,5\n")
    done = iosonde(command, "x.csv", "--response", "y", "--level", level, where=tmp_path)
    assert done.returncode == 2
    assert re.fullmatch(r"iosonde: .+\nhint: .*\b0\.95\b.*\n", done.stderr)


def test_a_control_character_in_yaml_has_its_line_and_a_hint(tmp_path):
    (tmp_path / "c.yaml").write_text("name: x\ntoday: {a\x01}\n")
    done = iosonde("upgrade", "c.yaml", where=tmp_path)
    assert done.returncode == 2 and re.match(r"iosonde: .*c\.yaml:2: .+\nhint: .+ character", done.stderr)


def test_numbers_at_the_edge_leave_no_warning_of_a_library(tmp_path):
    (tmp_path / "x.csv").write_text("x,z,y\n" + "1e308,-1e308,1\n-1e308,1e308,2\n" * 4)
    done = shell('"$@"', "plot", str(tmp_path / "x.csv"), "--on", "x", "-o", str(tmp_path / "p.png"))
    assert "Warning" not in done.stderr


def test_on_without_a_factor_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text("x,y\n1,2.5\n2,3\n")
    done = iosonde("plot", "x.csv", "--on", " ", "-o", "p.png", where=tmp_path)
    assert done.returncode == 2 and re.fullmatch(r"iosonde: --on .+\nhint: .+\n", done.stderr)


@pytest.mark.parametrize("command", ["summary", "check", "rank", "fit", "anova", "show", "plot", "report", "verify"])
def test_an_experiment_that_is_not_there_is_named_with_those_that_are(tmp_path, command):
    store = Store.create(tmp_path / "store")
    store.append(store_samples.run())
    response = ("--response", "write") if command in ("rank", "fit", "anova") else ()
    done = iosonde(command, store.path, *response, "--experiment", "nope", where=tmp_path)
    assert done.returncode == 2
    there = store.runs()[0]["experiment"]
    assert re.fullmatch(rf"iosonde: .+ nope .+ {store.path}\nhint: .+: {there}\n", done.stderr)


def test_a_terminated_import_leaves_nothing_half_written(tmp_path):
    """As an interrupted one: what it had begun is removed, and it says so."""
    text = tmp_path / "out.txt"
    text.write_text(
        "1.23user 0.40system 0:02.10elapsed 77%CPU (0avgtext+0avgdata 5000maxresident)k\n"
        "0inputs+8outputs (0major+300minor)pagefaults 0swaps\n"
    )
    code = (
        "import os, signal, sys\n"
        "from iosonde.store import files\n"
        "files.Disk.write = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\n"
        f"sys.argv = ['iosonde', 'import', {str(text)!r}, '--store', {str(tmp_path / 'store')!r}]\n"
        "from iosonde.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "interrupted")
    assert not list(tmp_path.rglob(".*"))


def test_a_command_has_the_name_that_the_manual_has_and_no_other():
    command = command_of("lab")

    assert "exec" in command.commands and all(name.isalpha() for name in command.commands)


INTERRUPTED = """
import os, signal, sys
moment = sys.argv[1]

class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == moment:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv[0] = "/usr/bin/iosonde"
from iosonde.cli.main import main  # as the installed script
sys.argv[1:] = ["explain", "S104"]
main()
"""


@pytest.mark.parametrize(
    "moment", ["iosonde.core", "iosonde.core.version", "iosonde.cli", "iosonde.cli.main", "iosonde.cli.group", "click"]
)
def test_an_interrupt_while_it_loads_has_no_traceback(moment):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, moment], capture_output=True, text=True, check=False)
    assert done.returncode in (-signal.SIGINT, 130)
    assert done.stderr in ("", "interrupted\n")


WRAPPED = """
import sys
class Interrupted:
    def find_spec(self, name, path, target=None):
        if name == "iosonde.commands.explain.options":
            raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

sys.meta_path.insert(0, Interrupted())
from iosonde.cli.main import main
sys.argv[1:] = ["explain", "S104"]
main()
"""


def test_an_interrupt_that_python_wraps_is_still_an_interrupt():
    """Python 3.11 raises RuntimeError from one that comes while a class is made."""
    done = subprocess.run([sys.executable, "-c", WRAPPED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_importing_the_package_changes_no_signal():
    code = "import signal, iosonde; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"


@pytest.mark.parametrize("delay_s", [0.02, 0.06, 0.12, 0.2])
def test_an_interrupt_at_any_moment_shows_nothing_of_ours(delay_s):
    process = subprocess.Popen(
        [*IOSONDE, "explain", "S104"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    time.sleep(delay_s)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert "iosonde" not in complaint


@pytest.mark.parametrize("group", ["store", "survey", "lab"])
def test_the_commands_of_a_group_are_listed_with_whole_sentences(group):
    done = CliRunner().invoke(cli, [group, "-h"], terminal_width=79)
    assert done.exit_code == 0 and "..." not in done.stdout.partition("Commands:")[2]
    assert max(map(len, done.stdout.splitlines())) < 80
