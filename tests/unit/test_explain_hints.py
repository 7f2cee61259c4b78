"""Rules become files that systems understand, and nothing in a value is more than a value."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.explain.hints import SYSTEMS, file_of, files_of
from iosonde.explain.rules import Condition, Rule


def rule(when=(), **setting) -> Rule:
    return Rule(tuple(when), tuple(setting.values()), tuple(setting), 9, 0.98, 0.75, {}, (), ())


def body(made: Rule, system: str, names=None) -> list[str]:
    return [line for line in file_of(made, system, names).splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    "system, setting, expected",
    [
        ("romio", {"servers": 2, "stripe": "128K", "sieving": "on"},
         ["striping_factor 2", "striping_unit 131072", "romio_ds_read enable", "romio_ds_write enable"]),
        ("romio", {"romio_cb_write": "off", "cb_nodes": 4}, ["romio_cb_write disable", "cb_nodes 4"]),
        ("romio", {"romio_ds_read": "automatic"}, ["romio_ds_read automatic"]),
        ("lustre", {"stripe_count": 4, "stripe_size": "2M"}, ['lfs setstripe -c 4 -S 2M "$1"']),
        ("gluster", {"read-ahead": "off", "performance.cache-size": "64MB"},
         ['gluster volume set "$1" performance.read-ahead off',
          'gluster volume set "$1" performance.cache-size 64MB']),
        ("mount", {"rsize": 1048576, "ac": "off", "lazytime": "on"}, ["rsize=1048576,noac,lazytime"]),
        ("fio", {"block_size": "64k", "iodepth": 8}, ["[global]", "bs=64k", "iodepth=8"]),
        ("ior", {"transfer_size": "1m", "file_per_process": "on", "collective": "off"}, ["-t 1m -F"]),
    ],
)  # fmt: skip
def test_each_system_gets_its_own_words(system, setting, expected):
    assert body(rule(**setting), system) == expected


def test_a_column_may_be_renamed_and_the_unknown_is_said():
    made = rule(layout=4, colour="red")
    text = file_of(made, "lustre", {"layout": "-c"})
    assert 'lfs setstripe -c 4 "$1"' in text and "# not set here: colour=red" in text
    with pytest.raises(InputError, match="knows no setting"):
        file_of(made, "lustre")
    with pytest.raises(InputError, match="'size' is neither chosen nor a level"):
        files_of([made], "lustre", {"size": "-S"})
    sieved = rule(method="sieve")
    assert body(sieved, "romio", {"method": "romio_ds_write", "sieve": "enable"}) == ["romio_ds_write enable"]
    with pytest.raises(InputError, match="enable, disable or automatic, not sieve"):
        file_of(sieved, "romio", {"method": "romio_ds_write"})


def test_each_rule_has_a_file_that_says_what_for():
    low, high = Condition("hole", None, 128.0), Condition("hole", 128.0, None)
    files = files_of([rule([low], sieving="on"), rule([high], sieving="off")], "romio")
    assert list(files) == ["rule-1.hints", "rule-2.hints", "rules.txt"]
    assert files["rule-1.hints"].startswith("# when: hole <= 128\n# learned from 9 instances; worst case 75 %")
    assert files["rules.txt"].splitlines()[1] == "rule-2.hints: if hole > 128: sieving=off"


@given(st.text(min_size=1, max_size=30), st.sampled_from(sorted(SYSTEMS)))
def test_a_value_can_neither_run_nor_end_its_line(text, system):
    names = {"x": {"lustre": "-p", "gluster": "performance.x", "ior": "-a"}.get(system, "x")}
    try:
        lines = file_of(rule([Condition("op", levels=(text,))], x=text), system, names).splitlines()
    except InputError:
        return
    rest = [line for line in lines if not line.startswith("#")]
    assert len(lines) - len(rest) == 2
    if system in ("lustre", "gluster"):
        words = shlex.split("\n".join(file_of(rule(x=text), system, names).split("\n")[2:]))
        assert text in words and len(words) == (5 if system == "lustre" else 6)
    else:
        assert len(rest) == (2 if system == "fio" else 1) and not set(text) & set(" \t\n;|&$`'\"#,")
