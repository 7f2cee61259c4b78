"""Factors that did not take, mounts that stayed, caches that nobody may drop: each stops the trial with a sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.errors import SystemFaultError
from iosonde.core.level_text import is_same_level
from iosonde.measure.rank import controls, mounted
from iosonde.measure.spec import CACHE_DROP, CacheRegime, CommandStep, Control

sys.path.insert(0, str(Path(__file__).parents[1]))
from messages import codes, raises
from steps_bench import printed, run


@pytest.mark.parametrize(
    ("level", "said", "same"),
    [
        (4, "4\n", True),
        (4, " 4", True),
        (4, "04", True),
        (4, "2", False),
        (4, "", False),
        ("raid0", "raid0\n", True),
        (65536, "64KiB", True),
        ("64k", "65536\n", True),
        (0.5, "0.50", True),
        (True, "true", True),
        ("a", "b", False),
        ("none", "", False),
    ],
)
def test_what_the_system_says_is_the_level_or_it_is_not(level, said, same):
    assert is_same_level(level, said) is same


@given(st.one_of(st.integers(), st.text(min_size=1).filter(str.strip), st.floats(allow_nan=False)))
def test_every_level_is_itself(level):
    assert is_same_level(level, f" {level}\n")


def test_a_level_is_set_read_back_and_seen_by_the_steps(tmp_path):
    target, state = tmp_path / "target", tmp_path / "state"
    target.mkdir()
    control = Control("stripe", f"echo ${{LEVEL}} $IOSONDE_LEVEL > {state}", f"cut -d ' ' -f 2 {state}")
    done = run(target, [CommandStep(f"cat {state}")], factors={"stripe": 4}, controls=(control,))
    assert done.complete, done.missing
    assert printed(done)[1][0] == b"4 4\n"


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (Control("stripe", "true", "echo 2"), "factor stripe: level 4 did not take, the system says 2"),
        (Control("stripe", "", "true"), "factor stripe: level 4 did not take, the system says nothing"),
        (Control("stripe", "echo no; exit 1"), "factor stripe: the command 'echo no; exit 1' ended with 1: no"),
        (Control("stripe", "kill -9 $$"), "factor stripe: the command 'kill -9 $$' ended by signal 9"),
        # What failed is said, and not that the target is away, which is what came of it.
        (
            Control("stripe", "rm -r $IOSONDE_TARGET; echo broken; exit 7"),
            "factor stripe: the command 'rm -r $IOSONDE_TARGET; echo broken; exit 7' ended with 7: broken",
        ),
    ],
)
def test_a_level_that_did_not_take_stops_the_trial_before_its_steps(tmp_path, control, said):
    done = run(tmp_path, [CommandStep("echo ran")], factors={"stripe": 4}, controls=(control,))
    assert done.missing[0].startswith(said)
    assert not done.raw and not done.observations
    assert not list(tmp_path.iterdir())


def test_caches_that_may_not_be_dropped_are_a_sentence(tmp_path):
    switch = tmp_path / "none" / "drop_caches"
    with raises("cache-not-dropped", SystemFaultError, path=switch) as caught:
        controls.drop_caches(switch)
    assert "root" in caught.value.hint


TABLE = r"""
22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 0:40 / /mnt rw - tmpfs none rw
31 30 0:41 / /mnt/with\040blank rw - nfs server:/x rw
32 31 0:42 / /mnt/with\040blank rw - nfs server:/y rw
"""


@pytest.mark.parametrize(
    ("path", "mount"),
    [
        ("/mnt/x", ("30", "/mnt")),
        ("/mntx", ("22", "/")),
        ("/mnt/with blank/deep", ("32", "/mnt/with blank")),
        ("/mnt", ("30", "/mnt")),
    ],
)
def test_the_mount_that_a_path_lies_on(path, mount):
    assert mounted.mount_of(path, TABLE) == mount


class Table:
    """A mount table, and commands that change it."""

    def __init__(self, monkeypatch, tmp_path, does):
        self.path, self.does = tmp_path / "mountinfo", does
        self.mount("30")
        monkeypatch.setattr(controls.hooks, "run", self.run)

    def mount(self, number):
        mounted = f"{number} 22 0:40 / /mnt rw - nfs x rw\n" if number else ""
        self.path.write_text("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + mounted)

    def run(self, command, environment, what):
        self.mount(self.does[command])


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ({"umount": "", "mount": "30"}, None),  # the same number may come again
        ({"umount": "", "mount": "41"}, None),
        ({"umount": "30", "mount": "30"}, "'umount' succeeded, but /mnt is still mounted"),
        ({"umount": "", "mount": ""}, "'mount' succeeded, but nothing is mounted at /mnt"),
    ],
)
def test_a_remount_is_looked_for_in_the_mount_table(monkeypatch, tmp_path, does, said):
    table, here = Table(monkeypatch, tmp_path, does), os.getcwd()
    regime = CacheRegime("remount", "umount", "mount")
    try:
        if said is None:
            done = controls.remount_target(regime, {"TARGET_ROOT": "/mnt/data"}, table.path)
            assert done["mount"] == "/mnt" and done["at"].endswith("Z")
            assert 0 <= done["unmount_s"] < 60 and 0 <= done["mount_s"] < 60
        else:
            with pytest.raises(SystemFaultError) as caught:
                controls.remount_target(regime, {"TARGET_ROOT": "/mnt/data"}, table.path)
            assert caught.value.message == said
    finally:
        os.chdir(here)


def can_mount():
    probe = ["unshare", "--user", "--map-root-user", "--mount", "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="no user name spaces: nothing can be mounted")
def test_a_real_remount_empties_the_target_between_trials(tmp_path):
    """A tmpfs forgets what was on it: the trial's own directory too, which is then said."""
    script = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from pathlib import Path
from steps_bench import run
from iosonde.measure.spec import *
target = Path({str(tmp_path)!r})
bind = CacheRegime("remount", "umount {tmp_path}", "mount --bind {tmp_path}.real {tmp_path}")
made = run(target, [CommandStep("ls ${{TARGET_ROOT}}")], cache=bind)
print(made.missing, [one["mount"] for one in made.facts["remounts"]], made.facts["remounts"][0]["host"] != "")
missing = run(target, [CommandStep("true")], cache=CacheRegime("remount", "true", "true")).missing
print([one.code for one in missing], missing)
"""
    program = f"mkdir {tmp_path}.real; mount --bind {tmp_path}.real {tmp_path} && exec {sys.executable} -"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", program],
        input=script,
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = done.stdout.splitlines()
    assert first == f"[] ['{tmp_path}'] True"
    assert second.startswith("['still-mounted'") and str(tmp_path) in second


def test_a_regime_that_cannot_be_had_stops_the_trial(tmp_path, monkeypatch):
    if os.access(controls.DROP_CACHES, os.W_OK):
        pytest.skip("this user may drop the kernel's caches, and a test must not")
    done = run(tmp_path, [CommandStep("echo ran")], cache=CacheRegime(CACHE_DROP))
    assert codes(done.missing)[0] == "cache-not-dropped"
    assert not done.raw
