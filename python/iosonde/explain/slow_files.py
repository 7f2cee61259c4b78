"""Files whose operations are all slow: on a slow server, unlike a cache that some operations miss.

Answers from a client's memory say nothing about a server, so only operations that reached one count. A disturbance
delays some operations, a slow server all. A file is represented by the quickest eighth of its operations, and no file
lies between those of a slow server and the others. A disturbance lasts a while, so neighbouring files share it;
placement on servers does not follow their order. (Runs test: Wald and Wolfowitz 1940, Annals of Mathematical Statistics
11, 147-162.)
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.stats.estimate.rank_tests import compute_too_few_runs_p

from .operations import Operations

_EIGHTH = 8
_LEAST = 4  # operations of a file; the quickest one may not have reached a server
_FEWEST = 2  # files on either side
_MOST_FILES, _MOST = 4096, 1 << 21
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SlowFiles:
    """``count`` of the ``of`` files are slow, with a ``share`` of all operations that reached a server.

    ``slow_s`` is the least time of an operation there, ``others_s`` in the other files, ``lost_s`` the difference over
    all operations there. ``in_a_row_p``: probability that randomly ordered files would cluster as much."""

    count: int
    of: int
    share: float
    slow_s: float
    others_s: float
    lost_s: float
    in_a_row_p: float


def find_slow_files(operations: Operations, least_s: float, sent: float) -> SlowFiles | None:
    """Find slow files from operations that reached a server: those of at least ``least_s`` and among the slowest share
    ``sent``. None if files are unknown, too few, or have too few operations."""
    if not operations.placed or not 0 < len(operations) <= _MOST or int(operations.file.max()) >= _MOST_FILES:
        return None
    took = operations.duration_ns / 1e9
    went = took >= max(least_s, float(np.quantile(took, max(0.0, 1 - sent))))
    keys = operations.file[went].astype(np.int64)
    if not operations.shared:
        keys += operations.rank[went].astype(np.int64) * _MOST_FILES
    floors, counts, starts = _group_by_file(keys, took[went], operations.start_ns[went])
    if floors.size < 2 * _FEWEST:
        return None
    slow = _select_slower(floors)
    slow_s, others_s = (float(np.median(floors[which])) for which in (slow, ~slow))
    many = int(counts[slow].sum())
    return SlowFiles(
        int(slow.sum()),
        slow.size,
        many / int(counts.sum()),
        slow_s,
        others_s,
        many * (slow_s - others_s),
        compute_too_few_runs_p(slow[np.argsort(starts, kind="stable")]),
    )


def _group_by_file(
    keys: npt.NDArray[np.int64], took: Array, start_ns: npt.NDArray[np.int64]
) -> tuple[Array, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return for each file with enough operations: time of the quickest eighth, number of operations, first start."""
    order = np.lexsort((took, keys))
    _, begin, counts = np.unique(keys[order], return_index=True, return_counts=True)
    if not begin.size:
        return np.empty(0), counts, counts
    starts = np.minimum.reduceat(start_ns[order], begin)
    mask = counts >= _LEAST
    floors = took[order][begin + np.minimum(np.maximum(1, (counts - 1) // _EIGHTH), counts - 1)]
    return floors[mask], counts[mask], starts[mask]


def _select_slower(floors: Array) -> npt.NDArray[np.bool_]:
    """Select the files after the widest gap, by ratio."""
    ordered = np.sort(floors)
    gaps = ordered[_FEWEST : -_FEWEST + 1] / np.maximum(ordered[_FEWEST - 1 : -_FEWEST], 1e-9)
    return np.asarray(floors >= ordered[_FEWEST + int(np.argmax(gaps))])
