"""S131: the cluster is not as its file says

What it says
    Ranks ran on nodes that the cluster file gives another role, or does not
    name; nodes that it names were not seen; or others than its servers serve
    the file system.

How we know
    The experiment names a cluster file, whose nodes and roles are kept with
    each run. They are held against the hosts that ranks reported, against the
    servers that the mount names, and against those that the file system says
    hold its data.

When it is wrong
    When a node is known by another name in the mount than in the file: an
    address says so. Clients without ranks alone are information: a campaign
    of few nodes leaves them out on purpose.

What to do
    Mend the file, or choose other nodes with --hosts.
"""

from __future__ import annotations

from iosonde.core.message import spell
from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding, Severity

from ..overview.roles import cluster_of, unlike, without_ranks
from . import MAX_LISTED, Subject

CODE = "S131"
NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """One finding for each experiment that has a cluster file, with everything that does not fit."""
    experiments: dict[str, list[StoredRun]] = {}
    for run in subject.runs if any(map(cluster_of, subject.runs)) else ():
        experiments.setdefault(run.experiment, []).append(run)
    findings = []
    for name, runs in experiments.items():
        cluster = cluster_of(runs[0])
        if cluster is None:
            continue
        wrong, absent = list(unlike(cluster, runs)), without_ranks(cluster, runs)
        if texts := [*wrong, *absent]:
            findings.append(Finding(
                CODE, Severity.WARNING if wrong else Severity.INFO, "; ".join(texts),
                {"experiment": name, "runs": [run.id for run in runs[:MAX_LISTED]], "said": texts,
                 "roles": cluster.by_role()},
                f"mend the cluster file, or choose other nodes with {spell.hosts}",
            ))  # fmt: skip
    return findings
