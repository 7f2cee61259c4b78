"""IOR's ``-Z``: each task draws by itself which data it reads, so that some are read several times and others never.

``srand(rank + seed); rankOffset = rand() % numTasks`` in IOR's source. Since IOR 4, ``-Z`` twice shuffles instead.
"""

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from ..parsed import Parsed
from ..reading import split_command
from .numbers import Numbers

CODE = "S144"
_DRAWN = "random task offset"
_OPTION = "reorderTasksRandom="
# Settings that limit the draw, with their defaults.
_COUNTS = {"ranks": 0, "nodes": 1, "ranks_per_node": 0, "task_offset": 1}


def find_drawn_offsets(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the reads of a run whose tasks drew their offsets."""
    order = run.factors.get("ordering_between_files")
    if run.tool != "ior" or not isinstance(order, str) or not order.startswith(_DRAWN) or _is_shuffled(run):
        return
    n_choices = _count_choices(run.factors)
    read = next((group for group in groups if group.operation == "read" and group.rank is None), None)
    if read is None or n_choices < 2:
        return
    yield Contradiction(
        CODE,
        "read",
        (),
        Message(
            "drawn-offsets",
            "each of {n_ranks} tasks drew by itself what it reads (-Z): about {percent:.0f} % of the data are not "
            "read, and others are read several times, which a cache may serve",
            n_ranks=run.factors["ranks"],
            percent=100 * (1 - 1 / n_choices) ** n_choices,
        ),
        read.find_line("bandwidth_last_done", "bandwidth"),
    )


def _is_shuffled(run: Parsed) -> bool:
    words = split_command(str(run.facts.get("command", "")))
    n_flags = sum(word.count("Z") for word in words if word[:1] == "-" and word[1:].isalpha())
    return n_flags > 1 or any(_OPTION in word for word in words)


def _count_choices(settings: Mapping[str, FactorValue]) -> int:
    """Return among how many tasks' data a task draws: those of other nodes if there are several; 0 if unknown."""
    values = [settings.get(name, default) for name, default in _COUNTS.items()]
    counts = [value for value in values if isinstance(value, int)]
    if len(counts) < len(values):
        return 0
    n_ranks, nodes, per_node, offset = counts
    return n_ranks - min(offset, nodes - 1) * per_node
