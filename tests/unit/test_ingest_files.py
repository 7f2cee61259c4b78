"""The answer of an import: counts, files, and what it ends with."""

from __future__ import annotations

from pathlib import Path, PurePath
from types import SimpleNamespace

import pytest

from iosonde.core.errors import DataError, InputError, PartialInputError, SystemFaultError
from iosonde.foreign.unpacking import ArchiveFile
from iosonde.importers import Claim
from iosonde.importers.runs import build_run_prefix
from iosonde.ingest import candidate_files, import_batch, import_files, import_groups
from iosonde.ingest.candidate_files import CandidateFile
from iosonde.ingest.import_outcomes import FileOutcome, Imported
from iosonde.ingest.import_plan import ImportPlan
from iosonde.store import Store
from messages import assert_problem, raises

GOOD = FileOutcome("a", "ior", runs=3, incomplete=1, warnings=2)
STORED = FileOutcome("b", "ior", there=True)
OTHER = FileOutcome("c", "fio", runs=1)
JOINED = FileOutcome("d", "fio", joined=True)
QUOTED = FileOutcome("e", "ior", quoted=True)
UNKNOWN = FileOutcome("f", reason="not known")
BROKEN = FileOutcome("g", reason="input/output error", fault=True)


def test_the_answer_counts_and_names_every_file():
    found = Imported((GOOD, STORED, OTHER, JOINED, QUOTED, UNKNOWN), ("no such factor",))
    assert found.to_dict() == {
        "schema": 1,
        "files": 6,
        "runs": 4,
        "incomplete": 1,
        "already_there": 1,
        "joined": 1,
        "joined_files": [{"file": "d", "into": ""}],
        "copies": [],
        "by_format": [
            {"format": "fio", "files": 2, "runs": 1, "incomplete": 0, "already_there": 0},
            {"format": "ior", "files": 2, "runs": 3, "incomplete": 1, "already_there": 1},
        ],
        "imported": [
            {"file": "a", "format": "ior", "runs": 3, "incomplete": 1, "warnings": 2},
            {"file": "c", "format": "fio", "runs": 1, "incomplete": 0, "warnings": 0},
            {"file": "d", "format": "fio", "runs": 0, "incomplete": 0, "warnings": 0},
        ],
        "quoted": [{"file": "e", "format": "ior"}],
        "unknown": [{"file": "f", "reason": "not known"}],
        "warnings": ["no such factor"],
        "device_loads": [],
        "path_factors": [],
        "path_repetitions": [],
        "factors_added": {"runs": 0, "names": []},
    }
    assert [row["file"] for row in found.records()] == list("abcdef")
    assert found.records()[0] == {
        "file": "a",
        "format": "ior",
        "runs": 3,
        "incomplete": 1,
        "warnings": 2,
        "there": False,
        "reason": "",
        "quoted": False,
        "joined": False,
        "into": "",
        "fault": False,
        "copy_of": "",
    }


@pytest.mark.parametrize(
    ("outcomes", "individually", "error"),
    [
        ((GOOD,), True, None),
        ((), True, None),
        ((GOOD, QUOTED), True, None),
        ((GOOD, UNKNOWN), False, None),
        ((GOOD, UNKNOWN), True, PartialInputError),
        ((STORED, UNKNOWN), True, PartialInputError),
        ((UNKNOWN,), False, DataError),
        ((UNKNOWN, QUOTED), False, DataError),
        ((QUOTED,), False, DataError),
        ((GOOD, BROKEN), False, SystemFaultError),
        ((UNKNOWN, BROKEN), True, SystemFaultError),
    ],
)
def test_an_import_ends_with_the_worst_that_happened(outcomes, individually, error):
    found = Imported(outcomes).build_error(individually)
    assert type(found) is (error or type(None))


def test_an_error_counts_the_files_and_names_the_first():
    error = Imported((GOOD, UNKNOWN, FileOutcome("h", reason="other"))).build_error(True)
    expected = "not known"
    assert error.values == {"n_failed": 2, "n_files": 3, "file": "f", "reason": expected}
    error = Imported((UNKNOWN, BROKEN, GOOD)).build_error()
    assert error.values == {"n_failed": 1, "n_files": 3, "path": "g", "reason": "input/output error"}
    text = "not known"
    assert Imported((UNKNOWN,)).build_error().values == {"reason": text}
    assert Imported((UNKNOWN, QUOTED)).build_error().values == {"n_quoted": 1, "path": "e"}


