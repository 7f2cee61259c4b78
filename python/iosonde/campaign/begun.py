"""A campaign that is checked and started, with all that it needs to measure: also its benches, by target."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from iosonde.core.cluster_nodes import CLUSTER
from iosonde.core.stored import MAXIMUM, SUBJECT_COMMIT
from iosonde.core.types import Experiment
from iosonde.importers import registry
from iosonde.importers.text import Text
from iosonde.measure.bench import Bench
from iosonde.measure.rank import program
from iosonde.measure.target.keeper import Keeper, ManagedWorkspace
from iosonde.ranks import machine
from iosonde.ranks.forked import ForkedRanks
from iosonde.store import Store

from . import in_lab
from .caller import Caller, Stop
from .campaign import Campaign
from .preflight import Ready
from .resume import number_of
from .spec import lab
from .spec.check import evaluate_settings, iterate_cells


@dataclass(frozen=True)
class Hands:
    """Access to the target, the stop signal, and the caller of a campaign."""

    keeper: Keeper
    stop: Stop
    caller: Caller


@dataclass(frozen=True)
class BegunCampaign:
    """``experiment`` is the ``campaign`` as in the ``store``, now or later; ``level`` is the confidence of its
    intervals."""

    store: Store
    campaign: Campaign
    ready: Ready
    experiment: Experiment
    level: float
    hands: Hands

    def say(self, sentence: str) -> None:
        """Show a sentence to the user."""
        self.hands.caller.say(sentence)

    @property
    def spool(self) -> Path | None:
        """The directory for results of ranks; None: that of temporary files."""
        return Path(self.campaign.spool) if self.campaign.spool else None

    @property
    def remember(self) -> Path:
        """Return the path that records what hanging ranks left behind. It lies with the locks, as it is not a
        result."""
        return self.store.path / "locks" / "left.json"


def build_bench(begun: BegunCampaign) -> Bench:
    """Build the bench shared by all targets; the rest is the first one's."""
    campaign, ready = begun.campaign, begun.ready
    spec, allocation = campaign.spec, campaign.allocation(ready.node)
    facts = {
        "machine": ready.node,
        "software": machine.describe_software(Path.cwd()),
        "command": machine.redact_words(begun.hands.caller.command),
        "launcher": ready.launcher.name,
        "allocation": allocation,
        "target": None,
        "steps": campaign.identity()["steps"],
        **({SUBJECT_COMMIT: campaign.subject} if campaign.subject else {}),
        **({CLUSTER: campaign.terms.cluster.to_json()} if campaign.terms.cluster else {}),
        **({MAXIMUM: campaign.terms.maximum} if campaign.terms.maximum else {}),
        **({"mpi_jobs": [job.to_json() for job in ready.jobs]} if ready.jobs else {}),
    }
    return Bench(
        experiment=begun.experiment.id,
        steps=spec.steps,
        launcher=ready.launcher,
        workspace=None,
        facts=facts | _find_envelope(campaign),
        max_operations=compute_record_budget(campaign.terms.max_operations),
        idle_s=campaign.terms.idle_timeout_s,
        set_up=spec.set_up,
        tear_down=spec.tear_down,
        controls=spec.controls,
        servers=spec.servers,
        cache=spec.cache,
        parse=_parse_output,
        spool_parent=begun.spool,
        remember=begun.remember,
        allocation=number_of(allocation, begun.store, begun.experiment.id),
        lab=in_lab.build_orders(spec),
        forked=ForkedRanks(program.__name__) if ready.launcher.name == "local" and not spec.native else None,
    )


def build_target_benches(
    bench: Bench, begun: BegunCampaign, workspaces: Mapping[str, ManagedWorkspace]
) -> dict[str, Bench]:
    """Build a bench for each target, by its name; a single one without a workspace if targets are missing. A file
    system without a condition before the campaign is not queried again."""
    campaign, hands = begun.campaign, begun.hands
    facts, counts = begun.ready.facts, bool(campaign.spec.lab.get(lab.PROFILE))
    return {
        name: replace(
            bench,
            workspace=workspace,
            facts=bench.facts | {"machine": facts[name], "target": str(campaign.spec.targets[name])},
            look=partial(hands.keeper.condition, campaign.spec.targets[name]) if facts[name]["condition"] else None,
            server_hands=hands.caller.servers(campaign.spec.targets[name], counts),
        )
        for name, workspace in workspaces.items()
    } or {"": bench}


def _parse_output(importer: str, name: str, content: bytes) -> list[Any]:
    """Read a command's output by an importer, or by the one that recognises it."""
    return registry.understand(Text(content, name), None if importer == "auto" else importer).runs


def _find_envelope(campaign: Campaign) -> dict[str, Any]:
    """Return the envelope's sizes if it is measured with the same sizes in all trials."""
    steps = [step for step in campaign.spec.native if step.workload == "envelope"]
    values = list(iterate_cells(steps[0], campaign.spec)) if len(steps) == 1 else []
    return {"envelope": evaluate_settings(steps[0], values[0]).to_json()} if len(values) == 1 else {}


def compute_record_budget(requested: int) -> int:
    """Return the number of operations that one run may record: at most 5 % of the node's memory (32 bytes each)."""
    return max(1, min(requested, int(0.05 * machine.compute_usable_memory() / 32)))
