"""Files that are imported together: those that may be of one execution, copies after the first, and batches."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from iosonde.importers.runs import compute_digest

from .candidate_files import CandidateFile, read_content
from .import_plan import ImportPlan
from .related_files import group_files

BATCH_FILES, BATCH_BYTES = 200, 64 << 20
_HEAD_BYTES = 2048


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


def separate_copies(groups: Sequence[list[CandidateFile]]) -> tuple[list[list[CandidateFile]], ...]:
    """Return the groups, and apart from them those with a copy of a file of an earlier group."""
    counts = Counter(candidate.size for group in groups for candidate in group)
    others, copies, digests = list[list[CandidateFile]](), list[list[CandidateFile]](), set[str]()
    for group in groups:
        contents = (read_content(candidate) for candidate in group if counts[candidate.size] > 1)
        own = {compute_digest(content) for content in contents if content}
        (copies if own & digests else others).append(group)
        digests |= own
    return others, copies


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
