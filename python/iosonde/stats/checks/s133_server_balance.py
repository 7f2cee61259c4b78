"""S133: uneven load of servers

What it says
    The busiest server handled more than its share of the data written or read.
    If servers are the bottleneck, all wait for it: the others had spare
    capacity.

How we know
    From the servers' own counts in each trial (a lab with profile: true). The
    index is the bytes of the busiest ÷ the mean of all, over the trials of one
    setting; 1 is even. It costs at most 1 − 1 ÷ index of the rate. It is
    reported from 1.1 on, if the interval excludes 1 or every trial was as
    uneven: bytes of a trial are counted, not estimated.

When it is wrong
    When the servers are not the bottleneck: then it costs nothing. With fewer
    files than servers, or one more copy, it cannot be even.

What to do
    Use more files, stripes or pieces (shards), or another placement; compare
    the index of each setting.
"""

from iosonde.core.estimate_text import format_estimate
from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity
from iosonde.core.words import format_share_interval

from ..overview.balance import ServerBalance, estimate_server_balances
from . import MAX_LISTED, Subject

NEEDS_RUNS = True
LEAST = 1.1


def check(subject: Subject) -> list[Finding]:
    """Report one finding about the most uneven setting, with all others in the evidence."""
    uneven = [balance for balance in estimate_server_balances(subject.runs, subject.level) if _is_uneven(balance)]
    if not uneven:
        return []
    worst = max(uneven, key=lambda balance: balance.index.value or 0.0)
    name, times = worst.busiest.most_common(1)[0]
    n = sum(worst.busiest.values())
    return [
        Finding(
            "S133",
            Severity.INFO,
            Message(
                "uneven-servers",
                "the busiest of {n_servers} servers{busiest}, handled {index} times the mean of the data "
                "{direction}{setting}: if servers are the bottleneck, this costs {lost} of the rate{more}",
                n_servers=worst.n_servers,
                busiest=f", {name} in {times} of {n} trials" if n > 1 else f", {name}",
                index=format_estimate(worst.index, ""),
                direction=worst.what,
                setting=f" at {worst.setting}" if worst.setting else "",
                lost=format_share_interval(worst.lost),
                more=f" ({len(uneven)} settings in all)" if len(uneven) > 1 else "",
            ),
            {
                "balance": [
                    {
                        "what": balance.what,
                        "setting": balance.setting,
                        "servers": balance.n_servers,
                        **balance.index.flat("index"),
                        **balance.lost.flat("lost"),
                        "busiest": dict(balance.busiest),
                    }
                    for balance in uneven[:MAX_LISTED]
                ],
            },
            "use more files, stripes or pieces than servers, or another placement",
        )
    ]


def _is_uneven(balance: ServerBalance) -> bool:
    index = balance.index
    return (index.value or 0.0) >= LEAST and (balance.least >= LEAST or (index.low or 0.0) > 1.0)
