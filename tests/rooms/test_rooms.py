"""Every command of ``--help`` in four rooms where tests seldom stand: a new account, a plain user, a store of unlike
experiments, a file system that gives no answer. Asserted in all: it ends, with an exit code that means something,
without a traceback, data on stdout and talk on stderr, and leaves nothing but what it was asked for."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import pytest

from faults import faultfs
from iosonde.cli.group import cli

from . import inputs
from .commands import COMMANDS, HUNG, OK
from .room import EXIT_CODES, PLAIN_UID, Room, as_plain_user

DEADLINE_S = 90.0  # an order of magnitude above the slowest on a busy machine
HUNG_DEADLINE_S = 45.0  # a command waits up to 30 s for a file system before it names it
FILES_OR_JSON = ("report", "plot")  # with --json they write no file


def commands() -> Iterator[tuple[str, click.Command]]:
    """Each command that is no group, with its name in full."""

    def below(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                each = command.get_command(context, name)
                assert each is not None
                yield from below(each, (*path, name))
        else:
            yield " ".join(path), command

    return below(cli, ())


def cases(names: Mapping[str, str | None] | None = None) -> list[object]:
    """A parameter for each command that has words in a room."""
    chosen = [name for name in COMMANDS if names is None or names[name] is not None]
    return [pytest.param(name, id=name.replace(" ", "-")) for name in chosen]


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs, made once for all test processes."""
    place = tmp_path_factory.getbasetemp()
    root = (place.parent if os.environ.get("PYTEST_XDIST_WORKER") else place) / "room-inputs"
    with root.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not root.exists():
            beside = root.with_suffix(".new")
            shutil.rmtree(beside, ignore_errors=True)
            inputs.make(beside)
            beside.rename(root)
    return root


def words_of(name: str, text: str, work: Path, hung: Path | None = None) -> list[str]:
    store = work / ("unlike" if " unlike " in f" {text} " else "store")
    run = sorted(path.name for path in (store / "runs").iterdir())[-1]
    words = shlex.split(text.replace("RUN", run))
    return [*name.split(), *(word.replace(HUNG, str(hung)) if hung else word for word in words)]


def test_every_command_has_its_words_in_each_room():
    known = dict(commands())
    assert set(known) == set(COMMANDS)
    for name, command in known.items():
        case = COMMANDS[name]
        options = {word for one in command.params if isinstance(one, click.Option) for word in one.opts}
        arguments = {one.name for one in command.params if isinstance(one, click.Argument)}
        assert ("--json" in case.plain) == ("--json" in options) or case.codes != OK or name in FILES_OR_JSON, name
        if not name.startswith("lab"):
            takes_store = arguments & {"data", "store", "stores", "sources", "a"} or "--store" in options
            takes_path = takes_store or arguments & {"path", "files", "model", "cluster", "what"}
            assert bool(takes_store) == (case.unlike is not None), name
            assert bool(takes_path) == (case.hung is not None), name


@pytest.fixture
def place():
    """A directory that every user may enter: pytest's own are closed."""
    root = Path(tempfile.mkdtemp(prefix="iosonde-room-"))
    root.chmod(0o755)
    yield root / "room"
    shutil.rmtree(root, ignore_errors=True)


@pytest.mark.parametrize("name", cases())
def test_on_a_new_account(name, place, prepared):
    case, room = COMMANDS[name], Room(place, prepared)
    ended = room.run(words_of(name, case.plain, room.work), DEADLINE_S, case.waits)
    ended.check((*case.codes, 130) if case.waits else case.codes, case.makes, "--json" in case.plain)


@pytest.mark.parametrize(
    ("home", "name"),
    [
        pytest.param(home, *one.values, id=f"{home}-{one.id}", marks=one.marks)
        for home in ("unwritable", "unset")
        for one in cases()
    ],
)
def test_as_a_plain_user(home, name, place, prepared):
    """Whose home directory cannot be written, or who has none and is not known to the machine."""
    if (
        os.geteuid() == 0
        and subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs mount name spaces")
    case, uid = COMMANDS[name], None if os.geteuid() else PLAIN_UID
    room = Room(place, prepared, {"HOME": None} if home == "unset" else {}, as_plain_user(place), uid)
    if home == "unwritable":
        room.home.chmod(0o555)
        if uid is not None:
            os.chown(room.home, 0, 0)
    ended = room.run(words_of(name, case.user_words or case.plain, room.work), DEADLINE_S, case.waits)
    ended.check((*case.codes, 130) if case.waits else case.codes, case.makes, "--json" in case.plain)


@pytest.mark.parametrize("name", cases({name: case.unlike for name, case in COMMANDS.items()}))
def test_with_a_store_of_unlike_experiments(name, place, prepared):
    case, room = COMMANDS[name], Room(place, prepared)
    ended = room.run(words_of(name, case.unlike, room.work), DEADLINE_S, case.waits)
    codes = (*case.unlike_codes, 130) if case.waits else case.unlike_codes
    ended.check(codes, case.makes, "--json" in case.unlike)


@pytest.fixture(scope="module")
def hung(tmp_path_factory, prepared):
    """A file system with the inputs in it, which goes on to answer after each test."""
    if why := faultfs.why_not():
        pytest.skip(why)
    with faultfs.FaultFs(tmp_path_factory.mktemp("hung") / "target") as mounted:
        for name in ("runs.csv", "sizes.csv", "sweep.yaml", "upgrade.yaml", "ior.txt", "model.json", "store", "tree"):
            (shutil.copytree if (prepared / name).is_dir() else shutil.copy)(prepared / name, mounted.path / name)
        yield mounted


@pytest.mark.parametrize("operations", ["any", "read"])
@pytest.mark.parametrize("name", cases({name: case.hung for name, case in COMMANDS.items()}))
def test_with_a_file_system_that_gives_no_answer(name, operations, place, prepared, hung):
    case, room = COMMANDS[name], Room(place, prepared)
    if operations == "read" and "HUNG --" in case.hung and "survey" not in name:
        pytest.skip("reads nothing there")
    words = words_of(name, case.hung, room.work, hung.path)
    hung.set({"on": operations, "do": "hang"})
    try:
        ended = room.run(words, HUNG_DEADLINE_S, free=hung.clear)
    finally:
        hung.clear()
    ended.check(tuple(EXIT_CODES), (*case.makes, "new"), "--json" in case.hung)
