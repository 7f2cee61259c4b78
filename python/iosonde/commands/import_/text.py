"""Outcome of an import, by file, as text."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from iosonde.core.device_loads import CPU, NETWORK
from iosonde.core.message import spell
from iosonde.core.units import format_seconds
from iosonde.core.words import format_count, join_names
from iosonde.ingest.device_logs import JoinedLog
from iosonde.ingest.import_outcomes import FileOutcome, Imported
from iosonde.ingest.stored_paths import StoredPaths
from iosonde.layout.text import escape, table, warning_lines, wrapped

_MAX_ROWS = 20
_MAX_SOURCES = 5  # files that quote output, or that others joined
_MAX_JOINED = 6  # files that joined one other


def lines(imported: Imported, store: str) -> Iterator[str]:
    """Yield a row per tool, the files that were not imported and why, and the total."""
    rows = [(row.format, row.files, row.runs, row.incomplete, row.already_there) for row in imported.by_format]
    if rows:
        yield table(("tool", "files", "runs", "incomplete", "already stored"), rows, "lrrrr")
    yield from _format_joined([outcome for outcome in imported.outcomes if outcome.joined])
    yield from _format_copies(imported.copies)
    yield from _format_logs(imported.logs)
    yield from _format_quoted(imported.quoted)
    failed = imported.failed
    if failed:
        yield ""
        yield f"not imported: {len(failed)}"
        yield from (escape(f"  {outcome.file}: {outcome.reason}") for outcome in failed[:_MAX_ROWS])
        if len(failed) > _MAX_ROWS:
            yield f"  and {len(failed) - _MAX_ROWS} more ({spell.json} lists all)"
    yield ""
    yield from warning_lines(imported.warnings)
    yield from _format_paths(imported.paths, store)
    yield (
        f"{format_count(len(imported.outcomes), 'file')} examined, {format_count(imported.n_runs, 'run')} stored in "
        f"{escape(store)}"
    )


def _format_paths(paths: StoredPaths, store: str) -> Iterator[str]:
    """Yield what the paths of the files say: factors that stored runs received, new factors, and repetitions."""
    command = f"iosonde store factors {shlex.quote(store)}"
    if paths.changed:
        runs = format_count(paths.n_changed, "run")
        yield from wrapped(f"{runs} stored before received {join_names(paths.changed)} from the paths", "  ")
    for sentence in paths.factor_sentences:
        yield from wrapped(sentence, "  ")
    if paths.candidates:
        name = paths.candidates[0].name
        yield from wrapped(f"'{command} {name}=NAME' names it", "    ", "  ")
        yield from wrapped(f"'{command} {spell.drop:{name}}' pools its levels", "    ", "  ")
    for entry, sentence in zip(paths.repetitions, paths.repetition_sentences, strict=True):
        yield from wrapped(sentence, "  ")
        yield from wrapped(f"'{command} {entry.part}=NAME' makes it a factor", "    ", "  ")


def _format_joined(outcomes: Sequence[FileOutcome]) -> Iterator[str]:
    if not outcomes:
        return
    yield f"{format_count(len(outcomes), 'file')} of these joined the run of another file of the same measurement"
    names: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.into:
            names.setdefault(outcome.into, []).append(PurePath(outcome.file).name)
    for base, files in list(names.items())[:_MAX_SOURCES]:
        rest = f" and {len(files) - _MAX_JOINED} more" if len(files) > _MAX_JOINED else ""
        yield from wrapped(f"{PurePath(base).name}: with {', '.join(files[:_MAX_JOINED])}{rest}", "    ", "  ")
    if len(names) > _MAX_SOURCES:
        yield f"  and {len(names) - _MAX_SOURCES} more ({spell.json} lists all)"


def _format_copies(outcomes: Sequence[FileOutcome]) -> Iterator[str]:
    """Yield how many files are copies, from which directories, and of what."""
    if not outcomes:
        return
    yield f"{format_count(len(outcomes), 'file')} of these {'is a copy' if len(outcomes) == 1 else 'are copies'}"
    pairs = Counter((PurePath(outcome.file).parent, PurePath(outcome.copy_of).parent) for outcome in outcomes)
    for (copies, originals), count in pairs.most_common(_MAX_SOURCES):
        yield from wrapped(f"{format_count(count, 'file')} in {copies}: of {originals}, which counts", "    ", "  ")
    if len(pairs) > _MAX_SOURCES:
        yield f"  and {len(pairs) - _MAX_SOURCES} more directories ({spell.json} lists all)"


def _format_logs(logs: Sequence[JoinedLog]) -> Iterator[str]:
    """Yield which runs have samples of each log, and what was assumed about its clock."""
    for log in logs:
        kinds = {CPU: "CPU total", NETWORK: "network interface"}
        devices = join_names([format_count(count, kinds.get(kind, kind)) for kind, count in log.devices.items()])
        runs = format_count(len(log.runs), "run")
        known = "" if log.changed == len(log.runs) else f" ({len(log.runs) - log.changed} had them before)"
        host = f" of {log.host}" if log.host else ""
        yield from wrapped(f"{PurePath(log.file).name}: {devices}{host} in the time of {runs}{known}", "  ")
        if log.n_short:
            interval = format_seconds(log.interval_s)
            short = f"{format_count(log.n_short, 'run')} of its time: no sample of {interval} lies within"
            yield from wrapped(short, "    ", "  ")
    for zone in dict.fromkeys(log.zone for log in logs if log.zone):
        yield from wrapped(f"logs: {zone}", "  ")


def _format_quoted(outcomes: Sequence[FileOutcome]) -> Iterator[str]:
    if not outcomes:
        return
    hint = "quotes output and was skipped; name it to import it"
    if len(outcomes) > 1:
        hint = "quote output and were skipped; name them to import them"
    yield ""
    yield from wrapped(f"{format_count(len(outcomes), 'file')} {hint}")
    yield from (escape(f"  {outcome.file}: {outcome.format}") for outcome in outcomes[:_MAX_SOURCES])
    if len(outcomes) > _MAX_SOURCES:
        yield f"  and {len(outcomes) - _MAX_SOURCES} more ({spell.json} lists all)"
