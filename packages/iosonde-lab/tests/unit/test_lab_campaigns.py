"""``iosonde lab run`` of an experiment that asks for labs, with labs that are this machine itself."""

import json
import os
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.core.errors import SystemFaultError
from iosonde.store import Store
from iosonde_lab import api as labs

FILE = "lab: {file_system: local, cpus: [1, 2]}\nrepetitions: 1\nseed: 1\nsteps: ['true']\n"
INSIDE = """
import pathlib, sys
from iosonde.cli.group import run_command_line
from iosonde.ranks.machine import emulated
emulated.FILE = pathlib.Path(sys.argv.pop(1))
sys.exit(run_command_line())
"""


class FakeLabs:
    """Labs that come up at once, and whose hosts are this machine with their description."""

    def __init__(self, folder) -> None:
        self.folder, self.settings, self.words, self.down, self.broken = folder, [], [], [], set()

    def up(self, description, say, setting):
        if setting["levels"]["cpus"] in self.broken:
            raise SystemFaultError("broken", "it does not come up", "")
        facts = self.folder / "facts.json"
        facts.write_text(json.dumps({"setting": setting, "directory": str(self.folder)}))
        self.settings.append(setting["levels"])
        (self.folder / "mount").mkdir(exist_ok=True)
        client = SimpleNamespace(words=self.enter, environment=lambda: dict(os.environ), name="client1")
        return SimpleNamespace(name="e", clients=[client], mount_point=self.folder / "mount", directory=self.folder)

    def enter(self, *words, directory):
        self.words.append(words[3:])
        return [sys.executable, "-c", INSIDE, str(self.folder / "facts.json"), *words[3:]]


@pytest.fixture
def fake(tmp_path, monkeypatch):
    fake = FakeLabs(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IOSONDE_LOCK_DIR", str(tmp_path))
    (tmp_path / "e.yaml").write_text(FILE)
    for name, value in {
        "up": fake.up,
        "down": fake.down.append,
        "labs": list,
        "need_root": lambda: None,
        "check": lambda *_: None,
        "check_shared": lambda *_: None,
        "FaultService": lambda *_: nullcontext(),
        "hands_of": lambda *_: None,
        "target_of": lambda _: tmp_path / "mount",
    }.items():
        monkeypatch.setattr(labs, name, value)
    monkeypatch.setitem(labs.run_words.__globals__, "check_shared", lambda *_: None)  # /tmp is private to hosts
    return fake


def measure(*words):
    return CliRunner().invoke(cli, ["lab", "run", "e.yaml", "--store", "s", *words])


@pytest.mark.long
def test_each_lab_measures_its_trials_and_the_summary_is_of_all(fake):
    done = measure("--trial-timeout", "1min", "--page", "page.html", "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    assert sorted(setting["cpus"] for setting in fake.settings) == [1, 2] and fake.down == ["e", "e"]
    assert len(json.loads(done.stdout)["groups"]) == 2
    assert (fake.folder / "page.html").exists() and "stored in s" in done.stderr
    for words in fake.words:  # as they were given; the page is of the whole experiment
        assert words[:6] == ("run", "e.yaml", "--store", "s", "--trial-timeout", "1min") and "--page" not in words
    assert len(Store.open(fake.folder / "s").runs()) == 2


@pytest.mark.long
def test_a_lab_that_does_not_come_up_costs_its_trials_alone_and_the_same_command_resumes(fake):
    fake.broken.add(2)
    done = measure()
    assert done.exit_code == 1 and "skipped" in done.stderr and len(Store.open(fake.folder / "s").runs()) == 1
    fake.broken.clear()
    assert measure().exit_code == 0 and [setting["cpus"] for setting in fake.settings] == [1, 2]


class BecomesError(Exception):
    """In place of another program, which never returns."""


def test_in_a_lab_that_is_up_it_becomes_run_with_the_words_that_were_given(fake, monkeypatch):
    def become(program, words, environment):
        raise BecomesError

    lab = fake.up(None, None, {"levels": {"cpus": 1}})
    lab.description = SimpleNamespace(file_system="glusterfs")
    monkeypatch.setattr(labs, "open_lab", lambda name: lab)
    monkeypatch.setattr(os, "execvpe", become)
    words = ["--lab", "e", "--large-size", "1MiB", "--no-shared-writes", "--json", "--store", "s"]
    done = CliRunner().invoke(cli, ["lab", "run", *words])
    assert isinstance(done.exception, BecomesError), done.exception
    (inside,) = fake.words
    expected = ("run", "--store", "s", "--large-size", "1MiB", "--no-shared-writes", "--before-reads")
    assert inside[: len(expected)] == expected
    assert inside[len(expected) + 1 :] == ("--json", "--target", str(fake.folder / "mount"))
