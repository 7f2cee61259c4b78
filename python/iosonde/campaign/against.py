"""Pairs of a campaign during measurement, and whether more of them are needed."""

from __future__ import annotations

from iosonde.core.deciding import own_clock
from iosonde.core.message import Message
from iosonde.core.pair_rule import PairRule
from iosonde.core.types import Experiment, Run
from iosonde.stats.estimate.pairs import PairedRun, PairVerdict, others, paired_run, verdicts
from iosonde.stats.estimate.sequential import LEAST
from iosonde.store import Store

_ROW = ("operation", "metric", "unit", "value", "includes")


class Pairs:
    """The complete runs of one experiment: those in a store, and new ones."""

    def __init__(self, rule: PairRule, experiment: Experiment, store: Store | None = None) -> None:
        self._rule = rule
        self._others = others(rule, experiment.factors)
        self._runs: list[PairedRun] = []
        if store:
            self._read_runs(store, experiment)

    def add(self, run: Run) -> None:
        """Add a stored run; incomplete ones never count."""
        if run.complete:
            rows = [
                (row.operation, row.metric, row.unit, row.value, row.includes)
                for row in run.observations
                if row.rank is None
            ]
            self._runs.append(paired_run(self._rule, self._others, run.factors, own_clock(rows)))

    def verdicts(self) -> list[PairVerdict]:
        """Return the verdict of each cell."""
        return verdicts(self._runs, self._rule)

    def needed(self, experiment: Experiment) -> int:
        """Return the total number of pairs per cell: one more than now, until the verdict is clear."""
        have = 1 + max(trial.repetition for trial in experiment.trials)
        return have if self.finished() else min(have + 1, self._rule.most)

    def finished(self) -> bool:
        """Return whether every cell has its verdict, or never will."""
        verdicts = self.verdicts()
        all_conclusive = len(verdicts) == self._rule.cells and all(verdict.is_decided for verdict in verdicts)
        return all_conclusive or bool(self.hopeless())

    def hopeless(self) -> str:
        """Explain why more pairs cannot help."""
        verdicts = self.verdicts()
        sides = {run.side for run in self._runs}
        if not verdicts and len(self._runs) >= 2 * LEAST and len(sides) == 2:
            what = f"'{self._rule.metric}'" if self._rule.metric else "a bandwidth, a rate or a time"
            return Message("missing-metric", "both sides lack the deciding metric: {metric}", metric=what)
        return next(
            (verdict.ratio.warnings[0] for verdict in verdicts if verdict.n >= LEAST and verdict.ratio.value is None),
            "",
        )

    def _read_runs(self, store: Store, experiment: Experiment) -> None:
        rows: dict[str, list[tuple[str, str, str, float, str]]] = {}
        for row in store.results(experiment=experiment.id).to_pylist():
            if row["rank"] is None:
                rows.setdefault(row["run"], []).append(tuple(row[name] for name in _ROW))
        for run in store.runs(experiment=experiment.id):
            if not run["missing"]:
                self._runs.append(
                    paired_run(self._rule, self._others, run["factors"], own_clock(rows.get(run["id"], ())))
                )
