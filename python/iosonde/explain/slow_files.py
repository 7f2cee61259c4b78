"""Files of which every operation is slow: what lies on a slow server, and no cache that some operations miss.

What a client's memory answers says nothing of a server, so only operations that went to one are asked. A disturbance
adds time to some operations, a slow server to all: of a file counts what the quickest eighth of its operations takes,
and no file lies between those of a slow server and the others. A disturbance comes for a while, so that files which
follow each other share it; where files lie does not follow their order (runs test, Wald and Wolfowitz 1940, Annals of
Mathematical Statistics 11, 147-162).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.stats.estimate.rank_tests import too_few_runs_p

from .operations import Operations

_EIGHTH = 8
_LEAST = 4  # operations of a file; the quickest of all may be one that did not reach a server
_FEWEST = 2  # files on either side
_MOST_FILES, _MOST = 4096, 1 << 21
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SlowFiles:
    """``count`` of the ``of`` files are the slow ones, with a ``share`` of all operations that went to a server;
    ``slow_s`` is what an operation takes there at least, ``others_s`` in the other files, ``lost_s`` what that makes
    over all operations there. ``in_a_row_p``: the chance that files of no order would follow each other as much."""

    count: int
    of: int
    share: float
    slow_s: float
    others_s: float
    lost_s: float
    in_a_row_p: float


def slow_files(operations: Operations, least_s: float, sent: float) -> SlowFiles | None:
    """Of operations that went to a server, as they took ``least_s`` or more and are among the slowest share ``sent``
    of all; None where files are not known, or too few, or one operation of each is all that there is."""
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
    return SlowFiles(int(slow.sum()), slow.size, many / int(counts.sum()), slow_s, others_s, many * (slow_s - others_s),
                     too_few_runs_p(slow[np.argsort(starts, kind="stable")]))  # fmt: skip


def _group_by_file(
    keys: npt.NDArray[np.int64], took: Array, start_ns: npt.NDArray[np.int64]
) -> tuple[Array, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Of each file with operations enough: what the quickest eighth takes, how many there are, when the first began."""
    order = np.lexsort((took, keys))
    _, begin, counts = np.unique(keys[order], return_index=True, return_counts=True)
    if not begin.size:
        return np.empty(0), counts, counts
    starts = np.minimum.reduceat(start_ns[order], begin)
    mask = counts >= _LEAST
    floors = took[order][begin + np.minimum(np.maximum(1, (counts - 1) // _EIGHTH), counts - 1)]
    return floors[mask], counts[mask], starts[mask]


def _select_slower(floors: Array) -> npt.NDArray[np.bool_]:
    """Those after the widest gap, by ratio."""
    ordered = np.sort(floors)
    gaps = ordered[_FEWEST : -_FEWEST + 1] / np.maximum(ordered[_FEWEST - 1 : -_FEWEST], 1e-9)
    slow: npt.NDArray[np.bool_] = floors >= ordered[_FEWEST + int(np.argmax(gaps))]
    return slow
