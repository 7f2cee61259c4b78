"""Columns of the stored tables, the version of the store, and its written history.

History
-------
1 (2026-11)  first version: ``run.json``, ``results.parquet``, ``operations.parquet``, ``raw/``.
2 (2026-11)  each ``run.json`` names the digest of its experiment (``experiment_sha256``, ``experiment_trials``);
             ``store.json`` and ``notes/*.json`` have a hash of themselves.

``OPERATION`` is both the engine's record in memory (32 bytes) and, split into columns, a row of
``operations.parquet``.
"""

from __future__ import annotations

import numpy as np

STORE_VERSION = 2

# As the engine writes it: `packed` holds kind (bits 0-7), status (bits 8-15) and duration_ns (bits 16-63).
RECORD = np.dtype([("start_ns", "<u8"), ("offset", "<u8"), ("packed", "<u8"), ("size", "<u4"), ("file", "<u4")])

# As everybody else reads it. `start_ns` is CLOCK_MONOTONIC on the rank's own host; `status` is 0 or an errno
# (see STATUS_*); `phase` indexes Run.phases; `rank` is the rank in the trial.
OPERATION = np.dtype(
    [
        ("rank", "<u4"),
        ("phase", "<u2"),
        ("kind", "u1"),
        ("status", "u1"),
        ("size", "<u4"),
        ("file", "<u4"),
        ("offset", "<u8"),
        ("start_ns", "<u8"),
        ("duration_ns", "<u8"),
    ]
)

# Statuses that are not an errno (Linux errnos end at 133).
STATUS_OK = 0
STATUS_SHORT = 250  # fewer bytes than asked for, no errno
STATUS_MISMATCH = 251  # verification: the content is not what was written

RESULT_COLUMNS = ("operation", "metric", "value", "unit", "rank", "repetition", "count", "includes")
# The same where they stand beside the factors of their run, whose own repetition has that name: a tool's inner one is
# its iteration, in every table, condition and export.
ITERATION = "iteration"
ROW_COLUMNS = tuple(ITERATION if name == "repetition" else name for name in RESULT_COLUMNS)

# Factors of a run that a measurement observes and does not set: they describe a trial, and split no cell.
# ``allocation`` numbers the sets of nodes that a campaign ran on: a resume on other nodes is another block.
READ_FACTORS = ("reader", "client_cache", "server_cache")  # these matter to reads alone
OBSERVED_FACTORS = (*READ_FACTORS, "allocation")

# What was wrong with the target's file system during a trial (``n2 down``), where that says so. Observed, and it does
# split cells: a mean of trials with two copies and with one is that of nothing.
HEALTH = "health"
WELL = "ok"

# Which trials share the setting of factors that are hard to change: it is numbered within its experiment, from 0, anew
# whenever they were set (or a lab was brought up). A factor held inside another one has the next column. Trials of one
# bring-up share its error, and count once where levels of what it holds are compared.
BRING_UP = "bring_up"
BRING_UPS = (BRING_UP, *(f"{BRING_UP}_{place}" for place in range(2, 6)))

# True on the trials of a centre cell, which a design repeats within every block to see drift (False on its other
# trials, absent without centre cells). It splits no cell: a centre trial repeats the cell whose levels it has.
CENTRE = "centre_trial"

# What the newest probe found of a run's nodes (its slowest link, disk, …), in bytes/s, s and s/byte. Observed too: a
# probe made anew splits no cell.
# ``probed_servers``: how many servers it asked; ``base_filesystem``: the type of what lies on their disks.
PROBE_FACTORS = (
    "network_bandwidth",
    "network_latency",
    "tcp_bandwidth",
    "disk_write",
    "disk_read",
    "memory_copy",
    "cpu_write",
    "cpu_read",
    "probed_servers",
    "base_filesystem",
)
