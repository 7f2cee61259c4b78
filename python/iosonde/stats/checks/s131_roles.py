"""S131: cluster differs from its file

What it says
    Ranks ran on nodes that have another role in the cluster file, or are not
    in it. Or nodes of the file were missing. Or other nodes than its servers
    serve the file system.

How we know
    The experiment names a cluster file, whose nodes and roles are stored with
    each run. They are compared with the hosts that ranks reported, with the
    servers of the mount, and with those that hold data according to the file
    system.

When it is wrong
    When a node has different names in the mount and in the file: add its
    address. Clients without ranks alone are information: a campaign on few
    nodes omits them on purpose.

What to do
    Correct the file, or choose other nodes with {spell.hosts}.
"""

from collections.abc import Iterator

from iosonde.core.message import spell
from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding, Severity

from ..overview.roles import get_declared_cluster, iterate_role_mismatches, list_clients_without_ranks
from . import MAX_LISTED, Subject

NEEDS_RUNS = True


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding for each experiment that has a cluster file, with all differences."""
    experiments: dict[str, list[StoredRun]] = {}
    for run in subject.runs if any(map(get_declared_cluster, subject.runs)) else ():
        experiments.setdefault(run.experiment, []).append(run)
    for name, runs in experiments.items():
        cluster = get_declared_cluster(runs[0])
        if cluster is None:
            continue
        wrong, absent = list(iterate_role_mismatches(cluster, runs)), list_clients_without_ranks(cluster, runs)
        if texts := [*wrong, *absent]:
            yield Finding(
                "S131",
                Severity.WARNING if wrong else Severity.INFO,
                "; ".join(texts),
                {
                    "experiment": name,
                    "runs": [run.id for run in runs[:MAX_LISTED]],
                    "said": texts,
                    "roles": cluster.by_role(),
                },
                f"correct the cluster file, or choose other nodes with {spell.hosts}",
            )
