"""Summary of a group of a large run, a piece at a time: first span and histogram, then the rest."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase
from iosonde.core.words import format_share
from iosonde.explain import causes
from iosonde.explain.causes import s412_chance
from iosonde.explain.causes.target import LEAST as LEAST_OF_CLASS
from iosonde.explain.causes.target import Suspect
from iosonde.explain.classes import DensityClasses
from iosonde.explain.cost import AccountSums
from iosonde.explain.operations import Columns, build_operations, compute_operations_per_record, rank_parts
from iosonde.explain.places import PlaceSums
from iosonde.explain.stretches import SEED, Stretches
from iosonde.stats.density.histogram import LogHistogram, find_clock_step, histogram_from_values, merge_histograms

from .drawn import EVERY, DrawnRows, bin_trial_to_draw
from .group import TrialLook
from .in_memory import build_full_account, count_by_class, find_suspects_of_slow_classes, select_reasons

_SAMPLE = 400_000  # of the whole run, for effects longer than a stretch
_COLUMNS = ("rank", "file", "offset", "start_ns", "duration_ns")
Array = npt.NDArray[Any]


class Span:
    """Result of the first pass: the first start of each rank, its duration, the end of the file."""

    def __init__(
        self, key: tuple[int, int, int], phase: StoredPhase, n: int, failed: int, kind: str, recorded: int
    ) -> None:
        self.key, self.phase, self.n, self.failed = key, phase, n, failed
        self.stand_for = compute_operations_per_record(phase, kind, recorded)
        self.histogram: LogHistogram | None = None
        self.step_ns = 0
        self.counts: dict[int, int] = {}
        self._reach = 0
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._offsets = phase.clock_offsets if phase.comparable else {}

    @property
    def size(self) -> int:
        """Bytes per operation."""
        return self.key[2]

    @property
    def placed(self) -> bool:
        """True if offsets are known."""
        return bool(self.size) and self.phase.placed

    @property
    def reach(self) -> int:
        """The end of the file, 0 if places are unknown or all the same."""
        return self._reach + self.size if self.placed and self._reach else 0

    @property
    def elapsed_ns(self) -> float:
        """First start to last end, or the longest of the ranks."""
        return float(max(self._last[rank] - zero for rank, zero in self._get_zeros().items()))

    def add(self, columns: Columns) -> None:
        """Add a piece, ordered by rank and start, after the earlier ones."""
        took = columns["duration_ns"]
        for rank, begin, end in rank_parts(columns["rank"]):
            start = columns["start_ns"][begin:end].astype(np.int64) - self._offsets.get(rank, 0)
            self._first[rank] = min(self._first.get(rank, int(start[0])), int(start.min()))
            ends = int((start + took[begin:end].astype(np.int64)).max())
            self._last[rank] = max(self._last.get(rank, ends), ends)
            self.counts[rank] = self.counts.get(rank, 0) + end - begin
        if self.placed:
            self._reach = max(self._reach, int(columns["offset"].max(initial=0)))
        self.step_ns = int(np.gcd(self.step_ns, find_clock_step(took)))
        histogram = histogram_from_values(took)
        if histogram is not None:
            self.histogram = histogram if self.histogram is None else merge_histograms([self.histogram, histogram])

    def compute_ns_after_first_start(
        self, columns: Columns, parts: list[tuple[int, int, int]]
    ) -> npt.NDArray[np.int64]:
        """Return ns of each start after the first one, or after that of its rank if clocks are not comparable."""
        start = columns["start_ns"].astype(np.int64)
        zeros = self._get_zeros()
        for rank, begin, end in parts:
            start[begin:end] -= zeros[rank] + self._offsets.get(rank, 0)
        return start

    def _get_zeros(self) -> dict[int, int]:
        earliest = min(self._first.values())
        return dict.fromkeys(self._first, earliest) if self.phase.comparable else self._first


class LargeGroup:
    """Sums and samples of a group whose classes are known. ``units``, ``local``: as in ``Operations``."""

    def __init__(self, span: Span, classes: DensityClasses, units: Mapping[str, int], local: bool) -> None:
        assert span.histogram is not None
        self._span, self._classes, self._units, self._local = span, classes, units, local
        self._sums = AccountSums(classes.count, span.elapsed_ns)
        self._places = PlaceSums(classes.count, span.reach)
        self._stretches = Stretches(span.n, len(span.counts), span.elapsed_ns)
        self._rng = np.random.default_rng(SEED)
        self._sample: list[dict[str, Array]] = []
        self._draw = np.minimum(1.0, EVERY / classes.count / np.maximum(count_by_class(span.histogram, classes), 1))
        self._drawn: list[DrawnRows] = []
        self._done: dict[int, int] = {}

    def add(self, columns: Columns) -> None:
        """Add a piece, as in ``Span``."""
        parts = list(rank_parts(columns["rank"]))
        mine = {name: columns[name] for name in _COLUMNS}
        mine["start_ns"] = self._span.compute_ns_after_first_start(columns, parts)
        mine["of"] = self._classes.classify(columns["duration_ns"])
        self._sums.add(mine["start_ns"], mine["duration_ns"], mine["of"])
        self._places.add(parts, mine["offset"], mine["of"])
        self._stretches.add(mine, parts)
        some = self._draw_rows(mine["of"].size, _SAMPLE / self._span.n)
        self._sample.append({name: values[some] for name, values in mine.items()})
        self._drawn.append(self._select_drawn_rows(mine, parts))

    def _draw_rows(self, n: int, share: float) -> npt.NDArray[np.intp]:
        return np.arange(n) if share >= 1 else np.unique(self._rng.integers(0, n, self._rng.binomial(n, share)))

    def _select_drawn_rows(self, mine: Columns, parts: list[tuple[int, int, int]]) -> DrawnRows:
        several = [
            rows[self._draw_rows(rows.size, share)]
            for place, share in enumerate(self._draw)
            if (rows := np.flatnonzero(mine["of"] == place)).size
        ]
        rows = np.sort(np.concatenate(several))
        begins = np.array([begin for _, begin, _ in parts])
        before = np.array([self._done.get(rank, 0) for rank, _, _ in parts])
        part = np.searchsorted(begins, rows, "right") - 1
        for rank, begin, end in parts:
            self._done[rank] = self._done.get(rank, 0) + end - begin
        of = mine["of"][rows]
        return DrawnRows(
            rows - begins[part] + before[part],
            mine["rank"][rows],
            mine["offset"][rows],
            mine["start_ns"][rows],
            mine["duration_ns"][rows],
            of,
            1 / self._draw[of],
        )

    def look(self, trial: str) -> TrialLook:
        """Return the summary of all pieces."""
        span, classes = self._span, self._classes
        recorded = self._sums.account(len(span.counts), span.size)
        account = build_full_account(recorded, classes, None, span.stand_for)
        rows = DrawnRows(
            *(np.concatenate([getattr(part, name) for part in self._drawn]) for name in DrawnRows.__dataclass_fields__)
        )
        return TrialLook(
            trial,
            account,
            self._places.counts(recorded),
            self._find_suspects(),
            bin_trial_to_draw(rows, classes, account, max(span.counts.values()), span.placed),
            span.failed,
            span.step_ns / 1e9,
            tuple(self._list_notes()),
            local=self._local,
        )

    def _list_notes(self) -> list[str]:
        span = self._span
        messages: list[str] = [
            Message(
                "too-many-operations",
                "{n:,} operations do not fit in memory: classes (to a bin of 0.07 %), shares, costs "
                "and places cover all of them; common properties were searched in {n_stretches} stretches "
                "of the run, {n_in_stretches:,} operations ({share}), and in a uniform sample of {n_sample:,} "
                "(seed {seed})",
                n=span.n,
                n_stretches=self._stretches.count,
                n_in_stretches=self._stretches.operations,
                share=format_share(self._stretches.operations / span.n),
                n_sample=min(_SAMPLE, span.n),
                seed=SEED,
            )
        ]
        if not span.phase.recorded_all:
            messages.append(
                Message("sampled-operations", "only a sample of the operations was recorded: their order is unknown")
            )
        if not span.phase.comparable and len(span.counts) > 1:
            messages.append(
                Message(
                    "clocks-not-comparable",
                    "the clocks of the nodes are not comparable: times are after each rank's own start",
                )
            )
        return messages

    def _find_suspects(self) -> dict[int, list[Suspect]]:
        """Collect for each slow class the suspects in most of its stretches, and those in the sample."""
        places = range(self._classes.fast + 1, self._classes.count)
        by_place: dict[int, list[list[Suspect]]] = {place: [] for place in places}
        for columns in self._stretches.each():
            for place, suspects in self._find_in_columns(columns, self._span.phase.recorded_all).items():
                if (columns["of"] == place).sum() >= LEAST_OF_CLASS:
                    by_place[place].append(suspects)
        sample = {name: np.concatenate([piece[name] for piece in self._sample]) for name in self._sample[0]}
        sample_suspects = self._find_in_columns(sample, False)
        return {
            place: _merge_suspects(
                [reason.suspect for reason in select_reasons(by_place[place])], sample_suspects[place]
            )
            for place in places
        }

    def _find_in_columns(self, columns: Columns, in_order: bool) -> dict[int, list[Suspect]]:
        scale = self._span.n * self._span.stand_for / columns["of"].size if not in_order else 1.0
        operations = build_operations(
            columns,
            self._span.phase,
            self._span.size,
            units=self._units,
            stand_for=scale,
            in_order=in_order,
            local=self._local,
        )
        return find_suspects_of_slow_classes(operations, columns["of"], self._classes)


def _merge_suspects(stretches: list[Suspect], sample: list[Suspect]) -> list[Suspect]:
    """Keep each finding once, that with more agreement; chance only without any other."""
    best: dict[tuple[str, str], Suspect] = {}
    for suspect in [*stretches, *sample]:
        key = (suspect.code, str(suspect.key))
        if key not in best or suspect.agreement.kappa > best[key].agreement.kappa:
            best[key] = suspect
    others = [candidate for candidate in best.values() if candidate.code != s412_chance.CODE]
    return causes.select_suspects(others or list(best.values()))
