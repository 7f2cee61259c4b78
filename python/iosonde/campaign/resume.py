"""State of a campaign in a store, and its remaining trials: identity, resume, ids of runs, stopping rule, pairs."""

from collections.abc import Callable
from pathlib import Path

from iosonde.core import decision
from iosonde.core.deciding import Name, list_missing_terms
from iosonde.core.message import Message
from iosonde.core.pair_rule import PairRule, build_pair_rule
from iosonde.core.types import Experiment, Run, Trial
from iosonde.foreign.reach import check_reachable
from iosonde.selection.plan import build_race_plan
from iosonde.stats.estimate import stopping
from iosonde.stats.estimate.pairs import PairedRun, PairVerdict, build_paired_run, judge_pairs, list_cell_factors
from iosonde.stats.estimate.sequential import LEAST
from iosonde.store import Store

from .campaign import Campaign
from .complete_runs import create_unknown_metric_error, iterate_complete_runs, list_clocked_rows
from .race import Race


def open_existing_store(campaign: Campaign) -> Store | None:
    """Return the requested store if it exists."""
    check_reachable(Path(campaign.store))
    path = Path(campaign.store).resolve()
    return Store.open(path) if (path / "store.json").exists() else None


def resume_or_begin(
    store: Store | None, campaign: Campaign, level: float, say: Callable[[str], None]
) -> tuple[Experiment, set[int]]:
    """Return the newest unfinished experiment with the same content, with its finished trials; else a new one."""
    unfinished = _find_unfinished(store, campaign, level) if store else None
    if unfinished is None:
        experiment = campaign.experiment()
        experiment.settings[decision.KEY] = decision.seal_decision(campaign.decision(level), experiment.id)
        return experiment, set()
    experiment, done = unfinished
    if done or not campaign.spec.lab:  # in a lab the process that brought it up began it
        say(
            Message(
                "resuming",
                "resuming {experiment}: {n_done} trials are done, {n_ahead} remain",
                experiment=experiment.id,
                n_done=len(done),
                n_ahead=len(experiment.trials) - len(done),
            )
        )
    return unfinished


def _find_unfinished(store: Store, campaign: Campaign, level: float) -> tuple[Experiment, set[int]] | None:
    """Return the newest experiment with the same content, with its finished trials; None if it needs no more."""
    experiments = [experiment for experiment in store.experiments() if campaign.is_of(experiment)]
    if not experiments:
        return None
    experiment = max(experiments, key=lambda candidate: candidate.created_at)
    done = find_finished_trials(store, campaign, experiment)
    looks = build_looks(experiment, store)
    if looks is not None:
        looks.check_metric()
        if looks.finished():
            return None
    has_all = len(done) == len(experiment.trials) and not needs_more_trials(store, campaign, experiment, level)
    return None if has_all else (experiment, done)


def find_finished_trials(store: Store, campaign: Campaign, experiment: Experiment) -> set[int]:
    """Return the indices of the trials that are not measured again: the complete ones, or all where incomplete ones are
    accepted."""
    runs = store.runs(experiment=experiment.id)
    return {run["facts"]["order"] for run in runs if campaign.terms.incomplete or not run["missing"]}


def find_free_run_id(store: Store, experiment: str, index: int) -> str:
    """Return the run's id; a retry of an incomplete one gets a new number."""
    taken = {path.name for path in (store.path / "runs").iterdir()}  # including damaged ones
    name, attempt = f"{experiment}-{index:04d}", 2
    while name in taken:
        name, attempt = f"{experiment}-{index:04d}-{attempt}", attempt + 1
    return name


def number_of(allocation: str, store: Store, experiment: str) -> int:
    """Return the number of this set of nodes within the experiment, from 0."""
    allocations = list(dict.fromkeys(run["facts"].get("allocation") for run in store.runs(experiment=experiment)))
    return allocations.index(allocation) if allocation in allocations else len(allocations)


def compute_repetitions_needed(store: Store, campaign: Campaign, experiment: Experiment, level: float) -> int:
    """Return the total repetitions that ``until`` requires, from the pilot."""
    values = group_values_by_metric(store, experiment)
    return stopping.repetitions_needed(values, relative_half_width=campaign.spec.until or 1.0, level=level)


