"""Content of a tree of files: sizes, ages and owners from a complete walk, kinds and compressibility from a sample."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.errors import InputError
from iosonde.core.levels import check_level
from iosonde.core.types import Estimate
from iosonde.engine._native import give_way
from iosonde.foreign.child import LIMIT_S, OnWait
from iosonde.survey.codecs import normalize_codec_name
from iosonde.survey.contents import LookOptions
from iosonde.survey.from_list import walk_list
from iosonde.survey.sampling.population import CAPACITY, COUNT
from iosonde.survey.sampling.shares import PopulationEstimate
from iosonde.survey.sampling.stopping import StopRule, compute_sample_size
from iosonde.survey.tree import SurveyedTree
from iosonde.survey.walk import DrawnFiles, Walked, WalkOptions

from .content import BlocksRead, count_blocks, estimate_bytes, estimate_kinds, estimate_quantiles, find_unbeaten_codecs
from .reading import (
    ALL,
    Drawn,
    Read,
    ReadSpeed,
    compute_cold_share,
    describe_reading,
    estimate_read_speeds,
    read_in_order,
)
from .sample import FileSample, SurveyEstimate
from .strata import StratifiedSample, SurveyStratum, allocate_draws, parse_by
from .walk import WalkSummary, summarize_walk
from .what_if import StorageChange, SurveyWhatIf, estimate_change, merge_codecs, parse_change

CODECS = ("lz4", "zstd:3")  # cheap ones, so that reading takes longer than packing
MOST_DRAWS = 1_000_000
_DRAWS_IN_TIME = 100_000  # per sample, if only time ends the reading
WalkAll = Callable[[SurveyedTree, WalkOptions, Callable[[int], object] | None], Walked]


@dataclass(frozen=True)
class SurveyQuery:
    """Options of a survey. ``precision``: half the width of the interval of a share, at worst; ``files``: maximum
    number to read instead. ``codecs``: compress the bytes read by these (``zstd:3``), none for kinds alone.
    ``what_if``: changes of storage, as :func:`parse_change` reads them. ``allocated``: capacity counts allocated bytes,
    not sizes. ``files_from``: a list of the tree's files (``-``: standard input), instead of a walk. ``until``: stop
    once the intervals of all shares are this narrow; ``seconds``: or after this reading time; the files read by then
    are the sample. ``by``: each ``directory`` (``directory:2``) or ``owner`` has its own draws. ``rate``: maximum
    entries per second of the walk (0: no limit). ``nice``: give this thread and its children the lowest priority.
    ``idle_timeout``: give up a file or directory that does not answer for this time (s)."""

    path: str
    precision: float = 0.05
    files: int | None = None
    level: float = 0.95
    seed: int = 0
    codecs: tuple[str, ...] = CODECS
    allocated: bool = False
    other_file_systems: bool = False
    snapshots: bool = False
    files_from: str | None = None
    until: float | None = None
    seconds: float | None = None
    by: str | None = None
    rate: int = 0
    nice: bool = False
    what_if: tuple[str, ...] = ()
    idle_timeout: float = LIMIT_S

    @property
    def changes(self) -> tuple[StorageChange, ...]:
        """Return the changes to evaluate. Raises InputError."""
        return tuple(map(parse_change, self.what_if))

    @property
    def tried(self) -> tuple[str, ...]:
        """Return the codecs and those that changes need, each by its full name. Raises InputError."""
        return merge_codecs(tuple(map(normalize_codec_name, self.codecs)), self.changes)

    @property
    def margin(self) -> float:
        """Return half the width of the interval of a share, at worst."""
        return self.precision if self.until is None else self.until

    @property
    def draws(self) -> int:
        """Return the maximum number of draws by count, and by size. Raises InputError."""
        if self.files is None:
            timed = self.seconds is not None and self.until is None
            draws = _DRAWS_IN_TIME if timed else compute_sample_size(self.margin, self.level)
        elif self.files < 2:
            raise InputError(
                "too-few-draws",
                "a survey needs at least 2 files: one by count, one by size",
                "use some hundred",
            )
        else:
            draws = self.files // 2
        if draws > MOST_DRAWS:
            raise InputError(
                "too-many-draws", "{draws:,} draws are too many", "reduce the precision, as 1%", draws=draws
            )
        return draws


@dataclass(frozen=True)
class SurveySample:
    """Either of the two samples: numbers of draws and of draws with certainty. ``missing``: estimated share of it (of
    the files, or the capacity) that could not be read."""

    by: str
    drawn: int
    certain: int
    missing: PopulationEstimate

    def to_json(self) -> dict[str, Any]:
        """Its numbers."""
        return {"by": self.by, "drawn": self.drawn, "certain": self.certain, "missing": self.missing.estimate.to_json()}


@dataclass(frozen=True)
class Survey(Answer):
    """Results of the walk of all files, and of the sample of their contents."""

    path: str
    seed: int
    walked: WalkSummary
    samples: tuple[SurveySample, ...]
    estimates: tuple[SurveyEstimate, ...]
    files_read: int
    bytes_read: int
    no_answer: dict[str, int]
    touched: int
    seconds: float
    stopped: str = ALL
    strata: tuple[SurveyStratum, ...] = ()
    blocks: BlocksRead | None = None
    not_beaten: tuple[str, ...] = ()
    what_if: tuple[SurveyWhatIf, ...] = ()
    quantiles: tuple[SurveyEstimate, ...] = ()
    allocated: bool = False
    bytes_covered: int | None = None
    reading: tuple[ReadSpeed, ...] = ()
    hangs: tuple[str, ...] = ()

    @property
    def problem(self) -> bool:
        """Return whether files did not answer; ``hangs`` names them, a sentence each."""
        return bool(self.hangs)

    @property
    def covered(self) -> tuple[float, float] | None:
        """Return the share of the files, and of their bytes, that was read; None if unknown."""
        files, size = self.walked.files, self.walked.numbers["bytes"]
        if self.bytes_covered is None or not files or not size:
            return None
        return self.files_read / files, self.bytes_covered / size

    @property
    def cold_share(self) -> float | None:
        """Return the share of timed bytes that were not in this node's memory, among those of known state."""
        return compute_cold_share(self.reading)

    @property
    def reading_sentence(self) -> str:
        """Describe the rates of reading."""
        return describe_reading(self.reading, self.cold_share)

    def content(self) -> dict[str, Any]:
        """As ``iosonde survey --json``. No name of a file is in it."""
        return {
            "path": self.path,
            "files_seen": self.walked.files,
            "files_read": self.files_read,
            "bytes_read": self.bytes_read,
            "bytes_covered": self.bytes_covered,
            "seconds": self.seconds,
            "seed": self.seed,
            "walk": self.walked.to_json(),
            "samples": [sample.to_json() for sample in self.samples],
            "stopped": self.stopped,
            "no_answer": self.no_answer,
            "access_times_changed": self.touched,
            "estimates": [estimate.to_json() for estimate in self.estimates],
            "strata": [stratum.to_json() for stratum in self.strata],
            "blocks": None if self.blocks is None else self.blocks.to_json(),
            "codecs_not_beaten": list(self.not_beaten),
            "what_if": [change.to_json() for change in self.what_if],
            "quantiles": [quantile.to_json() for quantile in self.quantiles],
            "reading": [speed.to_json() for speed in self.reading],
            "cold_share": self.cold_share,
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per estimate."""
        return [
            {
                "what": estimate.what,
                "name": estimate.name,
                "of": estimate.of,
                "unit": estimate.unit,
                **estimate.inference.estimate.flat("value"),
                "n": estimate.inference.estimate.n,
                "design_effect": estimate.inference.design_effect,
            }
            for estimate in self.estimates
        ]

    def of(self, what: str, over: str) -> Iterator[SurveyEstimate]:
        """Yield the estimates of one kind."""
        return (estimate for estimate in self.estimates if (estimate.what, estimate.of) == (what, over))


def survey(
    options: SurveyQuery, on_progress: Callable[[str, int], object] | None = None, on_wait: OnWait | None = None
) -> Survey:
    """Walk a tree, draw, read the draws, and estimate the whole. Raises InputError; NoAnswerError if the walk does not
    end."""
    began = time.monotonic()
    check_options(options)
    if options.nice:
        give_way()
    with SurveyedTree(options.path, options.idle_timeout, on_wait) as tree:
        answer = survey_open_tree(tree, options, on_progress, began)
    return replace(answer, hangs=tree.hangs())


def check_options(options: SurveyQuery) -> None:
    """Check options before the walk. Raises InputError."""
    check_level(options.level)
    _ = options.tried
    if options.by and (options.files_from or options.until is not None or options.seconds is not None):
        raise InputError(
            "conflicting-options",
            "parts of a tree are drawn from in a walk, and in numbers that are known before",
            "leave out {spell.by}, or {spell.files_from}, {spell.until} and {spell.for}",
        )
    if not options.idle_timeout > 0:
        raise InputError("out-of-range", "the idle timeout must be above 0 s", "write {spell.idle_timeout:30s}")
    if options.rate < 0 or (options.rate and options.files_from):
        raise InputError(
            "conflicting-options",
            "a rate is that of a walk, in looks a second",
            "write {spell.rate:1000}, without {spell.files_from}",
        )
    StopRule(options.until, options.seconds)


def survey_open_tree(
    tree: SurveyedTree,
    options: SurveyQuery,
    on_progress: Callable[[str, int], object] | None,
    began: float,
    walk_all: WalkAll = SurveyedTree.walk,
) -> Survey:
    """Survey an open tree. ``walk_all``: performs the walk, if not this process alone."""
    level = options.level
    label = "files seen" if tree.inodes is None else f"files seen, of {tree.inodes:,} in the file system"
    walk_options = build_walk_options(options)
    on_files: Callable[[int], object] | None = on_progress and (lambda files: on_progress(label, files))
    walked = (
        walk_all(tree, walk_options, on_files)
        if options.files_from is None
        else walk_list(walk_options, tree.resolved, options.files_from, tree.look_up, on_files)
    )
    drawn = _draw_files(options, walked)
    look_options = LookOptions(options.tried, options.seed)
    read = read_in_order(
        drawn,
        StopRule(options.until, options.seconds),
        lambda files, before, seconds: tree.look_at_all(
            files, look_options, on_progress and (lambda done: on_progress("files read", before + done)), seconds
        ),
        partial(_estimate_shares, walked, options),
    )
    looked = list(read.contents.values())
    samples, strata = _build_samples(walked, options, read.drawn, read.contents)
    summary, codecs = summarize_walk(walked, options.allocated), options.tried
    return Survey(
        options.path,
        options.seed,
        summary,
        tuple(
            SurveySample(sample.by, len(sample.contents), sample.certain, sample.missing(level))
            for sample in samples.values()
        ),
        (*estimate_kinds(samples, level), *estimate_bytes(samples, codecs, level)),
        sum(content.read_bytes > 0 for content in looked),
        sum(content.read_bytes for content in looked),
        dict(Counter(content.why for content in looked if content.why)),
        sum(content.touched for content in looked),
        time.monotonic() - began,
        read.why,
        strata,
        count_blocks(looked) if codecs else None,
        find_unbeaten_codecs(samples, codecs, level),
        tuple(estimate_change(change, samples, summary, walked.now_s, level) for change in options.changes),
        tuple(estimate_quantiles(samples, level, walked.now_s, summary.old is not None)) if walked.files else (),
        options.allocated,
        sum(sum(piece.size for piece in content.pieces) or content.read_bytes for content in looked),
        estimate_read_speeds(looked, level),
    )


def _draw_files(options: SurveyQuery, walked: Walked) -> dict[Drawn, DrawnFiles]:
    by_count = options.draws
    if options.files is None and options.seconds is None:  # of a small tree fewer are enough
        by_count = compute_sample_size(options.margin, options.level, population=walked.files)
    if not options.by:
        return {(COUNT, ""): walked.by_count.first(by_count), (CAPACITY, ""): walked.by_size}
    sizes = "allocated_bytes" if options.allocated else "bytes"
    draws = {COUNT: by_count, CAPACITY: options.draws}
    return {(by, name): stratum_files for by, name, stratum_files in allocate_draws(walked.strata, draws, sizes)}


def _build_samples(
    walked: Walked, options: SurveyQuery, drawn: Mapping[Drawn, DrawnFiles], contents: Read
) -> tuple[dict[str, FileSample | StratifiedSample], tuple[SurveyStratum, ...]]:
    if not options.by:
        return {
            by: FileSample(by, drawn_files, walked, options.allocated, contents)
            for (by, _), drawn_files in drawn.items()
        }, ()
    parts = {
        (by, name): FileSample(by, drawn_files, walked.strata[name], options.allocated, contents)
        for (by, name), drawn_files in drawn.items()
    }
    samples: dict[str, FileSample | StratifiedSample] = {
        of: StratifiedSample(of, [part for (by, _), part in parts.items() if by == of]) for of in (COUNT, CAPACITY)
    }
    return samples, tuple(_build_stratum(name, stratum, options, parts) for name, stratum in walked.strata.items())


def _build_stratum(name: str, walked: Walked, options: SurveyQuery, parts: dict[Drawn, FileSample]) -> SurveyStratum:
    mine = {by: parts[by, name] for by in (COUNT, CAPACITY)}
    files, size, blocks = (walked.counts[key] for key in ("files", "bytes", "allocated_bytes"))
    looked = len(
        {
            file
            for sample in mine.values()
            for file, content in zip(sample.files, sample.contents, strict=True)
            if not content.why
        }
    )
    return SurveyStratum(
        name,
        files,
        size,
        blocks,
        blocks if options.allocated else size,
        looked,
        tuple(estimate_kinds(mine, options.level)),
    )


def _estimate_shares(
    walked: Walked, options: SurveyQuery, drawn: Mapping[Drawn, DrawnFiles], contents: Read
) -> Iterator[Estimate]:
    samples, _ = _build_samples(walked, options, drawn, contents)
    return (share.inference.estimate for share in estimate_kinds(samples, options.level))


def build_walk_options(options: SurveyQuery) -> WalkOptions:
    """Return the options of the walk. Raises InputError."""
    by_owner, by_depth = parse_by(options.by)
    return WalkOptions(
        options.path,
        options.seed,
        options.draws,
        options.allocated,
        options.other_file_systems,
        options.snapshots,
        by_owner=by_owner,
        by_depth=by_depth,
        rate=options.rate,
    )
