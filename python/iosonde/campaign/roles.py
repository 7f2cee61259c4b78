"""Whether ranks are to run where the cluster has its clients: what does not fit is said before the first trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.core import nodelist
from iosonde.core.cluster_nodes import some_of
from iosonde.core.errors import InputError
from iosonde.ranks.hosts import this_host
from iosonde.ranks.machine import Facts

from .campaign import Campaign


def misplaced(campaign: Campaign, facts: Facts) -> Iterator[str]:
    """A sentence for each thing that does not fit: a client that is a server, a node without a role or with another
    one, a client that is named and absent. Without a cluster file only of what ``hosts`` and ``servers`` say."""
    spec, cluster = campaign.spec, campaign.terms.cluster
    hosts = _hosts(campaign, facts)
    both = [host for host in hosts if host in spec.servers]
    if both:
        are = "is" if len(both) == 1 else "are"
        yield (f"{some_of(both)} {are} in hosts and in servers: a client that is a server may write to its own disk "
               "and read from its own memory (S130)")  # fmt: skip
    if cluster is None:
        return
    yield from (f"{said} (S131)" for said in cluster.misplaced([host for host in hosts if host not in both]))
    if (absent := cluster.absent(hosts)) and spec.hosts:
        are = "is a client" if len(absent) == 1 else "are clients"
        yield f"{some_of(absent)} {are} in {cluster.file}, not in hosts"
    if others := cluster.no_servers(spec.servers):
        yield f"{some_of(others)} {'is' if len(others) == 1 else 'are'} in servers, and no server in {cluster.file}"


def _hosts(campaign: Campaign, facts: Facts) -> Sequence[str]:
    """Where ranks are to run: the hosts that were named, those of a batch job, else this one."""
    if campaign.spec.hosts:
        return campaign.spec.hosts
    job = facts["scheduler"]
    try:
        return nodelist.expand((job and job["node_list"]) or this_host().name)
    except InputError:
        return ()
