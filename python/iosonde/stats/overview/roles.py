"""Comparison of runs with a cluster file: nodes and their roles."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iosonde.core.cluster_nodes import CLUSTER, SERVERS, ClusterNodes, format_some_names
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun


def get_declared_cluster(run: StoredRun) -> ClusterNodes | None:
    """Return the nodes of the experiment's cluster file; None without one."""
    rows = run.facts.get(CLUSTER)
    return ClusterNodes.from_json(rows) if rows else None


def list_clients_without_ranks(cluster: ClusterNodes, runs: Sequence[StoredRun]) -> list[str]:
    """Return a sentence if no rank ran on some of its clients, provided it is known where ranks ran."""
    hosts = _list_hosts(runs)
    absent = cluster.absent(hosts) if hosts else []
    return (
        [
            Message(
                "client-without-ranks",
                "no rank ran on {nodes} of the clients in {file}",
                nodes=format_some_names(absent),
                file=cluster.file,
            )
        ]
        if absent
        else []
    )


def iterate_role_mismatches(cluster: ClusterNodes, runs: Sequence[StoredRun]) -> Iterator[str]:
    """Iterate over a sentence for each mismatch: where ranks ran, which nodes served, which servers were missing."""
    yield from cluster.misplaced(_list_hosts(runs))
    if not cluster.list_names(SERVERS):
        return
    reported = _list_unique_names(_get_machine_part(run, "filesystem").get("servers") or () for run in runs)
    mounted = _list_unique_names(str(_get_machine_part(run, "mount").get("server") or "").split(",") for run in runs)
    if others := cluster.no_servers([*reported, *mounted]):
        yield Message(
            "unlisted-server",
            "{servers} "
            + ("serves" if len(others) == 1 else "serve")
            + " the file system, but {are} in {file} (address: gives a server's name in the mount)",
            servers=format_some_names(others),
            are="is no server" if len(others) == 1 else "are no server",
            file=cluster.file,
        )
    if reported and (missing := cluster.absent(reported, ("server",))):
        yield Message(
            "idle-server",
            "{servers} {are} in {file} but "
            + ("holds" if len(missing) == 1 else "hold")
            + " no data of the file system",
            servers=format_some_names(missing),
            are="is a server" if len(missing) == 1 else "are servers",
            file=cluster.file,
        )


def _list_hosts(runs: Sequence[StoredRun]) -> list[str]:
    return _list_unique_names(run.facts.get("hosts") or () for run in runs)


def _get_machine_part(run: StoredRun, part: str) -> Mapping[str, Any]:
    facts = (run.facts.get("machine") or {}).get(part)
    return facts if isinstance(facts, Mapping) else {}


def _list_unique_names(several: Any) -> list[str]:
    return list(dict.fromkeys(str(name) for names in several for name in names if name))
