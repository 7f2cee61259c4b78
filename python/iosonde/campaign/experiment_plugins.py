"""Experiments of plug-ins, by name and size: ``path-study``, ``path-study:200``, ``path-study:full``."""

from collections.abc import Sequence
from typing import Any

from iosonde.core.plugins import find_entry_points, load_plugin

GROUP = "iosonde.experiments"
# In the package of extras; also the workload of its steps.
PATH_STUDY = "path-study"


def is_plugin_experiment(word: str) -> bool:
    """Return whether a word names such an experiment, valid or not, rather than a command or a file."""
    name = word.partition(":")[0]
    return name == PATH_STUDY or name in find_entry_points(GROUP)


def find_experiment(word: str, levels: Sequence[str] = (), quick: bool = False) -> dict[str, Any]:
    """Return the experiment without a target; ``levels`` are the words of ``--set``. Raises InputError for an invalid
    size or a missing package."""
    name = word.partition(":")[0]
    document: dict[str, Any] = load_plugin(GROUP, name)(word, levels, quick)
    return document
