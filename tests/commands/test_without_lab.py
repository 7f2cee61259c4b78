"""The product without the distribution for labs: what needs a lab says how to install it, all else works."""

from __future__ import annotations

import os
import site
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from test_bound_lab import lab, stored
from test_diagnose_path import ALIKE, diagnosed

from iosonde.commands import get_about, get_package_name, labs
from iosonde.core import plugins
from iosonde.core.errors import InputError, SystemFaultError
from messages import raises

ROOT = Path(__file__).parents[2]
Start = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> Path:
    """A directory of installed packages, among which the distribution for labs is not."""
    folder = tmp_path_factory.mktemp("packages")
    for place in site.getsitepackages():
        for entry in Path(place).iterdir():
            if "iosonde" not in entry.name and entry.suffix != ".pth":
                (folder / entry.name).symlink_to(entry)
    return folder


@pytest.fixture
def start(packages) -> Start:
    """Start `iosonde` in a process that finds these packages alone."""

    def start_command(*words: object) -> subprocess.CompletedProcess[str]:
        path = f"{ROOT / 'python'}:{packages}"
        return _start((sys.executable, "-S", "-m", "iosonde.cli.main"), words, PYTHONPATH=path)

    return start_command


def _start(program: tuple[str, ...], words: tuple[object, ...], **more: str) -> subprocess.CompletedProcess[str]:
    around = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80", **more}
    return subprocess.run([*program, *map(str, words)], env=around, capture_output=True, text=True, check=False)


def _start_with_lab(*words: object) -> subprocess.CompletedProcess[str]:
    return _start((sys.executable, "-m", "iosonde.cli.main"), words)


def _says_how_to_install(done: subprocess.CompletedProcess[str]) -> bool:
    error = labs.build_missing_package_error()
    return done.returncode == 2 and f"{error.message}\n" in done.stderr and str(error.hint) in done.stderr


def test_the_list_of_commands_is_that_of_the_product(start):
    done = start("--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        line for line in _start_with_lab("--help").stdout.splitlines() if not line.startswith("  lab ")
    ]


@pytest.mark.parametrize("words", [("lab",), ("lab", "list"), ("lab", "up", "glusterfs"), ("lab", "--help")])
def test_the_command_says_how_to_install_it(start, words):
    done = start(*words)
    assert _says_how_to_install(done) and not done.stdout


@pytest.mark.parametrize("command", ["run", "plan"])
def test_an_experiment_in_labs_says_how_to_install_it(start, command, tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text((ROOT / "examples" / "lab" / "replicas.yaml").read_text(encoding="utf-8"))
    assert _says_how_to_install(start(command, file))


def test_doctor_has_one_line_about_it(start, packages):
    program = "from iosonde.commands import labs; print(*(check.to_json() for check in labs.check_abilities()))"
    done = _start((sys.executable, "-S", "-c", program), (), PYTHONPATH=f"{ROOT / 'python'}:{packages}")
    assert done.returncode == 0, done.stderr
    assert str(labs.build_missing_package_error().hint) in done.stdout and done.stdout.count("'name'") == 1


@pytest.mark.long
@pytest.mark.parametrize("words", [("bound",), ("bound", "--json"), ("summary",), ("report", "--json")])
def test_a_store_measured_in_a_lab_is_bound_by_its_truth(start, words, tmp_path):
    store = stored(tmp_path / "s", [({}, lab(), {}, 7e6)] * 2)
    _check_same(start(words[0], store, *words[1:]), _start_with_lab(words[0], store, *words[1:]))


@pytest.mark.long
@pytest.mark.parametrize("words", [("diagnose",), ("diagnose", "--json")])
def test_a_store_measured_in_a_lab_is_diagnosed_on_its_path(start, words, tmp_path):
    diagnosed(tmp_path, ALIKE)
    _check_same(start(words[0], tmp_path / "s", *words[1:]), _start_with_lab(words[0], tmp_path / "s", *words[1:]))


def _check_same(without: subprocess.CompletedProcess[str], with_lab: subprocess.CompletedProcess[str]) -> None:
    assert (without.returncode, without.stdout, without.stderr) == (
        with_lab.returncode,
        with_lab.stdout,
        with_lab.stderr,
    )
    assert without.returncode == 0 and without.stdout, without.stderr


@pytest.fixture
def plug_in(tmp_path, monkeypatch) -> Callable[[str], None]:
    """Install a package that adds the command `toys` from a module."""

    def install(module: str) -> None:
        info = tmp_path / "toys-1.dist-info"
        info.mkdir()
        info.joinpath("entry_points.txt").write_text(
            f"[console_scripts]\ntoys = x:y\n\n[iosonde.commands]\n# a folder\ntoys = {module}\n"
        )
        plugins.read_groups.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    yield install
    plugins.read_groups.cache_clear()


def test_a_plug_in_is_found_by_its_entry_point(plug_in):
    plug_in("iosonde.commands.run")
    assert get_package_name("toys") == "iosonde.commands.run" and get_about("toys").place == 0


def test_a_plug_in_that_cannot_load_is_named(plug_in):
    plug_in("no_such_module")
    with raises("plugin-load-failed", SystemFaultError, kind="command", name="toys", entry_point="no_such_module"):
        get_about("toys")


def test_another_module_that_is_missing_is_no_missing_package():
    with pytest.raises(ModuleNotFoundError), labs.needing_package():
        import iosonde.no_such_module  # noqa: F401
    with raises("missing-package", InputError, package="iosonde-lab"), labs.needing_package():
        raise ModuleNotFoundError(name="iosonde_lab.command")
