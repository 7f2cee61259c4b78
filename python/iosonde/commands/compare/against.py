"""Verdicts of the pairs of ``run --against``, by the rule that was sealed before the first pair. No option changes it:
margin, level and primary metrics come from the seal. Its interval is valid whenever measuring ends. A fixed-n test
would not be, so there is none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from iosonde.answers.answer import Answer, build_level_columns
from iosonde.core import decision
from iosonde.core.deciding import Name, select_metrics_in_query
from iosonde.core.errors import InputError
from iosonde.core.gate import Gate, GateVerdict, parse_gate
from iosonde.core.message import Message
from iosonde.core.pair_rule import PairRule, build_pair_rule
from iosonde.core.types import Experiment
from iosonde.core.verdict import Verdict
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.stats.assumptions import AssumptionCheck, doubtful, holds, judge, not_applicable
from iosonde.stats.assumptions.cells import check_clock
from iosonde.stats.estimate.pair_words import describe_inconclusive_limits, describe_pair_verdict, format_gate_name
from iosonde.stats.estimate.pairs import PairedRun, PairVerdict, build_paired_run, judge_pairs, list_cell_factors
from iosonde.stats.estimate.sequential import LEAST
from iosonde.stats.overview.cells import TrialCell

from .caveat import judge_gate
from .gated import gate_pairs, select_gated_pairs
from .run_rows import iterate_run_rows


@dataclass(frozen=True)
class PairVerdicts(Answer):
    """Hold the primary metrics by cell, then the others, which share one more alpha. JSON versions: in 1 the gate
    covered the primary metrics alone, in 2 it covers every metric shown."""

    schema: ClassVar[int] = 2
    items: tuple[PairVerdict, ...]
    rule: PairRule
    experiment: str
    commands: tuple[tuple[str, str], ...] = ()  # (side, what it runs and the other does not), the base first
    warnings: tuple[str, ...] = ()
    lacking: str = ""  # reason for a missing verdict
    judged: GateVerdict | None = None

    @property
    def problem(self) -> bool:
        """Return whether a condition of ``--fail-if`` holds."""
        return self.judged is not None and self.judged.problem

    @property
    def primary(self) -> tuple[PairVerdict, ...]:
        """Return the verdicts of the primary metrics."""
        return tuple(item for item in self.items if item.primary)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The failures of the gate, in any metric, then the verdict of each cell."""
        if not self.items:
            return (f"It is inconclusive whether {self.rule.b} differs from {self.rule.a}: {self.lacking}.",)
        failures = () if self.judged is None else self.judged.failures
        return (*failures, *(describe_pair_verdict(item) for item in self.primary))

    @property
    def quotes(self) -> tuple[tuple[str, str, str], ...]:
        """Return the (state, metric, sentence) of each metric and cell."""
        return tuple(
            (str(verdict.state), format_gate_name(item.name), describe_pair_verdict(item))
            for item, verdict in zip(self.items, self.verdicts, strict=False)
        )

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the claim of each metric and cell, by its anytime-valid interval, and those of the gate."""
        checks = {format_gate_name(item.name, item.cell): check_pairs(item) for item in self.items}
        gate = () if self.judged is None else judge_gate(self.judged, checks)
        return (*(judge(item.claim(len(self.items)), check_pairs(item)) for item in self.items), *gate)

    def content(self) -> dict[str, Any]:
        """Return the content of ``iosonde compare --json``; a single primary verdict is repeated at the top."""
        listed = [{**item.to_json(), "sentence": describe_pair_verdict(item)} for item in self.items]
        only = listed[0] if len(self.primary) == 1 else {}
        return {
            "level": self.rule.level,
            "group": self.rule.factor,
            "experiment": self.experiment,
            "sealed": self.rule.sealed(),
            "commands": [{"side": side, "command": command} for side, command in self.commands],
            **only,
            "sentence": " ".join(self.sentences),
            "warnings": [*self.warnings, *only.get("warnings", [])],
            "comparisons": listed,
            "fail_if": None if self.judged is None else self.judged.to_json(),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per metric and cell."""
        return [self._build_record(item) for item in self.items]

    def _build_record(self, pair_verdict: PairVerdict) -> dict[str, Any]:
        row = {
            "operation": pair_verdict.name[0],
            "metric": pair_verdict.name[1],
            "unit": pair_verdict.name[2],
            "primary": pair_verdict.primary,
            "a": self.rule.a,
            "b": self.rule.b,
            "pairs": pair_verdict.n,
            **pair_verdict.ratio.flat("ratio"),
            "verdict": pair_verdict.verdict,
            "state": str(pair_verdict.state),
        }
        return {**build_level_columns(pair_verdict.cell, row), **row}


