"""Estimates of the whole tree from the files read: kinds, codecs, entropy, zeros, quantiles of sizes and ages."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from iosonde.core.types import Estimate
from iosonde.survey.contents import DIGEST_BYTES, Contents, Piece
from iosonde.survey.magic import EMPTY
from iosonde.survey.opening import WalkedFile
from iosonde.survey.sampling.population import CAPACITY, COUNT
from iosonde.survey.sampling.shares import PopulationEstimate

from .sample import FileSample, SurveyEstimate
from .strata import StratifiedSample

Samples = Mapping[str, FileSample | StratifiedSample]
QUANTILES = (0.1, 0.5, 0.9, 0.99)


@dataclass(frozen=True)
class BlocksRead:
    """Whole blocks of 4 KiB that were read: their number, those of zeros, and duplicates among the others. A whole tree
    has more duplicates than a sample: those found are a lower bound. A sample of files cannot estimate the savings of
    deduplication (Harnik et al., FAST 2016)."""

    read: int
    zeros: int
    met_before: int

    def to_json(self) -> dict[str, int]:
        """Its numbers."""
        return vars(self)


def count_blocks(contents: Iterable[Contents]) -> BlocksRead:
    """Count the blocks of all files that were read."""
    pieces = [piece for content in contents for piece in content.pieces]
    digests = np.frombuffer(b"".join(piece.digests for piece in pieces), f"V{DIGEST_BYTES}").view(np.uint64)
    met = len(digests) - len(np.unique(digests))
    return BlocksRead(sum(piece.blocks for piece in pieces), sum(piece.zeros for piece in pieces), met)


def estimate_kinds(samples: Samples, level: float) -> Iterator[SurveyEstimate]:
    """Yield the share of each kind, of the files and of the capacity, largest first."""
    every = Counter(content.kind for sample in samples.values() for content in sample.contents if content.kind)
    for of, sample in samples.items():
        shares = {kind: sample.share(partial(_is_kind, kind), level) for kind in every if of == COUNT or kind != EMPTY}
        yield from (
            SurveyEstimate("type", kind, of, "share", shares[kind])
            for kind in sorted(shares, key=lambda kind: (-(shares[kind].estimate.value or 0.0), kind))
        )


def _is_kind(kind: str, file: WalkedFile, content: Contents) -> bool:
    return content.kind == kind


def estimate_bytes(samples: Samples, codecs: Sequence[str], level: float) -> Iterator[SurveyEstimate]:
    """Yield estimates over the capacity: compressed share and speed per core of each codec, entropy, zeros."""
    by_size = samples[CAPACITY]
    mass = by_size.mass
    if not codecs or not mass:
        return
    for codec in codecs:
        ratio = by_size.mean(partial(compute_compressed_share, codec), level)
        packing, unpacking = (
            by_size.mean(partial(of, codec), level, bounded=False) for of in (pack_per_byte, unpack_per_byte)
        )
        yield SurveyEstimate("compressed", codec, CAPACITY, "share", ratio)
        yield SurveyEstimate("saved", codec, CAPACITY, "bytes", _estimate_saved_bytes(ratio, mass))
        yield SurveyEstimate("cpu", codec, CAPACITY, "s", packing.times(mass))
        yield SurveyEstimate("pack", codec, CAPACITY, "bytes/s", invert_to_rate(packing))
        yield SurveyEstimate("unpack", codec, CAPACITY, "bytes/s", invert_to_rate(unpacking))
    yield SurveyEstimate(
        "entropy", "single bytes", CAPACITY, "bits", by_size.mean(lambda piece: piece.entropy / 8, level).times(8)
    )
    zeros = by_size.mean(lambda piece: piece.zeros / piece.blocks if piece.blocks else 0.0, level)
    yield SurveyEstimate("zeros", "4 KiB blocks", CAPACITY, "share", zeros)


def estimate_quantiles(samples: Samples, level: float, now_s: int, dated: bool) -> Iterator[SurveyEstimate]:
    """Yield quantiles of sizes, and of known ages since modification, over files and over capacity."""
    of: dict[str, tuple[str, Callable[[WalkedFile], float], tuple[str, ...]]] = {
        "size": ("bytes", lambda file: file.size, (COUNT, CAPACITY))
    }
    if dated:
        of["age"] = ("s", lambda file: max(0.0, now_s - file.modified_ns / 1e9), (COUNT, CAPACITY))
    for name, (unit, value, overs) in of.items():
        for over in overs:
            yield from (
                SurveyEstimate(name, f"{q:g}", over, unit, samples[over].quantile(value, q, level)) for q in QUANTILES
            )


def find_unbeaten_codecs(samples: Samples, codecs: Sequence[str], level: float) -> tuple[str, ...]:
    """Return the codecs that no other certainly beats in both size and speed, on the same pieces of the same files."""
    by_size = samples[CAPACITY]
    if not by_size.mass:
        return ()

    def beats(better: str, worse: str) -> bool:
        return all(
            _is_certainly_less(by_size, partial(of, better), partial(of, worse), level)
            for of in (compute_compressed_share, pack_per_byte)
        )

    return tuple(codec for codec in codecs if not any(beats(other, codec) for other in codecs if other != codec))


def _is_certainly_less(
    sample: FileSample | StratifiedSample, a: Callable[[Piece], float], b: Callable[[Piece], float], level: float
) -> bool:
    """Return whether the mean of ``a`` is below that of ``b``, piece by piece, beyond the interval of the
    difference."""
    pieces = [piece for content in sample.contents for piece in content.pieces]
    largest = max((abs(a(piece) - b(piece)) for piece in pieces), default=0.0)
    if not largest:
        return False
    difference = sample.mean(lambda piece: (1 + (a(piece) - b(piece)) / largest) / 2, level).estimate
    return difference.high is not None and difference.high < 0.5


def compute_compressed_share(codec: str, piece: Piece) -> float:
    """Return the compressed share of a piece; compressors keep the original if that is smaller."""
    return min(1.0, piece.compressed[codec] / piece.size)


def pack_per_byte(codec: str, piece: Piece) -> float:
    """Return the CPU seconds per byte of compression."""
    return piece.cpu_s[codec] / piece.size


def unpack_per_byte(codec: str, piece: Piece) -> float:
    """Return the CPU seconds of decompression per byte of the original."""
    return piece.unpack_s[codec] / piece.size


def invert_to_rate(per_byte: PopulationEstimate) -> PopulationEstimate:
    """Convert seconds per byte to bytes/s of one core."""
    estimate = per_byte.estimate
    value, high, low = (1 / x if x else None for x in (estimate.value, estimate.low, estimate.high))
    rate = Estimate(value, low, high, estimate.level, estimate.n, estimate.warnings)
    return PopulationEstimate(rate, per_byte.design_effect, 0.0, 0.0)


def _estimate_saved_bytes(ratio: PopulationEstimate, mass: float) -> PopulationEstimate:
    """Return the bytes that compression saves of a mass."""
    estimate = ratio.estimate
    value, high, low = (
        None if x is None else max(0.0, 1 - x) * mass for x in (estimate.value, estimate.low, estimate.high)
    )
    saved = Estimate(value, low, high, estimate.level, estimate.n, estimate.warnings)
    return PopulationEstimate(saved, ratio.design_effect, (1 - ratio.if_all) * mass, (1 - ratio.if_none) * mass)
