"""Bytes of files in a survey as text: codecs, zeros, duplicate blocks, and what-if scenarios."""

from collections.abc import Iterator
from functools import partial

from iosonde.core.types import Estimate
from iosonde.core.units import format_rate, format_size
from iosonde.core.words import format_count, format_share, format_share_interval
from iosonde.layout.text import escape, format_estimate, paragraphs, table, wrapped

from .answer import Survey
from .what_if import SurveyWhatIf


def byte_lines(survey: Survey) -> Iterator[str]:
    """Yield codecs, zeros and blocks; nothing if no codec was tried."""
    saved, pack, unpack = (
        {estimate.name: estimate.inference.estimate for estimate in survey.of(what, "capacity")}
        for what in ("saved", "pack", "unpack")
    )
    names = [estimate.name for estimate in survey.of("compressed", "capacity")]
    if not names:
        return
    rows = [
        (
            estimate.name,
            format_share_interval(estimate.inference.estimate),
            format_estimate(saved[estimate.name], "bytes"),
        )
        for estimate in survey.of("compressed", "capacity")
    ]
    yield ""
    yield from table(("codec", "remaining capacity", "saves"), rows, "Lrr").splitlines()
    yield ""
    speeds = [
        (
            name,
            format_estimate(pack[name], "bytes/s"),
            format_estimate(unpack[name], "bytes/s"),
            "" if name in survey.not_beaten else "beaten",
        )
        for name in names
    ]
    yield from table(("codec", "compresses, per core", "decompresses", ""), speeds, "Lrrl").splitlines()
    if len(survey.not_beaten) < len(names):
        yield from wrapped("beaten: another codec significantly compresses both more and faster")
    yield ""
    yield from paragraphs(
        f"{estimate.name} of zeros: {format_share_interval(estimate.inference.estimate)} of the capacity"
        for estimate in survey.of("zeros", "capacity")
    )
    for estimate in survey.of("entropy", "capacity"):
        bits = estimate.inference.estimate
        yield from wrapped(f"entropy of single bytes: {format_estimate(bits, 'bits')}, of 8")
    if survey.blocks and survey.blocks.read:
        met, read = survey.blocks.met_before, survey.blocks.read
        yield from wrapped(
            f"{met:,} of {format_count(read, 'block')} of 4 KiB that were read ({format_share(met / read)}) are "
            "duplicates within the sample. The tree has more: a sample of files cannot estimate the "
            "savings of deduplication"
        )


def quantile_lines(survey: Survey) -> Iterator[str]:
    """Yield the median and the 90 % quantile of size and age, by files and by capacity."""
    estimates = {
        (quantile.what, quantile.of, quantile.name): quantile.inference.estimate for quantile in survey.quantiles
    }
    rows = []
    for what, of in dict.fromkeys((what, of) for what, of, _ in estimates):
        ends = [estimates[what, of, name] for name in ("0.5", "0.9")]
        rows.append(
            (
                f"{what}, of {of}",
                *(_format_age(end) if what == "age" else format_estimate(end, "bytes") for end in ends),
            )
        )
    if rows:
        yield ""
        yield from table(("", "half is up to", "90 % is up to"), rows, "Lrr").splitlines()


def _format_age(estimate: Estimate) -> str:
    value = estimate.value or 0.0
    scale = (86_400.0, "days") if value >= 86_400 else (3600.0, "h") if value >= 3600 else (1.0, "s")
    return format_estimate(estimate, "s", scale)


def what_if_lines(survey: Survey) -> Iterator[str]:
    """Yield the effects of each change."""
    for scenario in survey.what_if:
        yield ""
        yield f"What if: {escape(scenario.change.text)}"
        yield from _format_archived(scenario) if scenario.change.archive else _format_compressed(scenario)
        yield from paragraphs((f"~ {warning}" for warning in scenario.warnings), "    ", "  ")


def _format_compressed(scenario: SurveyWhatIf) -> Iterator[str]:
    rows = (
        ("of the capacity", scenario.touches, format_share_interval),
        ("remaining share", scenario.left, format_share_interval),
        ("saves", scenario.saved, partial(format_estimate, unit="bytes")),
        ("CPU, once", scenario.cpu, format_cpu_time),
        ("compresses, a core", scenario.pack, partial(format_estimate, unit="bytes/s")),
        ("decompresses", scenario.unpack, partial(format_estimate, unit="bytes/s")),
    )
    yield from (f"  {name:<18}  {text(estimate)}" for name, estimate, text in rows if estimate is not None)
    if scenario.left and scenario.unpack and scenario.unpack.value:
        yield from wrapped(
            f"a reader needs {format_share(scenario.left.value or 0.0)} of the bytes, and a core for each "
            f"{format_rate(scenario.unpack.value, 'bytes/s')} that it reads",
            "  ",
            "  ",
        )


def _format_archived(scenario: SurveyWhatIf) -> Iterator[str]:
    saved, size, into = (
        scenario.saved,
        format_size(scenario.change.archive),
        format_count(scenario.archives or 0, "archive"),
    )
    if saved is None:
        return
    yield from wrapped(
        f"{format_count(scenario.files or 0, 'file')} with contents, below {size}, go into {into} of 1 GiB (tar): "
        "exactly that many fewer inodes",
        "  ",
        "  ",
    )
    least, value, most = (_format_signed(end or 0.0) for end in (saved.low, saved.value, saved.high))
    yield from wrapped(f"allocated space saved: {value}; bounds {least} and {most}", "  ", "  ")


def _format_signed(size: float) -> str:
    return format_size(size) if size >= 0 else f"-{format_size(-size)}"


def format_cpu_time(amount: Estimate) -> str:
    """Format seconds, minutes or hours of a core."""
    value = amount.value or 0.0
    scale = (3600.0, "h") if value >= 7200 else (60.0, "min") if value >= 120 else (1.0, "s")
    return format_estimate(amount, "s", scale)
