"""What commands answer, whole: JSON, text and figure of small data (`answers.py`)."""

from typing import Any

import pytest

from answers import MAX_PART, condense_cases, find_differences, list_commands, read_recorded, record


@pytest.mark.parametrize("command", list_commands())
def test_a_command_answers_what_was_recorded(command, tmp_path):
    differences = list(find_differences(read_recorded(command), record(command, tmp_path)))
    assert not differences, "\n".join([*differences[:20], "`make golden` records it again; read the diff"])


def test_what_is_recorded_in_short_differs_where_a_text_a_state_or_a_number_does():
    def part(state: str = "different", value: float = 1e9, p: float = 0.01) -> dict[str, Any]:
        rows = [{"state": "equal", "value": 2e9 + at, "p": 0.5 + at / 99} for at in range(30)]
        return {"text": "x" * MAX_PART, "rows": [{"state": state, "value": value, "p": p}, *rows]}

    def recorded(**changes: Any) -> Any:
        return condense_cases({"first": {"json": part()}, "other": {"json": part(**changes)}})["other"]

    assert not list(find_differences(recorded(), recorded()))
    for changes in ({"state": "equal"}, {"value": 1e9 * (1 + 1e-5)}, {"p": 0.0101}):
        assert list(find_differences(recorded(), recorded(**changes)))
    assert len(str(recorded())) < len(str(part())) / 2