# Steps of an import.


def candidate(name: str, size: int = 1, **more) -> CandidateFile:
    return CandidateFile(Path(name), PurePath(name), size, place=PurePath(name), **more)


def plan(store: Path = Path("s"), **more) -> ImportPlan:
    return ImportPlan(**({"store": store, "experiment": "e", "form": None, "sources": ()} | more))


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ([1, 1, 1], [3]),
        ([1] * 7, [3, 3, 1]),
        ([10, 1], [1, 1]),
        ([4, 6, 1], [2, 1]),
        ([11], [1]),
        ([5, 5, 5], [2, 1]),
        ([], []),
    ],
)
def test_batches_have_few_files_and_few_bytes(monkeypatch, sizes, batches):
    monkeypatch.setattr(import_groups, "BATCH_FILES", 3)
    monkeypatch.setattr(import_groups, "BATCH_BYTES", 10)
    files = [candidate(f"{at}/x", size) for at, size in enumerate(sizes)]
    for form in ({"form": "ior"}, {"columns": "map"}):
        made = list(import_groups.iterate_batches(import_groups.iterate_groups(plan(**form), files)))
        assert [len(batch) for batch in made] == batches
        assert [file for batch in made for group in batch for file in group] == files
        assert all(len(group) == 1 for batch in made for group in batch)


def test_files_of_one_execution_stay_in_one_batch(monkeypatch):
    monkeypatch.setattr(import_groups, "BATCH_FILES", 2)
    files = [candidate(name) for name in ("a/x", "b/result.txt", "b/ior-easy-write.txt", "c/x", "d/x")]
    made = list(import_groups.iterate_batches(import_groups.iterate_groups(plan(), files)))
    assert [[[str(file.path) for file in group] for group in batch] for batch in made] == [
        [["a/x"]],
        [["b/result.txt", "b/ior-easy-write.txt"]],
        [["c/x"], ["d/x"]],
    ]


def test_members_of_an_archive_have_its_place_and_a_number_after_the_first_of_a_name():
    archive = CandidateFile(Path("/in/a.tgz"), PurePath("sub/a.tgz"), 9, is_explicit=True, place=PurePath("/in/a.tgz"))
    members = [ArchiveFile(PurePath(name), Path(f"/tmp/{at}"), at) for at, name in enumerate(("x/b", "a", "x/b"))]
    listed = list(candidate_files._count_same_names(members))
    assert [(str(member.name), earlier) for member, earlier in listed] == [("a", 0), ("x/b", 0), ("x/b", 1)]
    made = candidate_files._build_member_candidate(archive, listed[2][0], 1)
    assert made == CandidateFile(
        listed[2][0].path,
        PurePath("sub/x/b"),
        listed[2][0].size,
        name="/in/a.tgz/x/b (2)",
        place=PurePath("/in/x/b"),
        root="a",
        home=PurePath("/in/a"),
        inside="x/b",
    )
    assert candidate_files._build_member_candidate(archive, listed[0][0], 0).name == "/in/a.tgz/a"


@pytest.mark.parametrize(
    ("runs", "warnings", "outcome"),
    [
        ([[], ["cut"], []], ["w"], ("n", "ior", 3, 1, 1, "")),
        ([], ["w"], ("n", "ior", 0, 0, 0, "w")),
        ([], [], ("n", "ior", 0, 0, 0, "no-result")),
    ],
)
def test_an_outcome_counts_runs_or_says_why_there_is_none(runs, warnings, outcome):
    claim = SimpleNamespace(line=1, evidence="IOR")
    understood = SimpleNamespace(format="ior", claim=claim, notes=[], warnings=[(1, text) for text in warnings])
    made = import_batch._build_outcome("n", understood, [SimpleNamespace(missing=missing) for missing in runs])
    reason = getattr(made.reason, "code", made.reason)
    assert (made.file, made.format, made.runs, made.incomplete, made.warnings, reason) == outcome
    assert not (made.there or made.joined or made.quoted or made.fault)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (InputError("x", "a/b: is cut"), "is cut"),
        (InputError("x", "a/b is cut"), "is cut"),
        (InputError("x", "is cut", "mend it"), "is cut; mend it"),
        (OSError(5, "broken"), "it cannot be read: broken"),
    ],
)
def test_the_reason_of_a_file_leaves_its_name_out(error, reason):
    assert candidate_files.format_reason(error, "a/b") == reason


