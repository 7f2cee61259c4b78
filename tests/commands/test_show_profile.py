"""``iosonde show DATA``: what its columns are, as text, as data, and in an exported file; and ``--roles`` elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import declared_sample
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from iosonde.cli.group import cli
from iosonde.core.errors import DataError, InputError
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import open_data
from iosonde.tables import content
from messages import assert_problem, raises, with_code

LINES = [
    f"{fs},n1,{size},{rank},{speed + fs_speed}.{rank},{disk},s_{disk}"
    for fs, fs_speed in (("a", 0), ("b", 10))
    for size, disk, speed in (("4k", "hdd", 100), ("1M", "ssd", 300))
    for rank in range(2)
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["fs,host,size,rank,bandwidth [MB/s],disk,setup", *LINES]) + "\n")
    return path


def invoke(*words: object, **more: object) -> Result:
    result = CliRunner().invoke(cli, [str(word) for word in words], **more)  # type: ignore[arg-type]  # click's options
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_table_is_shown_with_all_its_columns(table):
    result = invoke("show", table)
    assert result.exit_code == 0 and max(map(len, result.stdout.splitlines()[1:])) < 80  # the first has the path
    columns, _, _ = result.stdout.partition("\n\n4 cells")
    rows = {line.split()[0]: line.split() for line in columns.splitlines() if line}
    assert rows["fs"][1] == "setting" and rows["rank"][1] == "part" and rows["host"][1] == "constant"
    assert rows["disk"][-2:] == ["size,", "setup"]
    content._read_once.cache_clear()
    piped = invoke("show", "-", input=table.read_text()).stdout
    content._read_once.cache_clear()
    assert piped.partition("column ")[2] == result.stdout.partition("column ")[2]
    assert invoke("show", table, "--profile").stdout == result.stdout


def test_the_profile_is_data(table):
    document = json.loads(invoke("show", table, "--roles", "disk+setup=one", "--json").stdout)
    columns = {column["name"]: column for column in document["profile"]["columns"]}
    assert (document["rows"], document["profile"]["unit"]) == (8, "trial")
    assert columns["bandwidth [MB/s]"]["unit"] == "MB/s"
    assert (columns["disk+setup"]["role"], columns["disk"]["role"], columns["disk"]["is_stated"]) == (
        "setting",
        "fact",
        True,
    )
    assert sum(cell["n"] for cell in document["profile"]["cells"]) == 4


def test_a_store_is_profiled_on_request(tmp_path):
    declared_sample.store(tmp_path / "s")
    plain, profile = (invoke("show", tmp_path / "s", *words).stdout for words in ((), ("--profile",)))
    assert plain != profile and max(map(len, profile.splitlines())) < 80
    assert "response" in profile and "response" not in plain
    with raises("conflicting-options", InputError):
        invoke("show", tmp_path / "s", "--profile", "--export", "csv")


def test_a_parquet_file_keeps_the_roles_of_a_store(tmp_path):
    declared_sample.store(tmp_path / "s")
    path = tmp_path / "t.parquet"
    assert invoke("show", tmp_path / "s", "--export", "parquet", "-o", path).exit_code == 0
    assert b"iosonde.profile" in pq.read_schema(path).metadata
    source = open_data(path)
    roles = {name: column.role for name, column in source.table.columns.items()}
    assert (roles["value"], roles["unit"], roles["run"]) == ("response", "fact", "repetition")
    factors = [name for name in open_data(str(tmp_path / "s")).varying_factors.names if name in roles]
    assert factors and all(roles[name] == "setting" for name in factors)
    assert source.with_roles({factors[0]: "fact"}).table.columns[factors[0]].role == "fact"


@pytest.mark.parametrize(
    "words",
    [
        ("summary",),
        ("rank",),
        ("anova",),
        ("check",),
        ("plot",),
        ("advise", "--choose", "disk+setup"),
        ("compare", "--group", "fs", "a", "b"),
        ("regress", "--on", "size"),
        ("fit", "--on", "fs,disk+setup", "--family", "mean"),
    ],
)
def test_every_analysis_takes_roles(table, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # `plot` writes its figure there
    assert invoke(words[0], table, *words[1:], "--roles", "disk+setup=one,size=fact").exit_code in (0, 1)
    with raises("unknown-column", DataError):
        invoke(words[0], table, *words[1:], "--roles", "nothing=fact")
    with raises("unknown-role", InputError, role="what"):
        invoke(words[0], table, *words[1:], "--roles", "disk=fact,setup=what")


def test_what_was_assumed_is_one_line_and_is_what_was_stated(table):
    def check_line(factors: str, *words: str, **stated: str) -> None:
        (response,) = build_responses(open_data(str(table)).with_roles(stated), ResponseQuery())
        assumed = with_code(response.warnings, "assumed-factors")
        assert_problem(assumed, "assumed-factors", responses="bandwidth (MB/s)", factors=factors, constants="host")
        assert "rank" in assumed.values["parts"]
        assert f"~ {assumed}" in " ".join(invoke("summary", table, *words).stdout.split())

    check_line("fs, size, disk, setup")
    check_line("fs, disk+setup", "--roles", "disk+setup=one,size=fact", **{"disk+setup": "one", "size": "fact"})


@pytest.mark.long
def test_a_page_is_of_the_stated_roles(table, tmp_path):
    result = invoke("report", table, "-o", tmp_path / "page.html", "--roles", "disk+setup=one,size=fact")
    assert result.exit_code == 0
    assert "--roles" in (tmp_path / "page.html").read_text() and "disk+setup" in (tmp_path / "page.html").read_text()
