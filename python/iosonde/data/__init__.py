"""DATA → Source → Response: the one way from a store, a file or a table in memory to what an analysis takes.

Nothing here computes a statistic, and nothing above the store asks whether a run was measured or imported.
"""
