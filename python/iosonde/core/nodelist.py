"""Expand Slurm's short form of node names without Slurm: ``n[1-3,07],gpu2`` → n1 n2 n3 n07 gpu2.

The form is described in slurm.conf(5) (NodeName); ``scontrol show hostnames`` gives the same list.
"""

import itertools
import re

from .errors import InputError

MOST = 65_533  # maximum number of nodes in Slurm (MAX_SLURM_NODES)
_PARTS = re.compile(r"\[([0-9,-]*)\]|([A-Za-z0-9_.-]+)")
_NAME = re.compile(r"(?!-)(?:[A-Za-z0-9_.-]|\[[0-9,-]*\])+")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)
_NODE_LIST = re.compile(rf"{_NAME.pattern}(?:,{_NAME.pattern})*")


def expand_node_list(text: str) -> tuple[str, ...]:
    """Expand a list of nodes, in order and without duplicates. Raises InputError if ``text`` is not such a list."""
    if not _NODE_LIST.fullmatch(text):
        raise _build_error(text)
    return tuple(dict.fromkeys(name for part in _NAME.findall(text) for name in _expand_part(part, text)))


def _expand_part(part: str, text: str) -> list[str]:
    """Expand one part: each ``[…]`` takes each of its numbers, the last one varying fastest."""
    choices = [[literal] if literal else _expand_ranges(ranges, text) for ranges, literal in _PARTS.findall(part)]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > MOST:
        raise _build_error(text)
    return ["".join(words) for words in itertools.product(*choices)]


def _expand_ranges(ranges: str, text: str) -> list[str]:
    """Expand ``1-3,07`` to 1 2 3 07: numbers are as wide as the first of their range."""
    numbers: list[str] = []
    for word in ranges.split(","):
        match = _RANGE.fullmatch(word)
        if not match:
            raise _build_error(text)
        first, last = match[1], match[2] or match[1]
        if not 0 <= int(last) - int(first) < MOST:
            raise _build_error(text)
        numbers += [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
    return numbers


def _build_error(text: str) -> InputError:
    excerpt = text if len(text) <= 60 else text[:57] + "..."
    return InputError(
        "invalid-node-list",
        "'{node_list}' is not a list of Slurm nodes",
        "write it like n[1-3,07],gpu2",
        node_list=excerpt,
    )
