"""Shared parts of ``run`` and ``plan``: the campaign of a request, and the identity of an experiment."""

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from iosonde.core import deciding, decision, questions
from iosonde.core.decision import Decision
from iosonde.core.errors import InputError
from iosonde.core.pair_rule import PairRule
from iosonde.core.plugins import find_entry_points
from iosonde.core.timestamps import format_now
from iosonde.core.types import Experiment, level_text
from iosonde.core.units import format_percent
from iosonde.importers import registry
from iosonde.measure import design
from iosonde.measure.spec import CommandStep, Spec, Terms
from iosonde.ranks import launch, machine
from iosonde.ranks.hosts import get_this_host
from iosonde.ranks.launch import Launcher
from iosonde.ranks.machine import Facts
from iosonde.selection.plan import RacePlan
from iosonde.selection.standing import FIRST_STAGE
from iosonde.stats.estimate.sequential import LEAST

from .amounts.trials import CommandAmounts
from .caller import Caller
from .document import EXTRA_KEYS, build_document
from .pacing import NO_PACE, Pacing, parse_pace
from .request import Request
from .spec import file
from .turn import Turn

# Differences below this fraction do not matter, unless `compare` has another margin.
MARGIN = 0.02
STORE = "iosonde-store"


@dataclass(frozen=True)
class Campaign:
    """An experiment that can be run, with its terms.

    ``file`` is the name and the text of its file, ``subject`` the version of the file system under test, if given.
    ``turn`` is the action during another measurement."""

    spec: Spec
    terms: Terms
    spool: str | None = None
    file: dict[str, str] | None = None
    subject: str | None = None
    turn: Turn = Turn()

    @property
    def store(self) -> str:
        """The path of the store."""
        return self.terms.store or STORE

    @property
    def nodes(self) -> tuple[int, ...]:
        """The series of node counts."""
        return self.spec.counts("nodes")

    @property
    def max_ranks(self) -> int:
        """The largest number of ranks of any trial."""
        return max(self.nodes) * max(self.spec.counts("ranks_per_node"))

    @cached_property
    def command_amounts(self) -> CommandAmounts:
        """What the commands write, computed once."""
        return CommandAmounts(self.spec)

    def identity(self) -> dict[str, Any]:
        """Return the identity of the experiment, as read from a store: an equal request resumes it."""
        return dict(json.loads(json.dumps(file.build_identity(self.spec))))

    def _name(self) -> str:
        """Return a name for people: the file's own, else the targets', else the file's name, else the first command."""
        targets = ", ".join(name or path.name for name, path in self.spec.targets.items())
        if label := self.spec.name or targets:
            return label
        if self.file:
            return Path(self.file["name"]).stem
        return next((step.command[:60] for step in self.spec.steps if isinstance(step, CommandStep)), "target")

    def is_of(self, experiment: Experiment) -> bool:
        """Return whether a stored experiment is this one."""
        return {key: value for key, value in experiment.settings.items() if key not in EXTRA_KEYS} == self.identity()

    def decision(self, level: float) -> Decision:
        """Return the plan sealed before the first trial: the deciding metrics, the margin, and the stopping rule."""
        if rule := self.pair_rule(level):
            return decision.Decision(self.metrics()[0], rule.margin, level, describe_pair_rule(rule), rule.sealed())
        if plan := self.race_plan():
            return decision.Decision(
                self.metrics()[0], plan.margin, plan.confidence, describe_race_plan(plan), race=plan.sealed()
            )
        cell = "node count" if len(self.spec.factors) == 2 else "cell"
        stopping = f"{self.spec.repetitions} trials of every {cell}"
        if self.spec.until:
            stopping += (
                f" as a pilot, then as many as make every interval narrower than ± {self.spec.until:.1%} (Stein)"
            )
        return decision.Decision("; ".join(self.metrics()), MARGIN, level, stopping)

    def metrics(self) -> list[str]:
        """Describe the deciding metrics."""
        if self.spec.against:
            return [self.spec.against.metric or deciding.WORDS]
        if self.spec.find:
            return [self.spec.find.metric or deciding.WORDS]
        metrics = ["every rate and bandwidth until the last rank is done"] if self.spec.native else []
        parsed = [step.parse for step in self.spec.steps if isinstance(step, CommandStep) and step.parse]
        if parsed:
            also = ", else how long it takes" if set(parsed) == {"auto"} else ""
            metrics.append("every metric that is read from the commands' output" + also)
        return metrics or ["how long each command takes, until the last rank is done"]

    def pair_rule(self, level: float) -> PairRule | None:
        """Return the rule for comparing two sides, None without a comparison."""
        spec, against = self.spec, self.spec.against
        if against is None:
            return None
        a, b = (level_text(side) for side in spec.levels(against.factor))
        cells = math.prod(len(factor.levels) for factor in spec.factors) // 2
        return PairRule(
            against.factor, a, b, against.metric, against.margin, level, spec.repetitions, cells, against.fail_if
        )

    def race_plan(self) -> RacePlan | None:
        """Return the plan of a race, None without one."""
        find = self.spec.find
        return RacePlan(find.metric, find.within, find.sure, self.spec.repetitions) if find else None

    @property
    def n_first_blocks(self) -> int:
        """The blocks that are planned at first."""
        if self.spec.against:
            return LEAST
        return FIRST_STAGE if self.spec.find else self.spec.repetitions

    @property
    def margin(self) -> float:
        """Differences below this fraction do not matter."""
        if self.spec.find:
            return self.spec.find.within
        return self.spec.against.margin if self.spec.against else MARGIN

    @property
    def pacing(self) -> Pacing:
        """The breaks between trials."""
        return parse_pace(self.terms.pace) if self.terms.pace else NO_PACE

    def find_launcher(self) -> Launcher:
        """Return the requested launcher, or one that fits this machine; checked to have enough nodes."""
        launcher = launch.find_launcher(self.spec.launcher, self.spec.hosts)
        launch.check_nodes(launcher, max(self.nodes))
        return launcher

    def allocation(self, facts: Facts) -> str:
        """Return the name of the set of nodes of the ranks: the host file, the batch job, or this host."""
        if self.spec.hosts:
            return ",".join(self.spec.hosts)
        job = facts["scheduler"]
        return (job and job["node_list"]) or get_this_host().name

    def _build_annotations(self) -> dict[str, Any]:
        annotations = {"file": self.file, questions.KEY: list(self.terms.questions)}
        return {key: value for key, value in annotations.items() if value}

    def experiment(self, seed: int | None = None) -> Experiment:
        """A fresh experiment: id, seed, and the trials in their drawn order."""
        seed = self.spec.seed if seed is None else seed
        seed = draw_seed() if seed is None else seed
        factors = list(self.spec.factors)
        return Experiment(
            id=create_experiment_id(),
            name=self._name(),
            factors=factors,
            settings=self.identity() | self._build_annotations(),
            trials=design.build_trials(factors, self.spec.design, range(self.n_first_blocks), 0, seed),
            seed=seed,
            created_at=format_now(),
        )


