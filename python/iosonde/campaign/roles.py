"""Check that ranks run on the cluster's clients; mismatches are reported before the first trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.core import nodelist
from iosonde.core.cluster_nodes import same_host, some_of
from iosonde.core.errors import InputError
from iosonde.core.message import Message, restore
from iosonde.ranks.hosts import this_host
from iosonde.ranks.machine import Facts, route

from .campaign import Campaign

_MAY = "a client that is a server may write to its own disk and read from its own memory (S130)"


def misplaced(campaign: Campaign, facts: Facts) -> Iterator[str]:
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
            hosts=some_of(both),
            verb=_choose_verb(both),
        )
    serving = [host for host in _list_serving_hosts(hosts, bool(spec.hosts), facts) if host not in both]
    if serving:
        yield Message(
            "serves-target",
            ("{hosts} runs ranks and serves " if len(serving) == 1 else "{hosts} run ranks and serve ")
            + "the measured file system: "
            + _MAY,
            hosts=some_of(serving),
        )
    if cluster is None:
        return
    for role in cluster.misplaced([host for host in hosts if host not in (*both, *serving)]):
        yield restore(role.code, f"{role} (S131)", role.values)
    if (absent := cluster.absent(hosts)) and spec.hosts:
        yield Message(
            "unused-client",
            "{hosts} is a client in {file}, but not in hosts"
            if len(absent) == 1
            else "{hosts} are clients in {file}, but not in hosts",
            hosts=some_of(absent),
            file=cluster.file,
        )
    if others := cluster.no_servers(spec.servers):
        yield Message(
            "not-a-server",
            "{hosts} {verb} in servers, but not a server in {file}",
            hosts=some_of(others),
            verb=_choose_verb(others),
            file=cluster.file,
        )


def _list_hosts(campaign: Campaign, facts: Facts) -> Sequence[str]:
    """Return the hosts of the ranks: the named ones, those of a batch job, or this one."""
    if campaign.spec.hosts:
        return campaign.spec.hosts
    job = facts["scheduler"]
    try:
        return nodelist.expand((job and job["node_list"]) or this_host().name)
    except InputError:
        return ()


def _select_servers(hosts: Sequence[str], servers: Sequence[str]) -> list[str]:
    return [host for host in dict.fromkeys(hosts) if any(same_host(host, server) for server in servers)]


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
    network = route.here()
    return list(hosts) if any(route.is_this_node(server, network) for server in servers) else []


def _choose_verb(several: Sequence[str]) -> str:
    return "is" if len(several) == 1 else "are"
