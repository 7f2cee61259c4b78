"""What tells imported files apart: parts of paths as factors or repetitions, given later, named and dropped."""

from __future__ import annotations

import json
import os
import shutil
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import StoredRun
from iosonde.ingest.path_candidates import NUMBERED, UNIQUE, PlacedRun, find_path_factors, read_level
from iosonde.ingest.stored_paths import apply_paths, change_factors
from iosonde.store import Store
from iosonde.store.added_factors import FILE, AddedFactors
from iosonde.store.index import Index
from iosonde.store.merge import merge
from iosonde.store.redact import redact
from terminal import command_of

import_command = command_of("import")
MIB = 1 << 20
_NUMBERS = count(1)


def write(folder: Path, *names: str) -> None:
    """Outputs of dd, each different from all others."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        seconds = 0.1 + next(_NUMBERS) / 1000
        records = "64+0 records in\n64+0 records out\n"
        path.write_text(f"{records}{64 * MIB} bytes (67 MB, 64 MiB) copied, {seconds} s, 1 MB/s\n")


def import_into(store: Path, *names: Path, **options: object) -> dict:
    return iosonde.import_files([str(name) for name in names], str(store), recursive=True, **options).answer.to_dict()


def levels(store: Path, name: str) -> dict[str, object]:
    """File → level of a factor, None where the run has none."""
    runs = map(StoredRun, Store.open(store).runs())
    return {run.import_file: run.factors.get(name) for run in runs}


SIX = [f"{system}/run{number}.txt" for system in ("alpha", "beta") for number in (1, 2, 3)]


def test_directories_that_come_back_are_a_factor_and_numbers_are_repetitions(tmp_path):
    write(tmp_path / "in", *SIX)
    report = import_into(tmp_path / "s", tmp_path / "in")
    assert report["path_factors"] == [{"name": "dir1", "part": "dir1", "levels": ["alpha", "beta"], "runs": 6}]
    assert [(entry["part"], entry["rule"]) for entry in report["path_repetitions"]] == [("name", NUMBERED)]
    assert levels(tmp_path / "s", "dir1") == {name: name.partition("/")[0] for name in SIX}
    groups = iosonde.summary(str(tmp_path / "s"), metric="bandwidth").answer.to_dict()["groups"]
    assert sorted((group["by"]["dir1"], group["n"]) for group in groups) == [("alpha", 3), ("beta", 3)]


def test_stores_of_one_directory_each_are_told_apart_when_they_are_merged(tmp_path):
    write(tmp_path / "in", *SIX)
    stores = [str(tmp_path / system) for system in ("alpha", "beta")]
    for system, store in zip(("alpha", "beta"), stores, strict=True):
        import_into(Path(store), tmp_path / "in" / system)
    report = iosonde.merge_stores(str(tmp_path / "all"), stores).answer.to_dict()
    ((name, systems),) = [(factor["name"], factor["levels"]) for factor in report["path_factors"]]
    assert systems == ["alpha", "beta"]
    groups = iosonde.summary(str(tmp_path / "all"), metric="bandwidth").answer.to_dict()["groups"]
    assert sorted((group["by"][name], group["n"]) for group in groups) == [("alpha", 3), ("beta", 3)]


def test_stores_of_different_times_are_merged(tmp_path):
    stores = [tmp_path / "s-one", tmp_path / "s-two"]
    for store in stores:
        write(tmp_path / store.name[2:], "run1.txt", "run2.txt")
        import_into(store, tmp_path / store.name[2:])
    experiments = [Store.open(store).experiment("imported") for store in stores]
    assert experiments[0] == experiments[1] and not experiments[0].created_at
    assert merge(Store.open(stores[0]), [Store.open(stores[1])]).problems == []
    assert not Store.open(stores[0]).problems()


def test_runs_themselves_stay_as_they_were_stored(tmp_path):
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in")
    before = {path: path.read_bytes() for path in (tmp_path / "s" / "runs").rglob("*") if path.is_file()}
    import_into(tmp_path / "s", tmp_path / "in", factors_from="{system}/...")
    assert {path: path.read_bytes() for path in (tmp_path / "s" / "runs").rglob("*") if path.is_file()} == before


def test_one_file_for_each_directory_stays_a_repetition_and_says_so(tmp_path):
    write(tmp_path / "in", "alpha/a.txt", "beta/a.txt", "gamma/a.txt")
    report = import_into(tmp_path / "s", tmp_path / "in")
    assert report["path_factors"] == []
    assert [(entry["part"], entry["rule"]) for entry in report["path_repetitions"]] == [("dir1", UNIQUE)]
    (group,) = iosonde.summary(str(tmp_path / "s"), metric="bandwidth").answer.to_dict()["groups"]
    assert group["n"] == 3


def test_a_pattern_gives_factors_to_runs_that_are_stored(tmp_path):
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in")
    report = import_into(tmp_path / "s", tmp_path / "in", factors_from="{system}/...")
    assert (report["already_there"], report["factors_added"]) == (6, {"runs": 6, "names": ["system"]})
    assert report["path_factors"] == [], "the system tells them apart already"
    assert levels(tmp_path / "s", "system") == {name: name.partition("/")[0] for name in SIX}
    assert set(levels(tmp_path / "s", "dir1").values()) == {None}
    again = import_into(tmp_path / "s", tmp_path / "in", factors_from="{system}/...")
    assert again["factors_added"] == {"runs": 0, "names": []}


def test_a_copy_of_a_file_in_one_import_does_not_change_the_factors_of_the_first(tmp_path):
    write(tmp_path / "in", "alpha/a.txt")
    (tmp_path / "in" / "beta").mkdir()
    shutil.copy(tmp_path / "in" / "alpha" / "a.txt", tmp_path / "in" / "beta" / "a.txt")
    import_into(tmp_path / "s", tmp_path / "in", factors_from="{system}/...")
    assert levels(tmp_path / "s", "system") == {"alpha/a.txt": "alpha"}


def test_directories_that_are_imported_one_by_one_are_a_factor(tmp_path):
    for system in ("alpha", "beta"):
        write(tmp_path / system, "run1.txt", "run2.txt")
        report = import_into(tmp_path / "s", tmp_path / system)
    assert [(factor["part"], factor["levels"]) for factor in report["path_factors"]] == [("dir0", ["alpha", "beta"])]


def test_archives_that_are_imported_one_by_one_are_a_factor(tmp_path):
    for system in ("alpha", "beta"):
        write(tmp_path / "in", "run1.txt", "run2.txt")
        archive = shutil.make_archive(str(tmp_path / system), "gztar", tmp_path / "in")
        report = import_into(tmp_path / "s", Path(archive))
    assert [(factor["part"], factor["levels"]) for factor in report["path_factors"]] == [("dir0", ["alpha", "beta"])]


def test_named_files_of_several_directories_are_never_pooled_in_silence(tmp_path, monkeypatch):
    for system in ("alpha", "beta"):
        write(tmp_path / system, "run1.txt", "run2.txt")
        monkeypatch.chdir(tmp_path / system)
        report = import_into(tmp_path / "s", Path("run1.txt"), Path("run2.txt"))
    assert [(factor["part"], factor["levels"]) for factor in report["path_factors"]] == [("dir0", ["alpha", "beta"])]


def test_directories_around_named_files_are_a_factor(tmp_path):
    write(tmp_path / "in", "one/x/run1.txt", "one/x/run2.txt", "two/x/run1.txt")
    report = import_into(tmp_path / "s", *sorted((tmp_path / "in").rglob("*.txt")))
    assert [(factor["part"], factor["levels"]) for factor in report["path_factors"]] == [("up1", ["one", "two"])]


@pytest.mark.parametrize("others", [["ex/alpha/run3.txt"], ["ex/alpha"], ["ex"], ["ex/beta/../alpha/run3.txt"]])
def test_a_place_is_the_same_however_it_was_named(tmp_path, monkeypatch, others):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "ex", "alpha/run1.txt", "alpha/run2.txt", "beta/run1.txt", "beta/run2.txt")
    import_into(tmp_path / "s", *map(Path, ("ex/alpha/run1.txt", "ex/alpha/run2.txt", "ex/beta")))
    write(tmp_path / "ex", "alpha/run3.txt")
    report = import_into(tmp_path / "s", *(tmp_path / name for name in others))
    assert [factor["levels"] for factor in report["path_factors"]] == [["alpha", "beta"]]


def test_a_pipe_has_the_place_of_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "run1.txt")
    reader, writer = os.pipe()
    os.write(writer, (tmp_path / "run1.txt").read_bytes())
    os.close(writer)
    import_into(tmp_path / "s", Path(f"/dev/fd/{reader}"))
    os.close(reader)
    assert [run.import_directory for run in map(StoredRun, Store.open(tmp_path / "s").runs())] == [str(tmp_path)]


def test_one_directory_named_relative_and_absolute_is_no_factor(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "ex" / "alpha", "run1.txt", "run2.txt", "run3.txt", "run4.txt")
    import_into(tmp_path / "s", Path("ex/alpha/run1.txt"), Path("ex/alpha/run2.txt"))
    report = import_into(tmp_path / "s", *(tmp_path / "ex" / "alpha" / f"run{number}.txt" for number in (3, 4)))
    assert report["path_factors"] == []


def test_the_terminal_shows_the_factor_and_how_to_undo_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "in", *SIX)
    result = CliRunner().invoke(import_command, ["-r", "in", "--store", "s"])
    assert result.exit_code == 0
    assert "dir1 (alpha, beta)" in result.stdout
    assert "iosonde store factors s dir1=NAME" in result.stdout
    assert "iosonde store factors s --drop dir1" in result.stdout
    spaced = CliRunner().invoke(import_command, ["-r", "in", "--store", "a store"])
    assert "iosonde store factors 'a store' dir1=NAME" in " ".join(spaced.stdout.split())
    again = CliRunner().invoke(import_command, ["-r", "in", "--store", "s", "--factors-from", "{system}/..."])
    assert "6 runs stored before received system" in again.stdout
    assert all(len(line) < 80 for line in (result.stdout + again.stdout).splitlines())


@pytest.mark.parametrize("name", ["order", "seconds", "date", "Host"])
def test_a_pattern_names_no_fact_whose_levels_are_pooled(tmp_path, name):
    write(tmp_path / "in", *SIX)
    with pytest.raises(InputError) as error:
        import_into(tmp_path / "s", tmp_path / "in", factors_from=f"{{{name}}}/...")
    assert error.value.code == "invalid-name"
    assert not (tmp_path / "s").exists()


def test_a_pattern_may_say_repetitions_and_blocks(tmp_path):
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in", factors_from="{block}/run{repetition}.txt")
    assert set(levels(tmp_path / "s", "block").values()) == {"alpha", "beta"}


def test_long_names_of_levels_do_not_widen_the_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "in", *(f"{letter * 200}/run{number}.txt" for letter in "pqr" for number in (1, 2)))
    shown = CliRunner().invoke(import_command, ["-r", "in", "--store", "s"]).stdout
    shown += CliRunner().invoke(command_of("store"), ["factors", "s"]).stdout
    assert "ppp" in shown and "and 1 more" in shown
    assert all(len(line) < 80 for line in shown.splitlines())


# Naming and dropping


def test_a_name_keeps_a_factor_for_later_imports(tmp_path):
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in")
    (row,) = iosonde.change_factors(str(tmp_path / "s"), "dir1=system").answer.records()
    assert row == {"name": "system", "part": "dir1", "levels": ["alpha", "beta"], "runs": 6, "named": True}
    write(tmp_path / "in", "gamma/run1.txt")
    assert import_into(tmp_path / "s", tmp_path / "in")["path_factors"] == []
    assert levels(tmp_path / "s", "system")["gamma/run1.txt"] == "gamma"


def test_a_dropped_part_does_not_come_back(tmp_path):
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in")
    answer = iosonde.change_factors(str(tmp_path / "s"), drop="dir1").answer
    assert answer.to_dict()["dropped"] == ["dir1"]
    write(tmp_path / "in", "gamma/run1.txt", "gamma/run2.txt")
    assert import_into(tmp_path / "s", tmp_path / "in")["path_factors"] == []
    (row,) = iosonde.change_factors(str(tmp_path / "s"), "dir1=system").answer.records()
    assert row["levels"] == ["alpha", "beta", "gamma"], "a name revokes it"


def test_showing_the_factors_of_a_store_from_before_changes_nothing(tmp_path):
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in")
    (tmp_path / "s" / FILE).unlink()
    answer = iosonde.change_factors(str(tmp_path / "s")).answer.to_dict()
    assert ([factor["part"] for factor in answer["pooled"]], answer["factors"]) == (["dir1"], [])
    assert not (tmp_path / "s" / FILE).exists()
    report = import_into(tmp_path / "s", tmp_path / "in")
    assert (report["runs"], [factor["name"] for factor in report["path_factors"]]) == (0, ["dir1"])


def test_repetitions_become_a_factor_when_they_are_named(tmp_path):
    write(tmp_path / "in", "alpha/a.txt", "beta/a.txt")
    import_into(tmp_path / "s", tmp_path / "in")
    iosonde.change_factors(str(tmp_path / "s"), "dir1=system")
    assert set(levels(tmp_path / "s", "system").values()) == {"alpha", "beta"}


def test_a_name_that_exists_receives_the_levels_that_it_lacks(tmp_path):
    write(tmp_path / "one", "alpha/run1.txt", "alpha/run2.txt")
    write(tmp_path / "two", "beta/run1.txt", "beta/run2.txt")
    import_into(tmp_path / "s", tmp_path / "one", factors_from="{system}/...")
    import_into(tmp_path / "s", tmp_path / "two")
    iosonde.change_factors(str(tmp_path / "s"), "dir1=system")
    assert sorted(levels(tmp_path / "s", "system").values()) == ["alpha", "alpha", "beta", "beta"]


def test_levels_that_are_spelled_in_two_ways_become_one_for_later_imports_too(tmp_path):
    write(tmp_path / "in", *SIX, "Beta/run1.txt", "Beta/run2.txt")
    import_into(tmp_path / "s", tmp_path / "in")
    (row,) = iosonde.change_factors(str(tmp_path / "s"), "dir1:Beta=beta").answer.records()
    assert (row["name"], row["levels"], row["named"]) == ("dir1", ["alpha", "beta"], True)
    assert levels(tmp_path / "s", "dir1")["Beta/run2.txt"] == "beta"
    iosonde.change_factors(str(tmp_path / "s"), ("dir1=system", "system:beta=BeeGFS"))
    write(tmp_path / "in", "Beta/run3.txt", "beta/run4.txt", "alpha/run4.txt")
    report = import_into(tmp_path / "s", tmp_path / "in", factors_from="{system}/...")
    assert report["factors_added"]["runs"] == 0, "no level of a stored run is another one than before"
    assert set(levels(tmp_path / "s", "system").values()) == {"alpha", "BeeGFS"}


def test_a_merge_of_stores_renames_levels_of_both(tmp_path):
    for name, system in (("one", "alpha"), ("two", "Alpha")):
        write(tmp_path / name, f"{system}/run1.txt", "beta/run1.txt", f"{system}/run2.txt", "beta/run2.txt")
        import_into(tmp_path / f"s-{name}", tmp_path / name)
    iosonde.change_factors(str(tmp_path / "s-one"), ("dir1=system", "system:alpha=a"))
    iosonde.change_factors(str(tmp_path / "s-two"), ("dir1=system", "system:Alpha=alpha"))
    target = Store.open(tmp_path / "s-one")
    merge(target, [Store.open(tmp_path / "s-two")])
    assert {run["factors"]["system"] for run in target.runs()} == {"a", "beta"}


@pytest.mark.parametrize(
    ("names", "drop", "code"),
    [
        ("dir1", (), "invalid-pair"),
        ("dir1=", (), "invalid-pair"),
        ("dir7=system", (), "unknown-factor"),
        ("dir1=a b", (), "invalid-name"),
        ("dir1=tool", (), "invalid-name"),
        ("dir1=seconds", (), "invalid-name"),
        ("dir1=Date", (), "invalid-name"),
        ("dir1=repetition", (), "invalid-name"),
        ("dir1:=beta", (), "unknown-level"),
        ("dir1:gamma=beta", (), "unknown-level"),
        ("dir1:beta=", (), "invalid-pair"),
        ("dir7:beta=alpha", (), "unknown-factor"),
        ("tool:dd=fio", (), "factor-of-runs"),
        ((), "nothing", "unknown-factor"),
        ((), "tool", "factor-of-runs"),
    ],
)
def test_what_cannot_be_named_or_dropped(tmp_path, names, drop, code):
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in")
    before = (tmp_path / "s" / FILE).read_bytes()
    with pytest.raises(InputError) as error:
        iosonde.change_factors(str(tmp_path / "s"), names, drop=drop)
    assert error.value.code == code
    assert (tmp_path / "s" / FILE).read_bytes() == before


# The store


def test_a_merge_a_redacted_copy_and_the_index_have_the_added_factors(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in")
    source = Store.open(tmp_path / "s")
    target = Store.create(tmp_path / "merged")
    merge(target, [source])
    redact(source, tmp_path / "redacted")
    expected = {run["id"]: run["factors"]["dir1"] for run in source.runs()}
    assert {run["id"]: run["factors"]["dir1"] for run in target.runs()} == expected
    assert {run["factors"]["dir1"] for run in Store.open(tmp_path / "redacted").runs()} == {"alpha", "beta"}
    index = Index.open_cached()
    index.refresh(source)
    iosonde.change_factors(str(tmp_path / "s"), "dir1=system")
    assert index.refresh(source).added == 6, "they are read again"
    index.close()


def test_damaged_added_factors_are_reported_and_not_replaced(tmp_path):
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in")
    path = tmp_path / "s" / FILE
    path.write_text(path.read_text().replace("alpha", "gamma"))
    store = Store.open(tmp_path / "s")
    assert [(problem.code, problem.evidence["path"]) for problem in store.problems()] == [("D105", FILE)]
    assert all("dir1" not in run["factors"] for run in store.runs())
    with pytest.raises(DataError):
        import_into(tmp_path / "s", tmp_path / "in", factors_from="{system}/...")


@pytest.mark.parametrize(
    "content",
    [
        {"added": {"a": {"part": "", "is_candidate": False, "levels": {"run": [1]}}}, "dropped": []},
        {"added": {"a": {"part": "", "is_candidate": False, "levels": {"run": {}}}}, "dropped": []},
        {"added": {"a": {"part": "", "is_candidate": False, "levels": {"run": None}}}, "dropped": []},
        {"added": {"a": {"part": "", "is_candidate": False, "levels": []}}, "dropped": []},
        {"added": {"a": {"part": 1, "is_candidate": False, "levels": {}}}, "dropped": []},
        {"added": {}, "dropped": [[1]]},
        {"added": []},
        [],
    ],
)
def test_added_factors_of_other_types_are_damaged(tmp_path, content):
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in")
    (tmp_path / "s" / FILE).write_text(json.dumps(content))
    store = Store.open(tmp_path / "s")
    assert [problem.code for problem in store.problems()] == ["D105"]
    with pytest.raises(DataError):
        iosonde.change_factors(str(tmp_path / "s"))


def test_an_import_beside_damaged_factors_stores_nothing(tmp_path):
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in")
    (tmp_path / "s" / FILE).write_text("{")
    write(tmp_path / "in", "gamma/run1.txt")
    with pytest.raises(DataError) as error:
        import_into(tmp_path / "s", tmp_path / "in")
    assert error.value.code == "damaged-file"
    assert len(list((tmp_path / "s" / "runs").iterdir())) == 6


@pytest.mark.parametrize("names", [{}, {"dir1": "system"}])
def test_runs_that_another_import_stores_before_the_lock_keep_their_factors(tmp_path, monkeypatch, names):
    write(tmp_path / "in", *SIX)
    import_into(tmp_path / "s", tmp_path / "in")
    write(tmp_path / "in", "gamma/run1.txt", "gamma/run2.txt")
    lock = AddedFactors._lock_store

    def import_and_lock(self):
        monkeypatch.setattr(AddedFactors, "_lock_store", lock)
        import_into(tmp_path / "s", tmp_path / "in")
        return lock(self)

    monkeypatch.setattr(AddedFactors, "_lock_store", import_and_lock)
    store = Store.open(tmp_path / "s")
    change_factors(store, names, ()) if names else apply_paths(store)
    assert levels(tmp_path / "s", names.get("dir1", "dir1"))["gamma/run1.txt"] == "gamma"


# Which parts are factors


def place(*files: str, cell: str = "cell", tool: str = "fio") -> list[PlacedRun]:
    return [PlacedRun(f"{cell}-{file}", tool, (tool, cell), file) for file in files]


def names_of(runs: list[PlacedRun], **options: object) -> dict[str, set[object]]:
    return {factor.name: set(factor.levels.values()) for factor in find_path_factors(runs, **options)[0]}


@pytest.mark.parametrize(
    ("files", "factors"),
    [
        # Numbers and dates of repetitions
        (["run1/a.txt", "run1/b.txt", "run2/a.txt", "run2/b.txt"], {}),
        (["2024-05-01/x.txt", "2024-05-01/y1.txt", "2024-05-02/x.txt", "2024-05-02/y1.txt"], {"name": {"x", "y1"}}),
        (["1/x.txt", "1/y.txt", "2/x.txt", "2/y.txt", "3/x.txt"], {"name": {"x", "y"}}),
        (["123456/in.txt", "123457/in.txt"], {}),
        (["iter3/out1.txt", "iter3/out2.txt", "iter4/out1.txt"], {}),
        (["first/o.txt", "second/o.txt"], {}),
        # Numbers that are amounts
        (["1/run1.txt", "1/run2.txt", "4/run1.txt", "4/run2.txt"], {"dir1": {1, 4}}),
        (["n1/run1.txt", "n1/run2.txt", "n2/run1.txt"], {"dir1": {"n1", "n2"}}),
        # Words of names, and names with numbers or dates in them
        (["lustre-1.txt", "lustre-2.txt", "beegfs-1.txt", "beegfs-2.txt"], {"name": {"lustre", "beegfs"}}),
        (["lustre-run1/o.txt", "lustre-run2/o.txt", "beegfs-run1/o.txt"], {"dir1": {"lustre", "beegfs"}}),
        (["lustre_20240501.txt", "lustre_20240502.txt", "beegfs_20240501.txt"], {"name": {"lustre", "beegfs"}}),
        (["a_4k_run1.txt", "a_1M_run1.txt", "b_4k_run1.txt", "b_1M_run1.txt"], {"name": {"4k", "1M"}}),
        (["lustre-fs-1.txt", "lustre-fs-2.txt", "beegfs-1.txt"], {"name": {"lustre-fs", "beegfs"}}),
        (["small.json", "small.csv", "large-file.json", "large-file.csv"], {}),
        # Levels that a path states itself
        (["site=bonn/1.txt", "site=bonn/2.txt", "site=kyiv/1.txt"], {"site": {"bonn", "kyiv"}}),
        # Versions are no amounts
        (["5.1/1.txt", "5.1/2.txt", "5.10/1.txt", "5.10/2.txt"], {"dir1": {5.1, "5.10"}}),
        # Names of facts, whose levels analyses pool
        (["order=5/1.txt", "order=5/2.txt", "order=7/1.txt"], {"dir1": {5, 7}}),
        (["host=x/1.txt", "host=x/2.txt", "host=y/1.txt"], {"dir1": {"x", "y"}}),
        # The same in all, and in two places
        (["results/a.txt", "results/b.txt"], {}),
        (["alpha/alpha-1.txt", "alpha/alpha-2.txt", "beta/beta-1.txt"], {"dir1": {"alpha", "beta"}}),
        # Files of other depths
        (["alpha/1.txt", "alpha/2.txt", "3.txt"], {"dir1": {"alpha", "."}}),
    ],
)
def test_the_factors_in_paths(files, factors):
    assert names_of(place(*files)) == factors


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("25-11-2026", "26-11-2026"),
        ("25.11.2026", "01.12.2026"),
        ("11_25_2026", "11_26_2026"),
        ("25Nov2026", "26Nov2026"),
        ("25-Nov-26", "26-Nov-26"),
        ("25nov26", "26nov26"),
        ("2026-Nov-25", "2026-Nov-26"),
        ("Nov25", "Nov26"),
        ("Nov-25-2026", "Dec-1-2026"),
        ("november_25", "december_2"),
        ("25th-November", "26th-November"),
        ("25Nov2026_12:30", "26Nov2026_12:31"),
        ("25Nov2026-123000", "26Nov2026-123100"),
        ("25-11-2026_1230", "26-11-2026_1231"),
        ("Nov25-1230", "Nov26-1231"),
        ("2026-11-25_12-30-00", "2026-11-26_12-31-00"),
        ("11-25-26", "11-26-26"),
        ("25.11.26", "26.11.26"),
        ("26-11-25", "26-11-26"),
        ("11-25", "11-26"),
        ("25.11", "26.11"),
        ("week48", "week49"),
        ("week48-nightly", "week49-nightly"),
        ("KW48", "KW49"),
        ("2026-W48", "2026-W49"),
        ("2026W48-1", "2026W48-2"),
        ("2026-11", "2026-12"),
        ("11-2026", "12-2026"),
        ("Nov2026", "Dec2026"),
        ("2025", "2026"),
        ("Nov", "Dec"),
        ("mon", "tue"),
        ("Monday", "Wednesday"),
    ],
)
def test_dates_and_weeks_are_repetitions_in_every_spelling(first, second):
    files = [f"{date}/run{number}.txt" for date in (first, second) for number in (1, 2)]
    assert names_of(place(*files)) == {}
    assert [entry.rule for entry in find_path_factors(place(*files))[1] if entry.part == "dir1"] == [NUMBERED]
    assert names_of(place(*(f"{date}/lustre-{size}.txt" for date in (first, second) for size in ("4k", "1M"))))


@pytest.mark.parametrize(
    "words",
    [
        ("4-16", "8-32"),
        ("12-16", "12-64"),
        ("mars", "juno"),
        ("decimal", "octal"),
        ("sunfire", "saturn"),
        ("2000", "4000"),
        ("weekly", "daily"),
        ("n1-64", "n4-64"),
        ("w4", "w16"),
        ("v2024.1", "v2024.2"),
        ("n12-2000", "n16-2000"),
        ("n10-12-16", "n10-12-32"),
        ("maya_25", "juno_25"),
        ("1-8-16", "4-8-16"),
    ],
)
def test_words_and_amounts_that_resemble_dates_are_factors(words):
    files = [f"{word}/run{number}.txt" for word in words for number in (1, 2)]
    assert names_of(place(*files))


def test_directories_of_years_months_and_days_are_repetitions():
    files = [f"2026/{date}/run{number}.txt" for date in ("10/30", "11/29", "11/30") for number in (1, 2)]
    assert names_of(place(*files)) == {}
    assert names_of(place(*files, *(file.replace("2026", "2025") for file in files))) == {}
    assert names_of(place(*(f"ranks/{n}/run{number}.txt" for n in (10, 12) for number in (1, 2))))


def test_only_files_of_one_tool_and_setting_tell_a_factor():
    runs = [*place("read/1.txt", "read/2.txt", cell="read"), *place("write/1.txt", "write/2.txt", cell="write")]
    assert names_of(runs) == {}
    assert names_of([*place("a/1.txt", "a/2.txt"), *place("b/1.txt", "b/2.txt", tool="ior")]) == {}


def test_a_directory_with_a_file_for_each_setting_is_a_factor():
    runs = [*place("alpha/r.txt", "beta/r.txt", cell="read"), *place("alpha/w.txt", "beta/w.txt", cell="write")]
    assert names_of(runs) == {"dir1": {"alpha", "beta"}}


def test_dropped_parts_and_names_of_other_factors():
    runs = place("site=bonn/1.txt", "site=bonn/2.txt", "site=kyiv/1.txt")
    assert names_of(runs, dropped=["dir1"]) == {}
    assert names_of(runs, taken=["site"]) == {"dir1": {"bonn", "kyiv"}}
    assert names_of(runs, taken=["site", "dir1"]) == {"dir1_": {"bonn", "kyiv"}}


@pytest.mark.parametrize(
    ("part", "level"),
    [("dir0", "root"), ("dir1", "site-x"), ("dir1.1/2", "site"), ("dir1.1/3", "site-x"), ("dir2", 4), ("dir3", None)],
)
def test_a_level_of_one_path(part, level):
    assert read_level(part, "site-x/nodes=4/run1.txt", "root") == level


# File names that repeat settings, and odd ones

GRID = [(nodes, api) for nodes in (1, 2, 4, 8) for api in ("MPIIO", "POSIX")]


def place_grid(*more: tuple[str, str]) -> list[PlacedRun]:
    """Two files for each setting, named after it (``n4_mpiio_0``), and ``more`` files (name, api) of four nodes."""
    files = [(f"n{nodes}_{api.lower()}_{number}.txt", nodes, api) for nodes, api in GRID for number in (0, 1)]
    files += [(name, 4, api) for name, api in more]
    return [
        PlacedRun(f"{at}", "ior", (nodes, api), f"{directory}/{name}", settings={"nodes": nodes, "api": api})
        for directory in ("stripe1", "stripe4", "stripe16")
        for at, (name, nodes, api) in enumerate(files, 100 * int(directory[6:]))
    ]


@pytest.mark.parametrize("name", ["slurm-4711.out", "all_results.txt", "ior.log", "n4_tuned_posix_2.txt"])
def test_an_odd_file_name_does_not_change_how_the_others_are_read(name):
    factors, repetitions = find_path_factors(place_grid((name, "POSIX"), (name, "MPIIO")))
    others = {factor.name: set(factor.levels.values()) for factor in factors if factor.name != "stripe"}
    assert others == ({"name": {".", "n4-tuned-posix-2"}} if "tuned" in name else {})
    assert {factor.name: set(factor.levels.values()) for factor in factors}["stripe"] == {1, 4, 16}
    assert len(repetitions) == (0 if "tuned" in name else 1)


def test_words_that_no_setting_explains_stay_a_factor_beside_an_odd_name():
    runs = [
        PlacedRun(f"{system}{number}", "fio", "cell", f"{system}_x_{number}.txt")
        for system in ("alpha", "beta")
        for number in (1, 2, 3)
    ]
    odd = PlacedRun("odd", "fio", "cell", "slurm-77.out")
    ((factor,), _) = find_path_factors([*runs, odd])
    assert set(factor.levels.values()) == {"alpha", "beta", "."}


def test_a_number_that_each_file_states_itself_is_no_level_of_its_name():
    runs = [
        PlacedRun(f"{ranks}{name}", "benchio", (ranks,), f"c{ranks}_{name}.txt", settings={"ranks": ranks})
        for ranks in (16, 64, 256)
        for name in ("old", "old-big")
    ]
    ((factor,), _) = find_path_factors(runs)
    assert set(factor.levels.values()) == {"old", "old-big"}


# Directories that name their setting


@pytest.mark.parametrize(
    ("directories", "factors"),
    [
        (["stripe1", "stripe4", "stripe16"], {"stripe": {1, 4, 16}}),
        (["nodes-2", "nodes-4", "nodes-8"], {"nodes": {2, 4, 8}}),
        (["nodes-1", "nodes-2"], {"nodes": {1, 2}}),
        (["attempted-1", "attempted-2"], {}),
        (["qd_1", "qd_32"], {"qd": {1, 32}}),
        (["bs=4k", "bs=1m"], {"bs": {"4k", "1m"}}),
        (["bs4k", "bs64k"], {"bs": {"4k", "64k"}}),
        (["stripe1", "stripe4", "default"], {"dir1": {"stripe1", "stripe4", "default"}}),
        (["stripe1", "ost4"], {"dir1": {"stripe1", "ost4"}}),
        (["ext3", "ext4"], {"dir1": {"ext3", "ext4"}}),
        (["raid0", "raid5"], {"dir1": {"raid0", "raid5"}}),
        (["n1", "n4"], {"dir1": {"n1", "n4"}}),
        (["run_01", "run_02"], {}),
        (["20261004", "20261005"], {}),
        (["2026-10-04", "2026-10-05"], {}),
    ],
)
def test_directories_of_a_word_and_a_number_are_a_setting_with_numbers(directories, factors):
    runs = place(*(f"{directory}/{name}.txt" for directory in directories for name in ("a", "b")))
    names = {name: levels for name, levels in names_of(runs).items() if name != "name"}
    assert names == factors


def test_a_confirmed_number_of_directories_holds_for_later_files(tmp_path):
    write(tmp_path / "in", *(f"stripe{count}/run{number}.txt" for count in (1, 4) for number in (1, 2)))
    import_into(tmp_path / "s", tmp_path / "in")
    change_factors(Store.open(tmp_path / "s"), {"stripe": "stripe_count"}, [])
    write(tmp_path / "in", "stripe16/run1.txt")
    import_into(tmp_path / "s", tmp_path / "in")
    assert set(levels(tmp_path / "s", "stripe_count").values()) == {1, 4, 16}


# Copies


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("copies", "n_more"), [("backup/stripe4", 1), ("a/old/stripe4", 1), ("a/b/c/stripe4", 1), ("results/copy/x4", 30)]
)
def test_the_file_in_the_regular_directory_counts_and_not_its_copy(tmp_path, copies, n_more, jobs):
    directories = [f"results/2026/stripe{count}" for count in (1, 4, 16)]
    write(
        tmp_path / "in", *(f"{directory}/run{number}.txt" for directory in directories for number in range(n_more + 1))
    )
    shutil.copytree(tmp_path / "in" / directories[1], tmp_path / "in" / copies)
    report = import_into(tmp_path / "s", tmp_path / "in", jobs=jobs)
    assert (report["runs"], report["already_there"]) == (3 * n_more + 3, n_more + 1)
    assert {(Path(entry["file"]).parent.name, Path(entry["of"]).parent.name) for entry in report["copies"]} == {
        (Path(copies).name, "stripe4")
    }
    assert all(copies in entry["file"] and "results/2026" in entry["of"] for entry in report["copies"])
    assert [(factor["name"], factor["levels"]) for factor in report["path_factors"]] == [("stripe", [1, 4, 16])]


# Directories that go with a setting


def place_with(name: str, **levels: object) -> list[PlacedRun]:
    """Two files in each directory, all runs of a directory at one level of the setting."""
    return [
        PlacedRun(f"{place}-{number}", "fio", level, f"{place}/run{number}.txt", settings={name: level, "io_depth": 1})
        for place, level in levels.items()
        for number in (1, 2)
    ]


def test_a_directory_that_always_changes_with_a_setting_is_a_factor_that_says_so():
    (factor,), _ = find_path_factors(place_with("engine", shm="sync", ext="psync"))
    assert (factor.name, factor.alias, set(factor.levels.values())) == ("dir1", "engine", {"shm", "ext"})
    assert not find_path_factors(place_with("engine", shm="sync", ext="psync"), dropped=["dir1"])[0]


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("block_size", {"bs4k": 4096, "bs64k": 65536}),
        ("rw", {"seq": "read", "rand": "randread"}),
        ("ranks", {"np1": 1, "np8": 8}),
        ("direct", {"direct": 1, "buffered": 0}),
        ("engine", {"run1": "sync", "run2": "psync"}),  # numbers of repetitions
    ],
)
def test_a_directory_that_spells_a_setting_is_no_factor(name, levels):
    assert not names_of(place_with(name, **levels))


def test_import_and_store_factors_say_which_setting_a_directory_goes_with(tmp_path):
    for system, size in (("alpha", 1), ("beta", 4)):
        for number in (1, 2):
            write(tmp_path / "in", f"{system}/run{number}.txt")
            path = tmp_path / "in" / system / f"run{number}.txt"
            path.write_text(
                f"$ dd if=/dev/zero of=x bs={size}M count={64 // size}\n{path.read_text()}".replace(
                    "64+0", f"{64 // size}+0"
                )
            )
    iosonde.import_files([str(tmp_path / "in")], str(tmp_path / "s"), recursive=True)
    paths = change_factors(Store.open(tmp_path / "s"), {}, ())
    assert paths.aliases == {"dir1": "block_size"}
    (ranking,) = iosonde.rank(str(tmp_path / "s"), metric="bandwidth").answer.to_dict()["rankings"]
    assert any("block_size" in warning and "dir1" in warning for warning in ranking["warnings"])
    named = change_factors(Store.open(tmp_path / "s"), {"dir1": "system"}, ())
    assert not named.aliases
    assert [factor.name for factor in named.confirmed] == ["system"]