def describe_pair_rule(rule: PairRule) -> str:
    """Describe the stopping rule of pairs."""
    cells = f" in each of {rule.cells} cells" if rule.cells > 1 else ""
    until = f"excludes 1 or lies within ± {format_percent(rule.margin)}"
    if rule.fail_if:
        until = f"says yes or no to {', '.join(rule.fail_if)}"
    return (
        f"{LEAST} to {rule.most} pairs of {rule.factor}={rule.a} and {rule.b}{cells}, until the anytime-valid interval "
        f"of the ratio {until}"
    )


def describe_race_plan(plan: RacePlan) -> str:
    """Describe the stopping rule of a race."""
    return (
        f"{FIRST_STAGE} to {plan.most} blocks of the settings still in the race, until one is within "
        f"{format_percent(plan.margin)} of the best with {100 * plan.confidence:g} % confidence (Kim and Nelson)"
    )


def create_experiment_id() -> str:
    """Return an experiment's id: the day, and a random number."""
    return f"{datetime.now(UTC):%Y%m%d}-{draw_seed():08x}"


def draw_seed() -> int:
    """Return a random seed."""
    return random.SystemRandom().getrandbits(32)


def build_campaign(
    request: Request, caller: Caller | None = None, resolve: Callable[[Path], Path] = Path.resolve
) -> Campaign:
    """Build the campaign of a request. Raises InputError with all mistakes.

    ``resolve`` makes the target's path absolute and free of links.
    """
    spec_document = build_document(request, (caller or Caller()).say)
    built = file.build_experiment(spec_document, list_importers(), resolve)
    file_record = {"name": Path(spec_document.name).name, "text": spec_document.text} if spec_document.text else None
    turn = Turn(request.wait, request.alongside)
    return Campaign(
        built.spec, built.terms, request.spool, file_record, resolve_subject_commit(request.subject_commit), turn
    )


def list_importers() -> list[str]:
    """Every importer that ``parse`` may name, without loading it."""
    return sorted({*registry.OURS, *find_entry_points(registry.GROUP)})


AUTO = "auto"
_DIRTY = "+"  # after the commit of a tree with uncommitted changes


def resolve_subject_commit(word: str | None) -> str | None:
    """Return the word itself; for ``auto`` the commit of the current Git repository, with a ``+`` for uncommitted
    changes. Raises InputError without a commit."""
    if word is None:
        return None
    if not word.strip():
        raise InputError(
            "empty-option-value",
            "{spell.subject_commit} is empty",
            "give a commit, any other text without blanks, or auto",
        )
    if word != AUTO:
        return word.strip()
    software = machine.describe_software(Path.cwd())
    if not software.get("commit"):
        raise InputError(
            "not-a-git-repository",
            "{spell.subject_commit} auto: {directory} is not in a Git repository with a commit",
            "change to the repository of the file system under test, or name the commit",
            directory=Path.cwd(),
        )
    return f"{software['commit']}{_DIRTY if software['commit_modified'] else ''}"