@pytest.fixture
def listing(monkeypatch, tmp_path):
    """What is at each path."""
    found = {}

    def inspect(path, store, marker):
        assert (store, marker) == (tmp_path, "store.json")
        if isinstance(found[str(path)], Exception):
            raise found[str(path)]
        return found[str(path)]

    monkeypatch.setattr(candidate_files, "inspect_path", inspect)
    return found


def kind_of(kind, files=(), skipped=()):
    return SimpleNamespace(kind=kind, files=[(Path(name), 7) for name in files], skipped=skipped)


def test_named_files_and_those_of_directories_are_listed_once_in_order(listing, tmp_path):
    broken = OSError(5, "broken")
    listing |= {
        "d": kind_of("directory", ["d/b", "d/a"], [(Path("d/c"), "a socket")]),
        "d/a": kind_of("file", ["d/a"]),
        "f": kind_of("file", ["f"]),
        "x": broken,
        "y": SystemFaultError("io-error", "y: gone"),
    }
    listed = candidate_files._list_explicit_files(["f", "d", "d/a", "x", "y"], True, tmp_path)
    assert [(str(one.path), str(one.relative), one.size, one.is_explicit, one.fault) for one in listed] == [
        ("f", "f", 7, True, False),
        ("d/a", "a", 7, False, False),
        ("d/b", "b", 7, False, False),
        ("d/c", "c", 0, False, False),
        ("x", "x", 0, True, False),
        ("y", "y", 0, True, True),
    ]
    expected = "it cannot be read: broken"
    assert [str(one.damage) for one in listed[3:]] == ["a socket", expected, "gone"]
    assert [str(one.place) for one in listed] == ["f", "d/a", "d/b", "d/c", "x", "y"]


@pytest.mark.parametrize(
    ("kind", "recursive", "code"), [("directory", False, "is-a-directory"), ("missing", True, "no-such-file")]
)
def test_a_directory_has_to_be_meant_and_a_file_to_be_there(listing, tmp_path, kind, recursive, code):
    listing["d"] = kind_of(kind)
    with raises(code, path="d"):
        candidate_files._list_explicit_files(["d"], recursive, tmp_path)


@pytest.mark.parametrize(
    ("own", "stored", "differs"),
    [(None, "b", False), ("a", None, False), ("a", "a", False), ("a", "b", True)],
)
def test_a_file_that_another_map_read_is_not_read_again(tmp_path, own, stored, differs):
    folder = tmp_path / "runs" / f"{build_run_prefix('columns', '12')}0000" / "raw"
    folder.mkdir(parents=True)
    if stored:
        (folder / "columns.yaml").write_text(stored)
    columns = SimpleNamespace(content=own.encode()) if own else None
    reason = import_batch._explain_other_map(plan(tmp_path, columns=columns), "12")
    assert bool(reason) is differs
    if differs:
        assert_problem(reason, "different-map", map=folder / "columns.yaml")


@pytest.mark.parametrize(
    ("score", "rows", "quoted", "answer"),
    [(90, [], True, True), (0, [1], True, True), (0, [], True, False), (90, [1], False, False)],
)
def test_only_what_is_there_can_be_quoted(monkeypatch, score, rows, quoted, answer):
    asked = []
    monkeypatch.setattr(import_batch, "is_quoted", lambda *some: asked.append(some) or quoted)
    understood = SimpleNamespace(claim=Claim(score, 7, ""), runs=[SimpleNamespace(rows=rows)], format="ior")
    assert import_batch._is_quoted("n", "text", understood) is answer
    assert asked in ([], [("n", "text", 7, "ior")])


