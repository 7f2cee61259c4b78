"""Effects of a change of storage: compressing all of it or a part, moving small files into archives. Estimates use the
files that a survey read, without reading again. The compressed part is a domain of the sample. Its totals are means of
values that are 0 outside of it; its ratio is a quotient of two such means. The interval of the ratio is that of the
linearised residual (Särndal, Swensson and Wretman, *Model Assisted Survey Sampling*, 1992, 5.6 and 5.8)."""

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import Message, spell
from iosonde.core.pairs import parse_pairs
from iosonde.core.types import Estimate
from iosonde.core.units import parse_seconds, parse_size
from iosonde.stats.estimate.distributions import t_critical
from iosonde.survey.codecs import normalize_codec_name
from iosonde.survey.contents import Contents
from iosonde.survey.opening import WalkedFile
from iosonde.survey.sampling.population import CAPACITY
from iosonde.survey.sampling.shares import PopulationEstimate

from .content import Samples, compute_compressed_share, invert_to_rate, pack_per_byte, unpack_per_byte
from .sample import FileSample, OfPiece, Where
from .strata import StratifiedSample
from .walk import WalkSummary

ARCHIVE_BYTES = 1 << 30
_ROUNDING = 1e-9
_FEW = 30
_BOUNDS = Message(
    "bounds-not-interval",
    "low and high are bounds, whatever the level: how full the last blocks of members are is not known",
)
_TAR_BLOCK = 512  # a header before each member, padded to whole blocks of this size
_HINT = "write compress=zstd:3, compress=zstd:19,older=1y,type=NetCDF classic, or archive=64KiB"


@dataclass(frozen=True)
class StorageChange:
    """A change, with its original ``text``. Either ``codec`` compresses files: those not modified for ``older_s``, of a
    ``kind``, of at least ``larger`` bytes. Or files below ``archive`` bytes are put into archives."""

    text: str
    codec: str = ""
    older_s: float = 0.0
    kind: str = ""
    larger: int = 0
    archive: int = 0

    def touches(self, now_s: int) -> Where:
        """Return a selection of the files to compress."""

        def where(file: WalkedFile, content: Contents) -> bool:
            old = not self.older_s or now_s - file.modified_ns / 1e9 >= self.older_s  # clocks may be ahead of ours
            return old and file.size >= self.larger and self.kind in ("", content.kind)

        return where


def parse_change(text: str) -> StorageChange:
    """Parse ``compress=zstd:3,older=1y,type=TIFF,larger=1MiB`` or ``archive=64KiB``. Raises InputError."""
    pairs = parse_pairs(text, str(spell.what_if), _HINT)
    unknown = set(pairs) - {"compress", "older", "type", "larger", "archive"}
    if unknown or ("compress" in pairs) == ("archive" in pairs) or ("archive" in pairs and len(pairs) > 1):
        raise InputError(
            "unknown-option-value",
            "{spell.what_if}: '{change}' is not a known change",
            _HINT,
            change=text,
        )
    if "archive" in pairs:
        size = int(parse_size(pairs["archive"]))
        if size < 2 or size & (size - 1):
            raise InputError(
                "not-power-of-two",
                "{spell.what_if}: archive={archive} is not a power of two",
                "the walk counts files by such sizes: write archive=64KiB",
                archive=pairs["archive"],
            )
        return StorageChange(text, archive=size)
    years = re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)y", pairs.get("older", ""))
    older_s = float(years[1]) * 365 * 86_400 if years else parse_seconds(pairs.get("older", "0s"))
    larger = int(parse_size(pairs["larger"])) if "larger" in pairs else 0
    return StorageChange(text, normalize_codec_name(pairs["compress"]), older_s, pairs.get("type", ""), larger)


