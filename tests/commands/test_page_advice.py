"""Advice on the page: the same as `iosonde advise`, for tables and stores, against the setting in use."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.core.errors import IosondeError
from iosonde.core.types import Experiment, Factor, Observation, Role, Run
from iosonde.explain.rules import RuleCondition
from iosonde.store import Store
from terminal import command_of

advise = command_of("advise")
report = command_of("report")

DATA = Path(__file__).parent.parent / "golden" / "data" / "sieving_384.csv"
CHOOSE = ["--choose", "servers,stripe,sieving"]
IN_USE = ["--current", "servers=1,stripe=2M,sieving=off"]


def run(command, *words):
    return CliRunner().invoke(command, [str(word) for word in words])


def small(path, gain=1.5):
    """Two settings in 12 workloads with 3 trials each; ``b`` is faster where the size is large."""
    rows = ["size,hint,trial,speed_MB/s"]
    for size in range(1, 13):
        for hint in "ab":
            for trial in range(3):
                speed = 100 + size + 0.1 * trial + (50 * gain if (hint == "b") == (size > 6) else 0)
                rows.append(f"{size},{hint},{trial},{speed}")
    path.write_text("\n".join(rows) + "\n")
    return path


def page(*words):
    out = run(report, *words, "--json")
    assert out.exit_code == 0, out.output
    return json.loads(out.stdout)["advice"]


@pytest.mark.usefixtures("page_without_models")
def test_the_advice_is_that_of_the_command():
    said = json.loads(
        run(advise, DATA, "--response", "mib_s", *CHOOSE, *IN_USE, "--given", "op,hole_kib,block_kib", "--json").stdout
    )
    (made,) = page(DATA, "--response", "mib_s", *CHOOSE, *IN_USE)["items"]
    assert made["ratio"] == said["gain"]["ratio"] and said["gain"]["over"] == "1/2M/off"
    assert made["over"] == "1/2MiB/off"  # as people read it
    assert [rule["lowest"] for rule in made["rules"]] == [rule["lowest"] for rule in said["rules"]]
    shares = sorted(one["share"] for one in made["defaults"])
    assert shares == sorted(one["rel_arith"] for one in said["defaults"])
    notes = {one["setting"]: one["note"] for one in made["defaults"]}
    assert notes["1/2MiB/off"] not in {"", *(note for setting, note in notes.items() if setting != "1/2MiB/off")}
    assert [one["name"].partition(" (")[0] for one in made["compared"]] == ["rules", "1/2MiB/off"]
    assert made["compared"][0]["lowest"] == said["gain"]["lowest"]


@pytest.mark.long
def test_settings_and_conditions_are_there_in_base_units_beside_their_words():
    """2M of a table is 2097152 bytes for a program; what is no single setting has none."""
    (made,) = page(DATA, "--response", "mib_s", *CHOOSE, *IN_USE)["items"]
    in_use = {"servers": 1, "stripe": 2 << 20, "sieving": "off"}
    assert made["over_set"] == in_use and [one["set"] for one in made["compared"]] == [None, in_use]
    assert {one["setting"]: one["set"] for one in made["defaults"]}["1/2MiB/off"] == in_use
    rule = next(one for one in made["rules"] if one["when"] == "op is read and 128 < hole_kib <= 200")
    assert rule["conditions"] == [
        {"factor": "op", "levels": ["read"]},
        {"factor": "hole_kib", "above": 128, "up_to": 200},
    ]
    assert rule["set"] == {"servers": 2, "stripe": 2 << 20, "sieving": "on"} and "stripe=2MiB" in rule["then"]


def test_a_condition_on_sizes_that_were_typed_is_in_bytes():
    asked = RuleCondition("t", levels=("4k", "1M"), unit="bytes")
    assert str(asked) == "t is 4KiB or 1MiB" and asked.to_base_units() == {"factor": "t", "levels": [4096, 1 << 20]}


@pytest.mark.long
def test_what_is_given_is_every_other_setting_and_may_be_named(tmp_path):
    table = small(tmp_path / "t.csv")
    (made,) = page(table, "--choose", "hint")["items"]
    assert "(size)" in made["head"] and made["rules"] and made["ratio"]["low"] > 1
    (alone,) = page(table, "--choose", "hint", "--given", "")["items"]
    assert "(size)" not in alone["head"] and not alone["ratio"]


@pytest.mark.usefixtures("page_without_models")
def test_the_page_has_the_section_and_the_answer_on_its_first_screen(tmp_path):
    table = small(tmp_path / "t.csv")
    out = run(report, table, "-o", tmp_path / "p.html", "--choose", "hint", "--current", "hint=a")
    assert out.exit_code == 0, out.output
    html = (tmp_path / "p.html").read_text()
    assert 'id="advice"' in html and html.count("Advice: hint=") == 2 and "--current hint=a" in html
    assert ">a (" in html and "size &lt;= 6.5" in html
    run(report, table, "-o", tmp_path / "p.html")
    assert 'id="advice"' not in (tmp_path / "p.html").read_text()


@pytest.mark.long
def test_a_gain_that_may_be_nothing_is_no_ratio(tmp_path):
    (made,) = page(small(tmp_path / "t.csv", gain=0.0), "--choose", "hint")["items"]
    assert made["ratio"] is None and "1.0" not in made["sentence"]


def store(path, role=Role.SET):
    made = Store.create(path)
    made.save_experiment(
        Experiment(
            "x",
            "x",
            [
                Factor("size", levels=(1, 2)),
                Factor("hint", levels=("a", "b")),
                Factor("room", levels=("r", "s"), role=role),
            ],
            {},
            [],
            1,
            "2026-11-21T10:00:00Z",
        )
    )
    number = 0
    for repetition in range(3):
        for size in range(1, 7):
            for hint in "ab":
                number += 1
                speed = 1e8 * (2 if hint == "b" else 1) + number * 1e4
                factors = {"size": size, "hint": hint, "room": "rs"[repetition % 2], "repetition": repetition}
                made.append(
                    Run(
                        f"r{number:03}",
                        "x",
                        "test",
                        f"2026-11-21T10:{number:02}:00Z",
                        1.0,
                        factors,
                        [
                            Observation("write_large", "bandwidth_last_done", speed, "bytes/s"),
                            Observation("read_1to1_large", "bandwidth_last_done", speed, "bytes/s"),
                        ],
                    )
                )
    return path


@pytest.mark.long
def test_of_a_store_each_metric_has_advice_and_blocks_are_no_workload(tmp_path):
    found = page(store(tmp_path / "s", Role.BLOCKED), "--choose", "hint")["items"]
    assert [one["title"].split()[0] for one in found] == ["Write,", "Read"]
    assert all("(size)" in one["head"] and one["sentence"].startswith("Advice: b") for one in found)


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--given", "size"], "are about --choose"),
        (["--current", "hint=a"], "are about --choose"),
        (["--choose", "hnt"], "hint"),
        (["--choose", "speed_MB/s"], "is the response"),
        (["--choose", "hint", "--given", "hint"], "named twice"),
        (["--choose", "hint", "--current", "hint=z"], "was never measured"),
        (["--choose", "hint", "--current", "z"], "--current: 'z' is not NAME=VALUE"),
        (["--choose", ","], "no setting to choose"),
    ],
)
def test_wrong_words_are_one_sentence(tmp_path, words, says):
    out = run(report, small(tmp_path / "t.csv"), "-o", tmp_path / "p.html", *words)
    assert isinstance(out.exception, IosondeError), out.exception
    assert re.search(says, f"{out.exception.message} {out.exception.hint}")
    assert not (tmp_path / "p.html").exists()
