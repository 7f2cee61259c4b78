"""Files that are imported together: those that may be of one execution, copies after the first, and batches."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from iosonde.importers.runs import compute_digest

from .candidate_files import CandidateFile, read_content
from .import_plan import ImportPlan
from .related_files import group_files

BATCH_FILES, BATCH_BYTES = 200, 64 << 20
_HEAD_BYTES = 2048
_NUMBER = re.compile(r"\d+")
# Directories that hold copies of others
_BACKUP = re.compile(
    r"(?<![a-z])(?:backups?|bak|old|cop(?:y|ies)|kopien?|tmp|temp|trash|duplicates?|orig)(?![a-z])", re.IGNORECASE
)


def iterate_groups(plan: ImportPlan, files: Sequence[CandidateFile]) -> Iterator[list[CandidateFile]]:
    """Yield the groups of files that may be of one execution."""
    if plan.form is not None or plan.columns is not None:
        yield from ([file] for file in files)
        return
    yield from group_files(
        files,
        lambda candidate: candidate.place,
        lambda candidate: read_content(candidate, _HEAD_BYTES),
        read_content,
    )


def find_copies(files: Sequence[CandidateFile]) -> dict[str, str]:
    """Return copy → the file of equal content that counts, by their keys.

    That is the one below the fewest directories of backups; of these the one whose directories have the depth of most
    files, or the pattern of most; of these the first."""
    sizes = Counter(file.size for file in files)
    by_digest: dict[str, list[CandidateFile]] = {}
    for file in files:
        if sizes[file.size] > 1 and not file.damage and (content := read_content(file)):
            by_digest.setdefault(compute_digest(content), []).append(file)
    n_siblings = Counter(_read_pattern(file) for file in files)
    n_equally_deep = Counter(len(_read_pattern(file)) for file in files)
    copies: dict[str, str] = {}
    for several in by_digest.values():
        patterns = {file.key: _read_pattern(file) for file in several}
        first = min(
            several,
            key=lambda file: (
                sum(bool(_BACKUP.search(part)) for part in file.place.parent.parts),
                -n_equally_deep[len(patterns[file.key])],
                -n_siblings[patterns[file.key]],
            ),
        )
        copies |= {file.key: first.key for file in several if file is not first}
    return copies


def _read_pattern(file: CandidateFile) -> tuple[str, ...]:
    """Return the directories of a file with # for their numbers."""
    return tuple(_NUMBER.sub("#", part) for part in file.place.parent.parts)


def separate_copies(
    groups: Sequence[list[CandidateFile]], copies: Mapping[str, str]
) -> tuple[list[list[CandidateFile]], ...]:
    """Return the groups, and apart from them those with a copy of a file of another group."""
    place = {file.key: number for number, group in enumerate(groups) for file in group}
    others, later = list[list[CandidateFile]](), list[list[CandidateFile]]()
    for number, group in enumerate(groups):
        has_copy = any(place[copies.get(file.key, file.key)] != number for file in group)
        (later if has_copy else others).append(group)
    return others, later


def iterate_batches(groups: Iterable[list[CandidateFile]]) -> Iterator[list[list[CandidateFile]]]:
    """Yield batches of groups, sized for one flush of their runs."""
    batch: list[list[CandidateFile]] = []
    size = count = 0
    for group in groups:
        more = sum(candidate.size for candidate in group)
        if batch and (count + len(group) > BATCH_FILES or size + more > BATCH_BYTES):
            yield batch
            batch, size, count = [], 0, 0
        batch.append(group)
        size, count = size + more, count + len(group)
    if batch:
        yield batch
