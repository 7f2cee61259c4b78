"""S130: a client is a server, too

What it says
    Ranks ran on a node that also serves the measured file system. Their writes
    may stay on that node's own disk, their reads may come from its memory, and
    client and server share its processors.

How we know
    The servers' addresses, from the mount and from the file system itself, are
    compared with the routes of each node: one leads to the node itself.

When it is wrong
    When clients on the servers are what you want to measure, as in systems
    whose compute nodes are the storage (HDFS, MTC file systems). A floating
    address may also be on this node by chance.

What to do
    Run the ranks on nodes that are not servers ({spell.hosts}), or make it a factor:
    measure with and without, and compare.
"""

from iosonde.core.message import Message, spell
from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding, Severity
from iosonde.core.words import format_count

from . import MAX_LISTED, Subject

NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """Report one finding with every node that is both."""
    both: dict[str, list[str]] = {}  # node → runs
    nodes: set[str] = set()
    for run in subject.runs:
        for name, server in _list_nodes(run):
            nodes.add(name)
            if server:
                both.setdefault(f"{name} ({server})" if name != server else name, []).append(run.id)
    if not both:
        return []
    runs = {run_id for several in both.values() for run_id in several}
    return [
        Finding(
            "S130",
            Severity.WARNING,
            Message(
                "client-is-server",
                "{n} of {clients} also served the file system: {nodes}; data written and read there "
                "may not have gone over the network",
                n=len(both),
                clients=format_count(len(nodes), "client node"),
                nodes=", ".join(list(both)[:MAX_LISTED]),
            ),
            {"nodes": {name: several[:MAX_LISTED] for name, several in both.items()}, "n_runs": len(runs)},
            f"run the ranks on nodes that are not servers ({spell.hosts}), or make it a factor and compare",
        )
    ]


def _list_nodes(run: StoredRun) -> set[tuple[str, str]]:
    """Return (name of a node, its address as a server or '') of the nodes with counted network traffic."""
    hosts = run.facts.get("hosts") or []
    nodes = set()
    for phase in run.phases:
        for entry in (phase.network or {}).get("nodes") or []:
            rank, node = entry.get("rank"), entry.get("node")
            name = hosts[rank] if isinstance(rank, int) and rank < len(hosts) else f"node {node}"
            nodes.add((str(name), str(entry.get("own_server") or "")))
    return nodes
