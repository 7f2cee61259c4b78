"""What other tools call their number, recomputed from the operations of one phase: one file for each tool.

Arrays in, values in base units out. Each file names the lines of the tool's own source that it follows. ``clock`` is
what all of them share: which operations are inside, and when the clock stops.
"""
