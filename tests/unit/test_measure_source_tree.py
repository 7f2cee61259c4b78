"""The generated tree: the same bytes for the same seed, and what is known of it is true of what lies on the disk."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import SystemFaultError
from iosonde.measure import source_tree, tree_program
from iosonde.measure.source_tree import LARGEST_BYTES, NEEDLE, SourceTree
from messages import raises


def test_the_tree_of_a_seed_never_changes():
    """Results of years are compared: whoever changes the generator gives the benchmarks other names."""
    known = SourceTree(1, 100).facts
    assert known.answer == "df1087d268a548aa"
    assert (known.files, known.directories, known.entries) == (101, 9, 110)
    assert (known.bytes, known.needles, known.first_needles) == (1327978, 229, 20)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32), files=st.integers(3, 40))
def test_the_same_seed_makes_the_same_bytes_and_another_seed_others(seed, files):
    one = SourceTree(seed, files)
    assert one.contents == SourceTree(seed, files).contents
    assert one.sums != SourceTree(seed + 1, files).sums
    assert one.facts.files == files + 1
    assert max(map(len, one.contents.values())) < LARGEST_BYTES + 4096


def test_what_is_known_is_what_tools_find(tmp_path):
    tree = SourceTree(7, 30)
    tree.write(tmp_path / "x")
    root, known = tmp_path / "x" / "tree", tree.facts
    found = [path for path in root.rglob("*") if path.is_file()]
    texts = [path.read_text() for path in found]
    assert len(found) == known.files
    assert len([path for path in root.rglob("*") if path.is_dir()]) == known.directories
    assert sum(len(text) for text in texts) == known.bytes
    assert sum(NEEDLE in line for text in texts for line in text.splitlines()) == known.needles > 0
    told = tmp_path / "x" / "known"
    assert (told / "entries").read_text() == str(known.entries)
    assert (told / "directories_list").read_text().splitlines() == tree.directories
    subprocess.run(["sha256sum", "--quiet", "--check", "../known/sums"], cwd=root, check=True)


def test_it_compiles_and_prints_what_was_computed_without_a_compiler(tmp_path):
    tree = SourceTree(3, 4)
    tree.write(tmp_path / "x")
    subprocess.run(["sh", "build.sh"], cwd=tmp_path / "x" / "tree", check=True, capture_output=True)
    said = subprocess.run([tmp_path / "x" / "tree" / "program"], check=True, capture_output=True, text=True).stdout
    assert said.strip() == tree.facts.answer


def test_sizes_are_spread_as_those_of_real_sources_are():
    sizes = sorted(len(content) for path, content in SourceTree(1, 400).contents.items() if path.endswith(".c"))
    assert 3000 < sizes[len(sizes) // 2] < 8000
    assert sizes[-1] > 10 * sizes[len(sizes) // 2]


def test_nothing_is_written_over(tmp_path):
    with raises("already-exists"):
        SourceTree(1, 3).write(tmp_path)
    with raises("too-few-files"):
        SourceTree(1, 2)


class TestCache:
    @pytest.fixture
    def place(self, tmp_path):
        (tmp_path / "a").write_bytes(b"x" * 5000)
        return tmp_path

    def test_an_unknown_level(self, place):
        with raises("unknown-cache-level", level="hot"):
            tree_program.set_cache("hot", place)

    def test_warm_reads_and_drops_nothing(self, place, monkeypatch):
        monkeypatch.setattr(tree_program.cache, "drop_files", None)
        tree_program.set_cache("warm", place)

    def test_cold_that_was_not_had_is_an_error(self, place, monkeypatch):
        kept = {"state": "warm", "resident_bytes": 4096, "bytes": 5000}
        monkeypatch.setattr(tree_program.cache, "check_after_drop", lambda *_: kept)
        with raises("cache-not-dropped", SystemFaultError, cached_bytes="4 KiB"):
            tree_program.set_cache("cold-data", place)

    @pytest.mark.parametrize("elsewhere", [True, False])
    def test_what_no_look_can_verify_is_taken_on_a_network_mount_alone(self, place, monkeypatch, elsewhere):
        asked = {"state": "cold-requested", "resident_bytes": 0, "bytes": 5000}
        monkeypatch.setattr(tree_program.cache, "check_after_drop", lambda *_: asked)
        monkeypatch.setattr(tree_program.cache, "can_cache_elsewhere", lambda _: elsewhere)
        if elsewhere:
            tree_program.set_cache("cold-data", place)
        else:
            with raises("cache-not-dropped", SystemFaultError):
                tree_program.set_cache("cold-data", place)

    def test_names_that_cannot_be_dropped_are_an_error_for_cold_alone(self, place, tmp_path, monkeypatch):
        gone = {"state": "cold-verified", "resident_bytes": 0, "bytes": 5000}
        monkeypatch.setattr(tree_program.cache, "check_after_drop", lambda *_: gone)
        tree_program.set_cache("cold-data", place, tmp_path / "no" / "such")
        with raises("cache-not-dropped", SystemFaultError):
            tree_program.set_cache("cold", place, tmp_path / "no" / "such")
        tree_program.set_cache("cold", place, tmp_path / "drop")
        assert (tmp_path / "drop").read_text() == "2\n"


@pytest.mark.parametrize(
    ("words", "made", "cached"),
    [
        (["make", "d", "--seed", "7", "--files", "30"], [(7, 30, "d")], []),
        (["make", "d"], [(1, 100, "d")], []),
        (["cache", "cold", "d"], [], [("cold", "d")]),
    ],
)
def test_the_program_makes_a_tree_or_sets_its_cache(monkeypatch, words, made, cached):
    trees, levels = [], []

    class Tree:
        def __init__(self, seed, files):
            self.about = seed, files

        def write(self, place):
            trees.append((*self.about, str(place)))

    monkeypatch.setattr(tree_program, "SourceTree", Tree)
    monkeypatch.setattr(tree_program, "set_cache", lambda level, place: levels.append((level, str(place))))
    tree_program.main(words)
    assert (trees, levels) == (made, cached)


def test_every_file_below_is_read_or_dropped(tmp_path, monkeypatch):
    (tmp_path / "d").mkdir()
    for name in ("d/b", "a"):
        (tmp_path / name).write_text("x")
    read, calls = [], []
    monkeypatch.setattr(tree_program.Path, "read_bytes", lambda path: read.append(path.name) or b"")
    tree_program.set_cache("warm", tmp_path)
    assert sorted(read) == ["a", "b"]
    monkeypatch.setattr(tree_program.cache, "write_out", lambda place: calls.append(place))
    monkeypatch.setattr(tree_program.cache, "drop_files", lambda *of: calls.append(of) or "dropped")
    state = {"state": "cold-verified", "resident_bytes": 0, "bytes": 2}
    monkeypatch.setattr(tree_program.cache, "check_after_drop", lambda *of: calls.append(of) or state)
    tree_program.set_cache("cold-data", tmp_path)
    names = ["a", "d/b"]
    assert calls == [tmp_path, (tmp_path, names), (tmp_path, names, "dropped")]
    with raises("io-error", SystemFaultError, path="p", reason="why"):
        tree_program._refuse_file("p", "why")


def test_small_trees_by_hand():
    tree = SourceTree(1, 20)
    paths = list(tree.contents)
    assert sum(path.startswith("include/") for path in paths) == 3  # 15 %
    assert sum(path.startswith("doc/") for path in paths) == 1  # 5 %
    assert sum(path.endswith(".c") for path in paths) == 16
    assert [tree._source_name(number) for number in (0, 11, 12, 23, 24, 36)] == [
        "d000/f00000.c",
        "d000/f00011.c",
        "d000/s001/f00012.c",
        "d000/s001/f00023.c",
        "d001/f00024.c",
        "d001/s003/f00036.c",
    ]
    assert tree.directories == ["d000", "d000/s001", "doc", "include"]
    assert (tree.facts.files, tree.facts.entries, tree.facts.first_directory) == (21, 25, "d000")
    assert paths == sorted(paths) and tree.contents["build.sh"].startswith(
        b"set -e\ncc -O0 -Iinclude -c d000/f00000.c "
    )
    assert [SourceTree(1, 3)._headers, SourceTree(1, 3)._texts, SourceTree(1, 3)._sources] == [1, 0, 2]
    text = tree.contents["doc/t00000.txt"].decode()
    assert text.startswith("Chapter 0\n") and "//" not in text and text.endswith("\n")


def test_draws_are_spread_over_their_range():
    class Fixed:
        def __init__(self, *values):
            self.values = list(values)

        def random(self):
            return self.values.pop(0)

    assert [source_tree._draw_below(Fixed(value), 10) for value in (0.0, 0.05, 0.55, 0.9999)] == [0, 0, 5, 9]
    # The median, one deviation of the logarithm above it, and the largest.
    sizes = [source_tree._draw_size(Fixed(value)) for value in (0.5, 0.841344746, 1 - 1e-12, 0.0)]
    assert sizes[:3] == [5000, round(5000 * 2.718281828**1.4), 256 * 2**10] and sizes[3] == 1
    assert source_tree._draw_remarks(Fixed(0.0, *[0.0] * 4, 0.5), 1) == [" ".join(["the"] * 4)]
    assert source_tree._draw_remarks(Fixed(0.0, *[0.0] * 4, 0.009), 1) == [" ".join([NEEDLE, *["the"] * 3])]
    assert source_tree._draw_statements(Fixed(0.5, 0.0, 0.0), 1) == ["    x -= (x << 1) ^ 0ULL;"]
