"""The best of several settings with a guaranteed probability, from far fewer trials than a fixed plan."""

from .loop import RaceOutcome, race

__all__ = ["RaceOutcome", "race"]
