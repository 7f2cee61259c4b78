"""What is known to fail, (room, command) → why: such a test must fail, so that a line here goes with its defect."""

from __future__ import annotations

FAILING: dict[tuple[str, str], str] = {}
