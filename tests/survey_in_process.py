"""A survey without its child process: for tests that are somebody else for a while, who may not start a program."""

from __future__ import annotations

import json
from typing import Any

from iosonde.survey import work


class InProcess:
    """In the place of ``iosonde.foreign.child.Child``; arguments and answers go through JSON all the same."""

    def __init__(self, *_: object) -> None:
        self.stuck_pids: list[int] = []

    def call(self, operation: str, where: str, what: str, **arguments: Any) -> Any:
        """The answer of an operation."""
        return json.loads(json.dumps(work.OPERATIONS[operation](**json.loads(json.dumps(arguments)))))

    def close(self) -> None:
        """Nothing to end."""
