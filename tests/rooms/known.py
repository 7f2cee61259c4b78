"""What is known to fail, (room, command) → why: such a test must fail, so that a line here goes with its defect."""

FAILING: dict[tuple[str, str], str] = {}
