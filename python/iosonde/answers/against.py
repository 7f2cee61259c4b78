"""What the pairs of ``run --against`` say, by the rule that was sealed before the first of them.

No option changes it: margin, level and the number that decides are those of the seal, and its interval holds whenever
measuring ended. A test for a fixed n would not, so there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from iosonde.core import decision
from iosonde.core.deciding import Name, own_clock
from iosonde.core.errors import InputError
from iosonde.core.gate import Gate, GateVerdict, gate_of
from iosonde.core.message import Message
from iosonde.core.pair_rule import PairRule, pair_rule
from iosonde.core.types import Experiment
from iosonde.core.verdict import Verdict
from iosonde.data.asked import Asked
from iosonde.data.source import Source
from iosonde.stats.estimate.pair_words import sentence, untold_limit
from iosonde.stats.estimate.pairs import PairedRun, PairVerdict, others, paired_run, verdicts

from .answer import Answer, level_columns
from .gated import gate_pairs, narrowed


@dataclass(frozen=True)
class PairVerdicts(Answer):
    """The numbers that decide, cell by cell, then the others, which share one more alpha among them.

    Versions of the JSON: the gate of 1 was of what decides alone; that of 2 is of every number that is shown.
    """

    schema: ClassVar[int] = 2
    items: tuple[PairVerdict, ...]
    rule: PairRule
    experiment: str
    commands: tuple[tuple[str, str], ...] = ()  # (side, what it runs and the other does not), the base first
    warnings: tuple[str, ...] = ()
    lacking: str = ""  # why there is no verdict at all
    judged: GateVerdict | None = None

    @property
    def problem(self) -> bool:
        """Whether a condition of ``--fail-if`` holds."""
        return self.judged is not None and self.judged.problem

    @property
    def primary(self) -> tuple[PairVerdict, ...]:
        """Those that decide."""
        return tuple(one for one in self.items if one.primary)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict of each cell."""
        if not self.items:
            return (f"Cannot tell whether {self.rule.b} differs from {self.rule.a}: {self.lacking}.",)
        return tuple(sentence(one) for one in self.primary)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The claim of each number and cell, by its anytime-valid interval, and those of the gate."""
        gate = () if self.judged is None else self.judged.verdicts
        return (*(one.claim(len(self.items)) for one in self.items), *gate)

    def content(self) -> dict[str, Any]:
        """As ``iosonde compare --json``: what decides stands at the top, too, where it is one number."""
        listed = [{**one.to_json(), "sentence": sentence(one)} for one in self.items]
        commands = [{"side": side, "command": command} for side, command in self.commands]
        only = listed[0] if len(self.primary) == 1 else {}
        only = only or {"sentence": " ".join(self.sentences)}
        warnings = [*self.warnings, *only.get("warnings", [])]
        return {"level": self.rule.level, "group": self.rule.factor, "experiment": self.experiment,
                "sealed": self.rule.sealed(), "commands": commands, **only, "warnings": warnings,
                "comparisons": listed,
                "fail_if": None if self.judged is None else self.judged.to_json()}  # fmt: skip

    def records(self) -> list[dict[str, Any]]:
        """One row for each number and cell."""
        return [self._record(one) for one in self.items]

    def _record(self, one: PairVerdict) -> dict[str, Any]:
        row = {"operation": one.name[0], "metric": one.name[1], "unit": one.name[2], "primary": one.primary,
               "a": self.rule.a, "b": self.rule.b, "pairs": one.n, **one.ratio.flat("ratio"),
               "verdict": one.verdict,
               "state": str(one.state)}  # fmt: skip
        return {**level_columns(one.cell, row), **row}


def sealed_pairs(source: Source, group: str | None, published: bool) -> list[Experiment]:
    """The experiments of pairs that a comparison of this group is of, the newest last."""
    if source.store is None or published:
        return []
    # One whose first trial never ended has no run, and is asked for by its name alone.
    named = [one for one in source.store.experiments() if one.id == source.experiment]
    found = named or source.experiments or source.store.experiments()
    return [one for one in found if (rule := pair_rule(one)) is not None and group in (None, rule.factor)]


def against(
    source: Source, asked: Asked, found: Sequence[Experiment], levels: Sequence[str] = (), gate: Gate | None = None
) -> PairVerdicts:
    """What the newest of these experiments says, and the gate of its numbers. Raises InputError, DataError."""
    experiment = found[-1]
    rule = pair_rule(experiment)
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
    gate = gate or gate_of(rule.fail_if, False)
    runs = list(_runs(source, experiment, rule)) if len(source.table) else []
    chosen = _names(source, asked, experiment)
    made = verdicts(runs, rule, chosen) if runs else []
    warnings = tuple(_warnings(source, asked, found, rule))
    commands = tuple(_commands(experiment, rule))
    if not made:
        judged = gate.inconclusive("the pairs") if gate else None
        return PairVerdicts((), rule, experiment.id, commands, warnings, _runs_of(rule, runs), judged)
    shown = [one for one in made if _is_asked(one, asked.response)]
    if not shown:
        names = ", ".join(dict.fromkeys(f"{one.name[0]} {one.name[1]}" for one in made))
        raise InputError(
            "unknown-response",
            "{name} has no response '{response}'",
            "there are: {names}",
            name=source.name,
            response=asked.response[0],
            names=names,
        )
    judged = None
    if gate is not None:
        gated = narrowed(rule, shown, chosen, asked)
        usual = [*_names(source, replace(asked, metric=()), experiment), *(one.name for one in made)]
        rest = [name for name in dict.fromkeys(usual) if name not in {one.name for one in gated}]
        judged = gate_pairs(gate, gated, rule, sealed, rest)
    warnings += tuple(untold_limit(one) for one in shown if one.primary and not one.told)
    return PairVerdicts(tuple(shown), rule, experiment.id, commands, warnings, judged=judged)


def _commands(experiment: Experiment, rule: PairRule) -> list[tuple[str, str]]:
    """What one side runs and the other does not."""
    steps = [*experiment.settings.get("set_up", ()), *experiment.settings.get("steps", ())]
    found = [(side, step["command"]) for side in (rule.a, rule.b) for step in steps
             if step.get("command") and (step.get("when") or {}).get(rule.factor) == side]  # fmt: skip
    runs = [command for _, command in found]
    return [(side, command) for side, command in found if runs.count(command) == 1]


def _runs(source: Source, experiment: Experiment, rule: PairRule) -> Iterator[PairedRun]:
    """The complete runs."""
    cells = others(rule, experiment.factors)
    rows: dict[str, list[tuple[str, str, str, float, str]]] = {}
    table = source.whole
    columns = [table.columns[name].values for name in ("run", "operation", "metric", "unit", "value", "includes")]
    for run, operation, metric, unit, value, inside in zip(*columns, strict=True):
        row = (str(operation), str(metric), str(unit), float(value), str(inside or ""))
        rows.setdefault(str(run), []).append(row)
    for one in source.runs:
        if one.experiment == experiment.id and one.id in rows:
            yield paired_run(rule, cells, one.factors, own_clock(rows[one.id]))


def _runs_of(rule: PairRule, runs: Sequence[PairedRun]) -> str:
    """Why these runs make no verdict."""
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


def _names(source: Source, asked: Asked, experiment: Experiment) -> list[Name]:
    """What a summary of the clock shows."""
    rows = source.trials(asked.choice).rows
    runs = {run.id for run in source.runs if run.experiment == experiment.id}
    columns = [rows.columns[name].values for name in ("run", "operation", "metric", "unit")]
    found = {(str(o), str(m), str(u)): None for run, o, m, u in zip(*columns, strict=True) if run in runs}
    return list(found)


def _is_asked(one: PairVerdict, response: Sequence[str]) -> bool:
    operation, metric, _ = one.name
    return not response or bool({operation, metric, f"{operation} {metric}"} & set(response))


def _warnings(source: Source, asked: Asked, found: Sequence[Experiment], rule: PairRule) -> Iterator[str]:
    experiment = found[-1]
    first = min((run.started_at for run in source.runs if run.experiment == experiment.id), default=None)
    if why := decision.broken(experiment.settings[decision.KEY], experiment.id, first):
        yield Message("broken-seal", "{reason}: the interval promises nothing", reason=why)
    yield from source.beside({run.id for run in source.runs if run.experiment == experiment.id})
    if asked.level != rule.level:
        yield Message(
            "sealed-level", "the level is the sealed one, {level_percent:g} %", level_percent=100 * rule.level
        )
    if any(column not in ("operation", "metric") for column, _, _ in source.where):
        template = "some pairs are left out by a condition that nobody sealed: the interval promises nothing"
        yield Message("unsealed-condition", template)
    if len(found) > 1:
        yield Message(
            "several-comparisons",
            "this is the newest of {n_comparisons} comparisons in the store ({spell.experiment} chooses): of several "
            "the one that pleases proves nothing",
            n_comparisons=len(found),
        )