def count_repetitions(experiment: Experiment) -> int:
    """Return the repetitions of every cell, measured or planned."""
    return 1 + max(trial.repetition for trial in experiment.trials)


def needs_more_trials(store: Store, campaign: Campaign, experiment: Experiment, level: float) -> bool:
    """Return whether a campaign killed after its pilot needs more trials."""
    if rule := build_pair_rule(experiment) or build_race_plan(experiment):
        return count_repetitions(experiment) < rule.most
    if campaign.spec.until is None or count_repetitions(experiment) > campaign.spec.repetitions:
        return False
    return campaign.spec.repetitions < compute_repetitions_needed(store, campaign, experiment, level)


def group_values_by_metric(store: Store, experiment: Experiment) -> dict[str, list[float]]:
    """Return the trials' values of every rate of every cell, by name.

    A rate is until the last rank is done, if known, else as reported by the tool; without any rate it is the duration
    of each command."""
    rows = [row for row in store.results(experiment=experiment.id).to_pylist() if row["rank"] is None]
    rates = any(row["unit"].endswith("/s") for row in rows)
    timed = {(row["run"], row["operation"]) for row in rows if row["metric"].endswith("_last_done")}
    names = [factor.name for factor in experiment.factors]
    values: dict[str, list[float]] = {}
    for row in rows:
        last_done = row["metric"].endswith("_last_done")
        if (
            last_done
            or ((row["run"], row["operation"]) not in timed and row["unit"].endswith("/s"))
            or (row["metric"] == "seconds" and not rates)
        ):
            cell = ", ".join(f"{name}={row.get(name)}" for name in names)
            name = row["operation"] if last_done else f"{row['operation']} {row['metric']}"
            values.setdefault(f"{name} at {cell}", []).append(row["value"])
    return values


class Pairs:
    """The complete runs of one experiment: those in a store, and new ones."""

    def __init__(self, rule: PairRule, experiment: Experiment, store: Store | None = None) -> None:
        self._rule = rule
        self._others = list_cell_factors(rule, experiment.factors)
        self._runs: list[PairedRun] = []
        if store:
            self._read_runs(store, experiment)

    def add(self, run: Run) -> None:
        """Add a stored run; incomplete ones never count."""
        if run.complete:
            self._runs.append(build_paired_run(self._rule, self._others, run.factors, list_clocked_rows(run)))

    def verdicts(self) -> list[PairVerdict]:
        """Return the verdict of each cell."""
        return judge_pairs(self._runs, self._rule)

    def needed(self, experiment: Experiment) -> int:
        """Return the total number of pairs per cell: one more than now, until the verdict is clear."""
        have = 1 + max(trial.repetition for trial in experiment.trials)
        return have if self.finished() else min(have + 1, self._rule.most)

    def needs_trial(self, trial: Trial) -> bool:
        """Every cell has pairs to the end."""
        return True

    def check_metric(self) -> None:
        """Raise InputError as soon as the runs lack a metric that the rule names: every one of them, or one that a gate
        would have to judge."""
        names, query = self._list_common_names(), self._rule.metric
        missing = list_missing_terms(names, query)
        if missing and names and (self._rule.fail_if or len(missing) == len(query.split(","))):
            raise create_unknown_metric_error(missing[0], names)

    def _list_common_names(self) -> list[Name]:
        """Return the names that the runs of each side have; none before each cell has a run."""
        if len({run.cell for run in self._runs}) < self._rule.cells:
            return []
        names = [
            {name: None for run in self._runs if run.side == side for name in run.values}
            for side in {run.side for run in self._runs}
        ]
        return [name for name in names[0] if all(name in other for other in names)]

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
        for factors, rows in iterate_complete_runs(store, experiment):
            self._runs.append(build_paired_run(self._rule, self._others, factors, rows))


def build_looks(experiment: Experiment, store: Store) -> Pairs | Race | None:
    """Return the rule of an experiment that is looked at after every block, with its stored runs; None without one."""
    if rule := build_pair_rule(experiment):
        return Pairs(rule, experiment, store)
    plan = build_race_plan(experiment)
    return Race(plan, experiment, store) if plan else None
