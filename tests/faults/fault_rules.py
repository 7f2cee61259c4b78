"""What goes wrong, and when: rules as data (a list of JSON objects), the first that fits a request is applied."""

from __future__ import annotations

import errno
from dataclasses import asdict, dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Any

from fuse_wire import OPERATIONS

ANY = "any"
KINDS = ("hang", "delay", "error", "short", "flip", "zero", "drop", "lie")
_DATA = {"read", "write"}
_WITHOUT_CONTENT = {"write", "unlink", "rmdir", "rename", "flush", "fsync", "fsyncdir", "release", "releasedir"}
_ALLOWED = {
    "short": _DATA,
    "flip": _DATA,
    "zero": _DATA,
    "drop": _WITHOUT_CONTENT,
    "lie": {"lookup", "getattr", "setattr", "create", "mkdir", "statfs", "readdir"},
}


@dataclass
class Rule:
    """One fault; the docstring of faultfs.py says what the keys mean. Raises ValueError for one that means nothing."""

    on: str | list[str]
    do: str
    path: str = "*"
    after: int = 0
    times: int | None = None
    every: int = 1
    late: bool = False
    errno: str = "EIO"
    seconds: float = 0.0
    at: int = 0
    values: dict[str, Any] = field(default_factory=dict)
    shift: dict[str, int] = field(default_factory=dict)
    seen: int = 0
    applied: int = 0

    def __post_init__(self) -> None:
        operations = [self.on] if isinstance(self.on, str) else self.on
        if unknown := set(operations) - set(OPERATIONS.values()) - {ANY}:
            raise ValueError(f"no operation {', '.join(sorted(unknown))}; there are {', '.join(OPERATIONS.values())}")
        if self.do not in KINDS:
            raise ValueError(f"no fault {self.do}; there are {', '.join(KINDS)}")
        if not hasattr(errno, self.errno):
            raise ValueError(f"no errno {self.errno}")
        if self.do in _ALLOWED and not set(operations) <= _ALLOWED[self.do]:
            raise ValueError(f"{self.do} is for {', '.join(sorted(_ALLOWED[self.do]))}")
        self._operations = frozenset(operations)

    def fits(self, operation: str, path: str) -> bool:
        """Whether this call is hit; counts it."""
        if not (self._operations & {operation, ANY} and fnmatchcase(path, self.path)):
            return False
        self.seen += 1
        beyond = self.seen - self.after
        if beyond < 1 or (beyond - 1) % self.every or (self.times is not None and self.applied >= self.times):
            return False
        self.applied += 1
        return True

    @property
    def number(self) -> int:
        """The errno as a number."""
        return int(getattr(errno, self.errno))

    def told(self) -> dict[str, Any]:
        """As data."""
        return asdict(self)


def rules(texts: list[dict[str, Any]]) -> list[Rule]:
    """Rules of JSON objects. Raises ValueError."""
    known = {one.name for one in fields(Rule)} - {"seen", "applied"}
    for text in texts:
        if unknown := set(text) - known:
            raise ValueError(f"no key {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
        if not {"on", "do"} <= set(text):
            raise ValueError("a rule needs `on` and `do`")
    return [Rule(**text) for text in texts]
