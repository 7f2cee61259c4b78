"""What a survey says of the bytes of files: codecs, zeros, blocks met twice, and what a change would do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from iosonde.core.units import format_rate, format_size
from iosonde.core.words import counted, percent, percent_interval

from .layout import escape, estimate_text, table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.survey.answer import Survey
    from iosonde.answers.survey.what_if import SurveyWhatIf
    from iosonde.core.types import Estimate


def byte_lines(made: Survey) -> Iterator[str]:
    """Codecs, zeros and blocks; nothing where no codec was tried."""
    saved, pack, unpack = ({one.name: one.found.estimate for one in made.of(what, "capacity")}
                           for what in ("saved", "pack", "unpack"))  # fmt: skip
    names = [one.name for one in made.of("compressed", "capacity")]
    if not names:
        return
    rows = [(one.name, percent_interval(one.found.estimate), estimate_text(saved[one.name], "bytes"))
            for one in made.of("compressed", "capacity")]  # fmt: skip
    yield ""
    yield from table(("codec", "leaves of capacity", "saves"), rows, "Lrr").splitlines()
    yield ""
    speeds = [(name, estimate_text(pack[name], "bytes/s"), estimate_text(unpack[name], "bytes/s"),
               "" if name in made.not_beaten else "beaten") for name in names]  # fmt: skip
    yield from table(("codec", "a core packs", "and unpacks", ""), speeds, "Lrrl").splitlines()
    if len(made.not_beaten) < len(names):
        yield from wrapped("beaten: another one of these surely leaves less and surely packs faster")
    yield ""
    for one in made.of("zeros", "capacity"):
        yield from wrapped(f"{one.name} of zeros: {percent_interval(one.found.estimate)} of the capacity")
    for one in made.of("entropy", "capacity"):
        bits = one.found.estimate
        yield from wrapped(f"entropy of single bytes: {estimate_text(bits, 'bits')}, of 8")
    if made.blocks and made.blocks.read:
        met, read = made.blocks.met_before, made.blocks.read
        yield from wrapped(f"{met:,} of {counted(read, 'block')} of 4 KiB that were read ({percent(met / read)}) had "
                           "been met before in the sample; in the tree more are: what deduplication saves a sample of "
                           "files cannot tell")  # fmt: skip


def quantile_lines(made: Survey) -> Iterator[str]:
    """Half and nine tenths of the files, and of the capacity, are not larger or older than that."""
    found = {(one.what, one.of, one.name): one.found.estimate for one in made.quantiles}
    rows = []
    for what, of in dict.fromkeys((what, of) for what, of, _ in found):
        ends = [found[what, of, name] for name in ("0.5", "0.9")]
        rows.append(
            (f"{what}, of {of}", *(_age(one) if what == "age" else estimate_text(one, "bytes") for one in ends))
        )
    if rows:
        yield ""
        yield from table(("", "half is up to", "90 % is up to"), rows, "Lrr").splitlines()


def _age(found: Estimate) -> str:
    value = found.value or 0.0
    scale = (86_400.0, "days") if value >= 86_400 else (3600.0, "h") if value >= 3600 else (1.0, "s")
    return estimate_text(found, "s", scale)


def what_if_lines(made: Survey) -> Iterator[str]:
    """What each change would do."""
    for one in made.what_if:
        yield ""
        yield f"What if: {escape(one.change.text)}"
        yield from _archived(one) if one.change.archive else _compressed(one)
        for warning in one.warnings:
            yield from wrapped(f"~ {warning}", "    ", "  ")


def _compressed(one: SurveyWhatIf) -> Iterator[str]:
    rows = (("of the capacity", one.touches, percent_interval), ("of that is left", one.left, percent_interval),
            ("saves", one.saved, partial(estimate_text, unit="bytes")), ("CPU, once", one.cpu, cpu_time),
            ("a core packs it at", one.pack, partial(estimate_text, unit="bytes/s")),
            ("and unpacks it at", one.unpack, partial(estimate_text, unit="bytes/s")))  # fmt: skip
    for name, found, text in rows:
        if found is not None:
            yield f"  {name:<18}  {text(found)}"
    if one.left and one.unpack and one.unpack.value:
        yield from wrapped(f"a reader needs {percent(one.left.value or 0.0)} of the bytes, and a core for each "
                           f"{format_rate(one.unpack.value, 'bytes/s')} that it reads", "  ", "  ")  # fmt: skip


def _archived(one: SurveyWhatIf) -> Iterator[str]:
    saved, size, into = one.saved, format_size(one.change.archive), counted(one.archives or 0, "archive")
    if saved is None:
        return
    yield from wrapped(f"{counted(one.files or 0, 'file')} with contents, below {size}, go into {into} of 1 GiB (tar): "
                       "so many fewer inodes, exactly", "  ", "  ")  # fmt: skip
    least, value, most = (_signed(end or 0.0) for end in (saved.low, saved.value, saved.high))
    yield from wrapped(f"allocated space saved: {value}; surely between {least} and {most}", "  ", "  ")


def _signed(size: float) -> str:
    return format_size(size) if size >= 0 else f"-{format_size(-size)}"


def cpu_time(amount: Estimate) -> str:
    """Seconds, minutes or hours of a core."""
    value = amount.value or 0.0
    scale = (3600.0, "h") if value >= 7200 else (60.0, "min") if value >= 120 else (1.0, "s")
    return estimate_text(amount, "s", scale)
