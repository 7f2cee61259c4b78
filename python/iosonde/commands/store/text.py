"""Answers of ``iosonde store`` as text."""

from collections.abc import Iterator

from iosonde.core.message import spell
from iosonde.core.units import format_size
from iosonde.core.words import shorten_list
from iosonde.layout.text import escape, table, wrapped

from .answer import StoreCheck, StoreCopy, StoreMerge, StoresIndexed
from .factors import StoreFactors
from .prune import StorePruning

_MAX_WORDS = 12


def check_lines(check: StoreCheck) -> Iterator[str]:
    """Yield every problem with its cure, and incomplete runs; one line if there are none."""
    for problem in check.problems:
        yield f"{problem.code} {escape(problem.sentence)}"
        yield f"     {escape(problem.action)}"
    if check.n_without_digest:
        yield describe_unchecked_experiments(check.n_without_digest)
    yield from (escape(f"run {run.id} is incomplete: {'; '.join(run.missing)}") for run in check.incomplete)
    if not check.serious and not check.incomplete:
        yield f"{escape(check.name)}: {format_count(len(check.runs), 'run')}, all complete and as they were stored"


def describe_unchecked_experiments(n_runs: int) -> str:
    """Describe how many experiments cannot be checked, and why."""
    verb = "names" if n_runs == 1 else "name"
    runs = format_count(n_runs, "run")
    return f"{runs} {verb} no digest of its experiment (written before digests existed): not checkable"


def merge_lines(merge: StoreMerge) -> Iterator[str]:
    """Describe how much was copied."""
    done = merge.merged
    there = f" ({done.runs_there} already existed)" if done.runs_there else ""
    yield f"{format_count(done.runs, 'run')} and {format_count(done.experiments, 'experiment')} copied{there}"
    yield from (line for sentence in merge.paths.factor_sentences for line in wrapped(sentence, "  "))
    if merge.paths.candidates:
        yield from wrapped(f"'iosonde store factors {escape(merge.target)}' shows how to name and drop them", "  ")


def copy_lines(copy: StoreCopy) -> Iterator[str]:
    """Describe how much was copied, what was replaced, and what remains to be reviewed."""
    done = copy.redacted
    replaced = ", ".join(
        f"{number} {kind}{'' if number == 1 else 'es' if kind.endswith('s') else 's'}"
        for kind, number in sorted(done.replaced.items())
    )
    yield f"{format_count(done.runs, 'run')} copied; replaced: {replaced or 'nothing'}"
    yield from _format_remaining("words that may be names", done.remains.unsure)
    yield from _format_remaining("paths that stay", done.remains.paths)
    yield from _format_remaining("names that stay", done.remains.names)
    if done.remains.unsure or done.remains.paths or done.remains.names:
        yield f"Review them before you share the copy; {spell.also:WORD} hides a word."


def _format_remaining(title: str, words: dict[str, int]) -> Iterator[str]:
    if not words:
        return
    words_text = [f"{word} {number:,}×" for word, number in list(words.items())[:_MAX_WORDS]]
    more = f", and {len(words) - _MAX_WORDS:,} more ({spell.json} has all)" if len(words) > _MAX_WORDS else ""
    yield from wrapped(f"{title} ({len(words):,}): {', '.join(words_text)}{more}", indent="  ")


def prune_lines(pruning: StorePruning) -> Iterator[str]:
    """Describe what is removed, what stays and why, and how to do it."""
    for experiment in pruning.going:
        verb = "removed" if pruning.removed else "would go"
        yield escape(
            f"{verb}: {experiment.id}, {format_count(len(experiment.runs), 'run')}, last {experiment.last[:10]}"
        )
    yield from (escape(f"stays: {experiment.id}, {experiment.why}") for experiment in pruning.staying)
    total, size = format_count(pruning.n_runs, "run"), format_size(pruning.n_bytes)
    verb = "removed" if pruning.removed else "would be removed"
    yield f"{len(pruning.going)} of {format_count(pruning.of, 'experiment')} {verb}: {total}, {size}"
    if pruning.going and not pruning.removed:
        yield f"Nothing was removed: use {spell.remove}, which cannot be undone."


def factor_lines(factors: StoreFactors) -> Iterator[str]:
    """Yield a row per factor, with its levels, then what counts as repetitions and what was dropped."""
    paths = factors.paths
    rows = [
        (factor.name, factor.part or "-", shorten_list(factor.levels.values()), len(factor.levels), named)
        for several, named in ((paths.candidates, "no"), (paths.confirmed, "yes"))
        for factor in several
    ]
    if rows:
        yield table(("factor", "part of the path", "levels", "runs", "named"), rows, "lllrl")
    else:
        yield f"{escape(factors.name)}: no run received a factor"
    for factor in paths.candidates:
        yield from wrapped(paths.describe_alias(factor), indent="  ")
    for factor in paths.pending:
        levels = shorten_list(factor.levels.values())
        yield from wrapped(f"pooled: {factor.part} ({levels}); {factor.part}=NAME separates them", indent="  ")
    for entry in paths.repetitions:
        yield from wrapped(f"repetitions: {entry.part} ({shorten_list(entry.levels)}), {entry.rule}", indent="  ")
    if paths.dropped:
        yield from wrapped(f"dropped: {', '.join(paths.dropped)}", indent="  ")


def index_lines(indexed: StoresIndexed) -> Iterator[str]:
    """Describe the changes, a line per store."""
    for name, result in indexed.stores:
        unread = f", {format_count(result.unread, 'run')} damaged" if result.unread else ""
        yield escape(f"{name}: {format_count(result.added, 'run')} added, {result.dropped:,} dropped{unread}")


def format_count(number: int, name: str) -> str:
    """Format ``1,234 runs``."""
    return f"{number:,} {name}" + ("" if number == 1 else "s")
