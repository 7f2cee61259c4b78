"""``iosonde show`` and ``iosonde store``: what they print, export and refuse."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import store_samples
from click.testing import CliRunner, Result

from iosonde.core.errors import DataError, IncompleteError, InputError
from iosonde.core.types import Observation
from iosonde.data.source import open_data
from iosonde.engine import _native
from iosonde.store import Store
from messages import raises
from terminal import command_of

show = command_of("show")
store_command = command_of("store")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "store")
    store.save_experiment(store_samples.experiment())
    for number in range(4):
        store.append(
            store_samples.run(
                f"e-1-{number}",
                factors={"nodes": 1 + number % 2, "fs": "nfs", "share": number / 4},
                started_at=f"2026-11-21T10:0{number}:00Z",
                missing=["rank 3 did not finish"] if number == 3 else [],
            )
        )
    return store


def invoke(command, *words: object) -> Result:
    result = CliRunner().invoke(command, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_store_at_a_glance(store: Store) -> None:
    store.notes.change("e-1-0", add=["baseline"])
    lines = invoke(show, store.path).stdout.splitlines()
    text = "\n".join(lines)
    assert re.search(r"\b1 \w+, 4 \w+, 1 ", " ".join(text.split()))
    assert text.count("fs=nfs") == 1
    row = next(line for line in lines if line.startswith("e-1-0"))
    assert row.split() == ["e-1-0", "2026-11-21", "10:00", "1.5", "s", "1", "0", "complete", "baseline"]
    assert [line.split()[-1] for line in lines if line.startswith("e-1-3")] == ["incomplete"]
    assert max(map(len, lines)) < 80


def recorded(number: int, slow: int):
    """A run of two ranks with one operation that stands out."""
    rows = store_samples.operations(40)
    rows["kind"], rows["file"] = _native.KINDS.index("read"), 3
    rows["duration_ns"][slow] = 5_000_000 * (number + 1)
    ranks = [{"rank": rank, "host": f"node{rank}"} for rank in range(2)]
    phases = [{"index": 0, "name": "p", "operation": "read_large", "recorded_all": True, "ranks": ranks}]
    return store_samples.run(f"e-1-{number}", operations=rows, phases=phases)


def test_the_slowest_operations_of_all_runs_and_of_one(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s")
    for number in range(3):
        store.append(recorded(number, 11 + number))
    text = invoke(show, store.path, "--slowest", 2).stdout
    assert re.findall(r"\b\d+\b", text.splitlines()[0]) == ["2", "120", "3"] and "e-1-…" in text
    assert [line.split() for line in text.splitlines()[-2:]] == [
        ["15.0", "ms", "13.0", "µs", "read_large", "read", "1", "node1", "3", "52", "KiB", "4", "KiB", "2"],
        ["10.0", "ms", "12.0", "µs", "read_large", "read", "0", "node0", "3", "48", "KiB", "4", "KiB", "1"],
    ]
    assert max(map(len, text.splitlines())) < 80
    made = json.loads(invoke(show, store.path, "--slowest", 1, "--json").stdout)
    assert made["operations"] == [
        {
            "run": "e-1-2",
            "operation": "read_large",
            "kind": "read",
            "rank": 1,
            "host": "node1",
            "file": 3,
            "offset": 53248,
            "size": 4096,
            "start_s": pytest.approx(13e-6),
            "duration_s": 0.015,
            "status": 0,
            "path": "",
        }
    ]
    assert (made["runs"], made["recorded"], made["notes"]) == (3, 120, [])
    one = invoke(show, store.path, "e-1-0", "--slowest").stdout
    assert re.findall(r"\b\d+\b", one)[:2] == ["20", "40"] and "e-1-0" in one and "5.00 ms" in one
    assert len(one.splitlines()) == 20 + 4


def test_what_was_only_sampled_is_said_of_the_slowest(tmp_path: Path) -> None:
    store, run = Store.create(tmp_path / "s"), recorded(0, 11)
    phase = {
        **run.phases[0],
        "recorded_all": False,
        "histograms": {"read": [[250, 1000]]},
        "totals": {"read": {"count": 1000, "bytes": 0, "errors": 0}},
    }
    store.append(store_samples.run("e-1-0", operations=run.operations, phases=[phase]))
    text = invoke(show, store.path, "--slowest", 1).stdout
    (note,) = json.loads(invoke(show, store.path, "--slowest", 1, "--json").stdout)["notes"]
    assert note in " ".join(text.split()) and note.startswith("960 ") and "histograms" in note


def test_slowest_needs_recorded_operations_and_stands_alone(store: Store, tmp_path: Path) -> None:
    empty = Store.create(tmp_path / "none")
    empty.append(store_samples.run("x", operations=None))
    with raises("no-recorded-operations", DataError):
        invoke(show, empty.path, "--slowest")
    with raises("out-of-range", InputError, count=0):
        invoke(show, store.path, "--slowest", 0)
    with raises("conflicting-options", InputError):
        invoke(show, store.path, "--slowest", "--as", "ior")


def test_sizes_of_runs_are_shown_as_such(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s")
    for number, size in enumerate(("64k", "1m")):
        store.append(store_samples.run(f"e-1-{number}", factors={"t": size, "block_size": 4096}))
    listing, one = invoke(show, store.path).stdout, invoke(show, store.path, "e-1-0").stdout
    assert "64 KiB" in listing and "1 MiB" in listing and "block_size=4 KiB" in listing and "64k" not in listing
    assert "t=64 KiB, block_size=4 KiB" in one


def test_many_factors_stay_under_80_columns_and_are_named(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s")
    for number in range(2):
        factors = {f"a_rather_long_factor_{name}": number for name in range(9)}
        store.append(store_samples.run(f"a-very-long-run-name-{'x' * 60}-{number}", factors=factors))
    lines = invoke(show, store.path).stdout.splitlines()
    assert max(map(len, lines)) < 80
    assert all(f"a_rather_long_factor_{name}" in "\n".join(lines) for name in range(9))


def test_the_name_of_a_run_is_whole_however_many_factors(tmp_path: Path) -> None:
    made = Store.create(tmp_path / "s")
    names = [f"20261121-f2a30912-{n:04d}" for n in range(3)]
    for n, name in enumerate(names):
        factors = {"client_cache": "cold-verified" if n else "cold-requested", "reader": f"node-{n}", "block": n}
        made.append(store_samples.run(name, factors=factors))
    lines = invoke(show, made.path).stdout.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("2026")] == names
    assert max(map(len, lines)) < 80


def test_one_run_in_detail(store: Store) -> None:
    store.notes.change("e-1-3", note="a switch failed")
    text = invoke(show, store.path, "e-1-3").stdout
    for said in (
        "incomplete: rank 3 did not finish",
        "238 MiB/s",
        "a switch failed",
        "6 operations",
        "share=0.75",
        "M101 the cache may have served this",
        "kernel  6.1",
    ):
        assert said in text
    assert max(map(len, text.splitlines())) < 80


def test_a_run_lists_what_was_mounted_anew(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s")
    at = "2026-11-21T10:00:0{}.000Z"
    first = [{"mount": "/mnt/x", "host": f"n{k}", "at": at.format(k), "unmount_s": 0.1, "mount_s": k} for k in (1, 2)]
    later = [{"mount": "/mnt/x", "host": "n1", "at": at.format(9), "seconds": 0.25}]
    phases = [{"index": 0, "name": "read", "cache": {"state": "cold-verified", "remounts": later}}]
    store.append(store_samples.run(facts={"remounts": first}, phases=phases))
    text = " ".join(invoke(show, store.path, "run-1").stdout.split())
    for numbers in ("/mnt/x on 2 nodes .*10:00:01, 1.1 s to 2.1 s", "/mnt/x on n1 .*read, at 10:00:09, 250 ms"):
        assert re.search(numbers, text)
    assert "remounts[0]" not in text


def test_nothing_from_a_file_reaches_the_terminal_raw(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s")
    evil = "\x1b]0;owned\x07\x9b31m\u202e"
    store.append(
        store_samples.run(
            factors={evil: evil},
            source=evil,
            facts={evil: [evil]},
            missing=[evil],
            observations=[Observation(evil, evil, 1.0, evil, includes=evil)],
            phases=[],
            raw={},
        )
    )
    store.notes.change("run-1", add=[evil], note=evil)
    for words in ([store.path], [store.path, "run-1"], [store.path, "--json"], [store.path, "run-1", "--json"]):
        text = invoke(show, *words).output
        assert "owned" in text
        assert not set(text) & set("\x1b\x07\x9b\u202e")
    with pytest.raises(IncompleteError):
        invoke(store_command, "check", store.path)
    assert "\x1b" not in invoke(store_command, "tag", store.path, "run-1").output


def test_json_of_a_store_and_of_a_run(store: Store) -> None:
    content = json.loads(invoke(show, store.path, "--json", "--where", "nodes=2").stdout)
    assert sorted(content) == ["experiments", "problems", "runs", "schema", "store"]
    assert [run["id"] for run in content["runs"]] == ["e-1-1", "e-1-3"]
    assert content["runs"][1]["missing"] == store.run("e-1-3").missing and not content["runs"][0]["missing"]
    one = json.loads(invoke(show, store.path, "e-1-0", "--json").stdout)
    assert sorted(one) == ["notes", "results", "run", "schema", "tags"]
    assert one["run"]["factors"]["nodes"] == 1
    assert one["results"][0]["value"] == 2.5e8


def test_json_has_no_nan(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s")
    nan = float("nan")
    store.append(store_samples.run(factors={"x": nan}, observations=[Observation("read", "rate", nan, "bytes/s")]))

    def refuse(name: str) -> None:
        raise AssertionError(name)

    for words in ([store.path, "--json"], [store.path, "run-1", "--json"], [store.path, "--export", "json"]):
        json.loads(invoke(show, *words).stdout, parse_constant=refuse)


def test_one_number_of_each_operation_of_a_trial_is_a_headline(tmp_path: Path) -> None:
    """A condition `metric like 'bandwidth%'` counted each trial four times."""
    store = Store.create(tmp_path / "s")
    rows = [
        Observation(operation, f"bandwidth_{kind}", 1e8, "bytes/s")
        for operation in ("write", "read")
        for kind in ("last_done", "min", "max", "mean")
    ]
    run = store_samples.run(observations=[*rows, Observation("read", "errors", 1.0, "")])
    headlines = {"write": ["bandwidth"], "read": ["bandwidth"]}
    store.append(replace(run, facts={"subject_commit": "abc123"}, headlines=headlines))
    exported = json.loads(invoke(show, store.path, "--export", "json").stdout)["rows"]
    assert [(row["operation"], row["metric"]) for row in exported if row["headline"]] == [
        ("write", "bandwidth_last_done"),
        ("read", "bandwidth_last_done"),
    ]
    assert {row["commit"] for row in exported} == {"abc123"}
    invoke(show, store.path, "--export", "parquet", "-o", tmp_path / "r.parquet")
    columns = open_data(tmp_path / "r.parquet").table.columns
    assert columns["headline"].role == columns["commit"].role == "fact"


def test_results_leave_as_csv_json_and_parquet(store: Store, tmp_path: Path) -> None:
    exported = json.loads(invoke(show, store.path, "--export", "json").stdout)["rows"]
    expected = [
        {**row, "commit": None, "headline": shown["headline"]}
        for row, shown in zip(store.results().to_pylist(), exported, strict=True)
    ]
    rows = list(csv.DictReader(io.StringIO(invoke(show, store.path, "--export", "csv").stdout)))
    assert [(row["run"], float(row["value"]), row["rank"], row["fs"]) for row in rows] == [
        (row["run"], row["value"], "" if row["rank"] is None else str(row["rank"]), row["fs"]) for row in expected
    ]
    assert json.loads(invoke(show, store.path, "--export", "json").stdout) == {"schema": 2, "rows": expected}
    invoke(show, store.path, "--export", "parquet", "-o", tmp_path / "r.parquet")
    assert pq.read_table(tmp_path / "r.parquet").to_pylist() == expected
    one = invoke(show, store.path, "e-1-3", "--export", "csv", "--incomplete").stdout
    assert {row["run"] for row in csv.DictReader(io.StringIO(one))} == {"e-1-3"}
    none = invoke(show, store.path, "--export", "json", "--where", "metric=none").stdout
    assert json.loads(none)["rows"] == []


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_operations_leave_with_the_names_of_their_kinds(store: Store, tmp_path: Path, form: str) -> None:
    file = tmp_path / "o"
    invoke(show, store.path, "--export", form, "--operations", "--where", "nodes=1", "-o", file)
    if form == "csv":
        rows = list(csv.DictReader(file.open()))
    else:
        rows = pq.read_table(file).to_pylist() if form == "parquet" else json.loads(file.read_bytes())["rows"]
    assert [row["run"] for row in rows] == ["e-1-0"] * 6 + ["e-1-2"] * 6
    assert {row["kind"] for row in rows} == {"read"}
    assert [int(row["offset"]) for row in rows[:6]] == [0, 8192, 16384, 4096, 12288, 20480]


@pytest.mark.parametrize(
    "words",
    [
        ["--operations"],
        ["--incomplete"],
        ["-o", "x"],
        ["--export", "csv", "--json"],
        ["--where", "node=1"],
        ["nothing-like-it"],
        ["../x"],
    ],
)
def test_what_makes_no_sense_is_refused(store: Store, words: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        invoke(show, store.path, *words)
    assert refused.value.hint


def test_a_failed_export_leaves_nothing(store: Store, tmp_path: Path) -> None:
    path = store.path / "runs" / "e-1-1" / "operations.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    (tmp_path / "out").mkdir()
    with raises("damaged-run", DataError, run_id="e-1-1"):
        invoke(show, store.path, "--export", "csv", "--operations", "-o", tmp_path / "out" / "o.csv")
    assert list((tmp_path / "out").iterdir()) == []
    with raises("unwritable-file"):
        invoke(show, store.path, "--export", "csv", "-o", tmp_path / "nowhere" / "o.csv")


def test_a_damaged_run_is_named_on_stderr(store: Store) -> None:
    (store.path / "runs" / "e-1-1" / "raw" / "out.txt").unlink()
    result = invoke(show, store.path)
    assert "e-1-1" in result.stderr and "raw/out.txt" in result.stderr and "[D101]" in result.stderr
    assert "e-1-1" not in result.stdout
    with raises("damaged-run", DataError, run_id="e-1-1"):
        invoke(show, store.path, "e-1-1")


def test_check(store: Store, tmp_path: Path) -> None:
    with pytest.raises(IncompleteError) as found:
        invoke(store_command, "check", store.path)
    assert found.value.exit_code == 1
    assert re.findall(r"\b\d+\b", found.value.message.rpartition("/")[2]) == ["0", "1", "4"]
    whole = Store.create(tmp_path / "whole")
    whole.save_experiment(store_samples.experiment())
    whole.append(store_samples.run())
    assert invoke(store_command, "check", whole.path).stdout.startswith(f"{whole.path}: 1 ")
    path = whole.path / "runs" / "run-1" / "operations.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with raises("damaged-store", IncompleteError, n_damaged=1):
        invoke(store_command, "check", whole.path, "--json")


def test_tags_notes_merge_and_redact(store: Store, tmp_path: Path) -> None:
    assert invoke(store_command, "tag", store.path, "e-1-0", "b", "a").stdout == "e-1-0: a b\n"
    assert invoke(store_command, "tag", store.path, "e-1-0", "--remove", "b").stdout == "e-1-0: a\n"
    invoke(store_command, "note", store.path, "e-1-0", "alice")
    with raises("unknown-run"):
        invoke(store_command, "tag", store.path, "nothing", "a")
    shown = json.loads(invoke(show, store.path, "--where", "tags=a", "--json").stdout)
    assert [run["id"] for run in shown["runs"]] == ["e-1-0"]
    for numbers in (["4", "1"], ["0", "0", "4"]):
        text = invoke(store_command, "merge", tmp_path / "all", store.path).stdout
        assert re.findall(r"\d+", text) == numbers
    done = invoke(store_command, "redact", store.path, tmp_path / "copy", "--also", "alice", "--json")
    assert json.loads(done.stdout)["replaced"] == {"host": 1, "name": 1}
    assert Store.open(tmp_path / "copy").notes.read_notes("e-1-0")["notes"][0]["text"] == "name-1"


def test_every_code_of_a_store_has_a_page() -> None:
    import inspect

    from iosonde.store import check, redact
    from iosonde.store.findings import PAGES

    raised = {word for module in (check, redact) for word in inspect.getsource(module).split('"') if word[:1] == "D"}
    assert {word for word in raised if word[1:].isdigit()} == set(PAGES)
    for code, page in PAGES.items():
        assert page.startswith(f"{code}: ")
        assert max(map(len, page.splitlines())) < 80


def test_an_export_gives_cells_as_they_are_and_says_what_a_spreadsheet_does_with_them(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    store.append(store_samples.run("e-1", factors={"label": "=1+1"}))
    rows = list(csv.DictReader(io.StringIO(invoke(show, tmp_path / "store", "--export", "csv").stdout)))
    assert {row["label"] for row in rows} == {"=1+1"}
    assert "=1+1 for a formula" in " ".join(invoke(show, "--help").stdout.split())


def test_rows_of_several_jobs_have_their_operation_and_settings(tmp_path):
    store = Store.create(tmp_path / "s")
    rows = [Observation(f"read block_size={size}", "rate_last_done", 5.0, "operations/s") for size in (4096, 8192)]
    settings = {
        row.operation: {"operation": "read", "factors": {"block_size": at}}
        for row, at in zip(rows, (4096, 8192), strict=True)
    }
    store.append(store_samples.run("a", observations=rows, row_settings=settings))
    shown = invoke(show, tmp_path / "s", "a").stdout
    assert shown.count("block_size=4 KiB") == 1
