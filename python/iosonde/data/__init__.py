"""DATA → Source → Response: the path from a store, a file or a table in memory to the input of an analysis.

Nothing here computes a statistic, and no code above this room distinguishes measured from imported runs.
"""
