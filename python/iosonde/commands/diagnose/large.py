"""Runs with more operations than memory should hold: read a part at a time, three times. First count kinds and sizes;
then build a histogram of the durations of each group. With classes from these, sum shares, costs and places. All that
is exact. Common properties of operations are sought in stretches of the run (``explain.stretches``) and in a uniform
sample of all of it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.schema import OPERATION, STATUS_OK
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.engine import _native
from iosonde.explain import sizes
from iosonde.explain.classes import DensityClasses
from iosonde.explain.operations import LEAST, MOST_SIZES, Columns
from iosonde.explain.seen.group import OperationGroup, TrialLook
from iosonde.explain.seen.large import LargeGroup, Span
from iosonde.stats.density.histogram import LogHistogram
from iosonde.store import Store

from .path import is_local

_KEYS = ("phase", "kind", "status", "size")
_SPAN = (*_KEYS, "rank", "offset", "start_ns", "duration_ns")
_MOST_KEYS = 1 << 17  # different (phase, kind, status, size): beyond, the rare ones are forgotten
Key = tuple[int, int, int]  # phase, kind, size


class LargeRun:
    """Groups of one run. ``group_of`` maps (phase, kind, size) to its group."""

    def __init__(
        self,
        store: Store,
        run: StoredRun,
        phases: Sequence[StoredPhase],
        group_of: Callable[[StoredPhase, int, int], OperationGroup],
    ) -> None:
        self._store, self._run = store, run
        self._phases = {phase.index: phase for phase in phases}
        self._group_of = group_of
        self._spans: dict[Key, Span] = {}

    def histograms(self) -> Iterator[tuple[OperationGroup, LogHistogram]]:
        """Yield the histogram of durations of every group."""
        if not self._spans:
            self._spans = self._count_common_spans()
            for key, columns in self._iterate_column_pieces(_SPAN):
                self._spans[key].add(columns)
        yield from ((group, span.histogram) for span, group in self._iterate_groups() if span.histogram is not None)

    def looks(self, classes: Mapping[OperationGroup, DensityClasses]) -> Iterator[tuple[OperationGroup, TrialLook]]:
        """Yield the observations of groups with classes; call it after ``histograms``."""
        units, local = sizes.get_reported_units(self._run), is_local(self._run)
        gathered = {
            span.key: LargeGroup(span, classes[group], units, local)
            for span, group in self._iterate_groups()
            if group in classes
        }
        for key, columns in self._iterate_column_pieces(OPERATION.names or ()):
            if key in gathered:
                gathered[key].add(columns)
        yield from (
            (group, gathered.pop(span.key).look(self._run.id))
            for span, group in self._iterate_groups()
            if span.key in gathered
        )

    def _iterate_groups(self) -> Iterator[tuple[Span, OperationGroup]]:
        yield from ((span, self._group_of(span.phase, span.key[1], span.key[2])) for span in self._spans.values())

    def _count_common_spans(self) -> dict[Key, Span]:
        """Count the (phase, kind, size) combinations that are not rare."""
        counts: Counter[int] = Counter()
        for columns in self._store.operation_column_groups(self._run.id, _KEYS):
            codes = _encode_keys(columns)
            if codes.size and (codes == codes[0]).all():
                counts[int(codes[0])] += codes.size
                continue
            counts.update(dict(zip(*(array.tolist() for array in np.unique(codes, return_counts=True)), strict=True)))
            if len(counts) > _MOST_KEYS:
                counts = Counter(dict(counts.most_common(_MOST_KEYS // 2)))
        return dict(self._build_spans(counts))

    def _build_spans(self, counts: Counter[int]) -> Iterator[tuple[Key, Span]]:
        by_kind: dict[tuple[int, int], list[tuple[int, int]]] = {}
        failed: Counter[tuple[int, int]] = Counter()
        recorded: Counter[tuple[int, int]] = Counter()
        for code, n in counts.items():
            phase, kind, status, size = code >> 48, code >> 40 & 255, code >> 32 & 255, code & 0xFFFFFFFF
            recorded[phase, kind] += n
            if status != STATUS_OK:
                failed[phase, kind] += n
            elif n >= LEAST and phase in self._phases:
                by_kind.setdefault((phase, kind), []).append((n, size))
        for (phase, kind), several in sorted(by_kind.items()):
            for n, size in sorted(several, reverse=True)[:MOST_SIZES]:
                key = (phase, kind, size)
                yield (
                    key,
                    Span(key, self._phases[phase], n, failed[phase, kind], _native.KINDS[kind], recorded[phase, kind]),
                )

    def _iterate_column_pieces(self, names: Sequence[str]) -> Iterator[tuple[Key, dict[str, npt.NDArray[Any]]]]:
        key_by_code = {(key[0] << 48) | (key[1] << 40) | (STATUS_OK << 32) | key[2]: key for key in self._spans}
        for columns in self._store.operation_column_groups(self._run.id, names):
            codes = _encode_keys(columns)
            if not codes.size:
                continue
            if (codes == codes[0]).all():
                if int(codes[0]) in key_by_code:
                    yield key_by_code[int(codes[0])], columns
                continue
            there = set(np.unique(columns["phase"]).tolist())
            for code, key in key_by_code.items():
                rows = np.flatnonzero(codes == code) if key[0] in there else ()
                if len(rows):
                    yield key, {name: values[rows] for name, values in columns.items()}


def _encode_keys(columns: Columns) -> npt.NDArray[np.int64]:
    codes = columns["size"].astype(np.int64)
    for name, at in (("status", 32), ("kind", 40), ("phase", 48)):
        if columns[name].any():
            codes |= columns[name].astype(np.int64) << at
    return codes
