"""With this folder in PYTHONPATH, a process believes that 64 MiB of memory are free: what a probe copies is then small.

By its own rule a probe copies four times what all caches hold, gigabytes on some machines. One test does that
(``test_one_node_with_a_disk``); those that look at what is done with the numbers need not.
"""

from iosonde.ranks import machine

machine.read_available_bytes = lambda: 64 * 2**20
