"""``python -m rank_sample FILE``: a replicated factorial with a known answer, for the examples in docs."""

from __future__ import annotations

import itertools
import sys

import numpy as np

NETWORKS, SERVERS, BASE, REPEATS = ("gigabit", "infiniband"), (1, 2, 3, 4, 5), ("ext3", "xfs"), 4


def rows() -> list[str]:
    """The network decides, servers add to it (more with the fast network), the base file system does nothing."""
    rng = np.random.default_rng(7)
    made = ["network,servers,base_fs,write (MB/s)"]
    for network, servers, base, _ in itertools.product(NETWORKS, SERVERS, BASE, range(REPEATS)):
        fast = network == "infiniband"
        write = 60 + 90 * fast + servers * (6 + 12 * fast) + rng.normal(scale=9)
        made.append(f"{network},{servers},{base},{write:.2f}")
    return made


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(rows()) + "\n")
