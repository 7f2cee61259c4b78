"""Options that only some command lines have: the others have the tool's default, where their output proves it."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import iosonde
from fake_tools import print_tool
from iosonde.core.stored import StoredRun
from iosonde.core.vocabulary.defaults import list_default_settings
from messages import codes

BASE = ("-w", "-t", "1m", "-b", "16m", "-o", "/scratch/f")


def write_store(folder: Path, name: str, *options: Sequence[str]) -> str:
    """Import six outputs of IOR for each list of options; each further list halves the rate."""
    noise = random.Random(name)
    files = folder / f"{name}-files"
    files.mkdir()
    for place, words in enumerate(options):
        for number in range(6):
            text = print_tool("ior", [*BASE, *words], noise.uniform(-1, 1), 0.5**place)
            text = text.replace("09:26:02", f"{10 + place}:{10 + number}:02")
            (files / f"{number}-{place}.txt").write_text(text)
    iosonde.import_files([str(path) for path in sorted(files.iterdir())], store=str(folder / name))
    return str(folder / name)


@pytest.mark.parametrize(
    ("option", "factor", "default"),
    [
        ("--posix.odirect", "direct", "false"),
        ("-O useO_DIRECT=1", "direct", "false"),
        ("-e", "fsync", "false"),
        ("-D 30", "stonewall_seconds", "0"),
    ],
)
def test_a_command_line_without_an_option_has_the_default(
    tmp_path: Path, option: str, factor: str, default: str
) -> None:
    store = write_store(tmp_path, "store", [], option.split())
    (item,) = iosonde.compare(store, factor).answer.items
    assert item.comparison.a.name == default
    assert item.comparison.ratio.value == pytest.approx(0.5, rel=0.02)
    (ranking,) = iosonde.rank(store).answer.rankings
    assert [row.name for row in ranking.factors] == [factor]


@pytest.mark.parametrize(("has_command", "level"), [(True, False), (False, None)])
def test_only_a_command_line_proves_a_default(tmp_path: Path, has_command: bool, level: bool | None) -> None:
    runs = {
        "with": {"tool": "ior", "fsync": True},
        "without": {"tool": "ior"},
    }
    command = {"command": "ior -w -o x"} if has_command else {}
    stored = [
        StoredRun({"id": name, "factors": factors, "facts": {"import": {}, **command}})
        for name, factors in runs.items()
    ]
    assert list_default_settings(stored) == [{}, {"fsync": level} if has_command else {}]


def test_a_script_of_options_proves_nothing() -> None:
    facts = {"import": {}, "command": "ior -f script"}
    runs = [StoredRun({"factors": {"tool": "ior", **more}, "facts": facts}) for more in ({}, {"direct": True})]
    assert list_default_settings(runs) == [{}, {}]


def test_another_tool_has_no_default_of_this_one() -> None:
    facts = {"import": {}, "command": "x -w"}
    runs = [StoredRun({"factors": {"tool": tool}, "facts": facts}) for tool in ("ior", "mdtest")]
    assert list_default_settings([*runs, StoredRun({"factors": {"tool": "ior", "fsync": True}})]) == [
        {"fsync": False},
        {},
        {},
    ]


def test_two_stores_differ_in_an_option_that_one_of_them_has(tmp_path: Path) -> None:
    plain, direct = write_store(tmp_path, "plain", []), write_store(tmp_path, "direct", ["-B"])
    assert "factor-differs" in codes(iosonde.compare(plain, b=direct).answer.warnings)


def test_two_stores_meet_where_both_lack_the_option(tmp_path: Path) -> None:
    plain, both = write_store(tmp_path, "plain", []), write_store(tmp_path, "both", [], ["-e"])
    (item,) = iosonde.compare(plain, b=both).answer.items
    assert item.comparison.ratio.value == pytest.approx(1, rel=0.02)


def write_fio(path: Path, rates: Sequence[float], *options: dict[str, str]) -> None:
    """Write fio's JSON with one job for each set of options."""
    jobs = [
        {
            "jobname": f"j{number}",
            "groupid": number,
            "error": 0,
            "job options": {"rw": "write", "bs": "4k", **own},
            "write": {
                "io_bytes": int(rate * 2),
                "bw_bytes": rate,
                "iops": rate / 4096,
                "runtime": 2000,
                "total_ios": int(rate / 2048),
            },
        }
        for number, (rate, own) in enumerate(zip(rates, options, strict=True))
    ]
    path.write_text(json.dumps({"fio version": "fio-3.33", "time": f"x {path.stem}", "jobs": jobs}, indent=1))


@pytest.mark.parametrize(
    ("name", "factor", "other"),
    [("fsync", "fsync_every", 0), ("iodepth", "io_depth", 1), ("runtime", "runtime", "not given")],
)
def test_fio_lists_all_options_so_that_an_absent_one_is_a_level(
    tmp_path: Path, name: str, factor: str, other: int | str
) -> None:
    noise = random.Random(name)
    for number in range(6):
        for place, options in enumerate(({}, {name: "4"})):
            rate = (2 - place) * 4096 * (10_000 + noise.randrange(100))
            write_fio(tmp_path / f"{number}-{place}.json", [rate], options)
    store = str(tmp_path / "store")
    iosonde.import_files([str(path) for path in sorted(tmp_path.glob("*.json"))], store=store)
    ranking = iosonde.rank(store, metric="bandwidth").answer.rankings[0]
    assert [row.name for row in ranking.factors] == [factor]
    assert ranking.factors[0].share.value > 0.9
    (item,) = iosonde.compare(store, factor, metric="bandwidth").answer.items[:1]
    assert {item.comparison.a.name, item.comparison.b.name} == {str(other), "4"}


@pytest.mark.parametrize("absent", [{"facts": {}}, {"factors": {"tool": "fio", "fsync_every": 0}}])
def test_options_that_fio_does_not_list_are_unknown(absent: dict[str, dict[str, object]]) -> None:
    facts = {"import": {}, "states_all_options": True}
    runs = [{"factors": {"tool": "fio"}, "facts": facts, **absent}, {"factors": {"tool": "fio", "fsync_every": 1}}]
    assert list_default_settings(map(StoredRun, runs)) == [{}, {}]
