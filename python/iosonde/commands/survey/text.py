"""A survey under 80 columns: totals, kinds by count and by capacity, compression, missing answers."""

from collections.abc import Iterator, Sequence

from iosonde.core.message import spell
from iosonde.core.units import format_seconds, format_significant, format_size
from iosonde.core.words import format_count, format_share, format_share_interval
from iosonde.layout.text import escape, format_estimate, paragraphs, table, warning_lines, wrapped

from .answer import Survey
from .reading import STATES, ReadSpeed
from .sample import SurveyEstimate
from .strata import SurveyStratum
from .text_bytes import byte_lines, quantile_lines, what_if_lines

_MOST_KINDS = 20
_STOPPED = {
    "precision": "Read in random order until all shares reached the requested precision.",
    "time": "Read in random order until the time limit; the sample is what was read by then.",
    "stalled": "Incomplete: the tree stopped responding while sampled files were read.",
}
_REASONS = {"short": "ended before their size", "hung": "did not answer"}  # others are shown verbatim
_ALONE = 0.0005  # share of files or capacity below which a type rounds to 0.0 % and has no row
_MOST, _LONGEST = 20, 24
_MOST_READ = 12


def lines(survey: Survey) -> Iterator[str]:
    """Yield the text of a survey."""
    walked = survey.walked
    numbers = walked.numbers
    yield from wrapped(
        f"{survey.path}: {format_count(walked.files, 'file')}, "
        f"{format_size(numbers['bytes'])}{_describe_unknown(numbers)}."
    )
    how = "Walked" if "directories" in numbers else "Listed"
    files, size = ("", "") if survey.covered is None else (f" ({_format_small_share(item)})" for item in survey.covered)
    yield from wrapped(
        f"{how} in {format_seconds(walked.seconds)}; read {format_count(survey.files_read, 'file')}{files}, "
        f"{format_size(survey.bytes_read)}{size}; in all {format_seconds(survey.seconds)}."
    )
    if survey.stopped in _STOPPED:
        yield from wrapped(_STOPPED[survey.stopped])
    if survey.estimates:
        yield ""
        yield from _format_kinds(survey)
        yield from byte_lines(survey)
        yield from format_read_speeds(survey.reading, survey.reading_sentence)
        yield from quantile_lines(survey)
    yield from what_if_lines(survey)
    if survey.strata:
        yield ""
        yield from format_strata(survey.strata)
    yield ""
    yield from _format_exact(survey)
    notes = [*walked.notes, *_format_unanswered(survey)]
    if notes:
        yield ""
    yield from warning_lines(notes)


def _format_small_share(share: float) -> str:
    """Format with two significant digits: some hundred of 300 million files are not 0.0 %."""
    return f"{format_significant(100 * share, 2)} %"


def _describe_unknown(numbers: dict[str, int]) -> str:
    """Describe the allocated bytes and directories, which a list of files may lack."""
    allocated = f" ({format_size(numbers['allocated_bytes'])} allocated)" if "allocated_bytes" in numbers else ""
    return allocated + (f" in {format_directories(numbers['directories'])}" if "directories" in numbers else "")


def format_directories(many: int) -> str:
    """Format ``1 directory``, ``3 directories``."""
    return f"{many:,} {'directory' if many == 1 else 'directories'}"


def _format_kinds(survey: Survey) -> Iterator[str]:
    by_count = {estimate.name: estimate for estimate in survey.of("type", "files")}
    by_size = {estimate.name: estimate for estimate in survey.of("type", "capacity")}
    names = sorted(
        {*by_count, *by_size},
        key=lambda name: (-_get_estimate_value(by_size.get(name)), -_get_estimate_value(by_count.get(name))),
    )
    types = [
        name
        for name in names
        if max(_get_estimate_value(by_size.get(name)), _get_estimate_value(by_count.get(name))) >= _ALONE
    ]
    rows = [(name, _format_share(by_count.get(name)), _format_share(by_size.get(name))) for name in types[:_MOST_KINDS]]
    if not rows:
        yield "type: ~ (no file could be read)"
        return
    yield from table(("type", "of files", "of capacity"), rows, "Lrr").splitlines()
    if len(types) > _MOST_KINDS:
        yield f"and {len(types) - _MOST_KINDS} more types ({spell.json})"


def _get_estimate_value(estimate: SurveyEstimate | None) -> float:
    return (estimate and estimate.inference.estimate.value) or 0.0


