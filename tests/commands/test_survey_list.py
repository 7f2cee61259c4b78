"""Lists of other tools instead of a walk: each form gives the same files; what is no list is said with its line."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

import survey_tree
from iosonde.commands.survey.answer import SurveyQuery, survey
from iosonde.core.errors import InputError
from iosonde.survey.listing import read_list
from messages import raises

TWO = [(5, b"/t/a"), (70, b"/t/b/c d")]
NAMES = [(None, b"/t/a"), (None, b"/t/b/c d")]
# As the tools' sources print them: robinhood (rbh_find.c, cmd_helpers.c), mpiFileUtils (mfu_flist_io.c), GUFI's
# `gufi_query -d`, `find -printf`, `lfs find`.
FORMS = {
    "find": (b"5 /t/a\n70 /t/b/c d\n", "size and name", TWO),
    "find, zero": (b"5 /t/a\x0070 /t/b/c d\0", "size and name", TWO),
    "no last end": (b"5 /t/a\n70 /t/b/c d", "size and name", TWO),
    "tab": (b"5\t/t/a\n70\t/t/b/c d\n", "columns with a tab", TWO),
    "tab, size last": (b"/t/a\t5\n/t/b/c d\t70\n", "columns with a tab", TWO),
    "gufi": (b"/t/a\x1e5\x1e\n/t/b/c d\x1e70\x1e\n", "columns with 0x1E", TWO),
    "gufi |": (b"/t/a|5|\n/t/b/c d|70|\n", "columns with |", TWO),
    "lfs find": (b"/t/a\n/t/b/c d\n", "names", NAMES),
    "names, zero": (b"/t/a\0/t/b/c d\0", "names", NAMES),
    "rbh-find -ls": (
        b"[0x200000401:0x1:0x0] file -rw-r--r--   1  root   root            5  2026/11/23 20:00:00 /t/a\n"
        b"[0x200000401:0x2:0x0] dir  drwxr-xr-x   2  root   root         4096  2026/11/23 20:00:00 /t/b\n"
        b"[0x200000401:0x3:0x0] file -rw-r--r--   1  root   root           70  2026/11/23 20:00:00 /t/b/c d\n"
        b"[0x200000401:0x4:0x0] link lrwxrwxrwx   1  root   root            1  2026/11/23 20:00:00 /t/l -> a\n",
        "rbh-find -ls",
        TWO,
    ),
    "rbh-report": (
        b"    type,            size,       user,      group,          fileclass,    path\n"
        b"    file,               5,       root,       root,        [n/a],        /t/a\n"
        b"     dir,            4096,       root,       root,             ,         /t/b\n"
        b"    file,              70,       root,       root,             ,   /t/b/c d\n"
        b"\nTotal: 3 entries, 4171 bytes (4.07 KB)\n",
        "rbh-report --csv",
        TWO,
    ),
    "dwalk --text": (
        b"-rw-r--r-- root root   5.000   B Nov 23 2026 20:00 /t/a\n"
        b"drwxr-xr-x root root   4.000  KB Nov 23 2026 20:00 /t/b\n"
        b"-rw-r--r-- root root  70.000   B Nov  3 2026 20:00 /t/b/c d\n",
        "dwalk, dfind",
        NAMES,
    ),
    "dwalk --lite": (b"Type=REG File=/t/a\nType=DIR File=/t/b\nType=REG File=/t/b/c d\n", "dwalk, dfind", NAMES),
}


@pytest.mark.parametrize("text, form, entries", FORMS.values(), ids=FORMS)
def test_each_form_is_known_by_its_first_line(text, form, entries):
    listed = read_list(io.BytesIO(text), "LIST", b"/t")
    assert listed.form.name == form
    assert list(listed.entries) == entries
    assert listed.form.sized == (entries is TWO)


def test_names_that_hold_anything():
    listed = read_list(io.BytesIO(b"7 /t/new\nline\x008 /t/\xff\x1b[1m\0"), "LIST", b"/t")
    assert list(listed.entries) == [(7, b"/t/new\nline"), (8, b"/t/\xff\x1b[1m")]
    long = b"9 /t/" + b"x" * 3_000_000
    with raises("line-too-long", line=2):
        list(read_list(io.BytesIO(b"7 /t/a\n" + long), "LIST", b"/t").entries)


@pytest.mark.parametrize(
    "text, match",
    [
        (b"", "LIST: the list is empty"),
        (b"\n \n", "empty"),
        (b"total 12\n", "LIST, line 1: unknown form of a list"),
        (b"\n\n{}\n", "line 3: unknown form"),
        (b"5 /t/a\nx\n", "line 2: does not have the form of .*: size and"),
        (b"/t/a\nt/b\n", "line 2: does not have"),
        (b"Type=REG File=/t/a\n5 /t/b\n", "line 2: does not have"),
    ],
)
def test_what_is_no_list_is_said_with_its_line(text, match):
    with pytest.raises(InputError, match=match) as error:
        list(read_list(io.BytesIO(text), "LIST", b"/t").entries)
    assert "find" in error.value.hint


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    survey_tree.make(root, files=400)
    return root


def listed(tree: Path, place: Path, sized: bool) -> str:
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    line = (lambda path: f"{path.stat().st_size} {path}") if sized else str
    place.write_text("".join(f"{line(path)}\n" for path in files))
    return str(place)


@pytest.mark.parametrize("sized", [True, False])
def test_a_list_tells_what_the_walk_tells(tree, tmp_path, sized):
    walked = survey(SurveyQuery(str(tree), files=5000, codecs=()))
    made = survey(SurveyQuery(str(tree), files=5000, codecs=(), files_from=listed(tree, tmp_path / "list", sized)))
    assert made.no_answer == {}
    assert [one.to_json() for one in made.estimates] == [one.to_json() for one in walked.estimates]
    for name in ("files", "bytes", "empty"):
        assert made.walked.numbers[name] == walked.walked.numbers[name]
    assert [row.files for row in made.walked.sizes] == [row.files for row in walked.walked.sizes]
    assert [row.files for row in made.walked.depths] == [row.files for row in walked.walked.depths]
    if sized:
        assert made.walked.owners is None and made.walked.old is None and "allocated_bytes" not in made.walked.numbers
    else:
        assert made.walked.modified == walked.walked.modified and made.walked.owners == walked.walked.owners
        assert made.walked.numbers["allocated_bytes"] == walked.walked.numbers["allocated_bytes"]


@pytest.mark.long
def test_samples_of_a_list_follow_from_its_seed_and_hold_the_truth(tree, tmp_path):
    source = listed(tree, tmp_path / "list", True)
    truth = {
        (one.what, one.name, one.of): one.inference.estimate.value
        for one in survey(SurveyQuery(str(tree), files=5000, codecs=())).estimates
    }
    held, said = [], []
    for seed in range(20):
        made = survey(SurveyQuery(str(tree), files=120, seed=seed, codecs=(), files_from=source))
        said.append([one.to_json() for one in made.estimates])
        for one in made.estimates:
            found = one.inference.estimate
            held.append(found.low - 1e-9 <= truth[one.what, one.name, one.of] <= found.high + 1e-9)
    assert sum(held) >= 0.9 * len(held) and len({str(one) for one in said}) == 20
    again = survey(SurveyQuery(str(tree), files=120, seed=3, codecs=(), files_from=source))
    assert [one.to_json() for one in again.estimates] == said[3]


def test_names_that_leave_the_tree_or_are_none_of_its_files(tmp_path):
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    for place in (tree, outside):
        place.mkdir()
        (place / "file").write_text("text " * 1000)
    os.link(tree / "file", tree / "again")
    (tree / "way").symlink_to(outside)
    (tree / "link").symlink_to(outside / "file")
    names = [
        tree / "file",
        tree / "again",
        tree / "way" / "file",
        tree / "link",
        tree / "gone",
        outside / "file",
        f"{tree}/../outside/file",
        f"{tree}/./file/../file",
        tree,
    ]
    (tmp_path / "list").write_text("".join(f"{one}\n" for one in names))
    made = survey(SurveyQuery(str(tree), files_from=str(tmp_path / "list")))
    numbers = made.walked.numbers
    assert (made.walked.files, made.files_read, numbers["hard_links"]) == (1, 1, 1)
    assert (numbers["outside"], numbers["not_files"], numbers["vanished"]) == (4, 1, 2)
    assert "4 not below the tree, 1 no files, 2 not found" in " ".join(made.walked.notes)
    (tmp_path / "sized").write_text("".join(f"5000 {one}\n" for one in (*names, tree / "file")))
    made = survey(SurveyQuery(str(tree), files_from=str(tmp_path / "sized")))
    assert made.no_answer == {"vanished": 2, "changed": 1} and made.files_read == 1, "what is behind a link is not read"


def test_a_size_that_is_no_longer_true_is_no_answer(tmp_path):
    (tmp_path / "file").write_text("text " * 1000)
    (tmp_path / "empty").touch()
    list_ = tmp_path.parent / f"{tmp_path.name}.list"
    list_.write_text(f"4000 {tmp_path}/file\n100 {tmp_path}/empty\n")
    assert survey(SurveyQuery(str(tmp_path), files_from=str(list_))).no_answer == {"changed": 2}


def test_what_a_list_cannot(tmp_path):
    (tmp_path / "list").write_text(f"5 {tmp_path}/a\n")
    (tmp_path / "other").write_text("5 /somewhere/else\n")
    for asked, match in (
        (SurveyQuery(str(tmp_path), files_from=str(tmp_path / "none")), "No such file"),
        (SurveyQuery(str(tmp_path), files_from=str(tmp_path)), "Is a directory"),
        (SurveyQuery(str(tmp_path), files_from=str(tmp_path / "list"), allocated=True), "allocated"),
        (SurveyQuery(str(tmp_path), files_from=str(tmp_path / "other")), "no listed file is below"),
    ):
        with pytest.raises(InputError, match=match):
            survey(asked)