@pytest.mark.parametrize(
    ("more", "code"),
    [({"form": "none"}, "unknown-format"), ({"form": "ior", "columns": "map"}, "conflicting-options"), ({}, None)],
)
def test_options_are_checked_before_any_file_is_read(tmp_path, more, code):
    if code is None:
        plan(tmp_path / "s").prepare()
        assert not (tmp_path / "s").exists()
        return
    with pytest.raises(InputError) as caught:
        plan(tmp_path / "s", **more).prepare()
    assert code in ("unknown-format", caught.value.code)


@pytest.mark.parametrize(
    ("sources", "paths", "silent"),
    [
        (["{site}/{number}"], ["a/x"], []),
        (["{site}/b/{number}"], ["a/x", "a/y"], ["{site}/b/{number}"]),
        (["{site}/b/{number}"], ["a/x", "a/b/y"], []),
        (["{site}/b/{number}"], [], []),
    ],
)
def test_a_pattern_that_matches_no_path_is_named(sources, paths, silent):
    notes = list(plan(sources=tuple(sources)).silent([candidate(path) for path in paths]))
    assert [note.values for note in notes] == [
        {"pattern": name, "n_files": len(paths), "path": PurePath(paths[0])} for name in silent
    ]


def test_outcomes_are_in_the_order_of_the_files_whoever_read_them(monkeypatch):
    files = [candidate(f"{at}/x") for at in range(5)]

    def import_some(_, batch):
        return [(file, FileOutcome(str(file.path))) for group in reversed(batch) for file in group]

    monkeypatch.setattr(import_files, "import_batch", import_some)
    monkeypatch.setattr(import_groups, "BATCH_FILES", 2)
    monkeypatch.setattr(import_files, "ProcessPoolExecutor", lambda *_: pytest.fail("a process for five files"))
    made = import_files.import_all(plan(form="ior"), files, jobs=4)
    assert [one.file for one in made.outcomes] == [f"{at}/x" for at in range(5)]


@pytest.mark.parametrize(
    ("n", "jobs", "processes"), [(50, 4, 4), (50, 99, 25), (49, 4, None), (50, 1, None), (50, None, 3)]
)
def test_many_files_are_read_by_several_processes(monkeypatch, n, jobs, processes):
    started = []

    class Pool:
        def __init__(self, n_processes, context, initializer, arguments):
            started.append((n_processes, initializer is import_files.set_default_spelling, len(arguments)))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        map = staticmethod(map)

    monkeypatch.setattr(import_files, "import_batch", lambda _, batch: [(f, FileOutcome("")) for (f,) in batch])
    monkeypatch.setattr(import_groups, "BATCH_FILES", 2)
    monkeypatch.setattr(import_files, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(import_files.os, "cpu_count", lambda: 3)
    made = import_files.import_all(plan(form="ior"), [candidate(f"{at}/x") for at in range(n)], jobs)
    assert len(made.outcomes) == n
    assert started == ([] if processes is None else [(processes, True, 1)])


def test_copies_count_once_whatever_the_number_of_processes(monkeypatch, tmp_path):
    monkeypatch.setattr(import_groups, "BATCH_FILES", 1)
    output = (Path(__file__).parents[1] / "golden/fixtures/ior/gen-ior400-fpp-3reps.txt").read_text()
    for number in range(25):
        for place in ("a", "b"):  # a directory each: files of one directory may be one measurement
            file = tmp_path / "data" / f"{number:02}" / place / "ior.txt"
            file.parent.mkdir(parents=True)
            file.write_text(output + "#" * number)
    answers = []
    for jobs in (1, 2):
        store = tmp_path / f"s{jobs}"
        with candidate_files.iterate_file_groups([str(tmp_path / "data")], True, store) as files:
            imported = import_files.import_all(plan(store, sources=("{number}/{place}/*",)), files, jobs)
        runs = sorted((run["id"], run["factors"]["place"]) for run in Store.open(store).runs())
        answers.append((imported.to_dict(), runs))
    assert answers[0] == answers[1]
    assert (imported.n_runs, imported.to_dict()["already_there"]) == (25, 25)
    assert {place for _, place in runs} == {"a"}
