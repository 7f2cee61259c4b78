"""``iosonde advise``: the keys that others rely on, the text, files, and wrong input."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

import iosonde
from iosonde.core.errors import InputError, IosondeError
from messages import raises
from terminal import command_of

advise, compare = command_of("advise"), command_of("compare")

DATA = str(Path(__file__).parents[1] / "golden" / "data" / "sieving_384.csv")
ARGS = (
    DATA,
    "--response",
    "mib_s",
    "--choose",
    "servers,stripe,sieving",
    "--given",
    "op,hole_kib,block_kib",
    "--depth",
    "3",
)

SET_STRIPE = "lfs setstripe -c 2 -S 2M "


def invoke(*args: str) -> str:
    return CliRunner().invoke(advise, list(args), catch_exceptions=False, standalone_mode=False).stdout


def run(command: click.Command, *words: str) -> Result:
    return CliRunner().invoke(command, words)


def trials(path: Path, effect: float, seed: int, n: int = 12) -> str:
    """size × mode, three trials each; mode b is better by ``effect`` from size 50 on, mode a below."""
    rng = np.random.default_rng(seed)
    rows = ["size,mode,time (s)"]
    for size in np.linspace(1, 100, n).round(2):
        for mode in "ab":
            slow = 1.0 if (mode == "b") == (size >= 50) else 1.0 + effect
            rows += [f"{size},{mode},{size * slow * np.exp(rng.normal(0, 0.03)):.6f}" for _ in range(3)]
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_json_has_every_promised_key():
    made = json.loads(invoke(*ARGS, "--json", "--for", "op=read,hole_kib=160,block_kib=64"))
    assert made["schema"] == 1 and made["advised"] == "rules"
    assert set(made["defaults"][0]) == {
        "setting",
        "best",
        "worst",
        "tied",
        "rel_arith",
        "rel_harm",
        "lowest",
        "abs",
        "abs_harm",
        "loss",
    }
    assert {
        "value",
        "low",
        "high",
        "level",
        "n",
        "warnings",
        "over",
        "ratio",
        "absolute",
        "advised",
        "reference",
        "possible",
        "lowest",
        "reference_lowest",
    } == set(made["gain"])
    assert {"sentence", "when", "set", "instances", "share", "lowest", "best_choices", "hamming_distance"} <= set(
        made["rules"][0]
    )
    assert made["for"]["rule"]["set"] == {"servers": 2, "stripe": "2M", "sieving": "on"}
    assert (made["instances"], made["settings"], made["repeats"]) == (48, 8, 1)


def test_text_fits_a_terminal_and_ends_with_a_sentence():
    text = invoke(*ARGS)
    assert max(map(len, text.splitlines())) < 80 and text.rstrip().endswith(".")
    assert re.search(r"^Criteria .*: 2/2MiB/off", text, re.MULTILINE) and "mean, MiB/s" in text
    # The columns of the published table: 2/2M/on, its harmonic mean 1 ÷ mean of 1 ÷ each.
    row = next(line for line in text.splitlines() if line.startswith("2/2MiB/on ")).replace("%", "").split()
    assert row[1:] == ["24", "0", "86.0", "78.7", "37.8", "238.8", "31.98"]


def test_sizes_are_said_as_sizes_and_json_keeps_bytes(tmp_path):
    """Small transfers want cache 64 KiB, large ones 1 MiB; both are bytes in the table."""
    rows = ["transfer_size (bytes),rank,cache (bytes),mib_s"]
    rows += [
        f"{size},{rank},{cache},{(100 if (size > 70000) == (cache > 70000) else 40) + rank + trial}"
        for size in (4096, 65536, 1048576, 4194304)
        for rank in range(4)
        for cache in (65536, 1048576)
        for trial in range(3)
    ]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    args = (
        str(tmp_path / "t.csv"),
        "--response",
        "mib_s",
        "--choose",
        "cache",
        "--given",
        "transfer_size,rank",
        "--current",
        "cache=64KiB",
    )
    text = invoke(*args)
    assert re.search(r"transfer_size <= \d+KiB: cache=64KiB", text)
    assert re.search(r"transfer_size > \d+KiB: cache=1MiB", text)
    assert re.search("cache: (1MiB over 64KiB|64KiB over 1MiB)", text)
    assert "64KiB (now)" in text and " for 64KiB everywhere:" in text
    assert not any(raw in text for raw in ("65536", "1048576", "4096"))
    made = json.loads(invoke(*args, "--json"))
    assert {one["setting"] for one in made["defaults"]} == {"65536", "1048576"} and made["gain"]["over"] == "65536"
    rule = made["rules"][0]
    assert 65536 <= rule["when"][0]["up_to"] < 1048576 and rule["set"] == {"cache (bytes)": 65536}


def test_with_ties_a_long_setting_and_the_mark_of_today_the_table_fits(tmp_path):
    lines = ["mode,size,speed"]
    for mode in ("a_very_long_name_of_a_setting", "another_very_long_name_of_it"):
        lines += [f"{mode},{size},{123456.7 + size + 10 * n + len(mode)}" for size in (1, 2, 3) for n in range(3)]
    (tmp_path / "long.csv").write_text("\n".join(lines))
    text = invoke(
        str(tmp_path / "long.csv"),
        "--response",
        "speed",
        "--choose",
        "mode",
        "--given",
        "size",
        "--current",
        "mode=another_very_long_name_of_it",
    )
    assert max(map(len, text.splitlines())) < 80 and " tied " in text


def test_times_are_better_low_and_new_trials_are_compared(tmp_path):
    old, new = trials(tmp_path / "old.csv", 0.5, 1), trials(tmp_path / "new.csv", 0.5, 2)
    args = ("--response", "time", "--choose", "mode", "--given", "size", "--depth", "2")
    made = json.loads(invoke(old, *args, "--against", new, "--json"))
    assert made["better"] == "lower" and made["against"]["verdict"] == "kept"
    assert made["against"]["difference"]["low"] <= 1 <= made["against"]["difference"]["high"]
    text = invoke(old, *args, "--against", new)
    assert "obtained ÷ predicted" in text
    higher = json.loads(invoke(old, *args, "--better", "higher", "--json"))
    assert higher["better"] == "higher"


def test_values_of_a_store_have_the_unit_of_their_rows(tmp_path):
    rows = [f"{size},{mode},{size * 2**20 * (1 + (mode == 'b'))},bytes/s" for size in (10, 20, 30) for mode in "ab"]
    path = tmp_path / "values.csv"
    path.write_text("size,mode,value,unit\n" + "\n".join(rows * 3) + "\n")
    args = (str(path), "--response", "value", "--choose", "mode", "--given", "size")
    assert "mean, MiB/s" in invoke(*args) and json.loads(invoke(*args, "--json"))["unit"] == "bytes/s"


def test_no_advice_says_what_would_settle_it(tmp_path):
    args = (
        trials(tmp_path / "t.csv", 0.0, 3),
        "--response",
        "time",
        "--choose",
        "mode",
        "--given",
        "size",
        "--depth",
        "2",
    )
    made = json.loads(invoke(*args, "--json"))
    assert made["advised"] == "nothing" and made["needs"]["cells"]
    assert max(map(len, invoke(*args).splitlines())) < 80


def test_values_over_many_decades_stay_within_the_line(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{size},{mode},{10 ** rng.uniform(-100, 100)!r}" for size in range(9) for mode in "abc" for _ in range(3)]
    (tmp_path / "t.csv").write_text("size,mode,v\n" + "\n".join(rows) + "\n")
    text = invoke(str(tmp_path / "t.csv"), "--response", "v", "--choose", "mode", "--given", "size")
    assert max(map(len, text.splitlines())) < 80


def test_rules_are_written_as_files_of_a_system(tmp_path):
    out = tmp_path / "rules"
    invoke(*ARGS, "--write", str(out), "--system", "lustre", "--as", "servers=-c")
    assert (out / "rule-1.sh").read_text().splitlines()[-1].startswith(SET_STRIPE)
    assert (out / "rules.txt").read_text().count("\n") == len(list(out.glob("rule-*")))
    (out / "rule-9.sh").write_text("")
    with raises("directory-not-empty", InputError, file="rule-9.sh"):
        invoke(*ARGS, "--write", str(out), "--system", "lustre")


def test_python_writes_the_files_that_the_terminal_writes(tmp_path):
    invoke(*ARGS, "--write", str(tmp_path / "a"), "--system", "lustre", "--as", "servers=-c")
    iosonde.advise(
        DATA,
        ["servers", "stripe", "sieving"],
        "mib_s",
        given=["op", "hole_kib", "block_kib"],
        depth=3,
        write=tmp_path / "b",
        system="lustre",
        renamed={"servers": "-c"},
    )
    contents = [{path.name: path.read_text() for path in (tmp_path / name).iterdir()} for name in "ab"]
    assert contents[0] == contents[1] and contents[0]
    with raises("options-require-each-other", InputError):
        iosonde.advise(DATA, "servers", "mib_s", write=tmp_path / "c")


def test_the_figure_is_written_and_the_same_each_time(tmp_path):
    for name in ("a.svg", "b.svg"):
        invoke(*ARGS, "--plot", str(tmp_path / name))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")


LEVELS = st.lists(
    st.sampled_from(["1", "2", "64", "on", "off", "a b", "é", "1e300", "C", "nan", "2M", "\x1b[31m"]),
    min_size=1,
    max_size=3,
    unique=True,
)
VALUES = st.one_of(
    st.sampled_from(["1", "2", "", "x", "0", "-1", "1e9", "1e-9"]),
    st.floats(0.5, 2.0).map(str),
    st.floats(90, 110).map(str),
)


@settings(max_examples=20, deadline=None)
@given(LEVELS, LEVELS, st.integers(1, 3), st.data())
def test_any_table_ends_in_an_answer_or_a_sentence(tmp_path_factory, modes, sizes, repeats, data):
    rows = [f'"{size}","{mode}",{data.draw(VALUES)}' for size in sizes for mode in modes for _ in range(repeats)]
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_text("\n".join(["I,a:b,v", *rows]) + "\n")
    args = [str(path), "--response", "v", "--choose", "a:b", "--given", "I", "--depth", "2"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            text = invoke(*args, *data.draw(st.sampled_from([(), ("--json",)])))
        except IosondeError:
            return
    assert "\x1b" not in text
    assert json.loads(text) if text.startswith("{") else max(map(len, text.splitlines())) < 80


def test_the_largest_ratios_overflow_quietly(tmp_path):
    rows = [
        f"{size},{mode},{'1e139' if (size % 3 == 0) == (mode == 'a') else '1e-139'}"
        for size in range(12)
        for mode in "ab"
        for _ in range(2)
    ]
    (tmp_path / "t.csv").write_text("size,mode,v\n" + "\n".join(rows) + "\n")
    args = (str(tmp_path / "t.csv"), "--response", "v", "--choose", "mode", "--given", "size")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert json.loads(invoke(*args, "--json"))["schema"] == 1


@pytest.mark.parametrize(
    ("args", "code", "values"),
    [
        (("--for", "op=read,hole_kib=4,block_kib=64"), "outside-measured-range", {}),
        (("--for", "op=copy,hole_kib=64,block_kib=64"), "unknown-level", {"factor": "op", "level": "copy"}),
        (("--for", "op=read,hole_kib=64"), "missing-factor-level", {"factor": "block_kib"}),
        (("--for", "op=read,hole_kib=x,block_kib=64"), "not-a-number", {"factor": "hole_kib", "level": "x"}),
        (("--for", "servers=2"), "not-a-workload-factor", {"factor": "servers"}),
        (
            ("--for", "op=read,hole_kib=900,block_kib=64", "--where", "hole_kib!=900"),
            "excluded-by-filter",
            {"workload": "op=read,hole_kib=900,block_kib=64"},
        ),
        (("--for", "op"), "invalid-assignment", {"assignment": "op"}),
        (("--write", "x"), "options-require-each-other", {}),
        (("--current", "servers=2"), "incomplete-setting", {"columns": "servers, stripe, sieving"}),
        (("--as", "servers=-c"), "option-requires-option", {}),
        (("--for", "op=read,op=write,hole_kib=64,block_kib=64"), "duplicate-name", {"name": "op"}),
        (("--for", "op=read,hole_kib=64,block_kib=64", "--against", DATA), "conflicting-options", {}),
        (("--plot", "x.txt"), "unknown-file-format", {"path": "x.txt"}),
        (("--against", "absent.csv"), "no-such-file", {"path": "absent.csv"}),
        (("--against", DATA), "training-data-reused", {"source": DATA}),
    ],
)
def test_wrong_input_is_one_sentence(args, code, values):
    with raises(code, **values):
        invoke(*ARGS, *args)


def test_no_advice_where_a_drift_explains_the_effect(tmp_path):
    minutes = zip("a" * 10 + "b" * 10, range(20), strict=True)
    rows = [f"{fs},2026-03-01T10:{minute:02d}:00,{100 * 0.97**minute:.2f}" for fs, minute in minutes]
    (tmp_path / "drift.csv").write_text("\n".join(["fs,start,mbs", *rows]) + "\n")
    answer = iosonde.advise(str(tmp_path / "drift.csv"), choose="fs")
    (verdict,) = answer.to_dict()["verdicts"]
    assert verdict["state"] == "inconclusive" and "drift" in verdict["doubts"]
    assert answer.to_dict()["rules"] == [] and not answer.to_dict()["needs"]


CROSS = {("a", 1): 100.0, ("b", 1): 150.0, ("a", 16): 150.0, ("b", 16): 100.0}


def crossing(path, *responses: str) -> str:
    """b is best for one client, a for 16; five trials of each, about 1 % of noise."""
    rng = np.random.default_rng(2)
    rows = [",".join(("fs", "clients", "mbs", *responses))]
    for (fs, clients), mean in CROSS.items():
        for noise in rng.normal(0, 0.01, (5, 1 + len(responses))):
            rows.append(",".join(map(str, (fs, clients, *(mean * np.exp(noise))))))
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_two_workloads_suffice_for_rules_where_each_is_sure_by_itself(tmp_path):
    """compare --by clients was sure of both, and advise said that no rule helps."""
    data = crossing(tmp_path / "t.csv")
    made = json.loads(invoke(data, "--choose", "fs", "--json"))
    assert made["advised"] == "rules" and [rule["set"]["fs"] for rule in made["rules"]] == ["b", "a"]
    assert made["equal_defaults"] and made["gain"]["low"] > 0.1
    compared = json.loads(run(compare, data, "--group", "fs", "--by", "clients", "--json").output)["comparisons"]
    ratios = [each["ratio"] for each in compared]
    cases = [case["ratio"] for case in made["cases"]]
    assert [case["significant"] for case in made["cases"]] == [True, True]
    assert cases[0]["low"] == pytest.approx(ratios[0]["low"]) and cases[1]["low"] == pytest.approx(
        1 / ratios[1]["high"]
    )
    one = invoke(data, "--choose", "fs", "--for", "clients=16")
    assert "a is 1.5" in " ".join(one.split())
    with raises("outside-measured-range", InputError):
        iosonde.advise(data, "fs", workload={"clients": "8"})


def test_a_ratio_has_the_interval_that_compare_says(tmp_path):
    """The spread of both settings was one: 1.269 (1.024 to 1.572) here, 0.788 (0.592 to 1.039) there."""
    values = {"a": (102.0, 106.5, 103.1, 105.2), "b": (71.0, 98.0, 66.0, 93.5)}
    path = tmp_path / "t.csv"
    path.write_text("fs,mbs\n" + "".join(f"{fs},{value}\n" for fs, many in values.items() for value in many))
    made = json.loads(invoke(str(path), "--json"))
    [compared] = json.loads(run(compare, str(path), "--json").output)["comparisons"]
    ratio, expected = made["effects"][0]["ratio"], compared["ratio"]
    assert (ratio["low"], ratio["high"]) == pytest.approx((1 / expected["high"], 1 / expected["low"]))
    assert made["advised"] == "nothing" and made["equal_defaults"] == ["b"]
    assert made["needs"]["cells"][0]["more_to_settle"] == max(side["n_more"] for side in (compared["a"], compared["b"]))


def test_the_only_factor_is_chosen_and_several_are_named(tmp_path):
    data = crossing(tmp_path / "t.csv")
    assert json.loads(invoke(data, "--given", "clients", "--json"))["choose"] == ["fs"]
    with raises("missing-option", InputError, columns="fs, clients"):
        iosonde.advise(data)


def test_each_response_of_a_table_has_its_advice(tmp_path):
    data = crossing(tmp_path / "t.csv", "read_mbs")
    made = json.loads(invoke(data, "--choose", "fs", "--json"))
    assert [each["response"] for each in made["advice"]] == ["mbs", "read_mbs"]
