"""Words of the results file of "Benchmarking Distributed Filesystems for Many-Task Computing" (Dobrescu-Balau 2014,
section 4.1): ``{node count: {"total": {metric: value}, "individual": [{metric: value}, …]}}``.

Ours has two more keys in each entry: ``units``, and ``repetitions`` where a cell was measured more than once; total and
individual are then their means. Bandwidths are in kB/s of 1024 bytes, as IOzone prints them.
"""

KB_PER_S = "kB/s"
# IOzone's names of its reports (-R), by our names.
IOZONE_NAMES = {
    "write": "writer",
    "rewrite": "re-writer",
    "read": "reader",
    "reread": "re-reader",
    "random_read": "random read",
    "random_write": "random write",
    "backward_read": "backward read",
    "record_rewrite": "record rewrite",
    "stride_read": "stride read",
    "fwrite": "fwrite",
    "refwrite": "re-fwrite",
    "fread": "fread",
    "refread": "re-fread",
}
