"""Pure parts of a survey: its walk as tables, its plan, changes of storage, shares of parts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("iosonde.engine._native")
from iosonde.commands.survey.answer import SurveyQuery, build_walk_options, check_options
from iosonde.commands.survey.content import (
    _estimate_saved_bytes,
    compute_compressed_share,
    estimate_bytes,
    estimate_kinds,
    estimate_quantiles,
    find_unbeaten_codecs,
    invert_to_rate,
    pack_per_byte,
    unpack_per_byte,
)
from iosonde.commands.survey.plan import plan_survey
from iosonde.commands.survey.ranks import _raise_if_any_failed, _require_walk, survey_together
from iosonde.commands.survey.reading import ReadSpeed, compute_cold_share
from iosonde.commands.survey.sample import FileSample, SurveyEstimate
from iosonde.commands.survey.simulate import SimulationQuery
from iosonde.commands.survey.strata import StratifiedSample, SurveyStratum, allocate_draws, parse_by
from iosonde.commands.survey.walk import Tail, WalkRow, WalkSummary, summarize_walk
from iosonde.commands.survey.what_if import StorageChange, estimate_change, merge_codecs, parse_change
from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.types import Estimate
from iosonde.engine import _native
from iosonde.survey.contents import FULL_READ_BYTES, Contents, Piece
from iosonde.survey.opening import WalkedFile
from iosonde.survey.sampling.shares import PopulationEstimate
from iosonde.survey.sampling.stopping import compute_sample_size
from iosonde.survey.walk import DrawnFiles, Walked
from messages import codes, raises

YEAR_S = 365 * 86_400
QUIET = {
    "unreadable_directories": 0,
    "errors": {},
    "unknown_entries": 0,
    "vanished": 0,
    "mounts": 0,
    "snapshots": {".zfs": 0},
    "released": 0,
    "linked_elsewhere": 0,
    "links_unchecked": 0,
}


def walked(**changes: Any) -> Walked:
    """Four files: an empty one, two of 600 bytes, one of 4000 bytes, which is older than a year."""
    sizes = np.zeros((65, 3), np.uint64)
    sizes[0], sizes[10], sizes[12] = (1, 0, 0), (2, 1200, 2048), (1, 4000, 4096)
    ages = np.zeros((len(_native.AGE_EDGES_DAYS) + 1, 3), np.uint64)
    year = _native.AGE_EDGES_DAYS.index(365)
    ages[year], ages[year + 1] = (3, 1200, 2048), (1, 4000, 4096)
    depths = np.array([[3, 1200, 2048], [0, 0, 0], [1, 4000, 4096]], np.uint64)
    counts = {
        "files": 4,
        "bytes": 5200,
        "allocated_bytes": 6144,
        "sizes": sizes,
        "modified": ages,
        "accessed": ages,
        "depths": depths,
        "owners": {0: (3, 1200, 2048), 7: (1, 4000, 4096)},
        **QUIET,
        **changes,
    }
    counts = {name: value for name, value in counts.items() if value is not None}
    files: Any = None
    return Walked(counts, files, files, 1.5, 0)


def test_a_walk_as_tables_and_shares() -> None:
    summary = summarize_walk(walked(), allocated=False)
    large, small, empty = (1, 4000, 4096), (2, 1200, 2048), (1, 0, 0)
    assert summary.sizes == (WalkRow(0, *empty), WalkRow(1023, *small), WalkRow(4095, *large))
    edges = _native.AGE_EDGES_DAYS
    later = edges[edges.index(365) + 1] if edges[-1] > 365 else None
    assert summary.modified == summary.accessed == (WalkRow(365, 3, 1200, 2048), WalkRow(later, *large))
    assert summary.depths == (WalkRow(0, 3, 1200, 2048), WalkRow(None, *large))
    assert (summary.owners, summary.largest_owner, summary.old) == (2, 4000 / 5200, (0.25, 4000 / 5200))
    assert summary.tails == (Tail(4000 / 5200, 2048, 0.25), Tail(1.0, 512, 0.75))
    assert (summary.files, summary.capacity, summary.seconds, summary.notes) == (4, 5200, 1.5, ())


def test_a_walk_by_allocated_bytes() -> None:
    summary = summarize_walk(walked(), allocated=True)
    assert (summary.capacity, summary.largest_owner, summary.old) == (6144, 4096 / 6144, (0.25, 4096 / 6144))
    assert summary.tails == (Tail(4096 / 6144, 2048, 0.25), Tail(1.0, 512, 0.75))


def test_what_a_list_and_an_empty_tree_lack() -> None:
    listed = summarize_walk(walked(owners=None, modified=None, accessed=None), allocated=False)
    assert (listed.owners, listed.largest_owner, listed.old) == (None, None, None)
    assert listed.modified == listed.accessed == ()
    none = np.zeros((65, 3), np.uint64)
    empty = summarize_walk(walked(files=0, bytes=0, sizes=none, owners={}), allocated=False)
    assert (empty.sizes, empty.tails, empty.owners, empty.largest_owner) == ((), (), 0, 0.0)
    zeros = none.copy()
    zeros[0, 0] = 2
    assert summarize_walk(walked(files=2, bytes=0, sizes=zeros), allocated=False).tails == ()


LIST = {"form": "names", "outside": 0, "not_files": 0}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"bytes": 2**64 - 1}, ["size-overflow"]),
        ({"bytes": 2**64 - 2}, []),
        ({"allocated_bytes": 2**64 - 1}, ["size-overflow"]),
        ({"unreadable_directories": 1, "errors": {13: 1}}, ["unreadable-directories"]),
        ({"unknown_entries": 1}, ["unknown-entries"]),
        ({"vanished": 1}, ["vanished-files"]),
        ({"mounts": 1}, ["other-file-systems"]),
        ({"snapshots": {".zfs": 0, ".snapshot": 2}}, ["snapshots-skipped"]),
        ({"released": 1}, ["released-files"]),
        ({"linked_elsewhere": 1}, ["links-outside"]),
        ({"links_unchecked": 1}, ["unchecked-links"]),
        (LIST | {"mounts": 1}, ["list-of-names"]),
        (LIST | {"owners": None}, ["list-of-sizes"]),
        (LIST | {"outside": 1}, ["list-of-names", "names-left-out"]),
        (LIST | {"vanished": 1}, ["list-of-names", "names-left-out"]),
        (LIST | {"released": 1}, ["list-of-names", "released-files"]),
        (LIST | {"released": None}, ["list-of-names"]),
    ],
)
def test_what_was_not_seen_is_noted(changes: dict[str, Any], expected: list[str]) -> None:
    assert codes(summarize_walk(walked(**changes), allocated=False).notes) == expected


def test_notes_have_the_numbers_of_the_walk() -> None:
    def note(**changes: Any) -> dict[str, str]:
        (message,) = summarize_walk(walked(**changes), allocated=False).notes
        return {name: str(value) for name, value in message.values.items()}  # type: ignore[attr-defined]

    errors = {"unreadable_directories": 1200, "errors": {13: 1199, 9999: 1}}
    assert note(**errors) == {"directories": "1,200 directories", "reasons": "EACCES 1199, 9999 1"}
    assert note(unreadable_directories=1, errors={2: 1}) == {"directories": "1 directory", "reasons": "ENOENT 1"}
    assert note(unknown_entries=1) == {"entries": "1 entry"}
    assert note(unknown_entries=1001) == {"entries": "1,001 entries"}
    assert note(snapshots={".zfs": 0, ".snapshot": 2}) == {"snapshots": ".snapshot 2"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, (False, None)),
        ("owner", (True, None)),
        ("directory", (False, 1)),
        ("directory:2", (False, 2)),
        ("directory:999", (False, 999)),
    ],
)
def test_parts_of_a_tree(text: str | None, expected: tuple[bool, int | None]) -> None:
    assert parse_by(text) == expected


@pytest.mark.parametrize("text", ["", "directory:0", "directory:1000", "directory:", "owners", "owner:1", "xdirectory"])
def test_parts_that_a_tree_has_not(text: str) -> None:
    with raises("unknown-option-value", InputError, grouping=text):
        parse_by(text)


def test_draws_go_to_parts_by_files_and_by_bytes() -> None:
    def part(files: int, size: int) -> Any:
        first = {by: SimpleNamespace(first=lambda n, by=by: (by, n)) for by in ("count", "size")}
        counts = {"bytes": size, "allocated_bytes": 100}
        return SimpleNamespace(files=files, counts=counts, by_count=first["count"], by_size=first["size"])

    strata: Any = {"a": part(300, 100), "b": part(100, 300)}
    draws = {"files": 40, "capacity": 40}
    assert list(allocate_draws(strata, draws, "bytes")) == [
        ("files", "a", ("count", 30)),
        ("files", "b", ("count", 10)),
        ("capacity", "a", ("size", 10)),
        ("capacity", "b", ("size", 30)),
    ]
    allocated = list(allocate_draws(strata, {"capacity": 40}, "allocated_bytes"))
    assert allocated == [("capacity", "a", ("size", 20)), ("capacity", "b", ("size", 20))]


def share(value: float | None, kind: str = "text", of: str = "capacity") -> SurveyEstimate:
    estimate = Estimate(value, None, None, 0.95, 3)
    return SurveyEstimate("type", kind, of, "share", PopulationEstimate(estimate, 1.5, 0.25, 0.75))


def test_a_part_is_mostly_of_the_type_with_most_capacity() -> None:
    def mostly(*estimates: SurveyEstimate) -> str | None:
        largest = SurveyStratum("p", 1, 2, 3, 4, 5, estimates).mostly
        return largest and largest.name

    assert mostly() is mostly(share(None)) is mostly(share(0.5, of="files")) is None
    assert mostly(share(0.2, "a"), share(0.9, "b", of="files"), share(0.4, "c"), share(None, "d")) == "c"
    assert mostly(share(0.0, "a")) == "a"
    part = SurveyStratum("p", 1, 2, 3, 4, 5, (share(0.5),)).to_json()
    assert {name: part[name] for name in part if name != "estimates"} == {
        "name": "p",
        "files": 1,
        "bytes": 2,
        "allocated_bytes": 3,
        "looked_at": 5,
    }


def test_bounds_for_missing_files_are_of_shares_alone() -> None:
    document = share(0.5).to_json()
    assert (document["design_effect"], document["if_missing_none"], document["if_missing_all"]) == (1.5, 0.25, 0.75)
    saved = SurveyEstimate("saved", "lz4", "capacity", "bytes", share(0.5).inference).to_json()
    assert (saved["if_missing_none"], saved["if_missing_all"]) == (None, None)


def piece(
    size: int = 1000, packed: int = 250, pack_s: float = 2.0, unpack_s: float = 1.0, read_s: float = 0.0
) -> Piece:
    return Piece(size, 0, 0, b"", 0.0, {"lz4:0": packed}, {"lz4:0": pack_s}, {"lz4:0": unpack_s}, read_s)


def test_numbers_of_a_piece_are_per_byte_of_the_original() -> None:
    assert [compute_compressed_share("lz4:0", piece(packed=packed)) for packed in (250, 1000, 1001)] == [0.25, 1.0, 1.0]
    assert (pack_per_byte("lz4:0", piece()), unpack_per_byte("lz4:0", piece())) == (0.002, 0.001)


def test_rates_and_saved_bytes_turn_their_ends_around() -> None:
    seconds = PopulationEstimate(Estimate(0.5, 0.0, 2.0, 0.9, 7, ("few",)), 1.5, 1.0, 1.0)
    rate = invert_to_rate(seconds)
    assert rate == PopulationEstimate(Estimate(2.0, 0.5, None, 0.9, 7, ("few",)), 1.5, 0.0, 0.0)
    ratio = PopulationEstimate(Estimate(0.5, 0.25, 1.25, 0.9, 7, ("few",)), 1.5, 0.25, 0.75)
    saved = _estimate_saved_bytes(ratio, 100.0)
    assert saved == PopulationEstimate(Estimate(50.0, 0.0, 75.0, 0.9, 7, ("few",)), 1.5, 25.0, 75.0)
    unknown = PopulationEstimate(Estimate(None, None, None, 0.9, 0), None, 0.0, 1.0)
    assert _estimate_saved_bytes(unknown, 100.0).estimate == invert_to_rate(unknown).estimate == unknown.estimate


def test_the_cold_share_is_of_bytes_whose_state_is_known() -> None:
    def speed(state: str, size: int) -> ReadSpeed:
        return ReadSpeed("text", state, Estimate(1.0, None, None, 0.95, 1), size)

    speeds = [speed("cold", 100), speed("cached", 200), speed("unknown", 900), speed("cold", 100)]
    assert compute_cold_share(speeds) == 0.5
    assert compute_cold_share(speeds[2:3]) is compute_cold_share([]) is None
    assert compute_cold_share(speeds[1:2]) == 0.0


def test_a_plan_reads_both_samples_or_everything() -> None:
    plan = plan_survey(10**6, 10**15, 1e9, 0.01, (0.1, 0.05), 0.9)
    draws = [compute_sample_size(precision, 0.9, population=10**6) for precision in (0.1, 0.05)]
    assert draws[0] < draws[1]
    *rows, everything = plan.rows
    for row, n, precision in zip(rows, draws, (0.1, 0.05), strict=True):
        size = 2 * n * FULL_READ_BYTES
        assert (row.precision, row.files, row.by_count, row.bytes) == (precision, 2 * n, n, size)
        assert (row.seconds, row.seconds_of_bytes) == pytest.approx((2 * n * 0.01 + size / 1e9, size / 1e9))
    assert (everything.precision, everything.files, everything.by_count, everything.bytes) == (
        None,
        10**6,
        10**6,
        10**15,
    )
    assert (everything.seconds, everything.seconds_of_bytes) == (1e4 + 1e6, 1e6)
    assert everything.node_hours == pytest.approx(1.01e6 / 3600)
    small = plan_survey(3, 10, 5.0, 0.0, (0.01,))
    assert (small.rows[0].files, small.rows[0].bytes, small.rows[0].seconds) == (3, 10, 2.0)
    assert plan_survey(1, 1, 1.0, 0.0).population == 1


@pytest.mark.parametrize("numbers", [(0, 1, 1.0, 0.0), (1, 0, 1.0, 0.0), (1, 1, 0.0, 0.0), (1, 1, 1.0, -0.1)])
def test_a_plan_needs_files_a_capacity_and_a_rate(numbers: tuple[int, int, float, float]) -> None:
    with raises("out-of-range", InputError):
        plan_survey(*numbers)


def file(age_s: float = 0.0, size: int = 100, inode: int = 1) -> WalkedFile:
    return WalkedFile(b"f", size, 512, 1, inode, int((10_000 - age_s) * 1e9))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"older_s": 100.0}, [True, False, False, True]),
        ({"larger": 100}, [True, True, False, True]),
        ({"kind": "text"}, [True, True, True, False]),
        ({"older_s": 100.0, "kind": "tar"}, [False, False, False, True]),
        ({}, [True, True, True, True]),
    ],
)
def test_the_part_that_a_change_touches(change: dict[str, Any], expected: list[bool]) -> None:
    where = StorageChange("x", "lz4:0", **change).touches(10_000)
    files = [(file(100), "text"), (file(99), "text"), (file(-5, size=99), "text"), (file(500), "tar")]
    assert [where(each, Contents(kind)) for each, kind in files] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("compress=lz4", StorageChange("compress=lz4", "lz4:0")),
        ("compress=zstd,older=1y", StorageChange("compress=zstd,older=1y", "zstd:3", YEAR_S)),
        ("compress=zstd,older=0.5y", StorageChange("compress=zstd,older=0.5y", "zstd:3", YEAR_S / 2)),
        ("compress=zstd,older=2h", StorageChange("compress=zstd,older=2h", "zstd:3", 7200.0)),
        (
            "compress=lz4,type=TIFF,larger=1KiB",
            StorageChange("compress=lz4,type=TIFF,larger=1KiB", "lz4:0", 0.0, "TIFF", 1024),
        ),
        ("archive=64KiB", StorageChange("archive=64KiB", archive=65536)),
        ("archive=2", StorageChange("archive=2", archive=2)),
    ],
)
def test_a_change_of_storage(text: str, expected: StorageChange) -> None:
    assert parse_change(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "older=1y",
        "compress=lz4,archive=64KiB",
        "archive=64KiB,older=1y",
        "compress=lz4,newer=1y",
        "archive=1",
        "archive=3KiB",
        "compress=lz4,older=1.2.3y",
        "compress=lz4,older=.y",
        "compress=lz4,older=y",
    ],
)
def test_a_change_of_storage_that_is_unknown(text: str) -> None:
    with pytest.raises(InputError):
        parse_change(text)


def summary(rows: tuple[WalkRow, ...] = (), **numbers: int) -> WalkSummary:
    return WalkSummary(numbers, rows, (), (), (), None, None, (), None, (), 0, 0.0)


def test_small_files_in_archives_save_their_last_blocks() -> None:
    rows = (
        WalkRow(0, 5, 0, 0),
        WalkRow(1023, 2, 1200, 8192),
        WalkRow(65535, 1, 40_000, 40_960),
        WalkRow(131_071, 9, 900_000, 999_999),
        WalkRow(None, 1, 1, 1),
    )
    change = StorageChange("archive=64KiB", archive=65536)
    effect = estimate_change(change, {}, summary(rows, allocated_bytes=1), 0, 0.9)
    least = 41_200 + 3 * 512
    saved = effect.saved
    assert saved is not None and (saved.value, saved.low, saved.high) == tuple(
        49_152 - least - 3 * fill for fill in (256, 511, 0)
    )
    assert (saved.level, saved.n, codes(saved.warnings)) == (0.9, 3, ["bounds-not-interval"])
    assert (effect.files, effect.archives, effect.warnings) == (3, 1, ())
    gib = 2**30
    many = (WalkRow(1023, 1, gib - 768, 2 * gib),)
    assert estimate_change(change, {}, summary(many, allocated_bytes=1), 0, 0.9).archives == 1
    more = (WalkRow(1023, 1, gib - 767, 2 * gib),)
    linked = estimate_change(change, {}, summary(more, allocated_bytes=1, hard_links=1), 0, 0.9)
    assert (linked.archives, codes(linked.warnings)) == (2, ["hard-links-lost"])
    unknown = estimate_change(change, {}, summary(rows), 0, 0.9)
    assert (unknown.saved, unknown.files, codes(unknown.warnings)) == (None, None, ["unknown-allocation"])


def test_codecs_of_changes_are_tried_once() -> None:
    changes = tuple(StorageChange("x", codec) for codec in ("zstd:3", "", "lz4:0", "zstd:3"))
    assert merge_codecs(("lz4:0", "xz:6"), changes) == ("lz4:0", "xz:6", "zstd:3")
    assert merge_codecs((), ()) == ()


def sample(sizes: list[int], contents: list[Contents], by: str = "files", total: int | None = None) -> FileSample:
    """All files of a tree, or draws from a larger one."""
    columns = {
        "size": np.array(sizes),
        "allocated": np.array([512] * len(sizes)),
        "device": np.ones(len(sizes), np.int64),
        "inode": np.arange(len(sizes)),
        "modified_ns": np.zeros(len(sizes), np.int64),
    }
    drawn = DrawnFiles((b"f",) * len(sizes), columns, None)
    counts = {"files": total or len(sizes), "bytes": sum(sizes), "allocated_bytes": 512 * len(sizes)}
    tree = Walked(counts, drawn, drawn, 0.0, 0)
    return FileSample(by, drawn, tree, False, {(1, place): each for place, each in enumerate(contents)})


def test_pieces_of_a_file_are_averaged_with_their_variance() -> None:
    contents = [
        Contents("text", (piece(packed=200), piece(packed=400), piece(packed=600))),
        Contents("tar", (piece(packed=100), piece(packed=300))),
        Contents("text", (piece(packed=500),)),
        Contents("text"),
        Contents(None, why="denied"),
    ]
    files = sample([10, 20, 30, 40, 50], contents)
    stratum = files.average_pieces(lambda each: compute_compressed_share("lz4:0", each))
    assert list(np.asarray(stratum.values)) == pytest.approx([0.4, 0.2, 0.5, 0.0, 0.0])
    assert list(np.asarray(stratum.within)) == pytest.approx([0.04 / 3, 0.02 / 2, 0.0, 0.0, 0.0])
    assert (list(stratum.pieces or ()), list(np.asarray(stratum.answered))) == (
        [3, 2, 0, 0, 0],
        [True] * 3 + [False] * 2,
    )
    texts = files.average_pieces(lambda _: 0.25, lambda _, content: content.kind == "text", outside=0.5)
    assert list(np.asarray(texts.values)) == pytest.approx([0.25, 0.5, 0.25, 0.0, 0.0])
    assert list(texts.pieces or ()) == [3, 0, 0, 0, 0]
    are_text = files.are(lambda _, content: content.kind == "text")
    assert (list(np.asarray(are_text.values)), list(np.asarray(files.silent().values))) == (
        [True, False, True, True, False],
        [False] * 4 + [True],
    )
    assert list(files.evaluate_files(lambda each: each.size / 10)) == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert (files.mass, files.certain) == (5.0, 5)


def test_a_whole_tree_has_exact_shares_by_count_and_by_size() -> None:
    contents = [Contents("text", (piece(),)), Contents("tar", (piece(),)), Contents("text", why="denied")]
    by_count, by_size = (sample([10, 30, 60], contents, by) for by in ("files", "capacity"))
    assert (by_count.mass, by_size.mass) == (3.0, 100.0)
    assert (by_count.missing(0.9).estimate.value, by_size.missing(0.9).estimate.value) == pytest.approx((1 / 3, 0.6))
    parts: Any = [sample([10, 30], contents[:2], "capacity"), sample([60], contents[2:], "capacity")]
    whole = StratifiedSample("capacity", parts)
    assert (whole.mass, whole.certain, len(whole.files), len(whole.contents)) == (100.0, 3, 3, 3)
    assert whole.missing(0.9).estimate.value == pytest.approx(0.6)
    assert whole.share(lambda each, _: each.size == 30, 0.9).estimate.n == 2
    assert whole.quantile(lambda each: each.size, 0.5, 0.9).estimate.value == 60
    assert StratifiedSample("files", []).quantile(lambda each: each.size, 0.5, 0.9).estimate.value is None
    some = sample([10, 30], contents[:2], total=8)
    assert (some.mass, some.certain, some.share(lambda each, _: each.size == 10, 0.9).estimate.value) == (8.0, 0, 0.5)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"repetitions": 1}, "out-of-range"),
        ({"repetitions": 100_001}, "out-of-range"),
        ({"draws": ()}, "too-few-draws"),
        ({"draws": (64, 1)}, "too-few-draws"),
        ({"by": "directory", "until": 0.1}, "conflicting-options"),
        ({"by": "owner"}, "unsupported-option-value"),
    ],
)
def test_what_no_simulation_can_do(options: dict[str, Any], code: str) -> None:
    with raises(code, InputError):
        SimulationQuery("t", **options)


def test_a_simulation_at_its_limits() -> None:
    query = SimulationQuery("t", repetitions=2, draws=(64, 2), seed=3, level=0.9)
    how = query.resampled
    assert (query.depth, list(how.sizes), how.parts, how.until) == (1, [2, 64], False, None)
    assert (how.repetitions, how.seed, how.level) == (2, 3, 0.9)
    assert SimulationQuery("t", repetitions=100_000, by="directory:3").depth == 3
    until = SimulationQuery("t", until=0.1).resampled
    assert (list(until.sizes), until.until) == ([compute_sample_size(0.1, 0.95)], 0.1)
    assert SimulationQuery("t", by="directory").resampled.parts


def whole(contents: list[Contents], sizes: list[int]) -> dict[str, Any]:
    return {by: sample(sizes, contents, by) for by in ("files", "capacity")}


def test_kinds_are_shares_of_files_and_of_capacity_and_empty_files_have_none() -> None:
    kinds = [Contents(kind) for kind in ("empty", "text", "tar", "text")]
    estimates = list(estimate_kinds(whole(kinds, [0, 10, 70, 20]), 0.9))
    assert {(each.what, each.unit) for each in estimates} == {("type", "share")}
    shares = [(each.of, each.name, each.inference.estimate.value) for each in estimates]
    assert shares == [
        ("files", "text", 0.5),
        ("files", "empty", 0.25),
        ("files", "tar", 0.25),
        ("capacity", "tar", pytest.approx(0.7)),
        ("capacity", "text", pytest.approx(0.3)),
    ]


def test_bytes_of_each_codec_are_estimated_over_the_capacity() -> None:
    halves = Piece(1000, 4, 1, b"", 4.0, {"lz4:0": 500}, {"lz4:0": 0.001}, {"lz4:0": 0.0005})
    samples = whole([Contents("text", (halves,))] * 3, [1000] * 3)
    values = {each.what: (each.unit, each.inference.estimate.value) for each in estimate_bytes(samples, ["lz4:0"], 0.9)}
    assert values == {
        "compressed": ("share", pytest.approx(0.5)),
        "saved": ("bytes", pytest.approx(1500)),
        "cpu": ("s", pytest.approx(0.003)),
        "pack": ("bytes/s", pytest.approx(1e6)),
        "unpack": ("bytes/s", pytest.approx(2e6)),
        "entropy": ("bits", pytest.approx(4.0)),
        "zeros": ("share", pytest.approx(0.25)),
    }
    assert list(estimate_bytes(samples, [], 0.9)) == []
    assert list(estimate_bytes(whole([Contents("empty")] * 2, [0, 0]), ["lz4:0"], 0.9)) == []


def test_quantiles_of_ages_are_estimated_where_they_are_known() -> None:
    samples = whole([Contents("text")] * 2, [10, 90])
    sizes = [(each.what, each.name, each.of) for each in estimate_quantiles(samples, 0.9, 100, dated=False)]
    quantiles = ("0.1", "0.5", "0.9", "0.99")
    assert sizes == [("size", name, of) for of in ("files", "capacity") for name in quantiles]
    dated = list(estimate_quantiles(samples, 0.9, 100, dated=True))
    assert [each.unit for each in dated] == ["bytes"] * 8 + ["s"] * 8
    assert {each.inference.estimate.value for each in dated[8:]} == {100.0}
    assert {
        each.inference.estimate.value for each in estimate_quantiles(samples, 0.9, -5, True) if each.what == "age"
    } == {0.0}


def test_a_codec_is_beaten_by_one_that_is_smaller_and_faster() -> None:
    def both(size: int, seconds: float) -> tuple[str, ...]:
        one_piece = Piece(1000, 0, 0, b"", 0.0, {"a": 500, "b": size}, {"a": 0.5, "b": seconds}, {"a": 0.1, "b": 0.1})
        return find_unbeaten_codecs(whole([Contents("x", (one_piece,))] * 40, [1000] * 40), ("a", "b"), 0.9)

    assert (both(400, 0.4), both(600, 0.6)) == (("b",), ("a",))
    assert both(400, 0.6) == both(600, 0.4) == both(500, 0.4) == both(400, 0.5) == both(500, 0.5) == ("a", "b")
    assert find_unbeaten_codecs(whole([Contents("empty")] * 2, [0, 0]), ("a",), 0.9) == ()


@pytest.mark.parametrize(
    ("options", "draws"),
    [
        ({"files": 2}, 1),
        ({"files": 7}, 3),
        ({"precision": 0.1}, compute_sample_size(0.1, 0.95)),
        ({"precision": 0.1, "until": 0.2}, compute_sample_size(0.2, 0.95)),
        ({"seconds": 5.0, "until": 0.2}, compute_sample_size(0.2, 0.95)),
        ({"level": 0.9}, compute_sample_size(0.05, 0.9)),
    ],
)
def test_draws_of_a_survey(options: dict[str, Any], draws: int) -> None:
    query = SurveyQuery("t", **options)
    walk = build_walk_options(query)
    assert (query.draws, walk.draws, walk.by_owner, walk.by_depth) == (draws, draws, False, None)


def test_options_of_the_walk_of_a_survey() -> None:
    full = SurveyQuery("t", files=8, seed=3, allocated=True, snapshots=True, by="directory:2", rate=9)
    walk = build_walk_options(full)
    assert (walk.path, walk.seed, walk.draws, walk.allocated, walk.other_file_systems, walk.snapshots) == (
        "t",
        3,
        4,
        True,
        False,
        True,
    )
    assert (walk.by_owner, walk.by_depth, walk.rate) == (False, 2, 9)
    assert build_walk_options(SurveyQuery("t", files=8, by="owner")).by_owner
    query = SurveyQuery("t", codecs=("lz4", "zstd"), what_if=("compress=zstd:3", "compress=xz", "archive=64KiB"))
    assert query.tried == ("lz4:0", "zstd:3", "xz:6") and len(query.changes) == 3


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"by": "owner", "files_from": "l"}, "conflicting-options"),
        ({"by": "owner", "until": 0.1}, "conflicting-options"),
        ({"by": "owner", "seconds": 5.0}, "conflicting-options"),
        ({"idle_timeout": 0.0}, "out-of-range"),
        ({"rate": -1}, "conflicting-options"),
        ({"rate": 1, "files_from": "l"}, "conflicting-options"),
    ],
)
def test_options_of_a_survey_that_exclude_each_other(options: dict[str, Any], code: str) -> None:
    with raises(code, InputError):
        check_options(SurveyQuery("t", **options))


def test_options_of_a_survey_that_go_together() -> None:
    for options in ({}, {"by": "owner", "rate": 5}, {"files_from": "l", "until": 0.1}, {"seconds": 5.0}):
        check_options(SurveyQuery("t", **options))
    for n, code in ((1, "too-few-draws"), (10**9, "too-many-draws")):
        with raises(code, InputError):
            _ = SurveyQuery("t", files=n).draws


def test_the_first_failure_of_all_processes_names_its_node(monkeypatch: Any) -> None:
    ranks: Any = SimpleNamespace(hosts=[SimpleNamespace(name=name) for name in ("n0", "n1", "n2")])
    _raise_if_any_failed(ranks, [None, None, None])
    failures = [None, SystemFaultError("full", "no space", "own hint"), InputError("x", "later")]
    with pytest.raises(SystemFaultError) as system:
        _raise_if_any_failed(ranks, failures)
    assert (system.value.message.values["place"], system.value.hint) == ("on" + " n1", "own" + " hint")
    with pytest.raises(InputError) as refused:
        _raise_if_any_failed(ranks, [None, None, InputError("x", "y", "hint")])
    assert refused.value.hint != "hint"
    tree = walked()
    assert _require_walk(tree) is tree
    monkeypatch.setattr("iosonde.ranks.mpi.count_launched_processes", lambda: 2)
    with raises("single-process-only", InputError):
        survey_together(SurveyQuery("t", files_from="l"))
    monkeypatch.setattr("iosonde.ranks.mpi.count_launched_processes", lambda: 1)
    monkeypatch.setattr("iosonde.commands.survey.ranks.survey", lambda *arguments: arguments)
    query = SurveyQuery("t")
    answer: Any = survey_together(query)
    assert answer == (query, None, None)
