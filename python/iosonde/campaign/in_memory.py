"""Commands that move less data than a node's memory: their reads may never reach the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.core.message import Message
from iosonde.core.types import Trial
from iosonde.core.units import format_size
from iosonde.core.words import counted
from iosonde.measure.spec import CommandStep

from .campaign import Campaign
from .needs import work_of


def fits_in_memory(campaign: Campaign, trials: Sequence[Trial], memory_bytes: int) -> Iterator[str]:
    """Warn if the data that commands of ``trials`` move (``moves``) fits into ``memory_bytes`` of a node. The same is
    checked for all servers' memory, if the cluster file has it.

    Native workloads are not checked: they drop and inspect the cache of their files, trial by trial (S104). Without
    ``moves`` a command's data is unknown.
    """
    if not campaign.terms.moves or not any(isinstance(step, CommandStep) for step in campaign.spec.steps):
        return
    work = work_of(campaign)
    moved = [(trial_work.n_bytes, _count_nodes(trial)) for trial in trials if (trial_work := work(trial.factors))]
    if small := [n_bytes / nodes for n_bytes, nodes in moved if 0 < n_bytes / nodes <= memory_bytes]:
        of = _format_share(len(small), len(moved))
        yield Message(
            "fits-in-memory",
            "in {trials} a node moves at most {size}, which fits into this node's memory: "
            "repeated reads may come from there (S104); cache: drop empties it between trials only, larger "
            "files or O_DIRECT bypass it",
            trials=of,
            size=format_size(max(small)),
        )

    cluster = campaign.terms.cluster
    server_memory = (cluster and cluster.server_memory()) or 0
    if cluster and (fitting := [n_bytes for n_bytes, _ in moved if 0 < n_bytes <= server_memory]):
        yield Message(
            "fits-in-server-memory",
            "in {trials} at most {size} are moved, which fit into the servers' total memory of {memory} ({file}): "
            "reads may come from there, not from a disk",
            trials=_format_share(len(fitting), len(moved)),
            size=format_size(max(fitting)),
            memory=format_size(server_memory),
            file=cluster.file,
        )


def _format_share(n: int, total: int) -> str:
    return "all trials" if n == total else f"{counted(n, 'trial')} of {total}"


def _count_nodes(trial: Trial) -> int:
    nodes = trial.factors.get("nodes")
    return nodes if isinstance(nodes, int) else 1
