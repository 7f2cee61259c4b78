"""``iosonde check`` and ``iosonde verify``: text, JSON, exit codes, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

_native = pytest.importorskip("iosonde.engine._native")
from stats_sample import run, store  # noqa: E402

import iosonde  # noqa: E402
from iosonde.core.errors import InputError  # noqa: E402
from iosonde.core.stored import StoredRun  # noqa: E402
from iosonde.core.types import Observation  # noqa: E402
from iosonde.stats.overview.recompute import recompute_rates  # noqa: E402
from iosonde.store import Store  # noqa: E402
from messages import raises  # noqa: E402
from terminal import command_of  # noqa: E402

check = command_of("check")
verify = command_of("verify")

CP = str(Path(__file__).parents[1] / "golden" / "data" / "cp_raw.csv")


def invoke(*args: str, code: int = 0, command=check) -> str:
    done = CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.fixture
def bad(tmp_path) -> str:
    """A table with a copied level, an evil name, and a row in other units."""
    rng, rows = np.random.default_rng(1), ["mode,size,evil\x1b[2J_MB/s"]
    for size in range(12):
        value = rng.normal(100, 5)
        rows += [f"a,{size},{rng.normal(90, 5):.6f}", f"b,{size},{value:.6f}", f"c,{size},{value:.6f}"]
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_published_trials_are_clean():
    made = json.loads(invoke(CP, "--json"))
    assert (made["n_cells"], made["responses"], made["findings"]) == (3, ["real_s"], [])
    assert made["trials"] == {"fewest": 8, "most": 8}
    assert re.match(r"3 .*\b8 .*: real_s\b", invoke(CP))


def test_a_suspicious_table_exits_with_1_and_names_its_defects(bad):
    text = invoke(bad, code=1)
    assert re.search(r"S121 .*\b12 ", text) and "\x1b" not in text
    assert max(map(len, text.splitlines())) < 80


def test_json_is_stable(bad):
    made = json.loads(invoke(bad, "--json", code=1))
    keys = {
        "schema",
        "findings",
        "unseen",
        "responses",
        "settings",
        "ignored",
        "n_rows",
        "n_cells",
        "n_checks",
        "trials",
        "warnings",
    }
    assert set(made) == keys
    assert {"code", "severity", "sentence", "evidence", "action"} == set(made["findings"][0])
    assert made["findings"][0]["code"] == "S121" and made["settings"] == ["mode", "size"]


def test_a_bound_is_read_with_its_unit(bad):
    name = "evil\x1b[2J_MB/s"
    found = json.loads(invoke(bad, "--json", "--response", name, "--bound", "80MB/s", code=1))["findings"]
    assert "S127" in [finding["code"] for finding in found]
    found = json.loads(invoke(bad, "--json", "--response", name, "--bound", "1e6", code=1))["findings"]
    assert "S127" not in [finding["code"] for finding in found]
    for wrong in ("fast", "80MB", "0MB/s", "-3MB/s"):
        with raises("not-a-rate", InputError, rate=wrong):
            invoke(bad, "--bound", wrong)


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("", "empty-file", ""),
        ("a,b\n", "no-rows", ""),
        ("a,a\n1,2\n", "duplicate-column", "'a'"),
        ("a,b\n1,2\n1,2\n", "undetermined-response", ""),
        ("a,b\n1,2.5\n2,inf\n", "not-a-number", "line 3, column 'b'"),
        ("a,b\n1,2.5\n2,3.5\n3,fast\n", "not-a-number", "line 4, column 'b'"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, text, code, place):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with raises(code) as raised:
        invoke(str(path))
    assert raised.value.exit_code == 2 and raised.value.hint
    assert str(path) in raised.value.message and place in raised.value.message


@pytest.mark.parametrize("content", ["y\n1.5\n", "y\n" + "3.5\n" * 9, "x,y\n1,2.5\n2,\n"])
def test_tiny_and_constant_tables_are_looked_at(tmp_path, content):
    path = tmp_path / "x.csv"
    path.write_text(content)
    done = CliRunner().invoke(check, [str(path), "--response", "y"], catch_exceptions=False)
    assert done.exit_code in (0, 1)


def test_text_and_infinities_in_a_response_are_refused_with_their_place(tmp_path):
    path = tmp_path / "x.csv"
    for bad_cell in ("fast", "inf", "-inf"):
        path.write_text(f"x,y\n1,2.5\n2,{bad_cell}\n")
        with raises("not-a-number", column="y"):
            invoke(str(path), "--response", "y")


def test_a_store_is_examined_and_its_noise_shown(tmp_path):
    store(tmp_path / "s", repetitions=8)
    made = json.loads(CliRunner().invoke(check, [str(tmp_path / "s"), "--json"]).stdout)
    assert made["n_cells"] == 4 and made["settings"] == ["nodes"]
    noise = json.loads(invoke(str(tmp_path / "s"), "--noise", "--json"))
    assert noise["power"] == 0.8 and noise["level"] == 0.95
    create = noise["metrics"][0]
    assert create["sd_log"] == pytest.approx(0.02, rel=0.5)
    assert [item["n"] for item in create["smallest_difference"]] == [6, 10, 20, 50]
    text = invoke(str(tmp_path / "s"), "--noise")
    assert max(map(len, text.splitlines())) < 80 and "level 0.95" in text


def verifiable(path: Path, factor: float = 1.0) -> str:
    """A store whose rates are those of its operations, times a factor."""
    rng = np.random.default_rng(1)
    made = run(2, 0, rng)
    made.facts["nodes"] = [0, 1]
    for phase, (kind, measures) in zip(made.phases, (("create", "rate"), ("read", "bandwidth")), strict=True):
        phase["measures"] = measures
        made.operations["kind"][made.operations["phase"] == phase["index"]] = _native.KINDS.index(kind)
    made.operations["size"] = 4096
    document = {"phases": made.phases, "facts": made.facts}
    computed = recompute_rates(StoredRun(document), made.operations, list(_native.KINDS))
    made.observations[:] = [
        Observation(operation, metric, factor * value, "", rank)
        for (operation, metric, rank), value in computed.items()
    ]
    Store.create(path).append(made)
    return str(path)


def test_verify_finds_an_honest_store_good_and_a_flattered_one_not(tmp_path):
    good, bad = verifiable(tmp_path / "good"), verifiable(tmp_path / "bad", 1.01)
    assert json.loads(invoke(good, "--json", command=verify))["good"]
    made = json.loads(invoke(bad, "--json", code=1, command=verify))
    assert not made["good"] and made["different"]
    text = invoke(bad, code=1, command=verify)
    assert text != invoke(good, command=verify) and max(map(len, text.splitlines())) < 80


def test_verify_says_when_it_can_tell_nothing(tmp_path):
    store(tmp_path / "s")
    assert invoke(str(tmp_path / "s"), code=1, command=verify).splitlines()[-1].endswith(".")
    made = json.loads(invoke(str(tmp_path / "s"), "--json", code=1, command=verify))
    assert not made["good"] and not made["different"]


def test_verify_wants_a_store():
    with raises("not-a-store", InputError, source=CP):
        invoke(CP, command=verify)


def test_ranks_of_a_trial_are_no_trials(tmp_path):
    rows = [f"{fs},{trial},{rank},{100 + trial + rank / 10}" for fs in "ab" for trial in (1, 2, 3) for rank in range(4)]
    (tmp_path / "ranks.csv").write_text("\n".join(["fs,trial,rank,mbs", *rows]) + "\n")
    answer = iosonde.check(str(tmp_path / "ranks.csv")).to_dict()
    assert answer["trials"] == {"fewest": 3, "most": 3} and answer["warnings"]
