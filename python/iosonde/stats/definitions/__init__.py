"""Metrics as other tools define them, recomputed from the operations of one phase: one file per tool.

Arrays in, values in base units out. Each file cites the lines of the tool's source that it follows. ``clock`` is shared
by all: which operations are inside, and when the clock stops.
"""
