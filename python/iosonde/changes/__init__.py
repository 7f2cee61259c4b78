"""Where a series of numbers changed its level, how sure that is over a year of daily looks, and by how much."""
