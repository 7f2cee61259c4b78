"""Columns of the stored tables, the version of the store, and its written history.

History
-------
1 (2026-11)  first version: ``run.json``, ``results.parquet``, ``operations.parquet``, ``raw/``.
2 (2026-11)  each ``run.json`` names the digest of its experiment (``experiment_sha256``, ``experiment_trials``);
             ``store.json`` and ``notes/*.json`` have a hash of themselves. ``factors.json`` may hold factors that
             runs received later.

``OPERATION`` is both the engine's record in memory (32 bytes) and, split into columns, a row of
``operations.parquet``.
"""

import numpy as np

STORE_VERSION = 2

# The record of the engine: `packed` holds kind (bits 0-7), status (bits 8-15) and duration_ns (bits 16-63).
RECORD = np.dtype([("start_ns", "<u8"), ("offset", "<u8"), ("packed", "<u8"), ("size", "<u4"), ("file", "<u4")])

# The record for all readers. `start_ns` is CLOCK_MONOTONIC on the rank's own host; `status` is 0 or an errno (see
# STATUS_*); `phase` indexes Run.phases; `rank` is the rank in the trial.
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
STATUS_SHORT = 250  # fewer bytes than requested, no errno
STATUS_MISMATCH = 251  # verification: the content is not the content written

RESULT_COLUMNS = ("operation", "metric", "value", "unit", "rank", "repetition", "count", "includes")
# In tables that also have the factors of a run, "repetition" is that of the run. A tool's inner repetition is then its
# iteration, in every table, condition and export.
ITERATION = "iteration"
ROW_COLUMNS = tuple(ITERATION if name == "repetition" else name for name in RESULT_COLUMNS)

# Observed factors of a run, which are not set: they describe a trial and split no cell. ``allocation`` numbers the sets
# of nodes that a campaign ran on: a resume on other nodes is another block.
READ_FACTORS = ("reader", "client_cache", "server_cache")  # these matter only to reads
OBSERVED_FACTORS = (*READ_FACTORS, "allocation")

# The problem of the target's file system during a trial (``n2 down``), if it reports one. It is observed, yet splits
# cells: a mean over trials with two copies and with one is meaningless.
HEALTH = "health"
WELL = "ok"

# Trials with the same number share one setting of the hard-to-change factors. It counts from 0 within an experiment,
# and increases whenever they are set or a lab is brought up. A nested factor has the next column. Trials of one bring-
# up share its error, and count once where levels of its factors are compared.
BRING_UP = "bring_up"
BRING_UPS = (BRING_UP, *(f"{BRING_UP}_{place}" for place in range(2, 6)))

# True on trials of a centre cell, which a design repeats in every block to detect drift. It is False on the other
# trials, and absent without centre cells. It splits no cell: a centre trial repeats the cell with its levels.
CENTRE = "centre_trial"

# Results of the newest probe of a run's nodes (its slowest link, disk, …), in bytes/s, s and s/byte. They are observed:
# a new probe splits no cell. ``probed_servers``: number of servers probed; ``base_filesystem``: type of the file system
# on their disks.
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

# Facts of one execution, which are no settings; earlier importers stored them as such.
EXECUTION_FACTS = (
    "date",
    "time",
    "host",
    "hostname",
    "hosts",
    "user",
    "pid",
    "jobid",
    "job_id",
    "started_at",
    "command",
    "command_line",
    "directory",
    "path",
    "file",
    "file_name",
    "label",
    "title",
    "version",
    "iterations",
    "test_id",
)

# In `factors` of a run, but not settings. The places of a trial in a design may come from anywhere, as paths.
PLACES_IN_DESIGN = ("repetition", "block")
TRIAL_FACTS = (*PLACES_IN_DESIGN, "order", "seed", "seconds", CENTRE, *BRING_UPS, *OBSERVED_FACTORS, *PROBE_FACTORS)


def is_setting_name(name: str) -> bool:
    """Return whether analyses take a factor of this name for a setting, and so separate its levels."""
    return name not in TRIAL_FACTS and name.lower() not in EXECUTION_FACTS
