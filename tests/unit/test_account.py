"""No test sees the home directory, the configuration or the caches of who runs it, nor those of another test."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

import account

PLACES = ("HOME", "XDG_CACHE_HOME", *account.XDG)
HOMES = set()


@pytest.mark.parametrize("name", PLACES)
def test_a_place_of_the_account_is_one_of_the_tests(name):
    place = Path(os.environ[name])
    assert place.is_relative_to(account.ROOT) or place == account.CACHE
    assert not place.is_relative_to(pwd.getpwuid(os.getuid()).pw_dir)


@pytest.mark.parametrize(("worker", "owner", "is_shared"), [("gw0", 0, True), ("", 0, False), ("gw0", 1, False)])
def test_processes_of_one_session_share_a_cache(monkeypatch, worker, owner, is_shared):
    """A session that a test starts has the variables of its worker, but another parent."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    if worker:
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
    monkeypatch.setenv("IOSONDE_TEST_CACHE", f"{os.getppid() + owner}:/shared")
    assert (account.choose_cache() == Path("/shared")) == is_shared


def test_a_process_that_a_test_starts_has_them_too():
    names = f"import os; print(*(os.environ[name] for name in {PLACES}), os.path.expanduser('~'), sep='\\n')"
    said = subprocess.run([sys.executable, "-c", names], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [*(os.environ[name] for name in PLACES), os.environ["HOME"]]


@pytest.mark.parametrize("place", ["x", "XDG_RUNTIME_DIR/x", "y"])
def test_each_test_has_a_home_of_its_own_in_which_nothing_is(place, own_account):
    assert own_account not in HOMES
    HOMES.add(own_account)
    assert [path.name for path in own_account.rglob("*")] == ["XDG_RUNTIME_DIR"]
    (own_account / place).touch()


def test_a_cache_that_was_there_before_the_tests_is_not_used(tmp_path):
    """A test session whose user has caches: those of another version, damaged ones, compiled templates."""
    home = tmp_path / "developer"
    (home / ".cache" / "iosonde").mkdir(parents=True)
    (tmp_path / "test_inner.py").write_text(
        "from iosonde.core.cache_folder import find_cache_folder, create_private_cache_folder\n"
        "def test_cache():\n"
        "    (create_private_cache_folder() / 'mark').touch()\n"
        "    assert [*find_cache_folder().iterdir()] == [find_cache_folder() / 'mark']\n"
    )
    root = Path(__file__).parents[2]
    (home / ".cache" / "iosonde" / "before").touch()
    around = os.environ | {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "PYTHONPATH": f"{root}:{root / 'tests'}",
    }
    words = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", "-n", "0", str(tmp_path)]
    done = subprocess.run(words, env=around, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [path.name for path in home.rglob("*") if path.is_file()] == ["before"]
