"""Warnings before the first trial: ranks on the wrong hosts, skipped phases, data that fits in memory."""

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core import nodelist
from iosonde.core.cluster_nodes import format_some_names, is_same_host
from iosonde.core.errors import InputError
from iosonde.core.message import Message, restore_message
from iosonde.core.types import Trial, level_text
from iosonde.core.units import format_size
from iosonde.core.words import format_count, join_names
from iosonde.measure import items, placeholders
from iosonde.measure.spec import CommandStep
from iosonde.ranks.hosts import get_this_host
from iosonde.ranks.machine import Facts, route

from .campaign import Campaign
from .needs import build_work_estimator


def warn_of_skipped_phases(campaign: Campaign, trials: Sequence[Trial], facts: Mapping[str, Facts]) -> Iterator[str]:
    """Yield a sentence for each skipped phase and reason, with the affected trials; each is judged by its own settings
    and file system."""
    trials_by_phase: dict[tuple[str, str], dict[int, Trial]] = {}
    skipped_by_work: dict[str, list[tuple[str, str]]] = {}  # a design may have thousands of trials, of few kinds
    for trial in trials:
        ranks = trial.nodes * trial.ranks_per_node
        work = (_list_items(campaign, trial), ranks, _get_file_system_type(campaign, trial, facts), trial.nodes)
        if (key := repr(work)) not in skipped_by_work:
            skipped_by_work[key] = list(_iterate_skipped(*work))
        for phase, why in skipped_by_work[key]:
            trials_by_phase.setdefault((phase, why), {})[trial.index] = trial
    for (phase, why), there in trials_by_phase.items():
        yield Message(
            "skipped-phase",
            "{phase} is skipped{trials}: {reason}",
            phase=phase,
            trials=_describe_trials(list(there.values()), trials),
            reason=why,
        )


def _list_items(campaign: Campaign, trial: Trial) -> list[items.Item]:
    return items.build_items((), campaign.spec.steps, (), placeholders.build_trial_values(trial, None))


def _get_file_system_type(campaign: Campaign, trial: Trial, facts: Mapping[str, Facts]) -> str:
    target_facts = facts.get(campaign.spec.target_name(trial.factors))
    return str(((target_facts and target_facts.get("mount")) or {}).get("type") or "")


def _iterate_skipped(
    step_items: list[items.Item], ranks: int, file_system: str, nodes: int
) -> Iterator[tuple[str, str]]:
    for part in items.lay_out_items(items.mark_skipped_phases(step_items, ranks, file_system, nodes), 0, ranks, 0):
        yield from ((plan.operation, plan.skipped) for plan in part.plans if plan.skipped)


def _describe_trials(there: Sequence[Trial], trials: Sequence[Trial]) -> str:
    """Describe the affected trials: empty for all; else their number, and the levels that only they have."""
    if len(there) == len(trials):
        return ""
    theirs = {trial.index for trial in there}
    others = [trial for trial in trials if trial.index not in theirs]
    telling = [
        name for name in there[0].factors if _collect_levels(there, name).isdisjoint(_collect_levels(others, name))
    ]
    parts = [f"{name}={','.join(sorted(_collect_levels(there, name)))}" for name in telling]
    return f" in {format_count(len(there), 'trial')} of {len(trials)}{f' ({join_names(parts)})' if parts else ''}"


def _collect_levels(trials: Sequence[Trial], factor: str) -> set[str]:
    return {level_text(trial.factors[factor]) for trial in trials}


def warn_if_fits_in_memory(campaign: Campaign, trials: Sequence[Trial], memory_bytes: int) -> Iterator[str]:
    """Warn if the data that commands of ``trials`` move (``moves``) fits into ``memory_bytes`` of a node. The same is
    checked for all servers' memory, if the cluster file has it.

    Native workloads are not checked: they drop and inspect the cache of their files, trial by trial (S104). Without
    ``moves`` a command's data is unknown.
    """
    if not campaign.terms.moves or not any(isinstance(step, CommandStep) for step in campaign.spec.steps):
        return
    work = build_work_estimator(campaign)
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
    return "all trials" if n == total else f"{format_count(n, 'trial')} of {total}"


def _count_nodes(trial: Trial) -> int:
    nodes = trial.factors.get("nodes")
    return nodes if isinstance(nodes, int) else 1


_MAY = "a client that is a server may write to its own disk and read from its own memory (S130)"


def warn_of_misplaced_roles(campaign: Campaign, facts: Facts) -> Iterator[str]:
    """Yield a sentence for each mismatch: a client that is a server, a node without a client's role, a listed client
    that is absent. Without a cluster file only ``hosts``, ``servers`` and the servers reported by the file system are
    checked."""
    spec, cluster = campaign.spec, campaign.terms.cluster
    hosts = _list_hosts(campaign, facts)
    both = _select_servers(hosts, spec.servers)
    if both:
        yield Message(
            "client-is-server",
            "{hosts} {verb} in hosts and in servers: " + _MAY,
            hosts=format_some_names(both),
            verb=_choose_verb(both),
        )
    serving = [host for host in _list_serving_hosts(hosts, bool(spec.hosts), facts) if host not in both]
    if serving:
        yield Message(
            "serves-target",
            ("{hosts} runs ranks and serves " if len(serving) == 1 else "{hosts} run ranks and serve ")
            + "the measured file system: "
            + _MAY,
            hosts=format_some_names(serving),
        )
    if cluster is None:
        return
    for role in cluster.misplaced([host for host in hosts if host not in (*both, *serving)]):
        yield restore_message(role.code, f"{role} (S131)", role.values)
    if (absent := cluster.absent(hosts)) and spec.hosts:
        yield Message(
            "unused-client",
            "{hosts} is a client in {file}, but not in hosts"
            if len(absent) == 1
            else "{hosts} are clients in {file}, but not in hosts",
            hosts=format_some_names(absent),
            file=cluster.file,
        )
    if others := cluster.no_servers(spec.servers):
        yield Message(
            "not-a-server",
            "{hosts} {verb} in servers, but not a server in {file}",
            hosts=format_some_names(others),
            verb=_choose_verb(others),
            file=cluster.file,
        )


def _list_hosts(campaign: Campaign, facts: Facts) -> Sequence[str]:
    """Return the hosts of the ranks: the named ones, those of a batch job, or this one."""
    if campaign.spec.hosts:
        return campaign.spec.hosts
    job = facts["scheduler"]
    try:
        return nodelist.expand_node_list((job and job["node_list"]) or get_this_host().name)
    except InputError:
        return ()


def _select_servers(hosts: Sequence[str], servers: Sequence[str]) -> list[str]:
    return [host for host in dict.fromkeys(hosts) if any(is_same_host(host, server) for server in servers)]


def _list_serving_hosts(hosts: Sequence[str], explicit: bool, facts: Facts) -> list[str]:
    """Return the hosts that serve the file system according to its mount and its own report; for ranks on this node
    only, also by its addresses."""
    server_names = [
        *((facts["filesystem"] or {}).get("servers") or ()),
        *str((facts["mount"] or {}).get("server") or "").split(","),
    ]
    servers = [name for name in dict.fromkeys(server_names) if name]
    matching = _select_servers(hosts, servers)
    if matching or explicit or len(hosts) != 1 or not servers:
        return matching
    network = route.read_node_network()
    return list(hosts) if any(route.is_this_node(server, network) for server in servers) else []


def _choose_verb(several: Sequence[str]) -> str:
    return "is" if len(several) == 1 else "are"
