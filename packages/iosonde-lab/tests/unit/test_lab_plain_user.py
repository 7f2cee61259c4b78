"""Lab commands of a user who is not root, in a process that cannot be: a suite that runs as root would not see it."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

import plain_user
from iosonde.core.errors import InputError
from iosonde_lab import place, tools

ROOT = Path(__file__).parents[4]
SOURCE = f"{ROOT / 'python'}:{ROOT / 'packages' / 'iosonde-lab'}"
NEED_ROOT = (
    ("up", "local"),
    ("up", "local", "--name", "far", "--delay", "1ms"),
    ("run",),
    ("run", "--nodes", "1"),
    ("exec", "client1", "true"),
    ("down", "one"),
    ("down", "--all"),
    ("get",),
    ("set", "a=b"),
    ("profile",),
    ("profile", "on"),
    ("placement", "f"),
    ("mount",),
    ("unmount",),
    ("remount",),
    ("fault", "stop", "server1"),
    ("heal",),
)
PROGRAM = """
import contextlib, io, json, sys, traceback
from iosonde.cli.main import main
ends = []
for words in json.loads(sys.argv[1]):
    sys.argv, said = ["iosonde", "lab", *words], io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            main()
        except SystemExit as end:
            code = end.code
        except BaseException:
            code = traceback.format_exc()
    ends.append([code, said.getvalue()])
print(json.dumps(ends))
"""


@pytest.mark.parametrize("named", [False, True], ids=["usual-place", "own-place"])
def test_every_command_that_needs_root_ends_with_the_command_to_give(tmp_path, named):
    surroundings = {key: value for key, value in os.environ.items() if key != place.ROOT}
    surroundings |= {"PYTHONPATH": SOURCE, "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    surroundings |= {place.ROOT: "/nowhere/labs"} if named else {}
    done = plain_user.run_python(PROGRAM, json.dumps(NEED_ROOT), environment=surroundings)
    assert done.returncode == 0, done.stderr
    for words, (code, text) in zip(NEED_ROOT, json.loads(done.stdout), strict=True):
        assert code == 2, (words, code, text)
        assert f"lab {words[0]}" in text.partition("sudo")[2], (words, text)
        assert (f"{place.ROOT}=/nowhere/labs" in text) == named


@pytest.mark.parametrize("where", [None, "/labs"])
def test_the_command_to_give_names_the_place_of_labs_only_where_one_is_set(monkeypatch, where):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["iosonde", "lab", "down", "a b"])
    monkeypatch.delenv(place.ROOT, raising=False)
    if where:
        monkeypatch.setenv(place.ROOT, where)
    with pytest.raises(InputError) as error:
        tools.need_root()
    assert (f"{place.ROOT}=/labs" in error.value.hint) == bool(where)
    assert shlex.split(error.value.values["sudo_command"])[-3:] == sys.argv[1:]
