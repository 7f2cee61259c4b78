"""The hardware measured: disks, memory, CPU per byte, the network between every pair."""
