"""Results of a comparison: each cell with its wording, all operations together, and exclusions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from iosonde.answers.answer import Answer, build_level_columns
from iosonde.core.gate import GateVerdict
from iosonde.core.headlines import format_metric
from iosonde.core.level_text import format_assignments
from iosonde.core.message import Message
from iosonde.core.table import format_cell
from iosonde.core.types import Metric
from iosonde.core.verdict import Verdict, VerdictState
from iosonde.stats.assumptions import AssumptionCheck, find_deciding_check, judge
from iosonde.stats.estimate.compare_words import (
    Wording,
    describe_comparison,
    describe_overridden_verdict,
    describe_untested_comparison,
)

from .caveat import Caveat, QualifiedComparison, judge_gate, state_of_interval
from .overall import Overall
from .parts import RESPONSE_LABELS

WITHIN_RUN = Message("within-run", "iterations within one run are compared: variation between runs is not measured")


@dataclass(frozen=True)
class ComparedCell(QualifiedComparison):
    """A comparison and its cell. ``within_run``: compares iterations of single executions, not trials. ``group`` is the
    column that separates A from B; ``unit`` that of the values, ``units`` of the levels. ``adjusted``: columns within
    whose cells sides are compared. ``response`` is the compared column. ``caveats`` concern this comparison alone;
    ``checks`` are those of its assumptions. ``metrics`` are those of its operation."""

    cell: dict[str, Any]
    group: str | None = None
    within_run: bool = False
    metric: Metric = Metric("", "")
    unit: str = ""
    adjusted: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    response: str = ""
    caveats: tuple[Caveat, ...] = ()
    checks: tuple[AssumptionCheck, ...] = ()
    metrics: tuple[str, ...] = ()

    @property
    def metric_title(self) -> str:
        """Return the name of its metric among those of its operation."""
        return format_metric(self.metric.name, self.cell.get("operation", ""), self.metrics)

    @property
    def state(self) -> VerdictState:
        """Return the state of the claim that B differs from A, by the interval, Holm's correction and the caveats."""
        return self.verdict(1).state

    @property
    def by_level(self) -> tuple[tuple[float, str], ...]:
        """Return the interval's verdicts at other levels; empty if a caveat overrides one of them, or the cells do."""
        every = self.comparison.by_level
        states = (state_of_interval(verdict) for _, verdict in every)
        is_overridden = self.overriding or any(find_deciding_check(state, self.checks) for state in states)
        return () if is_overridden or self.is_untested or self.comparison.depends else every

    def verdict(self, family: int) -> Verdict:
        """Return the verdict, corrected for a ``family`` of comparisons."""
        setting = {name: level for name, level in self.cell.items() if name not in RESPONSE_LABELS}
        place = ", ".join(format_assignments(setting, self.units))
        return judge(replace(self.claim, claim=place, family=family), self.checks)

    @property
    def words(self) -> Wording:
        """Return the input of its wording."""
        return Wording(self.metric, self.unit, self.group, self.adjusted, self.units.get(self.group or "", ""))

    @property
    def sentence(self) -> str:
        """Describe the result by the interval that decides."""
        check = self.overriding
        if self.is_untested:
            return describe_untested_comparison(self.comparison, self.words)
        if check is not None:
            return describe_overridden_verdict(self.comparison, self.words, check.cause or check.why, check.instead)
        return describe_comparison(self.comparison, self.words)

    @property
    def verdict_word(self) -> str:
        """Return the verdict in a word: ``faster``, ``slower``, ``more``, ``less``, …"""
        check = self.overriding
        if self.is_untested:
            return str(VerdictState.NOT_TESTED)
        if check is None:
            return self.words.describe_verdict(self.comparison)
        if check.instead is VerdictState.INCONCLUSIVE:
            return str(VerdictState.INCONCLUSIVE)
        return f"{self.words.way(self.comparison)} (not separable from {check.cause})"

    @property
    def warnings(self) -> list[str]:
        """Return the warnings against it."""
        own = [caveat.text for caveat in self.caveats]
        return [*self.comparison.warnings, *own, *([WITHIN_RUN] if self.within_run else [])]

    def name(self, several: bool) -> str:
        """Return its name among others; with its sides if there are ``several`` pairs."""
        labels = [
            format_cell(value) if key in ("operation", "metric", "response") else text
            for (key, value), text in zip(self.cell.items(), format_assignments(self.cell, self.units), strict=True)
            if key != "unit"
        ]
        a, b = self.sides
        return ", ".join([*labels, *([f"{b} against {a}"] if several or not labels else [])])

    def title(self, several: bool) -> str:
        """Return the name that a gate shows: ``write bandwidth, nodes=2``."""
        if "operation" not in self.cell or not self.metric.name:
            return self.name(several)
        what = f"{self.cell['operation']} {self.metric_title}"
        setting = {name: level for name, level in self.cell.items() if name not in RESPONSE_LABELS}
        sides = [f"{self.sides[1]} against {self.sides[0]}"] if several else []
        return ", ".join([what, *format_assignments(setting, self.units), *sides])

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "by": self.cell,
            "unit": self.unit,
            **self.comparison.to_json(),
            "by_level": [{"at": level, "verdict": verdict} for level, verdict in self.by_level],
            "adjusted": list(self.adjusted),
            "warnings": self.warnings,
            "said": self.verdict_word,
            "state": str(self.state),
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Comparisons(Answer):
    """All comparisons; p is corrected over all of them (Holm). ``base`` explains the base, ``exclusions`` lists what
    has only one side; ``overall`` covers all operations; ``warnings`` concern all. JSON versions: 1 repeated a single
    comparison's keys at the top. 2 does not. `decides`, `method`, `ratio_of_geometric_means`, `difference`, `cells`,
    `n_more` and `said` are new; `ratio` may be null. 3 has `state`. `said` and `sentence` follow Holm's correction and
    the caveats, while `verdict` is of the interval alone. 4: where cells differ in direction, `state` is different,
    without a direction, and `said` is ``depends on X``."""

    schema: ClassVar[int] = 4
    items: tuple[ComparedCell, ...]
    group: str | None
    level: float
    warnings: tuple[str, ...] = ()
    base: str = ""
    exclusions: tuple[str, ...] = ()
    overall: tuple[Overall, ...] = ()
    judged: GateVerdict | None = None
    untested: tuple[Verdict, ...] = ()  # of excluded cells, in which a side has one trial
    others: int = 0  # comparisons of the headline responses that are not shown
    repeated: int = 0  # comparisons that are the same evidence as another: of a bandwidth and a rate at one size

    @property
    def family(self) -> int:
        """Return over how many comparisons p is corrected."""
        return len(self.items) - self.repeated + self.others

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The claim of each comparison, of each geometric mean, and of each condition of the gate."""
        compared = (item.verdict(self.family) for item in self.items)
        checks = {item.title(has_several_sides(self.items)): item.checks for item in self.items}
        gate = () if self.judged is None else judge_gate(self.judged, checks)
        return (*compared, *self.untested, *(mean.judged for mean in self.overall), *gate)

    @property
    def problem(self) -> bool:
        """Return whether a condition of ``--fail-if`` holds."""
        return self.judged is not None and self.judged.problem

    def content(self) -> dict[str, Any]:
        """As ``iosonde compare --json``."""
        return {
            "level": self.level,
            "group": self.group,
            "base": self.base,
            "warnings": list(self.warnings),
            "left_out": list(self.exclusions),
            "comparisons": [item.to_json() for item in self.items],
            "geometric_means": [mean.to_json() for mean in self.overall],
            "fail_if": None if self.judged is None else self.judged.to_json(),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per comparison."""
        return [_build_record(item) for item in self.items]


def has_several_sides(cells: Sequence[ComparedCell]) -> bool:
    """Return whether the cells compare different pairs of sides, which their names then tell apart."""
    return len({cell.sides for cell in cells}) > 1


def _build_record(compared_cell: ComparedCell) -> dict[str, Any]:
    c = compared_cell.comparison
    row = {
        "a": c.a.name,
        "b": c.b.name,
        "n_a": c.a.side.n,
        "n_b": c.b.side.n,
        "mean_a": c.mean_a.value,
        "mean_b": c.mean_b.value,
        **({"ratio": None, "ratio_low": None, "ratio_high": None} if c.ratio is None else c.ratio.flat("ratio")),
        **c.difference.flat("difference"),
        "p": c.p,
        "p_holm": c.p_holm,
        "verdict": c.verdict,
        "said": compared_cell.verdict_word,
        "state": str(compared_cell.state),
    }
    return {**build_level_columns(compared_cell.cell, row), **row}
