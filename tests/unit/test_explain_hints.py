"""Rules become files that systems understand, and nothing in a value is more than a value."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.explain.hints import SYSTEMS, build_hint_files, format_hint_file
from iosonde.explain.rules import Rule, RuleCondition
from messages import raises


def rule(when=(), **setting) -> Rule:
    return Rule(tuple(when), tuple(setting.values()), tuple(setting), 9, 0.98, 0.75, {}, (), ())


def body(made: Rule, system: str, names=None) -> list[str]:
    return [line for line in format_hint_file(made, system, names).splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    "system, setting, expected",
    [
        (
            "romio",
            {"servers": 2, "stripe": "128K", "sieving": "on"},
            ["striping_factor 2", "striping_unit 131072", "romio_ds_read enable", "romio_ds_write enable"],
        ),
        ("romio", {"romio_cb_write": "off", "cb_nodes": 4}, ["romio_cb_write disable", "cb_nodes 4"]),
        ("romio", {"romio_ds_read": "automatic"}, ["romio_ds_read automatic"]),
        ("lustre", {"stripe_count": 4, "stripe_size": "2M"}, ['lfs setstripe -c 4 -S 2M "$1"']),
        (
            "gluster",
            {"read-ahead": "off", "performance.cache-size": "64MB"},
            [
                'gluster volume set "$1" performance.read-ahead off',
                'gluster volume set "$1" performance.cache-size 64MB',
            ],
        ),
        ("mount", {"rsize": 1048576, "ac": "off", "lazytime": "on"}, ["rsize=1048576,noac,lazytime"]),
        ("fio", {"block_size": "64k", "iodepth": 8}, ["[global]", "bs=64k", "iodepth=8"]),
        ("ior", {"transfer_size": "1m", "file_per_process": "on", "collective": "off"}, ["-t 1m -F"]),
    ],
)
def test_each_system_gets_its_own_words(system, setting, expected):
    assert body(rule(**setting), system) == expected


def test_a_column_may_be_renamed_and_the_unknown_is_said():
    made = rule(layout=4, colour="red")
    text = format_hint_file(made, "lustre", {"layout": "-c"})
    command = 'lfs setstripe -c 4 "$1"'
    assert command in text.splitlines() and "colour=red" in text
    with raises("unmapped-setting"):
        format_hint_file(made, "lustre")
    with raises("unknown-name", name="size"):
        build_hint_files([made], "lustre", {"size": "-S"})
    sieved = rule(method="sieve")
    assert body(sieved, "romio", {"method": "romio_ds_write", "sieve": "enable"}) == ["romio_ds_write enable"]
    with raises("unknown-option-value", allowed="enable, disable or automatic", level="sieve", example="enable"):
        format_hint_file(sieved, "romio", {"method": "romio_ds_write"})


def test_each_rule_has_a_file_that_says_what_for():
    low, high = RuleCondition("hole", None, 128.0), RuleCondition("hole", 128.0, None)
    files = build_hint_files([rule([low], sieving="on"), rule([high], sieving="off")], "romio")
    assert list(files) == ["rule-1.hints", "rule-2.hints", "rules.txt"]
    when, learned, *_ = files["rule-1.hints"].splitlines()
    assert when.endswith(": hole <= 128") and re.findall(r"\d+", learned) == ["9", "75"]
    assert re.fullmatch(r"rule-2.hints: \w+ hole > 128: sieving=off", files["rules.txt"].splitlines()[1])


@given(st.text(min_size=1, max_size=30), st.sampled_from(sorted(SYSTEMS)))
def test_a_value_can_neither_run_nor_end_its_line(text, system):
    names = {"x": {"lustre": "-p", "gluster": "performance.x", "ior": "-a"}.get(system, "x")}
    try:
        lines = format_hint_file(rule([RuleCondition("op", levels=(text,))], x=text), system, names).splitlines()
    except InputError:
        return
    rest = [line for line in lines if not line.startswith("#")]
    assert len(lines) - len(rest) == (3 if system in ("lustre", "gluster") else 2)
    if system in ("lustre", "gluster"):
        words = shlex.split("\n".join(format_hint_file(rule(x=text), system, names).split("\n")[3:]))
        assert text in words and len(words) == (5 if system == "lustre" else 6)
    else:
        assert len(rest) == (2 if system == "fio" else 1) and not set(text) & set(" \t\n;|&$`'\"#,")


@pytest.mark.parametrize(
    "system, setting, expected",
    [
        (
            "romio",
            {"sieving": "off", "stripe": "2M"},
            ["romio_ds_read disable", "romio_ds_write disable", "striping_unit 2097152"],
        ),
        ("romio", {"collective": "true"}, ["romio_cb_read enable", "romio_cb_write enable"]),
        (
            "romio",
            {"romio_cb_fr_types": "aar", "romio_cb_ds_threshold": 0},
            ["romio_cb_fr_types aar", "romio_cb_ds_threshold 0"],
        ),
        ("romio", {"romio_no_indep_rw": "on"}, ["romio_no_indep_rw true"]),
        ("romio", {"stripe_size (KiB)": 128}, ["striping_unit 131072"]),
        ("romio", {"buffer_mib": 4}, ["ind_rd_buffer_size 4194304", "ind_wr_buffer_size 4194304"]),
        ("lustre", {"stripe_count": -1, "stripe_size": "1MiB"}, ['lfs setstripe -c -1 -S 1048576 "$1"']),
        ("lustre", {"servers": 2, "stripe": "128K"}, ['lfs setstripe -c 2 -S 128K "$1"']),
        (
            "gluster",
            {"write_behind": "off", "features.shard-block-size": "64MiB"},
            [
                'gluster volume set "$1" performance.write-behind off',
                'gluster volume set "$1" features.shard-block-size 67108864',
            ],
        ),
        (
            "mount",
            {"rsize": "1M", "noatime": "off", "sync": "off", "ac": "off", "hard": "on", "nconnect": 1},
            ["rsize=1048576,atime,async,noac,hard,nconnect=1"],
        ),
        (
            "fio",
            {"block_size": "128KiB", "direct": "on", "ioengine": "libaio"},
            ["[global]", "bs=131072", "direct=1", "ioengine=libaio"],
        ),
        ("ior", {"transfer_size": "1M", "collective": "on", "file_per_process": "no"}, ["-t 1M -c"]),
    ],
)
def test_each_system_gets_what_it_understands(system, setting, expected):
    assert body(rule(**setting), system) == expected


@pytest.mark.parametrize(
    "system, setting, names, code, values",
    [
        ("romio", {"sieving": "maybe"}, {}, "unknown-option-value", {"level": "maybe"}),
        ("lustre", {"stripe": "100K"}, {}, "not-a-multiple", {"size_bytes": 102400}),
        ("lustre", {"stripe": "big"}, {}, "invalid-size", {"size": "big"}),
        ("ior", {"collective": "twice"}, {}, "unknown-option-value", {"key": "-c", "level": "twice"}),
        ("ior", {"pool": "x"}, {}, "unmapped-setting", {"columns": "pool"}),
        ("lustre", {"servers": 2, "stripe_count": 4}, {}, "duplicate-setting", {"key": "-c"}),
        ("fio", {"bs": "4k\nexec_prerun=reboot"}, {}, "unsafe-value", {"system": "fio"}),
        ("mount", {"rsize": "4096,exec"}, {}, "invalid-size", {"size": "4096,exec"}),
        ("mount", {"vers": "4,suid"}, {}, "unsafe-value", {"system": "mount"}),
        ("gluster", {"io_cache": "--mode=script"}, {}, "unsafe-value", {"system": "gluster"}),
        ("lustre", {"pool": "a\nb"}, {}, "unsafe-value", {"system": "lustre"}),
        ("lustre", {"pool": "fast"}, {"pool": "-p; reboot"}, "unsafe-value", {"system": "lustre"}),
    ],
)
def test_what_cannot_be_written_is_refused(system, setting, names, code, values):
    with raises(code, InputError, **values):
        format_hint_file(rule(**setting), system, names)


@given(st.text(max_size=20), st.text(max_size=20), st.sampled_from(sorted(SYSTEMS)))
def test_a_level_is_never_more_than_one_word_and_a_comment_never_more_than_a_line(level, column, system):
    column = column or "x"
    made = rule(**{"pool": level, column: level} if column != "pool" else {"pool": level})
    try:
        text = format_hint_file(made, system, {"pool": "key" if system != "lustre" else "-p"})
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
    (tmp_path / "rule.sh").write_text(format_hint_file(rule(pool=evil), "lustre"))
    done = subprocess.run(
        ["/bin/sh", "rule.sh", "a file"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )
    assert done.stdout.splitlines() == ["setstripe", "-p", evil, "a file"] and not (tmp_path / "gone").exists()


def test_a_level_of_two_columns_cannot_be_renamed():
    with raises("ambiguous-name", name=1, meanings="servers, sieving"):
        build_hint_files([rule(servers=1, sieving=1)], "romio", {"1": "enable"})
    with raises("unknown-name"):
        build_hint_files([rule(servers=1)], "romio", {"srevers": "x"})


@pytest.mark.parametrize(
    "system, setting, expected",
    [
        ("romio", {"direct_read": "off", "romio_cb_pfr": "no"}, ["direct_read false", "romio_cb_pfr disable"]),
        ("romio", {"stripe (MB)": 2}, ["striping_unit 2000000"]),
        ("romio", {"buffer_bytes": 512}, ["ind_rd_buffer_size 512", "ind_wr_buffer_size 512"]),
        ("lustre", {"stripe": 65536, "stripe_index": 0, "pool": "fast"}, ['lfs setstripe -S 65536 -i 0 -p fast "$1"']),
        ("gluster", {"io threads": 16}, ['gluster volume set "$1" performance.io-thread-count 16']),
        ("mount", {"read_size": "64KiB", "ro": "no", "nolock": "off", "fg": "off"}, ["rsize=65536,rw,lock,bg"]),
        ("mount", {"timeo": 1, "retrans": 0}, ["timeo=1,retrans=0"]),
        ("fio", {"direct": "off", "jobs": 4, "size": "1GiB"}, ["[global]", "direct=0", "numjobs=4", "size=1073741824"]),
        ("ior", {"random": "off", "fsync": "on", "segments": 3}, ["-e -s 3"]),
    ],
)
def test_each_word_of_a_system_is_written_in_its_way(system, setting, expected):
    assert body(rule(**setting), system) == expected


@pytest.mark.parametrize("level", ["on", "yes", "true", "enable", "1", "ENABLE"])
def test_a_switch_is_on_in_any_of_its_words(level):
    assert body(rule(sieving=level), "romio") == ["romio_ds_read enable", "romio_ds_write enable"]
    assert body(rule(file_per_process=level), "ior") == ["-F"]


def test_two_columns_may_not_be_one_setting_nor_a_level_two():
    with raises("duplicate-setting", key="striping_factor", system="romio"):
        format_hint_file(rule(servers=2, stripes=4), "romio")
    with raises("unsafe-value", column="pool", cell="-x", system="lustre"):
        format_hint_file(rule(pool="-x"), "lustre")
    with raises("not-a-multiple", size_bytes=65537):
        format_hint_file(rule(stripe=65537), "lustre")
    with raises("unmapped-setting", system="lustre", columns="a, b", column="a"):
        format_hint_file(rule(a=1, b=2), "lustre")
    text = format_hint_file(rule(servers=2, colour="red\x1b"), "romio")
    assert "colour=red\\x1b" in text and text.endswith("\nstriping_factor 2\n") and not text.startswith("#!")
    assert format_hint_file(rule(servers=2), "lustre").startswith("#!/bin/sh\n")


def test_a_name_is_that_of_one_column_or_of_a_level_of_one():
    with raises("ambiguous-name", name="servers", meanings="servers, sieving"):
        build_hint_files([rule(servers=2, sieving="servers")], "romio", {"servers": "x"})
    made = rule(servers=2, sieving="on")
    for names, line in (
        ({"servers": "cb_nodes"}, "cb_nodes 2"),
        ({"2": "4"}, "striping_factor 4"),
        ({"off": "disable"}, "striping_factor 2"),  # a level of another setting
    ):
        assert line in build_hint_files([made], "romio", names, [(2, "off")])["rule-1.hints"].splitlines()
    with raises("unknown-name", name="off", columns="servers, sieving"):
        build_hint_files([made], "romio", {"off": "disable"})
