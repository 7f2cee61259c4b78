"""Import of other tools' files into a store: batches over several processes, then what paths and logs say of all."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from iosonde.core.message import current_spelling, set_default_spelling
from iosonde.core.types import FactorValue
from iosonde.store import Store
from iosonde.store.files import MARKER

from .candidate_files import CandidateFile, read_content
from .device_logs import JoinedLog, join_logs
from .import_batch import import_batch
from .import_groups import find_copies, iterate_batches, iterate_groups, separate_copies
from .import_outcomes import FileOutcome, Imported
from .import_plan import ImportPlan
from .related_files import find_adjacent_versions
from .stored_paths import StoredPaths, apply_paths

# Starting processes costs more than they save for a handful of files.
ALONE_FILES = 50


def import_all(plan: ImportPlan, files: Sequence[CandidateFile], jobs: int | None = None) -> Imported:
    """Read and store all files; outcomes are in the order of ``files``."""
    by_place = {file.place: file for file in files}
    versions = find_adjacent_versions(list(by_place), lambda place, limit: read_content(by_place[place], limit))
    files = [replace(file, adjacent_version=versions.get(file.place)) for file in files]
    silent, earlier = tuple(plan.silent(files)), _list_run_prefixes(plan.store)
    copies = find_copies(files)
    # Copies wait for the file that counts, also because processes do not see what others read.
    groups, later = separate_copies(list(iterate_groups(plan, files)), copies)
    batches = list(iterate_batches(groups))
    processes = min(jobs or os.cpu_count() or 1, len(batches))
    if processes <= 1 or len(files) < ALONE_FILES:
        results = [import_batch(plan, batch) for batch in batches]
    else:
        with ProcessPoolExecutor(processes, None, set_default_spelling, (current_spelling(),)) as pool:
            results = list(pool.map(import_batch, [plan] * len(batches), batches))
    results += [import_batch(plan, batch) for batch in iterate_batches(later)]
    outcomes = {candidate.key: outcome for several in results for candidate, outcome in several}
    for file, first in copies.items():
        if outcomes[file].there or outcomes[file].joined:
            outcomes[file] = replace(outcomes[file], copy_of=first)
    ordered = tuple(outcomes[file.key] for file in files)
    paths = _apply_paths(plan, files, ordered, earlier)
    logs = _join_logs(plan, ordered)
    joined = {log.file for log in logs if not log.refusal}
    refusals = {log.file: log.refusal for log in logs if log.file not in joined}
    ordered = tuple(replace(outcome, reason=refusals.get(outcome.file, outcome.reason)) for outcome in ordered)
    return Imported(ordered, silent, paths, tuple(log for log in logs if not log.refusal))


def _join_logs(plan: ImportPlan, outcomes: Sequence[FileOutcome]) -> list[JoinedLog]:
    """Give the runs of the store the samples of logs, now that all runs are stored."""
    logs = [(outcome.file, samples) for outcome in outcomes for samples in outcome.samples]
    return join_logs(Store.open(plan.store) if (plan.store / MARKER).exists() else None, logs) if logs else []


def _list_run_prefixes(store: Path) -> set[str]:
    """Return the prefixes of the ids of all runs; several runs of a file share one."""
    runs = store / "runs"
    return {f"{entry.name.rpartition('-')[0]}-" for entry in runs.iterdir()} if runs.is_dir() else set()


def _apply_paths(
    plan: ImportPlan, files: Sequence[CandidateFile], outcomes: Sequence[FileOutcome], earlier: set[str]
) -> StoredPaths:
    """Give the runs that were stored ``earlier`` the factors from the paths of their files, and find the factors in the
    paths of all. Of copies of one file the first counts."""
    factors, requested = plan.factors(), dict[str, Mapping[str, FactorValue]]()
    for file, outcome in zip(files, outcomes, strict=True):
        if outcome.prefix in earlier and plan.sources:
            requested.setdefault(outcome.prefix, factors(file.relative, file.root))
    is_stored = any(outcome.runs or outcome.there for outcome in outcomes)
    return apply_paths(Store.open(plan.store), requested) if is_stored else StoredPaths()