_BY_DESIGN = ("order", "drift", "dependent", "varies-besides", "goes-together")


def check_pairs(pairs: PairVerdict) -> tuple[AssumptionCheck, ...]:
    """Return the checks of pairs: each is measured in random order, next to each other, and differs in its sides
    alone; complete pairs alone are used. The hardware's limit is not known."""
    few = [doubtful("few-trials")] if pairs.n < LEAST else []
    coarse = check_clock([TrialCell({}, *pairs.name[1:], values) for values in (pairs.a, pairs.b)])
    examined = holds("subsamples", "missing-values", "bring-ups", "few-trials")
    return (*few, *coarse, *examined, *not_applicable(*_BY_DESIGN, "impossible"))


def find_sealed_experiments(source: Source, group: str | None, published: bool) -> list[Experiment]:
    """Return the paired experiments that a comparison of this group covers, newest last."""
    if published:
        return []
    # An experiment whose first trial never ended has no run: name the response by its text alone.
    selected = [experiment for experiment in source.all_experiments if experiment.id == source.experiment]
    experiments = selected or source.experiments or source.all_experiments
    return [
        experiment
        for experiment in experiments
        if (rule := build_pair_rule(experiment)) is not None and group in (None, rule.factor)
    ]


def judge_sealed_pairs(
    source: Source,
    query: ResponseQuery,
    experiments: Sequence[Experiment],
    levels: Sequence[str] = (),
    gate: Gate | None = None,
) -> PairVerdicts:
    """Judge the newest of these experiments, and gate its metrics. Raises InputError, DataError."""
    experiment = experiments[-1]
    rule = build_pair_rule(experiment)
    assert rule is not None
    if levels and set(levels) != {rule.a, rule.b}:
        raise InputError(
            "level-mismatch",
            "the pairs are of {level_a} and {level_b}",
            "leave the levels out",
            level_a=rule.a,
            level_b=rule.b,
        )
    sealed = gate is None
    gate = gate or parse_gate(rule.fail_if, False)
    runs = list(_collect_runs(source, experiment, rule)) if len(source.table) else []
    chosen = _list_metric_names(source, query, experiment)
    if rule.metric and not query.metric:  # sealed metrics are judged, even if no headline of the tool
        common = [name for name in (runs[0].values if runs else ()) if all(name in run.values for run in runs)]
        chosen = list(dict.fromkeys([*chosen, *select_metrics_in_query(common, rule.metric)]))
    pair_verdicts = judge_pairs(runs, rule, chosen) if runs else []
    warnings = tuple(_list_warnings(source, query, experiments, rule))
    commands = tuple(_list_single_side_commands(experiment, rule))
    if not pair_verdicts:
        judged = gate.inconclusive("the pairs") if gate else None
        return PairVerdicts((), rule, experiment.id, commands, warnings, _explain_missing_verdict(rule, runs), judged)
    selected = [pair_verdict for pair_verdict in pair_verdicts if _is_selected(pair_verdict, query.response)]
    if not selected:
        names = ", ".join(
            dict.fromkeys(f"{pair_verdict.name[0]} {pair_verdict.name[1]}" for pair_verdict in pair_verdicts)
        )
        raise InputError(
            "unknown-response",
            "{name} has no response '{response}'",
            "there are: {names}",
            name=source.name,
            response=query.response[0],
            names=names,
        )
    judged = None
    if gate is not None:
        gated = select_gated_pairs(rule, selected, chosen, query)
        usual = [
            *_list_metric_names(source, replace(query, metric=()), experiment),
            *(pair_verdict.name for pair_verdict in pair_verdicts),
        ]
        rest = [name for name in dict.fromkeys(usual) if name not in {pair_verdict.name for pair_verdict in gated}]
        judged = gate_pairs(gate, gated, rule, sealed, rest)
    warnings += tuple(
        describe_inconclusive_limits(pair_verdict)
        for pair_verdict in selected
        if pair_verdict.primary and not pair_verdict.is_decided
    )
    return PairVerdicts(tuple(selected), rule, experiment.id, commands, warnings, judged=judged)


