"""A survey under 80 columns: what there is, kinds by count and by capacity, compression, what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.units import format_seconds, format_size
from iosonde.core.words import counted, percent, percent_interval

from .layout import escape, estimate_text, table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.survey import Survey, SurveyEstimate
    from iosonde.core.types import Estimate

_MOST_KINDS = 20
_ALONE = 0.0005  # of files and capacity: what rounds to 0.0 % in both is summed up


def lines(made: Survey) -> Iterator[str]:
    """The text of a survey."""
    walked = made.walked
    numbers = walked.numbers
    yield from wrapped(
        f"{made.path}: {counted(walked.files, 'file')}, {format_size(numbers['bytes'])} "
        f"({format_size(numbers['allocated_bytes'])} allocated) in {directories(numbers['directories'])}."
    )
    yield from wrapped(
        f"Walked in {format_seconds(walked.seconds)}; read {counted(made.files_read, 'file')}, "
        f"{format_size(made.bytes_read)}; in all {format_seconds(made.seconds)}."
    )
    if made.estimates:
        yield ""
        yield from _kinds(made)
        yield ""
        yield from _compression(made)
    yield ""
    yield from _exact(made)
    notes = [*walked.notes, *_no_answer(made)]
    if notes:
        yield ""
    for note in notes:
        yield from wrapped(f"~ {note}", "  ")


def directories(many: int) -> str:
    """``1 directory``, ``3 directories``."""
    return f"{many:,} {'directory' if many == 1 else 'directories'}"


def _kinds(made: Survey) -> Iterator[str]:
    by_count = {one.name: one for one in made.of("type", "files")}
    by_size = {one.name: one for one in made.of("type", "capacity")}
    names = sorted({*by_count, *by_size}, key=lambda name: (-_value(by_size.get(name)), -_value(by_count.get(name))))
    shown = [name for name in names if max(_value(by_size.get(name)), _value(by_count.get(name))) >= _ALONE]
    rows = [(name, _share(by_count.get(name)), _share(by_size.get(name))) for name in shown[:_MOST_KINDS]]
    yield from table(("type", "of files", "of capacity"), rows, "Lrr").splitlines()
    if len(shown) > _MOST_KINDS:
        yield f"and {len(shown) - _MOST_KINDS} more types (--json)"


def _value(one: SurveyEstimate | None) -> float:
    return (one and one.found.estimate.value) or 0.0


def _share(one: SurveyEstimate | None) -> str:
    return "" if one is None else percent_interval(one.found.estimate)


def _compression(made: Survey) -> Iterator[str]:
    saved, cpu = ({one.name: one for one in made.of(what, "capacity")} for what in ("saved", "cpu"))
    rows = [
        (one.name, percent_interval(one.found.estimate), estimate_text(saved[one.name].found.estimate, "bytes"),
         _time(cpu[one.name].found.estimate))
        for one in made.of("compressed", "capacity")
    ]  # fmt: skip
    if rows:
        yield from table(("codec", "leaves of capacity", "saves", "CPU, as here"), rows, "Lrrr").splitlines()
    for one in made.of("zeros", "capacity"):
        yield from wrapped(f"{one.name} of zeros: {percent_interval(one.found.estimate)} of the capacity")


def _time(amount: Estimate) -> str:
    value = amount.value or 0.0
    scale = (3600.0, "h") if value >= 7200 else (60.0, "min") if value >= 120 else (1.0, "s")
    return estimate_text(amount, "s", scale)


def _exact(made: Survey) -> Iterator[str]:
    """What the walk knows of all files."""
    walked = made.walked
    yield "Of all files, no estimates:"
    for tail in walked.tails:
        yield from wrapped(f"{percent(tail.share)} of the capacity is in the {percent(tail.files)} of the files with "
                           f"{format_size(tail.least)} and more", "    ", "  ")  # fmt: skip
    yield from wrapped(f"not modified for a year: {percent(walked.old[0])} of the files, {percent(walked.old[1])} of "
                       "the capacity", "    ", "  ")  # fmt: skip
    yield from wrapped(f"{counted(walked.owners, 'owner')}, the largest with {percent(walked.largest_owner)} of the "
                       "capacity", "    ", "  ")  # fmt: skip
    numbers = walked.numbers
    others = {"empty": "empty file", "hard_links": "further hard link", "links": "symbolic link"}
    yield from wrapped(", ".join(counted(numbers[name], noun) for name, noun in others.items()), "    ", "  ")


def _no_answer(made: Survey) -> Iterator[str]:
    if made.no_answer:
        why = ", ".join(f"{many} {escape(name)}" for name, many in sorted(made.no_answer.items()))
        parts = [f"{percent_interval(one.missing.estimate)} of the {one.by}" for one in made.samples
                 if one.missing.estimate.value]  # fmt: skip
        yield (f"of the drawn files gave no answer: {why}. That stands for {' and '.join(parts)}; the shares are of "
               "the rest, and may be off by as much (if_missing_none, if_missing_all in --json)")  # fmt: skip
    if made.touched:
        yield f"access times of {counted(made.touched, 'file')} changed: others' files, and we are not root"