@dataclass(frozen=True)
class SurveyWhatIf:
    """Effects of a change. Compression: the share of the capacity that it ``touches``, bytes ``saved``, CPU seconds
    once (``cpu``). ``left`` is the compressed share of the part; ``pack`` and ``unpack`` are the rates of one core
    (bytes/s of the original). Archives: ``files`` that go into ``archives``, and allocated bytes ``saved``. Unknown
    values are None, and ``warnings`` say why."""

    change: StorageChange
    saved: Estimate | None = None
    touches: Estimate | None = None
    cpu: Estimate | None = None
    left: Estimate | None = None
    pack: Estimate | None = None
    unpack: Estimate | None = None
    files: int | None = None
    archives: int | None = None
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return its numbers; null if they do not apply."""
        names = ("saved", "touches", "cpu", "left", "pack", "unpack")
        return {
            "what_if": self.change.text,
            **{name: None if (estimate := getattr(self, name)) is None else estimate.to_json() for name in names},
            "files": self.files,
            "archives": self.archives,
            "warnings": list(self.warnings),
        }


def estimate_change(
    change: StorageChange, samples: Samples, walked: WalkSummary, now_s: int, level: float
) -> SurveyWhatIf:
    """Estimate the effects of a change. Nothing is refused after hours of reading: unknown values have a reason."""
    if change.archive:
        return _estimate_archiving(change, walked, level)
    if change.older_s and walked.old is None:
        return SurveyWhatIf(change, warnings=(Message("unknown-ages", "the list of files has no ages"),))
    by_size, where = samples[CAPACITY], change.touches(now_s)
    inside = by_size.share(where, level).estimate
    saved = (
        by_size.mean(lambda piece: 1 - compute_compressed_share(change.codec, piece), level, where)
        .times(by_size.mass)
        .estimate
    )
    if inside.value is None:
        return SurveyWhatIf(change, saved if saved.low is not None else None, inside, warnings=inside.warnings)
    if not inside.value:
        return SurveyWhatIf(change, saved, inside, warnings=_explain_empty_part(change, samples))
    cpu = by_size.mean(partial(pack_per_byte, change.codec), level, where, bounded=False).times(by_size.mass).estimate
    rest, packing, unpacking = (
        _estimate_part(by_size, partial(of, change.codec), where, level)
        for of in (compute_compressed_share, pack_per_byte, unpack_per_byte)
    )
    return SurveyWhatIf(
        change,
        saved,
        inside,
        cpu,
        rest and rest.within(low=0.0, high=1.0),
        _invert_per_byte(packing),
        _invert_per_byte(unpacking),
    )


def _explain_empty_part(change: StorageChange, samples: Samples) -> tuple[str, ...]:
    kinds = {content.kind for sample in samples.values() for content in sample.contents if content.kind}
    met = f"; types in the sample: {', '.join(sorted(kinds))}" if change.kind and change.kind not in kinds else ""
    return (Message("no-files-in-part", "no sampled file is in that part{types}", types=met),)


def _invert_per_byte(per_byte: Estimate | None) -> Estimate | None:
    return per_byte and invert_to_rate(PopulationEstimate(per_byte, None, 0.0, 0.0)).estimate


def _estimate_part(sample: FileSample | StratifiedSample, of: OfPiece, where: Where, level: float) -> Estimate | None:
    """Estimate the mean over the part alone; None if nothing of it was drawn."""
    inside = sample.mean(lambda _: 1.0, level, where).estimate
    total = sample.mean(of, level, where).estimate
    if not inside.value or total.value is None:
        return None
    mean = total.value / inside.value
    met = [content.pieces for file, content in zip(sample.files, sample.contents, strict=True) if where(file, content)]
    n = sum(map(bool, met))
    scale = 2 * max((abs(of(piece) - mean) for pieces in met for piece in pieces), default=0.0)
    do_agree = scale <= _ROUNDING * abs(mean)
    if do_agree and sample.certain >= len(sample.files):
        return Estimate(mean, mean, mean, level, n)
    if do_agree:
        why = "the {n_files} drawn files of the part agree, which tells nothing of the others; draw more"
        return Estimate(mean, None, None, level, n, (Message("no-spread", why, n_files=n),))
    # Map residuals to values from 0 to 1: outside of the part the residual is 0, which maps to one half.
    spread = sample.mean(lambda piece: 0.5 + (of(piece) - mean) / scale, level, where, outside=0.5).estimate
    if spread.low is None or spread.high is None:
        return Estimate(mean, None, None, level, n, spread.warnings)
    # Only drawn files of the part are informative: they set the degrees of freedom.
    fewer = t_critical(level, max(1, n - 1)) / t_critical(level, max(1, len(sample.contents) - 1))
    half = max(spread.high - 0.5, 0.5 - spread.low) * scale / inside.value * fewer
    few = (
        (Message("too-few-files", "{n_files} files of the part are few: its interval may be too narrow", n_files=n),)
        if n < _FEW
        else ()
    )
    return Estimate(mean, mean - half, mean + half, level, n, (*spread.warnings, *few)).within(low=0.0)


def _estimate_archiving(change: StorageChange, walked: WalkSummary, level: float) -> SurveyWhatIf:
    """Compute bounds on the effect of archives: exact but for the fill of the members' last blocks."""
    if "allocated_bytes" not in walked.numbers:
        why = Message("unknown-allocation", "the list of files has no allocated sizes")
        return SurveyWhatIf(change, warnings=(why,))
    rows = [row for row in walked.sizes if row.up_to is not None and 0 < row.up_to < change.archive]
    files, size, allocated = (sum(getattr(row, name) for row in rows) for name in ("files", "bytes", "allocated_bytes"))
    link_note = Message("hard-links-lost", "a file with several names is one member of an archive: its other names go")
    notes = (link_note,) if walked.numbers.get("hard_links") else ()
    least = size + _TAR_BLOCK * files  # the fill is from 0 to 511 bytes, about half of that on average
    saved = [float(allocated - least - fill * files) for fill in (_TAR_BLOCK / 2, _TAR_BLOCK - 1, 0)]
    archives = math.ceil((least + _TAR_BLOCK / 2 * files) / ARCHIVE_BYTES)
    saving = Estimate(saved[0], saved[1], saved[2], level, files, (_BOUNDS,))
    return SurveyWhatIf(change, saving, files=files, archives=archives, warnings=notes)


def merge_codecs(codecs: tuple[str, ...], changes: tuple[StorageChange, ...]) -> tuple[str, ...]:
    """Return the codecs to try, including those of changes, each once."""
    return tuple(dict.fromkeys((*codecs, *(change.codec for change in changes if change.codec))))
