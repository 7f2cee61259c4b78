"""What the whole product promises, and no room can by itself."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from here import iosonde

# In the main process alone: what it starts are other programs. Of a path that is asked for, os has events but for
# those that look at it and change nothing.
WATCHED = """
import json, os, sys
target, report, *words = sys.argv[1:]
seen = []

def note(what, *paths):
    for path in paths:
        if isinstance(path, (str, bytes, os.PathLike)):
            path = os.fsdecode(path)
            if path == target or path.startswith(target + "/"):
                seen.append([what, path])

def wrapped(name):
    inner = getattr(os, name)
    def call(*given, **more):
        note(name, *given)
        return inner(*given, **more)
    return call

for name in ("stat", "lstat", "access", "readlink", "statvfs", "pathconf"):
    setattr(os, name, wrapped(name))

def heard(event, given):
    if event == "open" or event.startswith(("os.", "shutil.")):
        note(event, *given)

sys.addaudithook(heard)
os.stat(target), os.listdir(target), open(os.path.join(target, "precious")).close()
before, seen = list(seen), []
sys.argv = ["iosonde", *words]
from iosonde.cli import main
try:
    main.main()
finally:
    with open(report, "w") as file:
        json.dump([before, seen], file)
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--small-files", "3", "--large-size", "1MiB"), ("touch ${TARGET}/f",)])
def test_the_main_process_leaves_the_target_to_its_helper(tmp_path, words):
    """Not even a stat: on a file system that hangs nobody would wake up from it."""
    target, report = tmp_path / "target", tmp_path / "seen.json"
    target.mkdir()
    (target / "precious").write_text("mine")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            WATCHED,
            str(target),
            str(report),
            "run",
            *words,
            "--target",
            str(target),
            "--store",
            "store",
            "--repetitions",
            "1",
            "--seed",
            "1",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    before, seen = json.loads(report.read_text())
    assert {what for what, _ in before} == {"stat", "os.listdir", "open"}, "else the watch sees nothing"
    assert seen == []


@pytest.mark.slow
def test_the_package_loads_nothing_heavy():
    code = "import sys, iosonde; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"numpy", "scipy", "pyarrow", "duckdb", "yaml", "click", "mpi4py"}


@pytest.mark.slow
@pytest.mark.parametrize(("level", "warned"), [("0.9", False), ("0.89", True)])
def test_a_level_below_nine_in_ten_is_warned_about_beside_the_result(tmp_path, level, warned):
    (tmp_path / "x.csv").write_text("a,y\n" + "".join(f"{n % 2},{n}\n" for n in range(8)))
    done = iosonde("summary", "x.csv", "--response", "y", "--by", "a", "--level", level, where=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (" 0.89 " in done.stderr) is warned and "0.89" not in done.stdout
