"""Files of systems: what they hold is valid there, and nothing in a level is more than a value."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.explain.hints import SYSTEMS, file_of, files_of
from iosonde.explain.rules import Rule


def rule(**setting: object) -> Rule:
    return Rule((), tuple(setting.values()), tuple(setting), 5, 0.9, 0.8, {}, (), ())


def lines(system: str, names: dict[str, str] | None = None, **setting: object) -> list[str]:
    made = file_of(rule(**setting), system, names)
    return [line for line in made.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    "system, setting, expected",
    [
        ("romio", {"sieving": "off", "stripe": "2M"}, ["romio_ds_read disable", "romio_ds_write disable",
                                                       "striping_unit 2097152"]),
        ("romio", {"collective": "true"}, ["romio_cb_read enable", "romio_cb_write enable"]),
        ("romio", {"romio_cb_fr_types": "aar", "romio_cb_ds_threshold": 0}, ["romio_cb_fr_types aar",
                                                                             "romio_cb_ds_threshold 0"]),
        ("romio", {"romio_no_indep_rw": "on"}, ["romio_no_indep_rw true"]),
        ("romio", {"stripe_size (KiB)": 128}, ["striping_unit 131072"]),
        ("romio", {"buffer_mib": 4}, ["ind_rd_buffer_size 4194304", "ind_wr_buffer_size 4194304"]),
        ("lustre", {"stripe_count": -1, "stripe_size": "1MiB"}, ['lfs setstripe -c -1 -S 1048576 "$1"']),
        ("lustre", {"servers": 2, "stripe": "128K"}, ['lfs setstripe -c 2 -S 128K "$1"']),
        ("gluster", {"write_behind": "off", "features.shard-block-size": "64MiB"},
         ['gluster volume set "$1" performance.write-behind off',
          'gluster volume set "$1" features.shard-block-size 67108864']),
        ("mount", {"rsize": "1M", "noatime": "off", "sync": "off", "ac": "off", "hard": "on", "nconnect": 1},
         ["rsize=1048576,atime,async,noac,hard,nconnect=1"]),
        ("fio", {"block_size": "128KiB", "direct": "on", "ioengine": "libaio"}, ["[global]", "bs=131072", "direct=1",
                                                                                "ioengine=libaio"]),
        ("ior", {"transfer_size": "1M", "collective": "on", "file_per_process": "no"}, ["-t 1M -c"]),
    ],
)  # fmt: skip
def test_each_system_gets_what_it_understands(system, setting, expected):
    assert lines(system, **setting) == expected


@pytest.mark.parametrize(
    "system, setting, names, said",
    [
        ("romio", {"sieving": "maybe"}, {}, "enable, disable, automatic, not maybe"),
        ("lustre", {"stripe": "100K"}, {}, "102400 bytes cannot be set"),
        ("lustre", {"stripe": "big"}, {}, "is not a size"),
        ("ior", {"collective": "twice"}, {}, "-c is on, off, not twice"),
        ("ior", {"pool": "x"}, {}, "knows no setting called pool"),
        ("lustre", {"servers": 2, "stripe_count": 4}, {}, "two of the chosen columns are -c"),
        ("fio", {"bs": "4k\nexec_prerun=reboot"}, {}, "cannot be written"),
        ("mount", {"rsize": "4096,exec"}, {}, "is not a size"),
        ("mount", {"vers": "4,suid"}, {}, "cannot be written"),
        ("gluster", {"io_cache": "--mode=script"}, {}, "cannot be written"),
        ("lustre", {"pool": "a\nb"}, {}, "cannot be written"),
        ("lustre", {"pool": "fast"}, {"pool": "-p; reboot"}, "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused(system, setting, names, said):
    with pytest.raises(InputError, match=said):
        file_of(rule(**setting), system, names)


@given(st.text(max_size=20), st.text(max_size=20), st.sampled_from(sorted(SYSTEMS)))
def test_a_level_is_never_more_than_one_word_and_a_comment_never_more_than_a_line(level, column, system):
    column = column or "x"
    made = rule(**{"pool": level, column: level} if column != "pool" else {"pool": level})
    try:
        text = file_of(made, system, {"pool": "key" if system != "lustre" else "-p"})
    except InputError:
        return
    code = [line for line in text.split("\n") if line and not line.startswith("#")]
    assert len(code) <= 3 and all(line.isprintable() for line in text.split("\n"))
    if system == "lustre":
        assert shlex.split(code[0])[:4] == ["lfs", "setstripe", "-p", level]


def test_a_shell_script_runs_one_command_with_the_level_as_one_word(tmp_path):
    evil = "$(touch gone) `touch gone`; touch gone'\""
    (tmp_path / "lfs").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "lfs").chmod(0o755)
    (tmp_path / "rule.sh").write_text(file_of(rule(pool=evil), "lustre"))
    done = subprocess.run(["/bin/sh", "rule.sh", "a file"], cwd=tmp_path, capture_output=True, text=True, check=True,
                          env={"PATH": f"{tmp_path}:/usr/bin:/bin"})  # fmt: skip
    assert done.stdout.splitlines() == ["setstripe", "-p", evil, "a file"] and not (tmp_path / "gone").exists()


def test_a_level_of_two_columns_cannot_be_renamed():
    with pytest.raises(InputError, match="--as 1 could be of servers, sieving"):
        files_of([rule(servers=1, sieving=1)], "romio", {"1": "enable"})
    with pytest.raises(InputError, match="neither chosen nor a level"):
        files_of([rule(servers=1)], "romio", {"srevers": "x"})
