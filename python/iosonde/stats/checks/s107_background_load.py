"""S107: background load

What it says
    Something else used a node's CPU during the measurement: other processes,
    or the host of a virtual machine that took the CPU away (steal).

How we know
    During every trial each node samples its CPU use and subtracts that of the
    measuring processes. It also subtracts that of the daemon that serves the
    target there (FUSE: glusterfs, ceph-fuse, mfsmount …): it is the client,
    and recorded as such (client_daemon_cpu_s, client_daemon_share of
    facts.loads). In a lab the other hosts, which share these CPUs, are
    recorded separately, too (other_hosts_share). More than 5 % of all CPUs in
    any trial is reported.

When it is wrong
    A kernel client works in threads of its own: they belong to the measurement
    but count as background load, and so does a daemon in another container.
    Load on the servers or the network is not detected.

What to do
    Measure on dedicated nodes, or at a quiet hour. Else keep the order random
    and the repetitions many, and compare the trials with and without the load
    before excluding any.
"""

from collections.abc import Iterator

from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

NEEDS_RUNS = True
SHARE = 0.05
_SHARES = {"background_share": "other processes used", "steal_share": "the virtual machine's host took"}


def check(subject: Subject) -> Iterator[Finding]:
    """Report trials during which others used a node's CPU."""
    worst: dict[str, tuple[float, str]] = {}
    loaded: dict[str, list[str]] = {}
    for run in subject.runs:
        for load in run.facts.get("loads") or ():
            host = load.get("host") or f"node {load.get('node')}"
            for key in _SHARES:
                share = load.get(key)
                if share is not None and share > SHARE:
                    loaded.setdefault(key, []).append(run.id)
                    worst[key] = max(worst.get(key, (0.0, "")), (float(share), str(host)))
    for key, ids in loaded.items():
        share, host = worst[key]
        yield Finding(
            "S107",
            Severity.WARNING,
            Message(
                "background-load",
                "{subject} up to {percent:.0f} % of the CPU of {host} ({n} of {n_trials} trials)",
                subject=_SHARES[key],
                percent=100 * share,
                host=host,
                n=len(dict.fromkeys(ids)),
                n_trials=len(subject.runs),
            ),
            {"share": share, "host": host, "runs": list(dict.fromkeys(ids))[:MAX_LISTED], "kind": key},
            "measure on idle nodes, or keep the order random and the repetitions many",
        )