def _format_share(estimate: SurveyEstimate | None) -> str:
    return "" if estimate is None else format_share_interval(estimate.inference.estimate)


def _format_exact(survey: Survey) -> Iterator[str]:
    walked = survey.walked
    yield "All files (exact):"
    yield from paragraphs(
        (
            f"{format_share(tail.share)} of the capacity is in the {format_share(tail.files)} of the files with "
            f"{format_size(tail.least)} and more"
            for tail in dict.fromkeys(walked.tails)
        ),
        "    ",
        "  ",
    )
    if walked.old and walked.files:
        yield from wrapped(
            f"not modified for a year: {format_share(walked.old[0])} of the files, "
            f"{format_share(walked.old[1])} of the capacity",
            "    ",
            "  ",
        )
    if walked.owners and walked.largest_owner is not None:
        owners = (
            f"{format_count(walked.owners, 'owner')}, the largest with {format_share(walked.largest_owner)} of "
            "the capacity"
        )
        yield from wrapped(owners, "    ", "  ")
    numbers = walked.numbers
    others = {"empty": "empty file", "hard_links": "further hard link", "links": "symbolic link"}
    texts = [format_count(numbers[name], noun) for name, noun in others.items() if name in numbers]
    yield from wrapped(", ".join(texts), "    ", "  ")


def _format_unanswered(survey: Survey) -> Iterator[str]:
    if survey.no_answer:
        why = ", ".join(f"{many} {escape(_REASONS.get(name, name))}" for name, many in sorted(survey.no_answer.items()))
        parts = [
            f"{format_share_interval(sample.missing.estimate)} of the {sample.by}"
            for sample in survey.samples
            if sample.missing.estimate.value
        ]
        yield (
            f"sampled files without an answer: {why}. They represent {' and '.join(parts)}; the shares are of "
            "the rest, intervals allow for any content of these files; ~: more than half gave no answer"
        )
    if survey.touched:
        yield (
            f"access times of {format_count(survey.touched, 'file')} changed: they belong to others, and we "
            "are not root"
        )


def format_strata(strata: Sequence[SurveyStratum]) -> Iterator[str]:
    """Yield a table of the largest parts."""
    largest = sorted(strata, key=lambda stratum: (-stratum.capacity, stratum.name))
    rows = [
        (
            _format_name(stratum.name),
            f"{stratum.files:,}",
            format_size(stratum.capacity),
            f"{stratum.looked_at:,}",
            *_format_mostly(stratum),
        )
        for stratum in largest[:_MOST]
    ]
    yield from table(("part", "files", "capacity", "read", "mostly", "of capacity"), rows, "LrrrLr").splitlines()
    if len(largest) > _MOST:
        yield f"and {len(largest) - _MOST:,} more parts ({spell.json})"


def _format_name(name: str) -> str:
    text = escape(name)
    return text if len(text) <= _LONGEST else "…" + text[1 - _LONGEST :]


def _format_mostly(stratum: SurveyStratum) -> tuple[str, str]:
    estimates = stratum.mostly
    return (estimates.name, format_share_interval(estimates.inference.estimate)) if estimates else ("", "")


def format_read_speeds(speeds: Sequence[ReadSpeed], heading: str) -> Iterator[str]:
    """Yield a row per type and a column per cache state that occurred; nothing if nothing was timed."""
    if not speeds:
        return
    states = [state for state in STATES if any(speed.state == state for speed in speeds)]
    by = {(speed.kind, speed.state): speed for speed in speeds}
    kinds = list(dict.fromkeys(speed.kind for speed in speeds))
    yield ""
    for part in (states[:2], states[2:]):  # three side by side are too wide
        rows = [
            [kind, *(cell for state in part for cell in _format_cells(by.get((kind, state))))]
            for kind in kinds[:_MOST_READ]
        ]
        heads = ["read here", *(head for state in part for head in ("files", STATES[state]))]
        yield from table(heads, rows, "l" + "rr" * len(part)).splitlines() if part else ()
    if len(kinds) > _MOST_READ:
        yield f"and {len(kinds) - _MOST_READ} more types ({spell.json})"
    yield from wrapped(heading)


def _format_cells(speed: ReadSpeed | None) -> list[str]:
    return ["", ""] if speed is None else [str(speed.rate.n), format_estimate(speed.rate, "bytes/s")]
