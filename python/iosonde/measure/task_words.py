"""Tasks as one word of a command line, for programs that are started on other nodes."""

import base64
import json
from dataclasses import asdict
from typing import Any, Self


class TaskWord:
    """Base of dataclasses that a command line carries as one word."""

    def to_word(self: Any) -> str:
        """Return the task as one word that needs no quoting in shells and launchers."""
        return base64.urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()

    @classmethod
    def from_word(cls, word: str) -> Self:
        """Return the inverse of ``to_word``; lists stay lists."""
        return cls(**json.loads(base64.urlsafe_b64decode(word)))
