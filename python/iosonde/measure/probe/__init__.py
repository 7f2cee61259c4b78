"""Hardware probes: disks, memory, CPU per byte, the network between every pair of nodes."""