def _list_single_side_commands(experiment: Experiment, rule: PairRule) -> list[tuple[str, str]]:
    """Return the commands that only one side runs, as (side, command)."""
    steps = [*experiment.settings.get("set_up", ()), *experiment.settings.get("steps", ())]
    side_commands = [
        (side, step["command"])
        for side in (rule.a, rule.b)
        for step in steps
        if step.get("command") and (step.get("when") or {}).get(rule.factor) == side
    ]
    runs = [command for _, command in side_commands]
    return [(side, command) for side, command in side_commands if runs.count(command) == 1]


def _collect_runs(source: Source, experiment: Experiment, rule: PairRule) -> Iterator[PairedRun]:
    cells = list_cell_factors(rule, experiment.factors)
    for factors, rows in iterate_run_rows(source, experiment):
        yield build_paired_run(rule, cells, factors, rows)


def _explain_missing_verdict(rule: PairRule, runs: Sequence[PairedRun]) -> str:
    """Explain why these runs give no verdict."""
    counts = [sum(run.side == side for run in runs) for side in (rule.a, rule.b)]
    what = f"'{rule.metric}'" if rule.metric else "a number that decides"
    if all(counts):
        return Message("no-common-metric", "no pair has {metric} on both sides", metric=what)
    return Message(
        "no-complete-pair",
        "no pair is complete (complete runs: {n_a} of {side_a}, {n_b} of {side_b})",
        n_a=counts[0],
        side_a=rule.a,
        n_b=counts[1],
        side_b=rule.b,
    )


def _list_metric_names(source: Source, query: ResponseQuery, experiment: Experiment) -> list[Name]:
    """Return the metrics that a summary of the clock shows."""
    rows = source.trials(query.choice).rows
    runs = {run.id for run in source.runs if run.experiment == experiment.id}
    columns = [rows.columns[name].values for name in ("run", "metric", "unit")]
    names = zip(rows.operation_names(), *columns, strict=True)
    return list({(operation, str(m), str(u)): None for operation, run, m, u in names if run in runs})


def _is_selected(pair_verdict: PairVerdict, response: Sequence[str]) -> bool:
    operation, metric, _ = pair_verdict.name
    return not response or bool({operation, metric, f"{operation} {metric}"} & set(response))


def _list_warnings(
    source: Source, query: ResponseQuery, experiments: Sequence[Experiment], rule: PairRule
) -> Iterator[str]:
    experiment = experiments[-1]
    first = min((run.started_at for run in source.runs if run.experiment == experiment.id), default=None)
    if why := decision.explain_broken_seal(experiment.settings[decision.KEY], experiment.id, first):
        yield Message("broken-seal", "{reason}: the interval is not valid", reason=why)
    yield from source.describe_concurrency({run.id for run in source.runs if run.experiment == experiment.id})
    if query.level != rule.level:
        yield Message(
            "sealed-level", "the level is the sealed one, {level_percent:g} %", level_percent=100 * rule.level
        )
    if any(column not in ("operation", "metric") for column, _, _ in source.where):
        template = "a condition that was not sealed excludes some pairs: the interval is not valid"
        yield Message("unsealed-condition", template)
    if len(experiments) > 1:
        yield Message(
            "several-comparisons",
            "this is the newest of {n_comparisons} comparisons in the store ({spell.experiment} chooses): picking the "
            "most favourable of several proves nothing",
            n_comparisons=len(experiments),
        )
