"""Factors in the paths of files: patterns and manifests."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from iosonde.core.errors import InputError
from iosonde.ingest.paths import factors_from_manifest, factors_from_pattern, join_factors
from messages import raises


@pytest.mark.parametrize(
    ("pattern", "path", "factors"),
    [
        ("site={}/day={}/...", "site=a/day=2024-05-03/x/y.txt", {"site": "a", "day": "2024-05-03"}),
        ("site={}/day={}/…", "up/site=a/day=3", {"site": "a", "day": 3}),
        ("{site}/{nodes}/*", "a/8/x.txt", {"site": "a", "nodes": 8}),
        ("{site}/{nodes}/*", "z/a/8/x.txt", {"site": "a", "nodes": 8}),
        ("{site}/{nodes}/*", "a/8/9/x/", {"site": 8, "nodes": 9}),
        ("{site}/**/n{nodes}.txt", "a/b/c/n4.txt", {"site": "a", "nodes": 4}),
        ("{site}/**/n{nodes}.txt", "a/n4.log", {}),
        ("r-{n}.t*", "r-5.txt", {"n": 5}),
        ("r-{n}.t*", "r-5xtxt", {}),
    ],
)
def test_a_pattern_finds_factors_in_the_end_of_a_path(pattern, path, factors):
    assert factors_from_pattern(pattern)(PurePath(path)) == factors


@pytest.mark.parametrize(
    ("pattern", "path", "factors"),
    [
        ("archive/{site}/...", "kyiv/2/x", {"site": "kyiv"}),
        ("/archive/{site}/*", "kyiv/x", {"site": "kyiv"}),
        ("archive/{site}/...", "old/archive/rome/x", {"site": "rome"}),  # one inside the path comes first
        ("other/{site}/...", "kyiv/2/x", {}),
        ("{site}/{nodes}/x", "kyiv/x", {}),  # the directory is no site
    ],
)
def test_a_pattern_may_begin_with_the_imported_directory(pattern, path, factors):
    match = join_factors(factors_from_pattern(pattern))
    assert match(PurePath(path), "archive") == factors


@pytest.mark.parametrize(
    ("pattern", "code", "values"),
    [
        ("a/*/b", "pattern-without-factor", {"pattern": "a/*/b"}),
        ("a/{}/b", "unnamed-placeholder", {"pattern": "a/{}/b"}),
        ("{n}/n={}", "duplicate-name", {"name": "n", "pattern": "{n}/n={}"}),
    ],
)
def test_a_pattern_that_names_nothing_is_refused(pattern, code, values):
    with raises(code, InputError, **values):
        factors_from_pattern(pattern)


def test_a_manifest_has_a_line_for_each_file_or_pattern_and_later_ones_win(tmp_path):
    manifest = tmp_path / "m.csv"
    manifest.write_text("file,site,nodes\na/*.txt,zeus,4\nx.txt,,8\n,hera,1\na/y.txt,ares,\n")
    lookup = factors_from_manifest(manifest)
    found = {path: lookup(PurePath(path)) for path in ("a/y.txt", "a/x.txt", "b/x.txt", "b/z.txt")}
    assert found == {
        "a/y.txt": {"site": "ares", "nodes": 4},
        "a/x.txt": {"site": "zeus", "nodes": 8},
        "b/x.txt": {"nodes": 8},
        "b/z.txt": {},
    }
    both = join_factors(lookup, factors_from_pattern("{nodes}/{site}.txt"))
    assert both(PurePath("a/x.txt")) == {"site": "x", "nodes": "a"}
    manifest.write_text("path,site\nx,y\n")
    with raises("missing-column", InputError, path=manifest):
        factors_from_manifest(manifest)
    with raises("unreadable-file", InputError):
        factors_from_manifest(tmp_path / "none.csv")


def test_a_pattern_is_matched_to_whole_parts_and_ends_where_it_says():
    assert factors_from_pattern("/n={}/")(PurePath("x/n=4")) == {"n": 4}
    assert factors_from_pattern("n={}")(PurePath("n=4/x")) == {}
    assert factors_from_pattern("a.b={n}")(PurePath("a.b=4")) == {"n": 4}
    assert factors_from_pattern("a.b={n}")(PurePath("axb=4")) == {}
    assert factors_from_pattern("r{n}x*y")(PurePath("r4xzzy")) == {"n": 4}
    assert factors_from_pattern("r{n}x*y")(PurePath("r4xz/zy")) == {}
    assert factors_from_pattern("{a}-b={}")(PurePath("x-b=2")) == {"a": "x", "b": 2}


def test_a_manifest_may_lack_cells_and_is_a_table(tmp_path):
    manifest = tmp_path / "m.csv"
    manifest.write_text("site,file\nzeus\nhera, b/x.txt \nares,[a].txt\n")
    lookup = factors_from_manifest(manifest)
    found = [lookup(PurePath(path)) for path in ("b/x.txt", "c/b/x.txt", "[a].txt", "a.txt")]
    assert found == [{"site": "hera"}, {}, {"site": "ares"}, {"site": "ares"}]
    for content in (b"", b"file,x\n\xff\n"):
        manifest.write_bytes(content)
        with raises("missing-column" if not content else "unreadable-file", InputError, path=manifest):
            factors_from_manifest(manifest)


def test_factors_from_a_path():
    of = factors_from_pattern("site={}/day={}/...")
    assert of(Path("old/site=bonn/day=2024-05-03/run 1/ior.txt")) == {"site": "bonn", "day": "2024-05-03"}
    assert of(Path("elsewhere/ior.txt")) == {}
    assert factors_from_pattern("{site}/n{nodes}/*.txt")(Path("bonn/n16/a.txt")) == {"site": "bonn", "nodes": 16}
    for wrong in ("a/b", "x/{}", "{a}/{a}"):
        with pytest.raises(InputError):
            factors_from_pattern(wrong)


def test_factors_from_a_manifest(tmp_path):
    manifest = tmp_path / "m.csv"
    manifest.write_text("file,site,nodes\na/*.txt,bonn,\na/2.txt,,8\n")
    of = factors_from_manifest(manifest)
    assert of(Path("a/2.txt")) == {"site": "bonn", "nodes": 8}
    manifest.write_text("site\nbonn\n")
    with raises("missing-column"):
        factors_from_manifest(manifest)
